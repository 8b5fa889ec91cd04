"""`AgentWrapper` passes the contract on; `AnsweringWrapper` is one that may answer a step itself.

Three things can happen to an episode besides `reset` and `step`, and they differ in what they move:

* `restore` moves the environment alone: what the wrappers remember goes on;
* a rollback (`Rollback`) is a step of the agent that moves the environment back: it does as `restore` does, and counts;
* `resume` moves the whole stack, as if what came in between had never been.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar, TypeVar

import gymnasium as gym
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import TimeLimit

from eapo_gym.envs.base import AgentEnv, Info, Obs, SnapshotKind
from eapo_gym.envs.branching import Branch, branch, resume
from eapo_gym.errors import ContractError
from eapo_gym.schema import MAX_TEXT

StepResult = tuple[Obs, float, bool, bool, Info]
Layer = TypeVar("Layer", bound="AgentWrapper")

_OF_ONE_STEP = ("notice", "rollback", "fingerprint")
"""What wrappers say in `info` about one step, and would be wrong about the next."""


class AgentWrapper(gym.Wrapper[Obs, str, Obs, str]):
    """Gymnasium wrappers do not forward what they do not know; this one hands on the whole contract of `AgentEnv`.

    A wrapper with a memory of its own keeps it across branches through `branch_state` and `resume_state`, and adds its
    part to observations that come from `restore` or `resume` in `show`.
    """

    place: ClassVar[int] = 0
    """Wrappers that have a place stand in its order, the lowest innermost; those without (0) stand anywhere."""

    place_reason: ClassVar[str] = ""
    """Why it must stand outside of those with a lower place; part of the error that refuses any other order."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        between: list[gym.Env[Any, Any]] = []
        inner: Any = env
        while isinstance(inner, gym.Wrapper) and not isinstance(inner, AgentWrapper):
            between.append(inner)
            inner = inner.env
        if not isinstance(inner, AgentWrapper | AgentEnv):
            raise ContractError(
                f"{type(self).__name__} wraps an AgentEnv, and {type(inner).__name__} is none: "
                "subclass eapo_gym.AgentEnv and see docs/add-an-environment.md."
            )
        self.inner: AgentWrapper | AgentEnv = inner
        """The next layer that knows the contract; between it and this one there may be Gymnasium's own wrappers."""
        if not isinstance(env.observation_space, spaces.Dict):
            raise ContractError(
                f"The observation space of an AgentEnv is a Dict, and here it is {env.observation_space}."
            )
        self.shown: spaces.Dict = env.observation_space
        """The observation space of the layers below."""
        self._views = [layer for layer in reversed(between) if isinstance(layer, gym.ObservationWrapper)]
        self._check_place()

    def _check_place(self) -> None:
        inner = self.inner
        while self.place and isinstance(inner, AgentWrapper):
            name, other = type(self).__name__, type(inner).__name__
            if inner.place == self.place:
                raise ContractError(f"{name} stands in this stack already, as {other}: expected it once.")
            if inner.place > self.place:
                raise ContractError(
                    f"{other} must stand outside of {name}, and not inside it, {inner.place_reason}: "
                    "expected VisitationDepth(ExploreMemory(Rollback(env)))."
                )
            inner = inner.inner

    def find(self, kind: type[Layer]) -> Layer | None:
        """The layer of that kind, this one or one inside of it."""
        layer: AgentWrapper | AgentEnv = self
        while isinstance(layer, AgentWrapper):
            if isinstance(layer, kind):
                return layer
            layer = layer.inner
        return None

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
        obs, info = self.inner.restore(snapshot)
        for view in self._views:
            obs = view.observation(obs)
        return self.show(obs, info)

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
        """Back to the branch; `info` says what holds there, not what the step that had led there said of itself."""
        return resume(self, saved)

    def branch_state(self) -> Any:
        """What this layer remembers of the episode; a copy that later steps do not touch."""
        return None

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        """Remember `state` again, and add this layer's part to the observation that the layers below gave."""
        return self.show(obs, info)

    def show(self, obs: Obs, info: Info) -> tuple[Obs, Info]:
        """An observation of the layers below as this layer shows it."""
        return obs, info


class AnsweringWrapper(AgentWrapper):
    """A wrapper that answers some steps itself: the environment is not stepped, and shows what it showed before.

    One line at the end of `state`, and `info["notice"]`, say why. Such a step counts as every other does.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self._seen: tuple[Obs, Info] | None = None
        self._notice = ""
        self._max_state: int = getattr(self.shown["state"], "max_length", MAX_TEXT)
        self._limits: list[Any] = []
        layer: Any = env
        while isinstance(layer, gym.Wrapper):
            if isinstance(layer, TimeLimit):
                self._limits.append(layer)
            layer = layer.env

    def answer(self, notice: str) -> StepResult:
        """The step that the environment never saw."""
        obs, info = self._see_again(notice)
        return obs, 0.0, False, self.count_step(), info

    def count_step(self) -> bool:
        """Count, in the time limits further in, a step that did not pass through them; True if one of them is over."""
        for limit in self._limits:
            limit._elapsed_steps += 1
        return any(limit._elapsed_steps >= limit._max_episode_steps for limit in self._limits)

    def show(self, obs: Obs, info: Info) -> tuple[Obs, Info]:
        """Remembers what is shown, in case that it has to be shown again."""
        self._seen = dict(obs), dict(info)
        self._notice = ""
        return obs, info

    def branch_state(self) -> Any:
        return self._notice

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        obs, info = self.show(obs, info)
        return self._see_again(state) if state else (obs, info)

    def _see_again(self, notice: str) -> tuple[Obs, Info]:
        if self._seen is None:
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        obs, info = copy.deepcopy(self._seen)
        state = obs["state"]
        if "notice" in info:  # of a layer further in, about an earlier step
            state = state.removesuffix(f"\n{info['notice']}")
        for key in _OF_ONE_STEP:
            info.pop(key, None)
        if "invalid_action" in info:
            info["invalid_action"] = True  # nothing reached the environment
        room = max(0, self._max_state - len(notice) - 1)
        obs["state"] = f"{state[:room]}\n{notice}"[: self._max_state]
        self._notice = info["notice"] = notice
        return obs, info
