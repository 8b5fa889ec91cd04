"""HTTP to one machine, over TCP or a Unix socket: bounded in time and size, and said in one sentence where it fails.

The machine is not trusted: what answers may hang, end in the middle, or never end.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import urlencode, urlsplit

from eapo_gym.envs.osworld.computer import ComputerError

MOST_BYTES = 256 << 20
"""Of one answer: files of tasks are smaller, and so is any screen."""

_AT_ONCE = 1 << 18
_SHOWN = 200
"""Characters of an answer that an error shows."""

_BROKEN = (http.client.HTTPException, ConnectionError, EOFError)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a machine answered."""

    asked: str
    status: int
    headers: http.client.HTTPMessage
    body: bytes | bytearray

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def checked(self) -> Reply:
        """The same, if the machine did what it was asked to."""
        if not self.ok:
            raise ComputerError(f"{self.asked}: expected success, got status {self.status}: {self.said()}")
        return self

    def json(self) -> Any:
        """What the body says, whatever it says."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise ComputerError(f"{self.asked}: expected JSON, got {self.said()}") from error

    def field(self, name: str, kind: type[Any]) -> Any:
        """A field of the object that the body says."""
        said = self.json()
        value = said.get(name) if isinstance(said, dict) else None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ComputerError(f"{self.asked}: expected JSON with {name!r} as {kind.__name__}, got {self.said()}")
        return value

    def said(self) -> str:
        """The body, or its beginning, for people."""
        text = _one_line(bytes(self.body[: 2 * _SHOWN]).decode("utf-8", "replace"))
        return (text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…") or "nothing"


class Connection:
    """One connection, kept as long as it lasts; safe to share between threads, which then wait for each other.

    Args:
        address: "http://host:port", or the path of a Unix socket.
        token: sent with every request where the server wants one.
        most: bytes that an answer may have.
    """

    def __init__(self, address: str, token: str | None = None, most: int = MOST_BYTES) -> None:
        self.address = address
        self.most = most
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connect = _way_to(address)
        self._http: http.client.HTTPConnection | None = None
        self._lock = Lock()

    def get(self, path: str, *, seconds: float = 10.0) -> Reply:
        return self._ask("GET", path, None, {}, seconds, again=True)

    def post_json(self, path: str, said: Mapping[str, Any], *, seconds: float = 30.0) -> Reply:
        body = json.dumps(said).encode()
        return self._ask("POST", path, body, {"Content-Type": "application/json"}, seconds)

    def post_form(
        self,
        path: str,
        fields: Mapping[str, str],
        *,
        seconds: float = 30.0,
        again: bool = False,
    ) -> Reply:
        """`again`: whether it may be asked once more, since it only tells something."""
        body = urlencode(fields).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, body, headers, seconds, again)

    def post_file(self, path: str, fields: Mapping[str, str], name: str, content: bytes, *, seconds: float) -> Reply:
        body, kind = _multipart(fields, name, content)
        return self._ask("POST", path, body, {"Content-Type": kind}, seconds)

    def close(self) -> None:
        """The next request opens a connection again."""
        with self._lock:
            self._close()

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        seconds: float,
        again: bool = False,
    ) -> Reply:
        asked = f"{method} {path.partition('?')[0]} of {self.address}"
        with self._lock:
            try:
                try:
                    return self._once(asked, method, path, body, headers, seconds)
                except _BROKEN:
                    self._close()
                    if not again:
                        raise
                    return self._once(asked, method, path, body, headers, seconds)
            except TimeoutError as error:
                self._close()
                raise ComputerError(
                    f"{asked}: expected an answer within {seconds:g} s, got none: the machine hangs; restart it."
                ) from error
            except (*_BROKEN, OSError) as error:
                self._close()
                what = f"{type(error).__name__} ({_one_line(str(error))})"
                raise ComputerError(f"{asked}: expected an answer, got {what}: is the machine running?") from error
            except BaseException:
                # The rest of an answer may still be under way on this connection.
                self._close()
                raise

    def _once(
        self,
        asked: str,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        seconds: float,
    ) -> Reply:
        deadline = time.monotonic() + seconds
        connection = self._opened(seconds)
        connection.request(method, path, body, {**self._headers, **headers})
        response = connection.getresponse()
        return Reply(asked, response.status, response.headers, _read(response, asked, deadline, self.most))

    def _opened(self, seconds: float) -> http.client.HTTPConnection:
        if self._http is not None and _has_ended(self._http):
            self._close()
        if self._http is None:
            self._http = self._connect()
        self._http.timeout = seconds
        if self._http.sock is None:
            self._http.connect()
        self._http.sock.settimeout(seconds)
        return self._http

    def _close(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _way_to(address: str) -> Any:
    """A function that makes a connection to an address."""
    if "://" not in address:
        return lambda: _UnixConnection(address)
    parts = urlsplit(address)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if parts.scheme not in kinds or not parts.hostname or parts.path.strip("/"):
        raise ValueError(f"expected an address such as http://127.0.0.1:5000 or the path of a socket, got {address!r}")
    return lambda: kinds[parts.scheme](parts.hostname or "", parts.port)


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether the other side has closed a connection that lay idle: then no request is lost on it."""
    if connection.sock is None:
        return False
    waiting = select.poll()
    waiting.register(connection.sock, select.POLLIN)
    return bool(waiting.poll(0))


def _read(response: http.client.HTTPResponse, asked: str, deadline: float, most: int) -> bytearray:
    """The body; each wait is bounded by the connection, and all of them together by the deadline."""
    announced = response.length
    body = bytearray()
    while announced is None or announced <= most:
        chunk = response.read1(_AT_ONCE)
        body += chunk
        if not chunk:
            if announced is not None and len(body) < announced:
                raise http.client.IncompleteRead(bytes(body[:_SHOWN]), announced - len(body))
            return body
        if announced is not None and len(body) == announced:
            response.read()  # so that the connection can be used again
            return body
        if len(body) > most:
            break
        if time.monotonic() > deadline:
            raise TimeoutError
    raise ComputerError(f"{asked}: expected at most {most} bytes, got {announced or 'more'}.")


def _multipart(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """A form with a file in it. The border is one that stands nowhere in the content."""
    border = "eapo-gym-form"
    while border.encode() in content:
        border += f"-{len(border)}"
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    parts.append(
        f'--{border}\r\nContent-Disposition: form-data; name="{name}"; filename="file"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = "".join(parts).encode() + content + f"\r\n--{border}--\r\n".encode()
    return body, f"multipart/form-data; boundary={border}"
