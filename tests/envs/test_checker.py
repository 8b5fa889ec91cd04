"""The checker finds each fault with the right check and says what to change; what is right passes, wrapped or not."""

from __future__ import annotations

import io
import json
import pickle
import time
from functools import partial
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from eapo_gym.envs.base import Info, Obs
from eapo_gym.envs.checker import CHECKS, ContractBroken, check_agent_env, run_checks
from eapo_gym.envs.checker.seen import contrast
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import ContractError, UnknownName
from eapo_gym.wrappers import AgentWrapper, FormatReward, apply_schema
from tests.broken_envs import BROKEN, InfoLacksSource, InverseDoesNotInvert, RestoreForgetsLamp
from tests.toys import Corridor

if "eapo-test/Checked-v0" not in gym.registry:
    gym.register("eapo-test/Checked-v0", "tests.toys:Corridor", max_episode_steps=12)


def failed(env: gym.Env[Any, Any], **settings: Any) -> set[str]:
    return {finding.check for finding in run_checks(env, **{"cross_process": False, **settings}).findings}


# --- What is right ----------------------------------------------------------------------------------------------------


def test_a_healthy_environment_passes_every_check() -> None:
    report = check_agent_env(Corridor(render_mode="ansi"), make=partial(Corridor, render_mode="ansi"))
    assert report.ok
    assert not report.cut
    assert {o.name: o.note for o in report.outcomes if o.status == "skipped"} == {
        "wrappers": "no wrapper of the contract stands around the environment"
    }
    assert all(o.probes > 0 for o in report.outcomes if o.status == "passed")
    assert str(report).startswith("Corridor keeps the contract: 24 checks passed")


@settings(max_examples=15, deadline=None)
@given(rng_seed=st.integers(0, 10**6), seed=st.integers(0, 10**6), rooms=st.integers(1, 6))
def test_it_raises_no_false_alarm(rng_seed: int, seed: int, rooms: int) -> None:
    report = run_checks(Corridor(rooms), rng_seed=rng_seed, seeds=[seed], episodes=5, cross_process=False)
    assert report.ok, str(report)


class Unlisted(Corridor):
    """Knows what is valid, and does not tell."""

    _asks_itself = False

    def valid_actions(self) -> Any:
        return super().valid_actions() if self._asks_itself else None

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        self._asks_itself = True
        try:
            return super().step(action)
        finally:
            self._asks_itself = False

    def inverse(self, action: str) -> list[str]:
        return []


class Windy(Corridor):
    """Chance in every step, all of it from the seed, and in the snapshot."""

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        _, *rest = super().step(action)
        self._text += f" The wind blows from {self.np_random.integers(360)}°."
        return self._obs(), *rest

    def snapshot(self) -> Any:
        return super().snapshot(), self.np_random.bit_generator.state

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self.np_random.bit_generator.state = snapshot[1]
        return super().restore(snapshot[0])


class Limited(Corridor):
    """Ends its episodes by itself after 15 steps. The snapshot has the count, the fingerprint has not."""

    _steps = 0

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._steps = 0
        return super().reset(**kwargs)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        self._steps += 1
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, self._steps >= 15, info

    def snapshot(self) -> Any:
        return super().snapshot(), self._steps

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self._steps = snapshot[1]
        return super().restore(snapshot[0])


class Reporting(Corridor):
    """Says of each action whether it was one; then an answer may well look like the one to nonsense."""

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        valid = isinstance(action, str) and action in self.valid_actions()
        _, reward, terminated, truncated, info = super().step(action)
        if action == "look":
            self._text = "Nothing happens."
        return self._obs(), reward, terminated, truncated, {**info, "invalid_action": not valid}


@pytest.mark.parametrize("kind", [Unlisted, Windy, Limited, Reporting])
def test_unusual_environments_are_right_too(kind: type[Corridor]) -> None:
    report = check_agent_env(kind(), make=kind)
    assert {o.name for o in report.outcomes if o.status == "skipped"} == {"render", "wrappers"} | (
        {"valid-actions"} if kind is Unlisted else set()
    )


