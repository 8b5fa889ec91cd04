import io
import json
import os
import shutil
import stat
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gymnasium as gym
import pytest

from eapo_gym.cli.data.bring_in import BadArchive, bring_in
from eapo_gym.cli.data.download import ARCHIVES, DETECTOR, NoDownloader, find_command, finished_archives
from eapo_gym.envs.alfworld import data as alfworld_data
from eapo_gym.envs.alfworld.data import GAME_FILE, OFFICIAL_COUNTS
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.envs.alfworld.inspection import FOLDER, MARKER, overview
from tests.command_line import ROOT, run, set_up_machine

REFERENCE_PYTHON = os.environ.get("EAPO_REFERENCE_PYTHON")
SHARED = Path(os.environ.get("EAPO_GYM_SHARED") or ROOT.parent / "shared")

Games = dict[str, bytes]
"""Path below json_2.1.1 → content."""


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Splits of two games instead of thousands."""
    set_up_machine(monkeypatch, tmp_path)
    for split in OFFICIAL_COUNTS:
        monkeypatch.setitem(OFFICIAL_COUNTS, split, 2)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Games:
    """Two games for each official split, with the files that the benchmark has."""
    folder = tmp_path_factory.mktemp("games")
    found: Games = {}
    for i, split in enumerate(OFFICIAL_COUNTS):
        for seed in (2 * i, 2 * i + 1):
            game = generate(seed)
            game.write(folder / split)
            for file in (folder / split / game.id).iterdir():
                found[str(file.relative_to(folder))] = file.read_bytes()
            found[f"{split}/{game.id}/initial_state.pddl"] = b"(define (problem p))"
    return found


def only(games: Games, *splits: str) -> Games:
    return {name: content for name, content in games.items() if name.split("/")[0] in splits}


def make_zip(path: Path, games: Games, prefix: str = f"{FOLDER}/") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in games.items():
            archive.writestr(prefix + name, content)
    return path


def make_tar(path: Path, games: Games, prefix: str = f"{FOLDER}/") -> Path:
    with tarfile.open(path, f"w:{path.suffix[1:]}") as archive:
        for name, content in games.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def files_below(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


# Archives


@pytest.mark.parametrize("name", ["games.zip", "games.tar.xz", "games.tar.gz"])
@pytest.mark.parametrize("prefix", [f"{FOLDER}/", f"./{FOLDER}/", f"alfworld/{FOLDER}/", ""])
def test_an_archive_is_unpacked_and_verified(
    tmp_path: Path, data: Path, games: Games, name: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = make_zip if name.endswith("zip") else make_tar
    archive = make(tmp_path / name, {**games, "README.md": b"not a game"}, prefix)
    result = run("data", "alfworld", "--from", str(archive))
    assert result.exit_code == 0, result.output
    assert files_below(data / FOLDER) == set(games)
    assert {entry.name for entry in data.iterdir()} == {FOLDER, MARKER}, "nothing is left lying about"
    assert all(state.verified for state in overview(data))
    alfworld, *_ = json.loads(run("envs", "--json").output)["environments"]
    official = next(need for need in alfworld["needs"] if need["name"] == "official games")
    assert official["ok"]
    assert not official["fix"]
    env = gym.make("eapo/ALFWorld-v0", source="official", split="valid_unseen", schema="native")
    assert len(env.get_wrapper_attr("tasks")()) == 2
    env.reset(seed=0)


def test_a_split_that_an_archive_lacks_is_missing_and_no_failure(tmp_path: Path, data: Path, games: Games) -> None:
    archive = make_tar(tmp_path / "games.tar.gz", only(games, "train", "valid_seen"))
    result = run("data", "alfworld", "--from", str(archive))
    assert result.exit_code == 0, result.output
    assert "valid_seen: 2 games, verified" in result.output
    assert "valid_unseen: missing" in result.output


def test_unpacking_goes_on_where_it_was_broken_off(tmp_path: Path, data: Path, games: Games) -> None:
    whole = make_tar(tmp_path / "whole.tar.gz", games).read_bytes()
    archive = tmp_path / "games.tar.gz"
    archive.write_bytes(whole[: len(whole) * 2 // 3])
    result = run("data", "alfworld", "--from", str(archive))
    assert result.exit_code == 2
    assert "broken or cut off" in result.output
    assert not (data / FOLDER).exists(), "a split takes its place when it is whole"
    came_out = {file: file.stat().st_mtime_ns for file in (data / ".incoming").rglob(GAME_FILE)}
    assert came_out

    archive.write_bytes(whole)
    assert run("data", "alfworld", "--from", str(archive)).exit_code == 0
    assert files_below(data / FOLDER) == set(games)
    for file, time in came_out.items():
        there = data / FOLDER / file.relative_to(data / ".incoming")
        assert there.stat().st_mtime_ns == time, "what had come out whole is not written again"


def test_an_archive_mends_what_is_damaged_and_leaves_the_rest(tmp_path: Path, data: Path, games: Games) -> None:
    archive = make_zip(tmp_path / "games.zip", games)
    run("data", "alfworld", "--from", str(archive))
    first, second, *_ = sorted((data / FOLDER).rglob(GAME_FILE))
    first.write_bytes(first.read_bytes()[:1000])
    kept = second.stat().st_mtime_ns
    broken = run("data", "alfworld", "--verify")
    assert broken.exit_code == 1
    assert str(first) in broken.output
    assert "Delete the broken files" in broken.output
    assert run("data", "alfworld", "--from", str(archive)).exit_code == 0
    assert second.stat().st_mtime_ns == kept
    assert all(state.verified for state in overview(data))


@pytest.mark.parametrize(
    "name",
    [
        "../outside/train/a/b/game.tw-pddl",
        "/etc/train/a/b/game.tw-pddl",
        "json_2.1.1/train/../../../a/game.tw-pddl",
        "json_2.1.1/train/..",
        "json_2.1.1\\..\\train/a/game.tw-pddl",
        "C:/json_2.1.1/train/a/game.tw-pddl",
        "json_2.1.1/train/a\x1b/game.tw-pddl",
    ],
)
@pytest.mark.parametrize("suffix", [".zip", ".tar.gz"])
def test_an_archive_cannot_write_outside(tmp_path: Path, data: Path, games: Games, name: str, suffix: str) -> None:
    make = make_zip if suffix == ".zip" else make_tar
    archive = make(tmp_path / f"games{suffix}", {**only(games, "train"), name: b"x"}, prefix="")
    before = files_below(tmp_path)
    result = run("data", "alfworld", "--from", str(archive))
    assert result.exit_code == 2
    assert "not safe to unpack" in result.output
    assert files_below(tmp_path) == before, "nothing of such an archive is kept"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, data: Path, kind: bytes) -> None:
    archive = tmp_path / "games.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        info = tarfile.TarInfo(f"{FOLDER}/train/a/b")
        info.type, info.linkname = kind, "/etc"
        tar.addfile(info)
    with pytest.raises(BadArchive, match="a link or a device"):
        bring_in(archive, data)


def test_links_in_a_zip_are_refused(tmp_path: Path, data: Path) -> None:
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        info = zipfile.ZipInfo(f"{FOLDER}/train/a/b")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(info, "/etc")
    with pytest.raises(BadArchive, match="a link or a device"):
        bring_in(archive, data)


def test_what_holds_no_games_is_named(tmp_path: Path, data: Path) -> None:
    (tmp_path / "text.zip").write_text("no archive")
    (tmp_path / "folder").mkdir()
    for origin, said in {
        make_zip(tmp_path / "empty.zip", {}): "holds no games",
        tmp_path / "text.zip": "neither a .zip nor a .tar",
        tmp_path / "folder": "expected a folder that holds",
        tmp_path / "nothing": "no such file",
    }.items():
        result = run("data", "alfworld", "--from", str(origin))
        assert result.exit_code == 2
        assert said in result.output


# Folders


def test_a_folder_is_linked_to(tmp_path: Path, data: Path, games: Games) -> None:
    bring_in(make_zip(tmp_path / "games.zip", games), tmp_path / "elsewhere")
    for _ in range(2):  # again does no harm
        result = run("data", "alfworld", "--from", str(tmp_path / "elsewhere"))
        assert result.exit_code == 0, result.output
    assert (data / FOLDER / "train").is_symlink()
    assert all(state.verified for state in overview(data))


def test_a_link_to_a_folder_takes_no_other_place_and_lets_nothing_through(
    tmp_path: Path, data: Path, games: Games
) -> None:
    train = only(games, "train")
    bring_in(make_zip(tmp_path / "train.zip", train), tmp_path / "one")
    bring_in(make_zip(tmp_path / "train.zip", train), tmp_path / "two")
    bring_in(tmp_path / "one", data)
    with pytest.raises(BadArchive, match="is there already"):
        bring_in(tmp_path / "two", data)
    more = {**train, "train/task/trial/game.tw-pddl": b"{}"}
    with pytest.raises(BadArchive, match="is a link"):
        bring_in(make_zip(tmp_path / "more.zip", more), data)
    assert files_below(tmp_path / "one" / FOLDER) == set(train)
    shutil.rmtree(tmp_path / "one")
    bring_in(tmp_path / "two", data)  # in the place of a link that leads nowhere
    assert (data / FOLDER / "train").resolve() == tmp_path / "two" / FOLDER / "train"


# Verification


def test_what_was_verified_is_not_read_again_until_it_changes(
    tmp_path: Path, data: Path, games: Games, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = make_zip(tmp_path / "games.zip", games)
    run("data", "alfworld", "--from", str(archive))
    read: list[str] = []
    from_file = alfworld_data.Game.from_file
    monkeypatch.setattr(alfworld_data.Game, "from_file", lambda path: read.append(str(path)) or from_file(path))
    assert run("data", "alfworld", "--verify").exit_code == 0
    assert read == []
    touched = next((data / FOLDER / "valid_seen").rglob(GAME_FILE))
    os.utime(touched, (1, 1))
    assert run("data", "alfworld", "--verify").exit_code == 0
    assert len(read) == 2, "the two games of the split that changed"


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"splits": [{"split": "train"}]}', "\x00"])
def test_a_marker_that_cannot_be_read_vouches_for_nothing(
    tmp_path: Path, data: Path, games: Games, content: str
) -> None:
    bring_in(make_zip(tmp_path / "games.zip", games), data)
    (data / MARKER).write_text(content)
    assert not any(state.verified for state in overview(data))
    assert run("data", "alfworld", "--verify").exit_code == 0
    assert all(state["verified"] for state in json.loads((data / MARKER).read_text())["splits"])


def test_an_incomplete_split_is_a_failure_of_verify(tmp_path: Path, data: Path, games: Games) -> None:
    bring_in(make_zip(tmp_path / "games.zip", games), data)
    shutil.rmtree(next((data / FOLDER / "train").iterdir()))
    result = run("data", "alfworld", "--verify")
    assert result.exit_code == 1
    assert "train: 1 of 2 games" in result.output
    assert "valid_seen: 2 games, verified" in result.output


# The official download: a stand-in everywhere, ALFWorld's own command where it is installed

STAND_IN = """#!{python}
import argparse, os, shutil, sys, tempfile, urllib.request, zipfile
SERVER = "{server}"
NAMES = ["json_2.1.1_json.zip", "json_2.1.1_pddl.zip", "json_2.1.2_tw-pddl.zip"]
def fetch(name, folder):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    if os.path.isfile(path):
        return path
    partial = os.path.join(tempfile.gettempdir(), "alfworld", name)
    os.makedirs(os.path.dirname(partial), exist_ok=True)
    with open(partial, "ab") as file:
        request = urllib.request.Request(f"{{SERVER}}/{{name}}", headers={{"Range": f"bytes={{file.tell()}}-"}})
        with urllib.request.urlopen(request) as answer:
            length, got = int(answer.headers["Content-Length"]), 0
            while chunk := answer.read(1024):
                file.write(chunk)
                got += len(chunk)
    if got < length:
        sys.exit("the connection was lost")
    return shutil.move(partial, path)
