"""The three games that the benchmark puts into a page: a maze, a product to remember, and a drawing.

Their pages are scripts. The phone runs no scripts: it knows the games by the page's title, takes the seed that stands
in the page, and plays the game itself. What a seed means is as in the pages.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw

from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import BUTTON, FIELD, column, row, space, text

MAZE, MULTIPLY, DRAW = "maze", "multiply", "draw"
TITLES = {"Maze Puzzle": MAZE, "Memory Task": MULTIPLY, "Color Challenge": DRAW}
"""By the title of its page one knows the game."""

SUCCESS = "Success!"
ANSWER = "answer"
"""The name of the field for the product."""

SIZE = 4
"""Of the maze: so many rows and columns."""

STEPS: Mapping[str, tuple[int, int]] = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}
NUMBERS = 5
COLOURS = 3
PALETTE = (
    "#ff0000", "#00ff00", "#0000ff", "#ffff00", "#ff00ff", "#00ffff", "#800000", "#008000", "#000080", "#808000",
    "#800080", "#008080", "#ffa500", "#ff1493", "#9932cc", "#20b2aa", "#4b0082", "#00ff7f", "#ff6347", "#00ced1",
    "#9400d3", "#f0e68c", "#ff8c00", "#228b22",
)  # fmt: skip
CANVAS = 300
"""Of the drawing: so many pixels wide and high."""

Cell = tuple[int, int]
Stroke = tuple[str, float, float, float, float]
"""A colour, and from where to where."""

_INK, _PAPER = "#000000", "#ffffff"


@dataclass(frozen=True)
class Game:
    kind: str
    seed: int


@dataclass(frozen=True)
class Played:
    """How far a game has been played; of every game only its own part is used."""

    cell: Cell = (0, 0)
    clicks: int = 0
    colour: str = _INK
    strokes: tuple[Stroke, ...] = ()
    won: bool = False


NOTHING_PLAYED = Played()


def game_of(page: str) -> Game | None:
    """The game that a page is, if it is one."""
    title = re.search(r"<title>\s*(.*?)\s*</title>", page, re.IGNORECASE | re.DOTALL)
    seed = re.search(r"SeededRNG\(\s*(\d{1,20})\s*\)", page)
    kind = TITLES.get(title[1]) if title else None
    return Game(kind, int(seed[1])) if kind is not None and seed else None


def page_of(game: Game) -> str:
    """A page that is this game."""
    title = next(title for title, kind in TITLES.items() if kind == game.kind)
    return (
        f"<!DOCTYPE html>\n<html>\n<head><title>{title}</title></head>\n"
        f"<body><script>play(new SeededRNG({game.seed}));</script></body>\n</html>\n"
    )


# What the seeds mean


class _Chance:
    """The pages' own generator: linear, congruent, modulo 2 to the power of 32."""

    def __init__(self, seed: int) -> None:
        self._now = seed

    def below(self, n: int) -> int:
        self._now = (1_664_525 * self._now + 1_013_904_223) % 2**32
        return self._now * n // 2**32


@lru_cache(maxsize=256)
def open_cells(seed: int) -> frozenset[Cell]:
    """The cells of the maze that are no walls. One goes from the first to the last cell and digs on the way."""
    chance = _Chance(seed)
    directions = list(STEPS.values())
    dug: set[Cell] = set()
    waiting = [(0, 0)]
    while waiting:
        cell = waiting.pop()
        dug.add(cell)
        if cell == (SIZE - 1, SIZE - 1):
            break
        for last in range(len(directions) - 1, 0, -1):
            other = chance.below(last + 1)
            directions[last], directions[other] = directions[other], directions[last]
        for down, right in directions:
            beside = cell[0] + down, cell[1] + right
            if _is_inside(beside) and beside not in dug:
                waiting.append(beside)
    return frozenset(dug)


