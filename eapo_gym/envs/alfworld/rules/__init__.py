"""Our own statement of the household domain: what can happen (`household.pddl`) and how it is told (`household.twl2`).

With it, generated games run without the alfworld package, which ships the benchmark's statement of the same rules.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

TASK_PLACEHOLDER = "UNKNOWN GOAL."
"""What stands in `household.twl2` for the task's sentence; alfworld's own tools look for the same words."""


@cache
def domain_text() -> str:
    """The rules in PDDL."""
    return _read("household.pddl")


@cache
def grammar_text() -> str:
    """The text grammar, with the placeholder for the task."""
    return _read("household.twl2")


def grammar_for(task: str) -> str:
    """The text grammar of one game, whose task is `task` ("put some mug on shelf.")."""
    return grammar_text().replace(TASK_PLACEHOLDER, task)


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
