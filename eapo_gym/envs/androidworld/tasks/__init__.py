"""The benchmark's tasks that the embedded phone supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eapo_gym.envs.androidworld.tasks.base import Task

MODULES: Sequence[str] = (
    "system",
    "expense",
    "recipes",
    "clipboard",
    "contacts",
    "sms",
    "calendar",
    "calendar_questions",
    "markor",
    "files",
    "gallery",
    "clock",
    "camera",
    "audio_recorder",
    "browser",
    "opening",
)
"""Each has its tasks in `TASKS`."""


@cache
def supported() -> Mapping[str, Task]:
    """The tasks by the benchmark's names."""
    modules = [import_module(f"{__name__}.{name}") for name in MODULES]
    return {kind.name(): kind() for module in modules for kind in module.TASKS}
