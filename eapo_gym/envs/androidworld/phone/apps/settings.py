"""Settings: networks, connected devices, display, sound, apps, and what the phone is."""

from __future__ import annotations

from collections.abc import Sequence

from eapo_gym.envs.androidworld.phone.app import App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import column, icon, item, page, slider, switch_item, text
from eapo_gym.envs.androidworld.phone.windows import MOST_BRIGHT

PACKAGE = "com.android.settings"

PARTS: dict[str, tuple[str, str, str]] = {
    "network": ("wifi", "Network & internet", "Mobile, Wi-Fi, hotspot"),
    "devices": ("bluetooth", "Connected devices", "Bluetooth, pairing"),
    "apps": ("apps", "Apps", "Recent apps, default apps"),
    "notifications": ("alarm", "Notifications", "Notification history, conversations"),
    "battery": ("battery", "Battery", "100%"),
    "storage": ("folder", "Storage", "38% used - 4.96 GB free"),
    "sound": ("sound", "Sound & vibration", "Volume, haptics, Do Not Disturb"),
    "display": ("brightness", "Display", "Dark theme, font size, brightness"),
    "security": ("lock", "Security & privacy", "App security, device lock, permissions"),
    "system": ("info", "System", "Languages, gestures, time, backup"),
    "about": ("display", "About emulated device", "sdk_gphone_x86_64"),
}
"""Icon, title and summary of the parts of the first screen."""

FIRST_SETTINGS = {
    "global": {
        "wifi_on": "1",
        "bluetooth_on": "0",
        "airplane_mode_on": "0",
        "mobile_data": "1",
        "zen_mode": "0",
        "auto_time": "0",
        "device_name": "sdk_gphone_x86_64",
    },
    "secure": {"ui_night_mode": "1", "flashlight_enabled": "0", "location_mode": "3"},
    "system": {
        "screen_brightness": "102",
        "screen_brightness_mode": "0",
        "accelerometer_rotation": "0",
        "user_rotation": "0",
        "screen_off_timeout": "1800000",
        "volume_music": "5",
        "volume_ring": "5",
        "volume_alarm": "6",
        "vibrate_when_ringing": "0",
    },
}


class Top(Screen):
    name = ".Settings"

    def view(self, at: Scene) -> View:
        names = at.taste.order("settings", list(PARTS))
        entries = [_entry(name) for name in names]
        return page("Settings", entries)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("open", part):
                turn.open(".SubSettings", part=part)


def _entry(name: str) -> View:
    picture, title, summary = PARTS[name]
    return item(title, summary, tap=("open", name), start=icon(picture))


class Part(Screen):
    """Everything below the first screen."""

    name = ".SubSettings"

    def view(self, at: Scene) -> View:
        part = at.extras["part"]
        title, body = _PARTS[part](at) if part in _PARTS else (PARTS[part][1], _nothing_here())
        return page(title, body, up=("up",))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("open", part):
                turn.open(".SubSettings", part=part)
            case ("toggle", namespace, name):
                turn.set(namespace, name, "0" if turn.setting(namespace, name, "0") != "0" else "1")
            case ("dark",):
                turn.set("secure", "ui_night_mode", "1" if turn.setting("secure", "ui_night_mode") == "2" else "2")
            case ("timeout", milliseconds):
                turn.set("system", "screen_off_timeout", str(milliseconds))
                turn.close()
            case ("brightness", share):
                turn.set("system", "screen_brightness", str(max(1, round(share * MOST_BRIGHT))))
            case ("volume", name, share):
                turn.set("system", name, str(round(share * 15)))
            case (name, share) if str(name).startswith("volume_"):
                turn.set("system", str(name), str(round(share * 15)))


