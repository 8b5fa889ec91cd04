"""The judges of the tasks about opening apps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.opening import PACKAGES, OpenAppTaskEval, TurnOnWifiAndOpenApp
from tests.envs.androidworld.somebody import Somebody


@pytest.mark.parametrize("name", PACKAGES)
def test_every_app_that_may_be_asked_for_is_there(name: str) -> None:
    somebody = Somebody(name)
    assert OpenAppTaskEval().judge(somebody.phone, {"app_name": name}, "") == 1
    others = {OpenAppTaskEval().judge(somebody.phone, {"app_name": other}, "") for other in PACKAGES if other != name}
    assert others == {0}


def test_wifi_and_the_app_are_half_of_it_each() -> None:
    task, params = TurnOnWifiAndOpenApp(), {"app_name": "clock"}
    somebody = Somebody()
    task.prepare(somebody.phone, params)
    assert task.judge(somebody.phone, params, "") == 0
    somebody.does(somebody.finger.open("clock"))
    assert task.judge(somebody.phone, params, "") == 0.5
    somebody.adb("svc", "wifi", "enable")
    assert task.judge(somebody.phone, params, "") == 1


def test_the_plan_grants_what_an_app_asks_for() -> None:
    somebody = Somebody()
    somebody.phone.state = replace(somebody.phone.state, granted=frozenset())
    for action in OpenAppTaskEval().plan(somebody.finger, {"app_name": "camera"}):
        if action.action_type != "status":
            somebody.does(action)
    assert somebody.sees("Shutter")


def test_every_app_is_asked_for_now_and_then() -> None:
    drawn = {OpenAppTaskEval().draw(TaskDice("opening", seed))["app_name"] for seed in range(100)}
    assert drawn == set(PACKAGES)
