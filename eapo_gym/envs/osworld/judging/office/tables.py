"""Metrics of workbooks and CSV files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eapo_gym.envs.osworld.judging.office import sheet_parts
from eapo_gym.envs.osworld.judging.office.cell_styles import cell_style, styles
from eapo_gym.envs.osworld.judging.office.guard import FilePath
from eapo_gym.envs.osworld.judging.office.similarity import similarity
from eapo_gym.envs.osworld.judging.office.values import matches
from eapo_gym.envs.osworld.judging.office.workbooks import Book, Books, text_lines
from eapo_gym.envs.osworld.tasks import TaskFileError

Rule = Mapping[str, Any]
FUZZY_THRESHOLD = 85.0
DIGITS = 4


def compare_table(result: FilePath | None, expected: FilePath | None = None, *, rules: Sequence[Rule]) -> float:
    """1 if the workbook is as every rule of the task asks."""
    if result is None:
        return 0.0
    books = Books(Book(result), None if expected is None else Book(expected))
    for rule in rules:
        check = RULES.get(rule["type"])
        if check is None:
            raise TaskFileError(f"Expected one of the rules {', '.join(RULES)} in the task, got {rule['type']!r}.")
        if not check(books, rule):
            return 0.0
    return 1.0


def _sheet_names(books: Books, rule: Rule) -> bool:
    return books.expected is not None and books.result.names == books.expected.names


def _sheet_data(books: Books, rule: Rule) -> bool:
    """The values are the same, as they stand in the files: formulas by what they gave when they were saved."""
    frames = [book.frame(name) for book, name in _both(books, rule)]
    one, other = frames
    return one is not None and other is not None and one.same(other, rule.get("precision", DIGITS))


def _sheet_print(books: Books, rule: Rule) -> bool:
    """The values look the same, in the CSV files that LibreOffice made."""
    one, other = (book.printed(name) for book, name in _both(books, rule))
    if one is None or other is None:
        return False
    if rule.get("ignore_case", False):
        return [line.lower() for line in one] == [line.lower() for line in other]
    return one == other


def _sheet_fuzzy(books: Books, rule: Rule) -> bool:
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.cell_range import MultiCellRange

    (book, name), (other_book, other_name) = _both(books, rule)
    for inner in rule["rules"]:
        alike = FUZZY[inner["type"]]
        for area in MultiCellRange(inner["range"]):
            for row, column in area.cells:
                coordinate = f"{get_column_letter(column)}{row}"
                one = _simplified(str(book.value(name, coordinate)), inner)
                other = _simplified(str(other_book.value(other_name, coordinate)), inner)
                if not alike(one, other, inner):
                    return False
    return True


FUZZY: Mapping[str, Callable[[str, str, Rule], bool]] = {
    "includes": lambda one, other, rule: other in one,
    "included_by": lambda one, other, rule: one in other,
    "fuzzy_match": lambda one, other, rule: similarity(one, other) * 100 >= rule.get("threshold", FUZZY_THRESHOLD),
    "exact_match": lambda one, other, rule: one == other,
}


def _simplified(value: str, rule: Rule) -> str:
    """A value without what the rule does not care for."""
    for written, meant in rule.get("normalization", []):
        value = value.replace(written, meant)
    if "trim_leadings" in rule:
        value = value.lstrip(rule["trim_leadings"])
    if "trim_trailings" in rule:
        value = value.rstrip(rule["trim_trailings"])
    value = "".join(character for character in value if character not in rule.get("ignore_chars", ""))
    return value.lower() if rule.get("ignore_case", False) else value


def _sparkline(books: Books, rule: Rule) -> bool:
    one, other = (book.sparklines(name) for book, name in _both(books, rule))
    return one == other


def _chart(books: Books, rule: Rule) -> bool:
    return _same_part(books, rule, lambda sheet: sheet_parts.charts(sheet, rule.get("chart_props", ())))


def _pivot_table(books: Books, rule: Rule) -> bool:
    return _same_part(books, rule, lambda sheet: sheet_parts.pivot_tables(sheet, rule.get("pivot_props", ())))


def _row_properties(books: Books, rule: Rule) -> bool:
    return _same_part(books, rule, lambda sheet: sheet_parts.dimensions(sheet, "row", rule.get("props", ())))


def _column_properties(books: Books, rule: Rule) -> bool:
    return _same_part(books, rule, lambda sheet: sheet_parts.dimensions(sheet, "column", rule.get("props", ())))


def _filter(books: Books, rule: Rule) -> bool:
    return _same_part(books, rule, sheet_parts.filters)


def _style(books: Books, rule: Rule) -> bool:
    one, other = (styles(book, name, rule.get("props", ())) for book, name in _both(books, rule))
    return one == other


def _freeze(books: Books, rule: Rule) -> bool:
    one, other = (book.sheet(name) for book, name in _both(books, rule))
    return one is not None and other is not None and one.freeze_panes == other.freeze_panes


def _zoom(books: Books, rule: Rule) -> bool:
    book, name = books.sheet(rule["sheet_idx"])
    sheet = book.sheet(name)
    return sheet is not None and matches(sheet.sheet_view.zoomScale or 100.0, rule)


def _data_validation(books: Books, rule: Rule) -> bool:
    """There are enough validations, and each is as one of the rule's."""
    book, name = books.sheet(rule["sheet_idx"])
    sheet = book.sheet(name)
    if sheet is None:
        return False
    validations = sheet.data_validations.dataValidation
    return len(validations) >= len(rule["dv_props"]) and all(
        any(all(matches(getattr(each, key), value) for key, value in wanted.items()) for wanted in rule["dv_props"])
        for each in validations
    )


