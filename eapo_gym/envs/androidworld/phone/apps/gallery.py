"""Simple Gallery Pro: the pictures and films of the phone, by folder."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps import file_changes
from eapo_gym.envs.androidworld.phone.apps.chooser import VIEW, able, chooser, hand, path_of, to_send_file, to_view
from eapo_gym.envs.androidworld.phone.apps.folder_dialog import folder_dialog
from eapo_gym.envs.androidworld.phone.databases import Keep
from eapo_gym.envs.androidworld.phone.file_kinds import changed, kind_of, said_size, said_time, size_of
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, without_preferences
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    IMAGE,
    app_bar,
    button,
    column,
    dialog,
    field,
    icon,
    icon_button,
    item,
    listing,
    menu,
    page,
    radio,
    row,
    text,
)

PACKAGE = "com.simplemobiletools.gallery.pro"
PLACES = tuple(f"{SDCARD}/{name}" for name in ("DCIM", "Pictures", "Download", "Movies"))
"""Where it looks for pictures, with the folders in them."""

MAIN, MEDIA, PAGER = ".activities.MainActivity", ".activities.MediaActivity", ".activities.ViewPagerActivity"

MORE, SHARE = ("More options", "Menu"), ("Share", "Send")
DELETE, RENAME, INFO = ("Delete", "Remove"), ("Rename", "Change name"), ("Properties", "Details")
COPY, MOVE = ("Copy to", "Copy to folder"), ("Move to", "Move to folder")
OTHER_FOLDER, OK = ("Other folder", "Another folder"), ("OK", "Yes")
SELECT_ALL = ("Select all", "Mark all")
FAVOURITE = ("Toggle favorite", "Favorite")
ORDERS = {
    "date": "Last modified (newest first)",
    "date_up": "Last modified (oldest first)",
    "name": "Name",
    "size": "Size",
}

_ALBUM_COLUMNS, _COLUMNS = 2, 3


class _Gallery(Screen):
    """What the three screens share: dialogs about the files that are selected, or about the one that is shown."""

    def about(self, at: Scene) -> list[str]:
        """The files that an action is about."""
        return _chosen(at)

    def over(self, at: Scene) -> list[View]:
        over, paths = at.get(OVER), self.about(at)
        if over == "sort":
            by = preference(at, PACKAGE, "order", "date")
            lines = [radio(said, name == by, ("order", name)) for name, said in ORDERS.items()]
            return [dialog("Sort by", lines, [button("Cancel", ("close",))], dismiss=("close",))]
        if not paths:
            return []
        if over == "rename":
            area = field("new_name", at.get("new_name", ""), hint="Name", focused=at.activity.focus == "new_name")
            return [_dialog(at, at.taste.choose("rename", *RENAME), [area], ("rename",))]
        if over == "delete":
            what = f'"{posixpath.basename(paths[0])}"' if len(paths) == 1 else _items(len(paths))
            words = text(f"Are you sure you want to delete {what}?", size=17, id="message")
            return [_dialog(at, "", [words], ("delete",))]
        if over in ("copy", "move"):
            return [_destinations(at, over)]
        if over == "folder":
            return [folder_dialog(at, "Select a folder", at.get("target", SDCARD))]
        if over == "info":
            return [_info(at, paths)]
        if over == "share":
            return [chooser(at, "Share", to_send_file(paths[0]), ("close",))]
        return []

    def changed(self, turn: Turn) -> None:
        """The files that an action was about are called differently now, are elsewhere, or are gone."""

    def act(self, turn: Turn, event: Event) -> None:
        paths = self.about(turn)
        match event:
            case ("over", "rename") if paths:
                turn.keep(**{OVER: "rename", "new_name": posixpath.basename(paths[0])})
                turn.focus("new_name")
            case ("over", "copy" | "move" as does):
                turn.keep(**{OVER: does, "does": does})
            case ("over", "folder"):
                turn.keep(**{OVER: "folder", "target": SDCARD})
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("close",):
                turn.focus("")
                turn.drop(OVER)
            case ("order", name):
                prefer(turn, PACKAGE, order=name)
                turn.drop(OVER)
            case ("go", folder):
                turn.keep(target=folder)
            case ("picked",):
                self._transfer(turn, turn.get("target", SDCARD))
            case ("into", folder):
                self._transfer(turn, folder)
            case ("rename",) if paths:
                self._rename(turn, paths[0])
            case ("delete",):
                file_changes.delete(turn, paths)
                _finish(turn)
                self.changed(turn)
            case ("hand", package) if paths:
                _finish(turn)
                hand(turn, to_send_file(paths[0]), package)

    def _rename(self, turn: Turn, path: str) -> None:
        problem = file_changes.rename(turn, path, turn.get("new_name", ""))
        if problem:
            turn.toast(problem)
        else:
            _finish(turn)
            self.changed(turn)

    def _transfer(self, turn: Turn, folder: str) -> None:
        moves = turn.get("does") == "move"
        stayed = file_changes.transfer(turn, self.about(turn), folder, moves=moves)
        _finish(turn)
        turn.toast("Could not be written there" if stayed else f"Files {'moved' if moves else 'copied'} successfully")
        if moves:
            self.changed(turn)


class Main(_Gallery):
    name = MAIN

    def view(self, at: Scene) -> View:
        chosen = _chosen(at)
        albums = [folder for folder in _albums(at) if _fits(at, posixpath.basename(folder))]
        tiles = [_album(at, folder, chosen) for folder in albums]
        body = _grid(tiles, _ALBUM_COLUMNS) or _nothing("No media files have been found.")
        over = self.over(at)
        if at.get(OVER) == "menu":
            over = [menu([("Sort by", ("over", "sort"))], ("close",))]
        if chosen:
            actions = [
                icon_button("info", at.taste.choose("info", *INFO), ("over", "info")),
                icon_button("delete", at.taste.choose("delete", *DELETE), ("over", "delete")),
            ]
            return page(f"{len(chosen)} selected", body, up=("unselect",), up_icon="close", actions=actions, over=over)
        area = replace(field("words", at.get("words", ""), hint="Search folders", grow=1, height=48), across="center")
        bar = row(area, _more(at), gap=4, pad=(16, 8, 4, 8))
        frame = column(bar, listing(body, name="page", id="directories_grid"), fill="page")
        return View(kind=FRAME, flow="stack", children=(frame, *over))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("open", folder):
                turn.focus("")
                turn.open(MEDIA, folder=folder)
            case ("hold", folder):
                turn.keep(chosen=_toggled(_chosen(turn), folder))
            case ("unselect",):
                turn.drop("chosen")
            case _:
                self.act(turn, event)

    def back(self, turn: Turn) -> None:
        _back(turn)


class Media(_Gallery):
    """The pictures of a folder."""

    name = MEDIA

    def view(self, at: Scene) -> View:
        chosen, folder = _chosen(at), at.get("folder", PLACES[0])
        tiles = [_thumbnail(at, path, chosen) for path in media(at, folder)]
        body = _grid(tiles, _COLUMNS) or _nothing("No media files have been found.")
        over = self.over(at)
        if at.get(OVER) == "menu":
            entries: list[tuple[str, Event]] = [
                ("Sort by", ("over", "sort")),
                (at.taste.choose("select all", *SELECT_ALL), ("select_all",)),
            ]
            if chosen:
                entries = _file_menu(at, chosen)
            over = [menu(entries, ("close",))]
        if chosen:
            share = icon_button("share", at.taste.choose("share", *SHARE), ("over", "share"))
            delete = icon_button("delete", at.taste.choose("delete", *DELETE), ("over", "delete"))
            actions = [*at.taste.order("actions", [share, delete]), _more(at)]
            return page(f"{len(chosen)} selected", body, up=("unselect",), up_icon="close", actions=actions, over=over)
        return page(posixpath.basename(folder), body, up=("up",), actions=[_more(at)], over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("open", path):
                turn.open(PAGER, path=path)
            case ("hold", path):
                turn.keep(chosen=_toggled(_chosen(turn), path))
            case ("unselect",):
                turn.drop("chosen")
            case ("select_all",):
                turn.drop(OVER)
                turn.keep(chosen=tuple(media(turn, turn.get("folder", PLACES[0]))))
            case _:
                self.act(turn, event)

    def back(self, turn: Turn) -> None:
        _back(turn)


class Pager(_Gallery):
    """One picture, as large as the screen; a finger that is drawn to the side turns to the next."""

    name = PAGER

    def about(self, at: Scene) -> list[str]:
        path = at.get("path", "")
        return [path] if path in at.files else []

    def view(self, at: Scene) -> View:
        path = at.get("path", "")
        over = self.over(at)
        if at.get(OVER) == "menu":
            over = [menu(_file_menu(at, [path])[1:], ("close",))]
        if path not in at.files:
            return page(posixpath.basename(path), _nothing("This file is not there any more."), up=("up",))
        if kind_of(path).startswith("video/"):
            button_ = icon_button("play", "Play video", ("play",), color="#ffffff")
            picture = column(button_, grow=1, along="center", fill="#000000")
        else:
            look = Look(fill="#000000", pixels=at.files.read(path))
            picture = View(kind=IMAGE, desc=posixpath.basename(path), id="gestures_view", grow=1, look=look)
        is_favourite = path in _favourites(at)
        actions = [
            icon_button("heart" if is_favourite else "star", at.taste.choose("favourite", *FAVOURITE), ("favourite",),
                        color="danger" if is_favourite else "text", id="bottom_favorite"),
            icon_button("share", at.taste.choose("share", *SHARE), ("over", "share"), id="bottom_share"),
            icon_button("info", at.taste.choose("info", *INFO), ("over", "info"), id="bottom_properties"),
            icon_button("delete", at.taste.choose("delete", *DELETE), ("over", "delete"), id="bottom_delete"),
        ]  # fmt: skip
        below = row(*(replace(each, grow=1) for each in at.taste.order("below", actions)), height=56, fill="bar",
                    id="bottom_actions_wrapper")  # fmt: skip
        frame = column(app_bar(posixpath.basename(path), up=("up",), actions=[_more(at)]), picture, below, fill="page")
        return View(kind=FRAME, flow="stack", children=(frame, *over))

    def on(self, turn: Turn, event: Event) -> None:
        path = turn.get("path", "")
        match event:
            case ("up",):
                turn.close()
            case ("swipe", "left" | "right" as direction):
                self._turn_over(turn, 1 if direction == "left" else -1)
            case ("favourite",):
                marked = set(_favourites(turn)) ^ {path}
                prefer(turn, PACKAGE, favourites="\n".join(sorted(marked)))
            case ("play",):
                players = [app for app in able(turn, to_view(path)) if app.package != PACKAGE]
                if players:
                    hand(turn, to_view(path), players[0].package)
                else:
                    turn.toast("No app can play this")
            case _:
                self.act(turn, event)

    def _turn_over(self, turn: Turn, by: int) -> None:
        path = turn.get("path", "")
        paths = media(turn, posixpath.dirname(path))
        if path in paths and 0 <= paths.index(path) + by < len(paths):
            turn.keep(path=paths[paths.index(path) + by])

    def changed(self, turn: Turn) -> None:
        """It is another picture's turn, or there is none left."""
        renamed = posixpath.join(posixpath.dirname(turn.get("path", "")), turn.get("new_name", ""))
        left = media(turn, posixpath.dirname(turn.get("path", "")))
        if turn.get("new_name") and renamed in left:
            turn.keep(path=renamed)
        elif left:
            turn.keep(path=left[0])
        else:
            turn.close()


