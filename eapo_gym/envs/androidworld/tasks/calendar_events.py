"""Events as the tasks about the calendar draw them."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from typing import ClassVar

from eapo_gym.envs.androidworld.phone.apps.calendar.data import EMPTY_EVENT, EVENTS_DB, PACKAGE, moment, number
from eapo_gym.envs.androidworld.phone.databases import Row, Value
from eapo_gym.envs.androidworld.phone.factory import BENCHMARK_TIME
from eapo_gym.envs.androidworld.tasks.base import TaskDice

APP = "Simple Calendar Pro"
NOW = BENCHMARK_TIME
TODAY = NOW.date()
LENGTHS = (15, 30, 45, 60)
"""Minutes that an event takes."""

WITH = ("Standup with", "Interview with", "Briefing with", "Coffee break with")
PEOPLE = ("Petra", "Legal", "the Board", "Dr. Okafor", "Sales", "Henrik")
ABOUT = ("Training on", "Planning for", "Retrospective on", "Presentation of")
SUBJECTS = ("Website Relaunch", "Yearly Figures", "Hiring Round", "Office Move")
DOINGS = ("go through", "decide on", "draft", "rehearse", "compare", "sort out", "estimate", "question")
MATTERS = (
    "the open tickets",
    "our travel costs",
    "next quarter's goals",
    "the supplier's offers",
    "last month's numbers",
    "the new seating plan",
    "all security findings",
)
REQUESTS = (
    "Have your laptop ready.",
    "Tell us early if you cannot come.",
    "The room is booked for longer.",
    "There will be cake.",
    "Questions are welcome beforehand.",
)


def drawn_title(dice: TaskDice) -> str:
    if dice.chance(0.5):
        return f"{dice.pick(WITH)} {dice.pick(PEOPLE)}"
    return f"{dice.pick(ABOUT)} {dice.pick(SUBJECTS)}"


def drawn_description(dice: TaskDice) -> str:
    said = f"We will {dice.pick(DOINGS)} {dice.pick(MATTERS)}."
    return f"{said} {dice.pick(REQUESTS)}" if dice.chance(0.5) else said


def event_row(
    start: datetime, minutes: int, title: str, *, location: str = "", description: str = ""
) -> dict[str, Value]:
    """A row as the benchmark writes it."""
    begin = int(start.timestamp())
    told: dict[str, Value] = {"title": title, "location": location, "description": description}
    return {**EMPTY_EVENT, "start_ts": begin, "end_ts": begin + 60 * minutes, **told, "source": "imported-ics"}


def moment_at(day: date, hour: time) -> datetime:
    return datetime.combine(day, hour, timezone.utc)


def start_of(row: Row) -> datetime:
    return moment(number(row, "start_ts"))


def minutes_of(row: Row) -> int:
    return (number(row, "end_ts") - number(row, "start_ts")) // 60


class Events:
    """Where all tasks here find their rows."""

    apps: ClassVar[tuple[str, ...]] = (PACKAGE,)
    database, table, key = EVENTS_DB, "events", "id"
