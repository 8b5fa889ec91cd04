"""Fetching the benchmark's files from a real server that does all that servers do; then the command that fetches."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from types import SimpleNamespace
from urllib.parse import urlsplit

import gymnasium as gym
import pytest

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.cli.data import fetching, webshop
from eapo_gym.cli.data.fetching import FetchError, RemoteFile, fetch
from tests.command_line import ROOT, run
from tests.envs.webshop.original import real_files
from tests.envs.webshop.small_catalogue import write_files

CONTENT = b"[" + Random(0).randbytes(3_000_000) + b"]"
OTHER = b"[" + Random(1).randbytes(3_000_000) + b"]"

QUOTA_PAGE = b"""<!DOCTYPE html><html><head><title>Google Drive - Quota exceeded</title></head><body>
<p class="uc-error-caption">Sorry, you can't view or download this file at this time.</p>
<p class="uc-error-subcaption">Too many users have viewed or downloaded this file recently.</p></body></html>"""
CONFIRM_PAGE = b"""<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>
<form action="/search"><input type="hidden" name="q" value="no"></form>
<form id="download-form" action="/onward/f.json" method="get"><input type="submit" value="Download anyway"/>
<input type="hidden" name="id" value="1A&amp;2"><input type="hidden" name="confirm" value="t"></form></body></html>"""


@dataclass
class Shelf:
    """A file of the server, and how it behaves."""

    content: bytes = CONTENT
    tag: str = ""
    status: int = 200
    type: str = "application/json"
    ranges: bool = True
    if_range: bool = True
    sized: bool = True
    shift: int = 0
    """The answer to a range begins so many bytes later."""

    cuts: list[int] = field(default_factory=list)
    """After so many bytes the connection ends, one number for each request."""

    busy: int = 0
    """So many requests are answered with 503."""

    location: str = ""
    """Where a redirection leads."""

    pause_at: int | None = None
    """After so many bytes nothing comes for a long time."""


def page(content: bytes, status: int = 200) -> Shelf:
    return Shelf(content, status=status, type="text/html; charset=utf-8", ranges=False)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.shelves: dict[str, Shelf] = {}
        self.asked: list[tuple[str, str, str]] = []
        """Path, Range and If-Range of each request."""

        self.closing = threading.Event()
        self.paused = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def ranges(self) -> list[str]:
        return [of for _, of, _ in self.asked]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        of, if_range = self.headers.get("Range", ""), self.headers.get("If-Range", "")
        self.server.asked.append((self.path, of, if_range))
        shelf = self.server.shelves.get(urlsplit(self.path).path)
        if shelf is None or shelf.busy:
            if shelf:
                shelf.busy -= 1
            self.send_error(503 if shelf else 404)
            return
        content, size = shelf.content, len(shelf.content)
        status, start = shelf.status, 0
        if of and shelf.ranges and not (if_range and shelf.if_range and if_range != shelf.tag):
            start = int(of.removeprefix("bytes=").rstrip("-")) + shelf.shift
            if start >= size:
                self.send_error(416)
                return
            status = 206
        self.send_response(status)
        if shelf.location:
            self.send_header("Location", shelf.location)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("Content-Type", shelf.type)
        if shelf.tag:
            self.send_header("ETag", shelf.tag)
        if shelf.sized:
            self.send_header("Content-Length", str(size - start))
        self.end_headers()
        body = content[start:]
        if shelf.cuts:
            body = body[: shelf.cuts.pop(0)]
        if shelf.pause_at is not None:
            self.wfile.write(body[: shelf.pause_at])
            self.wfile.flush()
            self.server.paused.set()
            self.server.closing.wait(60)
            return
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True  # whoever asked has hung up


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(fetching, "_PAUSE", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


class Fetcher:
    """Fetches one file into one folder."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.path, self.part = folder / "f.json", folder / "f.json.part"
        self.said: list[str] = []

    def __call__(self, *paths: str, tell: fetching.Progress = lambda what, done, size: None) -> list[str]:
        """The file is right afterwards; returns the ranges that were asked for."""
        self.server.asked.clear()
        sources = [path if "://" in path else self.server.url(path) for path in paths]
        file = RemoteFile("f.json", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), sources)
        fetch(file, self.folder, tell, self.said.append, "Try again.")
        assert self.path.read_bytes() == CONTENT
        assert [path.name for path in self.folder.iterdir()] == ["f.json"], "nothing is left beside it"
        return self.server.ranges()

    def fails(self, *paths: str) -> str:
        with pytest.raises(FetchError) as caught:
            self(*paths)
        assert not self.path.exists(), "what is not whole does not have the file's name"
        return str(caught.value)


