"""What stands on the command line for an environment, made into one.

A registered id (`eapo/ALFWorld-v0`, or `alfworld` for short), `module:Class`, or `/folder/file.py:Class`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium as gym

from eapo_gym.errors import EapoError, UnknownName

NAMESPACE = "eapo/"


class BadTarget(EapoError, ValueError):
    """A command line that stands for no environment."""


def registered_ids() -> list[str]:
    """The ids of this suite."""
    return sorted(name for name in gym.registry if name.startswith(NAMESPACE))


def make_env(target: str, kwargs: dict[str, Any]) -> gym.Env[Any, Any]:
    """The environment that `target` stands for, made with `kwargs`."""
    maker = load_class(target) if ":" in target else None
    spec = None if maker is not None else find_spec(target)
    try:
        env = gym.make(spec, **kwargs) if spec is not None else maker(**kwargs)  # type: ignore[misc]
    except (TypeError, ValueError) as error:
        if isinstance(error, EapoError):
            raise
        from eapo_gym.bench.setting import not_made

        raise not_made(target, kwargs, error, BadTarget) from error
    if not isinstance(env, gym.Env):
        raise BadTarget(f"{target}: expected an environment (gymnasium.Env), got {type(env).__name__}.")
    return env


def find_spec(target: str) -> Any:
    """The spec of a registered id; ids of this suite may be shortened and misspelt in case."""
    if target in gym.registry:
        return gym.registry[target]
    for env_id in registered_ids():
        name = env_id.removeprefix(NAMESPACE)
        if target.lower() in (env_id.lower(), name.lower(), re.sub(r"-v\d+$", "", name).lower()):
            return gym.registry[env_id]
    hint = "An environment of your own is 'module:Class' or '/folder/file.py:Class'."
    raise UnknownName.of("environment", target, registered_ids(), hint)


def load_class(target: str) -> Callable[..., Any]:
    """What `module:Class` or `file.py:Class` names."""
    from eapo_gym.envs.hosting.tenant import load

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does: a script does not find what lies beside the user
    where, _, name = target.rpartition(":")
    if where.endswith(".py") and not os.path.isfile(where):
        raise BadTarget(f"{target}: there is no file {os.path.abspath(where)}.")
    try:
        found = load(target)
    except AttributeError as error:
        raise BadTarget(f"{target}: {where} has no {name!r}.") from error
    except (ImportError, SyntaxError) as error:
        raise BadTarget(f"{target}: {where} cannot be imported: {error}") from error
    if not callable(found):
        raise BadTarget(f"{target}: expected a class or a function that makes an environment, got {found!r:.80}.")
    maker: Callable[..., Any] = found
    return maker


def address(target: str) -> str:
    """`target` as another process finds it, in whatever folder that runs."""
    where, _, name = target.rpartition(":")
    return f"{os.path.abspath(where)}:{name}" if where.endswith(".py") else target


def parse_kwargs(pairs: Iterable[str], option: str = "--kwargs") -> dict[str, Any]:
    """`key=value` pairs; the values are written as in YAML.

    >>> parse_kwargs(["split=valid", "games=10", "strict=false", "rooms=[1, 2]"])
    {'split': 'valid', 'games': 10, 'strict': False, 'rooms': [1, 2]}
    """
    kwargs: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().isidentifier():
            raise BadTarget(f"{option} {pair!r}: expected key=value, as in split=valid.")
        kwargs[key.strip()] = _scalar(value.strip())
    return kwargs


def _scalar(text: str) -> Any:
    words = {"true": True, "false": False, "null": None, "none": None, "~": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text
