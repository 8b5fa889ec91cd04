"""Pictures, made with Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from eapo_gym.errors import MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image

Color = tuple[int, int, int]


def scene(width: int, height: int, colors: Sequence[Color]) -> Image:
    """A picture with no symmetry: bands of color behind a disc, a box and a line, so that a turned one is another."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise MissingExtra.of("Making pictures", "osworld") from None
    picture = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(picture)
    for y in range(height):
        shade = y / max(height - 1, 1)
        draw.line([(0, y), (width, y)], fill=_mixed(colors[0], colors[1], shade))
    draw.ellipse([width * 0.1, height * 0.15, width * 0.35, height * 0.5], fill=colors[2 % len(colors)])
    draw.rectangle([width * 0.55, height * 0.6, width * 0.9, height * 0.85], fill=colors[3 % len(colors)])
    draw.line([(width * 0.05, height * 0.9), (width * 0.8, height * 0.1)], fill=(255, 255, 255), width=5)
    return picture


def framed(picture: Image, border: int, color: Color) -> Image:
    """The picture with an even border of one color around it."""
    from PIL import Image

    whole = Image.new("RGB", (picture.width + 2 * border, picture.height + 2 * border), color)
    whole.paste(picture, (border, border))
    return whole


def png(picture: Image) -> bytes:
    return _written(picture, "PNG")


def jpeg(picture: Image) -> bytes:
    return _written(picture, "JPEG")


def _written(picture: Image, kind: str) -> bytes:
    target = BytesIO()
    picture.save(target, kind)
    return target.getvalue()


def _mixed(one: Color, other: Color, share: float) -> Color:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
