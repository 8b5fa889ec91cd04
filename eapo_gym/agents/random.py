"""The agent that guesses: what any other has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import gymnasium as gym

from eapo_gym.agents.base import Agent, AgentError
from eapo_gym.agents.prompts import guide_for
from eapo_gym.protocol import render
from eapo_gym.schema import Observation, Turn

_MASK = (1 << 64) - 1


class RandomAgent(Agent):
    """Draws one of the valid actions, all alike; where the environment lists none, one of the examples of its actions.

    Args:
        env: the environment or its id, for the examples.
        examples: actions to draw from instead of those.
        seed: added to the seed of every observation.
    """

    name = "random"
    quick = True

    def __init__(
        self, *, env: str | gym.Env[Any, Any] = "", examples: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        self.seed = seed
        self._examples = tuple(examples) if examples is not None else guide_for(env, rollback=False).examples

    def act(self, observation: Observation) -> str:
        actions = observation.valid_actions or self._examples
        if not actions:
            actions = guide_for(observation.context.env, rollback=False).examples
        if not actions:
            raise AgentError(
                "The random agent has nothing to draw from: the environment lists no valid actions, and none of its "
                "actions are known by example: pass examples=[…]."
            )
        return _say(actions[_mix(observation.context.seed + self.seed) % len(actions)])

    def stamp(self) -> dict[str, Any]:
        return {**super().stamp(), "options": {"seed": self.seed}}


@lru_cache(maxsize=1 << 14)
def _say(action: str) -> str:
    return render(Turn(memory="", action=action))


def _mix(seed: int) -> int:
    """A number that looks random (splitmix64's finisher): seeds of steps may be neighbours, and a generator for each
    step would take longer than everything else here."""
    seed = (seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & _MASK
    seed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    seed = ((seed ^ (seed >> 27)) * 0x94D049BB133111EB) & _MASK
    return seed ^ (seed >> 31)