def _check_cell(books: Books, rule: Rule) -> bool:
    book, name = books.sheet(rule["sheet_idx"])
    sheet = book.sheet(name)
    if sheet is None:
        return False
    coordinate = rule["coordinate"]
    return all(
        matches(book.value(name, coordinate) if key == "value" else cell_style(key, sheet[coordinate]), wanted)
        for key, wanted in rule["props"].items()
    )


def _both(books: Books, rule: Rule) -> tuple[tuple[Book, str], tuple[Book, str]]:
    return books.sheet(rule["sheet_idx0"]), books.sheet(rule["sheet_idx1"])


def _same_part(books: Books, rule: Rule, part: Callable[[Any], Any]) -> bool:
    one, other = (part(book.sheet(name)) for book, name in _both(books, rule))
    return bool(one == other)


RULES: Mapping[str, Callable[[Books, Rule], bool]] = {
    "sheet_name": _sheet_names,
    "sheet_data": _sheet_data,
    "sheet_print": _sheet_print,
    "sheet_fuzzy": _sheet_fuzzy,
    "sparkline": _sparkline,
    "chart": _chart,
    "style": _style,
    "freeze": _freeze,
    "zoom": _zoom,
    "data_validation": _data_validation,
    "row_props": _row_properties,
    "col_props": _column_properties,
    "filter": _filter,
    "pivot_table": _pivot_table,
    "check_cell": _check_cell,
}


def compare_csv(
    result: FilePath | None,
    expected: FilePath | Sequence[FilePath] | None,
    *,
    strict: bool = True,
    ignore_case: bool = False,
    **_: Any,
) -> float:
    """1 if the lines are those of the expected file, or of one of several; not `strict`: but for outer blanks."""

    def lines(path: FilePath | None) -> list[str] | None:
        read = None if path is None else text_lines(path)
        if read is None:
            return None
        read = read if strict else [line.strip() for line in read]
        return [line.lower() for line in read] if ignore_case else read

    mine = lines(result)
    several: Sequence[Any] = expected if isinstance(expected, list | tuple) else [expected]
    return float(mine is not None and any(lines(path) == mine for path in several))


def compare_conference_city_in_order(result: FilePath | None, rules: Rule) -> float:
    """1 if C2 to C22 of the sheet in front hold these cities in this order; a list stands for several spellings."""
    if result is None:
        return 0.0
    sheet = Book(result).workbook.active
    cities = [cell.value for row in sheet["C2:C22"] for cell in row]
    wanted = rules["expected"]
    if len(wanted) < len(cities):
        return 0.0
    for city, spellings in zip(cities, wanted, strict=False):
        accepted = [spellings] if isinstance(spellings, str) else spellings
        if not isinstance(city, str) or not any(spelling in city for spelling in accepted):
            return 0.0
    return 1.0


METRICS = {
    "compare_table": compare_table,
    "compare_csv": compare_csv,
    "compare_conference_city_in_order": compare_conference_city_in_order,
}
