"""Every task that the embedded phone supports: done as its plan says, and not done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.tasks import supported
from eapo_gym.envs.androidworld.tasks.base import Params, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger

NAMES = sorted(supported())
VERIFY = "Verify"
"""Tasks of which something has been done already."""


def prepared(task: Task, seed: int, layout: int) -> tuple[Hands, Params]:
    phone = new_phone(layout)
    params = task.draw(TaskDice("test", task.name(), seed))
    task.prepare(phone, params)
    return Hands(phone), task.begun(phone, params)


def played(task: Task, hands: Hands, params: Params, most: int) -> tuple[int, str]:
    """The steps that the plan took, and its answer."""
    steps, answer = 0, ""
    for action in task.plan(Finger(hands.elements), params):
        if action.action_type == "status":
            break
        steps += 1
        assert steps <= most, "the plan does not fit into the benchmark's budget"
        if action.action_type == "answer":
            answer = action.text or ""
        hands.act(action)
    return steps, answer


@pytest.mark.parametrize("layout", [0, 1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_plan_does_the_task_whatever_the_layout(name: str, layout: int) -> None:
    task = supported()[name]
    hands, params = prepared(task, layout, layout)
    before = task.judge(hands.phone, params, "")
    if VERIFY not in name:
        assert before < 1, "nothing has been done yet"
    steps, answer = played(task, hands, params, round(10 * task.complexity))
    assert task.judge(hands.phone, params, answer) == 1, f"after {steps} steps"


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_is_the_same_task(name: str) -> None:
    task = supported()[name]
    first, again, other = (task.draw(TaskDice("test", name, seed)) for seed in (5, 5, 6))
    assert repr(first) == repr(again)
    assert task.goal(first) == task.goal(again)
    assert "{" not in task.goal(other)


def metadata() -> dict[str, Any]:
    shared = Path(os.environ.get("EAPO_SHARED", Path(__file__).parents[4] / "shared"))
    path = shared / "data" / "androidworld" / "task_metadata.json"
    if not path.exists():
        pytest.skip(f"the benchmark's metadata is not here: {path} (or let EAPO_SHARED name its folder)")
    return {each["task_name"]: each for each in json.loads(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", NAMES)
def test_the_difficulty_is_the_benchmarks(name: str) -> None:
    assert supported()[name].difficulty == metadata()[name]["difficulty"]
