"""Simple Calendar Pro: events that are made, repeated, found, changed and deleted."""

from __future__ import annotations

import json
import sqlite3
from datetime import date, datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.app import Intent, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    ALL_DAY,
    DAY,
    EMPTY_EVENT,
    EVENTS_DB,
    MONTH,
    PACKAGE,
    TASK,
    WEEK,
    YEAR,
    midnight,
    moment,
    occurrences,
)
from eapo_gym.envs.androidworld.phone.databases import Row, Value
from tests.envs.androidworld.somebody import Somebody

APP = "Simple Calendar Pro"
SUNDAY = date(2023, 10, 15)
HOUR = 3600


def at(day: int, hour: int, minute: int = 0, month: int = 10) -> int:
    return int(datetime(2023, month, day, hour, minute, tzinfo=timezone.utc).timestamp())


def event(title: str, start: int, minutes: int = 30, **others: Value) -> dict[str, Value]:
    return {**EMPTY_EVENT, "title": title, "start_ts": start, "end_ts": start + 60 * minutes, **others}


def somebody(*events: dict[str, Value], layout_seed: int = 0) -> Somebody:
    """With the calendar open, in which these events are."""
    person = Somebody(layout_seed=layout_seed)
    for each in events:
        person.phone.change(partial(_insert, each))
    person.does(Action("open_app", app_name=APP))
    return person


def _insert(row: dict[str, Value], turn: Turn) -> None:
    turn.insert(EVENTS_DB, "events", **row)


def rows(person: Somebody, table: str = "events") -> tuple[Row, ...]:
    return person.phone.state.files.database(EVENTS_DB)[table]


def titles(person: Somebody) -> list[str]:
    return [each.text for each in person.elements() if each.resource.endswith("event_item_title")]


def shown(person: Somebody, view: str) -> None:
    person.taps("Change view", view)


# Making an event


def test_an_event_is_made_as_it_is_written() -> None:
    person = somebody()
    person.taps("/20 October.*/", "New Event", "Event")
    person.writes('Tea with "Zoë" & Bob\'s 🐕; DROP TABLE events', into="Title")
    person.writes("22 Harbour Lane", into="Location")
    person.writes("First line\nSecond", into="Description")
    person.goes_back()
    person.taps("Start time", "9 hours", "15 minutes", "OK")
    person.taps("End time", "10 hours", "0 minutes", "OK")
    person.taps("No reminder", "10 minutes before", "Save")
    [made] = rows(person)
    assert made["title"] == 'Tea with "Zoë" & Bob\'s 🐕; DROP TABLE events'
    assert (made["start_ts"], made["end_ts"]) == (at(20, 9, 15), at(20, 10))
    assert (made["location"], made["description"]) == ("22 Harbour Lane", "First line\nSecond")
    assert (made["reminder_1_minutes"], made["repeat_interval"], made["flags"]) == (10, 0, 0)
    assert titles(person) == [made["title"]]


def test_a_new_event_begins_at_the_next_full_hour_and_its_end_follows_its_start() -> None:
    person = somebody()
    person.taps("New Event", "Event")
    assert (person.texts().count("16:00"), person.sees("October 15 2023 (Sun)")) == (2, True)
    person.taps("End time", "17 hours", "30 minutes", "OK")
    person.taps("Start time", "20 hours", "0 minutes", "OK")
    person.taps("Start date", "18 October 2023", "OK")
    person.writes("Later", into="Title")
    person.taps("Save")
    assert [(row["start_ts"], row["end_ts"]) for row in rows(person)] == [(at(18, 20), at(18, 21, 30))]


def test_nothing_is_saved_without_a_title_or_with_an_end_before_the_start() -> None:
    person = somebody()
    person.taps("New Event", "Event", "Save")
    assert person.sees("A title is missing")
    person.writes("  ", into="Title")
    person.taps("Save")
    assert person.sees("A title is missing")
    assert not rows(person)
    person.writes("Backwards", into="Title", clear=True)
    person.taps("End time", "15 hours", "0 minutes", "OK", "Save")
    assert person.sees("The event cannot end before it starts")
    assert not rows(person)


