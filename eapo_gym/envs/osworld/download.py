"""Files from the network: those that a task's preparation and its judging ask for, and the benchmark's archive.

Only `https`, of every address that a redirection leads to as well, and never more bytes than are taken at most. A file
gets its name when it is whole. What tasks fetch is kept by its address, so a task is prepared a second time without the
network; the machine that is prepared never needs one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from http.cookiejar import CookieJar
from pathlib import Path
from typing import IO, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, OpenerDirector, Request, build_opener

from eapo_gym.atomic import write_atomically
from eapo_gym.errors import EapoError

LARGEST = 1 << 30
"""Bytes of a file that a task may fetch; the benchmark's largest are videos of some hundred megabytes."""

SCHEMES = ("https",)

_CHUNK = 1 << 18
_TIMEOUT = 60.0
_LONGEST = 1800.0
"""Seconds that one answer may take in all, however it trickles."""

_ATTEMPTS = 3
_PAUSE = 2.0
"""Seconds after the first attempt that failed, and as many more after each further one."""

_BUSY = (408, 425, 429, 500, 502, 503, 504)
_STRONG_TAG = re.compile(r'"[^"\r\n]*"')

Progress = Callable[[int, int | None], object]
"""Told how many bytes have come, of how many if that is known."""


class DownloadError(EapoError, RuntimeError):
    """A file that cannot be had from the network."""


class _Refused(Exception):
    """The place does not give the file; asking again will not help."""


class _Interrupted(Exception):
    """The place may give the file when it is asked again."""


class FileCache:
    """Files of the network in a folder, by their addresses.

    Several processes may share one: each file takes its place when it is whole.

    Args:
        folder: where they are kept.
        most: the largest file, in bytes, that is fetched.
        online: whether what is missing may be fetched at all.
    """

    def __init__(self, folder: Path, *, most: int = LARGEST, online: bool = True) -> None:
        self.folder = folder
        self.most = most
        self.online = online

    def path(self, address: str) -> Path:
        """The file behind an address, fetched if it is not here; raises `DownloadError`."""
        check_address(address)
        place = self.folder / hashlib.sha256(address.encode()).hexdigest()
        note = place.with_suffix(".json")
        if _is_whole(place, note):
            return place
        if not self.online:
            raise DownloadError(f"{shown(address)} is not in {self.folder}, and nothing is fetched here.")
        draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        try:
            download(address, draft, most=self.most)
            noted = {"address": address, "bytes": draft.stat().st_size, "sha256": _digest(draft)}
            draft.replace(place)
            write_atomically(note, json.dumps(noted))
        finally:
            draft.unlink(missing_ok=True)
            _note_of(draft).unlink(missing_ok=True)
        return place


def _is_whole(place: Path, note: Path) -> bool:
    try:
        noted = json.loads(note.read_text(encoding="utf-8"))
        return isinstance(noted, dict) and noted.get("sha256") == _digest(place)
    except (FileNotFoundError, ValueError):
        return False


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def check_address(address: str) -> None:
    """Raises `DownloadError` where an address is not one that may be fetched."""
    try:
        address.encode()
        parts = urlsplit(address)
        fits = parts.scheme in SCHEMES and bool(parts.hostname)
    except ValueError:
        fits = False
    if not fits or any(ord(char) < 32 for char in address):
        raise DownloadError(f"Expected an address that begins with https://, got {address!r:.120}.")


