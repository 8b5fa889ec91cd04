"""The baselines without memory."""

from __future__ import annotations

from eapo_gym.agents.plain import NaiveExplorationAgent, PlainAgent
from eapo_gym.agents.prompts import EXPLORE_HINT
from eapo_gym.schema import Context, Observation
from tests.agents.playing import play
from tests.agents.scripted import ScriptedEngine, text_of
from tests.wrappers.stacks import CORRIDOR

SEEN = Observation("g", "s", "secret-e", "secret-m", context=Context("eapo/ALFWorld-v0"))


def test_naive_is_plain_and_a_hint():
    plain = text_of(PlainAgent(ScriptedEngine()).prompt(SEEN))
    naive = text_of(NaiveExplorationAgent(ScriptedEngine()).prompt(SEEN))
    assert naive.replace(f"\n\n{EXPLORE_HINT}", "") == plain != naive
    assert text_of(NaiveExplorationAgent(ScriptedEngine(), explore_hint=False).prompt(SEEN)) == plain
    assert "secret" not in plain


def test_thought_and_boxed_action_are_carried_out():
    engine = ScriptedEngine(r"<think> On. </think> <action> My action is \boxed{right} </action>")
    agent = PlainAgent(engine)
    assert agent.form == "free"
    [played] = play(agent, CORRIDOR, ["train/key-in-1"])
    assert [info["action"] for info in played.infos[:3]] == ["right"] * 3
    assert "room 1" in played.observations[1].state
