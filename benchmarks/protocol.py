"""How fast the tag protocol is on text that was made to slow it down.

    python benchmarks/protocol.py [--size CHARACTERS] [--repeat N] [--json FILE]

Every case is one text of `--size` characters, by default a million, parsed with an environment's parser that refuses
everything. The budget for `parse` is 50 ms. To show that the time is linear, each case is measured at half the size too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

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


def machine() -> dict[str, str | int | None]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--size", type=int, default=1_000_000, help="characters per text")
    arguments.add_argument("--repeat", type=int, default=5, help="the best of so many runs is reported")
    arguments.add_argument("--json", type=Path, default=Path("runs/benchmarks/protocol.json"), help="where results go")
    options = arguments.parse_args()

    half = cases(options.size // 2)
    rows = []
    for name, text in cases(options.size).items():
        rows.append(
            {
                "case": name,
                "characters": len(text),
                "parse_ms": milliseconds(lambda text=text: parse(text, refuse), options.repeat),  # type: ignore[misc]
                "parse_half_ms": milliseconds(lambda name=name: parse(half[name], refuse), options.repeat),  # type: ignore[misc]
                "escape_ms": milliseconds(lambda text=text: escape(text), 1),  # type: ignore[misc]
                "render_ms": milliseconds(lambda text=text: render(Turn(memory=text)), 1),  # type: ignore[misc]
            }
        )
    response = render(Turn("I need the key. " * 20, "Look around.", "Room 1 has a key. " * 10, "take key"))
    typical_us = milliseconds(lambda: [parse(response) for _ in range(1000)], options.repeat)

    table = Table("case", "parse ms", "half the text", "escape ms", "render ms", title=f"{options.size:,} characters")
    for row in rows:
        over = "red" if row["parse_ms"] > BUDGET_MS else ""
        numbers = [f"{row[key]:.1f}" for key in ("parse_ms", "parse_half_ms", "escape_ms", "render_ms")]
        table.add_row(row["case"], *numbers, style=over)
    worst = max(rows, key=lambda row: row["parse_ms"])
    console = Console()
    console.print(table)
    console.print(f"slowest parse: {worst['parse_ms']:.1f} ms ({worst['case']}); budget {BUDGET_MS:.0f} ms")
    console.print(f"an ordinary response of {len(response)} characters: {typical_us:.1f} µs")

    options.json.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "benchmark": "protocol",
        "command": " ".join(["python", "benchmarks/protocol.py", *sys.argv[1:]]),
        "machine": machine(),
        "size": options.size,
        "repeat": options.repeat,
        "budget_ms": BUDGET_MS,
        "slowest_parse_ms": worst["parse_ms"],
        "ordinary_response_us": typical_us,
        "cases": rows,
    }
    options.json.write_text(json.dumps(result, indent=2, ensure_ascii=True) + "\n")
    console.print(f"written to {options.json}")
    return 0 if worst["parse_ms"] <= BUDGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
