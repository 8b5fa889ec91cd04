"""Policies for rollouts in the toy corridor: what an engine without a model says, from the prompt and the seed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gymnasium as gym

from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.engines.base import Sampling
from eapo_gym.protocol import render
from eapo_gym.schema import Turn
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.rollout import Collector
from tests.agents.scripted import ScriptedEngine
from tests.bench.players import explore
from tests.toys import Corridor

KEY_HERE = "train/key-in-0"
KEY_THERE = "train/key-in-1"


def section(prompt: str, name: str) -> str:
    """What stands in a section of a prompt; empty where there is none."""
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", prompt, re.DOTALL)
    return found[1] if found else ""


def solve(state: str, rooms: int = 3) -> str:
    """The next action on the shortest way to the open door, with the key in the first room."""
    if "a key" in state:
        return "take key"
    if "hold the key" not in state:
        return "left"
    return "unlock door" if f"room {rooms - 1}" in state else "right"


def say(action: str, memory: str | None = None) -> str:
    return render(Turn(explore="e", memory=memory, action=action))


def solver(prompt: str, sampling: Sampling, i: int) -> str:
    return say(solve(section(prompt, "state")))


def idler(prompt: str, sampling: Sampling, i: int) -> str:
    return say("look")


def gambler(prompt: str, sampling: Sampling, i: int) -> str:
    """Does something or other, as its seed says."""
    actions = ("look", "right", "left", "take key", "light lamp", "drop key", "unlock door", "rollback", "fly")
    assert sampling.seed is not None
    return say(actions[sampling.seed % len(actions)], memory=str(sampling.seed % 7))


def learner(prompt: str, sampling: Sampling, i: int) -> str:
    """Idles until it has read its own advice; asked for one, it gives it."""
    if "goal was not reached" in prompt:
        return "Take the key first. </past_reflections>"
    return say(solve(section(prompt, "state")) if "Take the key" in prompt else "look")


def config(**values: Any) -> TrainConfig:
    small: dict[str, Any] = {
        "env": "toy", "group_size": 4, "tasks_per_step": 2, "parallel": 8, "max_tokens": 64, "step_timeout": 20.0,
    }  # fmt: skip
    return TrainConfig.make(**{**small, **values})


def collector(
    reply: Callable[[str, Sampling, int], str] | ScriptedEngine,
    kind: Callable[[], Any] = lambda: Corridor(rooms=3),
    steps: int = 8,
    **values: Any,
) -> Collector:
    """Of a corridor and a scripted policy."""
    engine = reply if isinstance(reply, ScriptedEngine) else ScriptedEngine(reply)
    agent = EAPOAgent(engine, Sampling(max_tokens=64), compact=True)

    def make_env() -> gym.Env[Any, Any]:
        return explore(kind(), steps)

    return Collector(config(**values), agent, engine, make_env=make_env)
