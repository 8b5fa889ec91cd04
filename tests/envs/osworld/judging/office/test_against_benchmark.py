"""The verdicts of our metrics and the benchmark's, over the same files.

A metric of the benchmark that raises is worth 0 there. Where it raises over files that are right, ours may say so:
`THEY_RAISE` names what is known of these.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from eapo_gym.envs.osworld.judging.office.colors import difference
from eapo_gym.envs.osworld.judging.office.similarity import similarity
from eapo_gym.envs.osworld.judging.registry import Unreadable, metric
from tests.envs.osworld.judging.office import deck_files, document_files, workbook_files
from tests.envs.osworld.judging.office.oracle import Oracle, benchmark
from tests.envs.osworld.judging.office.pdf_files import make_pdf

pytest.importorskip("openpyxl")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

THEY_RAISE = ("no .rgb property on color type '_SchemeColor'",)
"""What theirs trips over though the files are right: the background has one of the theme's colours."""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    yield from benchmark()


@pytest.fixture
def same(oracle: Oracle, record_property: Any) -> Iterator[Any]:
    """A function that asks both, and fails at the end with all that differ."""
    asked, differing = 0, []

    def ask(about: str, name: str, *arguments: Any, **options: Any) -> None:
        nonlocal asked
        theirs = oracle.ask(name, *arguments, **options)
        try:
            ours = float(metric(name)(*arguments, **options))
        except Unreadable:
            ours = 0.0
        asked += 1
        raised = isinstance(theirs, str)
        known = raised and any(each in str(theirs) for each in THEY_RAISE)
        if not known and abs((0.0 if raised else float(theirs)) - ours) > 1e-9:
            differing.append(f"{about}: {name} {json.dumps(options, default=str)[:120]} gives {ours}, theirs {theirs}")

    yield ask
    record_property("verdicts", asked)
    assert asked
    assert not differing, f"{len(differing)} of {asked}:\n" + "\n".join(differing[:20])


