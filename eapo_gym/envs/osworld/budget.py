"""How long an episode may be; at its end the desktop is judged as it stands, as the benchmark does."""

from __future__ import annotations

from eapo_gym.envs.base import Info, Obs
from eapo_gym.envs.budget import TaskBudget
from eapo_gym.envs.osworld.env import OSWorldEnv


class JudgedBudget(TaskBudget):
    """Truncates an episode as its budget says, and gives it the score of what was achieved until then."""

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        obs, reward, terminated, truncated, info = super().step(action)
        if truncated and not terminated:
            core = self.unwrapped
            assert isinstance(core, OSWorldEnv)
            score = core.judge_as_it_stands()
            reward, info = reward + score, {**info, "won": score >= 1.0, **core.verdict_info()}
        return obs, reward, terminated, truncated, info
