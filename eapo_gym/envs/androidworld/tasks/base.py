"""What a task is: a goal with parameters, how the phone is prepared for it, and when it is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.envs.dice import Dice

Params = Mapping[str, Any]
Plan = Iterator[Action]


class TaskDice(Dice):
    """The parameters of a task, by its name and seed."""

    __slots__ = ()

    version = 1


class Task(ABC):
    """One of the benchmark's tasks. Its class has the benchmark's name for it."""

    template: ClassVar[str]
    complexity: ClassVar[float]
    """The benchmark's measure of length: an episode has ten times as many steps."""

    difficulty: ClassVar[str]
    apps: ClassVar[tuple[str, ...]]
    """The packages that it is about."""

    @classmethod
    def name(cls) -> str:
        return cls.__name__

    @abstractmethod
    def draw(self, dice: TaskDice) -> dict[str, Any]:
        """The parameters, drawn as the benchmark draws them."""

    def adopted(self, theirs: Params) -> Params:
        """The parameters as the benchmark's own package draws them, in the form of `draw`."""
        return theirs

    def goal(self, params: Params) -> str:
        return self.template.format(**params)

    def prepare(self, phone: Phone, params: Params) -> None:  # noqa: B027 - some begin anywhere
        """Bring the phone to where the task begins."""

    def begun(self, phone: Phone, params: Params) -> Params:
        """The parameters, with what only the phone that is prepared tells, such as a text that is to be kept."""
        return params

    @abstractmethod
    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        """1 if what was asked for has been done; the benchmark's own check, on the same data."""

    @abstractmethod
    def plan(self, finger: Finger, params: Params) -> Plan:
        """How somebody does it who knows the phone: each action follows from the screen as it then is."""
