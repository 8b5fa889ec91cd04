"""Where games come from: the official data, a folder of the user's own, or the generator."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np

from eapo_gym.envs.alfworld.game import Game
from eapo_gym.errors import MissingData, UnknownName

OFFICIAL_COUNTS = {"train": 3553, "valid_seen": 140, "valid_unseen": 134}
"""Games of the official splits: those that ALFWorld's own loader keeps (solvable, nothing sliced, nothing movable)."""

GAME_FILE = "game.tw-pddl"
DATA_VARIABLE = "ALFWORLD_DATA"
DOWNLOAD = "eapo-gym data alfworld"
SOURCES = ("embedded", "official", "folder")


def data_folder() -> Path:
    """Where ALFWorld's own tools look for the data: `$ALFWORLD_DATA`, else `~/.cache/alfworld`."""
    return Path(os.environ.get(DATA_VARIABLE) or "~/.cache/alfworld").expanduser()


class Library(Protocol):
    """A collection of games by the ids of their tasks."""

    def splits(self) -> list[str]: ...
    def tasks(self, split: str) -> tuple[str, ...]:
        """The ids of a split's games, one tuple for all who ask."""

    def load(self, split: str, task: str) -> Game: ...
    def check(self, split: str, task: str) -> None:
        """Raise `UnknownName` unless there is a game with this id."""

    def first(self, split: str, count: int) -> tuple[str, ...]:
        """The ids of a split's first games, or a `ValueError` if it has fewer."""

    def file(self, split: str, task: str) -> Path | None:
        """The file of a game, where it has one."""


def open_library(source: str, games: object = None, difficulty: str | None = None) -> Library:
    """The library of a source; a folder given as `games` is one of its own."""
    if difficulty is not None and source != "embedded":
        raise ValueError(f"difficulty={difficulty!r:.40}: games of source={source!r} are as they are, leave it out.")
    if isinstance(games, str | os.PathLike) and source == "folder":
        return FolderLibrary(Path(games))
    if source == "embedded":
        return EmbeddedLibrary(difficulty or "default")
    if source == "official":
        return OfficialLibrary(data_folder())
    if source == "folder":
        raise TypeError("source='folder' needs games=<the folder with the games>")
    raise UnknownName.of("source", source, SOURCES)


class _Listed:
    """A library whose games are files, and no more than there are."""

    def tasks(self, split: str) -> tuple[str, ...]:
        raise NotImplementedError

    def first(self, split: str, count: int) -> tuple[str, ...]:
        tasks = self.tasks(split)
        if not 1 <= count <= len(tasks):
            raise ValueError(f"games: expected a number from 1 to {len(tasks)} (the split has no more), got {count}")
        return tasks[:count]

    def check(self, split: str, task: str) -> None:
        tasks = self.tasks(split)
        if task not in tasks:
            raise UnknownName.of(f"task in games (split {split!r})", task, tasks)


class OfficialLibrary(_Listed):
    """The benchmark's own games, in the folders in which its release keeps them."""

    def __init__(self, data: Path) -> None:
        self._root = data / "json_2.1.1"

    def splits(self) -> list[str]:
        return list(OFFICIAL_COUNTS)

    def tasks(self, split: str) -> tuple[str, ...]:
        if split not in OFFICIAL_COUNTS:
            raise UnknownName.of("split (source='official')", split, OFFICIAL_COUNTS)
        folder = self._root / split
        if not folder.is_dir():
            raise MissingData(
                f"ALFWorld's official split {split!r} is not at {folder}: download it with '{DOWNLOAD}', or point "
                f"{DATA_VARIABLE} at the folder that holds json_2.1.1. (source='embedded' needs no data.)"
            )
        tasks = _official_tasks(folder)
        if len(tasks) != OFFICIAL_COUNTS[split]:
            look_again()  # it may have been completed since
            tasks = _official_tasks(folder)
        if len(tasks) != OFFICIAL_COUNTS[split]:
            raise MissingData(
                f"ALFWorld's official split {split!r} has {OFFICIAL_COUNTS[split]} games, {folder} has {len(tasks)}: "
                f"complete it with '{DOWNLOAD}', or play what is there with source='folder', games={str(folder)!r}."
            )
        return tasks

    def file(self, split: str, task: str) -> Path:
        return self._root / split / task / GAME_FILE

    def load(self, split: str, task: str) -> Game:
        return known_game(str(self.file(split, task)), lambda: Game.from_file(self.file(split, task)))


