"""A small server in the place of a machine: it answers from what was recorded on a real desktop, and can misbehave.

`recorded/states.json` says which states there are (a picture, a tree, the title in front) and which input leads from
one to another: a click within a box, a key, or a text. What leads nowhere changes nothing.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import socket
import socketserver
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

from eapo_gym.envs.osworld.tree import Node, from_json, to_xml

FOLDER = Path(__file__).parent / "recorded"

TROUBLES = ("hang", "cut", "status", "not json", "huge", "endless", "nothing", "wrong fields", "garbage")

_MOVE = re.compile(r"moveTo\(\s*(?:x=)?(\d+),\s*(?:y=)?(\d+)")


class RecordedMachine:
    """What it shows, and what was done with it."""

    def __init__(self, folder: Path = FOLDER, *, with_ours: bool = True) -> None:
        self.folder = folder
        self.said = json.loads((folder / "states.json").read_text("utf-8"))
        self.with_ours = with_ours
        self.state: str = self.said["first"]
        self.stamp = 1
        self.inputs: list[dict[str, Any]] = []
        self.commands: list[Any] = []
        self.launched: list[Any] = []
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = {"/home/user"}
        self.windows_asked: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.codes: dict[str, int] = {}
        """What a program ends with, where that is not 0."""

        self.trouble = ""
        self.times = 0
        """So many requests go wrong."""

        self.connections = 0
        self._pointer = (0, 0)

    def misbehave(self, trouble: str, times: int = 1) -> None:
        assert trouble in TROUBLES, trouble
        self.trouble, self.times = trouble, times

    @property
    def now(self) -> Mapping[str, Any]:
        return self.said["states"][self.state]

    def png(self) -> bytes:
        return (self.folder / self.now["screen"]).read_bytes()

    def tree(self) -> dict[str, Any]:
        return _tree(self.folder / self.now["tree"])

    def play(self, inputs: list[dict[str, Any]]) -> None:
        for each in inputs:
            self.inputs.append(each)
            if each["do"] == "move":
                self._pointer = (each["x"], each["y"])
            for way in self.now.get("ways", ()):
                if self._is_taken(way, each):
                    self.go(way["to"])
                    break

    def go(self, state: str) -> None:
        if state != self.state:
            self.stamp += 1
        self.state = state

    def _is_taken(self, way: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
        if given["do"] == "release" and "click" in way and given["button"] == way.get("button", "left"):
            left, top, right, bottom = way["click"]
            return left <= self._pointer[0] < right and top <= self._pointer[1] < bottom
        if given["do"] == "key_down":
            return way.get("key") == given["key"]
        return given["do"] == "write" and "write" in way and way["write"] == given["text"]

    def run(self, command: Any, shell: bool) -> dict[str, Any]:
        self.commands.append(command)
        words = shlex.split(command) if isinstance(command, str) else list(command)
        output = ""
        if words[:1] == ["mkdir"]:
            self.folders.add(words[-1])
        elif words[:2] in (["python", "-c"], ["python3", "-c"]):
            if "_NET_ACTIVE_WINDOW" in words[2]:
                output = self.now["window"]
            elif "pyautogui" in words[2]:
                self.play(_inputs_of(words[2]))
        return {"status": "success", "output": output, "error": "", "returncode": self.codes.get(words[0], 0)}


def _inputs_of(code: str) -> list[dict[str, Any]]:
    """What the state machine has to know of rendered code: where the pointer goes, and what is pressed."""
    inputs: list[dict[str, Any]] = []
    for line in code.replace(";", "\n").splitlines():
        if found := _MOVE.search(line):
            inputs.append({"do": "move", "x": int(found[1]), "y": int(found[2])})
        elif "mouseUp" in line:
            button = next((name for name in ("right", "middle") if name in line), "left")
            inputs.append({"do": "release", "button": button})
        elif found := re.search(r"keyDown\('([^']+)'", line):
            inputs.append({"do": "key_down", "key": found[1]})
    return inputs


@cache
def _tree(path: Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(path.read_bytes()))  # type: ignore[no-any-return]


def recorded_tree(name: str) -> Node:
    return from_json(_tree(FOLDER / f"{name}.json.gz"))


def recorded_screen(name: str) -> np.ndarray:
    return np.array(Image.open(FOLDER / f"{name}.png").convert("RGB"))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Any

    @property
    def machine(self) -> RecordedMachine:
        return self.server.machine  # type: ignore[no-any-return]

    def setup(self) -> None:
        super().setup()
        self.machine.connections += 1
        self.server.sockets.append(self.connection)

    def address_string(self) -> str:
        return "local"

    def log_message(self, *_: Any) -> None:
        """Tests say what they expect; a log would only hide it."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlsplit(self.path).path
        machine = self.machine
        machine.asked.append(f"{method} {path}")
        if machine.times > 0:
            machine.times -= 1
            self._misbehave(machine.trouble)
            return
        answers = _OURS if path.startswith("/eapo") else _THEIRS
        answer = answers.get((method, path)) if machine.with_ours or answers is _THEIRS else None
        if answer is None:
            self._send(404, "text/html", b"<h1>Not Found</h1>")
            return
        status, kind, said, headers = answer(machine, _Asked(self.headers.get("Content-Type", ""), body))
        self._send(status, kind, said, headers)

    def _send(self, status: int, kind: str, said: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(said)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said)
        self.wfile.flush()

    def _misbehave(self, trouble: str) -> None:
        self.close_connection = trouble not in ("status", "not json", "wrong fields")
        if trouble == "hang":
            self.server.ended.wait(30)
        elif trouble == "status":
            self._send(500, "application/json", b'{"status": "error", "message": "the screen is gone"}')
        elif trouble == "not json":
            self._send(200, "application/json", b"<html>Hello")
        elif trouble == "wrong fields":
            self._send(
                200, "application/json", b'{"AT": 7, "tree": [], "stamp": true, "output": null, "width": "wide"}'
            )
        elif trouble == "garbage":
            self.wfile.write(b"\x00\x01 this is no HTTP\r\n\r\n")
        elif trouble == "cut":
            self._start({"Content-Length": "100000"})
            self.wfile.write(b"x" * 1000)
        elif trouble == "huge":
            self._start({"Content-Length": str(1 << 40)})
            self.wfile.write(b"x" * 1000)
        elif trouble == "endless":
            self._start({})
            while not self.server.ended.is_set():
                self.wfile.write(b"x" * (1 << 20))

    def _start(self, headers: Mapping[str, str]) -> None:
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class _Asked:
    def __init__(self, kind: str, body: bytes) -> None:
        self.kind, self.body = kind, body

    def json(self) -> Any:
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}

    def upload(self) -> dict[str, bytes]:
        border = self.kind.partition("boundary=")[2].encode()
        parts = self.body.split(b"--" + border)[1:-1]
        fields = (part[2:-2].partition(b"\r\n\r\n") for part in parts)
        return {re.search(rb'name="([^"]+)"', head)[1].decode(): content for head, _, content in fields}  # type: ignore[index]


