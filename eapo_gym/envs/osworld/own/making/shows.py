"""Presentations, made with python-pptx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from eapo_gym.envs.osworld.own.making.packing import repacked
from eapo_gym.errors import MissingExtra

_TITLE_AND_CONTENT = 1


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide with a title and lines below it."""

    title: str
    lines: tuple[str, ...]
    note: str = ""


def presentation(slides: Sequence[Slide], change: Callable[[Any], None] | None = None) -> bytes:
    """A .pptx file with these slides; `change` is handed python-pptx's presentation before it is saved."""
    try:
        import pptx
    except ImportError:
        raise MissingExtra.of("Making presentations", "osworld") from None
    show = pptx.Presentation()
    for slide in slides:
        made = show.slides.add_slide(show.slide_layouts[_TITLE_AND_CONTENT])
        made.shapes.title.text = slide.title
        made.placeholders[1].text = "\n".join(slide.lines)
        if slide.note:
            made.notes_slide.notes_text_frame.text = slide.note
    if change is not None:
        change(show)
    target = BytesIO()
    show.save(target)
    return repacked(target.getvalue())
