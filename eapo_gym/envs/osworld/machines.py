"""Where a desktop comes from, and how it becomes as new for an episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.computer import Computer, ComputerError

if TYPE_CHECKING:
    from eapo_gym.envs.osworld.desktop import HomeCopy, LocalDesktop

LOCAL = "local"
"""The word for a desktop on this machine, where another one would be named by its address."""


class Machine(Protocol):
    """A desktop that can be made as new."""

    name: str
    """What it is called in errors and results."""

    restores: bool
    """Whether `begin` always gives the same state. Without that, no episode can be played again."""

    def begin(self) -> Computer:
        """A computer in the state in which every episode begins."""

    def close(self) -> None:
        """Give it back."""


class LocalMachine:
    """A desktop in a sandbox on this machine, started when it is needed; its home is as new in every episode."""

    name = "the local desktop"
    restores = True

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._desktop: LocalDesktop | None = None
        self._new_home: HomeCopy | None = None
        self._computer: HttpComputer | None = None

    def begin(self) -> HttpComputer:
        if self._desktop is not None and not self._desktop.is_alive():
            self.close()
        if self._desktop is None:
            self._start()
        else:
            assert self._new_home is not None
            self._desktop.load_home(self._new_home)
        assert self._computer is not None
        return self._computer

    def _start(self) -> None:
        from eapo_gym.envs.osworld.desktop import LocalDesktop

        desktop = LocalDesktop(*self._size)
        desktop.start()
        self._desktop = desktop
        self._new_home = desktop.save_home()
        self._computer = HttpComputer(str(desktop.socket))

    def close(self) -> None:
        if self._computer is not None:
            self._computer.close()
        if self._desktop is not None:
            self._desktop.close()
        self._desktop = self._new_home = self._computer = None


class AddressedMachine:
    """A machine that somebody else runs, at the address of its server.

    It is taken as it is: whoever runs it reverts it between episodes, or it is not as new.
    """

    restores = False

    def __init__(self, address: str, token: str | None = None) -> None:
        self.name = f"the machine at {address}"
        self._computer = HttpComputer(address, token)

    def begin(self) -> HttpComputer:
        try:
            _ = self._computer.size
        except ComputerError as error:
            raise ComputerError(
                f"{self.name} does not answer: expected the server of one of the benchmark's machines there ({error})"
            ) from error
        return self._computer

    def close(self) -> None:
        self._computer.close()


def machine(computer: str, size: tuple[int, int], token: str | None = None) -> Machine:
    """The machine that a setting names."""
    return LocalMachine(*size) if computer == LOCAL else AddressedMachine(computer, token)
