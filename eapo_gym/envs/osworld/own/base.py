"""What a task of our own is: parameters that are drawn, files made of them, a task file in the benchmark's form.

A template says how to draw its parameters, which files are on the machine, what is asked in which words, how it is
judged, and how somebody does it who knows the apps (`solve`) or gets it wrong (`fail`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from eapo_gym.envs.dice import Dice
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing
from eapo_gym.errors import UnknownName

T = TypeVar("T")

HOME = "/home/user"
DOCUMENTS = f"{HOME}/Documents"
PICTURES = f"{HOME}/Pictures"

Params = Mapping[str, Any]
Way = Literal["solve", "fail"]
WAYS: tuple[Way, ...] = ("solve", "fail")
Step = Mapping[str, Any]

SPLITS: Mapping[str, int] = {"train": 3, "valid": 1, "test": 1}
"""The splits, with their share of every pool of words."""


class TaskDice(Dice):
    """The parameters of one task, by its template, split and number."""

    __slots__ = ("split",)

    version = 1

    def __init__(self, template: str, split: str, number: int) -> None:
        if split not in SPLITS:
            raise UnknownName.of("split of our own desktop tasks", split, SPLITS)
        super().__init__(template, split, number)
        self.split = split

    def own(self, pool: Sequence[T]) -> T:
        """One of this split's share of a pool: tasks of two splits never have it in common."""
        return self.pick(self.share(pool))

    def some(self, pool: Sequence[T], count: int) -> list[T]:
        """So many of this split's share of a pool, none twice."""
        return self.sample(self.share(pool), count)

    def share(self, pool: Sequence[T]) -> list[T]:
        turns = [split for split, turns in SPLITS.items() for _ in range(turns)]
        return [each for place, each in enumerate(pool) if turns[place % len(turns)] == self.split]

    def wording(self, wordings: Sequence[str]) -> str:
        """One of the ways to ask; the last one is kept for what is not trained on."""
        return self.pick(wordings[:-1] if self.split == "train" and len(wordings) > 1 else wordings)


@dataclass(frozen=True, slots=True)
class Made:
    """A task that has been drawn."""

    params: Params
    task: Mapping[str, Any]
    """The benchmark's JSON."""

    files: Mapping[str, bytes]
    """What stands beside it in its folder: what is put on the machine, and what is expected."""


class Template(ABC):
    """A kind of task. Its class has the name that is in the tasks' ids."""

    domain: ClassVar[str]
    """The benchmark's name for the group of apps: "libreoffice_calc", "os", …"""

    apps: ClassVar[tuple[str, ...]]
    wordings: ClassVar[tuple[str, ...]]
    """Ways to ask for it, with the parameters in braces."""

    ready: ClassVar[tuple[str, str]] = ("File", "menu")
    """Name and kind of what is on the screen once the app is there."""

    @classmethod
    def name(cls) -> str:
        return cls.__name__

    @abstractmethod
    def draw(self, dice: TaskDice) -> dict[str, Any]:
        """The parameters."""

    @abstractmethod
    def uploads(self, params: Params) -> Mapping[str, bytes]:
        """The files that the machine has, by their place on it."""

    @abstractmethod
    def start(self, params: Params) -> Sequence[Step]:
        """What is done once the files are there: apps are opened."""

    @abstractmethod
    def evaluator(self, params: Params) -> Mapping[str, Any]:
        """How it is judged."""

    def expected(self, params: Params) -> Mapping[str, bytes]:
        """The files that the result is compared with, by the names that the evaluator has for them."""
        return {}

    @abstractmethod
    def solve(self, hands: Seeing, params: Params) -> Plan:
        """How somebody does it who knows the apps: each action follows from the screen as it then is."""

    @abstractmethod
    def fail(self, hands: Seeing, params: Params) -> Plan:
        """A way to get it wrong that looks right to whoever does it."""

    def play(self, way: Way, hands: Seeing, params: Params) -> Plan:
        """Wait for the app, then do it in the right way or in the wrong one."""
        yield from hands.until(*self.ready)
        yield from self.solve(hands, params) if way == "solve" else self.fail(hands, params)

    def make(self, dice: TaskDice) -> Made:
        """Draw a task."""
        params = self.draw(dice)
        params["wording"] = dice.wording(self.wordings)
        return self.made(params)

    def made(self, params: Params) -> Made:
        """The task with these parameters."""
        uploads = self.uploads(params)
        beside = {f"upload_{number}_{place.rsplit('/', 1)[-1]}": place for number, place in enumerate(uploads)}
        files = {name: uploads[place] for name, place in beside.items()}
        placed = [{"local_path": name, "path": place} for name, place in beside.items()]
        task = {
            "snapshot": self.domain,
            "instruction": params["wording"].format(**params),
            "source": "eapo-gym",
            "config": [*([step("upload_file", files=placed)] if placed else []), *self.start(params)],
            "trajectory": "trajectories/",
            "related_apps": list(self.apps),
            "evaluator": self.evaluator(params),
        }
        return Made(params, task, files | dict(self.expected(params)))


def step(kind: str, **parameters: Any) -> Step:
    """A step of the preparation."""
    return {"type": kind, "parameters": parameters}


def opened(place: str) -> Step:
    """A file is opened with the app that is meant for it."""
    return step("open", path=place)


def launched(window: str, *command: str) -> list[Step]:
    """A program is started, and a window waited for whose title has this in it."""
    return [step("launch", command=list(command)), *shown(window)]


def shown(window: str) -> list[Step]:
    """A window is waited for, and the screen then has the time to stand still."""
    there = {"window_exists": window}
    wait = step(
        "execute_with_verification", command=["true"], verification=there, max_wait_time=180, check_interval=0.5
    )
    return [wait, step("sleep", seconds=3)]
