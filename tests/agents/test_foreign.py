"""Agents of people who never heard of this package."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eapo_gym.agents.base import Agent, AgentError
from eapo_gym.agents.foreign import BadAgent, adapt, load_foreign
from eapo_gym.agents.loading import make_agent, needs_engine
from eapo_gym.protocol import parse
from eapo_gym.schema import Observation, Turn
from tests.agents.playing import play
from tests.wrappers.stacks import CORRIDOR

SEEN = Observation("g", "s")

SOURCE = r"""
from dataclasses import dataclass
from helper_of_the_foreign_agent import LOOK

class Sync:
    def __init__(self, say="look"):
        self.say = say
    def act(self, observation):
        return LOOK.replace("look", self.say)

class Async(Sync):
    async def act(self, observation):
        return LOOK.replace("look", self.say)
    async def close(self):
        self.closed = True

@dataclass
class WithEngine:
    engine: object
    depth: int = 1
    wants_history = True
    form = "free"
    def act(self, observation):
        return f"{self.engine} {self.depth}"

class Callable:
    def __call__(self, observation):
        return LOOK

class NotAnAgent:
    pass

class Broken:
    def act(self, observation):
        return 17

def plain(observation):
    return LOOK

async def plain_async(observation, say="look"):
    return LOOK.replace("look", say)

def with_option(observation, say):
    return LOOK.replace("look", say)

def factory(say="look"):
    return Sync(say)

def factory_of_functions(say="look"):
    return lambda observation: LOOK.replace("look", say)

def two(observation, other):
    return LOOK

an_object = Sync()
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "helper_of_the_foreign_agent.py").write_text(
        r'LOOK = "<explore></explore><memory></memory><action> \\boxed{look} </action>"'
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "helper_of_the_foreign_agent", raising=False)
    return f"python:{tmp_path / 'mine.py'}"


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("Sync", {}, "look"),
        ("Sync", {"say": "left"}, "left"),
        ("Async", {"say": "left"}, "left"),
        ("Callable", {}, "look"),
        ("plain", {}, "look"),
        ("plain_async", {}, "look"),
        ("plain_async", {"say": "left"}, "left"),
        ("with_option", {"say": "left"}, "left"),
        ("factory", {}, "look"),
        ("factory", {"say": "left"}, "left"),
        ("factory_of_functions", {"say": "left"}, "left"),
        ("an_object", {}, "look"),
    ],
)
def test_whatever_can_act_is_an_agent(file: str, name: str, options: dict[str, str], said: str):
    agent = make_agent(f"{file}:{name}", options=options)
    assert parse(agent.act(SEEN).text).action == said
    assert parse(asyncio.run(agent.act_async(SEEN)).text).action == said
    [played] = play(agent, CORRIDOR, ["train/key-in-1"])
    assert {info["action"] for info in played.infos} == {said}
    asyncio.run(agent.close())


def test_of_the_run_it_gets_what_it_asks_for(file: str):
    agent = make_agent(f"{file}:WithEngine", engine="ENGINE", options={"depth": 3})
    assert agent.act(SEEN).text == "ENGINE 3"
    assert (agent.name, agent.form, agent.wants_history) == ("WithEngine", "free", True)
    assert agent.stamp() == {"agent": "WithEngine"}
    assert make_agent(f"{file}:WithEngine", options={"engine": "MINE"}).act(SEEN).text == "MINE 1"


@pytest.mark.parametrize(
    ("name", "needs"), [("WithEngine", True), ("Sync", False), ("plain", False), ("an_object", False)]
)
def test_whether_an_engine_is_needed_shows_in_what_it_asks_for(file: str, name: str, needs: bool):
    assert needs_engine(f"{file}:{name}") == needs


def test_a_module_is_found_beside_the_user(file: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(Path(file.removeprefix("python:")).parent)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    assert parse(make_agent("python:mine:Sync").act(SEEN).text).action == "look"


def test_close_is_passed_on(file: str):
    agent = make_agent(f"{file}:Async")
    asyncio.run(agent.close())
    assert agent.thing.closed


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("Snyc", {}, "Did you mean 'Sync'"),
        ("NotAnAgent", {}, r"something with act\(observation\), got NotAnAgent"),
        ("Sync", {"sya": 1}, r"takes \(say='look'\), and was given sya: got an unexpected keyword argument 'sya'"),
        ("an_object", {"say": 1}, "takes no options, got say"),
        ("two", {}, "expected a function of one observation"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(file: str, name: str, options: dict[str, object], sentence: str):
    with pytest.raises(BadAgent, match=sentence) as raised:
        make_agent(f"{file}:{name}", options=options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("python:nothing", "expected python:module:Class or python:/folder/file.py:Class"),
        ("python:/nowhere/mine.py:X", "there is no file /nowhere/mine.py"),
        ("python:no_such_module_at_all:X", "cannot be imported: No module named 'no_such_module_at_all'"),
        ("python:json:nothing", "has no attribute 'nothing'"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(spec: str, sentence: str):
    with pytest.raises(BadAgent, match=sentence):
        load_foreign(spec, {}, {})


def test_an_answer_that_is_no_response_is_named(file: str):
    agent = make_agent(f"{file}:Broken")
    with pytest.raises(AgentError, match="Broken returned int: expected a response"):
        agent.act(SEEN)


def test_an_agent_of_the_package_stays_itself():
    class Mine(Agent):
        def act(self, observation: Observation) -> Turn:
            return Turn(memory="", action="look")

    mine = Mine()
    assert adapt(mine) is mine


class Blocking:
    async def act(self, observation: Observation) -> str:
        time.sleep(0.5)
        return "look"


class Leaving:
    async def act(self, observation: Observation) -> str:
        async def leave() -> None:
            raise SystemExit(4)

        if observation.goal == "elsewhere":
            self.task = asyncio.ensure_future(leave())
            await asyncio.sleep(0.01)
            return "look"
        raise SystemExit(3)


def test_an_asynchronous_agent_that_blocks_does_not_block_the_run():
    async def main() -> int:
        asking = asyncio.ensure_future(adapt(Blocking()).act_async(SEEN))
        turns = 0
        while not asking.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert (await asking).text == "look"
        return turns

    assert asyncio.run(main()) > 5


def test_an_asynchronous_agent_that_leaves_the_program_does_not():
    agent = adapt(Leaving())
    with pytest.raises(AgentError, match="Leaving raised SystemExit: 3"):
        asyncio.run(agent.act_async(SEEN))
    for _ in range(2):
        assert asyncio.run(agent.act_async(Observation("elsewhere", "s"))).text == "look", "its loop goes on"
    asyncio.run(agent.close())


@pytest.mark.parametrize("what", ["time.sleep(300)", "await asyncio.sleep(300)"])
def test_an_asynchronous_agent_that_will_not_stop_does_not_keep_the_program(what: str):
    program = f"""
import asyncio, time
from eapo_gym.agents.foreign import adapt
class Stubborn:
    async def act(self, observation):
        while True:
            try: {what}
            except asyncio.CancelledError: pass
async def main():
    try: await asyncio.wait_for(adapt(Stubborn()).act_async(None), 0.1)
    except asyncio.TimeoutError: print("given up")
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "given up\n", "")
