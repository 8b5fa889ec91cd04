"""Waiting for a screen to come to rest, with computers whose pictures follow a plan."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from eapo_gym.envs.osworld import settled
from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.inputs import Move, Press, Release
from eapo_gym.envs.osworld.settled import act_and_look, look, only_a_caret, wait_until_stable
from eapo_gym.envs.osworld.tree import Node
from tests.envs.osworld.recorded import recorded_screen, recorded_server, recorded_tree

BLANK = np.zeros((60, 100, 3), np.uint8)


def picture(shade: int) -> np.ndarray:
    return np.full_like(BLANK, shade)


def with_caret() -> np.ndarray:
    drawn = BLANK.copy()
    drawn[10:30, 50:52] = 255
    return drawn


class Clock:
    """Time that passes when somebody waits, or looks."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(settled, "time", clock)
    return clock


class Planned:
    """A computer that shows what a plan says for each moment since it began; looks are slow, and trees slower."""

    def __init__(self, clock: Clock, shows: Callable[[float], np.ndarray]) -> None:
        self.clock, self.shows = clock, shows
        self.began = clock.now
        self.acted: list[object] = []
        self.trees = 0

    def screenshot(self) -> np.ndarray:
        self.clock.now += 0.005
        return self.shows(self.clock.now - self.began)

    def tree(self) -> Node:
        self.trees += 1
        self.clock.now += 0.1
        return Node("desktop-frame", name=str(self.shows(self.clock.now - self.began)[0, 0, 0]))

    def act(self, inputs) -> None:
        self.acted.append(list(inputs))


class Stamping(Planned):
    """One that knows by itself when it is quiet, as our server does."""

    has_stamps = True

    def wait_for_quiet(self, still, first, most, since):
        start = self.clock.now
        while since is not None and self._stamp() == since and self.clock.now - start < min(first, most):
            self.clock.now += 0.01
        stamp, same_since = self._stamp(), self.clock.now
        while self.clock.now - same_since < still:
            if self.clock.now - start >= most:
                return False, stamp
            self.clock.now += 0.01
            if self._stamp() != stamp:
                stamp, same_since = self._stamp(), self.clock.now
        return True, stamp

    def _stamp(self) -> int:
        return hash(self.shows(self.clock.now - self.began).tobytes())


@pytest.fixture(params=[Planned, Stamping])
def computer_showing(request, clock):
    return lambda shows: request.param(clock, shows)


def test_what_rests_is_seen_soon(computer_showing, clock):
    rest = wait_until_stable(computer_showing(lambda _: BLANK))
    assert rest.at_rest
    assert clock.now < 100.2


def test_what_changes_is_waited_for(computer_showing, clock):
    computer = computer_showing(lambda t: picture(min(int(t * 20), 10)))
    rest = wait_until_stable(computer)
    assert rest.at_rest
    assert rest.screen[0, 0, 0] == 10
    assert 100.5 < clock.now < 100.8


def test_what_never_rests_is_taken_as_it_is(computer_showing, clock):
    rest = wait_until_stable(computer_showing(lambda t: picture(int(t * 100) % 256)), most=1.0)
    assert not rest.at_rest
    assert 101.0 <= clock.now < 101.2


def test_a_caret_is_not_waited_for(computer_showing, clock):
    computer = computer_showing(lambda t: with_caret() if int(t * 2) % 2 else BLANK)
    for _ in range(5):
        assert look(computer).at_rest
    assert computer.trees == 5
    assert clock.now < 102.0


def test_an_answer_is_waited_for_that_comes_late(computer_showing, clock):
    computer = computer_showing(lambda t: picture(7 if t > 0.1 else 0))
    seen = act_and_look(computer, [Press(), Release()])
    assert seen.screen[0, 0, 0] == 7
    assert seen.tree.name == "7"


def test_that_the_pointer_moved_is_no_answer(computer_showing):
    computer = computer_showing(lambda t: picture(7 if t > 0.1 else 0))
    seen = act_and_look(computer, [Move(1, 2), Press(), Release()])
    assert computer.acted == [[Move(1, 2)], [Press(), Release()]]
    assert seen.screen[0, 0, 0] == 7


def test_picture_and_tree_are_of_one_moment(computer_showing, clock):
    """A dialog that is being built while the tree is read: the tree is read again."""
    computer = computer_showing(lambda t: picture(9 if t > 0.12 else 0))
    seen = look(computer, since=None)
    assert (seen.screen[0, 0, 0], seen.tree.name, seen.at_rest) == (9, "9", True)
    assert computer.trees == 2


def test_there_is_an_end_to_looking_again(computer_showing, clock):
    seen = look(computer_showing(lambda t: picture(int(t * 10) % 256)), most=1.0)
    assert not seen.at_rest
    assert clock.now < 101.5


def test_only_a_caret():
    assert only_a_caret(BLANK, BLANK.copy())
    assert only_a_caret(BLANK, with_caret())
    letter = BLANK.copy()
    letter[10:20, 50:58] = 255
    assert not only_a_caret(BLANK, letter)
    two = with_caret()
    two[10:30, 80] = 255
    assert not only_a_caret(BLANK, two)
    assert not only_a_caret(BLANK, np.zeros((61, 100, 3), np.uint8))
    assert not only_a_caret(recorded_screen("cells"), recorded_screen("menu"))


@pytest.mark.parametrize("with_ours", [True, False])
def test_with_a_machine(with_ours):
    with recorded_server(with_ours=with_ours) as server:
        computer = HttpComputer(server.address)
        started = time.monotonic()
        seen = act_and_look(computer, [Move(60, 31), Press(), Release()])
        assert seen.at_rest
        assert np.array_equal(seen.screen, recorded_screen("menu"))
        assert seen.tree == recorded_tree("menu")
        assert time.monotonic() - started < 60
