"""Agents from anywhere: a class, a factory, an object or a plain function, which need know nothing of this package.

    python:my_package.agents:Mine        python:/folder/agents.py:Mine

What is found there has `act(observation)`, or is a function of the observation; either may be asynchronous. The answer
is the text of a response (or a `Turn`, or a `Response`).

What is asynchronous runs in an event loop of its own, in a thread of its own: code that blocks there, or will not be
cancelled, holds up its own episodes and neither the others nor the end of the program.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import Any, cast

from eapo_gym.agents.base import Agent, AgentError, Answer, as_response
from eapo_gym.schema import Observation

PREFIX = "python:"

_CLOSING = 10.0
"""Seconds that an asynchronous agent has to close itself."""


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
        await self._close()

    async def _close(self) -> None:
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
    def __init__(self, thing: Any, act: Callable[..., Any], name: str) -> None:
        super().__init__(thing, act, name)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def act_async(self, observation: Observation) -> Answer:
        async def asked() -> Any:
            return await self._act(observation)

        return as_response(await self._apart(asked), self.name)

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self._apart(self._close), _CLOSING)
        except asyncio.TimeoutError:
            return  # it blocks its loop: the thread ends with the program
        finally:
            loop, self._loop = self._loop, None
            if loop is not None:
                loop.call_soon_threadsafe(loop.stop)

    async def _apart(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do it in the agent's own loop. Cancelled, the caller goes on, whatever the agent makes of it."""

        async def done() -> Any:
            try:
                return await work()
            except (SystemExit, KeyboardInterrupt) as error:  # which would end the loop
                raise AgentError(f"{self.name} raised {type(error).__name__}: {error}") from error

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(self._loop,), name=f"agent {self.name}", daemon=True).start()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(done(), self._loop))


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    going_on = True
    while going_on:
        # A task that the agent has started itself may raise SystemExit: the others go on.
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            going_on = False
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=1.0))
    if not asyncio.all_tasks(loop):
        loop.close()


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
