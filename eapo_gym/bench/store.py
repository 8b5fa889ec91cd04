"""The folder of a run: what was asked for, and every episode that was finished.

    run.json         the stamp: configuration, versions, what was played; and the plan, every task of every repeat
    episodes.jsonl   a line for each finished episode, in the order in which they ended
    images/          the pictures, named after their content

A line is appended whole, or, where the process was killed meanwhile, torn; a torn one is cut off when the run is taken
up again, and its episode is played again. So an episode is kept once it is finished, and none is played twice.

Writers use `RunFolder`, one at a time; `load_run` reads, also while a run is going on.
"""

from __future__ import annotations

import json
import os
import re
import time
import weakref
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import Episode, json_ready
from eapo_gym.bench.table import row_of
from eapo_gym.errors import EapoError

STAMP_FILE = "run.json"
EPISODES_FILE = "episodes.jsonl"
IMAGES_FOLDER = "images"

Key = tuple[str, int]
"""A task, and which of the run's repeats."""

_FSYNC_EVERY = 1.0
"""Seconds. A killed process loses nothing of what it wrote; this is for a machine that goes down."""

_MAY_DIFFER = (
    *("versions", "platform", "begun", "resumed", "config.parallel"),
    *(f"{engine}.{package}" for engine in ("engine", "agent.engine") for package in ("torch", "transformers", "vllm")),
)
"""What may be another when a run is taken up again; other versions are noted in the stamp."""

_DRAFT = re.compile(r"\.(run\.json|metrics\.json|episodes\.csv|episodes\.parquet)\.[0-9a-f]{8}|\..+\.webp\.\d+\.\d+")
"""What a killed writer leaves of the files that are written whole or not at all."""


class RunError(EapoError, ValueError):
    """A run's folder that cannot be used as asked."""


@dataclass(slots=True)
class Run:
    """A run as it was read: all that was planned, and what of it is there."""

    stamp: dict[str, Any]
    planned: list[Key]
    """Every task of every repeat: the denominator."""

    episodes: list[Episode] = field(default_factory=list)
    """Those that were finished, in the order of the plan."""

    folder: Path | None = None

    @property
    def missing(self) -> list[Key]:
        """What was planned and is not there (yet)."""
        there = {(episode.trajectory.task, episode.repeat) for episode in self.episodes}
        return [key for key in self.planned if key not in there]


def load_run(folder: str | os.PathLike[str], *, pictures: bool = False) -> Run:
    """Read a run, a finished one or as far as it has come; `pictures` also loads those that prompts had."""
    folder = Path(folder)
    stamp, planned = _read_stamp(folder)
    images = Pictures(folder / IMAGES_FOLDER)
    episodes, _ = _read_episodes(folder / EPISODES_FILE, images if pictures else None)
    order = {key: i for i, key in enumerate(planned)} if planned is not None else {}
    if planned is not None:
        _refuse_unplanned(folder, episodes, order)
    episodes.sort(key=lambda episode: order.get(_key(episode), len(order)))
    return Run(stamp, list(map(_key, episodes)) if planned is None else planned, episodes, folder)


