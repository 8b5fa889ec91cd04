"""The two roads to a model behind a server: what to ask on them, what comes back, and how to find out.

* `ids`: `/completions` with the token ids of the prompt. Nothing is left to the server's chat template.
* `chat`: `/chat/completions` with messages, and images.

Answers are foreign data, in which nothing need be what it should.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eapo_gym.engines.base import EngineError, Finish, Message, Prompt
from eapo_gym.engines.openai_client import NotAllowed, Refused, Server
from eapo_gym.errors import MissingExtra

VLLM = {"return_token_ids": True, "include_stop_str_in_output": True}
"""Fields of vLLM that bring back the sampled ids, and leave the text that stopped a response in it."""

GREETING = "Hello there"
"""What servers are tried with."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server gave for a prompt; ids are empty and log-probs None where it did not give them."""

    prompt_ids: tuple[int, ...]
    ids: tuple[int, ...]
    text: str
    logprobs: tuple[float, ...] | None
    pieces: tuple[bytes, ...]
    """The text of each token, as far as the server tells."""

    finish: Finish
    prompt_tokens: int
    response_tokens: int

    def cut(self, stops: Sequence[str]) -> Answer:
        """The answer up to the first of the stop texts in it, which is kept."""
        found = [(self.text.find(stop), len(stop)) for stop in stops]
        end = min((at + length for at, length in found if at >= 0), default=len(self.text))
        if end == len(self.text):
            return self
        text = self.text[:end]
        tokens = self._tokens_of(text)
        return Answer(
            self.prompt_ids, self.ids[:tokens], text, self.logprobs and self.logprobs[:tokens], self.pieces[:tokens],
            "stop", self.prompt_tokens, self.response_tokens,
        )  # fmt: skip

    def _tokens_of(self, start: str) -> int:
        """How many tokens it took to write the start of the text."""
        size, so_far = len(start.encode("utf-8", "surrogatepass")), 0
        for count, piece in enumerate(self.pieces):
            if so_far >= size:
                return count
            so_far += len(piece)
        return len(self.pieces)


@dataclass(frozen=True, slots=True)
class Road:
    """A way to the model, and what the server gives on it."""

    kind: Literal["ids", "chat"]
    limit: str = "max_tokens"
    """What the server calls the most tokens of a response."""

    logprobs: bool = False
    ids: bool = False
    """Sampled ids come back: the server is vLLM, or does as vLLM does, and understands the rest of its fields."""

    score: bool = False
    """It gives log-probs of the ids of a prompt."""

    images: bool = False

    @property
    def path(self) -> str:
        return "/completions" if self.kind == "ids" else "/chat/completions"

    @property
    def with_logprobs(self) -> dict[str, Any]:
        return {"logprobs": 1 if self.kind == "ids" else True}

    def ask(self, prompt: Prompt) -> dict[str, Any]:
        """The part of a request that is the prompt."""
        if self.kind == "ids":
            return {"prompt": list(prompt.ids)}
        begun = bool(prompt.messages) and prompt.messages[-1].role == "assistant"
        going_on = {"continue_final_message": True, "add_generation_prompt": False} if begun else {}
        return {"messages": [_message(message) for message in prompt.messages], **going_on}

    def read(self, answer: Mapping[str, Any]) -> Answer:
        choice = answer["choices"][0]
        found, message, usage = (
            _dict(one) for one in (choice.get("logprobs"), choice.get("message"), answer.get("usage"))
        )
        text, logprobs, pieces = choice.get("text"), _numbers(found.get("token_logprobs")), found.get("tokens")
        prompt_ids = _ids(choice.get("prompt_token_ids"))
        if self.kind == "chat":
            tokens = found.get("content")
            tokens = [_dict(token) for token in tokens] if isinstance(tokens, list) else None
            logprobs = _numbers(tokens and [token.get("logprob") for token in tokens])
            pieces = tokens and [_spelt(token) for token in tokens]
            text, prompt_ids = message.get("content"), _ids(answer.get("prompt_token_ids"))
        ids = _ids(choice.get("token_ids"))
        return Answer(
            prompt_ids=prompt_ids,
            ids=ids,
            text=text if isinstance(text, str) else "",
            logprobs=logprobs,
            pieces=tuple(map(_bytes, pieces)) if isinstance(pieces, list) else (),
            finish="length" if choice.get("finish_reason") == "length" else "stop",
            prompt_tokens=_count(usage.get("prompt_tokens")) or len(prompt_ids),
            response_tokens=_count(usage.get("completion_tokens")) or len(ids),
        )