def test_a_time_can_be_typed_and_what_is_none_is_refused() -> None:
    person = somebody()
    person.taps("New Event", "Event")
    person.writes("Typed", into="Title")
    person.taps("Start time", "Switch to text input mode.")
    person.writes("25", into="Hour")
    person.writes("x", into="Minute")
    person.taps("OK")
    assert person.sees("That is no time of day")
    assert person.sees("Cancel")
    person.writes("7", into="25", clear=True)
    person.writes("08", into="x", clear=True)
    person.taps("OK", "Save")
    assert [row["start_ts"] for row in rows(person)] == [at(15, 7, 8)]


def test_going_back_asks_before_what_was_written_is_lost() -> None:
    person = somebody()
    person.taps("New Event", "Event")
    person.goes_back()
    assert person.sees("New Event"), "Nothing was written: nothing is asked"
    person.taps("New Event", "Event")
    person.writes("Half done", into="Title")
    person.goes_back()
    assert person.sees("Your changes are not saved yet.")
    person.goes_back()
    assert person.sees("Half done")
    assert not person.sees("Your changes are not saved yet.")
    person.goes_back()
    person.taps("Discard")
    assert person.sees("New Event")
    assert not rows(person)


def test_all_day_events_have_no_times() -> None:
    person = somebody()
    person.taps("New Event", "Event")
    person.writes("Fair", into="Title")
    person.taps("All-day")
    assert not person.sees("Start time")
    person.taps("End date", "17 October 2023", "OK", "Save")
    [made] = rows(person)
    assert made["flags"] == ALL_DAY
    person.taps("/17 October, 1 event/")
    assert person.sees("All day, October 15 (Sun) - October 17 (Tue)")


def test_guests_and_colours_and_types() -> None:
    person = somebody()
    shown(person, "Monthly view")
    person.taps("More options", "Manage event types", "Add a new type")
    person.writes("Family 👪", into="Title")
    person.taps("Red", "OK")
    assert [(row["title"], row["color"]) for row in rows(person, "event_types")][1:] == [("Family 👪", -1754827)]
    person.taps("Add a new type")
    person.writes("family 👪", into="Title")
    person.taps("OK")
    assert person.sees("There is a type of that title already")
    person.goes_back()
    person.goes_back()
    person.taps("New Event", "Event")
    person.writes("Supper", into="Title")
    person.taps("Event type", "Family 👪", "Event color", "Green")
    person.writes("ada@example.org", into="Add attendee by email")
    person.taps("Save")
    [made] = rows(person)
    assert (made["event_type"], made["color"]) == (2, -13070788)
    assert [each["email"] for each in json.loads(str(made["attendees"]))] == ["ada@example.org"]
    person.taps("More options", "Filter events by type", "Family 👪", "OK")
    assert not person.sees("/15 October, .*/")
    person.taps("More options", "Manage event types", "Family 👪", "Delete")
    assert [row["event_type"] for row in rows(person)] == [1]


def test_a_task_is_ticked_off_each_day_anew() -> None:
    person = somebody(event("Water plants", at(15, 17), 0, type=TASK, repeat_interval=DAY))
    person.taps("/15 October, .*/", "Water plants", "Mark completed")
    assert person.sees("Completed")
    person.taps("Next")
    assert person.sees("Not completed")
    person.taps("Previous", "Water plants", "Mark incomplete")
    assert person.sees("Not completed")
    assert not rows(person, "tasks")


# Repetition


def test_a_weekly_event_follows_its_day_and_comes_again() -> None:
    person = somebody()
    person.taps("/16 October.*/", "New Event", "Event")
    person.writes("Choir", into="Title")
    person.taps("Repetition", "Weekly")
    person.taps("Start date", "18 October 2023", "OK", "Save")
    [made] = rows(person)
    assert (made["repeat_interval"], made["repeat_rule"], made["repeat_limit"]) == (WEEK, 1 << 2, 0)
    person.goes_back()
    busy = [each.desc.partition(" ")[0] for each in person.elements() if each.desc.endswith("1 event")]
    assert busy == ["18", "25", "1", "8"]


