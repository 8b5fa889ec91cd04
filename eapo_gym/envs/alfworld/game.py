"""The native engine: one game, compiled for playing, and shared by every environment that plays it.

A `Game` has no state of its own: `step(state, command)` gives the next state, and a state is an `int` (see facts.py). So
a snapshot is a number, a thousand environments share one game, and what was worked out once (which commands are possible
with these things here, what the game says of them) is looked up the next time. Each such note is filed under the bits
of the state that it depends on, and nothing else, so that it fits most states that an episode meets.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.facts import Binding, Facts, Pattern, bits, ground
from eapo_gym.envs.alfworld.grammar import Each, Entity, Literal, Query, Symbol, Text
from eapo_gym.envs.alfworld.names import entity_names
from eapo_gym.envs.alfworld.pddl import Fact
from eapo_gym.envs.alfworld.rulebook import NEGATED, TASK, ActionRule, Conjunction, Rulebook, conjunctions, split_task
from eapo_gym.errors import GameFileError, SnapshotError

NOTHING_HAPPENS = "Nothing happens."

_NOTES = 1024
"""How many answers a place, an operator or the goal keeps before it forgets them all and starts over."""


class Game:
    """A compiled game: functions from states to commands, texts and further states."""

    def __init__(self, rulebook: Rulebook, problem: pddl.Problem) -> None:
        self.rulebook = rulebook
        self.problem = problem
        self.goal_text = problem.task_text
        types = {**rulebook.domain.constants, **problem.objects}
        self.facts = Facts(problem.init, rulebook.fluents, types, rulebook.domain.types)
        self.entities = {
            id_: Entity(id_, name, types.get(id_, "object"))
            for id_, name in entity_names({arg for fact in problem.init for arg in fact[1:]}).items()
        }
        self._start = (1 << len(self.facts.numbered)) - 1
        self._live = rulebook.live(problem.goal)
        self._goal = _Goal(self)
        self._pivots = [(rulebook.pivot, *[None] * self._pivot_arity())] if rulebook.pivot else []
        self._places: dict[int, _Place] = {}
        self._identity = hashlib.blake2b(
            repr((sorted(map(str, problem.init)), problem.goal)).encode(), digest_size=16
        ).digest()
        self._marks: list[int] = []
        self._check_start()

    @classmethod
    def from_file(cls, path: str | Path) -> Game:
        """Load a `game.tw-pddl`."""
        try:
            data = json.loads(Path(path).read_bytes())
        except ValueError as error:
            raise GameFileError(
                f"{path}: expected a game (JSON), but the file is broken or truncated: {error}"
            ) from None
        try:
            return cls.from_data(data)
        except GameFileError as error:
            raise GameFileError(f"{path}: {error}") from error
        except RecursionError:
            raise GameFileError(f"{path}: the game nests its expressions too deeply") from None

    @classmethod
    def from_data(cls, data: Any) -> Game:
        """From the decoded JSON of a `game.tw-pddl`."""
        if not isinstance(data, dict):
            raise GameFileError(f"expected a JSON object, got {type(data).__name__}")
        texts = []
        for key in ("pddl_domain", "grammar", "pddl_problem"):
            if not isinstance(data.get(key), str):
                raise GameFileError(f"expected the key {key!r} with a text, got {type(data.get(key)).__name__}")
            texts.append(data[key])
        domain, grammar, problem = texts
        grammar, task = split_task(grammar)
        return cls(Rulebook.parse(domain, grammar), pddl.parse_problem(problem, task))

    compile = classmethod(lambda cls, rulebook, problem: cls(rulebook, problem))

    # Playing

    def start(self) -> int:
        """The state in which the game begins."""
        return self._start

    @property
    def intro(self) -> str:
        """What the game says first."""
        return self.say((Symbol("intro"),), {}, self._start)

    def commands(self, state: int) -> tuple[str, ...]:
        """The commands that do something, sorted."""
        return self._menu(state).commands

    def step(self, state: int, command: str) -> tuple[int, str, bool]:
        """The next state, what the game says, and whether the command was one that does something."""
        operator = self._menu(state).operators.get(command.strip())
        if operator is None:
            return state, NOTHING_HAPPENS, False
        after = operator.apply(state)
        return after, operator.feedback(after), True

    def won(self, state: int) -> bool:
        return self._goal.reached(state)

    # Looking at states

    def operator(self, state: int, command: str) -> Operator | None:
        """The ground action behind a command, if it does something here."""
        return self._menu(state).operators.get(command.strip())

    def true_facts(self, state: int) -> Iterator[Fact]:
        """The facts that hold and can change."""
        return self.facts.true(state)

    @property
    def static_facts(self) -> frozenset[Fact]:
        """The facts that never change."""
        return frozenset(self.facts.statics)

    def state_of(self, facts: Iterable[Fact]) -> int:
        """The state in which just these fluent facts hold."""
        state = 0
        for fact in facts:
            if fact[0] not in self.facts.fluents:
                raise SnapshotError(f"This game has no changeable fact {fact!r:.100}: the snapshot is of another game.")
            state |= 1 << self.facts.number(fact)
        return state

    def mark(self, state: int, near: tuple[int, int] | None = None) -> int:
        """A number that two states share if and only if they agree on all facts that something reads.

        `near` is another state with its mark; the closer it is, the less there is to do.
        """
        known, mark = near if near is not None else (0, int.from_bytes(self._identity, "little"))
        marks = self._marks
        for number in bits(state ^ known):
            if number >= len(marks):
                marks.extend(map(self._mark_of, self.facts.numbered[len(marks) :]))
            mark ^= marks[number]
        return mark

    def _mark_of(self, fact: Fact) -> int:
        if not self._is_read(fact):
            return 0
        return int.from_bytes(hashlib.blake2b(" ".join(fact).encode(), digest_size=16).digest(), "little")

    def _is_read(self, fact: Fact) -> bool:
        if fact[0] not in self._live:
            return False
        if fact[0].startswith(NEGATED) and fact[0][len(NEGATED) :] in self.rulebook.negated:
            return any(self._may_show(query, literal, fact) for query in self.rulebook.queries for literal in query)
        return True

    # Compiling

    def place(self, state: int) -> _Place:
        """What is possible hangs on where the agent is; a place keeps what has been worked out there."""
        here = state & self.facts.mask(self._pivots)
        place = self._places.get(here)
        if place is None:
            place = self._places[here] = _Place(self, here)
        return place

    def _menu(self, state: int) -> _Menu:
        return self.place(state).menu(state)

    def _pivot_arity(self) -> int:
        return len(self.rulebook.domain.predicates.get(self.rulebook.pivot or "", ()))

    def _check_start(self) -> None:
        for fact in self.problem.init:
            for thing in fact[1:]:
                if thing not in self.facts.types:
                    raise GameFileError(f"PDDL problem: {thing!r} occurs in :init but not in :objects")
        if self.rulebook.pivot and (self._start & self.facts.mask(self._pivots)).bit_count() != 1:
            self._pivots = []

    def name(self, thing: str) -> str:
        entity = self.entities.get(thing)
        return entity.name if entity else thing

    # Texts

    def say(self, text: Text, binding: Binding, state: int) -> str:
        """Derive a text of the grammar in a state, with some variables bound."""
        return "".join(self._derive(text, binding, state))

    def _derive(self, text: Text, binding: Binding, state: int) -> Iterator[str]:
        for part in text:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Symbol):
                yield from self._symbol(part, binding, state)
            else:
                yield from self._each(part, binding, state)

    def _symbol(self, symbol: Symbol, binding: Binding, state: int) -> Iterator[str]:
        for alternative in self.rulebook.grammar.alternatives(symbol.name):
            if any(True for _ in self.facts.answers(alternative.condition, binding, state)):
                yield from self._derive(alternative.text, binding, state)
                if symbol.name == TASK:
                    yield self.goal_text
                return
        raise GameFileError(f"Text grammar: no alternative of #{symbol.name}# fits the state")

    def _each(self, each: Each, binding: Binding, state: int) -> Iterator[str]:
        said = []
        for answer in self.facts.answers(each.query, binding, state):
            if isinstance(each.part, Symbol):
                said.append("".join(self._symbol(each.part, answer, state)))
            else:
                said.append(each.part({name: self.entities[value] for (name, _), value in answer.items()}))
        if not each.listed or len(said) == 1:
            yield from said
        elif not said:
            yield from self._symbol(Symbol("list_empty"), binding, state)
        else:
            yield "".join(self._symbol(Symbol("list_separator"), binding, state)).join(said[:-1])
            yield from self._symbol(Symbol("list_last_separator"), binding, state)
            yield said[-1]

    # What a note depends on

    def reads(self, literals: Sequence[Literal], binding: Binding) -> set[Pattern]:
        """The fluent facts on which the truth of some literals hangs, given a binding."""
        return {
            ground(literal, reached)
            for reached in self.facts.expand(literals, binding)
            for literal in literals
            if literal.predicate in self.facts.fluents
        }

    def _may_show(self, query: Query, literal: Literal, fact: Fact) -> bool:
        """Whether a text may ever differ because of this `not_p` fact: whether the rest of a query can hold beside it."""
        if literal.predicate != fact[0]:
            return False
        binding: Binding = dict(zip(literal.args, fact[1:], strict=True))  # type: ignore[arg-type]
        return any(
            not any(self._exclude(fact, ground(other, reached)) for other in query if other is not literal)
            for reached in self.facts.expand(query, binding)
        )

    def _exclude(self, fact: Fact, other: Pattern) -> bool:
        """Whether no action can make `other` true beside `not_p`: each that adds it adds p, each that ends p ends it."""
        if other[0] not in self.facts.fluents:
            return False
        p = (fact[0][len(NEGATED) :], *fact[1:])
        return all(
            self._comes_with(action, Literal(other[0], (), True), other, p, True)
            and self._comes_with(action, Literal(p[0], (), False), p, other, False)
            for action in self.rulebook.actions
        )

    def _comes_with(
        self, action: ActionRule, change: Literal, what: Pattern, consequence: Pattern, value: bool
    ) -> bool:
        """Whether every use of `action` that makes `what` true (or false) does the same to `consequence`."""
        if any(effect.literal.predicate == what[0] for effect in action.conditional):
            return False
        for effect in action.effects:
            if (effect.predicate, effect.positive) != (change.predicate, change.positive):
                continue
            for way in action.ways:
                for use in self._uses(way, effect, what):
                    followed = {ground(other, use) for other in action.effects if other.positive is value}
                    if consequence not in followed:
                        return False
        return True

    def _uses(self, way: Conjunction, effect: Literal, what: Pattern) -> list[Binding]:
        binding: Binding = {}
        for arg, value in zip(effect.args, what[1:], strict=True):
            if not isinstance(arg, str) and value is not None:
                binding[arg] = value
        return self.facts.expand(way.literals, binding)


class Operator:
    """An action with its parameters filled in."""

    __slots__ = (
        "_add",
        "_conditional",
        "_game",
        "_keep",
        "_mask",
        "_numbered",
        "_reads",
        "_rule",
        "_said",
        "binding",
        "command",
    )

    def __init__(self, game: Game, rule: ActionRule, binding: Binding, state: int) -> None:
        self._game = game
        self._rule = rule
        self.binding = {parameter: binding[parameter] for parameter in rule.parameters}
        self.command = game.say(rule.spelling.template, self.binding, state)
        add, remove = self._masks(rule.effects)
        self._add, self._keep = add, ~(remove & ~add)
        self._conditional = [
            ([way.ordered(frozenset(self.binding)) for way in effect.conditions], self._masks([effect.literal]))
            for effect in rule.conditional
        ]
        self._reads = {
            pattern
            for query in game.rulebook.grammar.queries(rule.spelling.feedback)
            for pattern in game.reads(query, self.binding)
        }
        self._numbered = -1
        self._mask = 0
        self._said: dict[int, str] = {}

    @property
    def action(self) -> str:
        return self._rule.name

    @property
    def arguments(self) -> dict[str, str]:
        """Parameter → thing, by the names of the domain (without question marks)."""
        return {name: value for (name, _), value in self.binding.items()}

    def apply(self, state: int) -> int:
        after = state & self._keep | self._add
        if self._conditional:
            facts = self._game.facts
            removed = added = 0
            for ways, (add, remove) in self._conditional:
                if any(True for way in ways for _ in facts.solve(way, (), self.binding, state)):
                    added |= add
                    removed |= remove
            after = after & ~removed | added
        return after

    def feedback(self, after: int) -> str:
        """What the game says when this has led to `after`."""
        facts = self._game.facts
        if self._numbered != len(facts.numbered):
            self._numbered = len(facts.numbered)
            self._mask = facts.mask(self._reads)
        key = after & self._mask
        said = self._said.get(key)
        if said is None:
            if len(self._said) >= _NOTES:
                self._said.clear()
            said = self._said[key] = self._game.say(self._rule.spelling.feedback, self.binding, after)
        return said

    def _masks(self, effects: Sequence[Literal]) -> tuple[int, int]:
        add = remove = 0
        facts, negated = self._game.facts, self._game.rulebook.negated
        for effect in effects:
            fact: Fact = ground(effect, self.binding)  # type: ignore[assignment]
            if effect.positive:
                add |= 1 << facts.number(fact)
            else:
                remove |= 1 << facts.number(fact)
            if effect.predicate in negated:
                opposite = 1 << facts.number((NEGATED + fact[0], *fact[1:]))
                if effect.positive:
                    remove |= opposite
                else:
                    add |= opposite
        # An action that both removes and adds a fact adds it; its note of the removal must not stay.
        return add & ~self._undone(effects), remove

    def _undone(self, effects: Sequence[Literal]) -> int:
        added = {ground(effect, self.binding) for effect in effects if effect.positive}
        undone = 0
        for effect in effects:
            fact = ground(effect, self.binding)
            if not effect.positive and effect.predicate in self._game.rulebook.negated and fact in added:
                undone |= 1 << self._game.facts.number((NEGATED + effect.predicate, *fact[1:]))  # type: ignore[arg-type]
        return undone


class _Menu:
    """The commands of a situation and what is behind them."""

    __slots__ = ("commands", "operators")

    def __init__(self, operators: Iterable[Operator]) -> None:
        self.operators: dict[str, Operator] = {}
        for operator in operators:
            self.operators.setdefault(operator.command, operator)
        self.commands = tuple(sorted(self.operators))


class _Place:
    """All that has been worked out for one place (one value of the pivot)."""

    __slots__ = ("_facts", "_mask", "_menus", "_numbered", "_options")

    def __init__(self, game: Game, here: int) -> None:
        self._facts = game.facts
        options = (_Option(game, rule, way, here) for rule in game.rulebook.actions for way in rule.ways)
        self._options = [option for option in options if option.starts]
        self._numbered = -1
        self._mask = 0
        self._menus: dict[int, _Menu] = {}

    def menu(self, state: int) -> _Menu:
        if self._numbered != len(self._facts.numbered):
            self._numbered = len(self._facts.numbered)
            self._mask = 0
            for option in self._options:
                option.mask = self._facts.mask(option.reads)
                self._mask |= option.mask
        key = state & self._mask
        menu = self._menus.get(key)
        if menu is None:
            if len(self._menus) >= _NOTES:
                self._menus.clear()
            menu = _Menu(operator for option in self._options for operator in option.operators(state))
            self._menus[key] = menu
        return menu


class _Option:
    """One way in which an action may be possible at a place, and the operators it comes to in the states met so far."""

    __slots__ = ("_game", "_notes", "_rule", "_way", "mask", "reads", "starts")

    def __init__(self, game: Game, rule: ActionRule, way: Conjunction, here: int) -> None:
        self._game = game
        self._rule = rule
        self._way = way
        literals = list(way.literals)
        binding: Binding = {}
        for literal in way.literals:
            if here and literal.predicate == game.rulebook.pivot and literal.positive:
                bound = next(iter(game.facts.match(literal, binding, here)), None)
                if bound is None:
                    literals = [Literal("=", ("here", "elsewhere"))]
                    break
                binding = bound
                literals.remove(literal)
        self.starts = [
            (start, Conjunction(tuple(literals)).ordered(frozenset(start)))
            for start in game.facts.expand(literals, binding)
        ]
        self.reads = {
            ground(literal, start)
            for start, _ in self.starts
            for literal in literals
            if literal.predicate in game.facts.fluents
        }
        self.mask = 0
        self._notes: dict[int, list[Operator]] = {}

    def operators(self, state: int) -> list[Operator]:
        key = state & self.mask
        operators = self._notes.get(key)
        if operators is None:
            if len(self._notes) >= _NOTES:
                self._notes.clear()
            operators = self._notes[key] = list(self._work_out(state))
        return operators

    def _work_out(self, state: int) -> Iterator[Operator]:
        game, rule = self._game, self._rule
        for start, literals in self.starts:
            for solution in game.facts.solve(literals, rule.parameters, start, state):
                if self._changes_something(solution):
                    yield Operator(game, rule, solution, state)

    def _changes_something(self, solution: Binding) -> bool:
        """Planners drop an action that only makes true what it demands (a walk to where one stands), and so do we."""
        if self._rule.conditional:
            return True
        demanded = {(ground(literal, solution), literal.positive) for literal in self._way.literals}
        effects = {(ground(effect, solution), effect.positive) for effect in self._rule.effects}
        return any(value or (fact, True) not in effects for fact, value in effects - demanded)


class _Goal:
    """The goal as alternatives of ground beginnings, so that a look at a state is a few lookups."""

    def __init__(self, game: Game) -> None:
        self._facts = game.facts
        self._starts: list[tuple[Binding, tuple[Literal, ...]]] = []
        patterns: set[Pattern] = set()
        for way in conjunctions(game.problem.goal):
            for start in game.facts.expand(way.literals, {}):
                fluent = tuple(literal for literal in way.literals if literal.predicate in game.facts.fluents)
                rest = fluent if all(ground(literal, start).count(None) == 0 for literal in fluent) else way.literals
                self._starts.append((start, Conjunction(rest).ordered(frozenset(start))))
                patterns |= {ground(literal, start) for literal in fluent}
        self._patterns = patterns
        self._numbered = -1
        self._mask = 0
        self._notes: dict[int, bool] = {}

    def reached(self, state: int) -> bool:
        if self._numbered != len(self._facts.numbered):
            self._numbered = len(self._facts.numbered)
            self._mask = self._facts.mask(self._patterns)
        key = state & self._mask
        reached = self._notes.get(key)
        if reached is None:
            if len(self._notes) >= _NOTES:
                self._notes.clear()
            reached = any(
                True for start, literals in self._starts for _ in self._facts.solve(literals, (), start, state)
            )
            self._notes[key] = reached
        return reached
