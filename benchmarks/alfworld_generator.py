"""Looks after the generated household games.

    python benchmarks/alfworld_generator.py compare     # real and generated games, number by number
    python benchmarks/alfworld_generator.py speed       # how long it takes to make one
    python benchmarks/alfworld_generator.py check       # make every embedded game again, play its plan, compare digests
    python benchmarks/alfworld_generator.py manifest    # write the list of embedded games (a new generator version!)

The numbers of the real games are those that alfworld_statistics.py left in household.json, so no data is needed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

from alfworld_statistics import House, house, measure
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eapo_gym.envs.alfworld.generator import EMBEDDED_SPLITS, PRESETS, GeneratedGame, embedded_game, generate
from eapo_gym.envs.alfworld.generator.embedded import manifest
from eapo_gym.envs.alfworld.generator.household import household

MANIFEST = Path(__file__).parent.parent / "eapo_gym/envs/alfworld/generator/manifest.json"

console = Console()


def compare(games: int, out: Path | None) -> None:
    """Print means of the real and of generated games side by side: with the benchmark's knobs, and with ours."""
    measured = {"real": household().measured}
    for name in ("benchmark", "default"):
        made = (generate(seed, knobs=PRESETS[name]) for seed in track(range(games), f"{name} games", console=console))
        measured[name] = measure([as_house(game) for game in made])
    numbers = {
        "rooms": ("receptacles", "spots", "openable", "objects", "pickupable", "hidden", "loose"),
        "tasks": ("share", "plan", "copies", "hidden"),
    }
    for part, columns in numbers.items():
        table = Table(title=f"{part}: real / generated as real / generated (default)")
        table.add_column("")
        for column in columns:
            table.add_column(column, justify="right")
        for row in measured["real"][part]:
            cells = [" / ".join(cell(of, part, row, column) for of in measured.values()) for column in columns]
            table.add_row(row, *cells)
        console.print(table)
    if out:
        out.write_text(json.dumps(measured, indent=1), encoding="utf-8")


def cell(measured: dict[str, Any], part: str, row: str, column: str) -> str:
    rows = measured[part]
    if row not in rows:
        return "–"
    if column == "share":
        return f"{rows[row]['games'] / sum(r['games'] for r in rows.values()):.0%}"
    value = rows[row][column]
    return f"{value[0]:.1f}±{value[1]:.1f}" if isinstance(value, list) else f"{value:.0%}"


def as_house(game: GeneratedGame) -> House:
    scene = game.scene
    spelling = {f"{thing.type}Type".lower(): thing.type for thing in (*scene.things, *scene.room.receptacles)}
    return house(game.id.partition("/")[0], game.problem, len(game.plan), spelling)


def speed(games: int) -> None:
    """Print the mean time of each step from a seed to a game that can be played."""
    for seed in range(10_000, 10_100):
        generate(seed)  # so that the numbers, the rules and most rooms are there, as in a running process
    steps: dict[str, float] = {}
    start = perf_counter()
    made = [generate(seed) for seed in range(games)]
    steps["generate"] = perf_counter() - start
    for name, step in {
        "problem": lambda game: game.problem,
        "compile, play the plan": lambda game: game.compile(),
    }.items():
        start = perf_counter()
        for game in made:
            step(game)
        steps[name] = perf_counter() - start
    for name, seconds in steps.items():
        console.print(f"{name:24s} {1000 * seconds / games:6.2f} ms")
    console.print(f"{'in all':24s} {1000 * sum(steps.values()) / games:6.2f} ms per game, {games} games")


def write_manifest() -> None:
    splits = {}
    for split, seeds in EMBEDDED_SPLITS.items():
        made = [generate(seed) for seed in track(seeds, split, console=console)]
        for game in made:
            game.compile()
        splits[split] = {game.id: game.digest for game in made}
    rooms = {split: {id_.partition("/")[0].rpartition("-")[2] for id_ in ids} for split, ids in splits.items()}
    assert not rooms["train"] & rooms["valid"]
    MANIFEST.write_text(json.dumps(splits, indent=0, separators=(",", ":")) + "\n", encoding="utf-8")
    console.print(f"{MANIFEST}: {sum(map(len, splits.values()))} games, {MANIFEST.stat().st_size:,} bytes")


def check() -> int:
    """Make every embedded game again; returns how many are not what they were."""
    moved = []
    for split, ids in manifest().items():
        lengths = []
        for id_, digest in track(ids.items(), split, console=console):
            game = embedded_game(id_)
            game.compile()
            lengths.append(len(game.plan))
            if game.digest != digest:
                moved.append(id_)
        console.print(f"{split}: {len(ids)} games, plans of {fmean(lengths):.2f} commands on average")
    report(moved)
    return len(moved)


def report(moved: Iterable[str]) -> None:
    listed = list(moved)
    if listed:
        console.print(f"{len(listed)} games are no longer what their manifest says, such as {listed[0]}.")
    else:
        console.print("All embedded games are what they were, and their plans win.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("compare", "speed", "check", "manifest"))
    parser.add_argument("--games", type=int, default=2000, help="how many games to make for compare and speed")
    parser.add_argument("--out", type=Path, help="where compare writes its numbers as JSON")
    options = parser.parse_args()
    if options.what == "compare":
        compare(options.games, options.out)
    elif options.what == "speed":
        speed(min(options.games, 500))
    elif options.what == "manifest":
        write_manifest()
    elif check():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
