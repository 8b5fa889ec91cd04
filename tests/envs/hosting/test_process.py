"""Processes that are started, end, hang, die, print, and leave nothing behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import HostingError

BARE = f"{Path(__file__).with_name('bare.py')}:Bare"


def is_gone(pid: int, patience: float = 15.0) -> bool:
    """Whether a process ends before long. A zombie has ended: whoever should bury it may be in no hurry."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_many_processes_leave_neither_zombies_nor_descriptors():
    HostedEnv(BARE).close()
    before = descriptors()
    for way in range(24):
        env = HostedEnv(BARE)
        env.reset(seed=way)
        if way % 3 == 0:
            env.close()
            env.close()
        elif way % 3 == 1:
            env.step("kill")
            env.close()
        del env  # the third kind was never closed
    gc.collect()
    assert descriptors() == before
    assert not psutil.Process().children()


def test_a_child_inherits_only_what_it_needs(tmp_path):
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        with HostedEnv(BARE) as env:
            inherited = env.call("inherited")
            # stdin, stdout, stderr, the two ends of its pipes, and the folder that is being listed
            assert len(inherited) == 6


def test_the_helpers_of_an_environment_end_with_it():
    for finish in ("close", "step exit", "vanish"):
        env = HostedEnv(BARE)
        env.reset()
        helper = env.step("program")[4]["child"]
        assert psutil.pid_exists(helper)
        if finish == "close":
            env.close()
        elif finish == "step exit":
            assert env.step("exit 0")[3]
        del env
        gc.collect()
        assert is_gone(helper), finish


def test_death_is_noticed_although_a_helper_holds_the_pipe_open():
    with HostedEnv(BARE, timeout=30) as env:
        env.reset()
        env.step("spawn")
        info = env.step("exit 5")[4]
        assert info["failure"]["cause"] == "died"
        assert "exited with code 5" in info["failure"]["message"]


@pytest.mark.parametrize("busy", [False, True], ids=["between two calls", "in the middle of one"])
def test_a_child_ends_when_its_host_vanishes(busy, tmp_path):
    script = tmp_path / "host.py"
    script.write_text(
        "import sys\n"
        "from eapo_gym.envs.hosting import HostedEnv\n"
        f"env = HostedEnv({BARE!r}, timeout=None)\n"
        "env.reset()\n"
        "helper = env.step('program')[4]['child']\n"
        "print(env.tenant['pid'], helper, flush=True)\n"
        f"env.step('sleep 600') if {busy} else sys.stdin.read()\n"
    )
    host = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pid, helper = map(int, host.stdout.readline().split())
    assert psutil.pid_exists(pid)
    host.kill()
    host.communicate()
    assert is_gone(pid)
    assert is_gone(helper)


def test_a_host_that_ends_without_closing_ends_its_children(tmp_path):
    script = tmp_path / "host.py"
    script.write_text(
        "from eapo_gym.envs.hosting import HostedEnv\n"
        f"envs = [HostedEnv({BARE!r}) for _ in range(3)]\n"
        "print(*[env.tenant['pid'] for env in envs])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    assert all(is_gone(int(pid)) for pid in done.stdout.split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking is what this is about
def test_a_forked_copy_of_the_host_leaves_the_child_alone():
    with HostedEnv(BARE) as env:
        env.reset(seed=1)
        before = env.fingerprint()
        copy = os.fork()
        if copy == 0:
            failed = env.step("count")[4]["failure"]["cause"] == "died"
            obs, _ = env.reset(seed=1)  # in a process of its own
            env.close()
            os._exit(0 if failed and obs["state"] == before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
        assert env.fingerprint() == before


def test_what_a_library_prints_is_kept_and_harms_nothing():
    with HostedEnv(BARE) as env:
        env.reset(seed=1)
        count = int(env.fingerprint())
        obs, *_ = env.step("print 1000000")
        assert obs["state"] == str(count + 1)
        assert "junk on stdout" in env.output
        assert "junk on stderr" in env.output
        assert len(env.output) < 20_000


def test_an_action_larger_than_the_pipe_reaches_the_environment():
    with HostedEnv(BARE) as env:
        env.reset()
        text = "ä" * 3_000_000
        assert env.parse_action(text) == text


def test_an_action_larger_than_the_pipe_cannot_hang_the_host():
    with HostedEnv(BARE, timeout=2) as env:
        env.reset()
        os.kill(env.tenant["pid"], 19)  # SIGSTOP: it will never read
        assert env.step("x" * 3_000_000)[4]["failure"]["cause"] == "timeout"


def test_environments_in_several_threads_do_not_disturb_each_other():
    def play(seed: int) -> list[str]:
        with HostedEnv(BARE, {"start": seed * 10_000}) as env:
            seen = [env.reset(seed=seed)[0]["state"]]
            seen += [env.step("count")[0]["state"] for _ in range(50)]
        return seen

    alone = [play(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(play, range(4))) == alone


def test_the_hash_seed_is_the_childs_own_unless_it_is_given(monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "0")

    def hash_with(variables: dict[str, str | None]) -> int:
        with HostedEnv(BARE, env=variables) as env:
            value: int = env.call("hash_of", "a text")
            return value

    assert hash_with({"PYTHONHASHSEED": "7"}) == hash_with({"PYTHONHASHSEED": "7"})
    assert len({hash_with({}) for _ in range(3)}) > 1


def test_environment_variables_are_added_and_taken_away(monkeypatch):
    monkeypatch.setenv("SHARED", "host")
    with HostedEnv(BARE, env={"ADDED": "1"}) as env:
        assert [env.call("variable", name) for name in ("SHARED", "ADDED")] == ["host", "1"]
    with HostedEnv(BARE, env={"SHARED": None}) as env:
        assert env.call("variable", "SHARED") is None


def test_a_missing_interpreter_is_named():
    before = descriptors()
    with pytest.raises(HostingError, match="expected the path of a Python interpreter, got '/no/such/python'"):
        HostedEnv(BARE, python="/no/such/python")
    assert descriptors() == before


def test_an_interpreter_that_is_none_is_reported_with_what_it_said():
    with pytest.raises(HostingError, match=r"could not be started: start: its process exited with code \d+"):
        HostedEnv(BARE, python="/bin/ls")
