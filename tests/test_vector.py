"""Many environments at once: the in-process vector gives what Gymnasium's own gives."""

from __future__ import annotations

from random import Random

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import eapo_gym
from eapo_gym.vector import InProcessVectorEnv, batch_infos
from tests.toys import Corridor


def made() -> gym.Env:
    return gym.wrappers.TimeLimit(Corridor(), 6)


def same(left, right) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and all(map(same, left.ravel(), right.ravel()))
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_is_gymnasiums_sync_vector(mode):
    ours, theirs = InProcessVectorEnv([made] * 3, mode), SyncVectorEnv([made] * 3, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    assert same(ours.reset(seed=5), theirs.reset(seed=5))
    rng = Random(0)
    for _ in range(60):
        actions = tuple(rng.choice(["left", "right", "take key", "unlock door", "junk"]) for _ in range(3))
        for left, right in zip(ours.step(actions), theirs.step(actions), strict=True):
            assert same(left, right)


def test_without_autoreset_the_user_resets():
    envs = InProcessVectorEnv([made] * 2, "Disabled")
    envs.reset(seed=0, options={"tasks": ["train/key-in-0", "train/key-in-3"]})
    for action in ("take key", "right", "right", "right"):
        envs.step([action, "look"])
    _, _, terminated, _, _ = envs.step(["unlock door", "look"])
    assert terminated.tolist() == [True, False]
    with pytest.raises(ValueError, match="Environment 0 has ended: reset it"):
        envs.step(["look", "look"])
    observations, infos = envs.reset(options={"reset_mask": terminated})
    assert infos["_task"].tolist() == [True, False]
    assert "room 0" in observations["state"][0]
    envs.step(["look", "look"])


def test_each_environment_may_have_its_own_task():
    envs = InProcessVectorEnv([made] * 3)
    tasks = ["train/key-in-2", "train/key-in-1", "train/key-in-2"]
    _, infos = envs.reset(options={"tasks": tasks})
    assert infos["task"].tolist() == tasks
    assert envs.call("task") == tuple(tasks)
    assert len(set(envs.call("fingerprint"))) == 2


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda envs: envs.reset(seed=[1]), "seed: expected 2 values"),
        (lambda envs: envs.reset(options={"tasks": ["a"]}), "tasks: expected 2 values"),
        (lambda envs: envs.step(["look"]), "actions: expected 2"),
        (lambda envs: envs.step("ab"), "actions: expected 2"),
    ],
)
def test_wrong_numbers_are_said(call, says):
    envs = InProcessVectorEnv([made] * 2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=says):
        call(envs)


def test_infos_are_gathered_as_gymnasium_does():
    infos = [{"a": 1, "b": "x", "c": {"d": 2.5}}, None, {"a": 3, "e": np.array([1, 2])}]
    gathered = batch_infos(infos)
    assert gathered["a"].tolist() == [1, 0, 3]
    assert gathered["_a"].tolist() == [True, False, True]
    assert gathered["b"].tolist() == ["x", None, None]
    assert gathered["c"]["d"].tolist() == [2.5, 0.0, 0.0]
    assert gathered["e"].tolist() == [[0, 0], [0, 0], [1, 2]]


@pytest.mark.parametrize("schema", ["native", "explore"])
@pytest.mark.parametrize("mode", [None, "sync", "async"])
def test_every_mode_of_make_vec_plays_the_same(schema, mode):
    envs = eapo_gym.make_vec("eapo/ALFWorld-v0", 2, mode, schema=schema, games=5, max_episode_steps=12)
    reference = gym.make_vec("eapo/ALFWorld-v0", 2, "sync", schema=schema, games=5, max_episode_steps=12)
    observations, _ = envs.reset(seed=3)
    assert same(observations, reference.reset(seed=3)[0])
    for action in ("look", "go to desk 1", "inventory", "junk") * 4:
        said = f"<explore> x </explore> <memory> {action} </memory> <action> \\boxed{{{action}}} </action>"
        actions = [said if schema == "explore" else action] * 2
        for ours, theirs in zip(envs.step(actions)[:4], reference.step(actions)[:4], strict=True):
            assert same(ours, theirs)
    envs.close()
    reference.close()


@pytest.mark.parametrize("mode", [None, "sync"])
@pytest.mark.parametrize(("limit", "ends"), [(3, [False, False, True]), (-1, [False] * 3), (None, [False] * 3)])
def test_the_step_limit_means_the_same_in_every_mode(mode, limit, ends):
    envs = eapo_gym.make_vec("eapo/ALFWorld-v0", 1, mode, schema="native", games=1, max_episode_steps=limit)
    envs.reset(seed=0)
    assert [bool(envs.step(["look"])[3][0]) for _ in range(3)] == ends
    if limit is None:
        assert [bool(envs.step(["look"])[3][0]) for _ in range(97)] == [False] * 96 + [True]


def test_shared_memory_is_refused_rather_than_wrong():
    with pytest.raises(ValueError, match="shared_memory"):
        gym.make_vec("eapo/ALFWorld-v0", 2, "async", games=2)
