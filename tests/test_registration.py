"""`gym.make`: ids, schemas, specs, and the two checkers over every form of an environment."""

from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import eapo_gym
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import UnknownName

ID = "eapo/ALFWorld-v0"


def test_importing_is_light():
    program = (
        "import sys, eapo_gym; print([m for m in ('torch', 'textworld', 'transformers', 'PIL') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_gymnasium_imports_us_for_an_id_that_names_us():
    program = "import gymnasium as gym; print(gym.make('eapo_gym:eapo/ALFWorld-v0', games=1).spec.id)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ID


@pytest.mark.parametrize("schema", ["explore", "native"])
def test_both_checkers_pass(schema):
    env = gym.make(ID, schema=schema, games=10)
    check_env(env.unwrapped, skip_render_check=True)
    eapo_gym.check_agent_env(env)


@pytest.mark.parametrize("mode", [None, "sync"])
def test_the_checkers_pass_for_what_a_vector_holds(mode):
    envs = eapo_gym.make_vec(ID, 2, mode, games=5)
    for env in envs.envs:
        eapo_gym.check_agent_env(env, steps=10, episodes=2, cross_process=False)
    envs.close()


def test_the_checker_passes_through_a_process_of_its_own():
    env = HostedEnv("eapo_gym.envs.alfworld.env:ALFWorldEnv", {"games": 5})
    try:
        check_env(env, skip_render_check=True)
        eapo_gym.check_agent_env(env, steps=15, episodes=3)
    finally:
        env.close()


@pytest.mark.parametrize("schema", ["explore", "native"])
def test_the_step_limit_is_gymnasiums(schema):
    env = gym.make(ID, schema=schema, games=1, max_episode_steps=3)
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[3] for _ in range(3)]
    assert ends == [False, False, True]
    assert gym.make(ID, games=1).spec.max_episode_steps == 100


def test_the_spec_tells_what_was_made_and_makes_it_again():
    env = gym.make(ID, games=2, rollback="restore")
    assert env.spec.kwargs["source"] == "embedded"
    names = [wrapper.name for wrapper in env.spec.additional_wrappers]
    assert {"ExploreMemory", "Rollback", "VisitationDepth"} <= set(names)
    again = gym.make(env.spec)
    assert [wrapper.name for wrapper in again.spec.additional_wrappers] == names
    assert again.reset(seed=1)[0] == env.reset(seed=1)[0]


def test_the_schemas_differ_in_their_observations():
    explore, native = gym.make(ID, games=2), gym.make(ID, games=2, schema="native")
    assert set(native.observation_space.spaces) == {"goal", "state"}
    assert set(explore.observation_space.spaces) == {"goal", "state", "explore", "memory"}
    explore.reset(seed=0)
    observation, _, _, _, info = explore.step(
        "<explore> look first </explore> <memory> nothing yet </memory> <action> \\boxed{look} </action>"
    )
    assert (observation["explore"], observation["memory"]) == ("look first", "nothing yet")
    assert info["format_ok"]
    assert info["visits"] == 1, "looking around leaves the state where it was"


def test_a_branch_of_the_whole_stack():
    env = gym.make(ID, games=2, max_episode_steps=4)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    saved = eapo_gym.branch(env)
    first = [env.step("\\boxed{inventory}") for _ in range(3)]
    assert first[-1][3], "the limit is reached"
    eapo_gym.resume(env, saved)
    second = [env.step("\\boxed{inventory}") for _ in range(3)]
    assert first == second


def test_a_first_reset_that_fails_breaks_nothing():
    env = gym.make(ID, games=2)
    with pytest.raises(UnknownName):
        env.reset(options={"task": "typo"})
    env.reset(seed=0)
    assert env.step("\\boxed{look}")[4]["invalid_action"] is False
    assert env.step("no command at all")[4]["invalid_action"] is True
    assert env.step("\\boxed{rollback}")[4]["invalid_action"] is True, "there is nothing to take back"


def test_a_folder_is_never_passed_off_as_another_source(tmp_path):
    generate(0).write(tmp_path)
    for source in ("official", "embedded"):
        with pytest.raises(ValueError, match="a folder of games is source='folder'"):
            gym.make(ID, source=source, games=str(tmp_path))
    env = gym.make(ID, source="folder", games=str(tmp_path))
    assert env.spec.kwargs["source"] == env.reset(seed=0)[1]["source"] == "folder"


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"engine": "nativ"}, "Unknown engine 'nativ'.*Did you mean 'native'"),
        ({"schema": "explor"}, "Unknown schema 'explor'.*Did you mean 'explore'"),
        ({"rollback": "undo"}, "rollback.*'undo'"),
        ({"split": "test"}, "Unknown split"),
        ({"source": "real"}, "Unknown source"),
    ],
)
def test_unknown_names_are_said(kwargs, says):
    with pytest.raises(UnknownName, match=says):
        gym.make(ID, **kwargs)
