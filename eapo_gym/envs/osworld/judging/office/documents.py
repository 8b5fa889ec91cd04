"""Metrics of what a document says: its paragraphs, tables, pictures, references."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.judging.office.guard import FilePath, needs, opened, opened_image
from eapo_gym.envs.osworld.judging.office.similarity import similarity

Maybe = FilePath | None


def document(path: FilePath) -> Any:
    """A document as python-docx gives it."""
    try:
        from docx import Document
    except ImportError as error:
        raise needs("Judging documents") from error
    return opened(path, Document)


def text_document(path: FilePath) -> Any:
    """A document as odfpy gives it."""
    try:
        from odf.opendocument import load
    except ImportError as error:
        raise needs("Judging OpenDocument files") from error
    return opened(path, load)


def paragraphs(path: FilePath) -> list[str]:
    """The text of each paragraph outside of tables."""
    return [paragraph.text for paragraph in document(path).paragraphs]


def _odt_paragraphs(path: FilePath) -> list[str]:
    """The text of each paragraph, with that of the spans in it, and nothing deeper."""
    from odf.text import P

    return ["".join(map(_own_text, paragraph.childNodes)) for paragraph in text_document(path).getElementsByType(P)]


def _own_text(node: Any) -> str:
    if node.nodeType == node.TEXT_NODE:
        return str(node.data)
    if node.nodeType == node.ELEMENT_NODE and node.tagName == "text:span":
        return "".join(str(child.data) for child in node.childNodes if child.nodeType == child.TEXT_NODE)
    return ""


READERS: dict[str, Callable[[FilePath], list[str]]] = {".docx": paragraphs, ".odt": _odt_paragraphs}


def _both_paragraphs(result: Maybe, expected: Maybe) -> tuple[list[str], list[str]] | None:
    """The paragraphs of two documents of one kind; None where one is missing or they are of different kinds."""
    if not result or not expected:
        return None
    kinds = {Path(path).suffix for path in (result, expected)}
    reader = READERS.get(kinds.pop()) if len(kinds) == 1 else None
    return None if reader is None else (reader(result), reader(expected))


def _run_together(lines: Sequence[str]) -> str:
    return re.sub(r"\s+", " ", "\n".join(lines)).strip()


def compare_docx_files(
    result: Maybe,
    expected: Maybe,
    *,
    ignore_blanks: bool = True,
    ignore_case: bool = False,
    ignore_order: bool = False,
    content_only: bool = False,
    fuzzy_match: bool = False,
    delete_empty_lines: bool = False,
    **_: Any,
) -> float:
    """Whether two documents say the same, paragraph by paragraph or run together; or how similar what they say is."""
    both = _both_paragraphs(result, expected)
    if both is None:
        return 0.0
    one, other = (sorted(lines) if ignore_order else lines for lines in both)
    if delete_empty_lines:
        one, other = ([line for line in lines if line.strip()] for lines in (one, other))
    if content_only or ignore_blanks:
        one, other = [_run_together(one)], [_run_together(other)]
    if ignore_case:
        one, other = ([line.lower() for line in lines] for lines in (one, other))
    if len(one) != len(other):
        return 0.0
    if content_only or fuzzy_match:
        return sum(map(similarity, one, other)) / len(one) if one else 1.0
    return float(one == other)


def compare_docx_files_and_ignore_new_lines(
    result: Maybe, expected: Maybe, *, ignore_blanks: bool = True, **_: Any
) -> float:
    """1 if the documents say the same but for empty paragraphs."""
    if not _are_docx(result, expected):
        return 0.0
    one, other = ([line for line in paragraphs(path) if line] for path in (result, expected) if path)
    return float(_run_together(one) == _run_together(other) if ignore_blanks else one == other)


def compare_docx_lines(result: Maybe, expected: Maybe) -> float:
    """1 if the documents have the same paragraphs, in any order and number."""
    if not result or not expected:
        return 0.0
    one, other = ({line.strip() for line in paragraphs(path)} - {""} for path in (result, expected))
    return float(one == other)


def compare_init_lines(result: Maybe, expected: Maybe) -> float:
    """1 if the paragraphs are the same as far as the shorter document goes."""
    if not result or not expected:
        return 0.0
    return float(all(one == other for one, other in zip(paragraphs(result), paragraphs(expected), strict=False)))


def compare_docx_tables(result: Maybe, expected: Maybe) -> float:
    """1 if the tables hold the same texts."""
    if not result or not expected:
        return 0.0
    one, other = ([_table(table) for table in document(path).tables] for path in (result, expected))
    return float(one == other)


def _table(table: Any) -> list[list[str]]:
    return [
        [table.cell(row, column).text.strip() for column in range(len(table.columns))] for row in range(len(table.rows))
    ]


def compare_docx_images(result: Maybe, expected: Maybe) -> float:
    """1 if the documents hold the same pictures, pixel by pixel."""
    if not result or not expected:
        return 0.0
    one, other = (_pictures(path) for path in (result, expected))
    return float(one == other)


def _pictures(path: FilePath) -> list[bytes]:
    relations = document(path).part.rels.values()
    blobs = [relation.target_part.blob for relation in relations if "image" in relation.reltype]
    return [opened_image(BytesIO(blob), Path(path).name).tobytes() for blob in blobs]


def compare_references(
    result: Maybe,
    expected: Maybe,
    *,
    reference_indicator: str = "References",
    reference_base_result: float = 0.5,
    **_: Any,
) -> float:
    """How similar the references below a heading are, from the base at which it begins to count."""
    if not _are_docx(result, expected):
        return 0.0
    one, other = (paragraphs(path) for path in (result, expected) if path)
    if reference_indicator not in one and reference_indicator not in other:
        return 1.0
    if reference_indicator not in one or reference_indicator not in other:
        return 0.0
    one, other = (
        [line for line in lines[lines.index(reference_indicator) + 1 :] if line.strip()] for lines in (one, other)
    )
    if len(one) != len(other) or not one:
        return 0.0
    mean = sum(map(similarity, one, other)) / len(one)
    if mean < reference_base_result + 0.01:
        return 0.0
    return (mean - reference_base_result) / (1 - reference_base_result)


def _are_docx(*paths: Maybe) -> bool:
    return all(path and Path(path).suffix == ".docx" for path in paths)


def _train_of(line: str) -> str | None:
    """The train of a line such as "time_HH:MM:SS, train_id, station_id, platform_no"; None where it is no such line."""
    parts = line.split(",")
    return parts[1].strip() if len(parts) == 4 else None


def _trains(path: FilePath) -> list[str]:
    return [train for train in map(_train_of, paragraphs(path)) if train is not None]


def check_no_duplicates(initial: Maybe, processed: Maybe) -> float:
    """1 if the second document has each train of the first once."""
    if not initial or not processed:
        return 0.0
    trains = _trains(processed)
    return float(len(trains) == len(set(trains)) and set(trains) == set(_trains(initial)))


def compare_unique_train_records(result: Maybe, expected: Sequence[Maybe], **_: Any) -> float:
    """1 if the document has lines of the initial one alone, and each train of the expected one once."""
    if not result or not isinstance(expected, list | tuple) or len(expected) < 2 or not all(expected[:2]):
        return 0.0
    mine, wanted, initial = (
        [line.strip() for line in paragraphs(path) if line.strip()] for path in (result, *expected[:2]) if path
    )
    my_trains, wanted_trains = (
        [train for train in map(_train_of, lines) if train is not None] for lines in (mine, wanted)
    )
    return float(
        set(mine) <= set(initial)
        and len(my_trains) == len(set(my_trains))
        and set(my_trains) == set(wanted_trains)
        and len(mine) == len(wanted)
    )


METRICS = {
    "compare_docx_files": compare_docx_files,
    "compare_docx_files_and_ignore_new_lines": compare_docx_files_and_ignore_new_lines,
    "compare_docx_lines": compare_docx_lines,
    "compare_init_lines": compare_init_lines,
    "compare_docx_tables": compare_docx_tables,
    "compare_docx_images": compare_docx_images,
    "compare_references": compare_references,
    "check_no_duplicates": check_no_duplicates,
    "compare_unique_train_records": compare_unique_train_records,
}
