"""Copies of a home. No link that a program inside has made is ever followed."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

_SHARE_BLOCKS = 0x40049409
"""The request to file systems that can let two files share their content until one is written (FICLONE)."""


@dataclass(frozen=True, slots=True)
class HomeCopy:
    """A home as it was at a moment. It lives as long as its desktop, or until it is forgotten."""

    path: Path

    def forget(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def save(home: Path, folder: Path) -> HomeCopy:
    """Copy a home into a new folder below `folder`."""
    folder.mkdir(exist_ok=True, mode=0o700)
    target = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
    _copy_content(home, target)
    return HomeCopy(target)


def load(copy: HomeCopy, home: Path) -> None:
    """Make the home what it was. The folder itself stays the same one, as the sandbox has it mounted."""
    if not copy.path.is_dir():
        raise ValueError("This copy of a home has been forgotten, or its desktop has been closed.")
    empty(home)
    _copy_content(copy.path, home)


def empty(folder: Path) -> None:
    """Remove all that is in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def give(folder: Path, user: int) -> None:
    """Make a user the owner of all that is in a folder, and of itself."""
    for _, folders, files, handle in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *files):
            os.chown(name, user, user, dir_fd=handle, follow_symlinks=False)
        os.chown(handle, user, user)


def _copy_content(source: Path, target: Path) -> None:
    from_fd = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    to_fd = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _copy_folder(from_fd, to_fd)
    finally:
        os.close(from_fd)
        os.close(to_fd)


def _copy_folder(source: int, target: int) -> None:
    """Between two open folders. Files and links are copied; sockets and pipes mean nothing without their programs."""
    with os.scandir(source) as entries:
        for entry in entries:
            kind = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                os.symlink(os.readlink(entry.name, dir_fd=source), entry.name, dir_fd=target)
                _keep_owner_and_times(source, target, entry.name)
            elif stat.S_ISDIR(kind):
                os.mkdir(entry.name, 0o700, dir_fd=target)
                below, above = _open_folder(entry.name, source), _open_folder(entry.name, target)
                try:
                    _copy_folder(below, above)
                    os.fchmod(above, stat.S_IMODE(kind))
                finally:
                    os.close(below)
                    os.close(above)
                _keep_owner_and_times(source, target, entry.name)
            elif stat.S_ISREG(kind):
                _copy_file(source, target, entry.name)
                _keep_owner_and_times(source, target, entry.name)


def _open_folder(name: str, folder: int) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)


def _copy_file(source: int, target: int, name: str) -> None:
    reading = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=source)
    try:
        found = os.fstat(reading)
        if not stat.S_ISREG(found.st_mode):
            return
        writing = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=target)
        try:
            _copy_bytes(reading, writing, found.st_size)
            os.fchmod(writing, stat.S_IMODE(found.st_mode))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_bytes(reading: int, writing: int, size: int) -> None:
    try:
        fcntl.ioctl(writing, _SHARE_BLOCKS, reading)
        return
    except OSError:
        done = 0  # the file system cannot share: copy
    while done < size:
        sent = os.sendfile(writing, reading, done, size - done)
        if sent == 0:
            return
        done += sent


def _keep_owner_and_times(source: int, target: int, name: str) -> None:
    found = os.stat(name, dir_fd=source, follow_symlinks=False)
    if os.geteuid() == 0:
        os.chown(name, found.st_uid, found.st_gid, dir_fd=target, follow_symlinks=False)
    os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=target, follow_symlinks=False)
