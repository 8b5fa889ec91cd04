"""The environment, on a machine that answers from what was recorded on a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("PIL")

import eapo_gym
from eapo_gym.envs.osworld.env import OSWorldEnv
from eapo_gym.envs.osworld.official import DATA_VARIABLE, FOLDER
from eapo_gym.errors import ContractError, HostingError, MissingData, SnapshotError, UnknownName
from tests.envs.osworld.recorded import recorded_server
from tests.envs.osworld.recorded_env import Recorded, RecordedEnv

MENU = '{"action_type": "click", "index": 1}'
ESCAPE = '{"action_type": "press_key", "key": "esc"}'
DONE = '{"action_type": "status", "goal_status": "complete"}'
GIVE_UP = '{"action_type": "status", "goal_status": "infeasible"}'
WANTED = "/home/user/wanted.txt"


def task(key: str, **changes: Any) -> dict[str, Any]:
    """A task that asks for a file, which the machine has once somebody put it there."""
    check = {
        "func": "file_contains",
        "result": {"type": "vm_file", "path": WANTED, "dest": "wanted.txt"},
        "expected": {"type": "rule", "rules": {"expected": ["here"]}},
    }
    whole = {
        "id": key, "snapshot": "os", "instruction": "Write 'here' into wanted.txt.", "source": "", "config": [],
        "related_apps": ["os"], "evaluator": check,
    }  # fmt: skip
    return whole | changes


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Task files of the benchmark's form."""
    folder = tmp_path / FOLDER
    tasks = {
        "plain": task("plain"),
        "impossible": task("impossible", evaluator={"func": "infeasible"}),
        "outside": task(
            "outside",
            config=[{"type": "upload_file", "parameters": {"files": [{"local_path": "a", "path": "/etc/passwd"}]}}],
        ),
        "strange": task("strange", evaluator={"func": "exact_macth", "result": {"type": "rule", "rules": {}}}),
        "account": task(
            "account", config=[{"type": "login", "parameters": {"settings_file": "x", "platform": "googledrive"}}]
        ),
    }
    for key, said in tasks.items():
        place = folder / "examples" / "os" / f"{key}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(said), encoding="utf-8")
    (folder / "test_all.json").write_text(json.dumps({"os": list(tasks)}), encoding="utf-8")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def machine() -> Iterator[Recorded]:
    with recorded_server() as server:
        yield Recorded(server.address, server.machine)


def opened(machine: Any, **kwargs: Any) -> OSWorldEnv:
    return OSWorldEnv("all", source="official", computer=machine, **kwargs)


def begun(machine: Any, key: str = "plain", **kwargs: Any) -> OSWorldEnv:
    env = opened(machine, **kwargs)
    env.reset(seed=1, options={"task": f"os/{key}"})
    return env


def test_it_keeps_the_contract() -> None:
    kwargs = {"tasks": ["os/plain", "os/impossible"], "observation_mode": "elements"}
    env = RecordedEnv(**kwargs)
    eapo_gym.check_agent_env(env, make=RecordedEnv, make_kwargs=kwargs, steps=6, episodes=2, budget_seconds=30)
    env.close()


def test_an_episode_is_seen_acted_in_and_judged(machine: Recorded) -> None:
    env = begun(machine)
    obs, info = env.reset(seed=1, options={"task": "os/plain"})
    assert obs["goal"] == "Write 'here' into wanted.txt."
    assert obs["state"] == "In front: Untitled 1 - LibreOffice Calc"
    assert '0: menu "File"' in obs["elements"]
    assert obs["screenshot"].shape == (1080, 1920, 3)
    assert env.observation_space.contains(obs)
    assert info["elements"][0]["text"] == "File"
    before = env.fingerprint()

    obs, reward, ended, cut, info = env.step(MENU)
    assert (reward, ended, cut, info["invalid_action"]) == (0.0, False, False, False)
    assert 'menu-item "' in obs["elements"]
    assert env.fingerprint() != before
    _, _, _, _, info = env.step(ESCAPE)
    assert env.fingerprint() == before

    machine.machine.files[WANTED] = b"it is here"
    _, reward, ended, _, info = env.step(DONE)
    assert (reward, ended, info["won"]) == (1.0, True, True)
    assert "file_contains is 1" in info["checks"][0]


def test_what_was_not_done_is_worth_nothing(machine: Recorded) -> None:
    env = begun(machine)
    _, reward, ended, _, info = env.step(DONE)
    assert (reward, ended, info["won"]) == (0.0, True, False)
    assert "found nothing" in info["checks"][0]


@pytest.mark.parametrize(("key", "said", "score"), [
    ("impossible", GIVE_UP, 1.0), ("impossible", DONE, 0.0), ("plain", GIVE_UP, 0.0), ("impossible", "FAIL", 1.0),
])  # fmt: skip
def test_giving_up_is_right_where_nothing_can_be_done(machine: Recorded, key: str, said: str, score: float) -> None:
    _, reward, ended, _, _ = begun(machine, key).step(said)
    assert (reward, ended) == (score, True)


def test_the_three_languages_do_the_same(machine: Recorded) -> None:
    marks = set()
    for action in (
        MENU,
        '{"action_type": "CLICK", "parameters": {"x": 60, "y": 31}}',
        "pyautogui.click(60, 31)",
        "```python\nimport pyautogui\npyautogui.click(x=60, y=31)\n```",
    ):
        env = begun(machine)
        env.step(action)
        marks.add(env.fingerprint())
    assert len(marks) == 1


