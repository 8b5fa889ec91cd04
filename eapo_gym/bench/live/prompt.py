"""The prompt that a language model would be given for an observation, for a person to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import gymnasium as gym

from eapo_gym.agents.prompts import EAPO, PromptBuilder, guide_for
from eapo_gym.engines.base import Capabilities, Completion, Engine, Message, Prompt, Sampling, Unsupported
from eapo_gym.schema import Observation

_CONTEXT = 1 << 20
"""Tokens; a person is shown all of it."""


class _Reader(Engine):
    """Stands where the engine does, and keeps the messages as they are."""

    kind = "reader"
    model = "a person"
    capabilities = Capabilities(token_ids=False, logprobs=False, score=False, images=True)
    context = _CONTEXT

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        return Prompt((), tuple(image for message in messages for image in message.images), tuple(messages))

    def encode(self, text: str) -> list[int]:
        self._refuse()

    def decode(self, ids: Sequence[int]) -> str:
        self._refuse()

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self._refuse()

    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        self._refuse()

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _refuse(self) -> NoReturn:
        raise Unsupported("A prompt that is shown to a person is made of text alone: there is no model behind it.")


class PromptReader:
    """Shows what the EAPO agent would be asked in an environment."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        self._build = PromptBuilder(_Reader(), EAPO, guide=guide_for(env))

    def __call__(self, observation: Observation) -> list[dict[str, Any]]:
        """The messages: role, text, and how many pictures stand before the text."""
        return _as_data(self._build(observation).messages)


def _as_data(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [{"role": each.role, "text": each.text, "images": len(each.images)} for each in messages]