@pytest.mark.parametrize(
    ("interval", "rule", "limit", "first", "expected"),
    [
        (DAY, 0, 0, at(15, 8), [at(15, 8), at(16, 8), at(17, 8)]),
        (3 * DAY, 0, -2, at(15, 8), [at(15, 8), at(18, 8)]),
        (WEEK, 0b0010001, 0, at(17, 8), [at(20, 8), at(23, 8), at(27, 8)]),
        (2 * WEEK, 1, at(31, 0), at(16, 8), [at(16, 8), at(30, 8)]),
        (MONTH, 1, 0, at(31, 8), [at(31, 8), at(31, 8, month=12)]),
        (MONTH, 2, 0, at(18, 8), [at(18, 8), at(15, 8, month=11), at(20, 8, month=12)]),
        (MONTH, 3, 0, at(31, 8), [at(31, 8), at(30, 8, month=11), at(31, 8, month=12)]),
        (MONTH, 4, 0, at(31, 8), [at(31, 8), at(28, 8, month=11), at(26, 8, month=12)]),
        (YEAR, 1, 0, at(15, 8), [at(15, 8)]),
        (1, 0, 0, at(15, 8), [at(15, 8)]),
        (-WEEK, 0, 0, at(15, 8), [at(15, 8)]),
    ],
)  # fmt: skip
def test_when_what_is_repeated_takes_place(
    interval: int, rule: int, limit: int, first: int, expected: list[int]
) -> None:
    row = event("x", first, repeat_interval=interval, repeat_rule=rule, repeat_limit=limit)
    found = [each.start for each in occurrences([row], midnight(SUNDAY), midnight(date(2023, 12, 31)) + DAY)]
    assert found[:3] == expected
    later = [each.start for each in occurrences([row], expected[-1] + HOUR, midnight(date(2024, 2, 1)))]
    assert all(moment(start) > moment(expected[-1]) for start in later)


def test_one_time_of_a_repeated_event_can_be_deleted_or_changed_alone() -> None:
    person = somebody(event("Run", at(15, 18), repeat_interval=DAY))
    person.taps("/17 October.*/", "Run")
    person.writes("Swim", into="Title", clear=True)
    person.taps("Save", "The selected occurrence only")
    assert titles(person) == ["Swim"]
    person.taps("Next", "Run", "Delete", "Yes")
    assert titles(person) == []
    person.taps("Next", "Run", "Delete", "This and all later occurrences", "Yes")
    assert titles(person) == []
    person.taps("Next")
    assert titles(person) == []
    run, swim = rows(person)
    assert json.loads(str(run["repetition_exceptions"])) == ["20231017", "20231018"]
    assert (run["repeat_limit"], swim["repeat_interval"], swim["parent_id"]) == (at(19, 18) - 1, 0, run["id"])
    person.taps("/Go to today/")
    person.does(person.finger.hold("Run"))
    person.taps("Delete", "All occurrences", "Yes")
    assert rows(person) == (), "What was changed apart goes with the rest"


def test_all_times_move_together() -> None:
    person = somebody(event("Run", at(15, 18), repeat_interval=DAY, repetition_exceptions='["20231020"]'))
    person.taps("/18 October.*/", "Run", "Start time", "19 hours", "15 minutes", "OK", "Save", "All occurrences")
    assert [(row["start_ts"], row["end_ts"]) for row in rows(person)] == [(at(15, 19, 15), at(15, 19, 45))]


# Lists and views


def test_a_day_shows_its_own_events_with_those_that_reach_into_it() -> None:
    person = somebody(
        event("Night shift", at(14, 23), 120),
        event("Until midnight", at(14, 22), 120),
        event("Noon", at(15, 12)),
        event("Tomorrow", at(16, 0)),
    )
    person.taps("/15 October.*/")
    assert titles(person) == ["Night shift", "Noon"]
    assert person.sees("23:00 (Oct 14) - 01:00")
    person.taps("Previous")
    assert person.sees("23:00 - 01:00 (Oct 15)")
    assert person.sees("22:00 - 00:00 (Oct 15)")


