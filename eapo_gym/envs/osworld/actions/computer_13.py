"""The benchmark's thirteen structured actions, as JSON objects: with their parameters apart, or beside the type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from eapo_gym.envs.osworld.actions.keys import key_named, keys_at_once
from eapo_gym.envs.osworld.actions.movements import Movement, clicks, drag, held, typed
from eapo_gym.envs.osworld.actions.parsed import Kind, Parsed
from eapo_gym.envs.osworld.actions.values import MOST_PIXELS, button, one_of, shown, whole_number
from eapo_gym.envs.osworld.inputs import KeyDown, KeyUp, Move, Press, Release, Wheel
from eapo_gym.errors import ActionError

SIGNALS: Mapping[str, Kind] = {"WAIT": "wait", "DONE": "done", "FAIL": "fail"}
"""What stands alone, or is an action without parameters."""

MOST_SCROLLED = 1_000
MOST_CLICKS = 3

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "MOVE_TO": ("x", "y"),
    "CLICK": ("button", "x", "y", "num_clicks"),
    "MOUSE_DOWN": ("button",),
    "MOUSE_UP": ("button",),
    "RIGHT_CLICK": ("x", "y"),
    "DOUBLE_CLICK": ("x", "y"),
    "DRAG_TO": ("x", "y"),
    "SCROLL": ("dx", "dy"),
    "TYPING": ("text",),
    "PRESS": ("key",),
    "KEY_DOWN": ("key",),
    "KEY_UP": ("key",),
    "HOTKEY": ("keys",),
    **dict.fromkeys(SIGNALS, ()),
}

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "MOVE_TO": ("x", "y"),
    "DRAG_TO": ("x", "y"),
    "TYPING": ("text",),
    "PRESS": ("key",),
    "KEY_DOWN": ("key",),
    "KEY_UP": ("key",),
    "HOTKEY": ("keys",),
}

EXAMPLES = (
    '{"action_type": "CLICK", "parameters": {"x": 960, "y": 540}}',
    '{"action_type": "CLICK", "parameters": {"button": "left", "x": 960, "y": 540, "num_clicks": 2}}',
    '{"action_type": "MOVE_TO", "parameters": {"x": 960, "y": 540}}',
    '{"action_type": "MOUSE_DOWN", "parameters": {"button": "left"}}',
    '{"action_type": "MOUSE_UP", "parameters": {"button": "left"}}',
    '{"action_type": "RIGHT_CLICK", "parameters": {"x": 960, "y": 540}}',
    '{"action_type": "DOUBLE_CLICK", "parameters": {"x": 960, "y": 540}}',
    '{"action_type": "DRAG_TO", "parameters": {"x": 960, "y": 540}}',
    '{"action_type": "SCROLL", "parameters": {"dx": 0, "dy": -5}}',
    '{"action_type": "TYPING", "parameters": {"text": "hello"}}',
    '{"action_type": "PRESS", "parameters": {"key": "enter"}}',
    '{"action_type": "KEY_DOWN", "parameters": {"key": "shift"}}',
    '{"action_type": "KEY_UP", "parameters": {"key": "shift"}}',
    '{"action_type": "HOTKEY", "parameters": {"keys": ["ctrl", "s"]}}',
    '{"action_type": "WAIT"}',
    '{"action_type": "FAIL"}',
    '{"action_type": "DONE"}',
)


def is_computer_13(fields: Mapping[str, Any]) -> bool:
    """Whether a JSON object is meant to be of this language: its types are in capitals."""
    kind = fields.get("action_type")
    return "parameters" in fields or (isinstance(kind, str) and kind.isupper())


def parse_computer_13(fields: Mapping[str, Any]) -> Parsed:
    """The action that a JSON object is; raises `ActionError` with what is wrong and a right one."""
    kind = fields.get("action_type")
    kind = one_of("action_type", kind.upper() if isinstance(kind, str) else kind, tuple(_FIELDS), EXAMPLES[0])
    example = next(each for each in EXAMPLES if f'"{kind}"' in each)
    given = _parameters(fields, example)
    unknown = next((name for name in given if name not in _FIELDS[kind]), None)
    if unknown is not None:
        allowed = ", ".join(_FIELDS[kind]) or "nothing else"
        raise ActionError(f"{kind} says {allowed}, and got {unknown!r:.60}: write it like {example}.", example)
    missing = next((name for name in _NEEDED.get(kind, ()) if name not in given), None)
    is_half = ("x" in given) != ("y" in given)
    if missing is not None or is_half or (kind == "SCROLL" and not given):
        needs = missing or ("dx or dy" if kind == "SCROLL" else "both x and y, or neither")
        raise ActionError(f"{kind} needs {needs}: write it like {example}.", example)
    said = {name: _value(name, given[name], example) for name in _FIELDS[kind] if name in given}
    written = json.dumps({"action_type": kind, **({"parameters": said} if said else {})}, ensure_ascii=False)
    if kind in SIGNALS:
        return Parsed(SIGNALS[kind], written, "computer_13")
    return Parsed("inputs", written, "computer_13", _movements(kind, said, example))


def _parameters(fields: Mapping[str, Any], example: str) -> dict[str, Any]:
    """What is said besides the type, in either form."""
    beside = {name: value for name, value in fields.items() if name not in ("action_type", "parameters")}
    apart = fields.get("parameters")
    if apart is not None and not isinstance(apart, dict):
        raise ActionError(f"parameters: expected an object, got {shown(apart)}: as in {example}.", example)
    return {name: value for name, value in {**beside, **(apart or {})}.items() if value is not None}


def _value(name: str, value: Any, example: str) -> Any:
    if name in ("x", "y"):
        return whole_number(name, value, 0, MOST_PIXELS, example)
    if name in ("dx", "dy"):
        return whole_number(name, value, -MOST_SCROLLED, MOST_SCROLLED, example)
    if name == "num_clicks":
        return whole_number(name, value, 1, MOST_CLICKS, example)
    if name == "button":
        return button(value, example)
    if name == "key":
        return key_named(value, example)
    if name == "keys":
        if not isinstance(value, list):
            raise ActionError(f"keys: expected a list of keys, got {shown(value)}: as in {example}.", example)
        return list(keys_at_once(value, example))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _movements(kind: str, said: Mapping[str, Any], example: str) -> tuple[Movement, ...]:
    place = Move(said["x"], said["y"]) if "x" in said else None
    pressed = said.get("button", "left")
    if kind == "MOVE_TO" and place is not None:
        return (place,)
    if kind == "DRAG_TO" and place is not None:
        return drag(place)
    if kind == "CLICK":
        return clicks(place, pressed, said.get("num_clicks", 1))
    if kind == "RIGHT_CLICK":
        return clicks(place, "right")
    if kind == "DOUBLE_CLICK":
        return clicks(place, times=2)
    if kind == "MOUSE_DOWN":
        return (Press(pressed),)
    if kind == "MOUSE_UP":
        return (Release(pressed),)
    if kind == "SCROLL":
        return (Wheel(said.get("dx", 0), said.get("dy", 0)),)
    if kind == "TYPING":
        return typed(said["text"], example)
    if kind == "KEY_DOWN":
        return (KeyDown(said["key"]),)
    if kind == "KEY_UP":
        return (KeyUp(said["key"]),)
    return held((said["key"],) if kind == "PRESS" else said["keys"])
