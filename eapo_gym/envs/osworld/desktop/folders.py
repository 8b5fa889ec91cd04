"""The folders in which desktops live: made, and removed when whoever made them has gone."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

from eapo_gym.envs.osworld.desktop import homes, sandbox, seeds
from eapo_gym.envs.osworld.desktop.sandbox import Places

_PREFIX = "eapo-desktop-"
_LOCK = "lock"


class Folder:
    """A new home, a copy of our programs, and the sandbox's files of `/etc`. Held until it is removed."""

    def __init__(self, user: int | None) -> None:
        """`user` is to be the owner of the home, where that is another one."""
        _remove_abandoned()
        self.places = Places(Path(tempfile.mkdtemp(prefix=_PREFIX)))
        self._lock = _hold(self.places.root)
        self.places.home.mkdir(mode=0o700)
        seeds.plant(self.places.home)
        self._put_programs()
        self.places.etc.mkdir()
        for name, text in sandbox.ETC_FILES.items():
            (self.places.etc / name).write_text(text, encoding="utf-8")
        if user is not None:
            homes.give(self.places.home, user)
            # it has to reach its home, and need not know what is around it
            self.places.root.chmod(0o711)

    def remove(self) -> None:
        shutil.rmtree(self.places.root, ignore_errors=True)
        self._lock.close()

    def _put_programs(self) -> None:
        here = Path(__file__).parent
        without_caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(here / "programs", self.places.programs, ignore=without_caches)
        for program in (self.places.programs / "bin").iterdir():
            program.chmod(0o755)  # not every way of installing a package keeps it
        shutil.copytree(here / "server", self.places.programs / "python" / "eapo_server", ignore=without_caches)


def _hold(folder: Path) -> IO[bytes]:
    """A lock that ends with this process. It gets its name when it is held, so that nobody finds it free before."""
    draft = folder / f".{_LOCK}"
    file = draft.open("xb")
    fcntl.flock(file, fcntl.LOCK_EX)
    draft.rename(folder / _LOCK)
    return file


def _remove_abandoned() -> None:
    """What is left of desktops whose process was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        if folder.lstat().st_uid != os.geteuid():
            return False
        file = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(file)
