"""An index of products by their words: built once, kept in a folder, and shared by all processes that open it.

The arrays in the folder are mapped into memory. So an index of a million products is there at once, and what several
processes read of it is in memory once. The index of a small catalogue can live in memory alone.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from eapo_gym.envs.webshop.products import BUILD_COMMAND
from eapo_gym.envs.webshop.search.analysis import term, words
from eapo_gym.envs.webshop.search.bm25 import Floats, idf, length_codes, ratios
from eapo_gym.errors import EapoError, MissingData

FORMAT = 1
"""Of the files. Whatever changes them, or the words of a text, counts this up."""

NOTE = "index.json"

Documents = Iterable[tuple[str, str]]
"""The id and the text of each document; its number is its place."""

_CHUNK_DOCUMENTS = 1 << 14
_CHUNK_WORDS = 1 << 21
_MOST_SPELLINGS = 1 << 20


class SearchIndexError(EapoError, ValueError):
    """An index that is broken, or that belongs to another catalogue."""


@dataclass(frozen=True, slots=True)
class Index:
    """For every term, the documents that have it, and how often."""

    terms: NDArray[np.uint64]
    """The terms in ascending order; numbers stand for them (see `key`), so there is no text in an index."""

    starts: NDArray[np.int64]
    """Where in `documents` and `kinds` each term's part starts; and last, where they end."""

    documents: NDArray[np.int32]
    """The documents that have a term, ascending."""

    kinds: NDArray[Any]
    """Beside each document, which of the `ratios` applies."""

    ratios: Floats
    """See `bm25.ratios`: one for each pair of a frequency and a document's length that occurs, ascending."""

    highest: NDArray[Any]
    """The highest of each term's kinds."""

    weights: Floats
    """How much each term weighs."""

    ranks: NDArray[np.int32]
    """The place of each document in the order of their ids, which decides between equals."""

    def __len__(self) -> int:
        return len(self.ranks)


