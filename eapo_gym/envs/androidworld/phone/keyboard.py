"""The keyboard on the screen."""

from __future__ import annotations

from dataclasses import replace

from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import column, row

PACKAGE = "com.google.android.inputmethod.latin"
HEIGHT = 272
"""In dp."""

SHIFT, LETTERS, SYMBOLS, BACKSPACE, ENTER = "shift", "letters", "symbols", "backspace", "enter"
_ROWS = {
    LETTERS: ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    SHIFT: ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"),
    SYMBOLS: ("1234567890", "@#$_&-+()/", "*\"':;!?%="),
}


def keyboard(page: str) -> View:
    """The keys; each one hands on ("key", what it types or does)."""
    first, second, third = _ROWS[page]
    shift = _named("up", "Shift", LETTERS if page == SHIFT else SHIFT, grow=3)
    other = _key("?123" if page != SYMBOLS else "ABC", ("page", SYMBOLS if page != SYMBOLS else LETTERS), grow=3)
    return column(
        row(*map(_letter, first), gap=4, grow=1),
        row(
            *map(_letter, second),
            gap=4,
            grow=1,
            pad=(18 if len(second) == 9 else 0, 0, 18 if len(second) == 9 else 0, 0),
        ),
        row(
            *([shift] if page != SYMBOLS else []),
            *map(_letter, third),
            _named("backspace", "Delete", BACKSPACE, grow=3),
            gap=4,
            grow=1,
        ),
        row(
            other,
            _letter(","),
            replace(_letter(" "), grow=10, desc="Space"),
            _letter("."),
            replace(
                _named("check", "Enter", ENTER, grow=3),
                look=Look(fill="primary", round=6, icon="check", color="on_primary"),
            ),
            gap=4,
            grow=1,
        ),
        gap=8,
        pad=(4, 8, 4, 8),
        fill="bar",
    )


def _letter(letter: str) -> View:
    return _key(letter, ("key", letter))


def _key(said: str, tap: Event, *, grow: int = 2) -> View:
    return View(
        kind="android.inputmethodservice.Keyboard$Key",
        text=said.strip(),
        desc=said,
        tap=tap,
        grow=grow,
        along="center",
        look=Look(fill="page", round=6, size=18),
    )


def _named(picture: str, desc: str, does: str, *, grow: int) -> View:
    tap = ("page", does) if does in _ROWS else ("key", does)
    return View(
        kind="android.inputmethodservice.Keyboard$Key",
        desc=desc,
        tap=tap,
        grow=grow,
        look=Look(fill="card", round=6, icon=picture, size=20, color="text"),
    )
