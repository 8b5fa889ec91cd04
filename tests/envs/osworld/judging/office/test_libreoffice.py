"""Files that LibreOffice saved again keep their verdict, and what it works out and prints is judged."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openpyxl")
pytest.importorskip("docx")
pytest.importorskip("pptx")

import openpyxl

from eapo_gym.envs.osworld.judging.registry import metric
from tests.envs.osworld.judging.office.deck_files import CHANGES as DECKS
from tests.envs.osworld.judging.office.deck_files import make_deck
from tests.envs.osworld.judging.office.document_files import CHANGES as DOCUMENTS
from tests.envs.osworld.judging.office.document_files import make_document
from tests.envs.osworld.judging.office.workbook_files import CHANGES, RULES, make_workbook

SOFFICE = shutil.which("soffice")
CSV = "csv:Text - txt - csv (StarCalc):44,34,UTF-8,,,,false,true,true,false,false,1"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SOFFICE is None, reason="the program soffice (LibreOffice) is not installed"),
]


@pytest.fixture
def convert(tmp_path: Path) -> Any:
    """Has LibreOffice write files in another folder, in one run."""

    def run(kind: str, *paths: Path) -> list[Path]:
        folder = tmp_path / "converted"
        command = [
            str(SOFFICE), f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", kind,
            "--outdir", str(folder), *map(str, paths),
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        suffix = kind.partition(":")[0]
        written = [folder / path.with_suffix(f".{suffix}").name for path in paths]
        if not all(path.is_file() for path in written):
            if suffix != "csv":
                pytest.skip(f"this LibreOffice does not write {suffix}: {ran.stderr.strip()[:200]}")
            return sorted(folder.glob("*.csv"))
        return written

    return run


def test_workbooks(convert: Any, tmp_path: Path) -> None:
    base = make_workbook(tmp_path / "base.xlsx")
    names = ("nothing", "a number above the limit of formatting", "no validation", "a row shown", "a fill")
    rules = ("sheet_name", "sheet_data", "fuzzy_exact", "style", "data_validation", "row_props", "check_cell")
    made = [make_workbook(tmp_path / f"{number}.xlsx", CHANGES[name][0]) for number, name in enumerate(names)]
    expected, *saved = convert("xlsx", base, *made)
    for rule in rules:
        verdicts = [metric("compare_table")(path, expected, rules=[RULES[rule]]) for path in saved]
        assert verdicts == [float(rule not in CHANGES[name][1]) for name in names], rule


def test_what_a_sheet_prints(convert: Any, tmp_path: Path) -> None:
    """As a task does it: the workbook, and beside it the CSV that LibreOffice made of its first sheet."""
    paths = []
    for name, content in (("mine", "=0.1+0.2"), ("same", 0.3), ("other", 0.4)):
        book = openpyxl.Workbook()
        book.active.title = "Sheet1"
        book.active.append(["Amount"])
        book.active.append([content])
        book.active["A2"].number_format = "0.00"
        paths.append(tmp_path / f"{name}.xlsx")
        book.save(paths[-1])
    for path in paths:
        (printed,) = convert(CSV, path)
        printed.rename(path.with_name(f"{path.stem}-Sheet1.csv"))
    mine, same, other = paths
    rules = [RULES["sheet_print"]]
    assert [metric("compare_table")(mine, path, rules=rules) for path in (same, other)] == [1.0, 0.0]
    worked_out, value = convert("xlsx", mine, same)
    assert metric("compare_table")(worked_out, value, rules=[RULES["sheet_data"]]) == 1.0, "formulas are worked out"


def test_documents(convert: Any, tmp_path: Path) -> None:
    base = make_document(tmp_path / "base.docx")
    checks = (
        *("compare_docx_files", "compare_docx_tables", "compare_line_spacing", "check_italic_font_size_14"),
        *("evaluate_colored_words_in_tables", "evaluate_strike_through_last_paragraph", "compare_subscript_contains"),
    )
    names = (
        *("nothing", "a word", "a cell", "a spacing", "larger", "a cell in blue", "not struck through"),
        "no subscript",
    )
    made = [make_document(tmp_path / f"{number}.docx", DOCUMENTS[name]) for number, name in enumerate(names)]
    expected, *saved = convert("docx", base, *made)
    for check in checks:
        before = [metric(check)(path, base) for path in made]
        assert [metric(check)(path, expected) for path in saved] == before, check
    assert metric("is_first_line_centered")(expected) == 1.0
    assert metric("contains_page_break")(expected, {}) == 1.0


def test_presentations(convert: Any, tmp_path: Path) -> None:
    base = make_deck(tmp_path / "base.pptx")
    names = ("nothing", "a text", "a colour", "the oval higher", "a side", "struck through", "a note", "a background")
    made = [make_deck(tmp_path / f"{number}.pptx", DECKS[name]) for number, name in enumerate(names)]
    expected, *saved = convert("pptx", base, *made)
    compare = metric("compare_pptx_files")
    assert [compare(path, expected) for path in saved] == [float(name == "nothing") for name in names]
    assert compare(saved[3], expected, examine_shape=False) == 1.0
