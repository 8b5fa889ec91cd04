"""Games that somebody has already: an archive is unpacked, a folder is linked to.

An archive is unpacked beside the data first, and what is whole then takes its place with a rename. What was unpacked
before a run was broken off, and games that are there already in the same size, are not written again. No file can land
outside of the folder, and no link is followed or made out of an archive.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from eapo_gym.cli.data.archives import BROKEN, BadArchive, Member, members, safe_parts
from eapo_gym.envs.alfworld.data import GAME_FILE, OFFICIAL_COUNTS
from eapo_gym.envs.alfworld.inspection import FOLDER

SPLITS = (*OFFICIAL_COUNTS, "valid_train")
INCOMING = ".incoming"


def bring_in(origin: Path, data: Path, on_file: Callable[[str], None] = lambda name: None) -> list[str]:
    """Unpack `origin` into the folder `data`, or link to it; returns the splits that it holds."""
    if origin.is_dir():
        return _link(origin, data)
    if not origin.exists():
        raise BadArchive(f"--from {origin}: there is no such file or folder.")
    return _unpack(origin, data, on_file)


# A folder


def _link(origin: Path, data: Path) -> list[str]:
    origin = origin.resolve()
    root = next((folder for folder in (origin / FOLDER, origin) if _splits_in(folder)), None)
    if root is None:
        raise BadArchive(
            f"--from {origin}: expected a folder that holds {FOLDER}, or splits such as {', '.join(SPLITS[:2])}."
        )
    for split in _splits_in(root):
        link, target = data / FOLDER / split, root / split
        if link.is_symlink() and not link.exists():
            link.unlink()  # what it led to is gone
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target, target_is_directory=True)
        elif link.resolve() != target.resolve():
            raise BadArchive(f"{link} is there already: move it away first, or choose another folder with --into.")
    return _splits_in(root)


def _splits_in(folder: Path) -> list[str]:
    return [split for split in SPLITS if (folder / split).is_dir()]


# An archive


def _unpack(archive: Path, data: Path, on_file: Callable[[str], None]) -> list[str]:
    root, incoming = data / FOLDER, data / INCOMING
    splits: dict[str, None] = {}
    try:
        for member in members(archive):
            place = _place(member, archive)
            if place is None:
                continue
            splits[place.parts[0]] = None
            if not _is_there(root / place, member.size) and not _is_there(incoming / place, member.size):
                _write(member, incoming / place)
            on_file(place.parts[0])
    except BadArchive:
        shutil.rmtree(incoming, ignore_errors=True)  # what came out of it so far is not to be trusted either
        raise
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault, not the archive's
        raise BadArchive(f"{archive} is broken or cut off: {error}. Fetch it again; what came out is kept.") from error
    if not splits:
        raise BadArchive(f"{archive} holds no games: expected {FOLDER}/<split>/<task>/<trial>/{GAME_FILE}.")
    for split in splits:
        _take_in(incoming / split, root / split)
    shutil.rmtree(incoming, ignore_errors=True)
    return [split for split in SPLITS if split in splits]


def _place(member: Member, archive: Path) -> Path | None:
    """Where a file belongs below the data's folder, None for what is no part of it; refuses what is not safe."""
    parts = safe_parts(member, archive)
    below = parts[parts.index(FOLDER) + 1 :] if FOLDER in parts else parts
    start = next((i for i, part in enumerate(below) if part in SPLITS), None)
    if start is None or len(below) - start < 2:
        return None
    return Path(*below[start:])


def _is_there(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False


def _write(member: Member, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    content = member.open()
    if content is None:
        raise BadArchive(f"The archive's {member.name!r:.120} is no file.")
    with content, draft.open("wb") as file:
        shutil.copyfileobj(content, file)
    draft.replace(path)


def _take_in(incoming: Path, split: Path) -> None:
    """Put what was unpacked of a split in its place: all at once, or file by file where there is something already."""
    if not incoming.exists():
        return
    if not split.exists():
        split.parent.mkdir(parents=True, exist_ok=True)
        incoming.rename(split)
        return
    if split.is_symlink():
        raise BadArchive(f"{split} is a link: nothing is unpacked into the folder that it leads to; remove it first.")
    for where, _, names in os.walk(incoming):
        folder = split / os.path.relpath(where, incoming)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            os.replace(os.path.join(where, name), folder / name)
