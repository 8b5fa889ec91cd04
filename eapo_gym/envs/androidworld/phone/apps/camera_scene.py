"""What the camera sees: a room that changes a little with the time, or somebody in front of it."""

from __future__ import annotations

import io
import math
from functools import lru_cache

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 720, 960
SCENE_SECONDS = 20
"""After so much time the camera sees something else."""

_WALLS = ("#cfd8d3", "#e6d3c0", "#c9d3e6", "#ddd0e0", "#e4dcc0")
_SOFAS = ("#3d6b8c", "#8c4a3d", "#4a7a54", "#6a4a8a", "#a07830")
_PLANTS = ("#2f7d4f", "#4f8a2f", "#1f6b5a")


def scene_at(now: float) -> int:
    """Which of the scenes it is at a time."""
    return int(now // SCENE_SECONDS) % (len(_WALLS) * len(_SOFAS) * len(_PLANTS))


@lru_cache(maxsize=32)
def photo(scene: int, *, front: bool = False, grid: bool = False) -> bytes:
    """The scene as a JPEG file."""
    image = Image.new("RGB", (WIDTH, HEIGHT), _WALLS[scene % len(_WALLS)])
    pen = ImageDraw.Draw(image)
    (_person if front else _room)(pen, scene)
    if grid:
        for third in (1, 2):
            pen.line((WIDTH * third // 3, 0, WIDTH * third // 3, HEIGHT), "#ffffff", 2)
            pen.line((0, HEIGHT * third // 3, WIDTH, HEIGHT * third // 3), "#ffffff", 2)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


def _room(pen: ImageDraw.ImageDraw, scene: int) -> None:
    sofa, plant = _SOFAS[scene // 5 % len(_SOFAS)], _PLANTS[scene // 25 % len(_PLANTS)]
    pen.rectangle((0, 700, WIDTH, HEIGHT), "#9c7b5c")
    for board in range(730, HEIGHT, 46):
        pen.line((0, board, WIDTH, board), "#86684c", 3)
    # A window with hills in it.
    pen.rectangle((70, 110, 390, 420), "#f5f1e6")
    pen.rectangle((84, 124, 376, 406), "#8ec5ea")
    sun = 110 + 24 * (scene % 8)
    pen.ellipse((sun, 140, sun + 44, 184), "#ffd760")
    pen.polygon((84, 406, 84, 330, 170, 280, 260, 340, 376, 300, 376, 406), "#5f9a54")
    pen.line((230, 124, 230, 406), "#f5f1e6", 10)
    # A sofa, a lamp and a plant.
    pen.rounded_rectangle((90, 540, 560, 690), 36, sofa)
    pen.rounded_rectangle((60, 620, 590, 790), 30, sofa, "#26323a", 3)
    pen.line((325, 630, 325, 780), "#26323a", 3)
    pen.line((650, 420, 650, 800), "#4b4038", 8)
    pen.polygon((600, 430, 700, 430, 680, 330, 620, 330), "#f2d9a0")
    pen.polygon((440, 420, 520, 420, 510, 500, 450, 500), "#b5643c")
    for leaf in range(7):
        angle = math.pi * (1.1 + 0.8 * leaf / 6)
        pen.line((480, 420, 480 + 80 * math.cos(angle), 420 + 130 * math.sin(angle)), plant, 16)


def _person(pen: ImageDraw.ImageDraw, scene: int) -> None:
    shirt, hair = _SOFAS[scene // 5 % len(_SOFAS)], ("#3a2a20", "#7a5230", "#20242a")[scene // 25 % 3]
    pen.rectangle((0, 0, 140, HEIGHT), "#b7a48e")
    pen.rounded_rectangle((120, 690, 600, HEIGHT + 80), 130, shirt)
    pen.rectangle((315, 600, 405, 730), "#d9a888")
    pen.ellipse((215, 240, 505, 640), hair)
    pen.ellipse((235, 300, 485, 640), "#e8b998")
    for eye in (305, 395):
        pen.ellipse((eye, 430, eye + 26, 456), "#26323a")
    pen.arc((305, 480, 415, 580), 20, 160, "#8c3d3d", 8)
