"""What is possible where: operators (actions with their parameters filled in), and the places that offer them.

Whatever is worked out here is noted under the bits of the state on which it hangs, and looked up from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from eapo_gym.envs.alfworld.facts import Binding, Facts, Pattern
from eapo_gym.envs.alfworld.joins import Term, Values
from eapo_gym.envs.alfworld.narrator import Narrator
from eapo_gym.envs.alfworld.pddl import Fact
from eapo_gym.envs.alfworld.rulebook import NEGATED, ActionRule, Rulebook, Way

Value = TypeVar("Value")

_NOTES = 1024
"""How many answers are kept for one question before all are forgotten and it starts over."""


class Notes(Generic[Value]):
    """Answers to one question about states, filed under the bits that it reads."""

    __slots__ = ("_facts", "_known", "_scope", "reads")

    def __init__(self, facts: Facts, reads: Iterable[Pattern]) -> None:
        self._facts = facts
        self.reads = tuple(dict.fromkeys(reads))
        self._scope = (-1, 0)
        """How many facts were numbered, and the mask of those that are read then. It is one value, since a thread that
        saw the one without the other would file answers under wrong keys."""
        self._known: dict[int, Value] = {}

    def key(self, state: int) -> int:
        numbered = len(self._facts.numbered)
        known, mask = self._scope
        if known != numbered:
            # Facts numbered since then are false in all states met before, so what is noted stays right.
            mask = self._facts.mask(self.reads)
            self._scope = (numbered, mask)
        return state & mask

    def get(self, key: int) -> Value | None:
        return self._known.get(key)

    def put(self, key: int, value: Value) -> Value:
        if len(self._known) >= _NOTES:
            self._known.clear()
        self._known[key] = value
        return value


class Operator:
    """An action with its parameters filled in."""

    __slots__ = ("_add", "_conditional", "_keep", "_mind", "_noted", "_remove", "_said", "command", "rule", "values")

    def __init__(self, mind: Mind, rule: ActionRule, values: Values, command: str) -> None:
        self._mind = mind
        self.rule = rule
        self.values = values
        """The values of the rule's parameters."""
        self.command = command
        self._add, self._remove = self._masks(rule.effects)
        self._keep = ~(self._remove & ~self._add)
        self._conditional = [
            (effect.starts(mind.facts, values), *self._masks([effect.term])) for effect in rule.conditional
        ]
        touched: list[Fact] = [
            term.ground(values)  # type: ignore[misc]
            for term in [*rule.effects, *(effect.term for effect in rule.conditional)]
            if term.predicate in mind.rulebook.negated
        ]
        number = mind.facts.number
        self._noted = [(1 << number(fact), 1 << number((NEGATED + fact[0], *fact[1:]))) for fact in touched]
        """Facts whose falsehood is noted, each with its note."""
        asked = ((join, join.starts(mind.facts, join.padded(values))) for join in rule.telling)
        self._said: Notes[str] = Notes(mind.facts, (read for join, starts in asked for read in join.reads(starts)))

    def apply(self, state: int) -> int:
        add, keep = self._add, self._keep
        if self._conditional:
            remove = self._remove
            for conditions, added, removed in self._conditional:
                if any(join.solutions(self._mind.facts, starts, state) for join, starts in conditions):
                    add |= added
                    remove |= removed
            keep = ~(remove & ~add)  # what is both removed and added is added
        after = (state & keep) | add
        for fact, note in self._noted:
            if add & fact:
                after &= ~note
            elif not keep & fact:
                after |= note
        return after

    def feedback(self, after: int) -> str:
        """What the game says when this has led to `after`."""
        key = self._said.key(after)
        said = self._said.get(key)
        if said is None:
            binding: Binding = dict(zip(self.rule.parameters, self.values, strict=True))  # type: ignore[arg-type]
            said = self._said.put(key, self._mind.narrator.say(self.rule.spelling.feedback, binding, after))
        return said

    def _masks(self, effects: Sequence[Term]) -> tuple[int, int]:
        """The bits of the facts that become true, and of those that become false."""
        add = remove = 0
        for effect in effects:
            fact: Fact = effect.ground(self.values)  # type: ignore[assignment]
            if effect.positive:
                add |= 1 << self._mind.facts.number(fact)
            else:
                remove |= 1 << self._mind.facts.number(fact)
        return add, remove


