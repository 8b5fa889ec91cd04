"""Which state a device is in, as far as its screen and its settings tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from eapo_gym.envs.androidworld.device.screen import Look, is_bar
from eapo_gym.envs.androidworld.elements import Element

RELEVANT = frozenset(
    (
        *("airplane_mode_on", "bluetooth_on", "mobile_data", "wifi_on", "zen_mode", "auto_time", "time_12_24"),
        *("accelerometer_rotation", "user_rotation", "font_scale", "screen_off_timeout"),
        *("screen_brightness", "screen_brightness_mode", "volume_alarm", "volume_music", "volume_ring"),
        *("location_mode", "ui_night_mode", "flashlight_enabled"),
    )
)
"""Settings that somebody can change with a finger; the others change by themselves."""

LIST_SETTINGS = "settings list system; settings list global; settings list secure"

_KEYBOARD = "inputmethod"


def settings_in(listed: str) -> dict[str, str]:
    """The relevant ones of what the device lists."""
    pairs = (line.partition("=") for line in listed.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip() in RELEVANT}


def fingerprint(look: Look, settings: Mapping[str, str], *more: str) -> str:
    """Without the status bar, the keys of the keyboard, and what clocks say."""
    _, height = look.size
    told = [_told(each) for each in look.elements if not is_bar(each, height) and _KEYBOARD not in each.package]
    digest = blake2b(digest_size=16)
    for part in (more, look.foreground, sorted(settings.items()), told):
        digest.update(repr(part).encode("utf-8", "surrogatepass") + b"\n")
    if not look.elements:
        digest.update(look.pixels.tobytes())
    return digest.hexdigest()


def said(elements: Iterable[Element]) -> list[str]:
    """What stands on a screen, each of it once; not what clocks say."""
    texts = (" ".join((each.text or each.desc).split()) for each in elements if not is_clock(each))
    return list(dict.fromkeys(filter(None, texts)))


def is_clock(element: Element) -> bool:
    return element.kind == "TextClock" or "clock" in element.resource.rpartition("/")[2].lower()


def _told(element: Element) -> tuple[object, ...]:
    """What the accessibility service and `uiautomator` say alike."""
    words = ("", "") if is_clock(element) else (element.text or element.hint, element.desc)
    states = (element.checked, element.enabled, element.focused, element.scrollable, element.selected)
    return (element.package, element.kind, *words, element.bounds, element.resource, states)
