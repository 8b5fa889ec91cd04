"""A day, a week, a month and a year of the calendar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache

from eapo_gym.envs.androidworld.phone.app import Scene
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    DAY,
    EVENT,
    PACKAGE,
    Occurrence,
    between,
    clock,
    colour_of,
    day_of,
    full_day,
    long_day,
    midnight,
    spoken_time,
    week_start,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.lists import day_lines, shown_day, upcoming_list
from eapo_gym.envs.androidworld.phone.preferences import preference
from eapo_gym.envs.androidworld.phone.ui.view import Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import TEXT, column, icon_button, listing, row, space, text

WEEKDAYS = tuple("MTWTFSS")
HOUR_HEIGHT = 52
MOST_STRIPS = 4
"""So many events at most a day of the month shows."""

Strip = tuple[str, str]
"""The title of an event, and its colour."""


def body(at: Scene, view: str) -> list[View]:
    """What is shown below the bar."""
    return _BODIES[view](at)


def stepped(view: str, day: date, way: int) -> date:
    """A day of the next or of the last of what is shown."""
    try:
        if view in ("day", "week"):
            return day + timedelta(days=way * (7 if view == "week" else 1))
        if view == "year":
            return day.replace(year=day.year + way, day=1)
        months = day.year * 12 + day.month - 1 + way
        return date(months // 12, months % 12 + 1, 1)
    except (ValueError, OverflowError):
        # Beyond the first or the last day of all calendars.
        return day


def _heading(title: str) -> View:
    """What is shown, and the ways to what comes before and after; a touch asks where to go."""
    name = text(title, size=20, along="center", across="center", grow=1, tap=("over", "goto"), id="top_value", lines=1)
    return row(
        icon_button("chevron_left", "Previous", ("step", -1), id="top_left_arrow"),
        name,
        icon_button("chevron", "Next", ("step", 1), id="top_right_arrow"),
        pad=(4, 0, 4, 0),
        height=52,
    )


def _day(at: Scene) -> list[View]:
    day = shown_day(at)
    return [_heading(full_day(at, day)), listing([*day_lines(at, day), space(height=88)], name=f"day {day}")]


# Months


def _month(at: Scene) -> list[View]:
    weeks = _weeks(week_start(at, shown_day(at).replace(day=1)))
    found = _by_day(at, [day for week in weeks for day in week])

    def cell(day: date) -> View:
        strips = tuple((each.title, colour_of(at, each.row)) for each in found[day])
        return _cell(day, strips, *_mark(at, day))

    rows = [row(*map(cell, week), grow=1) for week in weeks]
    return [_heading(_month_title(at)), _weekdays(week_start(at, at.now.date()).weekday()), *rows]


def _month_day(at: Scene) -> list[View]:
    """The month with dots for its events, and below it the events of one day."""
    chosen = shown_day(at)
    weeks = _weeks(week_start(at, chosen.replace(day=1)))
    found = _by_day(at, [day for week in weeks for day in week])

    def cell(day: date) -> View:
        colours = tuple(colour_of(at, each.row) for each in found[day])
        return _dotted_cell(day, colours, *_mark(at, day), chosen=day == chosen)

    rows = [row(*map(cell, week), height=42) for week in weeks]
    name = text(long_day(chosen), bold=True, size=15, pad=(16, 10, 16, 4), id="month_day_selected_day_label")
    return [
        _heading(_month_title(at)),
        _weekdays(week_start(at, at.now.date()).weekday()),
        *rows,
        name,
        listing([*day_lines(at, chosen), space(height=88)], name=f"day {chosen}"),
    ]


def _month_title(at: Scene) -> str:
    day = shown_day(at)
    return f"{day:%B}" if day.year == at.now.year else f"{day:%B} {day.year}"


@lru_cache(maxsize=7)
def _weekdays(first: int) -> View:
    names = [text(WEEKDAYS[(first + place) % 7], size=13, color="faint", along="center", grow=1) for place in range(7)]
    return row(*(replace(each, told=False) for each in names), height=24)


@lru_cache(maxsize=512)
def _weeks(first: date) -> list[list[date]]:
    """Six weeks, which hold every month."""
    return [[first + timedelta(days=7 * week + day) for day in range(7)] for week in range(6)]


def _by_day(at: Scene, days: Sequence[date]) -> Mapping[date, list[Occurrence]]:
    """What takes place on each of these days."""
    found: dict[date, list[Occurrence]] = {day: [] for day in days}
    for each in between(at, midnight(days[0]), midnight(days[-1]) + DAY):
        first, last = day_of(each.start), day_of(max(each.end - 1, each.start))
        day = max(first, days[0])
        while day <= min(last, days[-1]):
            found[day].append(each)
            day += timedelta(days=1)
    return found


def _mark(at: Scene, day: date) -> tuple[str, bool]:
    """The colour of a day's number, and whether it is today."""
    if day == at.now.date():
        return "on_primary", True
    if preference(at, PACKAGE, "highlight_weekends", "0") == "1" and day.weekday() >= 5:
        return "danger", False
    return "text" if day.month == shown_day(at).month else "line", False


