"""A local desktop in the browser: its screen as it changes, and mouse and keyboard for whoever looks.

Whoever has the address can use the desktop, so the address holds a secret: without it every request is refused, and a
page of somebody else's cannot guess it.
"""

from __future__ import annotations

import hmac
import io
import json
import secrets
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.computer import ComputerError
from eapo_gym.envs.osworld.inputs import Input, KeyDown, KeyUp, Move, Press, Release, Wheel, Write
from eapo_gym.errors import MissingExtra

PAGE = Path(__file__).with_name("view.html")

_MOST_BODY = 1 << 16
_PATIENCE = 8.0
"""Seconds that a request for the next picture waits for one."""

_EVERY = 0.03
_QUALITY = 85

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; img-src blob:; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
}


class DesktopView(ThreadingHTTPServer):
    """Serves one desktop on this machine's loopback; `url` is what to open."""

    daemon_threads = True

    def __init__(self, desktop: str | Path, port: int = 0) -> None:
        """`desktop` is where a desktop's server answers: the socket of a `LocalDesktop`, or an address."""
        try:
            import PIL  # noqa: F401
        except ImportError:
            raise MissingExtra.of("The desktop's view", "osworld") from None
        self.desktop = str(desktop)
        self.token = secrets.token_urlsafe(24)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: DesktopView
    server_version = "eapo-gym"
    sys_version = ""
    timeout = 60.0

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        place = self._place(asked.path)
        if place == "":
            self._send(200, "text/html; charset=utf-8", PAGE.read_bytes())
        elif place == "screen":
            self._screen(parse_qs(asked.query).get("since", [""])[0])
        else:
            self._send(404, "text/plain", b"There is no such page: open the address that was printed.")

    def do_POST(self) -> None:
        if self._place(urlsplit(self.path).path) != "inputs":
            self._send(404, "text/plain", b"There is no such page: open the address that was printed.")
            return
        try:
            inputs = _inputs(self.rfile.read(self._length()))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            self._send(400, "text/plain", f"Expected a list of inputs: {error}.".encode())
            return

        def act(computer: HttpComputer) -> None:
            computer.act(inputs)
            self._send(204, "text/plain", b"")

        self._with_desktop(act)

    def _screen(self, since: str) -> None:
        def show(computer: HttpComputer) -> None:
            deadline = time.monotonic() + _PATIENCE
            stamp = computer.stamp()
            while str(stamp.number) == since and time.monotonic() < deadline:
                time.sleep(_EVERY)
                stamp = computer.stamp()
            if str(stamp.number) == since:
                self._send(204, "image/jpeg", b"")
                return
            from PIL import Image

            content = io.BytesIO()
            Image.fromarray(computer.screenshot()).save(content, "JPEG", quality=_QUALITY)
            self._send(200, "image/jpeg", content.getvalue(), {"X-Stamp": str(stamp.number)})

        self._with_desktop(show)

    def _with_desktop(self, work: Callable[[HttpComputer], None]) -> None:
        """Each request has a connection of its own: a picture that is waited for must not hold up the mouse."""
        computer = HttpComputer(self.server.desktop)
        try:
            work(computer)
        except ComputerError as error:
            self._send(502, "text/plain", f"The desktop does not do it: {error}".encode())
        finally:
            computer.close()

    def _place(self, path: str) -> str | None:
        """What is asked for; None for those who do not know the secret."""
        _, _, rest = path.partition("/")
        token, slash, place = rest.partition("/")
        known = hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode())
        return place if known and slash else None

    def _length(self) -> int:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= _MOST_BODY:
            raise ValueError(f"{length} bytes came, and up to {_MOST_BODY:,} are read")
        return length

    def _send(self, status: int, kind: str, content: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            **_HEADERS,
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            **(more or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: there are thirty requests a second."""


def _inputs(body: bytes) -> list[Input]:
    """What the page's script sends: a list of objects, each with a `do`."""
    told = json.loads(body)
    if not isinstance(told, list) or len(told) > 200:
        raise ValueError("it is no list, or a longer one than 200")
    return [_input(each) for each in told]


def _input(told: dict[str, object]) -> Input:
    kind = told["do"]
    if kind == "move":
        return Move(int(float(str(told["x"]))), int(float(str(told["y"]))))
    if kind in ("press", "release"):
        button = told["button"]
        if button not in ("left", "middle", "right"):
            raise ValueError(f"there is no button {button!r:.40}")
        return Press(button) if kind == "press" else Release(button)
    if kind == "wheel":
        return Wheel(0, max(-20, min(20, int(float(str(told["dy"]))))))
    if kind in ("key_down", "key_up"):
        key = str(told["key"])[:40]
        return KeyDown(key) if kind == "key_down" else KeyUp(key)
    if kind == "write":
        return Write(str(told["text"])[:1000])
    raise ValueError(f"there is no input {kind!r:.40}")
