"""A machine in memory for the getters: files, a tree, and what commands say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eapo_gym.envs.osworld.computer import Ran
from eapo_gym.envs.osworld.judging.registry import Scene
from eapo_gym.envs.osworld.tree import Node
from tests.envs.osworld.remembering import RememberingComputer


def silent(command: str) -> Ran:
    return Ran("", "", 0)


class Machine(RememberingComputer):
    """With a tree of its own."""

    def __init__(
        self,
        files: dict[str, bytes] | None = None,
        tree: Node | None = None,
        answer: Callable[[str], Ran] = silent,
    ) -> None:
        super().__init__(answer)
        self.files = dict(files or {})
        self._tree = tree or Node("desktop-frame")

    def tree(self) -> Node:
        return self._tree


def scene(cache: Path, machine: Machine | None = None, **more: object) -> Scene:
    return Scene(machine or Machine(), cache, **more)  # type: ignore[arg-type]
