"""The interface: one method is enough, and the others follow from it."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
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


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": b"look"},
        {"finish": None},
        {"calls": None},
        {"calls": "3"},
        {"calls": -1},
        {"calls": 1 << 40},
        {"response_tokens": float("nan")},
        {"ids": None},
        {"ids": [None]},
        {"ids": "12"},
        {"prompt_ids": [1.0]},
        {"logprobs": ["x"]},
        {"logprobs": [None]},
        {"images": None},
        {"images": [np.zeros((4, 4), np.uint8)]},
        {"images": [np.zeros((4, 4, 3))]},
        {"images": [np.zeros((0, 4, 3), np.uint8)]},
    ],
)
def test_a_malformed_response_is_refused(wrong: dict[str, Any]):
    with pytest.raises(AgentError, match=f"Mine returned a response whose {next(iter(wrong))} is not as expected"):
        as_response(Response(**{"text": "look", **wrong}), "Mine")


def test_numbers_become_plain_ones():
    odd = Response("x", np.array([1, 2]), [np.int64(3)], np.array([-0.5], np.float32), calls=np.int64(2))
    checked = as_response(odd)
    assert checked == Response("x", (1, 2), (3,), (-0.5,), calls=2)
    assert [type(each) for each in (*checked.prompt_ids, *checked.ids, checked.calls)] == [int] * 4
    assert type((checked.logprobs or [None])[0]) is float
