"""How the cells of a sheet look: their own style, and that which conditional formatting puts over it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from eapo_gym.envs.osworld.judging.office.formulas import Formula, FormulaError, parse
from eapo_gym.envs.osworld.judging.office.frames import MOST_CELLS
from eapo_gym.envs.osworld.judging.office.values import COMPARISONS
from eapo_gym.envs.osworld.judging.office.workbooks import Book
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.tasks import TaskFileError

ABSOLUTE = re.compile(r"\$([A-Z]{1,3})\$(\d+)(?::\$([A-Z]{1,3})\$(\d+))?")
BY_FORMULA = (
    "expression",
    "containsText",
    "notContainsText",
    "endsWith",
    "beginsWith",
    "containsErrors",
    "notContainsErrors",
)
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "lessThanOrEqual": COMPARISONS["le"],
    "lessThan": COMPARISONS["lt"],
    "equal": COMPARISONS["eq"],
    "greaterThanOrEqual": COMPARISONS["ge"],
    "notEqual": COMPARISONS["ne"],
    "greaterThan": COMPARISONS["gt"],
}
MOST_EMPTY = 50
"""After so many empty cells the rest of a range is not looked at."""


def _color(font_or_fill: Any, which: str) -> Any:
    return getattr(getattr(font_or_fill, which, None), "rgb", None)


def _font(style: Any, cell: Any) -> Any:
    """The font of a conditional style, or the cell's own where that says nothing of fonts."""
    return getattr(style, "font", None) or cell.font


def cell_style(name: str, cell: Any, over: Any = None) -> Any:
    """One property of how a cell looks; `over` is the style that conditional formatting puts over it.

    A cell without a value has no number format, no font and no link.
    """
    if name == "merge":
        return type(cell).__name__ == "MergedCell"
    if name == "fill_type":
        return getattr(getattr(over or cell, "fill", None), "tagname", None)
    if name in ("bgcolor", "fgcolor"):
        return _color(over.fill, "bgColor") if over is not None else _color(getattr(cell, "fill", None), "fgColor")
    if name not in OF_A_VALUE:
        raise TaskFileError(f"Expected one of the benchmark's properties of cells in the task's rule, got {name!r}.")
    return None if cell.value is None else OF_A_VALUE[name](cell, over)


def _number_format(cell: Any, over: Any) -> Any:
    if cell.data_type != "n":
        return None
    return over.numFmt.formatCode if over is not None and over.numFmt is not None else cell.number_format


OF_A_VALUE: Mapping[str, Callable[[Any, Any], Any]] = {
    "number_format": _number_format,
    "font_name": lambda cell, over: _font(over, cell).name,
    "font_family": lambda cell, over: _font(over, cell).family,
    "font_color": lambda cell, over: _color(_font(over, cell), "color"),
    "font_bold": lambda cell, over: _font(over, cell).bold,
    "font_italic": lambda cell, over: _font(over, cell).italic,
    "font_underline": lambda cell, over: _font(over, cell).underline,
    "font_size": lambda cell, over: _font(over, cell).size,
    "hyperlink": lambda cell, over: cell.hyperlink or "",
}


def styles(book: Book, name: str, properties: Sequence[str]) -> dict[str, list[Any]]:
    """These properties of every cell of a sheet; empty where there is no such sheet."""
    sheet = book.bounded_sheet(name)
    if sheet is None:
        return {}
    seen = {
        cell.coordinate: [cell_style(each, cell) for each in properties]
        for column in sheet.iter_cols()
        for cell in column
    }
    for formatting in sheet.conditional_formatting:
        for rule in formatting.rules:
            for coordinate in _active_cells(book, name, formatting.cells, rule):
                seen[coordinate] = [cell_style(each, sheet[coordinate], rule.dxf) for each in properties]
    return seen


def _active_cells(book: Book, name: str, ranges: Any, rule: Any) -> Iterator[str]:
    """The cells with a value on which a rule has an effect."""
    holds = _condition(book, name, rule)
    if holds is None:
        return
    empty = 0
    for area in ranges:
        for coordinate in _coordinates(area):
            value = book.value(name, coordinate)
            if value is None:
                empty += 1
                if empty > MOST_EMPTY:
                    break
            elif _is_true(holds, value):
                yield coordinate


def _is_true(holds: Callable[[Any], Any], value: Any) -> bool:
    """An error counts as true, as it does in the benchmark; a comparison that cannot be made does not."""
    try:
        return bool(holds(value))
    except (FormulaError, IndexError, TypeError):
        return False


def _condition(book: Book, name: str, rule: Any) -> Callable[[Any], Any] | None:
    """When a rule has an effect, for the kinds of rules that the benchmark knows; None for the others."""
    try:
        formulas = [parse(text) for text in rule.formula]
        if rule.type in BY_FORMULA:
            known = _absolute_values(book, name, rule.formula[0])
            return lambda value: formulas[0](value, *known)
        if rule.type == "cellIs":
            return _comparison(rule.operator, formulas)
    except (FormulaError, IndexError):
        return None
    return None


def _comparison(kind: str, formulas: Sequence[Formula]) -> Callable[[Any], Any] | None:
    bounds = [formula() for formula in formulas]
    if kind in OPERATORS:
        return lambda value: OPERATORS[kind](value, bounds[0])
    if kind in ("between", "notBetween"):
        return lambda value: (min(bounds) <= value <= max(bounds)) == (kind == "between")
    return None


def _absolute_values(book: Book, name: str, formula: str) -> list[Any]:
    """What the absolute ranges of a formula hold, in order: the relative one is the cell that is looked at."""
    found: list[Any] = []
    for left, top, right, bottom in ABSOLUTE.findall(formula):
        if right:
            from openpyxl.worksheet.cell_range import CellRange

            area = CellRange(f"{left}{top}:{right}{bottom}")
            found.append([book.value(name, coordinate) for coordinate in _coordinates(area)])
        else:
            found.append(book.value(name, f"{left}{top}"))
    return found


def _coordinates(area: Any) -> Iterator[str]:
    from openpyxl.utils import get_column_letter

    width, height = area.max_col - area.min_col + 1, area.max_row - area.min_row + 1
    if width * height > MOST_CELLS:
        raise Unreadable(f"Expected a range of at most {MOST_CELLS} cells, {area.coord} has {width * height}.")
    for row, column in area.cells:
        yield f"{get_column_letter(column)}{row}"
