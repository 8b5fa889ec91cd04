"""Groups, advantages and statistics against slow loops that follow the formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.errors import UnknownName
from eapo_gym.trainers.batch import Batch
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.groups import (
    advantages,
    auc,
    auc_within,
    batch_advantages,
    batch_statistics,
    gigpo_advantages,
    group_ids,
    group_statistics,
    members,
    number,
    trajectory_advantages,
)
from eapo_gym.trainers.rewards import Rewards, batch_rewards
from tests.trainers.columns import batch_of, batches, reordered, rows_of

RULES = ("zero", "raw", "task")

# The formulas, one transition at a time


def key_of(row: dict[str, Any], grouping: str) -> Hashable:
    own = (row["task"], row["episode"], row["reflection"])
    if grouping == "trajectory" or row["reflection"]:
        return own
    return (*own, row["state"], row["depth"]) if grouping == "state_depth" else (*own, row["state"])


def slow_advantage(reward: float, group: Sequence[float], std_floor: float) -> float:
    mean = sum(group) / len(group)
    std = math.sqrt(sum((other - mean) ** 2 for other in group) / len(group))
    return (reward - mean) / max(std, std_floor)


def slow_advantages(
    rewards: Sequence[float], rows: Sequence[dict[str, Any]], grouping: str, std_floor: float, singleton: str
) -> list[float]:
    by_key, near, wide = defaultdict(list), defaultdict(list), defaultdict(list)
    for reward, row in zip(rewards, rows, strict=True):
        task = key_of(row, "trajectory")
        by_key[key_of(row, grouping)].append(reward)
        near[task, row["t"] // 5].append(reward)
        wide[task].append(reward)
    found = []
    for reward, row in zip(rewards, rows, strict=True):
        group = by_key[key_of(row, grouping)]
        if len(group) == 1 and singleton == "raw":
            found.append(reward)
            continue
        if len(group) == 1 and singleton == "task":
            task = key_of(row, "trajectory")
            around = near[task, row["t"] // 5]
            group = around if len(around) >= 4 else wide[task]
        found.append(slow_advantage(reward, group, std_floor))
    return found


def slow_trajectory_advantages(
    rewards: Sequence[float], rows: Sequence[dict[str, Any]], std_floor: float, singleton: str
) -> list[float]:
    def who(row: dict[str, Any]) -> Hashable:
        return (key_of(row, "trajectory"), row["trajectory"])

    own, group = defaultdict(list), defaultdict(list)
    for reward, row in zip(rewards, rows, strict=True):
        own[who(row)].append(reward)
    mean = {member: sum(values) / len(values) for member, values in own.items()}
    for member, value in mean.items():
        group[member[0]].append(value)
    found = []
    for row in rows:
        others = group[who(row)[0]]
        alone = len(others) == 1 and singleton == "raw"
        found.append(others[0] if alone else slow_advantage(mean[who(row)], others, std_floor))
    return found


@st.composite
def rewarded(draw: st.DrawFn, episodes: int = 1) -> tuple[Batch, np.ndarray]:
    """A batch and its rewards: few values, so that equal ones meet, or any."""
    batch = draw(batches(episodes))
    count = batch.task.size
    few = st.sampled_from([0.0, 0.5, 1.0, 1.0001])
    values = draw(st.sampled_from([few, st.floats(-3, 3, width=32)]))
    return batch, np.array(draw(st.lists(values, min_size=count, max_size=count)), np.float64)


def same(found: np.ndarray, expected: Sequence[float]) -> None:
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.array(expected, np.float64), rtol=1e-9, atol=1e-9)


# Groups


@settings(deadline=None)
@given(batches(episodes=2), st.sampled_from(["state_depth", "state", "gigpo", "trajectory"]))
def test_groups_are_those_with_the_same_choice_before_them(batch: Batch, grouping: str) -> None:
    rows, groups = rows_of(batch), group_ids(batch, grouping)
    by_key = defaultdict(set)
    for row, group in zip(rows, groups.tolist(), strict=True):
        by_key[key_of(row, grouping)].add(group)
    assert all(len(found) == 1 for found in by_key.values())
    assert sorted(set().union(*by_key.values())) == list(range(len(by_key)))


def test_a_state_is_compared_with_itself_at_the_same_visit_of_the_same_task() -> None:
    rows = [
        {"task": 0, "trajectory": 0, "state": 7, "depth": 0},
        {"task": 0, "trajectory": 0, "state": 7, "depth": 1, "t": 2},
        {"task": 0, "trajectory": 1, "state": 7, "depth": 0, "t": 5},
        {"task": 0, "trajectory": 1, "state": 8, "depth": 0},
        {"task": 1, "trajectory": 2, "state": 7, "depth": 0},
        {"task": 0, "trajectory": 0, "state": 7, "depth": 0, "reflection": True},
    ]
    a, again, b, elsewhere, other_task, reflection = group_ids(batch_of(rows), "state_depth").tolist()
    assert a == b
    assert len({a, again, elsewhere, other_task, reflection}) == 5
    a, again, *_, reflection = group_ids(batch_of(rows), "state").tolist()
    assert a == again != reflection


def test_an_episode_is_compared_with_the_same_one_of_other_attempts() -> None:
    rows = [{"trajectory": i, "episode": j, "state": 3} for i in range(2) for j in range(2)]
    for grouping in ("state_depth", "state", "trajectory"):
        groups = group_ids(batch_of(rows), grouping).tolist()
        assert groups[0] == groups[2] != groups[1] == groups[3]
    assert len(set(members(batch_of(rows)).tolist())) == 4


def test_a_grouping_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"grouping 'state-depth'.*Did you mean 'state_depth'"):
        group_ids(batch_of([]), "state-depth")


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([-(2**60), -1, 0, 1, 5, 2**40, 2**62])] * 3), max_size=20))
def test_rows_are_numbered_whatever_their_values(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[i] for row in rows], np.int64) for i in range(3)]
    places = sorted(set(rows))
    assert number(*columns).tolist() == [places.index(row) for row in rows]


# Advantages


@settings(deadline=None)
@given(
    rewarded(episodes=2),
    st.sampled_from(["state_depth", "state"]),
    st.sampled_from([1e-6, 0.05, 1.0]),
    st.sampled_from(RULES),
)
def test_advantages_are_as_defined(
    data: tuple[Batch, np.ndarray], grouping: str, std_floor: float, singleton: str
) -> None:
    batch, rewards = data
    task = group_ids(batch, "trajectory")
    found = advantages(
        rewards, group_ids(batch, grouping), std_floor=std_floor, singleton=singleton, task=task, t=batch.t
    )
    same(found, slow_advantages(rewards.tolist(), rows_of(batch), grouping, std_floor, singleton))


@settings(deadline=None)
@given(rewarded(episodes=2), st.sampled_from([1e-6, 0.05]), st.sampled_from(RULES))
def test_trajectory_advantages_are_as_defined(data: tuple[Batch, np.ndarray], std_floor: float, singleton: str) -> None:
    batch, rewards = data
    groups = group_ids(batch, "trajectory")
    found = trajectory_advantages(rewards, groups, members(batch), std_floor=std_floor, singleton=singleton)
    same(found, slow_trajectory_advantages(rewards.tolist(), rows_of(batch), std_floor, singleton))


def test_the_three_rules_for_who_is_alone() -> None:
    """State 9 is seen by one trajectory only; there are 5 transitions in the first 5 steps, and 1 after."""
    rows = [{"t": t, "state": state} for t, state in [(0, 1), (0, 1), (1, 2), (1, 2), (2, 9), (6, 8)]]
    batch, rewards = batch_of(rows), np.array([1.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    task = group_ids(batch, "trajectory")

    def alone(rule: str) -> list[float]:
        groups = group_ids(batch, "state_depth")
        return advantages(rewards, groups, std_floor=0.05, singleton=rule, task=task, t=batch.t)[4:].tolist()

    assert alone("zero") == [0.0, 0.0]
    assert alone("raw") == [1.0, 2.0]
    near = (1 - 0.4) / math.sqrt(0.24)
    wide = (2 - 4 / 6) / math.sqrt(6 / 6 - (4 / 6) ** 2)
    assert alone("task") == pytest.approx([near, wide])
    with pytest.raises(ValueError, match="columns task and t"):
        advantages(rewards, group_ids(batch, "state_depth"), std_floor=0.05, singleton="task")
    with pytest.raises(UnknownName, match="singleton rule 'none'"):
        advantages(rewards, group_ids(batch, "state_depth"), std_floor=0.05, singleton="none")


def test_others_in_their_groups_are_not_touched_by_the_rule() -> None:
    rows = [{"state": 1}, {"state": 1}, {"state": 2}]
    batch, rewards = batch_of(rows), np.array([1.0, 0.0, 5.0])
    task = group_ids(batch, "trajectory")
    for rule in RULES:
        groups = group_ids(batch, "state")
        found = advantages(rewards, groups, std_floor=0.05, singleton=rule, task=task, t=batch.t)
        assert found[:2].tolist() == [1.0, -1.0]


def test_a_floor_keeps_what_is_next_to_nothing_small() -> None:
    rewards, groups = np.array([0.5, 0.5001, 0.5, 0.5001]), np.zeros(4, np.int64)
    assert np.abs(advantages(rewards, groups, std_floor=0.05)).max() == pytest.approx(0.001)
    assert np.abs(advantages(rewards, groups, std_floor=1e-6)).max() == pytest.approx(1)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1])
def test_equal_rewards_have_no_advantage_at_all(value: float) -> None:
    """Not even that of a rounding error, which a small floor would blow up."""
    assert not advantages(np.full(7, value), np.zeros(7, np.int64), std_floor=1e-12).any()


@settings(deadline=None)
@given(rewarded(), st.sampled_from([-3.0, 0.25, 10.0]), st.sampled_from(["zero", "task"]))
def test_what_everybody_earns_changes_nothing(data: tuple[Batch, np.ndarray], bonus: float, singleton: str) -> None:
    batch, rewards = data
    groups, task = group_ids(batch, "state_depth"), group_ids(batch, "trajectory")

    def found(earned: np.ndarray) -> np.ndarray:
        return advantages(earned, groups, std_floor=0.05, singleton=singleton, task=task, t=batch.t)

    np.testing.assert_allclose(found(rewards + bonus), found(rewards), atol=1e-10)


@settings(deadline=None)
@given(rewarded(), st.sampled_from([1e-6, 0.05]))
def test_within_a_group_they_cancel_and_have_a_variance_of_at_most_1(
    data: tuple[Batch, np.ndarray], std_floor: float
) -> None:
    batch, rewards = data
    groups = group_ids(batch, "state")
    found = advantages(rewards, groups, std_floor=std_floor)
    for group in set(groups.tolist()):
        own = found[groups == group]
        assert own.mean() == pytest.approx(0, abs=1e-9)
        wide = rewards[groups == group].std() > std_floor
        assert own.std() == pytest.approx(1) if wide else own.std() <= 1 + 1e-9


@settings(deadline=None)
@given(rewarded(episodes=2), st.sampled_from(["eapo", "eapo-release", "grpo", "lamer"]), st.randoms())
def test_the_order_of_the_transitions_does_not_matter(
    data: tuple[Batch, np.ndarray], algorithm: str, random: Any
) -> None:
    batch, explore = data
    config = TrainConfig.make(algorithm=algorithm)
    order = list(range(batch.task.size))
    random.shuffle(order)
    moved = reordered(batch, np.array(order, np.int64))
    found = batch_advantages(batch, batch_rewards(batch, config, explore), config)
    again = batch_advantages(moved, batch_rewards(moved, config, explore[order]), config)
    np.testing.assert_allclose(again, found[order], atol=1e-8)


def test_what_is_not_a_number_stays_so_in_its_group_and_nowhere_else() -> None:
    rewards, groups = np.array([1.0, np.nan, 1.0, 0.0, np.nan]), np.array([0, 0, 1, 1, 2])
    found = advantages(rewards, groups, std_floor=0.05)
    assert np.isnan(found).tolist() == [True, True, False, False, True]


def test_an_empty_batch_and_one_trajectory_have_advantages() -> None:
    for algorithm in ("eapo", "eapo-paper", "eapo-release", "grpo", "gigpo", "lamer"):
        config = TrainConfig.make(algorithm=algorithm)
        for rows in ([], [{"t": t, "length": 3, "state": t, "success": True} for t in range(3)]):
            batch = batch_of(rows)
            rewards = batch_rewards(batch, config)
            assert np.isfinite(batch_advantages(batch, rewards, config)).all()
            assert len(batch_advantages(batch, rewards, config)) == len(rows)
            batch_statistics(batch, rewards, config)


# Algorithms


def test_long_trajectories_are_not_paid_for_being_long() -> None:
    """Both fail and are well-formed throughout; with a sum, the longer one would win."""
    rows = [{"trajectory": 0, "length": 2, "t": t, "format_ok": True} for t in range(2)]
    rows += [{"trajectory": 1, "length": 20, "t": t, "format_ok": True} for t in range(20)]
    batch, config = batch_of(rows), TrainConfig.make(algorithm="grpo")
    assert not batch_advantages(batch, batch_rewards(batch, config), config).any()


@settings(deadline=None)
@given(batches())
def test_grpo_is_one_advantage_per_trajectory(batch: Batch) -> None:
    config = TrainConfig.make(algorithm="grpo")
    rows = rows_of(batch)
    rewards = [row["success"] + 0.5 * row["format_ok"] for row in rows]
    found = batch_advantages(batch, batch_rewards(batch, config), config)
    same(found, slow_trajectory_advantages(rewards, rows, 1e-6, "zero"))
    for trajectory in set(batch.trajectory.tolist()):
        assert len(set(found[batch.trajectory == trajectory].tolist())) == 1


@settings(deadline=None)
@given(batches(), st.sampled_from([0.0, 1.0, 2.0]))
def test_gigpo_adds_the_step_to_the_episode(batch: Batch, step_weight: float) -> None:
    config = TrainConfig.make(algorithm="gigpo", step_weight=step_weight)
    rows = rows_of(batch)
    outcome = [row["success"] + 0.5 * row["format_ok"] for row in rows]
    returns = [row["success"] * 0.95 ** (row["length"] - 1 - row["t"]) + 0.5 * row["format_ok"] for row in rows]
    by_episode = slow_trajectory_advantages(outcome, rows, 1e-6, "zero")
    by_step = slow_advantages(returns, rows, "state", 1e-6, "zero")
    expected = [a + step_weight * b for a, b in zip(by_episode, by_step, strict=True)]
    # The floor of 1e-6 makes 1e-10 of the rounding errors between two ways to sum.
    found = batch_advantages(batch, batch_rewards(batch, config), config)
    np.testing.assert_allclose(found, np.array(expected, np.float64), rtol=1e-8, atol=1e-8)


def test_gigpo_by_hand() -> None:
    found = gigpo_advantages(np.array([1.0, -1.0]), np.array([0.5, 0.0]), 2.0)
    assert found.tolist() == [2.0, -1.0]


@settings(deadline=None)
@given(rewarded(), st.sampled_from(["eapo", "eapo-paper", "eapo-release", "eapo-no-grouping"]))
def test_advantages_of_the_presets_to_the_letter(data: tuple[Batch, np.ndarray], algorithm: str) -> None:
    batch, explore = data
    grouping, std_floor, singleton = {
        "eapo": ("state_depth", 0.05, "task"),
        "eapo-paper": ("state_depth", 1e-6, "zero"),
        "eapo-release": ("state_depth", 1e-6, "raw"),
        "eapo-no-grouping": ("state", 0.05, "task"),
    }[algorithm]
    config = TrainConfig.make(algorithm=algorithm)
    episodic = algorithm in ("eapo-paper", "eapo-release")
    rows, rewards = rows_of(batch), []
    for row, explored in zip(rows, explore.tolist(), strict=True):
        left = row["length"] - 1 - row["t"]
        rewards.append(row["success"] * (1.0 if episodic else 0.95**left) + 0.5 * row["format_ok"] + explored)
    expected = np.array(slow_advantages(rewards, rows, grouping, std_floor, singleton), np.float64)
    found = batch_advantages(batch, batch_rewards(batch, config, explore), config)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


# Statistics


def test_sizes_and_variances_by_hand() -> None:
    groups = np.array([0, 1, 1, 2, 2, 2, *[3] * 17])
    task = np.array([1.0, 0, 1, 0, 0, 3, *[1.0] * 17])
    found = group_statistics(groups, {"task": task})
    assert found == pytest.approx(
        {
            "group/size_mean": 23 / 4,
            "group/singletons": 1 / 4,
            "group/size_1": 1 / 23,
            "group/size_2": 2 / 23,
            "group/size_3_4": 3 / 23,
            "group/size_5_8": 0,
            "group/size_9_16": 0,
            "group/size_17_up": 17 / 23,
            "reward_variance/task": (2 * 0.25 + 3 * 2) / 22,
        }
    )


@settings(deadline=None)
@given(rewarded(episodes=2), st.sampled_from(["eapo", "grpo", "gigpo"]))
def test_every_transition_is_of_one_size(data: tuple[Batch, np.ndarray], algorithm: str) -> None:
    batch, explore = data
    config = TrainConfig.make(algorithm=algorithm)
    found = batch_statistics(batch, batch_rewards(batch, config, explore), config)
    shares = [found[f"group/size_{name}"] for name in ("1", "2", "3_4", "5_8", "9_16", "17_up")]
    assert sum(shares) == pytest.approx(1) if batch.task.size else np.isnan(shares).all()


def test_trajectories_are_counted_where_they_are_compared() -> None:
    rows = [{"trajectory": i, "length": 5, "t": t, "success": i == 0} for i in range(2) for t in range(5)]
    batch, config = batch_of(rows), TrainConfig.make(algorithm="grpo")
    found = batch_statistics(batch, batch_rewards(batch, config), config)
    assert (found["group/size_mean"], found["group/size_2"]) == (2, 1)
    assert found["reward_variance/task"] == 0.25
    assert found["reward_variance/explore"] == 0


def test_who_are_all_alone_have_no_variance_to_speak_of() -> None:
    zeros = np.zeros(2)
    batch = batch_of([{"state": 1}, {"state": 2}])
    found = batch_statistics(batch, Rewards(*[zeros] * 6), TrainConfig.make())
    assert found["group/singletons"] == found["group/size_1"] == 1
    assert np.isnan(found["reward_variance/task"])


def slow_auc(scores: Sequence[float], labels: Sequence[bool], bins: Sequence[int]) -> float:
    wins = pairs = 0.0
    for score, label, place in zip(scores, labels, bins, strict=True):
        for other, positive, where in zip(scores, labels, bins, strict=True):
            if label and not positive and place == where:
                wins += (score > other) + 0.5 * (score == other)
                pairs += 1
    return wins / pairs if pairs else float("nan")


SCORED = st.lists(
    st.tuples(st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 2.0]) | st.floats(-5, 5), st.booleans(), st.integers(0, 3)),
    max_size=25,
)


@settings(deadline=None)
@given(SCORED)
def test_auc_counts_every_pair(rows: list[tuple[float, bool, int]]) -> None:
    scores = np.array([row[0] for row in rows])
    labels = np.array([row[1] for row in rows], np.bool_)
    bins = np.array([row[2] for row in rows], np.int64)
    np.testing.assert_allclose(auc_within(scores, labels, bins), slow_auc(scores, labels, bins))
    np.testing.assert_allclose(auc(scores, labels), slow_auc(scores, labels, np.zeros_like(bins)))


def test_auc_within_bins_is_not_fooled_by_what_differs_between_them() -> None:
    """Late steps score high and succeed often; at the same time the score says nothing."""
    scores = np.array([1.0, 1, 1, 1, 5, 5, 5, 5])
    labels = np.array([True, False, False, False, True, True, True, False])
    assert auc(scores, labels) == 0.75
    assert auc_within(scores, labels, np.repeat([0, 1], 4)) == 0.5


def test_auc_without_both_outcomes_or_with_scores_that_are_none_is_not_a_number() -> None:
    assert np.isnan(auc(np.array([1.0, 2.0]), np.array([True, True])))
    assert np.isnan(auc(np.array([1.0, np.nan]), np.array([True, False])))
    assert np.isnan(auc(np.zeros(0), np.zeros(0, np.bool_)))
