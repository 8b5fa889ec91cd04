"""The device behind the environment: an emulator, or the embedded phone in its place.

Both are driven by the very same code of android-env and `android_world`; they differ in how they are reached, in what
tells their elements, and in whose clock counts.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import numpy as np

from eapo_gym.envs.androidworld.device.sdk import ToolError, find_tool, listens, output_of, serial_of
from eapo_gym.errors import HostingError, UnknownName

CONSOLE_PORT = 5554
GRPC_PORT = 8554

_FORESTS = "accessibility_tree"

_BOOT_SECONDS = 300.0
_LEAVING_SECONDS = 20.0


class Connection(ABC):
    """One device. `open` before anything else."""

    name: str
    """Which device it is, for people."""

    env: Any = None
    """The benchmark's `AsyncAndroidEnv`, once it is open."""

    @abstractmethod
    def open(self) -> None:
        """Connect, with everything that the benchmark sets up."""

    @abstractmethod
    def restart(self) -> None:
        """Bring a device back that no longer answers, from its snapshot where it has one, and connect again."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the device. May be called again."""

    @abstractmethod
    def forest(self) -> Any | None:
        """The elements as the device's accessibility service told them, None if it has told nothing new."""

    def pixels(self) -> np.ndarray:
        """The screen, as it comes: nothing is compressed on the way."""
        return np.asarray(self.env.controller.raw_env._simulator.get_screenshot())

    def now(self) -> float:
        """Seconds by the device's clock, for waiting."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    @contextmanager
    def pauses(self) -> Iterator[None]:
        """Around the benchmark's own code, which waits for devices."""
        yield


