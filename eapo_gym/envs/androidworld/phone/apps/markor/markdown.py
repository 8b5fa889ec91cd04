"""Notes as they look when they are read: as much of Markdown as notes have."""

from __future__ import annotations

import re
from dataclasses import replace

from eapo_gym.envs.androidworld.phone.ui.view import Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import checkbox, column, divider, row, space, text

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_TASK = re.compile(r"\s*[-*+]\s+\[([ xX])\]\s+(.*)")
_POINT = re.compile(r"(\s*)(?:[-*+]|(\d+)[.)])\s+(.*)")
_EMPHASIS = re.compile(r"(\*\*|\*|`|~~|(?<!\w)__?)(?=\S)(.+?)(?<=\S)\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")

_SIZES = (26, 22, 20, 18, 17, 16)


def rendered(written: str, size: int) -> list[View]:
    """A view for every line."""
    views: list[View] = []
    is_code = False
    for line in written.splitlines():
        if line.strip().startswith("```"):
            is_code = not is_code
        elif is_code:
            views.append(text(line, size=size - 2, mono=True, fill="card", pad=(8, 2, 8, 2)))
        else:
            views.append(_line(line, size))
    return views


def _line(line: str, size: int) -> View:
    if not line.strip():
        return space(height=10)
    if heading := _HEADING.fullmatch(line):
        return text(plain(heading[2]), size=_SIZES[len(heading[1]) - 1], bold=True, pad=(0, 10, 0, 4))
    if task := _TASK.fullmatch(line):
        box = replace(checkbox(task[1] != " ", desc=plain(task[2])), enabled=False)
        return row(box, text(plain(task[2]), size=size, grow=1, across="center"))
    if point := _POINT.fullmatch(line):
        dot = View(width=6, height=6, across="center", look=Look(fill="text", round=3))
        mark = replace(text(f"{point[2]}.", size=size), width=20) if point[2] else row(dot, space(width=14))
        return row(
            mark,
            text(plain(point[3]), size=size, grow=1),
            gap=4,
            pad=(8 + 8 * min(len(point[1]), 8), 2, 0, 2),
        )
    if line.startswith(">"):
        return column(text(plain(line[1:].strip()), size=size, color="faint"), fill="card", pad=(12, 6, 8, 6))
    if len(line.strip()) > 2 and not line.strip().strip("-*_"):
        return column(divider(), pad=(0, 8, 0, 8))
    return text(plain(line), size=size, pad=(0, 2, 0, 2))


def plain(words: str) -> str:
    """Without the signs that only say how the words look."""
    words = _LINK.sub(r"\1", words)
    return _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", words))
