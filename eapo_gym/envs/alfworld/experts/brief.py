"""The explorer's notes in few words: for models that are too small to write all of them.

What is left out can be seen or guessed: where one stands, what was searched, what was done last. What must be known to
go on is kept: what is in hand, where things are, and where to look next.
"""

from __future__ import annotations

import re

from eapo_gym.envs.alfworld.experts.memory import Memory, ranges

_CANDIDATES = 2
_QUESTION = re.compile(r"Where is an? (.+)\? Candidates: (.+)\.")

NOTHING = "none"


def brief_explore(explore: str) -> str:
    """ "egg: fridge 1, countertop 1", or "none".

    >>> brief_explore("Where is an egg? Candidates: fridge 1, countertop 1, countertop 2.")
    'egg: fridge 1, countertop 1'
    """
    match = _QUESTION.fullmatch(explore)
    if match is None:
        return NOTHING if explore else ""
    return f"{match[1]}: {', '.join(match[2].split(', ')[:_CANDIDATES])}"


def brief_memory(memory: str) -> str:
    """ "holding egg 1 heat; left cabinet 1-4, drawer 2"; a memory that is not the explorer's stays as it is."""
    notes = Memory.read(memory) if memory else None
    if notes is None:
        return memory
    parts = []
    if notes.carrying:
        parts.append(f"holding {notes.carrying} {notes.treated}".rstrip())
    parts += [f"{thing} at {place}" for thing, place in sorted(notes.found)]
    for name, places in (("useless", notes.useless), ("left", notes.unsearched)):
        if places:
            parts.append(f"{name} {', '.join(each.replace(', ', ' ') for each in ranges(places))}")
    return "; ".join(parts) or NOTHING
