"""Tables that have more cells than anybody could ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from .interfaces import ACCESSIBLE, COMPONENT, NOTHING, ON_SCREEN, TABLE, Arguments, Reference
from .nodes import Box, Node
from .office import moved, wrong_by

MOST_CELLS = 4_000


class Visit(Protocol):
    """What asks the programs."""

    is_blank: Callable[[Box], bool]

    def ask(
        self, reference: Reference, interface: str, method: str, arguments: Arguments, then: Callable[[Any], None]
    ) -> None: ...

    def ask_text(self, node: Node, reference: Reference) -> None: ...


class Table:
    """The cells in sight of a table that has more than anybody could ask for.

    The corners tell which rows and columns are in sight, the first row and column where they are. Of the cells, those
    in which something is painted are asked for their text.
    """

    def __init__(self, visit: Visit, reference: Reference, node: Node) -> None:
        self._visit, self._reference, self._node = visit, reference, node
        self._corners: dict[str, tuple[int, int]] = {}
        self._rows: dict[int, tuple[int, int]] = {}
        self._columns: dict[int, tuple[int, int]] = {}
        self._wanted = (0, 0)

    def ask(self) -> None:
        left, top, right, bottom = self._node.box or (0, 0, 0, 0)
        self._ask_corner("first", left + 3, top + 3)
        self._ask_corner("last", right - 3, bottom - 3)

    def _ask_corner(self, name: str, x: int, y: int) -> None:
        def with_cell(found: tuple[Reference]) -> None:
            self._ask(found[0], ACCESSIBLE, "GetIndexInParent", NOTHING, with_index)

        def with_index(found: tuple[int]) -> None:
            index = ("i", found)
            place: dict[str, int] = {}

            def noted(which: str, value: int) -> None:
                place[which] = value
                if len(place) == 2:
                    self._corners[name] = (place["row"], place["column"])
                    self._with_corners()

            self._ask(self._reference, TABLE, "GetRowAtIndex", index, lambda found: noted("row", found[0]))
            self._ask(self._reference, TABLE, "GetColumnAtIndex", index, lambda found: noted("column", found[0]))

        self._ask(self._reference, COMPONENT, "GetAccessibleAtPoint", ("iiu", (x, y, 0)), with_cell)

    def _with_corners(self) -> None:
        if len(self._corners) < 2:
            return
        (top, left), (bottom, right) = self._corners["first"], self._corners["last"]
        rows, columns = range(top, bottom + 1), range(left, right + 1)
        if not rows or not columns or len(rows) * len(columns) > MOST_CELLS:
            return
        self._wanted = (len(rows), len(columns))
        for row in rows:
            self._ask_edge(row, left, self._rows, row, vertical=True)
        for column in columns:
            self._ask_edge(top, column, self._columns, column, vertical=False)

    def _ask_edge(self, row: int, column: int, edges: dict[int, tuple[int, int]], key: int, *, vertical: bool) -> None:
        def with_box(found: tuple[tuple[int, int, int, int]]) -> None:
            x, y, width, height = found[0]
            edges[key] = (y, y + height) if vertical else (x, x + width)
            if (len(self._rows), len(self._columns)) == self._wanted:
                self._ask_cells()

        self._ask_cell(row, column, lambda cell: self._ask(cell, COMPONENT, "GetExtents", ON_SCREEN, with_box))

    def _ask_cells(self) -> None:
        left, top, right, bottom = self._node.box or (0, 0, 0, 0)
        dx, dy = wrong_by(self._node)
        for row, (above, below) in sorted(self._rows.items()):
            for column, (before, after) in sorted(self._columns.items()):
                box = (max(before, left), max(above, top), min(after, right), min(below, bottom))
                if box[0] >= box[2] or box[1] >= box[3]:
                    continue
                cell = Node("table-cell", f"{_letters(column)}{row + 1}", box=box, states=("enabled", "showing"))
                self._node.children.append(cell)
                if not self._visit.is_blank(moved(box, dx, dy)):
                    self._ask_cell(row, column, partial(self._visit.ask_text, cell))

    def _ask_cell(self, row: int, column: int, then: Callable[[Reference], None]) -> None:
        where = ("ii", (row, column))
        self._ask(self._reference, TABLE, "GetAccessibleAt", where, lambda found: then(found[0]))

    def _ask(self, *question: Any) -> None:
        self._visit.ask(*question)


def _letters(column: int) -> str:
    """A column's name, as tables of numbers have it: A, B, …, Z, AA, …"""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
