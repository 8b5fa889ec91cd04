import json
import math
from itertools import pairwise
from typing import Any

import pytest

from eapo_gym.bench.metrics import metrics_of, summarise
from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.statistics import wilson
from eapo_gym.bench.store import Run
from eapo_gym.bench.table import row_of
from eapo_gym.schema import Trajectory, Transition

STAY = {"mode": "inverse", "action": None, "held": False, "reason": "nothing"}
HELD = {"mode": "inverse", "action": "left", "held": True, "reason": None}


def episode(task: str, outcome: Any = "solved", states: str = "ab", repeat: int = 0, **notes: Any) -> Episode:
    """An episode through states that are named by letters; `notes` are lists of a value for each step."""
    trajectory = Trajectory(task, "embedded", success=outcome == "solved", info={"task_type": task[0]})
    made = Episode("me", trajectory, outcome=outcome, repeat=repeat, seconds=2.0)
    for t, (here, there) in enumerate(pairwise(states)):
        trajectory.transitions.append(
            Transition(
                task=task,
                trajectory="",
                t=t,
                goal="",
                state=here,
                fingerprint=here,
                depth=0,
                explore_in="",
                memory_in="",
                explore="",
                memory="",
                action="x",
                format_ok=notes.get("format_ok", [True] * 99)[t],
                reward=0.0,
                terminated=False,
                truncated=False,
                next_state=there,
                next_fingerprint=there,
            )
        )
        made.notes.append(StepNote(**{name: values[t] for name, values in notes.items() if name != "format_ok"}))
    return made


def test_the_score_is_what_tasks_gave_out_of_all_that_was_planned() -> None:
    planned = [("p1", 0), ("p2", 0), ("q1", 0), ("q2", 0)]
    episodes = [
        episode("p1", "solved", "abc", reward_parts=[{"task": 0.0, "format": 1.0}, {"task": 1.0, "format": 1.0}]),
        episode("p2", "ended", "abc", reward_parts=[{"task": 0.25, "format": 0.0}, {"task": 0.5, "format": 1.0}]),
        episode("q1", "timeout", "abc", reward_parts=[{"task": 0.5, "format": 1.0}, {"task": 0.0, "format": 1.0}]),
    ]
    metrics = metrics_of(Run({}, planned, episodes))
    assert (metrics.score.mean, metrics.score.n) == (pytest.approx(1.75 / 4), 4)
    assert metrics.score_says_more
    solved = metrics_of(Run({}, planned[:1], episodes[:1]))
    assert solved.score.mean == solved.success.rate == 1
    assert not solved.score_says_more


def test_every_planned_episode_is_in_the_denominator() -> None:
    planned = [(task, repeat) for repeat in range(2) for task in ("p1", "p2", "q1")]
    episodes = [
        episode("p1"),
        episode("p2", "timeout"),
        episode("q1", "infrastructure", states="a"),
        episode("p1", "agent", repeat=1),
        episode("q1", "solved", repeat=1),
    ]
    metrics = metrics_of(Run({}, planned, episodes))
    assert (metrics.success.successes, metrics.success.n) == (2, 6)
    assert metrics.success.interval == wilson(2, 6)
    assert {seed: (share.successes, share.n) for seed, share in metrics.success_by_seed.items()} == {
        0: (1, 3),
        1: (1, 3),
    }
    assert metrics.success_over_seeds.mean == pytest.approx(1 / 3)
    assert metrics.success_over_seeds.std == 0
    assert {kind: (share.successes, share.n) for kind, share in metrics.success_by_type.items()} == {
        "p": (1, 4),
        "q": (1, 2),
    }
    assert metrics.outcomes == {
        "solved": 2,
        "ended": 0,
        "steps": 0,
        "timeout": 1,
        "agent": 1,
        "infrastructure": 1,
        "missing": 1,
    }
    assert sum(metrics.outcomes.values()) == len(planned)


def test_steps_and_degrees_are_of_what_was_played_to_its_end() -> None:
    episodes = [
        episode("a", states="abcab"),
        episode("b", "steps", states="aaabc"),
        episode("c", "timeout", states="a" * 30),
    ]
    metrics = summarise([row_of(each) for each in episodes], [(task, 0) for task in "abc"])
    assert (metrics.steps.mean, metrics.steps.n, metrics.steps_solved.mean) == (4.0, 2, 4.0)
    assert metrics.exploration_degree.mean == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert metrics.exploration_degree_no_self_loops.mean == pytest.approx((2 / 3 + 0) / 2)
    assert metrics.total_steps == 4 + 4 + 29
    assert metrics.seconds == 6.0


def test_rates_are_by_step() -> None:
    episodes = [
        episode(
            "a", states="abab", invalid=[True, False, False], rollback=[None, HELD, STAY], format_ok=[True, False, True]
        ),
        episode("b", "steps", states="ab", invalid=[True], rollback=[None], format_ok=[True]),
    ]
    rows, planned = [row_of(each) for each in episodes], [("a", 0), ("b", 0)]
    metrics = summarise(rows, planned)
    assert metrics.invalid_rate == 2 / 4
    assert metrics.format_rate == 3 / 4
    assert metrics.rollback_rate == 2 / 4
    assert (metrics.rollbacks_held.successes, metrics.rollbacks_held.n) == (1, 2)
    assert summarise(rows, planned, form="free").format_rate is None
    assert metrics_of(Run({"agent": {"form": "free"}}, planned, episodes)).format_rate is None


def test_costs_and_parts_of_the_reward() -> None:
    parts = [{"task": 0.0, "format": 1.0}, {"task": 1.0, "format": 0.0}]
    episodes = [
        episode("a", states="abc", reward_parts=parts, calls=[1, 3], prompt_tokens=[10, 20], response_tokens=[1, 2]),
        episode("b", "timeout", states="ab", calls=[1], prompt_tokens=[5], response_tokens=[7], agent_seconds=[0.5]),
    ]
    metrics = summarise([row_of(each) for each in episodes], [("a", 0), ("b", 0)])
    assert metrics.reward_parts == {"task": 0.5, "format": 0.5}
    assert (metrics.calls, metrics.prompt_tokens, metrics.response_tokens) == (5, 35, 10)
    assert metrics.agent_seconds == 0.5


def test_what_cannot_be_known_is_null() -> None:
    metrics = summarise([], [("a", 0)])
    assert (metrics.success.successes, metrics.success.n) == (0, 1)
    assert math.isnan(metrics.invalid_rate)
    data = json.loads(json.dumps(metrics.to_json(), allow_nan=False))
    assert data["steps"] == {"mean": None, "std": None, "n": 0}
    assert data["success"]["rate"] == 0
    assert data["success"]["high"] == pytest.approx(0.7935, abs=1e-4)
