"""Dates that a task's file tells from today."""

from __future__ import annotations

import copy
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.osworld.judging import registry
from eapo_gym.envs.osworld.judging.getters.rules import DAYS, written
from eapo_gym.envs.osworld.tasks import TaskFileError
from tests.envs.osworld.judging.benchmark import benchmark_says
from tests.envs.osworld.judging.machine import scene

EVERYTHING = "{DoW}|{Month}|{DayD}|{Year}|{Month0D}|{month}|{MonthFull}|{Day0D}|{MonthD}"
ALONE = (
    *("tomorrow", "this month", "5th next month", "10th next month", "next Monday"),
    *("first monday four months later", "first monday eight months later"),
)
FROM = (
    *("tomorrow", "this Saturday", "10th next month", "next Monday", "next Friday", "next Saturday"),
    *("next week Friday", "next week Saturday", "next week Sunday"),
)
TO = ("tomorrow", "this Sunday", "11th next month", "next Friday", "next Sunday", "next week Sunday")


def configs() -> list[dict[str, Any]]:
    alone = [{"relativeTime": {"from": name}, "expected": {"time": EVERYTHING, "city": "X"}} for name in ALONE]
    stretches = [
        {"relativeTime": {"from": start, "to": end}, "expected": {"from": EVERYTHING, "to": EVERYTHING}}
        for start in FROM
        for end in TO
    ]
    parts = {"puDay": "{DayD}", "puMonth": "{MonthD}", "puYear": "{Year}", "doDay": "{DayD}", "doMonth": "{MonthD}"}
    split = {
        "relativeTime": {"from": "next Monday split", "to": "next Friday split"},
        "expected": parts | {"doYear": "{Year}"},
    }
    return [
        {"type": "rule_relativeTime", "rules": rules | {"timezone": "UTC"}} for rules in (*alone, *stretches, split)
    ]


def on(day: date, config: dict[str, Any]) -> Any:
    moment = datetime(day.year, day.month, day.day, 12, tzinfo=timezone.utc)
    return registry.getter("rule_relativeTime")(scene(Path("unused"), now=lambda: moment), copy.deepcopy(config))


def test_days_are_those_of_the_benchmark() -> None:
    """On every day of two weeks, at the turn of a year and of a month."""
    days = [start + timedelta(days=count) for start in (date(2023, 12, 25), date(2024, 2, 26)) for count in range(7)]
    asked = [(day, config) for day in days for config in configs()]
    theirs = benchmark_says([{"day": day.isoformat(), "config": config} for day, config in asked])
    compared = 0
    for (day, config), their in zip(asked, theirs, strict=True):
        if "raised" in their and "months later" in str(config):
            continue  # the benchmark knows no December there: it counts months from 0 to 11
        assert {"rules": on(day, config)} == their, (day, config)
        compared += 1
    assert compared > 0.95 * len(asked)


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_days_are_what_their_names_say(today: date) -> None:
    for name, day in DAYS.items():
        then = day(today)
        weekday = next(
            (place for place, one in enumerate(("Monday", "Friday", "Saturday", "Sunday")) if one in name), None
        )
        if weekday is not None:
            assert then.weekday() == (0, 4, 5, 6)[weekday]
        if name.startswith("next ") and "week" not in name:
            assert timedelta(0) < then - today <= timedelta(7)
        if "next month" in name:
            assert (then.year * 12 + then.month) - (today.year * 12 + today.month) == 1
        if "monday" in name:
            months = 4 if "four" in name else 8
            assert (then.year * 12 + then.month) - (today.year * 12 + today.month) == months
            assert (then.weekday(), then.day <= 7) == (0, True)


def test_the_rules_time_zone_counts(tmp_path: Path) -> None:
    late = datetime(2024, 5, 1, 23, 30, tzinfo=timezone.utc)
    rules = {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "{DayD}"}, "timezone": "Asia/Tokyo"}
    config = {"type": "rule_relativeTime", "rules": rules}
    found = registry.getter("rule_relativeTime")(scene(tmp_path, now=lambda: late), config)
    assert found["expected"]["time"] == "3"
    assert rules["expected"] == {"time": "{DayD}"}, "the task's file is left as it is"


def test_a_date_is_written_as_the_pattern_says() -> None:
    assert (
        written("{DoW}, {Month} {Day0D} {Year} {month} {MonthD}/{DayD}", date(2024, 3, 5))
        == "Tue, Mar 05 2024 march 3/5"
    )


@pytest.mark.parametrize("rules", [{"relativeTime": {"from": "some day"}}, {"timezone": "Mars/Base"}])
def test_what_nobody_knows_is_the_tasks_mistake(rules: dict[str, Any], tmp_path: Path) -> None:
    config = {"rules": {"relativeTime": {"from": "tomorrow"}, "expected": {"time": ""}} | rules}
    with pytest.raises(TaskFileError, match=r"some day|Mars/Base"):
        registry.getter("rule_relativeTime")(scene(tmp_path), config)