@lru_cache(maxsize=4_096)
def _cell(day: date, strips: tuple[Strip, ...], color: str, today: bool) -> View:
    """A day of the month with as many of its events as fit."""
    parts = [_day_number(day, color, today)]
    shown = strips if len(strips) <= MOST_STRIPS else strips[: MOST_STRIPS - 1]
    for title, fill in shown:
        look = Look(fill=fill, round=3, color="#ffffff", size=10, lines=1)
        parts.append(View(kind=TEXT, text=title, told=False, height=17, pad=(3, 0, 2, 0), look=look))
    if len(strips) > len(shown):
        more = Look(color="faint", size=11, lines=1)
        parts.append(View(text=f"+{len(strips) - len(shown)}", told=False, along="center", look=more))
    return _day_view(day, len(strips), parts)


@lru_cache(maxsize=4_096)
def _dotted_cell(day: date, colours: tuple[str, ...], color: str, today: bool, *, chosen: bool) -> View:
    dots = [View(width=6, height=6, look=Look(fill=each, round=3)) for each in colours[:MOST_STRIPS]]
    line = row(*dots, gap=2, along="center", height=8)
    return _day_view(day, len(colours), [_day_number(day, color, today), line], chosen=chosen)


def _day_view(day: date, events: int, parts: Sequence[View], *, chosen: bool = False) -> View:
    told = f"{day.day} {day:%B}" + (f", {events} event{'s' if events > 1 else ''}" if events else "")
    return View(
        desc=told, tap=("day", day.isoformat()), hold=("new", EVENT, day.isoformat()), grow=1, gap=2, pad=(1, 2, 1, 0),
        selected=chosen, children=tuple(parts), look=Look(fill="card" if chosen else "", round=8),
    )  # fmt: skip


def _day_number(day: date, color: str, today: bool) -> View:
    look = Look(fill="primary" if today else "", round=12, size=14, color=color, lines=1)
    return View(
        kind=TEXT, text=str(day.day), told=False, width=26, height=24, across="center", along="center", look=look
    )


# Weeks


def _week(at: Scene) -> list[View]:
    first = week_start(at, shown_day(at))
    days = [first + timedelta(days=place) for place in range(7)]
    last = days[-1]
    until = f"{last.day}" if last.month == first.month else f"{last:%b} {last.day}"
    year = "" if first.year == at.now.year else f" {first.year}"
    found = _by_day(at, days)
    parts = [_heading(f"{first:%b} {first.day} - {until}{year}")]
    parts.append(row(space(width=40), *(_weekday(at, day) for day in days), height=48))
    whole = [[each for each in found[day] if each.all_day] for day in days]
    if any(whole):
        lines = [column(*(_block(at, each, 20) for each in events[:3]), gap=1, grow=1) for events in whole]
        parts.append(row(space(width=40), *lines, gap=1, pad=(0, 0, 4, 4)))
    columns = [_day_column(at, day, [each for each in found[day] if not each.all_day]) for day in days]
    hours = _hours(tuple(clock(at, hour * 3600) for hour in range(24)))
    grid = View(flow="stack", height=24 * HOUR_HEIGHT, children=(hours, row(*columns, pad=(40, 0, 4, 0))))
    return [*parts, listing([grid, space(height=88)], name="week")]


def _weekday(at: Scene, day: date) -> View:
    color = "primary" if day == at.now.date() else "text"
    words = [
        replace(text(f"{day:%a}", size=12, along="center", color=color), told=False),
        replace(text(str(day.day), size=16, along="center", color=color, bold=color == "primary"), told=False),
    ]
    return column(*words, grow=1, tap=("day", day.isoformat()), desc=f"{day:%A}, {day.day} {day:%B}", along="center")


