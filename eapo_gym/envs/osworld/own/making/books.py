"""Spreadsheets, made with openpyxl."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

from eapo_gym.envs.osworld.own.making.packing import repacked
from eapo_gym.errors import MissingExtra

Rows = Sequence[Sequence[str | int | float | None]]


def workbook(sheets: Mapping[str, Rows], change: Callable[[Any], None] | None = None) -> bytes:
    """An .xlsx file with these sheets; `change` is handed openpyxl's workbook before it is saved."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra.of("Making spreadsheets", "osworld") from None
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
        _widen(sheet, rows)
    if change is not None:
        change(book)
    target = BytesIO()
    book.save(target)
    return repacked(target.getvalue())


def csv(rows: Rows) -> bytes:
    """The same rows as comma separated values, as an office program writes them."""
    return "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows).encode()


def _widen(sheet: Any, rows: Rows) -> None:
    """Make the columns as wide as their texts: what does not fit would be cut off on the screen."""
    for column, cells in enumerate(zip(*rows, strict=True)):
        sheet.column_dimensions[chr(ord("A") + column)].width = 3 + max(len(str(cell)) for cell in cells)
