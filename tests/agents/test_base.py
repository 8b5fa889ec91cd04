"""The interface: one method is enough, and the others follow from it."""

from __future__ import annotations

import asyncio

import pytest

from eapo_gym.agents.base import Agent, AgentError, Response, as_response
from eapo_gym.errors import ContractError
from eapo_gym.protocol import parse
from eapo_gym.schema import Observation, Turn

SEEN = [Observation(str(i), "s") for i in range(5)]


class Sync(Agent):
    def act(self, observation: Observation) -> str:
        return observation.goal


class Async(Agent):
    async def act_async(self, observation: Observation) -> str:
        await asyncio.sleep(0)
        return observation.goal


@pytest.mark.parametrize("kind", [Sync, Async])
def test_one_method_is_enough(kind: type[Agent]):
    agent = kind()
    assert agent.act(SEEN[3]) == asyncio.run(agent.act_async(SEEN[3])) == "3"
    assert agent.act_batch(SEEN) == ["0", "1", "2", "3", "4"]
    assert agent.stamp() == {"agent": kind.__name__}


def test_without_a_method_it_says_so():
    with pytest.raises(ContractError, match="Agent has neither act nor act_async"):
        Agent().act(SEEN[0])
    with pytest.raises(ContractError, match="no act_in"):
        Agent().act_in(None, SEEN[0])  # type: ignore[arg-type]


def test_what_an_agent_may_answer():
    assert as_response("text") == Response("text")
    assert as_response(Response("text", calls=2)).calls == 2
    assert parse(as_response(Turn(memory="m", action="a")).text).action == "a"
    with pytest.raises(AgentError, match="Mine returned NoneType"):
        as_response(None, "Mine")
