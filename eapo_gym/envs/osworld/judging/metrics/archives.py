"""Archives, books, and what sounds say of themselves."""

from __future__ import annotations

import difflib
import io
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from eapo_gym.envs.osworld.judging import registry
from eapo_gym.envs.osworld.judging.office.values import matches
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.judging.safe_files import MAX_ENTRIES, MAX_UNPACKED_BYTES, existing, packed
from eapo_gym.envs.osworld.tasks import TaskFileError
from eapo_gym.errors import MissingExtra

COMPARED_WITH = {
    "text": "compare_text_file",
    "pdf": "compare_pdfs",
    "docx": "compare_docx_files",
    "ppt": "compare_pptx_files",
    "image": "compare_images",
    "csv": "compare_csv",
    "table": "compare_table",
    "audio": "compare_audios",
    "video": "compare_videos",
}
SAME_PDF = 0.95


def compare_archive(
    result: Path | None, expected: Path, *, file_path: str = "", file_type: str = "text", **options: Any
) -> float:
    """How right the files of one folder of an archive are, on average, if they are the ones that are expected."""
    if result is None:
        return 0.0
    if file_type not in COMPARED_WITH:
        raise TaskFileError(
            f"compare_archive compares files of the types {', '.join(COMPARED_WITH)}, not {file_type!r}."
        )
    compare = registry.metric(COMPARED_WITH[file_type])
    found, wanted = (_in_folder(_unpacked(path), file_path) for path in (result, expected))
    if sorted(found) != sorted(wanted):
        return 0.0
    if not wanted:
        raise Unreadable(f"The archive {result.name!r} is empty.")
    with tempfile.TemporaryDirectory() as scratch:
        scores = []
        for name in sorted(wanted):
            paths = [Path(scratch) / whose / name for whose in ("found", "wanted")]
            for path, files in zip(paths, (found, wanted), strict=True):
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(files[name])
            scores.append(float(compare(*paths, **options)))
    return sum(scores) / len(scores)


def compare_zip_files(result: Path | None, expected: Path) -> float:
    """Whether archives hold the same; PDFs need only say nearly the same."""
    if result is None:
        return 0.0
    found, wanted = packed(result), packed(expected)
    if found.keys() != wanted.keys():
        return 0.0
    return float(
        all(
            _same_pdf(found[name], wanted[name]) if name.lower().endswith(".pdf") else found[name] == wanted[name]
            for name in wanted
        )
    )


def compare_epub(result: Path | None, expected: Path) -> float:
    """How many of the lines of a book's parts are the same, on average; numbers that tell books apart do not count."""
    if result is None:
        return 0.0
    found, wanted = (_book(path) for path in (result, expected))
    if not found:
        return 0.0
    pairs = zip((found[name] for name in sorted(found)), (wanted[name] for name in sorted(wanted)), strict=False)
    return sum(difflib.SequenceMatcher(a=one, b=other).ratio() for one, other in pairs) / len(found)


def check_mp3_meta(result: Path | None, rules: Mapping[str, Mapping[str, Any]]) -> float:
    """Whether a sound's tags are as they should be."""
    if result is None:
        return 0.0
    try:
        from mutagen import MutagenError
        from mutagen.easyid3 import EasyID3
    except ImportError:
        raise MissingExtra.of("Checking the tags of sounds", "osworld") from None
    try:
        tags = EasyID3(existing(result))
    except MutagenError as error:
        raise Unreadable(f"The file {result.name!r} has no tags that can be read: {error}.") from error
    return float(all(matches(",".join(tags.get(key, [])), rule) for key, rule in rules.items()))


def _unpacked(path: Path) -> dict[str, bytes]:
    """The files of a ZIP or TAR archive, which its name tells apart as in the benchmark."""
    if path.suffix == ".zip":
        return packed(path)
    try:
        with tarfile.open(existing(path)) as archive:
            files: dict[str, bytes] = {}
            left = MAX_UNPACKED_BYTES
            for entry in archive:
                left -= entry.size
                if left < 0 or len(files) >= MAX_ENTRIES:
                    raise Unreadable(f"The archive {path.name!r} unpacks to too much.")
                content = archive.extractfile(entry) if entry.isreg() else None
                if content is not None:
                    files[entry.name.removeprefix("./")] = content.read()
            return files
    except (tarfile.TarError, OSError, EOFError) as error:
        raise Unreadable(f"The file {path.name!r} is no archive that can be read: {error}.") from error


def _in_folder(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """The files that lie in a folder itself, by their names."""
    place = PurePosixPath(folder)
    return {PurePosixPath(name).name: held for name, held in files.items() if PurePosixPath(name).parent == place}


def _same_pdf(one: bytes, other: bytes) -> bool:
    try:
        from pypdf import PdfReader
    except ImportError:
        raise MissingExtra.of("Comparing PDFs", "osworld") from None
    texts = ["".join(page.extract_text() for page in PdfReader(io.BytesIO(held)).pages) for held in (one, other)]
    return difflib.SequenceMatcher(None, texts[0], texts[1]).ratio() >= SAME_PDF


def _book(path: Path) -> dict[str, list[str]]:
    """The lines of a book's parts: contents, description, and pages as they are printed anew."""
    try:
        from lxml import html
    except ImportError:
        raise MissingExtra.of("Comparing books", "osworld") from None
    try:
        files = packed(path)
    except Unreadable:
        return {}
    parts: dict[str, list[str]] = {}
    for name, left_out in (("toc.ncx", "navPoint"), ("content.opf", "dc:identifier")):
        if name in files:
            parts[name] = [line for line in files[name].decode().splitlines() if left_out not in line]
    for name, held in files.items():
        if name.endswith(".html"):
            page = html.fromstring(held.decode().replace("\n", "").replace("\r", "").encode())
            parts[name] = str(html.tostring(page, pretty_print=True, encoding="unicode")).splitlines()
    return parts


METRICS = {
    "compare_archive": compare_archive,
    "compare_zip_files": compare_zip_files,
    "compare_epub": compare_epub,
    "check_mp3_meta": check_mp3_meta,
}
