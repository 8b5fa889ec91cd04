"""Metrics of PDFs, and of text in pictures."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eapo_gym.envs.osworld.judging.office.guard import (
    FilePath,
    checked_file,
    needs,
    opened_image,
)
from eapo_gym.envs.osworld.judging.office.similarity import similarity
from eapo_gym.envs.osworld.judging.office.values import COMPARISONS
from eapo_gym.envs.osworld.judging.registry import CannotJudge, Unreadable
from eapo_gym.envs.osworld.tasks import TaskFileError

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PAGES = 2000
MOST_PICTURES = 500
HASHED, KEPT = 32, 8
"""Sides of the picture that is hashed and of the part of its frequencies that is kept."""

MOST_BITS_APART = 5
READING_SECONDS = 120


def pages(path: FilePath) -> Sequence[Any]:
    """The pages of a PDF as pypdf gives them."""
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise needs("Judging PDFs") from error
    path = checked_file(path)
    try:
        found: Sequence[Any] = PdfReader(path).pages
        count = len(found)
    except Exception as error:  # pypdf raises whatever a broken file makes it trip over
        raise Unreadable(f"Expected a PDF in {path.name}, it cannot be opened: {error!r}.") from error
    if count > MOST_PAGES:
        raise Unreadable(f"Expected at most {MOST_PAGES} pages in {path.name}, it has {count}.")
    return found


def check_pdf_pages(result: FilePath | None, rules: Mapping[str, Any]) -> float:
    """1 if the number of pages is as asked for."""
    if result is None:
        return 0.0
    compare = COMPARISONS.get(rules["relation"])
    if compare is None:
        raise TaskFileError(f"Expected one of {', '.join(COMPARISONS)} in the task, got {rules['relation']!r}.")
    return float(compare(len(pages(result)), rules["ref_value"]))


def compare_pdfs(
    result: FilePath | Sequence[FilePath | None] | None, expected: FilePath | Sequence[FilePath | None] | None
) -> float:
    """How similar the texts are; of several files, on average, one that is missing or broken being unlike all."""
    mine, wanted = (list(each) if isinstance(each, list | tuple) else [each] for each in (result, expected))
    if not wanted:
        return 0.0
    return sum(_text_similarity(one, other) for one, other in zip(mine, wanted, strict=False)) / len(wanted)


def _text_similarity(one: FilePath | None, other: FilePath | None) -> float:
    if one is None or other is None:
        return 0.0
    try:
        return similarity(_text(one), _text(other))
    except Unreadable:
        return 0.0


def _text(path: FilePath) -> str:
    try:
        return "\n".join(page.extract_text() for page in pages(path)).strip()
    except (Unreadable, ImportError):
        raise
    except Exception as error:  # as above
        raise Unreadable(f"Expected text in {Path(path).name}, it cannot be read: {error!r}.") from error


def compare_pdf_images(result: FilePath | None, expected: FilePath | None, **_: Any) -> float:
    """Which part of the pictures looks the same; 1 where neither file has any."""
    if not result or not expected:
        return 0.0
    mine, wanted = _hashes(result), _hashes(expected)
    if len(mine) != len(wanted):
        return 0.0
    if not mine:
        return 1.0
    alike = [int(np.count_nonzero(one != other)) <= MOST_BITS_APART for one, other in zip(mine, wanted, strict=True)]
    return sum(alike) / len(alike)


def _hashes(path: FilePath) -> list[np.ndarray]:
    from io import BytesIO

    hashes: list[np.ndarray] = []
    for page in pages(path):
        for picture in page.images:
            if len(hashes) == MOST_PICTURES:
                raise Unreadable(f"Expected at most {MOST_PICTURES} pictures in {Path(path).name}, it has more.")
            hashes.append(perceptual_hash(opened_image(BytesIO(picture.data), Path(path).name)))
    return hashes


def perceptual_hash(image: Image) -> np.ndarray:
    """64 bits of how a picture looks: which of its lowest frequencies are above their median."""
    from PIL import Image as Pillow

    grey = np.asarray(image.convert("L").resize((HASHED, HASHED), Pillow.Resampling.LANCZOS), dtype=np.float64)
    place = np.arange(HASHED)
    cosines = np.cos(math.pi * place[:KEPT, None] * (2 * place[None, :] + 1) / (2 * HASHED))
    low: np.ndarray = cosines @ grey @ cosines.T
    above: np.ndarray = low > np.median(low)
    return above


def compare_image_text(result: FilePath | None, rules: Mapping[str, Any]) -> float:
    """1 if this text is in the picture, as the program tesseract reads it."""
    if result is None:
        return 0.0
    if rules["type"] != "text":
        raise TaskFileError(f"Expected a rule of the type 'text' in the task, got {rules['type']!r}.")
    image = opened_image(checked_file(result), Path(result).name)
    program = shutil.which("tesseract")
    if program is None:
        raise CannotJudge("Reading text in pictures needs the program tesseract: apt-get install tesseract-ocr")
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.png"
        image.convert("RGB").save(picture)
        try:
            read = subprocess.run(
                [program, str(picture), "-"], capture_output=True, text=True, timeout=READING_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Unreadable(f"Expected a picture that is read in {READING_SECONDS} s, it took longer.") from error
    return float(rules["text"] in " ".join(read.stdout.split("\n")))


METRICS = {
    "check_pdf_pages": check_pdf_pages,
    "compare_pdfs": compare_pdfs,
    "compare_pdf_images": compare_pdf_images,
    "compare_image_text": compare_image_text,
}
