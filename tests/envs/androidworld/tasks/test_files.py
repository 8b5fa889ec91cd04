"""When a file counts as moved, deleted or copied, and what is drawn for such tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, TaskDice
from eapo_gym.envs.androidworld.tasks.files import FilesDeleteFile, FilesMoveFile
from eapo_gym.envs.androidworld.tasks.gallery import SaveCopyOfReceiptTaskEval
from eapo_gym.envs.androidworld.tasks.papers import draw_changed, draw_others, draw_receipt, receipt_picture


def begun(kind: Any) -> tuple[Phone, Any, Params]:
    phone, task = new_phone(), kind()
    params = task.draw(TaskDice("test", 3))
    task.prepare(phone, params)
    return phone, task, params


def change(phone: Phone, does: str, *paths: str) -> None:
    files = getattr(phone.state.files, does)(*paths, phone.state.now)
    phone.state = replace(phone.state, files=files)


@pytest.mark.parametrize("kind", [FilesDeleteFile, FilesMoveFile, SaveCopyOfReceiptTaskEval])
def test_the_storage_is_cleared_but_for_its_folders(kind: Any) -> None:
    phone, task = new_phone(), kind()
    before = phone.state.files.write(f"{SDCARD}/Music/Deep/of_before.mp3", b"x", phone.state.now)
    phone.state = replace(phone.state, files=before)
    params = task.draw(TaskDice("test", 3))
    task.prepare(phone, params)
    assert f"{SDCARD}/Music/Deep/of_before.mp3" not in phone.state.files
    assert phone.state.files.is_folder(f"{SDCARD}/Music/Deep")
    assert task.judge(phone, params, "") == 0


def test_a_file_is_deleted_where_it_was() -> None:
    phone, task, params = begun(FilesDeleteFile)
    folder, name = f"{SDCARD}/{params['subfolder']}", params["file_name"]
    change(phone, "remove", f"{folder}/{next(iter(params['others']))}")
    assert task.judge(phone, params, "") == 0
    change(phone, "remove", f"{folder}/{name}")
    assert task.judge(phone, params, "") == 1


def test_a_file_is_moved_under_its_name() -> None:
    phone, task, params = begun(FilesMoveFile)
    name = params["file_name"]
    source, target = f"{SDCARD}/{params['source_folder']}/{name}", f"{SDCARD}/{params['destination_folder']}"
    change(phone, "copy", source, target)
    assert task.judge(phone, params, "") == 0, "it is still there"
    change(phone, "remove", source)
    assert task.judge(phone, params, "") == 1
    change(phone, "move", f"{target}/{name}", f"{target}/other")
    assert task.judge(phone, params, "") == 0


def test_a_copy_lies_in_the_folder_itself() -> None:
    phone, task, params = begun(SaveCopyOfReceiptTaskEval)
    source = f"{SDCARD}/DCIM/{params['file_name']}"
    change(phone, "copy", source, f"{SDCARD}/Pictures")
    change(phone, "make_folder", f"{SDCARD}/Download/Deep")
    change(phone, "copy", source, f"{SDCARD}/Download/Deep")
    assert task.judge(phone, params, "") == 0
    change(phone, "copy", source, f"{SDCARD}/Download")
    assert task.judge(phone, params, "") == 1


def test_names_are_changed_before_the_extension() -> None:
    for seed in range(50):
        changed = draw_changed(TaskDice("test", seed), "plan.md")
        assert changed.endswith(".md")
        assert "plan" in changed
        assert changed != "plan.md"


def test_what_lies_about_is_never_the_file_itself() -> None:
    for seed in range(50):
        others = draw_others(TaskDice("test", seed), "plan", ("a.mp3",))
        assert 1 <= len(others) <= 20
        assert "plan" not in others
        assert all(name.endswith(".mp3") for name in others)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_receipt_is_a_picture_of_its_lines(kind: str) -> None:
    receipt = draw_receipt(TaskDice("test"), 5)
    assert len(receipt["lines"]) == 5
    assert all(line.count(", ") == 2 and "$" in line for line in receipt["lines"])
    first, other = receipt_picture(receipt, kind), receipt_picture({**receipt, "lines": receipt["lines"][:4]}, kind)
    assert first == receipt_picture(receipt, kind)
    assert first != other
