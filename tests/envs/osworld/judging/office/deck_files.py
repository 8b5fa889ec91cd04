"""Presentations for tests: one with something for every check, and ways to make it another."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_UNDERLINE, PP_ALIGN
from pptx.util import Emu, Inches, Pt

from tests.envs.osworld.judging.office.document_files import picture

Change = Callable[[Any], Any]
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def make_deck(path: Path, *changes: Change) -> Path:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Product Comparison"
    lines = first.placeholders[1].text_frame
    lines.text = "first line"
    lines.add_paragraph().text = "second line"
    lines.paragraphs[1].level = 1
    run = lines.paragraphs[0].runs[0]
    run.font.name, run.font.size, run.font.bold, run.font.italic = "Arial", Pt(20), True, False
    run.font.color.rgb = RGBColor(10, 20, 30)
    first.notes_slide.notes_text_frame.text = "a note"
    first.shapes.add_picture(picture(), Inches(1), Inches(5), Inches(1), Inches(1))
    first.background.fill.solid()
    first.background.fill.fore_color.rgb = RGBColor(200, 0, 0)

    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Elaborate on what you want to discuss."
    second.shapes.add_picture(picture(), Inches(1), Inches(1), Inches(2), Inches(2))
    group = second.shapes.add_group_shape()
    box = group.shapes.add_textbox(Inches(5), Inches(5), Inches(2), Inches(1))
    box.text_frame.text = "in a group"

    third = deck.slides.add_slide(deck.slide_layouts[6])
    table = third.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(6), Inches(2)).table
    table.cell(0, 0).text = "head"
    table.cell(1, 1).text = "42"
    shape = third.shapes.add_shape(MSO_SHAPE.OVAL, Inches(1), Inches(5), Inches(2), Inches(2))
    shape.text_frame.text = "7"
    third.shapes.build_freeform().add_line_segments([(914400, 0), (914400, 914400)]).convert_to_shape()
    for change in changes:
        change(deck)
    deck.save(str(path))
    return path


def _shape(slide: int, place: int, act: Callable[[Any], Any]) -> Change:
    return lambda deck: act(deck.slides[slide].shapes[place])


def _run(act: Callable[[Any], Any], paragraph: int = 0) -> Change:
    return _shape(0, 1, lambda shape: act(shape.text_frame.paragraphs[paragraph].runs[0]))


def _font(name: str, value: Any) -> Change:
    return _run(lambda run: setattr(run.font, name, value))


def _cell(act: Callable[[Any], Any]) -> Change:
    return _shape(2, 0, lambda shape: act(shape.table.cell(0, 0)))


def _cell_font(name: str, value: Any) -> Change:
    return _cell(lambda cell: setattr(cell.text_frame.paragraphs[0].runs[0].font, name, value))


def _background(slide: int, color: tuple[int, int, int] | MSO_THEME_COLOR | None) -> Change:
    def change(deck: Any) -> None:
        fill = deck.slides[slide].background.fill
        if color is None:
            fill.background()
            return
        fill.solid()
        if isinstance(color, tuple):
            fill.fore_color.rgb = RGBColor(*color)
        else:
            fill.fore_color.theme_color = color

    return change


def _master_background(deck: Any) -> None:
    fill = deck.slide_master.background.fill
    fill.solid()
    fill.fore_color.rgb = RGBColor(0, 100, 0)


def _bullet(character: str) -> Change:
    def change(run: Any) -> None:
        properties = run._r.getparent().get_or_add_pPr()
        etree.SubElement(properties, f"{{{DRAWING}}}buChar").set("char", character)

    return _run(change)


def _empty_run(shape: Any) -> None:
    shape.text_frame.paragraphs[0].add_run().text = ""


def _delete_slide(deck: Any) -> None:
    slides = deck.slides._sldIdLst
    slides.remove(slides[-1])


def _text(slide: int, place: int, text: str) -> Change:
    return _shape(slide, place, lambda shape: setattr(shape.text_frame.paragraphs[0].runs[0], "text", text))


def _move(slide: int, place: int, **where: int) -> Change:
    return _shape(slide, place, lambda shape: [setattr(shape, name, Emu(value)) for name, value in where.items()])


def _remove(slide: int, place: int) -> Change:
    return _shape(slide, place, lambda shape: shape._element.getparent().remove(shape._element))


def _grouped(act: Callable[[Any], Any]) -> Change:
    return _shape(1, 2, lambda group: act(group.shapes[0]))


def _video(deck: Any) -> None:
    deck.slides[0].shapes.add_movie(io.BytesIO(b"\0" * 64), 0, 0, Inches(1), Inches(1), mime_type="video/mp4")


CHANGES: Mapping[str, Change] = {
    "nothing": lambda deck: None,
    "a slide more": lambda deck: deck.slides.add_slide(deck.slide_layouts[6]),
    "a slide less": _delete_slide,
    "a shape more": lambda deck: deck.slides[0].shapes.add_textbox(0, 0, 914400, 914400),
    "a shape less": _remove(0, 2),
    "no group": _remove(1, 2),
    "a text": _text(0, 1, "first lines"),
    "a blank": _text(2, 1, "7 "),
    "a title": _text(0, 0, "Products"),
    "a text in a group": _grouped(lambda shape: setattr(shape.text_frame.paragraphs[0].runs[0], "text", "grouped")),
    "a side in a group": _grouped(lambda shape: setattr(shape.text_frame.paragraphs[0], "alignment", PP_ALIGN.RIGHT)),
    "a shape in a group": _shape(1, 2, lambda group: group.shapes.add_textbox(0, 0, 9, 9)),
    "a paragraph more": _shape(0, 1, lambda shape: shape.text_frame.add_paragraph()),
    "a run more": _shape(0, 1, lambda shape: setattr(shape.text_frame.paragraphs[0].add_run(), "text", " ")),
    "an empty run more": _shape(0, 1, _empty_run),
    "a level": _shape(0, 1, lambda shape: setattr(shape.text_frame.paragraphs[0], "level", 2)),
    "a side": _shape(0, 1, lambda shape: setattr(shape.text_frame.paragraphs[0], "alignment", PP_ALIGN.CENTER)),
    "the left side spelled out": _shape(
        0, 1, lambda shape: setattr(shape.text_frame.paragraphs[0], "alignment", PP_ALIGN.LEFT)
    ),
    "a font": _font("name", "Times"),
    "no font": _font("name", None),
    "a size": _font("size", Pt(21)),
    "not bold": _font("bold", False),
    "bold not said": _font("bold", None),
    "italic": _font("italic", True),
    "italic not said": _font("italic", None),
    "underlined": _font("underline", True),
    "underlined twice": _font("underline", MSO_UNDERLINE.DOUBLE_LINE),
    "not underlined": _font("underline", False),
    "struck through": _run(lambda run: run.font._element.set("strike", "sngStrike")),
    "not struck through": _run(lambda run: run.font._element.set("strike", "noStrike")),
    "a colour": _run(lambda run: setattr(run.font.color, "rgb", RGBColor(255, 0, 0))),
    "a theme's colour": _run(lambda run: setattr(run.font.color, "theme_color", MSO_THEME_COLOR.ACCENT_2)),
    "no colour": _run(lambda run: run.font.fill.background()),
    "a bullet": _bullet("•"),
    "another bullet": _bullet("-"),
    "a note": lambda deck: setattr(deck.slides[0].notes_slide.notes_text_frame, "text", "notes"),
    "a new note": lambda deck: setattr(deck.slides[1].notes_slide.notes_text_frame, "text", "notes"),
    "a blank note": lambda deck: setattr(deck.slides[1].notes_slide.notes_text_frame, "text", " "),
    "a background": _background(0, (0, 0, 200)),
    "another background": _background(1, (200, 0, 0)),
    "no background": _background(0, None),
    "a theme's background": _background(0, MSO_THEME_COLOR.ACCENT_1),
    "the master's background": _master_background,
    "the title lower": _move(0, 0, left=457200, top=4_000_000, width=8229600, height=1143000),
    "the title a little lower": _move(0, 0, left=457200, top=400_000, width=8229600, height=1143000),
    "the picture at the right": _move(1, 1, left=5_000_000),
    "the picture a little to the right": _move(1, 1, left=1_000_000),
    "the picture higher": _move(1, 1, top=100_000),
    "the picture lower": _move(1, 1, top=3_000_000),
    "the picture a thousandth off": _move(1, 1, top=914_900),
    "the picture wider": _move(1, 1, width=3_000_000),
    "the picture higher up and larger": _move(1, 1, left=0, top=0, width=9_144_000, height=6_858_000),
    "the first picture on all of the slide": _move(0, 2, left=0, top=0, width=9_144_000, height=6_858_000),
    "the first picture on nearly all of it": _move(0, 2, left=300_000, top=0, width=8_800_000, height=6_500_000),
    "the table lower": _move(2, 0, top=4_000_000),
    "the table a little lower": _move(2, 0, top=1_000_000),
    "the oval higher": _move(2, 1, height=900_000),
    "the freeform higher": _move(2, 2, height=400_000),
    "the freeform moved": _move(2, 2, left=300_000),
    "the picture of another height": _move(1, 1, height=900_000),
    "the discussion moved": _move(1, 0, left=0, top=3_000_000, width=914_400, height=914_400),
    "a cell": _cell(lambda cell: setattr(cell.text_frame.paragraphs[0].runs[0], "text", "heads")),
    "an empty cell": _cell(lambda cell: setattr(cell, "text", "")),
    "two lines in a cell": _cell(lambda cell: cell.text_frame.add_paragraph()),
    "a bold cell": _cell_font("bold", True),
    "a cell that is not bold": _cell_font("bold", False),
    "an italic cell": _cell_font("italic", True),
    "an underlined cell": _cell_font("underline", True),
    "a cell of another size": _cell_font("size", Pt(9)),
    "a red cell": _cell(
        lambda cell: setattr(cell.text_frame.paragraphs[0].runs[0].font.color, "rgb", RGBColor(255, 0, 0))
    ),
    "another table": _shape(2, 0, lambda shape: shape.table._tbl.remove(shape.table._tbl.tr_lst[1])),
    "an upright slide": lambda deck: [
        setattr(deck, name, Inches(value)) for name, value in (("slide_width", 7), ("slide_height", 10))
    ],
    "a video": _video,
}

OPTIONS: tuple[Mapping[str, Any], ...] = (
    {},
    {"examine_shape": False},
    {"examine_number_of_slides": False},
    {"examine_shape": False, "examine_title_bottom_position": True},
    {"examine_shape": False, "examine_table_bottom_position": True},
    {"examine_shape": False, "examine_right_position": True},
    {"examine_shape": False, "examine_top_position": True},
    {"examine_shape": False, "examine_shape_for_shift_size": True},
    {"examine_shape": False, "examine_image_size": True},
    {"examine_shape": False, "examine_modify_height": True},
    {"examine_text": False, "examine_alignment": False, "examine_bullets": False, "examine_note": False},
    {"examine_font_name": False, "examine_font_size": False, "examine_font_bold": False, "examine_indent": False},
    {"examine_color_rgb": False, "examine_font_underline": False, "examine_strike_through": False},
    {"examine_background_color": False, "examine_font_italic": False, "approximately_tolerance": 0.2},
)
