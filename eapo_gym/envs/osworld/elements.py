"""What an agent can see on a desktop and point to, numbered: window by window, each in reading order.

`windows.py` says which windows there are and which is in front, `gathering.py` what of one counts as an element: a
control, or a text that no control says already.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eapo_gym.envs.osworld.gathering import EDITORS, Found, gather
from eapo_gym.envs.osworld.tree import Box, Node
from eapo_gym.envs.osworld.windows import Window, windows_of

MOST_ELEMENTS = 600
MOST_CELLS = 300
"""Of a spreadsheet's cells, empty ones aside, which are never listed unless they are selected."""

_LONGEST = 300
"""Characters of one text within a line."""

_CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True, slots=True)
class Element:
    """One thing that can be pointed to by its number."""

    index: int
    bounds: Box
    """The part of it that is on the screen."""

    kind: str
    text: str = ""
    """What stands in it."""

    name: str = ""
    """What it is called, such as the place of a cell or the label of an entry."""

    window: str = ""
    editable: bool = False
    checkable: bool = False
    checked: bool = False
    expandable: bool = False
    expanded: bool = False
    enabled: bool = True
    focused: bool = False
    selected: bool = False
    in_bar: bool = False
    """In a tool bar or a status bar, which follow what is done elsewhere, and follow late."""

    @property
    def center(self) -> tuple[int, int]:
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2

    def line(self) -> str:
        """In a line of text: number, kind, what it says, and what it is."""
        parts = [f"{self.index}: {self.kind}"]
        if self.text:
            parts.append(f'"{_one_line(self.text)}"')
        if self.name and self.name != self.text:
            # The name of what has a content is no content; else an empty entry would seem to hold its label.
            held = self.text or self.editable
            parts.append(f"({_one_line(self.name)})" if held else f'"{_one_line(self.name)}"')
        states = [name for name in ("focused", "selected") if getattr(self, name)]
        if self.checkable:
            states.append("on" if self.checked else "off")
        if self.expandable:
            states.append("expanded" if self.expanded else "collapsed")
        if self.editable and self.kind not in EDITORS:
            states.append("editable")
        if not self.enabled:
            states.append("disabled")
        if states:
            parts.append(f"[{', '.join(states)}]")
        return " ".join(parts)

    def info(self) -> dict[str, Any]:
        """As `info["elements"]` has it."""
        return {
            "index": self.index,
            "bounds": self.bounds,
            "text": self.text or self.name,
            "kind": self.kind,
            "editable": self.editable,
            "focused": self.focused,
        }


@dataclass(frozen=True, slots=True)
class Listing:
    """All elements of a screen, with what has to be said besides."""

    front: str
    """The title of the window in front; empty where there is none."""

    elements: tuple[Element, ...]
    notes: tuple[str, ...] = ()
    """What is not listed, in sentences."""

    def as_text(self) -> str:
        lines = [f"In front: {self.front or 'nothing'}"]
        window = self.front
        for element in self.elements:
            if element.window != window:
                window = element.window
                lines.append(f"Behind: {window}")
            lines.append(element.line())
        return "\n".join((*lines, *self.notes))


def elements_of(tree: Node, size: tuple[int, int]) -> Listing:
    """The elements of a screen of that size."""
    screen = (0, 0, *size)
    windows = windows_of(tree)
    found: list[tuple[Window, Found]] = []
    covers: list[Box] = []
    notes: list[str] = []
    for window in windows:
        if window.blocked:
            notes.append(f"Behind, and waiting for the dialog: {_one_line(window.title)}")
            continue
        found += [(window, each) for each in gather(window.node, screen) if not _is_covered(each.box, covers)]
        if window.box is not None and window.active:
            covers.append(window.box)
    kept, left_out = _within_limits(found)
    elements = tuple(_element(index, window, each) for index, (window, each) in enumerate(kept))
    front = windows[0].title if windows and windows[0].active else ""
    return Listing(front, elements, (*notes, *left_out))


def _element(index: int, window: Window, found: Found) -> Element:
    states = found.node.states
    return Element(
        index=index,
        bounds=found.box,
        kind=found.kind,
        text=found.text,
        name=found.name,
        window=window.title,
        editable="editable" in states or found.kind in EDITORS,
        checkable=found.checkable,
        checked=bool(states & {"checked", "pressed"}),
        expandable="expandable" in states,
        expanded="expanded" in states,
        enabled=not found.is_control or bool(states & {"enabled", "sensitive"}),
        focused="focused" in states,
        selected="selected" in states,
        in_bar=found.in_bar,
    )


def _is_covered(box: Box, covers: Iterable[Box]) -> bool:
    """Whether a click on its middle would go to something else."""
    x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
    return any(left <= x < right and top <= y < bottom for left, top, right, bottom in covers)


def _within_limits(found: Sequence[tuple[Window, Found]]) -> tuple[list[tuple[Window, Found]], list[str]]:
    """What is listed, and sentences about what is not."""
    kept: list[tuple[Window, Found]] = []
    empty: list[str] = []
    count: Counter[str] = Counter()
    for window, each in found:
        if each.in_sheet and not each.text and not each.node.states & {"selected", "focused"}:
            empty.append(each.name)
        elif each.in_sheet and count["cells"] >= MOST_CELLS:
            count["more cells"] += 1
        elif len(kept) >= MOST_ELEMENTS:
            count["more elements"] += 1
        else:
            kept.append((window, each))
            count["cells"] += each.in_sheet
    notes = [f"{count[what]} {what} are on the screen but not listed." for what in ("more cells", "more elements")]
    notes = [note for note in notes if not note.startswith("0 ")]
    if empty:
        notes.append(f"{len(empty)} empty cells{_range(empty)} are not listed.")
    return kept, notes


def _range(cells: Iterable[str]) -> str:
    """Between which corners cells lie, by their names; nothing where they are called otherwise."""
    places = [(found[1], int(found[2])) for cell in cells if (found := _CELL.fullmatch(cell))]
    if not places:
        return ""
    columns = sorted({column for column, _ in places}, key=lambda column: (len(column), column))
    rows = [row for _, row in places]
    return f" between {columns[0]}{min(rows)} and {columns[-1]}{max(rows)}"


def _one_line(text: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text) - _LONGEST} more characters)"
    return short.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
