from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from gymnasium import wrappers as gym_wrappers
from gymnasium.error import ResetNeeded
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.base import Info
from eapo_gym.errors import ActionError, UnknownName
from eapo_gym.wrappers import Rollback, RollbackMode
from tests.toys import COMMANDS, Corridor
from tests.toys_gui import EXAMPLES, Pages
from tests.wrappers.stacks import CORRIDOR, corridor, say

MODES: list[RollbackMode] = ["inverse", "restore"]


def started(mode: RollbackMode = "inverse", bare: Corridor | None = None) -> Rollback:
    env = Rollback(bare or Corridor(), mode)
    env.reset(options={"task": "train/key-in-2"})
    return env


def report(env: Any) -> Info:
    rollback: Info = env.step("rollback")[4]["rollback"]
    return rollback


@pytest.mark.parametrize("mode", MODES)
def test_one_change_back(mode: RollbackMode) -> None:
    env = started(mode)
    obs, info = env.reset(options={"task": "train/key-in-2"})
    before = info["fingerprint"]
    env.step("right")

    rolled_back, reward, terminated, truncated, info = env.step("rollback")

    assert env.fingerprint() == info["fingerprint"] == before
    assert rolled_back == obs
    assert (reward, terminated, truncated) == (0.0, False, False)
    action = "left" if mode == "inverse" else None
    assert info["rollback"] == {"mode": mode, "action": action, "held": True, "target": before, "reason": None}


@pytest.mark.parametrize("mode", MODES)
def test_change_after_change_back_to_the_start(mode: RollbackMode) -> None:
    env = started(mode)
    fingerprints = [env.fingerprint()]
    for action in ("right", "look", "right", "take key", "take key", "left"):
        if env.step(action)[4]["fingerprint"] != fingerprints[-1]:
            fingerprints.append(env.fingerprint())
    assert len(fingerprints) == 5
    for fingerprint in reversed(fingerprints[:-1]):
        assert report(env)["held"]
        assert env.fingerprint() == fingerprint
    assert not report(env)["held"]


@pytest.mark.parametrize("mode", MODES)
def test_with_nothing_to_take_back_the_environment_is_not_stepped(mode: RollbackMode) -> None:
    env = started(mode)
    before, _, _, _, _ = env.step("look")
    for _ in range(2):
        obs, reward, terminated, truncated, info = env.step("rollback")
        notice = "The rollback did nothing: nothing has changed that could be taken back."
        assert obs == {**before, "state": f"{before['state']}\n{notice}"}
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert info["notice"] == notice
        assert info["fingerprint"] == env.fingerprint()
        assert info["rollback"]["reason"] == "nothing has changed that could be taken back"
        assert info["rollback"]["action"] is info["rollback"]["target"] is None
        assert info["task"] == "train/key-in-2"
    assert "rollback" not in env.step("look")[4]


def test_what_has_no_inverse_is_taken_back_by_restore_only() -> None:
    env = started("inverse")
    env.step("right")
    env.step("light lamp")
    lit = env.fingerprint()
    obs, _, _, _, info = env.step("rollback")
    assert env.fingerprint() == lit
    assert obs["state"].endswith("The rollback did nothing: nothing takes back 'light lamp'.")
    assert info["rollback"]["reason"] == "nothing takes back 'light lamp'"
    assert not report(env)["held"], "and what came before it stays out of reach"

    env = started("restore")
    env.step("right")
    dark = env.fingerprint()
    env.step("light lamp")
    assert report(env)["held"]
    assert env.fingerprint() == dark


class Slippery(Corridor):
    """Names ways back out of the first room of which the first leads nowhere, or somewhere else."""

    def __init__(self, *ways: str) -> None:
        super().__init__()
        self.ways = ways

    def inverse(self, action: str) -> list[str]:
        return list(self.ways) if action == "right" and self._at == 0 else super().inverse(action)


def test_a_way_back_that_changes_nothing_is_not_tried_twice() -> None:
    env = started(bare=Slippery("look", "left"))
    start = env.fingerprint()
    env.step("right")
    there = env.fingerprint()

    first = report(env)
    assert (first["action"], first["held"], first["target"]) == ("look", False, start)
    assert first["reason"] == "the state is not the one before"
    assert env.fingerprint() == there

    second = report(env)
    assert (second["action"], second["held"]) == ("left", True)
    assert env.fingerprint() == start


