"""What the system draws around the apps: bars, keyboard, shade, toasts, and the questions for permissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache

from eapo_gym.envs.androidworld.phone import keyboard
from eapo_gym.envs.androidworld.phone.app import App, Scene, Screen, Taste
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.caret import caret
from eapo_gym.envs.androidworld.phone.ui.layout import Box, Placed, lay_out, px
from eapo_gym.envs.androidworld.phone.ui.view import Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    button,
    column,
    dialog,
    icon,
    icon_button,
    row,
    slider,
    space,
    text,
)

WIDTH, HEIGHT = 1080, 2400
STATUS_BAR, NAVIGATION_BAR = px(24), px(48)
SYSTEM, PERMISSIONS = "com.android.systemui", "com.google.android.permissioncontroller"
MOST_BRIGHT = 255

EDIT_TEXT = "edit text"
"""The event of the menu that floats over a field, among those of the app."""


@dataclass(frozen=True, slots=True)
class Window:
    """One layer of the screen, and whose it is."""

    package: str
    placed: Placed
    lets_through: bool = False
    """A touch goes through it, to what is below."""


def windows(state: State, apps: Mapping[str, App], taste: Taste) -> tuple[Window, ...]:
    """All layers, the lowest first."""
    activity = state.front
    app = apps[activity.package]
    bottom = HEIGHT - NAVIGATION_BAR
    shown = state.keyboard and bool(activity.focus)
    floor = bottom - px(keyboard.HEIGHT) if shown else bottom
    screen = app.screen(activity.name)
    view = screen.view(Scene(state, activity, apps, taste))
    found = [Window(activity.package, lay_out(view, (0, STATUS_BAR, WIDTH, floor), activity.scrolled))]

    def add(package: str, layer: View, box: Box) -> None:
        found.append(Window(package, lay_out(layer, box, {})))

    field = next((each for each in found[0].placed.walk() if each.view.field == activity.focus), None)
    if activity.focus and field is not None:
        _add_caret(activity, field)
    if shown:
        found.append(_keys(state.keyboard_page))
    if activity.edit_menu and activity.focus:
        add(activity.package, _edit_menu(activity, state.clipboard), _above_field(found[0].placed, activity.focus))
    wanted = asked_for(state, app)
    if wanted is not None:
        add(PERMISSIONS, permission_dialog(app.label, wanted), (0, STATUS_BAR, WIDTH, bottom))
    if state.toast is not None and state.toast.until > state.now:
        place = (0, bottom - px(120), WIDTH, bottom)
        found.append(Window(SYSTEM, lay_out(_toast(state.toast.text), place, {}), lets_through=True))
    found += _bars(f"{_time(state):%H:%M}", *(state.setting("global", name, "0") != "0" for name in _SIGNS))
    if state.shade:
        add(SYSTEM, _shade(state), (0, STATUS_BAR, WIDTH, bottom))
    return tuple(found)


def screen_of(state: State, apps: Mapping[str, App]) -> Screen:
    return apps[state.front.package].screen(state.front.name)


def asked_for(state: State, app: App) -> str | None:
    """The permission that the app in front still wants."""
    return next((each for each in app.permissions if (app.package, each) not in state.granted), None)


_ASKS = {
    "READ_CONTACTS": "access your contacts",
    "SEND_SMS": "send and view SMS messages",
    "CAMERA": "take pictures and record video",
    "RECORD_AUDIO": "record audio",
    "READ_EXTERNAL_STORAGE": "access photos and media on your device",
    "POST_NOTIFICATIONS": "send you notifications",
    "CALL_PHONE": "make and manage phone calls",
    "ACCESS_FINE_LOCATION": "access this device's location",
    "READ_CALENDAR": "access your calendar",
}


def permission_dialog(label: str, permission: str) -> View:
    what = _ASKS.get(permission, permission.replace("_", " ").lower())
    return dialog(
        "",
        [
            text(f"Allow {label} to {what}?", size=18, along="center", id="permission_message", pad=(0, 0, 0, 16)),
            button("Allow", ("grant", permission), style="soft", across="fill", id="permission_allow_button"),
            space(height=8),
            button("Don't allow", ("deny", permission), style="soft", across="fill", id="permission_deny_button"),
        ],
        [],
    )


def _add_caret(activity: Activity, field: Placed) -> None:
    """The line where the next letter goes, and a ground of its own for text that is marked."""
    if activity.all_selected:
        field.view = replace(field.view, look=replace(field.view.look, fill="soft"))
    end = len(field.view.text)
    box = caret(field, end if activity.cursor is None else min(activity.cursor, end))
    field.children.append(Placed(View(told=False, look=Look(drawing="cursor")), box, field.seen))


def _edit_menu(activity: Activity, clipboard: str) -> View:
    names = ["Cut", "Copy"] if activity.all_selected else []
    names += ["Paste"] if clipboard else []
    names += [] if activity.all_selected else ["Select all"]
    entries = [button(name, (EDIT_TEXT, name.lower()), across="center") for name in names]
    panel = row(*entries, fill="dialog", round=20, height=44)
    return View(flow="stack", children=(replace(panel, across="center", look=replace(panel.look, raised=True)),))


def _above_field(window: Placed, field: str) -> Box:
    place = next((each for each in window.walk() if each.view.field == field), window)
    top = max(place.box[1] - px(56), STATUS_BAR)
    return 0, top, WIDTH, top + px(56)


def _toast(said: str) -> View:
    words = text(
        said, fill="toast", color="on_toast", round=22, size=15, pad=(20, 12, 20, 12), across="center", lines=2
    )
    return column(replace(words, kind="android.widget.Toast"), along="center", pad=(32, 0, 32, 0))


@lru_cache(maxsize=8)
def _keys(page: str) -> Window:
    bottom = HEIGHT - NAVIGATION_BAR
    box = (0, bottom - px(keyboard.HEIGHT), WIDTH, bottom)
    return Window(keyboard.PACKAGE, lay_out(keyboard.keyboard(page), box, {}))


_SIGNS = {
    "wifi_on": ("wifi", "Wifi signal full."),
    "bluetooth_on": ("bluetooth", "Bluetooth on."),
    "airplane_mode_on": ("plane", "Airplane mode."),
}


@lru_cache(maxsize=1_024)
def _bars(time: str, *on: bool) -> tuple[Window, Window]:
    """What is above and below every app: it changes with the minute, and with what is switched on."""
    shown = [sign for sign, is_on in zip(_SIGNS.values(), on, strict=True) if is_on]
    signs = [icon(picture, size=16, color="text", desc=desc) for picture, desc in shown]
    battery = icon("battery", size=16, color="text", desc="Battery 100 percent.")
    clock = text(time, size=14, id="clock", grow=1, across="center")
    above = row(clock, *signs, battery, gap=4, pad=(16, 0, 16, 0), fill="page")
    names = (("back", "Back", "back"), ("home", "Home", "home"), ("stop", "Overview", "recent_apps"))
    buttons = [icon_button(picture, desc, ("system", does), id=does) for picture, desc, does in names]
    below = row(*(replace(each, grow=1) for each in buttons), pad=(48, 0, 48, 0), fill="page")
    return (
        Window(SYSTEM, lay_out(above, (0, 0, WIDTH, STATUS_BAR), {})),
        Window(SYSTEM, lay_out(below, (0, HEIGHT - NAVIGATION_BAR, WIDTH, HEIGHT), {})),
    )


def _time(state: State) -> datetime:
    return datetime.fromtimestamp(state.now, timezone.utc)


def _shade(state: State) -> View:
    def tile(name: str, picture: str, on: bool, said: str = "") -> View:
        color = "on_primary" if on else "text"
        words = [text(name, size=15, color=color, bold=True, lines=1)]
        words += [text(said or ("On" if on else "Off"), size=13, color=color, lines=1)]
        return View(
            kind="android.widget.Switch",
            desc=name,
            checked=on,
            tap=("tile", name),
            flow="row",
            gap=12,
            grow=1,
            height=72,
            pad=(16, 0, 16, 0),
            look=Look(fill="primary" if on else "card", round=28),
            children=(icon(picture, color=color), column(*words, grow=1, along="center")),
        )

    wifi = state.setting("global", "wifi_on", "0") != "0"
    time = _time(state)
    bright = int(state.setting("system", "screen_brightness", "102")) / MOST_BRIGHT
    panel = column(
        text(f"{time:%a, %b} {time.day}", size=16, pad=(8, 8, 8, 8)),
        slider("brightness", bright, desc="Display brightness"),
        row(
            tile("Internet", "wifi", wifi, "AndroidWifi" if wifi else "Off"),
            tile("Bluetooth", "bluetooth", state.setting("global", "bluetooth_on") == "1"),
            gap=8,
        ),
        row(
            tile("Flashlight", "brightness", state.setting("secure", "flashlight_enabled") == "1"),
            tile("Do Not Disturb", "block", state.setting("global", "zen_mode", "0") != "0"),
            gap=8,
        ),
        row(
            tile("Airplane mode", "plane", state.setting("global", "airplane_mode_on") == "1"),
            tile("Auto-rotate", "refresh", state.setting("system", "accelerometer_rotation") == "1"),
            gap=8,
        ),
        text("No notifications", size=14, color="faint", along="center", pad=(0, 16, 0, 16)),
        gap=8,
        pad=(16, 8, 16, 16),
        fill="dialog",
        tap=("nothing",),
    )
    return column(panel, tap=("system", "close_shade"), fill="shade")
