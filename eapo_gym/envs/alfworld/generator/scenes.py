"""Scenes: a room with everything in it, at the moment when a game begins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from eapo_gym.envs.alfworld.generator.dice import Dice
from eapo_gym.envs.alfworld.generator.difficulty import Difficulty
from eapo_gym.envs.alfworld.generator.household import Household, RoomStatistics, household
from eapo_gym.envs.alfworld.generator.rooms import Floor, Receptacle, Room
from eapo_gym.envs.alfworld.generator.tasks import Task

_EYE_LEVEL = (0, 200)


@dataclass(frozen=True, slots=True)
class Thing:
    id: str
    type: str
    spot: str
    place: Receptacle | None
    """Where it lies, or None for what stands about and cannot be taken."""
    cool: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    room: Room
    things: tuple[Thing, ...]
    nested: tuple[tuple[Thing, Thing], ...]
    """Pairs of a thing and another one that it lies in: a knife in a mug."""
    start: str
    """The spot on which the agent stands, out of reach of everything."""


def furnish(room: Room, task: Task, knobs: Difficulty, dice: Dice) -> Scene:
    """Put things into the room, those of the task among them."""
    return _Furnisher(room, task, knobs, dice).scene()


class _Furnisher:
    def __init__(self, room: Room, task: Task, knobs: Difficulty, dice: Dice) -> None:
        self._room = room
        self._task = task
        self._knobs = knobs
        self._dice = dice
        self._known: Household = household()
        self._statistics: RoomStatistics = self._known.rooms[room.kind]
        taken = [name for receptacle in room.receptacles for name in (receptacle.id, receptacle.spot)]
        self._floor = Floor(dice, room.size, taken)
        self._spots = sorted({receptacle.spot for receptacle in room.receptacles})

    def scene(self) -> Scene:
        start, _, _ = self._floor.spot(tilt=30)
        things = [self._fixture(fixture) for fixture in self._room.fixtures]
        fixtures = {fixture.type for fixture in self._room.fixtures}
        for type_, histogram in self._statistics.objects.items():
            if type_ not in fixtures:
                amount, lying = self._amount(type_, histogram)
                things += self._put(type_, amount, lying)
        things.sort(key=lambda thing: thing.id)
        return Scene(self._room, tuple(things), self._nest(things), start)

    def _amount(self, type_: str, histogram: Sequence[int]) -> tuple[int, int]:
        """How many things of a type there are, and how many of them must lie where they can be reached."""
        task, dice = self._task, self._dice
        if type_ == task.object:
            spare = dice.amount(histogram, task.needed) - task.needed
            return task.needed + dice.scaled(spare, self._knobs.spare), task.needed
        amount = dice.amount(histogram)
        if type_ == task.receptacle:  # the lamp, the one goal that is an object
            return max(1, amount), 1
        if self._known.is_("pickupable", type_):
            amount = dice.scaled(amount, self._knobs.distractors)
        return amount, 0

    def _put(self, type_: str, amount: int, lying: int) -> list[Thing]:
        """So many things of a type, of which the first few surely lie in receptacles."""
        if not amount:
            return []
        places, totals = self._places(type_)
        in_place, beside, elsewhere = self._statistics.loose.get(type_, (1, 0, 0))
        things = []
        for nth in range(amount):
            where = "in" if nth < lying else self._dice.weighted({"in": in_place, "by": beside, "off": elsewhere})
            if where == "in" and totals:
                things.append(self._lay(type_, self._draw_place(type_, places, totals)))
            elif where == "by":
                things.append(self._beside(type_, self._dice.pick(self._room.receptacles)))
            else:
                spot, at, turn = self._floor.spot()
                id_, _ = self._floor.position(type_, at, turn, _EYE_LEVEL)
                things.append(Thing(id_, type_, spot, None))
        return things

    def _places(self, type_: str) -> tuple[list[Receptacle], list[int]]:
        """Where things of a type may lie, with running totals of how likely each place is."""
        chances = self._statistics.places.get(type_, {})
        places = [r for r in self._room.receptacles if r.type in chances and not self._is_goal(type_, r)]
        hidden = self._knobs.hidden
        weights = (int(chances[r.type] * hidden) if r.openable and hidden != 1 else chances[r.type] for r in places)
        totals = list(accumulate(weights))
        if totals and not totals[-1]:  # all of them shut, and hidden = 0
            totals = list(range(1, len(places) + 1))
        return places, totals

    def _draw_place(self, type_: str, places: list[Receptacle], totals: list[int]) -> Receptacle:
        if type_ == self._task.object and self._dice.chance(self._knobs.surprise):
            anywhere = [
                receptacle
                for receptacle in self._room.receptacles
                if type_ in self._known.can_contain.get(receptacle.type, ()) and not self._is_goal(type_, receptacle)
            ]
            if anywhere:
                return self._dice.pick(anywhere)
        return places[bisect_right(totals, self._dice.below(totals[-1]))]

    def _is_goal(self, type_: str, receptacle: Receptacle) -> bool:
        task = self._task
        return task.from_elsewhere and type_ == task.object and receptacle.type == task.receptacle

    def _lay(self, type_: str, place: Receptacle) -> Thing:
        cool = (
            place.type == "Fridge"
            and self._known.is_("coolable", type_)
            and self._task.type != "pick_cool_then_place_in_recep"
            and self._dice.below(self._known.per) < self._known.cool_in_fridge
        )
        return Thing(self._near(type_, place), type_, place.spot, place, cool)

    def _beside(self, type_: str, receptacle: Receptacle) -> Thing:
        return Thing(self._near(type_, receptacle), type_, receptacle.spot, None)

    def _fixture(self, fixture: Receptacle) -> Thing:
        _, beside, elsewhere = self._statistics.loose[fixture.type]
        spot = fixture.spot if self._dice.chance(beside / (beside + elsewhere)) else self._floor.spot()[0]
        return Thing(fixture.id, fixture.type, spot, None)

    def _near(self, type_: str, receptacle: Receptacle) -> str:
        x, y, z = receptacle.position
        id_, _ = self._floor.position(type_, (x // 25, z // 25), self._dice.below(4), (y + 2, y + 25))
        return id_

    def _nest(self, things: list[Thing]) -> tuple[tuple[Thing, Thing], ...]:
        """Of the things that lie in the same place, some lie in one another."""
        chances = self._statistics.nested
        outer_types = {outer for _, outer in chances}
        pairs = []
        for outer in things:
            if outer.type not in outer_types or outer.place is None:
                continue
            for inner in things:
                if inner is outer or inner.place is not outer.place:
                    continue
                chance = chances.get((inner.type, outer.type), 0)
                if chance and self._dice.below(self._known.per) < chance:
                    pairs.append((inner, outer))
        return tuple(pairs)