# What there is


def media(at: Scene, folder: str) -> list[str]:
    """The pictures and films in a folder, in the order that was chosen."""
    if not at.files.is_folder(folder):
        return []
    names = [name for name in at.files.names(folder) if not name.startswith(".") and _is_media(name)]
    paths = [posixpath.join(folder, name) for name in sorted(names, key=str.lower)]
    paths = [path for path in paths if not at.files.is_folder(path)]
    by, _, up = preference(at, PACKAGE, "order", "date").partition("_")
    keys: dict[str, Callable[[str], float]] = {
        "date": lambda path: changed(at.files, path) * (1 if up else -1),
        "size": lambda path: -size_of(at.files, path),
    }
    return sorted(paths, key=keys[by]) if by in keys else paths


def _is_media(name: str) -> bool:
    return kind_of(name).startswith(("image/", "video/"))


def _albums(at: Scene) -> list[str]:
    """The folders that have pictures."""
    folders = [
        path
        for place in PLACES
        if at.files.is_folder(place)
        for path in at.files.walk(place)
        if at.files.is_folder(path) and "/." not in path and media(at, path)
    ]
    return sorted(folders, key=lambda path: posixpath.basename(path).lower())


def _favourites(at: Scene) -> list[str]:
    return [path for path in preference(at, PACKAGE, "favourites").split("\n") if path]


