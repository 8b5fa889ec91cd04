"""Simple Gallery Pro: folders with pictures, pictures as large as the screen, and copies of them."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.tasks.papers import receipt_picture
from tests.envs.androidworld.somebody import Somebody

PICTURE = receipt_picture({"company": "Shop", "slogan": "All", "lines": ["2023-01-01, Lamp, $5.00"]}, "PNG")
DCIM, DOWNLOAD = f"{SDCARD}/DCIM", f"{SDCARD}/Download"


@pytest.fixture
def somebody() -> Somebody:
    return Somebody("Simple Gallery Pro")


def shown(somebody: Somebody) -> list[str]:
    return [each.desc for each in somebody.elements() if each.resource.endswith("medium_thumbnail")]


def test_without_pictures_it_says_so(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/a.jpg", PICTURE)
    somebody.has_file(f"{DCIM}/a.mp3", "x")
    assert somebody.sees("No media files have been found.")


def test_folders_pictures_and_back(somebody: Somebody) -> None:
    somebody.has_file(f"{DCIM}/old.png", PICTURE)
    somebody.waits(60)
    somebody.has_file(f"{DCIM}/new.png", PICTURE)
    somebody.has_file(f"{SDCARD}/Pictures/Trip/b.png", PICTURE)
    assert {"DCIM", "Trip"} <= set(somebody.texts())
    somebody.taps("DCIM")
    assert shown(somebody) == ["new.png", "old.png"]
    somebody.taps("More options", "Sort by", "Name")
    somebody.taps("new.png")
    assert somebody.phone.state.front.name.endswith("ViewPagerActivity")
    for _ in range(3):
        somebody.goes_back()
    assert somebody.phone.state.at_home


def test_a_finger_turns_to_the_next_picture(somebody: Somebody) -> None:
    for name in ("a.png", "b.png"):
        somebody.has_file(f"{DCIM}/{name}", PICTURE)
    somebody.taps("DCIM", "a.png")
    somebody.phone.swipe(900, 1200, 100, 1200)
    assert somebody.sees("b.png")
    somebody.phone.swipe(900, 1200, 100, 1200)
    assert somebody.sees("b.png"), "there is no other"


def test_what_is_on_a_picture_can_be_seen(somebody: Somebody) -> None:
    somebody.has_file(f"{DCIM}/a.png", PICTURE)
    somebody.taps("DCIM", "a.png")
    levels = somebody.phone.picture().crop((60, 400, 1020, 2000)).convert("L").tobytes()
    assert min(levels) < 40, "letters"
    assert max(levels) > 240, "paper"


@pytest.mark.parametrize("content", [b"", b"no picture", PICTURE[: len(PICTURE) // 2]])
def test_broken_files_are_shown_as_such(somebody: Somebody, content: bytes) -> None:
    somebody.has_file(f"{DCIM}/a.png", content)
    somebody.phone.picture()
    somebody.taps("DCIM", "a.png")
    somebody.phone.picture()


def test_a_copy_goes_into_a_folder_without_pictures(somebody: Somebody) -> None:
    somebody.has_file(f"{DCIM}/a.png", PICTURE)
    somebody.taps("DCIM")
    somebody.holds("a.png")
    somebody.taps("More options", "Copy to", "Other folder", "Download", "Select")
    assert somebody.sees("Files copied successfully")
    assert somebody.phone.state.files.read(f"{DOWNLOAD}/a.png") == PICTURE
    assert f"{DCIM}/a.png" in somebody.phone.state.files


def test_the_picture_that_is_shown_is_renamed_moved_and_deleted(somebody: Somebody) -> None:
    for name in ("a.png", "b.png", "c.png"):
        somebody.has_file(f"{DCIM}/{name}", PICTURE)
    somebody.has_file(f"{DOWNLOAD}/a.png", "other")
    somebody.taps("DCIM", "a.png", "More options", "Rename")
    somebody.writes("z.png", into="a.png", clear=True)
    somebody.taps("OK")
    assert somebody.sees("z.png")
    somebody.taps("More options", "Move to", "Download")
    assert f"{DOWNLOAD}/z.png" in somebody.phone.state.files
    assert somebody.sees("b.png")
    somebody.taps("Delete", "OK")
    assert somebody.sees("c.png")
    somebody.taps("Delete", "OK")
    assert somebody.sees("No media files have been found.")


def test_favourites_are_kept(somebody: Somebody) -> None:
    somebody.has_file(f'{DCIM}/a b".png', PICTURE)
    somebody.taps("DCIM", 'a b".png', "Toggle favorite")
    somebody.adb("am", "force-stop", "com.simplemobiletools.gallery.pro")
    assert "a b&quot;.png" in somebody.adb("cat", "/data/data/com.simplemobiletools.gallery.pro/shared_prefs/*.xml")


def test_a_picture_that_is_gone(somebody: Somebody) -> None:
    somebody.has_file(f"{DCIM}/a.png", PICTURE)
    somebody.taps("DCIM", "a.png")
    somebody.adb("rm", f"{DCIM}/a.png")
    assert somebody.sees("This file is not there any more.")
    somebody.goes_back()
    assert somebody.sees("No media files have been found.")


def test_pictures_open_from_files() -> None:
    somebody = Somebody("Files")
    somebody.has_file(f"{DCIM}/a.png", PICTURE)
    somebody.taps("a.png")
    assert somebody.phone.state.front.package == "com.simplemobiletools.gallery.pro"
    somebody.does(Action("navigate_back"))
    assert somebody.phone.state.front.package == "com.google.android.documentsui"
