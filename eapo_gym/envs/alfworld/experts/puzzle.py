"""The part of a game that its goal can hang on: the ground on which the oracle searches.

That is the objects of the wanted type, the lamps, what is in the hand, and the receptacles that hold, treat or must
receive them. Of places that are interchangeable (ten empty closed cabinets) one is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import NamedTuple

from eapo_gym.envs.alfworld.experts.goal import TREATERS, Goal

IMPOSSIBLE = 1 << 30

_TREATED = {"clean": "isclean", "heat": "ishot", "cool": "iscool"}
_TREATABLE = {"clean": "cleanable", "heat": "heatable", "cool": "coolable"}


class Situation(NamedTuple):
    """A state of the puzzle."""

    at: str
    """The location of the agent."""

    held: str | None
    placed: frozenset[tuple[str, str]]
    """(object, receptacle). Games may list one object in two receptacles; taking it from one leaves the other."""

    opened: frozenset[str]
    treated: frozenset[str]
    lit: frozenset[str]


class Act(NamedTuple):
    """A move: a verb, and what it is about. Walking leads to a location."""

    verb: str
    object: str = ""
    receptacle: str = ""
    location: str = ""


class Puzzle:
    """What `goal` makes of the facts of a game, the moves that there are, and a bound on what is left to do."""

    def __init__(self, goal: Goal, facts: Iterable[tuple[str, ...]]) -> None:
        self.goal = goal
        known: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for predicate, *args in sorted(facts):
            known[predicate].append(tuple(args))

        def things(predicate: str) -> set[str]:
            return {args[-1] for args in known[predicate]}

        def of_type(predicate: str, types: Iterable[str | None]) -> set[str]:
            names = {f"{type_}type" for type_ in types}
            return {thing for thing, type_ in pairs(predicate).items() if type_ in names}

        def pairs(predicate: str) -> dict[str, str]:
            return {args[0]: args[1] for args in known[predicate]}

        treatment = goal.treatment
        self._location = pairs("receptacleatlocation")
        self._openable = things("openable")
        self._treatable = things(_TREATABLE[treatment]) if treatment else set()
        self._treaters = of_type("receptacletype", TREATERS[treatment]) if treatment else set()
        self._lamps = of_type("objecttype", [goal.lamp]) & things("toggleable")
        self._wanted = of_type("objecttype", [goal.object])
        if treatment:
            self._wanted &= self._treatable  # the goal asks for it
        self._takeable = self._wanted & things("pickupable")
        self._targets = sorted(of_type("receptacletype", [goal.receptacle]) & self._location.keys())

        held = next(iter(things("holds")), None)
        movable = self._takeable | ({held} if held else set())
        types, receptacle_types = pairs("objecttype"), pairs("receptacletype")
        accepted = set(known["cancontain"])
        self._accepts = {
            (receptacle, thing)
            for receptacle in self._location
            for thing in movable
            if (receptacle_types.get(receptacle, ""), types.get(thing, "")) in accepted
        }
        self.start = Situation(
            at=next(iter(things("atlocation")), ""),
            held=held,
            placed=frozenset(
                (thing, receptacle)
                for thing, receptacle in known["inreceptacle"]
                if (thing in self._wanted or thing in self._lamps) and receptacle in self._location
            ),
            opened=frozenset(things("opened") & self._location.keys()),
            treated=frozenset(things(_TREATED[treatment]) & self._wanted) if treatment else frozenset(),
            lit=frozenset(things("istoggled") & self._lamps),
        )
        self._rooms = self._worth_a_visit()
        self._targets = [target for target in self._targets if target in self._rooms.get(self._location[target], ())]

    def _worth_a_visit(self) -> dict[str, list[str]]:
        """Location → the receptacles there that can matter.

        Receptacles matter if they hold, treat or must receive something, or could take what is in the hand at the
        start: nothing that is picked up later is ever put anywhere but where it belongs. Locations without any of the
        objects and with the same kinds of receptacles are the same to a plan, unless the agent stands in one.
        """
        filled = {receptacle for _, receptacle in self.start.placed}
        useful = filled | self._treaters | set(self._targets)
        useful |= {receptacle for receptacle, thing in self._accepts if thing == self.start.held}
        rooms: dict[str, list[str]] = defaultdict(list)
        for receptacle, location in sorted(self._location.items()):
            if receptacle in useful:
                rooms[location].append(receptacle)
        distinct: dict[object, str] = {}
        for location, receptacles in rooms.items():
            special = location == self.start.at or not filled.isdisjoint(receptacles)
            kind = location if special else tuple(sorted(map(self._kind, receptacles)))
            distinct.setdefault(kind, location)
        return {location: rooms[location] for location in distinct.values()}

    def _kind(self, receptacle: str) -> tuple[bool, ...]:
        thing = next(iter(self._takeable), "")
        return (
            receptacle in self._targets,
            receptacle in self._treaters,
            self._closed(receptacle, self.start.opened),
            (receptacle, thing) in self._accepts,
            (receptacle, self.start.held) in self._accepts,
        )

    def _closed(self, receptacle: str, opened: frozenset[str]) -> bool:
        return receptacle in self._openable and receptacle not in opened

    def reached(self, now: Situation) -> bool:
        """Whether the goal is."""
        if self.goal.receptacle is None:
            return now.held in self._wanted and any(
                lamp in now.lit and self._location[receptacle] == now.at for lamp, receptacle in now.placed
            )
        return any(len(self._ready(now, target)) >= self.goal.count for target in self._targets)

    def _ready(self, now: Situation, target: str) -> set[str]:
        """The objects in `target` that need nothing more."""
        done = self._wanted if self.goal.treatment is None else now.treated
        return {thing for thing, receptacle in now.placed if receptacle == target and thing in done}

    def successors(self, now: Situation) -> Iterator[tuple[Act, Situation]]:
        """Every action that may be part of a shortest plan, and where it leads. Nothing is ever closed."""
        at, held, placed, opened, treated, lit = now
        for location in self._rooms:
            if location != at:
                yield Act("go to", location=location), now._replace(at=location)
        for receptacle in self._rooms.get(at, ()):
            if self._closed(receptacle, opened):
                yield Act("open", receptacle=receptacle), now._replace(opened=opened | {receptacle})
            elif held is not None and (receptacle, held) in self._accepts:
                put = now._replace(held=None, placed=placed | {(held, receptacle)})
                yield Act("move", held, receptacle), put
            elif held is None:
                for pair in sorted(placed):
                    if pair[1] == receptacle and pair[0] in self._takeable:
                        yield Act("take", *pair), now._replace(held=pair[0], placed=placed - {pair})
            if receptacle in self._treaters and held in self._treatable and held not in treated:
                assert held is not None
                yield Act(self.goal.treatment or "", held, receptacle), now._replace(treated=treated | {held})
            for lamp, where in sorted(placed):
                if where == receptacle and lamp in self._lamps and lamp not in lit:
                    yield Act("use", lamp, receptacle), now._replace(lit=lit | {lamp})

    # A bound on the length of a plan

    def bound(self, now: Situation) -> int:
        """No plan from here is shorter: the cheapest choice of objects and receptacles, counted command by command."""
        if self.goal.receptacle is None:
            return self._bound_looking(now)
        return min((self._bound_placing(now, target) for target in self._targets), default=IMPOSSIBLE)

    def _bound_looking(self, now: Situation) -> int:
        spots = [
            (self._location[receptacle], int(lamp not in now.lit))
            for lamp, receptacle in now.placed
            if lamp in self._lamps
        ]
        if now.held in self._lamps:  # it can be put down anywhere and be used there
            spots += [(location, 1) for location in (now.at, *self._rooms)]
        cheapest = IMPOSSIBLE
        for thing in [now.held] if now.held in self._wanted else self._takeable:
            for start, cost, _ in self._ways_to_hold(now, str(thing), now.at):
                for spot, switching in spots:
                    cheapest = min(cheapest, cost + switching + (start != spot))
        return cheapest

    def _bound_placing(self, now: Situation, target: str) -> int:
        ready = self._ready(now, target)
        missing = self.goal.count - len(ready)
        if missing <= 0:
            return 0
        # What is in the hand goes first: to put it down and come back for it is longer.
        others = [thing for thing in self._takeable if thing not in ready and thing != now.held]
        orders = list(permutations(others, missing))
        if now.held in self._wanted and now.held not in ready:
            orders += [(str(now.held), *rest) for rest in permutations(others, missing - 1)]
        after = now._replace(at=self._location[target], held=None)
        cheapest = IMPOSSIBLE
        for first, *rest in orders:
            cost = self._bring(now, first, target)
            before = first
            for thing in rest:
                found = {receptacle for other, receptacle in now.placed if other == before}
                cost += self._bring(after._replace(opened=now.opened | found | {target}), thing, target)
                before = thing
            cheapest = min(cheapest, cost)
        return cheapest

    def _ways_to_hold(self, now: Situation, thing: str, at: str) -> Iterator[tuple[str, int, str | None]]:
        """(where the agent then is, number of commands, receptacle it was taken from)."""
        if thing == now.held:
            yield at, 0, None
            return
        hand_is_full = int(now.held is not None)
        for other, receptacle in now.placed:
            if other == thing:
                where = self._location[receptacle]
                yield where, hand_is_full + (where != at) + self._closed(receptacle, now.opened) + 1, receptacle

    def _bring(self, now: Situation, thing: str, target: str) -> int:
        """At least so many commands until `thing` is in `target`, ready."""
        end = self._location[target]
        cheapest = IMPOSSIBLE
        for held_at, cost, source in self._ways_to_hold(now, thing, now.at):
            treated_at = [(held_at, 0)]
            if self.goal.treatment and thing not in now.treated:
                treated_at = [
                    (self._location[treater], (self._location[treater] != held_at) + 1)
                    for treater in self._treaters
                    if self._location[treater] in self._rooms
                ]
            putting = 0
            if source == target or (thing, target) not in now.placed:
                if (target, thing) not in self._accepts:
                    continue
                putting = 1 + (source != target and self._closed(target, now.opened))
            for where, treating in treated_at:
                walking = int(bool(putting) and where != end)
                cheapest = min(cheapest, cost + treating + walking + putting)
        return cheapest
