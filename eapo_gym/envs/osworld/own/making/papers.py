"""Documents, made with python-docx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from eapo_gym.envs.osworld.own.making.packing import repacked
from eapo_gym.errors import MissingExtra


def document(paragraphs: Sequence[str], change: Callable[[Any], None] | None = None) -> bytes:
    """A .docx file with these paragraphs; `change` is handed python-docx's document before it is saved."""
    try:
        import docx
    except ImportError:
        raise MissingExtra.of("Making documents", "osworld") from None
    made = docx.Document()
    for text in paragraphs:
        made.add_paragraph(text)
    if change is not None:
        change(made)
    target = BytesIO()
    made.save(target)
    return repacked(target.getvalue())
