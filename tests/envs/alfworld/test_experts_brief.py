"""The explorer's notes in few words: what they keep, and that whole games can be told in them."""

from __future__ import annotations

import doctest
import re

import pytest

from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.experts import Explorer, brief
from eapo_gym.envs.alfworld.experts.brief import brief_explore, brief_memory
from eapo_gym.envs.alfworld.experts.goal import parse_goal
from eapo_gym.envs.alfworld.experts.memory import Memory, kind


def test_the_examples_in_its_documentation_hold() -> None:
    assert doctest.testmod(brief).failed == 0


@pytest.mark.parametrize("text", ["", "I know nothing.", "next desk 1"])
def test_what_the_explorer_has_not_written_stays_as_it_is(text: str) -> None:
    assert brief_memory("put a mug in desk.", text) == text


def test_a_whole_game_can_be_followed_in_brief() -> None:
    env = ALFWorldEnv("valid")
    for task in env.tasks()[:20]:
        env.reset(options={"task": task})
        game, state = env.game, env.state
        goal = parse_goal(game.goal_text)
        text, explore, memory, before = game.intro, "", "", ""
        for _ in range(200):
            if game.won(state):
                break
            decision = Explorer().act(game.goal_text, text, game.commands(state), explore, memory)
            short = brief_memory(game.goal_text, decision.memory)
            assert len(short) < len(decision.memory)
            assert short.endswith(f"did {decision.command}"), "what came of it is seen next"
            notes = Memory.read(decision.memory)
            assert notes is not None
            assert ("carrying" in short) == bool(notes.carrying)
            assert not notes.at or short.startswith(f"at {notes.at}")
            if before:
                assert places(short) <= places(before) | {kind(thing) for thing in NAMES.findall(text)}, "of nowhere"
            asked = brief_explore(game.goal_text, decision.explore)
            assert asked.startswith((f"need {goal.object}", f"need {goal.lamp}"))
            assert asked.endswith(": known") or asked.partition(": ")[2] in decision.explore
            state, text, _ = game.step(state, decision.command)
            explore, memory, before = decision.explore, decision.memory, short
        assert game.won(state)


NAMES = re.compile(r"[a-z]+ \d+")


def places(short: str) -> set[str]:
    """The kinds of places that the notes say are left."""
    match = re.search(r"next ([^;]+)", short)
    return set(map(kind, match[1].split(", "))) if match else set()
