"""What may undo an action: guesses, of which the environment finds out whether one leads back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from eapo_gym.envs.osworld.actions.indexed import parse_indexed
from eapo_gym.envs.osworld.actions.keys import keys_as_written
from eapo_gym.envs.osworld.actions.parsed import Parsed
from eapo_gym.envs.osworld.inputs import KeyDown, KeyUp, Press, Wheel, Write
from eapo_gym.json_action import parse_json_action

_UNDO = ("ctrl", "z")
_CLOSE_DIALOG = ("esc",)
_PAGE_BACK = ("alt", "left")
_CLOSE_TAB = ("ctrl", "w")
_CLOSE_WINDOW = ("alt", "f4")

_PAIRS: Sequence[tuple[tuple[str, ...], tuple[str, ...]]] = (
    (("up",), ("down",)),
    (("left",), ("right",)),
    (("pageup",), ("pagedown",)),
    (("pgup",), ("pgdn",)),
    (("tab",), ("shift", "tab")),
    (("alt", "left"), ("alt", "right")),
    (("ctrl", "z"), ("ctrl", "shift", "z")),
    (("ctrl", "z"), ("ctrl", "y")),
    (("ctrl", "tab"), ("ctrl", "shift", "tab")),
    (("ctrl", "pageup"), ("ctrl", "pagedown")),
    (("ctrl", "t"), ("ctrl", "w")),
    (("ctrl", "w"), ("ctrl", "shift", "t")),
    (("ctrl", "n"), ("ctrl", "w")),
    (("ctrl", "+"), ("ctrl", "-")),
)
"""Keys that undo each other."""

_TOGGLES = (("f11",), ("insert",), ("capslock",), ("numlock",), ("alt", "tab"), ("win", "d"))
"""Keys that undo themselves."""

_OPPOSITE: Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    keys: tuple(
        [other for one, other in _PAIRS if one == keys]
        + [one for one, other in _PAIRS if other == keys]
        + [same for same in _TOGGLES if same == keys]
    )
    for keys in (*(keys for pair in _PAIRS for keys in pair), *_TOGGLES)
}

_OTHER_WAY = {"down": "up", "up": "down", "left": "right", "right": "left"}


def inverse(parsed: Parsed) -> list[str]:
    """Actions in the same language that may undo this one, best first; none for what changes nothing or ends."""
    if parsed.kind == "open_app":
        return [_pressed(_CLOSE_WINDOW, parsed)]
    if parsed.kind != "inputs":
        return []
    return list(dict.fromkeys(_ways(parsed)))


def _ways(parsed: Parsed) -> Iterator[str]:
    scrolled = _scrolled_back(parsed)
    if scrolled is not None:
        yield scrolled
        return
    dragged = _dragged_back(parsed)
    if dragged is not None:
        yield dragged
    keys = tuple(each.key for each in parsed.movements if isinstance(each, KeyDown))
    for opposite in _OPPOSITE.get(keys, ()):
        yield _pressed(opposite, parsed)
    typed = any(isinstance(each, Write) for each in parsed.movements)
    clicked = any(isinstance(each, Press) for each in parsed.movements)
    if not (typed or clicked or keys):
        return
    if typed or keys:
        yield _pressed(_UNDO, parsed)
    yield _pressed(_CLOSE_DIALOG, parsed)
    if clicked:
        # What is switched by a click is switched back by another.
        yield parsed.command()
        yield _pressed(_UNDO, parsed)
        yield _pressed(_PAGE_BACK, parsed)
    yield _pressed(_CLOSE_TAB, parsed)
    yield _pressed(_CLOSE_WINDOW, parsed)


def _pressed(keys: tuple[str, ...], parsed: Parsed) -> str:
    """The action that presses keys, in the language of another action."""
    if parsed.language == "pyautogui":
        return f"pyautogui.hotkey({', '.join(map(repr, keys))})"
    if parsed.language == "computer_13":
        return json.dumps({"action_type": "HOTKEY", "parameters": {"keys": list(keys)}})
    return json.dumps({"action_type": "hotkey", "keys": keys_as_written(keys)})


def _scrolled_back(parsed: Parsed) -> str | None:
    """The same turns of the wheel the other way, if the action is nothing else."""
    wheels = [each for each in parsed.movements if isinstance(each, Wheel)]
    others = [each for each in parsed.movements if isinstance(each, (Press, KeyDown, KeyUp, Write))]
    if not wheels or others:
        return None
    if parsed.language == "pyautogui":
        # The wheel is where the pointer was left, so it turns there without being moved again.
        turns = [pair for each in reversed(wheels) for pair in (("hscroll", -each.dx), ("scroll", -each.dy)) if pair[1]]
        return "\n".join(f"pyautogui.{name}({amount})" for name, amount in turns) or None
    fields = parse_json_action(parsed.command())
    if parsed.language == "computer_13":
        said = {name: -amount for name, amount in fields["parameters"].items()}
        return json.dumps({**fields, "parameters": said})
    return json.dumps({**fields, "direction": _OTHER_WAY[fields["direction"]]})


def _dragged_back(parsed: Parsed) -> str | None:
    """From the end to the start, where the action says both."""
    if parsed.language != "indexed":
        return None
    fields = parse_json_action(parsed.command())
    if fields["action_type"] != "drag":
        return None
    ends = {"index": "to_index", "x": "to_x", "y": "to_y"}
    turned = {**ends, **{there: here for here, there in ends.items()}}
    return parse_indexed({turned.get(name, name): value for name, value in fields.items()}).command()
