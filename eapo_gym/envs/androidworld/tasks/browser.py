"""Tasks about a page that is opened from the files: three small games."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.apps.chrome.browser import DOWNLOADS, PACKAGE, PRIVACY, WELCOME
from eapo_gym.envs.androidworld.phone.apps.chrome.games import (
    DRAW,
    MAZE,
    MULTIPLY,
    NUMBERS,
    PALETTE,
    SUCCESS,
    Game,
    page_of,
    wanted_colours,
    way_out,
)
from eapo_gym.envs.androidworld.phone.apps.chrome.games import numbers as numbers_of
from eapo_gym.envs.androidworld.phone.apps.files import PACKAGE as FILES
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.files import open_folder
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen, any_of
from eapo_gym.envs.androidworld.tasks.papers import clear_files, put

_OPENED = "Open the file task.html in Downloads in the file manager; when prompted open it with Chrome."
FILE = "task.html"


class _Browser(Task):
    """A page says that one has won."""

    complexity: ClassVar[float] = 2
    difficulty = "easy"
    apps = (PACKAGE, FILES)

    game: ClassVar[str]

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"browser_task_seed": dice.below(2**32)}

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_files(phone, SDCARD)
        phone.clear(PACKAGE)
        put(phone, DOWNLOADS, {FILE: page_of(Game(self.game, params["browser_task_seed"]))})

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        said = any(node.text == SUCCESS for node in phone.nodes())
        return float(phone.state.front.package == PACKAGE and said)


class BrowserMaze(_Browser):
    template = f"{_OPENED} Then navigate the X to the bottom-right cell, by using the direction buttons."
    game = MAZE

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_page(finger)
        for button in way_out(params["browser_task_seed"]):
            yield finger.tap(button, kind="Button")
        yield finger.done()


class BrowserMultiply(_Browser):
    template = (
        f"{_OPENED} Then click the button 5 times, remember the numbers displayed, and enter their product in the form."
    )
    complexity = 2.2
    difficulty = "hard"
    game = MULTIPLY

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_page(finger)
        for _ in range(NUMBERS):
            yield finger.tap("Click Me")
        product = math.prod(numbers_of(params["browser_task_seed"]))
        yield finger.write(str(product), into="Enter the product")
        yield finger.tap("Submit")
        yield finger.done()


class BrowserDraw(_Browser):
    template = f"{_OPENED} Then create a drawing using the three colors shown at the top and hit submit."
    game = DRAW

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_page(finger)
        directions = ("up", "left", "right")
        for colour, direction in zip(wanted_colours(params["browser_task_seed"]), directions, strict=True):
            yield _tap_colour(finger, colour)
            # From the middle of the canvas to one of its edges.
            yield finger.scroll(direction, _canvas(finger).index)
        yield finger.tap("Submit")
        yield finger.done()


def _open_page(finger: Finger) -> Plan:
    yield from open_folder(finger, "Download")
    yield from finger.scroll_to(FILE)
    yield finger.tap(FILE)
    if finger.sees("Chrome"):
        yield finger.tap("Chrome")
    yield finger.tap(any_of(WELCOME))
    yield finger.tap(any_of(PRIVACY))


def _tap_colour(finger: Finger, colour: str) -> Action:
    """The colours' buttons say nothing; they stand in the order of the palette."""
    silent = [each for each in finger.look() if each.kind == "Button" and not each.text and not each.desc]
    if len(silent) < len(PALETTE):
        raise NotOnScreen(f"Expected {len(PALETTE)} colors on the screen, got {len(silent)}.")
    return Action("click", index=silent[PALETTE.index(colour)].index)


def _canvas(finger: Finger) -> Element:
    found = [each for each in finger.look() if each.resource.endswith("/canvas")]
    if not found:
        raise NotOnScreen("Expected a canvas on the screen.")
    return found[0]


TASKS = (BrowserDraw, BrowserMaze, BrowserMultiply)
