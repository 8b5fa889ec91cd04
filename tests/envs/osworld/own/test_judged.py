"""Every task is judged wrong as it begins, and right once it is done; without a desktop, on the files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from eapo_gym.envs.osworld.judging.judge import Verdict, judge
from eapo_gym.envs.osworld.own.catalog import made, make_task, templates
from eapo_gym.envs.osworld.tasks import DesktopTask
from tests.envs.osworld.own.folder_computer import FolderComputer
from tests.envs.osworld.own.rights import RIGHTS

for package in ("docx", "openpyxl", "pptx", "PIL"):
    pytest.importorskip(package, reason=f"the tasks' files are made with {package}, which is not installed")

TASKS = [f"{split}/{name}/0" for name in templates() for split in ("train", "test")]


def begun(task: DesktopTask, folder: Path) -> FolderComputer:
    """A machine as it is when the task begins."""
    machine = FolderComputer(folder)
    assert task.beside is not None
    for step in task.config:
        for file in step.parameters.get("files", ()):
            machine.write_file(file["path"], (task.beside / file["local_path"]).read_bytes())
    return machine


def verdict(task: DesktopTask, machine: FolderComputer, cache: Path, status: str | None = None) -> Verdict:
    return judge(task, machine, answer_status=status, cache=cache, prepare=lambda task: None)  # type: ignore[arg-type]


def finish(task_id: str, task: DesktopTask, machine: FolderComputer) -> None:
    """Do what was asked for."""
    drawn = made(task_id)
    name = task_id.split("/")[1]
    if name in RIGHTS:
        RIGHTS[name](machine, drawn.params)
        return
    for check in task.evaluator.checks:
        if check.result and check.expected and check.expected["type"] == "cloud_file":
            machine.write_file(check.result["path"], drawn.files[check.expected["path"]])


@pytest.mark.parametrize("task_id", TASKS)
def test_wrong_at_first_and_right_when_done(task_id: str, tmp_path: Path) -> None:
    task = make_task(task_id, tmp_path / "tasks")
    machine = begun(task, tmp_path / "home")
    if task.evaluator.is_infeasible:
        assert verdict(task, machine, tmp_path / "one").score == 0
        assert verdict(task, machine, tmp_path / "two", "infeasible").score == 1
        return
    before = verdict(task, machine, tmp_path / "before")
    assert before.score < 1, before
    finish(task_id, task, machine)
    after = verdict(task, machine, tmp_path / "after")
    assert after.score == 1, after
