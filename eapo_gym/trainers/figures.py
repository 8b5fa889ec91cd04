"""The figures of training runs, drawn by matplotlib as vector graphics.

    lines = lines_of(load_training_runs(folders))
    figures, missing = figures_of(lines)
    for figure in figures:
        write_figure(draw(figure, lines, x="env_steps"), Path("figures"), figure.key)

A figure is a row of panels, one a metric (or, where parts are stacked, one a line). A line of a panel is the mean over
the seeds of what each of them is, smoothed; around it lies what the seeds spread over, and below it the raw points.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from eapo_gym.atomic import write_atomically
from eapo_gym.errors import MissingExtra
from eapo_gym.trainers.catalogue import FIGURES, Figure, Panel
from eapo_gym.trainers.curves import Band, Curve, X, curve_of, stack_of, thin, window_of
from eapo_gym.trainers.runs import Floats, Line, pooled, short

X_LABELS: dict[X, str] = {"step": "training steps", "env_steps": "environment steps"}

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6b58", "#b3a800")
"""One a line, and the same in all figures; Okabe and Ito's palette, which colour-blind readers tell apart."""

INK, SOFT, RULE, CARD = "#1f2328", "#5d646d", "#e4e1da", "#ffffff"
"""The report's colours; within a page they become its own, which follow the reader's light or dark mode."""

SHADES = ("#dce7ee", "#a8cde1", "#6cadd0", "#3a89b8", "#1d6495", "#0d3f6d")
"""From few to many."""

_PART_COLOURS = (*COLOURS, "#8f9aa5", "#c9ced4")
"""Of the parts of a step."""

DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
"""Where there are more lines than colours."""

_LONGEST_NAME = 46
"""Letters of a line's name that fit above a panel."""

_MOST_DOTS = 150
"""Raw points of a run: they are there to show how much it scatters."""

_PANEL = (3.25, 2.3)
"""Inches; what a report begins with has larger ones."""


def draw(figure: Figure, lines: Sequence[Line], *, x: X = "step", window: int | None = None, band: Band = "std") -> Any:
    """A whole figure with its legend, as one of matplotlib's."""
    count = panels_in(figure, lines)
    across = min(count, 3)
    down = math.ceil(count / across)
    with style():
        canvas = _canvas(1.1 * _PANEL[0] * across, 1.1 * _PANEL[1] * down + 0.8)
        for i, axis in enumerate(canvas.subplots(down, across, squeeze=False).ravel()):
            if i < count:
                _draw_panel(axis, figure, lines, i, x, window or window_of(lines), band)
            else:
                axis.set_axis_off()
        canvas.suptitle(figure.title, fontsize=11, fontweight="bold", color=INK)
        _legend(canvas, figure, lines)
    return canvas


def draw_panel(
    figure: Figure,
    lines: Sequence[Line],
    number: int,
    *,
    x: X = "step",
    window: int | None = None,
    band: Band = "std",
) -> Any:
    """One panel of a figure without a legend; of stacked parts, that of a line."""
    with style():
        # The margins are the same for all, so that panels below each other stand in line.
        larger = 1.4 if figure.key == FIGURES[0].key else 1.0
        canvas = _canvas(larger * _PANEL[0], larger * _PANEL[1], layout=None)
        canvas.subplots_adjust(left=0.17, bottom=0.18, right=0.985, top=0.88)
        _draw_panel(canvas.subplots(), figure, lines, number, x, window or window_of(lines), band)
    return canvas


def panels_in(figure: Figure, lines: Sequence[Line]) -> int:
    """How many panels a figure has."""
    return len(lines) if figure.stacked else len(figure.panels)


def part_colours(figure: Figure) -> dict[str, str]:
    """The colours of stacked parts by their titles; the same ones in every report, whatever parts there are."""
    parts = next(each.panels for each in FIGURES if each.key == figure.key)
    colours = SHADES if figure.key == "groups" else _PART_COLOURS
    return {part.title: colours[i] for i, part in enumerate(parts) if part in figure.panels}


def page_colour(colour: str) -> str:
    """A colour as a page has it, light or dark."""
    name = _PAGE_COLOURS.get(colour)
    return colour if name is None else f"var(--{name})"


def line_style(number: int) -> dict[str, Any]:
    """How the line of this number looks in every figure."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number // len(COLOURS) % len(DASHES)]}


# Files


def svg_of(canvas: Any, *, prefix: str = "") -> str:
    """A figure as SVG with its text as text; one with a prefix of its own is to stand within a page."""
    buffer = io.StringIO()
    with style():
        canvas.savefig(buffer, format="svg", transparent=bool(prefix), metadata={"Date": None})
    return _slim(buffer.getvalue(), prefix)


def write_figure(canvas: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG, for pages and papers, and as PNG, for everything else."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    write_atomically(paths[0], svg_of(canvas))
    with style():
        canvas.savefig(paths[1], dpi=160, facecolor=CARD, metadata={"Software": None})
    return paths


def style() -> Any:
    """Matplotlib set to draw like the rest of the report; whoever makes or saves a figure is within it."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtra.of("Drawing figures", "train") from error
    return mpl.rc_context(_STYLE)


