"""`FormatReward`: a well-formed response is worth something."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from eapo_gym.errors import ContractError
from eapo_gym.wrappers.base import AgentWrapper, StepResult
from eapo_gym.wrappers.explore_memory import ExploreMemory


class FormatReward(AgentWrapper, gym.utils.RecordConstructorArgs):
    """Adds `weight` to the reward of every step whose response has the right form.

    `info["task_reward"]` keeps what the environment gave, `info["format_reward"]` what was added.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: float = 0.5) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, weight=weight)
        AgentWrapper.__init__(self, env)
        if self.find(ExploreMemory) is None:
            raise ContractError(
                "FormatReward judges responses, and there is no ExploreMemory inside it that reads them: "
                "expected FormatReward(ExploreMemory(env))."
            )
        self.weight = weight

    def step(self, action: str) -> StepResult:
        obs, reward, terminated, truncated, info = self.env.step(action)
        task_reward, format_reward = float(reward), self.weight * info["format_ok"]
        info["task_reward"], info["format_reward"] = task_reward, format_reward
        return obs, task_reward + format_reward, terminated, truncated, info