@pytest.mark.parametrize(("action", "sentence"), [
    ('{"action_type": "click", "index": 4000}', "There is no element 4000: the screen has the elements 0 to"),
    ('{"action_type": "click", "x": 5000, "y": 10}', "off the screen"),
    ('{"action_type": "open_app", "app_name": "Photoshop"}', "Unknown app 'Photoshop'"),
    ("import os; os.system('reboot')", "os"),
    ("hello", "expected"),
])  # fmt: skip
def test_what_is_no_action_is_told_and_does_nothing(machine: Recorded, action: str, sentence: str) -> None:
    env = begun(machine)
    before = env.fingerprint()
    obs, reward, ended, _, info = env.step(action)
    assert sentence.lower() in obs["state"].lower()
    assert (reward, ended, info["invalid_action"]) == (0.0, False, True)
    assert env.fingerprint() == before
    assert machine.machine.inputs == []


def test_a_snapshot_is_found_again_by_playing_it_again(machine: Recorded) -> None:
    env = begun(machine)
    env.step(MENU)
    saved, mark = env.snapshot(), env.fingerprint()
    env.step(ESCAPE)
    machine.machine.files[WANTED] = b"something"
    obs, _ = env.restore(saved)
    assert env.fingerprint() == mark
    assert 'menu-item "' in obs["elements"]
    assert WANTED not in machine.machine.files


def test_an_episode_that_does_not_repeat_itself_is_told(machine: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    env = begun(machine)
    env.step(MENU)
    saved = env.snapshot()
    env.step(ESCAPE)
    monkeypatch.setattr(machine.machine, "play", lambda inputs: None)  # from now on nothing has an effect
    with pytest.raises(SnapshotError, match="led to another one when they were played again"):
        env.restore(saved)


def test_a_machine_of_somebody_elses_restores_nothing(machine: Recorded) -> None:
    env = begun(machine.computer.address)
    saved = env.snapshot()
    env.step(MENU)
    with pytest.raises(SnapshotError, match="cannot be made as new from here"):
        env.restore(saved)


def test_the_files_of_the_task_belong_to_the_state(machine: Recorded) -> None:
    env = begun(machine)
    marks = [env.fingerprint()]
    for content in (b"one", b"two"):
        machine.machine.files[WANTED] = content
        env.step('{"action_type": "wait"}')
        marks.append(env.fingerprint())
    assert len(set(marks)) == 3


def test_a_machine_that_fails_costs_the_episode_and_no_more(machine: Recorded) -> None:
    env = begun(machine)
    machine.machine.misbehave("status", times=50)
    with pytest.raises(HostingError, match="the recorded machine failed over"):
        env.step(MENU)
    with pytest.raises(HostingError, match="call reset"):
        env.step(MENU)
    machine.machine.times = 0
    env.reset(options={"task": "os/plain"})
    _, _, _, _, info = env.step(MENU)
    assert not info["invalid_action"]


@pytest.mark.parametrize(("key", "sentence"), [
    ("outside", "/etc/passwd"), ("account", "account"), ("strange", "exact_macth"),
])  # fmt: skip
def test_a_task_that_cannot_be_played_is_named(machine: Recorded, key: str, sentence: str) -> None:
    with pytest.raises(eapo_gym.errors.EapoError, match=sentence):
        begun(machine, key)
    assert machine.machine.commands == []


def test_what_is_unknown_is_named(machine: Recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Unknown source 'offical'"):
        OSWorldEnv(source="offical")
    with pytest.raises(UnknownName, match="domain 'vim'"):
        OSWorldEnv(domains=["vim"])
    with pytest.raises(UnknownName, match="split"):
        OSWorldEnv("evening")
    with pytest.raises(UnknownName, match="task"):
        opened(machine, tasks=["os/none"])
    with pytest.raises(ContractError, match="call reset"):
        opened(machine).step(DONE)
    with pytest.raises(ContractError, match="1920 × 1080 pixels"):
        begun(machine, width=1280, height=720)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(MissingData, match="eapo-gym data osworld"):
        opened(machine)


def test_an_episode_that_is_broken_off_is_judged_as_it_stands(machine: Recorded) -> None:
    env = gym.make(
        "eapo/OSWorld-v0", schema="native", split="all", source="official", computer=machine, max_steps=2,
        observation_mode="elements",
    )  # fmt: skip
    obs, _ = env.reset(options={"task": "os/plain"})
    assert "screenshot" not in obs
    machine.machine.files[WANTED] = b"here"
    _, reward, ended, cut, _ = env.step(MENU)
    assert (reward, ended, cut) == (0.0, False, False)
    _, reward, ended, cut, info = env.step(ESCAPE)
    assert (reward, ended, cut, info["won"]) == (1.0, False, True, True)
    env.close()


def test_the_explore_schema_goes_back_by_the_inverse(machine: Recorded) -> None:
    env = gym.make("eapo/OSWorld-v0", split="all", source="official", computer=machine, marks=True)
    obs, _ = env.reset(options={"task": "os/plain"})
    assert not np.array_equal(obs["marked"], obs["screenshot"])
    core: Any = env.unwrapped
    before = core.fingerprint()
    memory = "<explore>a menu</explore><memory>m</memory>"
    env.step(f"<think>t</think>{memory}<action>\\boxed{{{MENU}}}</action>")
    assert core.fingerprint() != before
    _, _, _, _, info = env.step(f"<think>t</think>{memory}<action>\\boxed{{rollback}}</action>")
    assert core.fingerprint() == before, info.get("rollback")
    env.close()
