"""Markor's first screen: the notebook with its notes and folders, the to-do list, the quick note, and the rest."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import OVER, Intent, Scene, Turn
from eapo_gym.envs.androidworld.phone.apps.chooser import chooser, hand, to_send_file, to_send_text
from eapo_gym.envs.androidworld.phone.apps.file_changes import delete, make_folder, rename, transfer
from eapo_gym.envs.androidworld.phone.apps.folder_dialog import folder_dialog
from eapo_gym.envs.androidworld.phone.apps.markor import editor, storage
from eapo_gym.envs.androidworld.phone.apps.markor.editor import Editing, opened
from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK, QUICK_NOTE, TODO, text_of
from eapo_gym.envs.androidworld.phone.file_kinds import file_name, icon_of, kind_of
from eapo_gym.envs.androidworld.phone.files import Files
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    button,
    checkbox,
    chip,
    column,
    dialog,
    fab,
    field,
    icon,
    icon_button,
    item,
    menu,
    page,
    row,
    text,
)

MAIN, DOCUMENT, SETTINGS = ".activity.MainActivity", ".activity.DocumentActivity", ".activity.SettingsActivity"

FILES, TODO_TAB, QUICK_TAB, MORE_TAB = "Files", "To-Do", "QuickNote", "More"
_TAB_ICONS = {FILES: "folder", TODO_TAB: "task", QUICK_TAB: "flag", MORE_TAB: "more"}
_TAB_FILES = {TODO_TAB: TODO, QUICK_TAB: QUICK_NOTE}

NEW = ("Create a new file or folder", "New", "Add")
OK, CANCEL = ("OK", "Done", "Confirm"), "Cancel"
MAKE_FOLDER = ("Folder", "As folder", "New folder")
DELETE, RENAME, MOVE = ("Delete", "Remove"), ("Rename", "Change name"), ("Move", "Move to folder")
COPY, SHARE, INFO = ("Copy", "Copy to folder"), ("Share", "Send"), ("Info", "Details")
SELECT_ALL = ("Select all", "Mark all")
MORE = ("More options", "Menu")
SORT = ("Sort by", "Order", "Arrange")
ORDER_NAMES = {
    "name": ("Name", "Title"),
    "date": ("Date", "Last modified"),
    "size": ("Size", "File size"),
    "type": ("File type", "Extension"),
}

FORMATS = {"Markdown": ".md", "Plain text": ".txt", "CSV": ".csv"}
TEMPLATES = {
    "Empty file": "",
    "Check list": "# To do\n\n- [ ] \n- [ ] \n",
    "Meeting": "# Meeting\n\n## Present\n\n## Decisions\n",
}

_Bar = tuple[str, "Event | None", str, list[View]]
"""Title, what the way back does, its icon, and what else the bar offers."""


class Main(Editing):
    name = MAIN

    def view(self, at: Scene) -> View:
        tab = at.get("tab", FILES)
        tabs = row(*(_tab(name, tab) for name in _TAB_ICONS), height=64, fill="bar", id="bottom_navigation_bar")
        if tab in _TAB_FILES:
            return page(tab, editor.body(at), actions=editor.bar_actions(at), below=[tabs], scrolls=False)
        if tab == MORE_TAB:
            return page(tab, _more_entries(), below=[tabs])
        chosen = _chosen(at)
        over = _over(at, chosen)
        listing = _results(at) if at.get("searching", False) else _entries(at, chosen)
        add = fab("add", at.taste.choose("new", *NEW), ("new",), id="fab_add_new_item")
        with_fab = not chosen and not at.get("searching", False) and not _adds_above(at)
        above = [_search_field(at)] if at.get("searching", False) else []
        title, up, up_icon, actions = _chosen_bar(at, chosen) if chosen else _folder_bar(at)
        return page(
            title, listing, up=up, up_icon=up_icon, actions=actions, above=above, below=[tabs],
            fab=add if with_fab else None, over=over,
        )  # fmt: skip

    def on(self, turn: Turn, event: Event) -> None:
        if self.edit(turn, event) or _on_dialog(turn, event):
            return
        match event:
            case ("tab", name):
                self._turn_to(turn, name)
            case ("open", path):
                _open(turn, path)
            case ("hold", path):
                _select(turn, path)
            case ("up",):
                self.back(turn)
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("close",):
                turn.focus("")
                turn.drop(OVER)
            case ("new",):
                turn.keep(**{OVER: "new", "new_name": "", "extension": ".md", "template": "Empty file"})
                turn.focus("new_name")
            case ("search",):
                turn.keep(searching=True, words="")
                turn.focus("words")
            case ("select_all",):
                turn.drop(OVER)
                turn.keep(chosen=tuple(storage.listed(turn, _folder(turn))))
            case ("order", name):
                storage.set_order(turn, name)
                turn.drop(OVER)
            case ("toggle", name):
                storage.toggle(turn, name)
            case ("settings",):
                turn.drop(OVER)
                turn.open(SETTINGS)

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("chosen"):
            turn.drop("chosen")
        elif turn.get("searching", False):
            turn.drop("searching", "words")
        elif turn.get("tab", FILES) != FILES:
            self._turn_to(turn, FILES)
        elif _folder(turn) != NOTEBOOK:
            turn.keep(folder=posixpath.dirname(_folder(turn)))
        else:
            turn.close()

    def _turn_to(self, turn: Turn, name: str) -> None:
        """Another tab. What was written on this one is saved."""
        editor.save(turn)
        turn.focus("")
        turn.drop("chosen", "searching", "words", "preview", "finding", OVER)
        turn.keep(tab=name, **(opened(turn.files, _TAB_FILES[name]) if name in _TAB_FILES else {"path": ""}))


# What is shown


def _tab(name: str, chosen: str) -> View:
    on = name == chosen
    color = "primary" if on else "faint"
    words = replace(text(name, size=12, along="center", bold=on, color=color), told=False)
    return column(
        icon(_TAB_ICONS[name], color=color), words, gap=2, grow=1, along="center", tap=("tab", name), selected=on,
        desc=name,
    )  # fmt: skip


def _folder(at: Scene) -> str:
    folder = str(at.get("folder", NOTEBOOK))
    return folder if at.files.is_folder(folder) else NOTEBOOK


def _chosen(at: Scene) -> list[str]:
    """What is selected and still there."""
    return [path for path in at.get("chosen", ()) if path in at.files]


def _adds_above(at: Scene) -> bool:
    """On some phones one adds a note from the bar rather than from the corner."""
    return at.taste.choose("where to add", False, False, True)


def _folder_bar(at: Scene) -> _Bar:
    folder = _folder(at)
    title = "Markor" if folder == NOTEBOOK else posixpath.basename(folder)
    actions = [
        icon_button("search", "Search", ("search",), id="action_search"),
        icon_button("sort", at.taste.choose("sort", *SORT), ("over", "sort"), id="action_sort"),
        _more(at),
    ]
    if _adds_above(at):
        actions.insert(0, icon_button("add", at.taste.choose("new", *NEW), ("new",), id="action_add"))
    return title, None if folder == NOTEBOOK else ("up",), "back", actions


def _chosen_bar(at: Scene, chosen: Sequence[str]) -> _Bar:
    actions = []
    if at.taste.choose("where to delete", True, False):
        actions.append(icon_button("delete", at.taste.choose("delete", *DELETE), ("over", "delete")))
    return f"{len(chosen)} selected", ("up",), "close", [*actions, _more(at)]


def _more(at: Scene) -> View:
    return icon_button("more", at.taste.choose("more", *MORE), ("over", "more"))


def _entries(at: Scene, chosen: Sequence[str]) -> list[View]:
    paths = storage.listed(at, _folder(at))
    if not paths:
        return [text("This folder is empty", color="faint", along="center", pad=(16, 48, 16, 16))]
    return [_entry(at, path, chosen) for path in paths]


def _entry(at: Scene, path: str, chosen: Sequence[str]) -> View:
    is_folder = at.files.is_folder(path)
    picture = icon("folder" if is_folder else icon_of(path), color="primary" if is_folder else "faint")
    start = icon("select", color="primary", desc="Selected") if path in chosen else picture
    return item(
        posixpath.basename(path), storage.summary(at.files, path), start=start, selected=path in chosen,
        tap=("hold" if chosen else "open", path), hold=("hold", path), id="note_title", under_id="note_description",
    )  # fmt: skip


def _search_field(at: Scene) -> View:
    area = replace(field("words", at.get("words", ""), hint="Search in notes", grow=1, height=48), across="center")
    return row(area, icon_button("close", "Close search", ("up",)), gap=4, pad=(12, 4, 4, 4))


def _results(at: Scene) -> list[View]:
    words = at.get("words", "")
    if not words:
        return [text("Looks into names and texts of all notes.", color="faint", pad=(16, 16, 16, 16))]
    found = list(storage.found(at, words))
    if not found:
        return [text("Nothing found", color="faint", along="center", pad=(16, 48, 16, 16))]
    return [
        item(path[len(NOTEBOOK) + 1 :], line or storage.summary(at.files, path), tap=("open", path),
             start=icon(icon_of(path)), id="note_title", under_id="note_description")
        for path, line in found
    ]  # fmt: skip


def _more_entries() -> list[View]:
    return [
        item("Settings", "Text size, hidden files, view mode", tap=("settings",), start=icon("settings")),
        item("Notebook", NOTEBOOK, start=icon("folder")),
        item("About Markor", "Text editor - notes and to-do. Version 2.11.1", start=icon("info")),
    ]


# What lies over it


def _over(at: Scene, chosen: Sequence[str]) -> list[View]:
    """The dialog or menu that is open."""
    over = at.get(OVER)
    if over == "sort":
        return [_sort_menu(at)]
    if over == "more":
        return [menu(_chosen_menu(at, chosen) if chosen else _folder_menu(at), ("close",))]
    if over == "new":
        return [_new_dialog(at)]
    if over == "rename" and chosen:
        body = [field("new_name", at.get("new_name", ""), hint="Name", focused=at.activity.focus == "new_name")]
        return [_dialog(at, at.taste.choose("rename", *RENAME), body, ("rename",))]
    if over == "delete" and chosen:
        names = "\n".join(posixpath.basename(path) for path in chosen[:8])
        names += f"\n… and {len(chosen) - 8} more" if len(chosen) > 8 else ""
        return [_dialog(at, "Confirm delete", [text(names, color="faint", id="message")], ("delete",))]
    if over in ("move", "copy") and chosen:
        title = at.taste.choose(over, *(MOVE if over == "move" else COPY))
        return [folder_dialog(at, title, at.get("target", NOTEBOOK))]
    if over == "share" and chosen:
        return [chooser(at, "Share", _sent(at.files, chosen[0]), ("close",))]
    if over == "info" and chosen:
        path = chosen[0]
        words = storage.text_of(at.files, path) or "" if not at.files.is_folder(path) else ""
        facts = [
            text(f"Path\n{path}", size=15),
            text(f"Changed, size\n{storage.summary(at.files, path)}", size=15),
            text(f"Words\n{len(words.split())}", size=15),
        ]
        return [dialog(posixpath.basename(path), [column(*facts, gap=8)], [button("OK", ("close",))],
                       dismiss=("close",))]  # fmt: skip
    return []


def _sent(files: Files, path: str) -> Intent:
    """Texts are sent as text, everything else as a file."""
    written = text_of(files, path)
    return to_send_file(path) if written is None or kind_of(path).startswith("image/") else to_send_text(written)


def _folder_menu(at: Scene) -> list[tuple[str, Event]]:
    return at.taste.order(
        "folder menu",
        [
            (at.taste.choose("select all", *SELECT_ALL), ("select_all",)),
            ("Refresh", ("close",)),
            ("Settings", ("settings",)),
        ],
    )


def _chosen_menu(at: Scene, chosen: Sequence[str]) -> list[tuple[str, Event]]:
    """What can be done with what is selected; some of it with one file alone."""
    choose = at.taste.choose
    entries: list[tuple[str, Event]] = [
        (choose("select all", *SELECT_ALL), ("select_all",)),
        (choose("move", *MOVE), ("over", "move")),
        (choose("copy", *COPY), ("over", "copy")),
    ]
    if len(chosen) == 1:
        entries += [(choose("rename", *RENAME), ("over", "rename")), (choose("info", *INFO), ("over", "info"))]
        if not at.files.is_folder(chosen[0]):
            entries.append((choose("share", *SHARE), ("over", "share")))
    if not at.taste.choose("where to delete", True, False):
        entries.append((choose("delete", *DELETE), ("over", "delete")))
    return at.taste.order("selection menu", entries)


def _sort_menu(at: Scene) -> View:
    by = storage.order(at)
    lines = [
        item(at.taste.choose(f"order {name}", *ORDER_NAMES[name]), tap=("order", name),
             end=icon("check", color="primary") if name == by else None)
        for name in storage.ORDERS
    ]  # fmt: skip
    switches = (
        ("reverse_order", "Reverse order"), ("folders_first", "Folders first"), ("hidden_files", "Show hidden files"),
    )  # fmt: skip
    lines += [
        item(called, tap=("toggle", name), end=checkbox(storage.setting(at, name), ("toggle", name), desc=called))
        for name, called in switches
    ]
    return dialog(at.taste.choose("sort", *SORT), lines, [button("Close", ("close",))], dismiss=("close",))


def _new_dialog(at: Scene) -> View:
    extension = at.get("extension", ".md")
    focus = at.activity.focus
    body = [
        row(
            field("new_name", at.get("new_name", ""), hint="Name", id="new_file_dialog__name", grow=3,
                  focused=focus == "new_name"),
            field("extension", extension, hint="Extension", id="new_file_dialog__ext", grow=1,
                  focused=focus == "extension"),
            gap=8,
        ),
        text("Type", size=13, color="faint", pad=(0, 10, 0, 4)),
        row(*(chip(name, ("format", end), chosen=end == extension) for name, end in FORMATS.items()), gap=8),
        text("Template", size=13, color="faint", pad=(0, 10, 0, 4)),
        row(*(chip(name, ("template", name), chosen=name == at.get("template")) for name in TEMPLATES), gap=8),
    ]  # fmt: skip
    buttons = [button(at.taste.choose("make folder", *MAKE_FOLDER), ("make_folder",))]
    return _dialog(at, "New file", body, ("make_file",), before=buttons)


def _dialog(at: Scene, title: str, body: Sequence[View], does: Event, *, before: Iterable[View] = ()) -> View:
    agree = button(at.taste.choose("ok", *OK), does, id="button1")
    buttons = [*before, button(CANCEL, ("close",), id="button2"), agree]
    return dialog(title, body, at.taste.order("buttons", buttons), dismiss=("close",))


# What is done


def _open(turn: Turn, path: str) -> None:
    if turn.files.is_folder(path):
        turn.keep(folder=path)
    elif text_of(turn.files, path) is None and not kind_of(path).startswith("image/"):
        turn.toast(f"{posixpath.basename(path)} is not a text")
    else:
        open_note(turn, path)


def open_note(turn: Turn, path: str) -> None:
    turn.focus("")
    reads = storage.setting(turn, "view_mode") and bool(text_of(turn.files, path))
    turn.open(DOCUMENT, **opened(turn.files, path), preview=reads)


def _select(turn: Turn, path: str) -> None:
    chosen = tuple(_chosen(turn))
    turn.keep(chosen=tuple(each for each in chosen if each != path) if path in chosen else (*chosen, path))


def _on_dialog(turn: Turn, event: Event) -> bool:
    """Do what the event says if it comes from what lies over the list."""
    chosen = _chosen(turn)
    match event:
        case ("over", "rename") if chosen:
            turn.keep(**{OVER: "rename", "new_name": posixpath.basename(chosen[0])})
            turn.focus("new_name")
        case ("over", "move" | "copy" as name):
            turn.keep(**{OVER: name, "target": _folder(turn)})
        case ("format", extension):
            turn.keep(extension=extension)
        case ("template", name):
            turn.keep(template=name)
        case ("make_file",):
            _make_file(turn)
        case ("make_folder",):
            _tell(turn, make_folder(turn, _folder(turn), turn.get("new_name", "")))
        case ("rename",) if chosen:
            _tell(turn, rename(turn, chosen[0], turn.get("new_name", "")))
        case ("delete",):
            delete(turn, chosen)
            _finish(turn)
        case ("go", folder):
            turn.keep(target=folder)
        case ("picked",):
            stayed = transfer(turn, chosen, turn.get("target", NOTEBOOK), moves=turn.get(OVER) == "move")
            _finish(turn)
            if stayed:
                turn.toast(f"Not possible there: {', '.join(stayed)}")
        case ("hand", package) if chosen:
            intent = _sent(turn.files, chosen[0])
            _finish(turn)
            hand(turn, intent, package)
        case _:
            return False
    return True


def _finish(turn: Turn) -> None:
    turn.focus("")
    turn.drop(OVER, "chosen")


def _make_file(turn: Turn) -> None:
    written = file_name(turn.get("new_name", "")) or f"{turn.now:%Y-%m-%dT%H-%M-%S}"
    name = file_name(written + turn.get("extension", ""))
    path = posixpath.join(_folder(turn), name)
    if turn.files.is_folder(path):
        turn.toast(f"{name} is a folder")
        return
    if path not in turn.files:
        turn.write(path, TEMPLATES[turn.get("template", "Empty file")])
    turn.focus("")
    turn.drop(OVER)
    open_note(turn, path)


def _tell(turn: Turn, problem: str) -> None:
    """The dialog stays open as long as something is wrong."""
    if problem:
        turn.toast(problem)
    else:
        _finish(turn)