@pytest.mark.parametrize(
    "stack",
    [
        lambda env: TimeLimit(env, 10),
        lambda env: RecordEpisodeStatistics(TimeLimit(env, 10)),
        AgentWrapper,
        lambda env: apply_schema(env, "native", "inverse"),
        lambda env: apply_schema(TimeLimit(env, 10), "explore", "inverse"),
        lambda env: FormatReward(TimeLimit(apply_schema(env, "explore", "restore"), 10)),
    ],
    ids=["limit", "statistics", "bare", "rollback", "explore", "everything"],
)
def test_it_checks_through_a_stack(stack: Any) -> None:
    report = check_agent_env(stack(Corridor(render_mode="ansi")), cross_process=False)
    assert report.outcome("branching").probes > 0


def test_it_checks_what_gym_make_returns_and_builds_it_again_from_its_spec() -> None:
    report = check_agent_env(gym.make("eapo-test/Checked-v0", rooms=5))
    assert report.env == "eapo-test/Checked-v0"
    assert report.outcome("other-process").probes > 0


def test_it_checks_a_hosted_environment() -> None:
    with HostedEnv("tests.toys:Corridor", {"rooms": 5}, timeout=30) as env:
        report = check_agent_env(env, episodes=3, steps=12)
    assert report.outcome("other-process").probes > 0


def test_a_hosted_environment_is_found_out_as_well() -> None:
    with HostedEnv("tests.broken_envs:RestoreForgetsLamp", timeout=30) as env:
        assert failed(env, episodes=3) == {"restore"}


# --- What is broken ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "fault"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_fault_is_caught_by_the_right_check_alone(kind: type[Corridor], fault: Any) -> None:
    elsewhere = fault.check == "other-process"
    report = run_checks(kind(**fault.kwargs), make=kind, make_kwargs=fault.kwargs, cross_process=elsewhere, episodes=6)
    assert {finding.check for finding in report.findings} == {fault.check}, str(report)
    assert report.outcome(fault.check).status == "failed"
    message = "\n".join(map(str, report.findings))
    assert [word for word in fault.words if word not in message] == [], message
    for finding in report.findings:
        assert finding.title
        assert finding.expected
        assert finding.actual
        assert finding.fix.endswith((".", ".)"))
        assert finding.script


def test_every_check_has_a_fault_to_find() -> None:
    # The two that no bare environment can break are broken by wrappers, below.
    assert {fault.check for fault in BROKEN.values()} == {c.name for c in CHECKS} - {"wrappers", "branching"}


def test_all_findings_are_raised_together() -> None:
    class Both(InverseDoesNotInvert, InfoLacksSource):
        pass

    with pytest.raises(ContractError) as raised:
        check_agent_env(Both(), cross_process=False)
    error = raised.value
    assert isinstance(error, ContractBroken)
    assert {finding.check for finding in error.report.findings} == {"inverse", "info"}
    assert "[inverse] inverse() does not invert" in str(error)
    assert "[info] info lacks 'source'" in str(error)
    assert "Both breaks the contract: 2 of " in str(error)


def test_the_calls_of_a_finding_show_the_fault() -> None:
    (finding,) = run_checks(InverseDoesNotInvert(), cross_process=False).findings
    env = InverseDoesNotInvert()
    *calls, last, back = finding.script[0].split("; ")
    for call in calls:
        eval(f"env.{call}")
    before = env.fingerprint()
    assert last == "step('light lamp')"
    for call in (last, back):
        eval(f"env.{call}")
    assert env.fingerprint() != before


