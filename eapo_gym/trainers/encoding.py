"""Examples as token ids: the very prompts of RL, and targets that end as responses end.

    encoder = Encoder(config, "models/start")
    encoded = encoder(examples)                    # once; training then only looks them up
    row = encoded[0].row()

Prompts are built by the agent of RL, so that what is learned here is called upon there. That needs a model's tokenizer
and chat template but none of its weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from eapo_gym.agents.loading import make_agent
from eapo_gym.agents.model import ModelAgent
from eapo_gym.agents.pictures import PackedImages
from eapo_gym.bench.setting import open_env
from eapo_gym.engines.base import (
    Capabilities,
    Completion,
    Engine,
    Message,
    Prompt,
    PromptTooLong,
    Sampling,
    Unsupported,
)
from eapo_gym.engines.chat import Chat
from eapo_gym.engines.hub import load
from eapo_gym.engines.images import ImageReader
from eapo_gym.errors import EapoError
from eapo_gym.protocol import render
from eapo_gym.schema import Turn
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.examples import Example
from eapo_gym.trainers.logprobs import Row


class NoTarget(EapoError, ValueError):
    """Examples of which none can be trained on."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example as ids. Its pictures stay on the disk until they are needed."""

    example: Example
    prompt: np.ndarray
    target: np.ndarray

    def row(self, agent: ModelAgent) -> Row:
        """For the forward pass."""
        has_pictures = self.example.screenshot is not None
        images = PackedImages(agent.prompt(self.example.observation()).images) if has_pictures else ()
        return Row(tuple(self.prompt.tolist()), (tuple(self.target.tolist()),), images)


class Encoder:
    """Turns examples into ids for one model and one way of asking."""

    def __init__(self, config: TrainConfig, model: str | Path) -> None:
        self._config = config
        self._engine = TextSide(model, thinking=config.engine_options.get("thinking"))
        self._agents: dict[tuple[str, str], ModelAgent] = {}
        if not self._engine.chat.stop_ids:
            raise NoTarget(
                f"{model} has no token that ends a response, so targets would have no end: give its tokenizer an "
                "eos_token."
            )
        self._end = self._engine.chat.stop_ids[0]
        self.too_long = 0
        """Examples that were left out for not fitting into the model's window."""

        self.over_max_tokens = 0
        """Examples that were left out for having targets that are longer than any response may be."""

        self._longest = 0

    def __call__(self, examples: Sequence[Example]) -> list[Encoded]:
        """Those that fit."""
        return [encoded for example in examples if (encoded := self._encode(example)) is not None]

    def left_out(self) -> str:
        """How many examples were left out so far, and which settings would keep them; empty if all fit."""
        config, parts = self._config, []
        if self.over_max_tokens:
            parts.append(
                f"{self.over_max_tokens:,} have a target that is longer than max_tokens (it is {config.max_tokens:,}, "
                f"and the longest target has {self._longest:,} tokens): raise max_tokens."
            )
        if self.too_long:
            compact = "" if config.agent_options.get("compact") else ", the compact prompt (agent_options.compact=true)"
            parts.append(
                f"{self.too_long:,} do not fit into the window of {self._engine.model} ({self._engine.context:,} "
                f"tokens): take a model with a longer one{compact}, or a lower max_tokens (it is "
                f"{config.max_tokens:,}), for which the prompt leaves room."
            )
        return " ".join(parts)

    def agent(self, example: Example) -> ModelAgent:
        """The agent of RL, as it asks in the example's environment."""
        key = example.env, json.dumps(example.env_kwargs, sort_keys=True, default=str)
        if key not in self._agents:
            self._agents[key] = self._make_agent(example)
        return self._agents[key]

    def _make_agent(self, example: Example) -> ModelAgent:
        config = self._config
        with_rollback = config.rollback != "none"
        env: Any = example.env
        if ":" in example.env:  # what is said of it in the prompt, it has to say itself
            mode = None if config.rollback == "none" else config.rollback
            env = open_env(example.env, example.env_kwargs, rollback=mode, max_steps=config.max_steps)
        agent = make_agent(
            config.agent,
            engine=self._engine,
            env=env,
            sampling=Sampling(max_tokens=config.max_tokens),
            options={"rollback": with_rollback, **config.agent_options},
        )
        if env is not example.env:
            env.close()
        assert isinstance(agent, ModelAgent)
        return agent

    def _encode(self, example: Example) -> Encoded | None:
        engine = self._engine
        target = [*engine.encode(target_text(example.turn, self._config.agent)), self._end]
        if len(target) > self._config.max_tokens:
            self.over_max_tokens += 1
            self._longest = max(self._longest, len(target))
            return None
        try:
            ids = engine.expand(self.agent(example).prompt(example.observation()))
        except PromptTooLong:
            ids = None
        if ids is None or len(ids) + len(target) > engine.context:
            self.too_long += 1
            return None
        return Encoded(example, np.array(ids, np.int32), np.array(target, np.int32))


def target_text(turn: Turn, agent: str = "eapo") -> str:
    """What the model should write. The plain agent is asked for a thought and an action alone."""
    if agent != "plain":
        return render(turn)
    # Nothing within a section can look like one, so the first that does is the section itself.
    return render(Turn(think=turn.think, action=turn.action)).replace("<explore></explore>\n", "", 1)


class TextSide(Engine):
    """The half of an engine that makes prompts: a tokenizer and a chat template, and no model that would answer."""

    kind: ClassVar[str] = "text"

    def __init__(self, model: str | Path, thinking: bool | None = None) -> None:
        from transformers import AutoConfig

        self.model = str(model)
        self.chat = Chat(model, thinking=thinking)
        config: Any = load(AutoConfig.from_pretrained, model, "configuration")
        self.context = int(getattr(config.get_text_config(), "max_position_embeddings", None) or 1 << 20)
        self.capabilities = Capabilities(images=self.chat.image_id is not None and hasattr(config, "vision_config"))

    @cached_property
    def _reader(self) -> ImageReader:
        return ImageReader(self.model, self.chat)

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        return self.chat.prompt(messages, prefill=prefill)

    def encode(self, text: str) -> list[int]:
        return self.chat.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self.chat.decode(ids)

    def image_tokens(self, image: np.ndarray) -> int | None:
        return self._reader.tokens(image) if self.capabilities.images else None

    def expand(self, prompt: Prompt) -> tuple[int, ...]:
        """The ids with all the tokens that images take."""
        return self._reader.read(prompt).ids if prompt.images else prompt.ids

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        raise Unsupported("This is a tokenizer and a chat template alone: there is no model that answers.")

    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        raise Unsupported("This is a tokenizer and a chat template alone: there is no model that scores.")

    async def close(self) -> None:
        """There is nothing to let go of."""
