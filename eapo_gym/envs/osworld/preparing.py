"""Bringing a machine into the state that a task begins in, and doing what its file asks for before it is judged.

All of it goes through a `Computer`, so it works on the benchmark's machines and on the local desktop. What the
benchmark passes over (a window that is not there, a command that fails) is passed over here too, and said; what it
stops at (a file that cannot be had, a browser that does not answer) is an error, since a task that was not prepared
tells nothing about the agent. Files are fetched on this side and uploaded: the machine needs no network for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from eapo_gym.atomic import write_atomically
from eapo_gym.envs.osworld.browser import HISTORY, HISTORY_DATABASE, Browser, BrowserError, history_with
from eapo_gym.envs.osworld.computer import Command, Computer, ComputerError, Ran
from eapo_gym.envs.osworld.download import LARGEST, DownloadError
from eapo_gym.envs.osworld.paths import on_machine
from eapo_gym.envs.osworld.tasks import ConfigStep, DesktopTask
from eapo_gym.errors import EapoError

MOST_SLEEP = 60.0
"""Seconds that a step may wait at most; the benchmark's longest waits 15."""

PASSWORD = "password"
"""Of the user on the benchmark's machines; its commands become root with it."""

_REFUSED: Mapping[str, str] = {
    "googledrive": "it changes what is in a Google Drive, for which it needs the account of somebody",
    "login": "it logs in at a website, for which it needs the account of somebody",
    "proxy": "it sends the machine's traffic through a server that is rented for it",
}

_PAUSE = 0.25
_REPEAT_SECONDS = 120.0
_FAILURES = 5
"""So often may a command that is repeated not be carried out at all."""


class PreparationError(EapoError, RuntimeError):
    """A machine that could not be brought into the state in which a task begins."""


class _Failed(Exception):
    """Why a step failed; whoever carries out the steps adds which one it was."""


def cannot_be_prepared(task: DesktopTask) -> str | None:
    """Why no machine can be prepared for this task, as a sentence; None for most."""
    for where, steps in (("config", task.config), ("postconfig", task.evaluator.postconfig)):
        for number, step in enumerate(steps, 1):
            if step.type in _REFUSED:
                return (
                    f"Task {task.id} cannot be played here: {where}, step {number} ({step.type}): "
                    f"{_REFUSED[step.type]}. The split 'without_accounts' has the tasks that need none."
                )
    return None


@dataclass
class Preparer:
    """Carries out the steps of tasks on one machine.

    Args:
        computer: the machine.
        fetch: gives the file behind an address, as `FileCache.path` does.
        scratch: a folder of this episode, for what commands write; the getter `cache_file` reads it there.
        settle: waits until the screen stands still, at most so many seconds; it takes the place of the file's sleeps,
            which wait for the same and do not know when it is there.
        password: of the machine's user.
        pause: waits so many seconds.
        now: the time, for a history of visits.
    """

    computer: Computer
    fetch: Callable[[str], Path]
    scratch: Path
    settle: Callable[[float], object] | None = None
    password: str = PASSWORD
    pause: Callable[[float], object] = time.sleep
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())

    def prepare(self, task: DesktopTask) -> list[str]:
        """Carry out a task's `config`; says in sentences what was passed over."""
        if reason := cannot_be_prepared(task):
            raise PreparationError(reason)
        return _Steps(self, task, "config", judging=False, window_seconds=10.0).carry_out(task.config)

    def finish(self, task: DesktopTask) -> list[str]:
        """Carry out a task's `postconfig`, once the agent is done and before it is judged."""
        if reason := cannot_be_prepared(task):
            raise PreparationError(reason)
        return _Steps(self, task, "postconfig", judging=True, window_seconds=2.0).carry_out(task.evaluator.postconfig)


