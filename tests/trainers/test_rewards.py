"""The reward of a transition against its formulas, written out one transition at a time."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.errors import UnknownName
from eapo_gym.trainers.batch import Batch
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.rewards import (
    DENSITIES,
    LOG_FLOOR,
    batch_rewards,
    combine,
    densities,
    density,
    explore_rewards,
    lamer_rewards,
    overlong_penalty,
    task_rewards,
)
from tests.trainers.columns import batch_of, batches, rows_of


def episode(success: bool, length: int, **more: Any) -> list[dict[str, Any]]:
    return [{"success": success, "length": length, "t": t, **more} for t in range(length)]


def task_of(batch: Batch, credit: str, gamma: float) -> np.ndarray:
    return task_rewards(batch.success, batch.t, batch.length, credit, gamma)


def lamer_of(batch: Batch, credit: str, gamma: float, gamma_episode: float) -> np.ndarray:
    columns = (batch.success, batch.t, batch.length, batch.trajectory, batch.episode, batch.reflection)
    return lamer_rewards(*columns, credit, gamma, gamma_episode)


# Success


def test_the_last_action_of_a_success_earns_1_and_those_before_it_less() -> None:
    batch = batch_of(episode(True, 4) + episode(False, 3))
    assert task_of(batch, "discounted", 0.5).tolist() == [0.125, 0.25, 0.5, 1, 0, 0, 0]
    assert task_of(batch, "episodic", 0.5).tolist() == [1, 1, 1, 1, 0, 0, 0]


@settings(deadline=None)
@given(batches(), st.sampled_from([0.0, 0.9, 0.95, 1.0]))
def test_the_discounted_credit_is_the_return_from_the_step_on(batch: Batch, gamma: float) -> None:
    """As one would sum it, with the success paid to the last action."""
    expected = []
    for row in rows_of(batch):
        paid = [0.0] * (row["length"] - 1) + [float(row["success"])]
        expected.append(sum(gamma**k * reward for k, reward in enumerate(paid[row["t"] :])))
    np.testing.assert_allclose(task_of(batch, "discounted", gamma), expected)


def test_a_credit_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match=r"task credit 'discount'.*Did you mean 'discounted'"):
        task_of(batch_of(episode(True, 1)), "discount", 0.9)


# Episodes in sequence


def test_a_failed_episode_earns_what_came_after_it() -> None:
    rows = [*episode(False, 2, episode=0), {"reflection": True, "t": 2, "length": 2, "episode": 0}]
    rows += [*episode(False, 1, episode=1), {"reflection": True, "t": 1, "length": 1, "episode": 1}]
    rows += episode(True, 2, episode=2)
    found = lamer_of(batch_of(rows), "discounted", 0.5, 0.6)
    np.testing.assert_allclose(found, [0.36, 0.36, 0.36, 0.6, 0.6, 0.5, 1.0])


@settings(deadline=None)
@given(batches(episodes=3), st.sampled_from(["episodic", "discounted"]), st.sampled_from([0.0, 0.6, 1.0]))
def test_credit_across_episodes_is_as_defined(batch: Batch, credit: str, gamma_episode: float) -> None:
    rows = rows_of(batch)
    solved = {(row["trajectory"], row["episode"]): row["success"] for row in rows}
    expected = []
    for row in rows:
        own = 0.0
        if row["success"] and not row["reflection"]:
            own = 1.0 if credit == "episodic" else 0.9 ** (row["length"] - 1 - row["t"])
        later = [
            gamma_episode ** (j - row["episode"])
            for (trajectory, j), success in solved.items()
            if trajectory == row["trajectory"] and j > row["episode"] and success
        ]
        expected.append(own + sum(later))
    np.testing.assert_allclose(lamer_of(batch, credit, 0.9, gamma_episode), expected)


@settings(deadline=None)
@given(batches())
def test_with_one_episode_there_is_nothing_to_add(batch: Batch) -> None:
    np.testing.assert_array_equal(lamer_of(batch, "discounted", 0.9, 0.6), task_of(batch, "discounted", 0.9))


@pytest.mark.parametrize("success", [False, True])
def test_a_reflection_that_nothing_follows_earns_nothing(success: bool) -> None:
    rows = [{"reflection": True, "t": 3, "length": 3, "success": success}]
    assert lamer_of(batch_of(rows), "discounted", 0.0, 0.6).tolist() == [0.0]


# Densities


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-200, 0), st.floats(-200, 0), st.integers(1, 300)), max_size=20))
def test_densities_are_as_defined(targets: list[tuple[float, float, int]]) -> None:
    log_q, log_p, counts = (np.array(column) for column in zip(*targets, strict=True)) if targets else [np.zeros(0)] * 3
    found = densities(log_q, log_p, counts)
    for i, (q, p, count) in enumerate(targets):
        mean_q, mean_p = max(q / count, -60), max(p / count, -60)
        expected = {
            "lift": math.exp(mean_q) / (math.exp(mean_q) + math.exp(mean_p)),
            "token_mean": math.exp(mean_q),
            "sequence": math.exp(max(q, -60)),
            "log_prob": mean_q,
        }
        for name in DENSITIES:
            assert found[name][i] == pytest.approx(expected[name], rel=1e-9, abs=1e-300)
            assert density(name, log_q, log_p, counts)[i] == found[name][i]


def test_lift_says_one_half_where_success_makes_no_difference() -> None:
    log_q = np.array([-30.0, -30.0, -30.0])
    lift = density("lift", log_q, np.array([-30.0, -60.0, -15.0]), np.array([10, 10, 10]))
    assert lift[0] == 0.5
    assert lift[2] < 0.5 < lift[1]


def test_the_sequence_density_is_dead_for_any_memory_of_some_length_and_lift_is_not() -> None:
    """200 tokens of which q has every one at probability 0.6 and the prior at 0.5, against q at 0.7."""
    counts = np.array([200, 200])
    log_q, log_p = 200 * np.log([0.6, 0.7]), 200 * np.log([0.5, 0.5])
    assert np.ptp(density("sequence", log_q, log_p, counts)) < 1e-25
    assert np.ptp(density("lift", log_q, log_p, counts)) > 0.03


def test_impossible_targets_have_densities_and_empty_ones_earn_nothing() -> None:
    log_q = np.array([-np.inf, -np.inf, -5.0, 0.0])
    log_p = np.array([-5.0, -np.inf, -np.inf, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = densities(log_q, log_p, np.array([5, 5, 5, 0]))
    assert all(np.isfinite(value).all() for value in found.values())
    np.testing.assert_allclose(found["lift"], [0, 0.5, 1, 0], atol=1e-20)
    np.testing.assert_allclose(found["token_mean"], [0, 0, math.exp(-1), 0], atol=1e-20)
    assert found["log_prob"].tolist() == [LOG_FLOOR, LOG_FLOOR, -1, 0]


def test_what_was_not_scored_is_not_a_number() -> None:
    for name, value in densities(np.array([np.nan]), np.array([np.nan]), np.array([np.nan])).items():
        assert np.isnan(value).all(), name
    assert np.isnan(density("lift", np.array([np.nan]), np.array([-1.0]), np.array([3]))).all()


# The exploratory reward


def test_exploring_pays_where_it_finds_out_more_than_the_delay_costs() -> None:
    first, second = np.array([0.5, 0.5, 0.5]), np.array([0.6, 0.7, 0.5])
    np.testing.assert_allclose(explore_rewards(first, second, 0.9, "lift"), [0.5, 0.567, 0.5])


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-9, 0), st.floats(-9, 0)), max_size=9), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_in_logarithms_the_discount_is_never_a_bonus(pairs: list[tuple[float, float]], gamma: float) -> None:
    first, second = (np.array(column) for column in zip(*pairs, strict=True)) if pairs else (np.zeros(0), np.zeros(0))
    found = explore_rewards(first, second, gamma, "log_prob")
    expected = explore_rewards(np.exp(first), np.exp(second), gamma, "token_mean")
    np.testing.assert_allclose(np.exp(found), expected)
    assert (found <= np.maximum(first, second)).all()


def test_a_density_that_is_not_a_number_stays_so() -> None:
    for name in DENSITIES:
        for gamma in (0.0, 0.9):
            assert np.isnan(explore_rewards(np.array([np.nan, 1]), np.array([1, np.nan]), gamma, name)).all()
    with pytest.raises(UnknownName, match="density 'lifts'"):
        explore_rewards(np.zeros(1), np.zeros(1), 0.9, "lifts")


# Length, and all of it


def test_the_last_tokens_before_the_limit_cost_up_to_1() -> None:
    tokens = np.array([1, 768, 769, 896, 1024, 1030])
    found = overlong_penalty(tokens, 1024, 256)
    np.testing.assert_allclose(found, [0, 0, -1 / 256, -0.5, -1, -1])
    assert overlong_penalty(tokens, 1024, 0).tolist() == [0] * 6


def test_parts_are_weighed_and_added() -> None:
    found = combine(np.array([1.0, 0.25]), np.array([True, False]), np.array([0.5, 0.75]), 0.5, 2.0)
    assert found.tolist() == [2.5, 1.75]
    assert np.isnan(combine(np.ones(1), np.array([True]), np.array([np.nan]), 0.5, 1.0)).all()


def test_the_reward_varies_with_what_the_response_wrote() -> None:
    """The same step, twice; only the memory that it wrote differs, and with it the log-probs of its pair."""
    batch = batch_of(episode(True, 1, trajectory=0) + episode(True, 1, trajectory=1))
    first = density("lift", np.array([-8.0, -20.0]), np.array([-10.0, -10.0]), np.array([10, 10]))
    second = density("lift", np.array([-9.0, -9.0]), np.array([-10.0, -10.0]), np.array([10, 10]))
    total = batch_rewards(batch, TrainConfig.make(), explore_rewards(first, second, 0.9, "lift")).total
    assert total[0] > total[1]


@settings(deadline=None)
@given(batches(episodes=2), st.data())
def test_rewards_of_a_batch_are_those_of_the_configuration(batch: Batch, data: st.DataObject) -> None:
    count = batch.task.size
    explore = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    config = TrainConfig.make(
        episodes_per_trajectory=2,
        task_credit=data.draw(st.sampled_from(["episodic", "discounted"])),
        format_weight=0.25,
        explore_weight=2.0,
        max_tokens=40,
        overlong_buffer=10,
    )
    found = batch_rewards(batch, config, explore)
    np.testing.assert_array_equal(found.task, lamer_of(batch, config.task_credit, 0.95, 0.6))
    success = lamer_of(batch, "episodic", 0.95, 0.6)
    for i, row in enumerate(rows_of(batch)):
        overlong = -min(max(row["response_tokens"] - 30, 0) / 10, 1)
        rest = 0.25 * row["format_ok"] + 2 * explore[i] + overlong
        assert found.total[i] == pytest.approx(found.task[i] + rest)
        assert found.outcome[i] == pytest.approx(success[i] + rest)


def test_without_an_exploratory_reward_there_is_none() -> None:
    batch = batch_of(episode(True, 2, format_ok=True))
    found = batch_rewards(batch, TrainConfig.make(algorithm="eapo-no-explore", gamma_task=0.5))
    assert found.total.tolist() == [1.0, 1.5]
    assert not found.explore.any()


def test_exploratory_rewards_of_another_batch_are_refused() -> None:
    with pytest.raises(ValueError, match="one number for each of 2 transitions"):
        batch_rewards(batch_of(episode(True, 2)), TrainConfig.make(), np.zeros(3))


# The presets


@pytest.mark.parametrize("algorithm", ["eapo", "eapo-paper", "eapo-release"])
def test_rewards_of_the_presets_to_the_letter(algorithm: str) -> None:
    config = TrainConfig.make(algorithm=algorithm)
    rows = episode(True, 3, format_ok=True) + episode(False, 2, trajectory=1)
    batch = batch_of(rows)
    log_q = np.array([[-2.0, -3.0], [-6.0, -3.0], [-30.0, -70.0], [-1.0, -1.0], [-90.0, -4.0]])
    log_p = np.array([[-4.0, -3.0], [-3.0, -4.0], [-20.0, -80.0], [-1.0, -2.0], [-80.0, -4.0]])
    counts = np.array([[4, 8], [5, 9], [10, 20], [2, 3], [30, 40]])
    first, second = (density(config.density, log_q[:, i], log_p[:, i], counts[:, i]) for i in (0, 1))
    explore = explore_rewards(first, second, config.gamma_explore, config.density)
    found = batch_rewards(batch, config, explore).total

    def probability(i: int, place: int) -> float:
        q, p, n = log_q[i, place], log_p[i, place], counts[i, place]
        if algorithm == "eapo":
            return 1 / (1 + math.exp(-(q / n - p / n)))
        return math.exp(q / n) if algorithm == "eapo-paper" else math.exp(max(q, -60))

    for i, row in enumerate(rows):
        success = float(row["success"])
        task = success * 0.95 ** (2 - row["t"]) if algorithm == "eapo" else success
        expected = task + 0.5 * row.get("format_ok", 0) + max(probability(i, 0), 0.9 * 0.9 * probability(i, 1))
        assert found[i] == pytest.approx(expected, rel=1e-12)
