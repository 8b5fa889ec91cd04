"""Tasks about Simple Calendar Pro: events to be added and to be deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.phone.apps.calendar.data import DAY, WEEK, moment, number
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import INTERVALS, LABELS
from eapo_gym.envs.androidworld.phone.databases import Row, Value
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, TaskDice
from eapo_gym.envs.androidworld.tasks.calendar_events import (
    LENGTHS,
    NOW,
    Events,
    drawn_description,
    drawn_title,
    event_row,
    minutes_of,
    start_of,
)
from eapo_gym.envs.androidworld.tasks.calendar_finger import delete_selected, hold, scrolled_to, set_time, to_day
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.rows import AdditionTask, DeletionTask

LAST_OF_MONTH = 31


def _october_event(dice: TaskDice, first: int, last: int = LAST_OF_MONTH) -> dict[str, Value]:
    """An event at a full hour of a day of the month in which the tasks take place."""
    start = datetime(NOW.year, NOW.month, dice.between(first, last), dice.below(24), tzinfo=timezone.utc)
    return event_row(start, dice.pick(LENGTHS), drawn_title(dice), description=drawn_description(dice))


def _noise(dice: TaskDice, count: int, fits: Callable[[Row], bool]) -> list[Row]:
    found: list[Row] = []
    while len(found) < count:
        candidate = _october_event(dice, 1)
        if fits(candidate):
            found.append(candidate)
    return found


# Adding


class _Add(Events, AdditionTask):
    complexity = 3.4
    exact = ("start_ts", "end_ts", "repeat_rule", "repeat_interval")
    alike = ("title", "location", "description")
    kept = ("repeat_rule",)

    first: ClassVar[int] = NOW.day
    last: ClassVar[int] = LAST_OF_MONTH
    """The days of the month on which the event may be."""

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        event = _october_event(dice, self.first, self.last)
        noise = _noise(dice, dice.between(0, 20), lambda row: row["title"] != event["title"])
        return {"targets": [event], "noise": noise}

    def goal(self, params: Params) -> str:
        [event] = params["targets"]
        start = start_of(event)
        return self.template.format(
            year=start.year,
            month=start.month,
            day=start.day,
            day_of_week=f"{start:%A}",
            hour=start.hour,
            event_title=event["title"],
            event_description=event["description"],
            duration_mins=minutes_of(event),
            repeat_rule=params.get("repeat_rule", ""),
        )

    def plan(self, finger: Finger, params: Params) -> Plan:
        [event] = params["targets"]
        start, end = start_of(event), moment(number(event, "end_ts"))
        yield from to_day(finger, start.date())
        yield finger.tap(any_of(LABELS["new"]))
        yield finger.tap(any_of(LABELS["event"]))
        yield finger.write(str(event["title"]), into=any_of(LABELS["title"]))
        yield finger.write(str(event["description"]), into=any_of(LABELS["description"]))
        if finger.sees("Space"):
            # The keyboard is in the way.
            yield finger.back()
        yield from set_time(finger, "Start time", start)
        if end.date() != start.date():
            yield from finger.scroll_to("End date")
            yield finger.tap("End date")
            yield finger.tap(f"{end.day} {end:%B %Y}")
            yield finger.tap("OK")
        yield from set_time(finger, "End time", end)
        if "repeat_rule" in params:
            name = any_of(LABELS["repetition"])
            yield from finger.scroll_to(name)
            yield finger.tap(name)
            yield finger.tap(any_of(INTERVALS[params["repeat_rule"]]))
        yield finger.tap(any_of(LABELS["save"]))
        yield finger.done()


class SimpleCalendarAddOneEvent(_Add):
    template = (
        "In Simple Calendar Pro, create a calendar event on {year}-{month}-{day} at {hour}h with the title "
        "'{event_title}' and the description '{event_description}'. The event should last for {duration_mins} mins."
    )
    difficulty = "hard"


class SimpleCalendarAddOneEventRelativeDay(_Add):
    template = (
        "In Simple Calendar Pro, create a calendar event for this {day_of_week} at {hour}h with the title "
        "'{event_title}' and the description '{event_description}'. The event should last for {duration_mins} mins."
    )
    difficulty = "easy"
    first, last = NOW.day + 1, NOW.day + 6


class SimpleCalendarAddOneEventTomorrow(_Add):
    template = (
        "In Simple Calendar Pro, create a calendar event for tomorrow at {hour}h with the title "
        "'{event_title}' and the description '{event_description}'. The event should last for {duration_mins} mins."
    )
    difficulty = "easy"
    first = last = NOW.day + 1


class SimpleCalendarAddOneEventInTwoWeeks(_Add):
    template = (
        "In Simple Calendar Pro, create a calendar event in two weeks from today at {hour}h with the title "
        "'{event_title}' and the description '{event_description}'. The event should last for {duration_mins} mins."
    )
    difficulty = "medium"
    first = last = NOW.day + 14


class SimpleCalendarAddRepeatingEvent(_Add):
    template = (
        "In Simple Calendar Pro, create a recurring calendar event titled '{event_title}' starting on "
        "{year}-{month}-{day} at {hour}h. The event recurs {repeat_rule}, forever, and lasts for {duration_mins} "
        "minutes each occurrence. The event description should be '{event_description}'."
    )
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        [event] = params["targets"]
        rule = dice.pick(("daily", "weekly"))
        days = 1 << start_of(event).weekday() if rule == "weekly" else 0
        repeated = {**event, "repeat_interval": WEEK if rule == "weekly" else DAY, "repeat_rule": days}
        return {**params, "targets": [repeated], "repeat_rule": rule}


# Deleting


class _Delete(Events, DeletionTask):
    noise_rows: ClassVar[int] = 20
    count: ClassVar[int]
    first: ClassVar[int] = NOW.day
    last: ClassVar[int] = LAST_OF_MONTH

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        day = dice.between(self.first, self.last)
        events = [_october_event(dice, day, day) for _ in range(self.count)]
        return {"targets": events, "noise": _noise(dice, self.noise_rows, lambda row: start_of(row).day != day)}

    def goal(self, params: Params) -> str:
        event = params["targets"][0]
        start = start_of(event)
        return self.template.format(
            year=start.year,
            month=start.month,
            day=start.day,
            day_of_week=f"{start:%A}",
            hour=start.hour,
            event_title=event["title"],
        )

    def plan(self, finger: Finger, params: Params) -> Plan:
        """All that is on the day."""
        yield from to_day(finger, start_of(params["targets"][0]).date())
        yield hold((yield from scrolled_to(finger, lambda line: True)))
        yield finger.tap(any_of(LABELS["select all"]))
        yield from delete_selected(finger)


class SimpleCalendarDeleteEvents(_Delete):
    template = "In Simple Calendar Pro, delete all the calendar events on {year}-{month}-{day}"
    complexity = 1.4
    difficulty = "easy"
    count = 3


class SimpleCalendarDeleteEventsOnRelativeDay(_Delete):
    template = "In Simple Calendar Pro, delete all events scheduled for this {day_of_week}."
    complexity = 1.2
    difficulty = "medium"
    count = 2
    first, last = NOW.day + 1, NOW.day + 6


class SimpleCalendarDeleteOneEvent(_Delete):
    template = (
        "In Simple Calendar Pro, delete the calendar event on {year}-{month}-{day} at {hour}h with the title "
        "'{event_title}'"
    )
    complexity = 1.2
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        event = _october_event(dice, NOW.day)
        noise = _noise(
            dice,
            self.noise_rows,
            lambda row: row["start_ts"] != event["start_ts"] and row["title"] != event["title"],
        )
        return {"targets": [event], "noise": noise}

    def plan(self, finger: Finger, params: Params) -> Plan:
        [event] = params["targets"]
        start = start_of(event)
        yield from to_day(finger, start.date())
        line = yield from scrolled_to(finger, lambda line: line.title == event["title"] and line.is_at(start.time()))
        yield hold(line)
        yield from delete_selected(finger)


TASKS = (
    SimpleCalendarAddOneEvent,
    SimpleCalendarAddOneEventInTwoWeeks,
    SimpleCalendarAddOneEventRelativeDay,
    SimpleCalendarAddOneEventTomorrow,
    SimpleCalendarAddRepeatingEvent,
    SimpleCalendarDeleteEvents,
    SimpleCalendarDeleteEventsOnRelativeDay,
    SimpleCalendarDeleteOneEvent,
)
