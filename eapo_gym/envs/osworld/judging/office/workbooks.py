"""Workbooks: what openpyxl reads of them, and the parts that it leaves out."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from eapo_gym.envs.osworld.judging.office.frames import MOST_CELLS, Frame, read_frame
from eapo_gym.envs.osworld.judging.office.guard import (
    FilePath,
    archive_part,
    checked_archive,
    needs,
    opened,
    parsed_xml,
)
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.tasks import TaskFileError

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SPARKLINES = "{http://schemas.microsoft.com/office/spreadsheetml/2009/9/main}"
FORMULAS = "{http://schemas.microsoft.com/office/excel/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
SPREADING = ("mergeCell", "hyperlink")
"""What openpyxl makes a cell of for every place of its range."""


class Book:
    """One workbook of a task."""

    def __init__(self, path: FilePath) -> None:
        self.path = Path(path)
        check_ranges(self.path)
        self.workbook: Any = opened(self.path, lambda name: _openpyxl().load_workbook(name))
        self.names: list[str] = [sheet.title for sheet in self.workbook.worksheets]
        self._cells: dict[str, Mapping[str, ElementTree.Element]] = {}

    def sheet(self, name: str) -> Any:
        """The sheet as openpyxl gives it; None where there is none of this name."""
        return self.workbook[name] if name in self.names else None

    def bounded_sheet(self, name: str) -> Any:
        """The sheet, if all of its cells can be looked at one by one."""
        sheet = self.sheet(name)
        if sheet is not None and sheet.max_row * sheet.max_column > MOST_CELLS:
            raise Unreadable(f"Expected at most {MOST_CELLS} cells in {name!r}, it spans {sheet.dimensions}.")
        return sheet

    def frame(self, name: str) -> Frame | None:
        """The values of a sheet; None where there is none of this name."""
        if name not in self.names:
            return None
        workbook = opened(
            self.path,
            lambda path: _openpyxl().load_workbook(path, read_only=True, data_only=True, keep_links=False),
        )
        try:
            sheet = workbook[name]
            sheet.reset_dimensions()
            return read_frame(sheet.rows)
        finally:
            workbook.close()

    def printed(self, name: str) -> list[str] | None:
        """The lines of the CSV that was made of a sheet on the machine, and fetched beside the workbook."""
        lines = text_lines(self.path.with_name(f"{self.path.stem}-{name}.csv"))
        if lines is None:
            return None
        stripped = [line.strip() for line in lines]
        while stripped and not stripped[-1]:
            stripped.pop()
        return stripped

    def value(self, name: str, coordinate: str) -> float | str | None:
        """What a cell holds in the file: a number, a text, or None; of a formula, what it gave when it was saved."""
        cell = self._sheet_cells(name).get(coordinate)
        if cell is None:
            return None
        kind, value = cell.get("t", "n"), cell.findtext(f"{MAIN}v")
        if kind == "inlineStr":
            return cell.findtext(f"{MAIN}is/{MAIN}t")
        try:
            if kind == "n":
                return float(value or "")
            if kind == "s":
                return self._shared_texts[int(value or "")]
        except (ValueError, IndexError):
            return None
        return value.strip() or None if value and kind in ("str", "e") else None

    def sparklines(self, name: str) -> dict[str, str]:
        """What each cell with a sparkline shows: `{"F3": "Sheet1!C3:E3"}`."""
        root = self._sheet_root(name)
        if root is None:
            return {}
        found = root.iter(f"{SPARKLINES}sparkline")
        return {line.findtext(f"{FORMULAS}sqref", ""): line.findtext(f"{FORMULAS}f", "") for line in found}

    def _sheet_cells(self, name: str) -> Mapping[str, ElementTree.Element]:
        if name not in self._cells:
            root = self._sheet_root(name)
            cells: Iterator[ElementTree.Element] = iter(()) if root is None else root.iter(f"{MAIN}c")
            self._cells[name] = {cell.get("r", ""): cell for cell in cells}
        return self._cells[name]

    @cached_property
    def _shared_texts(self) -> list[str]:
        content = archive_part(self.path, "xl/sharedStrings.xml")
        if content is None:
            return []
        root = parsed_xml(content, self.path.name)
        return ["".join(part.text or "" for part in text.iter(f"{MAIN}t")) for text in root.findall(f"{MAIN}si")]

    def _sheet_root(self, name: str) -> ElementTree.Element | None:
        part = self._sheet_part(name)
        content = archive_part(self.path, part) if part else None
        return None if content is None else parsed_xml(content, self.path.name)

    def _sheet_part(self, name: str) -> str | None:
        """The part that a sheet is in. The benchmark takes the one with the sheet's id for a number, and so do we.

        Only where there is no such part, as after sheets were deleted, the relations are asked.
        """
        sheets = parsed_xml(archive_part(self.path, "xl/workbook.xml") or b"", self.path.name).iter(f"{MAIN}sheet")
        sheet = next((sheet for sheet in sheets if sheet.get("name") == name), None)
        if sheet is None:
            return None
        by_id = f"xl/worksheets/sheet{sheet.get('sheetId')}.xml"
        if archive_part(self.path, by_id) is not None:
            return by_id
        relations = parsed_xml(archive_part(self.path, "xl/_rels/workbook.xml.rels") or b"", self.path.name)
        targets = {each.get("Id"): each.get("Target", "") for each in relations.iter(f"{PACKAGE}Relationship")}
        target = targets.get(sheet.get(RELATION), "")
        return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


class Books:
    """The workbook of the agent and the one that is expected, as the rules of a task name their sheets."""

    def __init__(self, result: Book, expected: Book | None) -> None:
        self.result = result
        self.expected = expected

    def sheet(self, index: int | str) -> tuple[Book, str]:
        """`0`, `"RI0"` and `"RNSheet1"` are the agent's by place and name, `"EI0"` and `"ENSheet1"` the expected ones.

        A place that a book does not have is the sheet without a name, which no book has.
        """
        side, by, which = ("R", "I", str(index)) if isinstance(index, int) else (index[:1], index[1:2], index[2:])
        if side not in ("R", "E") or by not in ("I", "N"):
            raise TaskFileError(f"Expected a sheet such as 0, 'RI0' or 'ENSheet1' in the task's rule, got {index!r}.")
        book = self.result if side == "R" else self.expected
        if book is None:
            raise TaskFileError(
                f"The task's rule names the expected sheet {index!r}, and the task expects no workbook."
            )
        if by == "N":
            return book, which
        try:
            return book, book.names[int(which)]
        except (ValueError, IndexError):
            return book, ""


def text_lines(path: FilePath) -> list[str] | None:
    """The lines of a text in UTF-8, or else in Latin-1, as which anything can be read; None where there is no file."""
    from eapo_gym.envs.osworld.judging.office.guard import checked_bytes

    if not Path(path).is_file():
        return None
    content = checked_bytes(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").splitlines()


def check_ranges(path: FilePath) -> None:
    """Refuses a workbook of which a short line makes openpyxl write billions of cells."""
    places = 0

    def count(tag: str, attributes: Mapping[str, str]) -> None:
        nonlocal places
        if tag.rpartition(":")[2] in SPREADING and "ref" in attributes:
            places += _places(attributes["ref"])
            if places > MOST_CELLS:
                raise Unreadable(f"Expected merged or linked cells of at most {MOST_CELLS} places, there are more.")

    with zipfile.ZipFile(checked_archive(path)) as archive:
        for part in archive.namelist():
            if part.endswith(".xml"):
                parser = expat.ParserCreate()
                parser.StartElementHandler = count
                try:
                    parser.Parse(archive.read(part), True)
                except expat.ExpatError as error:
                    raise Unreadable(f"Expected XML in {part}, it cannot be parsed: {error}.") from error


def _places(reference: str) -> int:
    from openpyxl.utils import range_boundaries

    try:
        left, top, right, bottom = range_boundaries(reference)
        return (int(right) - int(left) + 1) * (int(bottom) - int(top) + 1)
    except (TypeError, ValueError):
        return 0


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise needs("Judging workbooks") from error
    return openpyxl
