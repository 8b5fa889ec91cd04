"""The numbers of a step, counted once more by hand."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np
import pytest

from eapo_gym.trainers.batch import make_batch
from eapo_gym.trainers.measures import of_process, of_rollouts
from eapo_gym.trainers.rollout import Collected
from tests.bench.players import Crashing
from tests.trainers.policies import KEY_HERE, KEY_THERE, collector, gambler, solver


def collected(*args: Any, **values: Any) -> Collected:
    async def work() -> Collected:
        collecting = collector(*args, **values)
        try:
            return await collecting.collect([KEY_HERE, KEY_THERE], 0)
        finally:
            await collecting.close()

    return asyncio.run(asyncio.wait_for(work(), 60))


def test_all_numbers_are_those_of_the_episodes() -> None:
    found = collected(gambler, steps=12, group_size=6)
    episodes = [episode for _, attempts in found.groups for attempt in attempts for episode in attempt.episodes]
    steps = [step for episode in episodes for step in episode.transitions]
    measured = of_rollouts(found, make_batch(found.groups), 2.0)

    degrees, without_loops = [], []
    for episode in episodes:
        states = [step.fingerprint for step in episode.transitions] + [episode.transitions[-1].next_fingerprint]
        degrees.append(sum(states.count(state) > 1 for state in set(states)) / len(set(states)))
        moved = [state for i, state in enumerate(states) if i == 0 or state != states[i - 1]]
        without_loops.append(sum(moved.count(state) > 1 for state in set(moved)) / len(set(moved)))
    expected = {
        "train/success": sum(episode.success for episode in episodes) / 12,
        "train/steps": len(steps) / 12,
        "train/episodes": 12,
        "explore/degree": np.mean(degrees),
        "explore/degree_no_loops": np.mean(without_loops),
        "rollback/rate": sum(step.rollback for step in steps) / len(steps),
        "format/rate": sum(step.format_ok for step in steps) / len(steps),
        "tokens/prompt": sum(len(step.prompt_ids) for step in steps),
        "tokens/response": sum(len(step.response_ids) for step in steps),
        "tokens_per_second/rollout": sum(len(step.response_ids) for step in steps) / 2,
        "train/visits": np.mean([step.depth + 1 for step in steps]),
        "failures/dropped": 0,
        "failures/timeout": 0,
        "failures/infrastructure": 0,
    }
    for name, value in expected.items():
        assert measured[name] == pytest.approx(value), name
    assert 0 < measured["rollback/rate"] < 1
    assert 0 <= measured["rollback/held"] <= 1
    assert 0 < measured["invalid/rate"] < 1
    assert measured["explore/degree"] > measured["explore/degree_no_loops"] > 0


def test_what_was_dropped_is_no_success() -> None:
    """Whoever lights the lamp crashes it; the others solve their task."""

    def some_err(prompt: str, sampling: Any, i: int) -> str:
        return r"<action>\boxed{light lamp}</action>" if sampling.seed % 8 == 0 else solver(prompt, sampling, i)

    found = collected(some_err, lambda: Crashing(rooms=3), retries=0)
    measured = of_rollouts(found, make_batch(found.groups), 1.0)
    played = sum(len(attempts) for _, attempts in found.groups)
    assert 0 < played < 8
    assert measured["failures/dropped"] == measured["failures/infrastructure"] == 8 - played
    solved = sum(attempt.success for _, attempts in found.groups for attempt in attempts)
    assert measured["train/success"] == solved / 8


def test_nothing_at_all_can_be_measured_too() -> None:
    measured = of_rollouts(Collected(), make_batch([]), 0.0)
    for name in ("train/success", "train/steps", "format/rate", "rollback/held", "tokens_per_second/rollout"):
        assert math.isnan(measured[name]), name
    assert measured["train/episodes"] == 0


def test_the_memory_of_a_process_is_in_megabytes() -> None:
    assert 10 < of_process()["memory/peak_mb"] < 1e6
