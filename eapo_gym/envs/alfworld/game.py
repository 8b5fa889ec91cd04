"""The native engine: one game, compiled for playing, and shared by every environment that plays it.

A `Game` has no state of its own: `step(state, command)` gives the next state, and a state is an `int` (see facts.py).
So a snapshot is a number, a thousand environments share one game, and what was worked out for one of them (which
commands there are, what the game says) is there for all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.facts import Facts
from eapo_gym.envs.alfworld.grammar import Entity, Symbol
from eapo_gym.envs.alfworld.identity import Identity
from eapo_gym.envs.alfworld.joins import Join
from eapo_gym.envs.alfworld.names import entity_names
from eapo_gym.envs.alfworld.narrator import Narrator
from eapo_gym.envs.alfworld.operators import Mind, Notes, Operator
from eapo_gym.envs.alfworld.pddl import Fact
from eapo_gym.envs.alfworld.rulebook import Rulebook, conjunctions, split_task
from eapo_gym.errors import GameFileError, SnapshotError

NOTHING_HAPPENS = "Nothing happens."


class Game:
    """A compiled game: functions from states to commands, texts and further states."""

    def __init__(self, rulebook: Rulebook, problem: pddl.Problem) -> None:
        self.rulebook = rulebook
        self.problem = problem
        types = {**rulebook.domain.constants, **problem.objects}
        things = {arg for fact in problem.init for arg in fact[1:]}
        unknown = sorted(things - types.keys())
        if unknown:
            raise GameFileError(f"PDDL problem: {unknown[0]!r} occurs in :init, but not in :objects")
        self.facts = Facts(problem.init, rulebook.fluents, types, rulebook.domain.types)
        self._start = (1 << len(self.facts.numbered)) - 1
        names = entity_names(things)  # what no fact mentions has no number among its kind
        self.entities = {id_: Entity(id_, names.get(id_, id_), type_) for id_, type_ in types.items()}
        self.identity = Identity(rulebook, self.facts, problem)
        self._narrator = Narrator(rulebook.grammar, self.facts, self.entities, problem.task_text)
        self.goal_text = self._narrator.task
        self._mind = Mind(rulebook, self.facts, self._narrator)
        self._goal = _Goal(self.facts, problem.goal)

    @classmethod
    def compile(cls, rulebook: Rulebook, problem: pddl.Problem) -> Game:
        return cls(rulebook, problem)

    @classmethod
    def from_file(cls, path: str | Path) -> Game:
        """Load a `game.tw-pddl`."""
        try:
            return cls.from_data(json.loads(Path(path).read_bytes()))
        except GameFileError as error:
            raise GameFileError(f"{path}: {error}") from error
        except OSError as error:
            raise GameFileError(f"{path}: the game cannot be read: {error.strerror or error}") from error
        except RecursionError:
            raise GameFileError(f"{path}: the game nests its expressions too deeply") from None
        except ValueError as error:
            raise GameFileError(f"{path}: expected a game (JSON), but the file is broken or cut off: {error}") from None

    @classmethod
    def from_data(cls, data: Any) -> Game:
        """From the decoded JSON of a `game.tw-pddl`."""
        if not isinstance(data, dict):
            raise GameFileError(f"expected a JSON object, got {type(data).__name__}")
        for key in ("pddl_domain", "grammar", "pddl_problem"):
            if not isinstance(data.get(key), str):
                raise GameFileError(f"expected the key {key!r} with a text, got {type(data.get(key)).__name__}")
        grammar, task = split_task(data["grammar"])
        rulebook = Rulebook.parse(data["pddl_domain"], grammar)
        return cls(rulebook, pddl.parse_problem(data["pddl_problem"], task))

    # Playing

    def start(self) -> int:
        """The state in which the game begins."""
        return self._start

    @property
    def intro(self) -> str:
        """What the game says first."""
        return self._narrator.say((Symbol("intro"),), {}, self._start)

    def commands(self, state: int) -> tuple[str, ...]:
        """The commands that do something, sorted."""
        return self._mind.menu(state).commands

    def step(self, state: int, command: str) -> tuple[int, str, bool]:
        """The next state, what the game says, and whether the command was one that does something."""
        operator = self._mind.operator(state, command.strip())
        if operator is None:
            return state, NOTHING_HAPPENS, False
        after = operator.apply(state)
        return after, operator.feedback(after), True

    def won(self, state: int) -> bool:
        return self._goal.reached(state)

    def inverses(self, state: int, command: str) -> list[str]:
        """The commands that would undo `command`, were it given now; none if nothing changes or no way leads back."""
        operator = self.operator(state, command)
        if operator is None:
            return []
        after = operator.apply(state)
        changed = self.identity.differ(state, after)
        if not changed:
            return []
        undoing: dict[str, bool] = {}
        for rule, offers in self._mind.menu(after).changing(changed):
            # Most of them make something true that did not hold before, and this is quickly told.
            adding = [effect for effect in rule.effects if effect.positive and self.identity.reads(effect.predicate)]
            for back, values in offers.items():
                if back not in undoing:
                    leads_elsewhere = any(not self.facts.holds(effect.ground(values), state) for effect in adding)  # type: ignore[arg-type]
                    undoing[back] = not leads_elsewhere and self._leads(after, back, state)
        return [back for back, undoes in undoing.items() if undoes]

    def _leads(self, state: int, command: str, target: int) -> bool:
        operator = self._mind.operator(state, command)
        return operator is not None and not self.identity.differ(target, operator.apply(state))

    # Looking at states

    def operator(self, state: int, command: str) -> Operator | None:
        """The action behind a command, if it does something here."""
        return self._mind.operator(state, command.strip())

    def mark(self, state: int, near: tuple[int, int] | None = None) -> int:
        """A number that stands for the identity of a state (see `Identity.mark`)."""
        return self.identity.mark(state, near)

    def true_facts(self, state: int) -> Iterator[Fact]:
        """The facts that hold and can change."""
        return self.facts.true(state)

    @property
    def static_facts(self) -> frozenset[Fact]:
        """The facts that never change."""
        return frozenset(self.facts.statics)

    def state_of(self, facts: Iterable[Fact]) -> int:
        """The state in which just these changeable facts hold."""
        state = 0
        for fact in facts:
            if fact[0] not in self.facts.fluents:
                raise SnapshotError(f"This game has no changeable fact {fact!r:.100}: the snapshot is of another game.")
            state |= 1 << self.facts.number(fact)
        return state


class _Goal:
    """The goal, with its static part followed once, so that asking a state is a few lookups."""

    def __init__(self, facts: Facts, goal: pddl.Condition) -> None:
        self._facts = facts
        joins = [Join(way, (), (), facts.fluents) for way in conjunctions(goal)]
        self._joins = [(join, join.starts(facts, join.padded(()))) for join in joins]
        self._notes: Notes[bool] = Notes(facts, (read for join, starts in self._joins for read in join.reads(starts)))

    def reached(self, state: int) -> bool:
        key = self._notes.key(state)
        reached = self._notes.get(key)
        if reached is None:
            met = any(join.solutions(self._facts, starts, state) for join, starts in self._joins)
            reached = self._notes.put(key, met)
        return reached
