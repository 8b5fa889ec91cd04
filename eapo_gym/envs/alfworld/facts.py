"""The facts of one game: which ones never change, and a number for each of the others.

A state is an `int` whose bit i says whether fact i holds. Facts get their numbers when they are first heard of, so a
game of a thousand possible facts, of which an episode touches fifty, stays small; a state that was taken before a fact
was numbered has a zero in its place, which is right, since nothing had made it true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from threading import Lock
from typing import TypeAlias

from eapo_gym.envs.alfworld.grammar import Literal, Placeholder
from eapo_gym.envs.alfworld.pddl import Fact

Binding: TypeAlias = dict[Placeholder, str]
Pattern: TypeAlias = "tuple[str | None, ...]"
"""A fact with None where any argument will do."""

EQUAL = "="


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Facts:
    """Static facts with their indexes, and the numbering of the fluent ones."""

    def __init__(
        self, init: Iterable[Fact], fluents: frozenset[str], types: dict[str, str], supertypes: dict[str, str]
    ):
        self.types = types
        """Object → type."""
        self._supertypes = supertypes
        self.fluents = fluents
        self.statics: set[Fact] = set()
        self._static_index: dict[Pattern, list[Fact]] = {}
        self.numbered: list[Fact] = []
        self._numbers: dict[Fact, int] = {}
        self._masks: dict[Pattern, int] = {}
        self._numbering = Lock()
        self._by_type: dict[str, dict[str, None]] = {}
        for fact in sorted(set(init)):
            if fact[0] in fluents:
                self.number(fact)
            else:
                self.statics.add(fact)
                for pattern in _patterns_of(fact):
                    self._static_index.setdefault(pattern, []).append(fact)

    def number(self, fact: Fact) -> int:
        """The number of a fluent fact; a new one if it has none yet."""
        number = self._numbers.get(fact)
        if number is not None:
            return number
        with self._numbering:
            if fact not in self._numbers:
                number = len(self.numbered)
                for pattern in _patterns_of(fact):
                    self._masks[pattern] = self._masks.get(pattern, 0) | 1 << number
                self.numbered.append(fact)
                self._numbers[fact] = number
            return self._numbers[fact]

    def mask(self, patterns: Iterable[Pattern]) -> int:
        """The bits of all facts numbered so far that match one of the patterns."""
        mask = 0
        for pattern in patterns:
            mask |= self._masks.get(pattern, 0)
        return mask

    def mask_of(self, pattern: Pattern) -> int:
        return self._masks.get(pattern, 0)

    def true(self, state: int) -> Iterator[Fact]:
        """The fluent facts that hold."""
        return (self.numbered[i] for i in bits(state))

    def holds(self, fact: Fact, state: int) -> bool:
        if fact[0] not in self.fluents:
            return fact in self.statics if fact[0] != EQUAL else fact[1] == fact[2]
        number = self._numbers.get(fact)
        return number is not None and bool(state >> number & 1)

    def matching(self, pattern: Pattern, state: int) -> list[Fact]:
        """The facts that hold and match, static or fluent."""
        if pattern[0] not in self.fluents:
            if pattern[0] == EQUAL:
                return [(EQUAL, value, value) for value in pattern[1:] if value is not None]
            return self._static_index.get(pattern, [])
        mask = self._masks.get(pattern)
        return [self.numbered[i] for i in bits(state & mask)] if mask else []

    def of_type(self, type_: str) -> dict[str, None]:
        """The things of a type or of one below it, in the order of the problem (a dict, for its order and its `in`)."""
        members = self._by_type.get(type_)
        if members is None:
            members = self._by_type[type_] = dict.fromkeys(x for x in self.types if self._is_a(self.types[x], type_))
        return members

    def _is_a(self, known: str | None, type_: str) -> bool:
        while known is not None and known != type_:
            known = self._supertypes.get(known) if known != "object" else None
        return known is not None

    def answers(self, query: Sequence[Literal], binding: Binding, state: int) -> Iterator[Binding]:
        """The answers of a query of the text grammar, in the order in which the texts list them.

        Different variables take different values, those bound from outside included.
        """
        if not query:
            yield binding
            return
        literal, rest = query[0], query[1:]
        pattern = ground(literal, binding)
        if None not in pattern:
            if self.holds(pattern, state):  # type: ignore[arg-type]
                yield from self.answers(rest, binding, state)
            return
        free = [
            (i, arg)
            for i, (arg, value) in enumerate(zip(literal.args, pattern[1:], strict=True), start=1)
            if value is None and not isinstance(arg, str)
        ]
        for fact in sorted(self.matching(pattern, state)):
            extended = binding.copy()
            for i, variable in free:
                value = fact[i]
                if value not in self.of_type(variable[1]) or (variable not in extended and value in extended.values()):
                    break
                if extended.setdefault(variable, value) != value:
                    break
            else:
                yield from self.answers(rest, extended, state)


def ground(literal: Literal, binding: Binding) -> Pattern:
    """The literal with its variables replaced, None where one is free."""
    return (literal.predicate, *[arg if isinstance(arg, str) else binding.get(arg) for arg in literal.args])


def _patterns_of(fact: Fact) -> Iterator[Pattern]:
    for kept in product((True, False), repeat=len(fact) - 1):
        yield (fact[0], *[arg if keep else None for arg, keep in zip(fact[1:], kept, strict=True)])
