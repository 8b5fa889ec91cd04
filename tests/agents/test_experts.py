"""The experts win embedded games through the explore schema, as any agent plays it."""

from __future__ import annotations

import gymnasium as gym
import pytest

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.agents.base import AgentError
from eapo_gym.agents.experts import ExplorerAgent, OracleAgent
from eapo_gym.envs.alfworld.experts import plan
from eapo_gym.schema import Context, Observation
from tests.agents.playing import play
from tests.wrappers.stacks import CORRIDOR

ALFWORLD = "eapo/ALFWorld-v0"


@pytest.fixture(scope="module")
def tasks() -> list[str]:
    """A game of each kind of task."""
    env = gym.make(ALFWORLD)
    by_kind = {task.partition("-")[0]: task for task in env.unwrapped.tasks()}
    assert len(by_kind) == 6
    return list(by_kind.values())


def test_the_oracle_wins_with_shortest_plans(tasks: list[str]):
    for task, played in zip(tasks, play(OracleAgent(), ALFWORLD, tasks), strict=True):
        env = gym.make(ALFWORLD)
        env.reset(seed=0, options={"task": task})
        assert played.won
        assert len(played.responses) == len(plan(env.unwrapped.game, env.unwrapped.state))
        assert all(info["format_ok"] for info in played.infos)


@pytest.mark.parametrize("use_valid_actions", [True, False])
def test_the_explorer_wins_from_what_it_sees_and_remembers(tasks: list[str], use_valid_actions: bool):
    agent = ExplorerAgent(use_valid_actions=use_valid_actions)
    for played in play(agent, ALFWORLD, tasks):
        assert played.won
        assert all(info["format_ok"] for info in played.infos)
        assert all(seen.memory for seen in played.observations[1:])


def test_without_memory_it_is_another_agent_and_its_draws_are_repeatable(tasks: list[str]):
    agent = ExplorerAgent(memoryless=True)
    first, again, other = (play(agent, ALFWORLD, tasks[:3], seed=seed) for seed in (0, 0, 1))
    texts = [[[response.text for response in played.responses] for played in run] for run in (first, again, other)]
    assert texts[0] == texts[1] != texts[2]
    assert not any(seen.memory for played in first for seen in played.observations)
    remembering = play(ExplorerAgent(), ALFWORLD, tasks[:3])
    assert sum(map(len, (p.responses for p in first))) > sum(map(len, (p.responses for p in remembering)))
    assert agent.name != ExplorerAgent().name


def test_the_oracle_knows_no_other_environment():
    with pytest.raises(AgentError, match="ALFWorld's native engine, and Corridor is not that"):
        play(OracleAgent(), CORRIDOR, ["train/key-in-1"])
    with pytest.raises(AgentError, match="act_in"):
        OracleAgent().act(Observation("g", "s"))


def test_the_explorer_knows_no_other_tasks():
    with pytest.raises(AgentError, match="household tasks and no others"):
        ExplorerAgent().act(Observation("Unlock the door.", "s", context=Context()))
