"""What apps do with files when somebody asks them to: delete, rename, move, copy."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from eapo_gym.envs.androidworld.phone.app import Turn
from eapo_gym.envs.androidworld.phone.file_kinds import file_name, free_path
from eapo_gym.envs.androidworld.phone.files import FileError, Files


def delete(turn: Turn, paths: Iterable[str]) -> int:
    """Delete what is still there of these; how many that were."""
    there = [path for path in paths if path in turn.files]
    for path in there:
        # It may have gone with its folder.
        if path in turn.files:
            turn.change_files(lambda files, now, path=path: files.remove(path, now))  # type: ignore[misc]
    return len(there)


def rename(turn: Turn, path: str, written: str) -> str:
    """Call a file or folder so; what is wrong with that, or ""."""
    name = file_name(written)
    target = posixpath.join(posixpath.dirname(path), name)
    if not name:
        return "A name is needed"
    if target == path:
        return ""
    if target in turn.files:
        return f"{name} exists already"
    if path not in turn.files:
        return "It is not there any more"
    turn.change_files(lambda files, now: files.move(path, target, now))
    return ""


def make_folder(turn: Turn, folder: str, written: str) -> str:
    """Make a folder in another one; what is wrong with that, or ""."""
    name = file_name(written)
    path = posixpath.join(folder, name)
    if not name:
        return "A folder needs a name"
    if path in turn.files:
        return f"{name} exists already"
    turn.change_files(lambda files, now: files.make_folder(path, now))
    return ""


def transfer(turn: Turn, paths: Iterable[str], folder: str, *, moves: bool) -> list[str]:
    """Move or copy these into a folder, under a free name if theirs is taken; the names of what could not go there."""
    stayed = []
    for path in paths:
        target = posixpath.join(folder, posixpath.basename(path))
        if moves and target == path:
            continue

        def change(files: Files, now: float, path: str = path, target: str = target) -> Files:
            return (files.move if moves else files.copy)(path, free_path(files, target), now)

        try:
            turn.change_files(change)
        except FileError:
            stayed.append(posixpath.basename(path))
    return stayed
