"""A desktop that can be looked at and used: what the environment needs to know of any machine.

`HttpComputer` is the one there is: it speaks the routes of the server that runs in the benchmark's machines, and the
local desktop answers to the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

import numpy as np

from eapo_gym.envs.osworld.inputs import Input
from eapo_gym.envs.osworld.tree import Node

Command = str | Sequence[str]


class ComputerError(RuntimeError):
    """The machine did not do what it was asked to: it does not answer, or says that it cannot."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command."""

    output: str
    error: str
    code: int


class Computer(Protocol):
    """One machine. Every method raises `ComputerError` where the machine does not do its part."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen."""

    @property
    def home(self) -> PurePosixPath:
        """The home directory, as the machine itself calls it."""

    def screenshot(self) -> np.ndarray:
        """The screen: height × width × 3, uint8."""

    def tree(self) -> Node:
        """What accessibility says of all windows."""

    def act(self, inputs: Sequence[Input]) -> None:
        """Moves the hands."""

    def execute(self, command: Command, *, shell: bool = False, seconds: float = 120.0) -> Ran:
        """Runs a command of the task's file (never one of a model's) to its end."""

    def launch(self, command: Command, *, shell: bool = False) -> None:
        """Starts a program and does not wait for it."""

    def open_file(self, path: str) -> None:
        """Opens a file with the program that is meant for it, and waits for its window."""

    def read_file(self, path: str) -> bytes | None:
        """The content of a file on the machine; None where there is none."""

    def write_file(self, path: str, content: bytes) -> None:
        """Puts a file there, with the folders that it needs."""

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Brings a window to the front."""

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """Closes a window."""

    def active_window(self) -> str:
        """The title of the window in front; empty where there is none."""
