"""Files of an agent are looked at before a library opens them: their size, what they unpack to, what they declare.

An office file is a zip of XML. A small one can unpack to gigabytes, declare entities that expand without end, merge a
billion cells, or hold a picture of that size; all of these are refused here, so that no metric needs to think of them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree

from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.errors import MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image

FilePath = str | Path
Opened = TypeVar("Opened")

MEBIBYTE = 2**20
LARGEST_FILE = 256 * MEBIBYTE
LARGEST_UNPACKED = 512 * MEBIBYTE
LARGEST_XML = 64 * MEBIBYTE
"""Of all XML parts of a file together: a library makes about fifty times this of it."""

MOST_PARTS = 10_000
MOST_PIXELS = 100_000_000
HIGHEST_RATIO = 250
"""Unpacked to packed, of a part over a mebibyte: real office files stay under 100."""

NOT_XML = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".tif", ".tiff", ".mp3", ".mp4", ".wav", ".ttf")
_DECLARED_ENCODING = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']")
_SEARCHABLE = re.compile(rb"utf-?(8|16)|(us-)?ascii|iso-8859-\d+|windows-125\d", re.IGNORECASE)
_EBCDIC = b"\x4c\x6f\xa7\x94"


def needs(what: str) -> MissingExtra:
    """The error for a library of office files that is not installed."""
    return MissingExtra.of(what, "osworld")


def checked_file(path: FilePath) -> Path:
    """The path, once it is known to be a file of a size that can be read."""
    path = Path(path)
    if not path.is_file():
        raise Unreadable(f"Expected a file at {path.name}, there is none.")
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise Unreadable(f"Expected {path.name} to have at most {LARGEST_FILE} bytes, it has {size}.")
    return path


def checked_bytes(path: FilePath) -> bytes:
    """All of a file that is known to be of a size that can be read."""
    return checked_file(path).read_bytes()


def checked_xml(content: bytes, name: str) -> bytes:
    """XML that declares no entities, in an encoding in which that can be seen."""
    searched = content.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xfe\xff")  # of UTF-16, what is ASCII stays
    declared = _DECLARED_ENCODING.match(searched)
    if content.startswith(_EBCDIC) or (declared and not _SEARCHABLE.fullmatch(declared[1])):
        raise Unreadable(f"Expected the XML of {name} to be UTF-8, it is in another encoding.")
    if b"<!ENTITY" in searched:
        raise Unreadable(f"Expected the XML of {name} to declare no entities, it does.")
    return content


def xml_root(path: FilePath) -> ElementTree.Element:
    """The root of a file that is XML itself, such as LibreOffice's settings."""
    return parsed_xml(checked_bytes(path), Path(path).name)


def parsed_xml(content: bytes, name: str) -> ElementTree.Element:
    """The root of this XML, which may be an agent's."""
    if len(content) > LARGEST_XML:
        raise Unreadable(f"Expected at most {LARGEST_XML} bytes of XML in {name}, there are {len(content)}.")
    try:
        return ElementTree.fromstring(checked_xml(content, name))
    except ElementTree.ParseError as error:
        raise Unreadable(f"Expected XML in {name}, it cannot be parsed: {error}.") from error


def checked_archive(path: FilePath) -> Path:
    """The path of a zip whose parts are of a bearable size and whose XML is harmless."""
    path = checked_file(path)
    status = path.stat()
    _check_archive(path, (status.st_ino, status.st_size, status.st_mtime_ns))
    return path


@lru_cache(maxsize=64)
def _check_archive(path: Path, version: tuple[int, int, int]) -> None:
    """Looks at each version of a file once, however many metrics open it."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, path.name)
            for part in archive.infolist():
                if not part.filename.lower().endswith(NOT_XML):
                    checked_xml(archive.read(part), f"{path.name}/{part.filename}")
    except Unreadable:
        raise
    except Exception as error:  # zipfile and its decompressors raise of many kinds
        raise Unreadable(f"Expected an office file in {path.name}, it cannot be unpacked: {error}.") from error


def _check_sizes(archive: zipfile.ZipFile, name: str) -> None:
    parts = archive.infolist()
    if len(parts) > MOST_PARTS:
        raise Unreadable(f"Expected at most {MOST_PARTS} parts in {name}, it has {len(parts)}.")
    for part in parts:
        if part.file_size > MEBIBYTE and part.file_size > HIGHEST_RATIO * part.compress_size:
            raise Unreadable(f"Expected parts that unpack to at most {HIGHEST_RATIO} times their size in {name}.")
    total = sum(part.file_size for part in parts)
    text = sum(part.file_size for part in parts if not part.filename.lower().endswith(NOT_XML))
    if total > LARGEST_UNPACKED or text > LARGEST_XML:
        raise Unreadable(
            f"Expected {name} to unpack to a size that can be read, it has {total} bytes of which {text} XML."
        )


def opened(path: FilePath, open_it: Callable[[str], Opened]) -> Opened:
    """What a library makes of an office file that was checked before."""
    path = checked_archive(path)
    try:
        return open_it(str(path))
    except Unreadable:
        raise
    except Exception as error:  # the libraries raise whatever a broken file makes them trip over
        raise Unreadable(f"Expected an office file in {path.name}, it cannot be opened: {error!r}.") from error


def archive_part(path: FilePath, name: str) -> bytes | None:
    """One part of a checked office file; None where it has no such part."""
    with zipfile.ZipFile(checked_archive(path)) as archive:
        return archive.read(name) if name in archive.namelist() else None


def opened_image(source: Any, name: str) -> Image:
    """A picture, from a path or a stream, that has a bearable number of pixels."""
    try:
        from PIL import Image
    except ImportError as error:
        raise needs("Comparing pictures") from error
    try:
        image = Image.open(source)
    except Exception as error:  # Pillow raises of many kinds, bombs among them
        raise Unreadable(f"Expected a picture in {name}, it cannot be opened: {error!r}.") from error
    if image.width * image.height > MOST_PIXELS:
        raise Unreadable(f"Expected at most {MOST_PIXELS} pixels in {name}, it has {image.width} × {image.height}.")
    return image
