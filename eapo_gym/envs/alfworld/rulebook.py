"""The rules of a family of games, read once: what can change, what is ever read, and how each action is possible.

Nothing here knows a predicate by its name; all of it follows from the domain and the text grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.facts import Facts
from eapo_gym.envs.alfworld.grammar import (
    Each,
    Literal,
    Placeholder,
    Symbol,
    Text,
    TextGrammar,
    parse_grammar,
    variables,
)
from eapo_gym.envs.alfworld.joins import Conjunction, Join, Step, Term, Values, variables_of
from eapo_gym.errors import GameFileError

NEGATED = "not_"
"""Texts may ask for `not_p`. TextWorld answers from facts that it notes when an action makes p false, and so do we."""


class Way:
    """One of the alternative conditions under which an action is possible."""

    __slots__ = ("_always_changes", "_pivot", "_rivals", "join", "rule")

    def __init__(self, rule: ActionRule, literals: Conjunction, pivot: str | None, fluents: frozenset[str]) -> None:
        self.rule = rule
        where = next((literal for literal in literals if literal.predicate == pivot and literal.positive), None)
        given = [] if where is None else variables_of(where)
        rest = [literal for literal in literals if literal is not where]
        self.join = Join(rest, [*rule.parameters, *given], given, fluents)
        self._pivot = None if where is None else Step(where, self.join.slots, set())
        demanded = [Term(literal, self.join.slots) for literal in literals]
        self._rivals = [(effect, _rivals(effect, demanded, rule.effects)) for effect in rule.effects]
        self._always_changes = any(not rivals for _, rivals in self._rivals)

    def starts(self, facts: Facts, here: int) -> list[Values]:
        """Where the join begins, at a place (the bit of its pivot)."""
        nothing = self.join.padded(())
        places = [nothing] if self._pivot is None else self._pivot.run(facts, nothing, here)
        return [start for place in places for start in self.join.starts(facts, place)]

    def changes_something(self, facts: Facts, values: Values) -> bool:
        """Planners drop an action that only makes true what it demands (a walk to where one stands), and so do we."""
        if self._always_changes:
            return True
        for effect, rivals in self._rivals:
            fact = effect.ground(values)
            if all(rival.ground(values) != fact for rival in rivals):
                return True
        parameters = values[: len(self.rule.parameters)]
        return any(effect.starts(facts, parameters) for effect in self.rule.conditional)


def _rivals(effect: Term, demanded: Sequence[Term], effects: Sequence[Term]) -> list[Term]:
    """The terms that make an effect void if they are the same fact: it held before, or is added when it is removed."""
    return [
        *(term for term in demanded if (term.predicate, term.positive) == (effect.predicate, effect.positive)),
        *(term for term in effects if term.predicate == effect.predicate and term.positive and not effect.positive),
    ]


class ConditionalEffect:
    """A literal that becomes true (or false) where one of the conditions held before."""

    __slots__ = ("_conditions", "term")

    def __init__(
        self, literal: Literal, conditions: Sequence[Conjunction], rule: ActionRule, fluents: frozenset[str]
    ) -> None:
        self.term = Term(literal, rule.parameters)
        self._conditions = [Join(way, rule.parameters, rule.parameters, fluents) for way in conditions]

    def starts(self, facts: Facts, parameters: Values) -> list[tuple[Join, list[Values]]]:
        """The conditions that can hold in some state, with where their joins begin."""
        begun = ((join, join.starts(facts, join.padded(parameters))) for join in self._conditions)
        return [(join, starts) for join, starts in begun if starts]


class ActionRule:
    """An action: its parameters, the alternative conditions under which it is possible, its effects and its words."""

    def __init__(self, action: pddl.Action, grammar: TextGrammar) -> None:
        if action.name not in grammar.actions:
            raise GameFileError(f"Text grammar: the domain's action {action.name!r} has no template and feedback")
        if any(effect.variables for effect in action.effects):
            raise GameFileError(
                f"PDDL action {action.name!r}: effects over all values of a variable are not played by this engine: "
                "use engine='textworld'"
            )
        scope = _scope(action.parameters)
        self.action = action
        self.name = action.name
        self.parameters = tuple(scope.values())
        self.spelling = grammar.actions[action.name]
        mentioned = _names_in(self.spelling.template)
        self.named = [slot for slot, (name, _) in enumerate(self.parameters) if name in mentioned]
        """The places of the parameters on which the command's text hangs."""
        self.conditions = conjunctions(action.precondition, action.parameters)
        self.effects = [
            Term(_literal(effect.atom, effect.value, scope), self.parameters)
            for effect in action.effects
            if effect.condition == pddl.TRUE
        ]
        self.asked = tuple(dict.fromkeys(filter(None, grammar.queries(self.spelling.feedback))))
        """What the feedback may ask about the state."""
        self.changing = frozenset(effect.atom.predicate for effect in action.effects)
        """The predicates that it may change."""
        self.conditional: list[ConditionalEffect] = []
        self.telling: list[Join] = []

    def plan(self, fluents: frozenset[str]) -> None:
        """Plan the joins; only once all actions are known is it clear what can change."""
        scope = _scope(self.action.parameters)
        self.conditional = [
            ConditionalEffect(
                _literal(effect.atom, effect.value, scope),
                conjunctions(effect.condition, self.action.parameters),
                self,
                fluents,
            )
            for effect in self.action.effects
            if effect.condition != pddl.TRUE
        ]
        self.telling = [Join(query, self.parameters, self.parameters, fluents) for query in self.asked]

    def moves(self, predicate: str) -> bool:
        """Whether it only ever moves the predicate from one fact, which it demands, to another."""
        changes = [effect for effect in self.action.effects if effect.atom.predicate == predicate]
        gained = [effect for effect in changes if effect.value]
        lost = [effect for effect in changes if not effect.value]
        if len(gained) != 1 or len(lost) != 1 or any(effect.condition != pddl.TRUE for effect in changes):
            return False
        demanded = _literal(lost[0].atom, True, _scope(self.action.parameters))
        return all(demanded in literals for literals in self.conditions)

    def may_change(self, predicates: frozenset[str]) -> bool:
        """Whether it could change facts of all of these predicates."""
        return predicates <= self.changing