def text_of(value: object) -> str:
    """A foreign text as it can stand in a figure: without what is no character of XML."""
    written = str(value).encode("utf-8", "replace").decode("utf-8")
    return _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", written)


_NO_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "eapo-gym",
    "text.parse_math": False,
    "text.color": INK,
    "font.size": 9,
    "lines.linewidth": 1.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": SOFT,
    "axes.labelsize": 8.5,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 6),
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


# Drawing


def _canvas(wide: float, high: float, layout: Literal["constrained"] | None = "constrained") -> Any:
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(wide, high), layout=layout)


def _draw_panel(axis: Any, figure: Figure, lines: Sequence[Line], number: int, x: X, window: int, band: Band) -> None:
    if figure.stacked:
        _draw_stack(axis, figure, lines[number], x, window)
    else:
        panel = figure.panels[number]
        if panel.level is not None:
            axis.axhline(panel.level, color=SOFT, linewidth=0.9, linestyle=(0, (4, 3)))
        for i, line in enumerate(lines):
            _draw_line(axis, panel, line, i, x, window, band)
        axis.set_title(panel.title)
        axis.set_ylabel(panel.unit)
        if panel.share:
            low, high = axis.get_ylim()
            axis.set_ylim(max(low, -4.0), min(high, 104.0))
    axis.set_xlabel(X_LABELS[x])
    axis.xaxis.set_major_locator(_ticker().MaxNLocator(5, integer=True))
    axis.xaxis.set_major_formatter(_ticker().EngFormatter(sep=""))
    axis.margins(x=0.02)
    axis.set_xlim(left=0)


def _draw_line(axis: Any, panel: Panel, line: Line, number: int, x: X, window: int, band: Band) -> None:
    curve = curve_of(line, panel.metric, x, window=window, band=band)
    if curve is None:
        return
    look, scale = line_style(number), 100 if panel.share else 1
    if window > 1 or len(line.runs) > 1:
        chosen = [np.linspace(0, len(x) - 1, min(len(x), _MOST_DOTS)).astype(np.int64) for x, _ in curve.dots]
        runs = [(x[at], scale * y[at]) for (x, y), at in zip(curve.dots, chosen, strict=True)]
        raw_x, raw_y = (np.concatenate(values) for values in zip(*runs, strict=True))
        _draw_dots(axis, raw_x, raw_y, look["color"])
    low, high = curve.low, curve.high
    if panel.metric == "eval/success":
        intervals = _intervals(line, curve)
        if len(line.runs) == 1:
            low, high = intervals
        else:
            axis.vlines(curve.x, scale * intervals[0], scale * intervals[1], color=look["color"], linewidth=1)
    is_alone = len(curve.x) == 1 or panel.metric.startswith("eval/")
    points = {"marker": "o", "markersize": 3.5} if is_alone else {}
    # Where not all seeds have come, the line is faint: it is the mean of others than before.
    for part, alpha in ((slice(0, curve.whole), 1.0), (slice(max(curve.whole - 1, 0), None), 0.4)):
        if len(curve.x[part]) > (0 if alpha == 1 or not curve.whole else 1):
            at, mean, bottom, top = thin(curve.x[part], curve.mean[part], low[part], high[part])
            axis.fill_between(at, scale * bottom, scale * top, color=look["color"], alpha=0.16 * alpha, linewidth=0)
            axis.plot(at, scale * mean, alpha=alpha, **look, **points)


def _intervals(line: Line, curve: Curve) -> tuple[Floats, Floats]:
    """Wilson's interval of the evaluations at each step, of all seeds together."""
    found: dict[float, list[tuple[float, float, float]]] = {}
    for run in line.runs:
        columns = (run.column(f"eval/{name}") for name in ("success", "low", "high"))
        for step, rate, low, high in zip(run.steps, *columns, strict=True):
            if not math.isnan(rate):
                found.setdefault(float(step), []).append((float(rate), float(low), float(high)))
    bounds = []
    for step in curve.steps:
        shares = found[float(step)]
        both = pooled(shares)
        # The interval as it was written needs no counting, so that it may be of any kind.
        bounds.append(shares[0][1:] if len(shares) == 1 else both.interval if both else (math.nan, math.nan))
    lows, highs = zip(*bounds, strict=True)
    return np.array(lows, np.float64), np.array(highs, np.float64)