def _chosen(at: Scene) -> list[str]:
    return [path for path in at.get("chosen", ()) if path in at.files]


def _toggled(chosen: Sequence[str], path: str) -> tuple[str, ...]:
    return tuple(each for each in chosen if each != path) if path in chosen else (*chosen, path)


def _fits(at: Scene, name: str) -> bool:
    return str(at.get("words", "")).lower() in name.lower()


# What is shown


def _grid(tiles: Sequence[View], columns: int) -> list[View]:
    lines = []
    for first in range(0, len(tiles), columns):
        line = [*tiles[first : first + columns]]
        line += [View(grow=1)] * (columns - len(line))
        lines.append(row(*line, gap=4, pad=(4, 2, 4, 2)))
    return lines


def _album(at: Scene, folder: str, chosen: Sequence[str]) -> View:
    paths = media(at, folder)
    name = text(posixpath.basename(folder), size=15, lines=1, bold=True, id="dir_name", pad=(8, 6, 8, 0))
    count = text(str(len(paths)), size=13, color="faint", id="photo_cnt", pad=(8, 0, 8, 8))
    return column(
        _pictured(at, paths[0], 180), name, count, grow=1, round=12, fill="soft" if folder in chosen else "card",
        tap=("hold" if chosen else "open", folder), hold=("hold", folder), selected=folder in chosen,
    )  # fmt: skip


