"""The agent of the paper: think, explore, memory, action; trained or not (0-shot)."""

from __future__ import annotations

from typing import Any

from eapo_gym.agents.model import ModelAgent
from eapo_gym.agents.prompts import COMPACT, EAPO, Style
from eapo_gym.engines.base import Engine, Sampling


class EAPOAgent(ModelAgent):
    """Asks for a full turn in the tag form; of the past it shows what the agent itself wrote into explore and memory.

    Args:
        compact: one line of instruction and the observation, without a list of valid actions unless it is asked for:
            for small models, whose prompts have little more room than an observation takes.
        show_valid_actions: list them where the environment does; None does so unless the prompt is compact.

    The other arguments are those of `ModelAgent`.
    """

    name = "eapo"
    style = EAPO

    def __init__(
        self,
        engine: Engine,
        sampling: Sampling | None = None,
        *,
        compact: bool = False,
        show_valid_actions: bool | None = None,
        **options: Any,
    ) -> None:
        self.compact = compact
        shown = not compact if show_valid_actions is None else show_valid_actions
        super().__init__(engine, sampling, show_valid_actions=shown, **options)

    def _builder(self, style: Style, **options: Any) -> Any:
        return super()._builder(COMPACT if self.compact else style, **options)

    def stamp(self) -> dict[str, Any]:
        stamp = super().stamp()
        stamp["options"]["compact"] = self.compact
        return stamp
