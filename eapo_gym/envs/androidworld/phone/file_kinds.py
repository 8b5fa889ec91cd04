"""What files are, by their names, and how apps speak of them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from datetime import datetime, timezone

from eapo_gym.envs.androidworld.phone.files import Files, resolve

KINDS: Mapping[str, str] = {
    "3gp": "video/3gpp",
    "aac": "audio/aac",
    "apk": "application/vnd.android.package-archive",
    "bmp": "image/bmp",
    "csv": "text/csv",
    "gif": "image/gif",
    "htm": "text/html",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "m4a": "audio/mp4",
    "md": "text/markdown",
    "mkv": "video/x-matroska",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "pdf": "application/pdf",
    "png": "image/png",
    "txt": "text/plain",
    "wav": "audio/x-wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "xml": "text/xml",
    "zip": "application/zip",
}
UNKNOWN = "application/octet-stream"
LONGEST_NAME = 255
"""Of a file, in bytes."""

_ICONS = {"image": "image", "video": "video", "audio": "music", "text": "document"}
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f/\\|?*<>":]')


def kind_of(path: str) -> str:
    """The type of a file, such as "text/plain"."""
    return KINDS.get(posixpath.splitext(path)[1][1:].lower(), UNKNOWN)


def icon_of(path: str) -> str:
    return _ICONS.get(kind_of(path).partition("/")[0], "document")


def size_of(files: Files, path: str) -> int:
    """In bytes; of a folder, with all that is in it."""
    return sum(len(files.read(each)) for each in files.walk(path) if not files.is_folder(each))


def changed(files: Files, path: str) -> float:
    """When it was changed for the last time, in seconds since 1970."""
    path = resolve(path)
    return files.folders[path] if path in files.folders else files.get(path).changed


def said_size(size: int) -> str:
    """As apps write it: 20 B, 1.5 kB."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def said_time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M}"


def file_name(written: str) -> str:
    """What a file can be called that somebody wants to call so; "" if there is nothing in it."""
    name = _FORBIDDEN.sub("_", written.strip())
    if name in ("", ".", ".."):
        return ""
    return name.encode()[:LONGEST_NAME].decode("utf-8", "ignore")


def free_path(files: Files, path: str) -> str:
    """The path, or if something is there already, the next one with a number: "photo (1).jpg"."""
    stem, extension = posixpath.splitext(path)
    number, tried = 0, path
    while tried in files:
        number += 1
        tried = f"{stem} ({number}){extension}"
    return tried
