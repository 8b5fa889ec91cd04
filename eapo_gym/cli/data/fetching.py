"""Files over the network: in as many pieces as it takes, from several places, and whole or not at all.

What has come of a file is kept beside it as `NAME.part`, and whoever fetches it next, in this run or a later one, asks
for the rest. It gets its name when it has the size and the SHA-256 that are known of it. So it does not matter which
place a file comes from, nor whether its pieces come from different ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPException, HTTPResponse
from http.cookiejar import CookieJar
from pathlib import Path
from typing import NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from eapo_gym.errors import EapoError

_CHUNK = 1 << 18
_LONGEST_PAGE = 1 << 18
_TIMEOUT = 60.0

_ATTEMPTS = 3
"""So often in a row may a connection bring nothing before the next place is asked."""

_PAUSE = 2.0
"""Seconds after the first of them, and as much more after each further one."""

_BUSY = (408, 425, 429, 500, 502, 503, 504)
"""Answers of servers that may give the file in a moment."""

Progress = Callable[[str, int, int], object]
"""Told what is done to which file, and how many bytes of how many that has been done to."""


class FetchError(EapoError, RuntimeError):
    """A file that no place gives, or that cannot be kept."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file whose content is known, and where it can be fetched."""

    name: str
    size: int
    sha256: str
    sources: Sequence[str]
    """Addresses, in the order in which they are asked."""


class _Refused(Exception):
    """A place does not give the file; says why, as in "it has no such file"."""


class _Interrupted(Exception):
    """A place may give the rest of the file when it is asked again; says what happened."""


def fetch(file: RemoteFile, folder: Path, tell: Progress, say: Callable[[str], object], advice: str) -> Path:
    """The file in a folder, fetched if it is not there.

    `say` is told in sentences where it comes from; `advice` ends the error if it comes from nowhere.
    """
    path = folder / file.name
    if path.exists():
        if not _is_right(path, file, tell):
            raise FetchError(
                f"{path} is not the file that was published ({file.size:,} bytes, SHA-256 {file.sha256[:12]}…): delete "
                "it, and it is fetched again."
            )
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = _Part(path)
    if part.size() > file.size:
        part.drop()
    _check_space(file.size - part.size(), folder)
    refusals = []
    for source in file.sources:
        say(f"{file.name}: asking {_shown(source)}")
        try:
            _fetch_from(source, file, part, tell)
        except _Refused as refusal:
            refusals.append(f"{_shown(source)}: {refusal}")
            say(refusals[-1])
        else:
            part.become(path)
            return path
    kept = f" What has come of it, {part.size() / 1e6:,.1f} MB, is kept." if part.size() else ""
    raise FetchError(f"{file.name} could not be fetched ({'; '.join(refusals)}).{kept} {advice}")


