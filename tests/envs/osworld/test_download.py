"""Files of tasks, fetched from a server that does what servers do."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from eapo_gym.envs.osworld import download as module
from eapo_gym.envs.osworld.download import DownloadError, FileCache, download
from tests.envs.osworld.serving import Server, Shelf, serving

CONTENT = Random(0).randbytes(600_000)
HALF = 300_000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    monkeypatch.setattr(module, "SCHEMES", ("https", "http"))  # the server has no certificate
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        yield server


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "files", most=1_000_000)


def refused(cache: FileCache, address: str) -> str:
    with pytest.raises(DownloadError) as caught:
        cache.path(address)
    assert not [path for path in cache.folder.glob("*") if path.is_file()]
    return str(caught.value)


def test_a_file_is_fetched_once(server: Server, cache: FileCache) -> None:
    server.shelves["/a%20b?x=1"] = Shelf(CONTENT)
    path = cache.path(server.url("/a b?x=1"))
    assert path.read_bytes() == CONTENT
    assert cache.path(server.url("/a b?x=1")) == path
    assert len(server.asked) == 1
    assert {each.suffix for each in cache.folder.iterdir()} == {"", ".json"}


def test_a_file_that_was_damaged_is_fetched_again(server: Server, cache: FileCache) -> None:
    server.shelves["/a"] = Shelf(CONTENT)
    path = cache.path(server.url("/a"))
    path.write_bytes(CONTENT[:-1])
    assert cache.path(server.url("/a")).read_bytes() == CONTENT


def test_what_is_here_needs_no_network(server: Server, cache: FileCache) -> None:
    server.shelves["/a"] = Shelf(CONTENT)
    cache.path(server.url("/a"))
    apart = FileCache(cache.folder, online=False)
    assert apart.path(server.url("/a")).read_bytes() == CONTENT
    with pytest.raises(DownloadError, match=r"is not in .* and nothing is fetched here"):
        apart.path(server.url("/b"))


@pytest.mark.parametrize(
    "address", ["http://example.org/a", "file:///etc/passwd", "ftp://a/b", "/etc/passwd", "", "https://", "https://["]
)
def test_only_https_is_fetched(cache: FileCache, address: str) -> None:
    assert "Expected an address that begins with https://" in refused(cache, address)


@pytest.mark.parametrize("onward", ["file:///etc/passwd", "ftp://a.org/b", "gopher://a.org", "http://[", "https://"])
def test_no_redirection_leads_elsewhere(server: Server, cache: FileCache, onward: str) -> None:
    server.shelves["/a"] = Shelf(status=302, headers={"Location": onward})
    said = refused(cache, server.url("/a"))
    assert "it leads on to" in said or "is not allowed" in said


def test_no_redirection_leaves_encryption(server: Server, cache: FileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCHEMES", ("http",))  # as if that were the encrypted one
    server.shelves["/a"] = Shelf(status=302, headers={"Location": "https://a.org/b"})
    assert "it leads on to 'https://a.org/b'" in refused(cache, server.url("/a"))


def test_redirections_are_followed(server: Server, cache: FileCache) -> None:
    server.shelves["/a"] = Shelf(status=302, headers={"Location": "/b"})
    server.shelves["/b"] = Shelf(CONTENT)
    assert cache.path(server.url("/a")).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("shelf", "said"),
    [
        (None, "it answers 404 Not Found"),
        (Shelf(status=403), "it answers 403 Forbidden"),
        (Shelf(b"a" * 1_000_001), "it has 1,000,001 bytes, and at most 1,000,000 are taken"),
        (Shelf(b"a" * 1_000_001, sized=False), "it has more than 1,000,000 bytes"),
        (Shelf(b"<html>", type="text/html"), "it sends a web page instead of a file"),
        (Shelf(CONTENT, busy=9), "it answers 503 Service Unavailable, 3 times"),
        (Shelf(CONTENT, cuts=[HALF] * 9), "the connection ended at 300,000 of 600,000 bytes, 3 times"),
    ],
)
def test_what_cannot_be_had_leaves_nothing_behind(
    server: Server, cache: FileCache, shelf: Shelf | None, said: str
) -> None:
    if shelf:
        server.shelves["/a.xlsx"] = shelf
    assert said in refused(cache, server.url("/a.xlsx"))


def test_an_address_is_shown_without_its_secrets(server: Server, cache: FileCache) -> None:
    assert "secret" not in refused(cache, server.url("/a?key=secret"))


def test_nobody_is_there(server: Server, cache: FileCache) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/a"
    assert "it cannot be reached (" in refused(cache, address)


def test_a_page_that_is_a_file_is_one(server: Server, cache: FileCache) -> None:
    server.shelves["/a.html"] = Shelf(b"<html>", type="text/html")
    server.shelves["/b"] = Shelf(b"<html>", type="text/html", headers={"Content-Disposition": "attachment"})
    assert cache.path(server.url("/a.html")).read_bytes() == b"<html>"
    assert cache.path(server.url("/b")).read_bytes() == b"<html>"


def test_a_busy_server_is_asked_again(server: Server, cache: FileCache) -> None:
    server.shelves["/a"] = Shelf(CONTENT, busy=2)
    assert cache.path(server.url("/a")).read_bytes() == CONTENT


# Going on with what has come


def test_a_download_goes_on_where_it_broke_off(server: Server, tmp_path: Path) -> None:
    server.shelves["/a"] = Shelf(CONTENT, headers={"ETag": '"1"'}, cuts=[HALF])
    told: list[tuple[int, int | None]] = []
    download(server.url("/a"), tmp_path / "a.part", tell=lambda done, of: told.append((done, of)))
    assert (tmp_path / "a.part").read_bytes() == CONTENT
    assert server.asked == [("/a", ""), ("/a", "bytes=300000-")]
    assert told[-1] == (600_000, 600_000)
    assert [path.name for path in tmp_path.iterdir()] == ["a.part"]


def test_it_goes_on_in_a_later_run(server: Server, tmp_path: Path) -> None:
    server.shelves["/a"] = Shelf(CONTENT, headers={"ETag": '"1"'}, cuts=[HALF, 0, 0])
    with pytest.raises(DownloadError):
        download(server.url("/a"), tmp_path / "a.part")
    server.asked.clear()
    download(server.url("/a"), tmp_path / "a.part")
    assert (tmp_path / "a.part").read_bytes() == CONTENT
    assert server.asked == [("/a", "bytes=300000-")]


@pytest.mark.parametrize(
    "shelf",
    [
        Shelf(CONTENT, headers={"ETag": '"2"'}),  # another version
        Shelf(CONTENT, headers={"ETag": 'W/"1"'}),  # a version that only means the same
        Shelf(CONTENT, ranges=False, headers={"ETag": '"1"'}),  # it cannot send a part
        Shelf(CONTENT),
    ],
)
def test_without_the_same_version_it_begins_again(server: Server, tmp_path: Path, shelf: Shelf) -> None:
    (tmp_path / "a.part").write_bytes(b"x" * HALF)
    (tmp_path / "a.part.tag").write_text('"1"')
    server.shelves["/a"] = shelf
    download(server.url("/a"), tmp_path / "a.part")
    assert (tmp_path / "a.part").read_bytes() == CONTENT