def test_tables(same: Any, tmp_path: Path) -> None:
    rng = random.Random(0)
    base = workbook_files.make_workbook(tmp_path / "base.xlsx")
    for number, (name, (change, seen)) in enumerate(workbook_files.CHANGES.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        mine = workbook_files.make_workbook(folder / "mine.xlsx", change)
        for rule in sorted(seen | set(rng.sample(sorted(workbook_files.RULES), 3))):
            same(f"{name}, {rule}", "compare_table", str(mine), str(base), rules=[workbook_files.RULES[rule]])
    other = workbook_files.make_workbook(tmp_path / "other.xlsx", sparkline="Sheet1!B2:B4")
    same("sparkline", "compare_table", str(other), str(base), rules=[workbook_files.RULES["sparkline"]])


CELLS: tuple[Any, ...] = (
    *(None, "", " ", "NA", "nan", "null", "N/A ", "a", "b", "A", "True", "FALSE", "true", True, False),
    *(0, 1, 2, -3, 7, 2**40, 1.0, 1.5, 0.1 + 0.2, 0.3, 1.00004, 1.00006, 1e300, -0.0),
    *("1", "2 ", " 7", "1.5", "1e3", "1e", ".5", "-3", "+4", "inf", "1,5", "0x1", "12%", "1_0", "00012", "1e999"),
    *(
        datetime(2024, 1, 2),
        datetime(2024, 1, 2, 3, 4, 5),
        time(3, 4),
        timedelta(hours=30),
        "2024-01-02",
        "#N/A",
        "=1+1",
    ),
)


def _random_sheet(path: Path, rng: random.Random) -> list[list[Any]]:
    pools = [rng.sample(CELLS, rng.randint(1, 4)) for _ in range(rng.randint(1, 4))]
    rows = [[rng.choice(pool) for pool in pools] for _ in range(rng.randint(0, 5))]
    return [[rng.choice(("h", "h", "", None, 1, "k", True, datetime(2024, 1, 2))) for _ in pools], *rows]


def _write(path: Path, rows: list[list[Any]]) -> str:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return str(path)


def test_values_of_sheets(same: Any, tmp_path: Path) -> None:
    """Cells of every kind, against the same and against a sheet with one other cell: pandas' rules are ours."""
    rng = random.Random(1)
    rule = {"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}
    for number in range(300):
        rows = _random_sheet(tmp_path, rng)
        other = [list(row) for row in rows]
        place = rng.randrange(len(rows))
        other[place][rng.randrange(len(rows[0]))] = rng.choice(CELLS)
        mine, wanted = _write(tmp_path / f"{number}a.xlsx", rows), _write(tmp_path / f"{number}b.xlsx", other)
        same(f"{rows} and {other}", "compare_table", mine, wanted, rules=[{**rule, "precision": rng.choice((4, 0, 2))}])


CONDITIONS = (
    *("A2>5", "A2>=7", '$A2="pass"', "WEEKDAY(A2,2)>5", 'NOT(ISERROR(SEARCH("s",A2)))', 'LEFT(A2,1)="x"', "A2<>7"),
    *("A2>AVERAGE($A$2:$A$3)", "COUNTIF($A$2:$A$4,A2)>1", "A2=MAX($A$2:$A$3)", "ISNUMBER(A2)", "ISBLANK(A2)"),
    *("LEN(TRIM(A2))=4", "OR(A2=1,A2=7)", "AND(A2>1,A2<7)", 'A2&"x"="7x"', "MOD(A2,2)=1", "A2-1>5", "B2>A2"),
    *("A2^2>48", "MOD(ROW(),2)=0", "1+", "NOSUCH(A2)", "-A2<0", "50%>A2", 'EXACT(A2,"pass")'),
)


def test_conditional_formatting(same: Any, tmp_path: Path) -> None:
    """A sheet with a condition, and the sheets in which the cells are filled on which it could have an effect."""
    yellow = openpyxl.styles.PatternFill("solid", fgColor="FFFFFF00", bgColor="FFFFFF00")
    rule = {"type": "style", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["bgcolor"]}

    def book(name: str, *filled: str, condition: Any = None) -> str:
        workbook = openpyxl.Workbook()
        for value in ("head", 7, 3, "Pass"):
            workbook.active.append([value])
        for place in filled:
            workbook.active[place].fill = yellow
        if condition is not None:
            workbook.active.conditional_formatting.add("A2:A4", condition)
        workbook.save(tmp_path / name)
        return str(tmp_path / name)

    fills = ((), ("A2",), ("A3",), ("A4",), ("A2", "A3"), ("A2", "A4"), ("A2", "A3", "A4"))
    plain = [book(f"{number}.xlsx", *filled) for number, filled in enumerate(fills)]
    conditions = [openpyxl.formatting.rule.FormulaRule([condition], fill=yellow) for condition in CONDITIONS]
    for kind in ("between", "notBetween", "greaterThan", "lessThanOrEqual", "equal", "notEqual"):
        bounds = ["4", "8"] if "etween" in kind else ["7"]
        conditions.append(openpyxl.formatting.rule.CellIsRule(kind, bounds, fill=yellow))
    conditions.append(openpyxl.formatting.rule.CellIsRule("equal", ['"Pass"'], fill=yellow))
    for condition in conditions:
        mine = book("mine.xlsx", condition=condition)
        for filled, wanted in zip(fills, plain, strict=True):
            same(f"{condition.operator} {condition.formula} as {filled}", "compare_table", mine, wanted, rules=[rule])


def test_documents(same: Any, tmp_path: Path) -> None:
    base = str(document_files.make_document(tmp_path / "base.docx"))
    for name, change in document_files.CHANGES.items():
        mine = str(document_files.make_document(tmp_path / "mine.docx", change))
        for paired, several in document_files.PAIRED.items():
            for options in several:
                same(name, paired, mine, base, **options)
        same(name, "compare_unique_train_records", mine, [base, base])
        for alone, rules in document_files.ALONE.items():
            for rule in rules:
                same(name, alone, mine, rule)
        for plain in document_files.WITHOUT_RULES:
            same(name, plain, mine)


def test_presentations(same: Any, tmp_path: Path) -> None:
    rng = random.Random(3)
    base = str(deck_files.make_deck(tmp_path / "base.pptx"))
    for name, change in deck_files.CHANGES.items():
        mine = str(deck_files.make_deck(tmp_path / "mine.pptx", change))
        for options in (deck_files.OPTIONS[0], *rng.sample(deck_files.OPTIONS[1:], 4)):
            same(name, "compare_pptx_files", mine, base, **options)
        same(name, "check_image_stretch_and_center", mine, base)
        for plain in ("check_slide_orientation_Portrait", "check_slide_numbers_color"):
            same(name, plain, mine)
        for rules in ({"rgb": [0, 0, 200]}, {"rgb": [0, 0, 200], "original_rgb": [200, 0, 0]}):
            same(name, "evaluate_presentation_fill_to_rgb_distance", mine, rules)
        struck = {"slide_index_s": [0], "shape_index_s": [1], "paragraph_index_s": [0]}
        same(name, "check_strikethrough", mine, struck)


def test_masters_and_transitions(same: Any, tmp_path: Path) -> None:
    for number, color in enumerate(("FF0000", "0000FF", "00FF00", "000000", "F00F00", "123456")):
        path = deck_files.make_deck(tmp_path / f"{number}.pptx")
        fill = f'<a:solidFill xmlns:a="{deck_files.DRAWING}"><a:srgbClr val="{color}"/></a:solidFill>'
        workbook_files.rewrite(
            path,
            "ppt/slideMasters/slideMaster1.xml",
            lambda xml, fill=fill: xml.replace("<p:txStyles>", f"{fill * 2}<p:txStyles>"),
        )
        for name in ("red", "blue", "green", "black", "pink"):
            same(color, "check_page_number_colors", str(path), {"color": name})
    path = deck_files.make_deck(tmp_path / "transition.pptx")
    workbook_files.rewrite(
        path,
        "ppt/slides/slide1.xml",
        lambda xml: (
            xml.replace("<p:timing", "<p:transition><p:dissolve/></p:transition><p:timing")
            if "<p:timing" in xml
            else xml.replace("</p:sld>", "<p:transition><p:dissolve/></p:transition></p:sld>")
        ),
    )
    for place in (0, 1, 9):
        for kind in ("dissolve", "fade"):
            same(str(place), "check_transition", str(path), {"slide_idx": place, "transition_type": kind})


def test_texts_and_settings(same: Any, tmp_path: Path) -> None:
    texts = {
        name: tmp_path / f"{name}.csv"
        for name in ("one", "two", "case", "blanks", "latin", "returns", "byte", "missing")
    }
    contents = (
        b"a,b\n1,2\n",
        b"a,b\n1,3\n",
        b"A,b\n1,2\n",
        b" a,b \n1,2",
        b"\xe9,b\n",
        b"a,b\r\n1,2\r\n",
        b"\xef\xbb\xbfa,b\n1,2\n",
    )
    for path, content in zip(texts.values(), contents, strict=False):
        path.write_bytes(content)
    for one in texts.values():
        for other in texts.values():
            for options in ({}, {"strict": False}, {"ignore_case": True, "strict": False}):
                same(one.name, "compare_csv", str(one), str(other), **options)
        same(one.name, "compare_csv", str(one), [str(texts["two"]), str(texts["latin"])])
    for number, value in enumerate(("3", "5", "x", "")):
        path = tmp_path / f"{number}.xcu"
        path.write_text(_settings(value))
        same(value, "check_auto_saving_time", str(path), {"minutes": 3})
        same(value, "find_default_font", str(path), {"font_name": "3"})
        same(value, "check_libre_locale", str(path), {"locale_set": ["3", "en*"]})
    for value in ("true", "FALSE", "false"):
        path.write_text(_settings("3", value))
        same(value, "check_presenter_console_disable", str(path))


def _settings(value: str, shown: str = "true") -> str:
    def item(path: str, name: str, value: str) -> str:
        return f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'

    return (
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        + item("/org.openoffice.Office.Common/Save/Document", "AutoSaveTimeIntervall", value)
        + item("/org.openoffice.Office.Writer/DefaultFont", "Standard", value)
        + item("/org.openoffice.Office.Impress/Misc/Start", "EnablePresenterScreen", shown)
        + item("/org.openoffice.Setup/L10N", "ooLocale", value)
        + "</oor:items>"
    )


def test_cities(same: Any, tmp_path: Path) -> None:
    cities = [f"City {number}" for number in range(21)]
    for name, listed in (
        ("right", cities),
        ("swapped", cities[::-1]),
        ("one less", cities[:20]),
        ("number", [*cities[:20], 5]),
    ):
        rows = [["a", "b", "c"], *(["", "", city] for city in listed)]
        path = _write(tmp_path / f"{name}.xlsx", rows)
        same(name, "compare_conference_city_in_order", path, {"expected": [["x", "City"], *cities[1:]]})
        same(name, "compare_conference_city_in_order", path, {"expected": cities[:5]})


def test_pages(same: Any, tmp_path: Path) -> None:
    one = str(make_pdf(tmp_path / "one.pdf", "Hello there\nGeneral", "Second page"))
    two = str(make_pdf(tmp_path / "two.pdf", "Hello there\nGeneral", "Second page"))
    three = str(make_pdf(tmp_path / "three.pdf", "Hello"))
    for relation in ("eq", "lt", "ge"):
        for path in (one, three):
            same(relation, "check_pdf_pages", path, {"relation": relation, "ref_value": 2})
    same("equal texts", "compare_pdfs", one, two)
    same("equal files of several", "compare_pdfs", [one, three], [two, three])
    same("a missing one", "compare_pdfs", str(tmp_path / "none.pdf"), two)


def test_colors_are_as_far_apart(oracle: Oracle) -> None:
    for one, other in np.random.default_rng(0).integers(0, 256, (300, 2, 3)).tolist():
        assert difference(one, other) == pytest.approx(oracle.ask("color_difference", one, other), abs=1e-6)


def test_texts_are_as_similar(oracle: Oracle) -> None:
    rng = random.Random(2)
    for _ in range(300):
        one, other = ("".join(rng.choices("abc é", k=rng.choice((0, 1, 5, 40, 200)))) for _ in range(2))
        assert similarity(one, other) == oracle.ask("text_similarity", one, other)
