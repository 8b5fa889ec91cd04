"""The phone's letters: Pillow's own font, so that a screen is the same on every machine."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from PIL import ImageFont

from eapo_gym.errors import MissingExtra

ELLIPSIS = "…"


@lru_cache(maxsize=64)
def font(pixels: int) -> Any:
    """The font at a size. Its letters are set one after the other, which does not depend on what else is installed."""
    made = ImageFont.load_default(pixels)
    if not isinstance(made, ImageFont.FreeTypeFont):
        raise MissingExtra("This Pillow has no FreeType, which draws the phone's text: install Pillow's own wheel.")
    return made.font_variant(layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=65_536)
def width_of(text: str, pixels: int) -> int:
    return int(font(pixels).getlength(text) + 0.5)


def line_height(pixels: int) -> int:
    return round(pixels * 1.3)


@lru_cache(maxsize=16_384)
def lines_of(text: str, pixels: int, width: int, most: int = 0) -> tuple[str, ...]:
    """The text in lines that fit, broken between words where that is possible."""
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
