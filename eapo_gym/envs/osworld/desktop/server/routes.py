"""What the server answers: WIRE.md says the same to people.

A route is a method of `Routes` with a name from its table. It takes a `Request` and returns what is to be sent: a
dictionary or list as JSON, text, bytes, or `Pixels`.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import commands, files, inputs, treexml
from .hands import Hands
from .recording import Recorder
from .screen import Screen
from .session import Session
from .tree import Accessibility, Look
from .windows import DOCK_TITLE, Window, Windows

_LONGEST = 1_800.0


class Refusal(Exception):
    """A request that is answered with a sentence that says why not."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True)
class Request:
    query: dict[str, str]
    body: bytes = b""
    content_type: str = ""

    def json(self) -> dict[str, Any]:
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            raise Refusal(400, "The body is not JSON.") from None
        if not isinstance(value, dict):
            raise Refusal(400, "The body must be a JSON object.")
        return value

    def text_field(self, name: str) -> str:
        """A field of a JSON object, or of a form."""
        if self.content_type.startswith("application/json"):
            value = self.json().get(name)
        else:
            value = files.form(self.body, self.content_type).get(name, b"").decode("utf-8", "replace")
        if not isinstance(value, str) or not value:
            raise Refusal(400, f"The field {name!r} is missing.")
        return value

    def number(self, name: str, default: float, most: float) -> float:
        text = self.query.get(name)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= most:
            raise Refusal(400, f"{name!r} must be a number from 0 to {most:g}, not {text!r}.")
        return value


@dataclass(frozen=True)
class Pixels:
    """Raw pixels with their size."""

    width: int
    height: int
    data: bytes


