"""The shortest way to win a scene, for one who knows it all: proof that a game can be won, and its walkthrough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eapo_gym.envs.alfworld.generator.rooms import Receptacle
from eapo_gym.envs.alfworld.generator.scenes import Scene, Thing
from eapo_gym.envs.alfworld.generator.tasks import TOUCH_UP, Task


def shortest_plan(scene: Scene, task: Task, names: Mapping[str, str]) -> tuple[str, ...]:
    """The commands of a shortest plan; of several, the first one in the order of the ids. Empty where there is none."""
    sources = [thing for thing in scene.things if thing.type == task.object and thing.place is not None]
    plans = list(_plans(scene, task, sources, names))
    return min(plans, key=len) if plans else ()


def _plans(scene: Scene, task: Task, sources: list[Thing], names: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    if task.type == "look_at_obj_in_light":
        lamps = [thing for thing in scene.things if thing.type == task.receptacle]
        for thing in sources:
            for lamp in lamps:
                if lamp.place is not None:
                    walk = _Walk(names)
                    walk.take(thing, thing.place)
                    walk.go(lamp.place)
                    walk.do(f"use {names[lamp.id]}")
                    yield walk.commands
        return
    appliances: list[Receptacle | None] = [None]
    if task.type in TOUCH_UP:
        appliances = [r for r in scene.room.receptacles if r.type == TOUCH_UP[task.type][1]]
    stops = {r.spot for r in appliances if r is not None} | {t.place.spot for t in sources if t.place is not None}
    goals = _worth_trying([r for r in scene.room.receptacles if r.type == task.receptacle], stops)
    for goal in goals:
        for thing in sources:
            if task.needed == 2:
                for other in sources:
                    if other is not thing:
                        walk = _Walk(names)
                        walk.bring(thing, goal)
                        walk.bring(other, goal)
                        yield walk.commands
            else:
                for appliance in appliances:
                    walk = _Walk(names)
                    walk.take(thing, thing.place)
                    if appliance is not None:
                        walk.go(appliance)
                        walk.do(f"{TOUCH_UP[task.type][0]} {names[thing.id]} with {names[appliance.id]}")
                    walk.put(thing, goal)
                    yield walk.commands


def _worth_trying(goals: list[Receptacle], stops: set[str]) -> list[Receptacle]:
    """Of many goals of a kind, those that can differ in length: on the way, or the first open or shut one."""
    kept, seen = [], set()
    for goal in goals:
        if goal.spot in stops or goal.openable not in seen:
            kept.append(goal)
            if goal.spot not in stops:
                seen.add(goal.openable)
    return kept


class _Walk:
    """Commands as they add up: goes only where it is not, and opens only what is shut."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._commands: list[str] = []
        self._spot: str | None = None
        self._opened: set[str] = set()

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(self._commands)

    def do(self, command: str) -> None:
        self._commands.append(command)

    def go(self, receptacle: Receptacle) -> None:
        if self._spot != receptacle.spot:
            self.do(f"go to {self._names[receptacle.id]}")
            self._spot = receptacle.spot

    def open(self, receptacle: Receptacle) -> None:
        self.go(receptacle)
        if receptacle.openable and receptacle.id not in self._opened:
            self.do(f"open {self._names[receptacle.id]}")
            self._opened.add(receptacle.id)

    def take(self, thing: Thing, place: Receptacle | None) -> None:
        if place is not None:
            self.open(place)
            self.do(f"take {self._names[thing.id]} from {self._names[place.id]}")

    def put(self, thing: Thing, goal: Receptacle) -> None:
        self.open(goal)
        self.do(f"move {self._names[thing.id]} to {self._names[goal.id]}")

    def bring(self, thing: Thing, goal: Receptacle) -> None:
        self.take(thing, thing.place)
        self.put(thing, goal)
