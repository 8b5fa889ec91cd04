"""What travels between a host and its tenant: values as bytes, and frames that tell where one message ends.

A message is a JSON text with raw buffers behind it (array data, bytes), so nothing that comes over the wire is ever
evaluated, as a pickle would be. What JSON cannot say stands as a tagged object, `{"$": "tuple", …}`.

This file is read by both sides, and the tenant's interpreter may be an older one with nothing installed: standard
library only, Python 3.8 syntax, NumPy only where a message has an array in it.
"""

from __future__ import annotations

import json
import math
import re
import struct
import sys
from collections.abc import Callable
from typing import Any

PROTOCOL = 1
"""Raised with every change that an older side would not understand."""

MAX_FRAME = 256 << 20
"""Largest message in bytes: far above any screenshot, far below what would take the machine down."""

PREFIX = struct.Struct(">4sQ")
_MAGIC = b"EAPO"
_TEXT_LENGTH = struct.Struct(">I")
_TAG = "$"
_MAX_DEPTH = 100
# Array types that are plain data: numbers, text, bytes, times. No objects, no records.
_DTYPE = re.compile(r"[<>|=][biufcSUmM]\d+(\[\w+\])?")
_WHOLE = 1 << 63
_AS_IS = frozenset((str, bool, float, type(None)))

_write_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_read_plain_json = json.JSONDecoder().decode


class CodecError(ValueError):
    """A value that cannot travel, or bytes that are no message."""


def encode(value: Any, exact: bool = False) -> bytes:
    """`value` as bytes.

    A subclass of a plain type (an OrderedDict, an IntEnum, a named tuple) arrives as the plain type. With `exact` such
    a value is refused, as is one that holds the same list twice, so that what arrives is all that was there.
    """
    writer = _Writer(exact)
    try:
        text = _write_json(writer.plain(value, 0)).encode("utf-8", "surrogatepass")
    except _Refused as refused:
        raise CodecError(str(refused)) from None
    except RecursionError:
        raise CodecError("a value that is nested too deeply") from None
    size = _TEXT_LENGTH.size + len(text) + writer.size
    if size > MAX_FRAME:
        raise CodecError(f"a message of {size} bytes: expected at most {MAX_FRAME}")
    return b"".join([_TEXT_LENGTH.pack(len(text)), text, *writer.buffers])


def decode(body: bytes | bytearray) -> Any:
    """The value that `encode` was given. Bytes that are no message raise `CodecError`, and nothing else."""
    try:
        (length,) = _TEXT_LENGTH.unpack_from(body)
        start = _TEXT_LENGTH.size + length
        if start > len(body):
            raise CodecError(f"a message of {len(body)} bytes that claims {start}")
        text = body[_TEXT_LENGTH.size : start].decode("utf-8", "surrogatepass")
        # A quotation mark inside a JSON string is escaped, so this finds tagged objects and nothing else.
        if '{"$":' not in text:
            return _read_plain_json(text)
        return json.JSONDecoder(object_hook=_Reader(body, start).object).decode(text)
    except CodecError:
        raise
    except (ValueError, KeyError, TypeError, LookupError, OverflowError, RecursionError, struct.error) as error:
        raise CodecError(f"not a message: {type(error).__name__}: {error}") from error


def prefix_of(body: bytes) -> bytes:
    """What stands on a pipe in front of a message."""
    return PREFIX.pack(_MAGIC, len(body))


def body_length(prefix: bytes | bytearray) -> int:
    """Length of the message that `prefix` announces."""
    magic, length = PREFIX.unpack(prefix)
    if magic != _MAGIC:
        raise CodecError(f"expected a frame that begins with {_MAGIC!r}, got {bytes(prefix)!r}")
    if length > MAX_FRAME:
        raise CodecError(f"a frame of {length} bytes: expected at most {MAX_FRAME}")
    return int(length)


