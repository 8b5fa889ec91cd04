"""The ids that `gymnasium.make` knows, and what it makes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import gymnasium as gym

from eapo_gym.envs.base import AgentEnv
from eapo_gym.errors import UnknownName

if TYPE_CHECKING:
    from eapo_gym.envs.androidworld.device.hosted import HostedDevice
    from eapo_gym.envs.androidworld.env import AndroidWorldEnv
    from eapo_gym.wrappers import RollbackMode, Schema

ALFWORLD = "eapo/ALFWorld-v0"
ALFWORLD_STEPS = 100
"""The paper's episodes are 61 steps long on average; peers stop at 50 (`max_episode_steps=50`)."""

ENGINES = ("native", "textworld")

WEBSHOP = "eapo/WebShop-v0"
WEBSHOP_STEPS = 60
"""The paper's episodes are up to 43 steps long; peers stop at 15, the original never does."""

ANDROIDWORLD = "eapo/AndroidWorld-v0"
ANDROIDWORLD_SOURCES = ("embedded", "official")

OSWORLD = "eapo/OSWorld-v0"
OSWORLD_STEPS = 50
"""The benchmark's tables have 15, 50 and 100."""


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
    if WEBSHOP not in gym.registry:
        gym.register(
            WEBSHOP,
            entry_point="eapo_gym.registration:make_webshop",
            vector_entry_point="eapo_gym.registration:make_webshop_vec",
            max_episode_steps=WEBSHOP_STEPS,
            disable_env_checker=True,
            kwargs={"source": "embedded", "schema": "explore"},
        )
    if ANDROIDWORLD not in gym.registry:
        gym.register(
            ANDROIDWORLD,
            entry_point="eapo_gym.registration:make_androidworld",
            # Without a limit of its own: every task has another one.
            disable_env_checker=True,
            kwargs={"source": "embedded", "schema": "explore"},
        )
    if OSWORLD not in gym.registry:
        gym.register(
            OSWORLD,
            entry_point="eapo_gym.registration:make_osworld",
            # The limit is the environment's own: an episode that reaches it is judged.
            disable_env_checker=True,
            kwargs={"source": "embedded", "schema": "explore", "max_steps": OSWORLD_STEPS},
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
    return _in_schema(_alfworld(engine, kwargs), schema, rollback)


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
    return _many(partial(make_alfworld, **kwargs), num_envs, _limit(max_episode_steps, ALFWORLD_STEPS), autoreset_mode)


def make_webshop(
    *, schema: Schema = "explore", rollback: RollbackMode | Literal["default"] | None = "default", **kwargs: Any
) -> gym.Env[Any, Any]:
    """WebShop, in one of the two schemas.

    Args:
        schema: "explore" (the action is a model's whole response) or "native" (it is one command).
        rollback: "inverse", "restore" or None; the default is "inverse" in the explore schema, None in the native one.
        kwargs: see `WebShopEnv`.
    """
    from eapo_gym.envs.webshop.env import WebShopEnv

    return _in_schema(WebShopEnv(**kwargs), schema, rollback)


def make_webshop_vec(
    num_envs: int, *, max_episode_steps: int | None = None, autoreset_mode: str = "NextStep", **kwargs: Any
) -> gym.vector.VectorEnv[Any, Any, Any]:
    """Many WebShop environments in this process."""
    return _many(partial(make_webshop, **kwargs), num_envs, _limit(max_episode_steps, WEBSHOP_STEPS), autoreset_mode)


def make_androidworld(
    *,
    source: str = "embedded",
    schema: Schema = "explore",
    rollback: RollbackMode | Literal["default"] | None = "default",
    marks: bool = False,
    **kwargs: Any,
) -> gym.Env[Any, Any]:
    """AndroidWorld in one of the two schemas; an episode is as long as its task allows.

    Args:
        source: "embedded", the phone in memory, or "official", the benchmark's own tasks on a device.
        schema: "explore" (the action is a model's whole response) or "native" (it is one command).
        rollback: "inverse", "restore" or None; the default is "inverse" in the explore schema, None in the native one.
        marks: add the screenshot with numbered boxes around the elements.
        kwargs: see `AndroidWorldEnv`, or `hosted_device` for the official source.
    """
    from eapo_gym.envs.budget import TaskBudget
    from eapo_gym.wrappers import SetOfMarks

    env = _androidworld(source, kwargs)
    stack = _in_schema(env, schema, rollback)
    return TaskBudget(SetOfMarks(stack) if marks else stack, env.most_steps)


def _androidworld(source: str, kwargs: dict[str, Any]) -> AndroidWorldEnv | HostedDevice:
    if source == "embedded":
        from eapo_gym.envs.androidworld.env import AndroidWorldEnv

        return AndroidWorldEnv(**kwargs)
    if source == "official":
        from eapo_gym.envs.androidworld.device.hosted import hosted_device

        return hosted_device(**kwargs)
    raise UnknownName.of("source", source, ANDROIDWORLD_SOURCES)


def make_osworld(
    *,
    max_steps: int = OSWORLD_STEPS,
    schema: Schema = "explore",
    rollback: RollbackMode | Literal["default"] | None = "default",
    marks: bool = False,
    **kwargs: Any,
) -> gym.Env[Any, Any]:
    """OSWorld in one of the two schemas.

    Args:
        max_steps: of an episode, at whose end the desktop is judged as it stands. Gymnasium's own `max_episode_steps`
            ends an episode without a verdict.
        schema: "explore" (the action is a model's whole response) or "native" (it is one command).
        rollback: "inverse", "restore" or None; the default is "inverse" in the explore schema, None in the native one.
        marks: add the screenshot with numbered boxes around the elements.
        kwargs: see `OSWorldEnv`.
    """
    from eapo_gym.envs.osworld.budget import JudgedBudget
    from eapo_gym.envs.osworld.env import OSWorldEnv
    from eapo_gym.wrappers import SetOfMarks

    stack = _in_schema(OSWorldEnv(max_steps=max_steps, **kwargs), schema, rollback)
    return JudgedBudget(SetOfMarks(stack) if marks else stack, max_steps)


def _in_schema(env: AgentEnv, schema: Schema, rollback: RollbackMode | Literal["default"] | None) -> gym.Env[Any, Any]:
    from eapo_gym.wrappers import apply_schema

    if rollback == "default":
        rollback = "inverse" if schema == "explore" else None
    return apply_schema(env, schema, rollback)


def _limit(steps: int | None, default: int) -> int | None:
    """The limit of an episode; -1 is Gymnasium's word for none."""
    return None if steps == -1 else default if steps is None else steps


def _many(
    make: Callable[[], gym.Env[Any, Any]], num_envs: int, limit: int | None, autoreset_mode: str
) -> gym.vector.VectorEnv[Any, Any, Any]:
    from eapo_gym.vector import InProcessVectorEnv

    def one() -> gym.Env[Any, Any]:
        env = make()
        return env if limit is None else gym.wrappers.TimeLimit(env, limit)

    return InProcessVectorEnv([one] * num_envs, autoreset_mode)
