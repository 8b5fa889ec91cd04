"""The six kinds of household tasks, and the four kinds of rooms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eapo_gym.errors import UnknownName

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


ROOMS = {"kitchen": 0, "living room": 200, "bedroom": 300, "bathroom": 400}
"""Kind of room → what its floor plans' numbers are above; the benchmark has those up to 30 of each."""


def check_names(what: str, names: Sequence[str] | None, known: Iterable[str]) -> tuple[str, ...] | None:
    """One name or several, each of which there is; None stands for all."""
    if names is None:
        return None
    chosen = (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        if name not in known:
            raise UnknownName.of(what, name, known)
    return chosen


def task_type(task: str) -> str:
    """The kind of a task, with which its id begins."""
    return task.partition("-")[0]


def room_of(task: str) -> str:
    """The kind of room that a task is done in; its number ends the first part of the id."""
    number = task.partition("/")[0].rpartition("-")[2]
    above = [name for name, low in ROOMS.items() if number.isdecimal() and low < int(number)]
    return above[-1] if above else ""
