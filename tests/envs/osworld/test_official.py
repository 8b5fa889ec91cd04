"""The benchmark's list of tasks, its splits, and what its tasks need."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.osworld.official import DOMAINS, SHORT_NAMES, SPLITS, OfficialTasks, data_folder
from eapo_gym.envs.osworld.reading import read_task
from eapo_gym.envs.osworld.requirements import Requirements, is_on_the_web, requirements
from eapo_gym.envs.osworld.tasks import TaskFileError
from eapo_gym.errors import MissingData, UnknownName
from tests.envs.osworld.remembering import official_archive


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> OfficialTasks:
    folder = tmp_path_factory.mktemp("official")
    with tarfile.open(official_archive()) as archive:
        archive.extractall(folder, filter="data")
    return OfficialTasks(folder)


def put(folder: Path, listed: Any, **tasks: dict[str, Any]) -> Path:
    """A folder as the benchmark's; a task's name is DOMAIN__ID."""
    folder.mkdir(exist_ok=True)
    (folder / "test_all.json").write_text(json.dumps(listed))
    for name, content in tasks.items():
        domain, _, key = name.partition("__")
        path = folder / "examples" / domain / f"{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"id": key} | content))
    return folder


def needs(instruction: str = "Do it.", result: Any = None, expected: Any = None, **content: Any) -> Requirements:
    evaluator = {"func": "exact_match", "result": result or {"type": "vm_file", "path": "a"}, "expected": expected}
    whole = {"id": "a", "instruction": instruction, "evaluator": evaluator} | content
    return requirements(read_task(whole, domain="os"))


def test_the_domains_have_as_many_tasks_as_the_benchmark_says(official: OfficialTasks) -> None:
    assert len(official.split("all")) == sum(DOMAINS.values()) == 369
    for domain, count in DOMAINS.items():
        assert len(official.split(domain)) == count
    for short, domain in SHORT_NAMES.items():
        assert official.split(short) == official.split(domain)
    assert {task for domain in DOMAINS for task in official.split(domain)} == set(official.ids)


def test_the_other_splits(official: OfficialTasks) -> None:
    splits = {name: official.split(name) for name in SPLITS}
    assert len(splits["small"]) == 39
    assert len(splits["without_accounts"]) == 361
    assert len(splits["infeasible"]) == 30
    assert sorted((*splits["feasible"], *splits["infeasible"])) == sorted(splits["all"])
    assert set(splits["offline"]) < set(splits["feasible"]) & set(splits["without_accounts"])
    assert "vs_code/982d12a5-beab-424f-8d38-d2a48429e511" in splits["offline"]
    assert "vs_code/eabc805a-bfcf-4460-b250-ac92135819f6" not in splits["offline"]  # installs an extension


def test_what_real_tasks_need(official: OfficialTasks) -> None:
    table = official.requirements("libreoffice_calc/42e0a640-4f19-4b28-973d-729602b5a4a7")
    assert table.network
    assert len(table.files) == 2  # what is worked on, and what it is compared with
    assert (table.websites, table.accounts, table.infeasible) == ((), (), False)
    drive = official.requirements("multi_apps/46407397-a7d5-4c6b-92c6-dbe038b1457b")
    assert drive.accounts == ("googledrive", "login: googledrive", "googledrive_file")


def test_what_a_file_says_that_it_needs() -> None:
    assert needs() == Requirements((), (), (), (), proxy=False, root=False, infeasible=False)
    assert not needs().network
    assert needs("Install the extension.").websites == ("asks to install something",)
    assert needs("Open https://example.org now.").websites == ("names a website",)
    assert needs("Open http://localhost:8000/ now.").websites == ()
    assert needs(result={"type": "active_tab_info"}).websites == ("judged by active_tab_info",)
    settings = {"type": "rule", "rules": {"url": "chrome://settings/"}}
    assert needs(result={"type": "active_tab_info"}, expected=settings).websites == ()
    assert needs(expected={"type": "cloud_file", "path": ["https://a/1", "https://a/2"]}).files == (
        "https://a/1",
        "https://a/2",
    )
    assert needs(proxy=True).proxy
    assert needs(result={"type": "vm_command_line", "command": "echo x | sudo -S ls"}).root


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"type": "execute", "parameters": {"command": ["pip", "install", "x"]}}, "installs something"),
        ({"type": "command", "parameters": {"command": "apt-get update -y", "shell": True}}, "installs something"),
        ({"type": "execute", "parameters": {"command": "curl https://a.org"}}, "a command names a website"),
        ({"type": "chrome_open_tabs", "parameters": {"urls_to_open": ["https://a.org"]}}, "opens a website"),
    ],
)
def test_steps_that_reach_for_the_network(step: Any, reason: str) -> None:
    assert needs(config=[step]).websites == (reason,)


@pytest.mark.parametrize(
    ("address", "on_the_web"),
    [
        ("https://example.org", True),
        ("HTTP://EXAMPLE.ORG:80/x", True),
        ("http://localhost:9222", False),
        ("http://127.0.0.1", False),
        ("http://[::1]:80/", False),
        ("http://[", False),
        ("file:///home/user/a.html", False),
        ("chrome://settings", False),
        ("", False),
    ],
)
def test_addresses_on_the_web(address: str, on_the_web: bool) -> None:
    assert is_on_the_web(address) is on_the_web


def test_data_that_are_not_here_name_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAPO_OSWORLD_DATA", str(tmp_path / "none"))
    with pytest.raises(MissingData, match="run 'eapo-gym data osworld', or let EAPO_OSWORLD_DATA name the folder"):
        OfficialTasks()
    monkeypatch.delenv("EAPO_OSWORLD_DATA")
    assert data_folder() == Path("~/.cache/osworld").expanduser()


def test_a_split_or_task_that_there_is_not(tmp_path: Path) -> None:
    tasks = OfficialTasks(put(tmp_path / "a", {"os": ["x"]}, os__x={}))
    with pytest.raises(UnknownName, match="Did you mean 'infeasible'"):
        tasks.split("unfeasible")
    with pytest.raises(UnknownName, match="Unknown task 'os/y'"):
        tasks.task("os/y")
    with pytest.raises(MissingData, match="'small' needs"):
        tasks.split("small")


def test_a_broken_task_is_refused_when_it_is_read_and_the_rest_can_be_played(tmp_path: Path) -> None:
    good = {"instruction": "Do it.", "evaluator": {"func": "infeasible"}}
    tasks = OfficialTasks(put(tmp_path / "a", {"os": ["x", "y", "z"]}, os__x={}, os__y=good))
    assert tasks.task("os/y").evaluator.is_infeasible
    with pytest.raises(TaskFileError, match="Task os/x: instruction"):
        tasks.task("os/x")
    with pytest.raises(TaskFileError, match=r"Task os/z: its file .* cannot be read"):
        tasks.task("os/z")


@pytest.mark.parametrize("listed", [[], {"os": "x"}, {"os": [1]}, {"os": ["../../x"]}, {"..": ["x"]}, {"os": ["a/b"]}])
def test_lists_that_are_none(tmp_path: Path, listed: Any) -> None:
    with pytest.raises(TaskFileError, match="expected"):
        OfficialTasks(put(tmp_path / "a", listed))


def test_a_small_list_with_tasks_that_the_whole_one_lacks(tmp_path: Path) -> None:
    folder = put(tmp_path / "a", {"os": ["x"]})
    (folder / "test_small.json").write_text('{"os": ["y"]}')
    with pytest.raises(TaskFileError, match=r"lists 'os/y', which is not in test_all\.json"):
        OfficialTasks(folder).split("small")
