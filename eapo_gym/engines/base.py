"""The interface of an engine: token ids in, token ids and their log-probs out.

    engine = open_engine("transformers", "Qwen/Qwen3-1.7B")
    prompt = engine.prompt([Message("system", "…"), Message("user", "…")])
    [completion] = await engine.generate([prompt], Sampling(max_tokens=512))
    completion.text, completion.ids, completion.logprobs

What was fed and what was sampled are ids, exactly; texts are derived from them and never encoded again, since a
tokenizer need not give back the ids that a model has sampled.

`generate` is a coroutine, and any number of them may run at a time: an engine batches the requests that it has, and
lets them join and leave as they come and end. So a thousand episodes are a thousand coroutines, and none waits for
another one's environment.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from eapo_gym.errors import EapoError

_LEAST_TEMPERATURE = 1e-4
"""Colder than this, logits that are divided by it leave single precision."""

_MOST_TOP_K = 2**31 - 1
"""Engines count in numbers of 32 bits."""

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]


class EngineError(EapoError, RuntimeError):
    """A request that the engine could not answer; the next one may do better."""


class EngineUnavailable(EngineError):
    """The engine itself is gone: no later request can do better, and whoever runs episodes should stop."""


class PromptTooLong(EngineError):
    """A prompt that leaves no room for a response in the context of the model."""


class Unsupported(EngineError):
    """Something that this engine, model or server cannot do, such as log-probs where a server gives none."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat; its images stand before its text."""

    role: Role
    text: str
    images: tuple[np.ndarray, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an engine is fed.

    `ids` has one placeholder token for each image, in their order; the engine expands it to as many as the image takes.
    `messages` are what the ids were made from: servers that take no ids are sent those, and have `ids` empty.
    """

    ids: tuple[int, ...]
    images: tuple[np.ndarray, ...] = ()
    messages: tuple[Message, ...] = ()


def _check(settings: object, *rules: tuple[bool, str, str]) -> None:
    """Refuse what would fail in the middle of a batch, where others would fail with it."""
    for holds, name, expected in rules:
        if not holds:
            raise ValueError(f"{name}: expected {expected}, got {getattr(settings, name)!r}.")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Override:
    """OverRIDE: reweight the next token by (p / q)^strength, q a head tuned on the responses sampled for `key` so far.

    Responses of one `key` (an episode, a task) and one adapter share a head; what was sampled often becomes less likely
    than it was. Nothing else follows from what a key is.
    """

    key: str
    strength: float = 0.5
    rank: int = 16
    learning_rate: float = 1.0
    floor: float = 1e-4
    """q is never taken to be less than this, or rare tokens would explode."""

    def __post_init__(self) -> None:
        _check(
            self,
            (isinstance(self.key, str), "key", "a text"),
            (_is_number(self.strength) and self.strength >= 0, "strength", "a number from 0 on"),
            (_is_whole(self.rank) and self.rank >= 1, "rank", "a positive whole number"),
            (_is_number(self.learning_rate) and self.learning_rate > 0, "learning_rate", "a number above 0"),
            (_is_number(self.floor) and 0 < self.floor < 1, "floor", "a number above 0 and below 1"),
        )


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. The order is: OverRIDE, temperature, top-k, top-p, min-p."""

    max_tokens: int = 1024
    temperature: float = 1.0
    """0 takes the likeliest token."""

    top_p: float = 1.0
    top_k: int = 0
    """0 keeps all."""

    min_p: float = 0.0
    """Drops what is less likely than this share of the likeliest token."""

    stop: tuple[str, ...] = ()
    """Texts that end a response; they are part of it."""

    seed: int | None = None
    """The same prompt and seed draw the same tokens, as far as the arithmetic of the engine allows."""

    override: Override | None = None
    adapter: str | None = None
    """The name of a LoRA adapter that was loaded; None is the model itself."""

    logprobs: bool = True
    """False spares servers the trouble; engines that have them at hand give them anyway."""

    def __post_init__(self) -> None:
        _check(
            self,
            (_is_whole(self.max_tokens) and self.max_tokens >= 1, "max_tokens", "a positive whole number"),
            (
                _is_number(self.temperature) and (self.temperature == 0 or self.temperature >= _LEAST_TEMPERATURE),
                "temperature",
                f"0 (the likeliest token), or a number from {_LEAST_TEMPERATURE} on",
            ),
            (_is_number(self.top_p) and 0 < self.top_p <= 1, "top_p", "a share above 0 and up to 1"),
            (
                _is_whole(self.top_k) and 0 <= self.top_k <= _MOST_TOP_K,
                "top_k",
                f"a whole number from 0 (all) to {_MOST_TOP_K}",
            ),
            (_is_number(self.min_p) and 0 <= self.min_p <= 1, "min_p", "a share from 0 to 1"),
            (
                isinstance(self.stop, tuple) and all(isinstance(text, str) and text for text in self.stop),
                "stop",
                "a tuple of texts that are not empty, such as ('</action>',)",
            ),
            (self.seed is None or _is_whole(self.seed), "seed", "a whole number or None"),
            (self.override is None or isinstance(self.override, Override), "override", "an Override or None"),
            (self.adapter is None or isinstance(self.adapter, str), "adapter", "the name of an adapter or None"),
        )

    @property
    def distorts(self) -> bool:
        """True if tokens are drawn from another distribution than the model's own at some temperature."""
        return self.top_p < 1 or self.top_k > 0 or self.min_p > 0 or self.override is not None


@dataclass(frozen=True, slots=True)
class Completion:
    """What was sampled for a prompt."""

    prompt_ids: tuple[int, ...]
    """The ids that the model was fed, images expanded."""

    ids: tuple[int, ...]
    """The ids that were sampled, the one that ended the response included."""

    text: str
    """The text of `ids`, without special tokens."""

    logprobs: tuple[float, ...] | None
    """Of each sampled token in the model's own distribution, at temperature 1 and with nothing cut off."""

    sampled_logprobs: tuple[float, ...] | None
    """Of each sampled token in the distribution that it was drawn from; None where the engine does not know it."""

    finish: Finish
    usage: tuple[int, int] | None = None
    """Tokens of prompt and response as a server counts them that does not tell their ids."""

    @property
    def tokens(self) -> tuple[int, int]:
        """How many tokens prompt and response have."""
        return self.usage or (len(self.prompt_ids), len(self.ids))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do; what it cannot do it refuses with `Unsupported`."""

    token_ids: bool = True
    logprobs: bool = True
    score: bool = True
    images: bool = False
    weights: bool = False
    adapters: bool = False
    override: bool = False


class Engine(ABC):
    """A language model that answers; see the module for its use."""

    kind: ClassVar[str]
    """transformers, vllm or openai."""

    model: str
    """What the user named: a folder or a hub's id."""

    capabilities: Capabilities
    context: int
    """The most tokens that prompt and response may have together."""

    @abstractmethod
    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        """The messages through the model's own chat template, with the response begun by `prefill`."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a text that stands within a message; nothing in it becomes a control token.

        Prompt budgets are counted with it. Engines without a tokenizer raise `Unsupported`.
        """

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, without special tokens."""

    def image_tokens(self, image: np.ndarray) -> int | None:
        """How many tokens an image takes, with those that frame it; None where the engine cannot tell."""
        return None

    @abstractmethod
    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """One response for each prompt. With a seed, prompt i is drawn with its own generator, made from (seed, i)."""

    async def generate_all(
        self, calls: Sequence[tuple[Sequence[Prompt], Sampling]]
    ) -> list[list[Completion] | EngineError]:
        """As so many calls of `generate` that come at the very same moment, in this order.

        A call that fails has its error in the place of its responses, and does not concern the others. Engines that
        batch for themselves take all of them at once, so that their batches are the same whenever the calls are.
        """
        answers = await asyncio.gather(*(self.generate(*call) for call in calls), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, EngineError):
                raise answer
        return list(answers)  # type: ignore[arg-type]

    @abstractmethod
    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        """Log-probs of each token of target i after prompt i, at temperature 1."""

    async def update_weights(self, weights: Iterable[tuple[str, Any]]) -> None:
        """Replace weights, named as in the model's state dict; responses that are under way go on with the new ones."""
        raise Unsupported(f"The engine {self.kind} cannot change the weights of its model.")

    async def load_adapter(self, name: str, folder: str) -> None:
        """Load (again) a LoRA adapter in PEFT's format; `Sampling.adapter` chooses it."""
        raise Unsupported(f"The engine {self.kind} takes no LoRA adapters.")

    def stats(self) -> Mapping[str, float]:
        """Counters since the start: tokens in and out, requests, steps, how full the batches were."""
        return {}

    def stamp(self) -> dict[str, Any]:
        """What a result must say of the engine: kind, model, precision, versions."""
        return {"kind": self.kind, "model": self.model}

    @abstractmethod
    async def close(self) -> None:
        """Let go of everything; requests under way fail with `EngineUnavailable`. Twice does no harm."""
