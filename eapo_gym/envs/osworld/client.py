"""`HttpComputer`: a desktop behind the benchmark's server, or behind ours, which answers to the same routes.

Ours has routes of its own besides, which are many times as fast (pixels that nobody compressed, a tree without what is
hidden); `GET /eapo` names them, and each is used where it exists.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlencode

import numpy as np

from eapo_gym.envs.osworld.computer import Command, ComputerError, Ran
from eapo_gym.envs.osworld.connection import Connection, Reply
from eapo_gym.envs.osworld.inputs import Input, KeyDown, KeyUp, Move, MoveBy, Pause, Press, Release, Wheel, Write
from eapo_gym.envs.osworld.tree import Node, TreeError, from_json, from_xml
from eapo_gym.errors import MissingExtra

_MOST_PIXELS = 8192 * 8192
_TREE_SECONDS = 2.0
"""How long our server waits for a program that does not tell its part of the tree."""

_DO: Mapping[type[Any], str] = {
    Move: "move",
    MoveBy: "move_by",
    Press: "press",
    Release: "release",
    Wheel: "wheel",
    KeyDown: "key_down",
    KeyUp: "key_up",
    Write: "write",
    Pause: "pause",
}
"""What our server calls the inputs."""

_ACTIVE_WINDOW = """
from Xlib import X, display
d = display.Display()
def of(window, name):
    found = window.get_full_property(d.intern_atom(name), X.AnyPropertyType)
    return found.value if found is not None else b""
found = of(d.screen().root, "_NET_ACTIVE_WINDOW")
if len(found) and found[0]:
    window = d.create_resource_object("window", found[0])
    title = of(window, "_NET_WM_NAME") or window.get_wm_name() or ""
    print(title.decode("utf-8", "replace") if isinstance(title, bytes) else title, end="")
"""
"""Run in the benchmark's machines, whose server needs this library itself and has no route for the question."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which picture a screen shows: another number, another picture."""

    number: int
    window: str
    """The title of the window in front."""