@lru_cache(maxsize=1 << 14)
def key(term: str) -> int:
    """The number that stands for a term."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def make_index(documents: Documents) -> Index:
    """An index in memory."""
    return _built(documents, lambda name, size, kind: np.empty(size, kind))


def write_index(
    folder: Path, documents: Documents, digest: str, progress: Callable[[int], object] | None = None
) -> None:
    """Build the index of the catalogue with this digest in a folder, in the place of an older one if there is any.

    It is there whole or not at all: it is written beside the folder first. When two processes build the same index, the
    first one's stays. `progress` is told how many documents have been read.
    """
    folder = folder.absolute()
    if folder.exists() and not (folder / NOTE).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise SearchIndexError(f"{folder} holds something else: expected a search index, or a folder that is empty.")
    draft = _beside(folder)
    draft.mkdir(parents=True)
    try:
        index = _built(documents, lambda name, size, kind: _new_file(draft / f"{name}.npy", size, kind), progress)
        for array in _arrays(index).values():
            if isinstance(array, np.memmap):
                array.flush()
        (draft / NOTE).write_text(json.dumps(_note(index, digest), indent=2) + "\n", encoding="utf-8")
        del index, array
        _put(draft, folder, digest)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def open_index(folder: Path, digest: str) -> Index:
    """The index in a folder, if it is that of the catalogue with this digest."""
    note = folder / NOTE
    if not note.is_file():
        raise MissingData(f"There is no search index in {folder}: run '{BUILD_COMMAND}'.")
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
        format_, catalogue = found["format"], found["catalogue"]
    except (ValueError, TypeError, KeyError):
        raise SearchIndexError(f"{note} is broken: run '{BUILD_COMMAND}' to build the index again.") from None
    if format_ != FORMAT:
        raise SearchIndexError(
            f"The search index in {folder} is of format {format_!r:.40}, expected {FORMAT}: run '{BUILD_COMMAND}'."
        )
    if catalogue != digest:
        raise SearchIndexError(
            f"The search index in {folder} belongs to another catalogue "
            f"({catalogue!r:.20}, expected {digest!r:.20}): run '{BUILD_COMMAND}' to build the one of this catalogue."
        )
    try:
        index = Index(**{field.name: _load(folder / f"{field.name}.npy") for field in fields(Index)})
        whole = _note(index, digest) == found
    except (OSError, EOFError, ValueError):
        whole = False
    if not whole:
        raise SearchIndexError(f"The search index in {folder} is broken: run '{BUILD_COMMAND}' to build it again.")
    return index


def _note(index: Index, digest: str) -> dict[str, Any]:
    """What tells whether the files are whole, and whose they are."""
    sizes = {name: len(array) for name, array in _arrays(index).items()}
    return {"format": FORMAT, "catalogue": digest, "products": len(index), "sizes": sizes}


def _arrays(index: Index) -> dict[str, NDArray[Any]]:
    return {field.name: getattr(index, field.name) for field in fields(Index)}


def _new_file(file: Path, size: int, kind: DTypeLike) -> NDArray[Any]:
    return np.lib.format.open_memmap(file, "w+", kind, (size,))


def _load(file: Path) -> NDArray[Any]:
    """A file's array as it stands in memory; a plain one, since slices of NumPy's memmaps are slow to make."""
    array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    return np.asarray(array)


def _put(draft: Path, folder: Path, digest: str) -> None:
    """Rename the draft to what it shall be; a good index that another process has put there meanwhile stays."""
    while True:
        try:
            draft.rename(folder)  # over an empty folder too
            return
        except OSError:
            if not folder.exists():
                raise
        try:
            open_index(folder, digest)
            return
        except (MissingData, SearchIndexError):
            aside = _beside(folder)
        try:
            folder.rename(aside)
        except FileNotFoundError:
            continue  # another process was quicker
        shutil.rmtree(aside, ignore_errors=True)


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")


# How an index is built: some thousand documents at a time are turned into sorted arrays, and when all have been read,
# it is known where in the index each of them goes.


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Some documents, turned round: for every term in them, the documents that have it."""

    first: int
    """The number of the first document."""

    terms: NDArray[np.int32]
    """In the order in which they were met in the collection."""

    sizes: NDArray[np.int32]
    """How many documents have each term."""

    documents: NDArray[np.uint16]
    """Counted from the first one."""

    pairs: NDArray[np.uint32]
    """Beside each document, the term's frequency and the document's length, which is the lowest byte."""


class _Vocabulary(dict[str, int]):
    """The number of the term that each word as written stands for; -1 for stop words, which stand for none."""

    def __init__(self) -> None:
        self.terms: defaultdict[str, int] = defaultdict(count().__next__)

    def __missing__(self, word: str) -> int:
        if len(self) == _MOST_SPELLINGS:
            self.clear()
        meant = term(word)
        number = self[word] = self.terms[meant] if meant else -1
        return number


