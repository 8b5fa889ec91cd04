"""A task's steps, carried out on a machine that remembers what it was asked to do."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from eapo_gym.envs.osworld.browser import HISTORY_DATABASE, history_with, is_same_page
from eapo_gym.envs.osworld.computer import ComputerError, Ran
from eapo_gym.envs.osworld.download import DownloadError
from eapo_gym.envs.osworld.preparing import PreparationError, Preparer, cannot_be_prepared
from eapo_gym.envs.osworld.reading import read_task
from eapo_gym.envs.osworld.tasks import DesktopTask
from tests.envs.osworld.remembering import RememberingComputer

NOW = datetime(2025, 6, 1, 12, tzinfo=timezone.utc)


def step(type: str, **parameters: Any) -> dict[str, Any]:
    return {"type": type, "parameters": parameters}


def task_of(*steps: dict[str, Any], after: bool = False) -> DesktopTask:
    evaluator = {"func": "infeasible", "postconfig": list(steps) if after else []}
    content = {"id": "t", "instruction": "Do it.", "config": [] if after else list(steps), "evaluator": evaluator}
    return read_task(content, domain="os")


class Bench:
    """A machine, and what prepares it: files come from a dictionary, and waiting is only remembered."""

    def __init__(self, folder: Path, answer: Callable[[str], Ran] = lambda command: Ran("", "", 0)) -> None:
        self.computer = RememberingComputer(answer)
        self.network: dict[str, bytes] = {}
        self.waited: list[float] = []
        self.folder = folder
        self.by = Preparer(
            self.computer, self.fetch, folder / "scratch", pause=self.waited.append, now=lambda: NOW, password="pw"
        )

    def fetch(self, address: str) -> Path:
        if address not in self.network:
            raise DownloadError(f"{address} could not be fetched: it answers 404.")
        path = self.folder / "fetched"
        path.write_bytes(self.network[address])
        return path

    def prepare(self, *steps: dict[str, Any]) -> list[str]:
        return self.by.prepare(task_of(*steps))

    def finish(self, *steps: dict[str, Any]) -> list[str]:
        return self.by.finish(task_of(*steps, after=True))

    def fails(self, *steps: dict[str, Any]) -> str:
        with pytest.raises(PreparationError) as caught:
            self.prepare(*steps)
        return str(caught.value)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_files_are_fetched_here_and_uploaded(bench: Bench) -> None:
    bench.network = {"https://a/1": b"one", "https://a/2": b"two"}
    files = [{"url": "https://a/1", "path": "/home/user/Desktop/1.xlsx"}, {"url": "https://a/2", "path": "setup.sh"}]
    assert bench.prepare(step("download", files=files)) == []
    assert bench.computer.files == {"/home/user/Desktop/1.xlsx": b"one", "/home/user/setup.sh": b"two"}


def test_a_file_that_cannot_be_had_names_the_task_and_the_step(bench: Bench) -> None:
    said = bench.fails(step("sleep", seconds=1), step("download", files=[{"url": "https://a/1", "path": "~/a"}]))
    assert said == "Task os/t: config, step 2 (download): https://a/1 could not be fetched: it answers 404."


def test_programs_are_launched_as_the_benchmark_does(bench: Bench) -> None:
    bench.prepare(
        step("launch", command=["google-chrome", "--remote-debugging-port=1337"]),
        step("launch", command="vlc --loop"),
        step("launch", command="a && b", shell="true"),
    )
    assert bench.computer.calls == [
        ("launch", ("google-chrome", "--remote-debugging-port=1337"), False),
        ("launch", ["vlc", "--loop"], False),
        ("launch", "a && b", True),
    ]


def test_a_program_that_is_missing_is_an_error_before_and_passed_over_after(bench: Bench) -> None:
    bench.computer.programs = False
    assert "Task os/t: config, step 1 (launch): there is no such program" in bench.fails(step("launch", command="vlc"))
    assert bench.finish(step("launch", command="vlc")) == ["postconfig, step 1 (launch): there is no such program"]


def test_commands_are_filled_in_and_what_they_write_is_kept(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda command: Ran("Grüße\n", "hm", 3))
    command = [
        "sh",
        "-c",
        "echo {CLIENT_PASSWORD} {SCREEN_WIDTH_HALF} {SCREEN_HEIGHT_HALF} {SCREEN_WIDTH}x{SCREEN_HEIGHT}",
    ]
    said = bench.prepare(step("execute", command=command, stdout="out.txt", stderr="err.txt"))
    assert bench.computer.calls == [("execute", ("sh", "-c", "echo pw 960 540 1920x1080"), False)]
    assert (tmp_path / "scratch/out.txt").read_text(encoding="utf-8") == "Grüße\n"
    assert (tmp_path / "scratch/err.txt").read_text() == "hm"
    assert said == ["config, step 1 (execute): it ended with code 3: hm"]


@pytest.mark.parametrize(
    "until", [{"returncode": 0}, {"stdout": "ready"}, {"stderr": "done"}, {"returncode": 9, "stdout": "re"}]
)
def test_a_command_is_repeated_until(tmp_path: Path, until: dict[str, Any]) -> None:
    answers = [Ran("", "", 1), Ran("", "", 1), Ran("ready", "done", 0)]
    bench = Bench(tmp_path, lambda command: answers.pop(0))
    assert bench.prepare(step("command", command="x", shell=True, until=until)) == []
    assert answers == []
    assert len(bench.waited) == 2


def test_a_command_is_not_repeated_for_ever(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda command: Ran("", "", 1))
    assert "what it is repeated for, {'returncode': 0}, has not come" in bench.fails(
        step("execute", command="x", until={"returncode": 0})
    )


def test_a_command_that_cannot_be_carried_out_is_passed_over(tmp_path: Path) -> None:
    def answer(command: str) -> Ran:
        raise ComputerError("there is no such program")

    bench = Bench(tmp_path, answer)
    assert bench.prepare(step("execute", command=["x"])) == ["config, step 1 (execute): there is no such program"]
    bench.computer.calls.clear()
    bench.prepare(step("execute", command=["x"], until={"returncode": 0}))
    assert len(bench.computer.calls) == 5


def test_a_command_is_verified(tmp_path: Path) -> None:
    codes = {"start": 0, "check": 1}
    bench = Bench(tmp_path, lambda command: Ran("", "", codes[command]))
    verified = step("execute_with_verification", command="start", verification={"command_success": "check"})
    assert "what it is verified by, {'command_success': 'check'}, does not hold" in bench.fails(verified)
    codes["check"] = 0
    assert bench.prepare(verified) == []
    shown = step("execute_with_verification", command="start", verification={"window_exists": "VLC"}, max_wait_time=2)
    assert "does not hold" in bench.fails(shown)
    bench.computer.windows = {"VLC media player"}
    assert bench.prepare(shown) == []


def test_a_file_is_opened(bench: Bench) -> None:
    bench.computer.files["/home/user/a.odt"] = b""
    bench.prepare(step("open", path="~/a.odt"))
    assert bench.computer.calls == [("open", "/home/user/a.odt")]
    assert "step 1 (open): there is no file /home/user/b.odt" in bench.fails(step("open", path="b.odt"))


def test_a_window_on_its_way_is_waited_for(bench: Bench) -> None:
    bench.by.pause = lambda seconds: bench.computer.windows.add("a.xlsx - LibreOffice Calc")
    assert bench.prepare(step("activate_window", window_name="a.xlsx", strict=True, by_class=True)) == []
    assert bench.computer.calls == [("activate", "a.xlsx", True, True)] * 2
    assert bench.prepare(step("close_window", window_name="a.xlsx")) == []
    assert bench.computer.windows == set()


def test_a_window_that_never_comes_is_passed_over(bench: Bench) -> None:
    assert bench.finish(step("activate_window", window_name="x"), step("sleep", seconds=0.5)) == [
        "postconfig, step 1 (activate_window): there is no window 'x'"
    ]
    assert bench.waited[-1] == 0.5


def test_sleeps_are_bounded_and_may_end_when_the_screen_stands_still(bench: Bench) -> None:
    bench.prepare(step("sleep", seconds=2), step("sleep", seconds=500))
    assert bench.waited == [2.0, 60.0]
    settled: list[float] = []
    bench.by.settle = settled.append
    bench.prepare(step("sleep", seconds=2))
    assert settled == [2.0]
    assert bench.waited == [2.0, 60.0]


def test_the_wallpaper(bench: Bench) -> None:
    bench.prepare(step("change_wallpaper", path="~/a b.png"))
    assert bench.computer.calls[0][1][-1] == "file:///home/user/a%20b.png"


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (step("googledrive", settings_file="s", operation=["delete"], args=[{}]), "the account of somebody"),
        (step("login", settings_file="s", platform="googledrive"), "the account of somebody"),
        (step("proxy"), "a server that is rented for it"),
    ],
)
def test_what_needs_an_account_is_refused_before_anything_is_done(bench: Bench, refused: Any, why: str) -> None:
    said = bench.fails(step("launch", command="vlc"), refused)
    assert said.startswith(f"Task os/t cannot be played here: config, step 2 ({refused['type']}): ")
    assert why in said
    assert bench.computer.calls == []
    assert cannot_be_prepared(task_of(refused, after=True)) is not None
    assert cannot_be_prepared(task_of(step("sleep", seconds=1))) is None


# What a task brings along


@pytest.fixture
def brought(tmp_path: Path) -> Callable[[str], DesktopTask]:
    folder = tmp_path / "tasks"
    (folder / "files").mkdir(parents=True)
    (folder / "files/a.csv").write_bytes(b"1,2")
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "secret")

    def brings(local_path: str) -> DesktopTask:
        config = [step("upload_file", files=[{"local_path": local_path, "path": "~/a.csv"}])]
        content = {"id": "t", "instruction": "Do it.", "config": config, "evaluator": {"func": "infeasible"}}
        (folder / "t.json").write_text(json.dumps(content))
        return read_task(folder / "t.json", domain="os")

    return brings


def test_a_file_beside_the_task_is_uploaded(bench: Bench, brought: Callable[[str], DesktopTask]) -> None:
    bench.by.prepare(brought("files/a.csv"))
    assert bench.computer.files == {"/home/user/a.csv": b"1,2"}


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "link", "files/../../secret", "a\0b", "files", "no.csv"])
def test_no_other_file_of_this_computer_is(bench: Bench, brought: Callable[[str], DesktopTask], name: str) -> None:
    with pytest.raises(PreparationError, match=r"leads out of|there is no file"):
        bench.by.prepare(brought(name))
    assert bench.computer.files == {}


def test_a_task_of_no_file_brings_nothing(bench: Bench) -> None:
    said = bench.fails(step("upload_file", files=[{"local_path": "a", "path": "b"}]))
    assert "the task was read from no file" in said


# The browser


class Tabs:
    """What the browser's port for debuggers answers: its tabs, the newest first."""

    def __init__(self, *addresses: str) -> None:
        self.tabs = [{"id": f"T{number}", "type": "page", "url": url} for number, url in enumerate(addresses)]
        self.deaf = 0

    def __call__(self, command: str) -> Ran:
        *_, method, path = command.split()
        path = path.strip("'")
        if self.deaf:
            self.deaf -= 1
            return Ran("", "port 1337: Connection refused", 1)
        if path == "/json/list":
            return Ran(json.dumps([{"id": "W", "type": "service_worker", "url": "https://a/"}, *self.tabs]), "", 0)
        if path.startswith("/json/new?"):
            assert method == "PUT"
            self.tabs.insert(0, {"id": f"T{len(self.tabs)}", "type": "page", "url": unquote(path.partition("?")[2])})
        else:
            self.tabs = [tab for tab in self.tabs if tab["id"] != path.removeprefix("/json/close/")]
        return Ran("", "", 0)

    def urls(self) -> list[str]:
        return [tab["url"] for tab in self.tabs]


