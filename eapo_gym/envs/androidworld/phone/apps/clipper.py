"""Clipper: what is on the clipboard, what was on it before, and a line to put something there."""

from __future__ import annotations

import json
from collections.abc import Sequence

from eapo_gym.envs.androidworld.phone.app import App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    app_bar,
    button,
    column,
    field,
    icon,
    icon_button,
    item,
    listing,
    row,
    space,
    text,
)

PACKAGE = "ca.zgrs.clipper"
MAIN = f"{PACKAGE}.Main"
HISTORY = f"/data/data/{PACKAGE}/files/history.json"
MOST_KEPT = 20

COPY_NAMES = ("Copy", "Set clipboard", "Copy to clipboard")


class Main(Screen):
    name = MAIN

    def view(self, at: Scene) -> View:
        held = at.state.clipboard
        shown = text(held or "The clipboard is empty", color="text" if held else "faint", id="clipboard_text", lines=6)
        clear = [icon_button("delete", "Clear clipboard", ("clear",))] if held else []
        now = column(
            row(text("On the clipboard", size=14, color="primary", grow=1, across="center"), *clear, height=48),
            shown,
            fill="card",
            round=16,
            pad=(16, 4, 8, 16),
        )
        name = at.taste.choose("clipper copy", *COPY_NAMES)
        write = column(
            field("text", str(at.get("text", "")), hint="Text to copy", id="text"),
            row(space(grow=1), button(name, ("copy",), style="filled", id="copy")),
            gap=8,
        )
        blocks = at.taste.order("clipper", [now, write])
        body = [column(*blocks, gap=16, pad=(16, 8, 16, 16)), *_earlier(at)]
        return View(
            kind=FRAME, flow="stack", children=(column(app_bar("Clipper"), listing(body, name="page"), fill="page"),)
        )

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("copy",):
                self.entered(turn, "text")
            case ("clear",):
                turn.copy("")
            case ("again", place):
                _copy(turn, _history(turn)[place])
            case ("forget", place):
                kept = [each for number, each in enumerate(_history(turn)) if number != place]
                turn.write(HISTORY, json.dumps(kept))
            case ("forget all",):
                turn.write(HISTORY, json.dumps([]))

    def entered(self, turn: Turn, field: str) -> None:
        turn.focus("")
        written = str(turn.get("text", ""))
        if written:
            _copy(turn, written)
            turn.keep(text="")


def _copy(turn: Turn, said: str) -> None:
    turn.copy(said)
    turn.toast("Copied to clipboard")
    kept = [said, *(each for each in _history(turn) if each != said)]
    turn.write(HISTORY, json.dumps(kept[:MOST_KEPT]))


def _history(at: Scene) -> list[str]:
    """What was copied with this app, the latest first."""
    if HISTORY not in at.files:
        return []
    try:
        found = json.loads(at.files.text(HISTORY))
    except ValueError:
        return []
    return [str(each) for each in found] if isinstance(found, list) else []


def _earlier(at: Scene) -> Sequence[View]:
    found = _history(at)
    if not found:
        return []
    lines = [
        item(
            " ".join(said.split()),
            tap=("again", place),
            start=icon("copy"),
            end=icon_button("close", "Forget", ("forget", place)),
            id="history_text",
        )
        for place, said in enumerate(found)
    ]
    head = row(
        text("Copied before", size=14, color="primary", grow=1, across="center"),
        button("Forget all", ("forget all",)),
        pad=(16, 0, 8, 0),
        height=48,
    )
    return [head, *lines]


class Clipper(App):
    package = PACKAGE
    label = "Clipper"
    icon = "paste"
    colour = "#00796b"
    screens = (Main,)

    def received(self, turn: Turn, intent: Intent) -> str | None:
        """Only the app in front may touch the clipboard, as on Android."""
        if turn.state.front.package != PACKAGE:
            return None
        if intent.action == "clipper.get":
            return turn.state.clipboard
        if intent.action == "clipper.set":
            said = str(intent.extras.get("text", ""))
            turn.copy(said)
            return "Text is copied into clipboard."
        return None