def read_prompt_logprobs(answer: Mapping[str, Any], ids: Sequence[int], start: int) -> list[float] | None:
    """Log-probs of the ids of a prompt from `start` on, where vLLM has put them."""
    found = answer["choices"][0].get("prompt_logprobs")
    if not isinstance(found, list) or len(found) != len(ids):
        return None
    values = [_dict(_dict(at).get(str(one))).get("logprob") for at, one in zip(found, ids, strict=True)]
    numbers = _numbers(values[start:])
    return None if numbers is None else list(numbers)


async def find_chat(server: Server, extra: Mapping[str, Any], retries: int) -> tuple[Road, tuple[int, ...]]:
    """The chat road, and the ids of the prompt that it was tried with, where the server gives them."""
    prompt = Prompt((), messages=(Message("user", GREETING),))
    refusal: EngineError | None = None
    for limit in ("max_tokens", "max_completion_tokens"):
        road = Road("chat", limit)
        base = {"model": server.model, limit: 1, **road.ask(prompt)}
        for more in ({**road.with_logprobs, **VLLM}, road.with_logprobs, {}):
            try:
                answer = road.read(await server.post(road.path, {**base, **more, **extra}, retries=retries))
            except (Refused, NotAllowed) as error:
                refusal = error
                continue
            known = bool(answer.prompt_ids and answer.ids)
            sees = await _sees(server, road, extra, answer.prompt_tokens)
            return Road("chat", limit, bool(answer.logprobs), known, images=sees), answer.prompt_ids
        if "max_completion_tokens" not in str(refusal):
            break
    assert refusal is not None
    raise refusal


async def _sees(server: Server, road: Road, extra: Mapping[str, Any], tokens: int) -> bool:
    """Whether images are taken, and not just left out of a prompt of so many tokens."""
    grey = np.full((64, 64, 3), 128, np.uint8)
    try:
        asked = road.ask(Prompt((), messages=(Message("user", GREETING, (grey,)),)))
        raw = await server.post(road.path, {"model": server.model, road.limit: 1, **asked, **extra}, retries=0)
    except (EngineError, MissingExtra):  # text models refuse them in many ways; and without Pillow there are none
        return False
    return road.read(raw).prompt_tokens > tokens or not tokens


async def find_ids(server: Server, ids: tuple[int, ...], extra: Mapping[str, Any], retries: int) -> Road | None:
    """The road for ids, or None where the server has none."""
    road = Road("ids")
    base = {"model": server.model, "max_tokens": 1, **road.ask(Prompt(ids))}
    for more in ({**road.with_logprobs, "prompt_logprobs": 0, **VLLM}, road.with_logprobs, {}):
        try:
            raw = await server.post(road.path, {**base, **more, **extra}, retries=retries)
        except Refused:
            continue
        except EngineError:  # no such address, or a server that falls over ids in place of a text
            return None
        answer = road.read(raw)
        known = answer.prompt_ids == ids and bool(answer.ids)
        scores = known and read_prompt_logprobs(raw, ids, 1) is not None
        return Road("ids", "max_tokens", bool(answer.logprobs), known, scores)
    return None


def _message(message: Message) -> dict[str, Any]:
    text = message.text.encode("utf-8", "replace").decode("utf-8")  # requests are UTF-8: no lone surrogates
    if not message.images:
        return {"role": message.role, "content": text}
    pictures = [{"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images]
    return {"role": message.role, "content": [*pictures, {"type": "text", "text": text}]}


def _data_url(image: np.ndarray) -> str:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra.of("Sending images to a server", "gui") from error
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _ids(value: object) -> tuple[int, ...]:
    fits = isinstance(value, list) and all(type(one) is int and 0 <= one < 1 << 31 for one in value)
    return tuple(value) if fits and isinstance(value, list) else ()


def _numbers(values: object) -> tuple[float, ...] | None:
    if not isinstance(values, list) or not all(type(one) in (int, float) and not math.isnan(one) for one in values):
        return None
    return tuple(float(one) for one in values)


def _bytes(piece: object) -> bytes:
    return piece if isinstance(piece, bytes) else str(piece).encode("utf-8", "surrogatepass")


def _spelt(token: Mapping[str, Any]) -> object:
    """The bytes of a token: half a character has no text."""
    given = token.get("bytes")
    fits = isinstance(given, list) and all(type(one) is int and 0 <= one < 256 for one in given)
    return bytes(given) if given and fits else token.get("token")


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0
