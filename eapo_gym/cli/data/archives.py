"""What is in an archive, file by file: a tar of any compression, or a zip, and nothing that is not safe to write."""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from typing import IO

from eapo_gym.errors import EapoError

BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, LZMAError, zlib.error, RuntimeError)
"""What reading a broken archive raises; an `OSError` with a number is the disk's fault, and not the archive's."""

_PLAIN = re.compile(r'[^/\\:*?"<>|\x00-\x1f]+')


class BadArchive(EapoError, ValueError):
    """An archive or folder that is not what was expected, or not safe to unpack."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive."""

    name: str
    size: int
    regular: bool
    open: Callable[[], IO[bytes] | None]


def members(archive: Path) -> Iterator[Member]:
    """The files of an archive, in its order."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                if not entry.is_dir():
                    mode = entry.external_attr >> 16
                    regular = not stat.S_IFMT(mode) or stat.S_ISREG(mode)
                    yield Member(entry.filename, entry.file_size, regular, lambda entry=entry: zipped.open(entry))  # type: ignore[misc]
        return
    try:
        tar = tarfile.open(archive)  # noqa: SIM115 (closed below, once the format is known)
    except tarfile.ReadError as error:
        raise BadArchive(f"{archive} is neither a .zip nor a .tar archive that can be read: {error}.") from error
    with tar:
        for info in tar:
            if not info.isdir():
                yield Member(info.name, info.size, info.isreg(), lambda info=info: tar.extractfile(info))  # type: ignore[misc]


def safe_parts(member: Member, archive: Path) -> list[str]:
    """The folders and the name of a file; refuses what could land elsewhere, and what is no file."""
    parts = [part for part in member.name.split("/") if part != "."]
    if not all(_PLAIN.fullmatch(part) and part != ".." for part in parts):
        raise BadArchive(f"{archive} is not safe to unpack: it holds the path {member.name!r:.120}.")
    if not member.regular:
        raise BadArchive(f"{archive} is not safe to unpack: {member.name!r:.120} is a link or a device.")
    return parts
