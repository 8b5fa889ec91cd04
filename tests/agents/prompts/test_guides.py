"""Every action is in the prompt, every example is one that the environment takes."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.agents.prompts import EAPO, GUIDES, generic_guide, guide_for
from eapo_gym.agents.prompts.templates import user_preamble
from eapo_gym.envs.alfworld.commands import parse_command
from eapo_gym.json_action import parse_json_action
from tests.wrappers.stacks import CORRIDOR, PAGES

ACTIONS = {
    "alfworld": "look inventory help go open close examine take move use clean heat cool slice",
    "webshop": "search click",
    "androidworld": "click long_press input_text keyboard_enter navigate_home navigate_back scroll open_app wait "
    "answer status",
    "osworld": "click double_click right_click drag input_text hotkey scroll wait status",
}


def verb(example: str) -> str:
    if example.startswith("{"):
        return str(parse_json_action(example)["action_type"])
    return re.match(r"\w+", example)[0]  # type: ignore[index]


@pytest.mark.parametrize("name", GUIDES)
def test_guide_and_prompt_have_every_action_once(name: str):
    guide = GUIDES[name]
    assert sorted(map(verb, guide.examples)) == sorted(ACTIONS[name].split())
    preamble = user_preamble(EAPO, guide)
    for action in guide.actions:
        assert action.form in preamble
        assert action.meaning in preamble
        assert action.example in preamble


def test_alfworld_has_the_whole_language_of_its_parser():
    for example in GUIDES["alfworld"].examples:
        assert parse_command(example) == example


@pytest.mark.parametrize("name", ["androidworld", "osworld"])
def test_forms_of_json_actions_read_as_their_examples_do(name: str):
    for action in GUIDES[name].with_rollback().actions:
        assert set(parse_json_action(action.example)) <= set(re.findall(r'"(\w+)":', action.form))
        assert parse_json_action(f"{{{action.example}}}") == parse_json_action(action.example)  # doubled braces


@pytest.mark.parametrize("env_id", ["eapo/ALFWorld-v0", "alfworld", "ALFWorld-v0"])
def test_an_id_in_any_form_finds_its_guide(env_id: str):
    assert guide_for(env_id) == GUIDES["alfworld"].with_rollback()
    assert guide_for(env_id, rollback=False) == GUIDES["alfworld"]


def test_rollback_is_added_once_and_in_the_language_of_the_environment():
    assert GUIDES["alfworld"].with_rollback().with_rollback().examples[-1] == "rollback"
    assert GUIDES["alfworld"].with_rollback().with_rollback().examples.count("rollback") == 1
    assert parse_json_action(GUIDES["osworld"].with_rollback().examples[-1]) == {"action_type": "rollback"}


@pytest.mark.parametrize("rollback", ["inverse", None])
def test_an_environment_says_whether_there_is_a_rollback(rollback: str | None):
    env = gym.make(CORRIDOR, rollback=rollback)
    guide = guide_for(env)
    assert guide.rollback == (rollback is not None)
    assert set(guide.examples) - {"rollback"} == set(env.unwrapped.action_space.examples)
    assert guide_for(env, rollback=not guide.rollback).rollback != guide.rollback


def test_an_environment_without_a_guide_shows_its_examples():
    guide = guide_for(gym.make(PAGES))
    assert guide.json
    assert parse_json_action(guide.examples[-1]) == {"action_type": "rollback"}
    assert not generic_guide(("look", "{")).json
    assert generic_guide().actions == ()


def test_a_registered_environment_has_its_guide_and_its_rollback():
    env = gym.make("eapo/ALFWorld-v0", rollback=None)
    assert guide_for(env) == GUIDES["alfworld"]
