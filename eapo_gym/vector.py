"""`InProcessVectorEnv`: thousands of text environments stepped in one process, and `make_vec`, which picks well.

It does what `gymnasium.vector.SyncVectorEnv` does, and gives the same results. It differs in the cost beside the
environments' own: observations of text need no copying (a `str` never changes), and infos are gathered key by key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from eapo_gym.schema import AnyText

_ABSENT = object()


class InProcessVectorEnv(gym.vector.VectorEnv[dict[str, Any], Any, np.ndarray]):
    """Steps its environments one after the other, and resets them as `autoreset_mode` says.

    `reset(options={"tasks": [...]})` gives each environment a task of its own.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        if not env_fns:
            raise ValueError("num_envs: expected at least one environment, got none")
        self.envs = [env_fn() for env_fn in env_fns]
        self.num_envs = len(self.envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = self.envs[0].render_mode
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._observations: list[dict[str, Any]] = [{} for _ in self.envs]
        self._ended = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if isinstance(seed, int | np.integer):
            seeds: Sequence[int | None] = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if seed is None else [None if one is None else int(one) for one in seed]
        options = dict(options or {})
        chosen = options.pop("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        tasks = options.pop("tasks", [options.get("task")] * self.num_envs)
        for name, values in (("seed", seeds), ("reset_mask", chosen), ("tasks", tasks)):
            if len(values) != self.num_envs:
                raise ValueError(f"{name}: expected {self.num_envs} values, one per environment, got {len(values)}")
        infos: list[dict[str, Any] | None] = [None] * self.num_envs
        for i in np.flatnonzero(chosen).tolist():
            one = options if tasks[i] is None else {**options, "task": tasks[i]}
            self._observations[i], infos[i] = self.envs[i].reset(seed=seeds[i], options=one or None)
        self._ended = self._ended & ~np.asarray(chosen)
        return self._batched(), batch_infos(infos)

    def step(self, actions: Any) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        if not isinstance(self.single_action_space, AnyText):
            actions = list(iterate(self.action_space, actions))
        if isinstance(actions, str) or len(actions) != self.num_envs:
            raise ValueError(f"actions: expected {self.num_envs}, one per environment, got {actions!r:.80}")
        rewards = [0.0] * self.num_envs
        terminations = [False] * self.num_envs
        truncations = [False] * self.num_envs
        infos: list[dict[str, Any] | None] = [None] * self.num_envs
        ended = self._ended.tolist()
        observations = self._observations
        for i, env in enumerate(self.envs):
            if ended[i]:
                if self.autoreset_mode is AutoresetMode.DISABLED:
                    raise ValueError(f"Environment {i} has ended: reset it with reset(options={{'reset_mask': …}}).")
                observations[i], infos[i] = env.reset()
                continue
            observations[i], reward, terminations[i], truncations[i], info = env.step(actions[i])
            rewards[i] = float(reward)
            if self.autoreset_mode is AutoresetMode.SAME_STEP and (terminations[i] or truncations[i]):
                final = {"final_obs": observations[i], "final_info": info}
                observations[i], info = env.reset()
                info = {**final, **info}
            infos[i] = info
        terminated, truncated = np.array(terminations), np.array(truncations)
        self._ended = terminated | truncated if self.autoreset_mode is not AutoresetMode.SAME_STEP else self._ended
        return self._batched(), np.array(rewards), terminated, truncated, batch_infos(infos)

    def render(self) -> tuple[Any, ...]:
        return tuple(env.render() for env in self.envs)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method (or read an attribute) of every environment, through its wrappers."""
        found = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(value(*args, **kwargs) if callable(value) else value for value in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of every environment, as Gymnasium's own vectors give it."""
        return self.call(name)

    def close_extras(self, **kwargs: Any) -> None:
        for env in self.envs:
            env.close()

    def _batched(self) -> dict[str, Any]:
        space = self.single_observation_space
        assert isinstance(space, gym.spaces.Dict)
        return {key: _batch(part, [each[key] for each in self._observations]) for key, part in space.spaces.items()}


def _batch(space: gym.Space[Any], values: list[Any]) -> Any:
    if isinstance(space, gym.spaces.Text):
        return tuple(values)
    return concatenate(space, values, create_empty_array(space, len(values)))  # type: ignore[arg-type]


def batch_infos(infos: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """Gymnasium's form of many infos: for each key an array, and under `_key` which environments have it."""
    batched: dict[str, Any] = {}
    for key in dict.fromkeys(key for info in infos if info for key in info):
        values = [info.get(key, _ABSENT) if info else _ABSENT for info in infos]
        present = np.array([value is not _ABSENT for value in values])
        batched[key] = _batch_values(key, values, present)
        batched[f"_{key}"] = present
    return batched


def _batch_values(key: str, values: list[Any], present: np.ndarray) -> Any:
    first = values[int(present.argmax())]
    if isinstance(first, dict) and key != "final_obs":
        return batch_infos([value if value is not _ABSENT else None for value in values])
    if type(first) in (int, float, bool) or isinstance(first, np.number):
        array = np.zeros(len(values), dtype=type(first))
    elif isinstance(first, np.ndarray):
        array = np.zeros((len(values), *first.shape), dtype=first.dtype)
    else:
        array = np.full(len(values), None, dtype=object)
    if present.all() and array.dtype != object:
        array[:] = values
    else:
        for i in np.flatnonzero(present):
            array[i] = values[i]
    return array


def make_vec(
    id: str, num_envs: int = 1, vectorization_mode: str | gym.VectorizeMode | None = None, **kwargs: Any
) -> gym.vector.VectorEnv[Any, Any, Any]:
    """`gymnasium.make_vec`, never with shared memory, which cannot hold text.

    Without a `vectorization_mode` it is the environment's own vector entry point, where it has one.
    """
    if vectorization_mode is not None and gym.VectorizeMode(vectorization_mode) is gym.VectorizeMode.ASYNC:
        kwargs["vector_kwargs"] = {"shared_memory": False, **(kwargs.get("vector_kwargs") or {})}
    return gym.make_vec(id, num_envs=num_envs, vectorization_mode=vectorization_mode, **kwargs)
