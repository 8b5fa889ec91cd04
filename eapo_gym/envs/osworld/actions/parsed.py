"""What a text asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eapo_gym.envs.osworld.actions.movements import Movement, Placed, Size, resolved
from eapo_gym.envs.osworld.inputs import Input

Kind = Literal["inputs", "open_app", "wait", "done", "fail", "answer"]
Language = Literal["indexed", "computer_13", "pyautogui"]

EXAMPLE = '{"action_type": "click", "index": 5}'


@dataclass(frozen=True, slots=True)
class Parsed:
    """One action, whichever language it was written in."""

    kind: Kind
    """"inputs" for what hands do; the others are for the environment: to open an app, to wait, to end, to answer."""

    written: str
    """In its own language, in the one way in which we write it."""

    language: Language
    movements: tuple[Movement, ...] = ()
    said: str = ""
    """The app's name, or the answer."""

    def command(self) -> str:
        """The text that is parsed as this action."""
        return self.written

    def inputs(self, elements: Sequence[Placed], size: Size) -> tuple[Input, ...]:
        """What hands do on a screen of this size with these elements; raises `ActionError` if it points at nothing."""
        return resolved(self.movements, elements, size, EXAMPLE)
