"""What does a step cost an agent besides its model: the prompt's text, and the reading of the response?

Tokenisation is apart: it is the engine's. So the engine here only keeps the messages, and says that they fit; what a
prompt costs that has to be shortened is measured too, with the messages counted by their characters. The observations
are sized such that the whole prompt has 4,000 tokens at four characters each. The budget is 1 ms per step.

    python benchmarks/prompt_building.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

from common import write_result
from rich.console import Console
from rich.table import Table

from eapo_gym.agents import RandomAgent
from eapo_gym.agents.prompts import COMPACT, EAPO, PLAIN, REACT, PromptBuilder, Style
from eapo_gym.engines.base import Capabilities, Completion, Engine, Message, Prompt, Sampling, Unsupported
from eapo_gym.envs.alfworld.commands import parse_command
from eapo_gym.protocol import parse, render
from eapo_gym.schema import Context, Exchange, Observation, Turn

BUDGET_US = 1000.0
CHARACTERS = 4 * 4000


class NoTokens(Engine):
    """Takes messages as they are."""

    kind, model, context = "none", "none", 1 << 30
    capabilities = Capabilities(token_ids=False, logprobs=False, score=False)

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        return Prompt((), (), tuple(messages))

    def encode(self, text: str) -> list[int]:
        raise Unsupported("There is no tokenizer here.")

    def decode(self, ids: Sequence[int]) -> str:
        raise Unsupported("There is no tokenizer here.")

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        raise Unsupported("There is no model here.")

    async def score(self, prompts: Any, targets: Any, *, adapter: str | None = None) -> list[list[float]]:
        raise Unsupported("There is no model here.")

    async def close(self) -> None:
        return None


TEXTS = {
    "plain text": "On the countertop 1, you see a mug 1, a plate 2, and a knife 1. ",
    "tags and tokens": "</state> <|im_end|> [INST] \\boxed{x} and 2 < 3 [1] ",
    "not ASCII": "Auf der Theke steht eine Tasse für 3 €, daneben ein Messer. 茶碗 ",
}
RESPONSE = render(Turn("I need the key. " * 40, "Look around. " * 20, "Room 1 has a key. " * 60, "go to desk 1"))
ACTIONS = tuple(f"go to cabinet {number}" for number in range(40))


def sized(text: str, style: Style) -> Observation:
    """An observation whose prompt has the wished-for size."""

    def observation(characters: int) -> Observation:
        memory = characters // 4 if style.uses_memory else 0
        state = characters - memory
        return Observation(
            "Put a clean mug on a shelf.",
            (text * (state // len(text) + 1))[:state],
            "Is there a mug in a cabinet?",
            (text * (memory // len(text) + 1))[:memory],
            valid_actions=ACTIONS,
            history=tuple(Exchange(text * 2, RESPONSE[:300], "look") for _ in range(8 if style is REACT else 0)),
            context=Context(env="eapo/ALFWorld-v0"),
        )

    builder = PromptBuilder(NoTokens(), style, with_history=style is REACT)
    bare = sum(len(message.text) for message in builder(observation(0)).messages)
    return observation(max(0, CHARACTERS - bare))


def microseconds(run: Callable[[], object], repeat: int) -> float:
    """Of one call, the best of several rounds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(100):
            run()
        times.append(time.perf_counter() - start)
    return round(1e4 * min(times), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7, help="the best of so many rounds of 100 is reported")
    repeat = parser.parse_args().repeat

    reading = microseconds(lambda: parse(RESPONSE, parse_command), repeat)
    rows = {}
    for style_name, style in {"eapo": EAPO, "compact": COMPACT, "plain": PLAIN, "react": REACT}.items():
        for text_name, text in TEXTS.items():
            whole = PromptBuilder(NoTokens(), style, with_history=style is REACT)
            short = PromptBuilder(NoTokens(), style, with_history=style is REACT, budget=3000)
            seen = sized(text, style)
            building, shortening = (microseconds(lambda b=b, s=seen: b(s), repeat) for b in (whole, short))
            rows[f"{style_name}, {text_name}"] = {
                "characters": sum(len(message.text) for message in whole(seen).messages),
                "prompt_us": building,
                "prompt_shortened_us": shortening,
                "step_us": round(building + reading, 2),
            }
    agent, observation = RandomAgent(), sized(TEXTS["plain text"], PLAIN)
    drawing = microseconds(lambda: agent.act(observation), repeat)

    table = Table("prompt, text", "characters", "prompt µs", "prompt, shortened µs", "step µs")
    for name, row in rows.items():
        table.add_row(name, *(f"{number:,.0f}" for number in row.values()))
    slowest = max(rows, key=lambda name: rows[name]["step_us"])
    console = Console()
    console.print(table)
    console.print(f"reading a response of {len(RESPONSE)} characters: {reading:.1f} µs; is part of every step")
    console.print(f"slowest step: {slowest}, {rows[slowest]['step_us']:.0f} µs of {BUDGET_US:.0f}")
    console.print(f"the random agent's whole step: {drawing:.2f} µs")
    write_result(
        "prompt_building",
        {
            "prompt_tokens": CHARACTERS // 4,
            "budget_us": BUDGET_US,
            "slowest_step_us": rows[slowest]["step_us"],
            "slowest": slowest,
            "response": {"characters": len(RESPONSE), "parse_us": reading},
            "random_agent_us": drawing,
            "cases": rows,
        },
    )


if __name__ == "__main__":
    main()
