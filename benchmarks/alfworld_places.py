"""Counts where things lie in the train games of ALFWorld, and prints the table of the explorer's likely places.

    python benchmarks/alfworld_places.py $ALFWORLD_DATA     # a folder with json_2.1.1/ in it

Only the train split is read, and all of its games are counted together: the table says how often a drawer has a pen in
it, nothing about any room or game. It stands in eapo_gym/envs/alfworld/experts/places.py.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.experts.goal import read_goal


def count(games: Iterable[Path]) -> dict[str, dict[str, int]]:
    """Type of object → type of receptacle → percentage of such receptacles that have one, in the rooms that have one.

    For the types of objects that some game asks for.
    """
    holding: Counter[tuple[str, str]] = Counter()
    standing: Counter[tuple[str, str]] = Counter()
    asked_for: set[str | None] = set()
    for path in games:
        problem = pddl.parse_problem(json.loads(path.read_bytes())["pddl_problem"])
        goal, facts = read_goal(problem.goal), problem.init
        asked_for |= {goal.object, goal.lamp}
        kind = {fact[1]: fact[2].removesuffix("type") for fact in facts if fact[0] in ("objecttype", "receptacletype")}
        useful = {fact[1] for fact in facts if fact[0] in ("pickupable", "toggleable")}
        receptacles = Counter(kind[fact[1]] for fact in facts if fact[0] == "receptacletype")
        inside: dict[str, set[str]] = defaultdict(set)
        for fact in facts:
            if fact[0] == "inreceptacle" and fact[1] in useful:
                inside[kind[fact[1]]].add(fact[2])
        for thing, places in inside.items():
            for place, number in receptacles.items():
                standing[thing, place] += number
            for place in places:
                holding[thing, kind[place]] += 1
    table: dict[str, dict[str, int]] = defaultdict(dict)
    for (thing, place), number in sorted(holding.items()):
        percentage = round(100 * number / standing[thing, place])
        if percentage and thing in asked_for:
            table[thing][place] = percentage
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that $ALFWORLD_DATA names")
    games = sorted((parser.parse_args().data / "json_2.1.1" / "train").glob("*/*/game.tw-pddl"))
    if not games:
        parser.error("expected json_2.1.1/train/<task>/<trial>/game.tw-pddl in that folder, found none")
    for thing, places in sorted(count(games).items()):
        ordered = sorted(places.items(), key=lambda item: (-item[1], item[0]))
        print(f"{thing}: {', '.join(f'{place} {percentage}' for place, percentage in ordered)}")


if __name__ == "__main__":
    main()
