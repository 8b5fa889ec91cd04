"""Is what `reset`, `step` and `restore` returned well-formed? Asked of everything that comes back during a check."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from eapo_gym.envs.base import AgentEnv
from eapo_gym.envs.checker.report import Finding
from eapo_gym.envs.checker.seen import shown


def pair_faults(call: str, result: Any) -> Iterator[Finding]:
    """Faults in the (observation, info) of reset and restore."""
    if not isinstance(result, tuple) or len(result) != 2:
        yield _malformed(call, "a tuple (observation, info)", result)
    elif not (isinstance(result[0], dict) and isinstance(result[1], dict)):
        yield _malformed(call, "two dicts (observation, info)", result)


def step_faults(call: str, result: Any) -> Iterator[Finding]:
    """Faults in the five things that step returns."""
    if not isinstance(result, tuple) or len(result) != 5:
        yield _malformed(call, "a tuple (observation, reward, terminated, truncated, info)", result)
        return
    obs, reward, terminated, truncated, info = result
    if not (isinstance(obs, dict) and isinstance(info, dict)):
        yield _malformed(call, "a dict as observation and a dict as info", (obs, info))
        return
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, bool):
            yield Finding(
                "api",
                f"{name} is no bool",
                "True or False",
                f"{shown(flag)} ({type(flag).__name__})",
                f"Return bool(…) as {name}: learners tell the end of an episode from the step limit by these two.",
            )
    if not isinstance(reward, int | float | np.floating | np.integer) or not math.isfinite(reward):
        yield Finding(
            "api",
            "the reward is no finite number",
            "a finite float",
            f"{shown(reward)} ({type(reward).__name__})",
            "Return float(reward), and 0.0 where a step earns nothing.",
        )


def observation_faults(space: spaces.Space[Any], obs: dict[str, Any]) -> Iterator[Finding]:
    """Says which key leaves the space, and why."""
    if not isinstance(space, spaces.Dict) or space.contains(obs):
        return
    title = "an observation leaves the observation space"
    for key in space.spaces.keys() - obs.keys():
        fix = f"Put {key!r} into every observation, or take it out of observation_space."
        keys = f"the keys {sorted(obs)}"
        yield Finding("observations", f"{title}: no {key!r}", f"the keys {sorted(space.spaces)}", keys, fix)
    for key in obs.keys() - space.spaces.keys():
        fix = f"Declare {key!r} in observation_space, or move it into info."
        expected = f"only the keys {sorted(space.spaces)}"
        yield Finding("observations", f"{title}: {key!r} is not declared", expected, f"{key!r} as well", fix)
    for key in space.spaces.keys() & obs.keys():
        if not space[key].contains(obs[key]):
            why, fix = _why_not(space[key], obs[key])
            yield Finding("observations", f"{title}: {key!r} does not fit", f"{key!r} in {space[key]}", why, fix)


def info_faults(core: AgentEnv, info: dict[str, Any]) -> Iterator[Finding]:
    """Faults in what every info must carry."""
    for name, kind in (("task", str), ("source", str), ("split", str), ("won", bool)):
        if name not in info:
            yield Finding(
                "info",
                f"info lacks {name!r}",
                f"info[{name!r}] after every reset, step and restore",
                f"only {sorted(map(str, info))}",
                f"Add {name!r} ({kind.__name__}): every result says which task of which source and split it is of.",
            )
        elif not isinstance(info[name], kind):
            actual = f"{shown(info[name])} ({type(info[name]).__name__})"
            fix = f"Make it a {kind.__name__}."
            yield Finding("info", f"info[{name!r}] is no {kind.__name__}", f"a {kind.__name__}", actual, fix)
        elif name != "won" and info[name] != getattr(core, name):
            yield Finding(
                "info",
                f"info[{name!r}] is not the environment's",
                f"{shown(getattr(core, name))}, as env.{name} says",
                shown(info[name]),
                f"Set self.{name} and report self.{name}, so that there is one truth.",
            )
    if not isinstance(info.get("invalid_action", False), bool):
        actual = shown(info["invalid_action"])
        fix = "Make it True where the action was no action here, else False, or leave it out."
        yield Finding("info", "info['invalid_action'] is no bool", "True or False", actual, fix)


def _malformed(call: str, expected: str, result: Any) -> Finding:
    kind = type(result).__name__
    if isinstance(result, tuple):
        kind = f"a tuple ({', '.join(type(part).__name__ for part in result)})"
    fix = "Return exactly what gymnasium.Env documents for this method."
    return Finding("api", f"{call.split('(')[0]} returns something else than Gymnasium's", expected, kind, fix)


def _why_not(space: spaces.Space[Any], value: Any) -> tuple[str, str]:
    actual = f"{shown(value, 120)} ({type(value).__name__})"
    if not isinstance(space, spaces.Text):
        if isinstance(value, np.ndarray):
            actual = f"an array of {value.dtype} with shape {value.shape}"
        return actual, f"Return a value that {space} contains."
    if not isinstance(value, str):
        return actual, "Return text (str)."
    if len(value) > space.max_length:
        limit = f"{space.max_length:,}"
        return (
            f"{len(value):,} characters where {limit} are allowed",
            f"Cut the text to {limit} characters, or declare a larger max_text in observation_space.",
        )
    if len(value) < space.min_length:
        return actual, "Use eapo_gym.AnyText, which allows the empty text."
    return (
        f"{actual}, which has characters outside of its alphabet",
        "Use eapo_gym.AnyText instead of gymnasium.spaces.Text: it takes every character.",
    )
