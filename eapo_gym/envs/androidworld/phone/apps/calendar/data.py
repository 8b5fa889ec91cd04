"""The calendar's database, and when its events take place."""

from __future__ import annotations

import json
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from itertools import count

from eapo_gym.envs.androidworld.phone.app import Scene, Turn
from eapo_gym.envs.androidworld.phone.databases import Database, Row, Value
from eapo_gym.envs.androidworld.phone.preferences import preference

PACKAGE = "com.simplemobiletools.calendar.pro"
EVENTS_DB = f"/data/data/{PACKAGE}/databases/events.db"

DAY, WEEK, MONTH, YEAR = 86_400, 604_800, 2_592_001, 31_536_000
"""Intervals of repetition. Months and years differ in length: for these the numbers only stand for them."""

SAME_DAY, SAME_WEEKDAY, LAST_DAY, LAST_WEEKDAY = 1, 2, 3, 4
"""Rules of what is repeated every month: on the 15th, on the third Sunday, on the last day, on the last Sunday."""

ALL_DAY, COMPLETED = 1, 8
"""Flags of an event and of a task."""

EVENT, TASK = 0, 1
REGULAR = 1
"""The type of event that is always there."""

BLUE = -15108398
OFF = -1
"""No reminder."""

_NUMBERS = (
    "reminder_1_minutes", "reminder_2_minutes", "reminder_3_minutes",
    "reminder_1_type", "reminder_2_type", "reminder_3_type",
    "repeat_interval", "repeat_rule", "repeat_limit",
)  # fmt: skip
SCHEMA = (
    "CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, "
    "title TEXT NOT NULL, location TEXT NOT NULL, description TEXT NOT NULL, "
    + "".join(f"{name} INTEGER NOT NULL, " for name in _NUMBERS)
    + "repetition_exceptions TEXT NOT NULL, attendees TEXT NOT NULL, import_id TEXT NOT NULL, "
    "time_zone TEXT NOT NULL, flags INTEGER NOT NULL, event_type INTEGER NOT NULL, parent_id INTEGER NOT NULL, "
    "last_updated INTEGER NOT NULL, source TEXT NOT NULL, availability INTEGER NOT NULL, color INTEGER NOT NULL, "
    "type INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX index_events_id ON events (id)",
    "CREATE TABLE event_types (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, color INTEGER NOT NULL, "
    "caldav_calendar_id INTEGER NOT NULL, caldav_display_name TEXT NOT NULL, caldav_email TEXT NOT NULL, "
    "type INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX index_event_types_id ON event_types (id)",
    "CREATE TABLE tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, task_id INTEGER NOT NULL, start_ts INTEGER NOT NULL, "
    "flags INTEGER NOT NULL)",
)
FIRST_TYPE: dict[str, Value] = {
    "title": "Regular event", "color": BLUE, "caldav_calendar_id": 0, "caldav_display_name": "", "caldav_email": "",
    "type": 0,
}  # fmt: skip
EMPTY_EVENT: dict[str, Value] = {
    "start_ts": 0, "end_ts": 0, "title": "", "location": "", "description": "",
    "reminder_1_minutes": OFF, "reminder_2_minutes": OFF, "reminder_3_minutes": OFF,
    "reminder_1_type": 0, "reminder_2_type": 0, "reminder_3_type": 0,
    "repeat_interval": 0, "repeat_rule": 0, "repeat_limit": 0, "repetition_exceptions": "[]", "attendees": "",
    "import_id": "", "time_zone": "UTC", "flags": 0, "event_type": REGULAR, "parent_id": 0, "last_updated": 0,
    "source": "simple-calendar", "availability": 0, "color": 0, "type": EVENT,
}  # fmt: skip


def new_database() -> Database:
    database, _ = Database.make(*SCHEMA, version=10).insert("event_types", **FIRST_TYPE)
    return database


@dataclass(frozen=True)
class Occurrence:
    """An event at one of the times at which it takes place."""

    row: Row
    start: int
    end: int

    @property
    def id(self) -> int:
        return number(self.row, "id")

    @property
    def title(self) -> str:
        return str(self.row["title"])

    @property
    def is_task(self) -> bool:
        return self.row["type"] == TASK

    @property
    def all_day(self) -> bool:
        return bool(number(self.row, "flags") & ALL_DAY)

    @property
    def key(self) -> tuple[int, int]:
        return self.id, self.start


