"""ReAct: turns of thought and action, over the history of the episode."""

from __future__ import annotations

from typing import Any

from eapo_gym.agents.model import ModelAgent
from eapo_gym.agents.prompts import REACT
from eapo_gym.engines.base import Engine, Sampling


class ReActAgent(ModelAgent):
    """Sees what it observed, thought and did before. When that outgrows the budget, the oldest steps are left out."""

    name = "react"
    form = "free"
    style = REACT

    def __init__(
        self, engine: Engine, sampling: Sampling | None = None, *, with_history: bool = True, **options: Any
    ) -> None:
        super().__init__(engine, sampling, with_history=with_history, **options)
