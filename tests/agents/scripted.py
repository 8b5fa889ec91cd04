"""An engine without a model: a small lossless tokenizer, a chat format, and a function that writes the responses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

from eapo_gym.engines.base import Capabilities, Completion, Engine, Message, Prompt, Sampling, Unsupported

_TOKEN = re.compile(r"\s?\w{1,8}|[^\w\s]|\s")

Reply = Callable[[str, Sampling, int], str]
"""From the text of a prompt, the sampling and the number of the prompt in its call to the text of a response."""


class ScriptedEngine(Engine):
    kind = "scripted"
    model = "scripted"

    def __init__(
        self,
        reply: Reply | str = r"<explore></explore><memory></memory><action> \boxed{look} </action>",
        *,
        context: int = 100_000,
        images: bool = False,
        tokenizer: bool = True,
    ) -> None:
        self.reply: Reply = (lambda prompt, sampling, i: reply) if isinstance(reply, str) else reply
        self.context = context
        self.capabilities = Capabilities(images=images, token_ids=tokenizer)
        self.tokenizer = tokenizer
        self.generated: list[list[tuple[Prompt, Sampling]]] = []
        """The requests of each call."""
        self._ids: dict[str, int] = {}
        self._tokens: list[str] = []
        self.closed = False

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        images = tuple(image for message in messages for image in message.images)
        if not self.tokenizer:
            return Prompt((), images, tuple(messages))
        ids = [i for m in messages for i in (self._id(f"<|{m.role}|>"), *self.encode(m.text), self._id("<|end|>"))]
        return Prompt((*ids, self._id("<|assistant|>"), *self.encode(prefill)), images, tuple(messages))

    def encode(self, text: str) -> list[int]:
        if not self.tokenizer:
            raise Unsupported("This engine has no tokenizer.")
        return [self._id(token) for token in _TOKEN.findall(text)]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self._tokens[i] for i in ids)

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self.generated.append([(prompt, sampling) for prompt in prompts])
        await asyncio.sleep(0)
        texts = [self.reply(text_of(prompt), sampling, i) for i, prompt in enumerate(prompts)]
        return [self._completion(prompt, text) for prompt, text in zip(prompts, texts, strict=True)]

    def _completion(self, prompt: Prompt, text: str) -> Completion:
        ids = tuple(self.encode(text)) if self.tokenizer else ()
        logprobs = tuple(-1.0 for _ in ids)
        return Completion(prompt.ids, ids, text, logprobs, tuple(-0.5 for _ in ids), "stop")

    async def score(self, prompts: Any, targets: Any, *, adapter: str | None = None) -> list[list[float]]:
        raise Unsupported("This engine has no model.")

    async def close(self) -> None:
        self.closed = True

    def _id(self, token: str) -> int:
        if token not in self._ids:
            self._ids[token] = len(self._tokens)
            self._tokens.append(token)
        return self._ids[token]


def text_of(prompt: Prompt) -> str:
    return "\n".join(message.text for message in prompt.messages)


def user_text(prompt: Prompt) -> str:
    [text] = [message.text for message in prompt.messages if message.role == "user"]
    return text