parser = argparse.ArgumentParser()
parser.add_argument("--data-dir", default=os.environ["ALFWORLD_DATA"])
folder = parser.parse_args().data_dir
for name in NAMES:
    path = fetch(name, folder)
    zipfile.ZipFile(path).extractall(folder)
    os.remove(path)
fetch("mrcnn_alfred_objects_sep13_004.pth", os.path.join(folder, "detectors"))
"""


class ReleaseServer(ThreadingHTTPServer):
    """Serves the release's files, honours ranges, writes down what it was asked for, and can hang up on somebody."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files
        self.asked: list[tuple[str, int]] = []
        self.hang_up_on = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: ReleaseServer

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.server.asked.append((name, start))
        body = self.server.files[name][start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if name == self.server.hang_up_on else body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(games: Games, tmp_path: Path) -> Iterator[ReleaseServer]:
    kinds = dict(zip(ARCHIVES, ("traj_data.json", "initial_state.pddl", GAME_FILE), strict=True))
    files = {
        name: make_zip(tmp_path / name, {path: c for path, c in games.items() if path.endswith(kind)}).read_bytes()
        for name, kind in kinds.items()
    }
    server = ReleaseServer({**files, DETECTOR.name: b"weights"})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["stand-in", "official"])
def python(request: pytest.FixtureRequest, server: ReleaseServer, tmp_path: Path) -> str:
    """An interpreter beside which there is a download command that asks our server."""
    if request.param == "stand-in":
        text = STAND_IN.format(python=sys.executable, server=server.address)
    else:
        official = Path(REFERENCE_PYTHON or sys.executable).parent / "alfworld-download"
        if not official.exists():
            pytest.skip("ALFWorld is not installed here, and EAPO_REFERENCE_PYTHON names no interpreter that has it")
        release = "https://github.com/alfworld/alfworld/releases/download"
        text = official.read_text()
        assert release in text
        text = text.replace(release, server.address)
    command = tmp_path / "bin" / "alfworld-download"
    command.parent.mkdir()
    command.write_text(text)
    command.chmod(0o755)
    return str(command.with_name("python"))


