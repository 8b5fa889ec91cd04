"""HTTP on a Unix socket that was opened outside of the sandbox."""

from __future__ import annotations

import json
import select
import socket
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from .routes import Pixels, Refusal, Request, Routes, refusal_of

MOST_BYTES = 512 * 2**20
"""Of a request's body."""


class Server(ThreadingMixIn, UnixStreamServer):
    """One thread for each connection."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, routes: Routes) -> None:
        super().__init__("", Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.routes = routes


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server
    wbufsize = -1
    """Head and body leave together."""

    def address_string(self) -> str:
        return "local"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged of requests that were answered."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_CONNECT(self) -> None:
        """A tunnel to a port of the sandbox's loopback."""
        self.close_connection = True
        port = self.path.rpartition(":")[2]
        try:
            target = socket.create_connection(("127.0.0.1", int(port)), timeout=10)
        except (OSError, OverflowError, ValueError) as problem:
            self._send(502, "application/json", _sentence(f"Nothing listens at port {port}: {problem}"))
            return
        with target:
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            _relay(self.connection, target)

    def _answer(self, method: str) -> None:
        try:
            request = self._request()
            answer = self.server.routes.find(method, urlsplit(self.path).path)(request)
        except Exception as problem:
            refusal = refusal_of(problem)
            self._send(refusal.code, "application/json", _sentence(str(refusal)))
            return
        if isinstance(answer, Pixels):
            extra = {"X-Eapo-Width": answer.width, "X-Eapo-Height": answer.height, "X-Eapo-Format": "BGRX"}
            self._send(200, "application/octet-stream", answer.data, extra)
        elif isinstance(answer, tuple):
            self._send(200, *answer)
        elif isinstance(answer, str):
            self._send(200, "text/plain; charset=utf-8", answer.encode())
        else:
            self._send(200, "application/json", json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))

    def _request(self) -> Request:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isascii() or not length.isdigit():
            self.close_connection = True
            raise Refusal(400, "The request must say its length (Content-Length).")
        if int(length) > MOST_BYTES:
            self.close_connection = True
            raise Refusal(400, f"The request is longer than {MOST_BYTES} bytes.")
        body = self.rfile.read(int(length))
        query = dict(parse_qsl(urlsplit(self.path).query))
        return Request(query, body, self.headers.get("Content-Type", ""))

    def _send(self, code: int, kind: str, content: bytes, headers: dict[str, Any] | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()


def _sentence(text: str) -> bytes:
    return json.dumps({"error": text, "status": "error", "message": text}).encode()


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Bytes go both ways until one side has closed."""
    while True:
        ready, _, _ = select.select([one, other], [], [])
        for source in ready:
            data = source.recv(65536)
            if not data:
                return
            (other if source is one else one).sendall(data)
