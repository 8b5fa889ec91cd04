"""Files of the agent's, read with bounds: what is wrong with one is `Unreadable`, and nothing in it is carried out."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eapo_gym.envs.osworld.judging.office.guard import checked_file, opened_image
from eapo_gym.envs.osworld.judging.registry import Unreadable

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_TEXT_BYTES = 32 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_ENTRIES = 20_000
MAX_DATABASE_STEPS = 200_000_000
STEPS_BETWEEN_LOOKS = 100_000


def existing(path: Path | None) -> Path:
    """The path of a file that a getter gave, if there is one of a size that can be read."""
    if path is None:
        raise Unreadable("The file that is to be checked is not there.")
    return checked_file(path)


def text(path: Path | None) -> str:
    """A text file's content, with line ends as Python reads them."""
    there = existing(path)
    size = there.stat().st_size
    if size > MAX_TEXT_BYTES:
        raise Unreadable(f"The file {there.name!r} has {size:,} bytes: of a text at most {MAX_TEXT_BYTES:,} are read.")
    try:
        return there.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"The file {there.name!r} is no UTF-8 text: {error}.") from error


def json_of(written: str | bytes, name: str) -> Any:
    """What a JSON text says."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"What {name!r} holds is no JSON: {error}.") from error


def json_in(path: Path | None) -> Any:
    """What a JSON file says."""
    return json_of(text(path), existing(path).name)


def database_rows(path: Path | None, query: str) -> list[tuple[Any, ...]]:
    """What a query of the task's finds in an SQLite file, which is opened for reading only and by itself."""
    there = existing(path)
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
    looks = iter(range(MAX_DATABASE_STEPS // STEPS_BETWEEN_LOOKS))
    connection = sqlite3.connect(f"{there.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        connection.set_authorizer(lambda what, *_: sqlite3.SQLITE_OK if what in allowed else sqlite3.SQLITE_DENY)
        # A view in the file can run without end: it is interrupted.
        connection.set_progress_handler(lambda: next(looks, None) is None, STEPS_BETWEEN_LOOKS)
        return connection.execute(query).fetchall()
    except sqlite3.Error as error:
        raise Unreadable(f"The database {there.name!r} does not answer the task's query: {error}.") from error
    finally:
        connection.close()


def packed(path: Path | None) -> dict[str, bytes]:
    """What is in a ZIP archive of any kind, folders left out."""
    there = existing(path)
    try:
        with zipfile.ZipFile(there) as archive:
            entries = archive.infolist()
            unpacked = sum(entry.file_size for entry in entries)
            if unpacked > MAX_UNPACKED_BYTES or len(entries) > MAX_ENTRIES:
                raise Unreadable(
                    f"The archive {there.name!r} holds {unpacked:,} bytes in {len(entries):,} files: "
                    f"at most {MAX_UNPACKED_BYTES:,} in {MAX_ENTRIES:,} are looked at."
                )
            # The reader stops at the size that an entry declares: one that lies is broken, and no bomb.
            return {entry.filename: archive.read(entry) for entry in entries if not entry.is_dir()}
    except Unreadable:
        raise
    except Exception as error:  # zipfile and its decompressors raise of many kinds
        raise Unreadable(f"The file {there.name!r} is no ZIP archive that can be read: {error!r}.") from error


def image(path: Path | None) -> Image:
    """A picture, decoded."""
    there = existing(path)
    picture = opened_image(there, there.name)
    try:
        picture.load()
    except Exception as error:  # Pillow raises of many kinds
        raise Unreadable(f"The picture {there.name!r} cannot be decoded: {error!r}.") from error
    return picture
