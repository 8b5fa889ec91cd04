from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium import wrappers as gym_wrappers
from gymnasium.error import ResetNeeded

from eapo_gym.errors import ContractError
from eapo_gym.wrappers import AgentWrapper, ExploreMemory, Rollback, VisitationDepth
from eapo_gym.wrappers.base import AnsweringWrapper
from tests.toys import Corridor
from tests.wrappers.stacks import corridor, say


def test_the_contract_is_handed_on_through_wrappers_that_do_not_know_it() -> None:
    bare = Corridor(split="valid")
    env = AgentWrapper(gym_wrappers.TimeLimit(gym_wrappers.OrderEnforcing(bare), 9))
    env.reset(seed=0, options={"task": "valid/key-in-1"})

    assert env.inner is bare
    assert (env.task, env.split, env.source, env.snapshot_kind) == ("valid/key-in-1", "valid", "embedded", "copy")
    assert env.tasks() == bare.tasks()
    assert env.tasks("train") == bare.tasks("train")
    assert env.fingerprint() == bare.fingerprint()
    assert env.describe() == bare.describe()
    assert env.valid_actions() == bare.valid_actions()
    assert env.inverse("right") == ["left"]
    assert env.parse_action(" right ") == "right"


def test_snapshots_go_through_the_stack_while_what_wrappers_remember_goes_on() -> None:
    env = corridor("explore", "inverse")
    env.reset(seed=0, options={"task": "train/key-in-2"})
    start = env.fingerprint()  # type: ignore[attr-defined]
    snapshot = env.snapshot()  # type: ignore[attr-defined]
    env.step(say("right", explore="e1", memory="m1"))

    obs, info = env.restore(snapshot)  # type: ignore[attr-defined]

    assert env.fingerprint() == start  # type: ignore[attr-defined]
    assert (obs["explore"], obs["memory"]) == ("e1", "m1")
    assert obs in env.observation_space
    assert info["task"] == "train/key-in-2"
    _, _, _, _, info = env.step(say("right"))
    assert info["visits"] == 1, "the visit before the restore still counts"
    _, _, _, _, info = env.step(say("look"))
    assert info["visits"] == 2


def test_restored_observations_pass_through_gymnasiums_observation_wrappers() -> None:
    shouting = gym_wrappers.TransformObservation(Corridor(), lambda o: {**o, "state": o["state"].upper()}, None)
    env = AgentWrapper(shouting)
    obs, _ = env.reset(seed=0)
    assert env.restore(env.snapshot())[0] == obs


@pytest.mark.parametrize(
    ("outer", "inner"), [(Rollback, ExploreMemory), (Rollback, VisitationDepth), (ExploreMemory, VisitationDepth)]
)
def test_a_stack_in_the_wrong_order_is_refused_and_told_the_right_one(
    outer: type[AgentWrapper], inner: type[AgentWrapper]
) -> None:
    with pytest.raises(ContractError, match=rf"{inner.__name__} must stand outside of {outer.__name__}.*because"):
        outer(gym_wrappers.OrderEnforcing(AgentWrapper(inner(Corridor()))))


@pytest.mark.parametrize("wrapper", [Rollback, ExploreMemory, VisitationDepth])
def test_a_wrapper_stands_in_a_stack_once(wrapper: type[AgentWrapper]) -> None:
    with pytest.raises(ContractError, match="already"):
        wrapper(gym_wrappers.OrderEnforcing(wrapper(Corridor())))


def test_only_agent_envs_are_wrapped() -> None:
    with pytest.raises(ContractError, match="CartPoleEnv is none"):
        AgentWrapper(gym.make("CartPole-v1"))


class Deaf(AnsweringWrapper):
    """Answers every step itself."""

    def reset(self, **kwargs):  # type: ignore[no-untyped-def]
        return self.show(*self.env.reset(**kwargs))

    def step(self, action: str):  # type: ignore[no-untyped-def]
        return self.answer(f"I did not hear {action!r}.")


def test_an_answer_repeats_the_observation_with_one_line_that_does_not_pile_up() -> None:
    env = Deaf(Corridor())
    obs, info = env.reset(seed=0)
    for action in ("left", "right", "left"):
        answered, reward, terminated, truncated, answered_info = env.step(action)
        assert answered == {**obs, "state": f"{obs['state']}\nI did not hear {action!r}."}
        assert answered in env.observation_space
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert answered_info == {**info, "notice": f"I did not hear {action!r}."}


def test_what_the_caller_does_to_an_observation_does_not_come_back() -> None:
    env = Deaf(Corridor())
    obs, info = env.reset(seed=0)
    state = obs["state"]
    obs["state"], info["won"] = "scribbled over", True
    obs, _, _, _, info = env.step("left")
    obs["goal"] = "scribbled over"
    obs, _, _, _, info = env.step("left")
    assert obs == {"goal": "Unlock the door.", "state": f"{state}\nI did not hear 'left'."}
    assert not info["won"]


def test_a_time_limit_further_in_counts_answers() -> None:
    env = Deaf(gym_wrappers.OrderEnforcing(gym_wrappers.TimeLimit(Corridor(), 3)))
    for _ in range(2):
        env.reset(seed=0)
        assert [env.step("left")[3] for _ in range(4)] == [False, False, True, True]


def test_the_line_fits_into_the_space_of_the_state() -> None:
    class Talkative(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space["state"].max_length = 60  # type: ignore[attr-defined]

        def describe(self) -> str:
            return "x" * 60

    env = Deaf(Talkative())
    env.reset(seed=0)
    for _ in range(2):
        obs = env.step("left")[0]
        assert obs in env.observation_space
        assert obs["state"].endswith("x\nI did not hear 'left'.")


def test_no_answer_before_the_first_reset() -> None:
    with pytest.raises(ResetNeeded):
        Deaf(Corridor()).step("left")
