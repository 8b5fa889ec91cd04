"""The ids that `gymnasium.make` knows, and what it makes of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import gymnasium as gym

from eapo_gym.envs.base import AgentEnv
from eapo_gym.errors import UnknownName

if TYPE_CHECKING:
    from eapo_gym.wrappers import RollbackMode, Schema

ALFWORLD = "eapo/ALFWorld-v0"
ALFWORLD_STEPS = 100
"""The paper's episodes are 61 steps long on average; peers stop at 50 (`max_episode_steps=50`)."""

ENGINES = ("native", "textworld")


def register_envs() -> None:
    """Register the ids; importing eapo_gym does it, and twice does no harm."""
    if ALFWORLD not in gym.registry:
        gym.register(
            ALFWORLD,
            entry_point="eapo_gym.registration:make_alfworld",
            vector_entry_point="eapo_gym.registration:make_alfworld_vec",
            max_episode_steps=ALFWORLD_STEPS,
            # Gymnasium's passive checker breaks for good when the first reset raises (an unknown task, say); what it
            # looks at, and more, is what check_agent_env has verified.
            disable_env_checker=True,
            # Named here, so that env.spec says where the tasks of an environment came from.
            kwargs={"source": "embedded", "engine": "native", "schema": "explore"},
        )


def make_alfworld(
    *,
    engine: str = "native",
    schema: Schema = "explore",
    rollback: RollbackMode | Literal["default"] | None = "default",
    **kwargs: Any,
) -> gym.Env[Any, Any]:
    """ALFWorld on one of its engines, in one of the two schemas.

    Args:
        engine: "native" or "textworld", the reference engine in a process of its own.
        schema: "explore" (the action is a model's whole response) or "native" (it is one command).
        rollback: "inverse", "restore" or None; the default is "inverse" in the explore schema, None in the native one.
        kwargs: see `ALFWorldEnv`.
    """
    from eapo_gym.wrappers import apply_schema

    if rollback == "default":
        rollback = "inverse" if schema == "explore" else None
    return apply_schema(_alfworld(engine, kwargs), schema, rollback)


def _alfworld(engine: str, kwargs: dict[str, Any]) -> AgentEnv:
    if engine == "native":
        from eapo_gym.envs.alfworld.env import ALFWorldEnv

        return ALFWorldEnv(**kwargs)
    if engine == "textworld":
        from eapo_gym.envs.alfworld.reference import hosted_reference

        return hosted_reference(**kwargs)
    raise UnknownName.of("engine", engine, ENGINES)


def make_alfworld_vec(
    num_envs: int, *, max_episode_steps: int | None = None, autoreset_mode: str = "NextStep", **kwargs: Any
) -> gym.vector.VectorEnv[Any, Any, Any]:
    """Many ALFWorld environments in this process."""
    from eapo_gym.vector import InProcessVectorEnv

    limit = ALFWORLD_STEPS if max_episode_steps is None else max_episode_steps

    def one() -> gym.Env[Any, Any]:
        env = make_alfworld(**kwargs)
        return env if limit == -1 else gym.wrappers.TimeLimit(env, limit)  # -1 is Gymnasium's word for no limit

    return InProcessVectorEnv([partial(one) for _ in range(num_envs)], autoreset_mode)
