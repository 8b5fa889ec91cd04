"""The options of the EAPO agent."""

from __future__ import annotations

from dataclasses import replace

import gymnasium as gym

from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.agents.experts import ExplorerAgent
from eapo_gym.agents.prompts import EXPLORE_HINT
from eapo_gym.schema import Context, Exchange, Observation
from tests.agents.playing import play
from tests.agents.scripted import ScriptedEngine, text_of, user_text

SEEN = Observation(
    "g", "s", "e", "m", valid_actions=("look", "dance"), history=(Exchange("old", "<think>hm</think>", "look"),),
    context=Context("eapo/ALFWorld-v0"),
)  # fmt: skip


def shown(seen: Observation = SEEN, **options: object) -> str:
    return text_of(EAPOAgent(ScriptedEngine(), **options).prompt(seen))


def test_valid_actions_are_shown_unless_the_prompt_is_compact():
    assert "dance" in shown()
    assert "dance" not in shown(show_valid_actions=False)
    assert "dance" not in shown(compact=True)
    assert "dance" in shown(compact=True, show_valid_actions=True)


def test_history_is_a_switch():
    assert not EAPOAgent(ScriptedEngine()).wants_history
    assert EAPOAgent(ScriptedEngine(), with_history=True).wants_history
    assert "<past_state>" not in shown()
    assert "<past_state>\nold\n</past_state>" in shown(with_history=True)


def test_hint_and_rollback():
    assert EXPLORE_HINT in shown(explore_hint=True)
    assert EXPLORE_HINT not in shown()
    for compact in (False, True):
        assert "rollback" in shown(compact=compact)
        assert "rollback" not in shown(compact=compact, rollback=False)


def test_the_environment_itself_says_more_than_its_id():
    env = gym.make("eapo/ALFWorld-v0", rollback=None)
    assert "rollback" not in shown(env=env)
    assert "household" in shown(replace(SEEN, context=Context()), env=env)


def test_compact_prompts_of_whole_episodes_fit_into_128_tokens_when_told_to():
    env = gym.make("eapo/ALFWorld-v0")
    agent = EAPOAgent(ScriptedEngine(), compact=True, budget=128)
    for played in play(ExplorerAgent(), "eapo/ALFWorld-v0", env.unwrapped.tasks()[:4]):
        for seen in played.observations:
            prompt = agent.prompt(seen)
            assert len(prompt.ids) <= 128
            assert f"<goal>\n{seen.goal}\n</goal>" in user_text(prompt)
