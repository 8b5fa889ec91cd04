"""What agents with a language model share: a prompt for the observation, a completion, a response."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar

import gymnasium as gym

from eapo_gym.agents.base import Agent, Answer, Response
from eapo_gym.agents.pictures import PackedImages
from eapo_gym.agents.prompts import Guide, PromptBuilder, Style, guide_for
from eapo_gym.agents.prompts.builder import Images
from eapo_gym.engines.base import Completion, Engine, Prompt, Sampling
from eapo_gym.schema import Context, Observation

_SEEDS = 1 << 31
"""Servers take seeds below this."""


class ModelAgent(Agent):
    """An agent whose responses are an engine's. Subclasses say how it is asked (`style`).

    Args:
        engine: what writes; it is its owner's to close.
        sampling: how tokens are drawn. The seed is the observation's own (`context.seed`) within a run, and OverRIDE's
            key is this agent's own for every episode, so that an episode does not depend on which others were played.
        env: the environment or its id, for the guide (see `guide_for`); "" takes what each observation names.
        guide: a guide of your own instead.
        rollback: whether the run has the command `rollback`; None finds out, as far as `env` tells.
        budget: most tokens of a prompt, images not counted; None is what the context leaves beside the response.
        show_valid_actions: list them where the environment does.
        explore_hint: add the instruction of naive exploration.
        with_history: show the steps before, as many as fit.
        use_images: show the screen where the engine takes images; else the list of elements stands for it.
        images: which pictures of the screen: "screenshot", "marked" (with numbered boxes around elements), or "all".
        image_pixels: most pixels of a picture; larger ones are scaled down. A model of Qwen3-VL's family takes a token
            for each square of 32 by 32 of them.
    """

    style: ClassVar[Style]

    owns_engine = False
    """The engine was opened for this agent alone, and is closed with it."""

    keeps_images = False
    """Responses have the images of their prompts with them, which only a trainer has use for."""

    def __init__(
        self,
        engine: Engine,
        sampling: Sampling | None = None,
        *,
        env: str | gym.Env[Any, Any] = "",
        guide: Guide | None = None,
        rollback: bool | None = None,
        budget: int | None = None,
        show_valid_actions: bool = True,
        explore_hint: bool = False,
        with_history: bool = False,
        use_images: bool = True,
        images: Images = "all",
        image_pixels: int | None = None,
    ) -> None:
        self.engine = engine
        self.sampling = sampling or Sampling()
        self._run = uuid.uuid4().hex  # an engine may have seen the same episodes in an earlier run
        self.wants_history = with_history
        if guide is not None:
            guide = guide.with_rollback() if rollback else guide
        elif env:
            guide = guide_for(env, rollback)
        self.build = self._builder(
            self.style,
            guide=guide,
            rollback=rollback,
            explore_hint=explore_hint,
            budget=budget,
            show_valid_actions=show_valid_actions,
            with_history=with_history,
            use_images=use_images,
            images=images,
            image_pixels=image_pixels,
        )

    def _builder(self, style: Style, **options: Any) -> PromptBuilder:
        return PromptBuilder(self.engine, style, room=self.sampling.max_tokens, **options)

    def prompt(self, observation: Observation) -> Prompt:
        """What the engine is fed for an observation."""
        return self.build(observation)

    async def act_async(self, observation: Observation) -> Answer:
        prompt = self.prompt(observation)
        [completion] = await self.engine.generate([prompt], self.sampling_for(observation.context))
        response = as_answer(completion)
        if not (self.keeps_images and prompt.images):
            return response
        return replace(response, images=PackedImages(prompt.images))

    def sampling_for(self, context: Context, salt: int = 0) -> Sampling:
        """The run's sampling, for this step; `salt` tells the calls of one step apart."""
        sampling = self.sampling
        if context.episode:
            sampling = replace(sampling, seed=(context.seed + salt) % _SEEDS)
        episode = context.episode or context.task
        if sampling.override is not None and episode:
            sampling = replace(sampling, override=replace(sampling.override, key=f"{self._run} {episode}"))
        return sampling

    async def close(self) -> None:
        if self.owns_engine:
            await self.engine.close()

    def stamp(self) -> dict[str, Any]:
        instructions = self.build.instructions()
        return {
            **super().stamp(),
            "options": self.build.options(),
            "sampling": asdict(self.sampling),
            "instructions": hashlib.sha256(instructions.encode()).hexdigest()[:16],
            "engine": self.engine.stamp(),
        }


def as_answer(completion: Completion, others: Sequence[Completion] = ()) -> Response:
    """The response that a completion is; `others` were sampled for it as well, and are counted."""
    every = (completion, *others)
    logprobs = completion.logprobs if completion.sampled_logprobs is None else completion.sampled_logprobs
    return Response(
        completion.text,
        prompt_ids=completion.prompt_ids,
        ids=completion.ids,
        logprobs=logprobs,
        finish=completion.finish,
        calls=len(every),
        prompt_tokens=sum(each.tokens[0] for each in every),
        response_tokens=sum(each.tokens[1] for each in every),
    )
