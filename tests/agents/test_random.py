"""The random agent: fair, repeatable, and never without a reason to give up."""

from __future__ import annotations

from collections import Counter

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.agents.base import AgentError
from eapo_gym.agents.random import RandomAgent
from eapo_gym.protocol import parse
from eapo_gym.schema import Context, Observation
from tests.agents.playing import play
from tests.wrappers.stacks import CORRIDOR, PAGES


def seen(actions: tuple[str, ...] | None, seed: int = 0, env: str = "") -> Observation:
    return Observation("g", "s", valid_actions=actions, context=Context(env=env, seed=seed))


def draw(agent: RandomAgent, actions: tuple[str, ...] | None, seed: int, env: str = "") -> str | None:
    return parse(agent.act(seen(actions, seed, env))).action


@pytest.mark.parametrize("seeds", [range(9000), range(0, 9000 << 40, 1 << 40)])
def test_all_actions_are_drawn_alike_whatever_the_seeds_look_like(seeds):
    actions = tuple("abcdefghi")
    counts = Counter(draw(RandomAgent(), actions, seed) for seed in seeds)
    assert set(counts) == set(actions)
    # Chi-square with 8 degrees of freedom: beyond 26 once in a thousand times, and these seeds are always the same.
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 26


def test_the_same_seed_draws_the_same_and_another_agents_seed_another():
    actions = tuple(map(str, range(1000)))
    drawn = [[draw(RandomAgent(seed=own), actions, seed) for seed in range(50)] for own in (0, 0, 10**6)]
    assert drawn[0] == drawn[1]
    assert sum(a == b for a, b in zip(drawn[0], drawn[2], strict=True)) < 5


def test_episodes_are_repeatable_and_differ_between_seeds():
    tasks = ["train/key-in-1", "train/key-in-2"]
    runs = [[[i["action"] for i in p.infos] for p in play(RandomAgent(), CORRIDOR, tasks, seed=s)] for s in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@given(st.text(max_size=60))
def test_whatever_an_action_holds_it_arrives(action: str):
    turn = parse(RandomAgent().act(seen((action,))))
    assert turn.action == action
    assert turn.format_ok
    assert turn.memory == turn.explore == ""


def test_without_a_list_examples_of_the_environment_are_drawn():
    env = gym.make(PAGES)
    agent = RandomAgent(env=env)
    assert {draw(agent, None, seed) for seed in range(50)} == set(env.unwrapped.action_space.examples)
    [played] = play(agent, PAGES, ["train/button-0"])
    assert all(info["format_ok"] for info in played.infos)
    assert {draw(RandomAgent(examples=["a", "b"]), None, seed) for seed in range(20)} == {"a", "b"}
    assert draw(RandomAgent(), None, 3, env="eapo/AndroidWorld-v0").startswith("{")


def test_where_nothing_is_known_it_says_so():
    with pytest.raises(AgentError, match=r"nothing to draw from.*pass examples"):
        RandomAgent().act(seen(None, env="unheard-of"))
