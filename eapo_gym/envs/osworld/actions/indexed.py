"""JSON actions that point to elements by their numbers: AndroidWorld's language, with what a desktop has besides.

What a phone does otherwise than a desktop has the nearest meaning here. A long press is a right click. To go back is
the Escape key: it closes menus and dialogs, and harms nothing elsewhere. Home shows the desktop. A text is typed as it
is: no Enter follows, which would end a line of a document or send a form too soon.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from eapo_gym.envs.osworld.actions.keys import android_keys, keys_as_written, keys_written
from eapo_gym.envs.osworld.actions.movements import Movement, To, ToElement, ToMiddle, clicks, drag, held, typed
from eapo_gym.envs.osworld.actions.parsed import EXAMPLE, Kind, Parsed
from eapo_gym.envs.osworld.actions.values import MOST_PIXELS, one_of, whole_number
from eapo_gym.envs.osworld.inputs import Button, Move, Wheel
from eapo_gym.errors import ActionError

DIRECTIONS = ("up", "down", "left", "right")
STATUSES = ("complete", "infeasible")

SCROLLED = 5
"""Clicks of the wheel, where an action does not say how many."""

_MOST_SCROLLED = 100
_MOST_TIMES = 100

_PLACE = ("index", "x", "y")
_TARGET = ("to_index", "to_x", "to_y")

_CLICKS: Mapping[str, tuple[Button, int]] = {
    "click": ("left", 1),
    "double_click": ("left", 2),
    "double_tap": ("left", 2),
    "triple_click": ("left", 3),
    "right_click": ("right", 1),
    "long_press": ("right", 1),
    "middle_click": ("middle", 1),
}

_FIELDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_CLICKS, _PLACE),
    "hover": _PLACE,
    "drag": (*_PLACE, *_TARGET),
    "input_text": ("text", *_PLACE, "clear_text"),
    "press_key": ("key", "times"),
    "hotkey": ("keys",),
    "keyboard_enter": (),
    "press_keyboard": ("keycode",),
    "navigate_back": (),
    "navigate_home": (),
    "scroll": ("direction", *_PLACE, "clicks"),
    "swipe": ("direction", *_PLACE),
    "open_app": ("app_name",),
    "wait": (),
    "answer": ("text",),
    "status": ("goal_status",),
}
"""The kinds of action, with what each of them may say."""

_NEEDED: Mapping[str, str] = {
    "input_text": "text",
    "press_key": "key",
    "hotkey": "keys",
    "press_keyboard": "keycode",
    "scroll": "direction",
    "swipe": "direction",
    "open_app": "app_name",
    "answer": "text",
    "status": "goal_status",
}
_NEEDS_PLACE = (*_CLICKS, "hover", "drag")

EXAMPLES = (
    EXAMPLE,
    '{"action_type": "click", "x": 960, "y": 540}',
    '{"action_type": "double_click", "index": 5}',
    '{"action_type": "triple_click", "index": 5}',
    '{"action_type": "right_click", "index": 5}',
    '{"action_type": "middle_click", "index": 5}',
    '{"action_type": "hover", "index": 5}',
    '{"action_type": "drag", "index": 5, "to_index": 8}',
    '{"action_type": "drag", "x": 100, "y": 200, "to_x": 300, "to_y": 200}',
    '{"action_type": "input_text", "text": "hello", "index": 2}',
    '{"action_type": "input_text", "text": "hello", "index": 2, "clear_text": true}',
    '{"action_type": "keyboard_enter"}',
    '{"action_type": "press_key", "key": "tab"}',
    '{"action_type": "hotkey", "keys": "ctrl+s"}',
    '{"action_type": "scroll", "direction": "down"}',
    '{"action_type": "scroll", "direction": "down", "index": 5, "clicks": 10}',
    '{"action_type": "open_app", "app_name": "Files"}',
    '{"action_type": "navigate_back"}',
    '{"action_type": "navigate_home"}',
    '{"action_type": "wait"}',
    '{"action_type": "answer", "text": "42"}',
    '{"action_type": "status", "goal_status": "complete"}',
    '{"action_type": "status", "goal_status": "infeasible"}',
    # A phone's names for what is above, and its keys.
    '{"action_type": "double_tap", "index": 5}',
    '{"action_type": "long_press", "index": 5}',
    '{"action_type": "swipe", "direction": "up"}',
    '{"action_type": "press_keyboard", "keycode": "KEYCODE_DEL"}',
)


def parse_indexed(fields: Mapping[str, Any]) -> Parsed:
    """The action that a JSON object is; raises `ActionError` with what is wrong and a right one."""
    kind = one_of("action_type", fields.get("action_type"), tuple(_FIELDS), EXAMPLE)
    example = next(each for each in EXAMPLES if f'"{kind}"' in each)
    given = {name: value for name, value in fields.items() if name != "action_type" and value is not None}
    unknown = next((name for name in given if name not in _FIELDS[kind]), None)
    if unknown is not None:
        allowed = ", ".join(_FIELDS[kind]) or "nothing else"
        raise ActionError(f"{kind} says {allowed}, and got {unknown!r:.60}: write it like {example}.", example)
    needed = _NEEDED.get(kind)
    if needed is not None and needed not in given:
        raise ActionError(f"{kind} needs {needed}: write it like {example}.", example)
    said = {name: _value(name, given[name], example) for name in _FIELDS[kind] if name in given}
    written = json.dumps({"action_type": kind, **said}, ensure_ascii=False)
    if kind == "open_app":
        return Parsed("open_app", written, "indexed", said=said["app_name"])
    if kind == "answer":
        return Parsed("answer", written, "indexed", said=said["text"])
    if kind in ("wait", "status"):
        ends: dict[str | None, Kind] = {None: "wait", "complete": "done", "infeasible": "fail"}
        return Parsed(ends[said.get("goal_status")], written, "indexed")
    return Parsed("inputs", written, "indexed", _movements(kind, said, example))


def _value(name: str, value: Any, example: str) -> Any:
    if name in ("index", "to_index", "x", "y", "to_x", "to_y"):
        return whole_number(name, value, 0, MOST_PIXELS, example)
    if name == "clicks":
        return whole_number(name, value, 1, _MOST_SCROLLED, example)
    if name == "times":
        return whole_number(name, value, 1, _MOST_TIMES, example)
    if name == "clear_text":
        return value is True or str(value).lower() == "true"
    if name in ("key", "keys"):
        return keys_as_written(keys_written(value, example))
    if name == "direction":
        return one_of(name, value, DIRECTIONS, example)
    if name == "goal_status":
        return one_of(name, value, STATUSES, example)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if name == "app_name" and not text.strip():
        raise ActionError(f"app_name: expected the name of an app, got {text!r:.60}: as in {example}.", example)
    return text


def _movements(kind: str, said: Mapping[str, Any], example: str) -> tuple[Movement, ...]:
    place = _place(kind, said, _PLACE, example, needed=kind in _NEEDS_PLACE)
    if kind in _CLICKS:
        button, times = _CLICKS[kind]
        return clicks(place, button, times)
    if kind == "hover" and place is not None:
        return (place,)
    if kind == "drag" and place is not None:
        target = _place(kind, said, _TARGET, example, needed=True)
        assert target is not None
        return (place, *drag(target))
    if kind == "input_text":
        return _typed(said, place, example)
    if kind in ("scroll", "swipe"):
        return _scrolled(kind, said, place)
    if kind == "press_keyboard":
        return held(android_keys(said["keycode"], example))
    if kind in ("press_key", "hotkey"):
        keys = keys_written(said.get("key", said.get("keys")), example)
        return held(keys) * int(said.get("times", 1))
    return held({"keyboard_enter": ("enter",), "navigate_back": ("esc",), "navigate_home": ("win", "d")}[kind])


def _typed(said: Mapping[str, Any], place: To | None, example: str) -> tuple[Movement, ...]:
    """A click gives the field the caret; what is selected there is replaced by what is typed."""
    movements: list[Movement] = [] if place is None else [*clicks(place)]
    if said.get("clear_text"):
        movements += held(("ctrl", "a"))
        if not said["text"]:
            movements += held(("delete",))
    return (*movements, *typed(said["text"], example))


def _scrolled(kind: str, said: Mapping[str, Any], place: To | None) -> tuple[Movement, ...]:
    """To scroll down shows what is below, as does a finger that swipes up; sideways the benchmark has both alike."""
    amount = said.get("clicks", SCROLLED)
    upwards = -amount if kind == "swipe" else amount
    ways = {"up": (0, upwards), "down": (0, -upwards), "left": (-amount, 0), "right": (amount, 0)}
    return (place or ToMiddle(), Wheel(*ways[said["direction"]]))


def _place(kind: str, said: Mapping[str, Any], names: tuple[str, ...], example: str, *, needed: bool) -> To | None:
    index, x, y = (said.get(name) for name in names)
    is_half = (x is None) != (y is None)
    by_place = x is not None and y is not None
    if is_half or (by_place and index is not None) or (needed and not by_place and index is None):
        raise ActionError(
            f"{kind} needs either {names[0]}, or {names[1]} and {names[2]}: write it like {example}.", example
        )
    if index is not None:
        return ToElement(index)
    return None if x is None or y is None else Move(x, y)
