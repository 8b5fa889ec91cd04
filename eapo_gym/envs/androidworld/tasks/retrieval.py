"""What tasks that ask for something have in common: how an answer is compared, and how days and times are said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.rows import are_alike

Expected = str | float | date | time | datetime
"""A part of the right answer: a text, a number, a day, a time of day, or a moment."""

DATE_FORMAT, TIME_FORMAT = "%B %d %Y", "%H:%M"


def answered(answer: str, expected: Sequence[Expected], *, tolerance: float | None = None) -> float:
    """1 if the answer, a list with commas, has as many parts as are expected, and each of them is one of these.

    All parts that are expected are of one kind. Texts may have a slip of the pen; numbers may differ by less than the
    tolerance, if there is one.
    """
    if not answer or not expected:
        return 0.0
    try:
        parts = [_as(expected[0], part.strip()) for part in answer.split(",")]
    except ValueError:
        return 0.0
    if len(parts) != len(expected):
        return 0.0
    return float(all(any(_fits(part, each, tolerance) for each in expected) for part in parts))


def _as(example: Expected, said: str) -> Expected:
    """What was said, as a thing of the same kind; raises `ValueError` if it is none."""
    if isinstance(example, str):
        return said
    if isinstance(example, datetime):
        return datetime.strptime(said, f"{DATE_FORMAT} {TIME_FORMAT}")
    if isinstance(example, date):
        return datetime.strptime(said, DATE_FORMAT).date()
    if isinstance(example, time):
        return datetime.strptime(said, TIME_FORMAT).time()
    return float(said)


def _fits(part: Expected, expected: Expected, tolerance: float | None) -> bool:
    if isinstance(part, str):
        return are_alike(part, expected)
    if tolerance is not None and isinstance(part, (int, float)) and isinstance(expected, (int, float)):
        return abs(part - expected) < tolerance
    return part == expected


def worded(day: date, today: date, dice: TaskDice) -> str:
    """The day in one of the ways in which people say it."""
    return dice.pick(_wordings(day, today))


def _wordings(day: date, today: date) -> list[str]:
    away = (day - today).days
    name = f"{day:%A}"
    wordings = [f"{day:%B %d}", f"{day:%B %d %Y}"]
    wordings += {0: ["today"], 1: ["tomorrow"], -1: ["yesterday"]}.get(away, [])
    if 0 < away <= 7:
        wordings += [name, f"this {name}"]
    elif 7 < away <= 14:
        wordings.append(f"the {name} after next")
    elif -7 <= away < 0:
        wordings.append(name)
    return wordings


def day_meant(words: str, today: date, *, past: bool = False) -> date:
    """Which day is meant; of the days of a name the next one, or the last one where it is about the past."""
    ways = (-1, 1) if past else (1, -1)
    for away in (way * days for way in ways for days in range(15)):
        day = today + timedelta(days=away)
        if words in _wordings(day, today):
            return day
    try:
        return datetime.strptime(words, DATE_FORMAT).date()
    except ValueError:
        return datetime.strptime(f"{words} {today.year}", DATE_FORMAT).date()


def time_meant(words: str) -> time:
    """A time of day as goals say it: 15:30, 3:30pm or 3pm."""
    form = "%H:%M" if words[-1:].isdecimal() else "%I:%M%p" if ":" in words else "%I%p"
    return datetime.strptime(words, form).time()
