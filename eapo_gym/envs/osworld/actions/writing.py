"""Inputs as a Python program, for machines whose hands are pyautogui.

It is made of numbers, buttons and names of keys that were checked, and of texts as `ascii` writes them: nothing that a
model wrote stands in it as code. What pyautogui gets wrong is done otherwise: it types ">" for "<" on many keyboards,
and leaves out what is not ASCII. Such characters are given to keys that the keyboard has no use for, as other tools do:
the clipboard, which tasks are about, is left alone, and no program has to understand a shortcut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from eapo_gym.envs.osworld.inputs import Input, KeyDown, KeyUp, Move, MoveBy, Press, Release, Wheel, Write

PRELUDE = """\
import time
import pyautogui
pyautogui.FAILSAFE = False
pyautogui.PAUSE = 0.02
"""
"""A corner of the screen is a place like any other, and the tenth of a second after each movement is left out."""

TYPE_TEXT = """\
def type_text(text):
    from Xlib import X
    from Xlib.display import Display
    from Xlib.ext.xtest import fake_input
    display = Display()
    first, last = display.display.info.min_keycode, display.display.info.max_keycode
    rows = display.get_keyboard_mapping(first, last - first + 1)
    spare = [first + number for number, row in enumerate(rows) if not any(row)]
    if not spare:
        raise SystemExit('Every key of the keyboard is in use: none is left for characters that it does not have.')
    def give(key, symbol):
        display.change_keyboard_mapping(key, [[symbol] * len(rows[0])])
    while text:
        keys = {}
        count = 0
        for char in text:
            if (char == '<' or char > '~') and char not in keys:
                if len(keys) == len(spare):
                    break
                keys[char] = spare[len(keys)]
                give(keys[char], ord(char) if ord(char) < 256 else 0x1000000 + ord(char))
            count += 1
        display.sync()
        time.sleep(0.3)
        for char in text[:count]:
            if char in keys:
                fake_input(display, X.KeyPress, keys[char])
                fake_input(display, X.KeyRelease, keys[char])
                display.sync()
            else:
                pyautogui.write(char, _pause=False)
        time.sleep(0.5 + 0.002 * count)
        for key in keys.values():
            give(key, 0)
        display.sync()
        text = text[count:]
    display.close()
"""
"""The machine's own function for a text with characters that pyautogui does not type."""

_TYPED_RIGHTLY = re.compile(r"[\n\t -;=-~]*")


def to_pyautogui(inputs: Iterable[Input]) -> str:
    """A program that does what the inputs say, on a Linux machine with pyautogui."""
    lines = [line for each in inputs for line in _lines(each)]
    needs_function = any(line.startswith("type_text(") for line in lines)
    return PRELUDE + (TYPE_TEXT if needs_function else "") + "".join(f"{line}\n" for line in lines)


def _lines(each: Input) -> Iterator[str]:
    if isinstance(each, Move):
        yield f"pyautogui.moveTo({each.x}, {each.y}{_duration(each.seconds)})"
    elif isinstance(each, MoveBy):
        yield f"pyautogui.move({each.dx}, {each.dy}{_duration(each.seconds)})"
    elif isinstance(each, Press):
        yield f"pyautogui.mouseDown(button={each.button!r})"
    elif isinstance(each, Release):
        yield f"pyautogui.mouseUp(button={each.button!r})"
    elif isinstance(each, Wheel):
        if each.dx:
            yield f"pyautogui.hscroll({each.dx})"
        if each.dy:
            yield f"pyautogui.scroll({each.dy})"
    elif isinstance(each, KeyDown):
        yield from ["pyautogui.keyDown('shift')"] if each.key == "<" else []
        yield f"pyautogui.keyDown({_key(each.key)})"
    elif isinstance(each, KeyUp):
        yield f"pyautogui.keyUp({_key(each.key)})"
        yield from ["pyautogui.keyUp('shift')"] if each.key == "<" else []
    elif isinstance(each, Write):
        function = "pyautogui.write" if _TYPED_RIGHTLY.fullmatch(each.text) else "type_text"
        yield f"{function}({each.text!a})"
    else:
        yield f"time.sleep({each.seconds!r})"


def _key(key: str) -> str:
    return ascii("," if key == "<" else key)


def _duration(seconds: float) -> str:
    return f", duration={seconds!r}" if seconds else ""