def test_tabs_are_opened_in_place_of_the_empty_one(tmp_path: Path) -> None:
    tabs = Tabs("about:blank")
    tabs.deaf = 3
    bench = Bench(tmp_path, tabs)
    assert bench.prepare(step("chrome_open_tabs", urls_to_open=["https://a.org/x?y=1&z#f", "https://b.org"])) == []
    assert tabs.urls() == ["https://b.org", "https://a.org/x?y=1&z#f"]
    assert len(bench.waited) == 3


def test_tabs_are_closed_one_for_each_address(tmp_path: Path) -> None:
    tabs = Tabs("https://a.org/", "https://a.org/", "https://www.b.org/x")
    bench = Bench(tmp_path, tabs)
    said = bench.prepare(
        step("chrome_close_tabs", urls_to_close=["https://www.a.org", "https://b.org/x", "https://c.org"])
    )
    assert said == ["config, step 1 (chrome_close_tabs): no tab shows https://c.org"]
    assert tabs.urls() == ["https://a.org/"]


def test_a_browser_that_never_answers_is_an_error(tmp_path: Path) -> None:
    tabs = Tabs()
    tabs.deaf = 10**6
    said = Bench(tmp_path, tabs).fails(step("chrome_open_tabs", urls_to_open=["https://a.org"]))
    assert "does not answer (port 1337: Connection refused)" in said


