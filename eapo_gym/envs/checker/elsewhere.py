"""Check that another process sees the same: the environment is built again there, with another order of hashes."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from eapo_gym.envs.base import AgentEnv
from eapo_gym.envs.checker.bench import Bench, Driver, Skipped
from eapo_gym.envs.checker.seen import said
from eapo_gym.envs.hosting import HostedEnv, codec
from eapo_gym.envs.hosting.tenant import load

Maker = str | Callable[..., gym.Env[Any, Any]]


def rebuild(
    core: AgentEnv, make: Maker | None, kwargs: Mapping[str, Any] | None, variables: Mapping[str, str]
) -> AgentEnv:
    """The environment once more, in a process of its own; `Skipped`, with the reason, where nobody knows how."""
    if make is not None:
        return _hosted(make, dict(kwargs or {}), variables)
    if type(core) is HostedEnv:
        env = {**core.variables, **variables}
        return HostedEnv(core.target, core.kwargs, python=core.python, path=core.path, env=env, timeout=core.timeout)
    if core.spec is not None and core.spec.entry_point is not None:
        return _hosted(core.spec.entry_point, dict(core.spec.kwargs), variables)
    if isinstance(core, RecordConstructorArgs):
        return _hosted(type(core), dict(core._saved_kwargs), variables)
    parameters = set(inspect.signature(type(core)).parameters)
    if parameters <= {"render_mode"}:
        return _hosted(type(core), {name: getattr(core, name) for name in parameters}, variables)
    raise Skipped(
        f"it is not known what {type(core).__name__} was made with: pass make={type(core).__name__} (and "
        "make_kwargs={…}), or check what gym.make returns"
    )


def _hosted(make: Maker, kwargs: dict[str, Any], variables: Mapping[str, str]) -> AgentEnv:
    made: Any = make
    if isinstance(made, functools.partial) and not made.args:
        made, kwargs = made.func, {**made.keywords, **kwargs}
    target = made if isinstance(made, str) else _address(made)
    try:
        codec.encode(kwargs)
    except codec.CodecError as error:
        raise Skipped(f"what it was made with cannot be sent to another process: {error}") from error
    return HostedEnv(f"{__name__}:build_core", {"target": target, "kwargs": kwargs}, env=variables)


def _address(made: Any) -> str:
    """Where another process finds a class or function: "module:name", or "/folder/script.py:name"."""
    module, name = getattr(made, "__module__", ""), getattr(made, "__qualname__", "<object>")
    if "<" in name:
        raise Skipped(f"another process cannot import {name}: define it at the top of a module")
    if module == "__main__":
        module = os.path.abspath(getattr(sys.modules["__main__"], "__file__", None) or "")
        if not module.endswith(".py"):
            raise Skipped(f"{name} was defined in an interactive session: put it into a module")
    return f"{module}:{name}"


def build_core(target: str, kwargs: dict[str, Any]) -> AgentEnv:
    """What the other process hosts: the environment itself, without the wrappers that its maker puts around it."""
    core: Any = load(target)(**kwargs).unwrapped
    if not isinstance(core, AgentEnv):
        raise TypeError(f"make: expected {target} to build an AgentEnv, got {type(core).__name__}")
    return core


def check_other_process(bench: Bench) -> None:
    hash_seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    try:
        core = bench.rebuild({"PYTHONHASHSEED": hash_seed})
    except Skipped:
        raise
    except Exception as error:  # whatever its maker raises there becomes a finding
        bench.fail(
            "another process cannot build the environment",
            expected="an environment like this one",
            actual=said(error),
            fix="Let its module be imported, and its maker called, without anything that only this process has.",
            script=(),
        )
        return
    there = Driver(bench, core, core, str)
    try:
        for probe in bench.tries(bench.episodes):
            there.script.clear()
            if _goes_otherwise(bench, there, bench.seed(probe), bench.length(probe)):
                return
        # Resets alone are cheap, and where only the choice of the task differs, it takes a few to see it.
        for probe in bench.tries(2 * bench.episodes):
            there.script.clear()
            if _goes_otherwise(bench, there, bench.seed(bench.episodes + probe), 0):
                return
    finally:
        core.close()


def _goes_otherwise(bench: Bench, there: Driver, seed: int, length: int) -> bool:
    first = bench.core.play(length, seed=seed)
    other = there.play(len(first), seed=seed, commands=first.commands)
    found = bench.differ(first, other)
    if found is None:
        return False
    difference = found.difference
    if difference.what == "fingerprint()":
        title = "another process gives the state another fingerprint"
        fix = (
            "Use hashlib on text instead of hash() and id(), sort sets before you join them, and take no clock and no "
            "path of this machine into the fingerprint."
        )
    else:
        title = "the same seed gives another episode in another process"
        fix = (
            "Let nothing depend on hash(), id(), the order of a set, the clock, or what an earlier environment of this "
            "process left behind."
        )
    bench.fail(
        title,
        expected=f"{difference.what}: {difference.expected}, as in this process",
        actual=f"{difference.actual}, where PYTHONHASHSEED is different",
        fix=fix,
        script=(first.calls(found.steps),),
    )
    return True
