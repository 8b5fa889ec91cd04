"""The judges of the tasks about recordings."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.phone.apps.audio_recorder import RECORDS
from eapo_gym.envs.androidworld.tasks.audio_recorder import (
    AudioRecorderRecordAudio,
    AudioRecorderRecordAudioWithFileName,
)
from eapo_gym.envs.androidworld.tasks.base import TaskDice
from tests.envs.androidworld.somebody import Somebody


@pytest.mark.parametrize(
    ("files", "score"),
    [
        ({}, 0),
        ({"a.m4a": "x"}, 1),
        ({"a.m4a": ""}, 0),
        ({"a.m4a": "x", "b.m4a": ""}, 1),
        ({"a.m4a": "x", "b.m4a.del": "x"}, 0),
        ({"folder/a.m4a": "x"}, 0),
    ],
)
def test_one_recording_with_something_in_it(files: dict[str, str], score: float) -> None:
    somebody = Somebody()
    for name, content in files.items():
        somebody.has_file(f"{RECORDS}/{name}", content)
    assert AudioRecorderRecordAudio().judge(somebody.phone, {}, "") == score


@pytest.mark.parametrize(
    ("name", "score"), [("talk.m4a.m4a", 1), ("talk.m4a", 0), ("Talk.m4a.m4a", 0), ("talk.m4a.m4a.del", 0)]
)
def test_the_name_is_what_is_written_and_the_app_adds_its_extension(name: str, score: float) -> None:
    somebody = Somebody()
    somebody.has_file(f"{RECORDS}/{name}", "x")
    task = AudioRecorderRecordAudioWithFileName()
    assert task.judge(somebody.phone, {"file_name": "talk.m4a"}, "") == score


def test_a_recording_that_goes_on_is_not_saved() -> None:
    somebody = Somebody("Audio Recorder")
    somebody.taps("Record")
    assert AudioRecorderRecordAudio().judge(somebody.phone, {}, "") == 0
    somebody.taps("Stop recording")
    assert AudioRecorderRecordAudio().judge(somebody.phone, {}, "") == 1


def test_names_are_drawn_with_what_people_add_to_them() -> None:
    drawn = [AudioRecorderRecordAudioWithFileName().draw(TaskDice("recorder", seed)) for seed in range(50)]
    assert all(params["file_name"].endswith(".m4a") and "_" in params["file_name"] for params in drawn)
    assert len({params["file_name"] for params in drawn}) > 40