def shown(address: str) -> str:
    """An address without what may be secret in it, and not longer than a sentence bears."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:160]


def download(address: str, path: Path, *, most: int = LARGEST, tell: Progress = lambda done, of: None) -> None:
    """Fetch a file to a path.

    Whoever calls gives the file its name when this returns. What is there already is the beginning of it, if the place
    says that it still has the same version, and can send the rest of one.
    """
    check_address(address)
    path.parent.mkdir(parents=True, exist_ok=True)
    opener = build_opener(HTTPCookieProcessor(CookieJar()), _SameScheme())
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _ask(opener, address, path, most, tell)
        except _Interrupted as interruption:  # noqa: PERF203 (a network costs more)
            if attempt == _ATTEMPTS:
                raise DownloadError(
                    f"{shown(address)} could not be fetched: {interruption}, {_ATTEMPTS} times."
                ) from None
            time.sleep(_PAUSE * attempt)
        except _Refused as refusal:
            raise DownloadError(f"{shown(address)} could not be fetched: {refusal}.") from None
        else:
            break
    _note_of(path).unlink(missing_ok=True)
    with path.open("rb") as file:
        os.fsync(file.fileno())


class _SameScheme(HTTPRedirectHandler):
    """Follows only where an address of a task might lead, too."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        try:
            check_address(newurl)
        except DownloadError:
            raise _Refused(f"it leads on to {newurl!r:.120}, which is not https") from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What is here of a file, and of which version."""

    size: int
    tag: str


def _beginning(path: Path) -> _Beginning:
    try:
        return _Beginning(path.stat().st_size, _note_of(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return _Beginning(0, "")


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.tag")


def _ask(opener: OpenerDirector, address: str, path: Path, most: int, tell: Progress) -> None:
    here = _beginning(path)
    headers = {"User-Agent": "eapo-gym", "Accept-Encoding": "identity"}
    if here.size and here.tag:
        headers |= {"Range": f"bytes={here.size}-", "If-Range": here.tag}
    try:
        answer: HTTPResponse = opener.open(
            Request(quote(address, safe="%/:=&?~#+!$,;'@()*[]"), headers=headers), timeout=_TIMEOUT
        )
    except HTTPError as error:
        with error:
            _refuse(error, path)
    except (URLError, HTTPException, OSError) as error:
        raise _Interrupted(f"it cannot be reached ({getattr(error, 'reason', None) or error})") from None
    except ValueError:
        raise _Refused("it leads on to what is no address") from None
    with answer:
        _check_kind(answer, address)
        start = here.size if answer.status == 206 else 0
        if start and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            path.unlink()
            raise _Interrupted("it answered with another piece of the file than was asked for")
        length = answer.headers.get("Content-Length", "")
        whole = start + int(length) if length.isdecimal() else None
        if whole is not None and whole > most:
            raise _Refused(f"it has {whole:,} bytes, and at most {most:,} are taken")
        tag = answer.headers.get("ETag", "")
        _note_of(path).write_text(tag if _STRONG_TAG.fullmatch(tag) else "", encoding="utf-8")
        _keep(answer, path, start, whole, most, tell)


def _refuse(error: HTTPError, path: Path) -> NoReturn:
    if error.code == 416:
        path.unlink(missing_ok=True)
        raise _Interrupted("its file is another one than before")
    said = f"it answers {error.code} {error.reason}".rstrip()
    raise _Interrupted(said) if error.code in _BUSY else _Refused(said)


def _check_kind(answer: HTTPResponse, address: str) -> None:
    """A page that says why there is no file, as Google Drive sends it, is not the file; a page that is a file, is."""
    named = urlsplit(address).path.lower().endswith((".html", ".htm", "/"))
    if answer.headers.get_content_type() == "text/html" and not named and "Content-Disposition" not in answer.headers:
        raise _Refused("it sends a web page instead of a file (its quota may be used up, or the file gone)")


def _keep(answer: HTTPResponse, path: Path, start: int, whole: int | None, most: int, tell: Progress) -> None:
    until = time.monotonic() + _LONGEST
    size = start
    with path.open("ab" if start else "wb") as out:
        while True:
            tell(size, whole)
            if time.monotonic() > until:
                raise _Refused(f"after {_LONGEST / 60:.0f} minutes it is not there")
            try:
                chunk = answer.read1(_CHUNK)
            except (HTTPException, OSError) as error:
                raise _Interrupted(f"the connection broke ({error})") from None
            if not chunk:
                break
            size += out.write(chunk)
            if size > most:
                raise _Refused(f"it has more than {most:,} bytes")
    if whole is not None and size < whole:
        raise _Interrupted(f"the connection ended at {size:,} of {whole:,} bytes")