def test_the_official_download_is_run_and_verified(
    server: ReleaseServer, python: str, data: Path, games: Games
) -> None:
    result = run("data", "alfworld", "--python", python)
    assert result.exit_code == 0, result.output
    assert [name for name, _ in server.asked] == list(ARCHIVES), "the detector is not asked for"
    assert files_below(data / FOLDER) == set(games)
    assert not (data / "detectors").exists()
    assert not (data / ".partial").exists()
    assert all(state.verified for state in overview(data))


def test_what_is_complete_is_not_fetched_again(server: ReleaseServer, python: str) -> None:
    run("data", "alfworld", "--python", python)
    server.asked.clear()
    result = run("data", "alfworld", "--python", python)
    assert result.exit_code == 0
    assert "nothing to fetch" in result.output
    assert server.asked == []


def test_a_download_goes_on_where_it_was_broken_off(server: ReleaseServer, python: str, data: Path) -> None:
    server.hang_up_on = ARCHIVES[2]
    result = run("data", "alfworld", "--python", python)
    assert result.exit_code == 1
    assert "ended with status" in result.output
    assert "train: missing" in result.output
    assert finished_archives(data) == ARCHIVES[:2]

    server.asked.clear()
    server.hang_up_on = ""
    result = run("data", "alfworld", "--python", python)
    assert result.exit_code == 0, result.output
    ((name, start),) = server.asked
    assert name == ARCHIVES[2], "the archives before it had been unpacked"
    assert 0 < start < len(server.files[name])
    assert all(state.verified for state in overview(data))
    assert not list(data.glob("*.zip"))


