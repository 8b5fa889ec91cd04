"""A device that fails when it is told to, for tests of what happens then. Runs where android_world is."""

from typing import Any

import numpy as np

from eapo_gym.envs.androidworld.device.connection import PhoneConnection
from eapo_gym.envs.androidworld.device.env import AndroidDeviceEnv


class TroubledConnection(PhoneConnection):
    trouble = ""
    restarts = 0

    def pixels(self) -> np.ndarray:
        if self.trouble == "grpc":
            from android_env.components import errors

            raise errors.SimulatorError("Failed to connect to the emulator.")
        return super().pixels()

    def open(self) -> None:
        super().open()
        call = self.env.controller.execute_adb_call
        self.env.controller.execute_adb_call = lambda request: self._adb(call, request)
        if self.trouble == "no states":
            self.env.controller.save_state = self._refuse

    def _adb(self, call: Any, request: Any) -> Any:
        from android_env.components import errors

        gone = self.trouble == "adb" or (self.trouble == "refuses" and request.HasField("press_button"))
        if gone:
            raise errors.AdbControllerError("Error executing adb command: [adb]\nCaused by: status 1")
        return call(request)

    def _refuse(self, request: Any) -> Any:
        raise NotImplementedError("This simulator does not support save_state()")

    def restart(self) -> None:
        self.trouble = ""
        self.restarts += 1
        super().restart()


class TroubledEnv(AndroidDeviceEnv):
    def __init__(self, trouble: str = "", **kwargs: Any) -> None:
        kwargs.pop("device", None)
        connection = TroubledConnection()
        connection.trouble = trouble
        super().__init__(connection, **kwargs)

    def fail(self, trouble: str) -> None:
        self.connection.trouble = trouble  # type: ignore[attr-defined]

    def restarts(self) -> int:
        return self.connection.restarts  # type: ignore[attr-defined,no-any-return]

    def held_snapshots(self) -> tuple[int, int]:
        """How many names were ever given to snapshots, and how many of them nobody holds."""
        saved = self.connection.env.controller.raw_env._simulator._saved
        return len(saved), len(self._unused)
