"""How fast is the tag protocol on text that was made to slow it down?

Every case is one text of a million characters, parsed with an environment's parser that refuses everything; the budget
is 50 ms. It is measured at half the size too, to show that the time is linear. `escape` and `render` have no budget.

    python benchmarks/protocol.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from common import write_result
from rich.console import Console
from rich.table import Table

from eapo_gym.errors import ActionError
from eapo_gym.protocol import escape, parse, render
from eapo_gym.schema import Turn

BUDGET_MS = 50.0

REPEATED = {
    "letters": "x",
    "blanks": " ",
    "lines": "take key\n",
    "ordinary text": "You are in room 1. You see a lamp that is off, and a key for $3 < $4. ",
    "emoji": "😀 </memory> ",
    "surrogates": "\ud800{",
    "<": "<",
    "< and blanks": "<" + " " * 30,
    "<memory>": "<memory>",
    "</memory>": "</memory>",
    "<memory></memory>": "<memory></memory>",
    "</memory><memory>": "</memory><memory>",
    "all tags": "<think></explore><memory></action><explore></think><action></memory>",
    "{": "{",
    "}": "}",
    "{}": "{}",
    "boxed{": "\\boxed{",
    "boxed{{}": "\\boxed{{}",
    "{boxed{}": "{\\boxed{}",
    "}boxed{": "}\\boxed{",
    "&": "&",
    "&amp;": "&amp;",
    "&#60;": "&#60;",
}
IN_MEMORY = {
    "references": "&#60;/memory>",
    "deep references": "&amp;#60;/memory>",
    "deeper references": "&amp;amp;amp;#60;",
    "false references": "&amp;#6",
    "references to braces": "&#123;",
    "references to boxed": "&#92;boxed",
}


def cases(size: int) -> dict[str, str]:
    texts = {name: (unit * (size // len(unit) + 1))[:size] for name, unit in REPEATED.items()}
    texts["& and one run of amp;"] = ("&" + "amp;" * size)[:size]
    texts["well-formed, deep braces"] = well_formed(action="{" * (size // 2) + "}" * (size // 2))
    texts["well-formed, one open brace"] = well_formed(action="{" * size)
    for name, unit in IN_MEMORY.items():
        texts[f"well-formed, {name}"] = well_formed(memory=unit * (size // len(unit)))
    return texts


def well_formed(memory: str = "", action: str = "take key") -> str:
    return f"<explore></explore><memory>{memory}</memory><action>\\boxed{{{action}}}</action>"


def refuse(text: str) -> str:
    raise ActionError(f"{text[:80]!r} is no command here.")


def milliseconds(run: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return round(1000 * min(times), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000_000, help="characters per text")
    parser.add_argument("--repeat", type=int, default=5, help="the best of so many runs is reported")
    options = parser.parse_args()

    texts, halves = cases(options.size), cases(options.size // 2)
    rows = {name: measure(texts[name], halves[name], options.repeat) for name in texts}
    response = render(Turn("I need the key. " * 20, "Look around.", "Room 1 has a key. " * 10, "take key"))
    ordinary_us = milliseconds(lambda: [parse(response) for _ in range(1000)], options.repeat)
    slowest = max(rows, key=lambda name: rows[name]["parse_ms"])

    table = Table("case", "parse ms", "half the text", "escape ms", "render ms", title=f"{options.size:,} characters")
    for name, row in rows.items():
        table.add_row(name, *(f"{number:.1f}" for number in row.values()), style="red" if name in over(rows) else "")
    console = Console()
    console.print(table)
    console.print(f"slowest: {slowest}, {rows[slowest]['parse_ms']:.1f} ms; {len(over(rows))} over {BUDGET_MS:.0f} ms")
    console.print(f"an ordinary response of {len(response)} characters: {ordinary_us:.1f} µs")
    write_result(
        "protocol",
        {
            "characters": options.size,
            "budget_ms": BUDGET_MS,
            "slowest_ms": rows[slowest]["parse_ms"],
            "ordinary_response": {"characters": len(response), "parse_us": ordinary_us},
            "cases": rows,
        },
    )


def measure(text: str, half: str, repeat: int) -> dict[str, float]:
    return {
        "parse_ms": milliseconds(lambda: parse(text, refuse), repeat),
        "parse_half_ms": milliseconds(lambda: parse(half, refuse), repeat),
        "escape_ms": milliseconds(lambda: escape(text), 1),
        "render_ms": milliseconds(lambda: render(Turn(memory=text)), 1),
    }


def over(rows: dict[str, dict[str, float]]) -> list[str]:
    return [name for name, row in rows.items() if row["parse_ms"] > BUDGET_MS]


if __name__ == "__main__":
    main()
