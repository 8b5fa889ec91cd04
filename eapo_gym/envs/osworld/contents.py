"""What a file says, without when it was said: two files that mean the same have the same digest.

Office programs write the time, how long somebody worked, and numbers that they draw into every file; databases lay
their pages out as it comes. None of it is a difference that somebody made.
"""

from __future__ import annotations

import io
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

_MOST_UNPACKED = 512 << 20
_MOST_DATABASE_STEPS = 50_000
"""Each of a thousand instructions of SQLite, which is some seconds in all."""

_ZIP = b"PK\x03\x04"
_SQLITE = b"SQLite format 3\x00"
_PNG = b"\x89PNG\r\n\x1a\n"
_PDF = b"%PDF-"

_ABOUT_THE_FILE = re.compile(
    r"meta\.xml|settings\.xml|layout-cache|Thumbnails/.*|Configurations2/.*|META-INF/.*|docProps/.*"
)
"""Members of office files that tell when, by what and how they were written, or how they were last looked at."""

_DRAWN = re.compile(
    rb'\s(?:officeooo:(?:paragraph-)?rsid|(?:w|w14):(?:rsid\w*|paraId|textId))="[^"]*"|<w:rsids>.*?</w:rsids>',
    re.DOTALL,
)
"""Numbers that office programs draw in order to tell who wrote what."""

_DATES_IN_PDF = re.compile(
    rb"/(?:CreationDate|ModDate)\s*\([^)]*\)|/ID\s*\[[^\]]*\]|/DocChecksum\s*/\w+|<xmp:\w+Date>[^<]*</xmp:\w+Date>"
)
_DATES_IN_PNG = {b"tIME", b"tEXt", b"iTXt", b"zTXt", b"eXIf"}


def digest_of_file(content: bytes | None) -> str:
    """What tells this file from others; that there is none, is a digest too."""
    if content is None:
        return "none"
    digest = blake2b(digest_size=16)
    try:
        for part in _parts(content):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()
    except (zipfile.BadZipFile, zlib.error, sqlite3.Error, OSError, EOFError, ValueError, NotImplementedError):
        # It only looked like one of these: then it is what it is, byte for byte.
        return blake2b(content, digest_size=16).hexdigest()


def _parts(content: bytes) -> Iterator[bytes]:
    if content.startswith(_ZIP):
        yield from _members(content)
    elif content.startswith(_SQLITE):
        yield from _rows(content)
    elif content.startswith(_PNG):
        yield from _chunks(content)
    elif content.startswith(_PDF):
        yield _DATES_IN_PDF.sub(b"", content)
    else:
        yield content


def _members(content: bytes) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.filename)
        if sum(info.file_size for info in infos) > _MOST_UNPACKED:
            raise ValueError("too much is packed into it")
        is_office = any(info.filename in ("mimetype", "[Content_Types].xml") for info in infos)
        for info in infos:
            if info.is_dir() or (is_office and _ABOUT_THE_FILE.fullmatch(info.filename)):
                continue
            yield info.filename.encode("utf-8", "surrogatepass")
            member = archive.read(info)
            yield _DRAWN.sub(b"", member) if is_office and info.filename.endswith(".xml") else member


def _rows(content: bytes) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix="eapo-gym-") as folder:
        path = Path(folder, "database")
        path.write_bytes(content)
        # As it stands: nothing beside it, no journal, and nothing that its schema says is run.
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.text_factory = bytes
            database.execute("PRAGMA trusted_schema = OFF")
            steps = iter(range(_MOST_DATABASE_STEPS))
            database.set_progress_handler(lambda: next(steps, -1) < 0, 1000)
            schema = database.execute(
                "SELECT name, coalesce(sql, '') FROM sqlite_master WHERE type = 'table' ORDER BY name"
            ).fetchall()
            for name, sql in schema:
                yield name + b"\n" + sql
                if not sql.upper().startswith(b"CREATE VIRTUAL"):
                    quoted = name.decode().replace('"', '""')
                    yield from sorted(repr(row).encode() for row in database.execute(f'SELECT * FROM "{quoted}"'))


def _chunks(content: bytes) -> Iterator[bytes]:
    at = len(_PNG)
    while at < len(content):
        size = int.from_bytes(content[at : at + 4], "big")
        kind = content[at + 4 : at + 8]
        if at + 12 + size > len(content):
            raise ValueError("it ends in the middle")
        if kind not in _DATES_IN_PNG:
            yield kind + content[at + 8 : at + 8 + size]
        at += 12 + size