class RunFolder:
    """The folder of a run that is going on; holds a lock on it until it is closed.

    with RunFolder.open(folder, stamp, planned) as out:
        for task, repeat in out.missing: …
            out.append(episode)
    """

    def __init__(self, folder: Path, file: int) -> None:
        self.folder = folder
        self.pictures = Pictures(folder / IMAGES_FOLDER)
        self.missing: list[Key] = []
        """What was planned and not finished, when it was opened."""

        self._file = file
        self._finished: list[Episode] = []
        self._keys: set[Key] = set()
        self._planned: frozenset[Key] | None = None
        self._unsynced, self._synced = False, time.monotonic()
        _open.add(self)

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], stamp: Mapping[str, Any], planned: Sequence[Key] | None = None
    ) -> RunFolder:
        """Begin a run in a folder, or take up the one that was broken off there.

        A run can be taken up only as what it was: with another stamp or plan this raises, and says what is different.
        Without a plan (a person plays, as long as they like) the denominator is what was played.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / EPISODES_FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        out = cls(folder, file)
        try:
            _lock(file, folder)
            _sweep(folder)
            out._take_up(plain(stamp), None if planned is None else list(planned))
        except BaseException:
            out._let_go()
            raise
        return out

    def take_finished(self) -> list[Episode]:
        """What an earlier part of this run has left; handed out once, since it may be large."""
        finished, self._finished = self._finished, []
        return finished

    def append(self, episode: Episode) -> None:
        """Keep a finished episode."""
        key = _key(episode)
        if key in self._keys:
            raise RunError(f"The episode {key} is in {self.folder} already.")
        if self._planned is not None and key not in self._planned:
            raise RunError(f"The episode {key} is not in the plan of {self.folder}.")
        line = episode_line(episode, self.pictures)
        end = os.lseek(self._file, 0, os.SEEK_END)
        written = os.write(self._file, line)
        if written != len(line):
            # A full disk takes as much as it has room for. Nobody else writes here, so it can be taken back.
            os.ftruncate(self._file, end)
            raise RunError(f"{self.folder / EPISODES_FILE}: only {written} of {len(line)} bytes fit: is the disk full?")
        self._keys.add(key)
        self._unsynced = True
        if time.monotonic() - self._synced >= _FSYNC_EVERY:
            self._sync()

    def close(self) -> None:
        """Bring everything to the disk, and let go of the folder. Twice does no harm."""
        if self._file >= 0:
            try:
                self._sync()
            finally:
                self._let_go()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _let_go(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _take_up(self, stamp: dict[str, Any], planned: list[Key] | None) -> None:
        if (self.folder / STAMP_FILE).exists():
            before, plan_before = _read_stamp(self.folder)
            _refuse_other_run(self.folder, before, stamp, plan_before, planned)
            resumed = _with_versions(before, stamp)
            if resumed is not None:
                write_stamp(self.folder, resumed, planned)
        elif os.fstat(self._file).st_size:
            raise RunError(f"{self.folder} has episodes and no {STAMP_FILE} to say of what: choose another folder.")
        else:
            write_stamp(self.folder, stamp, planned)
        episodes, end = _read_episodes(self.folder / EPISODES_FILE, None)
        if os.fstat(self._file).st_size > end:
            os.ftruncate(self._file, end)
            os.fsync(self._file)
        self._finished = episodes
        self._keys = set(map(_key, episodes))
        if planned is not None:
            self._planned = frozenset(planned)
            self.missing = [key for key in planned if key not in self._keys]
            _refuse_unplanned(self.folder, episodes, self._planned)

    def _sync(self) -> None:
        if self._unsynced:
            os.fsync(self._file)
        self._unsynced, self._synced = False, time.monotonic()


def write_stamp(folder: Path, stamp: Mapping[str, Any], planned: Sequence[Key] | None) -> None:
    """Write `run.json`."""
    content = {**stamp, "planned": None if planned is None else [list(key) for key in planned]}
    head = json.dumps({name: value for name, value in content.items() if name != "planned"}, indent=1)
    # The plan is long: a line for each of its entries would drown the rest.
    text = head.removesuffix("\n}") + f',\n "planned": {json.dumps(content["planned"])}\n}}\n'
    write_atomically(folder / STAMP_FILE, text)


def episode_line(episode: Episode, pictures: Pictures | None = None) -> bytes:
    """An episode as a line of `episodes.jsonl`.

    It is ASCII: no character of a foreign text, a lone surrogate among them, can make the file unreadable or end the
    line. (What is a pair of surrogates comes back as the one character that they mean.)
    """
    data = episode.to_json(pictures.save if pictures else None)
    return _ENCODER.encode(data).encode("ascii") + b"\n"


def plain(value: Any) -> Any:
    """A value as JSON gives it back, so that it can be compared with one that was read."""
    return json.loads(json.dumps(json_ready(value), allow_nan=False))


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=json_ready, check_circular=False, allow_nan=False)


def _key(episode: Episode) -> Key:
    return episode.trajectory.task, episode.repeat


def _read_stamp(folder: Path) -> tuple[dict[str, Any], list[Key] | None]:
    path = folder / STAMP_FILE
    try:
        stamp = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RunError(
            f"{folder} is no run: there is no {STAMP_FILE} in it (eapo-gym eval --out makes one; a report can also be "
            "of a folder with the config.json of eapo-gym train)."
        ) from None
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read: {error}.") from error
    planned = stamp.pop("planned", None) if isinstance(stamp, dict) else None
    if not isinstance(stamp, dict) or "config" not in stamp:
        raise RunError(f"{path} is no stamp of a run: expected an object with a config.")
    try:
        return stamp, None if planned is None else [(str(task), int(repeat)) for task, repeat in planned]
    except (ValueError, TypeError) as error:
        raise RunError(f"{path} has no plan that can be read: {error}.") from error


def _refuse_unplanned(folder: Path, episodes: Iterable[Episode], planned: Container[Key]) -> None:
    for episode in episodes:
        if _key(episode) not in planned:
            raise RunError(f"{folder} has an episode that was not planned: {_key(episode)}.")


def _read_episodes(path: Path, pictures: Pictures | None) -> tuple[list[Episode], int]:
    """The episodes of a file, and where the last whole line ends.

    What a killed writer has torn is the last line, and does not end: anything else that cannot be read is an error.
    """
    episodes: list[Episode] = []
    keys: set[Key] = set()
    end = 0
    if not path.exists():
        return episodes, end
    for number, line in _lines(path):
        if not line.endswith(b"\n"):
            break
        try:
            episode = Episode.from_json(json.loads(line), pictures.load if pictures else None)
            row_of(episode)  # so that numbers which are none are found here, where the line is known
            known = _key(episode) in keys
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            said = f"{type(error).__name__}: {error!s:.200}"
            raise RunError(f"{path} is damaged: line {number} is no episode ({said}).") from error
        if known:
            raise RunError(f"{path} has the episode {_key(episode)} twice, line {number} is the second.")
        keys.add(_key(episode))
        episodes.append(episode)
        end += len(line)
    return episodes, end


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        yield from enumerate(file, start=1)


def _lock(file: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not Unix: two processes in one folder are up to the user
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise RunError(f"Another process is at work in {folder}: wait for it, or choose another folder.") from None


def _let_go_after_fork() -> None:
    # A fork has the lock as well, and would keep it when this process is gone.
    for folder in list(_open):
        folder._let_go()


_open: weakref.WeakSet[RunFolder] = weakref.WeakSet()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_after_fork)


def _sweep(folder: Path) -> None:
    """Take away what killed writers have left; to be called by who has the lock, and so is the only writer."""
    for place in (folder, folder / IMAGES_FOLDER):
        for path in place.glob(".*"):
            if _DRAFT.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _refuse_other_run(
    folder: Path,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    plan_before: list[Key] | None,
    plan_now: list[Key] | None,
) -> None:
    for name, old, new in differences(before, now):
        if not any(name == each or name.startswith(f"{each}.") for each in _MAY_DIFFER):
            raise RunError(
                f"{folder} holds another run: its {name} is {old!r:.200}, and here it is {new!r:.200}. "
                "Take it up as it was begun, or choose another folder."
            )
    if plan_before != plan_now:
        count = [len(plan) if plan is not None else "any number of" for plan in (plan_before, plan_now)]
        raise RunError(
            f"{folder} holds another run: it plans {count[0]} episodes, here {count[1]} are planned, and they are not "
            "the same. Have the tasks of the split changed?"
        )


def differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two stamps differ: the dotted name, and the two values (None where there is none)."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key), new.get(key), f"{name}.{key}" if name else str(key))
    elif old != new:
        yield name, old, new


def _with_versions(before: dict[str, Any], now: Mapping[str, Any]) -> dict[str, Any] | None:
    """The stamp with the versions of this sitting noted, if they are others than before."""
    used = [before.get("versions"), *(sitting["versions"] for sitting in before.get("resumed", []))]
    if now.get("versions") in used:
        return None
    sitting = {"begun": now.get("begun"), "versions": now.get("versions"), "platform": now.get("platform")}
    return {**before, "resumed": [*before.get("resumed", []), sitting]}


def save_run(run: Run, folder: str | os.PathLike[str], episodes: Iterable[Episode] | None = None) -> Run:
    """Write a whole run into an empty folder (one that was played otherwise than by `evaluate`)."""
    with RunFolder.open(folder, run.stamp, run.planned) as out:
        for episode in run.episodes if episodes is None else episodes:
            out.append(episode)
    return load_run(folder)
