"""Stacks of wrappers over the toy environments, registered so that `gym.make` builds them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from hypothesis import strategies as st

from eapo_gym.protocol import render
from eapo_gym.schema import Turn
from eapo_gym.wrappers import FormatReward, RollbackMode, Schema, SetOfMarks, apply_schema
from tests.toys import COMMANDS, Corridor
from tests.toys_gui import EXAMPLES, Pages

CORRIDOR = "eapo-test/Corridor-v0"
PAGES = "eapo-test/Pages-v0"


def corridor(
    schema: Schema = "explore", rollback: RollbackMode | None = "inverse", render_mode: str | None = None
) -> gym.Env[Any, Any]:
    return apply_schema(Corridor(render_mode=render_mode), schema, rollback)


def pages(rollback: RollbackMode | None = "inverse", render_mode: str | None = None) -> gym.Env[Any, Any]:
    """Everything at once."""
    return FormatReward(apply_schema(SetOfMarks(Pages(render_mode=render_mode)), "explore", rollback))


for name, entry_point in {CORRIDOR: "corridor", PAGES: "pages"}.items():
    if name not in gym.registry:
        gym.register(name, f"tests.wrappers.stacks:{entry_point}", max_episode_steps=12)


def say(action: str | None, *, think: str = "", explore: str = "e", memory: str | None = "m") -> str:
    return render(Turn(think, explore, memory, action))


def _responses(commands: tuple[str, ...]) -> st.SearchStrategy[str]:
    actions = st.sampled_from((*commands, "rollback", "rollback", "fly"))
    texts = st.sampled_from(("", "here", "there </memory>"))
    form = st.builds(
        lambda action, explore, memory: say(action, explore=explore, memory=memory),
        st.one_of(actions, actions, actions, st.none()),
        texts,
        st.one_of(texts, st.none()),
    )
    return st.one_of(form, form, actions, st.just("<memory>nothing here"))


corridor_responses = st.lists(_responses(COMMANDS), max_size=8)
pages_responses = st.lists(_responses(EXAMPLES), max_size=6)
