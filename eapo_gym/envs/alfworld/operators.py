"""What is possible where: operators (actions with their parameters filled in), and the places that offer them.

Whatever is worked out here is noted under the bits of the state on which it hangs, and looked up from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from eapo_gym.envs.alfworld.facts import Binding, Facts, Pattern, ground
from eapo_gym.envs.alfworld.grammar import Literal, Placeholder
from eapo_gym.envs.alfworld.narrator import Narrator
from eapo_gym.envs.alfworld.pddl import Fact
from eapo_gym.envs.alfworld.rulebook import NEGATED, ActionRule, Conjunction, Rulebook, join_order

Value = TypeVar("Value")

_NOTES = 1024
"""How many answers are kept for one question before all are forgotten and it starts over."""


class Notes(Generic[Value]):
    """Answers to one question about states, filed under the bits that it reads."""

    __slots__ = ("_facts", "_known", "_numbered", "mask", "reads")

    def __init__(self, facts: Facts, reads: Iterable[Pattern]) -> None:
        self._facts = facts
        self.reads = frozenset(reads)
        self.mask = 0
        self._numbered = -1
        self._known: dict[int, Value] = {}

    def key(self, state: int) -> int:
        if self._numbered != len(self._facts.numbered):
            # Facts numbered since then are false in all states met before, so what is noted stays right.
            self._numbered = len(self._facts.numbered)
            self.mask = self._facts.mask(self.reads)
        return state & self.mask

    def get(self, key: int) -> Value | None:
        return self._known.get(key)

    def put(self, key: int, value: Value) -> Value:
        if len(self._known) >= _NOTES:
            self._known.clear()
        self._known[key] = value
        return value


class Operator:
    """An action with its parameters filled in."""

    __slots__ = ("_add", "_conditional", "_keep", "_mind", "_said", "binding", "command", "rule")

    def __init__(self, mind: Mind, rule: ActionRule, binding: Binding, command: str) -> None:
        self._mind = mind
        self.rule = rule
        self.binding = binding
        self.command = command
        self._said: Notes[str] | None = None

    def apply(self, state: int) -> int:
        if self._said is None:
            self._prepare()
        after = (state & self._keep) | self._add
        if self._conditional:
            facts = self._mind.facts
            added, kept = 0, -1
            for ways, add, keep in self._conditional:
                if any(facts.solve(way, (), self.binding, state) for way in ways):
                    added |= add
                    kept &= keep
            after = (after & kept) | added
        return after

    def feedback(self, after: int) -> str:
        """What the game says when this has led to `after`."""
        if self._said is None:
            self._said = self._prepare()
        key = self._said.key(after)
        said = self._said.get(key)
        if said is None:
            said = self._said.put(key, self._mind.narrator.say(self.rule.spelling.feedback, self.binding, after))
        return said

    def _prepare(self) -> Notes[str]:
        # Most operators are only ever offered, so this waits until one is taken.
        self._add, self._keep = self._masks(self.rule.effects)
        bound = frozenset(self.binding)
        self._conditional = [
            ([join_order(way, bound) for way in effect.conditions], *self._masks([effect.literal]))
            for effect in self.rule.conditional
        ]
        facts = self._mind.facts
        self._said = Notes(facts, (read for query in self.rule.asked for read in facts.reads(query, self.binding)))
        return self._said

    def _masks(self, effects: Sequence[Literal]) -> tuple[int, int]:
        """The bits to set, and those to keep. A fact both removed and added is added."""
        facts, negated = self._mind.facts, self._mind.rulebook.negated
        add = remove = 0
        for effect in sorted(effects, key=lambda effect: effect.positive):
            fact: Fact = ground(effect, self.binding)  # type: ignore[assignment]
            itself = 1 << facts.number(fact)
            opposite = 1 << facts.number((NEGATED + fact[0], *fact[1:])) if effect.predicate in negated else 0
            true, false = (itself, opposite) if effect.positive else (opposite, itself)
            add = (add & ~false) | true
            remove = (remove & ~true) | false
        return add, ~remove


class Menu:
    """The commands of a situation, and what is behind them."""

    __slots__ = ("commands", "operators")

    def __init__(self, fixed: dict[str, Operator], operators: Iterable[Operator]) -> None:
        self.operators = fixed.copy()
        for operator in operators:
            self.operators.setdefault(operator.command, operator)
        self.commands = tuple(sorted(self.operators))


class Way:
    """One of the alternative conditions of an action, prepared for one game."""

    __slots__ = ("_demanding", "_mind", "_pivot", "_starts", "changing", "rest", "rule")

    def __init__(self, mind: Mind, rule: ActionRule, literals: Conjunction) -> None:
        self._mind = mind
        self.rule = rule
        pivots = [literal for literal in literals if mind.pivot and literal.predicate == mind.pivot[0]]
        self._pivot = next((literal for literal in pivots if literal.positive), None)
        self.rest = tuple(literal for literal in literals if literal is not self._pivot)
        self.changing = [literal for literal in self.rest if literal.predicate in mind.facts.fluents]
        self._demanding = literals
        self._starts = self._static_starts()

    def starts(self, here: int) -> list[Binding]:
        """Where a join may begin at a place: the static part of the condition, followed as far as it reaches."""
        if self._pivot is None:
            return self._starts.get((), [])
        found: list[Binding] = []
        for binding in self._mind.facts.match(self._pivot, {}, here):
            values = tuple(binding.get(variable) for variable in self._reached())
            found += [{**start, **binding} for start in self._starts.get(values, [])]
        return found

    def solutions(self, starts: list[Binding], state: int) -> Iterator[Binding]:
        if not starts:
            return
        order = join_order(self.rest, frozenset(starts[0]))
        for start in starts:
            for solution in self._mind.facts.solve(order, self.rule.parameters, start, state):
                if self._changes_something(solution):
                    yield solution

    def _reached(self) -> list[Placeholder]:
        """The variables of the pivot that occur in a static literal, so that static facts tell about them."""
        if self._pivot is None:
            return []
        fluents = self._mind.facts.fluents
        static = {arg for literal in self.rest if literal.predicate not in fluents for arg in literal.args}
        return [arg for arg in self._pivot.args if not isinstance(arg, str) and arg in static]

    def _static_starts(self) -> dict[tuple[str | None, ...], list[Binding]]:
        # Followed for all places at once, then filed by place: far cheaper than once for each.
        facts, reached = self._mind.facts, self._reached()
        bindings: list[Binding] = [{}]
        for literal in self.rest:
            if literal.predicate not in facts.fluents and literal.positive and set(reached) & set(literal.args):
                bindings = [found for known in bindings for found in facts.match(literal, known, 0)]
        starts: dict[tuple[str | None, ...], list[Binding]] = {}
        for known in bindings:
            for start in facts.expand(self.rest, known):
                starts.setdefault(tuple(start.get(variable) for variable in reached), []).append(start)
        return starts

    def _changes_something(self, solution: Binding) -> bool:
        """Planners drop an action that only makes true what it demands (a walk to where one stands), and so do we."""
        if self.rule.conditional:
            return True
        for effect in self.rule.effects:
            fact = ground(effect, solution)
            if not self._among(fact, effect, self._demanding, solution) and (
                effect.positive or not self._among(fact, effect, self.rule.effects, solution, opposite=True)
            ):
                return True
        return False

    def _among(
        self, fact: Pattern, effect: Literal, literals: Sequence[Literal], solution: Binding, opposite: bool = False
    ) -> bool:
        return any(
            literal.predicate == effect.predicate
            and (literal.positive is effect.positive) is not opposite
            and ground(literal, solution) == fact
            for literal in literals
        )


class Option:
    """A way in which an action may be possible at one place."""

    __slots__ = ("_starts", "_way", "notes")

    def __init__(self, mind: Mind, way: Way, starts: list[Binding]) -> None:
        self._way = way
        self._starts = starts
        reads = {ground(literal, start) for start in starts for literal in way.changing}
        self.notes: Notes[list[Operator]] = Notes(mind.facts, reads)

    def operators(self, mind: Mind, state: int) -> list[Operator]:
        key = self.notes.key(state)
        operators = self.notes.get(key)
        if operators is None:
            rule = self._way.rule
            solutions = self._way.solutions(self._starts, state)
            operators = self.notes.put(key, [mind.operator(rule, solution) for solution in solutions])
        return operators


class Place:
    """All that is known of one place, that is, of one value of the rulebook's pivot."""

    __slots__ = ("_fixed", "_menus", "_mind", "_options")

    def __init__(self, mind: Mind, here: int) -> None:
        self._mind = mind
        self._options: list[Option] = []
        self._fixed: dict[str, Operator] = {}
        for way in mind.ways:
            option = Option(mind, way, way.starts(here))
            if option.notes.reads:
                self._options.append(option)
            else:
                for operator in option.operators(mind, here):
                    self._fixed.setdefault(operator.command, operator)
        self._menus: Notes[Menu] = Notes(mind.facts, (read for option in self._options for read in option.notes.reads))

    def menu(self, state: int) -> Menu:
        key = self._menus.key(state)
        menu = self._menus.get(key)
        if menu is None:
            operators = (operator for option in self._options for operator in option.operators(self._mind, state))
            menu = self._menus.put(key, Menu(self._fixed, operators))
        return menu


