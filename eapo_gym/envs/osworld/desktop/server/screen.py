"""The picture of the screen: as X has it in a file, as PNG, and whether it has changed."""

from __future__ import annotations

import mmap
import struct
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

_LOOK_EVERY = 0.01


@dataclass(frozen=True)
class Layout:
    """Where the pixels are in the file (an X window dump, whose header is made of big-endian words)."""

    offset: int
    width: int
    height: int
    row: int
    """Bytes of a row."""

    @classmethod
    def read(cls, start: bytes) -> Layout:
        words = struct.unpack(">25I", start[:100])
        size, width, height, bits, row, colours = words[0], words[4], words[5], words[11], words[12], words[19]
        if bits != 32:
            raise ValueError(f"The screen has {bits} bits for each pixel; 32 were expected.")
        return cls(size + 12 * colours, width, height, row)


class Screen:
    """What is to be seen. Safe to use from several threads."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._memory = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self.layout = Layout.read(self._memory[:100])
        self._lock = Lock()
        self._stamp = 0
        self._seen = b""

    @property
    def size(self) -> tuple[int, int]:
        return self.layout.width, self.layout.height

    def pixels(self) -> bytes:
        """Blue, green, red and an unused byte for each pixel; rows from the top, one right after the other."""
        layout = self.layout
        wanted = layout.width * 4
        raw = self._memory[layout.offset : layout.offset + layout.row * layout.height]
        if layout.row == wanted:
            return raw
        return b"".join(raw[start : start + wanted] for start in range(0, len(raw), layout.row))

    def is_blank(self, box: tuple[int, int, int, int]) -> bool:
        """Whether nothing is painted in a rectangle, a margin for its frame aside: all of it has one colour."""
        left, top, right, bottom = box
        left, top, right, bottom = max(left + 3, 0), max(top + 3, 0), right - 3, bottom - 3
        right, bottom = min(right, self.layout.width), min(bottom, self.layout.height)
        if left >= right or top >= bottom:
            return False
        start = self.layout.offset + top * self.layout.row + left * 4
        width = (right - left) * 4
        row = self._memory[start : start + 4] * (right - left)
        return all(
            self._memory[at : at + width] == row
            for at in range(start, start + (bottom - top) * self.layout.row, self.layout.row)
        )

    def stamp(self) -> int:
        """A number that is another one whenever the picture is another than at the last call."""
        now = self.pixels()
        with self._lock:
            if now != self._seen:
                self._seen = now
                self._stamp += 1
            return self._stamp

    def wait_until_quiet(self, still: float, limit: float, since: int | None, first: float) -> tuple[bool, int]:
        """Look until the picture has been the same for `still` seconds; whether it was so in time, and its stamp."""
        start = time.monotonic()
        stamp = self.stamp()
        while stamp == since and time.monotonic() - start < min(first, limit):
            time.sleep(_LOOK_EVERY)
            stamp = self.stamp()
        same_since = time.monotonic()
        while (now := time.monotonic()) - same_since < still:
            if now - start >= limit:
                return False, stamp
            time.sleep(_LOOK_EVERY)
            latest = self.stamp()
            if latest != stamp:
                stamp, same_since = latest, time.monotonic()
        return True, stamp

    def png(self) -> bytes:
        width, height = self.size
        raw = self.pixels()
        rgb = bytearray(width * height * 3)
        rgb[0::3], rgb[1::3], rgb[2::3] = raw[2::4], raw[1::4], raw[0::4]
        row = width * 3
        # each row begins with the number of its filter: none
        rows = b"".join(b"\0" + rgb[start : start + row] for start in range(0, len(rgb), row))
        header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in chunks
        )
