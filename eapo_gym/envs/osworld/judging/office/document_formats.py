"""Metrics of how a document looks: fonts, colours, spacing, tab stops, breaks, footers, formulas and pictures in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eapo_gym.envs.osworld.judging.office.colors import difference
from eapo_gym.envs.osworld.judging.office.documents import Maybe, compare_docx_files, document, text_document
from eapo_gym.envs.osworld.judging.office.guard import FilePath, archive_part, parsed_xml

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
RED, BLUE = (255, 0, 0), (0, 0, 255)
YELLOW = "#ffff00"


def _same_text(result: Maybe, expected: Maybe) -> bool:
    return bool(compare_docx_files(result, expected))


def _runs(word_document: Any) -> Iterator[Any]:
    for paragraph in word_document.paragraphs:
        yield from paragraph.runs


def _table_runs(word_document: Any) -> Iterator[Any]:
    for table in word_document.tables:
        for row in table.rows:
            for cell in row.cells:
                for paragraph in cell.paragraphs:
                    yield from paragraph.runs


def _paired_runs(result: FilePath, expected: FilePath) -> Iterator[tuple[Any, Any]]:
    """The runs of both documents that stand at the same place of the same paragraph."""
    for one, other in zip(document(result).paragraphs, document(expected).paragraphs, strict=False):
        yield from zip(one.runs, other.runs, strict=False)


def compare_font_names(result: Maybe, rules: Mapping[str, Any]) -> float:
    """1 if every run outside of tables says that it has this font."""
    if not result:
        return 0.0
    return float(all(run.font.name == rules["font_name"] for run in _runs(document(result))))


def compare_line_spacing(result: Maybe, expected: Maybe) -> float:
    """1 if the documents say the same with the same line spacing."""
    if not result or not expected or not _same_text(result, expected):
        return 0.0
    one, other = (
        [paragraph.paragraph_format.line_spacing for paragraph in document(path).paragraphs]
        for path in (result, expected)
    )
    return float(one == other)


def evaluate_spacing(result: Maybe) -> float:
    """1 if the first three paragraphs have single, double and one and a half line spacing."""
    if not result:
        return 0.0
    spacings = [paragraph.paragraph_format.line_spacing for paragraph in document(result).paragraphs[:3]]
    return float(spacings == [1.0, 2.0, 1.5])


def compare_insert_equation(result: Maybe, expected: Maybe) -> float:
    """1 if the documents say the same, and some run has an embedded object, such as a formula, in both."""
    if not result or not expected or not _same_text(result, expected):
        return 0.0
    return float(
        any(
            one.element.xpath(".//w:object") and other.element.xpath(".//w:object")
            for one, other in _paired_runs(result, expected)
        )
    )


def compare_subscript_contains(result: Maybe, expected: Maybe) -> float:
    """1 if some run is a subscript in both documents."""
    if not result or not expected:
        return 0.0
    return float(any(one.font.subscript and other.font.subscript for one, other in _paired_runs(result, expected)))


def compare_contains_image(result: Maybe, expected: Maybe) -> float:
    """1 if the runs with a picture are the same in both documents, as far as both go."""
    if not result or not expected:
        return 0.0
    return float(all(_has_picture(one) == _has_picture(other) for one, other in _paired_runs(result, expected)))


def _has_picture(run: Any) -> bool:
    return "graphicData" in run._element.xml


def has_page_numbers_in_footers(result: Maybe) -> float:
    """1 if the first line of the footer of every section has a digit."""
    if not result:
        return 0.0
    return float(all(_has_digit(section.footer) for section in document(result).sections))


def _has_digit(footer: Any) -> bool:
    lines = footer.paragraphs
    return bool(lines) and any(character.isdigit() for character in lines[0].text)


def is_first_line_centered(result: Maybe) -> float:
    """1 if the first paragraph says that it is centred."""
    if not result:
        return 0.0
    from docx.enum.text import WD_PARAGRAPH_ALIGNMENT

    paragraphs = document(result).paragraphs
    return float(bool(paragraphs) and paragraphs[0].paragraph_format.alignment == WD_PARAGRAPH_ALIGNMENT.CENTER)


def check_tabstops(
    result: Maybe,
    expected: Maybe,
    *,
    word_number_split_by_tabstop: int | None = None,
    index: int = 0,
    **_: Any,
) -> float:
    """How close the tab stops of the paragraphs with text are to the expected ones, as part of the text's width.

    With a number of words, each paragraph must have as many in the part of this index between its tabs.
    """
    if not result or not expected:
        return 0.0
    mine, wanted = (
        [paragraph for paragraph in document(path).paragraphs if paragraph.text.strip()] for path in (result, expected)
    )
    if not mine or len(mine) != len(wanted):
        return 0.0
    if word_number_split_by_tabstop is not None:
        for paragraph in mine:
            parts = paragraph.text.split("\t")
            if index >= len(parts) or len(parts[index].split()) != word_number_split_by_tabstop:
                return 0.0
    section = document(expected).sections[0]
    width = section.page_width - section.left_margin - section.right_margin
    missed = 0.0
    for one, other in zip(mine, wanted, strict=True):
        stops, wanted_stops = _tab_stops(one), _tab_stops(other)
        if [stop.alignment for stop in stops] != [stop.alignment for stop in wanted_stops]:
            return 0.0
        missed += sum(abs(a.position - b.position) for a, b in zip(stops, wanted_stops, strict=True)) / width
    return 1 - missed / len(mine)


def _tab_stops(paragraph: Any) -> list[Any]:
    """The tab stops that somebody set: neither cleared ones nor the one at the left edge."""
    from docx.enum.text import WD_TAB_ALIGNMENT

    return [
        stop
        for stop in paragraph.paragraph_format.tab_stops
        if stop.alignment != WD_TAB_ALIGNMENT.CLEAR
        and not (stop.alignment == WD_TAB_ALIGNMENT.LEFT and stop.position == 0)
    ]


def contains_page_break(result: Maybe, rules: Mapping[str, Any] | None = None) -> float:
    """1 if there are page breaks, and as many as asked for."""
    if not result:
        return 0.0
    breaks = sum(
        each.get(f"{WORD}type") == "page" for run in _runs(document(result)) for each in run.element.iter(f"{WORD}br")
    )
    wanted = (rules or {}).get("page_break_count")
    return float(breaks > 0 and wanted in (None, breaks))


def evaluate_colored_words_in_tables(result: Maybe, expected: Maybe, *, threshold: float = 3.5, **_: Any) -> float:
    """1 if the text is as expected, and in tables what begins with a vowel is red and everything else blue."""
    if not result or not expected or not _same_text(result, expected):
        return 0.0
    for run in _table_runs(document(result)):
        if run.text:
            color, wanted = run.font.color.rgb, RED if run.text[0].lower() in "aeiou" else BLUE
            if color is None or difference(color, wanted) > threshold:
                return 0.0
    return 1.0


def check_highlighted_words(result: Maybe, expected: Maybe) -> float:
    """1 if the text is as expected, and nothing in it has a yellow background."""
    if not result or not expected or not _same_text(result, expected):
        return 0.0
    from odf.text import Span

    text = text_document(result)
    used = {span.getAttribute("stylename") for span in text.getElementsByType(Span)} - {None}
    styles = [style for style in text.automaticstyles.childNodes if style.getAttribute("name") in used]
    return float(
        not any(part.getAttribute("backgroundcolor") == YELLOW for style in styles for part in style.childNodes)
    )


def compare_highlighted_text(result: Maybe, expected: Maybe) -> float:
    """1 if the same texts are highlighted in both documents."""
    if not result or not expected:
        return 0.0
    return float(_highlighted(result) == _highlighted(expected))


def _highlighted(path: FilePath) -> set[str | None]:
    content = archive_part(path, "word/document.xml")
    root = parsed_xml(content or b"", str(path))
    texts = set()
    for run in root.iter(f"{WORD}r"):
        highlight, text = run.find(f".//{WORD}highlight"), run.find(f".//{WORD}t")
        if highlight is not None and text is not None and highlight.get(f"{WORD}val") != "none":
            texts.add(text.text)
    return texts


def evaluate_strike_through_last_paragraph(result: Maybe, expected: Maybe) -> float:
    """1 if the text is as expected, and all of the last paragraph is struck through."""
    if not result or not expected or not _same_text(result, expected):
        return 0.0
    paragraphs = document(result).paragraphs
    return float(bool(paragraphs) and all(run.font.strike for run in paragraphs[-1].runs))


def check_italic_font_size_14(result: Maybe, expected: Maybe) -> float:
    """1 if the text is as expected, and what is italic has 14 points."""
    if not result or not expected or not _same_text(result, expected):
        return 0.0
    sizes = [run.font.size for run in _runs(document(result)) if run.italic]
    return float(all(size is not None and size.pt == 14 for size in sizes))


def evaluate_conversion(result: Maybe) -> float:
    """1 if no run is in capital letters."""
    if not result:
        return 0.0
    word_document = document(result)
    return float(not any(run.text.isupper() for runs in (_table_runs, _runs) for run in runs(word_document)))


def evaluate_alignment(result: Maybe) -> float:
    """1 if in each sentence the first three words stand together before the rest."""
    if not result:
        return 0.0
    sentences = [part for paragraph in document(result).paragraphs for part in paragraph.text.split(".")]
    return float(all(map(_begins_with_three_words, sentences)))


def _begins_with_three_words(sentence: str) -> bool:
    words = sentence.split()
    if len(words) < 3:
        return True
    first, rest = " ".join(words[:3]), " ".join(words[3:])
    return first in sentence and rest in sentence and sentence.find(first) < sentence.find(rest)


METRICS = {
    "compare_font_names": compare_font_names,
    "compare_line_spacing": compare_line_spacing,
    "evaluate_spacing": evaluate_spacing,
    "compare_insert_equation": compare_insert_equation,
    "compare_subscript_contains": compare_subscript_contains,
    "compare_contains_image": compare_contains_image,
    "has_page_numbers_in_footers": has_page_numbers_in_footers,
    "is_first_line_centered": is_first_line_centered,
    "check_tabstops": check_tabstops,
    "contains_page_break": contains_page_break,
    "evaluate_colored_words_in_tables": evaluate_colored_words_in_tables,
    "check_highlighted_words": check_highlighted_words,
    "compare_highlighted_text": compare_highlighted_text,
    "evaluate_strike_through_last_paragraph": evaluate_strike_through_last_paragraph,
    "check_italic_font_size_14": check_italic_font_size_14,
    "evaluate_conversion": evaluate_conversion,
    "evaluate_alignment": evaluate_alignment,
}
