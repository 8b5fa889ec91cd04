"""What a line of a figure is: a metric over the steps, smoothed, as a mean over seeds with a band around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eapo_gym.trainers.runs import Floats, Line

X = Literal["step", "env_steps"]
Band = Literal["std", "range"]

MOST_POINTS = 2000
"""Points of a line; where there are more, neighbours are drawn as their mean."""


def window_of(lines: Sequence[Line]) -> int:
    """Steps that a smoothed line takes together: about a twentieth of the longest run, an odd number."""
    longest = max((len(run.rows) for line in lines for run in line.runs), default=0)
    return max(1, longest // 20 // 2 * 2 + 1)


def smooth(values: Floats, window: int) -> Floats:
    """The mean of each value and its neighbours, of those of them that are known; NaN stays where it was."""
    known = ~np.isnan(values)
    sums = np.convolve(np.where(known, values, 0.0), np.ones(window), "full")
    counts = np.convolve(known.astype(np.float64), np.ones(window), "full")
    half = window // 2
    middle = slice(half, half + len(values))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, sums[middle] / counts[middle], np.nan)


def thin(x: Floats, *columns: Floats, most: int = MOST_POINTS) -> tuple[Floats, ...]:
    """The columns with at most so many entries: means over neighbours."""
    if len(x) <= most:
        return (x, *columns)
    bounds = np.linspace(0, len(x), most + 1).astype(np.int64)[:-1]
    shares = np.diff(np.append(bounds, len(x)))
    return tuple(np.add.reduceat(column, bounds) / shares for column in (x, *columns))


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric of a line, at the steps where it is known."""

    steps: Floats
    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    """The band; equal to the mean for a single run."""

    whole: int
    """So many of the points are of all seeds; behind them not all of them have come so far."""

    dots: tuple[tuple[Floats, Floats], ...]
    """The raw points of each run."""


def curve_of(line: Line, metric: str, x: X, *, window: int = 1, band: Band = "std") -> Curve | None:
    """The curve of a metric; None where there is nothing to draw.

    Seeds are averaged step by step, and lie where on average they are; where some have not come so far, it is the mean
    of those that have.
    """
    if metric.startswith("eval/"):
        window = 1  # an evaluation is a measurement of its own, with an interval of its own
    steps = _steps(line)
    values = np.full((len(line.runs), len(steps)), np.nan)
    places = np.full_like(values, np.nan)
    dots = []
    for i, run in enumerate(line.runs):
        own, place = run.column(metric), run.column(x)
        known = ~np.isnan(own) & ~np.isnan(place)
        if known.any():
            dots.append((place[known], own[known]))
            at = np.searchsorted(steps, run.steps[known])
            values[i, at], places[i, at] = smooth(own, window)[known], place[known]
    there = ~np.isnan(values).all(axis=0)
    if not there.any():
        return None
    values, places, steps = values[:, there], places[:, there], steps[there]
    mean = np.nanmean(values, axis=0)
    if band == "range":
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    else:
        freedom = np.maximum((~np.isnan(values)).sum(axis=0) - 1, 1)
        std = np.sqrt(np.nansum((values - mean) ** 2, axis=0) / freedom)
        low, high = mean - std, mean + std
    return Curve(steps, _forward(places), mean, low, high, int((steps <= _reached_by_all(line)).sum()), tuple(dots))


def stack_of(line: Line, metrics: Sequence[str], x: X, *, window: int = 1) -> tuple[Floats, Floats] | None:
    """Parts of a whole over the steps, a row for each of the metrics; a part that is not there took nothing."""
    steps = _steps(line)
    values = np.full((len(line.runs), len(metrics), len(steps)), np.nan)
    places = np.full((len(line.runs), len(steps)), np.nan)
    for i, run in enumerate(line.runs):
        parts, place = np.array([run.column(metric) for metric in metrics]), run.column(x)
        known = ~np.isnan(parts).all(axis=0) & ~np.isnan(place)
        at = np.searchsorted(steps, run.steps[known])
        filled = [smooth(part, window) for part in np.nan_to_num(parts[:, known], nan=0.0)] if known.any() else []
        for j, part in enumerate(filled):
            values[i, j, at] = part
        places[i, at] = place[known]
    there = ~np.isnan(places).all(axis=0)
    if not there.any():
        return None
    return _forward(places[:, there]), np.nanmean(values[:, :, there], axis=0)


def _steps(line: Line) -> Floats:
    return np.unique(np.concatenate([run.steps for run in line.runs]))


def _reached_by_all(line: Line) -> float:
    """The last step of the run that has come least far."""
    return min(float(run.steps[-1]) if run.rows else 0.0 for run in line.runs)


def _forward(places: Floats) -> Floats:
    """Where on average the runs are; where one ends, the others may lie before it, but no curve goes back."""
    forward: Floats = np.maximum.accumulate(np.nanmean(places, axis=0))
    return forward
