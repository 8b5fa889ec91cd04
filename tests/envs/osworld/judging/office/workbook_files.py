"""Workbooks for tests: one with something for every rule of `compare_table`, and ways to make it another."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.formatting.rule import CellIsRule, FormulaRule
from openpyxl.pivot.cache import CacheDefinition, CacheField, CacheSource, SharedItems, WorksheetSource
from openpyxl.pivot.record import RecordList
from openpyxl.pivot.table import DataField, FieldItem, Location, PivotField, RowColField, TableDefinition
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.filters import CustomFilter, CustomFilters, FilterColumn, SortCondition, SortState

ROWS = [
    ("Name", "Amount", "Share", "When", "State", "Note"),
    ("Ann Lee", 12, 0.25, datetime(2024, 3, 1), "Pass", "12 Main Rd"),
    ("Bob", 7, 0.123456, datetime(2024, 3, 2), "Fail", "(020) 77-88"),
    ("Cleo", 30, 1.5, datetime(2024, 3, 3), "Pass", None),
    ("Dan", 5, 2, datetime(2024, 3, 4), "Held", "x"),
]
Change = Callable[[openpyxl.Workbook], Any]


def make_workbook(path: Path, *changes: Change, sparkline: str = "Sheet1!B2:B5") -> Path:
    """Writes the workbook, with these changes, and a CSV of its first sheet beside it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    for row in ROWS:
        sheet.append(row)
    for cell in sheet[1]:
        cell.font = Font(name="Arial", bold=True, color="FF112233")
    sheet["B2"].number_format = "0.00"
    sheet["A2"].fill = PatternFill("solid", fgColor="FFFFFF00")
    sheet["F5"].hyperlink = "https://example.org/"
    sheet.merge_cells("A8:B8")
    sheet.freeze_panes = "B2"
    sheet.sheet_view.zoomScale = 120
    sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions["A"].width = 22
    _add_chart(sheet)
    _add_validation(sheet)
    _add_filter(sheet)
    sheet.conditional_formatting.add("B2:B5", CellIsRule("greaterThan", ["10"], fill=PatternFill(bgColor="FF00FF00")))
    sheet.conditional_formatting.add("E2:E5", FormulaRule(['E2="fail"'], fill=PatternFill(bgColor="FFFF0000")))
    second = book.create_sheet("Sheet2")
    second["A1"], second["A2"] = "Summary", 5
    _add_pivot(second)
    for change in changes:
        change(book)
    book.save(path)
    if sparkline:
        _add_sparkline(path, sparkline)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in book.worksheets[0].values]
    path.with_name(f"{path.stem}-{book.worksheets[0].title}.csv").write_text("\n".join([*lines, ",".join("")]) + "\n")
    return path


def _add_chart(sheet: Any) -> None:
    chart = BarChart()
    chart.title, chart.x_axis.title, chart.y_axis.title = "Amounts", "Who", "How much"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=5), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=5))
    chart.anchor = "H2"
    sheet.add_chart(chart)


def _add_validation(sheet: Any) -> None:
    validation = DataValidation(type="list", formula1='"Pass,Fail,Held"', allow_blank=True)
    validation.add("E2:E5")
    sheet.add_data_validation(validation)


def _add_filter(sheet: Any) -> None:
    sheet.auto_filter.ref = "A1:F5"
    sheet.auto_filter.add_filter_column(4, ["Pass", "Held"])
    custom = CustomFilters(_and=True, customFilter=[CustomFilter("greaterThan", "5"), CustomFilter("lessThan", "40")])
    sheet.auto_filter.filterColumn.append(FilterColumn(colId=1, customFilters=custom))
    sheet.auto_filter.sortState = SortState(ref="A2:F5", sortCondition=[SortCondition(ref="B2:B5", descending=True)])


def _add_pivot(sheet: Any) -> None:
    names = [CacheField(name=str(name), sharedItems=SharedItems()) for name in ROWS[0]]
    source = CacheSource(type="worksheet", worksheetSource=WorksheetSource(ref="A1:F5", sheet="Sheet1"))
    cache = CacheDefinition(cacheSource=source, cacheFields=names, id="rId1")
    cache.records = RecordList()
    fields = [PivotField() for _ in names]
    fields[4] = PivotField(axis="axisRow", items=[FieldItem(x=0), FieldItem(x=1), FieldItem(t="default")])
    fields[1] = PivotField(dataField=True)
    pivot = TableDefinition(
        name="Summary",
        cacheId=1,
        dataCaption="Values",
        location=Location(ref="A3:B6", firstHeaderRow=1, firstDataRow=1, firstDataCol=1),
        pivotFields=fields,
        rowFields=[RowColField(x=4)],
        dataFields=[DataField(name="Sum of Amount", fld=1)],
    )
    pivot.cache = cache
    sheet.add_pivot(pivot)


