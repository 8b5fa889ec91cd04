"""PDFs, text in pictures, and LibreOffice's settings."""

from __future__ import annotations

import random
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from eapo_gym.envs.osworld.judging.registry import CannotJudge, Unreadable, metric
from tests.envs.osworld.judging.office.pdf_files import make_pdf

needs_pypdf = pytest.mark.skipif(find_spec("pypdf") is None, reason="pypdf is not installed")


@needs_pypdf
def test_numbers_of_pages(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "two.pdf", "one", "two")
    check = metric("check_pdf_pages")
    verdicts = [check(path, {"relation": relation, "ref_value": 2}) for relation in ("eq", "ne", "le", "lt", "gt")]
    assert verdicts == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert check(None, {"relation": "eq", "ref_value": 2}) == 0.0


@needs_pypdf
def test_texts_of_pdfs(tmp_path: Path) -> None:
    one, same = (make_pdf(tmp_path / f"{name}.pdf", "Hello there", "General") for name in ("one", "same"))
    other = make_pdf(tmp_path / "other.pdf", "Hello where", "Particular")
    compare = metric("compare_pdfs")
    assert compare(one, same) == 1.0
    assert 0.3 < compare(other, one) < 0.9
    assert compare([one, None], [same, other]) == 0.5
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert compare(tmp_path / "broken.pdf", one) == 0.0
    with pytest.raises(Unreadable, match="Expected a PDF"):
        metric("check_pdf_pages")(tmp_path / "broken.pdf", {"relation": "eq", "ref_value": 0})


@needs_pypdf
def test_pictures_of_pdfs(tmp_path: Path) -> None:
    rng = random.Random(0)
    noise = bytes(rng.randrange(240) for _ in range(256))
    brighter = bytes(value + 9 for value in noise)
    mirrored = noise[::-1]
    one, similar, unlike = (
        make_pdf(tmp_path / f"{number}.pdf", "a", picture=picture)
        for number, picture in enumerate((noise, brighter, mirrored))
    )
    plain = make_pdf(tmp_path / "plain.pdf", "a")
    compare = metric("compare_pdf_images")
    assert [compare(path, one) for path in (one, similar, unlike, plain)] == [1.0, 1.0, 0.0, 0.0]
    assert compare(plain, plain) == 1.0


def test_text_in_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pil = pytest.importorskip("PIL.Image")
    from PIL import ImageDraw, ImageFont

    image = pil.new("RGB", (500, 120), "white")
    try:
        font = ImageFont.load_default(60)
    except (TypeError, OSError):
        pytest.skip("this Pillow has no font that can be scaled")
    ImageDraw.Draw(image).text((20, 20), "Hello 42", "black", font)
    image.save(tmp_path / "text.png")
    check = metric("compare_image_text")
    assert check(None, {"type": "text", "text": "Hello"}) == 0.0
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda program: None)
        with pytest.raises(CannotJudge, match="tesseract-ocr"):
            check(tmp_path / "text.png", {"type": "text", "text": "Hello"})
    if shutil.which("tesseract") is None:
        pytest.skip("the program tesseract is not installed: apt-get install tesseract-ocr")
    assert check(tmp_path / "text.png", {"type": "text", "text": "Hello 42"}) == 1.0
    assert check(tmp_path / "text.png", {"type": "text", "text": "Goodbye"}) == 0.0


def xcu(path: Path, *items: tuple[str, str, str]) -> Path:
    written = "".join(
        f'<item oor:path="{item}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for item, name, value in items
    )
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<oor:items xmlns:oor="http://openoffice.org/2001/registry">{written}</oor:items>'
    )
    return path


FONT = ("/org.openoffice.Office.Writer/DefaultFont", "Standard", "Times New Roman")
SAVING = ("/org.openoffice.Office.Common/Save/Document", "AutoSaveTimeIntervall", "3")
CONSOLE = ("/org.openoffice.Office.Impress/Misc/Start", "EnablePresenterScreen", "false")


def test_settings(tmp_path: Path) -> None:
    path, empty = xcu(tmp_path / "a.xcu", FONT, SAVING, CONSOLE), xcu(tmp_path / "b.xcu")
    font, saving, console = (
        metric(name) for name in ("find_default_font", "check_auto_saving_time", "check_presenter_console_disable")
    )
    assert [font(each, {"font_name": "Times New Roman"}) for each in (path, empty, None)] == [1.0, 0.0, 0.0]
    assert font(path, {"font_name": "Arial"}) == 0.0
    assert [saving(each, {"minutes": 3}) for each in (path, empty, None)] == [1.0, 0.0, 0.0]
    assert saving(path, {"minutes": 5}) == 0.0
    assert [console(each) for each in (path, empty, None)] == [1.0, 0.0, 0.0]
    assert console(xcu(tmp_path / "c.xcu", (*CONSOLE[:2], "true"))) == 0.0
    (tmp_path / "broken.xcu").write_text("<a>")
    with pytest.raises(Unreadable, match="broken"):
        font(tmp_path / "broken.xcu", {"font_name": "Arial"})


def test_locales(tmp_path: Path) -> None:
    item = "/org.openoffice.Setup/L10N"
    both = xcu(tmp_path / "a.xcu", (item, "ooLocale", "de"), (item, "ooSetupSystemLocale", "en-GB"))
    check = metric("check_libre_locale")
    assert check(both, {"locale_set": ["fr", "en-*"]}) == 1.0
    assert check(both, {"locale_set": ["de"]}) == 0.0
