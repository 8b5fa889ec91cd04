"""The dialog in which one goes through the folders of the phone's storage and picks one."""

from __future__ import annotations

import posixpath

from eapo_gym.envs.androidworld.phone.app import Scene
from eapo_gym.envs.androidworld.phone.files import SDCARD, FileError
from eapo_gym.envs.androidworld.phone.ui.view import View
from eapo_gym.envs.androidworld.phone.ui.widgets import LIST, button, dialog, icon, item, text

PARENT = ".."
PICK = ("Select", "OK", "Use this folder")
STORAGE = "Internal storage"

_LIST_HEIGHT = 320


def folder_dialog(at: Scene, title: str, folder: str) -> View:
    """Events: ("go", folder) to look into another one, ("picked",) for the one that is shown, ("close",)."""
    entries = []
    if folder != SDCARD:
        entries.append(
            item(PARENT, "Parent folder", tap=("go", posixpath.dirname(folder)), start=icon("folder"), id="text")
        )
    entries += [
        item(name, tap=("go", posixpath.join(folder, name)), start=icon("folder", color="primary"), id="text")
        for name in folders_in(at, folder)
    ]
    if not folders_in(at, folder):
        entries.append(text("No folders here", color="faint", pad=(16, 16, 16, 16)))
    rows = View(kind=LIST, scroll="folders", height=_LIST_HEIGHT, children=tuple(entries))
    buttons = [
        button("Cancel", ("close",), id="dialog_cancel"),
        button(at.taste.choose("pick a folder", *PICK), ("picked",), style="soft", id="dialog_ok"),
    ]
    path = text(said_folder(folder), size=14, color="primary", lines=2, id="path", pad=(0, 0, 0, 8))
    return dialog(title, [path, rows], buttons, dismiss=("close",))


def folders_in(at: Scene, folder: str) -> list[str]:
    """The names of the folders in one, without those that are hidden."""
    try:
        names = at.files.names(folder)
    except FileError:
        return []
    found = [name for name in names if not name.startswith(".") and at.files.is_folder(posixpath.join(folder, name))]
    return sorted(found, key=str.lower)


def said_folder(folder: str) -> str:
    """The path as people are told it: "Internal storage/Documents"."""
    return STORAGE + folder[len(SDCARD) :] if folder.startswith(SDCARD) else folder
