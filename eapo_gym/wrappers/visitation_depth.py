"""`VisitationDepth`: how often this trajectory has been in the state that it is in."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from eapo_gym.envs.base import Info, Obs
from eapo_gym.visitation import VisitCounter
from eapo_gym.wrappers.base import AgentWrapper, StepResult
from eapo_gym.wrappers.rollback import Rollback


class VisitationDepth(AgentWrapper, gym.utils.RecordConstructorArgs):
    """Counts visits by fingerprint, and reports them in `info`.

    `visits` is κ, the number of earlier visits to the state now reached; `exploration_degree` is the share of the
    distinct states that were visited more than once, with steps that left the state as it was and without them.

    `restore` is no step of the agent, and so no visit.
    """

    place = 3
    place_reason = "because it counts every step as a visit, those that never reach the environment too"

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        AgentWrapper.__init__(self, env)
        # Rollback has looked at the fingerprint already, and says in `info` what it was after this very step. Nobody
        # else is believed: an environment may say what it likes under that name.
        self._told = self.find(Rollback) is not None
        self._visits = VisitCounter()
        self._fingerprint = ""
        self._depth = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        obs, info = self.env.reset(seed=seed, options=options)
        self._visits = VisitCounter()
        self._visit(info)
        return obs, info

    def step(self, action: str) -> StepResult:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._visit(info)
        return obs, float(reward), terminated, truncated, info

    def branch_state(self) -> Any:
        return self._visits.copy(), self._fingerprint, self._depth

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        visits, self._fingerprint, self._depth = state
        self._visits = visits.copy()
        self._tell(info)
        return obs, info

    def _visit(self, info: Info) -> None:
        told = info.get("fingerprint") if self._told else None
        self._fingerprint = self.inner.fingerprint() if told is None else told
        self._depth = self._visits.visit(self._fingerprint)
        self._tell(info)

    def _tell(self, info: Info) -> None:
        info["fingerprint"] = self._fingerprint
        info["visits"] = self._depth
        info["exploration_degree"] = self._visits.exploration_degree()
        info["exploration_degree_no_self_loops"] = self._visits.exploration_degree(self_loops=False)
