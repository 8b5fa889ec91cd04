"""Files of the home, and the forms that clients send them in."""

from __future__ import annotations

import os
import tempfile
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

_MOST_ENTRIES = 10_000


class FormError(ValueError):
    """A body that is no form."""


def at(path: str) -> Path:
    """A path as tasks write it: with ~ and variables, or relative to the home."""
    return Path.home() / os.path.expandvars(os.path.expanduser(path))


def write(path: Path, content: bytes) -> None:
    """Put a file there, whole or not at all, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".upload-", delete=False) as draft:
        draft.write(content)
    os.chmod(draft.name, 0o644)
    os.replace(draft.name, path)


def directory_tree(path: Path) -> dict[str, Any]:
    """Folders and files below; links are shown and not followed."""
    left = [_MOST_ENTRIES]

    def describe(place: Path) -> dict[str, Any]:
        left[0] -= 1
        if place.is_symlink() or not place.is_dir():
            return {"type": "file", "name": place.name}
        children = [describe(child) for child in sorted(place.iterdir()) if left[0] > 0]
        return {"type": "directory", "name": place.name, "children": children}

    return describe(path)


def form(body: bytes, content_type: str) -> dict[str, bytes]:
    """The fields of a form, in either of the two ways in which browsers send one."""
    if not content_type.startswith("multipart/form-data"):
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
        return {name: values[-1].encode() for name, values in fields.items()}
    header = BytesHeaderParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode())
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise FormError("A multipart form needs a boundary in its Content-Type.")
    mark = b"\r\n--" + boundary.encode()
    found: dict[str, bytes] = {}
    for part in (b"\r\n" + body).split(mark)[1:]:
        if part.startswith(b"--"):
            return found
        head, separator, content = part.partition(b"\r\n\r\n")
        name = BytesHeaderParser().parsebytes(head.lstrip(b"\r\n")).get_param("name", header="content-disposition")
        if not separator or not isinstance(name, str):
            raise FormError("A part of the multipart form has no name.")
        found[name] = content
    raise FormError("The multipart form has no end.")
