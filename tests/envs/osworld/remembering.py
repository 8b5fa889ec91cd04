"""A machine in memory that remembers what it was asked to do, and the benchmark's files for the tests that use them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

from eapo_gym.envs.osworld.computer import Command, ComputerError, Ran
from eapo_gym.envs.osworld.inputs import Input
from eapo_gym.envs.osworld.tree import Node

SHARED = "EAPO_SHARED"
ARCHIVE = "data/osworld/evaluation_examples.tar.xz"


def official_archive() -> Path:
    """The benchmark's task files; skips the test where they are not."""
    path = Path(os.environ.get(SHARED) or Path(__file__).parents[4] / "shared") / ARCHIVE
    if not path.is_file():
        pytest.skip(f"the benchmark's task files are not here: let {SHARED} name a folder with {ARCHIVE} in it")
    return path


class RememberingComputer:
    """Its files are a dictionary, its windows a set, and `answers` says what becomes of commands."""

    size = (1920, 1080)
    home = PurePosixPath("/home/user")

    def __init__(self, answer: Callable[[str], Ran] = lambda command: Ran("", "", 0)) -> None:
        self.answer = answer
        self.files: dict[str, bytes] = {}
        self.windows: set[str] = set()
        self.calls: list[tuple[Any, ...]] = []
        self.programs = True
        """Whether there are any programs to launch."""

    def screenshot(self) -> np.ndarray:
        return np.zeros((1080, 1920, 3), np.uint8)

    def tree(self) -> Node:
        return Node("desktop-frame")

    def act(self, inputs: Sequence[Input]) -> None:
        self.calls.append(("act", tuple(inputs)))

    def execute(self, command: Command, *, shell: bool = False, seconds: float = 120.0) -> Ran:
        self.calls.append(("execute", command, shell))
        return self.answer(command if isinstance(command, str) else shlex.join(command))

    def launch(self, command: Command, *, shell: bool = False) -> None:
        self.calls.append(("launch", command, shell))
        if not self.programs:
            raise ComputerError("there is no such program")

    def open_file(self, path: str) -> None:
        self.calls.append(("open", path))
        if path not in self.files:
            raise ComputerError(f"there is no file {path}")

    def read_file(self, path: str) -> bytes | None:
        return self.files.get(path)

    def write_file(self, path: str, content: bytes) -> None:
        self.calls.append(("write", path))
        self.files[path] = content

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self.calls.append(("activate", name, strict, by_class))
        self._window(name)

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self.calls.append(("close", name, strict, by_class))
        self.windows.discard(self._window(name))

    def active_window(self) -> str:
        return next(iter(self.windows), "")

    def _window(self, name: str) -> str:
        found = next((title for title in self.windows if name in title), None)
        if found is None:
            raise ComputerError(f"there is no window {name!r}")
        return found
