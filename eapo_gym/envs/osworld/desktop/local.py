"""Starts and ends a desktop in a sandbox on this machine."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from eapo_gym.envs.osworld.computer import ComputerError
from eapo_gym.envs.osworld.desktop import homes, needs, sandbox
from eapo_gym.envs.osworld.desktop.folders import Folder
from eapo_gym.envs.osworld.desktop.homes import HomeCopy
from eapo_gym.envs.osworld.desktop.relay import Relay, forward_requests, forward_tunnels
from eapo_gym.envs.osworld.desktop.sandbox import Places, Sandbox
from eapo_gym.envs.osworld.desktop.spawning import spawn
from eapo_gym.errors import EapoError

_NOBODY = 65533
"""As whom a desktop runs that root has started: a user that nobody is. Inside it is uid 1000 in any case."""

_SMALLEST, _LARGEST = (320, 240), (7680, 4320)


class DesktopUnavailable(EapoError, RuntimeError):
    """This machine cannot run a local desktop; the sentence says what to do."""


class LocalDesktop:
    """A desktop with its own screen, programs and home, and without a network.

    ```python
    with LocalDesktop() as desktop:
        ...  # a client speaks to desktop.socket
    ```

    `home` is the folder that is `/home/user` inside. What programs have put there, a link above all, is not to be
    trusted: read and write it through the server, or with `homes`.
    """

    def __init__(self, width: int = 1920, height: int = 1080, *, start_seconds: float = 60.0) -> None:
        for given, least, most in zip((width, height), _SMALLEST, _LARGEST, strict=True):
            if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
                raise ValueError(f"The screen must be from {_SMALLEST} to {_LARGEST} pixels, not {(width, height)}.")
        self.size = (width, height)
        self._start_seconds = start_seconds
        self._folder: Folder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._relays: list[Relay] = []

    def __enter__(self) -> LocalDesktop:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def home(self) -> Path:
        return self._places.home

    @property
    def socket(self) -> Path:
        """Where the server answers (WIRE.md)."""
        return self._places.socket

    @property
    def log(self) -> Path:
        """What the desktop's own programs wrote of what went wrong."""
        return self._places.log

    def start(self) -> None:
        """Start it, with a new home the first time and the one that it has from then on."""
        if self._process is not None:
            raise ComputerError("The desktop has been started already; close it first, or use restart().")
        problem = needs.missing_packages()
        if problem:
            raise DesktopUnavailable(
                f"The local desktop needs packages that are not installed ({', '.join(problem)}): "
                f"{needs.install_command()}"
            )
        if self._folder is None:
            self._folder = Folder(_user_of_desktops())
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def restart(self) -> None:
        """Start it anew with the home as it is: X, the window manager and all programs are new ones."""
        self._end()
        self.start()

    def close(self) -> None:
        """End all programs and remove the home."""
        self._end()
        for relay in self._relays:
            relay.close()
        self._relays.clear()
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.remove()

    def is_alive(self) -> bool:
        """Whether all of its parts run and its server answers."""
        try:
            self.check()
        except ComputerError:
            return False
        return True

    def check(self) -> None:
        """Raises `ComputerError` with what has died, if anything has."""
        if self._process is None:
            raise ComputerError("The desktop has not been started.")
        if self._process.poll() is not None:
            raise ComputerError(f"The desktop has ended (code {self._process.returncode}): {self._last_words()}")
        missing = self._ask("GET", "/eapo/health", seconds=10)["missing"]
        if missing:
            raise ComputerError(f"Of the desktop, the {' and the '.join(missing)} died; restart() starts it anew.")

    def restart_session(self) -> None:
        """End every program that was started on the desktop. The screen stays, empty."""
        self._ask("POST", "/eapo/restart", seconds=30)

    def save_home(self) -> HomeCopy:
        """End all programs and keep the home as it is now."""
        self.restart_session()
        return homes.save(self.home, self._places.root / "copies")

    def load_home(self, copy: HomeCopy) -> None:
        """End all programs and make the home what it was."""
        self.restart_session()
        homes.load(copy, self.home)
        # once more, for what the session itself shows of the home: its wallpaper
        self.restart_session()

    def serve_tcp(self, port: int = 0, token: str | None = None, host: str = "127.0.0.1") -> tuple[str, int]:
        """Answer at a TCP port, too, for clients that know no other way; returns host and port.

        Who reaches it can run programs on the desktop. Beyond this machine's loopback it wants a token, which requests
        then have to carry: `Authorization: Bearer …`.
        """
        relay = forward_requests(self.socket, host, port, token)
        self._relays.append(relay)
        return relay.address

    def serve_port(self, inside: int, port: int = 0) -> tuple[str, int]:
        """Make a port of the desktop's own loopback, such as a browser's 9222, one of this machine's loopback."""
        relay = forward_tunnels(self.socket, inside, port)
        self._relays.append(relay)
        return relay.address

    @property
    def _places(self) -> Places:
        if self._folder is None:
            raise ComputerError("The desktop has not been started.")
        return self._folder.places

    def _start(self) -> None:
        places = self._places
        places.socket.unlink(missing_ok=True)
        reading, writing = os.pipe()
        try:
            with (
                socket.socket(socket.AF_UNIX) as listening,
                places.log.open("ab") as log,
                os.fdopen(reading, "r", closefd=False) as report,
            ):
                _bind(listening, places.socket)
                arguments = [listening.fileno(), writing, *self.size]
                server = ["/usr/bin/python3", "-s", "-m", "eapo_server", *map(str, arguments)]
                bwrap = shutil.which("bwrap") or "bwrap"
                command = Sandbox(places, sandbox.environment(), bwrap).command(server)
                fds = [listening.fileno(), writing]
                self._process = spawn(command, pass_fds=fds, log=log, user=_user_of_desktops())
                os.close(writing)
                writing = -1
                self._wait_until_ready(report.fileno())
        finally:
            os.close(reading)
            if writing >= 0:
                os.close(writing)

    def _wait_until_ready(self, report: int) -> None:
        """The server writes one JSON object and closes; it closes without one where it could not even start."""
        import select

        ready, _, _ = select.select([report], [], [], self._start_seconds)
        if not ready:
            raise ComputerError(f"The desktop did not start within {self._start_seconds:g} seconds.")
        said = b""
        while part := os.read(report, 65536):
            said += part
        try:
            error = json.loads(said).get("error")
        except ValueError:
            error = self._last_words()
            problem = needs.sandbox_problem()
            if problem:
                raise DesktopUnavailable(f"The sandbox of the local desktop cannot start: {problem}.") from None
        if error:
            raise ComputerError(f"The desktop did not start: {error}")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        # bwrap's own end ends the first process inside, and with it all others
        process.kill()
        process.wait()

    def _ask(self, method: str, route: str, *, seconds: float) -> Any:
        connection = _Connection(self.socket, seconds)
        try:
            connection.request(method, route, body=b"" if method == "POST" else None)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as problem:
            raise ComputerError(f"The desktop does not answer ({problem or type(problem).__name__}).") from problem
        finally:
            connection.close()
        if answer.status != 200:
            raise ComputerError(str(content.get("error", f"The desktop answered with code {answer.status}.")))
        return content

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except (OSError, ComputerError):
            lines = []
        return lines[-1] if lines else "it left no word why"


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _bind(listening: socket.socket, path: Path) -> None:
    try:
        listening.bind(str(path))
    except OSError as problem:
        if "too long" not in str(problem):
            raise
        raise ComputerError(
            f"The path of the desktop's socket is too long ({path}): set TMPDIR to a shorter one."
        ) from None
    listening.listen(128)


def _user_of_desktops() -> int | None:
    """Root does not start programs of others as root, where it can be somebody else."""
    if os.geteuid() != 0:
        return None
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= _NOBODY < first + count:
            return _NOBODY
    return None
