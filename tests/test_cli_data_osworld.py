"""`eapo-gym data osworld`: the benchmark's task files, fetched from a real server or brought along, and read."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.cli.data import osworld
from eapo_gym.envs.osworld import download
from eapo_gym.envs.osworld.official import OfficialTasks
from tests.command_line import run
from tests.envs.osworld.remembering import official_archive
from tests.envs.osworld.serving import Server, Shelf, serving

Files = dict[str, bytes]


def task(key: str, **changes: Any) -> bytes:
    content = {"id": key, "instruction": "Do it.", "evaluator": {"func": "infeasible"}} | changes
    return json.dumps(content).encode()


def files(*keys: str) -> Files:
    """The benchmark's folder, with some tasks of one domain."""
    listed = json.dumps({"os": list(keys)}).encode()
    tasks = {f"examples/os/{key}.json": task(key) for key in keys}
    return {"test_all.json": listed, "test_small.json": listed, "README.md": b"# Hi", **tasks}


def make_folder(path: Path, content: Files) -> Path:
    for name, each in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(each)
    return path


def make_tar(path: Path, content: Files, *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, f"w:{path.suffix[1:]}") as archive:
        for name, each in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(each)
            archive.addfile(info, io.BytesIO(each))
        for info in more:
            archive.addfile(info)
    return path


def make_zip(path: Path, content: Files) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, each in content.items():
            archive.writestr(name, each)
    return path


def below(prefix: str, content: Files) -> Files:
    return {prefix + name: each for name, each in content.items()}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EAPO_OSWORLD_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path / "data"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    monkeypatch.setattr(download, "SCHEMES", ("https", "http"))  # the server has no certificate
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        monkeypatch.setattr(osworld, "ARCHIVE", server.url("/{revision}.tar.gz"))
        yield server


def published(tmp_path: Path, *keys: str) -> Shelf:
    """The whole repository's archive, as GitHub makes it: without a size, and with much else in it."""
    content = below("OSWorld-abc/evaluation_examples/", files(*keys))
    content |= {"OSWorld-abc/README.md": b"# OSWorld", "OSWorld-abc/mm_agents/agent.py": b"x = 1\n" * 1000}
    link = tarfile.TarInfo("OSWorld-abc/latest")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    return Shelf(make_tar(tmp_path / "published.gz", content, link).read_bytes(), sized=False, headers={"ETag": '"1"'})


def ids(data: Path) -> tuple[str, ...]:
    return OfficialTasks(data / "evaluation_examples").ids


def test_the_archive_is_fetched_and_every_task_read(server: Server, data: Path, tmp_path: Path) -> None:
    server.shelves[f"/{osworld.REVISION}.tar.gz"] = published(tmp_path, "a", "b")
    first = run("data", "osworld")
    assert first.exit_code == 0, first.output
    assert "2 tasks, 2 of them infeasible: 2 os" in first.output
    assert "These are not the benchmark's 369 tasks" in first.output
    assert ids(data) == ("os/a", "os/b")
    assert {path.name for path in data.iterdir()} == {"evaluation_examples", ".lock"}
    assert {path.name for path in (data / "evaluation_examples").iterdir()} == {
        *("test_all.json", "test_small.json", "examples", "source.json")
    }
    server.asked.clear()
    again = run("data", "osworld")
    assert again.exit_code == 0
    assert "are in" in again.output
    assert server.asked == []


def test_a_branch_is_fetched_anew_every_time(server: Server, data: Path, tmp_path: Path) -> None:
    server.shelves["/main.tar.gz"] = published(tmp_path, "a")
    assert run("data", "osworld", "--revision", "main").exit_code == 0
    server.shelves["/main.tar.gz"] = published(tmp_path, "b")
    assert run("data", "osworld", "--revision", "main").exit_code == 0
    assert ids(data) == ("os/b",)


def test_a_download_that_broke_off_goes_on(server: Server, data: Path, tmp_path: Path) -> None:
    shelf = server.shelves[f"/{osworld.REVISION}.tar.gz"] = published(tmp_path, "a")
    half = len(shelf.content) // 2
    shelf.sized, shelf.cuts = True, [half, 0, 0]
    failed = run("data", "osworld")
    assert failed.exit_code == 2
    assert "Run the same command again later" in failed.output
    assert not (data / "evaluation_examples").exists()
    server.asked.clear()
    assert run("data", "osworld").exit_code == 0
    assert [wanted for _, wanted in server.asked] == [f"bytes={half}-"]


def test_what_cannot_be_fetched_names_the_other_way(server: Server, data: Path) -> None:
    result = run("data", "osworld")
    assert result.exit_code == 2
    assert "it answers 404 Not Found" in result.output
    assert "eapo-gym data osworld --from FOLDER_OR_ARCHIVE" in result.output


