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

_GROUPS = 32
"""The most promising documents are the best of groups, so many groups for each result that is wanted."""

_LONG = 1 << 15
"""To read a term that more documents have takes longer than to see whether that can be spared."""

_LOOK_UP_COST = 24
"""What it costs to look up a document among those of a term, in relation to reading one of them after the other."""

Scores = NDArray[np.float64]
Reached = NDArray[np.float32]
"""What documents have of their scores so far: nearly, and in half the memory."""

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
        documents = self._candidates(found, min(most, len(self._index)))
        return self._best(documents, self._in_full(documents, found), most)

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

    def _candidates(self, found: list[_Term], most: int) -> Numbers:
        """Documents among which the best are.

        Terms that can add most come first, so that from some term on no other document can be among the best than those
        that are good already; the long lists of the frequent words, which come last, need not be read in full. When
        that is depends on how good the best are, so the most promising documents are looked at in full meanwhile.
        """
        reached = np.zeros(len(self._index), np.float32)
        slack = _slack(len(found))
        rest = sum(term.bound for term in found)
        least = 0.0  # so many documents as are wanted have this score or a higher one
        read = 0
        for term in found:
            if read and not least and len(term.documents) > _LONG:
                least = _surpassed(self._in_full(_promising(reached, most), found), most)
            if least * slack > rest:
                break
            self._add(term, reached)
            rest -= term.bound
            read += 1
        best = _promising(reached, most)
        if read < len(found):
            least = max(least, _surpassed(self._in_full(best, found), most))
        else:
            least, rest = _surpassed(reached[best], most), 0.0
        enough = least * slack - rest
        documents = (reached >= enough if enough > 0 else reached > 0).nonzero()[0]
        for term in found[read:]:
            if len(documents) * _LOOK_UP_COST < len(term.documents):
                self._add_to(documents, term, reached)
            else:
                self._add(term, reached)
            rest -= term.bound
            documents = documents[(reached[documents] >= least * slack - rest).nonzero()[0]]
        return documents

    def _add(self, term: _Term, reached: Reached) -> None:
        """Add what a term is worth in all documents that have it."""
        worth = impacts(term.weight, self._index.ratios)
        np.add.at(reached, term.documents.astype(np.intp), worth.take(term.kinds, mode="clip"))

    def _add_to(self, documents: Numbers, term: _Term, reached: Reached) -> None:
        """The same for some documents alone."""
        having, worth = self._looked_up(documents, term)
        reached[documents[having]] += worth

    def _in_full(self, documents: Numbers, found: list[_Term]) -> Scores:
        """The scores of some documents, which are in ascending order: sums in the order of the terms, as of all."""
        scores = np.zeros(len(documents))
        for term in found:
            having, worth = self._looked_up(documents, term)
            scores[having] += worth
        return scores

    def _looked_up(self, documents: Numbers, term: _Term) -> tuple[Numbers, Reached]:
        """Which of the documents have a term, and what it is worth there; the fewer are looked up among the more."""
        if len(documents) <= len(term.documents):
            places = np.searchsorted(term.documents, documents.astype(np.int32))
            places[places == len(term.documents)] = 0
            having = (term.documents[places] == documents).nonzero()[0]
            places = places[having]
        else:
            having = np.searchsorted(documents, term.documents)
            having[having == len(documents)] = 0
            places = (documents[having] == term.documents).nonzero()[0]
            having = having[places]
        return having, impacts(term.weight, self._index.ratios[term.kinds[places]])

    def _best(self, documents: Numbers, scores: Scores, most: int) -> tuple[int, ...]:
        rounded = scores.astype(np.float32)
        if len(documents) > most:
            least = np.partition(rounded, -most)[-most]
            good = (rounded >= least).nonzero()[0]
            documents, rounded = documents[good], rounded[good]
        order = np.lexsort((self._index.ranks[documents], -rounded))[:most]
        return tuple(documents[order].tolist())


def _promising(reached: Reached, count: int) -> Numbers:
    """So many documents, in ascending order, that are likely to be among the best: the best of the best groups."""
    groups = _GROUPS * count
    if len(reached) <= groups:
        return np.sort(np.argpartition(reached, -min(count, len(reached)))[-count:])
    table = reached[: len(reached) // groups * groups].reshape(-1, groups)
    chosen = np.argpartition(table.max(axis=0), -count)[-count:]
    return np.sort(table[:, chosen].argmax(axis=0) * groups + chosen)


def _surpassed(scores: Scores | Reached, most: int) -> float:
    """A score that so many have or surpass; 0 where there are not so many."""
    return float(np.partition(scores, -most)[-most]) if len(scores) >= most else 0.0


def _slack(terms: int) -> float:
    """A score that is lower than another by more than this factor is so exactly computed, and rounded, too.

    What documents have reached is summed up in 32 bits, and scores that do not differ in so many are equals.
    """
    return 1 - (2 * terms + 8) * 2.0**-23


def documents_of(catalogue: Catalogue) -> Documents:
    """What of a catalogue is searched."""
    for number in range(len(catalogue)):
        product = catalogue.product(number)
        yield product.asin, contents(product)