def number(row: Row, name: str) -> int:
    """A column that holds whole numbers; whatever else somebody put there counts as none."""
    value = row.get(name)
    return value if isinstance(value, int) else 0


def moment(seconds: int) -> datetime:
    """A time of the database, which the phone shows in UTC; times beyond all calendars are moved to their ends."""
    return datetime.fromtimestamp(min(max(seconds, _FIRST_MOMENT), _LAST_MOMENT), timezone.utc)


_FIRST_MOMENT = int(datetime(2, 1, 1, tzinfo=timezone.utc).timestamp())
_LAST_MOMENT = int(datetime(9998, 12, 31, tzinfo=timezone.utc).timestamp())


def midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp())


def day_of(seconds: int) -> date:
    return moment(seconds).date()


def on_day(at: Scene, day: date) -> list[Occurrence]:
    return between(at, midnight(day), midnight(day) + DAY)


def between(at: Scene, low: int, high: int) -> list[Occurrence]:
    """What takes place in that time, as far as its type is to be shown, in the order of the day."""
    hidden = hidden_types(at)
    rows = [row for row in at.rows(EVENTS_DB, "events") if number(row, "event_type") not in hidden]
    return sorted(occurrences(rows, low, high), key=lambda each: (each.start, not each.all_day, each.end, each.id))


def hidden_types(at: Scene) -> frozenset[int]:
    return frozenset(int(each) for each in preference(at, PACKAGE, "hidden_types").split(",") if each)


def occurrences(rows: Iterable[Row], low: int, high: int) -> Iterator[Occurrence]:
    """All that takes place between two moments; what ends when the time begins does not."""
    for row in rows:
        start, length = number(row, "start_ts"), number(row, "end_ts") - number(row, "start_ts")
        if number(row, "repeat_interval") < DAY:
            # Nothing can be repeated more often than daily.
            if start < high and max(start + length, start + 1) > low:
                yield Occurrence(row, start, start + length)
            continue
        without = exceptions(row)
        for each in _starts(row, low - min(max(length, 0), YEAR)):
            if each >= high:
                break
            if max(each + length, each + 1) > low and f"{moment(each):%Y%m%d}" not in without:
                yield Occurrence(row, each, each + length)


def exceptions(row: Row) -> tuple[str, ...]:
    """The days on which a repeated event does not take place, such as "20231015"."""
    try:
        found = json.loads(str(row["repetition_exceptions"] or "[]"))
    except ValueError:
        return ()
    return tuple(str(each) for each in found) if isinstance(found, list) else ()


def _starts(row: Row, low: int) -> Iterator[int]:
    """When a repeated event begins, one time after the other. What lies before `low` may be left out."""
    limit = number(row, "repeat_limit")
    # Who repeats it so many times has to be counted with from the first time on.
    starts = _unlimited_starts(row, low if limit >= 0 else number(row, "start_ts"))
    for place, start in enumerate(starts):
        if (limit > 0 and start > limit) or (limit < 0 and place >= -limit):
            return
        yield start


