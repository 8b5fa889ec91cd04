"""Rooms: which receptacles a floor plan has, and from which spots they are within reach.

A room follows from its number, as in the benchmark: all games in room 317 have the same furniture. So a split can hold
rooms back that training never enters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from eapo_gym.envs.alfworld.generator.dice import Dice
from eapo_gym.envs.alfworld.generator.household import RoomStatistics, household
from eapo_gym.envs.alfworld.generator.ids import spot_id, thing_id
from eapo_gym.envs.alfworld.task_types import ROOMS

SEEN_ROOMS = range(1, 81)
HELD_OUT_ROOMS = range(81, 100)
"""Within each kind of room: those for all, and those that only held-out games enter."""

_BASINS = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}
"""A basin is named after the fixture that it is a part of, which stands in the room as an object of its own."""


@dataclass(frozen=True, slots=True)
class Receptacle:
    id: str
    type: str
    spot: str
    openable: bool
    position: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Room:
    number: int
    kind: str
    receptacles: tuple[Receptacle, ...]
    fixtures: tuple[Receptacle, ...]
    """Sinks and bathtubs, which can be seen and do nothing; they have the form of receptacles, and are none."""
    size: tuple[int, int]
    """Half of its width and depth, in steps of 25 cm."""

    def types(self) -> frozenset[str]:
        return frozenset(receptacle.type for receptacle in self.receptacles)


class Floor:
    """Finds free spots and positions in a room: along its walls, and the middle for what stands about."""

    def __init__(self, dice: Dice, size: tuple[int, int], taken: Iterable[str] = ()) -> None:
        self._dice = dice
        self._size = size
        self._taken = set(taken)

    def spot(self, tilt: int | None = None) -> tuple[str, tuple[int, int], int]:
        """A free spot before one of the walls: its id, where it is, and which wall (0 to 3) it faces."""
        tries = 0
        while True:
            turn = self._dice.below(4)
            wall, along = (self._size[1], self._size[0]) if turn % 2 == 0 else self._size
            # A full wall is stepped back from, so that there is always room for one more.
            distance = max(0, wall - 2 - tries // 40)
            sideways = self._dice.between(-along, along)
            x, z = {
                0: (sideways, distance),
                1: (distance, sideways),
                2: (sideways, -distance),
                3: (-distance, sideways),
            }[turn]
            down = self._dice.pick((-30, 0, 15, 30, 45, 60)) if tilt is None else tilt
            id_ = spot_id(x, z, turn, down)
            if id_ not in self._taken:
                self._taken.add(id_)
                return id_, (x, z), turn
            tries += 1

    def position(
        self, type_: str, at: tuple[int, int], turn: int, heights: tuple[int, int], suffix: str = ""
    ) -> tuple[str, tuple[int, int, int]]:
        """An id and a position (centimetres) that no other thing has, half a metre ahead of a spot."""
        while True:
            ahead, aside = self._dice.between(35, 75), self._dice.between(-45, 45)
            dx, dz = {0: (aside, ahead), 1: (ahead, aside), 2: (aside, -ahead), 3: (-ahead, aside)}[turn]
            position = at[0] * 25 + dx, self._dice.between(*heights), at[1] * 25 + dz
            id_ = thing_id(type_, position) + suffix
            if id_ not in self._taken:
                self._taken.add(id_)
                return id_, position


@lru_cache(maxsize=512)
def room(number: int, scale: float = 1.0) -> Room:
    """The room with this number; `scale` makes it have more or fewer receptacles of each type."""
    kind = max((kind for kind in ROOMS if ROOMS[kind] < number), key=ROOMS.__getitem__)
    statistics = household().rooms[kind]
    dice = Dice("room", number)
    size = dice.between(7, 12), dice.between(7, 12)
    amounts = Counter({type_: dice.amount(histogram) for type_, histogram in sorted(statistics.receptacles.items())})
    if scale != 1:
        amounts = Counter({type_: max(1, int(n * scale + 0.5)) for type_, n in amounts.items() if n})
    floor = Floor(dice, size)
    receptacles, fixtures = [], []
    for group in _groups(amounts, statistics, dice):
        spot, at, turn = floor.spot()
        for type_ in group:
            openable = dice.below(household().per) < statistics.openable.get(type_, 0)
            fixture = _BASINS.get(type_)
            suffix = f"_bar_{type_}" if fixture else ""
            id_, position = floor.position(fixture or type_, at, turn, household().heights[type_], suffix)
            receptacles.append(Receptacle(id_, type_, spot, openable, position))
            if fixture:
                fixtures.append(Receptacle(id_.removesuffix(suffix), fixture, spot, False, position))
    by_id = sorted(receptacles, key=lambda receptacle: receptacle.id)
    return Room(number, kind, tuple(by_id), tuple(fixtures), size)


def _groups(amounts: Counter[str], statistics: RoomStatistics, dice: Dice) -> list[list[str]]:
    """Share the receptacles out among spots, as often together as real ones are."""
    left = Counter(amounts)
    groups = []
    for type_ in sorted(left):
        while left[type_]:
            left[type_] -= 1
            group = dice.weighted(statistics.together.get(type_, {"": 1})).split()
            if any(left[other] < n for other, n in Counter(group).items()):
                group = []
            left.subtract(group)
            groups.append([type_, *group])
    return groups
