"""Environments that are registered with Gymnasium, one with NumPy observations of every kind, for tests."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Pictures(gym.Env[dict[str, Any], int]):
    """A plain Gymnasium environment: it can be hosted, it just has none of the contract."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 7}

    def __init__(self, height: int = 24, width: int = 32, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = spaces.Dict(
            {
                "screenshot": spaces.Box(0, 255, (height, width, 3), np.uint8),
                "pose": spaces.Box(np.array([-np.inf, 0.0, -1.0]), np.array([np.inf, 1.0, 2.0]), dtype=np.float64),
                "mode": spaces.Discrete(3, start=-1),
                "buttons": spaces.MultiBinary(4),
                "dials": spaces.MultiDiscrete([3, 5]),
                "label": spaces.Text(4, charset="xyz"),
                "pair": spaces.Tuple([spaces.Discrete(2), spaces.Box(-1, 1, (), np.float32)]),
                "many": spaces.Sequence(spaces.Discrete(9)),
            }
        )
        self.action_space = spaces.Discrete(5)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(1 << 30)))
        return self.observation_space.sample(), {}

    def step(self, action: int) -> Any:
        obs = self.observation_space.sample()
        return obs, self.np_random.normal(), np.bool_(False), False, {"action": action, "kind": type(action).__name__}

    def render(self) -> Any:
        return np.zeros((2, 2, 3), np.uint8)


gym.register("test/Pictures-v0", Pictures, max_episode_steps=3)
gym.register("test/Corridor-v0", "tests.toys:Corridor", max_episode_steps=3)