def test_the_detector_comes_if_it_is_asked_for(server: ReleaseServer, python: str, data: Path) -> None:
    assert run("data", "alfworld", "--python", python, "--with-detector").exit_code == 0
    assert (data / DETECTOR).read_bytes() == b"weights"


def test_a_detector_that_is_there_stays(server: ReleaseServer, python: str, data: Path) -> None:
    (data / DETECTOR).parent.mkdir(parents=True)
    (data / DETECTOR).write_bytes(b"mine")
    assert run("data", "alfworld", "--python", python).exit_code == 0
    assert (data / DETECTOR).read_bytes() == b"mine"


def test_a_failing_detector_does_no_harm_to_the_games(server: ReleaseServer, python: str, data: Path) -> None:
    server.hang_up_on = DETECTOR.name
    result = run("data", "alfworld", "--python", python, "--with-detector")
    assert result.exit_code == 0, result.output
    assert "ended with status" in result.output


def test_the_command_is_found_or_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "venv" / "bin" / "alfworld-download"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "python"))
    with pytest.raises(NoDownloader, match=r"pip install 'eapo-gym\[alfworld\]'"):
        find_command()
    with pytest.raises(NoDownloader, match="beside /no/such/python"):
        find_command("/no/such/python")
    monkeypatch.setenv("PATH", str(command.parent))
    assert find_command() == command
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("EAPO_REFERENCE_PYTHON", str(command.with_name("python")))
    assert find_command() == command


