"""Where Markor keeps notes, and what it says of them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from eapo_gym.envs.androidworld.phone.app import Scene, Turn
from eapo_gym.envs.androidworld.phone.file_kinds import changed, said_size, said_time, size_of
from eapo_gym.envs.androidworld.phone.files import SDCARD, Files
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference

PACKAGE = "net.gsantner.markor"
NOTEBOOK = f"{SDCARD}/Documents/Markor"
TODO, QUICK_NOTE = f"{NOTEBOOK}/todo.txt", f"{NOTEBOOK}/QuickNote.md"

ORDERS = ("name", "date", "size", "type")


def setting(at: Scene, name: str) -> bool:
    """Whether something is switched on in Markor."""
    return preference(at, PACKAGE, name, "true" if name == "folders_first" else "false") == "true"


def toggle(turn: Turn, name: str) -> None:
    prefer(turn, PACKAGE, **{name: "false" if setting(turn, name) else "true"})


def order(at: Scene) -> str:
    return preference(at, PACKAGE, "order", "name")


def set_order(turn: Turn, name: str) -> None:
    prefer(turn, PACKAGE, order=name)


def listed(at: Scene, folder: str) -> list[str]:
    """The paths of what is shown of a folder, in the order that was chosen."""
    files = at.files
    if not files.is_folder(folder):
        return []
    names = [name for name in files.names(folder) if setting(at, "hidden_files") or not name.startswith(".")]
    paths = sorted((posixpath.join(folder, name) for name in names), key=lambda path: path.lower())
    by = order(at)
    if by == "date":
        paths.sort(key=lambda path: changed(files, path), reverse=True)
    elif by == "size":
        paths.sort(key=lambda path: size_of(files, path), reverse=True)
    elif by == "type":
        paths.sort(key=lambda path: posixpath.splitext(path)[1].lower())
    if setting(at, "reverse_order"):
        paths.reverse()
    if setting(at, "folders_first"):
        paths.sort(key=lambda path: not files.is_folder(path))
    return paths


def found(at: Scene, words: str) -> Iterator[tuple[str, str]]:
    """The notes whose name or text has these words, each with the line in which they stand."""
    wanted = words.lower()
    if not at.files.is_folder(NOTEBOOK):
        return
    for path in at.files.walk(NOTEBOOK):
        if at.files.is_folder(path):
            continue
        content = text_of(at.files, path) or ""
        line = next((each for each in content.splitlines() if wanted in each.lower()), "")
        if line or wanted in posixpath.basename(path).lower():
            yield path, line.strip()


def summary(files: Files, path: str) -> str:
    """What stands below a name in the list."""
    when = said_time(changed(files, path))
    if files.is_folder(path):
        count = len(files.names(path))
        return f"{when}, {count} item{'' if count == 1 else 's'}"
    return f"{when}, {said_size(size_of(files, path))}"


def text_of(files: Files, path: str) -> str | None:
    """What is written in a file; None if it is no text."""
    if path not in files or files.is_folder(path):
        return ""
    try:
        return files.read(path).decode()
    except UnicodeDecodeError:
        return None