class Mind:
    """What all places and operators of a game share."""

    def __init__(self, rulebook: Rulebook, facts: Facts, narrator: Narrator) -> None:
        self.rulebook = rulebook
        self.facts = facts
        self.narrator = narrator
        self.pivot: Pattern = (rulebook.pivot, *[None] * rulebook.pivot_arity) if rulebook.pivot else ()
        if facts.mask_of(self.pivot).bit_count() != 1:
            self.pivot = ()  # nowhere, or in two places at once: then all of the game is one place
        self.ways = [Way(self, rule, literals) for rule in rulebook.actions for literals in rule.ways]
        self._places: dict[int, Place] = {}
        self._commands: dict[tuple[str, ...], str] = {}

    def menu(self, state: int) -> Menu:
        here = state & self.facts.mask_of(self.pivot)
        place = self._places.get(here)
        if place is None:
            place = self._places[here] = Place(self, here)
        return place.menu(state)

    def operator(self, rule: ActionRule, solution: Binding) -> Operator:
        binding = {parameter: solution[parameter] for parameter in rule.parameters}
        key = (rule.name, *map(binding.__getitem__, rule.named))
        command = self._commands.get(key)
        if command is None:
            command = self._commands[key] = self.narrator.say(rule.spelling.template, binding, 0)
        return Operator(self, rule, binding, command)