# Generated games


def test_generated_games_are_written_as_files_and_can_be_played(tmp_path: Path) -> None:
    arguments = ("data", "alfworld", "--generate", "3", "--into", str(tmp_path / "own"), "--seed", "40")
    assert run(*arguments).exit_code == 0
    written = files_below(tmp_path / "own")
    assert {Path(name).name for name in written} == {GAME_FILE, "traj_data.json"}
    assert {str(Path(name).parent) for name in written} == {generate(seed).id for seed in (40, 41, 42)}
    env = gym.make("eapo/ALFWorld-v0", source="folder", games=tmp_path / "own", schema="native")
    _, info = env.reset(seed=0)
    assert info["source"] == "folder"
    again = run(*arguments)
    assert "0 generated games" in again.output
    assert "3 were there already" in again.output


def test_difficulty_is_passed_on(tmp_path: Path) -> None:
    run("data", "alfworld", "--generate", "1", "--into", str(tmp_path / "own"), "--difficulty", "hard")
    assert all("-hard-" in name for name in files_below(tmp_path / "own"))


def test_generated_games_need_a_folder() -> None:
    result = run("data", "alfworld", "--generate", "1")
    assert result.exit_code == 2
    assert "--into" in result.output


# The real games


@pytest.mark.slow
def test_the_real_archive_is_unpacked_and_every_game_is_whole(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = SHARED / "data" / "alfworld" / "json_2.1.1_games.tar.xz"
    if not archive.exists():
        pytest.skip(f"the benchmark's games are not at {archive}: set EAPO_GYM_SHARED")
    for split, games in {"train": 3553, "valid_seen": 140, "valid_unseen": 134}.items():
        monkeypatch.setitem(OFFICIAL_COUNTS, split, games)
    result = run("data", "alfworld", "--from", str(archive))
    assert result.exit_code == 0, result.output
    assert "train: 3,553 games, verified" in result.output
    assert "valid_seen: 140 games, verified" in result.output
    assert "valid_unseen: missing" in result.output
