"""What came out of a sweep: a table (Markdown, CSV, JSON) with a row for each combination, and a figure of success."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.statistics import Share, Spread
from eapo_gym.trainers.figures import CARD, COLOURS, INK, style, text_of, write_figure
from eapo_gym.trainers.runs import Line, TrainingRun, is_training_run, load_training_run, short
from eapo_gym.trainers.sweep import FINISHED, Point, Sweep

TABLE = "table"
FIGURE = "figure"

_LOG_FROM = 50
"""Positive values that differ by this factor or more stand on a logarithmic axis."""


@dataclass(frozen=True, slots=True)
class Row:
    """A combination of values: what its finished runs came to, over their seeds."""

    values: dict[str, Any]
    planned: int
    line: Line
    """Of those that are finished."""

    @property
    def success(self) -> Spread:
        """Of the last evaluation; where there is none, of the last steps of training."""
        return self.line.measured("success", "train/success")

    @property
    def interval(self) -> Share | None:
        return self.line.final_success()

    @property
    def degree(self) -> Spread:
        return self.line.measured("degree", "explore/degree")

    @property
    def steps(self) -> Spread:
        return self.line.measured("steps", "train/steps")

    @property
    def seeds(self) -> list[float]:
        """Success of each run."""
        return [Line("", (run,)).measured("success", "train/success").mean for run in self.line.runs]

    def bounds(self) -> tuple[float, float]:
        """The interval of success, or what the seeds spread over."""
        if self.interval is not None:
            return self.interval.interval
        seeds = self.seeds or [math.nan]
        return min(seeds), max(seeds)

    def to_json(self) -> dict[str, Any]:
        interval = self.interval
        numbers = {"success": self.success, "exploration_degree": self.degree, "steps": self.steps}
        return {
            "values": self.values,
            "runs": len(self.line.runs),
            "planned": self.planned,
            "evaluated": any(run.final_eval() for run in self.line.runs),
            **{name: _known({"mean": spread.mean, "std": spread.std}) for name, spread in numbers.items()},
            "interval": None if interval is None else list(interval.interval),
            "episodes": None if interval is None else interval.n,
        }


def rows_of(sweep: Sweep, out: Path, states: Mapping[str, str]) -> list[Row]:
    """The table of a sweep; only runs that are finished count, and it is said how many these are."""
    groups: dict[str, list[Point]] = {}
    for point in sweep.points:
        groups.setdefault(json.dumps(point.values, sort_keys=True, default=str), []).append(point)
    rows = []
    for points in groups.values():
        runs = [run for point in points if states.get(point.name) == FINISHED for run in _run_in(out / point.name)]
        rows.append(Row(points[0].values, len(points), Line(_name(points[0].values), tuple(runs))))
    return rows


def write_results(sweep: Sweep, out: Path, states: Mapping[str, str]) -> list[Path]:
    """Write the table and the figure; returns their paths."""
    rows = rows_of(sweep, out, states)
    texts = {"md": markdown(rows), "csv": comma_separated(rows), "json": as_json(rows)}
    paths = []
    for ending, text in texts.items():
        paths.append(out / f"{TABLE}.{ending}")
        write_atomically(paths[-1], text)
    if any(row.success.n for row in rows):
        paths += write_figure(draw_sweep(rows), out, FIGURE)
    return paths


# The table


def markdown(rows: Sequence[Row]) -> str:
    """The table for people."""
    fields = list(rows[0].values)
    head = [*map(_cell, fields), "success (%)", "95 % interval", "exploration degree", "steps", "seeds"]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(fields)}{' ---: |' * (len(head) - len(fields))}"]
    for row in rows:
        interval = row.interval
        bounds = "–" if interval is None else "–".join(f"{100 * bound:.1f}" for bound in interval.interval)
        cells = [
            *(_cell(value) for value in row.values.values()),
            _spread(row.success, 1, 100),
            bounds,
            _spread(row.degree, 3),
            _spread(row.steps, 1),
            f"{len(row.line.runs)} of {row.planned}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    is_evaluated = any(run.final_eval() for row in rows for run in row.line.runs)
    source = "the last evaluation" if is_evaluated else "the last steps of training; nothing was evaluated"
    lines += ["", f"Mean ± standard deviation over the seeds that are finished, of {source}; Wilson's interval."]
    lines.append("")
    return "\n".join(lines)


def comma_separated(rows: Sequence[Row]) -> str:
    """The table for spreadsheets."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = ("success", "exploration_degree", "steps")
    columns = [f"{name}_{part}" for name in names for part in ("mean", "std")]
    writer.writerow([*rows[0].values, *columns, "success_low", "success_high", "episodes", "runs", "planned"])
    for row in rows:
        data = row.to_json()
        low, high = data["interval"] or (None, None)
        numbers = [data[name][part] for name in names for part in ("mean", "std")]
        writer.writerow(
            [*map(_plain, row.values.values()), *numbers, low, high, data["episodes"], data["runs"], data["planned"]]
        )
    return file.getvalue()


def as_json(rows: Sequence[Row]) -> str:
    """The table for programs."""
    return json.dumps([row.to_json() for row in rows], indent=1, allow_nan=False) + "\n"


# The figure


