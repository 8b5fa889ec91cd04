"""Chance that is the same everywhere: on every machine, in every process, in every version of Python.

Python promises that of `random.Random(seed).random()` alone, so all else is made from it here; and weights are whole
numbers, since sums of fractions depend on how they are summed.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import ClassVar, TypeVar

T = TypeVar("T")


class Dice:
    """A stream of chance with a name of its own: what is drawn from it does not move what is drawn from another."""

    __slots__ = ("_random",)

    version: ClassVar[int]
    """The version of the generator that draws: what a seed makes is fixed within one."""

    def __init__(self, *name: object) -> None:
        digest = sha256("/".join(map(str, (self.version, *name))).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:16], "big")).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._random() * n)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share: float) -> bool:
        return self._random() < share

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """One of the keys, as often as its weight says."""
        return self.drawn(list(weights), list(accumulate(weights.values())))

    def drawn(self, choices: Sequence[T], totals: Sequence[int]) -> T:
        """The same with running totals of the weights, for those who draw often."""
        return choices[bisect_right(totals, self.below(totals[-1]))]

    def amount(self, histogram: Sequence[int], least: int = 0) -> int:
        """A number n, not below `least`, as often as histogram[n] says."""
        totals = list(accumulate(histogram[least:]))
        if not totals or not totals[-1]:
            return least
        return least + bisect_right(totals, self.below(totals[-1]))

    def scaled(self, n: int, factor: float) -> int:
        """n times the factor, rounded up or down by chance so that it is right on average."""
        exact = n * factor
        whole = int(exact)
        return whole + (self._random() < exact - whole)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        shuffled = list(items)
        for last in range(len(shuffled) - 1, 0, -1):
            other = self.below(last + 1)
            shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
        return shuffled

    def sample(self, items: Sequence[T], most: int) -> list[T]:
        """Up to so many of the items, none twice, in any order."""
        pool = list(items)
        count = min(most, len(pool))
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]
