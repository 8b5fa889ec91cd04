"""D-Bus by hand: many questions leave in one piece, and their answers are read as they come.

The libraries for it wake a thread for each message, which takes longer than what is asked. Only what is needed for
calling methods is here, on a machine whose bytes are in the usual order (little-endian).
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

_CALL, _ANSWER = 1, 2
_PATH, _INTERFACE, _MEMBER, _ANSWERS_TO, _DESTINATION, _SIGNATURE = 1, 2, 3, 5, 6, 8

Argument = str | int | tuple[str, str | int]
"""A value, or for a variant its type and its value."""

Reader = Callable[[bytes, int], tuple[Any, int]]


class BusError(OSError):
    """A bus that cannot be reached, or says no."""


class Link:
    """A connection to a bus, or to a program itself."""

    def __init__(self, address: str, *, is_bus: bool) -> None:
        self._socket = _connect(address)
        self._outgoing = bytearray(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nBEGIN\r\n")
        self._incoming = bytearray()
        self._is_greeted = False
        self._serial = 0
        self.waiting: dict[int, Callable[[Any], None]] = {}
        self.is_broken = False
        if is_bus:
            self.ask(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", "", (), lambda _: None
            )

    def ask(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str,
        arguments: Iterable[Argument],
        then: Callable[[Any], None],
    ) -> None:
        """Put a question into what is to be sent. `then` gets the values of the answer, or None if it is an error."""
        self._serial += 1
        self.waiting[self._serial] = then
        body = _written(signature, arguments)
        fields = _fixed_fields(interface, member, signature) + _field(_DESTINATION, "s", destination)
        fields += _field(_PATH, "o", path, pad=False)
        head = struct.pack("<BBBBIII", ord("l"), _CALL, 0, 1, len(body), self._serial, len(fields))
        self._outgoing += head + fields + bytes(-len(fields) % 8) + body

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def has_to_send(self) -> bool:
        return bool(self._outgoing)

    def send(self) -> None:
        try:
            sent = self._socket.send(self._outgoing)
        except BlockingIOError:
            return
        del self._outgoing[:sent]

    def receive(self) -> None:
        """Read what is there, and do what follows from the answers in it."""
        try:
            part = self._socket.recv(2**18)
        except BlockingIOError:
            return
        if not part:
            raise BusError("The other side has closed.")
        self._incoming += part
        if not self._is_greeted:
            line, found, rest = self._incoming.partition(b"\r\n")
            if not found:
                return
            if not line.startswith(b"OK"):
                raise BusError(f"The bus said {bytes(line)!r}.")
            self._is_greeted, self._incoming = True, rest
        self._take_messages()

    def _take_messages(self) -> None:
        data = bytes(self._incoming)
        start = 0
        while len(data) - start >= 16:
            body_length, _, fields_length = struct.unpack_from("<III", data, start + 4)
            body = start + 16 + fields_length + -fields_length % 8
            if len(data) < body + body_length:
                break
            if data[start : start + 1] != b"l":
                raise BusError("A message is in a byte order that is not this machine's.")
            kind = data[start + 1]
            if kind != _CALL:
                fields, _ = _reader("a(yv)")(data[start : body + body_length], 12)
                self._answer(kind, dict(fields), data[body : body + body_length])
            start = body + body_length
        del self._incoming[:start]

    def _answer(self, kind: int, fields: dict[int, Any], body: bytes) -> None:
        then = self.waiting.pop(fields.get(_ANSWERS_TO, 0), None)
        if then is not None:
            then(_reader(f"({fields.get(_SIGNATURE, '')})")(body, 0)[0] if kind == _ANSWER else None)


def talk(links: Callable[[], Iterable[Link]], deadline: float) -> None:
    """Send and receive until all is answered, or it is time. A link that breaks has no answers to come."""
    while True:
        waiting = [link for link in links() if link.waiting]
        left = deadline - time.monotonic()
        if not waiting or left <= 0:
            return
        readable, writable, _ = select.select(waiting, [link for link in waiting if link.has_to_send()], [], left)
        for link in waiting:
            _serve(link, link in readable, link in writable)


def _serve(link: Link, readable: bool, writable: bool) -> None:
    try:
        if writable:
            link.send()
        if readable:
            link.receive()
    except OSError:
        unanswered, link.waiting = link.waiting, {}
        for then in unanswered.values():
            then(None)
        link.close()
        link.is_broken = True


Question = tuple[str, str, str, str, str, Iterable[Argument]]
"""Destination, path, interface, member, signature and arguments."""


def ask_once(address: str, question: Question, seconds: float = 20.0) -> Any:
    """One question to a bus, and its answer; raises `BusError` where none comes."""
    link = Link(address, is_bus=True)
    found: list[Any] = []
    try:
        destination, path, interface, member, signature, arguments = question
        link.ask(destination, path, interface, member, signature, arguments, found.append)
        talk(lambda: [link], time.monotonic() + seconds)
    finally:
        link.close()
    if not found or found[0] is None:
        raise BusError(f"The bus gave no answer to {question[3]}.")
    return found[0]


def _connect(address: str) -> socket.socket:
    """An address names a file or an abstract socket, with more that does not matter here."""
    kind, _, rest = address.split(";")[0].partition(":")
    parts = dict(part.partition("=")[::2] for part in rest.split(","))
    place = parts.get("path") or ("\0" + parts["abstract"] if "abstract" in parts else "")
    if kind != "unix" or not place:
        raise BusError(f"The bus has an address that is no Unix socket: {address}")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(5)
        connection.connect(place)
        connection.setblocking(False)
    except OSError:
        connection.close()
        raise
    return connection


@lru_cache(maxsize=1024)
def _fixed_fields(interface: str, member: str, signature: str) -> bytes:
    fields = _field(_INTERFACE, "s", interface) + _field(_MEMBER, "s", member)
    return fields + (_field(_SIGNATURE, "g", signature) if signature else b"")


def _field(code: int, kind: str, value: str, pad: bool = True) -> bytes:
    """A field of a header, which begins at a multiple of 8."""
    raw = value.encode()
    length = struct.pack("<B", len(raw)) if kind == "g" else struct.pack("<I", len(raw))
    field = bytes((code, 1, ord(kind), 0)) + length + raw + b"\0"
    return field + bytes(-len(field) % 8) if pad else field


def _written(signature: str, arguments: Iterable[Argument]) -> bytes:
    """Texts, numbers, and variants of them, which is all that is ever asked with."""
    out = bytearray()
    for kind, value in zip(signature, arguments, strict=True):
        if kind == "v":
            assert isinstance(value, tuple)
            kind, value = value
            out += bytes((1, ord(kind), 0))
        out += bytes(-len(out) % 4)
        if kind == "s":
            raw = str(value).encode()
            out += struct.pack("<I", len(raw)) + raw + b"\0"
        else:
            out += struct.pack({"u": "<I", "i": "<i", "b": "<I"}[kind], value)
    return bytes(out)


_NUMBERS = {
    "n": "<h",
    "q": "<H",
    "i": "<i",
    "u": "<I",
    "x": "<q",
    "t": "<Q",
    "d": "<d",
    "h": "<I",
    "b": "<I",
    "y": "<B",
}


@lru_cache(maxsize=1024)
def _reader(signature: str) -> Reader:
    """A function that reads one value of that type from bytes at a place, and says where it ended."""
    kind = signature[0]
    if kind in _NUMBERS:
        return _number_reader(_NUMBERS[kind])
    if kind in "so":
        return _read_text
    if kind == "g":
        return _read_signature
    if kind == "v":
        return _read_variant
    if kind == "(":
        return _struct_reader(signature[1:-1])
    if kind == "a" and signature[1] == "{":
        return _array_reader(signature[2:-1], is_dictionary=True)
    if kind == "a":
        return _array_reader(signature[1:], is_dictionary=False)
    raise BusError(f"A message has a value of the unknown type {signature!r}.")


def _number_reader(code: str) -> Reader:
    number = struct.Struct(code)
    size, unpack = number.size, number.unpack_from

    def read(data: bytes, at: int) -> tuple[Any, int]:
        at += -at % size
        return unpack(data, at)[0], at + size

    return read


def _read_text(data: bytes, at: int) -> tuple[str, int]:
    at += -at % 4
    end = at + 4 + int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : end].decode("utf-8", "replace"), end + 1


def _read_signature(data: bytes, at: int) -> tuple[str, int]:
    end = at + 1 + data[at]
    return data[at + 1 : end].decode(), end + 1


def _read_variant(data: bytes, at: int) -> tuple[Any, int]:
    signature, at = _read_signature(data, at)
    return _reader(signature)(data, at)


def _struct_reader(inner: str) -> Reader:
    readers = [_reader(part) for part in _split(inner)]

    def read(data: bytes, at: int) -> tuple[Any, int]:
        at += -at % 8
        values = []
        for reader in readers:
            value, at = reader(data, at)
            values.append(value)
        return tuple(values), at

    return read


def _array_reader(inner: str, *, is_dictionary: bool) -> Reader:
    reader = _struct_reader(inner) if is_dictionary else _reader(inner)
    to = 8 if is_dictionary or inner[0] in "(xtd" else 1 if inner[0] in "yvg" else 2 if inner[0] in "nq" else 4

    def read(data: bytes, at: int) -> tuple[Any, int]:
        at += -at % 4
        length = int.from_bytes(data[at : at + 4], "little")
        at += 4
        at += -at % to
        end = at + length
        values = []
        while at < end:
            value, at = reader(data, at)
            values.append(value)
        return (dict(values) if is_dictionary else values), end

    return read


def _split(signature: str) -> list[str]:
    """The single types that a signature is made of."""
    parts: list[str] = []
    start = 0
    while start < len(signature):
        end = _end(signature, start)
        parts.append(signature[start:end])
        start = end
    return parts


def _end(signature: str, start: int) -> int:
    kind = signature[start]
    if kind == "a":
        return _end(signature, start + 1)
    if kind not in "({":
        return start + 1
    depth = 0
    for at in range(start, len(signature)):
        depth += (signature[at] in "({") - (signature[at] in ")}")
        if depth == 0:
            return at + 1
    raise BusError(f"A message has the broken type {signature!r}.")
