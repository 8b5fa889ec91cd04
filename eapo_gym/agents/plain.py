"""Prompting baselines without explore and memory: plain, and naive exploration."""

from __future__ import annotations

from typing import Any

from eapo_gym.agents.model import ModelAgent
from eapo_gym.agents.prompts import PLAIN
from eapo_gym.engines.base import Engine, Sampling


class PlainAgent(ModelAgent):
    """Reasons and acts upon what it sees now."""

    name = "plain"
    form = "free"
    style = PLAIN


class NaiveExplorationAgent(PlainAgent):
    """The plain agent, told to try alternatives where it does not know its way."""

    name = "naive"

    def __init__(
        self, engine: Engine, sampling: Sampling | None = None, *, explore_hint: bool = True, **options: Any
    ) -> None:
        super().__init__(engine, sampling, explore_hint=explore_hint, **options)
