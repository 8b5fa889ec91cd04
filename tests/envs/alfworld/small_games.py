"""Games of a few things, in which everything can be tried out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.rules import domain_text, grammar_for

SENTENCES = {
    "pick_and_place_simple": "put a {} in {}.",
    "look_at_obj_in_light": "look at {} under the {}.",
    "pick_clean_then_place_in_recep": "put a clean {} in {}.",
    "pick_heat_then_place_in_recep": "put a hot {} in {}.",
    "pick_cool_then_place_in_recep": "put a cool {} in {}.",
    "pick_two_obj_and_place": "put two {} in {}.",
}
TREATED = {
    "pick_clean_then_place_in_recep": ("cleanable", "isClean"),
    "pick_heat_then_place_in_recep": ("heatable", "isHot"),
    "pick_cool_then_place_in_recep": ("coolable", "isCool"),
}
OPENABLE = ("cabinet", "drawer", "fridge", "microwave", "safe")


@dataclass
class Furniture:
    """A receptacle such as "drawer 1" and what is in it. Those with the same spot are within reach of each other."""

    name: str
    things: Sequence[str] = ()
    spot: int | None = None
    takes: Sequence[str] = ("mug", "pen")


@dataclass
class Room:
    furniture: Sequence[Furniture]
    task: str = "pick_and_place_simple"
    object: str = "mug"
    goal: str = "desk"
    """The type of the receptacle to fill, or of the lamp to look under."""

    also: Iterable[str] = field(default=())
    """Further facts that hold at the start."""

    def game(self) -> Game:
        sentence = SENTENCES[self.task].format(self.object, self.goal)
        return Game.from_data(
            {"pddl_domain": domain_text(), "grammar": grammar_for(sentence), "pddl_problem": self._problem()}
        )

    def _problem(self) -> str:
        kinds: set[str] = set()
        objects = ["agent1 - agent", "start - location"]
        facts = ["(atLocation agent1 start)", *self.also]
        placed: set[str] = set()
        for i, furniture in enumerate(self.furniture):
            spot = f"spot{i if furniture.spot is None else furniture.spot}"
            kind, id_ = _kind(furniture.name), identifier(furniture.name)
            objects += [f"{spot} - location", f"{id_} - receptacle", f"{kind}type - rtype"]
            facts += [f"(receptacleAtLocation {id_} {spot})", f"(receptacleType {id_} {kind}type)"]
            facts += [f"(canContain {kind}type {thing}type)" for thing in furniture.takes]
            kinds.update(furniture.takes)
            if kind in OPENABLE:
                facts.append(f"(openable {id_})")
            for thing in furniture.things:
                facts += [f"(inReceptacle {identifier(thing)} {id_})", f"(objectAtLocation {identifier(thing)} {spot})"]
                placed.add(thing)
        for thing in placed:
            id_, kind = identifier(thing), _kind(thing)
            objects.append(f"{id_} - object")
            facts.append(f"(objectType {id_} {kind}type)")
            kinds.add(kind)
            lamp = kind.endswith("lamp")
            facts += [f"(toggleable {id_})"] if lamp else [f"(pickupable {id_})", *_treatable(id_)]
        objects += [f"{kind}type - otype" for kind in kinds]
        # A type may be named twice above; PDDL wants it once. The ids are sorted for the same names in every run.
        declared, known = "\n".join(sorted(set(objects))), "\n".join(sorted(set(facts)))
        return f"(define (problem small) (:domain alfred) (:objects {declared}) (:init {known}) (:goal {self._goal()}))"

    def _goal(self) -> str:
        if self.task == "look_at_obj_in_light":
            return (
                "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and "
                f"(objectType ?ot {self.goal}type) (toggleable ?ot) (isToggled ?ot) "
                "(receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) "
                f"(exists (?o - object ?a - agent) (and (objectType ?o {self.object}type) (holds ?a ?o))))"
            )
        lies = f"(objectType {{0}} {self.object}type) (receptacleType ?r {self.goal}type) (inReceptacle {{0}} ?r)"
        if self.task == "pick_two_obj_and_place":
            return (
                f"(exists (?r - receptacle) (exists (?o1 - object) (and {lies.format('?o1')} (exists (?o2 - object) "
                f"(and (not (= ?o1 ?o2)) {lies.format('?o2')})))))"
            )
        treated = " ".join(f"({predicate} ?o)" for predicate in TREATED.get(self.task, ()))
        return f"(exists (?r - receptacle) (exists (?o - object) (and {lies.format('?o')} {treated})))"


def identifier(name: str) -> str:
    """An id that the game names `name` if they are given out in order: the last one of a kind is number 1."""
    kind, number = name.split()
    stem = kind.removesuffix("basin")
    return f"{stem}_bar_{99 - int(number)}" + ("_bar_sinkbasin" if kind.endswith("basin") else "")


def _kind(name: str) -> str:
    return name.split()[0]


def _treatable(id_: str) -> list[str]:
    return [f"({quality} {id_})" for quality in ("cleanable", "heatable", "coolable")] if "pen" not in id_ else []
