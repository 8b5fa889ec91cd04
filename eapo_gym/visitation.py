"""Visitation depth κ and exploration degree: how often a trajectory came back to a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class VisitCounter:
    """Counts the states of one trajectory.

    A *self-loop* is a step that left the state where it was (an invalid action, a look around). It raises κ, since the
    agent stands in the same state once more, but it is no return; so both readings of the exploration degree are kept.
    """

    __slots__ = ("_arrivals", "_last", "_visits")

    def __init__(self) -> None:
        self._visits: Counter[str] = Counter()
        self._arrivals: Counter[str] = Counter()
        self._last: str | None = None

    def visit(self, fingerprint: str) -> int:
        """Record one more visit; return κ, the number of earlier ones."""
        depth = self._visits[fingerprint]
        self._visits[fingerprint] = depth + 1
        if fingerprint != self._last:
            self._arrivals[fingerprint] += 1
            self._last = fingerprint
        return depth

    @property
    def distinct(self) -> int:
        return len(self._visits)

    def exploration_degree(self, self_loops: bool = True) -> float:
        """Share of the distinct states that were visited more than once."""
        counts = self._visits if self_loops else self._arrivals
        return sum(n > 1 for n in counts.values()) / len(counts) if counts else 0.0

    def copy(self) -> VisitCounter:
        twin = VisitCounter()
        twin._visits, twin._arrivals, twin._last = self._visits.copy(), self._arrivals.copy(), self._last
        return twin


def exploration_degree(fingerprints: Iterable[str], self_loops: bool = True) -> float:
    """Exploration degree of a finished sequence of states."""
    counter = VisitCounter()
    for fingerprint in fingerprints:
        counter.visit(fingerprint)
    return counter.exploration_degree(self_loops)