def way_out(seed: int) -> list[str]:
    """The shortest way through the maze, as buttons."""
    cells = open_cells(seed)
    ways: dict[Cell, list[str]] = {(0, 0): []}
    line: list[Cell] = [(0, 0)]
    for cell in line:
        for name, (down, right) in STEPS.items():
            beside = cell[0] + down, cell[1] + right
            if beside in cells and beside not in ways:
                ways[beside] = [*ways[cell], name]
                line.append(beside)
    return ways[SIZE - 1, SIZE - 1]


def numbers(seed: int) -> list[int]:
    """What is shown one after the other."""
    chance = _Chance(seed)
    return [chance.below(10) + 1 for _ in range(NUMBERS)]


def wanted_colours(seed: int) -> list[str]:
    chance = _Chance(seed)
    left = list(PALETTE)
    return [left.pop(chance.below(len(left))) for _ in range(COLOURS)]


def colours_on(strokes: Sequence[Stroke]) -> set[str]:
    """The colours that can be seen on the canvas: what was painted over is gone."""
    dots: dict[tuple[int, int], str] = {}
    for colour, x0, y0, x1, y1 in strokes:
        steps = math.ceil(max(abs(x1 - x0), abs(y1 - y0)))
        for step in range(steps + 1):
            share = step / steps if steps else 0.0
            x, y = math.floor(x0 + (x1 - x0) * share), math.floor(y0 + (y1 - y0) * share)
            if 0 <= x < CANVAS and 0 <= y < CANVAS:
                dots[x, y] = colour
    return set(dots.values())


def _is_inside(cell: Cell) -> bool:
    return 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE


# What happens


def after(game: Game, played: Played, event: Event, answer: str) -> Played:
    """How the game stands after something in it was touched."""
    match event:
        case ("step", name) if name in STEPS:
            down, right = STEPS[name]
            cell = played.cell[0] + down, played.cell[1] + right
            if cell not in open_cells(game.seed):
                return played
            return Played(cell=cell, won=cell == (SIZE - 1, SIZE - 1))
        case ("click_me",):
            return Played(clicks=played.clicks + 1)
        case ("submit_product",):
            return Played(clicks=played.clicks, won=_number(answer) == math.prod(numbers(game.seed)))
        case ("colour", colour):
            return Played(colour=colour, strokes=played.strokes, won=played.won)
        case ("stroke", x0, y0, x1, y1):
            stroke = (played.colour, x0 * CANVAS, y0 * CANVAS, x1 * CANVAS, y1 * CANVAS)
            return Played(colour=played.colour, strokes=(*played.strokes, stroke), won=played.won)
        case ("clear_canvas",):
            return Played(colour=played.colour, won=played.won)
        case ("submit_drawing",):
            won = set(wanted_colours(game.seed)) <= colours_on(played.strokes)
            return Played(colour=played.colour, strokes=played.strokes, won=won)
    return played


def _number(answer: str) -> int | None:
    """As a page reads a field for numbers: what is no number at all is nothing, and a fraction is cut off."""
    if not re.fullmatch(r"\s*-?\d*\.?\d+(?:[eE][+-]?\d+)?\s*", answer, re.ASCII):
        return None
    whole = re.match(r"\s*(-?\d+)", answer, re.ASCII)
    return int(whole[1][:30]) if whole else None


# What is shown


def view_of(game: Game, played: Played, answer: str, *, focused: bool) -> list[View]:
    if game.kind == MAZE:
        return _maze(game, played)
    if game.kind == MULTIPLY:
        return _multiply(game, played, answer, focused=focused)
    return _draw(game, played)


def _maze(game: Game, played: Played) -> list[View]:
    if played.won:
        return [column(_words(SUCCESS, size=30, bold=True), pad=(16, 16, 16, 16))]
    cells = open_cells(game.seed)
    lines = [row(*(_cell((y, x), cells, played.cell) for x in range(SIZE))) for y in range(SIZE)]
    buttons = row(*(_button(name, ("step", name)) for name in STEPS), gap=6, pad=(0, 12, 0, 0))
    return [column(*lines, buttons, pad=(8, 8, 8, 8))]


