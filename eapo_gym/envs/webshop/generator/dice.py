"""Chance that is the same everywhere: on every machine, in every process, in every version of Python.

Python promises that of `random.Random(seed).random()` alone, so all else is made from it here.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")

VERSION = 1
"""The generator's version: a seed's catalogue is fixed within one, so whatever changes any product counts this up."""


class Dice:
    """A stream of chance with a name of its own: what is drawn from it does not move what is drawn from another."""

    __slots__ = ("_random",)

    def __init__(self, *name: object) -> None:
        digest = sha256("/".join(map(str, (VERSION, *name))).encode()).digest()
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
        """One of the keys, as often as its weight says; whole numbers, as sums of fractions depend on their order."""
        rest = self.below(sum(weights.values()))
        for key, weight in weights.items():
            if rest < weight:
                return key
            rest -= weight
        raise ValueError("weights: expected whole numbers of which at least one is above 0, got none")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], most: int) -> list[T]:
        """Up to so many of the items, none twice, in any order."""
        pool = list(items)
        count = min(most, len(pool))
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]
