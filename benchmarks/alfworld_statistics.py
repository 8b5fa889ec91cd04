"""Counts what the games of the ALFWorld benchmark look like, and writes the counts that the generator draws from.

    python benchmarks/alfworld_statistics.py ~/.cache/alfworld            # a folder with json_2.1.1/ in it
    python benchmarks/alfworld_statistics.py json_2.1.1_games.tar.xz      # or an archive of one

writes eapo_gym/envs/alfworld/generator/household.json: numbers over all games together, never a game or a room of them.
Run it again only together with a new generator version, since every generated game follows from these numbers.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.rulebook import split_task

TARGET = Path(__file__).parent.parent / "eapo_gym/envs/alfworld/generator/household.json"
SPLITS = ("train", "valid_seen", "valid_train")
PROPERTIES = ("pickupable", "cleanable", "heatable", "coolable", "sliceable", "toggleable", "isreceptacleobject")
PER = 10_000
"""Shares and rates are whole numbers out of this many: sums of whole numbers are the same on every machine."""

Table = dict[str, Any]


@dataclass(frozen=True)
class House:
    """A game, read into tables by thing."""

    task_type: str
    kind: str
    goal_object: str
    goal_receptacle: str
    plan_length: int
    kinds: dict[str, str]
    """Receptacle or object → its type."""
    receptacles: list[str]
    objects: list[str]
    spot_of: dict[str, str]
    """Receptacle or object → location."""
    places: dict[str, list[str]]
    """Object → the receptacles that it is in: mostly one, none for what stands about."""
    flags: dict[str, set[str]]
    """Predicate → the things that have it."""
    can_contain: set[tuple[str, str]]
    nested: set[tuple[str, str]]


def room_kind(room: int) -> str:
    """The floor plans of the simulator behind the benchmark come in four hundreds."""
    return {0: "kitchen", 2: "living room", 3: "bedroom", 4: "bathroom"}[room // 100]


def house(task: str, problem: pddl.Problem, plan_length: int, spelling: dict[str, str]) -> House:
    """Read one problem; `spelling` gives the types their capitals."""
    task_type, goal_object, _, goal_receptacle, room = task.split("-")
    facts = defaultdict(list)
    for predicate, *args in dict.fromkeys(problem.init):
        facts[predicate].append(args)
    types = {thing: spelling.get(t, t) for p in ("receptacletype", "objecttype") for thing, t in facts[p]}
    places: dict[str, list[str]] = defaultdict(list)
    for thing, receptacle in facts["inreceptacle"]:
        places[thing].append(receptacle)
    return House(
        task_type,
        room_kind(int(room)),
        goal_object,
        goal_receptacle,
        plan_length,
        types,
        [thing for thing, _ in facts["receptacletype"]],
        [thing for thing, _ in facts["objecttype"]],
        {thing: spot for p in ("receptacleatlocation", "objectatlocation") for thing, spot in facts[p]},
        places,
        {p: {args[0] for args in facts[p]} for p in (*PROPERTIES, "openable", "iscool")},
        {(spelling.get(r, r), spelling.get(o, o)) for r, o in facts["cancontain"]},
        {(inner, outer) for inner, outer in facts["inreceptacleobject"] if inner != outer},
    )


def count(houses: list[House]) -> Table:
    """Everything that the generator wants to know."""
    everywhere: dict[str, set[str]] = {name: set() for name in PROPERTIES}
    can_contain: dict[str, set[str]] = defaultdict(set)
    in_fridge, cool = 0, 0
    for home in houses:
        for name, types in everywhere.items():
            types.update(home.kinds[thing] for thing in home.flags[name] if thing in home.kinds)
        for receptacle, thing in home.can_contain:
            can_contain[receptacle].add(thing)
        if home.task_type != "pick_cool_then_place_in_recep":
            cold = {o for o in home.flags["coolable"] if any(home.kinds[r] == "Fridge" for r in home.places[o])}
            in_fridge += len(cold)
            cool += len(cold & home.flags["iscool"])
    grouped: dict[str, list[House]] = defaultdict(list)
    for home in houses:
        grouped[home.kind].append(home)
    return {
        "made_from": f"counts over {len(houses):,} games of ALFWorld json_2.1.1 ({', '.join(SPLITS)})",
        "per": PER,
        "properties": {name: sorted(types) for name, types in everywhere.items()},
        "can_contain": {receptacle: sorted(things) for receptacle, things in sorted(can_contain.items())},
        "cool_in_fridge": round(PER * cool / in_fridge),
        "heights": heights(houses),
        "rooms": {kind: room_table(homes) for kind, homes in sorted(grouped.items())},
        "tasks": task_table(houses),
        "measured": measure(houses),
    }


def heights(houses: list[House]) -> dict[str, list[int]]:
    """Between which heights above the floor, in centimetres, eight in ten receptacles of a type are."""
    found: dict[str, list[int]] = defaultdict(list)
    for home in houses:
        for receptacle in home.receptacles:
            _, height, _ = re.findall(r"_bar_(_minus_|_plus_|)(\d\d)_dot_(\d\d)", receptacle)
            found[home.kinds[receptacle]].append((-1 if "minus" in height[0] else 1) * int(height[1] + height[2]))
    return {
        type_: [max(0, ordered[len(ordered) // 10]), max(0, ordered[9 * len(ordered) // 10])]
        for type_, ordered in ((type_, sorted(values)) for type_, values in sorted(found.items()))
    }


def room_table(houses: list[House]) -> Table:
    """What a room of one kind has in it, and where."""
    pickupable = {home.kinds[thing] for home in houses for thing in home.flags["pickupable"] if thing in home.kinds}
    things = sorted({home.kinds[thing] for home in houses for thing in home.objects})
    receptacles = sorted({home.kinds[thing] for home in houses for thing in home.receptacles})
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    openable, present = Counter[str](), Counter[str]()
    chances, placed, nested, met = (Counter[tuple[str, str]]() for _ in range(4))
    loose, held = Counter[tuple[str, bool]](), Counter[str]()
    for home in houses:
        by_spot: dict[str, list[str]] = defaultdict(list)
        for receptacle in home.receptacles:
            by_spot[home.spot_of[receptacle]].append(home.kinds[receptacle])
            present[home.kinds[receptacle]] += 1
            openable[home.kinds[receptacle]] += receptacle in home.flags["openable"]
        for group in by_spot.values():
            first, *rest = sorted(group)
            groups[first][" ".join(rest)] += 1
        furniture = Counter(home.kinds[r] for r in home.receptacles)
        for thing, amount in Counter(home.kinds[o] for o in home.objects).items():
            for receptacle, instances in furniture.items():
                chances[thing, receptacle] += amount * instances
        for thing in home.objects:
            where = home.places.get(thing, [])
            for receptacle in where:
                placed[home.kinds[thing], home.kinds[receptacle]] += 1 / len(where)  # type: ignore[assignment]
            held[home.kinds[thing]] += bool(where)
            if not where:
                loose[home.kinds[thing], home.spot_of.get(thing) in by_spot] += 1
        for inner, outer in permutations(home.objects, 2):
            if home.places.get(inner) and home.places[inner] == home.places.get(outer):
                pair = home.kinds[inner], home.kinds[outer]
                met[pair] += 1
                nested[pair] += (inner, outer) in home.nested
    rates = {pair: round(PER * placed[pair] / chances[pair]) for pair in placed}
    return {
        "games": len(houses),
        "receptacles": {t: histogram(houses, t, "receptacles") for t in receptacles},
        "openable": {t: round(PER * openable[t] / present[t]) for t in receptacles if openable[t]},
        "together": {t: dict(sorted(groups[t].items())) for t in receptacles if set(groups[t]) - {""}},
        "objects": {t: histogram(houses, t, "objects") for t in things},
        "loose": {t: [held[t], loose[t, True], loose[t, False]] for t in things if loose[t, True] or loose[t, False]},
        "places": {
            thing: {r: max(1, rates[thing, r]) for r in receptacles if placed[thing, r] >= 1}
            for thing in things
            if held[thing]
        },
        "nested": {
            f"{inner} in {outer}": round(PER * amount / met[inner, outer])
            for (inner, outer), amount in sorted(nested.items())
            if amount >= 3 and inner in pickupable
        },
    }


def histogram(houses: list[House], type_: str, what: str) -> list[int]:
    """How many of the games have none, one, two … things of a type."""
    amounts = Counter(sum(home.kinds[thing] == type_ for thing in getattr(home, what)) for home in houses)
    return [amounts[n] for n in range(max(amounts) + 1)]


def task_table(houses: list[House]) -> Table:
    """Per task type and kind of room: which object is to go where, and how often."""
    table: dict[str, dict[str, dict[str, Counter[str]]]] = {}
    for home in houses:
        rooms = table.setdefault(home.task_type, {})
        rooms.setdefault(home.kind, {}).setdefault(home.goal_object, Counter())[home.goal_receptacle] += 1
    return {
        task: {kind: {o: dict(sorted(to.items())) for o, to in sorted(rooms[kind].items())} for kind in sorted(rooms)}
        for task, rooms in sorted(table.items())
    }


def measure(houses: Iterable[House]) -> Table:
    """The numbers by which real and generated games are compared."""
    by_kind: dict[str, list[House]] = defaultdict(list)
    by_task: dict[str, list[House]] = defaultdict(list)
    for home in houses:
        by_kind[home.kind].append(home)
        by_task[home.task_type].append(home)
    return {
        "rooms": {
            kind: {
                "games": len(homes),
                "receptacles": mean_and_spread([len(home.receptacles) for home in homes]),
                "spots": mean_and_spread([len({home.spot_of[r] for r in home.receptacles}) for home in homes]),
                "openable": mean_and_spread([len(home.flags["openable"]) for home in homes]),
                "objects": mean_and_spread([len(home.objects) for home in homes]),
                "pickupable": mean_and_spread([len(home.flags["pickupable"]) for home in homes]),
                "hidden": round(share(is_hidden(o, home) for home in homes for o in home.flags["pickupable"]), 3),
                "loose": round(share(not home.places.get(o) for home in homes for o in home.flags["pickupable"]), 3),
            }
            for kind, homes in sorted(by_kind.items())
        },
        "tasks": {
            task: {
                "games": len(homes),
                "plan": mean_and_spread([home.plan_length for home in homes]),
                "plans": dict(sorted(Counter(home.plan_length for home in homes).items())),
                "copies": mean_and_spread([len(goal_objects(home)) for home in homes]),
                "hidden": round(share(is_hidden(o, home) for home in homes for o in goal_objects(home)), 3),
            }
            for task, homes in sorted(by_task.items())
        },
    }


def goal_objects(home: House) -> list[str]:
    return [thing for thing in home.objects if home.kinds[thing] == home.goal_object]


def is_hidden(thing: str, home: House) -> bool:
    """Whether the thing lies behind a door that is shut at the start, as all of them are."""
    return any(receptacle in home.flags["openable"] for receptacle in home.places.get(thing, []))


def mean_and_spread(values: list[int]) -> list[float]:
    return [round(fmean(values), 2), round(pstdev(values), 2)]


def share(answers: Iterable[bool]) -> float:
    listed = list(answers)
    return sum(listed) / max(1, len(listed))


def game_files(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Task name and decoded game file of every game, from a folder or an archive."""
    if data.is_dir():
        for split in SPLITS:
            for path in sorted(data.glob(f"**/{split}/*/*/game.tw-pddl")):
                yield path.parts[-3], json.loads(path.read_bytes())
        return
    with tarfile.open(data) as archive:
        for member in archive:
            parts = Path(member.name).parts
            if parts[-1] == "game.tw-pddl" and parts[-4] in SPLITS:
                content = archive.extractfile(member)
                assert content is not None
                yield parts[-3], json.loads(content.read())


