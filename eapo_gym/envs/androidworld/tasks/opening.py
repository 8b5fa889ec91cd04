"""Tasks about opening apps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.phone.apps.settings import PACKAGE as SETTINGS
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.envs.androidworld.tasks.system import SystemWifiTurnOn

PACKAGES: Mapping[str, str] = {
    "camera": "com.android.camera2",
    "clock": "com.google.android.deskclock",
    "contacts": "com.google.android.contacts",
    "settings": SETTINGS,
    "dialer": "com.google.android.dialer",
}
"""The apps that may be asked for, as the goal calls them."""


class OpenAppTaskEval(Task):
    template = (
        "Open the {app_name} app. Clear any pop-ups that may appear by granting all permissions that are required."
    )
    complexity = 1
    difficulty = "easy"
    apps = tuple(PACKAGES.values())

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"app_name": dice.pick(tuple(PACKAGES))}

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(phone.state.front.package == PACKAGES[params["app_name"]])

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open(finger, params["app_name"])
        yield finger.done()


class TurnOnWifiAndOpenApp(Task):
    template = "Turn on Wifi, then open the {app_name} app"
    complexity = 2
    difficulty = "easy"
    apps = tuple(PACKAGES.values())

    _wifi: ClassVar[Task] = SystemWifiTurnOn()
    _app: ClassVar[Task] = OpenAppTaskEval()
    _ON: ClassVar[Params] = {"on_or_off": "on"}

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return self._app.draw(dice)

    def prepare(self, phone: Phone, params: Params) -> None:
        self._wifi.prepare(phone, self._ON)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return (self._wifi.judge(phone, self._ON, answer) + self._app.judge(phone, params, answer)) / 2

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from (step for step in self._wifi.plan(finger, self._ON) if step.action_type != "status")
        yield from _open(finger, params["app_name"])
        yield finger.done()


def _open(finger: Finger, name: str) -> Plan:
    yield finger.open(name)
    while finger.sees("Allow"):
        yield finger.tap("Allow")


TASKS = (OpenAppTaskEval, TurnOnWifiAndOpenApp)
