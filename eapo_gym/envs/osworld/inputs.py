"""What hands do on a desktop: the smallest movements, of which every action is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Button = Literal["left", "middle", "right"]
BUTTONS: tuple[Button, ...] = ("left", "middle", "right")


@dataclass(frozen=True, slots=True)
class Move:
    """The pointer goes there; with seconds, over so many places between, as a drag needs it."""

    x: int
    y: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class MoveBy:
    """The pointer goes so far from where it is; the edges of the screen stop it."""

    dx: int
    dy: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Press:
    """A mouse button goes down."""

    button: Button = "left"


@dataclass(frozen=True, slots=True)
class Release:
    """A mouse button comes up."""

    button: Button = "left"


@dataclass(frozen=True, slots=True)
class Wheel:
    """Clicks of the wheel: up and to the right are positive, as pyautogui counts them."""

    dx: int = 0
    dy: int = 0


@dataclass(frozen=True, slots=True)
class KeyDown:
    """A key, by pyautogui's name for it, goes down."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyUp:
    """A key comes up."""

    key: str


@dataclass(frozen=True, slots=True)
class Write:
    """A text is typed, whatever characters it has; a new line is the Enter key."""

    text: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is done for a while."""

    seconds: float


Input: TypeAlias = Move | MoveBy | Press | Release | Wheel | KeyDown | KeyUp | Write | Pause
