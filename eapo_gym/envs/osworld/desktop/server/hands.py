"""Moves the pointer and presses keys, as X's test extension lets a program do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock
from typing import Any

from Xlib import X, display  # type: ignore[import-untyped]
from Xlib.ext import xtest  # type: ignore[import-untyped]

from . import keys
from .inputs import BUTTONS, InputError

_UP, _DOWN, _LEFT, _RIGHT = 4, 5, 6, 7
_STEP = 0.01
_TO_LEARN_KEYS = 0.1
"""What programs get to type what they were sent, before the keys that they were sent mean something else."""


class Hands:
    """A connection to X that moves its pointer and its keys. Safe to use from several threads."""

    def __init__(self) -> None:
        self._display = display.Display()
        self._root = self._display.screen().root
        self._keyboard = Keyboard(self._display)
        self._lock = Lock()

    @property
    def size(self) -> tuple[int, int]:
        screen = self._display.screen()
        return int(screen.width_in_pixels), int(screen.height_in_pixels)

    def pointer(self) -> tuple[int, int]:
        with self._lock:
            place = self._root.query_pointer()
            return int(place.root_x), int(place.root_y)

    def play(self, inputs: Sequence[dict[str, Any]]) -> None:
        """Play inputs that `check` has let pass, and return when X has them all."""
        with self._lock:
            for each in inputs:
                self._play(each)
            self._display.sync()

    def rest(self) -> None:
        """No button and no key is down after this, and the pointer is in the middle."""
        with self._lock:
            down = self._display.query_keymap()
            for code in range(8, 256):
                if down[code // 8] >> code % 8 & 1:
                    xtest.fake_input(self._display, X.KeyRelease, code)
            for button in BUTTONS.values():
                xtest.fake_input(self._display, X.ButtonRelease, button)
            width, height = self.size
            self._move(width // 2, height // 2, 0.0)
            self._display.sync()

    def _play(self, each: dict[str, Any]) -> None:
        do = each["do"]
        if do == "move":
            self._move(each["x"], each["y"], float(each.get("seconds", 0)))
        elif do in ("press", "release"):
            xtest.fake_input(
                self._display, X.ButtonPress if do == "press" else X.ButtonRelease, BUTTONS[each["button"]]
            )
        elif do == "wheel":
            self._turn(_UP if each["dy"] > 0 else _DOWN, abs(each["dy"]))
            self._turn(_RIGHT if each["dx"] > 0 else _LEFT, abs(each["dx"]))
        elif do in ("key_down", "key_up"):
            self._keyboard.key(each["key"], down=do == "key_down")
        elif do == "write":
            self._keyboard.write(each["text"])
        else:
            self._display.sync()
            time.sleep(each["seconds"])

    def _move(self, x: int, y: int, seconds: float) -> None:
        steps = int(seconds / _STEP)
        if steps > 1:
            place = self._root.query_pointer()
            left, top = place.root_x, place.root_y
            for step in range(1, steps):
                part = step / steps
                self._move(round(left + (x - left) * part), round(top + (y - top) * part), 0)
                self._display.sync()
                time.sleep(_STEP)
        xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)

    def _turn(self, button: int, clicks: int) -> None:
        for _ in range(clicks):
            xtest.fake_input(self._display, X.ButtonPress, button)
            xtest.fake_input(self._display, X.ButtonRelease, button)


class Keyboard:
    """Types by key codes. A character that no key has is given to one of the codes that no key uses.

    A code that was given away keeps its character until all codes have been used, as programs look up what a key means
    when they come to it, which is later than it was sent.
    """

    def __init__(self, connection: Any) -> None:
        self._display = connection
        first = connection.display.info.min_keycode
        rows = connection.get_keyboard_mapping(first, connection.display.info.max_keycode - first + 1)
        self._codes: dict[int, tuple[int, bool]] = {}
        self._spare: list[int] = []
        for code, symbols in enumerate(rows, first):
            plain, shifted = [*symbols, 0, 0][:2]
            if not any(symbols):
                self._spare.append(code)
            if plain:
                self._codes.setdefault(plain, (code, False))
            if shifted and shifted != plain:
                self._codes.setdefault(shifted, (code, True))
        self._given: list[tuple[int, int]] = []

    def key(self, name: str, *, down: bool) -> None:
        """One key goes down or up. A character that needs Shift gets it while it is down, as pyautogui does it."""
        symbol = keys.of_key(name)
        if symbol is None:
            raise InputError(f"Unknown key {name!r}.")
        code, shifted = self._code(symbol)
        if shifted and len(name) == 1:
            self._fake(keys.SHIFT, down=down)
        self._press(code, down=down)

    def write(self, text: str) -> None:
        text = text.replace("\r\n", "\n")
        # All codes are given out before the first key, so that programs learn the keyboard once.
        for character in dict.fromkeys(text):
            self._code(keys.symbol(character))
        for character in text:
            code, shifted = self._code(keys.symbol(character))
            if shifted:
                self._fake(keys.SHIFT, down=True)
            self._press(code, down=True)
            self._press(code, down=False)
            if shifted:
                self._fake(keys.SHIFT, down=False)

    def _fake(self, symbol: int, *, down: bool) -> None:
        self._press(self._codes[symbol][0], down=down)

    def _press(self, code: int, *, down: bool) -> None:
        xtest.fake_input(self._display, X.KeyPress if down else X.KeyRelease, code)

    def _code(self, symbol: int) -> tuple[int, bool]:
        found = self._codes.get(symbol)
        return found if found is not None else (self._give(symbol), False)

    def _give(self, symbol: int) -> int:
        if self._spare:
            code = self._spare.pop()
        else:
            self._display.sync()
            time.sleep(_TO_LEARN_KEYS)
            for _, old in self._given:
                del self._codes[old]
            self._spare = [code for code, _ in self._given]
            self._given = []
            code = self._spare.pop()
        # the same for all of the first levels, so that Shift and Caps Lock do not change it
        self._display.change_keyboard_mapping(code, [[symbol] * 4])
        self._codes[symbol] = (code, False)
        self._given.append((code, symbol))
        return code