def _cell(cell: Cell, cells: frozenset[Cell], here: Cell) -> View:
    fill = _PAPER if cell in cells else _INK
    if cell == (SIZE - 1, SIZE - 1):
        fill = "#008000"
    inside = (_words("X", size=36, center=True, grow=1),) if cell == here else ()
    return View(width=72, height=72, along="center", look=Look(fill=fill, border=_INK), children=inside)


def _multiply(game: Game, played: Played, answer: str, *, focused: bool) -> list[View]:
    if played.clicks < NUMBERS:
        shown = _words(str(numbers(game.seed)[played.clicks]), size=44, center=True)
        button = row(_button("Click Me", ("click_me",)), along="center")
        return [column(shown, button, pad=(16, 48, 16, 16), gap=16)]
    field = View(
        kind=FIELD, text=answer, hint="Enter the product", id=ANSWER, field=ANSWER, selected=focused, width=200,
        height=44, pad=(8, 4, 8, 4), look=Look(fill=_PAPER, border="#767676", color=_INK, size=16, lines=1),
    )  # fmt: skip
    form = row(field, _button("Submit", ("submit_product",)), along="center", gap=8)
    said = [_words(SUCCESS, size=24, bold=True, center=True)] if played.won else []
    return [column(form, *said, pad=(16, 48, 16, 16), gap=16)]


def _draw(game: Game, played: Played) -> list[View]:
    wanted = row(*(_square(colour, 50) for colour in wanted_colours(game.seed)), along="center", gap=10)
    canvas = View(
        id="canvas", draws="stroke", width=CANVAS, height=CANVAS, across="center",
        look=Look(fill=_PAPER, border=_INK, pixels=_painted(played.strokes)),
    )  # fmt: skip
    lines = [PALETTE[first : first + 8] for first in range(0, len(PALETTE), 8)]
    palette = [row(*(_square(colour, 30, ("colour", colour)) for colour in line), along="center", gap=6)
               for line in lines]  # fmt: skip
    buttons = row(_button("Clear", ("clear_canvas",)), _button("Submit", ("submit_drawing",)), along="center", gap=10)
    said = [_words(SUCCESS, center=True, size=16)] if played.won else []
    inside = (wanted, canvas, space(height=4), _words("Available Colors:", center=True, size=14), *palette, buttons)
    return [column(*inside, *said, pad=(8, 12, 8, 16), gap=8)]


def _square(colour: str, edge: int, tap: Event | None = None) -> View:
    """Colours have no names, neither here nor in the page."""
    kind = BUTTON if tap else "android.view.View"
    return View(kind=kind, tap=tap, width=edge, height=edge, across="center", look=Look(fill=colour))


def _words(said: str, *, size: int, center: bool = False, bold: bool = False, grow: int = 0) -> View:
    return text(said, size=size, color=_INK, bold=bold, along="center" if center else "start", grow=grow)


def _button(said: str, tap: Event) -> View:
    return View(
        kind=BUTTON, text=said, tap=tap, height=44, pad=(14, 0, 14, 0), along="center", across="center",
        look=Look(fill="#efefef", border="#767676", round=3, color=_INK, size=18, lines=1),
    )  # fmt: skip


_SHARP = 2
"""The canvas is drawn so many times as large as it counts."""


@lru_cache(maxsize=32)
def _painted(strokes: tuple[Stroke, ...]) -> bytes:
    """The canvas as a picture."""
    image = Image.new("RGB", (CANVAS * _SHARP, CANVAS * _SHARP), _PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, CANVAS * _SHARP - 1, CANVAS * _SHARP - 1), None, _INK)
    for colour, *points in strokes:
        pen.line([point * _SHARP for point in points], colour, 2 * _SHARP)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
