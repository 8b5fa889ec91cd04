"""The judges of the clock's tasks: what they take for done, and what not."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.clock import ClockStopWatchPausedVerify, ClockStopWatchRunning, ClockTimerEntry
from tests.envs.androidworld.somebody import Somebody

TIMER = {"hours": 1, "minutes": 2, "seconds": 3}


@pytest.mark.parametrize(
    ("taps", "running", "paused"),
    [
        (["Stopwatch"], 0, 1),
        (["Stopwatch", "Start"], 1, 0),
        (["Stopwatch", "Start", "Pause"], 0, 1),
        (["Stopwatch", "Start", "Pause", "Reset"], 0, 1),
        (["Stopwatch", "Start", "Timer"], 0, 0),
        (["Timer"], 0, 0),
        (["Timer", "5"], 0, 0),
        (["Timer", "5", "Start"], 0, 0),
        (["Stopwatch", "Start", "More options", "Settings"], 0, 0),
    ],
)
def test_the_stopwatch_counts_only_while_it_is_seen(taps: list[str], running: float, paused: float) -> None:
    somebody = Somebody("Clock")
    somebody.taps(*taps)
    assert ClockStopWatchRunning().judge(somebody.phone, {}, "") == running
    assert ClockStopWatchPausedVerify().judge(somebody.phone, {}, "") == paused


@pytest.mark.parametrize(
    ("taps", "score"),
    [
        ("1 0 2 0 3", 1),
        ("0 0 1 0 2 0 3", 1),
        ("1 0 2 0 4 Delete 3", 1),
        ("1 2 3", 0),
        ("6 2 0 3", 0),
        ("1 0 2 0 3 Start", 0),
        ("1 0 2 0 3 Alarm", 0),
    ],
)
def test_the_timer_is_to_be_set_and_not_started(taps: str, score: float) -> None:
    somebody = Somebody("Clock")
    somebody.taps("Timer", *taps.split())
    assert ClockTimerEntry().judge(somebody.phone, TIMER, "") == score


def test_another_app_in_front_hides_the_timer() -> None:
    somebody = Somebody("Clock")
    somebody.taps("Timer", "1", "0", "2", "0", "3")
    somebody.does(somebody.finger.open("Settings"))
    assert ClockTimerEntry().judge(somebody.phone, TIMER, "") == 0


def test_before_a_task_the_clock_is_as_new() -> None:
    somebody = Somebody("Clock")
    somebody.taps("Stopwatch", "Start")
    ClockStopWatchRunning().prepare(somebody.phone, {})
    assert somebody.phone.state.at_home
    somebody.does(somebody.finger.open("Clock"))
    somebody.taps("Stopwatch")
    assert somebody.sees("00:00.00")


def test_the_parameters_are_times_of_a_day() -> None:
    drawn = [ClockTimerEntry().draw(TaskDice("clock", seed)) for seed in range(300)]
    assert {params["hours"] for params in drawn} == set(range(24))
    assert max(params["minutes"] for params in drawn) == 59
    assert min(params["seconds"] for params in drawn) == 0
