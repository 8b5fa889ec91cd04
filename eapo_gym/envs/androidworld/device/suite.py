"""The benchmark's tasks: by its names, with its parameters for its seeds."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eapo_gym.errors import UnknownName

SUITE_SEEDS: Mapping[str, int] = {"test": 30, "valid": 31, "train": 32}
"""The seed of the benchmark's suite for each split; its own runs have the seed 30."""

EPISODES: Mapping[str, int] = {"test": 1, "valid": 1, "train": 30}
"""How many episodes of each task a split has; the benchmark's own runs have one."""

STEPS_PER_COMPLEXITY = 10


def names(wanted: Sequence[str] | None = None) -> list[str]:
    """All of the benchmark's tasks, or those that are wanted."""
    known = _registry()
    for name in wanted or ():
        if name not in known:
            raise UnknownName.of("task of AndroidWorld", name, sorted(known))
    return sorted(known) if wanted is None else list(dict.fromkeys(wanted))


def instance_seed(suite_seed: int, name: str, number: int) -> int:
    """As the benchmark's `create_suite` has it, for the same parameters under the same seed."""
    text = f"{suite_seed}_{name}_{number}"
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2**32


def new_task(env: Any, split: str, name: str, number: int) -> Any:
    """A task that is ready to be begun."""
    kind = _registry()[name]
    seed = instance_seed(SUITE_SEEDS[split], name, number)
    kind.set_device_time(env)
    random.seed(seed)
    return kind({**kind.generate_random_params(), "seed": seed})


def budget_of(task: Any) -> int:
    """Steps that an episode may have, as in the benchmark."""
    return int(STEPS_PER_COMPLEXITY * task.complexity)


def longest_budget(wanted: Sequence[str]) -> int:
    """The budget of the longest of these tasks."""
    return max(budget_of(new_task(None, "test", name, 0)) for name in wanted)


def about(name: str) -> dict[str, Any]:
    """Difficulty and tags, from the benchmark's metadata."""
    return _metadata().get(name, {})


@cache
def _registry() -> dict[str, Any]:
    from android_world import registry

    tasks = registry.TaskRegistry()
    found: dict[str, Any] = tasks.get_registry(tasks.ANDROID_WORLD_FAMILY)
    return found


@cache
def _metadata() -> dict[str, dict[str, Any]]:
    import android_world

    (folder,) = list(android_world.__path__)[:1]
    rows = json.loads((Path(folder) / "task_metadata.json").read_text(encoding="utf-8"))
    return {
        row["task_name"]: {"difficulty": row["difficulty"], "tags": [tag for tag in row["tags"] if tag]} for row in rows
    }