def test_what_depends_on_a_broken_promise_waits_for_it() -> None:
    report = run_checks(RestoreForgetsLamp(), cross_process=False)
    waiting = {o.name: o.note for o in report.outcomes if o.status == "skipped" and o.note.startswith("waits")}
    assert waiting == {
        "snapshot": "waits for restore",
        "restore-elsewhere": "waits for restore",
        "branching": "waits for snapshot, restore-elsewhere",
    }


def test_an_exception_is_a_finding_with_its_place() -> None:
    class Fragile(Corridor):
        def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
            if action == "take key":
                raise ZeroDivisionError("the key is hot")
            return super().step(action)

    (finding, *_) = run_checks(Fragile(), cross_process=False).findings
    assert finding.title == "step() raised ZeroDivisionError"
    assert "the key is hot" in finding.actual
    assert __file__ in finding.actual
    assert finding.script[0].endswith("step('take key')")


# --- Wrappers that break what is right --------------------------------------------------------------------------------


class Stale(AgentWrapper):
    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        result = super().reset(**kwargs)
        self._fingerprint = self.inner.fingerprint()
        return result

    def fingerprint(self) -> str:
        return self._fingerprint


class Counted(AgentWrapper):
    """Shows how many steps were taken."""

    taken = 0

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self.taken = 0
        return super().reset(**kwargs)

    def step(self, action: str) -> Any:
        self.taken += 1
        obs, *rest = super().step(action)
        return {**obs, "state": f"{obs['state']} ({self.taken} steps)"}, *rest


class NeverForgets(Counted):
    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        taken = self.taken
        result = super().reset(**kwargs)
        self.taken = taken
        return result

    def branch_state(self) -> Any:
        return self.taken

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        self.taken = state
        return obs, info


@pytest.mark.parametrize(
    ("wrapper", "check"), [(Stale, "wrappers"), (Counted, "branching"), (NeverForgets, "seeding")], ids=lambda v: str(v)
)
def test_a_broken_wrapper_is_found_out(wrapper: type[AgentWrapper], check: str) -> None:
    assert failed(wrapper(Corridor())) == {check}


def test_a_wrapper_with_an_unknown_state_is_named() -> None:
    class Mystery(gym.Wrapper[Any, Any, Any, Any]):
        pass

    (finding,) = run_checks(Mystery(Corridor()), cross_process=False).findings
    assert finding.check == "branching"
    assert "Mystery" in finding.actual
    assert "branch_state" in finding.actual


# --- Another process --------------------------------------------------------------------------------------------------


def elsewhere(env: gym.Env[Any, Any], **settings: Any) -> Any:
    return run_checks(env, episodes=1, **settings).outcome("other-process")


def test_it_says_why_it_could_not_build_the_environment_again() -> None:
    class Local(Corridor):
        pass

    assert elsewhere(Corridor(), cross_process=False).note == "cross_process=False"
    assert "pass make=Corridor" in elsewhere(Corridor()).note
    assert "cannot import" in elsewhere(Local(), make=Local).note
    assert "<lambda>" in elsewhere(Corridor(), make=lambda: Corridor()).note
    assert "rooms" in elsewhere(Corridor(), make=Corridor, make_kwargs={"rooms": object()}).note


class Recorded(Corridor, gym.utils.RecordConstructorArgs):
    def __init__(self, rooms: int) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, rooms=rooms)
        Corridor.__init__(self, rooms)


class Plain(Corridor):
    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)


@pytest.mark.parametrize(
    ("env", "make"),
    [
        (Corridor(), Corridor),
        (Corridor(), "tests.toys:Corridor"),
        (Corridor(5), partial(Corridor, rooms=5)),
        (Recorded(5), None),
        (Plain(render_mode="ansi"), None),
    ],
    ids=["class", "address", "partial", "recorded", "no arguments"],
)
def test_it_knows_ways_to_build_an_environment_again(env: Corridor, make: Any) -> None:
    outcome = elsewhere(env, make=make)
    assert (outcome.status, outcome.probes > 0) == ("passed", True), outcome.note


