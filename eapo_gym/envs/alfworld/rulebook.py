"""The rules of a family of games, read once: what can change, what is ever read, and how each action is possible.

Nothing here knows a predicate by its name; all of it follows from the domain and the text grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.facts import EQUAL
from eapo_gym.envs.alfworld.grammar import (
    Each,
    Literal,
    Placeholder,
    Query,
    Spelling,
    Symbol,
    Text,
    TextGrammar,
    parse_grammar,
    variables,
)
from eapo_gym.errors import GameFileError

NEGATED = "not_"
"""Texts may ask for `not_p`. TextWorld answers from facts that it notes when an action makes p false, and so do we."""


Conjunction: TypeAlias = tuple[Literal, ...]
"""Literals that must hold together."""


@lru_cache(maxsize=4096)
def join_order(literals: Conjunction, bound: frozenset[Placeholder]) -> Conjunction:
    """An order for a join that starts with `bound` known: checks as soon as possible, the widest lookups last."""
    known = set(bound)
    waiting, order = list(literals), []
    while waiting:
        literal = min(waiting, key=lambda candidate: _reach(candidate, known))
        if not literal.positive and not known.issuperset(_variables(literal)):
            raise GameFileError(
                f"PDDL: {literal.predicate} is negated over a variable that nothing binds; "
                "this engine does not play such games: use engine='textworld'"
            )
        waiting.remove(literal)
        order.append(literal)
        known.update(_variables(literal))
    return tuple(order)


@dataclass(frozen=True, slots=True)
class ConditionalEffect:
    """A literal that becomes true (or false) where one of the conditions held."""

    literal: Literal
    conditions: tuple[Conjunction, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ActionRule:
    """An action: its parameters, the alternative conditions under which it is possible, its effects and its words."""

    name: str
    parameters: tuple[Placeholder, ...]
    ways: tuple[Conjunction, ...]
    effects: tuple[Literal, ...]
    conditional: tuple[ConditionalEffect, ...]
    spelling: Spelling
    named: tuple[Placeholder, ...]
    """The parameters on which the command's text hangs."""

    asked: tuple[Query, ...]
    """What the feedback may ask about the state."""

    changing: frozenset[str]
    """The predicates that it may change."""

    def may_change(self, predicates: frozenset[str]) -> bool:
        """Whether it could change facts of all of these predicates."""
        return predicates <= self.changing


class Rulebook:
    """What a domain and a text grammar say, worked out for playing."""

    def __init__(self, domain: pddl.Domain, grammar: TextGrammar) -> None:
        self.domain = domain
        self.grammar = grammar
        self.actions = [_action_rule(action, grammar) for action in domain.actions.values()]
        self.changed = {effect.atom.predicate for action in domain.actions.values() for effect in action.effects}
        asked = {literal.predicate for action in self.actions for query in action.asked for literal in query}
        self.negated = frozenset(p for p in self.changed if NEGATED + p in asked)
        """Predicates whose falsehood, once an action has brought it about, shows in a text."""
        self.fluents = frozenset(self.changed | {NEGATED + p for p in self.negated})
        for action in self.actions:
            for query in grammar.queries(action.spelling.template):
                if any(literal.predicate in self.fluents for literal in query):
                    raise GameFileError(f"Text grammar: the template of {action.name!r} depends on what can change")
        self._asked = asked
        self.pivot = _pivot(self.actions)
        """A predicate of which one fact holds at any time (where the agent is): what is possible hangs on it."""
        self.pivot_arity = len(domain.predicates.get(self.pivot or "", ()))

    @classmethod
    def parse(cls, domain: str, grammar: str) -> Rulebook:
        """Read the texts. The same texts are read once per process."""
        return _parse(domain, grammar)

    def live(self, goal: pddl.Condition) -> frozenset[str]:
        """The fluent predicates that something reads: a precondition, the goal, a text, or an effect on such a one.

        The others are notes that the game takes and never looks at; they are no part of a state's identity.
        """
        live = {atom.predicate for atom in pddl.atoms(goal)} | set(self._asked)
        for action in self.actions:
            live.update(literal.predicate for way in action.ways for literal in way)
        while True:
            found = {
                literal.predicate
                for action in self.actions
                for effect in action.conditional
                if effect.literal.predicate in live
                for condition in effect.conditions
                for literal in condition
            }
            if found <= live:
                return frozenset(live & self.changed)
            live |= found


@lru_cache(maxsize=16)
def _parse(domain: str, grammar: str) -> Rulebook:
    return Rulebook(pddl.parse_domain(domain), parse_grammar(grammar))


TASK = "task"
"""The symbol of the text grammar that says what to do; it alone differs between the games of a family."""

_TASK = re.compile(r'("rhs"\s*:\s*"Your task is to: )([^"]*)"')


def split_task(grammar: str) -> tuple[str, str]:
    """Take the task's sentence out of a game's grammar: what is left is the same text for all games of a family."""
    match = _TASK.search(grammar)
    if match is None:
        return grammar, ""
    return grammar[: match.start(2)] + grammar[match.end(2) :], match[2]


def conjunctions(condition: pddl.Condition, parameters: Sequence[pddl.Parameter] = ()) -> tuple[Conjunction, ...]:
    """A condition as alternatives of literals (disjunctive normal form)."""
    scope = {name: (name.lstrip("?"), type_) for name, type_ in parameters}
    return tuple(tuple(dict.fromkeys(part)) for part in _alternatives(condition, True, scope))