class Rulebook:
    """What a domain and a text grammar say, worked out for playing."""

    def __init__(self, domain: pddl.Domain, grammar: TextGrammar) -> None:
        self.domain = domain
        self.grammar = grammar
        self.actions = [ActionRule(action, grammar) for action in domain.actions.values()]
        self.changed = frozenset().union(*(action.changing for action in self.actions))
        """The predicates that some action changes."""
        asked = {literal.predicate for action in self.actions for query in action.asked for literal in query}
        self._asked = asked
        self.negated = frozenset(predicate for predicate in self.changed if NEGATED + predicate in asked)
        """Predicates whose falsehood, once an action has brought it about, shows in a text."""
        self.fluents = self.changed | {NEGATED + predicate for predicate in self.negated}
        self.pivot = _pivot(self.actions)
        """A predicate of which one fact holds at any time (where the agent is): what is possible hangs on it."""
        self.pivot_arity = len(domain.predicates.get(self.pivot or "", ()))
        self._ways: dict[bool, list[Way]] = {}
        for action in self.actions:
            action.plan(self.fluents)
            for query in grammar.queries(action.spelling.template):
                if any(literal.predicate in self.fluents for literal in query):
                    raise GameFileError(f"Text grammar: the template of {action.name!r} depends on what can change")

    @classmethod
    def parse(cls, domain: str, grammar: str) -> Rulebook:
        """Read the texts. The same texts are read once per process."""
        return _parse(domain, grammar)

    def ways(self, placed: bool) -> list[Way]:
        """All ways in which something can be done, in the order of the domain; `placed`: planned from the pivot."""
        if placed not in self._ways:
            pivot = self.pivot if placed else None
            self._ways[placed] = [
                Way(action, literals, pivot, self.fluents) for action in self.actions for literals in action.conditions
            ]
        return self._ways[placed]

    def live(self, goal: pddl.Condition) -> frozenset[str]:
        """The fluent predicates that something reads: a precondition, the goal, a text, or an effect on such a one.

        The others are notes that the game takes and never looks at; they are no part of a state's identity.
        """
        live = {atom.predicate for atom in pddl.atoms(goal)} | set(self._asked)
        for action in self.actions:
            live.update(literal.predicate for literals in action.conditions for literal in literals)
        while True:
            found = {
                atom.predicate
                for action in self.actions
                for effect in action.action.effects
                if effect.atom.predicate in live
                for atom in pddl.atoms(effect.condition)
            }
            if found <= live:
                return frozenset(live & self.changed)
            live |= found