def test_a_maker_that_fails_elsewhere_is_a_finding() -> None:
    (finding,) = run_checks(Corridor(), make="tests.toys:NoSuchEnv", episodes=1).findings
    assert finding.check == "other-process"
    assert "NoSuchEnv" in finding.actual


def test_a_maker_that_builds_something_else_is_a_finding() -> None:
    (finding,) = run_checks(Corridor(), make=Corridor, make_kwargs={"rooms": 7}, episodes=4).findings
    assert finding.check == "other-process"


# --- Settings, budget, report -----------------------------------------------------------------------------------------


def test_the_budget_bounds_the_work_and_the_report_says_what_it_cut() -> None:
    whole = run_checks(Corridor(), cross_process=False)
    report = run_checks(Corridor(), cross_process=False, budget_steps=100)
    assert report.ok
    assert whole.steps > 10 * report.steps
    assert all(o.probes >= 1 for o in report.outcomes if o.status == "passed")
    cut = {o.name: (o.probes, o.planned) for o in report.cut}
    assert cut["restore"] == (1, 8)
    assert "restore after 1 of 8 probes" in str(report)
    assert not run_checks(Corridor(), cross_process=False, budget_steps=100_000).cut


class Slow(Corridor):
    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        time.sleep(0.005)
        return super().step(action)


def test_a_slow_environment_is_tried_less() -> None:
    # Uncut, this would be thousands of steps.
    report = run_checks(Slow(), cross_process=False, budget_seconds=0.2)
    assert report.ok
    assert {"seeding", "fingerprint", "restore", "branching"} <= {o.name for o in report.cut}
    assert all(o.probes >= 1 for o in report.outcomes if o.status == "passed")


def test_it_does_the_same_every_time() -> None:
    first, second = (run_checks(Corridor(), cross_process=False, rng_seed=3) for _ in range(2))
    assert first.steps == second.steps
    assert [(o.name, o.status, o.probes) for o in first.outcomes] == [
        (o.name, o.status, o.probes) for o in second.outcomes
    ]


def test_checks_can_be_left_out() -> None:
    report = run_checks(RestoreForgetsLamp(), cross_process=False, skip=("restore", "render"))
    assert report.outcome("restore").note == "as asked"
    assert report.outcome("snapshot").status == "failed"
    with pytest.raises(UnknownName, match="Did you mean 'restore'"):
        run_checks(Corridor(), skip=("restor",))


def test_bad_settings_and_other_environments_are_refused() -> None:
    with pytest.raises(ContractError, match="DiscreteEnv is none: subclass"):
        run_checks(DiscreteEnv())
    with pytest.raises(ValueError, match="at least one seed"):
        run_checks(Corridor(), seeds=())


class DiscreteEnv(gym.Env[int, int]):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)


def test_the_report_is_data_and_a_table() -> None:
    report = run_checks(InverseDoesNotInvert(), cross_process=False)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["ok"] is False
    assert data["findings"][0]["check"] == "inverse"
    out = io.StringIO()
    Console(file=out, width=200).print(report)
    table = out.getvalue()
    assert all(check.name in table and check.promise in table for check in CHECKS)
    assert "failed" in table


def test_the_error_can_travel_between_processes() -> None:
    error = ContractBroken(run_checks(InverseDoesNotInvert(), cross_process=False))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_progress_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = run_checks(Corridor(), cross_process=False)
    assert capsys.readouterr().out == ""
    assert len(run_checks(Corridor(), cross_process=False, progress=True).outcomes) == len(quiet.outcomes)


@given(
    same=st.text(max_size=2_000),
    a=st.text(max_size=400),
    b=st.text(max_size=400),
    end=st.text(max_size=2_000),
)
def test_a_contrast_shows_short_texts_that_differ_where_the_long_ones_do(same: str, a: str, b: str, end: str) -> None:
    first, second = contrast(same + a + end, same + b + end)
    assert (first == second) == (a == b)
    assert max(len(first), len(second)) < 3_000
