"""The six kinds of task: what each wants, in the rules' terms and in words."""

from __future__ import annotations

from dataclasses import dataclass

from eapo_gym.envs.alfworld.generator.dice import Dice
from eapo_gym.envs.alfworld.generator.household import household
from eapo_gym.envs.alfworld.generator.rooms import Room
from eapo_gym.envs.alfworld.task_types import TASK_TYPES
from eapo_gym.errors import UnknownName

TOUCH_UP = {
    "pick_clean_then_place_in_recep": ("clean", "SinkBasin", "cleanable", "isClean"),
    "pick_heat_then_place_in_recep": ("heat", "Microwave", "heatable", "isHot"),
    "pick_cool_then_place_in_recep": ("cool", "Fridge", "coolable", "isCool"),
}
"""Task type → the verb, the appliance that does it, the property that it needs, the fact that it makes."""

SENTENCES = {
    "pick_and_place_simple": ("put a {o} in {r}.", "put some {o} on {r}."),
    "look_at_obj_in_light": ("look at {o} under the {r}.", "examine the {o} with the {r}."),
    "pick_clean_then_place_in_recep": ("put a clean {o} in {r}.", "clean some {o} and put it in {r}."),
    "pick_heat_then_place_in_recep": ("put a hot {o} in {r}.", "heat some {o} and put it in {r}."),
    "pick_cool_then_place_in_recep": ("put a cool {o} in {r}.", "cool some {o} and put it in {r}."),
    "pick_two_obj_and_place": ("put two {o} in {r}.", "find two {o} and put them in {r}."),
}
"""Task type → the ways in which the benchmark words it."""


@dataclass(frozen=True, slots=True)
class Task:
    type: str
    object: str
    """The type of the goal object."""
    receptacle: str
    """The type of the receptacle that it is to go to, or of the lamp to look at it under."""
    sentence: str

    @property
    def needed(self) -> int:
        """How many goal objects it takes."""
        return 2 if self.type == "pick_two_obj_and_place" else 1

    @property
    def from_elsewhere(self) -> bool:
        """Whether a goal object that lies at the goal from the start would be a part of the task done."""
        return self.type in ("pick_and_place_simple", "pick_two_obj_and_place")

    def goal(self) -> str:
        """What must hold at the end, in PDDL."""
        if self.type == "look_at_obj_in_light":
            return (
                f"(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and "
                f"(objectType ?ot {self.receptacle}Type) (toggleable ?ot) (isToggled ?ot) "
                f"(receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) "
                f"(exists (?o - object ?a - agent) (and (objectType ?o {self.object}Type) (holds ?a ?o))))"
            )
        if self.type == "pick_two_obj_and_place":
            return (
                f"(exists (?r - receptacle ?o1 - object ?o2 - object) (and {self._lies('?o1')} {self._lies('?o2')} "
                f"(not (= ?o1 ?o2))))"
            )
        extra = ""
        if self.type in TOUCH_UP:
            _, _, able, done = TOUCH_UP[self.type]
            extra = f" ({able} ?o) ({done} ?o)"
        return f"(exists (?r - receptacle ?o - object) (and {self._lies('?o')}{extra}))"

    def _lies(self, variable: str) -> str:
        return (
            f"(objectType {variable} {self.object}Type) (receptacleType ?r {self.receptacle}Type) "
            f"(inReceptacle {variable} ?r)"
        )


def draw_type(dice: Dice) -> str:
    """One of the task types, as often as the benchmark has it."""
    return dice.weighted(
        {
            type_: sum(n for objects in rooms.values() for to in objects.values() for n in to.values())
            for type_, rooms in household().tasks.items()
        }
    )


def draw_room_kind(dice: Dice, type_: str) -> str:
    """A kind of room in which the benchmark has tasks of this type."""
    return dice.weighted(
        {kind: sum(n for to in objects.values() for n in to.values()) for kind, objects in _rooms(type_).items()}
    )


def draw_task(dice: Dice, type_: str, room: Room) -> Task | None:
    """A task of this type for this room, or None where its furniture allows none."""
    statistics = household().rooms[room.kind]
    present = room.types()
    weights: dict[tuple[str, str], int] = {}
    for thing, goals in _rooms(type_)[room.kind].items():
        origins = present & statistics.places[thing].keys()
        for goal, n in goals.items():
            if type_ == "look_at_obj_in_light":
                possible = bool(origins and present & statistics.places[goal].keys())
            else:
                task = Task(type_, thing, goal, "")
                possible = goal in present and bool(origins - {goal} if task.from_elsewhere else origins)
            if possible and _appliance(type_) in {*present, None}:
                weights[thing, goal] = n
    if not weights:
        return None
    thing, goal = dice.weighted(weights)
    sentence = dice.pick(SENTENCES[type_]).format(o=thing.lower(), r=goal.lower())
    return Task(type_, thing, goal, sentence)


def _appliance(type_: str) -> str | None:
    return TOUCH_UP[type_][1] if type_ in TOUCH_UP else None


def _rooms(type_: str) -> dict[str, dict[str, dict[str, int]]]:
    if type_ not in household().tasks:
        raise UnknownName.of("task type", type_, TASK_TYPES)
    return household().tasks[type_]