@dataclass
class Routes:
    session: Session
    screen: Screen
    windows: Windows
    hands: Hands
    accessibility: Accessibility
    recorder: Recorder = field(default_factory=Recorder)

    def find(self, method: str, path: str) -> Callable[[Request], Any]:
        try:
            name = _TABLE[method, path]
        except KeyError:
            raise Refusal(404, f"There is no route {method} {path}.") from None
        return getattr(self, name)  # type: ignore[no-any-return]

    # the benchmark's

    def screenshot(self, request: Request) -> Any:
        return "image/png", self.screen.png()

    def accessibility_xml(self, request: Request) -> Any:
        return {"AT": treexml.write(self._look(10.0).root)}

    def terminal(self, request: Request) -> Any:
        """The text of the terminal in front, where there is one that tells it."""
        root = self._look(2.0).root
        terminals = [node for node in root.walk() if node.role == "terminal"]
        focused = [node for node in terminals if "focused" in node.states]
        found = (focused or terminals)[:1]
        return {"output": found[0].text if found else None, "status": "success"}

    def platform(self, request: Request) -> Any:
        return "Linux"

    def cursor_position(self, request: Request) -> Any:
        return list(self.hands.pointer())

    def screen_size(self, request: Request) -> Any:
        width, height = self.screen.size
        return {"width": width, "height": height}

    def window_size(self, request: Request) -> Any:
        window = self._window(request.text_field("app_class_name"), strict=False, by_class=True)
        left, top, right, bottom = window.box
        return {"width": right - left, "height": bottom - top}

    def desktop_path(self, request: Request) -> Any:
        return {"desktop_path": str(Path.home() / "Desktop")}

    def wallpaper(self, request: Request) -> Any:
        path = Path.home() / _WALLPAPER
        if not path.is_file():
            raise Refusal(404, "No picture has been chosen as the wallpaper.")
        return "application/octet-stream", path.read_bytes()

    def change_wallpaper(self, request: Request) -> Any:
        path = self._existing(request.text_field("path"))
        self.windows.paint_picture(path)
        files.write(Path.home() / _WALLPAPER, path.read_bytes())
        return "Wallpaper changed successfully"

    def list_directory(self, request: Request) -> Any:
        path = self._existing(request.text_field("path"))
        if not path.is_dir():
            raise Refusal(400, f"{path} is not a directory.")
        return {"directory_tree": files.directory_tree(path)}

    def file(self, request: Request) -> Any:
        path = self._existing(request.text_field("file_path"))
        if not path.is_file():
            raise Refusal(400, f"{path} is not a file.")
        return "application/octet-stream", path.read_bytes()

    def upload(self, request: Request) -> Any:
        form = files.form(request.body, request.content_type)
        if not form.get("file_path") or "file_data" not in form:
            raise Refusal(400, "An upload needs the fields 'file_path' and 'file_data'.")
        files.write(files.at(form["file_path"].decode()), form["file_data"])
        return "File Uploaded"

    def execute(self, request: Request) -> Any:
        fields = request.json()
        command, shell = self._command(fields)
        ran = commands.run(command, shell=shell, seconds=_seconds(fields, "timeout", 120.0))
        return {"status": "success", "output": ran.output, "error": ran.error, "returncode": ran.code}

    def execute_with_verification(self, request: Request) -> Any:
        answer = self.execute(request)
        fields = request.json()
        wanted = fields.get("verification") or {}
        every = max(0.05, _seconds(fields, "check_interval", 1.0))
        deadline = time.monotonic() + _seconds(fields, "max_wait_time", 10.0)
        while not self._verified(wanted):
            if time.monotonic() > deadline:
                raise Refusal(500, "The command ran, and what was to be seen after it was not seen in time.")
            time.sleep(every)
        return {**answer, "verification": "passed"}

    def run_python(self, request: Request) -> Any:
        ran = commands.run_python(request.text_field("code"), 90.0)
        status = "success" if ran.code == 0 else "error"
        message = ran.output + ran.error
        return {
            "status": status,
            "message": message,
            "need_more": False,
            "output": ran.output,
            "error": ran.error,
            "return_code": ran.code,
        }

    def run_bash_script(self, request: Request) -> Any:
        fields = request.json()
        script = request.text_field("script")
        folder = fields.get("working_dir")
        ran = commands.run(
            ["/bin/bash", "-c", script],
            shell=False,
            seconds=_seconds(fields, "timeout", 30.0),
            folder=None if folder is None else str(self._existing(folder)),
        )
        status = "success" if ran.code == 0 else "error"
        return {"status": status, "output": ran.output, "error": ran.error, "returncode": ran.code}

    def launch(self, request: Request) -> Any:
        command, shell = self._command(request.json())
        commands.launch(command, shell=shell)
        return f"{command if isinstance(command, str) else ' '.join(command)} launched successfully"

    def open_file(self, request: Request) -> Any:
        from .opening import open_with_default

        path = self._existing(request.text_field("path"))
        before = {window.id for window in self.windows.all()}
        if not open_with_default(path):
            raise Refusal(500, f"No program is known that opens {path.name}.")
        if self.windows.wait_for_new(before, path.name, 60.0) is None:
            raise Refusal(408, f"No window of {path.name} came within 60 seconds.")
        return "File opened successfully"

    def activate_window(self, request: Request) -> Any:
        window = self._named_window(request.json())
        if not self.windows.activate(window):
            raise Refusal(500, f"The window {window.title!r} did not come to the front.")
        return "Window activated successfully"

    def close_window(self, request: Request) -> Any:
        self.windows.close(self._named_window(request.json()))
        return "Window closed successfully"

    def download_file(self, request: Request) -> Any:
        raise Refusal(400, "The local desktop has no network: download the file outside and send it to /setup/upload.")

    def start_recording(self, request: Request) -> Any:
        problem = self.recorder.start(*self.screen.size)
        if problem:
            raise Refusal(400, problem)
        return {"status": "success", "message": "Started recording."}

    def end_recording(self, request: Request) -> Any:
        video = self.recorder.end()
        if video is None:
            raise Refusal(400, "No recording runs.")
        return "video/mp4", video

    # ours

    def about(self, request: Request) -> Any:
        return {"version": 1, "routes": sorted({path for _, path in _TABLE if path.startswith("/eapo/")})}

    def eapo_screen(self, request: Request) -> Any:
        return Pixels(*self.screen.size, self.screen.pixels())

    def eapo_tree(self, request: Request) -> Any:
        start = time.monotonic()
        found = self._look(request.number("seconds", 2.0, 60.0))
        return {
            "tree": found.root.as_json(),
            "late": found.late,
            "nodes": sum(1 for _ in found.root.walk()),
            "seconds": round(time.monotonic() - start, 4),
        }

    def eapo_inputs(self, request: Request) -> Any:
        checked = inputs.check(request.json().get("inputs"))
        self.hands.play(checked)
        return {"played": len(checked)}

    def eapo_stamp(self, request: Request) -> Any:
        return {"stamp": self.screen.stamp(), "window": self.windows.active_title()}

    def eapo_quiet(self, request: Request) -> Any:
        start = time.monotonic()
        since = int(request.number("since", 0, 2**53)) if "since" in request.query else None
        still, limit = request.number("still", 0.1, 60.0), request.number("limit", 3.0, 120.0)
        quiet, stamp = self.screen.wait_until_quiet(still, limit, since, request.number("first", 0.0, 60.0))
        seconds = round(time.monotonic() - start, 4)
        return {"quiet": quiet, "stamp": stamp, "changed": stamp != since, "seconds": seconds}

    def eapo_windows(self, request: Request) -> Any:
        found = self.windows.all()
        active = next((window.title for window in found if window.active), "")
        return {"windows": [window.as_json() for window in found], "active": active}

    def eapo_restart(self, request: Request) -> Any:
        self.recorder.end()
        self.hands.rest()
        ended = self.session.end_programs()
        commands.forget_ended()
        self.windows.wait_until_only(DOCK_TITLE, 5.0)
        wallpaper = Path.home() / _WALLPAPER
        if wallpaper.is_file():
            self.windows.paint_picture(wallpaper)
        else:
            self.windows.paint_background()
        return {"ended": ended}

    def eapo_health(self, request: Request) -> Any:
        missing = self.session.missing()
        return {"alive": not missing, "missing": missing}

    # what they share

    def _command(self, fields: dict[str, Any]) -> tuple[str | list[str], bool]:
        command, shell = fields.get("command"), bool(fields.get("shell", False))
        is_list = isinstance(command, list) and command and all(isinstance(part, str) for part in command)
        if not is_list and not (isinstance(command, str) and command.strip()):
            raise Refusal(400, "The field 'command' must be a text or a list of texts.")
        if not shell:
            program = commands.as_arguments(command, False)[0]  # type: ignore[arg-type]
            if shutil.which(program) is None:
                raise Refusal(500, f"There is no program {program!r} on this desktop.")
        return command, shell  # type: ignore[return-value]

    def _look(self, seconds: float) -> Look:
        return self.accessibility.look(seconds, self.windows.hidden_titles())

    def _verified(self, wanted: dict[str, Any]) -> bool:
        title, command = wanted.get("window_exists"), wanted.get("command_success")
        if title and self.windows.find(str(title), strict=False, by_class=False) is None:
            return False
        return not command or commands.run(command, shell=isinstance(command, str), seconds=10.0).code == 0

    def _existing(self, path: str) -> Path:
        found = files.at(path)
        if not found.exists():
            raise Refusal(404, f"There is no {found}.")
        return found

    def _named_window(self, fields: dict[str, Any]) -> Window:
        name = fields.get("window_name")
        if not isinstance(name, str) or not name:
            raise Refusal(400, "The field 'window_name' is missing.")
        return self._window(name, strict=bool(fields.get("strict")), by_class=bool(fields.get("by_class")))

    def _window(self, name: str, *, strict: bool, by_class: bool) -> Window:
        window = self.windows.find(name, strict=strict, by_class=by_class)
        if window is None:
            raise Refusal(404, f"There is no window {name!r}.")
        return window


