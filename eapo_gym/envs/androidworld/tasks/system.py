"""Tasks about what the system can do: Wi-Fi, Bluetooth, brightness, opening apps."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.phone.apps.settings import PACKAGE
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger

BRIGHTEST, DARKEST = "255", "1"


class _Setting(Task):
    """Something is to be switched so, whether it is so already or not."""

    complexity = 1
    difficulty = "easy"
    apps = (PACKAGE,)

    parameter: ClassVar[str]
    wanted: ClassVar[str]
    begins: ClassVar[str]
    """What it is before."""

    namespace: ClassVar[str] = "global"
    setting: ClassVar[str]

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {self.parameter: self.wanted}

    def prepare(self, phone: Phone, params: Params) -> None:
        phone.state = phone.state.with_setting(self.namespace, self.setting, self._value(self.begins))

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(phone.state.setting(self.namespace, self.setting) in self._values(params[self.parameter]))

    @abstractmethod
    def _value(self, said: str) -> str: ...

    def _values(self, said: str) -> tuple[str, ...]:
        return (self._value(said),)


class _Wifi(_Setting):
    template = "Turn wifi {on_or_off}."
    parameter, setting = "on_or_off", "wifi_on"

    def _value(self, said: str) -> str:
        return "1" if said == "on" else "0"

    def _values(self, said: str) -> tuple[str, ...]:
        # With airplane mode on, Wi-Fi that is on has the value 2.
        return ("1", "2") if said == "on" else ("0",)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_wifi(finger)
        yield from _switch(finger, "Wi-Fi", on=params["on_or_off"] == "on")
        yield finger.done()


class SystemWifiTurnOn(_Wifi):
    wanted, begins = "on", "off"


class SystemWifiTurnOff(_Wifi):
    wanted, begins = "off", "on"


class SystemWifiTurnOnVerify(_Wifi):
    wanted, begins = "on", "on"


class SystemWifiTurnOffVerify(_Wifi):
    wanted, begins = "off", "off"


class _Bluetooth(_Setting):
    template = "Turn bluetooth {on_or_off}."
    parameter, setting = "on_or_off", "bluetooth_on"

    def _value(self, said: str) -> str:
        return "1" if said == "on" else "0"

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_bluetooth(finger)
        yield from _switch(finger, "Use Bluetooth", on=params["on_or_off"] == "on")
        yield finger.done()


class SystemBluetoothTurnOn(_Bluetooth):
    wanted, begins = "on", "off"


class SystemBluetoothTurnOff(_Bluetooth):
    wanted, begins = "off", "on"


class SystemBluetoothTurnOnVerify(_Bluetooth):
    wanted, begins = "on", "on"


class SystemBluetoothTurnOffVerify(_Bluetooth):
    wanted, begins = "off", "off"


class _Brightness(_Setting):
    template = "Turn brightness to the {max_or_min} value."
    parameter, namespace, setting = "max_or_min", "system", "screen_brightness"

    def _value(self, said: str) -> str:
        return BRIGHTEST if said == "max" else DARKEST

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Settings")
        yield from finger.scroll_to("Display")
        yield finger.tap("Display")
        yield finger.tap("Brightness level")
        yield finger.slide("Display brightness", 1.0 if params["max_or_min"] == "max" else 0.0)
        yield finger.done()


class SystemBrightnessMax(_Brightness):
    wanted, begins = "max", "min"


class SystemBrightnessMin(_Brightness):
    wanted, begins = "min", "max"


class SystemBrightnessMaxVerify(_Brightness):
    wanted, begins = "max", "max"


class SystemBrightnessMinVerify(_Brightness):
    wanted, begins = "min", "min"


class TurnOffWifiAndTurnOnBluetooth(Task):
    template = "Turn off WiFi, then enable bluetooth"
    complexity = 2
    difficulty = "medium"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {}

    def prepare(self, phone: Phone, params: Params) -> None:
        phone.state = phone.state.with_setting("global", "wifi_on", "1").with_setting("global", "bluetooth_on", "0")

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        wifi_off = phone.state.setting("global", "wifi_on") == "0"
        return (wifi_off + (phone.state.setting("global", "bluetooth_on") == "1")) / 2

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_wifi(finger)
        yield from _switch(finger, "Wi-Fi", on=False)
        yield from _to_bluetooth(finger)
        yield from _switch(finger, "Use Bluetooth", on=True)
        yield finger.done()


def _to_wifi(finger: Finger) -> Plan:
    yield from finger.begin("Settings")
    yield from finger.scroll_to("Network & internet")
    yield finger.tap("Network & internet")
    yield finger.tap("Internet")


def _to_bluetooth(finger: Finger) -> Plan:
    yield from finger.begin("Settings")
    yield from finger.scroll_to("Connected devices")
    yield finger.tap("Connected devices")
    yield finger.tap("Connection preferences")
    yield finger.tap("Bluetooth")


def _switch(finger: Finger, name: str, *, on: bool) -> Plan:
    """The switch that stands beside a name."""
    if finger.is_on(name) != on:
        yield finger.tap(name)


TASKS = (
    SystemBluetoothTurnOff,
    SystemBluetoothTurnOffVerify,
    SystemBluetoothTurnOn,
    SystemBluetoothTurnOnVerify,
    SystemBrightnessMax,
    SystemBrightnessMaxVerify,
    SystemBrightnessMin,
    SystemBrightnessMinVerify,
    SystemWifiTurnOff,
    SystemWifiTurnOffVerify,
    SystemWifiTurnOn,
    SystemWifiTurnOnVerify,
    TurnOffWifiAndTurnOnBluetooth,
)
