"""Loopback ports of this machine that lead to a desktop: for clients that know only a host and a port."""

from __future__ import annotations

import hmac
import http.client
import ipaddress
import select
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer, ThreadingTCPServer
from threading import Thread
from typing import Any

_TIMEOUT = 2_000.0
"""Longer than any route of the server takes."""

_HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}


class Relay:
    """A port that is open until it is closed."""

    def __init__(self, server: TCPServer) -> None:
        self._server = server
        self._thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        host, port, *_ = self._server.socket.getsockname()
        return str(host), int(port)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def forward_requests(path: Path, host: str, port: int, token: str | None) -> Relay:
    """Every request goes to the desktop's server, if it may."""
    if token is None and not _is_loopback(host):
        raise ValueError(f"Who reaches {host!r} could run programs on the desktop: give serve_tcp a token.")
    return Relay(_Requests(path, host, port, token))


def forward_tunnels(path: Path, inside: int, port: int) -> Relay:
    """Every connection goes to a port of the desktop's own loopback."""
    if not 0 < inside < 65536:
        raise ValueError(f"A port is a number from 1 to 65535, not {inside!r}.")
    return Relay(_Tunnels(path, inside, port))


class _Requests(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, path: Path, host: str, port: int, token: str | None) -> None:
        self.path, self.token = path, token
        super().__init__((host, port), _RequestHandler)


class _RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Requests

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged of requests."""

    def do_GET(self) -> None:
        self._forward()

    def do_POST(self) -> None:
        self._forward()

    def _forward(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self.close_connection = True
            return self._send(400, {}, b"The request must say its length (Content-Length).")
        body = self.rfile.read(int(length))
        refused = self._refused()
        if refused:
            return self._send(403, {}, refused.encode())
        connection = http.client.HTTPConnection("localhost", timeout=_TIMEOUT)
        try:
            connection.sock = _connected(self.server.path)
            kind = {"Content-Type": self.headers["Content-Type"]} if "Content-Type" in self.headers else {}
            connection.request(self.command, self.path, body=body, headers=kind)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            return self._send(502, {}, f"The desktop does not answer: {problem}".encode())
        finally:
            connection.close()
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP}
        return self._send(answer.status, headers, content)

    def _refused(self) -> str:
        """Why it may not; empty if it may. A web page in a browser of this machine must not, under whatever name."""
        token = self.server.token
        if token is not None:
            given = self.headers.get("Authorization", "")
            well = hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {token}".encode())
            return "" if well else "The request needs the token: Authorization: Bearer …"
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if "Origin" in self.headers or not (name == "localhost" or _is_loopback(name.strip("[]"))):
            return "Without a token, only programs of this machine are answered, at its loopback address."
        return ""

    def _send(self, code: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(code)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class _Tunnels(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, path: Path, inside: int, port: int) -> None:
        self.path, self.inside = path, inside
        super().__init__(("127.0.0.1", port), _TunnelHandler)


class _TunnelHandler(BaseRequestHandler):
    server: _Tunnels

    def handle(self) -> None:
        try:
            desktop = _connected(self.server.path)
        except OSError:
            return  # the client sees its connection closed, as with any port at which nothing listens
        with desktop:
            target = f"127.0.0.1:{self.server.inside}"
            desktop.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head and len(head) < 65536:
                part = desktop.recv(1)
                if not part:
                    return
                head += part
            if b" 200 " in head.split(b"\r\n")[0]:
                _relay(self.request, desktop)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Bytes go both ways until one side has closed."""
    one.settimeout(None)
    other.settimeout(None)
    while True:
        ready, _, _ = select.select([one, other], [], [])
        for source in ready:
            data = source.recv(65536)
            if not data:
                return
            (other if source is one else one).sendall(data)


def _connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_TIMEOUT)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
