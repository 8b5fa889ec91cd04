"""The fixed set of generated games that ships with the package: a list of ids, each made again from its seed.

Who needs more, or easier ones, goes on with the seeds that follow, or takes the same seeds with other knobs.

The manifest keeps a digest of every game beside its id, so that a change of the generator which moves any of them is
noticed. benchmarks/alfworld_generator.py makes the manifest and checks it.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.resources import files

from eapo_gym.envs.alfworld.generator.difficulty import preset
from eapo_gym.envs.alfworld.generator.games import HELD_OUT_SEEDS, GeneratedGame, game_by_id, generate
from eapo_gym.errors import UnknownName

EMBEDDED_SPLITS = {"train": range(1000), "valid": range(HELD_OUT_SEEDS, HELD_OUT_SEEDS + 140)}
"""Split → the seeds of its games. No room of one split occurs in the other."""

MOST_GAMES = 1_000_000
"""Of a split: a million seeds, a thousandth of a second each."""


@cache
def manifest() -> dict[str, dict[str, str]]:
    """Split → id of a game → digest of that game."""
    text = files(__package__).joinpath("manifest.json").read_text(encoding="utf-8")
    splits: dict[str, dict[str, str]] = json.loads(text)
    return splits


def embedded_tasks(split: str, difficulty: str = "", count: int | None = None) -> list[str]:
    """The ids of a split's games; with `count` its first games, which may be more than the manifest has."""
    if split not in manifest():
        raise UnknownName.of("split (source='embedded')", split, manifest())
    knobs, seeds = preset(difficulty), EMBEDDED_SPLITS[split]
    count = len(seeds) if count is None else count
    if not 1 <= count <= MOST_GAMES:
        raise ValueError(f"games: expected a number from 1 to {MOST_GAMES:,}, got {count}")
    listed = [] if knobs.name else list(manifest()[split])[:count]
    return listed + [_id(seeds.start + number, knobs.name) for number in range(len(listed), count)]


@lru_cache(maxsize=100_000)
def _id(seed: int, difficulty: str) -> str:
    return generate(seed, knobs=preset(difficulty)).id


@lru_cache(maxsize=64)
def embedded_game(task: str) -> GeneratedGame:
    """The game with this id, of the manifest or beyond it: any id that `generate` has given is good."""
    return game_by_id(task)