class Option:
    """A way in which an action may be possible at one place."""

    __slots__ = ("_starts", "notes", "way")

    def __init__(self, mind: Mind, way: Way, starts: list[Values]) -> None:
        self.way = way
        self._starts = starts
        self.notes: Notes[dict[str, Values]] = Notes(mind.facts, way.join.reads(starts))

    def offers(self, mind: Mind, state: int) -> dict[str, Values]:
        """The commands that this way allows in a state, with the parameters behind them."""
        key = self.notes.key(state)
        offers = self.notes.get(key)
        if offers is None:
            offers = self.notes.put(key, self._work_out(mind, state))
        return offers

    def _work_out(self, mind: Mind, state: int) -> dict[str, Values]:
        rule = self.way.rule
        size = len(rule.parameters)
        offers: dict[str, Values] = {}
        for solution in self.way.join.solutions(mind.facts, self._starts, state):
            if self.way.changes_something(mind.facts, solution):
                values = solution[:size]
                offers.setdefault(mind.spell(rule, values), values)
        return offers


class Menu:
    """The commands of a situation."""

    __slots__ = ("_options", "commands")

    def __init__(self, options: Sequence[tuple[ActionRule, dict[str, Values]]]) -> None:
        self._options = options
        self.commands = tuple(sorted({command for _, offers in options for command in offers}))

    def find(self, command: str) -> tuple[ActionRule, Values] | None:
        """The action behind a command. Where several have the same words, those that are possible in every state come
        first, then the order of the domain decides."""
        for rule, offers in self._options:
            values = offers.get(command)
            if values is not None:
                return rule, values
        return None

    def changing(self, predicates: frozenset[str]) -> list[tuple[ActionRule, dict[str, Values]]]:
        """The commands that may change facts of all these predicates, by their actions; in the order of `find`."""
        return [(rule, offers) for rule, offers in self._options if rule.may_change(predicates)]


class Place:
    """All that is known of one place, that is, of one value of the rulebook's pivot."""

    __slots__ = ("_fixed", "_menus", "_mind", "_options")

    def __init__(self, mind: Mind, here: int) -> None:
        self._mind = mind
        self._options: list[Option] = []
        self._fixed: list[tuple[ActionRule, dict[str, Values]]] = []
        for way in mind.ways:
            starts = way.starts(mind.facts, here)
            if starts:
                option = Option(mind, way, starts)
                if option.notes.reads:
                    self._options.append(option)
                else:
                    self._fixed.append((way.rule, option.offers(mind, here)))
        self._menus: Notes[Menu] = Notes(mind.facts, (read for option in self._options for read in option.notes.reads))

    def menu(self, state: int) -> Menu:
        key = self._menus.key(state)
        menu = self._menus.get(key)
        if menu is None:
            offered = [(option.way.rule, option.offers(self._mind, state)) for option in self._options]
            menu = self._menus.put(key, Menu([*self._fixed, *(offer for offer in offered if offer[1])]))
        return menu


class Mind:
    """What all places and operators of a game share."""

    def __init__(self, rulebook: Rulebook, facts: Facts, narrator: Narrator) -> None:
        self.rulebook = rulebook
        self.facts = facts
        self.narrator = narrator
        self._pivot: Pattern = (rulebook.pivot, *[None] * rulebook.pivot_arity) if rulebook.pivot else ()
        placed = facts.mask_of(self._pivot).bit_count() == 1
        if not placed:
            self._pivot = ()  # nowhere, or in two places at once: then all of the game is one place
        self.ways = rulebook.ways(placed)
        self._places: dict[int, Place] = {}
        self._commands: dict[tuple[str | None, ...], str] = {}
        self._operators: dict[tuple[str | None, ...], Operator] = {}

    def menu(self, state: int) -> Menu:
        here = state & self.facts.mask_of(self._pivot)
        place = self._places.get(here)
        if place is None:
            place = self._places[here] = Place(self, here)
        return place.menu(state)

    def operator(self, state: int, command: str) -> Operator | None:
        """The operator behind a command, if it does something here."""
        found = self.menu(state).find(command)
        if found is None:
            return None
        rule, values = found
        key = (rule.name, *values)
        operator = self._operators.get(key)
        if operator is None:
            operator = self._operators[key] = Operator(self, rule, values, command)
        return operator

    def spell(self, rule: ActionRule, values: Values) -> str:
        """The command for an action."""
        key = (rule.name, *[values[slot] for slot in rule.named])
        command = self._commands.get(key)
        if command is None:
            binding: Binding = dict(zip(rule.parameters, values, strict=True))  # type: ignore[arg-type]
            command = self._commands[key] = self.narrator.say(rule.spelling.template, binding, 0)
        return command
