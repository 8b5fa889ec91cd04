"""A task in the benchmark's format: what is prepared, what is asked, and how it is judged.

Read from JSON that somebody else wrote: everything is checked, and what is wrong is named with the task's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eapo_gym.errors import EapoError

INFEASIBLE = "infeasible"
"""The metric of tasks that cannot be done: the agent is right if it says so."""


class TaskFileError(EapoError, ValueError):
    """A task's file that is not as it should be."""


@dataclass(frozen=True, slots=True)
class ConfigStep:
    """One step of the preparation, or of what is done before judging."""

    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Check:
    """One metric with what it is told: two getters, and options."""

    metric: str
    result: Mapping[str, Any] | None = None
    expected: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """How a task is judged."""

    checks: tuple[Check, ...]
    all_of_them: bool = True
    """`conj`: "and" (all must hold) or "or" (one is enough)."""

    postconfig: tuple[ConfigStep, ...] = ()

    @property
    def is_infeasible(self) -> bool:
        return any(check.metric == INFEASIBLE for check in self.checks)


@dataclass(frozen=True, slots=True)
class DesktopTask:
    """One task."""

    id: str
    domain: str
    """The folder that it stands in: "chrome", "libreoffice_calc", "multi_apps", …"""

    instruction: str
    config: tuple[ConfigStep, ...]
    evaluator: Evaluator
    apps: Sequence[str] = ()
    """The apps that it needs, by the names of the benchmark's folders where there is one."""

    beside: Path | None = field(default=None, compare=False)
    """The folder of its file, in which `upload_file` finds what it brings; None for a task that was in no file."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The whole file, for the benchmark's own code."""
