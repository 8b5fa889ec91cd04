"""A machine that is a folder: files and commands, and nothing to see."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NoReturn

from eapo_gym.envs.osworld.computer import Command, Ran

HOME = "/home/user"


class FolderComputer:
    size = (1920, 1080)
    home = PurePosixPath(HOME)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _here(self, text: str) -> str:
        return text.replace(HOME, str(self.folder))

    def execute(self, command: Command, *, shell: bool = False, seconds: float = 120.0) -> Ran:
        words: str | Sequence[str] = self._here(command) if isinstance(command, str) else [*map(self._here, command)]
        done = subprocess.run(words, shell=shell, capture_output=True, text=True, timeout=seconds, check=False)
        return Ran(done.stdout.replace(str(self.folder), HOME), done.stderr, done.returncode)

    def read_file(self, path: str) -> bytes | None:
        place = Path(self._here(path))
        return place.read_bytes() if place.is_file() else None

    def write_file(self, path: str, content: bytes) -> None:
        place = Path(self._here(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def remove(self, path: str) -> None:
        Path(self._here(path)).unlink()

    def make_folder(self, path: str) -> None:
        Path(self._here(path)).mkdir(parents=True)

    def _no(self, *args: object, **named: object) -> NoReturn:
        raise AssertionError("Nobody is to use this machine's screen.")

    screenshot = tree = act = launch = open_file = activate_window = close_window = active_window = _no
