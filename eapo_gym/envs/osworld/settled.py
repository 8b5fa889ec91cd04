"""When a screen has come to rest after an action, and a look at it in which picture and tree belong together.

Two things tell that a program is done. Its picture stays as it is for some hundredths of a second; and it has answered
what its windows show, for which it has to come to the end of what it was doing. The second takes longer and sees what
the first cannot: a program that says nothing for a second because it builds a dialog.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from eapo_gym.envs.osworld.computer import Computer
from eapo_gym.envs.osworld.inputs import Input, Move, MoveBy
from eapo_gym.envs.osworld.tree import Node

QUIET = 0.06
"""Seconds in which nothing changes. A caret that blinks does so every half a second, so it is not waited for."""

FIRST = 0.12
"""Seconds in which a program shows that it has noticed something, if there is anything to show."""

MOST = 3.0
"""Seconds after which a screen that never rests, such as a film's, is taken as it is."""

_CARET = (4, 80)
"""Width and height, in pixels, up to which a change is a caret that blinks."""

_EVERY = 0.02


@runtime_checkable
class Stamped(Protocol):
    """A computer that can tell whether its picture has changed, without showing it."""

    @property
    def has_stamps(self) -> bool: ...

    def wait_for_quiet(self, still: float, first: float, most: float, since: int | None) -> tuple[bool, int]: ...


@dataclass(frozen=True, slots=True)
class Rest:
    """The picture of a screen at rest."""

    screen: np.ndarray
    at_rest: bool
    """False for one that did not come to rest in time."""

    stamp: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What a screen shows, as picture and as tree."""

    screen: np.ndarray
    tree: Node
    at_rest: bool


def act_and_look(computer: Computer, inputs: Sequence[Input], *, most: float = MOST) -> Look:
    """Move the hands, and look when the programs have done what they do about it."""
    moves = 0
    while moves < len(inputs) and isinstance(inputs[moves], (Move, MoveBy)):
        moves += 1
    # The pointer is part of the picture: that it moved must not pass for an answer to the click.
    computer.act(inputs[:moves])
    before = _mark(computer)
    computer.act(inputs[moves:])
    return look(computer, since=before, most=most)


def look(computer: Computer, *, since: int | np.ndarray | None = None, most: float = MOST) -> Look:
    """Picture and tree of one moment; `since` is the stamp or the picture before an action."""
    deadline = time.monotonic() + most
    while True:
        rest = wait_until_stable(computer, since=since, most=max(QUIET, deadline - time.monotonic()))
        tree = computer.tree()
        screen = rest.screen if _is_still(computer, rest) else computer.screenshot()
        if screen is rest.screen or only_a_caret(screen, rest.screen):
            return Look(screen, tree, rest.at_rest)
        if time.monotonic() >= deadline:
            return Look(screen, tree, False)
        since = None


def wait_until_stable(
    computer: Computer,
    *,
    quiet: float = QUIET,
    first: float = FIRST,
    most: float = MOST,
    since: int | np.ndarray | None = None,
) -> Rest:
    """Wait until nothing but a caret has changed for `quiet` seconds, `most` seconds at most.

    With the stamp or the picture from before an action, first waits up to `first` seconds for another one.
    """
    if isinstance(computer, Stamped) and computer.has_stamps:
        before = since if isinstance(since, int) else None
        at_rest, stamp = computer.wait_for_quiet(quiet, first, most, before)
        return Rest(computer.screenshot(), at_rest, stamp)
    return _watch(computer, quiet, first, most, since if isinstance(since, np.ndarray) else None)


def only_a_caret(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two pictures are the same, up to something as small as a caret."""
    if one.shape != other.shape:
        return False
    # Rows first: where nothing has changed, which is nearly everywhere, the memory is only compared.
    rows = [y for y in range(one.shape[0]) if one[y].tobytes() != other[y].tobytes()]
    if not rows:
        return True
    top, bottom = rows[0], rows[-1] + 1
    columns = np.flatnonzero((one[top:bottom] != other[top:bottom]).any(axis=(0, 2)))
    return int(columns[-1] - columns[0]) < _CARET[0] and bottom - top <= _CARET[1]


def _watch(computer: Computer, quiet: float, first: float, most: float, before: np.ndarray | None) -> Rest:
    """By looking again and again, for machines that know nothing cheaper."""
    started = time.monotonic()
    screen = computer.screenshot()
    while before is not None and only_a_caret(screen, before) and time.monotonic() - started < min(first, most):
        time.sleep(_EVERY)
        screen = computer.screenshot()
    same_since = time.monotonic()
    while time.monotonic() - started < most:
        time.sleep(_EVERY)
        latest = computer.screenshot()
        if not only_a_caret(latest, screen):
            same_since = time.monotonic()
        elif time.monotonic() - same_since >= quiet:
            return Rest(latest, True)
        screen = latest
    return Rest(screen, False)


def _mark(computer: Computer) -> int | np.ndarray:
    if isinstance(computer, Stamped) and computer.has_stamps:
        return computer.wait_for_quiet(0.0, 0.0, 0.0, None)[1]
    return computer.screenshot()


def _is_still(computer: Computer, rest: Rest) -> bool:
    """Whether the picture is the very same as at rest, where that costs less than to look."""
    if rest.stamp is None or not isinstance(computer, Stamped):
        return False
    return computer.wait_for_quiet(0.0, 0.0, 0.0, None)[1] == rest.stamp