def _unlimited_starts(row: Row, low: int) -> Iterator[int]:
    first, interval, rule = number(row, "start_ts"), number(row, "repeat_interval"), number(row, "repeat_rule")
    if interval % YEAR == 0:
        yield from _monthly(first, 12 * (interval // YEAR), rule, low)
    elif interval % MONTH == 0:
        yield from _monthly(first, interval // MONTH, rule, low)
    elif interval % WEEK == 0:
        yield from _weekly(first, interval, rule or 1 << moment(first).weekday(), low)
    else:
        skipped = max((low - first) // interval, 0) if interval > 0 else 0
        for turn in count(skipped):
            yield first + turn * max(interval, 1)


def _weekly(first: int, interval: int, days: int, low: int) -> Iterator[int]:
    """On those days of the week, of which Monday is the first bit."""
    monday = first - moment(first).weekday() * DAY
    for turn in count(max((low - monday) // interval - 1, 0)):
        for day in range(7):
            start = monday + turn * interval + day * DAY
            if days & 1 << day and start >= first:
                yield start


def _monthly(first: int, months: int, rule: int, low: int) -> Iterator[int]:
    begin = moment(first)
    passed = (moment(low).year - begin.year) * 12 + moment(low).month - begin.month
    for turn in count(max(passed // months - 1, 0)):
        year, month = divmod(begin.year * 12 + begin.month - 1 + turn * months, 12)
        if year > 9_990:
            return
        day = _day_in_month(begin.date(), year, month + 1, rule)
        if day is not None:
            yield int(begin.replace(year=year, month=month + 1, day=day).timestamp())


def _day_in_month(first: date, year: int, month: int, rule: int) -> int | None:
    """On which day of that month; None if it has no such day."""
    weekday, days = monthrange(year, month)
    if rule == LAST_DAY:
        return days
    if rule in (SAME_WEEKDAY, LAST_WEEKDAY):
        earliest = 1 + (first.weekday() - weekday) % 7
        every = range(earliest, days + 1, 7)
        place = -1 if rule == LAST_WEEKDAY else (first.day - 1) // 7
        return every[place] if place < len(every) else None
    return first.day if first.day <= days else None


# What is changed


def delete_events(turn: Turn, ids: Iterable[int]) -> None:
    """Delete events with all their occurrences, those among them that were changed apart too."""
    gone = frozenset(ids)
    turn.delete(EVENTS_DB, "events", lambda row: row["id"] in gone or row["parent_id"] in gone)


def skip_occurrence(turn: Turn, id: int, start: int) -> None:
    """The event does not take place at that time alone."""
    row = turn.database(EVENTS_DB).row("events", id)
    if row is not None:
        without = json.dumps([*exceptions(row), f"{moment(start):%Y%m%d}"])
        turn.update(EVENTS_DB, "events", lambda each: each["id"] == id, repetition_exceptions=without)


def end_before(turn: Turn, id: int, start: int) -> None:
    """The event is not repeated from that time on."""
    row = turn.database(EVENTS_DB).row("events", id)
    if row is None:
        return
    if start <= number(row, "start_ts"):
        delete_events(turn, [id])
    else:
        turn.update(EVENTS_DB, "events", lambda each: each["id"] == id, repeat_limit=start - 1)


def is_completed(at: Scene, task: Occurrence) -> bool:
    return any(
        row["task_id"] == task.id and row["start_ts"] == task.start and number(row, "flags") & COMPLETED
        for row in at.rows(EVENTS_DB, "tasks")
    )


def complete(turn: Turn, id: int, start: int, *, done: bool) -> None:
    """Tick a task off, or take that back."""
    turn.delete(EVENTS_DB, "tasks", lambda row: row["task_id"] == id and row["start_ts"] == start)
    if done:
        turn.insert(EVENTS_DB, "tasks", task_id=id, start_ts=start, flags=COMPLETED)


# How it is shown


def colour_of(at: Scene, row: Row) -> str:
    """The event's own colour, else that of its type."""
    own = number(row, "color")
    if not own:
        kind = at.database(EVENTS_DB).row("event_types", row["event_type"])
        own = number(kind, "color") if kind is not None else BLUE
    return css(own)


def css(color: int) -> str:
    """A colour as Android counts it, such as -15108398."""
    return f"#{color & 0xFFFFFF:06x}"


def clock(at: Scene, seconds: int) -> str:
    """The time of day, in the format that the phone is set to."""
    when = moment(seconds)
    if at.setting("system", "time_12_24", "24") == "12":
        return f"{(when.hour - 1) % 12 + 1}:{when:%M} {when:%p}"
    return f"{when:%H:%M}"


def long_day(day: date) -> str:
    return f"{day:%B} {day.day} ({day:%a})"


def full_day(at: Scene, day: date) -> str:
    """With the year, where it is not this one."""
    return long_day(day) if day.year == at.now.year else f"{day:%B} {day.day} {day.year} ({day:%a})"


def spoken_time(at: Scene, each: Occurrence, day: date | None = None) -> str:
    """From when to when, with the days where they are others than the one that is shown."""
    first, last = day_of(each.start), day_of(each.end)
    if each.all_day:
        return "All day" if first == last else f"All day, {long_day(first)} - {long_day(last)}"
    start, end = clock(at, each.start), clock(at, each.end)
    if day is not None and first != day:
        start += f" ({first:%b} {first.day})"
    if last not in (first, day):
        end += f" ({last:%b} {last.day})"
    return start if each.is_task or each.start == each.end else f"{start} - {end}"


def week_start(at: Scene, day: date) -> date:
    """The first day of the week of a day."""
    sunday_first = preference(at, PACKAGE, "week_starts", "Sunday") == "Sunday"
    return day - timedelta(days=(day.weekday() + 1) % 7 if sunday_first else day.weekday())
