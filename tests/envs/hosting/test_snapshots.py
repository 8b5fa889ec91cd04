"""Snapshots that outlive their process, and snapshots that cannot."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import warnings
from pathlib import Path

import pytest

from eapo_gym.envs.hosting import HandleSnapshot, HostedEnv, ValueSnapshot
from eapo_gym.errors import SnapshotError

BARE = f"{Path(__file__).with_name('bare.py')}:Bare"
CORRIDOR = "tests.toys:Corridor"


def test_a_snapshot_of_plain_data_outlives_its_process_and_fits_any_hosted_twin():
    with HostedEnv(CORRIDOR) as env, HostedEnv(CORRIDOR) as twin:
        env.reset(seed=2)
        env.step("right")
        saved = pickle.loads(pickle.dumps(env.snapshot()))
        assert isinstance(saved, ValueSnapshot)
        there = env.fingerprint(), env.describe(), env.valid_actions()
        twin.reset(seed=9)
        twin.restore(saved)
        assert (twin.fingerprint(), twin.describe(), twin.valid_actions()) == there
        env.step("right")
        os.kill(env.tenant["pid"], signal.SIGKILL)
        assert env.step("right")[3]
        obs, _ = env.restore(saved)  # in a fresh process, and the episode goes on
        assert (env.fingerprint(), env.describe(), env.valid_actions()) == there
        assert env.step("look")[0] == {**obs, "state": env.describe()}


def test_a_snapshot_that_is_no_plain_data_stays_in_the_process():
    with HostedEnv(BARE, {"plain_snapshots": False}) as env, HostedEnv(BARE, {"plain_snapshots": False}) as twin:
        env.reset(seed=1)
        before = env.fingerprint()
        saved = env.snapshot()
        assert isinstance(saved, HandleSnapshot)
        for _ in range(2):
            env.step("count")
            env.restore(saved)
            assert env.fingerprint() == before
        with pytest.raises(SnapshotError, match="cannot be pickled"):
            pickle.dumps(saved)
        twin.reset()
        with pytest.raises(SnapshotError, match="that of another environment"):
            twin.restore(saved)
        env.step("kill")
        with pytest.raises(SnapshotError, match=r"stayed in a process that is gone.* \{'died': 1\}"):
            env.restore(saved)


def test_the_process_forgets_a_snapshot_when_the_host_does():
    with HostedEnv(BARE, {"plain_snapshots": False}) as env:
        env.reset()
        first, second = env.snapshot(), env.snapshot()
        assert isinstance(first, HandleSnapshot)
        assert env.call("states") == 2
        twin = copy.deepcopy(first)
        del first
        assert env.call("states") == 2, "a copy of the snapshot is still there"
        del twin
        assert env.call("states") == 1
        env.restore(second)


def test_what_is_no_snapshot_of_this_target_is_refused():
    with HostedEnv(BARE) as env:
        env.reset()
        foreign = env.snapshot()
    corridor = HostedEnv(CORRIDOR)
    for wrong in (foreign, ("a", "tuple"), None):
        with pytest.raises(SnapshotError, match=r"expected a snapshot of a hosted tests\.toys:Corridor"):
            corridor.restore(wrong)


def test_recycling_waits_for_snapshots_that_live_in_the_process():
    with HostedEnv(BARE, {"plain_snapshots": False}, recycle_episodes=1) as env:
        env.reset(seed=1)
        before, saved = env.fingerprint(), env.snapshot()
        with pytest.warns(RuntimeWarning, match="1 of its snapshots are still held"):
            env.reset()
        env.restore(saved)
        assert env.fingerprint() == before
        del saved
        env.reset()
        assert env.restarts == {"recycled": 1}
    with HostedEnv(BARE, recycle_episodes=1) as env, warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=1)
        before, saved = env.fingerprint(), env.snapshot()
        env.reset()
        env.restore(saved)
        assert env.fingerprint() == before
        assert env.restarts == {"recycled": 1}
