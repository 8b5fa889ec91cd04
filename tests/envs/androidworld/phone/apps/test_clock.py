"""Clock: alarms, cities, timers, the stopwatch."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timezone
from pathlib import Path

import pytest

from eapo_gym.envs.androidworld.phone.apps import clock
from tests.envs.androidworld.somebody import Somebody


@pytest.fixture
def somebody() -> Somebody:
    return Somebody("Clock")


def alarms(somebody: Somebody) -> list[tuple[object, ...]]:
    rows = somebody.phone.state.files.database(clock.ALARMS)["alarm_templates"]
    return [(row["hour"], row["minutes"], row["daysofweek"], row["enabled"], row["label"]) for row in rows]


def test_an_alarm_is_made_named_repeated_and_brought_back_after_deletion(somebody: Somebody) -> None:
    somebody.taps("Alarm", "Add alarm", "11", "15", "AM", "OK")
    assert alarms(somebody)[-1] == (11, 15, 0, 1, "")
    assert somebody.sees("Alarm set for 19 hours, 41 minutes from now.")
    somebody.taps("Add label")
    somebody.writes('Tea "time" 🫖')
    assert alarms(somebody)[-1][-1] == 'Tea "time" 🫖'
    somebody.taps("Wednesday", "Sunday")
    assert alarms(somebody)[-1][2] == 0b1000100
    made = alarms(somebody)
    somebody.taps("Delete")
    assert len(alarms(somebody)) == 2
    somebody.taps("Undo")
    assert alarms(somebody) == made


def test_a_time_can_be_typed_and_a_wrong_one_is_refused(somebody: Somebody) -> None:
    somebody.taps("Alarm", "Add alarm", "Switch to text input mode for the time input.")
    for hour, minute in (("13", "00"), ("0", "10"), ("7", "60"), ("", "5"), ("²", "5"), ("seven", "5")):
        somebody.writes(hour or " ", "/Hour|.*/", clear=True)
        somebody.does(somebody.finger.write(minute, number=1, clear=True))
        somebody.taps("OK")
        assert len(alarms(somebody)) == 2
    somebody.does(somebody.finger.write("12", clear=True), somebody.finger.write("07", number=1, clear=True))
    somebody.taps("AM", "OK")
    assert alarms(somebody)[-1][:2] == (0, 7)


def test_an_alarm_rings_snoozes_and_is_off_when_it_was_for_once(somebody: Somebody) -> None:
    somebody.taps("Alarm", "Add alarm", "3", "35", "OK")
    somebody.does(somebody.finger.open("Settings"))
    somebody.waits(59)
    assert somebody.phone.state.front.name == clock.Ringing.name
    assert alarms(somebody)[-1][3] == 0
    somebody.goes_back()
    somebody.taps("Snooze")
    assert somebody.phone.state.front.package == "com.android.settings"
    somebody.waits(9 * 60)
    assert somebody.phone.state.front.package == "com.android.settings"
    somebody.waits(60)
    somebody.taps("Stop")
    somebody.waits(3600)
    assert somebody.phone.state.front.package == "com.android.settings"


@pytest.mark.parametrize(
    ("days", "expected"), [(0, "2023-10-15 15:35"), (0b0000001, "2023-10-16 15:35"), (0b1000000, "2023-10-15 15:35")]
)
def test_the_next_time_of_an_alarm_depends_on_its_days(days: int, expected: str) -> None:
    now = datetime(2023, 10, 15, 15, 34, tzinfo=timezone.utc).timestamp()
    when = clock.next_alarm({"hour": 15, "minutes": 35, "daysofweek": days}, now)
    assert f"{datetime.fromtimestamp(when, timezone.utc):%Y-%m-%d %H:%M}" == expected
    assert clock.next_alarm({"hour": 15, "minutes": 34, "daysofweek": 0}, now) == now + 24 * 3600


def test_the_timer_shows_what_is_typed_and_counts_down_while_another_app_is_open(somebody: Somebody) -> None:
    somebody.taps("Timer")
    assert not somebody.sees("Start")
    somebody.taps("1", "2", "3", "Delete", "0", "00")
    assert somebody.sees("01h 20m 00s")
    assert somebody.sees("1 hours, 20 minutes, 0 seconds")
    somebody.taps("5", "6", "7")
    assert somebody.sees("12h 00m 05s"), "six digits are all that fit"
    for _ in range(8):
        somebody.taps("Delete")
    assert somebody.sees("00h 00m 00s")
    somebody.taps("9", "0", "Start")
    somebody.does(somebody.finger.open("Settings"))
    somebody.waits(60)
    somebody.does(somebody.finger.open("Clock"))
    assert somebody.sees("1m 30s timer")
    assert somebody.sees("/00:2\\d/")
    somebody.taps("+1:00", "Pause")
    somebody.waits(600)
    assert somebody.sees("/01:2\\d/")
    somebody.taps("Start")
    somebody.waits(100)
    assert somebody.sees("/-00:1\\d/")
    somebody.taps("Stop")
    assert somebody.sees("01:30")


def test_a_timer_says_when_it_is_over_and_can_be_deleted_and_brought_back(somebody: Somebody) -> None:
    somebody.taps("Timer", "5", "Start", "Add timer")
    somebody.goes_back()
    somebody.waits(5)
    assert somebody.sees("Time's up")
    somebody.taps("5s timer")
    somebody.writes("Eggs")
    somebody.taps("Delete timer")
    assert somebody.sees("00h 00m 00s")
    somebody.taps("Undo")
    assert somebody.sees("Eggs")


def test_the_stopwatch_runs_takes_laps_pauses_and_is_reset(somebody: Somebody) -> None:
    somebody.taps("Stopwatch", "Start")
    somebody.waits(61.5)
    somebody.taps("Lap")
    assert somebody.sees("# 2")
    somebody.does(somebody.finger.open("Settings"))
    somebody.waits(3600)
    somebody.does(somebody.finger.open("Clock"))
    somebody.taps("Pause")
    shown = next(each.text for each in somebody.elements() if each.resource.endswith("stopwatch_time_text"))
    assert shown.startswith("1:01:0")
    somebody.waits(60)
    assert somebody.sees(shown)
    somebody.taps("Reset")
    assert somebody.sees("00:00.00")
    assert not somebody.sees("# 1")


def test_the_stopwatch_outlives_the_app_but_not_its_data(somebody: Somebody) -> None:
    somebody.taps("Stopwatch", "Start")
    somebody.adb("am", "force-stop", clock.PACKAGE)
    somebody.does(somebody.finger.open("Clock"))
    assert somebody.sees("Pause")
    somebody.adb("pm", "clear", clock.PACKAGE)
    somebody.does(somebody.finger.open("Clock"))
    assert somebody.sees("Cities")
    somebody.taps("Stopwatch")
    assert somebody.sees("00:00.00")


def test_cities_are_found_shown_and_removed(somebody: Somebody) -> None:
    somebody.taps("Cities")
    somebody.writes("zzz", "Search for a city")
    assert somebody.sees("No cities found")
    somebody.writes("india", clear=True)
    somebody.taps("Delhi", "Navigate up")
    assert somebody.sees("9:04 PM")
    assert somebody.sees("India · 5.5 hr ahead")
    somebody.holds("Delhi")
    assert not somebody.sees("9:04 PM")
    somebody.taps("Undo")
    assert somebody.sees("9:04 PM")


def test_settings_change_what_the_clock_shows(somebody: Somebody) -> None:
    somebody.taps("More options", "Settings", "Display time with seconds", "Start week on", "Sunday", "Navigate up")
    assert somebody.sees("/3:34:\\d\\d PM/")
    somebody.taps("Alarm", "Expand alarm")
    days = [each.desc for each in somebody.elements() if each.kind == "CheckBox" and each.desc.endswith("day")]
    assert days[:2] == ["Sunday", "Monday"]


def test_alarms_are_an_sqlite_file_that_can_be_pulled_changed_and_pushed(somebody: Somebody, tmp_path: Path) -> None:
    file = tmp_path / "alarms.db"
    somebody.hands.adb.run(["pull", clock.ALARMS, str(file)])
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alarm_templates SET label = ?, hour = 6", ('up\' "now" 😀',))
    connection.close()
    somebody.hands.adb.run(["push", str(file), clock.ALARMS])
    somebody.taps("Alarm")
    assert somebody.sees("6:30 AM")
    assert somebody.sees('up\' "now" 😀')


def test_the_back_button_closes_what_lies_over_the_clock_first(somebody: Somebody) -> None:
    somebody.taps("Alarm", "Add alarm")
    somebody.goes_back()
    assert somebody.sees("Add alarm")
    assert len(alarms(somebody)) == 2
    somebody.goes_back()
    assert somebody.phone.state.at_home
