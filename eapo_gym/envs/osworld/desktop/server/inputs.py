"""Inputs as clients send them, checked before any is played."""

from __future__ import annotations

from typing import Any

from . import keys

MOST_INPUTS, MOST_CHARACTERS, MOST_SECONDS = 2_000, 20_000, 60.0
BUTTONS = {"left": 1, "middle": 2, "right": 3}
"""Their numbers in X."""

_FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "move": {"x": (int,), "y": (int,)},
    "press": {"button": (str,)},
    "release": {"button": (str,)},
    "wheel": {"dx": (int,), "dy": (int,)},
    "key_down": {"key": (str,)},
    "key_up": {"key": (str,)},
    "write": {"text": (str,)},
    "pause": {"seconds": (int, float)},
}


class InputError(ValueError):
    """Inputs that cannot be played."""


def check(inputs: Any) -> list[dict[str, Any]]:
    """The inputs, if they can be played; raises `InputError` with what is wrong otherwise."""
    if not isinstance(inputs, list) or not all(isinstance(each, dict) for each in inputs):
        raise InputError('The inputs must be a list of objects such as {"do": "move", "x": 1, "y": 2}.')
    if len(inputs) > MOST_INPUTS:
        raise InputError(f"{len(inputs)} inputs are too many at once: at most {MOST_INPUTS} are played.")
    for each in inputs:
        _check_one(each)
    characters = sum(len(each["text"]) for each in inputs if each["do"] == "write")
    if characters > MOST_CHARACTERS:
        raise InputError(f"{characters} characters are too many at once: at most {MOST_CHARACTERS} are typed.")
    seconds = sum(float(each.get("seconds", 0)) for each in inputs)
    if seconds > MOST_SECONDS:
        raise InputError(f"The inputs take {seconds:g} seconds; at most {MOST_SECONDS:g} are played at once.")
    return inputs


def _check_one(each: dict[str, Any]) -> None:
    do = each.get("do")
    if not isinstance(do, str) or do not in _FIELDS:
        raise InputError(f"Unknown input {do!r}: expected one of {', '.join(_FIELDS)}.")
    for name, types in _FIELDS[do].items():
        value = each.get(name)
        if not isinstance(value, types) or isinstance(value, bool):
            raise InputError(f"The input {do!r} needs {name!r} as {types[-1].__name__}, not {value!r}.")
    seconds = each.get("seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds <= MOST_SECONDS:
        raise InputError(f"Seconds must be a number from 0 to {MOST_SECONDS:g}, not {seconds!r}.")
    if do in ("press", "release") and each["button"] not in BUTTONS:
        raise InputError(f"Unknown button {each['button']!r}: expected one of {', '.join(BUTTONS)}.")
    if do in ("key_down", "key_up") and keys.of_key(each["key"]) is None:
        raise InputError(f"Unknown key {each['key']!r}: expected one character or a name such as 'enter' or 'ctrl'.")
    if do == "wheel" and abs(each["dx"]) + abs(each["dy"]) > MOST_INPUTS:
        raise InputError(f"The wheel can be turned by at most {MOST_INPUTS} clicks at once.")
