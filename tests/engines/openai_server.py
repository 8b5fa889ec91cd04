"""A server that speaks OpenAI's protocol, and fails as it is told to: a process of its own, real HTTP over loopback.

    with ScriptedServer(ids=True) as server:
        server.script({"status": 429, "headers": {"retry-after": "0"}}, {"drop": True})
        ... two requests to server.url fail, the next is answered ...
        server.requests()

Its model writes `text`, or different words for each seed where the text is empty; its tokens are bytes, and 256 ends a
response. `Abilities` are what servers differ in. The script is what befalls the next requests, one after the other.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

END = 256
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow"]


@dataclass
class Abilities:
    model: str = "tree"
    text: str = "<action> \\boxed{look} </action>"
    chat: bool = True
    completions: bool = True
    logprobs: bool = True
    ids: bool = False
    """As vLLM: ids come back, stop texts stay, unknown fields are taken."""

    top_k: str = "ignores"
    """ignores, heeds or refuses; the same for min_p."""

    strict: bool = False
    """Fields that are not OpenAI's are refused, and so is max_tokens."""

    images: str = "sees"
    """sees, ignores or refuses."""

    context: int = 1000
    key: str = ""
    """The only key that is let in, if there is one."""

    seconds: float = 0.0
    """How long a response takes."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    abilities = Abilities()
    script: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    lock = threading.Lock()
    running = most = 0

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        cls = type(self)
        if self.path == "/control":
            with self.lock:
                self.answer(200, {"requests": cls.seen, "most": cls.most})
        elif self.path == "/v1/models":
            about = {"id": self.abilities.model, "object": "model"}
            if self.abilities.ids:
                about["max_model_len"] = self.abilities.context  # type: ignore[assignment]
            self.answer(200, {"object": "list", "data": [about]})
        else:
            self.answer(404, {"error": {"message": f"no {self.path}"}})

    def do_POST(self) -> None:
        cls = type(self)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/control":
            with self.lock:
                cls.script = body.get("script", cls.script)
                cls.abilities = replace(cls.abilities, **body.get("abilities", {}))
                cls.seen, cls.most = [], 0
            self.answer(200, {})
            return
        with self.lock:
            cls.seen.append({"path": self.path, "key": self.headers.get("authorization"), "body": body})
            fault = cls.script.pop(0) if cls.script else None
            cls.running += 1
            cls.most = max(cls.most, cls.running)
        try:
            time.sleep(self.abilities.seconds)
            if fault is None:
                self.answer(*self.respond(body))
            else:
                self.fail(fault, body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the other side has given up, as some tests want it to
        finally:
            with self.lock:
                cls.running -= 1

    def fail(self, fault: dict[str, Any], body: dict[str, Any]) -> None:
        _, usual = self.respond(body)
        whole = fault["body"] if "body" in fault else json.dumps({**usual, **fault.get("with", {})})
        text = (whole if isinstance(whole, str) else json.dumps(whole)).encode("utf-8", "surrogatepass")
        if fault.get("drop") == "half":
            self.send_head(200, len(text), {})
            self.wfile.write(text[: len(text) // 2])
        elif "trickle" in fault:
            self.send_head(200, len(text), {})
            for byte in text:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(fault["trickle"])
        elif not fault.get("drop"):
            self.send_head(fault.get("status", 200), len(text), fault.get("headers", {}))
            self.wfile.write(text)
            return
        self.close_connection = True

    def send_head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(length))
        self.end_headers()

    def answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_head(status, len(text), {})
        self.wfile.write(text)

    def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """What an obedient server answers."""
        can = self.abilities
        chat = self.path == "/v1/chat/completions"
        if can.key and self.headers.get("authorization") != f"Bearer {can.key}":
            said = f"Incorrect API key provided: {self.headers.get('authorization')}."
            return 401, {"error": {"message": said, "code": "invalid_api_key"}}
        if body.get("model") != can.model:
            return 404, {"error": {"message": f"The model {body.get('model')} does not exist."}}
        if not (can.chat if chat else can.completions):
            return (400, {"error": {"message": "the model has no chat template"}}) if chat else (404, {"detail": "no"})
        if can.strict and "max_tokens" in body:
            return 400, {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead."}}
        if can.strict and not body.keys() <= {*ORDINARY, "logprobs"}:
            return 400, {"error": {"message": f"Unrecognized request arguments: {sorted(body.keys() - {*ORDINARY})}"}}
        if can.strict and not can.logprobs and body.get("logprobs"):
            return 403, {"error": {"message": "You are not allowed to request logprobs from this model"}}
        if can.top_k == "refuses" and ("top_k" in body or "min_p" in body):
            return 422, {"detail": "Unexpected fields in the request: {'top_k'}"}
        if chat:
            contents = [message["content"] for message in body["messages"]]
            if can.images == "refuses" and any(isinstance(content, list) for content in contents):
                return 500, {"error": {"message": "image input is not supported"}}
            if can.images == "ignores":
                contents = [content[-1]["text"] if isinstance(content, list) else content for content in contents]
            prompt = list("".join(map(str, contents)).encode())
        elif can.ids or not isinstance(body["prompt"], str):
            prompt = body["prompt"]
        if not can.ids and not chat:
            return 400, {"detail": "prompt must be a string."}
        limit = body.get("max_tokens", body.get("max_completion_tokens", max(1, can.context - len(prompt))))
        if len(prompt) + limit > can.context:
            said = f"This model's maximum context length is {can.context} tokens. However, you requested more."
            return 400, {"error": {"message": said}}
        return 200, self.complete(body, prompt, limit, chat)

    def complete(self, body: dict[str, Any], prompt: list[int], limit: int, chat: bool) -> dict[str, Any]:
        can = self.abilities
        text, stopped = self.text(body), True
        if can.ids or "stop" in body:
            for stop in body.get("stop", []):
                text = text[: text.find(stop) + (len(stop) if can.ids else 0)] if stop in text else text
        ids = [*text.encode(), END]
        if len(ids) > limit:
            ids, stopped = ids[:limit], False
            text = bytes(ids).decode("utf-8", "replace")
        values = [-0.001 * id_ for id_ in ids]
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop" if stopped else "length"}
        if chat:
            choice["message"] = {"role": "assistant", "content": text}
        else:
            choice["text"] = text
        if body.get("logprobs") and can.logprobs:
            tokens = [chr(id_) if id_ != END else "" for id_ in ids]
            content = [
                {"token": token, "logprob": value, "bytes": [id_] if id_ != END else []}
                for token, value, id_ in zip(tokens, values, ids, strict=True)
            ]
            choice["logprobs"] = {"content": content} if chat else {"tokens": tokens, "token_logprobs": values}
        answer = {
            "object": "completion",
            "choices": [choice],
            "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(ids)},
        }
        if can.ids and body.get("return_token_ids"):
            choice["token_ids"] = ids
            (answer if chat else choice)["prompt_token_ids"] = prompt
        if can.ids and "prompt_logprobs" in body:
            scores = [{str(id_): {"logprob": -0.001 * id_, "rank": 1}} for id_ in prompt]
            choice["prompt_logprobs"] = [None, *scores[1:]]
        return answer

    def text(self, body: dict[str, Any]) -> str:
        can = self.abilities
        if can.text:
            return can.text
        heeded = can.top_k == "heeds" and (body.get("top_k") == 1 or body.get("min_p") == 1.0)
        if heeded or body.get("temperature") == 0:
            return "oak " * 8
        return " ".join(random.Random(body.get("seed", time.time())).choices(WORDS, k=8))


ORDINARY = ("model", "messages", "prompt", "max_completion_tokens", "temperature", "top_p", "seed", "stop")


class ScriptedServer:
    """The process, for a `with` statement."""

    def __init__(self, **abilities: Any) -> None:
        self.abilities = {**asdict(Abilities()), **abilities}

    def __enter__(self) -> ScriptedServer:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.url = f"{self.root}/v1"
        self.set()
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def set(self, **abilities: Any) -> None:
        """Change what it can do; requests so far are forgotten, and so is the script."""
        self.abilities |= abilities
        self._control({"abilities": self.abilities, "script": []})

    def script(self, *faults: dict[str, Any]) -> None:
        """What befalls the next requests; requests so far are forgotten."""
        self._control({"script": list(faults)})

    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._control(None)["requests"]
        return found

    def most_at_a_time(self) -> int:
        return int(self._control(None)["most"])

    def _control(self, body: dict[str, Any] | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        # No proxy stands between this process and its child.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(f"{self.root}/control", data), timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    # The process ends with the one that has started it.
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()
