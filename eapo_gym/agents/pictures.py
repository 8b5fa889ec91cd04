"""Pictures on their way from an observation to a prompt, and from there to the trainer."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Sequence
from typing import overload

import numpy as np

from eapo_gym.errors import MissingExtra

Size = tuple[int, int]


def scaled(image: np.ndarray, most_pixels: int) -> np.ndarray:
    """The image with at most so many pixels, in its own proportions; one that has no more is left as it is."""
    height, width = image.shape[:2]
    if height * width <= most_pixels:
        return image
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra.of("Scaling pictures", "gui") from error
    new_width, new_height = _fitting(width, height, most_pixels)
    small = Image.fromarray(image).resize((new_width, new_height), Image.Resampling.LANCZOS, reducing_gap=2.0)
    return np.asarray(small)


def _fitting(width: int, height: int, most_pixels: int) -> Size:
    scale = math.sqrt(most_pixels / (width * height))
    new_width, new_height = max(1, math.floor(width * scale)), max(1, math.floor(height * scale))
    # Of a hair's breadth one pixel is left, and the other side must make up for it.
    return min(new_width, most_pixels // new_height or 1), min(new_height, most_pixels // new_width or 1)


class PackedImages(Sequence[np.ndarray]):
    """Images that wait for the trainer, without loss, in a fraction of their memory: a step of training has thousands.

    Each is unpacked whenever it is looked at. `digests` tell images apart without that.
    """

    __slots__ = ("_packed", "_shapes", "digests")

    def __init__(self, images: Sequence[np.ndarray]) -> None:
        raw = [np.ascontiguousarray(image, np.uint8) for image in images]
        self._shapes = [image.shape for image in raw]
        self._packed = [zlib.compress(image.data, 1) for image in raw]
        self.digests = tuple(map(digest, raw))

    @overload
    def __getitem__(self, at: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, at: slice) -> list[np.ndarray]: ...
    def __getitem__(self, at: int | slice) -> np.ndarray | list[np.ndarray]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return np.frombuffer(zlib.decompress(self._packed[at]), np.uint8).reshape(self._shapes[at])

    def __len__(self) -> int:
        return len(self._packed)

    @property
    def bytes(self) -> int:
        """What they take."""
        return sum(map(len, self._packed))


def digest(image: np.ndarray) -> bytes:
    """What tells an image from others."""
    content = hashlib.blake2b(repr(image.shape).encode(), digest_size=16)
    content.update(np.ascontiguousarray(image).data)
    return content.digest()


def digests(images: Sequence[np.ndarray]) -> tuple[bytes, ...]:
    """Those of several images."""
    return images.digests if isinstance(images, PackedImages) else tuple(map(digest, images))