def _seconds(fields: dict[str, Any], name: str, default: float) -> float:
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LONGEST:
        raise Refusal(400, f"The field {name!r} must be seconds up to {_LONGEST:g}, not {value!r}.")
    return float(value)


def refusal_of(problem: Exception) -> Refusal:
    """What a route raised, as the answer that says so."""
    if isinstance(problem, Refusal):
        return problem
    if isinstance(problem, (inputs.InputError, files.FormError)):
        return Refusal(400, str(problem))
    if isinstance(problem, commands.TookTooLong):
        return Refusal(408, str(problem))
    if isinstance(problem, OSError):
        return Refusal(500, f"{problem.strerror or problem}: {problem.filename or 'the desktop'}")
    return Refusal(500, f"{type(problem).__name__}: {problem}")


_WALLPAPER = os.path.join(".config", "eapo", "wallpaper")

_TABLE = {
    ("GET", "/screenshot"): "screenshot",
    ("GET", "/accessibility"): "accessibility_xml",
    ("GET", "/terminal"): "terminal",
    ("GET", "/platform"): "platform",
    ("GET", "/cursor_position"): "cursor_position",
    ("POST", "/screen_size"): "screen_size",
    ("POST", "/window_size"): "window_size",
    ("POST", "/desktop_path"): "desktop_path",
    ("POST", "/wallpaper"): "wallpaper",
    ("POST", "/list_directory"): "list_directory",
    ("POST", "/file"): "file",
    ("POST", "/execute"): "execute",
    ("POST", "/run_python"): "run_python",
    ("POST", "/run_bash_script"): "run_bash_script",
    ("POST", "/start_recording"): "start_recording",
    ("POST", "/end_recording"): "end_recording",
    ("POST", "/setup/execute"): "execute",
    ("POST", "/setup/execute_with_verification"): "execute_with_verification",
    ("POST", "/setup/launch"): "launch",
    ("POST", "/setup/upload"): "upload",
    ("POST", "/setup/change_wallpaper"): "change_wallpaper",
    ("POST", "/setup/download_file"): "download_file",
    ("POST", "/setup/open_file"): "open_file",
    ("POST", "/setup/activate_window"): "activate_window",
    ("POST", "/setup/close_window"): "close_window",
    ("GET", "/eapo"): "about",
    ("GET", "/eapo/screen"): "eapo_screen",
    ("GET", "/eapo/tree"): "eapo_tree",
    ("POST", "/eapo/inputs"): "eapo_inputs",
    ("GET", "/eapo/stamp"): "eapo_stamp",
    ("GET", "/eapo/quiet"): "eapo_quiet",
    ("GET", "/eapo/windows"): "eapo_windows",
    ("POST", "/eapo/restart"): "eapo_restart",
    ("GET", "/eapo/health"): "eapo_health",
}