class EmulatorConnection(Connection):
    """An emulator on this machine, already running or (with `avd`) started here.

    Args:
        console_port: the emulator's, 5554 for the first; a list of them takes the first one that nobody uses.
        grpc_port: the port of its `-grpc`; as many of them as there are console ports.
        adb_path: the program `adb`; without one, that of Android's SDK.
        avd: the name of the AVD to start (as many as there are ports), when it is not running or no longer answers.
        emulator_path: the program `emulator`; without one, that of Android's SDK.
        snapshot: the emulator's snapshot from which it is started and brought back.
        setup: install the benchmark's apps first. Needed once for each AVD; takes minutes and the network.
    """

    def __init__(
        self,
        console_port: int | Sequence[int] = CONSOLE_PORT,
        grpc_port: int | Sequence[int] = GRPC_PORT,
        adb_path: str | None = None,
        avd: str | Sequence[str] | None = None,
        emulator_path: str | None = None,
        snapshot: str | None = None,
        setup: bool = False,
    ) -> None:
        adb = find_tool("adb", adb_path)
        if adb is None:
            raise HostingError(
                f"The program adb is not at {adb_path!r}: give adb_path, or install Android's platform tools."
                if adb_path
                else "The program adb was not found: install Android's platform tools, or give adb_path."
            )
        self.adb_path = adb
        self.emulator_path = emulator_path
        self.snapshot = snapshot
        self.setup = setup
        self._process: subprocess.Popen[bytes] | None = None
        self._last_forest: Any | None = None
        consoles, grpcs = _as_list(console_port), _as_list(grpc_port)
        avds = [None] * len(consoles) if avd is None else _as_list(avd)
        if not len(consoles) == len(grpcs) == len(avds):
            raise ValueError("console_port, grpc_port and avd: expected as many of one as of the others.")
        devices = list(zip(consoles, grpcs, avds, strict=True))
        self._lease, (self.console_port, self.grpc_port, self.avd) = _first_free(devices)
        self.name = serial_of(self.console_port)

    def open(self) -> None:
        if not listens(self.grpc_port):
            if self.avd is None:
                raise HostingError(
                    f"No emulator answers at the gRPC port {self.grpc_port}: start one with "
                    f"`emulator -avd NAME -port {self.console_port} -grpc {self.grpc_port} -no-snapshot`, or give avd; "
                    "`eapo-gym doctor androidworld` says what is missing."
                )
            self._launch()
        from android_world.env import env_launcher

        self.env = env_launcher.load_and_setup_env(
            console_port=self.console_port,
            emulator_setup=self.setup,
            adb_path=self.adb_path,
            grpc_port=self.grpc_port,
        )
        self.setup = False

    def restart(self) -> None:
        self._disconnect()
        if self.avd is not None:
            self._kill()
            self.open()
            return
        self.open()
        if self.snapshot is not None:
            self._load(self.snapshot)

    def close(self) -> None:
        self._disconnect()
        if self._process is not None:
            self._kill()
        self._lease.close()

    def forest(self) -> Any | None:
        gathered = self.env.controller.env.accumulate_new_extras()
        forests = gathered.get(_FORESTS, ())
        if not len(forests) or forests[-1] is self._last_forest:
            return None
        # Evaluators want the last one again; the others would only pile up.
        gathered[_FORESTS] = forests[-1:]
        self._last_forest = forests[-1]
        return self._last_forest

    def _disconnect(self) -> None:
        if self.env is not None:
            with suppress(Exception):  # it is gone, perhaps
                self.env.close()
            self.env = None

    def _load(self, snapshot: str) -> None:
        from android_env.proto import state_pb2

        said = self.env.controller.load_state(state_pb2.LoadStateRequest(args={"snapshot_name": snapshot}))
        if said.status != state_pb2.LoadStateResponse.Status.OK:
            raise HostingError(f"{self.name} could not be brought back from its snapshot {snapshot!r}.")

    def _launch(self) -> None:
        emulator = find_tool("emulator", self.emulator_path)
        if emulator is None:
            raise HostingError("The program emulator was not found: install Android's emulator, or give emulator_path.")
        assert self.avd is not None
        ports = ["-port", str(self.console_port), "-grpc", str(self.grpc_port)]
        begins = ["-snapshot", self.snapshot, "-no-snapshot-save"] if self.snapshot else ["-no-snapshot"]
        command = [emulator, "-avd", self.avd, *ports, "-no-window", "-no-audio", "-no-boot-anim", *begins]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + _BOOT_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                status, self._process = self._process.returncode, None
                raise HostingError(f"The emulator ended with status {status} while it started: {' '.join(command)}")
            with suppress(ToolError):
                booted = output_of([self.adb_path, "-s", self.name, "shell", "getprop", "sys.boot_completed"])
                if booted == "1" and listens(self.grpc_port):
                    return
            time.sleep(1.0)
        self._kill()
        raise HostingError(f"The emulator did not start within {_BOOT_SECONDS:g} s: {' '.join(command)}")

    def _kill(self) -> None:
        """The emulator at our port, whoever started it: it is ours alone by the lease."""
        with suppress(ToolError):
            output_of([self.adb_path, "-s", self.name, "emu", "kill"])
        if self._process is not None:
            try:
                self._process.wait(_LEAVING_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        deadline = time.monotonic() + _LEAVING_SECONDS
        while listens(self.grpc_port) and time.monotonic() < deadline:
            time.sleep(0.5)


class PhoneConnection(Connection):
    """The embedded phone under the real android-env and `android_world`, where no emulator can run.

    Args:
        layout_seed: how its screens are laid out; 0 is the usual way.
        tells_elements: whether it has an accessibility service; without one the elements are asked of `uiautomator`.
    """

    def __init__(self, layout_seed: int = 0, tells_elements: bool = True) -> None:
        from eapo_gym.envs.androidworld.phone.factory import new_phone

        self.name = "the embedded phone"
        self.phone = new_phone(layout_seed)
        self.tells_elements = tells_elements
        self._first = self.phone.state

    def open(self) -> None:
        from android_world.env import android_world_controller, interface

        from eapo_gym.envs.androidworld.simulator import android_env_with

        env = android_env_with(self.phone)
        controller = android_world_controller.AndroidWorldController(env, android_world_controller.A11yMethod.NONE)
        if self.tells_elements:
            # As behind the service on a device, whose app has nowhere to be installed here.
            controller._a11y_method = android_world_controller.A11yMethod.A11Y_FORWARDER_APP
            controller._get_a11y_forest = self.forest
        else:
            controller._a11y_method = android_world_controller.A11yMethod.UIAUTOMATOR
        self.env = interface.AsyncAndroidEnv(controller)

    def restart(self) -> None:
        self.close()
        self.phone.state = self._first
        self.open()

    def close(self) -> None:
        if self.env is not None:
            self.env.close()
            self.env = None

    def forest(self) -> Any | None:
        from eapo_gym.envs.androidworld.forest import to_forest

        return to_forest(self.phone.nodes()) if self.tells_elements else None

    def now(self) -> float:
        return self.phone.state.now

    def sleep(self, seconds: float) -> None:
        self.phone.wait(seconds)

    @contextmanager
    def pauses(self) -> Iterator[None]:
        """The benchmark's pauses only set the phone's clock forward."""
        real = time.sleep
        time.sleep = self.phone.wait  # type: ignore[assignment]
        try:
            yield
        finally:
            time.sleep = real


KINDS: Mapping[str, type[Connection]] = {"emulator": EmulatorConnection, "phone": PhoneConnection}


def connection_to(kind: str = "emulator", **options: Any) -> Connection:
    """A connection by its name and options, as they travel to another process."""
    if kind not in KINDS:
        raise UnknownName.of("kind of device", kind, KINDS)
    return KINDS[kind](**options)


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, (int, str)) else list(value)


def _first_free(devices: Sequence[tuple[int, int, str | None]]) -> tuple[TextIO, tuple[int, int, str | None]]:
    """The first emulator that no other environment of this machine uses, and the lock that says so while it is open.

    The system drops the lock with its process, however that ends.
    """
    for device in devices:
        path = os.path.join(tempfile.gettempdir(), f"eapo-gym-{serial_of(device[0])}.lock")
        file = open(path, "a", encoding="utf-8")  # noqa: SIM115  # held as long as the device is
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        return file, device
    names = ", ".join(serial_of(console) for console, *_ in devices)
    raise HostingError(f"Other environments use {names} already: give console_port and grpc_port more emulators.")
