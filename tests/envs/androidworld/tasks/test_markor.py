"""When a note counts as written, changed, moved or deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, TaskDice
from eapo_gym.envs.androidworld.tasks.markor import (
    TASKS,
    MarkorAddNoteHeader,
    MarkorChangeNoteContent,
    MarkorCreateNote,
    MarkorDeleteAllNotes,
    MarkorDeleteNewestNote,
    MarkorEditNote,
    MarkorMergeNotes,
    MarkorMoveNote,
    MarkorTranscribeReceipt,
)
from eapo_gym.envs.androidworld.tasks.papers import put


def begun(kind: Any, **changed: Any) -> tuple[Phone, Any, Params]:
    """A phone that is prepared for a task, the task, and its parameters."""
    phone, task = new_phone(), kind()
    params = {**task.draw(TaskDice("test", kind.__name__)), **changed}
    task.prepare(phone, params)
    return phone, task, task.begun(phone, params)


def write(phone: Phone, name: str, content: str) -> None:
    files = phone.state.files.write(f"{NOTEBOOK}/{name}", content.encode(), phone.state.now)
    phone.state = replace(phone.state, files=files)


def remove(phone: Phone, name: str) -> None:
    phone.state = replace(phone.state, files=phone.state.files.remove(f"{NOTEBOOK}/{name}", phone.state.now))


@pytest.mark.parametrize("kind", TASKS)
def test_nothing_is_done_at_first_and_notes_of_before_are_gone(kind: Any) -> None:
    phone, task = new_phone(), kind()
    put(phone, NOTEBOOK, {"of_before.md": "x"})
    params = task.draw(TaskDice("test", 1))
    task.prepare(phone, params)
    assert task.judge(phone, task.begun(phone, params), "") == 0
    assert f"{NOTEBOOK}/of_before.md" not in phone.state.files


@pytest.mark.parametrize(
    ("name", "content", "judged"),
    [
        ("a.md", "Return the drill to Marek.", 1),
        ("a.md", "\nreturn the drill to marek\n\n", 1),
        ("a.md", "Return the drill.", 0),
        ("a.md", "", 0),
        ("b.md", "Return the drill to Marek.", 0),
        ("a.md.md", "Return the drill to Marek.", 0),
        ("Work/a.md", "Return the drill to Marek.", 0),
    ],
)
def test_a_note_needs_its_name_and_text(name: str, content: str, judged: int) -> None:
    phone, task, params = begun(MarkorCreateNote, file_name="a.md", text="Return the drill to Marek.")
    write(phone, name, content)
    assert task.judge(phone, params, "") == judged


def test_a_folder_is_no_note() -> None:
    phone, task, params = begun(MarkorCreateNote, file_name="a.md")
    put(phone, f"{NOTEBOOK}/a.md", {})
    assert task.judge(phone, params, "") == 0


@pytest.mark.parametrize(("between", "judged"), [("\n\n", 1), ("\n", 0), ("\n\n\n", 0), (" \n", 0), ("\n \n", 0)])
def test_merged_notes_have_a_blank_line_between_them(between: str, judged: int) -> None:
    phone, task, params = begun(MarkorMergeNotes)
    text = between.join(params[f"file{number}_content"] for number in (1, 2, 3))
    write(phone, params["new_file_name"], text + "\n")
    assert task.judge(phone, params, "") == judged


def test_merged_notes_are_in_order() -> None:
    phone, task, params = begun(MarkorMergeNotes)
    write(phone, params["new_file_name"], "\n\n".join(params[f"file{number}_content"] for number in (2, 1, 3)))
    assert task.judge(phone, params, "") == 0


@pytest.mark.parametrize(
    ("kind", "content", "judged"),
    [
        ("header", "New line here.\nBread rises overnight.\n", 1),
        ("header", "Bread rises overnight.\nNew line here.\n", 0),
        ("header", "Bread rises overnight.\n", 0),
        ("footer", "Bread rises overnight.\n\nNew line here.\n", 1),
        ("footer", "New line here.\n", 0),
    ],
)
def test_a_line_goes_to_its_end_of_the_note(kind: str, content: str, judged: int) -> None:
    changed = {"edit_type": kind, kind: "New line here.", "content": "Bread rises overnight."}
    phone, task, params = begun(MarkorEditNote, **changed)
    write(phone, params["file_name"], content)
    assert task.judge(phone, params, "") == judged


def test_a_quote_in_the_note_is_looked_for_as_the_benchmark_wrote_it() -> None:
    phone, task, params = begun(MarkorEditNote, edit_type="footer", footer="x", content="I'd say it's Ann's")
    assert params["content"] == "I'\"'\"'d say it'\"'\"'s Ann'\"'\"'s"
    write(phone, params["file_name"], "I'd say it's Ann's\nx\n")
    assert task.judge(phone, params, "") == 0, "too many letters are missing"


def test_what_the_goal_says_of_the_change() -> None:
    task = MarkorEditNote()
    params = {"file_name": "a.md", "edit_type": "replace", "replace_text": "one\ntwo"}
    assert task.goal(params) == "Edit a.md in Markor. Replace the text with one\ntwo"


@pytest.mark.parametrize(
    ("content", "judged"), [("{h}\n\n{c}\n", 1), ("{h}\n{c}\n", 0), ("{h}\n\n{c}", 0), ("{h}\n\n{c}\n\n", 0)]
)
def test_a_header_is_compared_letter_by_letter(content: str, judged: int) -> None:
    phone, task, params = begun(MarkorAddNoteHeader)
    remove(phone, params["original_name"])
    write(phone, params["new_name"], content.format(h=params["header"], c=params["original_content"]))
    assert task.judge(phone, params, "") == judged


def test_the_old_name_must_be_gone() -> None:
    phone, task, params = begun(MarkorChangeNoteContent)
    write(phone, params["new_name"], params["updated_content"])
    assert task.judge(phone, params, "") == 0
    remove(phone, params["original_name"])
    assert task.judge(phone, params, "") == 1


def test_a_copy_is_not_a_move() -> None:
    phone, task, params = begun(MarkorMoveNote)
    name = params["file_name"]
    write(phone, f"{params['destination_folder']}/{name}", "x")
    assert task.judge(phone, params, "") == 0
    remove(phone, f"{params['source_folder']}/{name}")
    assert task.judge(phone, params, "") == 1


def test_only_the_newest_may_go() -> None:
    notes = [("a.md", "x", -10), ("b.md", "x", 20), ("c.md", "x", 5)]
    for gone, judged in (("a.md", 0), ("b.md", 0), ("c.md", 1)):
        phone, task, params = begun(MarkorDeleteNewestNote, notes=notes)
        remove(phone, gone)
        assert task.judge(phone, params, "") == judged, gone
    write(phone, "a.md", "x")
    assert task.judge(phone, params, "") == 0, "another one was touched"


def test_all_notes_are_those_that_are_hidden_too() -> None:
    phone, task, params = begun(MarkorDeleteAllNotes)
    write(phone, ".hidden", "x")
    for name in params["others"]:
        remove(phone, name)
    assert task.judge(phone, params, "") == 0
    remove(phone, ".hidden")
    assert task.judge(phone, params, "") == 1


def test_a_receipt_is_adopted_without_its_picture() -> None:
    adopted = MarkorTranscribeReceipt().adopted({"img": object(), "file_name": "receipt.md", "text": "a", "seed": 1})
    assert adopted == {"file_name": "receipt.md", "text": "a"}
