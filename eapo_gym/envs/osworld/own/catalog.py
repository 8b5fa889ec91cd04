"""Which tasks of our own there are, and how one is made: "train/CalcSort/7" is a split, a template and a number."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from eapo_gym.envs.osworld.own.apps import (
    calc,
    chrome,
    files,
    gimp,
    impress,
    several,
    terminal,
    thunderbird,
    vlc,
    writer,
)
from eapo_gym.envs.osworld.own.base import SPLITS, Made, TaskDice, Template
from eapo_gym.envs.osworld.reading import read_task
from eapo_gym.envs.osworld.tasks import DesktopTask
from eapo_gym.errors import UnknownName

TASKS_PER_TEMPLATE: Mapping[str, int] = {"train": 20, "valid": 2, "test": 4}
"""So many tasks of each template are listed; any other number can be made as well."""

_APPS = (calc, writer, impress, gimp, vlc, chrome, thunderbird, files, terminal, several)

_VERSION = 1
"""Of what is made: a folder of another version is another folder."""


@cache
def templates() -> Mapping[str, Template]:
    """All templates by their names."""
    made = [template() for app in _APPS for template in app.TEMPLATES]
    return {template.name(): template for template in made}


def own_tasks(split: str) -> tuple[str, ...]:
    """The ids of a split's tasks, every template in turn."""
    if split not in SPLITS:
        raise UnknownName.of("split of our own desktop tasks", split, SPLITS)
    return tuple(f"{split}/{name}/{number}" for number in range(TASKS_PER_TEMPLATE[split]) for name in templates())


def template_of(task_id: str) -> Template:
    """The template of a task, which also knows how it is done."""
    return templates()[_parts(task_id)[1]]


def made(task_id: str) -> Made:
    """The task as it is drawn, without a folder."""
    split, name, number = _parts(task_id)
    return templates()[name].make(TaskDice(name, split, number))


def make_task(task_id: str, folder: Path) -> DesktopTask:
    """The task, with its files in a folder of its own below `folder`; what is there already is used again.

    Raises:
        UnknownName: there is no such split or template.
    """
    split, name, number = _parts(task_id)
    key = f"{split}.{name}.{number}"
    home = folder / f"own-{_VERSION}" / key
    if not home.is_dir():
        drawn = made(task_id)
        _write(home, {**drawn.files, f"{key}.json": json.dumps({"id": key, **drawn.task}, indent=1).encode()})
    return replace(read_task(home / f"{key}.json", domain=templates()[name].domain), id=task_id)


def _parts(task_id: str) -> tuple[str, str, int]:
    split, _, rest = task_id.partition("/")
    name, _, number = rest.partition("/")
    if split not in SPLITS:
        raise UnknownName.of("split of our own desktop tasks", split, SPLITS)
    if name not in templates():
        raise UnknownName.of("template of our own desktop tasks", name, templates())
    if not (number.isascii() and number.isdigit() and len(number) <= 9):
        raise UnknownName(f"Unknown task {task_id!r}: expected a split, a template and a number, as in train/{name}/0.")
    return split, name, int(number)


def _write(home: Path, content: Mapping[str, bytes]) -> None:
    """Write a folder that is there whole or not at all."""
    draft = home.with_name(f".{home.name}.{secrets.token_hex(4)}")
    draft.mkdir(parents=True)
    for name, each in content.items():
        (draft / name).write_bytes(each)
    try:
        os.rename(draft, home)
    except OSError:
        # Somebody else was faster; what they wrote is the same.
        for name in content:
            (draft / name).unlink()
        draft.rmdir()
        if not home.is_dir():
            raise