_Answer = tuple[int, str, bytes, dict[str, str]]


def _json(said: Any, status: int = 200) -> _Answer:
    return status, "application/json", json.dumps(said).encode(), {}


def _screen_size(machine: RecordedMachine, _: _Asked) -> _Answer:
    width, height = machine.said["size"]
    return _json({"width": width, "height": height})


@cache
def _pixels(png: bytes) -> np.ndarray:
    return np.array(Image.open(io.BytesIO(png)).convert("RGBA"))[..., [2, 1, 0, 3]]


def _raw(machine: RecordedMachine, _: _Asked) -> _Answer:
    pixels = _pixels(machine.png())
    headers = {"X-Eapo-Width": str(pixels.shape[1]), "X-Eapo-Height": str(pixels.shape[0]), "X-Eapo-Format": "BGRX"}
    return 200, "application/octet-stream", pixels.tobytes(), headers


def _inputs(machine: RecordedMachine, asked: _Asked) -> _Answer:
    inputs = asked.json()["inputs"]
    machine.play(inputs)
    return _json({"played": len(inputs)})


def _execute(machine: RecordedMachine, asked: _Asked) -> _Answer:
    said = asked.json()
    return _json(machine.run(said["command"], said["shell"]))


def _launch(machine: RecordedMachine, asked: _Asked) -> _Answer:
    machine.launched.append(asked.json()["command"])
    return 200, "text/plain", b"launched successfully", {}


def _open(machine: RecordedMachine, asked: _Asked) -> _Answer:
    path = asked.json()["path"]
    if path not in machine.files:
        return 404, "text/plain", f"File not found: {path}".encode(), {}
    machine.go(machine.said.get("opens", machine.state))
    return 200, "text/plain", b"File opened successfully", {}


