"""Environments and agents for the tests of the bench: right ones, slow ones, and all kinds of broken ones."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from eapo_gym.agents.base import Agent, Answer, Response
from eapo_gym.envs.base import AgentEnv
from eapo_gym.schema import Observation, Turn
from eapo_gym.wrappers import apply_schema
from tests.toys import Corridor

WAY = ("light lamp", "take key", "right", "right", "right", "unlock door")
"""Solves the task train/key-in-0."""


def explore(core: AgentEnv, steps: int = 20) -> gym.Env[Any, Any]:
    """The stack that an episode is played in."""
    return TimeLimit(apply_schema(core, "explore", "inverse"), steps)


def wrapped(kind: Callable[[], AgentEnv], steps: int = 20) -> Callable[[], gym.Env[Any, Any]]:
    return lambda: explore(kind(), steps)


class Scripted(Agent):
    """Gives the same answers in every episode, the last one over and over."""

    name = "scripted"

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers
        self.seen: list[Observation] = []

    def act(self, observation: Observation) -> Answer:
        self.seen.append(observation)
        answer = self.answers[min(observation.context.t, len(self.answers) - 1)]
        return (
            Turn(explore=f"e{observation.context.t}", memory=f"m{observation.context.t}", action=answer)
            if (isinstance(answer, str) and "<" not in answer)
            else answer
        )


class Drawing(Agent):
    """Draws with the seed that it is given, in coroutines that come to their end in no particular order."""

    name = "drawing"

    async def act_async(self, observation: Observation) -> Answer:
        seed = observation.context.seed
        await asyncio.sleep(seed % 3 * 0.0005)
        actions = observation.valid_actions or ("look",)
        ids = (seed % 1000, seed % 7)
        return Response(
            f"<explore>{seed}</explore><memory>{observation.memory[-40:]}{seed % 10}</memory>"
            f"<action>\\boxed{{{actions[seed % len(actions)]}}}</action>",
            prompt_ids=(1, 2, 3),
            ids=ids,
            logprobs=(-0.5, -1.25),
            calls=1,
            prompt_tokens=3,
            response_tokens=2,
            finish="stop",
        )


class Failing(Agent):
    """Raises what it is told to, at step `t`, in the tasks that are named (or in all)."""

    name = "failing"

    def __init__(self, error: Callable[[], BaseException], t: int = 0, tasks: tuple[str, ...] = ()) -> None:
        self.error, self.t, self.tasks = error, t, tasks

    def act(self, observation: Observation) -> Answer:
        here = observation.context
        if here.t == self.t and (not self.tasks or here.task in self.tasks):
            raise self.error()
        return Turn(memory="", action=WAY[min(here.t, len(WAY) - 1)])


class Sleepy(Agent):
    """Does not answer before `gate` is set."""

    name = "sleepy"

    def __init__(self) -> None:
        self.gate = threading.Event()

    def act(self, observation: Observation) -> Answer:
        self.gate.wait(30)
        return "look"


class Waiting(Agent):
    name = "waiting"

    async def act_async(self, observation: Observation) -> Answer:
        await asyncio.sleep(30)
        return "look"


class Quick(Corridor):
    """Says that it may be stepped in the event loop."""

    quick = True
    threads: set[int] = set()

    def step(self, action: str) -> Any:
        self.threads.add(threading.get_ident())
        return super().step(action)


class Threaded(Corridor):
    """Insists on one thread, as some simulators do."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.thread = threading.get_ident()

    def step(self, action: str) -> Any:
        assert threading.get_ident() == self.thread, "another thread than the one it was made in"
        return super().step(action)


class Hanging(Corridor):
    """Lighting the lamp takes until `gate` is set."""

    gate = threading.Event()

    def step(self, action: str) -> Any:
        if action == "light lamp":
            self.gate.wait(30)
        return super().step(action)


class Crashing(Corridor):
    """Lighting the lamp raises, and closing it does too."""

    def step(self, action: str) -> Any:
        if action == "light lamp":
            raise RuntimeError("The lamp exploded.")
        return super().step(action)

    def close(self) -> None:
        raise RuntimeError("It does not close.")


class Dying(Corridor):
    """Its process ends when the lamp is lit."""

    def step(self, action: str) -> Any:
        if action == "light lamp":
            os._exit(3)
        return super().step(action)


class Slow(Corridor):
    """Takes its time in one of its tasks."""

    def step(self, action: str) -> Any:
        if self.task.endswith("key-in-1"):
            time.sleep(0.01)
        return super().step(action)


def comparable(data: Mapping[str, Any]) -> dict[str, Any]:
    """An episode's JSON without the times, which no two runs share."""
    steps = [
        {**step, "note": {name: value for name, value in step["note"].items() if not name.endswith("_seconds")}}
        for step in data["steps"]
    ]
    return {**data, "seconds": 0.0, "steps": steps}