def _thumbnail(at: Scene, path: str, chosen: Sequence[str]) -> View:
    picture = _pictured(at, path, 130)
    if path in chosen:
        mark = icon("select", color="primary", desc="Selected")
        picture = View(flow="stack", height=130, children=(picture, replace(mark, across="end")))
    return column(
        picture, grow=1, desc=posixpath.basename(path), tap=("hold" if chosen else "open", path), hold=("hold", path),
        selected=path in chosen, id="medium_thumbnail", fill="soft" if path in chosen else "",
    )  # fmt: skip


def _pictured(at: Scene, path: str, height: int) -> View:
    if kind_of(path).startswith("video/"):
        return column(icon("play", size=40, color="#ffffff"), height=height, along="center", fill="#37474f")
    return View(height=height, look=Look(fill="bar", pixels=at.files.read(path)))


def _nothing(said: str) -> list[View]:
    return [text(said, color="faint", along="center", pad=(16, 64, 16, 16))]


def _more(at: Scene) -> View:
    return icon_button("more", at.taste.choose("more", *MORE), ("over", "menu"))


def _file_menu(at: Scene, chosen: Sequence[str]) -> list[tuple[str, Event]]:
    """The first line is left out where there is but one picture."""
    choose = at.taste.choose
    entries: list[tuple[str, Event]] = [
        (choose("copy", *COPY), ("over", "copy")),
        (choose("move", *MOVE), ("over", "move")),
    ]
    if len(chosen) == 1:
        entries.append((choose("rename", *RENAME), ("over", "rename")))
    entries.append((choose("info", *INFO), ("over", "info")))
    return [(choose("select all", *SELECT_ALL), ("select_all",)), *at.taste.order("file menu", entries)]


def _destinations(at: Scene, does: str) -> View:
    """The folders that have pictures, and a way to all others."""
    albums = _albums(at)
    lines = [
        item(posixpath.basename(folder), folder[len(SDCARD) + 1 :], tap=("into", folder), start=icon("folder"))
        for folder in albums
    ]
    rows = View(kind="androidx.recyclerview.widget.RecyclerView", scroll="destinations",
                height=min(68 * len(lines), 320) or 8, children=tuple(lines))  # fmt: skip
    buttons = [
        button(at.taste.choose("other folder", *OTHER_FOLDER), ("over", "folder")),
        button("Cancel", ("close",)),
    ]
    title = f"{'Move' if does == 'move' else 'Copy'} to"
    return dialog(title, [rows], buttons, dismiss=("close",))


def _dialog(at: Scene, title: str, body: Sequence[View], does: Event) -> View:
    agree = button(at.taste.choose("ok", *OK), does, id="button1")
    buttons = at.taste.order("buttons", [button("Cancel", ("close",), id="button2"), agree])
    return dialog(title, body, buttons, dismiss=("close",))


def _info(at: Scene, paths: Sequence[str]) -> View:
    size = said_size(sum(size_of(at.files, path) for path in paths))
    if len(paths) == 1:
        facts = {
            "Name": posixpath.basename(paths[0]),
            "Path": posixpath.dirname(paths[0]),
            "Size": size,
            "Last modified": said_time(changed(at.files, paths[0])),
        }
    else:
        facts = {"Files": str(len(paths)), "Size": size}
    lines = [
        column(text(name, size=13, color="faint"), text(said, size=15), pad=(0, 4, 0, 4))
        for name, said in facts.items()
    ]
    return dialog(at.taste.choose("info", *INFO), lines, [button("OK", ("close",))], dismiss=("close",))


# What is done


def _back(turn: Turn) -> None:
    if OVER in turn.kept:
        turn.drop(OVER)
    elif turn.get("chosen"):
        turn.drop("chosen")
    elif turn.get("words"):
        turn.drop("words")
    else:
        turn.close()


def _finish(turn: Turn) -> None:
    turn.focus("")
    turn.drop(OVER, "chosen")


def _items(count: int) -> str:
    return f"{count} item{'' if count == 1 else 's'}"


class Gallery(App):
    package = PACKAGE
    label = "Simple Gallery Pro"
    icon = "image"
    colour = "#ef6c00"
    screens = (Main, Media, Pager)

    def install(self, state: State) -> State:
        return without_preferences(state, PACKAGE)

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        path = path_of(intent.data)
        if intent.action == VIEW and path in at.files and intent.kind.startswith("image/"):
            return Activity(PACKAGE, PAGER, {"path": path})
        return None

    def delete(self, turn: Turn, uri: str, where: Keep) -> bool:
        # The list of media follows the files by itself: there is nothing to be deleted from it alone.
        return uri.startswith("content://media/")