def draw_sweep(rows: Sequence[Row]) -> Any:
    """Success by the field that was swept over; a heat map of two, and all combinations below each other of more."""
    fields = [name for name in rows[0].values if len({_plain(row.values[name]) for row in rows}) > 1]
    is_evaluated = any(run.final_eval() for row in rows for run in row.line.runs)
    label = f"success in {'evaluation' if is_evaluated else 'training'}, %"
    with style():
        from matplotlib.figure import Figure

        canvas = Figure(
            figsize=(5.2, max(3.4, 0.42 * len(rows) + 1.0) if len(fields) != 2 else 4.2), layout="constrained"
        )
        axis = canvas.subplots()
        if len(fields) == 2:
            _heat_map(axis, rows, fields, label)
        elif len(fields) == 1 and all(_is_number(row.values[fields[0]]) for row in rows):
            _by_number(axis, rows, fields[0], label)
        else:
            _by_name(axis, rows, fields, label)
    return canvas


def _by_number(axis: Any, rows: Sequence[Row], field: str, label: str) -> None:
    rows = sorted(rows, key=lambda row: float(row.values[field]))
    x = np.array([float(row.values[field]) for row in rows])
    low, high = 100 * np.array([row.bounds() for row in rows]).T
    axis.vlines(x, low, high, color=COLOURS[0], linewidth=1.4)
    axis.plot(x, [100 * row.success.mean for row in rows], color=COLOURS[0], marker="o", markersize=5)
    for place, row in zip(x, rows, strict=True):
        axis.plot([place] * len(row.seeds), 100 * np.array(row.seeds), "o", color=COLOURS[0], alpha=0.55, markersize=4)
    if x.min() > 0 and x.max() / x.min() >= _LOG_FROM:
        axis.set_xscale("log")
    axis.set_xlabel(text_of(field))
    axis.set_ylabel(label)


def _by_name(axis: Any, rows: Sequence[Row], fields: Sequence[str], label: str) -> None:
    places = np.arange(len(rows))[::-1]
    low, high = 100 * np.array([row.bounds() for row in rows]).T
    axis.hlines(places, low, high, color=COLOURS[0], linewidth=1.4)
    axis.plot([100 * row.success.mean for row in rows], places, "o", color=COLOURS[0], markersize=6)
    for place, row in zip(places, rows, strict=True):
        axis.plot(100 * np.array(row.seeds), [place] * len(row.seeds), "o", color=COLOURS[0], alpha=0.55, markersize=4)
    names = [_name({field: row.values[field] for field in fields}, alone=len(fields) == 1) for row in rows]
    axis.set_yticks(places, [text_of(name) for name in names])
    axis.set_ylim(-0.6, len(rows) - 0.4)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(label)
    if len(fields) == 1:
        axis.set_title(text_of(fields[0]))


def _heat_map(axis: Any, rows: Sequence[Row], fields: Sequence[str], label: str) -> None:
    down, across = ([*dict.fromkeys(_plain(row.values[field]) for row in rows)] for field in fields)
    means = np.full((len(down), len(across)), np.nan)
    for row in rows:
        at = down.index(_plain(row.values[fields[0]])), across.index(_plain(row.values[fields[1]]))
        means[at] = 100 * row.success.mean
    image = axis.pcolormesh(means, cmap="cividis", edgecolors=CARD, linewidth=1.5)  # a vector graphic, unlike an image
    middle = (np.nanmin(means) + np.nanmax(means)) / 2
    for (i, j), mean in np.ndenumerate(means):
        # Cividis goes from dark to light.
        text, colour = ("–", INK) if math.isnan(mean) else (f"{mean:.1f}", CARD if mean <= middle else INK)
        axis.text(j + 0.5, i + 0.5, text, ha="center", va="center", color=colour, fontsize=10)
    axis.set_xticks(np.arange(len(across)) + 0.5, [text_of(name) for name in across])
    axis.set_yticks(np.arange(len(down)) + 0.5, [text_of(name) for name in down])
    axis.invert_yaxis()
    axis.set_xlabel(text_of(fields[1]))
    axis.set_ylabel(text_of(fields[0]))
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    bar = axis.figure.colorbar(image, ax=axis, label=label)
    bar.outline.set_visible(False)


# Texts


def _run_in(folder: Path) -> list[TrainingRun]:
    return [load_training_run(folder)] if is_training_run(folder) else []


def _name(values: Mapping[str, Any], *, alone: bool = False) -> str:
    return _plain(next(iter(values.values()))) if alone else " ".join(f"{k}={_plain(v)}" for k, v in values.items())


def _plain(value: Any) -> str:
    return short(value, 40)


def _cell(value: Any) -> str:
    """A text within Markdown's table: nothing of it ends the cell, or is markup."""
    return "".join(f"\\{sign}" if sign in "\\|`*_[]<>#" else sign for sign in " ".join(text_of(_plain(value)).split()))


def _spread(spread: Spread, digits: int, scale: float = 1) -> str:
    if not spread.n:
        return "–"
    mean = f"{scale * spread.mean:.{digits}f}"
    return mean if spread.n == 1 else f"{mean} ± {scale * spread.std:.{digits}f}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _known(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}
