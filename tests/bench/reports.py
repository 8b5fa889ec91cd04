"""Small runs for the tests of reports: a scripted agent in the corridor, and one that clicks through pages."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from eapo_gym.agents.base import Agent, Answer
from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.rollout import play
from eapo_gym.bench.store import IMAGES_FOLDER, Run
from eapo_gym.schema import Observation, Trajectory, Transition, Turn
from eapo_gym.wrappers import ExploreMemory, Rollback, SetOfMarks, VisitationDepth
from tests.toys import Corridor
from tests.toys_gui import EXAMPLES, Pages

TASK = "train/key-in-0"


class Scripted(Agent):
    """Answers with one response after the other."""

    name = "scripted"

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers

    def act(self, observation: Observation) -> Answer:
        return self.answers[observation.context.t]


def says(action: str | None, memory: str | None = None, think: str = "", explore: str = "") -> Turn:
    return Turn(think=think, explore=explore, memory=memory, action=action, format_ok=True)


SOLVES = (
    says("look", memory="Key in room 0. Lamp off.", think="Where am I?", explore="What is here?"),
    says("right", memory="Key in room 0. Lamp off."),
    says("rollback", memory="Key in room 0. Lamp still off."),
    says("take key", memory="Key in hand."),
    says(None, memory="Key in hand."),
    *(says("right") for _ in range(3)),
    says("unlock door"),
)
"""Stays, goes and rolls back, once names no action, and wins with the ninth step."""


def corridor(*answers: Answer, task: str = TASK, repeat: int = 0) -> Episode:
    """An episode in the corridor; once the answers are used up the agent fails."""
    env = VisitationDepth(ExploreMemory(Rollback(Corridor())))
    return played(env, Scripted(*answers), task=task, repeat=repeat)


def played(env: gym.Env[Any, Any], agent: Agent, **options: Any) -> Episode:
    """The episode that is played, also for tests in whose thread an event loop is running (a browser's)."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(play(env, agent, seed=0, **options))).result()


def gui(folder: Path) -> Run:
    """Two episodes with screenshots."""
    episodes = []
    pictures = Pictures(folder / IMAGES_FOLDER)
    for repeat in range(2):
        env = VisitationDepth(ExploreMemory(Rollback(SetOfMarks(Pages()))))
        clicks = Scripted(*(says(EXAMPLES[i]) for i in (0, 1, 0)))
        episodes.append(played(env, clicks, task="train/button-0", repeat=repeat, pictures=pictures))
    return run_of(*episodes, folder=folder)


def run_of(*episodes: Episode, planned: int = 0, folder: Path | None = None) -> Run:
    """A run of these episodes; `planned` are more that are not there."""
    keys = [(episode.trajectory.task, episode.repeat) for episode in episodes]
    return Run({}, keys + [(f"not-played-{i}", 0) for i in range(planned)], list(episodes), folder)


def one_step(text: str, memory_in: str = "") -> Episode:
    """An episode all of whose texts are `text`."""
    step = Transition(
        task=text,
        trajectory=text,
        t=0,
        goal=text,
        state=text,
        fingerprint=text,
        depth=0,
        explore_in=text,
        memory_in=memory_in,
        explore=text,
        memory=text,
        action=text,
        format_ok=True,
        reward=0.0,
        terminated=False,
        truncated=True,
        next_state=text,
        next_fingerprint=text,
        rollback=True,
    )
    rollback = {"held": False, "action": text, "reason": text}
    note = StepNote(response=text, think=text, offered=(text,), rollback=rollback, problems=(text,), notice=text)
    return Episode(text, Trajectory(text, text, [step], info={"split": text, "task_type": text}), [note], error=text)


def noise(seed: int, height: int = 300, width: int = 200) -> np.ndarray:
    """A picture that no format makes small."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
