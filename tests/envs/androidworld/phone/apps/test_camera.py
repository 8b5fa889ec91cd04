"""Camera: photos, videos, and the look back at them."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.apps.camera import ALBUM, PACKAGE, PHOTOS, VIDEOS
from eapo_gym.envs.androidworld.phone.recordings import seconds_of
from tests.envs.androidworld.somebody import Somebody

TO_THE_NEXT, BACK_AGAIN = Action("swipe", direction="right"), Action("swipe", direction="left")
"""The benchmark names swipes after where one looks, not after where the finger goes."""


@pytest.fixture
def somebody() -> Somebody:
    return Somebody("Camera")


def names(somebody: Somebody, folder: str) -> list[str]:
    return somebody.phone.state.files.names(folder)


def test_a_photo_is_a_jpeg_named_after_the_moment(somebody: Somebody) -> None:
    somebody.taps("Shutter")
    [name] = names(somebody, PHOTOS)
    assert name == "IMG_20231015_153401.jpg"
    with Image.open(io.BytesIO(somebody.phone.state.files.read(f"{PHOTOS}/{name}"))) as photo:
        assert photo.format == "JPEG"
    assert names(somebody, VIDEOS) == []


def test_photos_of_the_same_second_do_not_replace_each_other(somebody: Somebody) -> None:
    shutter = next(each for each in somebody.elements() if each.desc == "Shutter").center
    for _ in range(3):
        somebody.phone.tap(*shutter)
    assert len(names(somebody, PHOTOS)) == 3


def test_a_video_lasts_as_long_as_it_was_taken(somebody: Somebody) -> None:
    somebody.taps("Mode list", "Video", "Shutter")
    somebody.waits(63)
    assert somebody.sees("01:04")
    assert names(somebody, VIDEOS) == []
    somebody.taps("Shutter")
    [name] = names(somebody, VIDEOS)
    assert name.endswith(".mp4")
    assert seconds_of(somebody.phone.state.files.read(f"{VIDEOS}/{name}")) == pytest.approx(64, abs=0.2)
    assert names(somebody, PHOTOS) == []


@pytest.mark.parametrize("leave", ["navigate_home", "navigate_back"])
def test_a_video_is_kept_when_one_leaves(somebody: Somebody, leave: str) -> None:
    somebody.taps("Mode list", "Video", "Shutter")
    somebody.does(Action(leave))
    assert len(names(somebody, VIDEOS)) == 1


def test_the_self_timer_takes_the_photo_later_and_can_be_stopped(somebody: Somebody) -> None:
    somebody.taps("Options", "Countdown timer is off")
    somebody.taps("Shutter")
    assert names(somebody, PHOTOS) == []
    somebody.waits(3)
    assert len(names(somebody, PHOTOS)) == 1
    somebody.taps("Shutter", "Shutter")
    somebody.waits(5)
    assert len(names(somebody, PHOTOS)) == 1
    somebody.taps("Shutter")
    somebody.goes_back()
    somebody.waits(5)
    assert len(names(somebody, PHOTOS)) == 1


def test_what_was_taken_is_looked_at_newest_first_deleted_and_brought_back(somebody: Somebody) -> None:
    somebody.taps("Shutter", "Mode list", "Video", "Shutter", "Shutter", "Most recent photo")
    assert somebody.sees("Play video")
    somebody.does(TO_THE_NEXT, TO_THE_NEXT)
    assert somebody.sees("/IMG_.*/")
    somebody.taps("Details")
    assert somebody.sees("/.storage.emulated.0.Pictures.*/")
    somebody.goes_back()
    somebody.taps("Delete")
    assert names(somebody, PHOTOS) == []
    assert somebody.sees("Play video")
    somebody.taps("Undo")
    assert len(names(somebody, PHOTOS)) == 1
    somebody.taps("Delete")
    somebody.does(BACK_AGAIN)
    somebody.does(BACK_AGAIN)
    assert somebody.sees("Shutter")


def test_pictures_of_other_apps_are_shown_and_broken_ones_do_no_harm(somebody: Somebody) -> None:
    somebody.has_file(f'{ALBUM}/it\'s "me" 😀.jpg', b"no picture at all")
    somebody.has_file(f"{PHOTOS}/notes.txt", "not shown")
    somebody.taps("Most recent photo")
    assert somebody.sees('it\'s "me" 😀.jpg')
    assert somebody.phone.picture().size == (1080, 2400)
    somebody.taps("Delete")
    assert names(somebody, ALBUM) == []
    assert names(somebody, PHOTOS) == ["notes.txt"]
    assert somebody.sees("Shutter")


def test_nothing_was_taken_yet(somebody: Somebody) -> None:
    somebody.does(TO_THE_NEXT)
    assert somebody.sees("Shutter")
    assert not somebody.sees("Most recent photo")


def test_an_intent_opens_the_video_mode(somebody: Somebody) -> None:
    somebody.adb("am", "start", "-a", "android.media.action.VIDEO_CAPTURE")
    assert somebody.phone.state.front.package == PACKAGE
    assert somebody.sees("Video")


def test_settings_stay_when_the_app_is_stopped(somebody: Somebody) -> None:
    somebody.taps("Mode list", "Settings", "Back camera video", "SD 480p")
    somebody.adb("am", "force-stop", PACKAGE)
    somebody.does(somebody.finger.open("Camera"))
    somebody.taps("Mode list", "Settings")
    assert somebody.sees("SD 480p")
