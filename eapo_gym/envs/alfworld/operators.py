"""What is possible where: operators (actions with their parameters filled in), and the places that offer them.

Whatever is worked out here is noted under the bits of the state on which it hangs, and looked up from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from eapo_gym.envs.alfworld.facts import Binding, Facts, Pattern, ground
from eapo_gym.envs.alfworld.grammar import Literal
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
                if any(True for way in ways for _ in facts.solve(way, (), self.binding, state)):
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

    def __init__(self, operators: Iterable[Operator]) -> None:
        self.operators: dict[str, Operator] = {}
        for operator in operators:
            self.operators.setdefault(operator.command, operator)
        self.commands = tuple(sorted(self.operators))


class Place:
    """All that is known of one place, that is, of one value of the rulebook's pivot."""

    __slots__ = ("_menus", "_options")

    def __init__(self, mind: Mind, here: int) -> None:
        options = (Option(mind, rule, way, here) for rule in mind.rulebook.actions for way in rule.ways)
        self._options = [option for option in options if option.starts]
        self._menus: Notes[Menu] = Notes(mind.facts, (read for option in self._options for read in option.notes.reads))

    def menu(self, state: int) -> Menu:
        key = self._menus.key(state)
        menu = self._menus.get(key)
        if menu is None:
            operators = (operator for option in self._options for operator in option.operators(state))
            menu = self._menus.put(key, Menu(operators))
        return menu


class Option:
    """One way in which an action may be possible at a place."""

    __slots__ = ("_mind", "_rule", "_way", "notes", "starts")

    def __init__(self, mind: Mind, rule: ActionRule, way: Conjunction, here: int) -> None:
        self._mind = mind
        self._rule = rule
        self._way = way
        facts = mind.facts
        literals: Conjunction = way
        starts: list[Binding] = [{}]
        for literal in way:
            if here and literal.positive and literal.predicate == mind.rulebook.pivot:
                starts = [found for start in starts for found in facts.match(literal, start, here)]
                literals = tuple(other for other in literals if other is not literal)
        starts = [reached for start in starts for reached in facts.expand(literals, start)]
        self.starts = [(start, join_order(literals, frozenset(start))) for start in starts]
        """Where a join begins: the static part of the condition, already followed as far as it reaches."""
        self.notes: Notes[list[Operator]] = Notes(
            facts,
            (ground(lit, start) for start, _ in self.starts for lit in literals if lit.predicate in facts.fluents),
        )

    def operators(self, state: int) -> list[Operator]:
        key = self.notes.key(state)
        operators = self.notes.get(key)
        if operators is None:
            operators = self.notes.put(key, list(self._work_out(state)))
        return operators

    def _work_out(self, state: int) -> Iterator[Operator]:
        mind, rule = self._mind, self._rule
        for start, literals in self.starts:
            for solution in mind.facts.solve(literals, rule.parameters, start, state):
                if self._changes_something(solution):
                    yield Operator(mind, rule, *mind.spell(rule, solution))

    def _changes_something(self, solution: Binding) -> bool:
        """Planners drop an action that only makes true what it demands (a walk to where one stands), and so do we."""
        demanded = self._way
        for effect in self._rule.effects:
            if effect in demanded:
                continue
            fact = ground(effect, solution)
            if any(other.positive is effect.positive and ground(other, solution) == fact for other in demanded):
                continue
            if effect.positive or all(
                not other.positive or ground(other, solution) != fact for other in self._rule.effects
            ):
                return True
        return bool(self._rule.conditional)


class Mind:
    """What all places and operators of a game share."""

    def __init__(self, rulebook: Rulebook, facts: Facts, narrator: Narrator) -> None:
        self.rulebook = rulebook
        self.facts = facts
        self.narrator = narrator
        self._pivot: Pattern = (rulebook.pivot, *[None] * rulebook.pivot_arity) if rulebook.pivot else ()
        if (facts.mask([self._pivot]) & ((1 << len(facts.numbered)) - 1)).bit_count() != 1:
            self._pivot = ()  # nowhere, or in two places at once: then all of the game is one place
        self._places: dict[int, Place] = {}
        self._commands: dict[tuple[str, ...], str] = {}

    def menu(self, state: int) -> Menu:
        here = state & self.facts.mask([self._pivot])
        place = self._places.get(here)
        if place is None:
            place = self._places[here] = Place(self, here)
        return place.menu(state)

    def spell(self, rule: ActionRule, solution: Binding) -> tuple[Binding, str]:
        """The parameters' values and the command that names them."""
        binding = {parameter: solution[parameter] for parameter in rule.parameters}
        key = (rule.name, *[binding[parameter] for parameter in rule.named])
        command = self._commands.get(key)
        if command is None:
            command = self._commands[key] = self.narrator.say(rule.spelling.template, binding, 0)
        return binding, command
