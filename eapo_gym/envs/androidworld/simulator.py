"""The embedded phone as one of android-env's simulators, so that everything above it runs unchanged.

    env = android_env_with(phone)        # an `android_env.environment.AndroidEnv`

It needs the package android-env (the extra `androidworld`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
from android_env import environment
from android_env.components import adb_controller, config_classes, coordinator, device_settings, errors, log_stream
from android_env.components import task_manager as task_managers
from android_env.components.simulators import base_simulator
from android_env.proto import state_pb2, task_pb2

from eapo_gym.envs.androidworld.phone.adb import SERIAL, Adb, AdbError
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.phone.state import State

TOUCH_SECONDS = 0.1
"""By the phone's clock, between two reports of a finger that stays down."""


class PhoneAdbController(adb_controller.AdbController):
    """Answers what android-env asks of `adb`. No server and no program is started."""

    def __init__(self, phone: Phone) -> None:
        super().__init__(config_classes.AdbControllerConfig(device_name=SERIAL))
        self._adb = Adb(phone)

    def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
        try:
            return self._adb.run(args)
        except AdbError as error:
            raise errors.AdbControllerError(str(error)) from error


class NoLogs(log_stream.LogStream):
    """The phone writes no log."""

    def _get_stream_output(self) -> Iterator[str]:
        return iter(())

    def stop_stream(self) -> None:
        """There is nothing to stop."""


class PhoneSimulator(base_simulator.BaseSimulator):
    """What android-env knows of a device: pictures, touches, keys, and states that are saved and loaded."""

    def __init__(self, phone: Phone, config: config_classes.SimulatorConfig | None = None) -> None:
        super().__init__(config or config_classes.SimulatorConfig(interaction_rate_sec=0))
        self.phone = phone
        self._saved: dict[str, State] = {}
        self._down: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None
        self._held = 0.0
        self._lock = threading.Lock()

    def get_logs(self) -> str:
        return "The embedded phone keeps no logs."

    def adb_device_name(self) -> str:
        return SERIAL

    def create_adb_controller(self) -> adb_controller.AdbController:
        return PhoneAdbController(self.phone)

    def create_log_stream(self) -> log_stream.LogStream:
        return NoLogs()

    def _launch_impl(self) -> None:
        """It is running already."""

    def send_touch(self, touches: list[tuple[int, int, bool, int]]) -> None:
        """One finger: where it came down and where it left makes a touch, a hold or a swipe."""
        with self._lock:
            for x, y, is_down, identifier in touches:
                if identifier:
                    continue
                if is_down:
                    self._held = 0.0 if self._down is None else self._held + TOUCH_SECONDS
                    self._down = self._down or (int(x), int(y))
                    self._last = int(x), int(y)
                elif self._down is not None and self._last is not None:
                    self._lift(self._down, self._last, self._held)
                    self._down = self._last = None

    def _lift(self, down: tuple[int, int], last: tuple[int, int], held: float) -> None:
        self.phone.swipe(*down, *last, seconds=max(held, TOUCH_SECONDS))

    def send_key(self, keycode: np.int32, event_type: str) -> None:
        if event_type in ("keydown", "keypress"):
            self.phone.key(int(keycode))

    def save_state(self, request: state_pb2.SaveStateRequest) -> state_pb2.SaveStateResponse:
        self._saved[request.args.get("snapshot_name", "default")] = self.phone.state
        return state_pb2.SaveStateResponse(status=state_pb2.SaveStateResponse.Status.OK)

    def load_state(self, request: state_pb2.LoadStateRequest) -> state_pb2.LoadStateResponse:
        name = request.args.get("snapshot_name", "default")
        if name not in self._saved:
            return state_pb2.LoadStateResponse(
                status=state_pb2.LoadStateResponse.Status.NOT_FOUND,
                error_message=f"There is no saved state {name!r}: save one with that name first.",
            )
        self.phone.state = self._saved[name]
        return state_pb2.LoadStateResponse(status=state_pb2.LoadStateResponse.Status.OK)

    def _get_screenshot_impl(self) -> np.ndarray:
        with self._lock:
            return np.asarray(self.phone.picture())


def android_env_with(phone: Phone, task: task_pb2.Task | None = None) -> environment.AndroidEnv:
    """android-env on the embedded phone, with a task that never ends an episode."""
    simulator = PhoneSimulator(phone)
    manager = task_managers.TaskManager(task or task_pb2.Task(id="eapo-gym", name="Any task"))
    settings = device_settings.DeviceSettings(simulator)
    coordinating = coordinator.Coordinator(simulator, manager, settings)
    return environment.AndroidEnv(simulator=simulator, coordinator=coordinating, task_manager=manager)
