"""Tasks about the timer and the stopwatch."""

from __future__ import annotations

from typing import Any

from eapo_gym.envs.androidworld.phone.apps.clock import PACKAGE
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger


class _Clock(Task):
    """The clock is to show something; before, it is as it was when it was new."""

    complexity = 1
    difficulty = "easy"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {}

    def prepare(self, phone: Phone, params: Params) -> None:
        phone.clear(PACKAGE)


class ClockTimerEntry(_Clock):
    template = "Create a timer with {hours} hours, {minutes} minutes, and {seconds} seconds. Do not start the timer."

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"hours": dice.between(0, 23), "minutes": dice.between(0, 59), "seconds": dice.between(0, 59)}

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        hours, minutes, seconds = params["hours"], params["minutes"], params["seconds"]
        said = f"{hours:02d}h {minutes:02d}m {seconds:02d}s"
        desc = f"{hours} hours, {minutes} minutes, {seconds} seconds"
        shown = any(node.text == said or node.view.desc == desc for node in phone.nodes())
        return float(_is_in_front(phone) and shown)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_tab(finger, "Timer")
        if finger.sees("Add timer"):
            yield finger.tap("Add timer")
        digits = f"{params['hours']:02d}{params['minutes']:02d}{params['seconds']:02d}".lstrip("0")
        for digit in digits:
            yield finger.tap(digit)
        yield finger.done()


class ClockStopWatchPausedVerify(_Clock):
    template = "Pause the stopwatch."

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        starts = any(node.view.desc == "Start" for node in phone.nodes())
        named = sum("Stopwatch" in (node.view.desc, node.text) and node.view.desc != "Start" for node in phone.nodes())
        return float(_is_in_front(phone) and starts and named >= 2)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_tab(finger, "Stopwatch")
        if finger.sees("Pause"):
            yield finger.tap("Pause")
        yield finger.done()


class ClockStopWatchRunning(_Clock):
    template = "Run the stopwatch."

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        shown = {node.view.desc for node in phone.nodes()}
        return float(_is_in_front(phone) and {"Pause", "Lap"} <= shown)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_tab(finger, "Stopwatch")
        if finger.sees("Start"):
            yield finger.tap("Start")
        yield finger.done()


def _is_in_front(phone: Phone) -> bool:
    """The screen with the tabs is; the clock's other screens do not count."""
    return "DeskClock" in phone.state.front.component


def _to_tab(finger: Finger, name: str) -> Plan:
    yield from finger.begin("Clock")
    # The title comes before the tab of that name.
    yield finger.tap(name, kind="LinearLayout")


TASKS = (ClockStopWatchPausedVerify, ClockStopWatchRunning, ClockTimerEntry)
