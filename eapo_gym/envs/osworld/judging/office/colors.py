"""How far two colours are apart to the eye: CIEDE2000 (Sharma, Wu and Dalal 2005)."""

from __future__ import annotations

import math
from collections.abc import Sequence

WHITE = (0.95047, 1.0, 1.08883)
"""Of daylight (D65), as X, Y and Z."""

TO_XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))


def lab(rgb: Sequence[int]) -> tuple[float, float, float]:
    """Lightness and the two axes of colour of an sRGB colour with parts from 0 to 255."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in rgb)]
    scaled = [
        sum(weight * part for weight, part in zip(row, linear, strict=True)) / white
        for row, white in zip(TO_XYZ, WHITE, strict=True)
    ]
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: Sequence[int], other: Sequence[int]) -> float:
    """The difference of two sRGB colours; about 2 is what an attentive eye can see."""
    (l1, a1, b1), (l2, a2, b2) = lab(one), lab(other)
    chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - math.sqrt(chroma**7 / (chroma**7 + 25**7)))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.atan2(b1, a1) % math.tau, math.atan2(b2, a2) % math.tau

    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + math.pi) % math.tau - math.pi
    hue = h1 + h2 if c1 * c2 == 0 else ((h1 + h2) / 2 + (math.pi if abs(h1 - h2) > math.pi else 0)) % math.tau
    dl, dc, dh = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(turn / 2)
    lightness, c = (l1 + l2) / 2, (c1 + c2) / 2

    t = (
        1
        - 0.17 * math.cos(hue - math.radians(30))
        + 0.24 * math.cos(2 * hue)
        + 0.32 * math.cos(3 * hue + math.radians(6))
        - 0.20 * math.cos(4 * hue - math.radians(63))
    )
    sl = 1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rotation = (
        -2
        * math.sqrt(c**7 / (c**7 + 25**7))
        * math.sin(math.radians(60) * math.exp(-(((math.degrees(hue) - 275) / 25) ** 2)))
    )
    dl, dc, dh = dl / sl, dc / sc, dh / sh
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)