def _network(at: Scene) -> tuple[str, Sequence[View]]:
    wifi = _is_on(at, "wifi_on")
    return "Network & internet", [
        item("Internet", "AndroidWifi" if wifi else "Networks available", tap=("open", "internet"), start=icon("wifi")),
        item("Calls & SMS", "T-Mobile", start=icon("call")),
        item("SIMs", "T-Mobile", start=icon("signal")),
        switch_item(
            "Airplane mode",
            _is_on(at, "airplane_mode_on"),
            ("toggle", "global", "airplane_mode_on"),
            start=icon("plane"),
        ),
        item("Hotspot & tethering", "Off", start=icon("share")),
        item("Data Saver", "Off", start=icon("refresh")),
        item("VPN", "None", start=icon("lock")),
        item("Private DNS", "Automatic", start=icon("globe")),
    ]


def _internet(at: Scene) -> tuple[str, Sequence[View]]:
    wifi = _is_on(at, "wifi_on")
    networks = [item("AndroidWifi", "Connected", start=icon("wifi"), id="title")] if wifi else []
    return "Internet", [
        switch_item("Wi-Fi", wifi, ("toggle", "global", "wifi_on")),
        *networks,
        item("T-Mobile", "LTE" if _is_on(at, "mobile_data") else "Off", start=icon("signal")),
        item("Add network", start=icon("add")),
        item("Network preferences", "Wi-Fi turns back on automatically"),
        item("Saved networks", "1 network"),
    ]


def _devices(at: Scene) -> tuple[str, Sequence[View]]:
    on = _is_on(at, "bluetooth_on")
    return "Connected devices", [
        item("Pair new device", "Bluetooth will turn on to pair" if not on else "", start=icon("add"), enabled=True),
        item("Connection preferences", "Bluetooth, NFC", tap=("open", "preferences"), start=icon("settings")),
        _hint("Visible as sdk_gphone_x86_64" if on else "Turn on Bluetooth to connect to other devices."),
    ]


def _preferences(at: Scene) -> tuple[str, Sequence[View]]:
    on = _is_on(at, "bluetooth_on")
    return "Connection preferences", [
        item("Bluetooth", "On" if on else "Off", tap=("open", "bluetooth"), start=icon("bluetooth")),
        item("Cast", "Not connected", start=icon("display")),
        item("Printing", "1 print service on", start=icon("document")),
        item("Files received via Bluetooth", start=icon("download")),
    ]


def _bluetooth(at: Scene) -> tuple[str, Sequence[View]]:
    on = _is_on(at, "bluetooth_on")
    body = [switch_item("Use Bluetooth", on, ("toggle", "global", "bluetooth_on"))]
    if on:
        body += [item("Device name", at.setting("global", "device_name")), item("Pair new device", start=icon("add"))]
    else:
        body.append(_hint("When Bluetooth is turned on, your device can communicate with others nearby."))
    return "Bluetooth", body


def _display(at: Scene) -> tuple[str, Sequence[View]]:
    bright = int(at.setting("system", "screen_brightness", "102")) / MOST_BRIGHT
    seconds = int(at.setting("system", "screen_off_timeout", "30000")) // 1000
    return "Display", [
        text("Brightness", size=14, color="primary", pad=(16, 12, 16, 0)),
        item("Brightness level", f"{round(bright * 100)}%", tap=("open", "brightness"), start=icon("brightness")),
        switch_item("Adaptive brightness", _is_set(at, "system", "screen_brightness_mode"),
                    ("toggle", "system", "screen_brightness_mode")),
        text("Lock display", size=14, color="primary", pad=(16, 12, 16, 0)),
        item("Screen timeout", _duration(seconds), tap=("open", "timeout"), start=icon("clock")),
        text("Appearance", size=14, color="primary", pad=(16, 12, 16, 0)),
        switch_item("Dark theme", at.setting("secure", "ui_night_mode") == "2", ("dark",)),
        item("Display size and text", "Default"),
        switch_item("Auto-rotate screen", _is_set(at, "system", "accelerometer_rotation"),
                    ("toggle", "system", "accelerometer_rotation")),
    ]  # fmt: skip


