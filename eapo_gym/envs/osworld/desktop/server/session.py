"""The parts of a desktop session, started side by side: X, the buses, the window manager."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import Any

FRAMES = Path("/run/frames")
"""Where X keeps its picture, as a file."""

_ESSENTIAL = ("X server", "window manager", "session bus", "dock")


class SessionError(RuntimeError):
    """A part of the session that does not start."""


class Session:
    """Xvfb, a session bus, the accessibility bus and a window manager."""

    def __init__(self, width: int, height: int, programs: Path) -> None:
        self.width, self.height = width, height
        self._programs = programs
        self._parts: dict[str, subprocess.Popen[bytes]] = {}
        self._own: set[int] = set()
        self._lock = Lock()

    def start(self) -> None:
        """Start all and return when programs can be shown; raises `SessionError` otherwise."""
        bus_problem: list[BaseException] = []
        bus = Thread(target=_noting, args=(self._start_bus, bus_problem))
        bus.start()
        self._start_x()
        self._start_window_manager()
        bus.join()
        if bus_problem:
            raise bus_problem[0]
        self._start_accessibility()
        self._start_dock()
        self._own = set(processes())

    def missing(self) -> list[str]:
        """The parts that have died."""
        return [name for name in _ESSENTIAL if (part := self._parts.get(name)) is None or part.poll() is not None]

    def end_programs(self) -> int:
        """End every program that is not part of the session; returns how many there were."""
        ended: set[int] = set()
        deadline = time.monotonic() + 10
        with self._lock:
            while time.monotonic() < deadline:
                others = [pid for pid in processes() if pid not in self._own]
                if not others:
                    _empty(Path("/tmp"), keep=(".X11-unix", ".X0-lock"))
                    _empty(Path("/var/tmp"))
                    return len(ended)
                for pid in others:
                    _kill(pid)
                ended.update(others)
                time.sleep(0.005)
        raise SessionError(f"{len(others)} programs could not be ended, such as process {others[0]}.")

    def _start_x(self) -> None:
        FRAMES.mkdir(exist_ok=True)
        reading, writing = os.pipe()
        screen = f"{self.width}x{self.height}x24"
        command = ["Xvfb", ":0", "-screen", "0", screen, "-fbdir", str(FRAMES), "-displayfd", str(writing)]
        command += ["-nolisten", "tcp", "-noreset", "-dpi", "96", "-s", "0", "+extension", "XTEST"]
        self._start("X server", command, fds=[writing])
        os.close(writing)
        self._wait_for_line("X server", reading)

    def _start_bus(self) -> None:
        reading, writing = os.pipe()
        address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        command = ["dbus-daemon", "--session", "--nofork", "--nopidfile"]
        command += [f"--address={address}", f"--print-address={writing}"]
        self._start("session bus", command, fds=[writing])
        os.close(writing)
        self._wait_for_line("session bus", reading)

    def _start_window_manager(self) -> None:
        from .windows import Windows

        # Seen from before it starts, so that its first sign cannot be missed.
        with Windows.opened() as windows:
            settings = self._programs / "openbox" / "rc.xml"
            self._start("window manager", ["openbox", "--config-file", str(settings)])
            windows.paint_background()
            if not windows.wait_for_manager(seconds=10):
                raise SessionError("The window manager did not come up within 10 seconds.")

    def _start_dock(self) -> None:
        from .windows import DOCK_TITLE, Windows

        with Windows.opened() as windows:
            self._start("dock", [sys.executable, "-s", "-W", "ignore", "-m", f"{__package__}.dock"])
            if not windows.wait_until_only(DOCK_TITLE, seconds=20):
                raise SessionError("The bar of programs did not come up within 20 seconds.")

    def _start_accessibility(self) -> None:
        from .bus import switch_accessibility_on

        switch_accessibility_on()

    def _start(self, name: str, command: Sequence[str], fds: Sequence[int] = ()) -> None:
        self._parts[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=fds, start_new_session=True)

    def _wait_for_line(self, name: str, reading: int, seconds: float = 20.0) -> None:
        """Parts say that they are ready by writing a line; one that dies closes its end."""
        deadline = time.monotonic() + seconds
        said = b""
        with os.fdopen(reading, "rb", buffering=0) as file:
            while not said.endswith(b"\n"):
                ready, _, _ = select.select([file], [], [], max(0.0, deadline - time.monotonic()))
                part = file.read(1024) if ready else b""
                if not part:
                    raise SessionError(f"The {name} did not start; the desktop's log says why.")
                said += part


def processes() -> list[int]:
    """The processes inside of the sandbox that have not ended."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _runs(int(entry))]


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _empty(folder: Path, keep: Sequence[str] = ()) -> None:
    for entry in folder.iterdir():
        if entry.name in keep:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _noting(work: Callable[[], Any], problems: list[BaseException]) -> None:
    try:
        work()
    except BaseException as problem:
        problems.append(problem)
