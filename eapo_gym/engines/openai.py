"""The engine for servers that speak OpenAI's protocol: vLLM's own, other local ones, hosted ones.

    engine = OpenAIEngine("Qwen/Qwen3-1.7B", "http://localhost:8000/v1", tokenizer="Qwen/Qwen3-1.7B")

What such servers can do differs, and so does what they say of themselves; therefore each is tried, with requests for
one token, when the engine is made. There are two roads to a model:

* `/completions` with the ids of the prompt, if there is a `tokenizer` and the server takes ids. Nothing is left to
  the server's chat template; with vLLM the sampled ids come back too, and `score` works.
* `/chat/completions` with the messages, else, and for images. Ids are known with vLLM alone. What a control token
  in the text of a message does is up to the server's template: agents escape foreign text.

Servers strip the text that stopped a response, and most do not tell which it was, or whether it was one. vLLM is asked
to leave it there. Others are not given stop texts: their responses are cut here, behind the first one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

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
    Unsupported,
)
from eapo_gym.engines.openai_client import Refused, Server
from eapo_gym.engines.openai_roads import GREETING, VLLM, Road, find_chat, find_ids, read_prompt_logprobs

if TYPE_CHECKING:
    from eapo_gym.engines.chat import Chat

UNKNOWN_CONTEXT = 1 << 20
"""What `context` is where neither the server nor the user says it: prompts are not cut, and the server refuses."""

_AT_OPENING = 2
"""Retries while the engine is made: a wrong address should be said soon."""

_T = TypeVar("_T")


class OpenAIEngine(Engine):
    """A model behind a server; see the module.

    `api_key` is $OPENAI_API_KEY unless it is given, and is neither printed nor written anywhere. `tokenizer` is a
    folder or a hub's id. `extra_body` has fields for every request that are the server's own, and wins over ours.
    `context` is asked of the server where it is not given. See `Server` for the limits.
    """

    kind = "openai"

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        concurrency: int = 32,
        timeout: float = 300.0,
        retries: int = 6,
        patience: float = 900.0,
        tokenizer: str | None = None,
        context: int | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.server = Server(
            model, base_url, api_key, concurrency=concurrency, timeout=timeout, retries=retries, patience=patience
        )
        self._tokenizer = tokenizer
        self._chat = _open_chat(tokenizer) if tokenizer is not None else None
        self._extra = dict(extra_body or {})
        self._takes: dict[str, bool] = {}
        self._trying = asyncio.Lock()
        self._prompt_tokens = self._response_tokens = 0
        self._chat_road, self._ids_road, listed = self.server.wait_for(self._explore(retries=min(retries, _AT_OPENING)))
        self.context = context or listed or UNKNOWN_CONTEXT
        usual = (self._ids_road if self._chat is not None else None) or self._chat_road
        self.capabilities = Capabilities(
            token_ids=usual is not None and usual.ids,
            logprobs=usual is not None and usual.logprobs,
            score=self._ids_road is not None and self._ids_road.score,
            images=self._chat_road is not None and self._chat_road.images,
        )

    def __repr__(self) -> str:
        return f"OpenAIEngine({self.model!r}, {self.server.url!r})"

    # What the server can do

    async def _explore(self, retries: int) -> tuple[Road | None, Road | None, int | None]:
        """Try the two roads, and ask for the length of the context."""
        refusal = ""
        try:
            chat, ids = await find_chat(self.server, self._extra, retries)
        except Refused as error:  # a model without a chat template, say
            chat, ids, refusal = None, (), str(error)
        if self._chat is not None:
            self._check_tokenizer(self._chat, ids)
            ids = tuple(self._chat.encode(GREETING))
        completions = await find_ids(self.server, ids, self._extra, retries) if ids else None
        if chat is None and completions is None:
            raise EngineUnavailable(f"The server takes no requests for this model. {refusal}")
        return chat, completions, await self._listed_context()

    def _check_tokenizer(self, chat: Chat, ids: tuple[int, ...]) -> None:
        """Another model's tokenizer would make prompts that mean nothing, and nobody would notice."""
        if ids and GREETING not in chat.decode(ids):
            raise EngineUnavailable(
                f"The tokenizer {chat.name} is not that of {self.model!r} at {self.server.url}: its words for the "
                f"server's token ids are {chat.decode(ids)[:80]!r}, where {GREETING!r} was said."
            )

    async def _listed_context(self) -> int | None:
        """What the server's list of models says of ours; vLLM says it, and not every server has a list."""
        try:
            models = (await self.server.get("/models", "data"))["data"]
        except EngineError:
            return None
        lengths = [model.get("max_model_len") for model in models if model.get("id") == self.model]
        return next((length for length in lengths if type(length) is int and length > 0), None)

    async def _is_taken(self, field: str) -> bool:
        """Whether the server heeds a field that is not OpenAI's.

        Many ignore what they do not know. So it is tried: with the field at its strictest nothing but the likeliest
        token is left, and two responses that are as hot as can be and differ in their seeds must be the same.
        """
        async with self._trying:
            if field not in self._takes:
                strictest = {"top_k": 1, "min_p": 1.0}[field]
                prompt = self.prompt([Message("user", "Say something surprising.")])
                road = self._road(prompt)
                body = {**self._request(road, prompt), road.limit: 24, "temperature": 2.0, field: strictest}
                try:
                    answers = await _all([self.server.post(road.path, {**body, "seed": seed}) for seed in (1, 2, 3)])
                    self._takes[field] = len({road.read(answer).text for answer in answers}) == 1
                except Refused:
                    self._takes[field] = False
        return self._takes[field]

    # Prompts

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        if self._chat is not None:
            made = self._chat.prompt(messages, prefill=prefill)
        else:
            made = Prompt((), tuple(image for message in messages for image in message.images))
        # On the road for chats a response that was begun is the last message.
        return replace(made, messages=(*messages, Message("assistant", prefill)) if prefill else tuple(messages))

    def encode(self, text: str) -> list[int]:
        return self._need_tokenizer("Counting tokens").encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._need_tokenizer("The text of token ids").decode(ids)

    def _need_tokenizer(self, what: str) -> Chat:
        if self._chat is None:
            raise Unsupported(
                f"{what} needs the tokenizer of {self.model!r}: make the engine with tokenizer=FOLDER_OR_ID."
            )
        return self._chat

    # Responses

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        if sampling.override is not None:
            raise Unsupported(
                "OverRIDE changes the sampler itself, and servers do not let us: use the engine transformers or vllm."
            )
        if sampling.adapter is not None:
            raise Unsupported(
                f"The engine openai loads no adapters, and {sampling.adapter!r} was asked for: start the server with "
                "it, and name it as the model."
            )
        for prompt in prompts:
            await self._check(self._road(prompt), sampling)
        return await _all([self._complete(prompt, sampling, index) for index, prompt in enumerate(prompts)])

    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        if adapter is not None:
            raise Unsupported(f"The engine openai loads no adapters, and {adapter!r} was asked for.")
        if len(prompts) != len(targets):
            raise ValueError(f"targets: expected one for each of {len(prompts)} prompts, got {len(targets)}.")
        return await _all([self._score(prompt, tuple(target)) for prompt, target in zip(prompts, targets, strict=True)])

    def stats(self) -> Mapping[str, float]:
        return {
            "requests": self.server.requests,
            "retries": self.server.retried,
            "prompt_tokens": self._prompt_tokens,
            "response_tokens": self._response_tokens,
        }

    def stamp(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "model": self.model,
            "server": self.server.url,
            "tokenizer": self._tokenizer,
            "extra_body": self._extra,
            "openai": version("openai"),
        }

    async def close(self) -> None:
        await self.server.close()

    def _road(self, prompt: Prompt) -> Road:
        """The road for a prompt: by ids where that is possible."""
        if prompt.ids and not prompt.images and self._ids_road is not None:
            return self._ids_road
        if self._chat_road is None:
            raise Unsupported(
                f"{self.server.url} takes no chats for {self.model!r} (has it a chat template?), and prompts that have "
                "images or no token ids need one: make the engine with tokenizer=FOLDER_OR_ID, and leave images out."
            )
        if not prompt.messages:
            raise Unsupported(
                f"{self.server.url} takes no token ids for {self.model!r}, and the prompt has no messages: "
                "make prompts with engine.prompt(messages), or serve the model with vLLM."
            )
        if prompt.messages[-1].role == "assistant" and not self._chat_road.ids:
            raise Unsupported(
                f"{self.server.url} is not known to go on with a response that was begun (prefill): "
                "do without, or serve the model with vLLM."
            )
        return self._chat_road

    async def _check(self, road: Road, sampling: Sampling) -> None:
        """Refuse what this server cannot do before anything is paid for."""
        if sampling.logprobs and not road.logprobs:
            raise Unsupported(
                f"Sampling(logprobs=True) asks for the log-probs of tokens, and {self.server.url} gives none for "
                f"{self.model!r}: sample with logprobs=False if nothing learns from them, or serve the model with vLLM."
            )
        for field, wanted in (("top_k", sampling.top_k > 0), ("min_p", sampling.min_p > 0)):
            if wanted and not road.ids and not await self.server.within(self._is_taken(field)):
                raise Unsupported(
                    f"Sampling({field}={getattr(sampling, field)}) was asked for, and {self.server.url} refuses or "
                    f"ignores {field} for {self.model!r}: leave it out, or serve the model with vLLM."
                )

    def _request(self, road: Road, prompt: Prompt, **more: Any) -> dict[str, Any]:
        return {"model": self.model, **road.ask(prompt), **more, **self._extra}

    def _sampled(self, road: Road, prompt: Prompt, sampling: Sampling, index: int) -> dict[str, Any]:
        """The part of a request that says how tokens are drawn."""
        fields: dict[str, Any] = {
            road.limit: min(sampling.max_tokens, self._room(prompt.ids)),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        if road.ids:
            # All of it, always: what is not said, vLLM takes from the generation_config of the model.
            fields |= {**VLLM, "top_k": sampling.top_k, "min_p": sampling.min_p, "repetition_penalty": 1.0}
            if sampling.stop:
                fields["stop"] = list(sampling.stop)
        else:
            fields |= {field: getattr(sampling, field) for field in ("top_k", "min_p") if getattr(sampling, field)}
        if sampling.logprobs:
            fields |= road.with_logprobs
        if sampling.seed is not None:
            fields["seed"] = _seed(sampling.seed, index)
        return fields

    def _room(self, ids: Sequence[int]) -> int:
        """How many tokens the context has left behind these."""
        if len(ids) >= self.context:
            raise PromptTooLong(f"The prompt has {len(ids)} tokens: expected fewer than the {self.context} there are.")
        return self.context - len(ids)

    async def _complete(self, prompt: Prompt, sampling: Sampling, index: int) -> Completion:
        road = self._road(prompt)
        request = self._request(road, prompt, **self._sampled(road, prompt, sampling, index))
        try:
            try:
                raw = await self.server.post(road.path, request)
            except PromptTooLong:
                if road.kind == "ids":
                    raise
                # The prompt may fit, though not with all of `max_tokens` behind it. Without a limit the response gets
                # the room that there is, which is less than that.
                del request[road.limit]
                raw = await self.server.post(road.path, request)
            answer = road.read(raw)
        except Refused as error:
            if not prompt.images:
                raise
            raise Unsupported(f"A prompt with images was refused: can {self.model!r} see? {error}") from error
        self._prompt_tokens += answer.prompt_tokens
        self._response_tokens += answer.response_tokens
        ids, text = (answer.ids if road.ids else ()), answer.text
        if not road.ids:
            answer = answer.cut(sampling.stop)
            text = answer.text
        elif ids and self._chat is not None:
            text = self._chat.decode(ids)
        logprobs = answer.logprobs if sampling.logprobs else None
        if sampling.logprobs and (logprobs is None or (road.ids and len(logprobs) != len(ids))):
            raise EngineError(
                f"{self.server.url} gave {'no' if logprobs is None else len(logprobs)} log-probs for a response of "
                f"{len(ids) or 'some'} tokens: expected one for each, as it gave before."
            )
        # At temperature 1, with nothing cut off, tokens are drawn from the model's own distribution.
        known = sampling.temperature == 1 and not sampling.distorts
        prompt_ids = prompt.ids if road.kind == "ids" else answer.prompt_ids
        usage = answer.prompt_tokens, answer.response_tokens
        return Completion(prompt_ids, ids, text, logprobs, logprobs if known else None, answer.finish, usage)

    async def _score(self, prompt: Prompt, target: tuple[int, ...]) -> list[float]:
        road = self._ids_road
        if road is None or not road.score or not prompt.ids or prompt.images:
            raise Unsupported(
                f"score needs the log-probs of given token ids, and {self.server.url} gives none for {self.model!r} "
                "(or the prompt has no ids, or has images): serve the model with vLLM and make the engine with "
                "tokenizer=FOLDER_OR_ID, or score with the engine transformers or vllm."
            )
        if not target:
            return []
        ids = (*prompt.ids, *target)
        self._room(ids)
        request = self._request(road, Prompt(ids), max_tokens=1, temperature=1.0, prompt_logprobs=0, **VLLM)
        found = read_prompt_logprobs(await self.server.post(road.path, request), ids, len(prompt.ids))
        if found is None:
            raise EngineError(f"{self.server.url} left out the log-probs of a prompt, which it can give.")
        self._prompt_tokens += len(ids)
        return found


def _open_chat(tokenizer: str) -> Chat:
    from eapo_gym.engines.chat import Chat

    return Chat(tokenizer)


async def _all(work: Sequence[Coroutine[Any, Any, _T]]) -> list[_T]:
    """All results, in their order; if one fails, the others are not waited (and paid) for."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


def _seed(seed: int, index: int) -> int:
    """A seed for each prompt of a call; some servers take 31 bits and no more."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{index}".encode(), digest_size=4).digest(), "big") >> 1
