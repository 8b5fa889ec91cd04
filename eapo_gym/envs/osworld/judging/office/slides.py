"""The comparison of two presentations, slide by slide and shape by shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eapo_gym.envs.osworld.judging.office.guard import FilePath, needs, opened

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
SOLID, INHERITED = 1, 5
"""Kinds of fill, as python-pptx numbers them."""

FREEFORM, PICTURE, TABLE = 5, 13, 19
"""Kinds of shapes, as python-pptx numbers them."""

LEFT = 1
"""The alignment of a paragraph that says nothing."""

POSITION = ("left", "top", "width", "height")

# Some options ask for what one task's agent is to move, in the benchmark's own words and places (in EMU).
MOVED_TITLE = "Product Comparison"
SHIFTED_TEXT = "Elaborate on what you want to discuss."
LOWER_HALF = 3_600_000
RIGHT_HALF = 4_320_000
UPPER_PART = 1_980_000


def presentation(path: FilePath) -> Any:
    """A presentation as python-pptx gives it."""
    try:
        from pptx import Presentation
    except ImportError as error:
        raise needs("Judging presentations") from error
    return opened(path, Presentation)


def compare_pptx_files(result: FilePath | None, expected: FilePath | None, **options: Any) -> float:
    """1 if the presentations are the same in all that the options examine."""
    if result is None or expected is None:
        return 0.0
    mine, wanted = list(presentation(result).slides), list(presentation(expected).slides)
    examine = Examination(**options)
    if examine.number_of_slides and len(mine) != len(wanted):
        return 0.0
    pairs = zip(mine, wanted, strict=False)
    return float(all(examine.slides_agree(one, other, number) for number, (one, other) in enumerate(pairs, 1)))


class Examination:
    """What is compared, from a task's options; unknown ones mean nothing, as in the benchmark."""

    def __init__(self, **options: Any) -> None:
        self.tolerance: float = options.get("approximately_tolerance", 0.005)
        self.number_of_slides = options.get("examine_number_of_slides", True)
        self.shape = options.get("examine_shape", True)
        self.text = options.get("examine_text", True)
        self.indent = options.get("examine_indent", True)
        self.font_name = options.get("examine_font_name", True)
        self.font_size = options.get("examine_font_size", True)
        self.bold = options.get("examine_font_bold", True)
        self.italic = options.get("examine_font_italic", True)
        self.color = options.get("examine_color_rgb", True)
        self.underline = options.get("examine_font_underline", True)
        self.strike = options.get("examine_strike_through", True)
        self.alignment = options.get("examine_alignment", True)
        self.bullets = options.get("examine_bullets", True)
        self.background = options.get("examine_background_color", True)
        self.note = options.get("examine_note", True)
        self.title_at_bottom = options.get("examine_title_bottom_position", False)
        self.table_at_bottom = options.get("examine_table_bottom_position", False)
        self.at_right = options.get("examine_right_position", False)
        self.at_top = options.get("examine_top_position", False)
        self.shifted = options.get("examine_shape_for_shift_size", False)
        self.image_size = options.get("examine_image_size", False)
        self.height = options.get("examine_modify_height", False)

    def slides_agree(self, one: Any, other: Any, number: int) -> bool:
        if self.background and background_color(one) != background_color(other):
            return False
        if self.note and _notes(one) != _notes(other):
            return False
        shapes, others = list(one.shapes), list(other.shapes)
        if len(shapes) != len(others):
            return False
        pairs = list(zip(shapes, others, strict=True))
        return (
            all(self._placed_alike(a, b, number) for a, b in pairs)
            and all(self._tables_agree(a, b) for a, b in pairs if _kind(a) == TABLE)
            and self._bullets_agree(one, other, pairs)
            and all(self._texts_agree(a, b) for a, b in pairs if _has_text(a) and _has_text(b))
            and self._grouped_texts_agree(_text_shapes(shapes), _text_shapes(others))
        )

    def _close(self, one: int | None, other: int | None) -> bool:
        """Whether two lengths differ by less than the tolerance, as part of the larger one."""
        if one == other:
            return True
        if not one or not other:
            return False
        return abs(one - other) / max(abs(one), abs(other)) <= self.tolerance

    def _same_place(self, one: Any, other: Any) -> bool:
        return all(self._close(getattr(one, name), getattr(other, name)) for name in POSITION)

    def _placed_alike(self, one: Any, other: Any, number: int) -> bool:
        """Whether a shape of the agent's is where the options want it; `other` is where it was, or should be."""
        same, kinds, texts = self._same_place(one, other), {_kind(one), _kind(other)}, (_text(one), _text(other))
        if self.shape and not same:
            return False
        if self.title_at_bottom:
            if texts[0] is not None and texts[0] == texts[1]:
                if texts[0] == MOVED_TITLE and (one.top <= other.top or one.top < LOWER_HALF):
                    return False
            elif not same:
                return False
        if self.table_at_bottom:
            if number == 3 and kinds == {TABLE}:
                if one.top <= other.top or one.top < LOWER_HALF:
                    return False
            elif not same:
                return False
        if (
            self.at_right
            and number == 2
            and texts == (None, None)
            and (one.left <= other.left or one.left < RIGHT_HALF)
        ):
            return False
        if self.at_top and number == 2 and kinds == {PICTURE} and (one.top >= other.top or one.top > UPPER_PART):
            return False
        if self.shifted and not same and texts != (SHIFTED_TEXT, SHIFTED_TEXT):
            return False
        if self.image_size:
            names = ("width", "height") if kinds == {PICTURE} else POSITION
            if not all(self._close(getattr(one, name), getattr(other, name)) for name in names):
                return False
        if self.height:
            only_height = texts == (None, None) or kinds == {FREEFORM}
            return self._close(one.height, other.height) if only_height else same
        return True

    def _tables_agree(self, one: Any, other: Any) -> bool:
        if not getattr(other, "has_table", False):
            return False
        table, wanted = one.table, other.table
        rows, columns = len(table.rows), len(table.columns)
        if (rows, columns) != (len(wanted.rows), len(wanted.columns)):
            return False
        return all(
            self._cells_agree(table.cell(row, column), wanted.cell(row, column))
            for row in range(rows)
            for column in range(columns)
        )

    def _cells_agree(self, one: Any, other: Any) -> bool:
        """Whether two cells look alike; what they say is not compared."""
        paragraphs, others = one.text_frame.paragraphs, other.text_frame.paragraphs
        if [len(paragraph.runs) for paragraph in paragraphs] != [len(paragraph.runs) for paragraph in others]:
            return False
        return all(
            (not self.color or _same_color(a.font, b.font))
            and bool(a.font.bold) == bool(b.font.bold)
            and bool(a.font.italic) == bool(b.font.italic)
            and _same_underline(a.font.underline, b.font.underline)
            for a, b in _paired_runs(paragraphs, others)
        )

    def _texts_agree(self, one: Any, other: Any) -> bool:
        if self.text and one.text.strip() != other.text.strip():
            return False
        paragraphs, others = one.text_frame.paragraphs, other.text_frame.paragraphs
        if [len(paragraph.runs) for paragraph in paragraphs] != [len(paragraph.runs) for paragraph in others]:
            return False
        for paragraph, wanted in zip(paragraphs, others, strict=True):
            if self.alignment and (paragraph.alignment or LEFT) != (wanted.alignment or LEFT):
                return False
            if self.text and paragraph.text != wanted.text:
                return False
            if self.indent and paragraph.level != wanted.level:
                return False
        return all(self._fonts_agree(a.font, b.font) for a, b in _paired_runs(paragraphs, others))

    def _fonts_agree(self, one: Any, other: Any) -> bool:
        return (
            (not self.font_name or one.name == other.name)
            and (not self.font_size or one.size == other.size)
            and (not self.bold or bool(one.bold) == bool(other.bold))
            and (not self.italic or bool(one.italic) == bool(other.italic))
            and (not self.color or _same_color(one, other))
            and (not self.underline or _same_underline(one.underline, other.underline))
            and (not self.strike or _strike(one) == _strike(other))
        )

    def _bullets_agree(self, one: Any, other: Any, pairs: list[tuple[Any, Any]]) -> bool:
        """Whether the paragraphs of the slides have the same bullets; compared only where some shape has text.

        A paragraph without properties differs from one with properties that say nothing. python-pptx gives properties
        to each paragraph whose level it is asked for, and the benchmark asks up to the first text before it looks at
        bullets, so up to there the difference does not count.
        """
        if not self.bullets:
            return True
        for shape, wanted in pairs:
            if _has_text(shape) and _has_text(wanted):
                for a, b in zip(shape.text_frame.paragraphs, wanted.text_frame.paragraphs, strict=False):
                    _ = a.level, b.level
                    if a.runs and b.runs:
                        found, expected = _bullets(one), _bullets(other)
                        return found is None or expected is None or found == expected
        return True

    def _grouped_texts_agree(self, shapes: list[Any], others: list[Any]) -> bool:
        """Whether all shapes with text, those within groups among them, have the same lines at the same side."""
        if len(shapes) != len(others):
            return False
        return not self.alignment or all(map(self._lines_agree, shapes, others))

    def _lines_agree(self, one: Any, other: Any) -> bool:
        if self.text and one.text.strip() != other.text.strip():
            return False
        sides, wanted = (
            [paragraph.alignment or LEFT for paragraph in shape.text_frame.paragraphs] for shape in (one, other)
        )
        return sides == wanted


