"""Audio Recorder: records, plays, renames, and has a trash."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from eapo_gym.envs.androidworld.phone.apps.audio_recorder import DATABASE, DOWNLOADS, PACKAGE, RECORDS
from eapo_gym.envs.androidworld.phone.recordings import container, seconds_of, wave
from tests.envs.androidworld.somebody import Somebody


@pytest.fixture
def somebody() -> Somebody:
    return Somebody("Audio Recorder")


def names(somebody: Somebody) -> list[str]:
    return somebody.phone.state.files.names(RECORDS)


def listed(somebody: Somebody) -> list[str]:
    return [each.text for each in somebody.elements() if each.resource.endswith("list_item_name")]


def records(somebody: Somebody, name: str = "", seconds: float = 3) -> None:
    """A recording, by that name or by the one that the app gives."""
    somebody.taps("Record")
    somebody.waits(seconds)
    somebody.taps("Stop recording")
    if name:
        somebody.writes(name, clear=True)
    somebody.taps("Save")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("lecture.m4a", "lecture.m4a.m4a"),
        ("  two  words ", "two  words.m4a"),
        ("it's 🎤 $(rm -rf /)", "it's 🎤 $(rm -rf _).m4a"),
        ("../../etc/passwd", ".._.._etc_passwd.m4a"),
    ],
)
def test_a_recording_is_saved_under_what_is_written(somebody: Somebody, written: str, name: str) -> None:
    records(somebody, written)
    assert names(somebody) == [name]


def test_a_recording_lasts_as_long_as_it_went_on_without_its_pauses(somebody: Somebody) -> None:
    somebody.taps("Record")
    somebody.waits(10)
    somebody.taps("Pause recording")
    somebody.waits(100)
    somebody.does(somebody.finger.open("Settings"))
    somebody.does(somebody.finger.open("Audio Recorder"))
    somebody.taps("Resume recording")
    somebody.waits(5)
    somebody.taps("Stop recording", "Cancel")
    length = seconds_of(somebody.phone.state.files.read(f"{RECORDS}/Record-1.m4a"))
    assert length == pytest.approx(17, abs=0.5)


def test_a_recording_goes_on_behind_other_apps_and_can_be_discarded(somebody: Somebody) -> None:
    somebody.taps("Record")
    somebody.does(somebody.finger.open("Settings"))
    somebody.waits(60)
    somebody.does(somebody.finger.open("Audio Recorder"))
    assert somebody.sees("/01:0\\d/")
    somebody.taps("Delete recording", "Cancel")
    assert somebody.sees("Stop recording")
    somebody.taps("Delete recording", "Delete")
    assert somebody.sees("Record")
    assert names(somebody) == []


@pytest.mark.parametrize("written", [" ", "taken", "x" * 300])
def test_a_name_that_cannot_be_is_refused_and_the_recording_kept(somebody: Somebody, written: str) -> None:
    records(somebody, "taken")
    somebody.taps("Record", "Stop recording")
    somebody.writes(written, clear=True)
    somebody.taps("Save")
    assert somebody.sees("Save record")
    assert somebody.sees("/The name .*|A record with that name already exists/")
    somebody.taps("Cancel")
    assert names(somebody) == ["Record-2.m4a", "taken.m4a"]


def test_a_recording_is_played_moved_through_and_ends(somebody: Somebody) -> None:
    records(somebody, seconds=60)
    somebody.taps("Records list", "Record-1")
    assert somebody.sees("Pause")
    somebody.waits(20)
    somebody.taps("Pause")
    somebody.waits(20)
    assert somebody.sees("/00:2\\d . 01:01/")
    somebody.does(somebody.finger.slide("Position", 0.9))
    somebody.taps("Play")
    somebody.waits(20)
    assert somebody.sees("/00:00 . 01:01/")
    assert somebody.sees("Play")


def test_deleted_recordings_are_in_the_trash_until_they_are_restored_or_gone(somebody: Somebody) -> None:
    records(somebody, "one")
    records(somebody, "two")
    somebody.taps("Records list", "Options of one", "Delete", "Delete")
    assert names(somebody) == ["one.m4a.del", "two.m4a"]
    assert not somebody.sees("one")
    records_again = somebody.phone.state
    somebody.taps("More options", "Trash", "one", "Restore")
    assert names(somebody) == ["one.m4a", "two.m4a"]
    somebody.phone.state = records_again
    somebody.taps("More options", "Trash", "Delete all", "Delete")
    assert names(somebody) == ["two.m4a"]
    assert somebody.sees("The trash is empty")


def test_the_list_is_sorted_marked_renamed_and_copied_from(somebody: Somebody) -> None:
    records(somebody, "b long", seconds=50)
    records(somebody, "a short")
    somebody.taps("Records list")
    assert listed(somebody) == ["a short", "b long"]
    somebody.taps("Sort", "By duration")
    assert listed(somebody) == ["b long", "a short"]
    somebody.taps("Options of b long", "Add bookmark", "Bookmarks")
    assert listed(somebody) == ["b long"]
    somebody.taps("Options of b long", "Rename")
    somebody.writes("c", clear=True)
    somebody.taps("Save", "Options of c", "Save to Downloads")
    assert names(somebody) == ["a short.m4a", "c.m4a"]
    assert "c.m4a" in somebody.phone.state.files.names(DOWNLOADS)
    assert somebody.sees("Bookmarked")


def test_settings_change_format_and_names_and_whether_one_is_asked(somebody: Somebody) -> None:
    somebody.taps("Settings", "Recording format", "Wav", "Naming format", "20231015-153400")
    somebody.taps("Ask for a name after recording", "Navigate up", "Record")
    somebody.waits(2)
    somebody.taps("Stop recording")
    [name] = names(somebody)
    assert name.startswith("20231015-1534")
    assert name.endswith(".wav")
    assert seconds_of(somebody.phone.state.files.read(f"{RECORDS}/{name}")) == pytest.approx(3, abs=0.5)
    assert somebody.sees("Record")


def test_the_database_is_an_sqlite_file_and_lost_files_are_not_listed(somebody: Somebody, tmp_path: Path) -> None:
    records(somebody, "kept")
    file = tmp_path / "records.db"
    somebody.hands.adb.run(["pull", DATABASE, str(file)])
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT path FROM records").fetchall() == [(f"{RECORDS}/kept.m4a",)]
    connection.close()
    somebody.adb("rm", "-r", f"{RECORDS}/*")
    somebody.taps("Records list")
    assert somebody.sees("There are no records yet")


def test_files_that_were_put_there_are_recordings_too_if_they_are_sound(somebody: Somebody) -> None:
    somebody.has_file(f"{RECORDS}/from outside.m4a", container(75, "M4A "))
    somebody.has_file(f"{RECORDS}/noise.m4a", b"not a recording")
    somebody.taps("Records list", "Options of from outside", "Add bookmark")
    assert somebody.sees("1 record")
    assert somebody.sees("Bookmarked")


def test_the_welcome_screen_leads_to_the_first_screen(somebody: Somebody) -> None:
    somebody.adb("am", "start", "-n", f"{PACKAGE}/{PACKAGE}.app.welcome.WelcomeActivity")
    assert somebody.sees("Record")
    somebody.goes_back()
    assert somebody.phone.state.at_home


@pytest.mark.parametrize("file", [container(0.0, "mp42"), container(4_000.25, "3gp4"), wave(12)])
def test_recordings_tell_how_long_they_last_and_stumps_of_them_do_no_harm(file: bytes) -> None:
    assert seconds_of(file) in (0.0, 4_000.25, 12.0)
    for cut in range(0, 120, 3):
        assert seconds_of(file[:cut]) in (None, 0.0, 4_000.25, 12.0)
