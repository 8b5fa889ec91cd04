import json
import os
from itertools import pairwise
from typing import Any

import pytest

from eapo_gym.bench.episodes import Policy, play, play_all, summarise
from eapo_gym.envs.base import Info, Obs
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import ContractError, HostingError
from eapo_gym.schema import Turn
from eapo_gym.wrappers import Rollback
from tests.toys import Corridor

WAY = ["light lamp", "take key", "right", "right", "right", "unlock door"]


class Dying(Corridor):
    """Its process ends when the lamp is lit."""

    def step(self, action: str) -> Any:
        if action == "light lamp":
            os._exit(3)
        return super().step(action)


class Unstartable(Corridor):
    def reset(self, **kwargs: Any) -> Any:
        raise HostingError("The device does not answer.")


def script(*commands: str) -> Policy:
    rest = iter(commands)
    return lambda obs, info: next(rest)


def test_an_episode_is_recorded_as_it_was_played() -> None:
    episode = play(Corridor(), script("look", *WAY), task="train/key-in-0", seed=5, agent="script")
    steps = episode.trajectory.transitions
    assert episode.success
    assert [step.action for step in steps] == ["look", *WAY]
    assert [step.t for step in steps] == list(range(7))
    assert [step.depth for step in steps] == [0, 1, 0, 0, 0, 0, 0]  # the look left the state as it was
    assert all(a.next_fingerprint == b.fingerprint for a, b in pairwise(steps))
    assert all(a.next_state == b.state for a, b in pairwise(steps))
    assert [step.reward for step in steps] == [0.0] * 6 + [1.0]
    assert steps[-1].terminated
    assert episode.notes[0].offered == ("light lamp", "look", "right", "take key")
    assert episode.trajectory.exploration_degree() == pytest.approx(1 / 7)
    assert episode.trajectory.exploration_degree(self_loops=False) == 0


def test_explore_and_memory_come_back_in_the_next_turn() -> None:
    seen: list[tuple[str, str]] = []

    def policy(obs: Obs, info: Info) -> Turn:
        seen.append((obs["explore"], obs["memory"]))
        t = len(seen)
        memory = f"m{t}" if t != 2 else None  # a turn without a memory keeps the one before
        return Turn(think="t", explore=f"e{t}", memory=memory, action=WAY[t - 1], format_ok=True)

    episode = play(Corridor(), policy, task="train/key-in-0")
    assert seen[:4] == [("", ""), ("e1", "m1"), ("e2", "m1"), ("e3", "m3")]
    second = episode.trajectory.transitions[1]
    assert (second.explore_in, second.memory_in, second.explore, second.memory) == ("e1", "m1", "e2", "m1")


def test_rollbacks_are_told_from_other_steps() -> None:
    env = Rollback(Corridor())
    episode = play(
        env, script("right", "rollback", "rollback", "light lamp", "rollback"), task="train/key-in-0", max_steps=5
    )
    assert [step.rollback for step in episode.trajectory.transitions] == [False, True, True, False, True]
    assert (episode.rollbacks, episode.rollbacks_held) == (3, 1)
    assert episode.notes[0].offered is not None
    assert "rollback" not in episode.notes[0].offered
    assert "rollback" in (episode.notes[1].offered or ())


def test_an_environment_without_a_limit_is_not_played_for_ever() -> None:
    episode = play(Corridor(), lambda obs, info: "look", max_steps=12)
    assert len(episode) == 12
    assert not episode.success


def test_a_process_that_dies_is_a_failure_and_no_step() -> None:
    env = HostedEnv(f"{__file__}:Dying", {"rooms": 3})
    try:
        episode = play(env, script("right", "light lamp", "right"), task="train/key-in-0")
    finally:
        env.close()
    assert episode.failure is not None
    assert episode.failure["cause"] == "died"
    assert [step.action for step in episode.trajectory.transitions] == ["right"]
    assert not episode.success


def test_failed_infrastructure_stays_in_the_denominator() -> None:
    solved = play(Corridor(), script(*WAY), task="train/key-in-0")
    lost = play(Corridor(), lambda obs, info: "look", max_steps=10)
    failed = play(Unstartable(), script("look"), task="train/key-in-0")
    assert failed.failure == {"cause": "hosting", "message": "The device does not answer."}
    summary = summarise("three", [solved, lost, failed])
    assert (summary.success.successes, summary.success.n, summary.failures) == (1, 3, 1)
    assert summary.steps.mean == 8  # of the two that were played
    assert summary.steps_solved.mean == 6


def test_a_summary_of_nothing_is_valid_json() -> None:
    failed = play(Unstartable(), script("look"), task="train/key-in-0")
    for episodes in ([], [failed]):
        row = json.loads(json.dumps(summarise("nobody", episodes).to_dict(), allow_nan=False))
        assert row["successes"] == 0
        assert row["steps"] is None
        assert row["invalid_rate"] is None
    assert json.loads(json.dumps(failed.to_dict(), allow_nan=False))["failure"]["cause"] == "hosting"


def test_every_agent_gets_the_same_games_and_seeds() -> None:
    env = Corridor()
    tasks = env.tasks()
    seeds: list[int] = []
    done: list[str] = []

    def make_policy(env: Any, seed: int) -> Policy:
        seeds.append(seed)
        return lambda obs, info: "look"

    episodes = play_all(
        env, make_policy, tasks, seed=7, agent="a", max_steps=2, on_episode=lambda e: done.append(e.trajectory.task)
    )
    assert seeds == [7, 8, 9, 10]
    assert done == tasks == [episode.trajectory.task for episode in episodes]
    assert [episode.trajectory.info["seed"] for episode in episodes] == seeds


def test_other_errors_are_not_swallowed() -> None:
    def broken(obs: Obs, info: Info) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play(Corridor(), broken)
    with pytest.raises(ValueError, match="must name one"):
        play(Corridor(), lambda obs, info: Turn(action=None))


def test_only_agent_envs_are_played() -> None:
    import gymnasium as gym

    with pytest.raises(ContractError, match="CartPole"):
        play(gym.make("CartPole-v1"), lambda obs, info: "left")