def test_an_empty_calendar_says_so_in_every_list() -> None:
    person = somebody()
    for view in ("Daily view", "Monthly and daily view", "Simple event list"):
        shown(person, view)
        assert person.sees("No items found.")
    for view in ("Weekly view", "Yearly view", "Monthly view"):
        shown(person, view)
        assert person.sees("Previous")
    person.goes_back()
    person.does(Action("open_app", app_name=APP))
    assert person.sees("15 October"), "The view is the one that was chosen last"


def test_the_views_lead_to_each_other() -> None:
    person = somebody(event("Now and then", at(24, 9)))
    shown(person, "Yearly view")
    person.taps("October", "/24 October.*/", "Now and then")
    person.goes_back()
    person.goes_back()
    person.does(Action("swipe", direction="right"))
    assert person.sees("November")
    person.taps("Go to today")
    shown(person, "Weekly view")
    person.taps("Next", "/Now and then, 09:00 - 09:30/")
    assert person.sees("Edit event")


def test_long_names_are_cut_off_but_told_in_full() -> None:
    name = "A very long name " * 40 + "🎉"
    person = somebody(event(name, at(15, 18)), event("a" * 500, at(15, 19)))
    for view in ("Weekly view", "Monthly and daily view", "Simple event list", "Daily view"):
        shown(person, view)
        assert any(name in (each.text, each.desc.rpartition(", ")[0]) for each in person.elements())
        person.phone.picture()


def test_the_list_goes_on_when_asked() -> None:
    person = somebody(event("Long ago", at(1, 9, month=9)), event("Soon", at(20, 9)), event("Far", at(20, 9, month=12)))
    shown(person, "Simple event list")
    assert titles(person) == ["Soon"]
    person.taps("Show later events", "Show later events", "Show earlier events", "Show earlier events")
    assert titles(person) == ["Long ago", "Soon", "Far"]


def test_search_looks_into_titles_places_and_descriptions() -> None:
    person = somebody(
        event("Dentist", at(3, 9)),
        event("Lunch", at(20, 12), location="Café at the DENTIST's"),
        event("Call", at(21, 9), description="about the dentist"),
        event("Dentist's garden", at(1, 9), repeat_interval=MONTH, repeat_rule=1),
        event("Other", at(22, 9)),
    )
    person.taps("Search")
    person.writes("d")
    assert titles(person) == []
    assert person.sees("/Type at least 2 letters.*/")
    person.writes("dentist", into="d", clear=True)
    assert titles(person) == ["Dentist", "Lunch", "Call", "Dentist's garden"]
    person.taps("Lunch")
    assert person.sees("Café at the DENTIST's")
    person.goes_back()
    person.goes_back()
    assert person.sees("Change view")


def test_several_events_are_selected_and_deleted_together() -> None:
    person = somebody(*(event(name, at(15, 17 + place)) for place, name in enumerate(("One", "Two", "Three"))))
    person.taps("/15 October.*/")
    person.holds("One")
    person.taps("Three")
    assert person.sees("2 / 3")
    person.taps("Delete", "No")
    assert len(rows(person)) == 3
    person.taps("Delete", "Yes")
    assert titles(person) == ["Two"]
    assert [row["title"] for row in rows(person)] == ["Two"]
    person.holds("Two")
    person.goes_back()
    assert person.sees("October 15 (Sun)")
    assert not person.sees("1 / 1")


def test_an_event_is_duplicated() -> None:
    person = somebody(event("Twin", at(20, 9), location="Here"))
    person.taps("/20 October.*/", "Twin", "More options", "Duplicate", "Save")
    one, other = rows(person)
    assert {**one, "id": 2, "last_updated": 0} == {**other, "last_updated": 0}


# Settings, files, and other apps


def test_the_week_and_the_clock_are_as_they_were_set() -> None:
    person = somebody(event("Tea", at(16, 17)))
    person.taps("More options", "Settings", "Start week on", "Monday", "Use 24-hour time format")
    person.taps("Default duration of events", "45 minutes", "View at start", "Daily view")
    person.goes_back()
    person.taps("Next")
    assert person.sees("5:00 PM - 5:30 PM")
    person.taps("New Event", "Event")
    assert person.sees("4:45 PM")
    person.goes_back()
    shown(person, "Weekly view")
    assert person.sees("Oct 16 - 22")