def read(data: Path) -> list[House]:
    houses = []
    spelling: dict[str, str] = {}
    for task, game in game_files(data):
        if not spelling:
            words = set(game["pddl_problem"].split())
            spelling = {word.lower(): word.removesuffix("Type") for word in words if word.endswith("Type")}
        problem = pddl.parse_problem(game["pddl_problem"], split_task(game["grammar"])[1])
        houses.append(house(task, problem, len(game["walkthrough"]), spelling))
    return houses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder with the benchmark's games, or a tar archive of them")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    houses = read(options.data)
    if not houses:
        raise SystemExit(f"{options.data}: no game.tw-pddl found under {', '.join(SPLITS)}")
    lines = render(count(houses))
    options.out.write_text(lines, encoding="utf-8")
    print(f"{len(houses):,} games → {options.out} ({len(lines.encode()):,} bytes)")


def render(table: Table) -> str:
    """JSON with one line per entry of the third level: small, and a change of it reads well in a diff."""

    def level(value: Any, depth: int) -> str:
        if not isinstance(value, dict) or depth == 3:
            return json.dumps(value, separators=(",", ":"))
        inner = ",\n".join(f"{' ' * (depth + 1)}{json.dumps(k)}: {level(v, depth + 1)}" for k, v in value.items())
        return f"{{\n{inner}\n{' ' * depth}}}"

    return level(table, 0) + "\n"


if __name__ == "__main__":
    main()
