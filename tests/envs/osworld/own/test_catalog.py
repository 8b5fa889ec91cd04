"""Which tasks there are, and that they are the same everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from eapo_gym.envs.osworld.judging.registry import known_getters, known_metrics
from eapo_gym.envs.osworld.own.base import SPLITS, TaskDice
from eapo_gym.envs.osworld.own.catalog import TASKS_PER_TEMPLATE, made, make_task, own_tasks, template_of, templates
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.reading import read_task
from eapo_gym.errors import UnknownName

for package in ("docx", "openpyxl", "pptx", "PIL"):
    pytest.importorskip(package, reason=f"the tasks' files are made with {package}, which is not installed")

APPS = ("CalcSort", "WriterReplace", "ImpressNote", "GimpCropBorder", "VlcPlaylist", "ChromeBookmark", "MailMove")


def digest(task_id: str) -> str:
    drawn = made(task_id)
    whole = sha256(json.dumps(drawn.task, sort_keys=True).encode())
    for name, content in sorted(drawn.files.items()):
        whole.update(name.encode() + content)
    return whole.hexdigest()


def test_every_group_of_apps_has_its_tasks() -> None:
    domains = [template.domain for template in templates().values()]
    assert len(domains) >= 60
    assert set(domains) == {
        *("libreoffice_calc", "libreoffice_writer", "libreoffice_impress", "gimp", "vlc", "chrome", "thunderbird"),
        *("os", "multi_apps"),
    }
    assert min(map(domains.count, domains)) >= 6


def test_ids() -> None:
    for split in SPLITS:
        listed = own_tasks(split)
        assert len(listed) == len(set(listed)) == TASKS_PER_TEMPLATE[split] * len(templates())
        assert {template_of(task_id).name() for task_id in listed} == set(templates())
    with pytest.raises(UnknownName, match="Did you mean 'train'"):
        own_tasks("trian")
    with pytest.raises(UnknownName, match="CalcSort"):
        made("train/CalcSrot/0")
    with pytest.raises(UnknownName, match="train/CalcSort/0"):
        made("train/CalcSort/x")
    with pytest.raises(UnknownName):
        made("train")


def test_the_same_bytes_in_another_process() -> None:
    ids = [f"test/{name}/1" for name in APPS]
    code = f"from tests.envs.osworld.own.test_catalog import digest\nfor each in {ids!r}: print(digest(each))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.split() == [digest(each) for each in ids]


def test_no_task_is_another() -> None:
    ids = [f"{split}/{name}/{number}" for split in SPLITS for name in APPS for number in range(2)]
    assert len({digest(each) for each in ids}) == len(ids)


@pytest.mark.parametrize("pool", [words.FIRST_NAMES, words.PRODUCTS, words.CITIES, words.TOPICS, words.NOUNS])
def test_splits_share_no_words(pool: tuple[str, ...]) -> None:
    shares = [set(TaskDice("Any", split, 0).share(pool)) for split in SPLITS]
    assert sorted(word for share in shares for word in share) == sorted(pool)


def test_one_wording_is_kept_from_training() -> None:
    for name, template in templates().items():
        assert len(set(template.wordings)) >= 3
        drawn = {TaskDice(name, "train", number).wording(template.wordings) for number in range(40)}
        assert drawn == set(template.wordings[:-1])


@pytest.mark.parametrize("name", APPS)
def test_a_task_on_disk(name: str, tmp_path: Path) -> None:
    task = make_task(f"valid/{name}/3", tmp_path)
    assert task.id == f"valid/{name}/3"
    assert task.beside is not None
    before = {path: path.stat().st_mtime_ns for path in task.beside.iterdir()}
    assert make_task(f"valid/{name}/3", tmp_path) == task
    assert {path: path.stat().st_mtime_ns for path in task.beside.iterdir()} == before
    assert [path for path in task.beside.parent.iterdir() if path.name.startswith(".")] == []


def test_they_name_what_there_is() -> None:
    for name in templates():
        drawn = made(f"train/{name}/1")
        task = read_task(
            {"id": name, **drawn.task}, domain="own", metrics=known_metrics(), getters=known_getters()
        )  # raises otherwise
        uploaded = {
            file["local_path"]
            for step in task.config
            if step.type == "upload_file"
            for file in step.parameters["files"]
        }
        wanted = {
            check.expected["path"]
            for check in task.evaluator.checks
            if check.expected and check.expected["type"] == "cloud_file"
        }
        assert uploaded <= set(drawn.files)
        assert wanted <= set(drawn.files), name
        assert set(drawn.files) == uploaded | wanted, f"{name} has files that nobody asks for"