@dataclass
class _Steps:
    """The steps of one task, one after the other."""

    by: Preparer
    task: DesktopTask
    where: str
    judging: bool
    """The agent has been here: what is gone is its doing, and no fault of the machine's."""

    window_seconds: float
    """How long a window is waited for."""

    passed_over: list[str] = field(default_factory=list)
    _place: str = ""

    def carry_out(self, steps: Sequence[ConfigStep]) -> list[str]:
        carry_out: Mapping[str, Callable[..., None]] = {
            "download": self._download,
            "upload_file": self._upload_file,
            "launch": self._launch,
            "execute": self._execute,
            "command": self._execute,
            "execute_with_verification": self._execute_with_verification,
            "open": self._open,
            "activate_window": self._activate_window,
            "close_window": self._close_window,
            "sleep": self._sleep,
            "change_wallpaper": self._change_wallpaper,
            "chrome_open_tabs": self._chrome_open_tabs,
            "chrome_close_tabs": self._chrome_close_tabs,
            "update_browse_history": self._update_browse_history,
        }
        for number, step in enumerate(steps, 1):
            self._place = f"{self.where}, step {number} ({step.type})"
            try:
                carry_out[step.type](**step.parameters)
            except (_Failed, ComputerError, DownloadError, BrowserError) as error:
                raise PreparationError(f"Task {self.task.id}: {self._place}: {error}") from error
        return self.passed_over

    def _pass_over(self, what: object) -> None:
        self.passed_over.append(f"{self._place}: {what}")

    # Files

    def _download(self, files: Sequence[Mapping[str, str]]) -> None:
        for file in files:
            self._put(file["path"], self.by.fetch(file["url"]).read_bytes())

    def _upload_file(self, files: Sequence[Mapping[str, str]]) -> None:
        for file in files:
            self._put(file["path"], _beside(self.task, file["local_path"]).read_bytes())

    def _put(self, path: str, content: bytes) -> None:
        self.by.computer.write_file(str(on_machine(path, self.by.computer.home)), content)

    # Programs

    def _launch(self, command: Command, shell: bool = False) -> None:
        if isinstance(command, str) and not shell:
            command = command.split()
        try:
            self.by.computer.launch(command, shell=shell)
        except ComputerError as error:
            if not self.judging:
                raise
            self._pass_over(error)

    def _execute(
        self,
        command: Command,
        stdout: str = "",
        stderr: str = "",
        shell: bool = False,
        until: Mapping[str, Any] | None = None,
    ) -> None:
        command = self._filled(command)
        failures = 0
        latest = time.monotonic() + _REPEAT_SECONDS
        for _ in range(round(_REPEAT_SECONDS / _PAUSE)):
            try:
                ran = self.by.computer.execute(command, shell=shell)
            except ComputerError as error:
                failures += 1
                if not until or failures == _FAILURES:
                    self._pass_over(error)
                    return
            else:
                self._keep(stdout, ran.output)
                self._keep(stderr, ran.error)
                if not until:
                    if ran.code:
                        self._pass_over(f"it ended with code {ran.code}: {(ran.error or ran.output).strip()[-200:]}")
                    return
                if _is_reached(until, ran):
                    return
            if time.monotonic() > latest:
                break
            self.by.pause(_PAUSE)
        raise _Failed(f"what it is repeated for, {dict(until or {})}, has not come in {_REPEAT_SECONDS:.0f} seconds")

    def _execute_with_verification(
        self,
        command: Command,
        verification: Mapping[str, str] | None = None,
        max_wait_time: float = 10.0,
        check_interval: float = 1.0,
        shell: bool = False,
    ) -> None:
        self.by.computer.execute(self._filled(command), shell=shell)
        interval = max(check_interval, _PAUSE)
        for _ in range(1 + int(max_wait_time / interval)):
            if self._holds(verification or {}):
                return
            self.by.pause(interval)
        raise _Failed(f"what it is verified by, {dict(verification or {})}, does not hold")

    def _holds(self, verification: Mapping[str, str]) -> bool:
        try:
            if "window_exists" in verification:
                self.by.computer.activate_window(verification["window_exists"])
            if "command_success" in verification:
                return self.by.computer.execute(verification["command_success"], shell=True).code == 0
        except ComputerError:
            return False
        return True

    def _filled(self, command: Command) -> Command:
        """A command with what the benchmark's files leave open in it."""
        width, height = self.by.computer.size
        places = {
            "{CLIENT_PASSWORD}": self.by.password,
            "{SCREEN_WIDTH_HALF}": str(width // 2),
            "{SCREEN_HEIGHT_HALF}": str(height // 2),
            "{SCREEN_WIDTH}": str(width),
            "{SCREEN_HEIGHT}": str(height),
        }

        def fill(text: str) -> str:
            for place, value in places.items():
                text = text.replace(place, value)
            return text

        return fill(command) if isinstance(command, str) else tuple(map(fill, command))

    def _keep(self, name: str, written: str) -> None:
        if name:
            write_atomically(self.by.scratch / name, written.encode("utf-8", "replace").decode("utf-8"))

    def _open(self, path: str) -> None:
        place = str(on_machine(path, self.by.computer.home))
        try:
            self.by.computer.open_file(place)
        except ComputerError as error:
            if not self.judging:
                raise
            self._pass_over(error)

    # Windows, and time

    def _activate_window(self, window_name: str, strict: bool = False, by_class: bool = False) -> None:
        self._with_window(lambda: self.by.computer.activate_window(window_name, strict=strict, by_class=by_class))

    def _close_window(self, window_name: str, strict: bool = False, by_class: bool = False) -> None:
        self._with_window(lambda: self.by.computer.close_window(window_name, strict=strict, by_class=by_class))

    def _with_window(self, act: Callable[[], None]) -> None:
        """Do something with a window that may still be on its way; the benchmark passes over one that never comes."""
        for _ in range(round(self.window_seconds / _PAUSE)):
            try:
                act()
            except ComputerError as error:
                missing = error
            else:
                return
            self.by.pause(_PAUSE)
        self._pass_over(missing)

    def _sleep(self, seconds: float) -> None:
        (self.by.settle or self.by.pause)(min(seconds, MOST_SLEEP))

    def _change_wallpaper(self, path: str) -> None:
        place = on_machine(path, self.by.computer.home)
        self._execute(("gsettings", "set", "org.gnome.desktop.background", "picture-uri", place.as_uri()))

    # The browser

    def _chrome_open_tabs(self, urls_to_open: Sequence[str]) -> None:
        Browser(self.by.computer, self.by.pause).open(urls_to_open)

    def _chrome_close_tabs(self, urls_to_close: Sequence[str]) -> None:
        for address in Browser(self.by.computer, self.by.pause).close(urls_to_close):
            self._pass_over(f"no tab shows {address}")

    def _update_browse_history(self, history: Sequence[Mapping[str, Any]]) -> None:
        content = history_with(self.by.fetch(HISTORY_DATABASE), history, self.by.now())
        self.by.computer.write_file(str(self.by.computer.home / HISTORY), content)


def _beside(task: DesktopTask, name: str) -> Path:
    """A file that a task brings along, in the folder of its own file and nowhere else."""
    if task.beside is None:
        raise _Failed(
            f"it brings {name!r:.120} along, and the task was read from no file: there is no folder to look in"
        )
    folder = task.beside.resolve()
    path = (folder / name).resolve() if "\0" not in name else folder
    if Path(name).is_absolute() or not path.is_relative_to(folder):
        raise _Failed(f"{name!r:.120} leads out of {task.beside}: expected a path below the folder of the task's file")
    if not path.is_file():
        raise _Failed(f"there is no file {path}, which the task brings along")
    if path.stat().st_size > LARGEST:
        raise _Failed(f"{path} has more than {LARGEST:,} bytes")
    return path


def _is_reached(until: Mapping[str, Any], ran: Ran) -> bool:
    """Any of what a command is repeated for will do, as in the benchmark."""
    return (
        ("returncode" in until and ran.code == until["returncode"])
        or ("stdout" in until and until["stdout"] in ran.output)
        or ("stderr" in until and until["stderr"] in ran.error)
    )
