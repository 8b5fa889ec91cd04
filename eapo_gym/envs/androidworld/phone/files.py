"""The phone's file system: immutable, so that a snapshot costs nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from eapo_gym.envs.androidworld.phone.databases import MAGIC, Database, DatabaseError, read_database
from eapo_gym.errors import EapoError

SDCARD = "/storage/emulated/0"
LINKS = {"/sdcard": SDCARD, "/storage/self/primary": SDCARD, "/mnt/sdcard": SDCARD, "/data/user/0": "/data/data"}
"""Folders that are another one's second name."""


class FileError(EapoError):
    """What cannot be done with a file; the text is what the phone's own commands say."""


@dataclass(frozen=True)
class File:
    content: bytes | Database
    changed: float
    """When, in seconds since 1970, by the phone's clock."""

    def read(self) -> bytes:
        return self.content.to_bytes() if isinstance(self.content, Database) else self.content


@dataclass(frozen=True)
class Files:
    """All files by their paths, and the folders, which may be empty."""

    files: Mapping[str, File] = field(default_factory=dict)
    folders: Mapping[str, float] = field(default_factory=lambda: {"/": 0.0})
    """With the time when something in them changed."""

    def __contains__(self, path: str) -> bool:
        path = resolve(path)
        return path in self.files or path in self.folders

    def is_folder(self, path: str) -> bool:
        return resolve(path) in self.folders

    def get(self, path: str) -> File:
        path = resolve(path)
        if path in self.folders:
            raise FileError(f"{path}: Is a directory")
        try:
            return self.files[path]
        except KeyError:
            raise FileError(f"{path}: No such file or directory") from None

    def read(self, path: str) -> bytes:
        return self.get(path).read()

    def text(self, path: str) -> str:
        return self.read(path).decode("utf-8", "replace")

    def database(self, path: str) -> Database:
        content = self.get(path).content
        return content if isinstance(content, Database) else read_database(content)

    def names(self, path: str) -> list[str]:
        """What is in a folder, in the order of the names."""
        path = resolve(path)
        if path not in self.folders:
            problem = "Not a directory" if path in self.files else "No such file or directory"
            raise FileError(f"{path}: {problem}")
        head = "/" if path == "/" else path + "/"
        found = {each[len(head) :] for each in (*self.files, *self.folders) if each.startswith(head) and each != head}
        return sorted(name for name in found if name and "/" not in name)

    def walk(self, path: str) -> Iterator[str]:
        """A file, or a folder and everything in it."""
        path = resolve(path)
        if path not in self:
            raise FileError(f"{path}: No such file or directory")
        yield path
        if path in self.folders:
            for name in self.names(path):
                yield from self.walk(posixpath.join(path, name))

    def write(self, path: str, content: bytes | Database, now: float) -> Files:
        """With that file, and the folders that it needs."""
        path = resolve(path)
        if path in self.folders:
            raise FileError(f"{path}: Is a directory")
        if isinstance(content, bytes) and content.startswith(MAGIC):
            content = _read_or_kept(content)
        made = self.make_folder(posixpath.dirname(path), now)
        folders = {**made.folders, posixpath.dirname(path): now} if path not in self.files else made.folders
        return replace(made, files={**made.files, path: File(content, now)}, folders=folders)

    def make_folder(self, path: str, now: float) -> Files:
        path = resolve(path)
        folders = dict(self.folders)
        while path not in folders:
            if path in self.files:
                raise FileError(f"{path}: Not a directory")
            folders[path] = now
            path = posixpath.dirname(path)
        return self if len(folders) == len(self.folders) else replace(self, folders=folders)

    def remove(self, path: str, now: float) -> Files:
        """Without a file, or without a folder and everything in it."""
        gone = set(self.walk(path))
        folders = {name: changed for name, changed in self.folders.items() if name not in gone}
        parent = posixpath.dirname(resolve(path))
        if parent in folders:
            folders[parent] = now
        return Files({name: file for name, file in self.files.items() if name not in gone}, folders)

    def copy(self, source: str, target: str, now: float) -> Files:
        """With a copy of a file or folder at `target`, or in it where that is a folder."""
        source, target = resolve(source), self._into(source, target)
        if (target + "/").startswith(source + "/"):
            raise FileError(f"{source}: cannot copy into itself")
        found = self
        for path in self.walk(source):
            place = target + path[len(source) :]
            if path in self.folders:
                found = found.make_folder(place, now)
            else:
                found = found.write(place, self.files[path].content, now)
        return found

    def move(self, source: str, target: str, now: float) -> Files:
        """A file that is moved keeps the time of its last change."""
        source, target = resolve(source), self._into(source, target)
        if source == target and source in self:
            return self
        copied = self.copy(source, target, now)
        times = {target + path[len(source) :]: self.files[path] for path in self.walk(source) if path in self.files}
        return replace(copied, files={**copied.files, **times}).remove(source, now)

    def _into(self, source: str, target: str) -> str:
        target = resolve(target)
        return posixpath.join(target, posixpath.basename(resolve(source))) if target in self.folders else target


def _read_or_kept(content: bytes) -> bytes | Database:
    """A database is kept as one; what only begins like one is a file like any other."""
    try:
        return read_database(content)
    except DatabaseError:
        return content


@lru_cache(maxsize=8_192)
def resolve(path: str) -> str:
    """The one name of a path."""
    path = posixpath.normpath("/" + path.lstrip("/"))
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            return target + path[len(link) :]
    return path
