"""How long an episode may be, where tasks differ in it: as `info["max_steps"]` of its reset says."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from eapo_gym.envs.base import Info, Obs


class TaskBudget(TimeLimit):
    """Truncates an episode at `info["max_steps"]` of its reset, and at `most` in any case."""

    def __init__(self, env: gym.Env[Any, Any], most: int) -> None:
        super().__init__(env, most)
        self._budget = most

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        obs, info = super().reset(seed=seed, options=options)
        self._budget = min(int(info["max_steps"]), self._max_episode_steps)
        return obs, info

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, float(reward), terminated, truncated or (self._elapsed_steps or 0) >= self._budget, info

    def branch_state(self) -> tuple[int | None, int]:
        return self._elapsed_steps, self._budget

    def resume_state(self, state: tuple[int | None, int], obs: Obs, info: Info) -> tuple[Obs, Info]:
        self._elapsed_steps, self._budget = state  # type: ignore[assignment] # Gymnasium types it as None
        return obs, info