@pytest.mark.parametrize("listed", ["", "{}", "[" * 100_000, "null"])
def test_something_else_that_answers_is_no_browser(tmp_path: Path, listed: str) -> None:
    bench = Bench(tmp_path, lambda command: Ran(listed, "", 0))
    assert "does not list its tabs" in bench.fails(step("chrome_open_tabs", urls_to_open=[]))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://www.a.org/", "https://a.org", True),
        ("HTTPS://A.org/x", "https://a.org/x", True),
        ("a.org", "http://a.org/", True),
        ("https://a.org/x", "https://a.org/x/", False),
        ("https://a.org/?q=1", "https://a.org/?q=2", False),
        ("http://a.org", "https://a.org", False),
        ("http://[", "http://[", True),
    ],
)
def test_addresses_of_the_same_page(one: str, other: str, same: bool) -> None:
    assert is_same_page(one, other) is same


def empty_history(folder: Path) -> Path:
    path = folder / "empty"
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE urls(id INTEGER PRIMARY KEY, url, title, visit_count, typed_count, last_visit_time, hidden);"
        "CREATE TABLE visits"
        "(id INTEGER PRIMARY KEY, url, visit_time, from_visit, transition, segment_id, visit_duration)"
    )
    database.close()
    return path


def test_a_history_of_visits_is_put_where_the_browser_keeps_it(bench: Bench, tmp_path: Path) -> None:
    bench.network[HISTORY_DATABASE] = empty_history(tmp_path).read_bytes()
    visits = [
        {"url": "https://a.org/", "title": "A", "visit_time_from_now_in_seconds": 60},
        {"url": "https://b.org/", "title": "", "visit_time_from_now_in_seconds": 0},
    ]
    bench.prepare(step("update_browse_history", history=visits))
    copy = tmp_path / "History"
    copy.write_bytes(bench.computer.files["/home/user/.config/google-chrome/Default/History"])
    database = sqlite3.connect(copy)
    rows = database.execute(
        "SELECT urls.url, title, visit_time FROM urls JOIN visits ON visits.url = urls.id ORDER BY urls.id"
    ).fetchall()
    database.close()
    since_1601 = 11_644_473_600 + int(NOW.timestamp())
    assert rows == [("https://a.org/", "A", (since_1601 - 60) * 10**6), ("https://b.org/", "", since_1601 * 10**6)]


def test_a_history_that_is_none(bench: Bench, tmp_path: Path) -> None:
    bench.network[HISTORY_DATABASE] = b"no database, however long one looks at it"
    visits = [{"url": "https://a.org/", "title": "A", "visit_time_from_now_in_seconds": 60}]
    assert "is no file of visits as Chrome keeps it" in bench.fails(step("update_browse_history", history=visits))
    assert history_with(empty_history(tmp_path), [], NOW)