class _Refused(Exception):
    """A value that cannot travel, found at `path`; the path grows on the way out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class _Writer:
    """Turns a value into what JSON can say, and puts aside the buffers that go behind it."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.buffers: list[bytes] = []
        self.size = 0
        self.seen: set[int] = set()

    def plain(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _AS_IS:
            return value
        if kind is int:
            return value if -_WHOLE <= value < _WHOLE else {_TAG: "int", "hex": hex(value)}
        if depth > _MAX_DEPTH:
            raise _Refused(f"nested deeper than {_MAX_DEPTH} levels")
        if kind is dict:
            return self.mapping(value, depth + 1)
        if kind is list:
            self.once(value)
            return self.items(value, depth + 1)
        if kind is tuple:
            return {_TAG: "tuple", "items": self.items(value, depth + 1)}
        if kind is bytes:
            return {_TAG: "bytes", "at": self.buffer(value)}
        if kind is bytearray:
            self.once(value)
            return {_TAG: "bytearray", "at": self.buffer(bytes(value))}
        if kind is set or kind is frozenset:
            self.once(value)
            return {_TAG: kind.__name__, "items": self.items(list(value), depth + 1)}
        return self.unusual(value, depth)

    def unusual(self, value: Any, depth: int) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return self.scalar(value, numpy)
        if numpy is not None and type(value) is numpy.ndarray:
            self.once(value)
            return self.array(value)
        if not self.exact:
            base: Any
            for base in (str, int, float, dict, list, tuple, bytes, bytearray, frozenset, set):
                if isinstance(value, base):
                    return self.plain(_base_value(value, base), depth)
            if numpy is not None and isinstance(value, numpy.ndarray):
                return self.array(numpy.asarray(value))
        kind = type(value)
        raise _Refused(
            f"a {kind.__module__}.{kind.__qualname__} cannot travel between processes: expected "
            "None, bool, int, float, str, bytes, list, tuple, dict, set or NumPy data"
        )

    def mapping(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        self.once(value)
        if _TAG in value or not all(type(key) is str for key in value):
            pairs = [[self.plain(key, depth), self.at(key, item, depth)] for key, item in value.items()]
            return {_TAG: "dict", "items": pairs}
        return {k: item if type(item) in _AS_IS else self.at(k, item, depth) for k, item in value.items()}

    def items(self, value: Any, depth: int) -> list[Any]:
        return [item if type(item) in _AS_IS else self.at(i, item, depth) for i, item in enumerate(value)]

    def at(self, key: Any, item: Any, depth: int) -> Any:
        try:
            return self.plain(item, depth)
        except _Refused as refused:
            if len(refused.path) < 200:
                refused.path = f"[{key!r}]{refused.path}"
            raise

    def once(self, value: Any) -> None:
        if self.exact:
            if id(value) in self.seen:
                raise _Refused(f"the same {type(value).__name__} stands in it twice")
            self.seen.add(id(value))

    def array(self, value: Any) -> dict[str, Any]:
        dtype = value.dtype.str
        if value.dtype.names is not None or not _DTYPE.fullmatch(dtype):
            raise _Refused(f"an array of {value.dtype} cannot travel between processes: expected numbers or text")
        return {_TAG: "array", "dtype": dtype, "shape": list(value.shape), "at": self.buffer(value.tobytes())}

    def scalar(self, value: Any, numpy: Any) -> dict[str, Any]:
        # As arrays, text and bytes would lose their trailing zeros.
        if isinstance(value, (numpy.str_, numpy.bytes_)):
            kind = "str_" if isinstance(value, numpy.str_) else "bytes_"
            return {_TAG: kind, "value": self.plain(value.item(), 0)}
        return {**self.array(numpy.asarray(value)), _TAG: "scalar"}

    def buffer(self, data: bytes) -> list[int]:
        start = self.size
        self.buffers.append(data)
        self.size += len(data)
        return [start, len(data)]


def _base_value(value: Any, base: type) -> Any:
    """`value` as its plain base class, past whatever the subclass makes of `str()`, `int()`, iteration."""
    if base is dict:
        return dict(value.items())
    if base is str:
        return str.__str__(value)
    if base is int:
        return int.__int__(value)
    if base is float:
        return float.__float__(value)
    return base(value)


class _Reader:
    """Turns tagged objects back into values."""

    def __init__(self, body: bytes | bytearray, start: int) -> None:
        self.buffers = memoryview(body)[start:]

    def object(self, found: dict[str, Any]) -> Any:
        tag = found.get(_TAG)
        if tag is None:
            return found
        read = self.READERS.get(tag)
        if read is None:
            raise CodecError(f"an unknown kind of value, {tag!r:.40}: the other side speaks a newer protocol")
        return read(self, found)

    def buffer(self, found: dict[str, Any]) -> memoryview:
        start, length = found["at"]
        if start < 0 or length < 0 or start + length > len(self.buffers):
            raise CodecError("a buffer that lies outside of the message")
        return self.buffers[start : start + length]

    def array(self, found: dict[str, Any]) -> Any:
        try:
            import numpy
        except ImportError:
            raise CodecError("a NumPy array came, but NumPy is not installed on this side") from None
        if not _DTYPE.fullmatch(found["dtype"]):
            raise CodecError(f"an array of an unknown type, {found['dtype']!r:.40}")
        dtype, shape, data = numpy.dtype(found["dtype"]), tuple(found["shape"]), self.buffer(found)
        if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(data):
            raise CodecError(f"an array of shape {shape!r:.80} with {len(data)} bytes")
        # A copy: arrays that an environment hands out belong to whoever gets them, and can be written to.
        return numpy.ndarray(shape, dtype, buffer=bytearray(data))

    def scalar(self, found: dict[str, Any]) -> Any:
        return self.array(found)[()]

    def numpy_text(self, found: dict[str, Any]) -> Any:
        import numpy

        return getattr(numpy, found[_TAG])(found["value"])

    READERS: dict[str, Callable[[_Reader, dict[str, Any]], Any]] = {
        "int": lambda self, found: int(found["hex"], 16),
        "tuple": lambda self, found: tuple(found["items"]),
        "set": lambda self, found: set(found["items"]),
        "frozenset": lambda self, found: frozenset(found["items"]),
        "dict": lambda self, found: dict(found["items"]),
        "bytes": lambda self, found: bytes(self.buffer(found)),
        "bytearray": lambda self, found: bytearray(self.buffer(found)),
        "array": array,
        "scalar": scalar,
        "str_": numpy_text,
        "bytes_": numpy_text,
    }
