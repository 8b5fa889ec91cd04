"""What the fixed texts promise: the tags in their order, the box, the rollback, the hint."""

from __future__ import annotations

import re

import pytest

from eapo_gym.agents.prompts import COMPACT, EAPO, EXPLORE_HINT, GUIDES, PLAIN, REACT, VOTE
from eapo_gym.agents.prompts.templates import system_message, user_preamble
from eapo_gym.protocol import SECTIONS, parse
from tests.agents.scripted import ScriptedEngine


def test_the_example_of_the_eapo_prompt_is_a_response_of_the_right_form():
    example = EAPO.system[EAPO.system.index("<think>") : EAPO.system.index("</action>") + len("</action>")]
    turn = parse(example)
    assert turn.format_ok
    assert turn.action == "ACTION"
    assert re.findall(r"<(\w+)>", example) == list(SECTIONS)


def test_the_compact_line_is_short():
    for guide in (GUIDES["alfworld"], GUIDES["alfworld"].with_rollback()):
        line = user_preamble(COMPACT, guide)
        assert re.findall(r"<(\w+)>", line) == list(SECTIONS[1:])
        assert len(ScriptedEngine().encode(line)) <= 32


@pytest.mark.parametrize("style", [PLAIN, REACT, VOTE])
def test_prompts_without_memory_do_not_speak_of_it(style):
    assert "memory>" not in style.system
    assert "explore>" not in style.system
    assert parse(style.system).action in ("ACTION", "NUMBER")


@pytest.mark.parametrize("style", [EAPO, PLAIN, REACT, COMPACT])
def test_the_hint_of_naive_exploration_can_be_added_to_every_style(style):
    assert EXPLORE_HINT in system_message(style, explore_hint=True)
    assert EXPLORE_HINT not in system_message(style)


@pytest.mark.parametrize("style", [EAPO, PLAIN, COMPACT])
@pytest.mark.parametrize("name", GUIDES)
def test_rollback_is_named_exactly_where_there_is_one(style, name):
    assert "rollback" not in user_preamble(style, GUIDES[name])
    assert "rollback" in user_preamble(style, GUIDES[name].with_rollback())
