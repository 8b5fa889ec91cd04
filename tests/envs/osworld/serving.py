"""A server with files on it that can do what servers do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Shelf:
    """A file, and how the server behaves that has it."""

    content: bytes = b""
    type: str = "application/octet-stream"
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200
    busy: int = 0
    """So many requests are answered with 503."""

    cuts: list[int] = field(default_factory=list)
    """After so many bytes the connection ends, one number for each request."""

    sized: bool = True
    ranges: bool = True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.shelves: dict[str, Shelf] = {}
        self.asked: list[tuple[str, str]] = []
        """Path and Range of each request."""

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append((self.path, wanted))
        shelf = self.server.shelves.get(self.path)
        if shelf is None or shelf.busy:
            if shelf:
                shelf.busy -= 1
            self.send_error(503 if shelf else 404)
            return
        start = 0
        if wanted and shelf.ranges and self.headers.get("If-Range") == shelf.headers.get("ETag"):
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else shelf.status)
        self.send_header("Content-Type", shelf.type)
        for name, value in shelf.headers.items():
            self.send_header(name, value)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(shelf.content) - 1}/{len(shelf.content)}")
        if shelf.sized:
            self.send_header("Content-Length", str(len(shelf.content) - start))
        self.end_headers()
        body = shelf.content[start:]
        self.wfile.write(body[: shelf.cuts.pop(0)] if shelf.cuts else body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
