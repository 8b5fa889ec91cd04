"""Reads PDDL: the domain and problem texts inside a game file, as far as ALFWorld-like games use the language (ADL).

Names are lower-cased, as PDDL is case-insensitive. Costs and functions are read over: no game depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from eapo_gym.errors import GameFileError

Fact: TypeAlias = tuple[str, ...]
"""A ground atom: the predicate, then its arguments."""

Parameter: TypeAlias = tuple[str, str]
"""A variable (with its question mark) and its type."""


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    variables: tuple[Parameter, ...]
    part: Condition


@dataclass(frozen=True, slots=True)
class Forall:
    variables: tuple[Parameter, ...]
    part: Condition


Condition: TypeAlias = "Atom | Not | And | Or | Exists | Forall"

TRUE = And(())


@dataclass(frozen=True, slots=True)
class Effect:
    """`atom` becomes `value` where `condition` held before, for all values of `variables`."""

    atom: Atom
    value: bool
    condition: Condition = TRUE
    variables: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    parameters: tuple[Parameter, ...]
    precondition: Condition
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    types: dict[str, str]
    """Type → its supertype; the root is `object`."""

    predicates: dict[str, tuple[Parameter, ...]]
    constants: dict[str, str]
    actions: dict[str, Action]


@dataclass(frozen=True, slots=True)
class Problem:
    objects: dict[str, str]
    """Object → its type, in the order of the text."""

    init: list[Fact]
    goal: Condition
    task_text: str = ""
    """What the player is told to do: the sentence behind "Your task is to: "."""


Tree: TypeAlias = "list[Any]"
"""A parenthesised text as nested lists of lower-case words."""

_TOKENS = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")


def parse_domain(text: str) -> Domain:
    """Read a `(define (domain …) …)`."""
    types: dict[str, str] = {}
    predicates: dict[str, tuple[Parameter, ...]] = {}
    constants: dict[str, str] = {}
    actions: dict[str, Action] = {}
    for section in _sections(text, "domain"):
        head, body = section[0], section[1:]
        if head == ":types":
            types = dict(_typed(body))
        elif head == ":constants":
            constants = dict(_typed(body))
        elif head == ":predicates":
            predicates = {_atom(predicate[:1]).predicate: tuple(_typed(predicate[1:])) for predicate in body}
        elif head == ":action":
            action = _action(body)
            actions[action.name] = action
        elif head not in (":requirements", ":functions"):
            raise GameFileError(f"PDDL domain: section {head!r} is not one that this engine knows")
    for type_ in types:
        _refuse_circle(type_, types)
    return Domain(types, predicates, constants, actions)


def parse_problem(text: str, task_text: str = "") -> Problem:
    """Read a `(define (problem …) …)`."""
    objects: dict[str, str] = {}
    init: list[Fact] = []
    goal: Condition | None = None
    for section in _sections(text, "problem"):
        head, body = section[0], section[1:]
        if head == ":objects":
            objects = dict(_typed(body))
        elif head == ":init":
            # Assignments such as (= (total-cost) 0) have lists for arguments.
            init = [_fact(fact) for fact in body if fact[:1] != ["="]]
        elif head == ":goal":
            goal = _condition(_single(body, ":goal"))
        elif head not in (":domain", ":metric", ":requirements"):
            raise GameFileError(f"PDDL problem: section {head!r} is not one that this engine knows")
    if goal is None:
        raise GameFileError("PDDL problem: expected a :goal, found none")
    return Problem(objects, init, goal, task_text)


def parse_condition(text: str) -> Condition:
    """Read one condition, such as a goal."""
    return _condition(_tree(text))


def atoms(condition: Condition) -> Iterator[Atom]:
    """Every atom of a condition."""
    if isinstance(condition, Atom):
        yield condition
    elif isinstance(condition, And | Or):
        for part in condition.parts:
            yield from atoms(part)
    else:
        yield from atoms(condition.part)


def _sections(text: str, kind: str) -> list[Tree]:
    tree = _tree(text)
    if len(tree) < 2 or tree[0] != "define" or not isinstance(tree[1], list) or tree[1][:1] != [kind]:
        raise GameFileError(f"PDDL {kind}: expected '(define ({kind} …) …)', got {text.strip()[:60]!r}")
    sections = tree[2:]
    for section in sections:
        if not isinstance(section, list) or not section or not isinstance(section[0], str):
            raise GameFileError(f"PDDL {kind}: expected sections like '(:init …)', got {section!r:.60}")
    return sections


def _tree(text: str) -> Tree:
    root: Tree = []
    open_lists: list[Tree] = [root]
    for token in _TOKENS.findall(_COMMENT.sub("", text).lower()):
        if token == "(":
            inner: Tree = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif token == ")":
            if len(open_lists) == 1:
                raise GameFileError("PDDL: a ')' closes nothing")
            open_lists.pop()
        else:
            open_lists[-1].append(token)
    if len(open_lists) > 1:
        raise GameFileError(f"PDDL: {len(open_lists) - 1} parentheses are not closed; the text is truncated")
    if len(root) != 1 or not isinstance(root[0], list):
        raise GameFileError(f"PDDL: expected one parenthesised expression, got {text.strip()[:60]!r}")
    return root[0]


def _typed(words: Tree) -> Iterator[Parameter]:
    """`a b - t c` is a and b of type t, and c of type object."""
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            type_ = next(rest, None)
            if not isinstance(type_, str):
                raise GameFileError(f"PDDL: expected a type behind '-', got {type_!r:.60}")
            yield from ((name, type_) for name in waiting)
            waiting = []
        elif isinstance(word, str):
            waiting.append(word)
        else:
            raise GameFileError(f"PDDL: expected a name, got {word!r:.60}")
    yield from ((name, "object") for name in waiting)


def _parameters(words: Tree) -> tuple[Parameter, ...]:
    # The official domain says "(?l - location, ?r - receptacle)" in one place. To the planner behind the official
    # engine "location," is a type of its own, of which nothing is, so that this condition never holds; and so here.
    return tuple(_typed(words))


def _single(body: Tree, where: str) -> Tree:
    if len(body) != 1 or not isinstance(body[0], list):
        raise GameFileError(f"PDDL: expected one expression in {where}, got {len(body)}")
    return body[0]


def _condition(tree: Tree) -> Condition:
    if not tree:
        return TRUE
    head, body = tree[0], tree[1:]
    if head in ("and", "or"):
        parts = tuple(_condition(part) for part in body)
        return And(parts) if head == "and" else Or(parts)
    if not isinstance(head, str):
        raise GameFileError(f"PDDL: expected a condition, got {tree!r:.80}")
    if head == "not":
        return Not(_condition(_single(body, "not")))
    if head in ("exists", "forall"):
        if len(body) != 2:
            raise GameFileError(f"PDDL: expected ({head} (variables) condition), got {len(body)} parts")
        variables, part = _parameters(body[0]), _condition(body[1])
        return Exists(variables, part) if head == "exists" else Forall(variables, part)
    if head == "imply" and len(body) == 2:
        return Or((Not(_condition(body[0])), _condition(body[1])))
    return _atom(tree)


def _atom(tree: Tree) -> Atom:
    if not isinstance(tree, list) or not tree or not all(isinstance(word, str) for word in tree):
        raise GameFileError(f"PDDL: expected an atom such as (opened ?r), got {tree!r:.80}")
    if tree[0] == "=" and len(tree) != 3:
        raise GameFileError(f"PDDL: expected (= ?x ?y), got {tree!r:.80}")
    return Atom(tree[0], tuple(tree[1:]))


def _fact(tree: Tree) -> Fact:
    atom = _atom(tree)
    return (atom.predicate, *atom.args)


def _refuse_circle(type_: str, types: dict[str, str]) -> None:
    above, seen = types[type_], {type_}
    while above in types and above != "object":
        if above in seen:
            raise GameFileError(f"PDDL domain: the type {type_!r} is its own supertype")
        seen.add(above)
        above = types[above]


def _action(body: Tree) -> Action:
    if not body or not isinstance(body[0], str) or len(body) % 2 == 0:
        raise GameFileError(f"PDDL: expected (:action name :key value …), got {body!r:.80}")
    keys = dict(zip(body[1::2], body[2::2], strict=True))
    unknown = keys.keys() - {":parameters", ":precondition", ":effect"}
    if unknown:
        raise GameFileError(f"PDDL action {body[0]!r}: {sorted(unknown)} is not understood")
    return Action(
        body[0],
        _parameters(keys.get(":parameters", [])),
        _condition(keys.get(":precondition", [])),
        tuple(_effects(keys.get(":effect", []), TRUE, ())),
    )


def _effects(tree: Tree, condition: Condition, variables: tuple[Parameter, ...]) -> Iterator[Effect]:
    if not tree or tree[0] in ("increase", "decrease", "assign"):
        return
    head, body = tree[0], tree[1:]
    if head == "and":
        for part in body:
            yield from _effects(part, condition, variables)
    elif head == "when" and len(body) == 2:
        yield from _effects(body[1], And((condition, _condition(body[0]))), variables)
    elif head == "forall" and len(body) == 2:
        yield from _effects(body[1], condition, variables + _parameters(body[0]))
    elif head == "not":
        yield Effect(_atom(_single(body, "not")), False, condition, variables)
    else:
        yield Effect(_atom(tree), True, condition, variables)