@pytest.fixture
def get(server: Server, tmp_path: Path) -> Fetcher:
    return Fetcher(server, tmp_path / "files")


HALF = len(CONTENT) // 2
REST = f"bytes={HALF}-"


# One file


def test_a_file_is_fetched_once_and_verified_after_that(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf()
    told: list[tuple[str, int, int]] = []
    assert get("/f.json", tell=lambda *news: told.append(news)) == [""]
    assert told[0] == ("fetching f.json", 0, len(CONTENT))
    assert told[-1] == ("checking f.json", len(CONTENT), len(CONTENT))
    assert get("/f.json") == []


def test_a_connection_that_breaks_halfway_is_taken_up_again(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(cuts=[1000, HALF - 1000], tag='"v1"')
    assert get("/f.json") == ["", "bytes=1000-", REST]
    assert [if_range for _, _, if_range in server.asked] == ["", '"v1"', '"v1"']


def test_a_connection_that_brings_nothing_gives_way_to_the_next_mirror(server: Server, get: Fetcher) -> None:
    server.shelves["/dead/f.json"] = Shelf(cuts=[0] * 10)
    server.shelves["/f.json"] = Shelf()
    get("/dead/f.json", "/f.json")
    assert [path for path, _, _ in server.asked] == ["/dead/f.json"] * 3 + ["/f.json"]
    assert "the connection ended at 0 of 3,000,002 bytes, 3 times in a row" in " ".join(get.said)


def test_the_next_mirror_goes_on_where_the_one_before_stopped(server: Server, get: Fetcher) -> None:
    server.shelves["/dying/f.json"] = Shelf(cuts=[HALF, 0, 0, 0], tag='"a"')
    server.shelves["/f.json"] = Shelf(tag='"b"')
    assert get("/dying/f.json", "/f.json") == ["", REST, REST, REST, REST]
    assert server.asked[-1] == ("/f.json", REST, ""), "another mirror's version says nothing about this one's"


def test_a_later_run_goes_on_where_one_was_broken_off(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(tag='"v1"')

    def interrupt(what: str, done: int, size: int) -> None:
        if done > HALF:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get("/f.json", tell=interrupt)
    assert not get.path.exists()
    here = get.part.stat().st_size
    assert HALF < here < len(CONTENT)
    assert get("/f.json") == [f"bytes={here}-"]
    assert server.asked[0][2] == '"v1"'


def test_a_server_without_ranges_sends_all_of_it_again(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(ranges=False, cuts=[HALF])
    assert get("/f.json") == ["", REST]


def test_a_server_without_ranges_that_always_breaks_is_given_up(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(ranges=False, cuts=[HALF] * 10)
    said = get.fails("/f.json")
    assert "3 times in a row" in said
    assert "1.5 MB, is kept" in said
    assert len(server.asked) == 4


@pytest.mark.parametrize("if_range", [True, False], ids=["heeds If-Range", "ignores If-Range"])
def test_a_file_that_changes_between_attempts_is_fetched_anew(server: Server, get: Fetcher, if_range: bool) -> None:
    server.shelves["/f.json"] = Shelf(OTHER, tag='"old"', cuts=[HALF, 0, 0, 0])
    get.fails("/f.json")
    assert get.part.read_bytes() == OTHER[:HALF]
    server.shelves["/f.json"] = Shelf(tag='"new"', if_range=if_range)
    assert get("/f.json") == ([REST] if if_range else [REST, ""])


def test_weak_versions_are_not_asked_for(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(tag='W/"v1"', cuts=[HALF])
    get("/f.json")
    assert server.asked[1] == ("/f.json", REST, "")


def test_pieces_that_do_not_fit_are_fetched_anew(server: Server, get: Fetcher) -> None:
    get.folder.mkdir()
    get.part.write_bytes(OTHER[:HALF])
    server.shelves["/f.json"] = Shelf()
    assert get("/f.json") == [REST, ""]


@pytest.mark.parametrize("note", ["", "[]", '{"source": 3}', "\x00"])
def test_a_note_that_cannot_be_read_is_none(server: Server, get: Fetcher, note: str) -> None:
    get.folder.mkdir()
    get.part.write_bytes(CONTENT[:HALF])
    (get.folder / "f.json.part.json").write_text(note)
    server.shelves["/f.json"] = Shelf(tag='"v1"')
    assert get("/f.json") == [REST]


def test_a_part_that_was_whole_is_only_verified(server: Server, get: Fetcher) -> None:
    get.folder.mkdir()
    get.part.write_bytes(CONTENT)
    assert get("/f.json") == []
    get.path.unlink()
    get.part.write_bytes(CONTENT + b" ")
    server.shelves["/f.json"] = Shelf()
    assert get("/f.json") == [""]


def test_a_mirror_with_less_than_what_is_here_takes_nothing_away(server: Server, get: Fetcher) -> None:
    get.folder.mkdir()
    get.part.write_bytes(CONTENT[:HALF])
    server.shelves["/short/f.json"] = Shelf(CONTENT[:1000])
    server.shelves["/f.json"] = Shelf()
    assert get("/short/f.json", "/f.json") == [REST, REST]
    assert "its file is another one (it ends before what is missing here)" in " ".join(get.said)


@pytest.mark.parametrize(
    ("shelf", "said"),
    [
        (Shelf(OTHER), "its file is another one (expected SHA-256"),
        (Shelf(OTHER, tag='"v1"', cuts=[HALF]), "its file is another one (expected SHA-256"),
        (Shelf(CONTENT + b" "), "its file is another one (3,000,003 bytes, expected 3,000,002)"),
        (Shelf(CONTENT + b" ", sized=False), "its file is another one (more than 3,000,002 bytes)"),
        (Shelf(CONTENT[:1000], sized=False), "its file is another one (it ends before what is missing here)"),
        (Shelf(status=403), "it answers 403 Forbidden"),
        (Shelf(cuts=[HALF], shift=5), "it answers with another piece of the file than was asked for"),
        (page(b"<html><title> Sign\n in </title>"), "it sends a web page ('Sign\\n in') instead of the file"),
        (page(b"<html>"), "it sends a web page instead of the file"),
        (page(QUOTA_PAGE), "its quota for this file is used up, as too many people have fetched it lately"),
        (page(QUOTA_PAGE, 403), "its quota for this file is used up"),
        (page(CONFIRM_PAGE), "it has no such file (404 Not Found)"),
        (page(b'<form id="download-form" action="file:///etc/passwd">'), "it sends a web page instead of the file"),
        (Shelf(busy=9), "it is busy (503 Service Unavailable), 3 times in a row"),
        (None, "it has no such file (404 Not Found)"),
    ],
)
def test_what_a_mirror_does_wrong_is_said_and_the_next_one_asked(
    server: Server, get: Fetcher, shelf: Shelf | None, said: str
) -> None:
    if shelf:
        server.shelves["/bad/f.json"] = shelf
    server.shelves["/f.json"] = Shelf()
    get("/bad/f.json", "/f.json")
    assert said in get.said[1]
    assert get.said[1].startswith(server.url("/bad/f.json"))


def test_a_mirror_that_cannot_be_reached(server: Server, get: Fetcher) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}/f.json"
    server.shelves["/f.json"] = Shelf()
    get(nowhere, "/f.json")
    assert "it cannot be reached (" in get.said[1]


def test_a_server_that_is_busy_is_asked_again(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(busy=2)
    assert get("/f.json") == ["", "", ""]


def test_an_answer_without_its_size_is_taken_as_well(server: Server, get: Fetcher) -> None:
    server.shelves["/f.json"] = Shelf(sized=False)
    assert get("/f.json") == [""]


def test_the_page_that_asks_for_confirmation_is_answered(server: Server, get: Fetcher) -> None:
    server.shelves["/uc"] = page(CONFIRM_PAGE)
    server.shelves["/onward/f.json"] = Shelf(cuts=[HALF])
    assert get("/uc?id=1") == ["", "", REST, REST]
    assert server.asked[-1][0] == "/onward/f.json?id=1A%262&confirm=t"


def test_redirections_are_followed_with_the_range(server: Server, get: Fetcher) -> None:
    server.shelves["/resolve/f.json"] = Shelf(b"", status=302, location="/cdn/f.json?signed=1", ranges=False)
    server.shelves["/cdn/f.json"] = Shelf(cuts=[HALF], tag='"v1"')
    assert get("/resolve/f.json") == ["", "", REST, REST]
    assert server.asked[-1] == ("/cdn/f.json?signed=1", REST, '"v1"')


def test_when_nobody_gives_the_file_all_reasons_are_named(server: Server, get: Fetcher) -> None:
    server.shelves["/uc"] = page(QUOTA_PAGE)
    said = get.fails("/a/f.json", "/uc?secret=1")
    assert said.startswith("f.json could not be fetched (")
    assert f"{server.url('/a/f.json')}: it has no such file" in said
    assert f"{server.url('/uc')}: its quota" in said
    assert said.endswith(". Try again.")
    assert "secret" not in said


def test_a_file_that_is_there_and_broken_is_not_taken_for_it(server: Server, get: Fetcher) -> None:
    get.folder.mkdir()
    for content in (CONTENT[:-1], OTHER):
        get.path.write_bytes(content)
        with pytest.raises(FetchError, match=r"f.json is not the file that was published .*: delete it"):
            get("/f.json")


def test_a_disk_without_room_is_told_before(server: Server, get: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    assert "3 MB are to be fetched into" in get.fails("/f.json")
    assert server.asked == []


# The command


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEBSHOP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("WEBSHOP_MIRROR", raising=False)
    return tmp_path / "data"


@pytest.fixture
def published(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path) -> dict[str, bytes]:
    """What the benchmark is said to publish, on the server's folder /webshop, and nowhere else."""
    files = write_files(tmp_path)
    contents = dict(
        zip(webshop.SMALL, (f.read_bytes() for f in (files.products, files.attributes, files.human) if f), strict=True)
    )
    contents |= {name: contents[small] for name, small in zip(webshop.FULL, webshop.SMALL, strict=True)}
    known = {name: (len(content), hashlib.sha256(content).hexdigest()) for name, content in contents.items()}
    monkeypatch.setattr(webshop, "CONTENTS", known)
    for places in ("MIRRORS", "SMALL_MIRRORS", "DRIVE"):
        monkeypatch.setattr(webshop, places, {} if places == "DRIVE" else ())
    server.shelves |= {f"/webshop/{name}": Shelf(content) for name, content in contents.items()}
    return contents


@pytest.mark.parametrize(("size", "names"), [("--small", webshop.SMALL), ("--full", webshop.FULL), ("", webshop.SMALL)])
def test_the_command_fetches_and_builds_what_is_played(
    server: Server, published: dict[str, bytes], data: Path, size: str, names: tuple[str, ...]
) -> None:
    arguments = ["data", "webshop", *filter(None, [size]), "--mirror", server.url("/none/"), "--mirror"]
    first = run(*arguments, server.url("/webshop"))
    assert first.exit_code == 0, first.output
    assert f"official, {names[0]}: 60 products" in first.output
    assert {path.name for path in (data / "files").iterdir()} == {*names, ".lock"}
    env = gym.make("eapo/WebShop-v0", source="official", schema="native")
    assert env.reset(seed=0)[1]["catalogue"].startswith(f"official, {names[0]}")
    server.asked.clear()
    again = run(*arguments, server.url("/webshop"))
    assert again.exit_code == 0
    assert "built from these files already" in again.output
    assert "60 products" in again.output
    assert server.asked == []


def test_mirrors_can_be_named_once_and_for_all(
    server: Server, published: dict[str, bytes], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBSHOP_MIRROR", f"{server.url('/none')} {server.url('/webshop')}")
    result = run("data", "webshop")
    assert result.exit_code == 0, result.output


def test_a_download_that_fails_says_why_and_what_else_there_is(
    server: Server, published: dict[str, bytes], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.shelves["/webshop/items_ins_v2_1000.json"] = page(QUOTA_PAGE)
    result = run("data", "webshop", "--small", "--mirror", server.url("/webshop"))
    assert result.exit_code == 2
    assert "items_ins_v2_1000.json could not be fetched" in result.output
    assert "its quota for this file is used up" in result.output
    assert "--mirror URL, or build from files that you have with --from FOLDER" in result.output
    assert not (data / "store").exists()


@pytest.mark.parametrize("mirror", ["ftp://example.org/x", "/my/folder", "https://example.org/x?token=1"])
def test_a_mirror_is_the_address_of_a_folder(published: dict[str, bytes], data: Path, mirror: str) -> None:
    result = run("data", "webshop", "--mirror", mirror)
    assert result.exit_code == 2
    assert "expected the address of a folder" in result.output


def test_two_downloads_into_one_folder(server: Server, published: dict[str, bytes], data: Path) -> None:
    import fcntl

    (data / "files").mkdir(parents=True)
    with (data / "files" / ".lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        result = run("data", "webshop", "--mirror", server.url("/webshop"))
    assert result.exit_code == 2
    assert f"Another process is at work in {data / 'files'}" in result.output
    assert server.asked == []


DOWNLOADER = """
import json, sys
from eapo_gym.cli import main
from eapo_gym.cli.data import webshop
webshop.CONTENTS = json.loads(sys.argv[1])
webshop.MIRRORS, webshop.SMALL_MIRRORS, webshop.DRIVE = (), (), {}
sys.argv[1:] = ["data", "webshop", "--small", "--mirror", sys.argv[2]]
main()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_download_that_is_stopped_or_killed_goes_on_later(
    server: Server, published: dict[str, bytes], data: Path, how: signal.Signals
) -> None:
    name = "items_shuffle_1000.json"
    shelf = server.shelves[f"/webshop/{name}"]
    shelf.pause_at = len(shelf.content) // 2
    process = subprocess.Popen(
        [sys.executable, "-c", DOWNLOADER, json.dumps(webshop.CONTENTS), server.url("/webshop")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.paused.wait(60)
    part = data / "files" / f"{name}.part"
    while not (part.exists() and part.stat().st_size):
        assert process.poll() is None
        threading.Event().wait(0.01)  # what was sent is on its way
    process.send_signal(how)
    output, _ = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130, output
        assert "The same command goes on" in output
    assert not (data / "files" / name).exists()
    here = part.stat().st_size
    assert 0 < here <= shelf.pause_at
    shelf.pause_at = None
    server.asked.clear()
    result = run("data", "webshop", "--small", "--mirror", server.url("/webshop"))
    assert result.exit_code == 0, result.output
    assert server.asked[0][:2] == (f"/webshop/{name}", f"bytes={here}-")


def test_what_is_known_of_the_files() -> None:
    assert set(webshop.CONTENTS) == set(webshop.DRIVE) == {*webshop.SMALL, *webshop.FULL}
    assert all(len(sha256) == 64 and size for size, sha256 in webshop.CONTENTS.values())
    for name in webshop.CONTENTS:
        *mirrors, drive = webshop._remote(name, ["http://localhost/mine/"]).sources
        assert mirrors[0] == f"http://localhost/mine/{name}"
        assert all(mirror.startswith("https://huggingface.co/") for mirror in mirrors[1:])
        assert drive.startswith("https://drive.google.com/uc?")


def test_what_is_known_of_a_file_that_is_at_hand() -> None:
    content = real_files().attributes.read_bytes()
    assert webshop.CONTENTS["items_ins_v2_1000.json"] == (len(content), hashlib.sha256(content).hexdigest())
