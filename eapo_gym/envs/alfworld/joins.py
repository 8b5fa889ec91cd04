"""Joins: all the ways in which a conjunction of literals can hold, planned once for all games of a rulebook.

A binding is a tuple with a slot for each variable. What is bound when is known before any game is: so a plan is a fixed
row of steps, each of which looks facts up by what is bound and fills further slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from eapo_gym.envs.alfworld.facts import EQUAL, Facts, Pattern
from eapo_gym.envs.alfworld.grammar import Literal, Placeholder

Conjunction: TypeAlias = tuple[Literal, ...]
Values: TypeAlias = "tuple[str | None, ...]"
"""What the slots hold; None where a variable is free."""


class Term:
    """A literal whose variables are slots."""

    __slots__ = ("ground", "positive", "predicate")

    def __init__(self, literal: Literal, slots: Sequence[Placeholder]) -> None:
        self.predicate = literal.predicate
        self.positive = literal.positive
        args = [arg if isinstance(arg, str) else slots.index(arg) for arg in literal.args]
        self.ground: Callable[[Values], Pattern] = _grounder(literal.predicate, args)
        """The fact, or the pattern of facts, for some values."""


def _grounder(predicate: str, args: list[str | int]) -> Callable[[Values], Pattern]:
    # Nothing is called as often as this, and nearly all predicates have one or two variables.
    match args:
        case [int(first)]:
            return lambda values: (predicate, values[first])
        case [int(first), int(second)]:
            return lambda values: (predicate, values[first], values[second])
    return lambda values: (predicate, *[arg if isinstance(arg, str) else values[arg] for arg in args])


class Step(Term):
    """Make one literal true: a check where all of it is bound, else a lookup that fills slots."""

    __slots__ = ("fills",)

    def __init__(self, literal: Literal, slots: Sequence[Placeholder], bound: set[Placeholder]) -> None:
        super().__init__(literal, slots)
        self.fills = tuple(
            (position, slots.index(arg), arg[1])
            for position, arg in enumerate(literal.args, start=1)
            if not isinstance(arg, str) and arg not in bound
        )

    def run(self, facts: Facts, values: Values, state: int) -> list[Values]:
        """All extensions of `values` that make the literal true."""
        pattern = self.ground(values)
        if not self.fills:
            return [values] if facts.holds(pattern, state) is self.positive else []  # type: ignore[arg-type]
        found = []
        fills = [(position, slot, facts.of_type(type_)) for position, slot, type_ in self.fills]
        for fact in facts.matching(pattern, state):
            extended = list(values)
            for position, slot, members in fills:
                value = fact[position]
                if value not in members or extended[slot] not in (None, value):
                    break
                extended[slot] = value
            else:
                found.append(tuple(extended))
        return found


class Fill:
    """Try everything of a type in a slot."""

    __slots__ = ("_slot", "_type")

    def __init__(self, slot: int, type_: str) -> None:
        self._slot, self._type = slot, type_

    def run(self, facts: Facts, values: Values, state: int) -> list[Values]:
        before, after = values[: self._slot], values[self._slot + 1 :]
        return [(*before, thing, *after) for thing in facts.of_type(self._type)]


class Join:
    """A conjunction, planned for when the `given` variables are known.

    `starts` follows the static facts as far as they reach, once; `solutions` does the rest, for a state.
    """

    __slots__ = ("_reads", "_solving", "_starting", "slots")

    def __init__(
        self,
        literals: Sequence[Literal],
        parameters: Sequence[Placeholder],
        given: Iterable[Placeholder],
        fluents: frozenset[str],
    ) -> None:
        others = [arg for literal in literals for arg in variables_of(literal)]
        self.slots = tuple(dict.fromkeys([*parameters, *others]))
        """The variables in the order of a binding's values; the parameters come first."""
        bound = set(given)
        waiting = list(literals)
        self._starting = []
        while (literal := next((one for one in waiting if _static_reaches(one, bound, fluents)), None)) is not None:
            waiting.remove(literal)
            self._starting.append(Step(literal, self.slots, bound))
            bound.update(variables_of(literal))
        changing = [literal for literal in waiting if literal.predicate in fluents]
        self._reads = [Term(literal, self.slots) for literal in changing]
        self._solving: list[Step | Fill] = []
        while waiting:
            literal = min(waiting, key=lambda one: _width(one, bound))
            if not literal.positive:
                self._fill(variables_of(literal), bound)
            elif literal.predicate == EQUAL and bound.isdisjoint(literal.args):
                self._fill(variables_of(literal)[:1], bound)
            waiting.remove(literal)
            self._solving.append(Step(literal, self.slots, bound))
            bound.update(variables_of(literal))
        self._fill(parameters, bound)

    def _fill(self, variables: Sequence[Placeholder], bound: set[Placeholder]) -> None:
        """What no fact binds may be anything of its type."""
        for variable in variables:
            if variable not in bound:
                self._solving.append(Fill(self.slots.index(variable), variable[1]))
                bound.add(variable)

    def padded(self, values: Values) -> Values:
        """Values of the first slots, with the others free."""
        return (*values, *[None] * (len(self.slots) - len(values)))

    def starts(self, facts: Facts, binding: Values) -> list[Values]:
        """The bindings that can still come true in some state."""
        return _run(self._starting, facts, [binding], 0)

    def solutions(self, facts: Facts, starts: list[Values], state: int) -> list[Values]:
        """All bindings of the parameters under which the conjunction holds."""
        return _run(self._solving, facts, starts, state)

    def reads(self, starts: Iterable[Values]) -> set[Pattern]:
        """The changeable facts on which the answer hangs."""
        return {term.ground(values) for values in starts for term in self._reads}


def variables_of(literal: Literal) -> list[Placeholder]:
    return [arg for arg in literal.args if not isinstance(arg, str)]


def _run(steps: Sequence[Step | Fill], facts: Facts, bindings: list[Values], state: int) -> list[Values]:
    for step in steps:
        if not bindings:
            return []
        if len(bindings) == 1:
            bindings = step.run(facts, bindings[0], state)
        else:
            bindings = [extended for values in bindings for extended in step.run(facts, values, state)]
    return bindings


def _static_reaches(literal: Literal, bound: set[Placeholder], fluents: frozenset[str]) -> bool:
    """Whether static facts tell about what is bound: then following them narrows the search."""
    if literal.predicate in fluents:
        return False
    known = [isinstance(arg, str) or arg in bound for arg in literal.args]
    return all(known) or (literal.positive and any(known))


def _width(literal: Literal, bound: set[Placeholder]) -> int:
    """How many facts a lookup may find, by rank: checks come first, wide lookups last."""
    free = sum(variable not in bound for variable in variables_of(literal))
    if free == 0:
        return 0
    if not literal.positive or (literal.predicate == EQUAL and free == 2):
        return 100
    return 10 * free - (len(literal.args) - free)
