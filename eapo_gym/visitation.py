"""Visitation depth κ and exploration degree: how often a trajectory came back to a state."""

from __future__ import annotations

from collections.abc import Iterable


class VisitCounter:
    """Counts the states of one trajectory.

    A *self-loop* is a step that left the state where it was (an invalid action, a look around). It raises κ, since the
    agent stands in the same state once more, but it is no return; so both readings of the exploration degree are kept.
    """

    __slots__ = ("_arrivals", "_last", "_returned", "_revisited", "_visits")

    def __init__(self) -> None:
        self._visits: dict[str, int] = {}
        self._arrivals: dict[str, int] = {}
        self._last: str | None = None
        # How many states were visited, or arrived at, more than once: kept up, since it is asked for at every step.
        self._revisited = 0
        self._returned = 0

    def visit(self, fingerprint: str) -> int:
        """Record one more visit; return κ, the number of earlier ones."""
        depth = self._visits.get(fingerprint, 0)
        self._visits[fingerprint] = depth + 1
        self._revisited += depth == 1
        if fingerprint != self._last:
            arrivals = self._arrivals.get(fingerprint, 0)
            self._arrivals[fingerprint] = arrivals + 1
            self._returned += arrivals == 1
            self._last = fingerprint
        return depth

    @property
    def distinct(self) -> int:
        return len(self._visits)

    def exploration_degree(self, self_loops: bool = True) -> float:
        """Share of the distinct states that were visited more than once."""
        more_than_once = self._revisited if self_loops else self._returned
        return more_than_once / len(self._visits) if self._visits else 0.0

    def copy(self) -> VisitCounter:
        twin = VisitCounter()
        twin._visits, twin._arrivals, twin._last = self._visits.copy(), self._arrivals.copy(), self._last
        twin._revisited, twin._returned = self._revisited, self._returned
        return twin


def exploration_degree(fingerprints: Iterable[str], self_loops: bool = True) -> float:
    """Exploration degree of a finished sequence of states."""
    counter = VisitCounter()
    for fingerprint in fingerprints:
        counter.visit(fingerprint)
    return counter.exploration_degree(self_loops)