def background_color(slide: Any) -> Any:
    """The colour behind a slide, its own or its master's; None where it is not one colour."""
    fill = slide.background.fill
    if fill.type == INHERITED:
        fill = slide.slide_layout.slide_master.background.fill
    return _color(fill.fore_color) if fill.type == SOLID else None


def _color(color: Any) -> Any:
    """The colour as red, green and blue, or else which of the theme's it is."""
    rgb = getattr(color, "rgb", None)
    return rgb if rgb is not None else getattr(color, "theme_color", None)


def _notes(slide: Any) -> str:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    return "" if frame is None else str(frame.text).strip()


def _kind(shape: Any) -> int | None:
    try:
        return int(shape.shape_type)  # of an enumeration whose members do not hash as their numbers do
    except (NotImplementedError, TypeError):  # a shape that python-pptx has no number for
        return None


def _has_text(shape: Any) -> bool:
    return hasattr(shape, "text")


def _text(shape: Any) -> str | None:
    return getattr(shape, "text", None)


def _text_shapes(shapes: Any) -> list[Any]:
    """All shapes with text, groups opened."""
    found = []
    for shape in shapes:
        if _has_text(shape) and hasattr(shape, "text_frame"):
            found.append(shape)
        found.extend(_text_shapes(getattr(shape, "shapes", ())))
    return found