def _brightness(at: Scene) -> tuple[str, Sequence[View]]:
    bright = int(at.setting("system", "screen_brightness", "102")) / MOST_BRIGHT
    return "Brightness level", [
        column(
            text(f"{round(bright * 100)}%", size=28, along="center"),
            slider("brightness", bright, desc="Display brightness"),
            pad=(24, 32, 24, 24),
            gap=16,
        )
    ]


def _timeout(at: Scene) -> tuple[str, Sequence[View]]:
    chosen = int(at.setting("system", "screen_off_timeout", "30000")) // 1000
    return "Screen timeout", [
        item(_duration(seconds), "Selected" if seconds == chosen else "", tap=("timeout", seconds * 1000))
        for seconds in (15, 30, 60, 120, 300, 600, 1800)
    ]


def _sound(at: Scene) -> tuple[str, Sequence[View]]:
    volumes = (
        ("volume_music", "Media volume"),
        ("volume_ring", "Ring & notification volume"),
        ("volume_alarm", "Alarm volume"),
    )
    body: list[View] = []
    for name, title in volumes:
        value = int(at.setting("system", name, "5")) / 15
        body.append(column(text(title), slider(name, value, desc=title), pad=(16, 12, 16, 0)))
    vibrate = _is_set(at, "system", "vibrate_when_ringing")
    body.append(switch_item("Vibrate for calls", vibrate, ("toggle", "system", "vibrate_when_ringing")))
    body.append(switch_item("Do Not Disturb", _is_on(at, "zen_mode"), ("toggle", "global", "zen_mode")))
    return "Sound & vibration", body


def _apps(at: Scene) -> tuple[str, Sequence[View]]:
    apps = sorted((app for app in at.apps.values() if app.screens), key=lambda app: app.label.lower())
    return "Apps", [item(app.label, app.package, start=icon(app.icon)) for app in apps]


def _about(at: Scene) -> tuple[str, Sequence[View]]:
    facts = {
        "Device name": at.setting("global", "device_name"),
        "Model": "sdk_gphone_x86_64",
        "Android version": "13",
        "Build number": "eapo-gym embedded phone",
        "IP address": "10.0.2.16" if _is_on(at, "wifi_on") else "Unavailable",
    }
    return "About emulated device", [item(name, value) for name, value in facts.items()]


_PARTS = {
    "network": _network,
    "internet": _internet,
    "devices": _devices,
    "preferences": _preferences,
    "bluetooth": _bluetooth,
    "display": _display,
    "brightness": _brightness,
    "timeout": _timeout,
    "sound": _sound,
    "apps": _apps,
    "about": _about,
}


def _hint(said: str) -> View:
    return text(said, size=14, color="faint", pad=(24, 12, 24, 12))


def _nothing_here() -> Sequence[View]:
    return [text("Nothing can be changed here on this phone.", color="faint", pad=(16, 24, 16, 24))]


def _is_on(at: Scene, name: str) -> bool:
    return _is_set(at, "global", name)


def _is_set(at: Scene, namespace: str, name: str) -> bool:
    return at.setting(namespace, name, "0") not in ("0", "null")


def _duration(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} seconds"
    return f"{seconds // 60} minute{'s' if seconds > 60 else ''}"


class Settings(App):
    package = PACKAGE
    label = "Settings"
    icon = "settings"
    colour = "#5f6368"
    screens = (Top, Part)

    def install(self, state: State) -> State:
        for namespace, values in FIRST_SETTINGS.items():
            for name, value in values.items():
                state = state.with_setting(namespace, name, value)
        return state

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        parts = {
            "android.settings.WIFI_SETTINGS": "internet",
            "android.settings.BLUETOOTH_SETTINGS": "bluetooth",
            "android.settings.DISPLAY_SETTINGS": "display",
            "android.settings.SOUND_SETTINGS": "sound",
        }
        if intent.action in parts:
            return Activity(PACKAGE, ".SubSettings", {"part": parts[intent.action]})
        return Activity(PACKAGE, ".Settings") if intent.action == "android.settings.SETTINGS" else None
