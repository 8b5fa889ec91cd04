"""Agents from anywhere: a class, a factory, an object or a plain function, which need know nothing of this package.

    python:my_package.agents:Mine        python:/folder/agents.py:Mine

What is found there has `act(observation)`, or is a function of the observation; either may be asynchronous. The answer
is the text of a response (or a `Turn`, or a `Response`).
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, cast

from eapo_gym.agents.base import Agent, AgentError, Answer, as_response
from eapo_gym.schema import Observation

PREFIX = "python:"


class BadAgent(AgentError, ValueError):
    """A description that stands for no agent."""


def load_foreign(spec: str, options: Mapping[str, Any], offered: Mapping[str, Any]) -> Agent:
    """The agent that `python:module:name` or `python:/folder/file.py:name` stands for.

    `options` are its keyword arguments; of `offered` (the run's engine, env, sampling) it gets what it has parameters
    for.
    """
    found = _find(spec)
    if isinstance(found, type):
        made = _call(spec, found, options, offered)
    elif not callable(found) or hasattr(found, "act"):
        if options:
            raise BadAgent(f"{spec} is an object already and takes no options, got {', '.join(options)}.")
        made = found
    elif _is_act(spec, found, options, offered):
        made = partial(found, **options)
    else:
        made = _call(spec, found, options, offered)
    return adapt(made, spec)


def wants_engine(spec: str) -> bool:
    """Whether what `spec` names cannot be made without an engine."""
    found = _find(spec)
    if hasattr(found, "act") and not isinstance(found, type):
        return False
    signature = _signature(found)
    engine = signature.parameters.get("engine") if signature is not None else None
    return engine is not None and engine.default is inspect.Parameter.empty


def adapt(thing: Any, spec: str = "") -> Agent:
    """Anything that can act, as an `Agent`."""
    if isinstance(thing, Agent):
        return thing
    act = getattr(thing, "act", None)
    if act is None and callable(thing):
        act = thing
    if not callable(act):
        raise BadAgent(
            f"{spec or type(thing).__name__}: expected an agent, something with act(observation), "
            f"got {type(thing).__name__}."
        )
    name = str(getattr(thing, "name", "") or _name(thing))
    return _AsyncAgent(thing, act, name) if _is_async(act) else _SyncAgent(thing, act, name)


class _ForeignAgent(Agent):
    def __init__(self, thing: Any, act: Callable[..., Any], name: str) -> None:
        self.thing, self.name, self._act = thing, name, act
        self.form = getattr(thing, "form", "tags")
        self.wants_history = bool(getattr(thing, "wants_history", False))
        self.max_parallel = getattr(thing, "max_parallel", None)

    def stamp(self) -> dict[str, Any]:
        own = getattr(self.thing, "stamp", None)
        return {**super().stamp(), **(own() if callable(own) else {})}

    async def close(self) -> None:
        close = getattr(self.thing, "close", None)
        if callable(close):
            done = close()
            if isinstance(done, Awaitable):
                await done


class _SyncAgent(_ForeignAgent):
    """Runs in a thread, as `Agent` does: nobody knows how long a foreign `act` takes."""

    def act(self, observation: Observation) -> Answer:
        return as_response(self._act(observation), self.name)


class _AsyncAgent(_ForeignAgent):
    async def act_async(self, observation: Observation) -> Answer:
        return as_response(await self._act(observation), self.name)


def _find(spec: str) -> Any:
    """What the address names."""
    from eapo_gym.envs.hosting.tenant import load

    target = spec.removeprefix(PREFIX)
    where, _, name = target.rpartition(":")
    if not where or not name:
        raise BadAgent(f"{spec}: expected python:module:Class or python:/folder/file.py:Class.")
    if where.endswith(".py") and not os.path.isfile(where):
        raise BadAgent(f"{spec}: there is no file {os.path.abspath(where)}.")
    beside = os.path.dirname(os.path.abspath(where)) if where.endswith(".py") else os.getcwd()
    if beside not in sys.path:
        sys.path.append(beside)  # what lies beside a file is found, as when it is run as a script
    try:
        return load(target)
    except AttributeError as error:
        close = get_close_matches(name, dir(error.obj), n=1) if error.obj is not None else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise BadAgent(f"{spec}: {error}.{hint}") from error
    except (ImportError, SyntaxError) as error:
        raise BadAgent(f"{spec}: {where} cannot be imported: {error}") from error


def _call(spec: str, maker: Callable[..., Any], options: Mapping[str, Any], offered: Mapping[str, Any]) -> Any:
    arguments = {**_wanted(maker, offered), **options}
    signature = _signature(maker)
    if signature is not None:
        try:
            signature.bind(**arguments)
        except TypeError as error:
            given = ", ".join(options) or "no options"
            raise BadAgent(f"{spec} takes {signature}, and was given {given}: {error}.") from error
    return maker(**arguments)


def _is_act(spec: str, function: Callable[..., Any], options: Mapping[str, Any], offered: Mapping[str, Any]) -> bool:
    """Whether a function is an agent itself, to be called with an observation, rather than one that makes agents."""
    if _is_async(function):
        return True
    signature = _signature(function)
    if signature is None or _binds(signature, **{**_wanted(function, offered), **options}):
        return False
    if _binds(signature, None, **options):
        return True
    given = ", ".join(options) or "no options"
    raise BadAgent(
        f"{spec} takes {signature}, and was given {given}: expected a function of one observation, or one that makes "
        "an agent of the options alone."
    )


def _wanted(maker: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    signature = _signature(maker)
    names = signature.parameters if signature is not None else {}
    return {name: value for name, value in offered.items() if name in names and value is not None}


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None  # written in C, perhaps: calling it will tell


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _is_async(act: Any) -> bool:
    inner = act.func if isinstance(act, partial) else act
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(getattr(inner, "__call__", None))  # noqa: B004


def _name(thing: Any) -> str:
    inner = thing.func if isinstance(thing, partial) else thing
    return cast(str, getattr(inner, "__name__", type(inner).__name__))