def test_a_way_back_that_leads_elsewhere_is_a_change_to_be_taken_back() -> None:
    env = started(bare=Slippery("right", "left"))
    start = env.fingerprint()
    env.step("right")

    astray = report(env)
    assert (astray["action"], astray["held"]) == ("right", False)
    assert env.fingerprint() == "train/key-in-2|2|2|False|False"

    for room in (1, 0):
        back = report(env)
        assert (back["action"], back["held"]) == ("left", True)
        assert env.fingerprint() == f"train/key-in-2|{room}|2|False|False"
    assert env.fingerprint() == start


@pytest.mark.parametrize("mode", MODES)
def test_rollback_wherever_it_is_written(mode: RollbackMode) -> None:
    env = started(mode)
    for text in ("rollback", " Rollback\n", '{"action_type": "rollback"}', "{{action_type: rollback}}"):
        assert env.parse_action(text) == "rollback"
        env.step("right")
        assert env.step(text)[4]["rollback"]["held"]
    for text in ("roll back", "rollback now", '{"action_type": "rollback", "index": 1}', "rollback" * 1000):
        with pytest.raises(ActionError):
            env.parse_action(text)
        assert "rollback" not in env.step(text)[4]


@pytest.mark.parametrize("mode", MODES)
def test_it_is_listed_while_it_would_do_something(mode: RollbackMode) -> None:
    env = started(mode)
    assert "rollback" not in env.valid_actions()  # type: ignore[operator]
    env.step("right")
    assert env.valid_actions() == [*env.inner.valid_actions(), "rollback"]  # type: ignore[misc]
    env.step("light lamp")
    assert ("rollback" in env.valid_actions()) == (mode == "restore")  # type: ignore[operator]
    assert "rollback" in env.action_space.examples  # type: ignore[attr-defined]
    assert set(COMMANDS) < set(env.action_space.examples)  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", MODES)
def test_doing_again_is_the_inverse_of_a_rollback(mode: RollbackMode) -> None:
    env = started(mode)
    assert env.inverse("rollback") == []
    env.step("right")
    after = env.fingerprint()
    assert env.inverse("rollback") == ["right"]
    assert env.inverse("left") == ["right"]
    env.step("rollback")
    env.step("right")
    assert env.fingerprint() == after


def test_where_actions_cannot_be_listed_they_are_not() -> None:
    env = Rollback(Pages())
    env.reset(options={"task": "train/button-0"})
    env.step(EXAMPLES[0])
    assert env.valid_actions() is None
    assert report(env) | {"target": None} == {
        "mode": "inverse",
        "action": EXAMPLES[2],
        "held": True,
        "target": None,
        "reason": None,
    }


@pytest.mark.parametrize("mode", MODES)
def test_every_step_says_what_kind_of_rollback_there_is(mode: RollbackMode) -> None:
    env = started(mode)
    infos = [env.reset()[1], env.step("right")[4], env.step("rollback")[4], env.step("rollback")[4]]
    assert [info["rollback_mode"] for info in infos] == [mode] * 4


