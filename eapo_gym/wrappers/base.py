"""`AgentWrapper`: a Gymnasium wrapper that passes the contract on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from eapo_gym.envs.base import AgentEnv, Info, Obs, SnapshotKind
from eapo_gym.envs.branching import Branch, branch, resume
from eapo_gym.errors import ContractError


class AgentWrapper(gym.Wrapper[Obs, str, Obs, str]):
    """Gymnasium wrappers do not forward what they do not know; this one hands on the whole contract of `AgentEnv`.

    A wrapper with a memory of its own keeps it across branches through `branch_state` and `resume_state`.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        inner: Any = env
        while isinstance(inner, gym.Wrapper) and not isinstance(inner, AgentWrapper):
            inner = inner.env
        if not isinstance(inner, AgentWrapper | AgentEnv):
            raise ContractError(
                f"{type(self).__name__} wraps an AgentEnv, and {type(inner).__name__} is none: "
                "subclass eapo_gym.AgentEnv and see docs/add-an-environment.md."
            )
        self.inner: AgentWrapper | AgentEnv = inner
        """The next layer that knows the contract; between it and this one there may be Gymnasium's own wrappers."""

    @property
    def snapshot_kind(self) -> SnapshotKind:
        return self.inner.snapshot_kind

    @property
    def source(self) -> str:
        return self.inner.source

    @property
    def split(self) -> str:
        return self.inner.split

    @property
    def task(self) -> str:
        return self.inner.task

    def tasks(self, split: str | None = None) -> list[str]:
        return self.inner.tasks(split)

    def fingerprint(self) -> str:
        return self.inner.fingerprint()

    def snapshot(self) -> Any:
        return self.inner.snapshot()

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        """Moves the environment only; what this layer remembers goes on, and shows in the observation."""
        return self.inner.restore(snapshot)

    def describe(self) -> str:
        return self.inner.describe()

    def valid_actions(self) -> list[str] | None:
        return self.inner.valid_actions()

    def parse_action(self, text: str) -> str:
        return self.inner.parse_action(text)

    def inverse(self, action: str) -> list[str]:
        return self.inner.inverse(action)

    def branch(self) -> Branch:
        """Save the episode from this layer inwards (`eapo_gym.branch(env)` saves a whole stack, TimeLimit included)."""
        return branch(self)

    def resume(self, saved: Branch) -> tuple[Obs, Info]:
        return resume(self, saved)

    def branch_state(self) -> Any:
        """What this layer remembers of the episode; a copy that later steps do not touch."""
        return None

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        """Remember `state` again, and add this layer's part to the observation that the layers below gave."""
        return obs, info
