"""ReAct sees what it did."""

from __future__ import annotations

from eapo_gym.agents.react import ReActAgent
from eapo_gym.engines.base import Sampling
from tests.agents.playing import play
from tests.agents.scripted import ScriptedEngine, user_text
from tests.wrappers.stacks import CORRIDOR

PLAN = ["right", "take key", "nonsense", "right", "right", "unlock door"]


def follow_plan(prompt: str, sampling: Sampling, i: int) -> str:
    step = prompt.count("<past_action>")
    return f"Thought: this is step {step}.\nAction: \\boxed{{{PLAN[step]}}}"


def test_history_grows_by_what_was_seen_thought_and_done():
    engine = ScriptedEngine(follow_plan)
    [played] = play(ReActAgent(engine), CORRIDOR, ["train/key-in-1"])
    assert played.won
    assert [info["action"] for info in played.infos] == [None if a == "nonsense" else a for a in PLAN]
    prompts = [user_text(call[0][0]) for call in engine.generated]
    assert [prompt.count("<past_state>") for prompt in prompts] == list(range(6))
    assert "You are in room 0" in prompts[2]
    assert "<past_thought>\nthis is step 1.\n</past_thought>\n<past_action>\ntake key\n</past_action>" in prompts[2]
    assert "(nothing that could be carried out)" in prompts[3]
    assert all(f"<state>\n{seen.state}" in prompt for prompt, seen in zip(prompts, played.observations, strict=True))


def test_a_long_history_keeps_to_the_budget_and_loses_its_beginning():
    engine = ScriptedEngine(r"Thought: again. Action: \boxed{look}")
    play(ReActAgent(engine, budget=700), CORRIDOR, ["train/key-in-1"])
    last = engine.generated[-1][0][0]
    assert len(last.ids) <= 700
    assert "steps left out]" in user_text(last)


def test_history_can_be_switched_off():
    agent = ReActAgent(ScriptedEngine(), with_history=False)
    assert not agent.wants_history
