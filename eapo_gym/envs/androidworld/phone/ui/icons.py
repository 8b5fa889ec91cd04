"""The phone's icons: strokes and shapes on a grid of 24 × 24, drawn in one colour."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw

Shape = tuple[str, tuple[float, ...]]

GRID = 24
_STROKE = 2.0
_SUPERSAMPLED = 4


def _line(*points: float) -> Shape:
    return "line", points


def _area(*points: float) -> Shape:
    return "area", points


def _disc(x: float, y: float, radius: float) -> Shape:
    return "disc", (x, y, radius)


def _ring(x: float, y: float, radius: float) -> Shape:
    return "ring", (x, y, radius)


def _frame(left: float, top: float, right: float, bottom: float, rounded: float = 2) -> Shape:
    return "frame", (left, top, right, bottom, rounded)


def _block(left: float, top: float, right: float, bottom: float, rounded: float = 1) -> Shape:
    return "block", (left, top, right, bottom, rounded)


def _arc(x: float, y: float, radius: float, begin: float, end: float) -> Shape:
    return "arc", (x, y, radius, begin, end)


_DOCUMENT = (_frame(5, 3, 19, 21), _line(8, 9, 16, 9), _line(8, 13, 16, 13), _line(8, 17, 13, 17))
_BIN = (_line(4, 6, 20, 6), _line(9, 6, 9, 4, 15, 4, 15, 6), _line(6, 6, 7, 21, 17, 21, 18, 6), _line(12, 10, 12, 17))

ICONS: dict[str, tuple[Shape, ...]] = {
    "add": (_line(12, 4, 12, 20), _line(4, 12, 20, 12)),
    "alarm": (_ring(12, 13, 7), _line(12, 9, 12, 13, 15, 15), _line(4, 6, 7, 3), _line(17, 3, 20, 6)),
    "apps": tuple(_disc(x, y, 2) for x in (5, 12, 19) for y in (5, 12, 19)),
    "archive": (_frame(4, 8, 20, 21), _block(2, 3, 22, 8), _line(9, 13, 15, 13)),
    "attach": (_line(16, 7, 9, 14, 9, 16, 11, 16, 19, 8, 19, 5, 16, 3, 13, 4, 5, 12, 5, 17, 9, 20, 13, 19, 18, 14),),
    "back": (_line(20, 12, 4, 12), _line(11, 5, 4, 12, 11, 19)),
    "backspace": (_line(8, 5, 2, 12, 8, 19, 21, 19, 21, 5, 8, 5), _line(11, 9, 17, 15), _line(17, 9, 11, 15)),
    "battery": (_frame(7, 5, 17, 21), _block(10, 2, 14, 5), _block(9, 10, 15, 19)),
    "block": (_ring(12, 12, 9), _line(6, 6, 18, 18)),
    "bluetooth": (_line(6, 7, 17, 16, 12, 21, 12, 3, 17, 8, 6, 17),),
    "bookmark": (_line(6, 3, 18, 3, 18, 21, 12, 16, 6, 21, 6, 3),),
    "briefcase": (_frame(3, 8, 21, 20), _line(8, 8, 8, 4, 16, 4, 16, 8), _line(3, 13, 21, 13)),
    "brightness": (
        _disc(12, 12, 4),
        *(_line(12 + 7 * x, 12 + 7 * y, 12 + 9 * x, 12 + 9 * y) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))),
        *(_line(12 + 5 * x, 12 + 5 * y, 12 + 6.5 * x, 12 + 6.5 * y) for x in (1, -1) for y in (1, -1)),
    ),
    "calendar": (_frame(3, 5, 21, 21), _line(3, 10, 21, 10), _line(8, 2, 8, 6), _line(16, 2, 16, 6)),
    "call": (_line(5, 3, 9, 3, 11, 8, 8, 10, 14, 16, 16, 13, 21, 15, 21, 19, 18, 21, 10, 18, 5, 12, 3, 6, 5, 3),),
    "book": (_frame(4, 3, 20, 21), _line(8, 3, 8, 21), _line(12, 8, 16, 8)),
    "camera": (_frame(2, 6, 22, 20), _ring(12, 13, 4), _line(8, 6, 10, 3, 14, 3, 16, 6)),
    "car": (_area(2, 11, 5, 10, 7, 5, 17, 5, 19, 10, 22, 11, 22, 17, 2, 17), _disc(7, 18, 2.5), _disc(17, 18, 2.5)),
    "chart": (_line(4, 21, 20, 21), _block(5, 11, 9, 19), _block(10, 4, 14, 19), _block(15, 8, 19, 19)),
    "check": (_line(4, 12, 10, 18, 20, 6),),
    "chevron": (_line(9, 5, 16, 12, 9, 19),),
    "chevron_left": (_line(15, 5, 8, 12, 15, 19),),
    "clock": (_ring(12, 12, 9), _line(12, 6, 12, 12, 16, 15)),
    "close": (_line(5, 5, 19, 19), _line(19, 5, 5, 19)),
    "cloud": (_arc(8, 14, 5, 90, 270), _arc(12, 10, 5, 180, 330), _arc(17, 14, 4.5, 270, 90), _line(8, 19, 17, 18.5)),
    "copy": (_frame(8, 7, 20, 21), _line(4, 17, 4, 3, 16, 3)),
    "delete": _BIN,
    "display": (_frame(2, 4, 22, 17), _line(8, 21, 16, 21), _line(12, 17, 12, 21)),
    "document": _DOCUMENT,
    "download": (_line(12, 3, 12, 15), _line(6, 10, 12, 16, 18, 10), _line(4, 20, 20, 20)),
    "down": (_line(5, 9, 12, 16, 19, 9),),
    "edit": (_line(4, 20, 4, 16, 16, 4, 20, 8, 8, 20, 4, 20),),
    "filter": (_line(4, 6, 20, 6), _line(7, 12, 17, 12), _line(10, 18, 14, 18)),
    "flag": (_line(5, 22, 5, 3, 18, 3, 15, 8, 18, 13, 5, 13),),
    "folder": (_area(2, 5, 9, 5, 11, 7, 22, 7, 22, 20, 2, 20),),
    "gift": (_frame(3, 8, 21, 21), _line(12, 8, 12, 21), _line(3, 13, 21, 13), _line(12, 8, 8, 3), _line(12, 8, 16, 3)),
    "globe": (_ring(12, 12, 9), _line(3, 12, 21, 12), _line(12, 3, 8, 8, 8, 16, 12, 21, 16, 16, 16, 8, 12, 3)),
    "heart": (_area(12, 21, 3, 12, 2, 7, 5, 4, 9, 4, 12, 7, 15, 4, 19, 4, 22, 7, 21, 12),),
    "home": (_line(4, 11, 12, 4, 20, 11), _line(6, 10, 6, 20, 18, 20, 18, 10)),
    "image": (_frame(3, 4, 21, 20), _area(5, 18, 10, 11, 13, 15, 16, 12, 19, 18), _disc(9, 8, 1.5)),
    "info": (_ring(12, 12, 9), _disc(12, 8, 1.2), _line(12, 11, 12, 17)),
    "label": (_line(3, 6, 15, 6, 21, 12, 15, 18, 3, 18, 3, 6),),
    "list": tuple(shape for y in (6, 12, 18) for shape in (_disc(4, y, 1.3), _line(8, y, 21, y))),
    "lock": (_frame(5, 10, 19, 21), _arc(12, 9, 4.5, 180, 360)),
    "mail": (_frame(2, 5, 22, 19), _line(3, 7, 12, 13, 21, 7)),
    "menu": tuple(_line(3, y, 21, y) for y in (6, 12, 18)),
    "message": (_line(4, 4, 20, 4, 20, 16, 9, 16, 4, 21, 4, 4),),
    "mic": (_block(9, 3, 15, 14, 3), _arc(12, 11, 6.5, 0, 180), _line(12, 18, 12, 21)),
    "minus": (_line(4, 12, 20, 12),),
    "more": tuple(_disc(12, y, 1.8) for y in (5, 12, 19)),
    "move": (_line(3, 7, 9, 7, 11, 9, 21, 9, 21, 19, 3, 19, 3, 7), _line(9, 14, 16, 14), _line(13, 11, 16, 14, 13, 17)),
    "music": (_line(9, 18, 9, 5, 19, 3, 19, 16), _disc(7, 18, 2.6), _disc(17, 16, 2.6)),
    "paste": (_frame(4, 4, 20, 21), _block(8, 2, 16, 7), _line(8, 12, 16, 12), _line(8, 16, 13, 16)),
    "pause": (_block(6, 5, 10, 19), _block(14, 5, 18, 19)),
    "person": (_disc(12, 8, 4), _area(4, 20, 5, 16, 9, 14, 15, 14, 19, 16, 20, 20)),
    "people": (_disc(8, 8, 3.4), _area(1, 19, 3, 14, 13, 14, 15, 19), _ring(17, 9, 2.6), _line(17, 15, 20, 15, 22, 19)),
    "pin": (_area(9, 2, 15, 2, 15, 10, 19, 15, 5, 15, 9, 10), _line(12, 15, 12, 22)),
    "place": (_line(12, 22, 5, 12, 5, 7, 8, 3, 12, 2, 16, 3, 19, 7, 19, 12, 12, 22), _disc(12, 9, 2.5)),
    "play": (_area(7, 4, 20, 12, 7, 20),),
    "plane": (
        _area(
            22,
            12,
            15,
            10,
            11,
            3,
            9,
            3,
            11,
            10,
            5,
            10,
            3,
            8,
            2,
            8,
            3,
            12,
            2,
            16,
            3,
            16,
            5,
            14,
            11,
            14,
            9,
            21,
            11,
            21,
            15,
            14,
        ),
    ),
    "power": (_arc(12, 13, 8, 300, 240), _line(12, 3, 12, 11)),
    "radio_off": (_ring(12, 12, 8),),
    "radio_on": (_ring(12, 12, 8), _disc(12, 12, 4.5)),
    "recipe": (_line(6, 3, 6, 21), _line(3, 3, 3, 9, 9, 9, 9, 3), _line(17, 21, 17, 3, 20, 6, 20, 12, 17, 12)),
    "redo": (_line(16, 4, 20, 8, 16, 12), _line(20, 8, 9, 8, 4, 13, 4, 15, 9, 19, 16, 19)),
    "refresh": (_arc(12, 12, 8, 300, 240), _area(11, 1, 18, 5, 12, 9)),
    "repeat": (
        _line(4, 11, 4, 7, 19, 7),
        _line(16, 4, 19, 7, 16, 10),
        _line(20, 13, 20, 17, 5, 17),
        _line(8, 14, 5, 17, 8, 20),
    ),
    "save": (_line(4, 4, 17, 4, 20, 7, 20, 20, 4, 20, 4, 4), _block(7, 4, 15, 9), _ring(12, 15, 2.5)),
    "search": (_ring(10, 10, 6.5), _line(15, 15, 21, 21)),
    "select": (_frame(4, 4, 20, 20), _line(7, 12, 11, 16, 17, 8)),
    "send": (_area(2, 4, 22, 12, 2, 20, 5, 13, 14, 12, 5, 11),),
    "settings": (
        _ring(12, 12, 5.5),
        _disc(12, 12, 2),
        *(_line(12 + 7 * x, 12 + 7 * y, 12 + 10 * x, 12 + 10 * y) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))),
        *(_line(12 + 5 * x, 12 + 5 * y, 12 + 7 * x, 12 + 7 * y) for x in (1, -1) for y in (1, -1)),
    ),
    "share": (_disc(18, 5, 2.6), _disc(6, 12, 2.6), _disc(18, 19, 2.6), _line(18, 5, 6, 12, 18, 19)),
    "shirt": (_area(8, 3, 16, 3, 22, 7, 19, 12, 17, 10, 17, 21, 7, 21, 7, 10, 5, 12, 2, 7),),
    "signal": (_area(2, 21, 21, 21, 21, 2),),
    "sort": (_line(7, 4, 7, 20), _line(3, 16, 7, 20, 11, 16), _line(17, 20, 17, 4), _line(13, 8, 17, 4, 21, 8)),
    "star": (_area(12, 2, 15, 9, 22, 9.5, 16.5, 14, 18.5, 21, 12, 17, 5.5, 21, 7.5, 14, 2, 9.5, 9, 9),),
    "stop": (_block(6, 6, 18, 18),),
    "stopwatch": (_ring(12, 14, 7.5), _line(12, 9, 12, 14), _line(9, 2, 15, 2), _line(12, 2, 12, 6)),
    "sound": (_area(3, 9, 7, 9, 12, 4, 12, 20, 7, 15, 3, 15), _arc(12, 12, 4.5, 300, 60), _arc(12, 12, 8.5, 300, 60)),
    "task": (_ring(12, 12, 9), _line(8, 12, 11, 15, 16, 9)),
    "timer": (
        _line(6, 3, 18, 3),
        _line(6, 21, 18, 21),
        _line(7, 3, 7, 7, 12, 12, 17, 7, 17, 3),
        _line(7, 21, 7, 17, 12, 12, 17, 17, 17, 21),
    ),
    "undo": (_line(8, 4, 4, 8, 8, 12), _line(4, 8, 15, 8, 20, 13, 20, 15, 15, 19, 8, 19)),
    "up": (_line(5, 15, 12, 8, 19, 15),),
    "upload": (_line(12, 16, 12, 4), _line(6, 9, 12, 3, 18, 9), _line(4, 20, 20, 20)),
    "video": (_frame(2, 6, 16, 18), _area(17, 11, 22, 7, 22, 17, 17, 13)),
    "wallet": (_frame(2, 5, 22, 20), _block(14, 11, 22, 15), _line(2, 5, 17, 2)),
    "warning": (_line(12, 3, 22, 20, 2, 20, 12, 3), _line(12, 9, 12, 14), _disc(12, 17, 1)),
    "wifi": (_disc(12, 19, 2), *(_arc(12, 19, radius, 225, 315) for radius in (6, 10.5, 15))),
}


@lru_cache(maxsize=512)
def icon_mask(name: str, pixels: int) -> Image.Image:
    """The icon as a mask: how much of the colour each pixel takes."""
    scale = pixels * _SUPERSAMPLED / GRID
    image = Image.new("L", (pixels * _SUPERSAMPLED, pixels * _SUPERSAMPLED))
    pen = ImageDraw.Draw(image)
    stroke = max(1, round(_STROKE * scale))
    for kind, numbers in ICONS[name]:
        at = [number * scale for number in numbers]
        if kind == "line":
            points = list(zip(at[::2], at[1::2], strict=True))
            pen.line(points, 255, stroke, joint="curve")
            for x, y in (points[0], points[-1]):
                pen.ellipse((x - stroke / 2, y - stroke / 2, x + stroke / 2, y + stroke / 2), 255)
        elif kind == "area":
            pen.polygon(list(zip(at[::2], at[1::2], strict=True)), 255)
        elif kind == "disc":
            x, y, radius = at
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), 255)
        elif kind == "ring":
            x, y, radius = at
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), None, 255, stroke)
        elif kind == "frame":
            pen.rounded_rectangle(at[:4], at[4], None, 255, stroke)
        elif kind == "block":
            pen.rounded_rectangle(at[:4], at[4], 255)
        else:
            x, y, radius = at[:3]
            pen.arc((x - radius, y - radius, x + radius, y + radius), numbers[3], numbers[4], 255, stroke)
    return image.resize((pixels, pixels), Image.Resampling.BOX)
