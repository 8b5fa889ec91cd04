"""What stands in a sheet, as the benchmark sees it: columns with a header, of numbers, truths or anything.

The benchmark reads sheets with pandas, and so a verdict depends on how pandas understands cells: a text of digits is a
number, "NA" and "" are nothing, a column of whole numbers is not a column of floats though the numbers be equal. These
are its rules, for what a workbook can hold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eapo_gym.envs.osworld.judging.registry import Unreadable

NAN = float("nan")
NOTHING = frozenset(
    (
        *("", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "-NaN", "-nan", "None", "<NA>"),
        *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN"),
    )
)
TRUE = frozenset(("True", "TRUE", "true"))
FALSE = frozenset(("False", "FALSE", "false"))
NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[ \t\n\v\f\r]*", re.ASCII)
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
MOST_CELLS = 2_000_000

Kind = Literal["integer", "large", "float", "truth", "object"]


@dataclass(frozen=True, slots=True)
class Column:
    """The cells below a header, and what they were understood as."""

    kind: Kind
    cells: Sequence[Any]

    def rounded(self, digits: int) -> Column:
        if self.kind != "float":
            return self
        return Column("float", np.round(np.asarray(self.cells, dtype=np.float64), digits).tolist())

    def same(self, other: Column) -> bool:
        if self.kind != other.kind or len(self.cells) != len(other.cells):
            return False
        return all(map(_same, self.cells, other.cells))


@dataclass(frozen=True, slots=True)
class Frame:
    """A sheet: headers, and a column below each."""

    headers: Sequence[Any]
    columns: Sequence[Column]

    def same(self, other: Frame, digits: int) -> bool:
        """Whether both say the same, floats rounded to so many digits."""
        return (
            len(self.headers) == len(other.headers)
            and all(map(_same, self.headers, other.headers))
            and all(a.rounded(digits).same(b.rounded(digits)) for a, b in zip(self.columns, other.columns, strict=True))
        )


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (_is_nan(one) and _is_nan(other))


def read_frame(rows: Iterable[Sequence[Any]]) -> Frame:
    """The frame of a sheet that openpyxl reads row by row, for values alone."""
    grid = _rectangle(rows)
    if not grid:
        return Frame([], [])
    headers, *body = grid
    return Frame(_distinct(headers), [_column([row[place] for row in body]) for place in range(len(headers))])


def _rectangle(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """The values without empty rows at the end, each row as wide as the widest."""
    grid: list[list[Any]] = []
    filled, read = 0, 0
    for row in rows:
        values = [_value(cell) for cell in row]
        while values and isinstance(values[-1], str) and values[-1] == "":
            values.pop()
        grid.append(values)
        read += 1 + len(row)
        if values:
            filled = len(grid)
        if read > MOST_CELLS:
            raise Unreadable(f"Expected a sheet of at most {MOST_CELLS} cells, it has more.")
    del grid[filled:]
    width = max(map(len, grid), default=0)
    if width * len(grid) > MOST_CELLS:
        raise Unreadable(f"Expected a sheet of at most {MOST_CELLS} cells, it has {width} × {len(grid)}.")
    return [row + [""] * (width - len(row)) for row in grid]


def _value(cell: Any) -> Any:
    """A cell's value: empty text for nothing, not a number for an error, integers where the number is whole."""
    if cell.value is None:
        return ""
    if cell.data_type == "e":
        return NAN
    if cell.data_type == "n" and not isinstance(cell.value, int):
        number = float(cell.value)
        return int(number) if number.is_integer() else number
    return cell.value


def _distinct(headers: Sequence[Any]) -> list[Any]:
    """The headers with a name for each empty one, and a number behind each that stood before."""
    named = [f"Unnamed: {place}" if header == "" else header for place, header in enumerate(headers)]
    empty_last = sorted(range(len(named)), key=lambda place: headers[place] == "")
    seen: defaultdict[Any, int] = defaultdict(int)
    for place in empty_last:
        original = name = named[place]
        count = seen[name]
        while count > 0:
            seen[original] = count + 1
            name = f"{original}.{count}"
            count = count + 1 if name in named else seen[name]
        named[place] = name
        seen[name] = count + 1
    return named


def _column(cells: Sequence[Any]) -> Column:
    numbers = _as_numbers(cells)
    if numbers is not None:
        return numbers
    cleaned = [NAN if isinstance(cell, str) and cell in NOTHING else cell for cell in cells]
    truths = [_truth(cell) for cell in cleaned]
    if all(truth is not None for truth in truths):
        return Column("object" if any(map(_is_nan, truths)) else "truth", truths)
    return Column("object", cleaned)


def _truth(cell: Any) -> bool | float | None:
    """True and False by themselves or in words; not a number for nothing; None for anything else."""
    if isinstance(cell, bool) or _is_nan(cell):
        return cell  # type: ignore[no-any-return]
    if isinstance(cell, str) and cell in TRUE | FALSE:
        return cell in TRUE
    return None


def _as_numbers(cells: Sequence[Any]) -> Column | None:
    """The column as numbers (or truths) if every cell is one or nothing; None otherwise."""
    if not cells:
        return Column("object", [])
    numbers = [_number(cell) for cell in cells]
    if any(number is None for number in numbers):
        return None
    integers = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
    large = any(number >= 2**63 for number in integers)
    beyond = any(not -(2**63) <= number < 2**64 for number in integers)
    negative = any(number < 0 for number in integers)
    if large and (negative or any(map(_is_nan, numbers))):
        return None
    if beyond or any(isinstance(number, float) for number in numbers):
        return Column("float", [float(number) for number in numbers if number is not None])
    if integers:
        return Column("large" if large else "integer", [int(number) for number in numbers if number is not None])
    return Column("truth", numbers)


def _number(cell: Any) -> bool | int | float | None:
    """The number that a cell is or spells, not a number for nothing, None where it is anything else."""
    if isinstance(cell, bool | float):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) < 2**1023 else None
    if not isinstance(cell, str):
        return None
    if cell in NOTHING:
        return NAN
    if INFINITY.fullmatch(cell):
        return float(cell)
    spelled = NUMBER.fullmatch(cell)
    if spelled is None:
        return None
    if spelled[1].lstrip("+-").isdigit():
        whole = int(spelled[1]) if len(spelled[1]) < 30 else 2**64
        return whole if -(2**63) <= whole < 2**64 else None
    number = float(spelled[1])
    return None if abs(number) == float("inf") else number
