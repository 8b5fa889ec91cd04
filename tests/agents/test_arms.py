"""The rows of the baselines table."""

from __future__ import annotations

import pytest

from eapo_gym.agents import ARMS, make_agent
from eapo_gym.agents.arms import arm
from eapo_gym.engines.base import Override, Sampling
from eapo_gym.errors import UnknownName
from eapo_gym.schema import Context, Observation
from tests.agents.scripted import ScriptedEngine


@pytest.mark.parametrize("name", ARMS)
def test_every_arm_makes_an_agent_and_changes_only_what_it_says(name: str):
    base = Sampling(max_tokens=7, temperature=0.6)
    row = arm(name)
    sampling = row.sampled_with(base)
    agent = make_agent(row.agent, engine=ScriptedEngine(), sampling=sampling, options=row.options)
    assert agent.sampling == sampling
    changed = {"min-p": {"min_p": 0.1}, "override": {"override": Override(key="")}}.get(name, {})
    assert dict(row.sampling) == changed
    assert (sampling.max_tokens, sampling.temperature) == (7, 0.6)


def test_the_table_has_the_rows_of_the_baselines():
    assert set(ARMS) == {"0-shot", "plain", "naive", "react", "tot", "min-p", "override"}
    with pytest.raises(UnknownName, match="Did you mean 'min-p'"):
        arm("minp")


def test_override_keeps_episodes_apart():
    engine = ScriptedEngine()
    row = ARMS["override"]
    agent = make_agent(row.agent, engine=engine, sampling=row.sampled_with(Sampling()), options=row.options)
    for episode in ("a#0", "a#0", "a#1"):
        agent.act(Observation("g", "s", context=Context("eapo/ALFWorld-v0", "a", episode)))
    first, again, other = (call[0][1].override.key for call in engine.generated)
    assert first == again != other
