"""Days and times, as goals and calendars say them."""

from __future__ import annotations

import re
from datetime import date, timedelta

MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_SHORT = re.compile(r"(?P<weekday>[A-Z][a-z]{2}), (?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})")
_LONG = re.compile(r"(?P<month>[a-z]+) (?P<day>\d{1,2})(?:,? (?P<year>\d{4}))?", re.IGNORECASE)
_TIME = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?P<half>am|pm|h)?")
_FIRST_YEAR = 2020


def read_today(text: str) -> date | None:
    """The day that a phone shows without its year: the first one since phones are like this with such a weekday."""
    found = _SHORT.fullmatch(text)
    months = [name[:3] for name in MONTHS]
    if found is None or found["month"].lower() not in months:
        return None
    for year in range(_FIRST_YEAR, _FIRST_YEAR + 12):
        try:
            day = date(year, months.index(found["month"].lower()) + 1, int(found["day"]))
        except ValueError:
            continue
        if DAYS[day.weekday()][:3] == found["weekday"].lower():
            return day
    return None


def read_day(text: str, today: date) -> date | None:
    """The day that is meant.

    >>> read_day("the Monday after next", date(2023, 10, 15)), read_day("October 17", date(2023, 10, 15))
    (datetime.date(2023, 10, 23), datetime.date(2023, 10, 17))
    """
    said = text.lower().strip()
    if said in ("today", "tomorrow"):
        return today + timedelta(days=said == "tomorrow")
    if said == "in two weeks from today":
        return today + timedelta(weeks=2)
    try:
        return date.fromisoformat(said)
    except ValueError:
        pass
    weekday = next((n for n, name in enumerate(DAYS) if name in said), None)
    if weekday is not None:
        ahead = (weekday - today.weekday() - 1) % 7 + 1
        return today + timedelta(days=ahead + 7 * ("after next" in said))
    found = _LONG.search(said)
    if found is None or found["month"] not in MONTHS:
        return None
    try:
        return date(int(found["year"] or today.year), MONTHS.index(found["month"]) + 1, int(found["day"]))
    except ValueError:
        return None


def read_time(text: str) -> int | None:
    """Minutes since midnight.

    >>> read_time("8:35am"), read_time("8pm"), read_time("14:25"), read_time("7h")
    (515, 1200, 865, 420)
    """
    found = _TIME.fullmatch(text.strip().lower().replace(" ", ""))
    if found is None:
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"] in ("am", "pm"):
        hour = hour % 12 + 12 * (found["half"] == "pm")
    return 60 * hour + minute if hour < 24 and minute < 60 else None
