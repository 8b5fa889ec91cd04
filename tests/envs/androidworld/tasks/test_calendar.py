"""When events count as added and deleted, and questions as answered."""

from __future__ import annotations

from typing import Any

import pytest

from eapo_gym.envs.androidworld.phone.apps.calendar.data import DAY, EMPTY_EVENT, EVENTS_DB, delete_events
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Task, TaskDice
from eapo_gym.envs.androidworld.tasks.calendar import (
    TASKS,
    SimpleCalendarAddOneEvent,
    SimpleCalendarAddOneEventInTwoWeeks,
    SimpleCalendarAddOneEventTomorrow,
    SimpleCalendarAddRepeatingEvent,
    SimpleCalendarDeleteEvents,
    SimpleCalendarDeleteOneEvent,
)
from eapo_gym.envs.androidworld.tasks.calendar_events import start_of
from eapo_gym.envs.androidworld.tasks.calendar_questions import TASKS as QUESTIONS
from eapo_gym.envs.androidworld.tasks.calendar_questions import (
    SimpleCalendarAnyEventsOnDate,
    SimpleCalendarNextEvent,
    SimpleCalendarNextMeetingWithPerson,
)


def begun(task: Task, seed: int = 0) -> tuple[Phone, dict[str, Any]]:
    phone, params = new_phone(), task.draw(TaskDice(task.name(), seed))
    task.prepare(phone, params)
    return phone, dict(task.begun(phone, params))


def rows(phone: Phone) -> tuple[Row, ...]:
    return phone.state.files.database(EVENTS_DB)["events"]


def add(phone: Phone, row: Row, **others: Any) -> None:
    values = {**{name: row[name] for name in EMPTY_EVENT}, **others}
    phone.change(lambda turn: turn.insert(EVENTS_DB, "events", **values))


def delete(phone: Phone, *ids: object) -> None:
    phone.change(lambda turn: delete_events(turn, [id for id in ids if isinstance(id, int)]))


@pytest.mark.parametrize(
    ("others", "judged"),
    [
        ({}, 1),
        ({"reminder_1_minutes": 10, "color": -1, "source": "simple-calendar"}, 1),
        ({"location": "Somewhere"}, 0),
        ({"title": "Another"}, 0),
        ({"description": ""}, 0),
        ({"repeat_interval": DAY}, 0),
        ({"start_ts": 0}, 0),
    ],
)
def test_an_event_must_be_as_it_was_asked_for(others: dict[str, Any], judged: int) -> None:
    task = SimpleCalendarAddOneEvent()
    phone, params = begun(task)
    assert task.judge(phone, params, "") == 0
    add(phone, params["targets"][0], **others)
    assert task.judge(phone, params, "") == judged


def test_nothing_else_may_be_added_or_changed() -> None:
    task = SimpleCalendarAddRepeatingEvent()
    phone, params = begun(task, seed=3)
    add(phone, params["targets"][0])
    assert task.judge(phone, params, "") == 1
    first = rows(phone)[0]["id"]
    state = phone.state
    phone.change(lambda turn: turn.update(EVENTS_DB, "events", lambda row: row["id"] == first, location="moved"))
    assert task.judge(phone, params, "") == 0
    phone.state = state
    add(phone, params["targets"][0])
    assert task.judge(phone, params, "") == 0


def test_all_events_of_the_day_and_no_others_must_be_gone() -> None:
    task = SimpleCalendarDeleteEvents()
    phone, params = begun(task)
    day = start_of(params["targets"][0]).date()
    doomed = [row["id"] for row in rows(phone) if start_of(row).date() == day]
    assert len(doomed) == 3
    assert len(rows(phone)) == 23
    delete(phone, *doomed[:2])
    assert task.judge(phone, params, "") == 0
    delete(phone, doomed[2])
    assert task.judge(phone, params, "") == 1
    delete(phone, rows(phone)[0]["id"])
    assert task.judge(phone, params, "") == 0


def test_the_event_to_be_deleted_can_be_told_from_the_others() -> None:
    task = SimpleCalendarDeleteOneEvent()
    for seed in range(20):
        params = task.draw(TaskDice(task.name(), seed))
        [target] = params["targets"]
        assert all(target["title"] != row["title"] and target["start_ts"] != row["start_ts"] for row in params["noise"])


def test_goals_say_the_day_as_the_benchmark_does() -> None:
    for task, days in ((SimpleCalendarAddOneEventTomorrow(), {16}), (SimpleCalendarAddOneEventInTwoWeeks(), {29})):
        found = {start_of(task.draw(TaskDice(seed))["targets"][0]).day for seed in range(20)}
        assert found == days
    deleting = SimpleCalendarDeleteOneEvent()
    params = deleting.draw(TaskDice(1))
    start = start_of(params["targets"][0])
    assert f"on 2023-10-{start.day} at {start.hour}h with the title '" in deleting.goal(params)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_has_one_right_answer(kind: type[Task]) -> None:
    task = kind()
    for seed in range(5):
        phone, params = begun(task, seed)
        assert len(rows(phone)) == 75 + len(params["expected"])
        assert "{" not in task.goal(params)
        said = [each if isinstance(each, str) else f"{each:%B %d %Y %H:%M}" for each in params["expected"]]
        assert task.judge(phone, params, ", ".join(said)) == 1
        assert task.judge(phone, params, ", ".join(said[:-1])) == 0
        assert task.judge(phone, params, "There is none") == 0
        delete(phone, *(row["id"] for row in rows(phone)))
        assert task.judge(phone, params, ", ".join(reversed(said))) == 1, "The answer is of what was there at first"


def test_the_next_event_is_one_to_come() -> None:
    task = SimpleCalendarNextEvent()
    for seed in range(20):
        phone, params = begun(task, seed)
        coming = sorted((row for row in rows(phone) if start_of(row).timestamp() >= phone.state.now), key=start_of)
        assert [coming[0]["title"]] == params["expected"]


def test_the_benchmarks_own_words_are_understood() -> None:
    theirs = {"date": "the Tuesday after next", "title": "x", "time": "12am"}
    task = SimpleCalendarAnyEventsOnDate()
    phone = new_phone()
    add(phone, {**EMPTY_EVENT, "title": "Late", "start_ts": 1698191940, "end_ts": 1698195540})
    add(phone, {**EMPTY_EVENT, "title": "Early", "start_ts": 1698105600, "end_ts": 1698109200})
    add(phone, {**EMPTY_EVENT, "title": "Wednesday", "start_ts": 1698192000, "end_ts": 1698195600})
    params = task.begun(phone, task.adopted(theirs))
    assert task.judge(phone, params, "early, late") == 1
    meeting = SimpleCalendarNextMeetingWithPerson()
    add(phone, {**EMPTY_EVENT, "title": "Drinks with Ava", "start_ts": 1698191940, "end_ts": 1698195540})
    params = meeting.begun(phone, {"person": "Ava", "date": "October 24", "time": "23:59"})
    assert meeting.judge(phone, params, "October 24 2023 23:59") == 1
    assert meeting.judge(phone, params, "October 24 2023 11:59pm") == 0


def test_every_task_has_its_own_name() -> None:
    assert len({kind.name() for kind in (*TASKS, *QUESTIONS)}) == 17
