"""A screen as a picture."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Literal

from PIL import Image, ImageDraw

from eapo_gym.envs.androidworld.phone.ui.caret import first_line
from eapo_gym.envs.androidworld.phone.ui.icons import icon_mask
from eapo_gym.envs.androidworld.phone.ui.layout import Box, Placed, px
from eapo_gym.envs.androidworld.phone.ui.text import font, line_height, width_of
from eapo_gym.envs.androidworld.phone.ui.view import Look

Theme = Literal["light", "dark"]

COLOURS: dict[Theme, dict[str, str]] = {
    "light": {
        "page": "#fdfcff",
        "bar": "#eef1f8",
        "card": "#e9edf5",
        "dialog": "#f6f7fb",
        "field": "#e3e7f0",
        "text": "#1a1c1e",
        "faint": "#5b5f66",
        "line": "#c6cad2",
        "primary": "#1f5fb8",
        "on_primary": "#ffffff",
        "soft": "#d5e3ff",
        "on_soft": "#0b2f66",
        "danger": "#b3261e",
        "good": "#2e7d32",
        "shade": "#000000",
        "toast": "#2f3033",
        "on_toast": "#f1f0f4",
    },
    "dark": {
        "page": "#121316",
        "bar": "#1d1f24",
        "card": "#26282e",
        "dialog": "#2b2d33",
        "field": "#33363d",
        "text": "#e3e2e6",
        "faint": "#a5a8af",
        "line": "#44474e",
        "primary": "#a9c7ff",
        "on_primary": "#0a305f",
        "soft": "#2b4678",
        "on_soft": "#d7e3ff",
        "danger": "#f2b8b5",
        "good": "#81c784",
        "shade": "#000000",
        "toast": "#e3e2e6",
        "on_toast": "#2f3033",
    },
}


_SHADED = 140
"""Of 255: how dark a screen is that a dialog covers."""


def draw(layers: list[Placed], size: tuple[int, int], theme: Theme) -> Image.Image:
    """All windows, one over the other."""
    image = Image.new("RGB", size, COLOURS[theme]["page"])
    canvas = _Canvas(image, COLOURS[theme])
    for layer in layers:
        canvas.draw(layer)
    return image


class _Canvas:
    def __init__(self, image: Image.Image, colours: dict[str, str]) -> None:
        self._image = image
        self._pen = ImageDraw.Draw(image)
        self._colours = colours

    def draw(self, placed: Placed) -> None:
        if not placed.is_seen:
            return
        left, top, right, bottom = placed.box
        clipped = placed.seen != placed.box
        if clipped and _is_drawn(placed):
            self._draw_clipped(placed)
        else:
            self._draw_own(placed, (left, top, right, bottom))
        for child in placed.children:
            self.draw(child)

    def _draw_clipped(self, placed: Placed) -> None:
        """What hangs over the edge of a list is drawn apart, and only what is seen of it is kept."""
        left, top, right, bottom = placed.box
        x0, y0, x1, y1 = placed.seen
        part = Image.new("RGB", (right - left, bottom - top))
        part.paste(self._image.crop((x0, y0, x1, y1)), (x0 - left, y0 - top))
        _Canvas(part, self._colours)._draw_own(placed, (0, 0, right - left, bottom - top))
        self._image.paste(part.crop((x0 - left, y0 - top, x1 - left, y1 - top)), (x0, y0))

    def _draw_own(self, placed: Placed, box: Box) -> None:
        view, look = placed.view, placed.view.look
        if look.fill == "shade":
            self._darken(box)
        elif look.fill or look.border:
            self._surface(look, box)
        if look.drawing:
            self._painted(placed, box)
        if look.pixels:
            self._picture(look.pixels, box)
        if look.icon:
            self._icon(look, box, enabled=view.enabled)
        if placed.lines:
            self._text(placed, box)

    def _surface(self, look: Look, box: Box) -> None:
        left, top, right, bottom = box
        if right <= left or bottom <= top:
            return
        radius = min(px(look.round), (right - left) // 2, (bottom - top) // 2)
        if look.raised:
            drop = px(2)
            self._pen.rounded_rectangle((left, top + drop, right - 1, bottom - 1 + drop), radius, self._of("line"))
        fill = self._of(look.fill) if look.fill else None
        edge = self._of(look.border) if look.border else None
        self._pen.rounded_rectangle((left, top, right - 1, bottom - 1), radius, fill, edge, px(1) if edge else 0)

    def _darken(self, box: Box) -> None:
        self._image.paste(self._of("shade"), box, Image.new("L", (box[2] - box[0], box[3] - box[1]), _SHADED))

    def _of(self, name: str) -> str:
        """A colour of the theme, or one of the app's own."""
        return self._colours.get(name, name)

    def _icon(self, look: Look, box: Box, *, enabled: bool) -> None:
        left, top, right, bottom = box
        edge = px(look.size)
        mask = icon_mask(look.icon, edge)
        at = left + (right - left - edge) // 2, top + (bottom - top - edge) // 2
        self._image.paste(self._of(look.color if enabled else "line"), (*at, at[0] + edge, at[1] + edge), mask)

    def _text(self, placed: Placed, box: Box) -> None:
        view, look = placed.view, placed.view.look
        left, top, right, bottom = box
        left, top = left + px(view.pad[0]), top + px(view.pad[1])
        right, bottom = right - px(view.pad[2]), bottom - px(view.pad[3])
        size = px(look.size)
        height = line_height(size)
        name = "faint" if view.hint and not view.text else look.color
        colour = self._of(name if view.enabled else "line")
        y = first_line(view, len(placed.lines), top, bottom)
        for line in placed.lines:
            x = left
            if view.along != "start":
                spare = max(right - left - width_of(line, size), 0)
                x += spare // 2 if view.along == "center" else spare
            self._letters(line, (x, y + (height - size) // 2), size, colour, bold=look.bold)
            y += height

    def _letters(self, line: str, at: tuple[int, int], size: int, colour: str, *, bold: bool) -> None:
        mask = _text_mask(line, size, bold)
        if mask is not None:
            self._image.paste(colour, (at[0], at[1], at[0] + mask.width, at[1] + mask.height), mask)

    def _picture(self, file: bytes, box: Box) -> None:
        picture = _fitted(file, box[2] - box[0], box[3] - box[1])
        if picture is None:
            self._icon(Look(icon="image", size=40, color="line"), box, enabled=True)
            return
        left = box[0] + (box[2] - box[0] - picture.width) // 2
        top = box[1] + (box[3] - box[1] - picture.height) // 2
        self._image.paste(picture, (left, top))

    def _painted(self, placed: Placed, box: Box) -> None:
        left, top, right, bottom = box
        look, checked = placed.view.look, bool(placed.view.checked)
        middle = (top + bottom) // 2
        if look.drawing == "switch":
            half = px(14)
            track = self._of("primary" if checked else "line")
            self._pen.rounded_rectangle((left, middle - half, right - 1, middle + half), half, track)
            knob, radius = (right - half, px(10)) if checked else (left + half, px(8))
            where = (knob - radius, middle - radius, knob + radius, middle + radius)
            self._pen.ellipse(where, self._of("on_primary" if checked else "page"))
        elif look.drawing == "slider":
            at = left + round((right - left) * look.value)
            self._pen.rounded_rectangle((left, middle - px(3), right, middle + px(3)), px(3), self._of("line"))
            self._pen.rounded_rectangle(
                (left, middle - px(3), max(at, left + px(3)), middle + px(3)), px(3), self._of("primary")
            )
            self._pen.ellipse((at - px(10), middle - px(10), at + px(10), middle + px(10)), self._of("primary"))
        elif look.drawing == "checkbox":
            edge = px(18)
            x, y = (left + right - edge) // 2, middle - edge // 2
            frame = (x, y, x + edge, y + edge)
            if checked:
                self._pen.rounded_rectangle(frame, px(3), self._of("primary"))
                self._image.paste(self._of("on_primary"), frame, icon_mask("check", edge))
            else:
                self._pen.rounded_rectangle(frame, px(3), None, self._of("faint"), px(2))
        elif look.drawing == "cursor":
            self._pen.rectangle((left, top, left + px(2), bottom), self._of("primary"))
        elif look.drawing == "underline":
            self._pen.rectangle((left, bottom - px(2), right, bottom - 1), self._of(look.color))
        else:
            raise ValueError(f"drawing: expected switch, slider, checkbox, cursor or underline, got {look.drawing!r}")


def _is_drawn(placed: Placed) -> bool:
    look = placed.view.look
    return bool(look.fill or look.border or look.drawing or look.icon or look.pixels or placed.lines)


@lru_cache(maxsize=8_192)
def _text_mask(line: str, size: int, bold: bool) -> Image.Image | None:
    """A line of text as a mask; bold letters are drawn with a thicker pen, since Pillow brings one weight."""
    width = width_of(line, size)
    if not width or not line.strip():
        return None
    mask = Image.new("L", (width + size // 4, size + size // 2))
    ImageDraw.Draw(mask).text((0, 0), line, 255, font(size), stroke_width=max(1, size // 32) if bold else 0)
    return mask


@lru_cache(maxsize=64)
def _fitted(file: bytes, width: int, height: int) -> Image.Image | None:
    """The picture in a file, as large as fits; None if there is none in it that can be shown."""
    try:
        with Image.open(io.BytesIO(file)) as opened:
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    share = min(width / picture.width, height / picture.height)
    size = max(1, round(picture.width * share)), max(1, round(picture.height * share))
    fitted: Image.Image = picture.resize(size)
    return fitted
