"""Markor: notes that are written, found, renamed, moved and deleted, and what must not be lost of them."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.apps.markor.markdown import plain
from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK, QUICK_NOTE
from eapo_gym.envs.androidworld.tasks.markor import editor
from tests.envs.androidworld.somebody import Somebody


@pytest.fixture
def somebody() -> Somebody:
    return Somebody("Markor")


def note(somebody: Somebody, name: str) -> str:
    return somebody.phone.state.files.text(f"{NOTEBOOK}/{name}")


def names(somebody: Somebody) -> list[str]:
    return [each.text for each in somebody.elements() if each.resource.endswith("note_title")]


def make(somebody: Somebody, name: str) -> None:
    """A new note, which is open after that."""
    somebody.taps("Create a new file or folder")
    somebody.writes(name, into="Name")
    somebody.taps("OK")


def test_an_empty_notebook_says_so(somebody: Somebody) -> None:
    assert somebody.sees("This folder is empty")


@pytest.mark.parametrize("name", ['Tom\'s "plan"', "ünï 😀", "a" * 300, "x;rm -rf $(y)", "../../up", "a/b"])
def test_notes_can_have_any_name(somebody: Somebody, name: str) -> None:
    make(somebody, name)
    somebody.writes("said")
    somebody.goes_back()
    somebody.goes_back()
    [file] = somebody.phone.state.files.names(NOTEBOOK)
    assert "/" not in file
    assert note(somebody, file) == "said\n"
    assert names(somebody) == ([] if file.startswith(".") else [file]), "what begins with a dot is hidden"


def test_a_note_without_a_name_is_called_after_the_time(somebody: Somebody) -> None:
    make(somebody, " ")
    assert somebody.phone.state.files.names(NOTEBOOK)[0].startswith("2023-10-15T15-34")


def test_what_is_written_is_kept_when_the_note_is_left(somebody: Somebody) -> None:
    make(somebody, "plan")
    somebody.writes("one")
    assert note(somebody, "plan.md") == "", "nobody has saved it"
    somebody.taps("Save")
    assert note(somebody, "plan.md") == "one\n"
    somebody.writes("two")
    somebody.does(Action("navigate_home"))
    assert note(somebody, "plan.md") == "one\ntwo\n"


def test_an_app_that_is_stopped_saves_nothing(somebody: Somebody) -> None:
    make(somebody, "plan")
    somebody.writes("one")
    somebody.adb("am", "force-stop", "net.gsantner.markor")
    assert note(somebody, "plan.md") == ""


def test_reading_a_note_leaves_its_time_alone(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/old.md", "text")
    before = somebody.phone.state.files.get(f"{NOTEBOOK}/old.md").changed
    somebody.waits(60)
    somebody.taps("old.md")
    somebody.taps("Navigate up")
    assert somebody.phone.state.files.get(f"{NOTEBOOK}/old.md").changed == before


def test_undo_and_redo(somebody: Somebody) -> None:
    make(somebody, "plan")
    somebody.writes("one")
    somebody.taps("Undo", "Undo")
    assert editor(somebody.finger).text == ""
    somebody.taps("Redo")
    assert editor(somebody.finger).text == "one"


def test_signs_go_before_the_line_and_away_again(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/a.md", "first\nsecond")
    somebody.taps("a.md")
    field = editor(somebody.finger)
    somebody.does(Action("click", x=field.bounds[0] + 2, y=field.bounds[1] + 50))
    somebody.taps("Check list")
    assert editor(somebody.finger).text == "- [ ] first\nsecond"
    somebody.taps("Check list", "Bold")
    somebody.does(Action("input_text", text="x"))
    assert editor(somebody.finger).text == "**x\n**first\nsecond"


def test_find_puts_the_cursor_before_each_match(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/a.md", "an ant and an owl")
    somebody.taps("a.md", "More options", "Find in note")
    somebody.writes("AN", into="Find in note")
    assert somebody.sees("4")
    places = []
    for _ in range(5):
        places.append(somebody.phone.state.front.cursor)
        somebody.taps("Next match")
    assert places == [0, 3, 7, 11, 0]


def test_a_note_can_be_read_without_its_signs(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/a.md", "# Title\n\n- [x] **done**\n- point\n1. one\n> said\n")
    somebody.taps("a.md", "View mode")
    assert {"Title", "done", "point", "1.", "one", "said"} <= set(somebody.texts())
    somebody.taps("Edit mode")
    assert editor(somebody.finger).text.startswith("# Title")


@pytest.mark.parametrize(
    ("written", "read"),
    [("**a** and _b_", "a and b"), ("[site](http://x)", "site"), ("a * b", "a * b"), ("file_name_x", "file_name_x")],
)
def test_plain_words(written: str, read: str) -> None:
    assert plain(written) == read


def test_back_closes_what_lies_on_top(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/Work/a.md", "x")
    somebody.taps("Work")
    somebody.holds("a.md")
    somebody.taps("More options")
    for left in ("1 selected", "Work", "Markor"):
        somebody.goes_back()
        assert somebody.sees(left)
    somebody.goes_back()
    assert somebody.phone.state.at_home


def test_several_notes_are_deleted_at_once(somebody: Somebody) -> None:
    for name in ("a.md", "b.md", "c.md"):
        somebody.has_file(f"{NOTEBOOK}/{name}", "x")
    somebody.holds("a.md")
    somebody.taps("c.md", "Delete", "OK")
    assert names(somebody) == ["b.md"]


def test_a_name_that_is_taken_is_refused(somebody: Somebody) -> None:
    for name in ("a.md", "b.md"):
        somebody.has_file(f"{NOTEBOOK}/{name}", name)
    somebody.holds("a.md")
    somebody.taps("More options", "Rename")
    somebody.writes("b.md", into="a.md", clear=True)
    somebody.taps("OK")
    assert somebody.sees("b.md exists already")
    assert note(somebody, "b.md") == "b.md"


def test_moving_overwrites_nothing_and_a_folder_cannot_go_into_itself(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/a.md", "new")
    somebody.has_file(f"{NOTEBOOK}/Work/a.md", "old")
    somebody.holds("a.md")
    somebody.taps("More options", "Move", "Work", "Select")
    assert (note(somebody, "Work/a.md"), note(somebody, "Work/a (1).md")) == ("old", "new")
    somebody.holds("Work")
    somebody.taps("More options", "Move", "Work", "Select")
    assert somebody.sees("Not possible there: Work")


def test_the_order_is_kept_when_the_app_is_stopped(somebody: Somebody) -> None:
    for name in ("a.md", "c.md", "b.md"):
        somebody.has_file(f"{NOTEBOOK}/{name}", "x")
        somebody.waits(60)
    somebody.taps("Sort by", "Date")
    assert names(somebody) == ["b.md", "c.md", "a.md"]
    somebody.adb("am", "force-stop", "net.gsantner.markor")
    somebody.does(somebody.finger.open("Markor"))
    assert names(somebody) == ["b.md", "c.md", "a.md"]


def test_search_looks_into_all_notes(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/a.md", "buy Bread\nand milk")
    somebody.has_file(f"{NOTEBOOK}/Work/b.md", "nothing")
    somebody.taps("Search")
    somebody.writes("bread", into="Search in notes")
    assert names(somebody) == ["a.md"]
    assert somebody.sees("buy Bread")


def test_the_quick_note_is_a_file_once_something_is_in_it(somebody: Somebody) -> None:
    somebody.taps("QuickNote", "Files")
    assert QUICK_NOTE not in somebody.phone.state.files
    somebody.taps("QuickNote")
    somebody.does(Action("input_text", text="call Ines", index=editor(somebody.finger).index))
    somebody.taps("To-Do")
    assert somebody.phone.state.files.text(QUICK_NOTE) == "call Ines\n"


def test_what_is_no_text_is_not_opened(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/data.bin", b"\xff\xfe\x00")
    somebody.taps("data.bin")
    assert somebody.sees("data.bin is not a text")


def test_files_that_come_and_go_through_the_shell(somebody: Somebody) -> None:
    somebody.adb("echo", "hello", ">", f"{NOTEBOOK}/pushed.txt")
    assert names(somebody) == ["pushed.txt"]
    somebody.holds("pushed.txt")
    somebody.adb("rm", "-r", NOTEBOOK)
    assert somebody.sees("This folder is empty")
    make(somebody, "again")
    assert note(somebody, "again.md") == ""


def test_a_text_that_another_app_sends_is_added_to_a_note(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/a.md", "one")
    text = ("--es", "android.intent.extra.TEXT", "two")
    somebody.adb(
        "am", "start", "-a", "android.intent.action.SEND", "-t", "text/plain", *text, "-p", "net.gsantner.markor"
    )
    somebody.taps("a.md")
    assert note(somebody, "a.md") == "one\ntwo\n"


def test_a_long_note_follows_the_cursor(somebody: Somebody) -> None:
    somebody.has_file(f"{NOTEBOOK}/long.md", "\n".join(f"line {n}" for n in range(200)))
    somebody.taps("long.md")
    somebody.does(Action("click", x=300, y=1000), Action("press_keyboard", keycode="KEYCODE_MOVE_END"))
    somebody.does(Action("input_text", text="\n" * 60))
    low = somebody.phone.windows[0].placed
    [caret] = [each for each in low.walk() if each.view.look.drawing == "cursor"]
    assert caret.is_seen
