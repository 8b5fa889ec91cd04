"""The experts win embedded games and shop through the explore schema, as any agent plays it."""

from __future__ import annotations

import gymnasium as gym
import pytest

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.agents import experts
from eapo_gym.agents.base import AgentError
from eapo_gym.agents.experts import ExplorerAgent, OracleAgent, register_explorer
from eapo_gym.envs.alfworld.experts import plan
from eapo_gym.schema import Context, Observation, Turn
from tests.agents.playing import play
from tests.wrappers.stacks import CORRIDOR

ALFWORLD = "eapo/ALFWorld-v0"
WEBSHOP = "eapo/WebShop-v0"
ANDROIDWORLD = "eapo/AndroidWorld-v0"


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


PHONE = {"split": "test", "observation_mode": "elements"}
PHONE_TASKS = [f"test/{name}/0" for name in ("SystemWifiTurnOn", "ExpenseAddSingle", "SimpleCalendarNextEvent")]


def test_the_oracle_asks_an_environment_that_has_one():
    for played in play(OracleAgent(), ANDROIDWORLD, PHONE_TASKS, **PHONE):
        assert played.won
        assert all(info["format_ok"] for info in played.infos)


def test_the_oracle_begins_again_with_the_episode():
    env = gym.make(ANDROIDWORLD, **PHONE)
    seen = Observation("g", "s")
    for _ in range(2):
        env.reset(options={"task": PHONE_TASKS[0]})
        told = OracleAgent().act_in(env, seen)
        assert told == OracleAgent().act_in(env, seen), "asking changes nothing"
        assert "Settings" in (told.action or "")


def test_the_oracle_says_when_it_has_lost_the_thread():
    env = gym.make(ANDROIDWORLD, schema="native", **PHONE)
    core = env.unwrapped
    with pytest.raises(AgentError, match="call reset"):
        OracleAgent().act_in(env, Observation("g", "s"))
    env.reset(options={"task": PHONE_TASKS[0]})
    env.step('{"action_type": "wait"}')
    with pytest.raises(AgentError, match="plan was left: another action was taken"):
        OracleAgent().act_in(env, Observation("g", "s"))
    env.reset(options={"task": PHONE_TASKS[0]})
    core.restore(core.snapshot())
    with pytest.raises(AgentError, match=r"begins with the episode: call reset\(\) first"):
        OracleAgent().act_in(env, Observation("g", "s"))


def test_the_explorer_uses_phones_too():
    episodes = play(ExplorerAgent(), ANDROIDWORLD, PHONE_TASKS[::2], **PHONE)
    assert all(played.won for played in episodes)
    assert all(info["format_ok"] for played in episodes for info in played.infos)
    assert all(seen.memory for played in episodes for seen in played.observations[1:])


def test_the_oracle_knows_no_other_environment():
    with pytest.raises(AgentError, match="an oracle of their own, and Corridor is neither"):
        play(OracleAgent(), CORRIDOR, ["train/key-in-1"])
    with pytest.raises(AgentError, match="act_in"):
        OracleAgent().act(Observation("g", "s"))


def test_the_explorer_knows_no_other_tasks():
    with pytest.raises(AgentError, match=r"ALFWorld's household tasks and WebShop's wishes .*, and no others"):
        ExplorerAgent().act(Observation("Unlock the door.", "s", context=Context()))


@pytest.mark.parametrize("options", [{}, {"use_valid_actions": False}, {"memoryless": True}])
def test_the_explorer_shops_too(options: dict[str, bool]):
    env = gym.make(WEBSHOP, split="test")
    trips = play(ExplorerAgent(**options), WEBSHOP, env.unwrapped.tasks()[:12], split="test")
    assert sum(trip.won for trip in trips) >= (2 if options.get("memoryless") else 9)
    assert all(info["format_ok"] for trip in trips for info in trip.infos)
    assert any(seen.memory for trip in trips for seen in trip.observations) is not options.get("memoryless", False)


def test_one_explorer_plays_in_both_environments_by_turns(tasks: list[str]):
    agent = ExplorerAgent()
    assert play(agent, ALFWORLD, tasks[:1])[0].won
    assert play(agent, WEBSHOP, ["test/1"], split="test")[0].won
    assert play(agent, ALFWORLD, tasks[:1])[0].won


class CorridorExplorer:
    """An explorer that somebody brings along."""

    about = "the corridor"

    def __init__(self, *, memoryless: bool, use_valid_actions: bool) -> None:
        self.memoryless = memoryless

    def knows(self, observation: Observation) -> bool:
        return "corridor" in observation.goal

    def act(self, observation: Observation) -> Turn:
        return Turn(memory="" if self.memoryless else "I was here.", action="wait")


def test_an_environment_brings_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(experts, "_EXPLORERS", list(experts._EXPLORERS))
    address = f"{__name__}:CorridorExplorer"
    for _ in range(2):
        register_explorer(address)
    assert experts._EXPLORERS.count(address) == 1
    seen = Observation("Go down the corridor.", "A corridor.")
    agent = ExplorerAgent()
    turn = agent.act(seen)
    assert (turn.action, turn.memory) == ("wait", "I was here.")
    assert ExplorerAgent(memoryless=True).act(seen).memory == ""
    assert agent.mistake(seen, turn) is None
    with pytest.raises(AgentError, match="The explorer of the corridor cannot be in doubt"):
        agent.doubt(seen, turn)
    with pytest.raises(AgentError, match=r"household tasks and .* and the corridor, and no others"):
        agent.act(Observation("Something else.", "s"))
    register_explorer("no_such_module:Explorer")
    with pytest.raises(AgentError, match="'no_such_module:Explorer' that was registered cannot be imported"):
        agent.act(Observation("Something else.", "s"))
    with pytest.raises(ValueError, match="expected module:Class"):
        register_explorer("no class")
