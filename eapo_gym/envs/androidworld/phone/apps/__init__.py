"""The apps of the embedded phone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from eapo_gym.envs.androidworld.phone.app import App

APPS: Sequence[str] = (
    "launcher:Launcher",
    "settings:Settings",
    "contacts_storage:ContactsStorage",
    "messages_storage:MessagesStorage",
    "contacts:Contacts",
    "dialer:Dialer",
    "sms_messenger:SmsMessenger",
    "calendar:Calendar",
    "clock:Clock",
    "camera:Camera",
    "chrome:Chrome",
    "audio_recorder:AudioRecorder",
    "expense:Expense",
    "recipes:Broccoli",
    "clipper:Clipper",
    "markor:Markor",
    "files:FilesApp",
    "gallery:Gallery",
)
"""The module and class of each."""


@cache
def all_apps() -> tuple[App, ...]:
    """One of each; apps keep nothing themselves, so that all phones can share them."""
    return tuple(_app(name) for name in APPS)


def _app(name: str) -> App:
    module, _, kind = name.partition(":")
    app = getattr(import_module(f"{__name__}.{module}"), kind)()
    assert isinstance(app, App)
    return app
