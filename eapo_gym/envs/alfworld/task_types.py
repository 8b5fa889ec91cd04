"""The six kinds of household tasks."""

from __future__ import annotations

from collections.abc import Sequence

from eapo_gym.errors import UnknownName

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


def check_types(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names of kinds of tasks, each of which there is; None stands for all."""
    if names is None:
        return None
    for name in [names] if isinstance(names, str) else names:
        if name not in TASK_TYPES:
            raise UnknownName.of("task type", name, TASK_TYPES)
    return (names,) if isinstance(names, str) else tuple(names)


def task_type(task: str) -> str:
    """The kind of a task, with which its id begins."""
    return task.partition("-")[0]