@lru_cache(maxsize=2)
def _hours(names: tuple[str, ...]) -> View:
    """The hours of the day, each with a line above it."""

    def hour(name: str) -> View:
        look = Look(size=11, color="faint", lines=1)
        words = View(kind=TEXT, text=name, told=False, width=40, height=16, across="start", pad=(4, 0, 0, 0), look=look)
        return row(words, View(height=1, grow=1, across="start", look=Look(fill="line")), height=HOUR_HEIGHT)

    return column(*map(hour, names))


def _day_column(at: Scene, day: date, events: Sequence[Occurrence]) -> View:
    """A day as a column of the week: events that meet stand beside each other."""
    blocks = []
    for each, lane, lanes in _lanes(events):
        top, bottom = max(each.start - midnight(day), 0), min(each.end - midnight(day), DAY)
        block = _block(at, each, max(round((bottom - top) / 3600 * HOUR_HEIGHT), 18))
        beside = [space(grow=1) for _ in range(lanes - 1)]
        line = row(*beside[:lane], replace(block, grow=1), *beside[lane:], gap=1)
        blocks.append(column(line, pad=(1, round(top / 3600 * HOUR_HEIGHT), 1, 0)))
    return View(flow="stack", grow=1, children=tuple(blocks))


def _block(at: Scene, each: Occurrence, height: int) -> View:
    look = Look(fill=colour_of(at, each.row), round=4, color="#ffffff", size=10, lines=max(height // 15, 1))
    return View(
        kind=TEXT, text=each.title, desc=f"{each.title}, {spoken_time(at, each)}", height=height, pad=(2, 0, 1, 0),
        tap=("event", each.id, each.start), hold=("select", each.id, each.start), look=look,
    )  # fmt: skip


def _lanes(events: Sequence[Occurrence]) -> list[tuple[Occurrence, int, int]]:
    """Every event with its lane, and how many lanes those take that meet each other."""
    placed: list[tuple[Occurrence, int, int]] = []
    group: list[tuple[Occurrence, int]] = []
    ends: list[int] = []

    def close() -> None:
        placed.extend((each, lane, len(ends)) for each, lane in group)
        group.clear()
        ends.clear()

    for each in events:
        if ends and each.start >= max(ends):
            close()
        lane = next((place for place, end in enumerate(ends) if end <= each.start), len(ends))
        # A block is never lower than its title, however short its event is.
        ends[lane : lane + 1] = [max(each.end, each.start + 1200)]
        group.append((each, lane))
    close()
    return placed


# Years


def _year(at: Scene) -> list[View]:
    year, today = shown_day(at).year, at.now.date()
    months = [date(year, month, 1) for month in range(1, 13)]
    busy = {day_of(each.start) for each in between(at, midnight(months[0]), midnight(date(year, 12, 31)) + DAY)}

    def small(month: date) -> View:
        days = frozenset(day.day for day in busy if day.month == month.month and day.year == year)
        is_now = (today.year, today.month) == (month.year, month.month)
        return _small_month(month, week_start(at, month), days, today.day if is_now else 0)

    rows = [row(*map(small, months[at : at + 3]), grow=1, gap=8, pad=(8, 0, 8, 4)) for at in range(0, 12, 3)]
    return [_heading(str(year)), *rows]


@lru_cache(maxsize=256)
def _small_month(month: date, first: date, busy: frozenset[int], today: int) -> View:
    title = replace(text(f"{month:%B}", size=13, bold=True, along="center"), told=False)
    lines = []
    for week in _weeks(first):
        days = [_small_day(day.day, day.day in busy, day.day == today) if day.month == month.month else space(grow=1)
                for day in week]  # fmt: skip
        lines.append(row(*days, grow=1))
    return column(title, *lines, grow=1, tap=("month", month.isoformat()), desc=f"{month:%B}", gap=1)


@lru_cache(maxsize=128)
def _small_day(day: int, busy: bool, today: bool) -> View:
    color = "on_primary" if today else "danger" if busy else "text"
    look = Look(size=9, color=color, fill="primary" if today else "", round=7, lines=1)
    return View(text=str(day), told=False, grow=1, along="center", look=look)


_BODIES: Mapping[str, Callable[[Scene], list[View]]] = {
    "day": _day,
    "week": _week,
    "month": _month,
    "month_day": _month_day,
    "year": _year,
    "list": upcoming_list,
}
