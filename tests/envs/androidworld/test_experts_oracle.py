"""The oracle plays by a task's plan, through the bench as any agent does."""

from __future__ import annotations

import asyncio

import pytest

from eapo_gym.bench.evaluate import Evaluation, evaluate
from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.env import AndroidWorldEnv
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen
from eapo_gym.envs.androidworld.tasks.guide import Guide
from eapo_gym.errors import ContractError

WAIT, BACK = Action("wait"), Action("navigate_back")


def test_the_plan_is_followed_and_asked_as_often_as_one_likes() -> None:
    guide = Guide(iter([WAIT, BACK]))
    assert [guide.next() for _ in range(3)] == [WAIT.command()] * 3
    guide.follow(WAIT.command())
    assert guide.next() == BACK.command()
    guide.follow(BACK.command())
    assert guide.next() == Finger.done().command()


def test_who_leaves_the_plan_is_told() -> None:
    for before in (0, 1):
        guide = Guide(iter([WAIT, BACK]))
        for _ in range(before):
            guide.next()
        guide.follow(BACK.command())
        with pytest.raises(ContractError, match="plan was left"):
            guide.next()


def test_a_plan_that_finds_no_way_says_what_it_looked_for() -> None:
    def lost():
        raise NotOnScreen("Expected 'Save' on the screen.")
        yield

    with pytest.raises(ContractError, match="does not find its way: Expected 'Save'"):
        Guide(lost()).next()


@pytest.mark.parametrize("task", ["test/ExpenseAddSingle/1", "test/MarkorMoveNote/0", "test/SimpleSmsResend/2"])
def test_it_wins_within_the_budget(task: str) -> None:
    env = AndroidWorldEnv("test", observation_mode="elements")
    _, info = env.reset(options={"task": task})
    for _ in range(info["max_steps"]):
        action = env.oracle()
        assert action is not None
        _, _, terminated, _, info = env.step(action)
        if terminated:
            break
    assert info["won"]


@pytest.mark.parametrize("agent", ["oracle", "explorer"])
def test_the_bench_plays_it(agent: str) -> None:
    config = Evaluation(
        env="eapo/AndroidWorld-v0",
        split="test",
        agent=agent,
        env_kwargs={
            "observation_mode": "elements",
            "episodes": 1,
            "tasks": ["SystemWifiTurnOn", "MarkorDeleteNote", "SimpleCalendarNextEvent"],
        },
    )
    result = asyncio.run(evaluate(config))
    assert result.metrics.success.rate == 1
    assert result.stamp["agent"].get("privileged", False) is (agent == "oracle")
