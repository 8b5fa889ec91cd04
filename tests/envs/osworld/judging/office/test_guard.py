"""Files that mean harm, or are broken, are refused with a sentence before a library opens them."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openpyxl")
pytest.importorskip("docx")
pytest.importorskip("pptx")

from eapo_gym.envs.osworld.judging.office import guard
from eapo_gym.envs.osworld.judging.office.guard import checked_archive, opened_image, xml_root
from eapo_gym.envs.osworld.judging.office.tables import compare_table
from eapo_gym.envs.osworld.judging.registry import Unreadable, metric
from tests.envs.osworld.judging.office.deck_files import make_deck
from tests.envs.osworld.judging.office.document_files import make_document
from tests.envs.osworld.judging.office.workbook_files import RULES, make_workbook, rewrite

LAUGHS = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]>'


def archive(path: Path, **parts: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in parts.items():
            written.writestr(name, content)
    return path


def test_a_part_that_unpacks_to_very_much(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="times their size"):
        checked_archive(archive(tmp_path / "bomb.xlsx", zeros=b"\0" * 2**24))


def test_more_xml_than_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "large.xlsx", text=random.Random(0).randbytes(4000))
    monkeypatch.setattr(guard, "LARGEST_XML", 3999)
    with pytest.raises(Unreadable, match="4000 XML"):
        checked_archive(path)


def test_too_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_PARTS", 2)
    with pytest.raises(Unreadable, match="it has 3"):
        checked_archive(archive(tmp_path / "many.xlsx", a=b"", b=b"", c=b""))


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LARGEST_FILE", 10)
    with pytest.raises(Unreadable, match="at most 10 bytes"):
        checked_archive(archive(tmp_path / "file.xlsx", a=b"1"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_entities(encoding: str, tmp_path: Path) -> None:
    xml = f'<?xml version="1.0" encoding="{encoding[:6].rstrip("-")}"?>{LAUGHS}<a>&c;</a>'.encode(encoding)
    with pytest.raises(Unreadable, match="entities"):
        checked_archive(archive(tmp_path / "laughs.docx", **{"word/document.xml": xml}))
    (tmp_path / "settings.xcu").write_bytes(xml)
    with pytest.raises(Unreadable, match="entities"):
        xml_root(tmp_path / "settings.xcu")


@pytest.mark.parametrize("encoding", ["utf-7", "cp037"])
def test_encodings_in_which_entities_could_hide(encoding: str, tmp_path: Path) -> None:
    xml = f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode("ascii" if encoding == "utf-7" else encoding)
    with pytest.raises(Unreadable, match="another encoding"):
        checked_archive(archive(tmp_path / "hidden.docx", **{"word/document.xml": xml}))


@pytest.mark.parametrize("tag", ["mergeCell", "hyperlink"])
def test_a_range_that_a_library_would_fill_with_cells(tag: str, tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "wide.xlsx", sparkline="")
    wide = f'<{tag}s><{tag} ref="A1:XFD1048576"/></{tag}s>'
    rewrite(path, "xl/worksheets/sheet2.xml", lambda xml: xml.replace("<pageMargins", f"{wide}<pageMargins"))
    with pytest.raises(Unreadable, match="merged or linked"):
        compare_table(path, path, rules=[RULES["freeze"]])


@pytest.mark.parametrize("rule", ["sheet_data", "style"])
def test_two_cells_far_apart(rule: str, tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"] = book.active["ZZ9999"] = 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(Unreadable, match="cells"):
        compare_table(tmp_path / "far.xlsx", tmp_path / "far.xlsx", rules=[RULES[rule]])


def test_a_picture_of_too_many_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    Image.new("1", (100, 100)).save(tmp_path / "picture.png")
    monkeypatch.setattr(guard, "MOST_PIXELS", 9_999)
    with pytest.raises(Unreadable, match="100 × 100"):
        opened_image(tmp_path / "picture.png", "picture.png")


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "other archive", "noise"])
def test_broken_files_are_refused(damage: str, tmp_path: Path) -> None:
    whole = {
        "compare_table": make_workbook(tmp_path / "a.xlsx"),
        "compare_docx_files": make_document(tmp_path / "a.docx"),
        "compare_pptx_files": make_deck(tmp_path / "a.pptx"),
    }
    for name, path in whole.items():
        content, broken = path.read_bytes(), tmp_path / f"broken{path.suffix}"
        noisy = bytearray(content)
        noisy[200:5000] = random.Random(0).randbytes(4800)
        damaged: dict[str, bytes] = {
            "cut": content[: len(content) // 2],
            "empty": b"",
            "text": b"sorry, no file",
            "other archive": archive(tmp_path / "other", hello=b"world").read_bytes(),
            "noise": bytes(noisy),
        }
        broken.write_bytes(damaged[damage])
        options: dict[str, Any] = {"rules": [RULES["sheet_data"]]} if name == "compare_table" else {}
        with pytest.raises(Unreadable, match=r"Expected .*broken"):
            metric(name)(broken, path, **options)


def test_a_part_that_is_not_there(tmp_path: Path) -> None:
    deck = make_deck(tmp_path / "a.pptx")
    with pytest.raises(Unreadable):
        metric("check_page_number_colors")(archive(tmp_path / "b.pptx", a=b"1"), {"color": "red"})
    assert (
        metric("check_transition")(archive(tmp_path / "c.pptx", a=b"1"), {"slide_idx": 0, "transition_type": "x"})
        == 0.0
    )
    assert checked_archive(deck) == deck, "a good file passes"