def _alternatives(condition: pddl.Condition, positive: bool, scope: dict[str, Placeholder]) -> Iterator[Conjunction]:
    if isinstance(condition, pddl.Not):
        yield from _alternatives(condition.part, not positive, scope)
    elif isinstance(condition, pddl.Atom):
        yield (_literal(condition, positive, scope),)
    elif isinstance(condition, pddl.Exists if positive else pddl.Forall):
        inner = dict(scope)
        for name, type_ in condition.variables:
            taken = {variable for variable, _ in scope.values()}
            fresh = name.lstrip("?")
            while fresh in taken:
                fresh += "'"
            inner[name] = (fresh, type_)
        yield from _alternatives(condition.part, positive, inner)
    elif isinstance(condition, pddl.And | pddl.Or):
        parts = [list(_alternatives(part, positive, scope)) for part in condition.parts]
        if isinstance(condition, pddl.And) == positive:
            combined: list[Conjunction] = [()]
            for part in parts:
                combined = [left + right for left in combined for right in part]
            yield from combined
        else:
            for part in parts:
                yield from part
    else:
        raise GameFileError(
            "PDDL: a condition that holds for all values of a variable is not played by this engine: "
            "use engine='textworld'"
        )


def _literal(atom: pddl.Atom, positive: bool, scope: dict[str, Placeholder]) -> Literal:
    for arg in atom.args:
        if arg.startswith("?") and arg not in scope:
            raise GameFileError(f"PDDL: the variable {arg} of ({atom.predicate} …) is not declared")
    return Literal(atom.predicate, tuple(scope.get(arg, arg) for arg in atom.args), positive)


def _action_rule(action: pddl.Action, grammar: TextGrammar) -> ActionRule:
    scope = {name: (name.lstrip("?"), type_) for name, type_ in action.parameters}
    if action.name not in grammar.actions:
        raise GameFileError(f"Text grammar: the domain's action {action.name!r} has no template and feedback")
    plain: list[Literal] = []
    conditional: list[ConditionalEffect] = []
    for effect in action.effects:
        if effect.variables:
            raise GameFileError(
                f"PDDL action {action.name!r}: effects over all values of a variable are not played by this engine: "
                "use engine='textworld'"
            )
        literal = _literal(effect.atom, effect.value, scope)
        if effect.condition == pddl.TRUE:
            plain.append(literal)
        else:
            conditional.append(ConditionalEffect(literal, conjunctions(effect.condition, action.parameters)))
    spelling = grammar.actions[action.name]
    parameters = tuple(scope.values())
    return ActionRule(
        action.name,
        parameters,
        conjunctions(action.precondition, action.parameters),
        tuple(plain),
        tuple(conditional),
        spelling,
        tuple(parameter for parameter in parameters if parameter[0] in _names_in(spelling.template)),
        tuple(dict.fromkeys(filter(None, grammar.queries(spelling.feedback)))),
        frozenset(
            name for effect in action.effects for name in (effect.atom.predicate, NEGATED + effect.atom.predicate)
        ),
    )


def _names_in(template: Text) -> set[str]:
    """The variables that a command's text mentions."""
    names: set[str] = set()
    for part in template:
        symbol = part.part if isinstance(part, Each) else part
        if isinstance(symbol, Symbol):
            raise GameFileError(f"Text grammar: a command's template may not use the symbol #{symbol.name}#")
        if isinstance(part, Each) and not isinstance(part.part, Symbol):
            names.update(name for literal in part.query for name, _ in _variables(literal))
            names |= variables(part.part)
    return names


def _pivot(actions: list[ActionRule]) -> str | None:
    """The predicate that most conditions name and that actions only ever move from one fact to another."""
    counts: dict[str, int] = {}
    for action in actions:
        for way in action.ways:
            for predicate in {literal.predicate for literal in way if literal.positive}:
                counts[predicate] = counts.get(predicate, 0) + 1
    for predicate in sorted(counts, key=lambda p: (-counts[p], p)):
        touching = [action for action in actions if _changes(action, predicate)]
        if touching and all(_moves(action, predicate) for action in touching):
            return predicate
    return None


def _changes(action: ActionRule, predicate: str) -> bool:
    literals = [*action.effects, *(effect.literal for effect in action.conditional)]
    return any(literal.predicate == predicate for literal in literals)


def _moves(action: ActionRule, predicate: str) -> bool:
    changes = [literal for literal in action.effects if literal.predicate == predicate]
    added = [literal for literal in changes if literal.positive]
    removed = [Literal(literal.predicate, literal.args) for literal in changes if not literal.positive]
    return (
        len(added) == len(removed) == 1
        and all(removed[0] in way for way in action.ways)
        and all(effect.literal.predicate != predicate for effect in action.conditional)
    )


def _variables(literal: Literal) -> list[Placeholder]:
    return [arg for arg in literal.args if not isinstance(arg, str)]


def _reach(literal: Literal, known: set[Placeholder]) -> int:
    free = sum(variable not in known for variable in _variables(literal))
    if free == 0:
        return 0
    if not literal.positive or (literal.predicate == EQUAL and free == 2):
        return 100
    return 10 * free - (len(literal.args) - free)
