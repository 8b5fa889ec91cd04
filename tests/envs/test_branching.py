from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gym_wrappers
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.envs.branching import branch, resume
from eapo_gym.errors import ContractError, SnapshotError
from eapo_gym.wrappers import apply_schema
from tests.toys import COMMANDS, Corridor
from tests.wrappers.stacks import CORRIDOR, PAGES, corridor, corridor_responses, pages_responses

commands = st.lists(st.sampled_from((*COMMANDS, "fly")), max_size=10)

# What `info` says of the step that led somewhere, rather than of where it led.
OF_THE_STEP = ("turn", "format_ok", "action", "rollback", "task_reward", "format_reward", "episode")


def play(env: gym.Env[Any, Any], actions: list[str]) -> list[Any]:
    return [env.step(action) for action in actions]


def assert_same(left: Any, right: Any) -> None:
    assert data_equivalence(left, right, exact=True), f"\n{left}\n{right}"


def branch_and_come_back(
    env: gym.Env[Any, Any], seed: int, before: list[str], excursion: list[str], after: list[str]
) -> None:
    """An excursion leaves no trace: what comes after `resume` is what came after `branch`, twice over."""
    obs, info = env.reset(seed=seed)
    for action in before:
        obs, _, _, _, info = env.step(action)
    saved = branch(env)
    future = play(env, after)
    for detour in (excursion, after):
        play(env, detour)
        resumed_obs, resumed_info = resume(env, saved)
        assert_same(resumed_obs, obs)
        assert_same(resumed_info, {key: value for key, value in info.items() if key not in OF_THE_STEP})
        assert_same(play(env, after), future)


@given(st.integers(0, 9), commands, commands, commands)
def test_a_plain_environment(seed: int, before: list[str], excursion: list[str], after: list[str]) -> None:
    branch_and_come_back(Corridor(), seed, before, excursion, after)


@settings(deadline=None)
@given(st.integers(0, 9), corridor_responses, corridor_responses, corridor_responses)
@pytest.mark.parametrize("rollback", ["inverse", "restore", None])
def test_the_whole_stack(rollback: Any, seed: int, before: list[str], excursion: list[str], after: list[str]) -> None:
    env = gym.make(CORRIDOR, rollback=rollback)
    branch_and_come_back(env, seed, before, excursion, after)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 9), pages_responses, pages_responses, pages_responses)
@pytest.mark.parametrize("rollback", ["inverse", "restore"])
def test_the_whole_stack_of_a_gui(
    rollback: Any, seed: int, before: list[str], excursion: list[str], after: list[str]
) -> None:
    env = gym.make(PAGES, rollback=rollback)
    branch_and_come_back(env, seed, before, excursion, after)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 9), corridor_responses, corridor_responses, corridor_responses)
def test_wrappers_of_gymnasium_further_in_and_further_out(
    seed: int, before: list[str], excursion: list[str], after: list[str]
) -> None:
    def shout(obs: dict[str, Any]) -> dict[str, Any]:
        return {**obs, "state": obs["state"].upper()}

    inner = gym_wrappers.TransformObservation(gym_wrappers.TimeLimit(Corridor(), 9), shout, None)
    env = gym_wrappers.TransformReward(
        gym_wrappers.OrderEnforcing(apply_schema(inner, "explore", "restore")), lambda reward: 2.0 * reward
    )
    branch_and_come_back(env, seed, before, excursion, after)


def test_elapsed_steps_return() -> None:
    env = gym.make(CORRIDOR, schema="native")
    env.reset(seed=0)
    play(env, ["look"] * 5)
    saved = branch(env)
    assert play(env, ["look"] * 7)[-1][3]
    resume(env, saved)
    assert [step[3] for step in play(env, ["look"] * 7)] == [False] * 6 + [True]


def test_what_statistics_counted_returns() -> None:
    env = gym_wrappers.RecordEpisodeStatistics(gym.make(CORRIDOR, schema="native"))
    env.reset(seed=0)
    play(env, ["look"] * 5)
    saved = branch(env)
    play(env, ["look"] * 4)
    resume(env, saved)
    assert play(env, ["look"] * 7)[-1][4]["episode"]["l"] == 12


def test_later_resets_are_the_same_after_an_excursion() -> None:
    env = corridor()
    env.reset(seed=3)
    saved = branch(env)
    tasks = [env.reset()[1]["task"] for _ in range(6)]
    resume(env, saved)
    assert [env.reset()[1]["task"] for _ in range(6)] == tasks
    assert len(set(tasks)) > 1


def test_another_environment_of_the_same_stack_can_go_on_from_a_branch() -> None:
    here, there = gym.make(CORRIDOR), gym.make(CORRIDOR)
    here.reset(seed=0, options={"task": "train/key-in-2"})
    play(here, ["right"])
    saved = branch(here)
    resume(there, saved)
    assert_same(play(there, ["right", "take key", "rollback"]), play(here, ["right", "take key", "rollback"]))


def test_a_branch_is_not_touched_by_what_comes_later() -> None:
    env = corridor()
    env.reset(seed=0, options={"task": "train/key-in-2"})
    play(env, ["right"])
    saved = branch(env)
    play(env, ["rollback", "right", "right", "take key"])
    for _ in range(2):
        _, info = resume(env, saved)
        assert info["visits"] == 0
        result = env.step("rollback")
        assert result[4]["rollback"]["held"]
        assert result[4]["visits"] == 1


def test_another_stack_is_refused() -> None:
    env = corridor("native", None)
    env.reset(seed=0)
    with pytest.raises(SnapshotError, match=r"taken from the stack \['Corridor'\]"):
        resume(corridor(), branch(env))


def test_what_is_no_agent_env_is_refused() -> None:
    with pytest.raises(ContractError, match="CartPoleEnv is none"):
        branch(gym.make("CartPole-v1"))


@pytest.mark.parametrize("wrap", [gym_wrappers.NormalizeReward, lambda env: gym_wrappers.DelayObservation(env, 1)])
def test_wrappers_that_would_forget_are_refused(wrap: Callable[[Any], Any]) -> None:
    class Numbers(Corridor):
        observation_space = gym.spaces.Box(0, 1, (1,), np.float32)

    env = wrap(Numbers())
    with pytest.raises(ContractError, match="branch_state"):
        branch(env)
