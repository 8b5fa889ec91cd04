"""Documents for tests: one with something for every metric, and ways to make it another."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK, WD_COLOR_INDEX, WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement
from docx.shared import Inches, Pt, RGBColor
from PIL import Image

Change = Callable[[Any], Any]
RED, BLUE = RGBColor(255, 0, 0), RGBColor(0, 0, 255)
TRAINS = ("08:00:00,T1,S1,4", "08:05:00,T2,S1,2", "08:09:00,T3,S2,1")
REFERENCES = ("References", "Smith, J. (2020). On things.", "", "Doe, A. (2021). On other things.")


def picture(color: str = "red") -> io.BytesIO:
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(stream, "PNG")
    stream.seek(0)
    return stream


def make_document(path: Path, *changes: Change) -> Path:
    document = Document()
    title = document.add_paragraph("A Title here")
    title.alignment = WD_ALIGN_PARAGRAPH.CENTER
    title.paragraph_format.line_spacing = 1.0
    body = document.add_paragraph("one two three\tfour five")
    body.paragraph_format.line_spacing = 2.0
    body.paragraph_format.tab_stops.add_tab_stop(Inches(3), WD_TAB_ALIGNMENT.RIGHT)
    last_of_three = document.add_paragraph("H2O is not quiet")
    last_of_three.paragraph_format.line_spacing = 1.5
    run = last_of_three.add_run("2")
    run.font.subscript = True
    italic = document.add_paragraph().add_run("leaning")
    italic.italic, italic.font.size = True, Pt(14)
    document.add_paragraph().add_run().add_picture(picture(), width=Inches(1))
    with_object = document.add_paragraph("sum ").add_run()
    with_object._element.append(OxmlElement("w:object"))
    document.add_paragraph().add_run("lit").font.highlight_color = WD_COLOR_INDEX.YELLOW
    document.add_paragraph("next").add_run().add_break(WD_BREAK.PAGE)
    for line in (*TRAINS, *REFERENCES):
        document.add_paragraph(line)
    table = document.add_table(2, 2)
    for cell, word in zip([*table.rows[0].cells, *table.rows[1].cells], ("apple", "bear", "ice", "dog"), strict=True):
        cell.paragraphs[0].add_run(word).font.color.rgb = RED if word[0] in "aeiou" else BLUE
    document.add_paragraph().add_run("gone").font.strike = True
    document.sections[0].footer.paragraphs[0].text = "Page 1"
    for paragraph in document.paragraphs:
        for run in paragraph.runs:
            run.font.name = "Times New Roman"
    for change in changes:
        change(document)
    document.save(str(path))
    return path


def _paragraph(place: int, text: str) -> Change:
    return lambda document: setattr(document.paragraphs[place], "text", text)


def _run(place: int, act: Callable[[Any], Any], which: int = 0) -> Change:
    return lambda document: act(document.paragraphs[place].runs[which])


def _cell(act: Callable[[Any], Any], row: int = 0, column: int = 0) -> Change:
    return lambda document: act(document.tables[0].cell(row, column))


def _font(name: str, value: Any) -> Callable[[Any], None]:
    return lambda run: setattr(run.font, name, value)


def _color_cell(color: RGBColor) -> Change:
    return _cell(lambda cell: setattr(cell.paragraphs[0].runs[0].font.color, "rgb", color))


def _footer(text: str) -> Change:
    return lambda document: setattr(document.sections[0].footer.paragraphs[0], "text", text)


def _stop(position: float, alignment: Any = WD_TAB_ALIGNMENT.RIGHT) -> Change:
    def change(document: Any) -> None:
        stops = document.paragraphs[1].paragraph_format.tab_stops
        stops.clear_all()
        stops.add_tab_stop(Inches(position), alignment)

    return change


def _delete(place: int) -> Change:
    def change(document: Any) -> None:
        element = document.paragraphs[place]._element
        element.getparent().remove(element)

    return change


def _replace_picture(document: Any) -> None:
    relation = next(each for each in document.part.rels.values() if "image" in each.reltype)
    relation.target_part._blob = picture("blue").getvalue()


def _no_object(run: Any) -> None:
    run._element.remove(run._element.xpath("./w:object")[0])


def _swap(document: Any) -> None:
    first, second = document.paragraphs[8]._element, document.paragraphs[9]._element
    second.addnext(first)


CHANGES: Mapping[str, Change] = {
    "nothing": lambda document: None,
    "a word": _paragraph(7, "next one"),
    "the case": _run(7, lambda run: setattr(run, "text", "NEXT")),
    "a title in capitals": _run(0, lambda run: setattr(run, "text", "A TITLE")),
    "blanks": _run(7, lambda run: setattr(run, "text", "next  ")),
    "a paragraph more": lambda document: document.add_paragraph("more"),
    "an empty paragraph more": lambda document: document.add_paragraph(""),
    "an empty paragraph in between": lambda document: document.paragraphs[1].insert_paragraph_before(""),
    "a paragraph less": _delete(3),
    "the first paragraph gone": _delete(0),
    "the last paragraph gone": _delete(-1),
    "two paragraphs swapped": _swap,
    "no paragraphs": lambda document: [each._element.getparent().remove(each._element) for each in document.paragraphs],
    "a font": _run(0, _font("name", "Arial")),
    "no font": _run(0, _font("name", None)),
    "all fonts": lambda document: [_font("name", "Arial")(run) for each in document.paragraphs for run in each.runs],
    "a spacing": lambda document: setattr(document.paragraphs[1].paragraph_format, "line_spacing", 1.5),
    "no spacing": lambda document: setattr(document.paragraphs[0].paragraph_format, "line_spacing", None),
    "spacing in points": lambda document: setattr(document.paragraphs[0].paragraph_format, "line_spacing", Pt(12)),
    "to the left": lambda document: setattr(document.paragraphs[0], "alignment", WD_ALIGN_PARAGRAPH.LEFT),
    "a stop a little off": _stop(3.1),
    "a stop far off": _stop(1),
    "a stop to the left": _stop(3, WD_TAB_ALIGNMENT.LEFT),
    "no stop": lambda document: document.paragraphs[1].paragraph_format.tab_stops.clear_all(),
    "a stop at zero more": lambda document: document.paragraphs[1].paragraph_format.tab_stops.add_tab_stop(Inches(0)),
    "the tab elsewhere": _run(1, lambda run: setattr(run, "text", "one two\tthree four five")),
    "no subscript": _run(2, _font("subscript", None), 1),
    "upright": _run(3, lambda run: setattr(run, "italic", None)),
    "larger": _run(3, _font("size", Pt(15))),
    "without a size": _run(3, _font("size", None)),
    "another picture": _replace_picture,
    "a picture more": lambda document: document.add_paragraph().add_run().add_picture(picture("green")),
    "no picture": _run(4, lambda run: run._element.remove(run._element[-1])),
    "a picture elsewhere": _run(3, lambda run: run.add_picture(picture("red"))),
    "no object": _run(5, _no_object, 1),
    "no highlight": _run(6, _font("highlight_color", None)),
    "another highlight": _run(0, _font("highlight_color", WD_COLOR_INDEX.BRIGHT_GREEN)),
    "no break": _run(7, lambda run: run._element.clear(), 1),
    "two breaks": lambda document: document.add_paragraph().add_run().add_break(WD_BREAK.PAGE),
    "a break of lines": lambda document: document.add_paragraph().add_run().add_break(WD_BREAK.LINE),
    "a train twice": lambda document: document.add_paragraph(TRAINS[0]),
    "a train unknown": _paragraph(8, "09:00:00,T9,S1,4"),
    "a reference": _paragraph(12, "Smith, J. (2021). On thing."),
    "another reference": _paragraph(12, "zzz"),
    "no references": _paragraph(11, "Sources"),
    "a reference less": _delete(12),
    "a cell": _cell(lambda cell: setattr(cell, "text", "pear")),
    "blanks in a cell": _cell(lambda cell: cell.paragraphs[0].add_run("  ")),
    "a capital cell": _cell(lambda cell: setattr(cell.paragraphs[0].runs[0], "text", "APPLE")),
    "a row more": lambda document: document.tables[0].add_row(),
    "a column more": lambda document: document.tables[0].add_column(Inches(1)),
    "a table more": lambda document: document.add_table(1, 1),
    "no table": lambda document: document.element.body.remove(document.tables[0]._element),
    "a copied table": lambda document: document.element.body.insert(0, copy.deepcopy(document.tables[0]._element)),
    "a cell in blue": _color_cell(BLUE),
    "a cell in nearly red": _color_cell(RGBColor(253, 2, 1)),
    "a cell in dark red": _color_cell(RGBColor(200, 0, 0)),
    "a cell without a colour": _cell(lambda cell: setattr(cell.paragraphs[0].runs[0].font.color, "rgb", None)),
    "not struck through": _run(-1, _font("strike", None)),
    "half struck through": lambda document: document.paragraphs[-1].add_run(" here"),
    "no number in the footer": _footer("Page"),
    "another number in the footer": _footer("12"),
    "a section more": lambda document: document.add_section(),
    "a section with its own footer": lambda document: setattr(
        document.add_section().footer.paragraphs[0], "text", "end"
    ),
}

PAIRED: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "compare_docx_files": (
        {},
        {"ignore_case": True},
        {"ignore_blanks": False},
        {"ignore_blanks": False, "ignore_order": True},
        {"ignore_blanks": False, "delete_empty_lines": True, "ignore_case": True},
        {"ignore_blanks": False, "fuzzy_match": True},
        {"fuzzy_match": True},
        {"content_only": True, "ignore_case": True},
        {"ignore_order": True},
    ),
    "compare_docx_files_and_ignore_new_lines": ({}, {"ignore_blanks": False}),
    "compare_docx_lines": ({},),
    "compare_init_lines": ({},),
    "compare_docx_tables": ({},),
    "compare_docx_images": ({},),
    "compare_references": (
        {},
        {"content_only": True, "reference_base_result": 0.92},
        {"reference_indicator": "Nowhere"},
    ),
    "check_no_duplicates": ({},),
    "compare_line_spacing": ({},),
    "compare_insert_equation": ({},),
    "compare_subscript_contains": ({},),
    "compare_contains_image": ({},),
    "check_tabstops": ({}, {"word_number_split_by_tabstop": 3, "index": 0}),
    "evaluate_colored_words_in_tables": ({}, {"threshold": 20}),
    "compare_highlighted_text": ({},),
    "evaluate_strike_through_last_paragraph": ({},),
    "check_italic_font_size_14": ({},),
}
"""Metrics of a document and the one that is expected, with options."""

ALONE: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "compare_font_names": ({"font_name": "Times New Roman"}, {"font_name": "Arial"}),
    "contains_page_break": ({}, {"page_break_count": 1}, {"page_break_count": 2}),
}
"""Metrics of a document and a rule."""

WITHOUT_RULES = (
    "evaluate_spacing",
    "has_page_numbers_in_footers",
    "is_first_line_centered",
    "evaluate_conversion",
    "evaluate_alignment",
)
