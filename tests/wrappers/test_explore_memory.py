from __future__ import annotations

from typing import Any

import pytest
from gymnasium import wrappers as gym_wrappers
from gymnasium.error import ResetNeeded
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.errors import ActionError
from eapo_gym.protocol import parse
from eapo_gym.wrappers import ExploreMemory
from tests.hostile import hostile_text
from tests.toys import COMMANDS, Corridor
from tests.wrappers.stacks import say


def started(**kwargs: Any) -> ExploreMemory:
    env = ExploreMemory(Corridor(), **kwargs)
    env.reset(seed=0, options={"task": "train/key-in-1"})
    return env


def test_an_episode_starts_with_an_empty_mind() -> None:
    env = started()
    env.step(say("look", explore="e1", memory="m1"))
    obs, _ = env.reset(seed=0)
    assert (obs["explore"], obs["memory"]) == ("", "")
    assert obs in env.observation_space


def test_explore_and_memory_come_back_with_the_next_observation() -> None:
    env = started()
    obs, _, _, _, info = env.step(say("right", explore="e1", memory="m1"))
    assert (obs["explore"], obs["memory"]) == ("e1", "m1")
    assert obs["state"].startswith("You are in room 1.")
    assert (info["format_ok"], info["action"]) == (True, "right")
    assert (info["turn"].explore, info["turn"].memory) == ("e1", "m1")


def test_memory_is_never_lost_and_exploration_is_not_kept() -> None:
    env = started()
    env.step(say("right", explore="e1", memory="m1"))
    for response in ("left", say("left", explore="", memory=None), "<memory>cut off", "garbage"):
        obs = env.step(response)[0]
        assert (obs["explore"], obs["memory"]) == ("", "m1")
    assert env.step(say("left", memory=""))[0]["memory"] == "", "an empty memory is one that was emptied on purpose"


def test_actions_are_read_with_the_parser_of_the_environment() -> None:
    env = started()
    _, _, _, _, info = env.step(say(" right "))
    assert info["action"] == "right"
    assert info["format_ok"]
    _, _, _, _, info = env.step(say("fly"))
    assert info["action"] is None
    assert not info["format_ok"]


def test_what_cannot_be_executed_does_not_reach_the_environment() -> None:
    env = started()
    before, _, _, _, _ = env.step(say("right"))
    fingerprint = env.fingerprint()
    for response in (say("fly", explore="e2", memory="m2"), say(None, explore="e2", memory="m2")):
        obs, reward, terminated, truncated, info = env.step(response)
        assert env.fingerprint() == fingerprint
        assert (reward, terminated, truncated) == (0.0, False, False)
        repeated, _, line = obs["state"].rpartition("\n")
        assert repeated == before["state"]
        assert line == f"Nothing was executed: {info['turn'].problems[-1]}"
        assert (obs["explore"], obs["memory"]) == ("e2", "m2")
        assert obs in env.observation_space
        assert info["task"] == "train/key-in-1"
    assert env.step(say("left"))[0]["state"].count("\n") == 0


@pytest.mark.parametrize("limit_outside", [True, False])
def test_every_response_costs_a_step(limit_outside: bool) -> None:
    def limit(env: Any) -> Any:
        return gym_wrappers.TimeLimit(env, 4)

    env = limit(ExploreMemory(Corridor())) if limit_outside else ExploreMemory(limit(Corridor()))
    env.reset(seed=0)
    assert [env.step(response)[3] for response in ("?", say("look"), "?", "?")] == [False, False, False, True]


def test_text_that_does_not_fit_is_cut_and_says_so() -> None:
    env = started(max_text=80)
    memory = "0123456789" * 20
    obs, _, _, _, info = env.step(say("right", explore="x" * 80, memory=memory))
    assert obs in env.observation_space
    assert obs["explore"] == "x" * 80
    assert obs["memory"].startswith("01234567890123456789")
    assert "cut here: 200 characters, and only 80 fit" in obs["memory"]
    assert info["turn"].memory == memory, "the turn is what the model said"
    assert len(started(max_text=5).step(say("right", memory=memory))[0]["memory"]) == 5


@given(st.lists(hostile_text, max_size=4))
def test_any_text_is_a_response(responses: list[str]) -> None:
    env = started()
    for response in responses:
        obs, _, _, _, info = env.step(response)
        assert obs in env.observation_space
        assert (info["action"] is None) == ("\n" in obs["state"])


def test_samples_are_complete_responses() -> None:
    env = started()
    env.action_space.seed(0)
    actions = set()
    for _ in range(60):
        turn = parse(env.action_space.sample(), env.unwrapped.parse_action)  # type: ignore[attr-defined]
        assert turn.format_ok
        actions.add(turn.action)
    assert actions == set(COMMANDS)


def test_the_contract_speaks_of_responses_too() -> None:
    env = started()
    assert env.parse_action(say("right")) == env.parse_action("right") == "right"
    assert env.inverse(say("right")) == env.inverse("right") == ["left"]
    assert env.inverse("garbage") == []
    with pytest.raises(ActionError, match="'fly' is no command"):
        env.parse_action(say("fly"))


def test_misuse_is_named() -> None:
    with pytest.raises(TypeError, match=r"expected a response \(str\), got int"):
        started().step(3)  # type: ignore[arg-type]
    with pytest.raises(ResetNeeded):
        ExploreMemory(Corridor()).step("garbage")
