"""Which facts make up the identity of a state, and a number that stands for them.

Games note things that nothing ever reads (what was looked at, what was opened once). With those in it, every state
would be a new one. What is read follows from the domain, the goal and the text grammar.

The `not_p` notes (see rulebook.py) are left out too: the absence of p is in the state already, and when p was ended is
history. The one place where a text tells that history is a `look` where receptacles share a location: a thing that was
taken out of one of them and put into another is then "next to" them.
"""

from __future__ import annotations

import hashlib
from threading import Lock

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.facts import Facts, bits
from eapo_gym.envs.alfworld.rulebook import Rulebook


class Identity:
    """Marks of states: the exclusive or of one hash per fact, so that a step changes a mark by what it changed."""

    def __init__(self, rulebook: Rulebook, facts: Facts, problem: pddl.Problem) -> None:
        self._facts = facts
        self._live = rulebook.live(problem.goal)
        self._game = _hash(repr((sorted(problem.init), problem.goal)))
        self._marks: list[int] = []
        self._read = 0
        self._marking = Lock()

    def mark(self, state: int, near: tuple[int, int] | None = None) -> int:
        """A number that two states share if and only if they agree on all facts that something reads.

        `near` is another state with its mark; the closer it is, the less there is to do.
        """
        known, mark = near if near is not None else (0, self._game)
        self._mark_all()
        for number in bits((state ^ known) & self._read):
            mark ^= self._marks[number]
        return mark

    def reads(self, predicate: str) -> bool:
        """Whether facts of this predicate are part of a state's identity."""
        return predicate in self._live

    def differ(self, state: int, other: int) -> frozenset[str]:
        """The predicates of the facts that something reads and that hold in one of the two states only."""
        self._mark_all()
        return frozenset(self._facts.numbered[number][0] for number in bits((state ^ other) & self._read))

    def _mark_all(self) -> None:
        """Mark the facts that were numbered since the last time."""
        if len(self._marks) == len(self._facts.numbered):
            return
        with self._marking:
            for fact in self._facts.numbered[len(self._marks) :]:
                if fact[0] in self._live:
                    self._read |= 1 << len(self._marks)
                self._marks.append(_hash(" ".join(fact)))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "little")
