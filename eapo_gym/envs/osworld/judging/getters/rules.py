"""What was wanted, where the task's file says it itself; dates in it are told from today."""

from __future__ import annotations

import copy
import csv
import io
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from eapo_gym.envs.osworld.judging.getters.files import one_from_machine
from eapo_gym.envs.osworld.judging.registry import Scene
from eapo_gym.envs.osworld.judging.safe_files import text
from eapo_gym.envs.osworld.tasks import TaskFileError

MONDAY, FRIDAY, SATURDAY, SUNDAY = 0, 4, 5, 6
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""Not the names of the `calendar` module: those follow the locale of this computer."""

DAYS: Mapping[str, Callable[[date], date]] = {
    "tomorrow": lambda today: today + timedelta(days=1),
    "this month": lambda today: today,
    "this Saturday": lambda today: _of_week(today, SATURDAY),
    "this Sunday": lambda today: _of_week(today, SUNDAY),
    "next Monday": lambda today: _next(today, MONDAY),
    "next Friday": lambda today: _next(today, FRIDAY),
    "next Saturday": lambda today: _next(today, SATURDAY),
    "next Sunday": lambda today: _next(today, SUNDAY),
    "next week Friday": lambda today: _of_week(today + timedelta(weeks=1), FRIDAY),
    "next week Saturday": lambda today: _of_week(today + timedelta(weeks=1), SATURDAY),
    "next week Sunday": lambda today: _of_week(today + timedelta(weeks=1), SUNDAY),
    "5th next month": lambda today: _first_of_month(today, 1) + timedelta(days=4),
    "10th next month": lambda today: _first_of_month(today, 1) + timedelta(days=9),
    "11th next month": lambda today: _first_of_month(today, 1) + timedelta(days=10),
    "first monday four months later": lambda today: _first_monday(_first_of_month(today, 4)),
    "first monday eight months later": lambda today: _first_monday(_first_of_month(today, 8)),
}
"""How the benchmark's tasks name days."""

SPLIT = " split"
"""Behind a day's name: its parts go to fields of their own."""

SPLIT_FIELDS = {"from": ("puDay", "puMonth", "puYear"), "to": ("doDay", "doMonth", "doYear")}


def rule(scene: Scene, config: Mapping[str, Any]) -> Any:
    """The rule as it stands."""
    return config["rules"]


def rule_relative_time(scene: Scene, config: Mapping[str, Any]) -> Any:
    """The rule with today's dates in it.

    Today is that of the rule's time zone, or of UTC: the benchmark asks a website where this computer is instead.
    """
    rules = copy.deepcopy(config["rules"])
    today = _today(scene, rules)
    relative, expected = rules["relativeTime"], rules["expected"]
    start_name = str(relative["from"]).removesuffix(SPLIT)
    start = _day(start_name, today)
    if "to" not in relative:
        expected["time"] = written(expected["time"], start)
        return rules
    _fill(expected, "from", str(relative["from"]), start)
    end_name = str(relative["to"]).removesuffix(SPLIT)
    end = _day(end_name, today)
    if (start_name, end_name) in {
        ("next Monday", "next Friday"),
        ("next Friday", "next Sunday"),
        ("next Saturday", "next Sunday"),
    }:
        end = _of_week(start, end.weekday())  # a stretch of days lies in one week
    _fill(expected, "to", str(relative["to"]), end)
    return rules


def written(pattern: str, day: date) -> str:
    """A date as a pattern such as "{DoW}, {Day0D} {Month}" wants it."""
    month = MONTHS[day.month - 1]
    for mark, value in {
        "{DoW}": WEEKDAYS[day.weekday()],
        "{Month}": month[:3],
        "{DayD}": str(day.day),
        "{Year}": str(day.year),
        "{Month0D}": f"{day.month:02}",
        "{month}": month.lower(),
        "{MonthFull}": month,
        "{Day0D}": f"{day.day:02}",
        "{MonthD}": str(day.month),
    }.items():
        pattern = pattern.replace(mark, value)
    return pattern


def time_diff_range(scene: Scene, config: Mapping[str, Any]) -> Any:
    return config.get("diff_range_in_minutes")


def conference_city_in_order(scene: Scene, config: Mapping[str, Any]) -> list[str]:
    """The third column of a table on the machine, without its title."""
    path = str(config["csv_path"])
    rows = csv.reader(io.StringIO(text(one_from_machine(scene, path, PurePosixPath(path).name))))
    return [row[2] for row in list(rows)[1:]]


def _fill(expected: dict[str, Any], end: str, name: str, day: date) -> None:
    for field in SPLIT_FIELDS[end] if name.endswith(SPLIT) else (end,):
        expected[field] = written(expected[field], day)


def _today(scene: Scene, rules: Mapping[str, Any]) -> date:
    zone = str(rules.get("timezone", "UTC"))
    try:
        return scene.now().astimezone(ZoneInfo(zone)).date()
    except (ZoneInfoNotFoundError, ValueError):
        raise TaskFileError(f"A rule names the time zone {zone!r}, which this computer does not know.") from None


def _day(name: str, today: date) -> date:
    if name not in DAYS:
        raise TaskFileError(f"A rule names the day {name!r}: expected one of {', '.join(map(repr, DAYS))}.")
    return DAYS[name](today)


def _of_week(day: date, weekday: int) -> date:
    """That day of the same week, which begins on Monday; it may have gone by."""
    return day + timedelta(days=weekday - day.weekday())


def _next(day: date, weekday: int) -> date:
    """The first such day after this one."""
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def _first_of_month(day: date, months: int) -> date:
    later = day.month - 1 + months
    return date(day.year + later // 12, later % 12 + 1, 1)


def _first_monday(first: date) -> date:
    return first + timedelta(days=-first.weekday() % 7)


GETTERS = {
    "rule": rule,
    "rule_relativeTime": rule_relative_time,
    "time_diff_range": time_diff_range,
    "conference_city_in_order": conference_city_in_order,
}
