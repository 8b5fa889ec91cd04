"""Small PDFs for tests, written by hand: pages of text, and a picture on the first."""

from __future__ import annotations

import zlib
from pathlib import Path


def make_pdf(path: Path, *pages: str, picture: bytes | None = None, side: int = 16) -> Path:
    """A page per text, in Helvetica; the picture is `side` × `side` grey values."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    image = 4 + 2 * count
    for number, text in enumerate(pages):
        pictures = f"/XObject << /I {image} 0 R >>" if picture and number == 0 else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {5 + 2 * number} 0 R "
            f"/Resources << /Font << /F 3 0 R >> {pictures} >> >>".encode()
        )
        lines = " ".join(f"({line}) Tj 0 -20 Td" for line in text.split("\n"))
        shown = " q 99 0 0 99 9 9 cm /I Do Q" if pictures else ""
        objects.append(_stream(f"BT /F 12 Tf 20 250 Td {lines} ET{shown}".encode()))
    if picture:
        header = (
            f"/Type /XObject /Subtype /Image /Width {side} /Height {side} /ColorSpace /DeviceGray /BitsPerComponent 8"
        )
        objects.append(_stream(zlib.compress(picture), f"{header} /Filter /FlateDecode"))
    path.write_bytes(_file(objects))
    return path


def _stream(content: bytes, entries: str = "") -> bytes:
    return f"<< {entries} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def _file(objects: list[bytes]) -> bytes:
    written, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    return (
        written
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
        ).encode()
    )
