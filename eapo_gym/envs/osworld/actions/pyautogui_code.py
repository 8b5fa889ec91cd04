"""pyautogui code: which functions there are, with which parameters, and what hands do for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from eapo_gym.envs.osworld.actions.computer_13 import MOST_SCROLLED
from eapo_gym.envs.osworld.actions.keys import key_named, keys_at_once
from eapo_gym.envs.osworld.actions.movements import Movement, checked, clicks, drag, held, typed
from eapo_gym.envs.osworld.actions.parsed import Parsed
from eapo_gym.envs.osworld.actions.source import Call, Literal, read_calls
from eapo_gym.envs.osworld.actions.values import MOST_PIXELS, button, seconds, shown, whole_number
from eapo_gym.envs.osworld.inputs import KeyDown, KeyUp, Move, MoveBy, Pause, Press, Release, Wheel
from eapo_gym.errors import ActionError

_MOST_CLICKS = 10
_MOST_PRESSES = 100

EXAMPLES = (
    "pyautogui.click(960, 540)",
    "pyautogui.click(x=960, y=540, clicks=2, button='left')",
    "pyautogui.leftClick(960, 540)",
    "pyautogui.rightClick(960, 540)",
    "pyautogui.middleClick(960, 540)",
    "pyautogui.doubleClick(960, 540)",
    "pyautogui.tripleClick(960, 540)",
    "pyautogui.moveTo(960, 540)",
    "pyautogui.moveRel(0, 50)",
    "pyautogui.move(0, 50)",
    "pyautogui.moveTo(100, 200)\npyautogui.dragTo(300, 200, duration=0.5, button='left')",
    "pyautogui.drag(200, 0, duration=0.5)",
    "pyautogui.dragRel(200, 0, duration=0.5)",
    "pyautogui.mouseDown(button='left')",
    "pyautogui.mouseUp(button='left')",
    "pyautogui.scroll(-5)",
    "pyautogui.vscroll(-5)",
    "pyautogui.hscroll(5)",
    "pyautogui.write('hello')",
    "pyautogui.typewrite('hello')",
    "pyautogui.press('enter')",
    "pyautogui.press(['down', 'down', 'enter'])",
    "pyautogui.press('tab', presses=3)",
    "pyautogui.keyDown('shift')",
    "pyautogui.keyUp('shift')",
    "pyautogui.hotkey('ctrl', 's')",
    "pyautogui.shortcut('ctrl', 's')",
    "pyautogui.click(960, 540)\ntime.sleep(0.5)\npyautogui.write('hello')\npyautogui.press('enter')",
    "pyautogui.sleep(0.5)",
)

Said: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[str, Literal, str], Any]
"""Checks the value of a parameter: its name, what is given, and an example of the call. None leaves it out."""


# What parameters may be


def _number(lowest: int, highest: int) -> Reader:
    def read(name: str, value: Literal, example: str) -> int:
        if isinstance(value, str):
            raise ActionError(f"{name}: expected a number, got {shown(value)}: as in {example}.", example)
        return whole_number(name, value, lowest, highest, example)

    return read


def _seconds(name: str, value: Literal, example: str) -> float:
    if isinstance(value, str):
        raise ActionError(f"{name}: expected seconds, got {shown(value)}: as in {example}.", example)
    return seconds(name, value, example)


def _button(name: str, value: Literal, example: str) -> str:
    return button(value, example)


def _truth(name: str, value: Literal, example: str) -> bool:
    if not isinstance(value, bool):
        raise ActionError(f"{name}: expected True or False, got {shown(value)}.", example)
    return value


def _key(name: str, value: Literal, example: str) -> str:
    return key_named(value, example)


def _key_or_keys(name: str, value: Literal, example: str) -> str | list[str]:
    if not isinstance(value, list):
        return key_named(value, example)
    if not 1 <= len(value) <= _MOST_PRESSES:
        raise ActionError(f"{name}: expected 1 to {_MOST_PRESSES} keys, got {len(value)}: as in {example}.", example)
    return [key_named(key, example) for key in value]


def _text_or_keys(name: str, value: Literal, example: str) -> str | list[str]:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise ActionError(f"{name}: expected a text, got {shown(value)}: as in {example}.", example)
    return _key_or_keys(name, value, example)


def _keys_at_once(name: str, value: Literal, example: str) -> list[str]:
    assert isinstance(value, list)
    return list(keys_at_once(value, example))


def _without_meaning(name: str, value: Literal, example: str) -> None:
    """The machine types as fast as it is understood."""
    _seconds(name, value, example)


def _not_here(name: str, value: Literal, example: str) -> None:
    raise ActionError(f"{name} has no meaning here: leave it out, as in {example}.", example)


# What hands do


def _to(said: Said) -> Move | None:
    return Move(said["x"], said["y"], said.get("duration", 0.0)) if "x" in said else None


def _by(said: Said) -> MoveBy:
    return MoveBy(said.get("xOffset", 0), said.get("yOffset", 0), said.get("duration", 0.0))


def _clicking(name: str = "left", times: int = 1) -> Callable[[Said, str], tuple[Movement, ...]]:
    def move(said: Said, example: str) -> tuple[Movement, ...]:
        return clicks(_to(said), said.get("button", name), said.get("clicks", times), said.get("interval", 0.0))

    return move


def _moving(said: Said, example: str) -> tuple[Movement, ...]:
    return (_to(said) or _by(said),)


def _dragging(said: Said, example: str) -> tuple[Movement, ...]:
    goal = _to(said) or _by(said)
    if isinstance(goal, MoveBy) and not (goal.dx or goal.dy):
        return ()
    return drag(goal, said.get("button", "left")) if said.get("mouseDownUp", True) else (goal,)


def _pressing_down(said: Said, example: str) -> tuple[Movement, ...]:
    return (*filter(None, [_to(said)]), Press(said.get("button", "left")))


def _releasing(said: Said, example: str) -> tuple[Movement, ...]:
    return (*filter(None, [_to(said)]), Release(said.get("button", "left")))


def _scrolling(said: Said, example: str) -> tuple[Movement, ...]:
    return (*filter(None, [_to(said)]), Wheel(dy=said["clicks"]))


def _scrolling_sideways(said: Said, example: str) -> tuple[Movement, ...]:
    return (*filter(None, [_to(said)]), Wheel(dx=said["clicks"]))


def _typing(said: Said, example: str) -> tuple[Movement, ...]:
    message = said["message"]
    return typed(message, example) if isinstance(message, str) else _pressing({"keys": message}, example)


def _pressing(said: Said, example: str) -> tuple[Movement, ...]:
    keys = [said["keys"]] if isinstance(said["keys"], str) else said["keys"]
    once = tuple(movement for key in keys for movement in held((key,)))
    between = (Pause(said["interval"]),) if said.get("interval") else ()
    return once + (between + once) * (int(said.get("presses", 1)) - 1)


# The functions


@dataclass(frozen=True, slots=True)
class Function:
    """What pyautogui calls its parameters, in their order, and what hands do when it is called."""

    movements: Callable[[Said, str], tuple[Movement, ...]]
    parameters: Mapping[str, Reader]
    needed: tuple[str, ...] = ()


_PLACE: Mapping[str, Reader] = {"x": _number(0, MOST_PIXELS), "y": _number(0, MOST_PIXELS)}
_OFFSET: Mapping[str, Reader] = {
    "xOffset": _number(-MOST_PIXELS, MOST_PIXELS),
    "yOffset": _number(-MOST_PIXELS, MOST_PIXELS),
}
_LAST: Mapping[str, Reader] = {"logScreenshot": _not_here, "_pause": _not_here}
_TIMED: Mapping[str, Reader] = {"duration": _seconds, "tween": _not_here}
_CLICKED: Mapping[str, Reader] = {**_PLACE, "interval": _seconds, **_TIMED, **_LAST}
_CLICKED_OFTEN: Mapping[str, Reader] = {**_PLACE, "interval": _seconds, "button": _button, **_TIMED, **_LAST}
_DRAGGED: Mapping[str, Reader] = {**_TIMED, "button": _button, **_LAST, "mouseDownUp": _truth}
_HELD: Mapping[str, Reader] = {**_PLACE, "button": _button, **_TIMED, **_LAST}
_SCROLLED: Mapping[str, Reader] = {"clicks": _number(-MOST_SCROLLED, MOST_SCROLLED), **_PLACE, **_LAST}
_TYPED: Mapping[str, Reader] = {"message": _text_or_keys, "interval": _without_meaning, **_LAST}

_move_by = Function(_moving, {**_OFFSET, **_TIMED, **_LAST})
_drag_by = Function(_dragging, {**_OFFSET, **_DRAGGED})
_scroll = Function(_scrolling, _SCROLLED, needed=("clicks",))
_write = Function(_typing, _TYPED, needed=("message",))
_hotkey = Function(
    lambda said, example: held(said["keys"], said.get("interval", 0.0)),
    {"keys": _keys_at_once, "interval": _seconds, **_LAST},
)

FUNCTIONS: Mapping[str, Function] = {
    "click": Function(
        _clicking(),
        {**_PLACE, "clicks": _number(1, _MOST_CLICKS), "interval": _seconds, "button": _button, **_TIMED, **_LAST},
    ),
    "leftClick": Function(_clicking(), _CLICKED),
    "rightClick": Function(_clicking("right"), _CLICKED),
    "middleClick": Function(_clicking("middle"), _CLICKED),
    "doubleClick": Function(_clicking(times=2), _CLICKED_OFTEN),
    "tripleClick": Function(_clicking(times=3), _CLICKED_OFTEN),
    "moveTo": Function(_moving, {**_PLACE, **_TIMED, **_LAST}, needed=("x",)),
    "moveRel": _move_by,
    "move": _move_by,
    "dragTo": Function(_dragging, {**_PLACE, **_DRAGGED}, needed=("x",)),
    "dragRel": _drag_by,
    "drag": _drag_by,
    "mouseDown": Function(_pressing_down, _HELD),
    "mouseUp": Function(_releasing, _HELD),
    "scroll": _scroll,
    "vscroll": _scroll,
    "hscroll": Function(_scrolling_sideways, _SCROLLED, needed=("clicks",)),
    "write": _write,
    "typewrite": _write,
    "press": Function(
        _pressing,
        {"keys": _key_or_keys, "presses": _number(1, _MOST_PRESSES), "interval": _seconds, **_LAST},
        needed=("keys",),
    ),
    "keyDown": Function(lambda said, example: (KeyDown(said["key"]),), {"key": _key, **_LAST}, needed=("key",)),
    "keyUp": Function(lambda said, example: (KeyUp(said["key"]),), {"key": _key, **_LAST}, needed=("key",)),
    "hotkey": _hotkey,
    "shortcut": _hotkey,
    "sleep": Function(lambda said, example: (Pause(said["seconds"]),), {"seconds": _seconds}, needed=("seconds",)),
}

_POSITIONAL = ("x", "y", "xOffset", "yOffset", "keys", "key", "message", "seconds")


def parse_code(source: str) -> Parsed:
    """The action that a program is; raises `ActionError` with what is wrong and a right one."""
    lines: list[str] = []
    movements: list[Movement] = []
    for call in read_calls(source):
        name, said, example = _understood(call)
        lines.append(_written(name, said))
        movements += FUNCTIONS[name].movements(said, example)
        checked(movements, None, example)
    if not lines:
        raise ActionError(f"The code does nothing: expected a call such as {EXAMPLES[0]}.", EXAMPLES[0])
    return Parsed("inputs", "\n".join(lines), "pyautogui", tuple(movements))


def _understood(call: Call) -> tuple[str, dict[str, Any], str]:
    """The function, its arguments by name, and an example of it."""
    name = call.function
    if call.module == "time" and name != "sleep":
        example = "time.sleep(0.5)"
        raise ActionError(f"time.{name:.60} is no action: expected one such as {example}.", example)
    example = next((each for each in EXAMPLES if f"pyautogui.{name}(" in each), EXAMPLES[0])
    if name not in FUNCTIONS:
        close = get_close_matches(name[:40], FUNCTIONS, n=1)
        meant = f"did you mean pyautogui.{close[0]}?" if close else f"expected one of {', '.join(FUNCTIONS)}."
        raise ActionError(f"pyautogui.{name:.60} is no action: {meant}", example)
    function = FUNCTIONS[name]
    given = _by_name(name, function, call, example)
    missing = next((each for each in function.needed if each not in given), None)
    if missing is not None:
        raise ActionError(f"pyautogui.{name} needs {missing}: write it like {example}.", example)
    if ("x" in given) != ("y" in given):
        raise ActionError(f"pyautogui.{name} needs both x and y, or neither: write it like {example}.", example)
    said = {each: read(each, given[each], example) for each, read in function.parameters.items() if each in given}
    return name, {each: value for each, value in said.items() if value is not None}, example


def _by_name(name: str, function: Function, call: Call, example: str) -> dict[str, Literal]:
    """The arguments that are given, by the names that pyautogui has for them."""
    arguments = list(call.arguments)
    if function is _hotkey:
        arguments = [arguments[0] if len(arguments) == 1 and isinstance(arguments[0], list) else arguments]
    if len(arguments) > len(function.parameters):
        raise ActionError(
            f"pyautogui.{name} got {len(arguments)} arguments, which are too many: write it like {example}.", example
        )
    given = dict(zip(function.parameters, arguments, strict=False))
    for parameter, value in call.named.items():
        if parameter not in function.parameters or parameter in given:
            raise ActionError(
                f"pyautogui.{name} has no place for {parameter!r:.60} here: write it like {example}.", example
            )
        given[parameter] = value
    for first, second in (("x", "y"), ("xOffset", "yOffset")):
        pair = given.get(first)
        if isinstance(pair, list) and len(pair) == 2 and given.get(second) is None:
            given[first], given[second] = pair
    return {parameter: value for parameter, value in given.items() if value is not None}


def _written(name: str, said: Said) -> str:
    """The call, in the one way in which we write it."""
    in_order = True
    arguments = []
    for number, parameter in enumerate(FUNCTIONS[name].parameters):
        if parameter not in said:
            in_order = False
        elif FUNCTIONS[name] is _hotkey and parameter == "keys":
            arguments += [repr(key) for key in said["keys"]]
        elif in_order and (number == 0 or parameter in _POSITIONAL):
            arguments.append(repr(said[parameter]))
        else:
            arguments.append(f"{parameter}={said[parameter]!r}")
    return f"{'time' if name == 'sleep' else 'pyautogui'}.{name}({', '.join(arguments)})"
