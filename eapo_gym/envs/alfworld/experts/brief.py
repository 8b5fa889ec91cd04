"""The explorer's notes in few words: for models that are too small to write all of them.

What is left out can be seen or guessed: what was searched, where the thing would hardly be. What must be known to go on
is kept: where one stands, what is in hand or else where it is, where to look next, and what was done last, so that
it is not done again when nothing has come of it. Nothing comes up in the notes that was neither in them before nor seen
now.
"""

from __future__ import annotations

import re

from eapo_gym.envs.alfworld.experts.goal import Goal, parse_goal
from eapo_gym.envs.alfworld.experts.memory import Memory, kind, ranges
from eapo_gym.envs.alfworld.experts.places import OPENABLE, chance

NOTHING = "none"

_KINDS = 5
"""Of places where the thing may be: those that promise most."""

_FOUND = 2
"""Things of which it is noted where they are."""

_QUESTION = re.compile(r"Where is an? (.+)\? Candidates: (.+)\.")


def brief_explore(goal: str, explore: str) -> str:
    """What is looked for, and where first; or that it is known where it is.

    >>> brief_explore("put a egg in sink.", "Where is an egg? Candidates: fridge 1, countertop 1, countertop 2.")
    'need egg: fridge 1'
    >>> brief_explore("put a egg in sink.", "Nothing to find out now: what I need next is known.")
    'need egg: known'
    """
    match = _QUESTION.fullmatch(explore)
    if match is None:
        return f"need {parse_goal(goal).object}: known" if explore else ""
    return f"need {match[1]}: {match[2].partition(', ')[0]}"


def brief_memory(goal: str, memory: str) -> str:
    """Places to look come in the order of their promise for the goal. What is not the explorer's stays as it is.

    >>> brief_memory("put a mug in desk.", "I am at bed 1, carrying nothing. Not searched: bed 1; desk 1-2; shelf 1.")
    'at bed 1; next shelf 1, bed 1, desk 1-2'
    >>> brief_memory("put a mug in desk.", "I am at desk 1, carrying mug 2. Last: take mug 2 from bed 1.")
    'at desk 1; carrying mug 2; did take mug 2 from bed 1'
    """
    notes = Memory.read(memory) if memory else None
    if notes is None:
        return memory
    task = parse_goal(goal)
    searching = not notes.carrying or task.count > 1 or bool(task.lamp)
    parts = [f"at {notes.at}"] if notes.at else []
    if notes.carrying:
        parts.append(f"carrying {notes.carrying} {notes.treated}".rstrip())
    if searching:
        parts += [f"{thing} at {place}" for thing, place in sorted(notes.found)[:_FOUND]]
    if searching and (places := _worth_a_look(task, notes)):
        parts.append(f"next {', '.join(each.replace(', ', ' ') for each in places)}")
    if notes.last:
        parts.append(f"did {notes.last}")
    return "; ".join(parts) or NOTHING


def _worth_a_look(task: Goal, notes: Memory) -> list[str]:
    """Of the kinds of places that promise most the ones that are left. A kind that is done with makes room for none."""
    wanted = [task.object, *([task.lamp] if task.lamp else [])]

    def promise(place: str) -> float:
        likely = sum(chance(thing, place) for thing in wanted) / (1 + (place in OPENABLE))
        done_already = place == task.receptacle and task.treatment is None
        return likely / 1000 if done_already else likely

    kinds = {kind(place) for place in notes.searched | notes.unsearched | notes.useless}
    best = sorted(kinds, key=lambda place: (-promise(place), place))[:_KINDS]
    left = {kind(each): each for each in ranges(notes.unsearched)}
    return [left[place] for place in best if place in left]