def test_the_database_is_the_one_that_tools_pull_and_push(tmp_path: Path) -> None:
    person = somebody(event("Here before", at(20, 9)))
    path = tmp_path / "events.db"
    path.write_bytes(person.phone.state.files.read(EVENTS_DB))
    connection = sqlite3.connect(path)
    names = [name for _, name, *_ in connection.execute("PRAGMA table_info(events)")]
    assert set(names) == {"id", *EMPTY_EVENT}
    connection.execute("UPDATE events SET title = 'Pushed ''in'''")
    connection.commit()
    connection.close()
    person.has_file(EVENTS_DB, path.read_bytes())
    person.phone.stop(PACKAGE)
    person.does(Action("open_app", app_name=APP))
    person.taps("/20 October.*/")
    assert titles(person) == ["Pushed 'in'"]


def test_odd_rows_do_not_break_the_screens() -> None:
    odd: list[dict[str, Any]] = [
        {"repetition_exceptions": "no list", "repeat_interval": DAY},
        {"attendees": "{", "color": "blue", "flags": "x"},
        {"start_ts": 10**15, "end_ts": -(10**15)},
        {"event_type": 99, "repeat_interval": WEEK, "repeat_rule": 0},
    ]
    person = somebody(*(event(f"Odd {place}", at(16, 9), **each) for place, each in enumerate(odd)))
    for view in ("Weekly view", "Monthly and daily view", "Yearly view", "Simple event list", "Monthly view"):
        shown(person, view)
        person.elements()
    person.taps("/16 October.*/")
    assert titles(person) == ["Odd 0", "Odd 1", "Odd 3"]
    person.taps("Odd 1")
    assert person.sees("Edit event")


def test_another_app_can_ask_for_a_new_event() -> None:
    person = somebody()
    extras = {"title": "From outside", "beginTime": str(at(20, 9) * 1000), "eventLocation": "There"}
    assert person.phone.ask(Intent("android.intent.action.INSERT", kind="vnd.android.cursor.item/event", extras=extras))
    assert person.sees("New event")
    assert person.sees("There")
    assert person.texts().count("09:00") == 2
    person.taps("Save")
    assert [row["title"] for row in rows(person)] == ["From outside"]


def test_cleared_it_is_as_at_first() -> None:
    person = somebody(event("Gone", at(15, 18)))
    shown(person, "Yearly view")
    person.phone.clear(PACKAGE)
    person.does(Action("open_app", app_name=APP))
    assert rows(person) == ()
    assert person.sees("15 October")


@pytest.mark.parametrize("layout_seed", [1, 2, 3])
def test_other_layouts_show_the_same_events(layout_seed: int) -> None:
    person = somebody(event("Here", at(15, 18)), layout_seed=layout_seed)
    person.taps("/15 October, 1 event/", "Here")
    assert person.sees("Edit event")
    assert person.sees("18:30")


def test_what_is_repeated_can_have_any_interval_and_end() -> None:
    person = somebody()
    person.taps("New Event", "Event")
    person.writes("Odd weeks", into="Title")
    person.taps("Repetition", "Custom", "Weeks")
    assert person.sees("Expected a number from 1 to 999")
    person.writes("0002", into="Number")
    person.taps("Weeks")
    assert person.sees("0002")
    person.writes("2", into="0002", clear=True)
    person.taps("Weeks", "Repeat on", "Monday", "OK")
    assert person.sees("Every 2 weeks")
    person.taps("Repeat till")
    person.writes("5", into="Number of times")
    person.taps("Set", "Save")
    [made] = rows(person)
    assert (made["repeat_interval"], made["repeat_rule"], made["repeat_limit"]) == (2 * WEEK, 0b1000001, -5)


def test_a_map_and_another_app_are_asked_for_and_a_missing_one_is_said() -> None:
    person = somebody(event("Tour", at(20, 9), location="Old Mill; rm -rf /"))
    person.taps("/20 October.*/", "Tour", "Show on map")
    assert person.phone.state.front.package != PACKAGE or person.sees("No app can show that on a map")
