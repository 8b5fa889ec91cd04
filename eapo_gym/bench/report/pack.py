"""Episodes as compressed blocks of text that a page unpacks one by one, when a reader asks for them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

_BLOCK = 1 << 20
"""About so many bytes of JSON stand in a block: a browser unpacks them faster than a reader notices, and they are
enough for what repeats in an episode to be compressed away."""


def pack(value: Any) -> str:
    """A value as compressed JSON in base64.

    The JSON is ASCII, so that a text which is no valid Unicode (half of a surrogate pair) arrives as it was.
    """
    return _pack_text(_dumps(value))


def pack_in_blocks(values: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """The blocks, each with the number of values that stand in it."""
    texts: list[str] = []
    size = 0
    for value in values:
        text = _dumps(value)
        if texts and size + len(text) > _BLOCK:
            yield _pack_text(f"[{','.join(texts)}]"), len(texts)
            texts, size = [], 0
        texts.append(text)
        size += len(text)
    if texts:
        yield _pack_text(f"[{','.join(texts)}]"), len(texts)


def unpack(text: str) -> Any:
    """What `pack` was given, as the page sees it."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _pack_text(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")