def _draw_dots(axis: Any, x: Floats, y: Floats, colour: str) -> None:
    """Points as one path of dots with round ends, for a tenth of what as many markers take in a file."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Shape

    length = 1e-6 * max(float(np.ptp(x)), 1.0)  # nothing that one sees, but a stroke without length is left out
    ends = np.stack([np.stack([x, y], 1), np.stack([x + length, y], 1)], 1).reshape(-1, 2)
    shape = Shape(ends, [Shape.MOVETO, Shape.LINETO] * len(x))
    shape.should_simplify = False
    patch = PathPatch(shape, fill=False, edgecolor=colour, linewidth=1.9, alpha=0.3, capstyle="round")
    patch.set_snap(False)  # to whole pixels, where so short a stroke is nothing
    axis.add_artist(patch)
    patch.set_transform(axis.transData)
    axis.update_datalim(ends)
    axis.autoscale_view()


def _draw_stack(axis: Any, figure: Figure, line: Line, x: X, window: int) -> None:
    axis.set_title(short(text_of(line.name), _LONGEST_NAME))
    axis.set_ylabel(figure.unit)
    found = stack_of(line, [panel.metric for panel in figure.panels], x, window=window)
    if found is None:
        return
    places, parts = found
    places, *rows = thin(places, *(100 * parts if figure.panels[0].share else parts))
    colours = list(part_colours(figure).values())
    if len(places) == 1:  # an area needs two
        heights = np.concatenate(rows)
        axis.bar(np.repeat(places, len(rows)), heights, 0.5, bottom=np.cumsum(heights) - heights, color=colours)
        axis.set_xlim(places[0] - 1, places[0] + 1)
    else:
        axis.stackplot(places, rows, colors=colours, linewidth=0)
    axis.set_ylim(0, 100 if figure.panels[0].share else None)


def _legend(canvas: Any, figure: Figure, lines: Sequence[Line]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[tuple[str, Any]]
    if figure.stacked:
        entries = [(title, Patch(color=colour)) for title, colour in part_colours(figure).items()]
    else:
        names = [short(text_of(line.name), _LONGEST_NAME) for line in lines]
        entries = [(name, Line2D([], [], **line_style(i))) for i, name in enumerate(names)]
    # Matplotlib leaves out what begins with an underscore.
    labels = [re.sub(r"^_", " _", name) for name, _ in entries]
    across = min(len(entries), 4 if panels_in(figure, lines) > 1 else 2)
    canvas.legend([mark for _, mark in entries], labels, loc="outside lower center", ncols=across)


def _ticker() -> Any:
    from matplotlib import ticker

    return ticker


def _slim(text: str, prefix: str) -> str:
    """SVG without what nobody needs: a third of matplotlib's.

    With a prefix it can stand in a page: what it refers to within itself has names that are used nowhere else there,
    its colours and type are those of the page, and it styles nothing but itself.
    """
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", text)
    text = re.sub(r'(?<= d=")[^"]*', _slim_path, text)
    text = re.sub(r' (x|y|transform)="[^"]*"', lambda match: _rounded(match[0]), text)
    used = set(re.findall(r"#([\w.-]+)", text))
    text = re.sub(r' id="([\w.-]+)"', lambda match: match[0] if match[1] in used else "", text)
    text = re.sub(r"\n\s*", "\n", text)
    if not prefix:
        return re.sub(r"font-family: [^;\"]*", f"font-family: {_FONTS}", text)
    text = text[text.index("<svg") :]
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r' (width|height)="[\d.]+pt"', "", text, count=2)
    text = re.sub(r'(id="|xlink:href="#|url\(#)', rf"\g<1>{prefix}-", text)
    text = re.sub(r" ?font-family: [^;\"]*;?", "", text)
    for colour in _PAGE_COLOURS:
        text = text.replace(colour, page_colour(colour))
    return text


def _slim_path(match: re.Match[str]) -> str:
    """A path to a tenth of a point, on one line; the strokes of dots, too short to see, have no length."""
    path = _rounded(" ".join(match[0].split()))
    path = re.sub(r"M (\S+) (\S+) L (\S+) \2(?= M|$)", _slim_dot, path)
    return re.sub(r" ?([MLQCzh]) ?", r"\1", path)


def _slim_dot(dot: re.Match[str]) -> str:
    return f"M{dot[1]} {dot[2]}h0" if abs(float(dot[1]) - float(dot[3])) < 0.2 else dot[0]


def _rounded(text: str) -> str:
    return re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), text)


_FONTS = "Inter, 'Segoe UI', 'Liberation Sans', 'DejaVu Sans', sans-serif"

_PAGE_COLOURS = {
    INK: "ink",
    SOFT: "soft",
    RULE: "line",
    **{shade: f"k{i}" for i, shade in enumerate(SHADES)},
    **{colour: f"arm{i}" for i, colour in enumerate(COLOURS)},
}
"""The names that the page's style has for them."""