def _add_sparkline(path: Path, source: str) -> None:
    """openpyxl neither reads nor writes these."""
    extension = (
        '<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" '
        'uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}"><x14:sparklineGroups '
        'xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><x14:sparklineGroup><x14:sparklines>'
        f"<x14:sparkline><xm:f>{source}</xm:f><xm:sqref>G2</xm:sqref></x14:sparkline>"
        "</x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst></worksheet>"
    )
    rewrite(path, "xl/worksheets/sheet1.xml", lambda xml: xml.replace("</worksheet>", extension))


def rewrite(path: Path, part: str, change: Callable[[str], str]) -> None:
    """Changes one XML part of an office file."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    before = parts[part].decode()
    parts[part] = change(before).encode()
    assert parts[part].decode() != before, f"nothing was changed in {part}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def _set(place: str, value: Any) -> Change:
    def change(book: openpyxl.Workbook) -> None:
        book["Sheet1"][place] = value

    return change


def _on_sheet(act: Callable[[Any], Any]) -> Change:
    return lambda book: act(book["Sheet1"])


def _line_chart(sheet: Any) -> None:
    old, new = sheet._charts.pop(), LineChart()
    new.title, new.x_axis.title, new.y_axis.title = "Amounts", "Who", "How much"
    new.series, new.anchor = old.series, old.anchor
    sheet.add_chart(new)


def _attribute(path: str, value: Any) -> Callable[[Any], None]:
    """A change of `sheet.<path>`, in which a number is a place in a list."""

    def change(sheet: Any) -> None:
        *steps, last = path.split(".")
        target = sheet
        for step in steps:
            target = target[int(step)] if step.isdigit() else getattr(target, step)
        setattr(target, last, value)

    return change


RULES: dict[str, dict[str, Any]] = {
    "sheet_name": {"type": "sheet_name"},
    "sheet_data": {"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    "sheet_data_rough": {"type": "sheet_data", "sheet_idx0": "RI0", "sheet_idx1": "EI0", "precision": 1},
    "sheet_print": {"type": "sheet_print", "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1"},
    "sheet_print_any_case": {"type": "sheet_print", "sheet_idx0": 0, "sheet_idx1": "EI0", "ignore_case": True},
    "fuzzy_exact": {
        "type": "sheet_fuzzy",
        "sheet_idx0": "RNSheet1",
        "sheet_idx1": "ENSheet1",
        "rules": [{"range": ["A1:F5", "C2:C3"], "type": "exact_match"}],
    },
    "fuzzy_loose": {
        "type": "sheet_fuzzy",
        "sheet_idx0": "RNSheet1",
        "sheet_idx1": "ENSheet1",
        "rules": [
            {"range": ["A1:A5"], "type": "fuzzy_match", "threshold": 60, "ignore_case": True},
            {"range": ["E1:E5"], "type": "includes", "trim_leadings": "+ ", "trim_trailings": " !"},
            {"range": ["F2:F3"], "type": "included_by", "normalization": [["Rd", "Road"]], "ignore_chars": " ()-"},
        ],
    },
    "sparkline": {"type": "sparkline", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    "chart": {
        "type": "chart",
        "sheet_idx0": 0,
        "sheet_idx1": "EI0",
        "chart_props": ["title", "xtitle", "ytitle", "legend", "type"],
    },
    "chart_sources": {"type": "chart", "sheet_idx0": 0, "sheet_idx1": "EI0", "chart_props": []},
    "style": {
        "type": "style",
        "sheet_idx0": 0,
        "sheet_idx1": "EI0",
        "props": ["bgcolor", "hyperlink", "merge", "fill_type"],
    },
    "number_format": {"type": "style", "sheet_idx0": "RNSheet2", "sheet_idx1": "ENSheet2", "props": ["number_format"]},
    "fonts": {
        "type": "style",
        "sheet_idx0": "RNSheet2",
        "sheet_idx1": "ENSheet2",
        "props": ["font_name", "font_bold", "font_color", "font_size", "font_italic", "font_underline", "font_family"],
    },
    "freeze": {"type": "freeze", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    "zoom": {"type": "zoom", "sheet_idx": 0, "method": "lt", "ref": 150},
    "data_validation": {
        "type": "data_validation",
        "sheet_idx": 0,
        "dv_props": [
            {
                "type": {"method": "eq", "ref": "list"},
                "formula1": {"method": "str_set_eq", "ref": ["Fail", "Pass", "Held"]},
                "ranges": {"method": "spreadsheet_range", "ref": ["E2:E5", "E2:E1048576"]},
            }
        ],
    },
    "row_props": {"type": "row_props", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["hidden"]},
    "col_props": {"type": "col_props", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["width", "hidden"]},
    "filter": {"type": "filter", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    "pivot_table": {
        "type": "pivot_table",
        "sheet_idx0": "RNSheet2",
        "sheet_idx1": "ENSheet2",
        "pivot_props": ["col_fields", "filter", "row_fields", "data_fields", "name", "location", "show_headers"],
    },
    "check_cell": {
        "type": "check_cell",
        "sheet_idx": 0,
        "coordinate": "B2",
        "props": {"value": {"method": "approx:0.5", "ref": 12}, "number_format": {"method": "eq", "ref": "0.00"}},
    },
    "check_head": {
        "type": "check_cell",
        "sheet_idx": "RNSheet1",
        "coordinate": "A1",
        "props": {
            "value": {"method": "re.I", "ref": "^name"},
            "font_bold": {"method": "eq", "ref": True},
            "font_color": {"method": "ne", "ref": "FFFF0000"},
        },
    },
}

DATA = {"sheet_data", "sheet_data_rough", "sheet_print", "sheet_print_any_case", "fuzzy_exact"}
SECOND_SHEET = {"fonts", "number_format", "pivot_table"}
ALL = set(RULES)

CHANGES: dict[str, tuple[Change, set[str]]] = {
    "nothing": (lambda book: None, set()),
    "a number": (_set("B3", 8), DATA),
    "a number above the limit of formatting": (_set("B3", 11), DATA | {"style"}),
    "a number a little": (_set("C3", 0.12346), {"sheet_print", "sheet_print_any_case", "fuzzy_exact"}),
    "a number in the third digit": (
        _set("C3", 0.1239),
        {"sheet_data", "sheet_print", "sheet_print_any_case", "fuzzy_exact"},
    ),
    "a whole number to one that is not": (_set("C5", 2.04), DATA - {"sheet_data_rough"}),
    "numbers to text": (_set("B3", "7"), {"fuzzy_exact"}),
    "a name": (_set("A3", "Bobby"), DATA),
    "a name's case": (_set("A3", "BOB"), DATA - {"sheet_print_any_case"}),
    "another name": (_set("A4", "Zygmunt"), DATA | {"fuzzy_loose"}),
    "nothing spelled out": (_set("F4", "NA"), {"sheet_print", "sheet_print_any_case", "fuzzy_exact", "style"}),
    "a state": (_set("E2", "Passed !"), DATA),
    "a road": (_set("F2", "12 Main Road"), DATA),
    "a failed state": (_set("E4", "Fail"), DATA | {"fuzzy_loose", "style"}),
    "a date": (_set("D2", datetime(2024, 3, 9)), DATA),
    "a row more": (_set("A6", "Eve"), DATA - {"fuzzy_exact"} | {"style"}),
    "a header": (_set("B1", "Sum"), DATA),
    "the head's text": (_set("A1", "Who"), DATA | {"fuzzy_loose", "check_head"}),
    "the checked cell": (_set("B2", 13), DATA | {"check_cell"}),
    "another name of a sheet": (lambda book: setattr(book["Sheet2"], "title", "Other"), {"sheet_name"} | SECOND_SHEET),
    "no second sheet": (lambda book: book.remove(book["Sheet2"]), {"sheet_name"} | SECOND_SHEET),
    "a sheet more": (lambda book: book.create_sheet("Third"), {"sheet_name"}),
    "a sheet in front": (
        lambda book: book.create_sheet("Front", 0),
        ALL - SECOND_SHEET - {"fuzzy_exact", "fuzzy_loose", "sparkline", "zoom", "check_head"},
    ),
    "a fill": (
        _on_sheet(lambda sheet: setattr(sheet["A2"], "fill", PatternFill("solid", fgColor="FF0000FF"))),
        {"style"},
    ),
    "a format": (_on_sheet(lambda sheet: setattr(sheet["B2"], "number_format", "0.000")), {"check_cell"}),
    "a link": (_on_sheet(lambda sheet: setattr(sheet["F5"], "hyperlink", "https://example.com/")), set()),
    "a merge": (_on_sheet(lambda sheet: sheet.merge_cells("A9:B9")), {"style", "sheet_print", "sheet_print_any_case"}),
    "the head's font": (
        _on_sheet(lambda sheet: setattr(sheet["A1"], "font", Font(bold=False, color="FF000000"))),
        {"check_head"},
    ),
    "a font of the second sheet": (
        lambda book: setattr(book["Sheet2"]["A1"], "font", Font(italic=True, color="FF000000")),
        {"fonts"},
    ),
    "a format of the second sheet": (
        lambda book: setattr(book["Sheet2"]["A2"], "number_format", "0.0%"),
        {"number_format"},
    ),
    "the freeze": (_on_sheet(_attribute("freeze_panes", "A2")), {"freeze"}),
    "no freeze": (_on_sheet(_attribute("freeze_panes", None)), {"freeze"}),
    "the zoom": (_on_sheet(_attribute("sheet_view.zoomScale", 260)), {"zoom"}),
    "a row shown": (_on_sheet(lambda sheet: setattr(sheet.row_dimensions[4], "hidden", False)), {"row_props"}),
    "a row hidden": (_on_sheet(lambda sheet: setattr(sheet.row_dimensions[3], "hidden", True)), {"row_props"}),
    "a column's width": (_on_sheet(lambda sheet: setattr(sheet.column_dimensions["A"], "width", 40)), {"col_props"}),
    "a column hidden": (_on_sheet(lambda sheet: setattr(sheet.column_dimensions["C"], "hidden", True)), {"col_props"}),
    "the chart's title": (_on_sheet(lambda sheet: setattr(sheet._charts[0], "title", "Sums")), {"chart"}),
    "the chart's axis": (_on_sheet(lambda sheet: setattr(sheet._charts[0].x_axis, "title", "Person")), {"chart"}),
    "the chart's legend": (_on_sheet(_attribute("_charts.0.legend.position", "b")), {"chart"}),
    "no legend": (_on_sheet(_attribute("_charts.0.legend", None)), {"chart"}),
    "the chart's kind": (_on_sheet(_line_chart), {"chart"}),
    "no chart": (_on_sheet(lambda sheet: sheet._charts.clear()), {"chart", "chart_sources"}),
    "the chart's cells": (
        _on_sheet(_attribute("_charts.0.series.0.val.numRef.f", "'Sheet1'!$B$2:$B$4")),
        {"chart", "chart_sources"},
    ),
    "the filter's cells": (_on_sheet(_attribute("auto_filter.ref", "A1:F4")), {"filter"}),
    "the filter's values": (
        _on_sheet(lambda sheet: sheet.auto_filter.filterColumn[0].filters.filter.append("Fail")),
        {"filter"},
    ),
    "the filter's comparison": (
        _on_sheet(lambda sheet: setattr(sheet.auto_filter.filterColumn[1].customFilters.customFilter[0], "val", "6")),
        {"filter"},
    ),
    "the order": (_on_sheet(lambda sheet: setattr(sheet.auto_filter.sortState, "ref", "A2:F4")), {"filter"}),
    "the validation's list": (
        _on_sheet(lambda sheet: setattr(sheet.data_validations.dataValidation[0], "formula1", '"Pass,Fail"')),
        {"data_validation"},
    ),
    "the validation's cells": (
        _on_sheet(lambda sheet: sheet.data_validations.dataValidation[0].add("F2")),
        {"data_validation"},
    ),
    "a whole number's validation": (
        _on_sheet(lambda sheet: sheet.add_data_validation(DataValidation(type="whole", formula1="1", sqref="B2:B5"))),
        {"data_validation"},
    ),
    "no validation": (
        _on_sheet(lambda sheet: sheet.data_validations.dataValidation.clear()),
        {"data_validation"},
    ),
    "the pivot's rows": (lambda book: setattr(book["Sheet2"]._pivots[0].rowFields[0], "x", 3), {"pivot_table"}),
    "the pivot's sum": (
        lambda book: setattr(book["Sheet2"]._pivots[0].dataFields[0], "subtotal", "count"),
        {"pivot_table"},
    ),
    "the pivot's name": (lambda book: setattr(book["Sheet2"]._pivots[0], "name", "Other"), {"pivot_table"}),
    "no pivot": (lambda book: book["Sheet2"]._pivots.clear(), {"pivot_table"}),
}
"""By name: a change of the workbook, and the rules that see it."""
