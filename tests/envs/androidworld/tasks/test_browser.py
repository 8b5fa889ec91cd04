"""The judges of the tasks about a page: whatever way it was opened, it has to say that one has won."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.phone.apps.chrome.browser import DOWNLOADS, PRIVACY, WELCOME
from eapo_gym.envs.androidworld.phone.apps.chrome.games import way_out
from eapo_gym.envs.androidworld.tasks.base import Task
from eapo_gym.envs.androidworld.tasks.browser import BrowserDraw, BrowserMaze, BrowserMultiply
from tests.envs.androidworld.somebody import Somebody

PARAMS = {"browser_task_seed": 5}


def ready(task: Task) -> Somebody:
    somebody = Somebody()
    task.prepare(somebody.phone, PARAMS)
    somebody.does(somebody.finger.open("Chrome"))
    somebody.taps(WELCOME[0], PRIVACY[0])
    somebody.writes(f"file://{DOWNLOADS}/task.html", "Search or type web address")
    return somebody


@pytest.mark.parametrize("task", [BrowserDraw(), BrowserMaze(), BrowserMultiply()], ids=lambda task: task.name())
def test_an_opened_page_is_not_a_won_game(task: Task) -> None:
    assert task.judge(ready(task).phone, PARAMS, "") == 0


def test_the_maze_is_won_in_its_last_cell_and_only_while_it_is_seen() -> None:
    task = BrowserMaze()
    somebody = ready(task)
    *steps, last = way_out(5)
    somebody.taps(*steps)
    assert task.judge(somebody.phone, PARAMS, "") == 0
    somebody.taps(last)
    assert task.judge(somebody.phone, PARAMS, "") == 1
    somebody.does(somebody.finger.open("Settings"))
    assert task.judge(somebody.phone, PARAMS, "") == 0


def test_the_same_word_in_another_app_is_no_success() -> None:
    task = BrowserMaze()
    somebody = ready(task)
    somebody.does(somebody.finger.open("Audio Recorder"))
    somebody.taps("Record", "Stop recording")
    somebody.writes("Success!", clear=True)
    assert somebody.sees("Success!")
    assert task.judge(somebody.phone, PARAMS, "") == 0


def test_before_a_task_there_is_only_its_page() -> None:
    somebody = Somebody()
    somebody.has_file("/sdcard/Documents/old.txt", "x")
    somebody.has_file(f"{DOWNLOADS}/task.html", "old")
    BrowserMaze().prepare(somebody.phone, PARAMS)
    files = somebody.phone.state.files
    assert files.names(DOWNLOADS) == ["task.html"]
    assert "SeededRNG(5)" in files.text(f"{DOWNLOADS}/task.html")
    assert "old.txt" not in files.names("/sdcard/Documents")