def test_an_archive_that_is_cut_off_takes_no_place(server: Server, data: Path, tmp_path: Path) -> None:
    shelf = server.shelves[f"/{osworld.REVISION}.tar.gz"] = published(tmp_path, "a")
    assert run("data", "osworld").exit_code == 0
    server.shelves["/main.tar.gz"] = Shelf(shelf.content[: len(shelf.content) // 2], sized=False)
    result = run("data", "osworld", "--revision", "main")
    assert result.exit_code == 2
    assert "is broken or cut off" in result.output
    assert ids(data) == ("os/a",)
    assert {path.name for path in data.iterdir()} == {"evaluation_examples", ".lock"}


@pytest.mark.parametrize("revision", ["../x", "a b", "", "a/../b", "?", "x" * 200])
def test_a_revision_is_a_name(data: Path, revision: str) -> None:
    result = run("data", "osworld", "--revision", revision)
    assert result.exit_code == 2
    assert "expected a commit or a branch" in result.output


def test_from_and_revision_do_not_go_together(data: Path, tmp_path: Path) -> None:
    result = run("data", "osworld", "--from", str(tmp_path), "--revision", "main")
    assert result.exit_code == 2
    assert "name one of the two" in result.output


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: make_tar(folder / "a.xz", below("./", files("a"))),
        lambda folder: make_tar(folder / "a.gz", below("x/evaluation_examples/", files("a"))),
        lambda folder: make_zip(folder / "a.zip", files("a")),
        lambda folder: make_folder(folder / "a", files("a")),
        lambda folder: make_folder(folder / "a", below("evaluation_examples/", files("a"))).absolute(),
    ],
)
def test_what_somebody_has_is_taken(data: Path, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    result = run("data", "osworld", "--from", str(make(tmp_path)))
    assert result.exit_code == 0, result.output
    assert ids(data) == ("os/a",)


def test_another_folder_is_named_for_the_environment(data: Path, tmp_path: Path) -> None:
    origin = make_folder(tmp_path / "a", files("a"))
    result = run("data", "osworld", "--from", str(origin), "--into", str(tmp_path / "other"))
    assert f"export EAPO_OSWORLD_DATA={tmp_path / 'other'}" in result.output
    assert not data.exists()
    assert ids(tmp_path / "other") == ("os/a",)


def test_new_files_take_the_place_of_all_the_old_ones(data: Path, tmp_path: Path) -> None:
    run("data", "osworld", "--from", str(make_folder(tmp_path / "a", files("a"))))
    run("data", "osworld", "--from", str(make_folder(tmp_path / "b", files("b"))))
    assert ids(data) == ("os/b",)
    assert not (data / "evaluation_examples/examples/os/a.json").exists()


def test_the_folder_that_is_played_from_can_be_taken_again(data: Path, tmp_path: Path) -> None:
    run("data", "osworld", "--from", str(make_folder(tmp_path / "a", files("a"))))
    assert run("data", "osworld", "--from", str(data)).exit_code == 0
    assert ids(data) == ("os/a",)


def test_tasks_that_cannot_be_read_are_named_and_the_rest_stays(data: Path, tmp_path: Path) -> None:
    content = files("a", "b", "c") | {"examples/os/b.json": task("b", instruction=3)}
    del content["examples/os/c.json"]
    result = run("data", "osworld", "--from", str(make_folder(tmp_path / "a", content)))
    assert result.exit_code == 1
    assert "1 tasks, 1 of them infeasible" in result.output
    assert "Task os/b: instruction: expected a text, got 3." in result.output
    assert "Task os/c: its file" in result.output
    assert "2 of the tasks that test_all.json lists cannot be played." in result.output
    assert OfficialTasks(data / "evaluation_examples").task("os/a").id == "os/a"


UP = "evaluation_examples/examples/../a.json"


@pytest.mark.parametrize("suffix", ["gz", "zip"])
def test_an_archive_cannot_write_outside(data: Path, tmp_path: Path, suffix: str) -> None:
    make = make_zip if suffix == "zip" else make_tar
    archive = make(tmp_path / f"a.{suffix}", files("a") | {UP: task("a")})
    result = run("data", "osworld", "--from", str(archive))
    assert result.exit_code == 2
    assert f"is not safe to unpack: it holds the path '{UP}'" in result.output
    assert not (data / "evaluation_examples").exists()


def test_links_in_an_archive_are_refused(data: Path, tmp_path: Path) -> None:
    link = tarfile.TarInfo("examples/os/b.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    result = run("data", "osworld", "--from", str(make_tar(tmp_path / "a.gz", files("a"), link)))
    assert result.exit_code == 2
    assert "is a link or a device" in result.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"x.txt": b""}, "holds no tasks: expected evaluation_examples/test_all.json"),
        (files("a") | {"examples/os/big.json": b" " * 1_000_001}, "has more than 1 MB, which no task has"),
        (files("a") | {"test_all.json": b"[]"}, "expected an object with a list of ids for each domain"),
        (files(*"abcdefgh"), "has more than 9 task files, which the benchmark has not"),
    ],
)
def test_what_is_no_such_archive_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Files, said: str
) -> None:
    monkeypatch.setattr(osworld, "MOST_FILES", 9)
    result = run("data", "osworld", "--from", str(make_tar(tmp_path / "a.gz", content)))
    assert result.exit_code == 2
    assert said in result.output
    assert not (data / "evaluation_examples").exists()


def test_what_is_not_there_or_no_archive(data: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"no archive")
    (tmp_path / "empty").mkdir()
    for name, said in (
        ("none", "no such file or folder"),
        ("a.tar", "neither a .zip nor"),
        ("empty", "expected a folder"),
    ):
        result = run("data", "osworld", "--from", str(tmp_path / name))
        assert result.exit_code == 2
        assert said in result.output


def test_two_commands_in_one_folder(data: Path, tmp_path: Path) -> None:
    import fcntl

    data.mkdir()
    with (data / ".lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        result = run("data", "osworld", "--from", str(make_folder(tmp_path / "a", files("a"))))
    assert result.exit_code == 2
    assert "Another process is at work" in result.output


def test_the_real_files_are_the_benchmarks(data: Path) -> None:
    result = run("data", "osworld", "--from", str(official_archive()))
    assert result.exit_code == 0, result.output
    assert "369 tasks, 30 of them infeasible: 46 chrome, 26 gimp, 47 libreoffice_calc" in result.output
    assert "These are not" not in result.output
    shutil.rmtree(data)
