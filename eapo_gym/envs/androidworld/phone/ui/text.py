"""The phone's letters: Pillow's own font, so that a screen is the same on every machine."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from unicodedata import combining, normalize

from eapo_gym.errors import MissingExtra

try:
    from PIL import ImageFont
except ImportError as error:
    raise MissingExtra.of("The embedded phone", "gui") from error

ELLIPSIS = "…"

_NONE = "\uffff"
"""Drawn as the box that stands for every letter that the font lacks."""

_BOX = "\ufffd"
_UNSEEN = "\u200b\u200c\u200d\ufe0e\ufe0f"
_ALIKE = dict(zip("•–—−×÷→←øØłŁđı✓", "·---x:><oOlLdiv", strict=True)) | {
    "ß": "ss",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "€": "EUR",
    "£": "GBP",
}
"""What stands for letters that have no simpler form."""


@lru_cache(maxsize=64)
def font(pixels: int) -> Any:
    """The font at a size. Its letters are set one after the other, which does not depend on what else is installed."""
    made = ImageFont.load_default(pixels)
    if not isinstance(made, ImageFont.FreeTypeFont):
        raise MissingExtra("This Pillow has no FreeType, which draws the phone's text: install Pillow's own wheel.")
    return made.font_variant(layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16_384)
def drawable(text: str) -> str:
    """The text in letters that the font has: without accents where it knows none, and a box for what it cannot draw.

    Only the picture is poorer for it: the elements of the screen tell the text as it is.
    """
    if text.isascii():
        return text
    return "".join(letter if letter.isascii() else _drawn(letter) for letter in text)


@lru_cache(maxsize=4_096)
def _drawn(letter: str) -> str:
    if _has(letter):
        return letter
    known = _ALIKE.get(letter) or "".join(each for each in normalize("NFKD", letter) if not combining(each))
    return known if known and all(map(_has, known)) else "" if combining(letter) or letter in _UNSEEN else _BOX


@lru_cache(maxsize=4_096)
def _has(letter: str) -> bool:
    return letter.isspace() or bytes(font(32).getmask(letter)) != bytes(font(32).getmask(_NONE))


@lru_cache(maxsize=65_536)
def width_of(text: str, pixels: int) -> int:
    return int(font(pixels).getlength(text) + 0.5)


def line_height(pixels: int) -> int:
    return round(pixels * 1.3)


@lru_cache(maxsize=16_384)
def lines_of(text: str, pixels: int, width: int, most: int = 0) -> tuple[str, ...]:
    """The text in lines that fit, broken between words where that is possible, in letters that can be drawn."""
    text = drawable(text)
    found: list[str] = []
    for paragraph in text.split("\n"):
        found.extend(_broken(paragraph, pixels, width))
        if most and len(found) > most:
            break
    if most and len(found) > most:
        return (*found[: most - 1], _cut(found[most - 1] + ELLIPSIS, pixels, width))
    return tuple(found)


def _broken(paragraph: str, pixels: int, width: int) -> list[str]:
    if width_of(paragraph, pixels) <= width:
        return [paragraph]
    lines: list[str] = []
    line = ""
    for word in paragraph.split(" "):
        tried = f"{line} {word}" if line else word
        if width_of(tried, pixels) <= width:
            line = tried
            continue
        if line:
            lines.append(line)
        while width_of(word, pixels) > width and len(word) > 1:
            head = _fitting(word, pixels, width)
            lines.append(word[:head])
            word = word[head:]
        line = word
    return [*lines, line]


def _fitting(word: str, pixels: int, width: int) -> int:
    """How many of its letters fit, one at least."""
    low, high = 1, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        if width_of(word[:middle], pixels) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _cut(line: str, pixels: int, width: int) -> str:
    """The line with its end replaced by an ellipsis, so that it fits."""
    while len(line) > 1 and width_of(line, pixels) > width:
        line = line[:-2].rstrip() + ELLIPSIS
    return line