def _built(
    documents: Documents,
    new: Callable[[str, int, DTypeLike], NDArray[Any]],
    progress: Callable[[int], object] | None = None,
) -> Index:
    """Build an index whose arrays are made by `new` from their name, size and type."""
    vocabulary = _Vocabulary()
    ids: list[str] = []
    lengths: list[NDArray[np.int64]] = []
    chunks: list[_Chunk] = []
    for numbers, lengths_of in _read(documents, vocabulary, ids):
        chunks.append(_turned(sum(map(len, lengths)), numbers, lengths_of))
        lengths.append(lengths_of)
        if progress:
            progress(len(ids))

    # Terms are put in the order of their keys; `place` is where each of them goes.
    keys = np.fromiter(map(key, vocabulary.terms), np.uint64, len(vocabulary.terms))
    order = np.argsort(keys)
    place = np.empty(len(keys), np.int64)
    place[order] = np.arange(len(keys))
    terms = new("terms", len(keys), np.uint64)
    terms[:] = keys[order]
    if (terms[1:] == terms[:-1]).any():
        raise SearchIndexError("Two words of this catalogue have the same key, which the index cannot tell apart.")

    having = np.zeros(len(keys), np.int64)
    for chunk in chunks:
        having[place[chunk.terms]] += chunk.sizes
    starts = new("starts", len(keys) + 1, np.int64)
    starts[0] = 0
    np.cumsum(having, out=starts[1:])

    length = np.concatenate([np.zeros(0, np.int64), *lengths])
    filled = int(np.count_nonzero(length))
    pairs, kind_of, ratio = _kinds(chunks, int(length.sum()), filled)
    kind_type = np.min_scalar_type(max(len(ratio) - 1, 0))
    index = Index(
        terms=terms,
        starts=starts,
        documents=new("documents", int(starts[-1]), np.int32),
        kinds=new("kinds", int(starts[-1]), kind_type),
        ratios=new("ratios", len(ratio), np.float32),
        highest=new("highest", len(keys), kind_type),
        weights=new("weights", len(keys), np.float32),
        ranks=new("ranks", len(ids), np.int32),
    )
    index.ratios[:] = ratio
    index.highest[:] = 0
    different, which = np.unique(having, return_inverse=True)
    index.weights[:] = np.array([idf(filled, int(number)) for number in different], np.float32)[which]
    index.ranks[np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)] = np.arange(len(ids))

    free = starts[:-1].copy()
    for chunk in chunks:
        places = place[chunk.terms]
        begins = np.cumsum(chunk.sizes) - chunk.sizes
        into = np.repeat(free[places] - begins, chunk.sizes) + np.arange(len(chunk.documents))
        kinds = kind_of[np.searchsorted(pairs, chunk.pairs)]
        index.documents[into] = chunk.documents + np.int32(chunk.first)
        index.kinds[into] = kinds
        free[places] += chunk.sizes
        if len(begins):
            index.highest[places] = np.maximum(index.highest[places], np.maximum.reduceat(kinds, begins))
    return index


def _read(
    documents: Documents, vocabulary: _Vocabulary, ids: list[str]
) -> Iterator[tuple[list[int], NDArray[np.int64]]]:
    """Some documents at a time: the terms of all, one after the other, and the length of each; ids go into the list."""
    numbers: list[int] = []
    lengths: list[int] = []
    for id_, text in documents:
        ids.append(id_)
        before = len(numbers)
        numbers += [number for number in map(vocabulary.__getitem__, words(text)) if number >= 0]
        lengths.append(len(numbers) - before)
        if len(lengths) == _CHUNK_DOCUMENTS or len(numbers) >= _CHUNK_WORDS:
            yield numbers, np.array(lengths)
            numbers, lengths = [], []
    yield numbers, np.array(lengths, np.int64)


def _turned(first: int, numbers: list[int], lengths: NDArray[np.int64]) -> _Chunk:
    size = max(len(lengths), 1)
    document = np.repeat(np.arange(len(lengths)), lengths)
    both, frequencies = np.unique(np.array(numbers, np.int64) * size + document, return_counts=True)
    terms, sizes = np.unique(both // size, return_counts=True)
    documents = both % size
    return _Chunk(
        first,
        terms.astype(np.int32),
        sizes.astype(np.int32),
        documents.astype(np.uint16),
        frequencies.astype(np.uint32) << np.uint32(8) | length_codes(lengths)[documents],
    )


def _kinds(chunks: list[_Chunk], words: int, documents: int) -> tuple[NDArray[np.uint32], NDArray[np.int64], Floats]:
    """All pairs of a frequency and a length, the place of each in the order of their ratios, and these ratios."""
    pairs = np.unique(np.concatenate([np.unique(chunk.pairs) for chunk in chunks]))
    ratio = ratios((pairs >> 8).astype(np.int64), (pairs & 255).astype(np.uint8), words, documents)
    order = np.argsort(ratio, kind="stable")
    kind_of = np.empty(len(pairs), np.int64)
    kind_of[order] = np.arange(len(pairs))
    return pairs, kind_of, ratio[order]
