"""Files: what is in the phone's storage, folder by folder or by kind."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import OVER, App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps import file_changes
from eapo_gym.envs.androidworld.phone.apps.chooser import able, chooser, hand, to_send_file, to_view
from eapo_gym.envs.androidworld.phone.file_kinds import changed, icon_of, kind_of, said_size, said_time, size_of
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, without_preferences
from eapo_gym.envs.androidworld.phone.state import State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    button,
    chip,
    column,
    dialog,
    drawer,
    field,
    icon,
    icon_button,
    item,
    menu,
    page,
    radio,
    row,
    text,
)

PACKAGE = "com.google.android.documentsui"
FOLDERS = (
    "Alarms", "Android", "Audiobooks", "DCIM", "Documents", "Download", "Movies", "Music", "Notifications", "Pictures",
    "Podcasts", "Recordings", "Ringtones",
)  # fmt: skip
"""What every phone has in its storage."""

STORAGE = "sdk_gphone_x86_64"
RECENT, DOWNLOADS = "Recent", "Downloads"
ROOTS = {
    RECENT: "clock",
    "Images": "image",
    "Videos": "video",
    "Audio": "music",
    "Documents": "document",
    DOWNLOADS: "download",
    STORAGE: "display",
}
"""What the drawer lists, with its icons."""

_KINDS = {"Images": ("image/",), "Videos": ("video/",), "Audio": ("audio/",), "Documents": ("text/", "application/pdf")}
_RECENT_SECONDS, _MOST_RECENT = 45 * 86_400, 60
_GRID_COLUMNS = 2

DRAWER = ("Show roots", "Open navigation drawer")
MORE, SHARE = ("More options", "Menu"), ("Share", "Send")
DELETE, RENAME, INFO = ("Delete", "Remove"), ("Rename", "Change name"), ("Get info", "Details")
MOVE, COPY = ("Move to…", "Move"), ("Copy to…", "Copy")
SELECT_ALL, NEW_FOLDER = ("Select all", "Mark all"), ("New folder", "Create folder")
OPEN_WITH, OK = ("Open with", "Open with…"), ("OK", "Yes")
MOVE_HERE, COPY_HERE = ("Move", "Move here"), ("Copy", "Copy here")

ORDERS = {
    "name": "File name (A to Z)",
    "name_down": "File name (Z to A)",
    "date_down": "Modified (newest first)",
    "date": "Modified (oldest first)",
    "size_down": "Size (largest first)",
    "size": "Size (smallest first)",
    "type": "Type (A to Z)",
}


class _Browser(Screen):
    """Goes through the folders; where one is, is kept as `root` and `folder`."""

    drawer_icon = "menu"

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("drawer",):
                turn.focus("")
                turn.keep(**{OVER: "drawer"})
            case ("root", name):
                turn.drop(OVER, "searching", "words", "chosen", "kind")
                turn.keep(root=name, folder=_first_folder(name))
            case ("go", folder):
                turn.drop("searching", "words")
                turn.keep(root=STORAGE if _root(turn) != DOWNLOADS else DOWNLOADS, folder=folder)
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("close",):
                turn.focus("")
                turn.drop(OVER)
            case ("new_folder",):
                turn.keep(**{OVER: "new folder", "new_name": ""})
                turn.focus("new_name")
            case ("make_folder",):
                _tell(turn, file_changes.make_folder(turn, _folder(turn), turn.get("new_name", "")))

    def back(self, turn: Turn) -> None:
        folder = _folder(turn)
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("chosen"):
            turn.drop("chosen")
        elif turn.get("searching", False):
            turn.drop("searching", "words")
        elif folder and folder != _first_folder(_root(turn)):
            turn.keep(folder=posixpath.dirname(folder))
        else:
            turn.close()


class Browse(_Browser):
    name = "com.android.documentsui.files.FilesActivity"

    def view(self, at: Scene) -> View:
        chosen = _chosen(at)
        entries = _shown(at)
        above: list[View] = []
        if at.get("searching", False):
            area = replace(field("words", at.get("words", ""), hint="Search", grow=1, height=48), across="center")
            above = [row(area, icon_button("close", "Close search", ("unsearch",)), gap=4, pad=(12, 4, 4, 4))]
        elif _folder(at) and _root(at) == STORAGE:
            above = [_crumbs(_folder(at))]
        elif _root(at) == RECENT:
            kinds = [chip(name, ("kind", name), chosen=at.get("kind") == name) for name in _KINDS]
            above = [row(*kinds, gap=8, pad=(16, 4, 16, 8))]
        is_grid = preference(at, PACKAGE, "grid") == "true"
        body = _grid(at, entries, chosen) if is_grid else [_line(at, path, chosen) for path in entries]
        if not entries:
            body = [text(_nothing(at), color="faint", along="center", pad=(16, 64, 16, 16), id="message")]
        if chosen:
            return page(f"{len(chosen)} selected", body, up=("unselect",), up_icon="close",
                        actions=_chosen_actions(at), above=above, over=_over(at, chosen))  # fmt: skip
        return _with_drawer(
            at, page(_title(at), body, actions=_folder_actions(at), above=above, over=_over(at, chosen))
        )

    def on(self, turn: Turn, event: Event) -> None:
        chosen = _chosen(turn)
        match event:
            case ("open", path):
                if turn.files.is_folder(path):
                    super().on(turn, ("go", path))
                else:
                    _open(turn, path)
            case ("hold", path):
                turn.keep(chosen=_toggled(chosen, path))
            case ("unselect",):
                turn.drop("chosen", OVER)
            case ("select_all",):
                turn.drop(OVER)
                turn.keep(chosen=tuple(_shown(turn)))
            case ("kind", name):
                turn.keep(kind="" if turn.get("kind") == name else name)
            case ("search",):
                turn.keep(searching=True, words="")
                turn.focus("words")
            case ("unsearch",):
                turn.drop("searching", "words")
                turn.focus("")
            case ("order", name):
                prefer(turn, PACKAGE, order=name)
                turn.drop(OVER)
            case ("grid",):
                prefer(turn, PACKAGE, grid="false" if preference(turn, PACKAGE, "grid") == "true" else "true")
                turn.drop(OVER)
            case ("hidden",):
                shown = preference(turn, PACKAGE, "hidden") == "true"
                prefer(turn, PACKAGE, hidden="false" if shown else "true")
                turn.drop(OVER)
            case ("over", "rename") if chosen:
                turn.keep(**{OVER: "rename", "new_name": posixpath.basename(chosen[0])})
                turn.focus("new_name")
            case ("rename",) if chosen:
                _tell(turn, file_changes.rename(turn, chosen[0], turn.get("new_name", "")))
            case ("delete",):
                count = file_changes.delete(turn, chosen)
                _finish(turn)
                turn.toast(f"Deleted {_items(count)}")
            case ("pick", does) if chosen:
                _finish(turn)
                turn.open(Pick.name, does=does, paths=tuple(chosen), root=STORAGE, folder=_folder(turn) or SDCARD)
            case ("hand", package):
                _hand(turn, chosen, package)
            case _:
                super().on(turn, event)


class Pick(_Browser):
    """Where to move or copy to?"""

    name = "com.android.documentsui.picker.PickActivity"

    def view(self, at: Scene) -> View:
        does, folder = at.get("does"), _folder(at)
        entries = [path for path in _shown(at) if at.files.is_folder(path)] if folder else []
        body = [_line(at, path, ()) for path in entries]
        if not body:
            said = "No folders here" if folder else "Choose a folder of the storage"
            body = [text(said, color="faint", along="center", pad=(16, 64, 16, 16), id="message")]
        names = MOVE_HERE if does == "move" else COPY_HERE
        here = button(at.taste.choose(f"{does} here", *names), ("here",), style="filled", enabled=bool(folder))
        below = row(button("Cancel", ("cancel",)), here, along="end", gap=8, pad=(16, 8, 16, 8), fill="bar")
        actions = [icon_button("add", at.taste.choose("new folder", *NEW_FOLDER), ("new_folder",))] if folder else []
        frame = page(
            _title(at), body, actions=actions, above=[_crumbs(folder)] if folder else [], below=[below],
            over=_over(at, []),
        )  # fmt: skip
        return _with_drawer(at, frame)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("open", path):
                super().on(turn, ("go", path))
            case ("cancel",):
                turn.close()
            case ("here",):
                self._here(turn)
            case _:
                super().on(turn, event)

    def _here(self, turn: Turn) -> None:
        moves = turn.get("does") == "move"
        paths, folder = turn.get("paths", ()), _folder(turn)
        stayed = file_changes.transfer(turn, paths, folder, moves=moves)
        turn.close(root=STORAGE, folder=folder)
        done = len(paths) - len(stayed)
        said = f"{'Moved' if moves else 'Copied'} {_items(done)}" if done else ""
        turn.toast(said if not stayed else f"Not possible there: {', '.join(stayed)}")


# Where one is


def _root(at: Scene) -> str:
    return str(at.get("root", RECENT))


def _first_folder(root: str) -> str:
    """Where a root of the drawer begins; "" for those that are no folder."""
    return {STORAGE: SDCARD, DOWNLOADS: f"{SDCARD}/Download"}.get(root, "")


def _folder(at: Scene) -> str:
    folder = str(at.get("folder", ""))
    return folder if not folder or at.files.is_folder(folder) else SDCARD


def _title(at: Scene) -> str:
    folder, root = _folder(at), _root(at)
    if folder == _first_folder(root):
        return root if root != RECENT else "Recent files"
    return posixpath.basename(folder)


def _crumbs(folder: str) -> View:
    """The folders that lead here; each of them can be gone back to."""
    names = folder[len(SDCARD) :].strip("/").split("/") if folder != SDCARD else []
    parts = [text(STORAGE, size=14, color="faint" if names else "text", tap=("go", SDCARD), across="center")]
    path = SDCARD
    for number, name in enumerate(names):
        path = posixpath.join(path, name)
        last = number == len(names) - 1
        parts.append(icon("chevron", size=14))
        parts.append(
            replace(
                text(name, size=14, color="text" if last else "faint", tap=("go", path), across="center"),
                desc=name,
                look=Look(size=14, lines=1, color="text" if last else "faint"),
            )
        )
    return row(*parts, gap=6, pad=(16, 0, 16, 0), height=40, id="horizontal_breadcrumb")


def _chosen(at: Scene) -> list[str]:
    return [path for path in at.get("chosen", ()) if path in at.files]


def _toggled(chosen: Sequence[str], path: str) -> tuple[str, ...]:
    return tuple(each for each in chosen if each != path) if path in chosen else (*chosen, path)


def _shown(at: Scene) -> list[str]:
    """The paths of what is on the list, in the order that was chosen."""
    words = str(at.get("words", "")).lower()
    folder, root = _folder(at), _root(at)
    if at.get("searching", False):
        found = [path for path in _all(at) if words and words in posixpath.basename(path).lower()]
        return _ordered(at, found)
    if folder:
        names = at.files.names(folder)
        hidden = preference(at, PACKAGE, "hidden") == "true"
        return _ordered(at, [posixpath.join(folder, name) for name in names if hidden or not name.startswith(".")])
    files = [path for path in _all(at) if not at.files.is_folder(path)]
    if root in _KINDS:
        return _ordered(at, [path for path in files if kind_of(path).startswith(_KINDS[root])])
    kind = at.get("kind")
    recent = [
        path
        for path in files
        if changed(at.files, path) > at.state.now - _RECENT_SECONDS
        and (not kind or kind_of(path).startswith(_KINDS[kind]))
    ]
    return sorted(recent, key=lambda path: -changed(at.files, path))[:_MOST_RECENT]


def _all(at: Scene) -> Iterator[str]:
    """What is in the storage, without what apps keep for themselves and what is hidden."""
    if not at.files.is_folder(SDCARD):
        return
    for path in at.files.walk(SDCARD):
        inside = path[len(SDCARD) + 1 :]
        if inside and not inside.startswith("Android") and "/." not in f"/{inside}":
            yield path


def _ordered(at: Scene, paths: list[str]) -> list[str]:
    files = at.files
    by, _, down = preference(at, PACKAGE, "order", "name").partition("_")
    keys: dict[str, Callable[[str], object]] = {
        "date": lambda path: changed(files, path),
        "size": lambda path: size_of(files, path),
        "type": lambda path: posixpath.splitext(path)[1].lower(),
    }
    paths = sorted(paths, key=lambda path: posixpath.basename(path).lower())
    if by in keys:
        paths.sort(key=keys[by], reverse=bool(down))  # type: ignore[arg-type]
    elif down:
        paths.reverse()
    return sorted(paths, key=lambda path: not files.is_folder(path))


# What is shown


def _with_drawer(at: Scene, frame: View) -> View:
    """The page, with the button of the drawer at the beginning of its bar."""
    content, *over = frame.children
    bar, *rest = content.children
    opens = icon_button("menu", at.taste.choose("drawer", *DRAWER), ("drawer",))
    bar = replace(bar, children=(opens, replace(bar.children[0], pad=(0, 0, 0, 0)), *bar.children[1:]))
    return replace(frame, children=(replace(content, children=(bar, *rest)), *over))


def _line(at: Scene, path: str, chosen: Sequence[str]) -> View:
    is_folder = at.files.is_folder(path)
    return item(
        posixpath.basename(path), _summary(at, path), start=_sign(at, path, chosen), selected=path in chosen,
        tap=("hold" if chosen else "open", path), hold=("hold", path), id="title", under_id="details",
        end=icon("chevron", size=18) if is_folder else None,
    )  # fmt: skip


def _sign(at: Scene, path: str, chosen: Sequence[str]) -> View:
    if path in chosen:
        return icon("select", color="primary", desc="Selected")
    is_folder = at.files.is_folder(path)
    return icon("folder" if is_folder else icon_of(path), color="primary" if is_folder else "faint")


def _summary(at: Scene, path: str) -> str:
    when = said_time(changed(at.files, path))
    if at.files.is_folder(path):
        return when
    return f"{when}, {said_size(size_of(at.files, path))}, {_called(path)}"


def _called(path: str) -> str:
    """The kind of a file, as people call it."""
    extension = posixpath.splitext(path)[1][1:].upper()
    kind = {"image": "image", "audio": "audio", "video": "video", "text": "document"}
    return f"{extension} {kind.get(kind_of(path).partition('/')[0], 'file')}".strip()


def _grid(at: Scene, paths: Sequence[str], chosen: Sequence[str]) -> list[View]:
    """Tiles beside each other."""
    rows = []
    for first in range(0, len(paths), _GRID_COLUMNS):
        tiles = [_tile(at, path, chosen) for path in paths[first : first + _GRID_COLUMNS]]
        tiles += [View(grow=1)] * (_GRID_COLUMNS - len(tiles))
        rows.append(row(*tiles, gap=12, pad=(16, 6, 16, 6)))
    return rows


def _tile(at: Scene, path: str, chosen: Sequence[str]) -> View:
    shows = kind_of(path).startswith("image/") and not at.files.is_folder(path)
    look = Look(fill="bar", pixels=at.files.read(path)) if shows else Look(fill="bar")
    picture = View(
        height=110, look=look, along="center",
        children=() if shows else (replace(_sign(at, path, ()), look=replace(_sign(at, path, ()).look, size=40),
                                           width=40, height=40),),
    )  # fmt: skip
    name = text(posixpath.basename(path), size=14, lines=1, id="title", pad=(8, 6, 8, 6))
    return column(
        picture, name, grow=1, round=12, fill="soft" if path in chosen else "card", selected=path in chosen,
        tap=("hold" if chosen else "open", path), hold=("hold", path),
    )  # fmt: skip


def _nothing(at: Scene) -> str:
    if at.get("searching", False):
        return "No matches" if at.get("words") else "Type what you are looking for"
    return "No items"


def _chosen_actions(at: Scene) -> list[View]:
    choose = at.taste.choose
    actions = [icon_button("delete", choose("delete", *DELETE), ("over", "delete"), id="action_menu_delete")]
    if all(not at.files.is_folder(path) for path in _chosen(at)):
        share = icon_button("share", choose("share", *SHARE), ("over", "share"), id="action_menu_share")
        actions = at.taste.order("actions", [share, *actions])
    return [*actions, icon_button("more", choose("more", *MORE), ("over", "menu"))]


def _folder_actions(at: Scene) -> list[View]:
    return [
        icon_button("search", "Search", ("search",), id="option_menu_search"),
        icon_button("more", at.taste.choose("more", *MORE), ("over", "menu")),
    ]


def _over(at: Scene, chosen: Sequence[str]) -> list[View]:
    over = at.get(OVER)
    if over == "drawer":
        entries: list[tuple[str, str, Event]] = [(ROOTS[name], name, ("root", name)) for name in ROOTS]
        return [drawer(entries, ("close",), title="Files", chosen=_root(at))]
    if over == "menu":
        return [menu(_chosen_menu(at, chosen) if chosen else _folder_menu(at), ("close",))]
    if over == "sort":
        by = preference(at, PACKAGE, "order", "name")
        lines = [radio(said, name == by, ("order", name)) for name, said in ORDERS.items()]
        return [dialog("Sort by", lines, [button("Cancel", ("close",))], dismiss=("close",))]
    if over in ("rename", "new folder"):
        body = [field("new_name", at.get("new_name", ""), hint="Name", focused=at.activity.focus == "new_name")]
        names, does = (RENAME, "rename") if over == "rename" else (NEW_FOLDER, "make_folder")
        return [_dialog(at, at.taste.choose(over, *names), body, (does,))]
    if over == "delete" and chosen:
        what = f'"{posixpath.basename(chosen[0])}"' if len(chosen) == 1 else _items(len(chosen))
        return [_dialog(at, "", [text(f"Delete {what}?", size=18, id="message")], ("delete",))]
    if over == "info" and chosen:
        return [_info(at, chosen[0])]
    if over == "share" and chosen:
        return [chooser(at, "Share", to_send_file(chosen[0]), ("close",))]
    if over == "open with" and chosen:
        return [chooser(at, "Open with", to_view(chosen[0]), ("close",))]
    if over == "which app":
        return [chooser(at, "Open with", to_view(at.get("opened", "")), ("close",))]
    return []


def _dialog(at: Scene, title: str, body: Sequence[View], does: Event) -> View:
    agree = button(at.taste.choose("ok", *OK), does, id="button1")
    buttons = at.taste.order("buttons", [button("Cancel", ("close",), id="button2"), agree])
    return dialog(title, body, buttons, dismiss=("close",))


def _info(at: Scene, path: str) -> View:
    facts = {
        "Path": path,
        "Modified": said_time(changed(at.files, path)),
        "Size": said_size(size_of(at.files, path)),
        "Type": "Folder" if at.files.is_folder(path) else kind_of(path),
    }
    lines = [
        column(text(name, size=13, color="faint"), text(said, size=15), pad=(0, 4, 0, 4))
        for name, said in facts.items()
    ]
    return dialog(posixpath.basename(path), lines, [button("Close", ("close",))], dismiss=("close",))


def _folder_menu(at: Scene) -> list[tuple[str, Event]]:
    is_grid, hidden = (preference(at, PACKAGE, name) == "true" for name in ("grid", "hidden"))
    entries: list[tuple[str, Event]] = [
        (at.taste.choose("select all", *SELECT_ALL), ("select_all",)),
        ("Sort by…", ("over", "sort")),
        ("List view" if is_grid else "Grid view", ("grid",)),
        ("Don't show hidden files" if hidden else "Show hidden files", ("hidden",)),
    ]
    if _folder(at):
        entries.insert(0, (at.taste.choose("new folder", *NEW_FOLDER), ("new_folder",)))
    return at.taste.order("folder menu", entries)


def _chosen_menu(at: Scene, chosen: Sequence[str]) -> list[tuple[str, Event]]:
    choose = at.taste.choose
    entries: list[tuple[str, Event]] = [
        (choose("select all", *SELECT_ALL), ("select_all",)),
        (choose("copy", *COPY), ("pick", "copy")),
        (choose("move", *MOVE), ("pick", "move")),
    ]
    if len(chosen) == 1:
        entries += [(choose("rename", *RENAME), ("over", "rename")), (choose("info", *INFO), ("over", "info"))]
        if not at.files.is_folder(chosen[0]):
            entries.insert(0, (choose("open with", *OPEN_WITH), ("over", "open with")))
    return at.taste.order("selection menu", entries)


# What is done


def _open(turn: Turn, path: str) -> None:
    """With the only app that can, or with the one that is chosen of several."""
    intent = to_view(path)
    apps = able(turn, intent)
    if not apps:
        turn.toast("Can't open files of this type")
    elif len(apps) == 1:
        hand(turn, intent, apps[0].package)
    else:
        turn.keep(**{OVER: "which app", "opened": path})


def _hand(turn: Turn, chosen: Sequence[str], package: str) -> None:
    """An app was chosen, to open or to send something."""
    over = turn.get(OVER)
    path = turn.get("opened", "") if over == "which app" else next(iter(chosen), "")
    _finish(turn)
    if path in turn.files:
        hand(turn, to_send_file(path) if over == "share" else to_view(path), package)


def _tell(turn: Turn, problem: str) -> None:
    """The dialog stays open as long as something is wrong."""
    if problem:
        turn.toast(problem)
    else:
        _finish(turn)


def _finish(turn: Turn) -> None:
    turn.focus("")
    turn.drop(OVER, "chosen")


def _items(count: int) -> str:
    return f"{count} item{'' if count == 1 else 's'}"


class FilesApp(App):
    package = PACKAGE
    label = "Files"
    icon = "folder"
    colour = "#1a73e8"
    screens = (Browse, Pick)

    def install(self, state: State) -> State:
        files = state.files
        for name in FOLDERS:
            files = files.make_folder(f"{SDCARD}/{name}", state.now)
        return without_preferences(replace(state, files=files), PACKAGE)
