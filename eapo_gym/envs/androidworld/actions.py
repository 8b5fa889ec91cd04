"""The benchmark's JSON actions."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.errors import ActionError
from eapo_gym.json_action import parse_json_action

EXAMPLE = '{"action_type": "click", "index": 5}'

DIRECTIONS = ("up", "down", "left", "right")
STATUSES = ("complete", "infeasible")

_PLACED = ("index", "x", "y")
_FIELDS: dict[str, tuple[str, ...]] = {
    "click": _PLACED,
    "double_tap": _PLACED,
    "long_press": _PLACED,
    "input_text": ("text", *_PLACED, "clear_text"),
    "keyboard_enter": (),
    "navigate_home": (),
    "navigate_back": (),
    "press_keyboard": ("keycode",),
    "scroll": ("direction", "index"),
    "swipe": ("direction",),
    "open_app": ("app_name",),
    "wait": (),
    "answer": ("text",),
    "status": ("goal_status",),
}
"""The kinds of action, with what each of them may say."""

_NEEDED = {
    "input_text": "text",
    "press_keyboard": "keycode",
    "scroll": "direction",
    "swipe": "direction",
    "open_app": "app_name",
    "answer": "text",
    "status": "goal_status",
}

EXAMPLES = (
    EXAMPLE,
    '{"action_type": "click", "x": 540, "y": 1200}',
    '{"action_type": "long_press", "index": 5}',
    '{"action_type": "double_tap", "index": 5}',
    '{"action_type": "input_text", "text": "hello", "index": 2}',
    '{"action_type": "keyboard_enter"}',
    '{"action_type": "navigate_home"}',
    '{"action_type": "navigate_back"}',
    '{"action_type": "scroll", "direction": "down"}',
    '{"action_type": "swipe", "direction": "up"}',
    '{"action_type": "open_app", "app_name": "Settings"}',
    '{"action_type": "wait"}',
    '{"action_type": "answer", "text": "42"}',
    '{"action_type": "status", "goal_status": "complete"}',
)


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the benchmark; what it does not say is None."""

    action_type: str
    index: int | None = None
    x: int | None = None
    y: int | None = None
    text: str | None = None
    direction: str | None = None
    goal_status: str | None = None
    app_name: str | None = None
    keycode: str | None = None
    clear_text: bool | None = None

    def command(self) -> str:
        """As it is written."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps({name: value for name, value in said.items() if value is not None}, ensure_ascii=False)

    def place(self, elements: list[Element]) -> tuple[int, int] | None:
        """Where on the screen it points, if it points anywhere."""
        if self.index is not None:
            return elements[self.index].center
        return None if self.x is None or self.y is None else (self.x, self.y)


def parse_action(text: str) -> Action:
    """The action that a text is; raises `ActionError` with what is wrong and a right one."""
    given = parse_json_action(text)
    kind = given.pop("action_type", None)
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise ActionError(f"action_type: expected one of {', '.join(_FIELDS)}, got {kind!r:.60}.", EXAMPLE)
    example = next((each for each in EXAMPLES if f'"{kind}"' in each), EXAMPLE)
    given = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in given if name not in _FIELDS[kind]]
    if unknown:
        allowed = ", ".join(_FIELDS[kind]) or "nothing else"
        raise ActionError(f"{kind} says {allowed}, and got {unknown[0]!r:.60}: write it like {example}.", example)
    needed = _NEEDED.get(kind)
    if needed is not None and needed not in given:
        raise ActionError(f"{kind} needs {needed}: write it like {example}.", example)
    action = Action(kind, **{name: _value(name, value, example) for name, value in given.items()})
    needs_place = kind in ("click", "double_tap", "long_press")
    by_index, by_place = action.index is not None, action.x is not None and action.y is not None
    is_half = (action.x is None) != (action.y is None)
    if is_half or (by_index and by_place) or (needs_place and not by_index and not by_place):
        raise ActionError(f"{kind} needs either an index, or x and y: write it like {example}.", example)
    return action


def _value(name: str, value: Any, example: str) -> Any:
    if name in ("index", "x", "y"):
        return _whole_number(name, value, example)
    if name == "clear_text":
        return value is True or str(value).lower() == "true"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if name == "direction" and text not in DIRECTIONS:
        raise ActionError(f"direction: expected one of {', '.join(DIRECTIONS)}, got {text!r:.60}.", example)
    if name == "goal_status" and text not in STATUSES:
        raise ActionError(f"goal_status: expected one of {', '.join(STATUSES)}, got {text!r:.60}.", example)
    if name == "keycode" and not text.startswith("KEYCODE_"):
        raise ActionError(f"keycode: expected a name such as KEYCODE_ENTER, got {text!r:.60}.", example)
    return text


def _whole_number(name: str, value: Any, example: str) -> int:
    try:
        number = float(value)
        if isinstance(value, bool) or not 0 <= number < 1e6:
            raise ValueError
    except (TypeError, ValueError):
        raise ActionError(f"{name}: expected a number from 0 on, got {value!r:.60}.", example) from None
    return int(number)
