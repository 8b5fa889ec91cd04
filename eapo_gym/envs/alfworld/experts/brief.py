"""The explorer's notes in few words: for models that are too small to write all of them.

What is left out can be seen or guessed: where one stands, what was searched, where the thing would hardly be. What must
be known to go on is kept: what is in hand, where things are, where to look next, and what was done last, so that it is
not done again when nothing has come of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eapo_gym.envs.alfworld.experts.goal import parse_goal
from eapo_gym.envs.alfworld.experts.memory import Memory, kind, ranges
from eapo_gym.envs.alfworld.experts.places import OPENABLE, chance

NOTHING = "none"

_CANDIDATES = 2
_KINDS = 4
"""Of places that are left to search: those that promise most."""

_QUESTION = re.compile(r"Where is an? (.+)\? Candidates: (.+)\.")


def brief_explore(goal: str, explore: str) -> str:
    """What is looked for, and where first; or that it is known where it is.

    >>> brief_explore("put a egg in sink.", "Where is an egg? Candidates: fridge 1, countertop 1, countertop 2.")
    'egg: fridge 1, countertop 1'
    >>> brief_explore("put a egg in sink.", "Nothing to find out now: what I need next is known.")
    'egg: known'
    """
    match = _QUESTION.fullmatch(explore)
    if match is None:
        return f"{parse_goal(goal).object}: known" if explore else ""
    return f"{match[1]}: {', '.join(match[2].split(', ')[:_CANDIDATES])}"


def brief_memory(goal: str, memory: str) -> str:
    """Places that are left come in the order of their promise for the goal. What is not the explorer's stays as it is.

    >>> brief_memory("put a mug in desk.", "I am at bed 1, carrying nothing. Not searched: bed 1; desk 1-2; shelf 1.")
    'left desk 1-2, shelf 1, bed 1'
    >>> brief_memory("put a mug in desk.", "I am at desk 1, carrying mug 2. Last: take mug 2 from bed 1.")
    'holding mug 2; did take mug 2 from bed 1'
    """
    notes = Memory.read(memory) if memory else None
    if notes is None:
        return memory
    task = parse_goal(goal)
    parts = []
    if notes.carrying:
        parts.append(f"holding {notes.carrying} {notes.treated}".rstrip())
    parts += [f"{thing} at {place}" for thing, place in sorted(notes.found)]
    if notes.useless:
        parts.append(f"useless {_listed(ranges(notes.useless))}")
    wanted = [task.object, *([task.lamp] if task.lamp else [])]

    def promise(places: str) -> float:
        place = kind(places)
        return sum(chance(thing, place) for thing in wanted) / (1 + (place in OPENABLE))

    left = sorted(ranges(notes.unsearched), key=lambda places: -promise(places))
    if left:
        parts.append(f"left {_listed(left[:_KINDS])}")
    if notes.last:
        parts.append(f"did {notes.last}")
    return "; ".join(parts) or NOTHING


def _listed(places: Sequence[str]) -> str:
    return ", ".join(each.replace(", ", " ") for each in places)