def _paired_runs(paragraphs: Any, others: Any) -> list[tuple[Any, Any]]:
    return [
        pair for one, other in zip(paragraphs, others, strict=False) for pair in zip(one.runs, other.runs, strict=False)
    ]


def _same_color(one: Any, other: Any) -> bool:
    """Whether two fonts have the same colour; one that says none, or one of the theme's, is not compared."""
    mine, wanted = one.color, other.color
    return not hasattr(mine, "rgb") or not hasattr(wanted, "rgb") or mine.rgb == wanted.rgb


def _same_underline(one: Any, other: Any) -> bool:
    """Saying nothing of lines differs only from a single line, not from having none or a line of another kind."""
    if one is None or other is None:
        return one is not True and other is not True
    return bool(one == other)


def _strike(font: Any) -> str:
    return str(font._element.attrib.get("strike", "noStrike"))


def _bullets(slide: Any) -> list[tuple[str, str | None, str]] | None:
    """Level, bullet and text of each paragraph with text; None where a run is empty, as the benchmark trips."""
    found: list[tuple[str, str | None, str]] = []
    for paragraph in _paragraphs(slide):
        texts = [each.text for each in paragraph.iter(f"{DRAWING}t")]
        if None in texts:
            return None
        text = "".join(texts)
        properties = paragraph.find(f"{DRAWING}pPr")
        level, bullet = "none", None
        if properties is not None:
            character = properties.find(f"{DRAWING}buChar")
            level = properties.get("lvl") or "0"
            bullet = None if character is None else character.get("char")
        if text.strip():
            found.append((level, bullet, text))
    return found


def _paragraphs(slide: Any) -> Iterator[Any]:
    yield from slide._element.iter(f"{DRAWING}p")


METRICS = {"compare_pptx_files": compare_pptx_files}
