"""Finds the best products for a query: exactly those that Lucene finds, in its order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eapo_gym.envs.webshop.products import Catalogue
from eapo_gym.envs.webshop.search.analysis import terms
from eapo_gym.envs.webshop.search.bm25 import impacts
from eapo_gym.envs.webshop.search.documents import contents
from eapo_gym.envs.webshop.search.index import Documents, Index, key, make_index, open_index, write_index

LONGEST_QUERY = 1 << 16
MOST_WORDS = 1024
"""Of a query, so many characters are read, and so many different words searched for; Lucene refuses one with more."""

_CACHED_QUERIES = 2048
_LONGEST_CACHED = 1000

_SMALL = 1 << 15
"""A collection of so many documents is scored at once."""

_GROUPS = 64
"""Scores are compared by the best of groups, so many for each result that is wanted."""

_LOOK_UP_COST = 24
"""What it costs to look up a document among those of a term, in relation to reading one of them after the other."""

_SLACK = 1 - 1e-6
"""Scores are compared as 32-bit floats in the end, so one that is lower by less than this may be an equal."""

Scores = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a query."""

    documents: NDArray[np.int32]
    kinds: NDArray[Any]
    weight: np.float32
    bound: float
    """The most that it adds to a document's score."""


class ShopSearch:
    """The search of a catalogue: `make` it in memory, or `build` its index in a folder once and `open` that."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._cached: Callable[[str, int], tuple[int, ...]] = lru_cache(_CACHED_QUERIES)(self._search)

    @classmethod
    def make(cls, catalogue: Catalogue) -> ShopSearch:
        return cls(make_index(documents_of(catalogue)))

    @classmethod
    def open(cls, folder: Path, catalogue: Catalogue) -> ShopSearch:
        return cls(open_index(folder, catalogue.digest))

    @staticmethod
    def build(folder: Path, catalogue: Catalogue, progress: Callable[[int], object] | None = None) -> None:
        write_index(folder, documents_of(catalogue), catalogue.digest, progress)

    def __len__(self) -> int:
        return len(self._index)

    def search(self, query: str, most: int) -> tuple[int, ...]:
        """Numbers of products, best first; equals are in the order of their ids."""
        if len(query) <= _LONGEST_CACHED:
            return self._cached(query, most)
        return self._search(query[:LONGEST_QUERY], most)

    def _search(self, query: str, most: int) -> tuple[int, ...]:
        found = self._terms(query)
        if not found or most <= 0:
            return ()
        if len(self._index) <= _SMALL:
            scores = self._all_at_once(found)
            documents = scores.nonzero()[0]
            return self._best(documents, scores[documents], most)
        return self._best(*self._one_by_one(found, most), most)

    def _terms(self, query: str) -> list[_Term]:
        """Those that some document has, those first that can add most."""
        index = self._index
        counted = dict(islice(Counter(terms(query)).items(), MOST_WORDS))
        keys = np.fromiter(map(key, counted), np.uint64, len(counted))
        counts = np.fromiter(counted.values(), np.float32, len(counted))
        places = np.searchsorted(index.terms, keys)
        known = (places < len(index.terms)).nonzero()[0]
        known = known[index.terms[places[known]] == keys[known]]
        places = places[known]
        weights = counts[known] * index.weights[places]
        bounds = impacts(weights, index.ratios[index.highest[places]])
        parts = zip(
            index.starts[places].tolist(), index.starts[places + 1].tolist(), weights, bounds.tolist(), strict=True
        )
        found = [
            _Term(index.documents[start:end], index.kinds[start:end], weight, bound)
            for start, end, weight, bound in parts
        ]
        found.sort(key=lambda term: -term.bound)
        return found

    def _all_at_once(self, found: list[_Term]) -> Scores:
        """The scores of all documents."""
        index = self._index
        documents = np.concatenate([term.documents for term in found])
        kinds = np.concatenate([term.kinds for term in found])
        sizes = [len(term.documents) for term in found]
        weights = np.repeat(np.array([term.weight for term in found], np.float32), sizes)
        return np.bincount(documents, impacts(weights, index.ratios[kinds]), len(index)).astype(np.float64, copy=False)

    def _one_by_one(self, found: list[_Term], most: int) -> tuple[Numbers, Scores]:
        """Documents among which the best are, and their scores.

        Terms that can add most come first, so that from some term on no other document can be among the best than those
        that are good already; the long lists of the frequent words, which come last, need not be read in full.
        """
        most = min(most, len(self._index))
        scores = np.zeros(len(self._index))
        rest = sum(term.bound for term in found)
        least = 0.0
        remaining = iter(found)
        for term in remaining:
            self._add(term, scores)
            rest -= term.bound
            least += term.bound  # it is not more, so most often there is no need to look
            if least > rest:
                least = _surpassed(scores, most)
                if least * _SLACK > rest:
                    break
        else:
            least, rest = _surpassed(scores, most), 0.0
        documents = (scores >= least * _SLACK - rest if least else scores).nonzero()[0]
        for term in remaining:
            if len(documents) * _LOOK_UP_COST < len(term.documents):
                self._add_to(documents, term, scores)
            else:
                self._add(term, scores)
            rest -= term.bound
            documents = _among(documents, scores, rest, most)
        return documents, scores[documents]

    def _add(self, term: _Term, scores: Scores) -> None:
        """Add what a term is worth in all documents that have it."""
        worth = impacts(term.weight, self._index.ratios).astype(np.float64)
        np.add.at(scores, term.documents.astype(np.intp), worth.take(term.kinds, mode="clip"))

    def _add_to(self, documents: Numbers, term: _Term, scores: Scores) -> None:
        """The same for some documents alone, which are looked up among those that have the term."""
        places = np.searchsorted(term.documents, documents.astype(np.int32))
        places[places == len(term.documents)] = 0
        having = (term.documents[places] == documents).nonzero()[0]
        ratios = self._index.ratios[term.kinds[places[having]]]
        scores[documents[having]] += impacts(term.weight, ratios)

    def _best(self, documents: Numbers, scores: Scores, most: int) -> tuple[int, ...]:
        rounded = scores.astype(np.float32)
        if len(documents) > most:
            least = np.partition(rounded, -most)[-most]
            good = (rounded >= least).nonzero()[0]
            documents, rounded = documents[good], rounded[good]
        order = np.lexsort((self._index.ranks[documents], -rounded))[:most]
        return tuple(documents[order].tolist())


def _among(documents: Numbers, scores: Scores, rest: float, most: int) -> Numbers:
    """Those of the documents that can be among the best if no score rises by more than `rest`."""
    if len(documents) <= most:
        return documents
    reached = scores[documents]
    return documents[(reached >= _surpassed(reached, most) * _SLACK - rest).nonzero()[0]]


def _surpassed(scores: Scores, most: int) -> float:
    """A score that so many have or surpass: of many scores not the highest such, but nearly, and quick."""
    groups = _GROUPS * most
    if len(scores) > groups:
        scores = scores[: len(scores) // groups * groups].reshape(-1, groups).max(axis=0)
    return float(np.partition(scores, -most)[-most])


def documents_of(catalogue: Catalogue) -> Documents:
    """What of a catalogue is searched."""
    for number in range(len(catalogue)):
        product = catalogue.product(number)
        yield product.asin, contents(product)
