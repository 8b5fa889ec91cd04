"""Which facts make up the identity of a state, and a number that stands for them.

Games note things that nothing ever reads (what was looked at, what was opened once). With those in it, every state
would be a new one. What is read follows from the domain, the goal and the text grammar.
"""

from __future__ import annotations

import hashlib

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.facts import Binding, Facts, Pattern, bits, ground
from eapo_gym.envs.alfworld.grammar import Literal, Query
from eapo_gym.envs.alfworld.pddl import Fact
from eapo_gym.envs.alfworld.rulebook import NEGATED, ActionRule, Conjunction, Rulebook


class Identity:
    """Marks of states: the exclusive or of one hash per fact, so that a step changes a mark by what it changed."""

    def __init__(self, rulebook: Rulebook, facts: Facts, problem: pddl.Problem) -> None:
        self._rulebook = rulebook
        self._facts = facts
        self._live = rulebook.live(problem.goal)
        self._game = _hash(repr((sorted(problem.init), problem.goal)))
        self._marks: list[int] = []

    def mark(self, state: int, near: tuple[int, int] | None = None) -> int:
        """A number that two states share if and only if they agree on all facts that something reads.

        `near` is another state with its mark; the closer it is, the less there is to do.
        """
        known, mark = near if near is not None else (0, self._game)
        for number in bits(state ^ known):
            if number >= len(self._marks):
                self._marks.extend(map(self._mark_of, self._facts.numbered[len(self._marks) :]))
            mark ^= self._marks[number]
        return mark

    def is_read(self, fact: Fact) -> bool:
        """Whether anything can ever depend on this fact."""
        if fact[0] not in self._live:
            return False
        if fact[0].startswith(NEGATED) and fact[0][len(NEGATED) :] in self._rulebook.negated:
            return any(self._may_show(query, literal, fact) for query in self._rulebook.queries for literal in query)
        return True

    def _mark_of(self, fact: Fact) -> int:
        return _hash(" ".join(fact)) if self.is_read(fact) else 0

    def _may_show(self, query: Query, literal: Literal, fact: Fact) -> bool:
        """Whether the rest of a query can hold beside this `not_p`, so that a text tells it.

        It tells where two receptacles share a place: a thing taken out of the one and put into the other is "next to"
        them. Where a receptacle stands alone, it can tell nothing, and a thing put back leaves no trace.
        """
        if literal.predicate != fact[0]:
            return False
        binding: Binding = {}
        for arg, value in zip(literal.args, fact[1:], strict=True):
            if not isinstance(arg, str):
                binding[arg] = value
        return any(
            not any(self._exclude(fact, ground(other, reached)) for other in query if other is not literal)
            for reached in self._facts.expand(query, binding)
        )

    def _exclude(self, fact: Fact, other: Pattern) -> bool:
        """Whether `other` never holds beside `not_p`: what adds it adds p, and what ends p ends it."""
        if other[0] not in self._facts.fluents:
            return False
        p = (fact[0][len(NEGATED) :], *fact[1:])
        return all(
            self._comes_with(action, other, p, True) and self._comes_with(action, p, other, False)
            for action in self._rulebook.actions
        )

    def _comes_with(self, action: ActionRule, cause: Pattern, consequence: Pattern, value: bool) -> bool:
        """Whether each use of `action` that makes `cause` true (or false) makes `consequence` so as well."""
        if any(effect.literal.predicate == cause[0] for effect in action.conditional):
            return False
        return all(
            consequence in {ground(other, use) for other in action.effects if other.positive is value}
            for effect in action.effects
            if effect.predicate == cause[0] and effect.positive is value
            for way in action.ways
            for use in self._uses(way, effect, cause)
        )

    def _uses(self, way: Conjunction, effect: Literal, cause: Pattern) -> list[Binding]:
        binding: Binding = {}
        for arg, value in zip(effect.args, cause[1:], strict=True):
            if not isinstance(arg, str) and value is not None:
                binding[arg] = value
        return self._facts.expand(way, binding)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "little")
