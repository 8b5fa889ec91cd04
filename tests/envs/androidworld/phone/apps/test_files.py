"""Files: folders and files of the storage, what can be done with them, and which app opens them."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.phone.apps.chooser import to_view
from eapo_gym.envs.androidworld.phone.apps.files import ROOTS, STORAGE
from eapo_gym.envs.androidworld.phone.files import SDCARD
from tests.envs.androidworld.somebody import Somebody


@pytest.fixture
def somebody() -> Somebody:
    return Somebody("Files")


def names(somebody: Somebody) -> list[str]:
    return [
        each.text for each in somebody.elements() if each.kind == "TextView" and each.resource.endswith("id/title")
    ][1:]


def goes_to(somebody: Somebody, *folders: str) -> None:
    somebody.taps("Show roots", STORAGE, *folders)


def test_it_begins_with_what_is_new(somebody: Somebody) -> None:
    assert somebody.sees("No items")
    somebody.has_file(f"{SDCARD}/Music/a.mp3", "x")
    somebody.waits(60)
    somebody.has_file(f"{SDCARD}/Pictures/b.jpg", "x")
    somebody.has_file(f"{SDCARD}/Android/data/c.jpg", "x")
    assert names(somebody) == ["b.jpg", "a.mp3"]
    somebody.taps("Audio")
    assert names(somebody) == ["a.mp3"]


@pytest.mark.parametrize("root", [name for name in ROOTS if name != STORAGE])
def test_every_root_can_be_looked_into(somebody: Somebody, root: str) -> None:
    somebody.taps("Show roots", root)
    assert somebody.sees("No items")


def test_back_leads_up_and_out(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/Old/a.mp3", "x")
    goes_to(somebody, "Music", "Old")
    somebody.goes_back()
    assert names(somebody) == ["Old"]
    somebody.goes_back()
    assert "Music" in names(somebody)
    somebody.goes_back()
    assert somebody.phone.state.at_home


def test_what_a_drawer_covers_is_not_told(somebody: Somebody) -> None:
    goes_to(somebody, "Documents")
    somebody.taps("Show roots")
    assert somebody.texts().count("Documents") == 1


@pytest.mark.parametrize("name", ["Tom's $(x) file.txt", "😀.txt", "n" * 200 + ".txt"])
def test_files_of_any_name_are_deleted(somebody: Somebody, name: str) -> None:
    somebody.has_file(f"{SDCARD}/Music/{name}", "x")
    goes_to(somebody, "Music")
    somebody.holds(name)
    somebody.taps("Delete")
    assert somebody.sees(f'Delete "{name}"?')
    somebody.taps("Cancel")
    assert f"{SDCARD}/Music/{name}" in somebody.phone.state.files
    somebody.taps("Delete", "OK")
    assert f"{SDCARD}/Music/{name}" not in somebody.phone.state.files
    assert somebody.sees("Deleted 1 item")


def test_copies_get_a_free_name(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/a.mp3", "x")
    goes_to(somebody, "Music")
    somebody.holds("a.mp3")
    somebody.taps("More options", "Copy to…", "Copy")
    assert names(somebody) == ["a (1).mp3", "a.mp3"]


def test_a_folder_is_made_where_files_are_moved_to(somebody: Somebody) -> None:
    for name in ("a.mp3", "b.mp3"):
        somebody.has_file(f"{SDCARD}/Music/{name}", name)
    goes_to(somebody, "Music")
    somebody.holds("a.mp3")
    somebody.taps("More options", "Select all", "More options", "Move to…", "New folder")
    somebody.writes("Old", into="Name")
    somebody.taps("OK", "Old", "Move")
    assert names(somebody) == ["a.mp3", "b.mp3"]
    assert somebody.sees("Moved 2 items")
    assert somebody.phone.state.files.text(f"{SDCARD}/Music/Old/b.mp3") == "b.mp3"


def test_a_folder_cannot_go_into_itself(somebody: Somebody) -> None:
    goes_to(somebody)
    somebody.holds("Music")
    somebody.taps("More options", "Move to…", "Music", "Move")
    assert somebody.sees("Not possible there: Music")
    assert somebody.phone.state.files.is_folder(f"{SDCARD}/Music")


def test_moving_can_be_broken_off(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/a.mp3", "x")
    goes_to(somebody, "Music")
    somebody.holds("a.mp3")
    somebody.taps("More options", "Move to…", STORAGE, "Movies", "Cancel")
    assert names(somebody) == ["a.mp3"]


def test_rename_keeps_a_dialog_open_that_has_no_name(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/a.mp3", "x")
    goes_to(somebody, "Music")
    somebody.holds("a.mp3")
    somebody.taps("More options", "Rename")
    somebody.writes(" ", into="a.mp3", clear=True)
    somebody.taps("OK")
    assert somebody.sees("A name is needed")
    somebody.writes("b.mp3", clear=True)
    somebody.taps("OK")
    assert names(somebody) == ["b.mp3"]


def test_search_order_and_hidden_files(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/.hidden", "x")
    somebody.has_file(f"{SDCARD}/Music/small.mp3", "x")
    somebody.has_file(f"{SDCARD}/Music/big.mp3", "x" * 5000)
    goes_to(somebody, "Music")
    somebody.taps("More options", "Sort by…", "Size (smallest first)")
    assert names(somebody) == ["small.mp3", "big.mp3"]
    somebody.taps("More options", "Show hidden files")
    assert ".hidden" in names(somebody)
    somebody.taps("Search")
    somebody.writes("BIG", into="Search")
    assert names(somebody) == ["big.mp3"]


def test_files_open_in_the_app_that_can(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Download/a.txt", "said")
    somebody.has_file(f"{SDCARD}/Download/b.xyz", "x")
    somebody.taps("Show roots", "Downloads", "b.xyz")
    assert somebody.sees("Can't open files of this type")
    somebody.taps("a.txt")
    assert somebody.phone.state.front.package == "net.gsantner.markor"
    assert somebody.sees("said\n") or somebody.sees("said")
    somebody.goes_back()
    assert somebody.sees("b.xyz")


def test_a_folder_that_is_gone_is_left(somebody: Somebody) -> None:
    goes_to(somebody, "Music")
    somebody.adb("rm", "-r", f"{SDCARD}/Music")
    assert "Movies" in names(somebody)


def test_the_shell_clears_the_storage_and_leaves_its_folders(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/Music/Old/a.mp3", "x")
    somebody.has_file(f"{SDCARD}/.hidden", "x")
    somebody.adb("find", f"{SDCARD}/", "-mindepth", "1", "-type", "f", "-delete")
    assert not [path for path in somebody.phone.state.files.files if path.startswith(SDCARD)]
    assert somebody.phone.state.files.is_folder(f"{SDCARD}/Music/Old")


def test_the_kind_of_a_file_is_told_to_who_opens_it() -> None:
    assert to_view(f"{SDCARD}/a.HTML").kind == "text/html"
    assert to_view(f"{SDCARD}/a.md").kind == "text/markdown"


def test_tiles_show_pictures_even_if_a_file_is_none(somebody: Somebody) -> None:
    somebody.has_file(f"{SDCARD}/DCIM/a.jpg", "no picture")
    goes_to(somebody, "DCIM")
    somebody.taps("More options", "Grid view")
    assert names(somebody) == ["a.jpg"]
    somebody.phone.picture()
