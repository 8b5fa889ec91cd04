"""Looks through the official data: are all games of a split there, and is every one of them whole?

Playing every game takes minutes, so what was found is kept in a small file beside the data, with a stamp of the games
that it speaks of. Where the stamp still fits, nothing has to be read again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from eapo_gym.atomic import write_atomically
from eapo_gym.envs.alfworld.data import GAME_FILE, OFFICIAL_COUNTS, OfficialLibrary, look_again
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.errors import GameFileError, MissingData

FOLDER = "json_2.1.1"
MARKER = "eapo-gym-verified.json"


@dataclass(frozen=True, slots=True)
class SplitState:
    """What there is of an official split."""

    split: str
    games: int
    expected: int
    stamp: str = ""
    verified: bool = False
    broken: tuple[str, ...] = ()
    """For each broken game a sentence that names its file and what is wrong with it."""

    @property
    def complete(self) -> bool:
        """All games are there; whether they are whole is another question."""
        return self.games == self.expected

    @property
    def missing(self) -> bool:
        return self.games == 0

    def __str__(self) -> str:
        if self.missing:
            return f"{self.split}: missing"
        if not self.complete:
            return f"{self.split}: {self.games:,} of {self.expected:,} games"
        if self.broken:
            return f"{self.split}: {len(self.broken)} of {self.games:,} games broken"
        return f"{self.split}: {self.games:,} games, {'verified' if self.verified else 'not verified yet'}"


def overview(data: Path) -> list[SplitState]:
    """What is there of each official split, and what the last verification said of it. Reads no game."""
    look_again()
    known = _read_marker(data)
    return [_overview(data, split, known.get(split)) for split in OFFICIAL_COUNTS]


def verify(data: Path, on_game: Callable[[str], None] = lambda split: None) -> list[SplitState]:
    """Compile every game of the complete splits that has not been verified as it is now.

    `on_game` is called with the split after each game. What was found is kept split by split, so that whoever breaks
    off loses little.
    """
    states = overview(data)
    for i, state in enumerate(states):
        if state.complete and not state.verified:
            broken = _broken_games(data, state.split, on_game)
            states[i] = SplitState(state.split, state.games, state.expected, state.stamp, not broken, broken)
            _write_marker(data, states)
    return states


def to_verify(data: Path) -> int:
    """How many games `verify` would read."""
    return sum(state.games for state in overview(data) if state.complete and not state.verified)


def _overview(data: Path, split: str, stamp: str | None) -> SplitState:
    expected = OFFICIAL_COUNTS[split]
    folder = data / FOLDER / split
    try:
        tasks = OfficialLibrary(data).tasks(split)
    except MissingData:
        return SplitState(split, _count(folder), expected)
    now = _stamp(folder, tasks)
    return SplitState(split, len(tasks), expected, now, verified=stamp == now)


def _count(folder: Path) -> int:
    return sum(GAME_FILE in names for _, _, names in os.walk(folder))


def _stamp(folder: Path, tasks: Sequence[str]) -> str:
    """Sizes and times of the game files: what changes when somebody changes one."""
    digest = sha256()
    for task in tasks:
        status = (folder / task / GAME_FILE).stat()
        digest.update(f"{task} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:32]


def _broken_games(data: Path, split: str, on_game: Callable[[str], None]) -> tuple[str, ...]:
    library = OfficialLibrary(data)
    broken = []
    for task in library.tasks(split):
        try:
            game = Game.from_file(library.file(split, task))
            game.commands(game.start())
        except (GameFileError, OSError) as error:
            broken.append(str(error))
        on_game(split)
    return tuple(broken)


def _read_marker(data: Path) -> dict[str, str]:
    """Split → stamp of its games when all of them were whole. A marker that cannot be read vouches for nothing."""
    try:
        marker = json.loads((data / MARKER).read_text(encoding="utf-8"))
        return {state["split"]: state["stamp"] for state in marker["splits"] if state["verified"] and state["stamp"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write_marker(data: Path, states: Sequence[SplitState]) -> None:
    text = json.dumps({"splits": [asdict(state) for state in states]}, indent=1)
    write_atomically(data / MARKER, text + "\n")
