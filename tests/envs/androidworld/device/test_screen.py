"""Waiting until a screen has come to rest, without a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eapo_gym.envs.androidworld.device.connection import Connection
from eapo_gym.envs.androidworld.device.identity import fingerprint, settings_in
from eapo_gym.envs.androidworld.device.screen import Look, Patience, Screen, elements_of_dump
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.adb import Adb
from eapo_gym.envs.androidworld.phone.factory import new_phone


class Film(Connection):
    """A device whose screen shows one picture after the other, by its own clock."""

    name = "a film"

    def __init__(self, seconds_of_change: float, rows: slice = slice(None), channels: int = 3) -> None:
        self.time = 0.0
        self.ends = seconds_of_change
        self.rows = rows
        self.channels = channels

    def pixels(self) -> np.ndarray:
        picture = np.zeros((200, 16, self.channels), np.uint8)
        picture[self.rows, 3, 1] = int(min(self.time, self.ends) * 20) % 256
        return picture[:, :, :3]

    def forest(self) -> Any | None:
        return None

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def open(self) -> None: ...
    def restart(self) -> None: ...
    def close(self) -> None: ...


class Silent(Screen):
    dumps = 0

    def _dumped(self) -> list[Element]:
        self.dumps += 1
        return [Element(0, (0, 0, 10, 10), "Button")]


def waited(film: Film) -> float:
    screen = Silent(film, Patience())
    screen.settle()
    return film.time


def test_a_screen_that_rests_is_not_waited_for_longer_than_needed() -> None:
    assert 0.5 <= waited(Film(0.0)) <= 0.7


def test_a_screen_that_changes_is_waited_for() -> None:
    assert 1.4 <= waited(Film(1.0)) <= 1.7
    assert 1.4 <= waited(Film(1.0, channels=4)) <= 1.7  # as an emulator's pictures come


def test_a_video_does_not_hold_it_up_once_the_elements_rest() -> None:
    assert 1.4 <= waited(Film(60.0)) <= 1.7


def test_the_clock_in_the_status_bar_is_no_change() -> None:
    assert waited(Film(60.0, rows=slice(0, 5))) <= 0.7


def test_uiautomator_is_asked_only_when_the_picture_is_another_one() -> None:
    film = Film(0.0)
    screen = Silent(film)
    screen.settle()
    screen.settle()
    assert screen.dumps == 1
    film.ends = film.time + 0.3
    screen.settle()
    assert screen.dumps == 2


def test_what_uiautomator_says_is_numbered_as_the_elements_are() -> None:
    phone = new_phone()
    phone.open("com.android.settings")
    adb = Adb(phone)
    adb.run(["shell", "uiautomator", "dump", "/sdcard/window_dump.xml"])
    dumped = elements_of_dump(adb.run(["shell", "cat", "/sdcard/window_dump.xml"]).decode())
    told = Hands(phone).elements()
    assert [(each.line(), each.bounds) for each in dumped] == [(each.line(), each.bounds) for each in told]


def test_the_fingerprint_leaves_out_the_status_bar_and_clocks() -> None:
    bar = Element(0, (40, 5, 90, 50), "TextView", "com.android.systemui", "15:34")
    clock = Element(1, (0, 300, 500, 400), "TextClock", "com.google.android.deskclock", "15:34")
    tile = Element(2, (0, 600, 500, 700), "Switch", "com.android.systemui", "Internet", checkable=True)
    look = Look(np.zeros((2400, 1080, 3), np.uint8), [bar, clock, tile], "a/.B")
    settings = settings_in("wifi_on=1\nboot_count=7\n")
    mark = fingerprint(look, settings, "task")

    def marked(elements: list[Element], settings: dict[str, str] = settings, front: str = "a/.B") -> str:
        return fingerprint(replace(look, elements=elements, foreground=front), settings, "task")

    later = [replace(bar, text="15:35"), replace(clock, text="15:35"), tile]
    assert marked(later) == mark
    assert marked([clock, tile]) == mark
    assert marked([bar, clock, replace(tile, checked=True)]) != mark
    assert marked([bar, clock, tile], front="a/.C") != mark
    assert marked([bar, clock, tile], settings_in("wifi_on=0")) != mark
    assert marked([bar, clock, tile], settings_in("wifi_on=1\nboot_count=8")) == mark


def test_without_any_elements_the_picture_tells_states_apart() -> None:
    black = Look(np.zeros((20, 10, 3), np.uint8), [], "a/.B")
    white = Look(np.full((20, 10, 3), 255, np.uint8), [], "a/.B")
    assert fingerprint(black, {}) != fingerprint(white, {})
