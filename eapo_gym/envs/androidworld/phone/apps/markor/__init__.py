"""Markor: notes in files, written and read in Markdown."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.chooser import (
    SEND,
    STREAM_EXTRA,
    TEXT_EXTRA,
    VIEW,
    chooser,
    hand,
    path_of,
    to_send_text,
)
from eapo_gym.envs.androidworld.phone.apps.markor import editor, storage
from eapo_gym.envs.androidworld.phone.apps.markor.browser import DELETE, DOCUMENT, MORE, SETTINGS, SHARE, Main
from eapo_gym.envs.androidworld.phone.apps.markor.editor import SIZES, TEXT, Editing, opened
from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK, PACKAGE, QUICK_NOTE, TODO
from eapo_gym.envs.androidworld.phone.file_kinds import kind_of
from eapo_gym.envs.androidworld.phone.files import FileError
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, without_preferences
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    IMAGE,
    button,
    column,
    dialog,
    icon,
    icon_button,
    item,
    menu,
    page,
    radio,
    switch_item,
    text,
)

SHARE_INTO = ".activity.ShareIntoActivity"


class Document(Editing):
    """A note that is open."""

    name = DOCUMENT

    def view(self, at: Scene) -> View:
        path = at.get("path", "")
        more = icon_button("more", at.taste.choose("more", *MORE), ("over", "more"))
        if kind_of(path).startswith("image/"):
            picture = View(kind=IMAGE, desc=posixpath.basename(path), grow=1, look=Look(pixels=_content(at, path)))
            return page(posixpath.basename(path), [picture], up=("up",), scrolls=False)
        return page(
            posixpath.basename(path), editor.body(at), up=("up",), actions=[*editor.bar_actions(at), more],
            over=self._over(at), scrolls=False,
        )  # fmt: skip

    def _over(self, at: Scene) -> list[View]:
        over = at.get(OVER)
        written = at.get(TEXT, "")
        if over == "more":
            entries: list[tuple[str, Event]] = [
                (at.taste.choose("share", *SHARE), ("over", "share")),
                ("Find in note", ("find",)),
                ("Word count", ("over", "count")),
                (at.taste.choose("delete", *DELETE), ("over", "delete")),
            ]
            return [menu(at.taste.order("document menu", entries), ("close",))]
        if over == "share":
            return [chooser(at, "Share", to_send_text(written), ("close",))]
        if over == "count":
            said = f"Words: {len(written.split())}\nLines: {len(written.splitlines())}\nCharacters: {len(written)}"
            return [dialog("Word count", [text(said)], [button("OK", ("close",))], dismiss=("close",))]
        if over == "delete":
            buttons = [button("Cancel", ("close",)), button("OK", ("delete",))]
            name = posixpath.basename(at.get("path", ""))
            return [dialog("Confirm delete", [text(name, color="faint")], buttons, dismiss=("close",))]
        return []

    def on(self, turn: Turn, event: Event) -> None:
        if event == ("find",):
            turn.drop(OVER)
        if self.edit(turn, event):
            return
        match event:
            case ("up",):
                self._leave(turn)
            case ("over", name):
                turn.focus("")
                turn.keep(**{OVER: name})
            case ("close",):
                turn.drop(OVER)
            case ("hand", package):
                editor.save(turn)
                turn.drop(OVER)
                hand(turn, to_send_text(turn.get(TEXT, "")), package)
            case ("delete",):
                path = turn.get("path", "")
                if path in turn.files:
                    turn.change_files(lambda files, now: files.remove(path, now))
                turn.close()

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("finding", False):
            turn.drop("finding", editor.FIND)
        else:
            self._leave(turn)

    def _leave(self, turn: Turn) -> None:
        """What was written is kept, without a question."""
        editor.save(turn)
        turn.close()


class MarkorSettings(Screen):
    name = SETTINGS

    def view(self, at: Scene) -> View:
        size = preference(at, PACKAGE, "text_size", "Normal")
        over = []
        if at.get(OVER) == "size":
            sizes = [radio(name, name == size, ("size", name)) for name in SIZES]
            over = [dialog("Text size", sizes, [button("Cancel", ("close",))], dismiss=("close",))]
        hidden, reads = storage.setting(at, "hidden_files"), storage.setting(at, "view_mode")
        body = [
            item("Notebook", NOTEBOOK, start=icon("folder")),
            item("Text size", size, tap=("over", "size"), start=icon("edit")),
            switch_item("Show hidden files", hidden, ("toggle", "hidden_files")),
            switch_item("Open notes to be read", reads, ("toggle", "view_mode"), under="Rather than to be written"),
        ]
        return page("Settings", body, up=("up",), over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("close",):
                turn.drop(OVER)
            case ("toggle", name):
                storage.toggle(turn, name)
            case ("size", name):
                prefer(turn, PACKAGE, text_size=name)
                turn.drop(OVER)


class ShareInto(Screen):
    """Another app has sent a text: into which note?"""

    name = SHARE_INTO

    def view(self, at: Scene) -> View:
        said = str(at.get("said", ""))
        notes = [path for path in storage.listed(at, NOTEBOOK) if not at.files.is_folder(path)]
        body = [
            column(text(said, size=15, lines=6), fill="card", round=12, pad=(12, 12, 12, 12)),
            item("QuickNote", "Add it to the quick note", tap=("add", QUICK_NOTE), start=icon("flag")),
            item("To-Do", "Add it to the to-do list", tap=("add", TODO), start=icon("task")),
            text("Add it to a note", size=14, color="primary", pad=(16, 12, 16, 4)),
            *(item(posixpath.basename(path), tap=("add", path), start=icon("document")) for path in notes),
        ]
        return page("Share into", body, up=("up",), up_icon="close")

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("add", path):
                before = storage.text_of(turn.files, path)
                if before is None:
                    turn.toast(f"{posixpath.basename(path)} is not a text")
                    return
                between = "" if not before or before.endswith("\n") else "\n"
                turn.write(path, f"{before}{between}{turn.get('said', '')}\n")
                turn.toast(f"Added to {posixpath.basename(path)}")
                turn.close()


class Markor(App):
    package = PACKAGE
    label = "Markor"
    icon = "edit"
    colour = "#b3261e"
    screens = (Main, Document, MarkorSettings, ShareInto)

    def install(self, state: State) -> State:
        files = state.files.make_folder(NOTEBOOK, state.now).make_folder(f"/data/data/{PACKAGE}", state.now)
        return without_preferences(replace(state, files=files), PACKAGE)

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        path = path_of(intent.data)
        if intent.action == VIEW and path in at.files and _is_text(at, path, intent.kind):
            return Activity(PACKAGE, DOCUMENT, opened(at.files, path))
        if intent.action == SEND and intent.kind.startswith("text/"):
            said = intent.extras.get(TEXT_EXTRA)
            sent = path_of(str(intent.extras.get(STREAM_EXTRA, "")))
            if said is None and sent in at.files:
                said = storage.text_of(at.files, sent)
            return Activity(PACKAGE, SHARE_INTO, {"said": str(said)}) if said is not None else None
        return None


def _is_text(at: Scene, path: str, kind: str) -> bool:
    if kind == "text/html" or at.files.is_folder(path):
        return False
    return (kind.startswith("text/") or kind == "application/json") and storage.text_of(at.files, path) is not None


def _content(at: Scene, path: str) -> bytes:
    try:
        return at.files.read(path)
    except FileError:
        return b""


__all__ = ["Markor"]