class HttpComputer:
    """One machine; implements `Computer`.

    Args:
        address: "http://host:port", or the path of a Unix socket.
        token: sent with every request where the server wants one.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address
        self._connection = Connection(address, token)
        self.late: tuple[str, ...] = ()
        """The programs that did not tell all of their part of the last tree in time."""

    def close(self) -> None:
        self._connection.close()

    @cached_property
    def routes(self) -> frozenset[str]:
        """The routes beyond the benchmark's that this server has."""
        reply = self._connection.get("/eapo")
        if reply.status in (404, 405):
            return frozenset()
        return frozenset(map(str, reply.checked().field("routes", list)))

    @cached_property
    def size(self) -> tuple[int, int]:
        reply = self._connection.post_form("/screen_size", {}, again=True).checked()
        return int(reply.field("width", int)), int(reply.field("height", int))

    @cached_property
    def home(self) -> PurePosixPath:
        reply = self._connection.post_form("/desktop_path", {}, again=True)
        if reply.ok:
            return PurePosixPath(reply.field("desktop_path", str)).parent
        # A machine without a desktop folder says nothing of its home.
        code = "import os; print(os.path.expanduser('~'), end='')"
        return PurePosixPath(self._successful(["python3", "-c", code]).output)

    # What it shows

    def screenshot(self) -> np.ndarray:
        if "/eapo/screen" in self.routes:
            return _raw_pixels(self._connection.get("/eapo/screen").checked())
        return _decoded(self._connection.get("/screenshot").checked())

    def tree(self) -> Node:
        try:
            if "/eapo/tree" in self.routes:
                query = urlencode({"seconds": _TREE_SECONDS})
                reply = self._connection.get(f"/eapo/tree?{query}", seconds=30.0).checked()
                said = reply.json()
                late = said.get("late") if isinstance(said, dict) else None
                self.late = tuple(map(str, late)) if isinstance(late, list) else ()
                return from_json(reply.field("tree", dict))
            reply = self._connection.get("/accessibility", seconds=60.0).checked()
            return from_xml(reply.field("AT", str))
        except TreeError as error:
            raise ComputerError(f"{reply.asked}: {error}") from error

    def active_window(self) -> str:
        if "/eapo/stamp" in self.routes:
            return self.stamp().window
        return self._successful(["python3", "-c", _ACTIVE_WINDOW]).output

    def stamp(self) -> Stamp:
        """Only of our server: cheaper than to look."""
        reply = self._connection.get("/eapo/stamp").checked()
        return Stamp(reply.field("stamp", int), reply.field("window", str))

    @property
    def has_stamps(self) -> bool:
        return {"/eapo/stamp", "/eapo/quiet"} <= self.routes

    def wait_for_quiet(self, still: float, first: float, most: float, since: int | None) -> tuple[bool, int]:
        """Only of our server: until the picture has been the same for `still` seconds, `most` seconds at most.

        With the number of a stamp, first waits up to `first` seconds for another one. Returns whether it became quiet,
        and the stamp's number.
        """
        asked = {"still": still, "first": first, "limit": most} | ({} if since is None else {"since": since})
        reply = self._connection.get(f"/eapo/quiet?{urlencode(asked)}", seconds=most + 10.0).checked()
        return reply.field("quiet", bool), reply.field("stamp", int)

    # What it does

    def act(self, inputs: Sequence[Input]) -> None:
        if not inputs:
            return
        seconds = 30.0 + sum(each.seconds for each in inputs if isinstance(each, (Move, MoveBy, Pause)))
        if "/eapo/inputs" in self.routes:
            said = [{"do": _DO[type(each)], **asdict(each)} for each in inputs]
            self._connection.post_json("/eapo/inputs", {"inputs": said}, seconds=seconds).checked()
            return
        from eapo_gym.envs.osworld.actions import to_pyautogui

        self._successful(["python", "-c", to_pyautogui(inputs)], seconds)

    def execute(self, command: Command, *, shell: bool = False, seconds: float = 120.0) -> Ran:
        said = {**_command(command, shell), "timeout": seconds}
        reply = self._connection.post_json("/execute", said, seconds=seconds + 10.0).checked()
        return Ran(reply.field("output", str), reply.field("error", str), reply.field("returncode", int))

    def launch(self, command: Command, *, shell: bool = False) -> None:
        self._connection.post_json("/setup/launch", _command(command, shell)).checked()

    def open_file(self, path: str) -> None:
        self._connection.post_json("/setup/open_file", {"path": path}, seconds=180.0).checked()

    def read_file(self, path: str) -> bytes | None:
        reply = self._connection.post_form("/file", {"file_path": path}, seconds=60.0, again=True)
        return None if reply.status == 404 else bytes(reply.checked().body)

    def write_file(self, path: str, content: bytes) -> None:
        if not self._upload(path, content).ok:
            # The benchmark's server makes no folders.
            self._successful(["mkdir", "-p", "--", str(PurePosixPath(path).parent)])
            self._upload(path, content).checked()

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self._window("activate", name, strict, by_class)

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self._window("close", name, strict, by_class)

    def _window(self, what: str, name: str, strict: bool, by_class: bool) -> None:
        said = {"window_name": name, "strict": strict, "by_class": by_class}
        self._connection.post_json(f"/setup/{what}_window", said).checked()

    def _upload(self, path: str, content: bytes) -> Reply:
        return self._connection.post_file("/setup/upload", {"file_path": path}, "file_data", content, seconds=120.0)

    def _successful(self, command: Sequence[str], seconds: float = 60.0) -> Ran:
        ran = self.execute(command, seconds=seconds)
        if ran.code != 0:
            told = (ran.error or ran.output).strip()[-200:]
            raise ComputerError(f"{command[0]} on {self.address}: expected success, got status {ran.code}: {told}")
        return ran


def _command(command: Command, shell: bool) -> dict[str, Any]:
    """As the benchmark's server takes it: text for a shell, a list for none."""
    if isinstance(command, str):
        return {"command": command if shell else shlex.split(command), "shell": shell}
    return {"command": shlex.join(command) if shell else list(command), "shell": shell}


def _raw_pixels(reply: Reply) -> np.ndarray:
    said = tuple(reply.headers.get(f"X-Eapo-{name}", "") for name in ("Width", "Height", "Format"))
    if not (said[0].isdecimal() and said[1].isdecimal() and said[2] == "BGRX"):
        raise ComputerError(f"{reply.asked}: expected pixels as BGRX with their width and height, got {said}")
    width, height = int(said[0]), int(said[1])
    if len(reply.body) != width * height * 4 or not reply.body:
        raise ComputerError(f"{reply.asked}: expected {width} × {height} × 4 bytes, got {len(reply.body)}")
    pixels = np.frombuffer(reply.body, np.uint8).reshape(height, width, 4)
    picture = np.empty((height, width, 3), np.uint8)
    for channel in range(3):  # three times as fast as to turn the last axis around
        picture[..., channel] = pixels[..., 2 - channel]
    return picture


def _decoded(reply: Reply) -> np.ndarray:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingExtra.of("A screenshot of the benchmark's server", "gui") from error
    try:
        image = Image.open(io.BytesIO(reply.body), formats=("PNG", "JPEG"))
        if image.width * image.height > _MOST_PIXELS:
            raise ComputerError(f"{reply.asked}: expected a screen, got {image.width} × {image.height} pixels.")
        return np.array(image.convert("RGB"))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ComputerError(
            f"{reply.asked}: expected a PNG, got {len(reply.body)} bytes that are none: {error}"
        ) from error
