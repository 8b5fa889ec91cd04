"""Whether two pictures show the same: the structural similarity (SSIM) of Wang and others, 2004."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

WINDOW = 7
"""Side of the square in which pictures are compared, as scikit-image has it where nothing else is said."""

LUMINANCE, CONTRAST = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def similarity_of(one: np.ndarray, other: np.ndarray) -> float:
    """From -1 to 1, of two arrays of bytes of one shape: height × width, or height × width × channels."""
    if one.ndim == 3:
        channels = range(one.shape[2])
        return float(np.mean([similarity_of(one[:, :, channel], other[:, :, channel]) for channel in channels]))
    mean_one, mean_other = _means(one), _means(other)
    values_one, values_other = one.astype(np.int64), other.astype(np.int64)
    size = WINDOW * WINDOW
    sample = size / (size - 1)
    spread_one = sample * (_means(values_one * values_one) - mean_one * mean_one)
    spread_other = sample * (_means(values_other * values_other) - mean_other * mean_other)
    together = sample * (_means(values_one * values_other) - mean_one * mean_other)
    alike = (2 * mean_one * mean_other + LUMINANCE) * (2 * together + CONTRAST)
    most = (mean_one**2 + mean_other**2 + LUMINANCE) * (spread_one + spread_other + CONTRAST)
    return float(np.mean(alike / most))


def same_structure(one: Image, other: Image, threshold: float = 0.9) -> bool:
    """Whether two pictures of one size are as alike as that; too small ones never are."""
    if min(*one.size, *other.size) < WINDOW or one.size != other.size:
        return False
    return similarity_of(np.array(one.convert("RGB")), np.array(other.convert("RGB"))) >= threshold


def _means(values: np.ndarray) -> np.ndarray:
    """The mean of every window that lies within the picture."""
    sums = np.zeros((values.shape[0] + 1, values.shape[1] + 1), dtype=np.int64)
    np.cumsum(np.cumsum(values, axis=0, dtype=np.int64), axis=1, out=sums[1:, 1:])
    below, above = sums[WINDOW:], sums[:-WINDOW]
    windows = below[:, WINDOW:] - below[:, :-WINDOW] - above[:, WINDOW:] + above[:, :-WINDOW]
    return windows / (WINDOW * WINDOW)