@lru_cache(maxsize=16)
def _parse(domain: str, grammar: str) -> Rulebook:
    return Rulebook(pddl.parse_domain(domain), parse_grammar(grammar))


TASK = "task"
"""The symbol of the text grammar that says what to do; it alone differs between the games of a family."""

TASK_BEGINS = "Your task is to: "

_TASK = re.compile(rf'("rhs"\s*:\s*"{TASK_BEGINS})((?:[^"\\]|\\.)*)"')


def split_task(grammar: str) -> tuple[str, str]:
    """Take the task's sentence out of a game's grammar: what is left is the same text for all games of a family."""
    match = _TASK.search(grammar)
    if match is None:
        return grammar, ""
    try:
        task = json.loads(f'"{match[2]}"')
    except ValueError:
        raise GameFileError(f"Text grammar: the task {match[2]!r:.80} is not a JSON string") from None
    return grammar[: match.start(2)] + grammar[match.end(2) :], task


def conjunctions(condition: pddl.Condition, parameters: Sequence[pddl.Parameter] = ()) -> tuple[Conjunction, ...]:
    """A condition as alternatives of literals (disjunctive normal form)."""
    scope = _scope(parameters)
    taken = {name for name, _ in scope.values()}
    return tuple(tuple(dict.fromkeys(part)) for part in _alternatives(condition, True, scope, taken))


def _scope(parameters: Sequence[pddl.Parameter]) -> dict[str, Placeholder]:
    return {name: (name.lstrip("?"), type_) for name, type_ in parameters}


def _alternatives(
    condition: pddl.Condition, positive: bool, scope: dict[str, Placeholder], taken: set[str]
) -> Iterator[Conjunction]:
    if isinstance(condition, pddl.Not):
        yield from _alternatives(condition.part, not positive, scope, taken)
    elif isinstance(condition, pddl.Atom):
        yield (_literal(condition, positive, scope),)
    elif isinstance(condition, pddl.Exists if positive else pddl.Forall):
        yield from _alternatives(condition.part, positive, {**scope, **_fresh(condition.variables, taken)}, taken)
    elif isinstance(condition, pddl.And | pddl.Or):
        parts = [list(_alternatives(part, positive, scope, taken)) for part in condition.parts]
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


def _fresh(variables: Sequence[pddl.Parameter], taken: set[str]) -> dict[str, Placeholder]:
    """Names for bound variables that no other variable of the condition has: two `exists ?x` are two variables."""
    scope: dict[str, Placeholder] = {}
    for name, type_ in variables:
        fresh = name.lstrip("?")
        while fresh in taken:
            fresh += "'"
        taken.add(fresh)
        scope[name] = (fresh, type_)
    return scope


def _literal(atom: pddl.Atom, positive: bool, scope: dict[str, Placeholder]) -> Literal:
    for arg in atom.args:
        if arg.startswith("?") and arg not in scope:
            raise GameFileError(f"PDDL: the variable {arg} of ({atom.predicate} …) is not declared")
    return Literal(atom.predicate, tuple(scope.get(arg, arg) for arg in atom.args), positive)


def _names_in(template: Text) -> set[str]:
    """The variables that a command's text mentions."""
    names: set[str] = set()
    for part in template:
        symbol = part.part if isinstance(part, Each) else part
        if isinstance(symbol, Symbol):
            raise GameFileError(f"Text grammar: a command's template may not use the symbol #{symbol.name}#")
        if isinstance(part, Each) and not isinstance(part.part, Symbol):
            names.update(name for literal in part.query for name, _ in variables_of(literal))
            names |= variables(part.part)
    return names


def _pivot(actions: list[ActionRule]) -> str | None:
    """The predicate that most conditions name and that actions only ever move from one fact to another."""
    counts: dict[str, int] = {}
    for action in actions:
        for literals in action.conditions:
            for predicate in {literal.predicate for literal in literals if literal.positive}:
                counts[predicate] = counts.get(predicate, 0) + 1
    for predicate in sorted(counts, key=lambda p: (-counts[p], p)):
        touching = [action for action in actions if predicate in action.changing]
        if touching and all(action.moves(predicate) for action in touching):
            return predicate
    return None
