"""Which getters and metrics there are, by the benchmark's names.

A module of `judging/getters` says `GETTERS = {"vm_file": vm_file, …}`; one of `judging/metrics` or `judging/office`
says `METRICS = {"exact_match": exact_match, …}`. That is all of the registration: the modules are imported when the
first name is asked for, so whatever is heavy or optional (openpyxl, Pillow, …) is imported inside the function that
needs it, which raises `MissingExtra` where it is not installed.

A getter is `getter(scene, config)`: the `Scene` that is judged, and the getter's own part of the task's file. A file
that it gives is a `pathlib.Path`, None where the machine has none, or a list of these where the task asks for several.
The result of `accessibility_tree` is a `Node`.

A metric is `metric(result, expected, **options)`, or `metric(result, **options)` where the task expects nothing, and
gives a number from 0 to 1 (or a bool). What it is handed as result is the agent's work, so it may be anything: a
missing file is None, a broken one is worth 0 (`Unreadable`, or whatever a parser raises, is understood so by `judge`),
never an entity, a bomb or code that would be run; `safe_files` and `office.guard` read within bounds. A rule that is
wrong is the task's mistake, and raises `TaskFileError`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.computer import Computer
from eapo_gym.envs.osworld.tasks import INFEASIBLE
from eapo_gym.errors import EapoError, UnknownName

GETTER_PACKAGES = ("eapo_gym.envs.osworld.judging.getters",)
METRIC_PACKAGES = ("eapo_gym.envs.osworld.judging.metrics", "eapo_gym.envs.osworld.judging.office")


class CannotJudge(EapoError, RuntimeError):
    """A check that this computer has no means for, such as one that asks a website: it is no verdict on the agent."""


class Unreadable(EapoError, ValueError):
    """A file of the agent's that is broken, too large, or of another kind than was asked for: worth 0."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What getters look at."""

    computer: Computer
    cache: Path
    """The folder of this judging, for copies of files."""

    download: Callable[[str], Path] | None = None
    """Gives the file behind an address; None where nothing is fetched."""

    beside: Path | None = None
    """The folder of the task's file, for what it brings along."""

    now: Callable[[], datetime] = field(default=lambda: datetime.now(timezone.utc))


Getter = Callable[[Scene, Mapping[str, Any]], Any]
Metric = Callable[..., float]


@cache
def _collected(packages: tuple[str, ...], attribute: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for package in map(importlib.import_module, packages):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            found.update(getattr(importlib.import_module(module.name), attribute, {}))
    return found


def known_getters() -> frozenset[str]:
    """The `type`s that a task's `result` and `expected` may have."""
    return frozenset(_collected(GETTER_PACKAGES, "GETTERS"))


def known_metrics() -> frozenset[str]:
    """The names that a task's `func` may have; `infeasible` is one of them, though it compares nothing."""
    return frozenset(_collected(METRIC_PACKAGES, "METRICS")) | {INFEASIBLE}


def getter(name: str) -> Getter:
    """The getter of this name; `UnknownName` says which there are."""
    found: Getter | None = _collected(GETTER_PACKAGES, "GETTERS").get(name)
    if found is None:
        raise UnknownName.of("getter", name, sorted(known_getters()))
    return found


def metric(name: str) -> Metric:
    """The metric of this name; `UnknownName` says which there are."""
    found: Metric | None = _collected(METRIC_PACKAGES, "METRICS").get(name)
    if found is None:
        raise UnknownName.of("metric", name, sorted(known_metrics()))
    return found
