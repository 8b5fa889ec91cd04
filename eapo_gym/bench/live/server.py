"""The server of a game: a page, and a few JSON calls, for whoever has the token.

It has no other protection than this, and each of these is needed: whoever can run a browser on this machine can make it
send requests here.

* The token is in the address that is printed. The page turns it into a cookie that scripts cannot read and that other
  sites' pages do not send; programs send it as `Authorization: Bearer …`.
* The `Host` must be this server's: a foreign name that was made to point here (DNS rebinding) is refused.
* A POST must be JSON and come from this very origin; nothing is allowed to other origins.
* Requests are bounded in size and time. Answers say that nothing but the page's own script may run.
"""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from eapo_gym.bench.live.game import Doubtful, Game, GameError
from eapo_gym.bench.live.page import content_policy, play_page
from eapo_gym.errors import EapoError
from eapo_gym.schema import Turn

MAX_BODY = 1 << 20
"""Bytes of a request."""

_DRAIN = 1 << 23

_MAX_LINE = 100_000
"""Characters of a text that a person writes."""

_LONG_POLL = 25.0
"""Seconds that a request for news waits."""

_SOCKET_SECONDS = 60.0

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PlayServer(ThreadingHTTPServer):
    """Serves a game; `url` is the address to open, token included.

    Args:
        game: what is played. It is its owner's to close.
        host: the address to listen at. One that is not loopback can be reached by others, who need the token too; what
            they send is not encrypted.
        port: 0 takes one that is free.
    """

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, game: Game, host: str = "127.0.0.1", port: int = 0) -> None:
        self.game = game
        self.token = secrets.token_urlsafe(24)
        self.host = host
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)
        self.port = int(self.server_address[1])
        self._bound = ipaddress.ip_address(str(self.server_address[0]))
        self.cookie = f"eapo_play_{self.port}"  # browsers share cookies between the ports of a host

    def server_bind(self) -> None:
        """As http.server does it, but without asking the network for this machine's name, which may take its time."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.host, int(self.server_address[1])

    @property
    def is_local(self) -> bool:
        """Nobody but this machine can reach it."""
        return self._bound.is_loopback

    @property
    def url(self) -> str:
        if self._bound.is_unspecified:
            name = socket.gethostname()
        else:
            name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/?token={self.token}"

    def is_own_host(self, host: str) -> bool:
        """Whether a `Host` header names this server, and not a foreign name that points to it."""
        name, colon, port = host.rpartition(":")
        if not colon or "]" in port:  # no port: browsers leave out the usual one
            name, port = host, "80"
        if port != str(self.port):
            return False
        name = name.lower()
        if self.is_local:
            return name in (*_LOOPBACK_NAMES, self.host.lower())
        return name in (self.host.lower(), socket.gethostname().lower(), *_LOOPBACK_NAMES) or _is_address(name)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away in the middle of an answer is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Refusal(Exception):
    """A request that is not done: the status, and the sentence that says why."""

    def __init__(self, status: int, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.status, self.more = status, more


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version = "eapo-gym"
    sys_version = ""
    timeout = _SOCKET_SECONDS
    _unread: int | None = None
    """Bytes of the body that nobody has read yet; None where the request does not say how many there are."""

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._unread = self._length()
        self._answer(self._post)
        self._drain()

    def _answer(self, answer: Callable[[], None]) -> None:
        try:
            self._check_host()
            answer()
        except _Refusal as refusal:
            self._send_json(refusal.status, {"error": str(refusal), **refusal.more})
        except Doubtful as error:
            self._send_json(422, {"error": str(error), "doubtful": True})
        except GameError as error:
            self._send_json(409, {"error": str(error)})
        except EapoError as error:
            self._send_json(422, {"error": str(error)})

    # What is asked

    def _get(self) -> None:
        url = self._url()
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if url.path == "/" and "token" in query:
            self._let_in(query["token"])
            return
        self._check_token()
        if url.path == "/":
            self._send(200, "text/html; charset=utf-8", play_page().encode())
        elif url.path == "/api/state":
            self._send_json(200, self.server.game.state(_whole_number(query.get("after", "-1")), _LONG_POLL))
        elif url.path == "/api/tasks":
            self._send_json(200, {"tasks": self.server.game.tasks(query.get("split") or None)})
        elif url.path.startswith("/api/picture/"):
            self._send_picture(url.path.removeprefix("/api/picture/"))
        else:
            raise _Refusal(404, f"There is nothing at {url.path!r:.80}.")

    def _post(self) -> None:
        self._check_token()
        self._check_origin()
        body = self._body()
        path = self._url().path
        game = self.server.game
        if path == "/api/act":
            turn = Turn(
                think=_text(body, "think"),
                explore=_text(body, "explore"),
                memory=_text(body, "memory"),
                action=_text(body, "command").strip(),
                format_ok=True,
            )
            if not turn.action:
                raise _Refusal(422, "There is no command: write one, or choose one that is offered.")
            game.act(turn, _whole_number(body.get("version")), anyway=body.get("anyway") is True)
            self._send_json(200, {"version": game.state()["version"]})
        elif path == "/api/begin":
            game.begin(_name(body, "task"), _name(body, "split"))
            self._send_json(200, {"version": game.state()["version"]})
        elif path == "/api/hint":
            self._send_json(200, {"hint": game.hint()})
        else:
            raise _Refusal(404, f"There is nothing to be done at {path!r:.80}.")

    def _url(self) -> SplitResult:
        try:
            return urlsplit(self.path)
        except ValueError as error:
            raise _Refusal(400, f"{self.path!r:.80} is no address: {error}.") from error

    # Who asks

    def _check_host(self) -> None:
        host = self.headers.get("Host", "")
        if not self.server.is_own_host(host):
            raise _Refusal(
                421, f"This server is not {host!r:.80}: open it by the address that eapo-gym play has printed."
            )

    def _let_in(self, token: str) -> None:
        """Turn the token of the address into a cookie, and take it out of the address."""
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refusal(403, "The token is not that of this game: open the address that eapo-gym play has printed.")
        cookie = f"{self.server.cookie}={self.server.token}; Path=/; HttpOnly; SameSite=Strict"
        self._send(303, "text/plain; charset=utf-8", b"", {"Location": "/", "Set-Cookie": cookie})

    def _check_token(self) -> None:
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        given = bearer or self._cookie()
        if not secrets.compare_digest(given.encode(), self.server.token.encode()):
            raise _Refusal(403, "Only who has the token may play: open the address that eapo-gym play has printed.")

    def _cookie(self) -> str:
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
        except CookieError:
            return ""
        return "" if cookie is None else cookie.value

    def _check_origin(self) -> None:
        """A page of another site can make a browser send a POST here; it cannot hide where that comes from."""
        origin = self.headers.get("Origin")
        if origin is None and self.headers.get("Authorization"):
            return  # no browser, or one that had to ask for leave first, which nobody gets
        if origin != f"http://{self.headers.get('Host')}":
            raise _Refusal(
                403, f"A request from {origin or 'nowhere'!r:.80} is not done: only the game's own page may."
            )

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise _Refusal(415, f"expected application/json, got {self.headers.get('Content-Type', 'nothing')!r:.80}.")
        if self._unread is None:
            raise _Refusal(411, "expected a Content-Length, and the request has none.")
        if self._unread > MAX_BODY:
            raise _Refusal(413, f"A request may have {MAX_BODY} bytes, and this one has {self._unread}.")
        length, self._unread = self._unread, 0
        try:
            body = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError) as error:
            raise _Refusal(400, f"The request is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise _Refusal(400, f"expected a JSON object, got {type(body).__name__}.")
        return body

    def _length(self) -> int | None:
        length = self.headers.get("Content-Length", "")
        return int(length) if length.isascii() and length.isdigit() and len(length) < 16 else None

    def _drain(self) -> None:
        """Read the rest of a request that was refused, up to a point: else the answer may be lost with it."""
        left = min(self._unread or 0, _DRAIN)
        while left > 0 and (read := self.rfile.read(min(left, 1 << 16))):
            left -= len(read)

    # What is answered

    def _send_picture(self, name: str) -> None:
        path = self.server.game.out.pictures.folder / name
        if not re.fullmatch(r"[0-9a-f]{8,64}\.webp", name) or not path.is_file():
            raise _Refusal(404, f"There is no picture {name!r:.80}.")
        self._send(200, "image/webp", path.read_bytes())

    def _send_json(self, status: int, content: Mapping[str, Any]) -> None:
        # ASCII: a lone surrogate, which a foreign text may hold, cannot be encoded otherwise.
        self._send(status, "application/json", json.dumps(content, allow_nan=False).encode("ascii"))

    def _send(self, status: int, kind: str, data: bytes, more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        headers = {**_HEADERS, "Content-Security-Policy": content_policy(), **(more or {})}
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are no news; and addresses have the token in them."""


def serve_in_background(server: PlayServer) -> threading.Thread:
    """Serve until `server.shutdown()`."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="server", daemon=True)
    thread.start()
    return thread


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _whole_number(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < 16 and value.removeprefix("-").isdecimal():
        return int(value)
    raise _Refusal(400, f"version: expected a whole number, got {value!r:.40}.")


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str):
        raise _Refusal(400, f"{name}: expected a text, got {type(value).__name__}.")
    if len(value) > _MAX_LINE:
        raise _Refusal(413, f"{name}: expected at most {_MAX_LINE} characters, got {len(value)}.")
    return value


def _name(body: Mapping[str, Any], name: str) -> str | None:
    return _text(body, name) or None if body.get(name) is not None else None