class _Part:
    """What has come of a file so far, with a note of which version at which place it is."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f"{path.name}.part")
        self._note = path.with_name(f"{path.name}.part.json")

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def version(self, source: str) -> str:
        """The version (a strong ETag) that the place had when it was asked last, "" if that is not known."""
        try:
            noted = json.loads(self._note.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return ""
        if not isinstance(noted, dict) or noted.get("source") != source:
            return ""
        return str(noted.get("version", ""))

    def note(self, source: str, version: str) -> None:
        self._note.write_text(json.dumps({"source": source, "version": version}), encoding="utf-8")

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def become(self, path: Path) -> None:
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        self.path.replace(path)
        self._note.unlink(missing_ok=True)


def _fetch_from(source: str, file: RemoteFile, part: _Part, tell: Progress) -> None:
    """Complete the part from one place. If the whole is wrong the pieces may not fit: then once more from the start."""
    while True:
        pieced = part.size() > 0
        _complete(source, file, part, tell)
        if _is_right(part.path, file, tell):
            return
        part.drop()
        if not pieced:
            raise _Refused(f"its file is another one (expected SHA-256 {file.sha256[:12]}…)")


def _complete(source: str, file: RemoteFile, part: _Part, tell: Progress) -> None:
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    most, in_vain = part.size(), 0
    while part.size() < file.size:
        try:
            _ask(opener, source, source, file, part, tell)
        except _Interrupted as interruption:  # noqa: PERF203 (a network costs more)
            in_vain = 0 if part.size() > most else in_vain + 1
            most = max(most, part.size())
            if in_vain == _ATTEMPTS:
                raise _Refused(f"{interruption}, {_ATTEMPTS} times in a row") from None
            time.sleep(_PAUSE * in_vain)


def _ask(opener: OpenerDirector, source: str, address: str, file: RemoteFile, part: _Part, tell: Progress) -> None:
    """One request for what is missing; its answer goes into the part for as long as it lasts."""
    headers = {"User-Agent": "eapo-gym", "Accept-Encoding": "identity"}
    here, version = part.size(), part.version(source)
    if here:
        headers["Range"] = f"bytes={here}-"
        if version:
            headers["If-Range"] = version
    try:
        answer: HTTPResponse = opener.open(Request(address, headers=headers), timeout=_TIMEOUT)
    except HTTPError as error:
        with error:
            _refuse(error)
    except (URLError, HTTPException, OSError) as error:
        raise _Interrupted(f"it cannot be reached ({getattr(error, 'reason', None) or error})") from None
    with answer:
        if answer.headers.get_content_type() == "text/html":
            page = _page(answer)
            onward = _confirmation(page, answer.url)
            if onward is None or address != source:
                raise _Refused(_what_a_page_says(page))
            _ask(opener, source, onward, file, part, tell)
            return
        start = _start(answer, here, file)
        tag = answer.headers.get("ETag", "")
        tag = "" if tag.startswith("W/") else tag
        if start and version and tag and tag != version:
            part.drop()
            raise _Interrupted("the file there has changed meanwhile")
        part.note(source, tag)
        _keep(answer, start, file, part, tell)


def _refuse(error: HTTPError) -> NoReturn:
    """Say what is meant by an answer that is an error."""
    if error.code == 416:
        raise _Refused("its file is another one (it ends before what is missing here)")
    if error.code in _BUSY:
        raise _Interrupted(f"it is busy ({error.code} {error.reason})")
    if error.code in (404, 410):
        raise _Refused(f"it has no such file ({error.code} {error.reason})")
    page = _page(error) if error.headers.get_content_type() == "text/html" else ""
    raise _Refused(_what_a_page_says(page) if _QUOTA.search(page) else f"it answers {error.code} {error.reason}")


def _start(answer: HTTPResponse, here: int, file: RemoteFile) -> int:
    """From which byte on the answer is, if it is of a file of the right size."""
    start, total = 0, answer.headers.get("Content-Length")
    if answer.status == 206:
        span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
        if span is None or int(span[1]) != here:
            raise _Refused("it answers with another piece of the file than was asked for")
        start, total = here, span[2].replace("*", "") or None
    if total is not None and int(total) != file.size:
        raise _Refused(f"its file is another one ({int(total):,} bytes, expected {file.size:,})")
    return start


def _keep(answer: HTTPResponse, start: int, file: RemoteFile, part: _Part, tell: Progress) -> None:
    with part.path.open("ab" if start else "wb") as out:
        size = start
        while True:
            tell(f"fetching {file.name}", size, file.size)
            try:
                chunk = answer.read1(_CHUNK)
            except (HTTPException, OSError) as error:
                raise _Interrupted(f"the connection broke ({error})") from None
            if not chunk:
                break
            size += out.write(chunk)
            if size > file.size:
                break
    if size > file.size:
        part.drop()
        raise _Refused(f"its file is another one (more than {file.size:,} bytes)")
    if size < file.size:
        raise _Interrupted(f"the connection ended at {size:,} of {file.size:,} bytes")


def _is_right(path: Path, file: RemoteFile, tell: Progress) -> bool:
    if path.stat().st_size != file.size:
        return False
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
            done += len(chunk)
            tell(f"checking {file.name}", done, file.size)
    return digest.hexdigest() == file.sha256


def _check_space(needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise FetchError(
            f"{needed / 1e6:,.0f} MB are to be fetched into {folder}, with {free / 1e6:,.0f} MB free: make room, or "
            "choose another folder with --into."
        )


def _shown(address: str) -> str:
    """An address without what may be secret in it; of Google Drive with the file's number, which is all there is."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    query = parts.query if host == "drive.google.com" else ""
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


# Pages that come instead of a file

_QUOTA = re.compile(r"quota|too many users", re.IGNORECASE)


def _page(answer: HTTPResponse | HTTPError) -> str:
    try:
        return answer.read(_LONGEST_PAGE).decode("utf-8", "replace")
    except (HTTPException, OSError) as error:
        raise _Interrupted(f"the connection broke ({error})") from None


def _what_a_page_says(page: str) -> str:
    if _QUOTA.search(page):
        return (
            "its quota for this file is used up, as too many people have fetched it lately; it is open again within "
            "a day or so"
        )
    title = re.search(r"<title[^>]*>\s*([^<]{1,80})", page, re.IGNORECASE)
    return f"it sends a web page{f' ({title[1].strip()!r})' if title else ''} instead of the file"


def _confirmation(page: str, address: str) -> str | None:
    """Where Google Drive's page leads that asks whether a file shall be fetched that is too large to be scanned."""
    form = _DownloadForm()
    form.feed(page)
    if form.action is None:
        return None
    onward = urljoin(address, form.action)
    if urlsplit(onward).scheme not in ("http", "https"):
        return None
    return f"{onward}{'&' if urlsplit(onward).query else '?'}{urlencode(form.fields)}" if form.fields else onward


class _DownloadForm(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = given.get("id") == "download-form"
            if self._inside:
                self.action = given.get("action", "")
        elif tag == "input" and self._inside and given.get("type") == "hidden" and "name" in given:
            self.fields[given["name"]] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
