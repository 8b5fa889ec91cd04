"""What a game asks for, read from its sentence or from its PDDL goal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from eapo_gym.envs.alfworld.pddl import And, Atom, Condition, Exists, Not, atoms
from eapo_gym.errors import EapoError

TREATERS: dict[str, tuple[str, ...]] = {
    "clean": ("sinkbasin", "sink"),
    "heat": ("microwave",),
    "cool": ("fridge",),
}
"""What an object can be treated with: the verb of the command, and the types of receptacle that do it."""

_TREATMENT_OF = {
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
}


class GoalError(EapoError, ValueError):
    """A goal that is none of the six kinds of household task."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One household task. Types are lower-case words, as in the names of things: "desklamp 1" is a "desklamp"."""

    task_type: str
    object: str
    receptacle: str | None = None
    """Where the objects must end up; None if the object is only to be looked at."""

    tool: str | None = None
    """The lamp to look under, or the receptacle that cleans, heats or cools."""

    count: int = 1
    """How many objects must end up in one and the same receptacle."""

    @property
    def treatment(self) -> str | None:
        """What must be done to the object first ("clean", "heat" or "cool"): also the verb of the command."""
        return _TREATMENT_OF.get(self.task_type)

    @property
    def lamp(self) -> str | None:
        """The type of lamp to look at the object under, if that is the task."""
        return self.tool if self.receptacle is None else None

    def __str__(self) -> str:
        if self.receptacle is None:
            return f"look at a {self.object} under a {self.tool}"
        if self.count > 1:
            return f"put {self.count} {self.object}s in one {self.receptacle}"
        if self.treatment:
            return f"{self.treatment} a {self.object} and put it in a {self.receptacle}"
        return f"put a {self.object} in a {self.receptacle}"


_THING = r"(?P<object>[a-z]+)"
_PLACE = r"(?P<receptacle>[a-z]+)"
_SENTENCES: tuple[tuple[str, str], ...] = (
    ("look_at_obj_in_light", rf"look at (?:(?:a|an|the|some) )?{_THING} under the (?P<tool>[a-z]+)"),
    ("look_at_obj_in_light", rf"examine (?:a|an|the|some) {_THING} with the (?P<tool>[a-z]+)"),
    ("pick_clean_then_place_in_recep", rf"put a clean {_THING} (?:in|on) {_PLACE}"),
    ("pick_clean_then_place_in_recep", rf"clean some {_THING} and put it (?:in|on) {_PLACE}"),
    ("pick_heat_then_place_in_recep", rf"put a hot {_THING} (?:in|on) {_PLACE}"),
    ("pick_heat_then_place_in_recep", rf"heat some {_THING} and put it (?:in|on) {_PLACE}"),
    ("pick_cool_then_place_in_recep", rf"put a cool {_THING} (?:in|on) {_PLACE}"),
    ("pick_cool_then_place_in_recep", rf"cool some {_THING} and put it (?:in|on) {_PLACE}"),
    ("pick_two_obj_and_place", rf"put two {_THING} (?:in|on) {_PLACE}"),
    ("pick_two_obj_and_place", rf"find two {_THING} and put them (?:in|on) {_PLACE}"),
    ("pick_and_place_simple", rf"put (?:a|an|some|the) {_THING} (?:in|on) {_PLACE}"),
)
_TEMPLATES = tuple((task_type, re.compile(pattern)) for task_type, pattern in _SENTENCES)


@lru_cache(maxsize=4096)
def parse_goal(sentence: str) -> Goal:
    """The goal that a sentence such as "put a clean mug in desk" states.

    The "Your task is to:" before it and the full stop behind it may be there or not.
    """
    text = " ".join(sentence.lower().rsplit("your task is to:", 1)[-1].split()).removesuffix(".")
    for task_type, template in _TEMPLATES:
        if match := template.fullmatch(text):
            found = match.groupdict()
            return _goal(task_type, found["object"], found.get("receptacle"), found.get("tool"))
    raise GoalError(f"Goal: expected a sentence such as 'put a clean mug in desk.', got {sentence[:200]!r}")


def _goal(task_type: str, thing: str, receptacle: str | None, lamp: str | None) -> Goal:
    treatment = _TREATMENT_OF.get(task_type)
    tool = TREATERS[treatment][0] if treatment else lamp
    return Goal(task_type, thing, receptacle, tool, count=2 if task_type == "pick_two_obj_and_place" else 1)


_TREATED = {"isclean": "clean", "ishot": "heat", "iscool": "cool"}
_PLACING = {"inreceptacle", "objecttype", "receptacletype", "cleanable", "heatable", "coolable", *_TREATED}
_LOOKING = {"inreceptacle", "objecttype", "receptacleatlocation", "atlocation", "toggleable", "istoggled", "holds"}


def read_goal(condition: Condition) -> Goal:
    """The goal that a PDDL condition states: what the game itself tests, whatever its sentence says."""
    facts = list(atoms(condition))
    predicates = {fact.predicate for fact in facts}
    inequalities = [part for part in _negated(condition) if part.predicate == "="]
    looking = "holds" in predicates
    known = (_LOOKING if looking else _PLACING) | ({"="} if inequalities else set())
    types = {fact.args[0]: fact.args[1].removesuffix("type") for fact in facts if fact.predicate == "objecttype"}
    places = {fact.args[0]: fact.args[1].removesuffix("type") for fact in facts if fact.predicate == "receptacletype"}
    treatments = {_TREATED[predicate] for predicate in predicates & _TREATED.keys()}
    if predicates - known or not _conjunctive(condition) or len(treatments) > 1:
        raise GoalError(f"PDDL goal: expected one of the six household tasks, got predicates {sorted(predicates)}")

    if looking:
        held = [fact.args[1] for fact in facts if fact.predicate == "holds"]
        lamps = [fact.args[0] for fact in facts if fact.predicate == "istoggled"]
        if len(held) == len(lamps) == 1 and types.keys() == {held[0], lamps[0]}:
            return _goal("look_at_obj_in_light", types[held[0]], None, types[lamps[0]])
    elif len(set(types.values())) == 1 and len(places) == 1:
        thing, receptacle = next(iter(types.values())), next(iter(places.values()))
        if len(types) == 1 and not inequalities:
            task_type = next((t for t, verb in _TREATMENT_OF.items() if verb in treatments), "pick_and_place_simple")
            return _goal(task_type, thing, receptacle, None)
        if len(types) == 2 and len(inequalities) == 1 and not treatments:
            return _goal("pick_two_obj_and_place", thing, receptacle, None)
    raise GoalError(f"PDDL goal: expected one of the six household tasks, got types {types} and places {places}")


def _negated(condition: Condition) -> list[Atom]:
    """The atoms that the condition forbids."""
    if isinstance(condition, Not):
        return list(atoms(condition))
    if isinstance(condition, And):
        return [atom for part in condition.parts for atom in _negated(part)]
    return _negated(condition.part) if isinstance(condition, Exists) else []


def _conjunctive(condition: Condition) -> bool:
    """Whether it only asks that things be there, and nothing but equality be absent."""
    if isinstance(condition, And):
        return all(map(_conjunctive, condition.parts))
    if isinstance(condition, Exists):
        return _conjunctive(condition.part)
    if isinstance(condition, Not):
        return isinstance(condition.part, Atom) and condition.part.predicate == "="
    return isinstance(condition, Atom)
