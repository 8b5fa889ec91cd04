"""How answers are compared, and how days and times are said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time

import pytest

from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.retrieval import Expected, answered, day_meant, time_meant, worded

SUNDAY = date(2023, 10, 15)


@pytest.mark.parametrize(
    ("answer", "expected", "judged"),
    [
        ("Pub Quiz", ["Pub Quiz"], 1),
        ("pub quiz!", ["Pub Quiz"], 1),
        ("Quiz", ["Pub Quiz"], 0),
        ("", ["Pub Quiz"], 0),
        ("   ", ["Pub Quiz"], 0),
        ("Pub Quiz", [], 0),
        ("Chess Club , Pub Quiz", ["Pub Quiz", "Chess Club"], 1),
        ("Pub Quiz", ["Pub Quiz", "Chess Club"], 0),
        ("Pub Quiz, Chess Club, Flea Market", ["Pub Quiz", "Chess Club"], 0),
        ("Pub Quiz, Flea Market", ["Pub Quiz", "Chess Club"], 0),
        ("I have Pub Quiz", ["Pub Quiz"], 0),
        ("3", [3.0], 1),
        ("3.0", [3], 1),
        ("three", [3.0], 0),
        ("nan", [3.0], 0),
        ("4", [3.0], 0),
        ("October 5 2023", [date(2023, 10, 5)], 1),
        ("October 05 2023, November 1 2023", [date(2023, 11, 1), date(2023, 10, 5)], 1),
        ("2023-10-05", [date(2023, 10, 5)], 0),
        ("7:05", [time(7, 5)], 1),
        ("7:05pm", [time(19, 5)], 0),
        ("October 5 2023 19:05", [datetime(2023, 10, 5, 19, 5)], 1),
        ("October 5 2023", [datetime(2023, 10, 5, 19, 5)], 0),
        ("October 5 2023 19:06", [datetime(2023, 10, 5, 19, 5)], 0),
    ],
)
def test_an_answer_has_all_that_is_expected_and_no_more(answer: str, expected: Sequence[Expected], judged: int) -> None:
    assert answered(answer, expected) == judged


def test_numbers_may_differ_by_less_than_the_tolerance() -> None:
    assert answered("104.9", [100.0], tolerance=5) == 1
    assert answered("105", [100.0], tolerance=5) == 0


@pytest.mark.parametrize("away", range(-14, 30))
def test_a_day_is_meant_as_it_is_worded(away: int) -> None:
    day = date.fromordinal(SUNDAY.toordinal() + away)
    said = {worded(day, SUNDAY, TaskDice(away, seed)) for seed in range(40)}
    assert {day_meant(words, SUNDAY, past=away < 0) for words in said} == {day}


def test_a_name_of_a_day_is_of_the_days_to_come() -> None:
    assert day_meant("Sunday", SUNDAY) == date(2023, 10, 22)
    assert day_meant("this Monday", SUNDAY) == date(2023, 10, 16)
    assert day_meant("the Sunday after next", SUNDAY) == date(2023, 10, 29)
    assert day_meant("Sunday", SUNDAY, past=True) == date(2023, 10, 8)
    assert day_meant("March 3", SUNDAY) == date(2023, 3, 3)


@pytest.mark.parametrize(
    ("words", "meant"),
    [("12am", time(0)), ("12pm", time(12)), ("3:15pm", time(15, 15)), ("0:10", time(0, 10)), ("23:59", time(23, 59))],
)
def test_times_as_goals_say_them(words: str, meant: time) -> None:
    assert time_meant(words) == meant
