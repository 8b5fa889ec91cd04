"""Workbooks and CSV files: each rule sees what it is about, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("openpyxl")

import openpyxl

from eapo_gym.envs.osworld.judging.office import tables
from eapo_gym.envs.osworld.judging.office.formulas import Error, FormulaError, parse
from eapo_gym.envs.osworld.judging.office.frames import read_frame
from eapo_gym.envs.osworld.judging.office.tables import compare_csv, compare_table
from eapo_gym.envs.osworld.judging.office.values import matches
from eapo_gym.envs.osworld.judging.office.workbooks import Book, Books
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.tasks import TaskFileError
from tests.envs.osworld.judging.office.workbook_files import CHANGES, RULES, make_workbook


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Book:
    return Book(make_workbook(tmp_path_factory.mktemp("base") / "base.xlsx"))


@pytest.mark.parametrize("name", CHANGES)
def test_rules_see_what_changed(name: str, base: Book, tmp_path: Path) -> None:
    change, seen_by = CHANGES[name]
    books = Books(Book(make_workbook(tmp_path / "mine.xlsx", change)), base)
    assert {rule for rule, asked in RULES.items() if not tables.RULES[asked["type"]](books, asked)} == seen_by


def test_sparklines(tmp_path: Path) -> None:
    one = make_workbook(tmp_path / "one.xlsx")
    two = make_workbook(tmp_path / "two.xlsx", sparkline="Sheet1!B2:B4")
    none = make_workbook(tmp_path / "none.xlsx", sparkline="")
    rule = [RULES["sparkline"]]
    assert [compare_table(path, one, rules=rule) for path in (one, two, none)] == [1.0, 0.0, 0.0]
    assert Book(one).sparklines("Sheet1") == {"G2": "Sheet1!B2:B5"}


def test_all_rules_must_hold(tmp_path: Path) -> None:
    one = make_workbook(tmp_path / "one.xlsx")
    (tmp_path / "other").mkdir()
    other = make_workbook(tmp_path / "other" / "one.xlsx", CHANGES["the freeze"][0])
    assert compare_table(one, one, rules=list(RULES.values())) == 1.0
    assert compare_table(other, one, rules=[RULES["sheet_data"], RULES["freeze"]]) == 0.0
    assert compare_table(other, one, rules=[RULES["sheet_data"]]) == 1.0
    assert compare_table(None, one, rules=[]) == 0.0


def test_a_rule_that_is_wrong_is_named(tmp_path: Path) -> None:
    one = make_workbook(tmp_path / "one.xlsx")
    with pytest.raises(TaskFileError, match="sheet_smell"):
        compare_table(one, one, rules=[{"type": "sheet_smell"}])
    with pytest.raises(TaskFileError, match="XI0"):
        compare_table(one, one, rules=[{**RULES["freeze"], "sheet_idx0": "XI0"}])
    with pytest.raises(TaskFileError, match="expects no workbook"):
        compare_table(one, None, rules=[RULES["freeze"]])
    assert compare_table(one, one, rules=[{**RULES["freeze"], "sheet_idx0": 9}]) == 0.0


def test_what_a_formula_gave_is_read_and_not_the_formula(tmp_path: Path) -> None:
    from tests.envs.osworld.judging.office.workbook_files import rewrite

    formula, value = tmp_path / "formula.xlsx", tmp_path / "value.xlsx"
    for path, content in ((formula, "=6*7"), (value, 42)):
        book = openpyxl.Workbook()
        book.active.append(["a"])
        book.active.append([content])
        book.save(path)
    rule = {"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}
    assert compare_table(formula, value, rules=[rule]) == 0.0, "nobody has worked it out"
    rewrite(
        formula,
        "xl/worksheets/sheet1.xml",
        lambda xml: xml.replace("<v></v>", "<v>42</v>").replace("<v />", "<v>42</v>").replace("<v/>", "<v>42</v>"),
    )
    assert compare_table(formula, value, rules=[rule]) == 1.0
    assert Book(formula).value("Sheet", "A2") == 42.0


def test_csv(tmp_path: Path) -> None:
    contents = {
        "one": "a,b\n1,2\n",
        "case": "A,b\n1,2\n",
        "blanks": " a,b\n1,2 \n",
        "windows": "a,b\r\n1,2",
        "more": "a,b\n1,2\n3",
    }
    paths = {name: tmp_path / name for name in contents}
    for name, content in contents.items():
        paths[name].write_bytes(content.encode())
    assert compare_csv(paths["windows"], paths["one"]) == 1.0
    assert [compare_csv(paths[name], paths["one"]) for name in ("case", "blanks", "more")] == [0.0, 0.0, 0.0]
    assert compare_csv(paths["case"], paths["one"], ignore_case=True) == 1.0
    assert compare_csv(paths["blanks"], paths["one"], strict=False) == 1.0
    assert compare_csv(paths["one"], [paths["more"], paths["windows"]]) == 1.0
    assert compare_csv(tmp_path / "none", tmp_path / "none") == 0.0
    assert compare_csv(None, paths["one"]) == 0.0


def test_cities_in_order(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["", "", "city"])
    for number in range(21):
        book.active.append(["", "", f"In City {number}, there"])
    path = tmp_path / "cities.xlsx"
    book.save(path)
    cities = [f"City {number}" for number in range(21)]
    compare = tables.compare_conference_city_in_order
    assert compare(path, {"expected": [["Town", "City 0"], *cities[1:]]}) == 1.0
    assert compare(path, {"expected": cities[::-1]}) == 0.0
    assert compare(path, {"expected": cities[:20]}) == 0.0


@pytest.mark.parametrize(
    ("value", "method", "reference", "holds"),
    [
        (5, "eq", 5, True),
        (5, "ne", 5, False),
        (None, "lt", 5, False),
        (260, "lt", 260, False),
        ("Abc", "re", "^a", False),
        ("Abc", "re.I", "^a", True),
        (5, "re", "5", False),
        ("5.04", "approx:0.1", 5, True),
        (5.2, "approx:0.1", 5, False),
        ("x", "approx:0.1", 5, False),
        (2, "range.te", [2, 3], False),
        (3, "range.te", [2, 3], True),
        ('"b,a"', "str_set_eq", ["a", "b"], True),
        ('"b,a"', "str_list_eq", ["a", "b"], False),
        (None, "str_set_eq", ["a"], False),
    ],
)
def test_values(value: object, method: str, reference: object, holds: bool) -> None:
    assert matches(value, {"method": method, "ref": reference}) is holds


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(TaskFileError, match="about"):
        matches(1, {"method": "about", "ref": 1})


class Cell:
    def __init__(self, value: object) -> None:
        self.value = value
        self.data_type = "n" if isinstance(value, int | float) and not isinstance(value, bool) else "s"


def columns(*rows: tuple[object, ...]) -> list[tuple[str, list[object]]]:
    frame = read_frame([[Cell(value) for value in row] for row in rows])
    return [(column.kind, list(column.cells)) for column in frame.columns]


def test_columns_are_understood_as_pandas_does() -> None:
    assert columns(("a", "b"), ("1", "TRUE"), (2, True)) == [("integer", [1, 2]), ("truth", [True, True])]
    assert columns(("a",), (1.0,), ("2.5",)) == [("float", [1.0, 2.5])]
    assert columns(("a",), (1,), ("x",)) == [("object", [1, "x"])]
    assert columns(("a",), (2**63,), (1,))[0][0] == "large"
    assert read_frame([[Cell("a"), Cell("a"), Cell(None), Cell("x")]]).headers == ["a", "a.1", "Unnamed: 2", "x"]
    nothing = read_frame([[Cell("a")], [Cell("NA")], [Cell(1)]])
    assert nothing.same(read_frame([[Cell("a")], [Cell(None)], [Cell("1")]]), 4)
    assert not nothing.same(read_frame([[Cell("a")], [Cell(0)], [Cell(1)]]), 4)


def test_a_sheet_that_is_too_large_is_refused() -> None:
    with pytest.raises(Unreadable, match="cells"):
        read_frame([Cell(None)] * 16_384 for _ in range(1_000_000))


@given(
    st.lists(
        st.lists(st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4), max_size=4), max_size=5
    )
)
@settings(max_examples=60, deadline=None)
def test_a_frame_is_the_same_as_itself(rows: list[list[object]]) -> None:
    cells = [[Cell(value) for value in row] for row in rows]
    assert read_frame(cells).same(read_frame(cells), 4)


@pytest.mark.parametrize(
    ("formula", "values", "gives"),
    [
        ("2+3*4^2/8-1", (), 7.0),
        ("-2^2", (), 4.0),
        ("50%*2", (), 1.0),
        ('"a"&1&TRUE', (), "a1TRUE"),
        ("A1>5", (7,), True),
        ("A1>5", ("text",), True),
        ('$A1="pass"', ("Pass",), True),
        ("WEEKDAY(A1,2)>5", (45353,), True),
        ('NOT(ISERROR(SEARCH("x",A1)))', ("Axe",), True),
        ('NOT(ISERROR(SEARCH("x",A1)))', ("ae",), False),
        ("A1-1", ("text",), Error()),
        ("1/0", (), Error("#DIV/0!")),
        ("IFERROR(1/0,5)", (), 5),
        ("IF(A1>1,\"yes\",\"no\")", (0,), "no"),
        ("AND(A1>1,OR(A1<9,A1=10))", (10,), True),
        ("COUNTIF($A$1:$A$3,A1)>1", (4, [4, 4, 1]), True),
        ('COUNTIF($A$1:$A$3,">1")', ([4, 4, 1],), 2),
        ("A1>AVERAGE($B$1:$B$2)", (3, [1, 3]), True),
        ("MOD(A1,2)=0", (4,), True),
        ('LEFT(A1,2)="ab"', ("abc",), True),
        ("Sheet1!$B$2*2", (4,), 8),
        ('LEN(TRIM(A1))=0', ("  ",), True),
        ("ROUND(2.345,2)", (), 2.35),
    ],
)  # fmt: skip
def test_formulas(formula: str, values: tuple[object, ...], gives: object) -> None:
    result = parse(formula)(*values)
    assert result == pytest.approx(gives) if isinstance(gives, float) else result == gives


@pytest.mark.parametrize(
    "formula", ["", "1+", "(1", "SUM(1", "name", "SHELL(1)", "1 2", "=1", "(" * 100 + "1" + ")" * 100, "{1}"]
)
def test_a_formula_that_is_not_understood_is_said_to_be_so(formula: str) -> None:
    with pytest.raises(FormulaError):
        parse(formula)


@given(st.text('A1$:(),+-*/^&<>="%. ANDIFTRUE', max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_formula_or_is_refused(text: str) -> None:
    try:
        formula = parse(text)
    except FormulaError:
        return
    formula(*([1.0] * len(formula.references)))
