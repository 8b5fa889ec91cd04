"""Parts of a sheet, as plain values that can be compared: charts, pivot tables, filters, rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import dropwhile
from typing import Any

Described = dict[Any, Any]


def charts(sheet: Any, properties: Collection[str]) -> Described:
    """What is asked about each chart, by the cells that it shows."""
    if sheet is None:
        return {}
    described: Described = {}
    for chart in sheet._charts:
        shown = ";".join(f"{_reference(series.val)},{_reference(series.cat)}" for series in chart.series)
        described[shown] = {name: CHART_PROPERTIES[name](chart) for name in CHART_PROPERTIES if name in properties}
    return described


def _reference(source: Any) -> str:
    """The cells that values or categories come from."""
    for kind in ("numRef", "strRef"):
        reference = getattr(source, kind, None)
        if reference is not None:
            return str(reference.f)
    return ""


def _title_of(titled: Any) -> str | None:
    """The first run of a title."""
    try:
        return titled.title.tx.rich.p[0].r[0].t  # type: ignore[no-any-return]
    except (AttributeError, IndexError, TypeError):
        return None


def _anchor(chart: Any) -> list[Any]:
    """Where a chart is; the row of its end stands twice, as in the benchmark."""
    start, end = getattr(chart.anchor, "_from", None), getattr(chart.anchor, "to", None)
    bottom = getattr(end, "row", None)
    return [
        getattr(chart.anchor, "editAs", None), getattr(start, "col", None), bottom, getattr(end, "col", None), bottom,
    ]  # fmt: skip


CHART_PROPERTIES: Mapping[str, Callable[[Any], Any]] = {
    "title": _title_of,
    "legend": lambda chart: chart.legend.position if chart.legend is not None else None,
    "anchor": _anchor,
    "width": lambda chart: chart.width,
    "height": lambda chart: chart.height,
    "type": lambda chart: chart.tagname,
    "direction": lambda chart: getattr(chart, "barDir", None),
    "xtitle": lambda chart: _title_of(getattr(chart, "x_axis", None)),
    "ytitle": lambda chart: _title_of(getattr(chart, "y_axis", None)),
    "ztitle": lambda chart: _title_of(getattr(chart, "z_axis", None)),
}


def pivot_tables(sheet: Any, properties: Collection[str]) -> Described:
    """What is asked about each pivot table, by the cells that it summarises.

    Fields without items at both ends take no part, so places of fields are counted from the first that does.
    """
    if sheet is None:
        return {}
    described: Described = {}
    for pivot in sheet._pivots:
        items = [[(item.h, item.x) for item in field.items if item.x is not None] for field in pivot.pivotFields]
        first, selection = _without_empty_ends(items)
        skipped_after = len(items) - first - len(selection)
        source = _pivot_source(pivot.cache.cacheSource, first, skipped_after)
        described[source] = _pivot_properties(pivot, first, selection, properties)
    return described


def _without_empty_ends(items: Sequence[Sequence[Any]]) -> tuple[int, list[Sequence[Any]]]:
    tail = list(dropwhile(lambda field: not field, items))
    kept = list(dropwhile(lambda field: not field, reversed(tail)))[::-1]
    return len(items) - len(tail), kept


def _pivot_source(source: Any, skipped_before: int, skipped_after: int) -> str:
    from openpyxl.utils import coordinate_to_tuple

    start, end = source.worksheetSource.ref.split(":")
    top, left = coordinate_to_tuple(start)
    bottom, right = coordinate_to_tuple(end)
    area = (top, left + skipped_before), (bottom, right - skipped_after)
    return f"{source.type};{area[0]}:{area[1]};{source.worksheetSource.sheet}"


def _pivot_properties(pivot: Any, first: int, selection: Sequence[Any], properties: Collection[str]) -> Described:
    info: Described = {}
    plain = {
        "name": "name",
        "show_total": "visualTotals",
        "show_empty_row": "showEmptyRow",
        "show_empty_col": "showEmptyCol",
        "show_headers": "showHeaders",
        "location": "location",
    }
    info.update({name: getattr(pivot, attribute) for name, attribute in plain.items() if name in properties})
    if "filter" in properties or "selection" in properties:
        info["selection"] = list(selection) if "ordered" in properties else [set(items) for items in selection]
    if "filter" in properties:
        info["filter_fields"] = {field.fld for field in pivot.pageFields}
    if "col_fields" in properties:
        info["col_fields"] = [field.x - first for field in pivot.colFields]
    if "row_fields" in properties:
        info["row_fields"] = [field.x - first for field in pivot.rowFields]
    if "data_fields" in properties:
        named = "data_fields_name" in properties
        info["data_fields"] = [
            (field.fld - first, field.name if named else "", field.subtotal, field.showDataAs)
            for field in pivot.dataFields
        ]
    return info


def filters(sheet: Any) -> Described:
    """The automatic filter of a sheet: its range, what each column lets through, and how it sorts."""
    if sheet is None:
        return {}
    described: Described = {"ref": sheet.auto_filter.ref}
    columns = sorted(sheet.auto_filter.filterColumn, key=lambda column: column.colId)
    described["columns"] = [_filter_column(column) for column in columns]
    state = sheet.auto_filter.sortState
    if state is not None:
        attributes = ("descending", "sortBy", "ref", "customList", "dxfId", "iconSet", "iconId")
        described["sort"] = {
            "state": (state.columnSort, state.caseSensitive, state.sortMethod, state.ref),
            "conditions": [[getattr(condition, name) for name in attributes] for condition in state.sortCondition],
        }
    return described


def _filter_column(column: Any) -> Described:
    described: Described = {"place": column.colId, "hidden": column.hiddenButton, "shown": column.showButton}
    if column.filters is not None:
        described["blank"] = column.filters.blank
        described["values"] = set(column.filters.filter)
    if column.customFilters is not None:
        described["and"] = column.customFilters._and
        described["custom"] = {(each.operator, each.val) for each in column.customFilters.customFilter}
    return described


def dimensions(sheet: Any, which: str, properties: Collection[str]) -> Described:
    """What is asked about each row or column ("row", "column") that the file says something about."""
    if sheet is None:
        return {}
    lines = getattr(sheet, f"{which}_dimensions")
    return {place: {name: getattr(line, name) for name in properties} for place, line in lines.items()}
