"""The sheet that asks which app is to open or to send something."""

from __future__ import annotations

from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import App, Intent, Scene, Turn
from eapo_gym.envs.androidworld.phone.file_kinds import kind_of
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import item, listing, sheet, text

VIEW, SEND = "android.intent.action.VIEW", "android.intent.action.SEND"
TEXT_EXTRA, STREAM_EXTRA = "android.intent.extra.TEXT", "android.intent.extra.STREAM"
_SCHEME = "file://"


def to_view(path: str) -> Intent:
    """Show a file."""
    return Intent(VIEW, _SCHEME + path, kind_of(path))


def to_send_text(said: str) -> Intent:
    return Intent(SEND, "", "text/plain", extras={TEXT_EXTRA: said})


def to_send_file(path: str) -> Intent:
    return Intent(SEND, "", kind_of(path), extras={STREAM_EXTRA: _SCHEME + path})


def path_of(address: str) -> str:
    """The path of a file's address; "" if it is another kind of address."""
    return address[len(_SCHEME) :] if address.startswith(_SCHEME) else ""


def able(at: Scene, intent: Intent) -> list[App]:
    """The apps that can do it."""
    return sorted(
        (app for app in at.apps.values() if app.activity_for(at, intent) is not None), key=lambda app: app.label.lower()
    )


def chooser(at: Scene, title: str, intent: Intent, close: Event) -> View:
    """A touch on an app's line is the event ("hand", its package)."""
    apps = able(at, intent)
    lines = [item(app.label, tap=("hand", app.package), start=_icon(app), id="text1") for app in apps]
    if not apps:
        lines = [text("No apps can perform this action.", color="faint", pad=(8, 8, 8, 24))]
    body = text(title, size=20, id="title", pad=(8, 0, 8, 12))
    return sheet([body, listing(lines, name="chooser", grow=0)] if len(lines) > 6 else [body, *lines], close)


def hand(turn: Turn, intent: Intent, package: str) -> None:
    """Let this app do it."""
    turn.ask(replace(intent, package=package))


def _icon(app: App) -> View:
    look = Look(fill=app.colour, round=20, icon=app.icon, size=22, color="#ffffff")
    return View(width=40, height=40, across="center", look=look)
