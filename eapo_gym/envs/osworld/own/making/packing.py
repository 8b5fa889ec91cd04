"""Archives that come out the same, byte for byte, whenever and wherever they are made."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from io import BytesIO

_WHEN = (2024, 1, 1, 0, 0, 0)
"""The time stamp of every file in an archive: the libraries would write the time of day."""

_STAMP = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(<)")


def repacked(archive: bytes) -> bytes:
    """An office document with no trace of when it was made."""
    with zipfile.ZipFile(BytesIO(archive)) as made:
        return zipped({info.filename: _unstamped(info.filename, made.read(info)) for info in made.infolist()})


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip archive of these files, in this order."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _WHEN)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return target.getvalue()


def _unstamped(name: str, content: bytes) -> bytes:
    return _STAMP.sub(rb"\g<1>2024-01-01T00:00:00Z\g<3>", content) if name == "docProps/core.xml" else content