class FolderLibrary(_Listed):
    """Any folder with game files somewhere below it; a task's id is the path of its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().resolve()
        if not self._folder.is_dir():
            raise MissingData(f"games: expected a folder with {GAME_FILE} files below it, but {folder} is no folder")

    def splits(self) -> list[str]:
        return ["all"]

    def tasks(self, split: str) -> tuple[str, ...]:
        if split != "all":
            raise UnknownName.of("split (source='folder')", split, self.splits())
        tasks = _games_below(self._folder)
        if not tasks:
            look_again()
            tasks = _games_below(self._folder)
        if not tasks:
            raise MissingData(f"games: there is no {GAME_FILE} below {self._folder}")
        return tasks

    def file(self, split: str, task: str) -> Path:
        return self._folder / task / GAME_FILE

    def load(self, split: str, task: str) -> Game:
        return known_game(str(self.file(split, task)), lambda: Game.from_file(self.file(split, task)))


class EmbeddedLibrary:
    """Generated games: always there, as many as one likes, and not the benchmark."""

    def __init__(self, difficulty: str = "default") -> None:
        from eapo_gym.envs.alfworld.generator.difficulty import preset

        self.difficulty = preset(difficulty).name

    def splits(self) -> list[str]:
        from eapo_gym.envs.alfworld.generator import EMBEDDED_SPLITS

        return list(EMBEDDED_SPLITS)

    def tasks(self, split: str) -> tuple[str, ...]:
        return self.first(split)

    def first(self, split: str, count: int | None = None) -> tuple[str, ...]:
        if split not in self.splits():
            hint = "That is a split of source='official'." if split in OFFICIAL_COUNTS else ""
            raise UnknownName.of("split (source='embedded')", split, self.splits(), hint)
        return _embedded_tasks(split, self.difficulty, count)

    def check(self, split: str, task: str) -> None:
        """Any game that the generator can make is one of this library, but for those of another split."""
        from eapo_gym.envs.alfworld.generator import embedded_game

        embedded_game(task)
        other = next((other for other in self.splits() if other != split and task in self.tasks(other)), None)
        if other is not None:
            raise UnknownName(f"The game {task!r} is of split {other!r}, not of {split!r}: pass split={other!r}.")

    def file(self, split: str, task: str) -> None:
        return None

    def load(self, split: str, task: str) -> Game:
        from eapo_gym.envs.alfworld.generator import embedded_game, rulebook

        return known_game(f"embedded:{task}", lambda: Game.compile(rulebook(), embedded_game(task).problem))


def select(library: Library, split: str, games: object) -> tuple[str, ...]:
    """What `games=` leaves of a split: the first N, or those that are named."""
    if games is None or isinstance(games, os.PathLike | str):
        return library.tasks(split)
    if isinstance(games, bool):
        raise TypeError("games: expected a number, a list of task ids or a folder, got a bool")
    if isinstance(games, int | np.integer):
        return library.first(split, int(games))
    if isinstance(games, Sequence) and not isinstance(games, bytes) and games:
        for task in games:
            if not isinstance(task, str):
                raise TypeError(f"games: expected the ids of tasks (str), got {task!r:.80} among them")
            library.check(split, task)
        return tuple(dict.fromkeys(games))
    raise TypeError(f"games: expected a number, a non-empty list of task ids, or a folder, got {games!r:.80}")


class _Shelf:
    """Compiled games, the least recently used of which make room for new ones."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._games: OrderedDict[str, Game] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str, compile_: Callable[[], Game]) -> Game:
        with self._lock:
            game = self._games.get(key)
            if game is not None:
                self._games.move_to_end(key)
                return game
        game = compile_()
        with self._lock:
            game = self._games.setdefault(key, game)
            while len(self._games) > self.capacity:
                self._games.popitem(last=False)
        return game

    def clear(self) -> None:
        with self._lock:
            self._games.clear()


shelf = _Shelf(capacity=512)
"""Shared by all environments of a process. A game that is being played stays alive even when it leaves the shelf."""

known_game = shelf.get


@lru_cache
def _embedded_tasks(split: str, difficulty: str, count: int | None) -> tuple[str, ...]:
    from eapo_gym.envs.alfworld.generator import embedded_tasks

    return tuple(embedded_tasks(split, difficulty, count))


@lru_cache(maxsize=32)
def _official_tasks(folder: Path) -> tuple[str, ...]:
    # ALFWorld's loader passes over these as well.
    return tuple(
        task
        for task in _games_below(folder)
        if "movable" not in task and "Sliced" not in task and _is_solvable(folder / task / GAME_FILE)
    )


@lru_cache(maxsize=32)
def _games_below(folder: Path) -> tuple[str, ...]:
    found = []
    for where, folders, names in os.walk(folder):
        folders.sort()
        if GAME_FILE in names:
            found.append(os.path.relpath(where, folder))
    return tuple(sorted(found))


def look_again() -> None:
    """Forget which games were found in which folders, after folders have changed."""
    _official_tasks.cache_clear()
    _games_below.cache_clear()


def _is_solvable(file: Path) -> bool:
    # The flag stands near the end of a file of a hundred thousand characters: look there before reading all of it.
    with file.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - 4096))
        tail = stream.read()
    if b'"solvable": true' in tail:
        return True
    if b'"solvable": false' in tail:
        return False
    try:
        return json.loads(file.read_bytes()).get("solvable") is True
    except ValueError:
        return True  # a broken file is no reason to hide it: playing it says what is wrong
