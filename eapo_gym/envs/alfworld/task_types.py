"""The six kinds of household tasks."""

from __future__ import annotations

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


def task_type(task: str) -> str:
    """The kind of a task, with which its id begins."""
    return task.partition("-")[0]
