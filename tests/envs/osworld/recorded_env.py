"""The environment on a recorded machine of its own, which can be made as new."""

from __future__ import annotations

from typing import Any

from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.env import OSWorldEnv
from tests.envs.osworld.recorded import RecordedMachine, recorded_server


class Recorded:
    """A machine that can be made as new, as a virtual machine is by its snapshot."""

    name = "the recorded machine"
    restores = True

    def __init__(self, address: str, machine: RecordedMachine) -> None:
        self.machine = machine
        self.computer = HttpComputer(address)

    def begin(self) -> HttpComputer:
        self.machine.go(self.machine.said["first"])
        self.machine.files.clear()
        self.machine.inputs.clear()
        return self.computer

    def close(self) -> None:
        self.computer.close()

    def __deepcopy__(self, memo: object) -> Recorded:
        """Gymnasium copies the arguments of environments."""
        return self


class RecordedEnv(OSWorldEnv):
    """Any process can make it."""

    def __init__(self, **kwargs: Any) -> None:
        self._server = recorded_server()
        server = self._server.__enter__()
        super().__init__("all", source="official", computer=Recorded(server.address, server.machine), **kwargs)

    def close(self) -> None:
        super().close()
        self._server.__exit__(None, None, None)
