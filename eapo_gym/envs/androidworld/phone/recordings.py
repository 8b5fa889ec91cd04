"""Files of sound and film: real containers, which say how long they last, with silence and darkness in them."""

from __future__ import annotations

import struct

_TICKS = 1_000
"""Of the clock in a container, in a second."""

_BYTES_A_SECOND, _MOST_BYTES = 1_000, 60_000
_WAVE_RATE = 16_000


def container(seconds: float, brand: str) -> bytes:
    """An MPEG-4 file of that length; brand "mp42" for film, "M4A " for sound, "3gp4" for phones of old."""
    head = _box(b"ftyp", brand.encode() + bytes(4) + b"isom" + brand.encode())
    length = round(seconds * _TICKS)
    times = struct.pack(">IIIII", 0, 0, 0, _TICKS, length)
    matrix = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    header = _box(b"mvhd", times + struct.pack(">IH10x", 0x10000, 0x100) + matrix + bytes(24) + struct.pack(">I", 2))
    content = bytes(min(round(seconds * _BYTES_A_SECOND), _MOST_BYTES))
    return head + _box(b"moov", header) + _box(b"mdat", content)


def wave(seconds: float) -> bytes:
    """A WAV file. Its header tells the length; of the silence only the beginning is there."""
    size = round(seconds * _WAVE_RATE)
    form = struct.pack("<IHHIIHH", 16, 1, 1, _WAVE_RATE, _WAVE_RATE, 1, 8)
    content = b"\x80" * min(size, _MOST_BYTES)
    return b"RIFF" + struct.pack("<I", size + 36) + b"WAVEfmt " + form + b"data" + struct.pack("<I", size) + content


def seconds_of(file: bytes) -> float | None:
    """How long a recording lasts; None if it is no such file."""
    if file[:4] == b"RIFF" and len(file) >= 44:
        return float(struct.unpack_from("<I", file, 40)[0]) / _WAVE_RATE
    found = file.find(b"mvhd")
    if found < 0 or len(file) < found + 24:
        return None
    ticks, length = struct.unpack_from(">II", file, found + 16)
    return length / ticks if ticks else None


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + name + content
