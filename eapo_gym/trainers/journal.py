"""The folder of a collection while it is going on: what was asked for, and a line for each walk that has ended.

A process that is killed tears at most the last line, which is cut off when the collection is taken up again; its walk
is played again. So a walk is kept once it has ended, and none is played twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.setting import versions
from eapo_gym.bench.store import differences
from eapo_gym.errors import EapoError
from eapo_gym.trainers.examples import IMAGES_FOLDER, Example, json_line

STAMP_FILE = "collect.json"
JOURNAL = "walks.jsonl"
"""A line for each episode that was played, while others are still to be."""


class CollectError(EapoError, ValueError):
    """Data that cannot be collected as asked."""


@dataclass(slots=True)
class Walk:
    """What was made of an episode."""

    task: str
    repeat: int
    outcome: str
    error: str = ""
    steps: int = 0
    examples: list[Example] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """What else there is to be counted, by the kind of action."""

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "examples": [e.to_json() for e in self.examples],
        }

    @classmethod
    def from_json(cls, data: Any, images: Path) -> Walk:
        """The walk that `to_json` wrote."""
        return cls(**{**data, "examples": [Example.from_json(each, images) for each in data["examples"]]})


def check_same(out: Path, stamp: Mapping[str, Any]) -> None:
    """Refuse a folder whose data were asked for otherwise."""
    path = out / STAMP_FILE
    if not path.exists():
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CollectError(f"{path} cannot be read ({error}): choose another folder.") from error
    for name, old, new in differences({**before, "versions": None}, {**stamp, "versions": None}):
        raise CollectError(
            f"{out} holds other data: {name} is {old!r:.200} there, and here it is {new!r:.200}. "
            "Go on as it was begun, or choose another folder."
        )


class Journal:
    """The walks of a folder; a line for each. What a killed process has torn is the last line, and is cut off."""

    def __init__(self, out: Path, stamp: Mapping[str, Any]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.path = out / JOURNAL
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(self._file, out)
            self.walks = self._read(out / IMAGES_FOLDER)
            if not (out / STAMP_FILE).exists():
                content = {**stamp, "versions": versions()}
                write_atomically(out / STAMP_FILE, json.dumps(content, indent=1) + "\n")
        except BaseException:
            os.close(self._file)
            raise

    def append(self, walk: Walk) -> None:
        line = json_line(walk.to_json()).encode("ascii")
        end = os.lseek(self._file, 0, os.SEEK_END)
        if os.write(self._file, line) != len(line):
            os.ftruncate(self._file, end)
            raise CollectError(
                f"{self.path}: a line did not fit. Is the disk full? The same command goes on from here."
            )
        self.walks.append(walk)

    def _read(self, images: Path) -> list[Walk]:
        whole, newline, torn = self.path.read_bytes().rpartition(b"\n")
        if torn:
            os.ftruncate(self._file, len(whole) + len(newline))
        walks = []
        for number, line in enumerate(whole.split(b"\n") if newline else (), start=1):
            walks.append(self._walk(line, number, images))
        return walks

    def _walk(self, line: bytes, number: int, images: Path) -> Walk:
        try:
            return Walk.from_json(json.loads(line), images)
        except (ValueError, TypeError, KeyError) as error:
            raise CollectError(f"{self.path} is damaged: line {number} is no walk ({error}). Remove it.") from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.fsync(self._file)
        os.close(self._file)


def _lock(file: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not Unix: two processes in one folder are up to the user
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise CollectError(f"Another process collects into {folder}: wait for it, or choose another folder.") from None
