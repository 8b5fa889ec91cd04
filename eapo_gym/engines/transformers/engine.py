"""`TransformersEngine`: the asynchronous face of a model that runs in this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from eapo_gym.engines.base import (
    Capabilities,
    Completion,
    Engine,
    EngineError,
    EngineUnavailable,
    Message,
    Prompt,
    PromptTooLong,
    Sampling,
)
from eapo_gym.errors import MissingExtra

try:
    import torch
    import transformers
except ImportError as error:
    raise MissingExtra.of("The engine transformers", "transformers") from error

from eapo_gym.engines.chat import Chat
from eapo_gym.engines.hub import load
from eapo_gym.engines.images import ImageReader
from eapo_gym.engines.transformers.adapters import Adapters, replace_weights
from eapo_gym.engines.transformers.batch import Batcher
from eapo_gym.engines.transformers.request import Request
from eapo_gym.engines.transformers.runner import Runner
from eapo_gym.engines.transformers.vision import Pictures, Vision

_SHARE_OF_MEMORY = {"cuda": 0.85, "cpu": 0.25}
"""How much of the memory that is free after loading the cache may take. On a CPU others want some of it too."""

_UNKNOWN_MEMORY = 8 << 30
"""What is taken to be free where the system does not say."""

_STOP_CONTEXT = 16
"""A text that stops a response may be spread over this many tokens more than it has bytes."""


@dataclass(slots=True, eq=False)
class _Hold:
    """A pause; of no engine once it has ended."""

    engine: TransformersEngine | None


_holds: ContextVar[tuple[_Hold, ...]] = ContextVar("holds", default=())
"""The pauses that this task is within."""


class TransformersEngine(Engine):
    """A causal language model or an image-text model (Qwen3-VL, Gemma 3) in this process.

    `model` is a folder, a hub's id, or a model that is loaded already (a PEFT model too), with its `tokenizer`: then a
    trainer and the engine share the weights, and the trainer changes them within `async with engine.paused()`.

    * `device`: "cuda" if there is a GPU, else "cpu". `dtype`: "bfloat16" on a GPU, "float32" on a CPU.
    * `max_batch`: responses that are sampled at a time (64 on a CPU, 256 on a GPU).
    * `max_tokens_in_cache`: slots × length of the longest (by default what fits in the free memory). It bounds how many
      responses are sampled at a time; one that alone takes more fails.
    * `context`: less than the model's own, to bound prompt and response together.
    * `thinking`: as in `Chat`.
    """

    kind: ClassVar[str] = "transformers"

    def __init__(
        self,
        model: str | Path | Any,
        *,
        tokenizer: Any = None,
        device: str | None = None,
        dtype: str | None = None,
        max_batch: int | None = None,
        max_tokens_in_cache: int | None = None,
        context: int | None = None,
        thinking: bool | None = None,
    ) -> None:
        given = {"max_batch": max_batch, "max_tokens_in_cache": max_tokens_in_cache, "context": context}
        for name, value in given.items():
            if value is not None and (not isinstance(value, int) or value < 1):
                raise EngineError(f"{name}: expected a whole number from 1, got {value!r}.")
        is_named = isinstance(model, (str, os.PathLike))
        loaded = _load(os.fspath(model), device, dtype) if is_named else model
        self._adapters = Adapters(loaded)
        self._model = self._adapters.model
        self.model = os.fspath(model) if is_named else str(self._model.name_or_path or type(self._model).__name__)
        if not is_named and tokenizer is None:
            raise EngineError("A model that is loaded already needs its tokenizer: pass tokenizer=….")
        self._chat = Chat(tokenizer if tokenizer is not None else model, thinking=thinking, config=self._model.config)
        has_images = hasattr(self._model.config, "vision_config")
        self._vision = Vision(self._model) if has_images else None
        self._reader: ImageReader | None = None
        self._weights = self._model.state_dict(keep_vars=True)
        self._model.eval()
        self._runner = Runner(self._model, self._vision)
        on_gpu = self._runner.device.type == "cuda"
        limit = max_tokens_in_cache or self._what_fits()
        self._own_context = _context(self._model)
        # Not what fits in memory: results must not depend on what else runs on the machine.
        self.context = min(self._own_context, context or self._own_context)
        self._vocabulary = int(self._model.get_input_embeddings().weight.shape[0])
        self.capabilities = Capabilities(images=has_images, weights=True, adapters=True, override=True)
        self._pieces: dict[int, str] = {}
        self._max_batch = max_batch or (256 if on_gpu else 64)
        self._batcher = Batcher(
            self._runner,
            self._adapters,
            max_batch=self._max_batch,
            max_tokens=limit,
            piece=8192 if on_gpu else 2048,
            ends=self._ends(),
            stops_at=self._stops_at,
            inference=is_named,
        )

    # Texts and ids

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        return self._chat.prompt(messages, prefill=prefill)

    def encode(self, text: str) -> list[int]:
        return self._chat.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._chat.decode(ids)

    def image_tokens(self, image: np.ndarray) -> int | None:
        return None if self._vision is None else self._image_reader().tokens(image)

    # Requests

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        requests = await self._requests(prompts, sampling)
        return [self._completion(request) for request in await self._answer(requests)]

    async def generate_all(
        self, calls: Sequence[tuple[Sequence[Prompt], Sampling]]
    ) -> list[list[Completion] | EngineError]:
        asked = [await self._requests_or_error(*call) for call in calls]
        every = [request for requests in asked if isinstance(requests, list) for request in requests]
        try:
            await self._answer(every, each_for_itself=True)
        except EngineError as error:  # none of them was taken
            return [error] * len(calls)
        return [self._completions(requests) if isinstance(requests, list) else requests for requests in asked]

    def _completions(self, requests: Sequence[Request]) -> list[Completion] | EngineError:
        """The responses of requests that have ended, or what was wrong with one of them."""
        for request in requests:
            error = request.future.exception()
            if isinstance(error, EngineError):
                return error
            if error is not None:
                raise error
        return [self._completion(request) for request in requests]

    async def _requests_or_error(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Request] | EngineError:
        try:
            return await self._requests(prompts, sampling)
        except EngineError as error:
            return error

    async def _requests(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Request]:
        self._adapters.check(sampling.adapter)
        return [
            await self._request(
                prompt,
                sampling=sampling,
                adapter=sampling.adapter,
                # Without a seed, NumPy takes one from the system.
                random=np.random.default_rng(None if sampling.seed is None else [*_natural(sampling.seed), i]),
            )
            for i, prompt in enumerate(prompts)
        ]

    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        if len(prompts) != len(targets):
            raise EngineError(f"There are {len(prompts)} prompts and {len(targets)} targets: expected one for each.")
        self._adapters.check(adapter)
        requests = [
            await self._request(prompt, target=target, adapter=adapter)
            for prompt, target in zip(prompts, targets, strict=True)
        ]
        # Longest first: what is fed together is of about the same length, and the most memory is taken at once.
        asked = sorted((request for request in requests if request.limit), key=lambda one: -len(one.tokens))
        await self._answer(asked)
        return [request.logprobs for request in requests]

    async def _request(
        self,
        prompt: Prompt,
        *,
        sampling: Sampling | None = None,
        target: Sequence[int] = (),
        adapter: str | None,
        random: np.random.Generator | None = None,
    ) -> Request:
        ids, pictures = await self._read(prompt)
        length = len(ids)
        if not length:
            raise EngineError("The prompt is empty: expected one token at least.")
        if sampling is not None and length >= self.context:
            raise PromptTooLong(
                f"The prompt has {length} tokens, the context {self.context}: that leaves no room for a response."
            )
        if length + len(target) > self.context:
            raise PromptTooLong(
                f"Prompt and target have {length + len(target)} tokens: expected {self.context} at most, the context."
            )
        tokens = [*ids, *map(int, target)]
        # On a GPU an id out of range would be the end of the process's use of it.
        if min(tokens) < 0 or max(tokens) >= self._vocabulary:
            raise EngineError(
                f"Ids run from {min(tokens)} to {max(tokens)}: the model has 0 to {self._vocabulary - 1}."
            )
        limit = len(target) if sampling is None else min(sampling.max_tokens, self.context - length)
        return Request(tokens, length, sampling, limit, random or np.random.default_rng(0), pictures, adapter)

    async def _read(self, prompt: Prompt) -> tuple[Sequence[int], Pictures | None]:
        """The ids with images expanded, and the images."""
        if not prompt.images and (self._vision is None or self._chat.image_id not in prompt.ids):
            return prompt.ids, None
        if self._vision is None:
            raise EngineError(f"{self.model} sees no images: expected a prompt of text alone.")
        # Pixels take their time, and others wait for this event loop.
        seen = await asyncio.to_thread(self._image_reader().read, prompt)
        return seen.ids, self._vision.pictures(seen, prompt.images)

    def _image_reader(self) -> ImageReader:
        """Opened when the first image comes."""
        if self._reader is None:
            self._reader = ImageReader(self.model, self._chat)
        return self._reader

    async def _answer(self, requests: Sequence[Request], *, each_for_itself: bool = False) -> list[Request]:
        """Submit requests and wait for all; if one fails or nobody waits any more, the others end too.

        Where it is `each_for_itself`, one that fails does not end the others: its future has the error.
        """
        if self._is_held():
            raise EngineError("The engine is paused by who asks: leave `async with engine.paused()` first.")
        self._batcher.submit(requests)
        try:
            futures = [asyncio.wrap_future(request.future) for request in requests]
            await asyncio.gather(*futures, return_exceptions=each_for_itself)
            return list(requests)
        finally:
            for request in requests:
                request.future.cancel()

    def _completion(self, request: Request) -> Completion:
        ids = request.response
        return Completion(
            prompt_ids=tuple(request.tokens[: request.prompt_length]),
            ids=tuple(ids),
            text=self._chat.decode(ids),
            logprobs=tuple(request.logprobs),
            sampled_logprobs=tuple(request.sampled_logprobs),
            finish=request.finish,
        )

    def _ends(self) -> frozenset[int]:
        ends = list(self._chat.stop_ids)
        for config in (self._model.generation_config, self._model.config.get_text_config()):
            ids = getattr(config, "eos_token_id", None)
            ends += [ids] if isinstance(ids, int) else ids or []
        return frozenset(ends)

    def _stops_at(self, request: Request) -> bool:
        """Whether the last token completes one of the texts that stop the response.

        Few tokens have a letter that could; only then is the end of the response decoded.
        """
        stop = request.sampling.stop if request.sampling is not None else ()
        if not stop:
            return False
        last = request.tokens[-1]
        piece = self._pieces.get(last)
        if piece is None:
            piece = self._pieces[last] = self._chat.tokenizer.decode([last])
        # A token may hold a part of a letter only, which decodes to the replacement character.
        if not any(text[-1:] in piece for text in stop) and "\ufffd" not in piece:
            return False
        longest = max(len(text.encode()) for text in stop)  # a letter may take a token for each of its bytes
        tail = self._chat.decode(
            request.tokens[max(request.prompt_length, len(request.tokens) - longest - _STOP_CONTEXT) :]
        )
        return any(text in tail for text in stop)

    # Weights

    async def update_weights(self, weights: Iterable[tuple[str, Any]]) -> None:
        """Replace weights, named as in the model's state dict, between two steps; all or, if one is wrong, none."""

        def update() -> None:
            replace_weights(self._weights, weights)
            self._batcher.forget()
            self._batcher.heads.clear()

        await self._call(update)

    async def load_adapter(self, name: str, folder: str) -> None:
        """Load (again) a LoRA adapter in PEFT's format; responses that are under way with it go on with the new one."""

        def load_it() -> None:
            try:
                self._adapters.load(name, os.fspath(folder))
            finally:
                self._model.eval()

        await self._call(load_it)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Within this context no step is made, and a trainer may change the model that it shares with the engine.

        Responses under way go on afterwards. Whoever changed weights calls `forget_prefixes` before it ends. Within it
        `update_weights` and `load_adapter` work as ever; requests would wait for its end, and are refused.
        """
        if self._is_held():
            raise EngineError("The engine is paused by who asks for a pause: one at a time.")
        reached, go_on = self._batcher.hold()
        hold = _Hold(self)
        try:
            await asyncio.wrap_future(reached)
            _holds.set((*_holds.get(), hold))
            yield
        finally:
            hold.engine = None
            # Not reset by its token: a generator may be ended in another context than it was begun in.
            _holds.set(tuple(one for one in _holds.get() if one is not hold))
            self._model.eval()
            go_on()

    def _is_held(self) -> bool:
        """True within the context of `paused`, and in tasks that are begun there, until it ends."""
        return any(hold.engine is self for hold in _holds.get())

    def forget_prefixes(self) -> None:
        """What the cache holds was made by other weights: no later request may use it."""
        self._batcher.forget()

    async def _call(self, function: Any) -> Any:
        if self._is_held():
            self._batcher.refuse_if_closed()
            return await asyncio.to_thread(function)  # the engine's own thread stands still
        return await asyncio.wrap_future(self._batcher.call(function))

    # Facts

    def stats(self) -> Mapping[str, float]:
        return self._batcher.stats()

    def stamp(self) -> dict[str, Any]:
        return {
            **super().stamp(),
            "architecture": type(self._model).__name__,
            "parameters": sum(weight.numel() for weight in self._model.parameters()),
            "dtype": str(self._runner.dtype).removeprefix("torch."),
            "device": self._runner.device.type,
            "context": self.context,
            "max_batch": self._max_batch,
        }

    async def close(self) -> None:
        await asyncio.to_thread(self._batcher.close)

    def _what_fits(self) -> int:
        """How many tokens of the cache fit in the memory that is free now."""
        device = self._runner.device
        if device.type == "cuda":
            free = torch.cuda.mem_get_info(device)[0]
        elif "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", {}):
            free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        else:
            free = _UNKNOWN_MEMORY
        share = _SHARE_OF_MEMORY.get(device.type, _SHARE_OF_MEMORY["cpu"])
        return max(1024, int(free * share) // self._runner.bytes_per_token)


def _load(name: str, device: str | None, dtype: str | None) -> Any:
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    config: Any = load(transformers.AutoConfig.from_pretrained, name, "configuration")
    kind = (
        transformers.AutoModelForImageTextToText
        if hasattr(config, "vision_config")
        else transformers.AutoModelForCausalLM
    )
    chosen = dtype or ("float32" if torch.device(device).type == "cpu" else "bfloat16")
    if not isinstance(getattr(torch, chosen, None), torch.dtype):
        raise EngineError(f"dtype: expected the name of one of torch's such as bfloat16 or float32, got {chosen!r}.")
    try:
        model: Any = load(
            kind.from_pretrained, name, "model", config=config, dtype=getattr(torch, chosen), attn_implementation="sdpa"
        )
        return model.to(device)
    except torch.OutOfMemoryError as error:
        raise EngineUnavailable(f"{name} does not fit in the memory of {device}: {error}") from error


def _context(model: Any) -> int:
    return int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or 1 << 20)


def _natural(seed: int) -> list[int]:
    """A seed as NumPy takes it: no number below 0, and none lost."""
    return [abs(seed), int(seed < 0)]
