"""How good are ALFWorld's experts? Success within 50 and 100 steps, and steps, by split and task type.

    python benchmarks/alfworld_experts.py                               # embedded games
    ALFWORLD_DATA=… python benchmarks/alfworld_experts.py valid_seen train     # the benchmark's games
    python benchmarks/alfworld_experts.py FOLDER --most 100             # games below a folder

The explorer plays three times: told which commands there are, reading the game's texts alone, and without its memory.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from common import write_result
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eapo_gym.bench.statistics import Share
from eapo_gym.envs.alfworld.data import OFFICIAL_COUNTS, Library, open_library
from eapo_gym.envs.alfworld.experts import Explorer, Oracle
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.task_types import task_type

BUDGET = 50
LIMIT = 100

Player = Callable[[Game, int], Callable[[int, str], str]]
"""Begins an episode of a game with a seed: from then on states and texts go in, and commands come out."""


@dataclass(frozen=True, slots=True)
class Result:
    agent: str
    split: str
    task: str
    steps: int | None
    """Steps until it was won, if it was."""

    seconds: float
    """Time that the expert took to decide, per step."""


def oracle(game: Game, seed: int) -> Callable[[int, str], str]:
    return lambda state, text: Oracle().act(game, state).command


def explorer(*, offered: bool = True, memoryless: bool = False) -> Player:
    def begin(game: Game, seed: int) -> Callable[[int, str], str]:
        agent = Explorer(memoryless=memoryless, seed=seed)
        explore = memory = ""

        def act(state: int, text: str) -> str:
            nonlocal explore, memory
            commands = game.commands(state) if offered else None
            decision = agent.act(game.goal_text, text, commands, explore, memory)
            explore, memory = decision.explore, decision.memory
            return decision.command

        return act

    return begin


PLAYERS: dict[str, Player] = {
    "oracle": oracle,
    "explorer": explorer(),
    "explorer, text alone": explorer(offered=False),
    "explorer, memoryless": explorer(memoryless=True),
}


def play(agent: str, split: str, task: str, game: Game, seed: int) -> Result:
    state, text = game.start(), game.intro
    act = PLAYERS[agent](game, seed)
    thinking = 0.0
    for step in range(1, LIMIT + 1):
        begin = time.perf_counter()
        command = act(state, text)
        thinking += time.perf_counter() - begin
        state, text, _ = game.step(state, command)
        if game.won(state):
            return Result(agent, split, task, step, thinking / step)
    return Result(agent, split, task, None, thinking / LIMIT)


def row(results: Sequence[Result]) -> dict[str, Any]:
    won = [result.steps for result in results if result.steps is not None]
    within = Share(sum(steps <= BUDGET for steps in won), len(results))
    return {
        "games": len(results),
        f"within {BUDGET}": within.rate,
        f"within {BUDGET}, 95 %": within.interval,
        f"within {LIMIT}": len(won) / len(results),
        "mean steps": sum(won) / len(won) if won else math.nan,
        "most steps": max(won, default=None),
        "ms a decision": 1000 * sum(result.seconds for result in results) / len(results),
    }


def report(results: Sequence[Result], console: Console) -> dict[str, Any]:
    """Print a table for each split, and return the same numbers."""
    numbers: dict[str, Any] = {}
    for split in dict.fromkeys(result.split for result in results):
        table = Table(title=f"ALFWorld {split}")
        columns = (
            "task type",
            "agent",
            "games",
            f"≤ {BUDGET} steps (95 %)",
            f"≤ {LIMIT}",
            "steps if won",
            "most",
            "ms",
        )
        for column in columns:
            table.add_column(column, justify="left" if column in columns[:2] else "right", no_wrap=True)
        of_split = [result for result in results if result.split == split]
        for type_ in (*sorted({task_type(result.task) for result in of_split}), "all"):
            for agent in PLAYERS:
                chosen = [r for r in of_split if r.agent == agent and type_ in (task_type(r.task), "all")]
                numbers.setdefault(split, {}).setdefault(type_, {})[agent] = cells = row(chosen)
                table.add_row(
                    type_,
                    agent,
                    str(cells["games"]),
                    str(Share(sum((r.steps or LIMIT) <= BUDGET for r in chosen), len(chosen))),
                    f"{100 * cells[f'within {LIMIT}']:.1f} %",
                    f"{cells['mean steps']:.2f}",
                    str(cells["most steps"] or "–"),
                    f"{cells['ms a decision']:.2f}",
                )
            table.add_section()
        console.print(table)
    return numbers


def library_of(name: str) -> tuple[Library, str]:
    """A split's name, or a folder."""
    if name in OFFICIAL_COUNTS:
        return open_library("official"), name
    if Path(name).is_dir():
        return open_library("folder", name), "all"
    return open_library("embedded"), name.removeprefix("embedded-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    splits = f"embedded-train, embedded-valid, {', '.join(OFFICIAL_COUNTS)}, or a folder with games"
    parser.add_argument("splits", nargs="*", default=["embedded-valid"], help=f"what to play: {splits}")
    parser.add_argument("--most", type=int, help="play so many games of each split, drawn with the seed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console()
    console.width = max(console.width, 130)  # also where it is written to a file
    results = []
    for name in options.splits:
        library, split = library_of(name)
        tasks = library.tasks(split)
        if options.most and options.most < len(tasks):
            tasks = sorted(Random(options.seed).sample(tasks, options.most))
        title = Path(name).name
        for task in track(tasks, title, console=console):
            game = library.load(split, task)
            results += [play(agent, title, task, game, options.seed) for agent in PLAYERS]
    numbers = report(results, console)
    write_result("alfworld_experts", {"seed": options.seed, "splits": numbers})


if __name__ == "__main__":
    main()