def _file(machine: RecordedMachine, asked: _Asked) -> _Answer:
    content = machine.files.get(asked.form()["file_path"])
    return _json({"error": "File not found"}, 404) if content is None else (200, "application/zip", content, {})


def _upload(machine: RecordedMachine, asked: _Asked) -> _Answer:
    said = asked.upload()
    path = said["file_path"].decode()
    if path.rpartition("/")[0] not in machine.folders:
        return 500, "text/html", b"FileNotFoundError", {}
    machine.files[path] = said["file_data"]
    return 200, "text/plain", b"File Uploaded", {}


def _window(machine: RecordedMachine, asked: _Asked, what: str) -> _Answer:
    name = asked.json()["window_name"]
    machine.windows_asked.append((what, name))
    if name not in machine.now["window"]:
        return 404, "text/plain", f"Window {name} not found".encode(), {}
    return 200, "text/plain", b"done", {}


def _stamp(machine: RecordedMachine, _: _Asked) -> _Answer:
    return _json({"stamp": machine.stamp, "window": machine.now["window"]})


_OURS: dict[tuple[str, str], Any] = {
    ("GET", "/eapo"): lambda *_: _json({"version": 1, "routes": sorted(path for _, path in _OURS)}),
    ("GET", "/eapo/screen"): _raw,
    ("GET", "/eapo/tree"): lambda machine, _: _json({"tree": machine.tree(), "late": []}),
    ("GET", "/eapo/stamp"): _stamp,
    ("GET", "/eapo/quiet"): lambda machine, _: _json({"quiet": True, "stamp": machine.stamp, "changed": True}),
    ("POST", "/eapo/inputs"): _inputs,
}
_THEIRS: dict[tuple[str, str], Any] = {
    ("GET", "/screenshot"): lambda machine, _: (200, "image/png", machine.png(), {}),
    ("GET", "/accessibility"): lambda machine, _: _json({"AT": to_xml(from_json(machine.tree()))}),
    ("GET", "/platform"): lambda *_: (200, "text/plain", b"Linux", {}),
    ("GET", "/terminal"): lambda *_: _json({"output": None, "status": "success"}),
    ("POST", "/screen_size"): _screen_size,
    ("POST", "/desktop_path"): lambda *_: _json({"desktop_path": "/home/user/Desktop"}),
    ("POST", "/execute"): _execute,
    ("POST", "/file"): _file,
    ("POST", "/setup/upload"): _upload,
    ("POST", "/setup/launch"): _launch,
    ("POST", "/setup/execute"): _execute,
    ("POST", "/setup/open_file"): _open,
    ("POST", "/setup/activate_window"): lambda machine, asked: _window(machine, asked, "activate"),
    ("POST", "/setup/close_window"): lambda machine, asked: _window(machine, asked, "close"),
}


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False

    def __init__(self, machine: RecordedMachine, address: Any) -> None:
        self.address_family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.machine = machine
        self.ended = threading.Event()
        self.sockets: list[socket.socket] = []
        super().__init__(address, _Handler)

    def handle_error(self, *_: Any) -> None:
        """Clients that hang up are what is tested."""

    def drop(self) -> None:
        """End all connections, as a server does that is started again."""
        for each in self.sockets:
            with suppress(OSError):  # it has ended by itself
                each.shutdown(socket.SHUT_RDWR)
        self.sockets.clear()


class RecordedServer:
    """The machine behind HTTP; at a port, or at a socket's path."""

    def __init__(self, machine: RecordedMachine, path: str | None = None) -> None:
        self.machine = machine
        self._path = path
        self._port = 0
        self.start()

    @property
    def address(self) -> str:
        return self._path or f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        if self._path is not None:
            Path(self._path).unlink(missing_ok=True)
        self._server = _Server(self.machine, self._path or ("127.0.0.1", self._port))
        if self._path is None:
            self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.drop()

    def drop(self) -> None:
        self._server.drop()
        time.sleep(0.01)  # until the other side can see it


@contextmanager
def recorded_server(
    path: str | None = None, *, with_ours: bool = True, folder: Path = FOLDER
) -> Iterator[RecordedServer]:
    server = RecordedServer(RecordedMachine(folder, with_ours=with_ours), path)
    try:
        yield server
    finally:
        server.stop()
