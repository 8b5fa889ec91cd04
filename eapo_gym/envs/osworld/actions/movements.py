"""What actions are made of: inputs, and the two places that are known only when the action is carried out."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from eapo_gym.envs.osworld.inputs import (
    Button,
    Input,
    KeyDown,
    KeyUp,
    Move,
    MoveBy,
    Pause,
    Press,
    Release,
    Write,
)
from eapo_gym.errors import ActionError

Box = tuple[int, int, int, int]
Size = tuple[int, int]

DRAG_SECONDS = 0.5
"""How long a drag takes that does not say it: programs do not notice one that takes no time."""

MOST_MOVEMENTS = 2_000
MOST_SECONDS = 60.0
"""Of one action: the benchmark's machines give up after 90 seconds."""

MOST_TYPED = 10_000
"""Characters that one action types."""


@dataclass(frozen=True, slots=True)
class ToElement:
    """The pointer goes to the middle of what is seen of an element."""

    index: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ToMiddle:
    """The pointer goes to the middle of the screen."""


Movement: TypeAlias = Input | ToElement | ToMiddle
To: TypeAlias = Move | ToElement


class Placed(Protocol):
    """An element, as far as actions know of it."""

    @property
    def bounds(self) -> Box:
        """Left, top, right, bottom."""


# Movements of what hands do


def clicks(to: To | None, button: Button = "left", times: int = 1, interval: float = 0.0) -> tuple[Movement, ...]:
    """Clicks there, or where the pointer is."""
    movements: list[Movement] = [] if to is None else [to]
    for number in range(times):
        if number and interval:
            movements.append(Pause(interval))
        movements += [Press(button), Release(button)]
    return tuple(movements)


def held(keys: Sequence[str], interval: float = 0.0) -> tuple[Movement, ...]:
    """Keys go down one after the other, and come up the other way round."""
    moves: list[Movement] = [*(KeyDown(key) for key in keys), *(KeyUp(key) for key in reversed(keys))]
    if not interval:
        return tuple(moves)
    return tuple(movement for move in moves for movement in (move, Pause(interval)))[:-1]


def drag(to: To | MoveBy, button: Button = "left") -> tuple[Movement, ...]:
    """A drag from where the pointer is."""
    return (Press(button), to if to.seconds else replace(to, seconds=DRAG_SECONDS), Release(button))


def typed(text: str, example: str) -> tuple[Movement, ...]:
    """A text is typed; raises `ActionError` for what no keyboard writes."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for char in text:
        if char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cs"):
            raise ActionError(
                f"The text holds {char!a}, which no key writes: press keys by their names, as in {example}.",
                example,
            )
    return (Write(text),) if text else ()


# Bounds


def checked(movements: Iterable[Movement], size: Size | None, example: str) -> tuple[Movement, ...]:
    """The movements, if they are on the screen (where its size is known) and do not take too long."""
    movements = tuple(movements)
    if len(movements) > MOST_MOVEMENTS:
        raise ActionError(f"An action of {len(movements)} movements: expected at most {MOST_MOVEMENTS}.", example)
    characters = sum(len(each.text) for each in movements if isinstance(each, Write))
    if characters > MOST_TYPED:
        raise ActionError(
            f"An action that types {characters} characters: expected at most {MOST_TYPED}, so write it in several.",
            example,
        )
    seconds = math.fsum(each.seconds for each in movements if isinstance(each, (Move, MoveBy, Pause, ToElement)))
    if seconds > MOST_SECONDS:
        raise ActionError(f"An action of {seconds:g} seconds: expected at most {MOST_SECONDS:g}.", example)
    for movement in movements:
        if size is not None and isinstance(movement, Move) and not (movement.x < size[0] and movement.y < size[1]):
            raise ActionError(
                f"({movement.x}, {movement.y}) is off the screen: x goes up to {size[0] - 1}, y up to {size[1] - 1}.",
                example,
            )
    return movements


def resolved(movements: Iterable[Movement], elements: Sequence[Placed], size: Size, example: str) -> tuple[Input, ...]:
    """The inputs that the movements are on a screen with these elements."""
    return tuple(_resolved(movement, elements, size, example) for movement in checked(movements, size, example))


def _resolved(movement: Movement, elements: Sequence[Placed], size: Size, example: str) -> Input:
    if isinstance(movement, ToMiddle):
        return Move(size[0] // 2, size[1] // 2)
    if not isinstance(movement, ToElement):
        return movement
    if movement.index >= len(elements):
        has = f"has the elements 0 to {len(elements) - 1}" if elements else "has no elements"
        raise ActionError(f"There is no element {movement.index}: the screen {has}.", example)
    left, top, right, bottom = elements[movement.index].bounds
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
    if left >= right or top >= bottom:
        raise ActionError(f"Element {movement.index} is off the screen: scroll until it can be seen.", example)
    return Move((left + right) // 2, (top + bottom) // 2, movement.seconds)
