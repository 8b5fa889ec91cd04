"""Where letters stand in a field: which one a finger points at, and where the next one will be."""

from __future__ import annotations

from collections.abc import Sequence

from eapo_gym.envs.androidworld.phone.ui.layout import Box, Placed, px
from eapo_gym.envs.androidworld.phone.ui.text import line_height, width_of
from eapo_gym.envs.androidworld.phone.ui.view import View


def first_line(view: View, lines: int, top: int, bottom: int) -> int:
    """Where the text begins that stands between top and bottom: a field of several lines is written from above."""
    if view.field and view.look.lines != 1:
        return top
    return top + max(0, (bottom - top - line_height(px(view.look.size)) * lines) // 2)


def letter_at(placed: Placed, x: int, y: int) -> int:
    """Before which letter of a field a finger points; beyond the end of a line, behind its last one."""
    view = placed.view
    if not view.text or not placed.lines:
        return 0
    size, top = _size_and_top(placed)
    number = min(max((y - top) // line_height(size), 0), len(placed.lines) - 1)
    line = placed.lines[number]
    start = _starts(view.text, placed.lines)[number]
    within = x - placed.box[0] - px(view.pad[0])
    low, high = 0, len(line)
    while low < high:
        middle = (low + high) // 2
        # A finger on the left half of a letter points before it.
        if (width_of(line[:middle], size) + width_of(line[: middle + 1], size)) / 2 <= within:
            low = middle + 1
        else:
            high = middle
    return min(start + low, len(view.text))


def caret(placed: Placed, letter: int) -> Box:
    """The box of the line that is drawn before a letter."""
    view = placed.view
    size, top = _size_and_top(placed)
    number, within = 0, ""
    if view.text and placed.lines:
        starts = _starts(view.text, placed.lines)
        number = max(index for index, start in enumerate(starts) if start <= letter or index == 0)
        within = placed.lines[number][: letter - starts[number]]
    left = placed.box[0] + px(view.pad[0]) + (width_of(within, size) if within else 0)
    y = top + number * line_height(size)
    return left, y, left + px(2), y + line_height(size)


def _size_and_top(placed: Placed) -> tuple[int, int]:
    view = placed.view
    _, top, _, bottom = placed.box
    return px(view.look.size), first_line(
        view, max(len(placed.lines), 1), top + px(view.pad[1]), bottom - px(view.pad[3])
    )


def _starts(text: str, lines: Sequence[str]) -> list[int]:
    """With which letter each line begins: the blank or the new line between two of them stands in neither."""
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line)
        if at < len(text) and text[at] in " \n":
            at += 1
    return starts
