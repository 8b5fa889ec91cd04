"""The numbers of BM25 as Lucene computes them, in 32-bit floats and with lengths of documents in one byte."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

K1 = np.float32(0.9)
B = np.float32(0.4)
"""Both are the defaults of the search that the benchmark uses."""


def _value(code: int) -> int:
    """The length that a byte stands for: exact up to 39, and with four significant bits beyond."""
    if code < 24:
        return code
    code -= 24
    return 24 + (code if code < 8 else (8 + code % 8) << (code // 8 - 1))


LENGTHS = np.array([_value(code) for code in range(256)], np.int64)


def length_codes(lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The byte that is kept of the length of a document: of the longest one that is not longer."""
    return (np.searchsorted(LENGTHS, lengths, side="right") - 1).astype(np.uint8)


def idf(documents: int, having: int) -> np.float32:
    """How much a word weighs that so many of the documents have."""
    weight: np.float32 = np.float32(math.log(1 + (documents - having + 0.5) / (having + 0.5)))
    return weight


def ratios(frequencies: NDArray[np.int64], codes: NDArray[np.uint8], words: int, documents: int) -> Floats:
    """What `impacts` needs to know of a word in a document: its frequency in relation to the document's length.

    `words` and `documents` are those of the whole collection, which give the average length.
    """
    average = np.float32(words / documents) if documents else np.float32(1)
    norms = np.float32(1) / (K1 * ((np.float32(1) - B) + B * LENGTHS.astype(np.float32) / average))
    found: Floats = np.float32(1) + frequencies.astype(np.float32) * norms[codes]
    return found


def impacts(weights: Floats | np.float32, ratios: Floats) -> Floats:
    """What words add to the scores of documents."""
    found: Floats = weights - weights / ratios
    return found
