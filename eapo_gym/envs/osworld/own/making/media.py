"""Films that are small and need no library to be made."""

from __future__ import annotations

import struct


def film(color: tuple[int, int, int], seconds: int, width: int = 96, height: int = 64) -> bytes:
    """An .avi file without sound: a bar walks over the color, ten uncompressed pictures in a second."""
    count = 10 * seconds
    frames = [_frame(color, width, height, width * number // count) for number in range(count)]
    size = len(frames[0])
    header = struct.pack(
        "<14I", 100_000, size * 10, 0, 0x10, count, 0, 1, size, width, height, 0, 0, 0, 0,
    )  # fmt: skip
    stream = (
        b"vids" + b"DIB " + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 10, 0, count, size, 0, 0, 0, 0, width, height)
    )
    bitmap = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, size, 0, 0, 0, 0)
    headers = _group(
        b"hdrl", _chunk(b"avih", header) + _group(b"strl", _chunk(b"strh", stream) + _chunk(b"strf", bitmap))
    )
    places = b"".join(
        b"00db" + struct.pack("<III", 0x10, 4 + number * (size + 8), size) for number in range(len(frames))
    )
    movie = _group(b"movi", b"".join(_chunk(b"00db", frame) for frame in frames))
    return _chunk(b"RIFF", b"AVI " + headers + movie + _chunk(b"idx1", places))


def _frame(color: tuple[int, int, int], width: int, height: int, at: int) -> bytes:
    """The pixels from the lowest line up, blue first, every line a multiple of four bytes long."""
    red, green, blue = color
    line = b"".join(b"\xff\xff\xff" if at <= x < at + 8 else bytes((blue, green, red)) for x in range(width))
    return (line + bytes(-len(line) % 4)) * height


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def _group(name: bytes, content: bytes) -> bytes:
    return _chunk(b"LIST", name + content)