def test_reward_and_end_of_the_way_back_pass_through() -> None:
    class Odd(Corridor):
        """Whoever goes left wins."""

        def step(self, action: str):  # type: ignore[no-untyped-def]
            obs, reward, _, truncated, info = super().step(action)
            return obs, 7 if action == "left" else reward, action == "left", truncated, info

    env = started(bare=Odd())
    env.step("right")
    _, reward, terminated, _, info = env.step("rollback")
    assert (reward, terminated, info["rollback"]["held"]) == (7.0, True, True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit_outside", [True, False])
def test_every_rollback_costs_a_step(mode: RollbackMode, limit_outside: bool) -> None:
    def limit(env: Any) -> Any:
        return gym_wrappers.TimeLimit(env, 4)

    env = limit(Rollback(Corridor(), mode)) if limit_outside else Rollback(limit(Corridor()), mode)
    env.reset(seed=0)
    assert [env.step(action)[3] for action in ("right", "rollback", "rollback", "look")] == [False, False, False, True]
    env.reset(seed=0)
    assert [env.step(action)[3] for action in ("right", "right", "look", "rollback")] == [False, False, False, True]


def test_memory_visits_and_steps_go_on_through_a_rollback() -> None:
    env = gym.make(CORRIDOR, rollback="inverse")
    obs, info = env.reset(seed=0)
    start = info["fingerprint"]
    env.step(say("right", memory="room 1 is empty"))
    obs, _, _, _, info = env.step(say("rollback", explore="try elsewhere", memory=None))
    assert info["fingerprint"] == start
    assert (obs["explore"], obs["memory"]) == ("try elsewhere", "room 1 is empty")
    assert info["visits"] == 1
    assert env.get_wrapper_attr("_elapsed_steps") == 2


def test_after_a_restore_there_is_nothing_to_take_back() -> None:
    for mode in MODES:
        env = started(mode)
        snapshot = env.snapshot()
        env.step("right")
        _, info = env.restore(snapshot)
        assert info["fingerprint"] == env.fingerprint()
        assert report(env)["reason"] == "nothing has changed that could be taken back"


def test_a_new_episode_forgets_the_last() -> None:
    for mode in MODES:
        env = started(mode)
        env.step("right")
        env.reset(options={"task": "train/key-in-1"})
        assert not report(env)["held"]


def test_a_snapshot_is_taken_once_per_state() -> None:
    class Slow(Corridor):
        taken = 0

        def snapshot(self) -> Any:
            self.taken += 1
            return super().snapshot()

    env = started("restore", bare := Slow())
    for action in ("look", "look", "right", "look", "rollback", "look", "left", "right"):
        env.step(action)
    assert bare.taken == 2, "the start, and the room to the right; the start is known when it is come back to"


class Replayed(Corridor):
    """Says that its snapshots are dear, and counts what it is asked for."""

    snapshot_kind = "replay"
    snapshots = inverses = 0

    def snapshot(self) -> Any:
        self.snapshots += 1
        return super().snapshot()

    def inverse(self, action: str) -> list[str]:
        self.inverses += 1
        return super().inverse(action)


class Copied(Replayed):
    snapshot_kind = "copy"


def test_what_undoes_an_action_is_asked_where_it_is_cheaper() -> None:
    env = started(bare=(replayed := Replayed()))
    env.step("right")
    env.step("rollback")
    assert (replayed.snapshots, replayed.inverses) == (0, 2)

    env = started(bare=(copied := Copied()))
    for _ in range(3):
        env.step("right")
    assert copied.inverses == 0
    env.step("rollback")
    assert copied.inverses == 1


@given(st.lists(st.sampled_from((*COMMANDS, "rollback", "rollback")), max_size=25))
def test_and_makes_no_other_difference(actions: list[str]) -> None:
    dear, cheap = started(bare=Replayed()), started(bare=Copied())
    for action in actions:
        assert dear.step(action) == cheap.step(action)
        assert dear.valid_actions() == cheap.valid_actions()
        assert dear.inverse("rollback") == cheap.inverse("rollback")


@given(st.lists(st.sampled_from((*COMMANDS, "rollback")), max_size=25), st.sampled_from(MODES))
def test_a_rollback_that_held_is_where_the_last_change_was_made(actions: list[str], mode: RollbackMode) -> None:
    """Against a model of it: a stack of fingerprints."""
    env = started(mode)
    here, stack = env.fingerprint(), []
    for action in actions:
        info = env.step(action)[4]
        if action != "rollback":
            if info["fingerprint"] != here:
                stack.append(here)
        elif info["rollback"]["held"]:
            assert info["fingerprint"] == info["rollback"]["target"] == stack.pop()
        else:
            assert info["fingerprint"] == here, "the ways back of this environment hold or are not there"
            assert mode == "inverse" or not stack
        here = env.fingerprint()
        assert info["fingerprint"] == here


def test_misuse_is_named() -> None:
    with pytest.raises(UnknownName, match=r"Unknown rollback mode 'inverted'.*Did you mean 'inverse'"):
        Rollback(Corridor(), "inverted")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a command \(str\), got NoneType"):
        started().step(None)  # type: ignore[arg-type]
    with pytest.raises(ResetNeeded):
        Rollback(Corridor()).step("rollback")
    env = corridor("native", "inverse")
    env.reset(seed=0)
    assert env.step("fly")[0]["state"] == "Nothing happens."
