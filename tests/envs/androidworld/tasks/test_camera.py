"""The judges of the camera's tasks: one file more, neither none nor two."""

from __future__ import annotations

from eapo_gym.envs.androidworld.phone.apps.camera import PHOTOS, VIDEOS
from eapo_gym.envs.androidworld.tasks.camera import CameraTakePhoto, CameraTakeVideo
from tests.envs.androidworld.somebody import Somebody


def scores(somebody: Somebody) -> tuple[float, float]:
    photo, video = CameraTakePhoto(), CameraTakeVideo()
    return photo.judge(somebody.phone, {}, ""), video.judge(somebody.phone, {}, "")


def test_one_photo_and_no_more() -> None:
    somebody = Somebody("Camera")
    assert scores(somebody) == (0, 0)
    somebody.taps("Shutter")
    assert scores(somebody) == (1, 0)
    somebody.taps("Shutter")
    assert scores(somebody) == (0, 0)
    somebody.taps("Most recent photo", "Delete")
    assert scores(somebody) == (1, 0)


def test_a_video_counts_when_it_has_ended() -> None:
    somebody = Somebody("Camera")
    somebody.taps("Mode list", "Video", "Shutter")
    assert scores(somebody) == (0, 0)
    somebody.taps("Shutter")
    assert scores(somebody) == (0, 1)


def test_hidden_files_are_no_photos_and_missing_folders_no_error() -> None:
    somebody = Somebody()
    somebody.has_file(f"{PHOTOS}/.thumbnails/1.jpg", b"x")
    assert scores(somebody) == (0, 0)
    somebody.adb("rm", "-r", PHOTOS, VIDEOS)
    assert scores(somebody) == (0, 0)


def test_before_a_task_the_folders_are_empty() -> None:
    somebody = Somebody("Camera")
    somebody.taps("Shutter")
    CameraTakeVideo().prepare(somebody.phone, {})
    assert somebody.phone.state.files.names(PHOTOS) == []
