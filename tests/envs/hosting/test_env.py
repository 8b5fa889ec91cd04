"""A hosted environment is the environment itself, episode for episode, and outlives what it does not."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import psutil
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eapo_gym.envs.checker import check_agent_env
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import ActionError, ContractError, HostingError, UnknownName
from eapo_gym.wrappers import apply_schema
from tests.envs.hosting.registered import Pictures
from tests.toys import COMMANDS, Corridor

HERE = Path(__file__).parent
BARE = f"{HERE / 'bare.py'}:Bare"
CORRIDOR = "tests.toys:Corridor"
OWN_PROCESS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(scope="module")
def corridor():
    with HostedEnv(CORRIDOR, {"rooms": 5, "split": "valid"}, render_mode="ansi") as env:
        yield env


def everything(env):
    """All that an environment says of its present state."""
    answers = [env.task, env.source, env.split, env.fingerprint(), env.describe(), env.valid_actions(), env.render()]
    return [*answers, [env.inverse(command) for command in COMMANDS]]


def test_attributes_are_the_environments_own(corridor):
    local = Corridor(5, "valid", "ansi")
    for name in ("observation_space", "action_space", "metadata", "render_mode", "source", "split", "snapshot_kind"):
        assert getattr(corridor, name) == getattr(local, name), name
    assert corridor.tasks() == local.tasks()
    assert corridor.tasks("other") == local.tasks("other")


@given(st.integers(0, 2**32), st.lists(st.sampled_from([*COMMANDS, "save", "load", "reset", "dance", ""]), max_size=20))
@settings(OWN_PROCESS, max_examples=50)
def test_it_plays_as_the_environment_itself_would(corridor, seed, commands):
    local = Corridor(5, "valid", "ansi")
    assert corridor.reset(seed=seed) == local.reset(seed=seed)
    saved = corridor.snapshot(), local.snapshot()
    for command in commands:
        if command == "save":
            saved = corridor.snapshot(), local.snapshot()
        elif command == "load":
            assert corridor.restore(saved[0]) == local.restore(saved[1])
        elif command == "reset":
            assert corridor.reset() == local.reset()
        else:
            assert corridor.step(command) == local.step(command)
        assert everything(corridor) == everything(local)
    assert corridor.np_random.bit_generator.state == local.np_random.bit_generator.state
    assert corridor.np_random_seed == local.np_random_seed


def test_tasks_are_chosen_and_refused_as_by_the_environment_itself(corridor):
    _, info = corridor.reset(options={"task": "valid/key-in-3"})
    assert corridor.task == info["task"] == "valid/key-in-3"
    with pytest.raises(UnknownName, match="Did you mean 'valid/key-in-4'"):
        corridor.reset(options={"task": "valid/key-in-44"})
    with pytest.raises(TypeError, match="expected a command"):
        corridor.step(7)
    with pytest.raises(ActionError) as caught:
        corridor.parse_action("fly")
    assert caught.value.example == "take key"


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
def test_gymnasium_accepts_it(corridor):
    check_env(corridor)


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
def test_gymnasium_accepts_one_whose_tenant_has_no_generator():
    with HostedEnv(BARE) as env:
        check_env(env, skip_close_check=True)


def test_the_conformance_check_passes_through_it():
    with HostedEnv(CORRIDOR, {"rooms": 3}, recycle_episodes=40) as env:
        check_agent_env(env, steps=12, episodes=3)
        assert env.restarts["recycled"] > 0
        assert set(env.restarts) == {"recycled"}


def test_the_conformance_check_finds_faults_through_it():
    broken = HostedEnv("tests.broken_envs:FingerprintHasFeedback")
    with broken, pytest.raises(ContractError, match="last feedback"):
        check_agent_env(broken, steps=12, episodes=3)


# Spaces and arrays


def test_arrays_arrive_with_type_shape_and_every_bit():
    kwargs = {"height": 5, "width": 7}
    local = Pictures(**kwargs, render_mode="rgb_array")
    with HostedEnv("tests.envs.hosting.registered:Pictures", kwargs, render_mode="rgb_array") as hosted:
        assert hosted.observation_space == local.observation_space
        assert hosted.action_space == local.action_space
        assert hosted.metadata == local.metadata
        (seen, _), (expected, _) = hosted.reset(seed=4), local.reset(seed=4)
        for _ in range(5):
            assert hosted.observation_space.contains(seen)
            assert repr(seen) == repr(expected)
            for key in ("screenshot", "pose", "buttons", "dials"):
                assert seen[key].dtype == expected[key].dtype
                assert seen[key].tobytes() == expected[key].tobytes()
                assert seen[key].flags.writeable
            seen, *rest = hosted.step(np.int64(3))
            expected, *expected_rest = local.step(np.int64(3))
            assert rest == expected_rest
            assert list(map(type, rest)) == list(map(type, expected_rest))
        assert np.array_equal(hosted.render(), local.render())


def test_a_registered_id_is_hosted_with_its_wrappers():
    with HostedEnv("gymnasium:make", {"id": "tests.envs.hosting.registered:test/Corridor-v0"}) as env:
        env.reset(options={"task": "train/key-in-0"})
        assert env.task == "train/key-in-0"
        assert env.fingerprint() == "train/key-in-0|0|0|False|False", "the wrappers do not hide the contract"
        start = env.snapshot()
        assert [env.step("right")[3] for _ in range(3)] == [False, False, True]
        env.restore(start)
        assert env.inverse("right") == ["left"]


def test_a_space_is_the_same_object_after_a_restart():
    with HostedEnv(BARE) as env:
        env.reset()
        space = env.action_space
        env.step("kill")
        env.reset()
        assert env.action_space is space


# Failures


def kill(env):
    os.kill(env.tenant["pid"], signal.SIGKILL)


@pytest.mark.parametrize(
    ("action", "cause", "message"),
    [
        ("kill", "died", "killed by SIGKILL without a reply"),
        ("abort", "died", "Fatal Python error: Aborted"),
        ("exit 3", "died", "exited with code 3 without a reply. It printed last:\n  | the last words"),
        ("sleep 600", "timeout", "step (limit: 2 s): no answer in time. It hangs in:\n  |   File"),
    ],
)
def test_a_lost_process_ends_the_episode_as_data(action, cause, message):
    with HostedEnv(BARE, timeouts={"step": 2}) as env:
        env.reset(seed=1)
        obs, *_ = env.step("count")
        state, description = env.fingerprint(), env.describe()
        lost, reward, terminated, truncated, info = env.step(action)
        assert (lost, reward, terminated, truncated) == (obs, 0.0, False, True)
        assert lost is not obs
        failure = info.pop("failure")
        assert info == {"task": "count", "source": "official", "split": "test", "won": False}
        assert failure["cause"] == cause
        assert message in failure["message"]
        assert env.restarts == {cause: 1}
        # Whoever asks after every step gets through this one; nothing else does.
        assert (env.fingerprint(), env.describe()) == (state, description)
        assert env.tasks() == ["count"]
        for call in (lambda: env.step("count"), env.snapshot, env.valid_actions, lambda: env.inverse("x"), env.render):
            with pytest.raises(HostingError, match=r"the episode ended with its process, call reset\(\) first"):
                call()
        obs, _ = env.reset(seed=1)
        assert int(obs["state"]) == int(state) - 1
        assert not env.step("count")[3]


def test_the_place_where_a_call_hangs_is_shown():
    with HostedEnv(BARE, timeouts={"step": 1}) as env:
        env.reset()
        assert "in do_sleep" in env.step("sleep 600")[4]["failure"]["message"]


def test_calls_other_than_step_raise_when_the_process_is_lost():
    with HostedEnv(BARE) as env:
        env.reset()
        for _ in range(2):
            kill(env)
            with pytest.raises(HostingError, match=r"bare.py:Bare: fingerprint: its process was killed by SIGKILL"):
                env.fingerprint()
            env.reset()
        assert env.restarts == {"died": 2}


def test_a_process_that_dies_between_two_steps_ends_the_episode():
    with HostedEnv(BARE) as env:
        obs, _ = env.reset(seed=1)
        kill(env)
        assert env.step("count")[:4] == (obs, 0.0, False, True)


def test_reset_is_tried_again_in_fresh_processes(tmp_path):
    with HostedEnv(BARE, {"fails": str(tmp_path / "few"), "fail_resets": 2}, retries=2) as env:
        obs, _ = env.reset(seed=1)
        assert env.restarts == {"died": 2}
        assert env.episodes == 1
    with HostedEnv(BARE) as env:
        assert env.reset(seed=1)[0] == obs
    with HostedEnv(BARE, {"fails": str(tmp_path / "many"), "fail_resets": 9}, retries=2) as env:
        with pytest.raises(HostingError, match=r"failed in 3 processes, the last time so: reset: .* SIGABRT"):
            env.reset()
        assert env.episodes == 0


def test_a_start_that_takes_too_long_is_an_error():
    with pytest.raises(HostingError, match=r"could not be started: start \(limit: 1 s\): no answer in time"):
        HostedEnv(f"{HERE / 'bare.py'}:slow", start_timeout=1)


def test_an_interrupted_call_costs_the_process_and_not_the_next_answer():
    def interrupt(*_):
        raise KeyboardInterrupt

    with HostedEnv(BARE) as env:
        env.reset()
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                env.step("sleep 600")
        finally:
            signal.signal(signal.SIGALRM, before)
        assert env.restarts == {"interrupted": 1}
        with pytest.raises(HostingError, match="step was interrupted"):
            env.step("count")
        env.reset()
        assert not env.step("count")[3]


def test_a_closed_environment_says_so():
    env = HostedEnv(BARE)
    env.close()
    env.close()
    for call in (env.reset, env.fingerprint, env.tasks, lambda: env.step("x"), lambda: env.restore(None)):
        with pytest.raises(HostingError, match="this environment is closed"):
            call()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"timeouts": {"setp": 1.0}}, UnknownName, "Did you mean 'step'"),
        ({"recycle_episodes": 0}, ValueError, "recycle_episodes: expected a positive number or None, got 0"),
        ({"recycle_bytes": -1}, ValueError, "recycle_bytes: expected"),
        ({"retries": -1}, ValueError, "retries: expected 0 or more, got -1"),
        ({"kwargs": {"start": Path("/")}}, TypeError, r"bare.py:Bare could not be started: .*\['start'\]: a pathlib"),
    ],
)
def test_wrong_settings_are_named(arguments, kind, message):
    with pytest.raises(kind, match=message):
        HostedEnv(BARE, **arguments)


# Recycling


def test_recycling_is_not_to_be_noticed():
    """The same seed gives the same episodes, unseeded ones included, in however many processes they are played."""
    local = Corridor(4)
    with HostedEnv(CORRIDOR, {"rooms": 4}, recycle_episodes=2) as env:
        pids = set()
        for episode in range(7):
            seed = 11 if episode == 0 else None
            assert env.reset(seed=seed) == local.reset(seed=seed)
            assert env.step("right") == local.step("right")
            pids.add(env.tenant["pid"])
        assert env.restarts == {"recycled": 3}
        assert len(pids) == 4
        assert env.episodes == 7
        kill(env)
        assert env.reset() == local.reset(), "nor is a process that was lost, if nothing was drawn since the last reset"


def test_a_process_that_holds_too_much_memory_is_recycled():
    with HostedEnv(BARE, recycle_bytes=160 << 20) as env:
        for megabytes in (0, 50, 200):
            env.reset()
            env.step(f"leak {megabytes}")
        assert not env.restarts
        env.reset()
        assert env.restarts == {"recycled": 1}


def test_a_close_that_fails_is_told_and_the_process_is_gone_all_the_same(tmp_path):
    file = tmp_path / "stubborn.py"
    file.write_text(
        "class Env:\n"
        "    def reset(self, seed=None, options=None):\n        return {'goal': '', 'state': ''}, {}\n"
        "    def close(self):\n        raise ValueError('the door is stuck')\n"
    )
    env = HostedEnv(f"{file}:Env", recycle_episodes=1)
    env.reset()
    with pytest.warns(RuntimeWarning, match=r"recycled, but its close\(\) failed: ValueError: the door is stuck"):
        env.reset()
    pid = env.tenant["pid"]
    with pytest.raises(ValueError, match="the door is stuck"):
        env.close()
    assert not psutil.pid_exists(pid)


# Vectors


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Gymnasium forks its workers
def test_it_works_in_the_daemonic_workers_of_an_async_vector():
    envs = AsyncVectorEnv([lambda: HostedEnv(CORRIDOR, {"rooms": 3})] * 2, shared_memory=False)
    try:
        obs, info = envs.reset(seed=[1, 2])
        assert [Corridor(3).reset(seed=seed)[1]["task"] for seed in (1, 2)] == list(info["task"])
        assert len(obs["state"]) == 2
        _, rewards, *_ = envs.step(("right", "look"))
        assert rewards.tolist() == [0.0, 0.0]
    finally:
        envs.close()


@pytest.mark.parametrize("schema", ["explore", "native"])
@pytest.mark.parametrize("rollback", ["inverse", "restore", None])
def test_a_process_that_dies_under_wrappers_ends_the_episode_as_data(schema, rollback):
    """Wrappers ask before and after a step; whatever question meets the dead process, the step reports it."""
    with HostedEnv("tests.toys:Corridor") as hosted:
        env = apply_schema(hosted, schema, rollback)
        env.reset(seed=1)
        env.step("right")
        kill(hosted)
        _, reward, terminated, truncated, info = env.step("right")
        assert (reward, terminated, truncated, info["failure"]["cause"]) == (0.0, False, True, "died")
        env.reset(seed=1)
        assert not env.step("right")[3]
        assert hosted.restarts == {"died": 1}
