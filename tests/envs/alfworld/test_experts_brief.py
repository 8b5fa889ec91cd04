"""The explorer's notes in few words: what they keep, and that whole games can be told in them."""

from __future__ import annotations

import doctest

import pytest

from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.experts import Explorer, brief
from eapo_gym.envs.alfworld.experts.brief import NOTHING, brief_explore, brief_memory


def test_the_examples_in_its_documentation_hold() -> None:
    assert doctest.testmod(brief).failed == 0


@pytest.mark.parametrize("text", ["", "I know nothing.", "left desk 1"])
def test_what_the_explorer_has_not_written_stays_as_it_is(text: str) -> None:
    assert brief_memory("put a mug in desk.", text) == text


def test_a_whole_game_can_be_followed_in_brief() -> None:
    env = ALFWorldEnv("valid")
    for task in env.tasks()[:20]:
        env.reset(options={"task": task})
        game, state = env.game, env.state
        text, explore, memory = game.intro, "", ""
        for _ in range(200):
            if game.won(state):
                break
            decision = Explorer().act(game.goal_text, text, game.commands(state), explore, memory)
            state, text, _ = game.step(state, decision.command)
            explore, memory = decision.explore, decision.memory
            short = brief_memory(game.goal_text, memory)
            assert len(short) < len(memory)
            assert short.endswith(f"did {decision.command}"), "what came of it is seen next"
            asked = brief_explore(explore)
            assert asked == NOTHING or asked.split(": ")[1].split(", ")[0] in explore
            if short.startswith("holding "):
                assert short.split()[1] in memory
        assert game.won(state)
