"""From a command line to an agent."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings

import gymnasium as gym
import pytest

import eapo_gym.agents
from eapo_gym.agents import agent_names, make_agent, needs_engine
from eapo_gym.agents.foreign import BadAgent
from eapo_gym.agents.loading import _split_server
from eapo_gym.engines.base import Sampling
from eapo_gym.errors import UnknownName
from eapo_gym.protocol import parse
from eapo_gym.schema import Context, Observation
from tests.agents.scripted import ScriptedEngine, text_of
from tests.wrappers.stacks import CORRIDOR

NAMES = [name for name in agent_names() if ":" not in name]
OF_MODELS = [name for name in NAMES if needs_engine(name)]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_makes_an_agent_of_that_name(name: str):
    agent = make_agent(name, engine=ScriptedEngine(), env="eapo/ALFWorld-v0", sampling=Sampling(max_tokens=5))
    assert agent.name == name
    assert agent.stamp()["agent"] == name
    if needs_engine(name):
        assert agent.sampling.max_tokens == 5
    assert agent_names()[name]


@pytest.mark.parametrize("name", OF_MODELS)
def test_agents_of_models_say_what_they_need(name: str):
    with pytest.raises(BadAgent, match=rf"The agent '{name}' needs a language model.*--model"):
        make_agent(name)


@pytest.mark.parametrize("name", OF_MODELS)
@pytest.mark.parametrize("hint", [True, False])
def test_every_agent_of_a_model_can_be_told_to_explore_or_not(name: str, hint: bool):
    agent = make_agent(name, engine=ScriptedEngine(), options={"explore_hint": hint})
    asked = text_of(agent.prompt(Observation("g", "s", context=Context("eapo/ALFWorld-v0"))))
    assert ("try different actions" in asked) == hint


def test_options_reach_the_agent_and_unknown_ones_are_named():
    assert make_agent("tot", engine=ScriptedEngine(), options={"breadth": 5, "budget": 900}).breadth == 5
    assert make_agent("explorer", options={"memoryless": True}).memoryless
    assert make_agent("eapo", engine=ScriptedEngine(), options={"compact": True}).compact
    with pytest.raises(UnknownName, match=r"option of the agent 'tot' 'bredth'.*Did you mean 'breadth'"):
        make_agent("tot", engine=ScriptedEngine(), options={"bredth": 5})
    with pytest.raises(UnknownName, match="option of the agent 'oracle' 'x': expected one of none at all"):
        make_agent("oracle", options={"x": 1})


def test_an_environment_in_the_place_of_its_id():
    agent = make_agent("eapo", engine=ScriptedEngine(), env=gym.make(CORRIDOR))
    assert "light lamp" in text_of(agent.prompt(Observation("g", "s")))


@pytest.mark.parametrize("spec", ["epao", "openai", "", "my.module:Agent"])
def test_an_unknown_name_is_answered_with_the_known_ones(spec: str):
    for ask in (make_agent, needs_engine):
        with pytest.raises(UnknownName, match=r"Unknown agent .*'eapo'.*python:module:Class.*openai:MODEL@URL"):
            ask(spec)
    with pytest.raises(UnknownName, match="Did you mean 'eapo'"):
        make_agent("epao")


def test_foreign_agents_and_servers_need_no_engine_of_the_run():
    assert not needs_engine("python:json:loads")
    assert not needs_engine("openai:m@http://localhost:1/v1")
    assert not needs_engine("random")
    assert needs_engine("eapo")


@pytest.mark.parametrize(
    ("spec", "model", "url"),
    [
        ("openai:gpt-x", "gpt-x", None),
        ("openai:org/m@http://localhost:8000/v1", "org/m", "http://localhost:8000/v1"),
        ("openai:m@https://api.example.org/v1", "m", "https://api.example.org/v1"),
        ("openai:m@v2@http://127.0.0.1:1/v1", "m@v2", "http://127.0.0.1:1/v1"),
        ("openai:m@http://[::1]:8000/v1", "m", "http://[::1]:8000/v1"),
        ("openai:m@v2", "m@v2", None),
    ],
)
def test_model_and_address_are_told_apart(spec: str, model: str, url: str | None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _split_server(spec) == (model, url)


@pytest.mark.parametrize(
    "spec", ["openai:", "openai:@http://localhost/v1", "openai:m@ftp://x/y", "openai:m@//x/y", "openai:m@localhost:80"]
)
def test_an_address_that_is_none_is_refused(spec: str):
    with pytest.raises(BadAgent, match="expected"):
        _split_server(spec)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(BadAgent, match="OPENAI_API_KEY") as raised:
        _split_server("openai:m@https://me:secret@host/v1")
    assert "secret" not in str(raised.value)


def test_plain_http_to_another_machine_is_warned_of():
    with pytest.warns(UserWarning, match="plain http"):
        _split_server("openai:m@http://10.0.0.7:8000/v1")


def test_a_model_on_a_server_answers_over_http():
    pytest.importorskip("openai", reason="the package openai is not installed")
    from tests.engines.openai_server import ScriptedServer

    with ScriptedServer(context=100_000) as server:
        agent = make_agent(f"openai:tree@{server.url}", env="eapo/ALFWorld-v0", sampling=Sampling(max_tokens=64))
        seen = Observation("Put a mug on a shelf.", "A room.", memory="</memory> I know.", valid_actions=("look",))
        response = agent.act(seen)
        sent = server.requests()[-1]["body"]
        asyncio.run(agent.close())
    assert parse(response.text).action == "look"
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert "&#60;/memory> I know." in str(sent["messages"][1]["content"])
    assert "household" in str(sent["messages"][1]["content"])


def test_every_exported_name_is_there():
    for name in eapo_gym.agents.__all__:
        assert getattr(eapo_gym.agents, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        eapo_gym.agents.nothing  # noqa: B018


def test_listing_the_agents_imports_nothing_heavy():
    code = (
        "import sys; from eapo_gym.agents import agent_names, needs_engine; agent_names(); needs_engine('eapo');"
        "print([m for m in ('torch', 'transformers', 'openai', 'eapo_gym.agents.eapo') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
