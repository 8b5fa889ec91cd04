"""Writing: the field for a note, what can be undone, and the signs that a touch puts into the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eapo_gym.envs.androidworld.phone.app import Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.markor.markdown import rendered
from eapo_gym.envs.androidworld.phone.apps.markor.storage import text_of
from eapo_gym.envs.androidworld.phone.files import FileError, Files
from eapo_gym.envs.androidworld.phone.preferences import preference
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import field, icon, icon_button, listing, row, space, text

TEXT, FIND = "text", "find"
EDITOR_ID = "document__fragment__edit__highlighting_editor"
MOST_UNDONE = 50

SAVE = ("Save", "Save note", "Write to disk")
VIEW, EDIT = ("View mode", "Preview", "Read"), ("Edit mode", "Edit", "Write")

SIZES: Mapping[str, int] = {"Small": 14, "Normal": 16, "Large": 20}

SIGNS: Mapping[str, tuple[str, str, str]] = {
    "heading": ("H", "Heading", "# "),
    "bold": ("B", "Bold", "**"),
    "italic": ("I", "Italic", "_"),
    "list": ("list", "Unordered list", "- "),
    "task": ("select", "Check list", "- [ ] "),
    "quote": (">", "Quote", "> "),
}
"""The letter or icon of the button, what it is called, and what it puts before a line or around the cursor."""


def opened(files: Files, path: str) -> dict[str, Any]:
    """What an activity keeps of a note that was just opened."""
    written = text_of(files, path) or ""
    return {"path": path, TEXT: written, "saved": written, "before": written, "undo": (), "redo": ()}


class Editing(Screen):
    """A screen on which a note is written; what is on its field is kept until it is saved."""

    def typed(self, turn: Turn, field: str) -> None:
        if field == TEXT:
            _note_change(turn)

    def left(self, turn: Turn) -> None:
        save(turn)

    def edit(self, turn: Turn, event: Event) -> bool:
        """Do what the event says if it is about the text."""
        match event:
            case ("save",):
                if save(turn):
                    turn.toast("Saved")
            case ("undo" | "redo" as does,):
                _step(turn, does, "redo" if does == "undo" else "undo")
            case ("sign", name):
                put_sign(turn, SIGNS[name][2], around=name in ("bold", "italic"))
            case ("preview",):
                turn.focus("")
                turn.keep(preview=not turn.get("preview", False))
            case ("find",):
                turn.keep(finding=True)
                turn.focus(FIND)
            case ("found", "next"):
                _next(turn)
            case ("found", "close"):
                turn.drop("finding", FIND)
                turn.focus("")
            case _:
                return False
        return True

    def entered(self, turn: Turn, field: str) -> None:
        if field == FIND:
            _next(turn)
        else:
            super().entered(turn, field)


def save(turn: Turn) -> bool:
    """Write the note into its file, if it was changed or is not there yet; False if that cannot be done."""
    path, written = turn.get("path", ""), turn.get(TEXT, "")
    if not path or written == turn.get("saved", ""):
        return True
    try:
        turn.write(path, written)
    except FileError:
        turn.toast("The file could not be saved")
        return False
    turn.keep(saved=written)
    return True


def bar_actions(at: Scene) -> list[View]:
    """What the bar above a note offers."""
    reads = at.get("preview", False)
    view = icon_button(
        "edit" if reads else "document",
        at.taste.choose("view mode", *zip(VIEW, EDIT, strict=True))[reads],
        ("preview",),
        id="action_preview_edit_toggle",
    )
    return [icon_button("save", at.taste.choose("save", *SAVE), ("save",), id="action_save"), view]


def body(at: Scene) -> list[View]:
    """The text, to be written or to be read."""
    size = SIZES.get(preference(at, at.activity.package, "text_size"), 16)
    written = at.get(TEXT, "")
    if at.get("preview", False):
        lines = rendered(written, size) or [text("Nothing is written here yet.", color="faint")]
        return [listing(lines, name="preview", id="document__fragment_view_webview", pad=(16, 12, 16, 24))]
    area = field(TEXT, written, lines=0, plain=True, size=size, grow=1, id=EDITOR_ID, focused=at.activity.focus == TEXT)
    area = replace(area, hint="Write here", pad=(16, 12, 16, 24))
    views: list[View] = [
        listing([area], name="editor", id="document__fragment__edit__content_editor__scrolling_parent")
    ]
    if at.get("finding", False):
        views.insert(0, _find_bar(at))
    return [*views, _signs(at)]


def _find_bar(at: Scene) -> View:
    words = at.get(FIND, "")
    count = at.get(TEXT, "").lower().count(words.lower()) if words else 0
    return row(
        replace(field(FIND, words, hint="Find in note", grow=1, height=44), across="center"),
        text(str(count) if words else "", color="faint", across="center", id="matches"),
        icon_button("down", "Next match", ("found", "next")),
        icon_button("close", "Close search", ("found", "close")),
        gap=8,
        pad=(12, 4, 4, 4),
        fill="bar",
    )


def _signs(at: Scene) -> View:
    """The line of buttons below the text."""
    buttons = [
        icon_button("undo", "Undo", ("undo",), enabled=bool(at.get("undo"))),
        icon_button("redo", "Redo", ("redo",), enabled=bool(at.get("redo"))),
    ]
    for name in at.taste.order("signs", list(SIGNS)):
        said, called, _ = SIGNS[name]
        label = icon(said, size=20, color="text") if len(said) > 1 else text(said, bold=True, along="center")
        label = replace(label, told=False, across="center")
        buttons.append(
            View(
                kind="android.widget.ImageButton",
                desc=called,
                tap=("sign", name),
                height=48,
                grow=1,
                along="center",
                children=(label,),
            )
        )
    return row(*buttons, space(width=4), height=48, fill="bar", id="document__fragment__edit__text_actions_bar")


def put_sign(turn: Turn, sign: str, *, around: bool) -> None:
    """At the beginning of the line that the cursor is in, or around the cursor; a second touch takes it away."""
    written = turn.get(TEXT, "")
    cursor = _cursor(turn)
    if around:
        changed, after = written[:cursor] + sign + sign + written[cursor:], cursor + len(sign)
    else:
        start = written.rfind("\n", 0, cursor) + 1
        if written.startswith(sign, start):
            changed, after = written[:start] + written[start + len(sign) :], max(cursor - len(sign), start)
        else:
            changed, after = written[:start] + sign + written[start:], cursor + len(sign)
    turn.keep(**{TEXT: changed})
    _note_change(turn)
    turn.become(replace(turn.activity, cursor=after if after < len(changed) else None))


def _note_change(turn: Turn) -> None:
    """Keep what was written before, so that it can be put back."""
    undo = (*turn.get("undo", ()), turn.get("before", ""))[-MOST_UNDONE:]
    turn.keep(undo=undo, redo=(), before=turn.get(TEXT, ""))


def _step(turn: Turn, back: str, forth: str) -> None:
    steps = turn.get(back, ())
    if steps:
        kept = {back: steps[:-1], forth: (*turn.get(forth, ()), turn.get(TEXT, ""))}
        turn.keep(**kept, **{TEXT: steps[-1], "before": steps[-1]})
        turn.become(replace(turn.activity, cursor=None, all_selected=False))


def _next(turn: Turn) -> None:
    """Put the cursor before the next place where the words stand."""
    written, words = turn.get(TEXT, "").lower(), turn.get(FIND, "").lower()
    after = _cursor(turn) + 1 if turn.activity.focus == TEXT else 0
    place = written.find(words, after)
    if place < 0:
        place = written.find(words)
    if not words or place < 0:
        turn.toast("Nothing found")
        return
    turn.focus(TEXT)
    turn.become(replace(turn.activity, cursor=place))


def _cursor(turn: Turn) -> int:
    end = len(turn.get(TEXT, ""))
    return end if turn.activity.cursor is None else min(turn.activity.cursor, end)
