"""A model hub on this machine: as many of its endpoints as pushing a folder needs."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_writes"
"""Who shows this may write; who shows another may not, and who shows none is asked for one."""


class Hub:
    """What the hub has."""

    def __init__(self, public: tuple[str, ...] = ()) -> None:
        self.repos: dict[str, dict[str, bytes]] = {name: {} for name in public}
        self.private: dict[str, bool] = dict.fromkeys(public, False)
        self.objects: dict[str, bytes] = {}
        self.broken = False
        """It answers 500."""

        self.endpoint = ""


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            """Nothing: a test is not the place for it."""

        def do_GET(self) -> None:
            name = self.path.removeprefix("/api/models/").split("/revision/")[0]
            if name in hub.repos:
                self.answer(200, {"id": name, "private": hub.private[name], "siblings": [], "tags": []})
            else:
                self.answer(404, {"error": "Entry not found"})

        def do_PUT(self) -> None:
            hub.objects[self.path.rpartition("/")[2]] = self.body()
            self.answer(200, {})

        def do_POST(self) -> None:
            body = self.body()
            shown = self.headers.get("Authorization")
            if hub.broken:
                self.answer(500, {"error": "The hub has a bad day"})
            elif shown is None:
                self.answer(401, {"error": "Invalid username or password."})
            elif shown != f"Bearer {TOKEN}":
                self.answer(403, {"error": "You do not have the rights"})
            elif self.path == "/api/repos/create":
                self.create(json.loads(body))
            elif self.path == "/api/validate-yaml":
                self.answer(200, {"errors": [], "warnings": []})
            elif "/preupload/" in self.path:
                files = [
                    {
                        "path": file["path"],
                        "uploadMode": "lfs" if file["path"].endswith(".safetensors") else "regular",
                        "shouldIgnore": False,
                    }
                    for file in json.loads(body)["files"]
                ]
                self.answer(200, {"files": files})
            elif self.path.endswith(".git/info/lfs/objects/batch"):
                wanted = json.loads(body)["objects"]
                objects = [
                    {**each, "actions": {"upload": {"href": f"{hub.endpoint}/lfs/{each['oid']}"}}} for each in wanted
                ]
                self.answer(200, {"transfer": "basic", "objects": objects})
            elif "/commit/" in self.path:
                self.commit(body)
            else:
                self.answer(404, {"error": f"no {self.path}"})

        def create(self, wanted: dict[str, Any]) -> None:
            name = f"{wanted['organization']}/{wanted['name']}"
            if name in hub.repos:
                self.answer(409, {"error": "You already created this model repo", "url": f"{hub.endpoint}/{name}"})
                return
            hub.repos[name] = {}
            hub.private[name] = wanted.get("private") is True or wanted.get("visibility") == "private"
            self.answer(200, {"url": f"{hub.endpoint}/{name}"})

        def commit(self, body: bytes) -> None:
            name = self.path.removeprefix("/api/models/").split("/commit/")[0]
            for line in body.splitlines():
                entry = json.loads(line)
                value = entry["value"]
                if entry["key"] == "file":
                    hub.repos[name][value["path"]] = base64.b64decode(value["content"])
                elif entry["key"] == "lfsFile":
                    content = hub.objects[value["oid"]]
                    assert sha256(content).hexdigest() == value["oid"]
                    hub.repos[name][value["path"]] = content
            address = f"{hub.endpoint}/{name}/commit/{'0' * 39}1"
            self.answer(200, {"success": True, "commitOid": f"{'0' * 39}1", "commitUrl": address})

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def answer(self, status: int, content: dict[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if "error" in content:
                self.send_header("X-Error-Message", content["error"])
            self.end_headers()
            self.wfile.write(data)

    return Handler
