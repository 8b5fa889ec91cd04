"""The machine's Chrome: its tabs, through the port for debuggers that the benchmark's files start it with.

The benchmark's files start `google-chrome --remote-debugging-port=1337`, and a `socat` that hands port 9222 on to it,
for a debugger on the outside. Here a small program inside of the machine asks the port instead, so that nothing of the
machine must be reachable from outside.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from eapo_gym.envs.osworld.computer import Computer, ComputerError
from eapo_gym.errors import EapoError

HISTORY = PurePosixPath(".config/google-chrome/Default/History")
"""Where Chrome keeps what was visited, below the home directory."""

HISTORY_DATABASE = (
    "https://huggingface.co/datasets/xlangai/ubuntu_osworld_file_cache/resolve/main/chrome/"
    "44ee5668-ecd5-4366-a6ce-c1c9b8d4e938/history_empty.sqlite?download=true"
)
"""The benchmark's file of that kind in which nothing has been visited yet."""

_LONGEST_WAIT = 75.0
"""Seconds that the browser may take to answer after it was started, as in the benchmark."""

_PAUSE = 0.5

_ASK = """
import sys, urllib.request
method, path = sys.argv[1:]
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
said = []
for port in (1337, 9222):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with direct.open(request, timeout=10) as answer:
            sys.stdout.buffer.write(answer.read())
        sys.exit(0)
    except OSError as error:
        said.append(f"port {port}: {error}")
sys.exit("; ".join(said))
"""

_EPOCH = datetime(1601, 1, 1, tzinfo=timezone.utc)
_TYPED_LINK = 0x30000000
"""How a visit came about: a link, at the beginning and the end of a chain of redirections."""


class BrowserError(EapoError, RuntimeError):
    """The machine's browser does not answer, or not as a browser does."""


class Browser:
    """The tabs of the machine's Chrome."""

    def __init__(self, computer: Computer, pause: Callable[[float], object]) -> None:
        self._computer = computer
        self._pause = pause

    def open(self, addresses: Sequence[str]) -> None:
        """Open a tab for each address; of the tabs that were there, the oldest goes, which is the empty one."""
        before = self._wait()
        for place, address in enumerate(addresses):
            self._ask("PUT", f"/json/new?{quote(address, safe='')}")
            if not place and before:
                self._ask("GET", f"/json/close/{quote(before[-1]['id'], safe='')}")

    def close(self, addresses: Sequence[str]) -> list[str]:
        """Close one tab for each address; returns the addresses that no tab shows."""
        tabs = self._wait()
        missing = []
        for address in addresses:
            tab = next((tab for tab in tabs if is_same_page(tab["url"], address)), None)
            if tab is None:
                missing.append(address)
            else:
                tabs.remove(tab)
                self._ask("GET", f"/json/close/{quote(tab['id'], safe='')}")
        return missing

    def _wait(self) -> list[Mapping[str, str]]:
        """The tabs, the newest first, as soon as there is a browser that can name them."""
        for _ in range(round(_LONGEST_WAIT / _PAUSE)):
            try:
                return self._tabs()
            except BrowserError:  # noqa: PERF203 (it is waited anyway)
                self._pause(_PAUSE)
        return self._tabs()

    def _tabs(self) -> list[Mapping[str, str]]:
        try:
            listed: Any = json.loads(self._ask("GET", "/json/list"))
        except (ValueError, RecursionError):
            listed = None
        if not isinstance(listed, list):
            raise BrowserError("The machine's browser answers, and does not list its tabs.")
        return [
            {"id": str(tab.get("id", "")), "url": str(tab.get("url", ""))}
            for tab in listed
            if isinstance(tab, dict) and tab.get("type") == "page"
        ]

    def _ask(self, method: str, path: str) -> str:
        try:
            ran = self._computer.execute(("python3", "-c", _ASK, method, path))
        except ComputerError as error:
            raise BrowserError(f"The machine's browser could not be asked: {error}") from error
        if ran.code:
            raise BrowserError(f"The machine's browser does not answer ({ran.error.strip()[-200:]}).")
        return ran.output


def is_same_page(one: str, other: str) -> bool:
    """Whether two addresses are of the same page: "www." and a path of "/" do not count.

    The benchmark also takes a site under another country's domain for the same.
    """
    return _page(one) == _page(other)


def _page(address: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
    except ValueError:
        return (address,)
    path = "" if parts.path == "/" else parts.path
    return (parts.scheme, parts.netloc.lower().removeprefix("www."), path, parts.query, parts.fragment)


def history_with(empty: Path, visits: Sequence[Mapping[str, Any]], now: datetime) -> bytes:
    """Chrome's file of visits, with these in it: each has an address, a title, and how many seconds ago it was."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "History"
        path.write_bytes(empty.read_bytes())
        database = sqlite3.connect(path)
        try:
            for visit in visits:
                _add(database, visit, now)
            database.commit()
        except sqlite3.Error as error:
            raise BrowserError(f"{empty} is no file of visits as Chrome keeps it ({error}).") from error
        finally:
            database.close()
        return path.read_bytes()


def _add(database: sqlite3.Connection, visit: Mapping[str, Any], now: datetime) -> None:
    ago = timedelta(seconds=visit["visit_time_from_now_in_seconds"])
    moment = (now.astimezone(timezone.utc) - ago - _EPOCH) // timedelta(microseconds=1)
    row = database.execute(
        "INSERT INTO urls (url, title, visit_count, typed_count, last_visit_time, hidden) VALUES (?, ?, 1, 0, ?, 0)",
        (visit["url"], visit["title"], moment),
    )
    database.execute(
        "INSERT INTO visits (url, visit_time, from_visit, transition, segment_id, visit_duration) "
        "VALUES (?, ?, 0, ?, 0, 0)",
        (row.lastrowid, moment, _TYPED_LINK),
    )
