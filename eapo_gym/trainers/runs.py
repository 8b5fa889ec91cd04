"""Training runs as they are read for reports: a folder with `config.json` and `metrics.jsonl`, finished or going on.

    runs = [load_training_run(folder) for folder in folders]
    for line in lines_of(runs):           # runs that differ in nothing but their seed are one line
        step, mean, low, high = …

What stands in these files is data: what cannot be a number is NaN, and nothing else of it is relied upon.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eapo_gym.bench.statistics import CONFIDENCE, Share, Spread
from eapo_gym.errors import EapoError
from eapo_gym.loggers.json_lines import METRICS, read_metrics

CONFIG_FILE = "config.json"

_LAST = 10
"""What a run has come to in training is the mean of so many steps: one alone is noise."""

_NO_MATTER = frozenset(
    [
        "seed",
        "save_every",
        "keep_last",
        "loggers",
        "retries",
        "max_bad_updates",
        "parallel",
        "microbatch_tokens",
        "gradient_checkpointing",
        "episode_timeout",
        "response_timeout",
        "step_timeout",
    ]
)
"""Settings in which the runs of a line may differ: what is kept of a run, and how it is brought to its end."""

_MOST_NAMED = 4
"""Settings in the name of a line; a table has them all."""

Floats = NDArray[np.float64]


class TrainingRunError(EapoError, ValueError):
    """A folder that cannot be read as a training run."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A training run as far as it has come."""

    name: str
    config: dict[str, Any]
    """Its settings, as `TrainConfig.to_json` has them."""

    rows: list[dict[str, Any]]
    """The metrics of its steps, in order; a step that was trained again after a crash is there once."""

    record: dict[str, Any] = field(default_factory=dict)
    """All of `config.json`: besides the settings, versions and the like."""

    def column(self, name: str) -> Floats:
        """A metric at every step; NaN where it was not measured."""
        return np.array([as_number(row.get(name)) for row in self.rows], np.float64)

    @property
    def steps(self) -> Floats:
        return self.column("step")

    @property
    def planned(self) -> int | None:
        """How many steps it is to have."""
        steps = self.config.get("steps")
        return steps if isinstance(steps, int) and not isinstance(steps, bool) else None

    @property
    def finished(self) -> bool:
        """It has all its steps, or has used up those of the environment."""
        if not self.rows:
            return False
        has_all = self.planned is not None and self.rows[-1]["step"] >= self.planned
        return has_all or as_number(self.rows[-1].get("env_steps")) >= as_number(self.config.get("env_steps"))

    def last(self, name: str) -> float:
        """The last value that was measured, or NaN."""
        known = self.column(name)
        known = known[~np.isnan(known)]
        return float(known[-1]) if len(known) else math.nan

    def recent(self, name: str) -> float:
        """The mean of the last few steps."""
        known = self.column(name)[-_LAST:]
        known = known[~np.isnan(known)]
        return float(known.mean()) if len(known) else math.nan

    def final_eval(self) -> dict[str, float]:
        """The numbers of the last evaluation, by their names without `eval/`; nothing if there was none."""
        for row in reversed(self.rows):
            if not math.isnan(as_number(row.get("eval/success"))):
                found = {name[5:]: as_number(value) for name, value in row.items() if name.startswith("eval/")}
                return {**found, "step": row["step"]}
        return {}


@dataclass(frozen=True, slots=True)
class Line:
    """Runs that differ in nothing that matters but their seed: one line in the figures, one row in the tables."""

    name: str
    runs: tuple[TrainingRun, ...]

    def over_seeds(self, values: Sequence[float]) -> Spread:
        """Mean and deviation of what is known."""
        return Spread.of(value for value in values if not math.isnan(value))

    def final_eval(self, name: str) -> Spread:
        return self.over_seeds([run.final_eval().get(name, math.nan) for run in self.runs])

    def measured(self, evaluated: str, trained: str) -> Spread:
        """A number of the last evaluations; where there are none, of the last steps of training."""
        of_evaluation = self.final_eval(evaluated)
        return of_evaluation if of_evaluation.n else self.over_seeds([run.recent(trained) for run in self.runs])

    def final_success(self) -> Share | None:
        """All episodes of the last evaluations; None where they cannot be counted."""
        evals = [found for run in self.runs if (found := run.final_eval())]
        return pooled([(found["success"], found.get("low", math.nan), found.get("high", math.nan)) for found in evals])


def is_training_run(folder: str | os.PathLike[str]) -> bool:
    """The folder holds a training run, rather than one of the bench, or a model (which has a `config.json` too)."""
    try:
        record = json.loads((Path(folder) / CONFIG_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return "algorithm" in _settings(record)


def load_training_run(folder: str | os.PathLike[str], name: str | None = None) -> TrainingRun:
    """Read a training run; one that is going on as far as it has come."""
    folder = Path(folder)
    path = folder / CONFIG_FILE
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise TrainingRunError(
            f"{folder} is no training run: there is no {CONFIG_FILE} in it (eapo-gym train --out makes one)."
        ) from None
    except (ValueError, RecursionError) as error:
        raise TrainingRunError(f"{path} cannot be read: {error}.") from error
    settings = _settings(record)
    if "algorithm" not in settings:
        raise TrainingRunError(f"{path} is no record of a training run: expected settings with an algorithm.")
    if not isinstance(record.get("resumed", []), list):
        raise TrainingRunError(f"{path} cannot be read: expected a list as resumed, got {record['resumed']!r:.80}.")
    metrics = folder / METRICS
    rows = _rows(metrics) if metrics.exists() else []
    return TrainingRun(name or folder.resolve().name, settings, rows, record)


def load_training_runs(folders: Sequence[str | os.PathLike[str]]) -> list[TrainingRun]:
    """Read several, and name them by as much of their paths as tells them apart."""
    paths = [Path(folder).resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise TrainingRunError("The same training run is named twice: name each folder once.")
    depth = 1
    while len({path.parts[-depth:] for path in paths}) < len(paths):
        depth += 1
    return [load_training_run(path, "/".join(path.parts[-depth:])) for path in paths]


def lines_of(runs: Sequence[TrainingRun]) -> list[Line]:
    """Runs by their settings without the seed, in the order in which they come, with names that tell them apart."""
    groups: dict[str, list[TrainingRun]] = {}
    for run in runs:
        groups.setdefault(_key(run), []).append(run)
    members = list(groups.values())
    return [Line(name, tuple(group)) for name, group in zip(_line_names(members), members, strict=True)]


def differing(runs: Sequence[TrainingRun]) -> dict[str, list[Any]]:
    """The settings that matter, the seed aside, and are not the same for all: their values, one a run."""
    names = dict.fromkeys(name for run in runs for name in run.config if name not in _NO_MATTER)
    values = {name: [run.config.get(name) for run in runs] for name in names}
    return {name: found for name, found in values.items() if len({_canonical(value) for value in found}) > 1}


def pooled(shares: Sequence[tuple[float, float, float]]) -> Share | None:
    """All trials of several shares, each given by its rate and Wilson interval, from which its trials follow."""
    successes = total = 0
    for rate, low, high in shares:
        n = trials(rate, low, high)
        if n is None:
            return None
        successes += round(rate * n)
        total += n
    return Share(successes, total) if total else None


def trials(rate: float, low: float, high: float) -> int | None:
    """Of how many trials a share is, given its Wilson interval; None if it is the interval of no whole number of them.

    With w = z²/n, the width D of the interval satisfies D²·(1 + w)² = 4w·p(1 − p) + w²: one root of it is positive.
    """
    if not (0 <= rate <= 1 and 0 <= low < high <= 1 and high - low < 1):
        return None
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    square = (high - low) ** 2
    a, b = square - 1, 2 * square - 4 * rate * (1 - rate)
    w = (-b - math.sqrt(b * b - 4 * a * square)) / (2 * a)
    n = z * z / w
    whole = round(n)
    right = whole >= 1 and abs(n - whole) < 1e-3 * whole and abs(rate * whole - round(rate * whole)) < 0.05
    return whole if right else None


def as_number(value: object) -> float:
    """A metric as a number; NaN for everything that is none, or none that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def short(value: object, longest: int = 60) -> str:
    """A setting as a text for people."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _settings(record: object) -> dict[str, Any]:
    """The settings within `config.json`, as they were last in force."""
    if not isinstance(record, Mapping) or not isinstance(record.get("config"), Mapping):
        return {}
    settings = dict(record["config"])
    resumed = record.get("resumed")
    for sitting in resumed if isinstance(resumed, list) else ():
        changed = sitting.get("changed") if isinstance(sitting, Mapping) else None
        if isinstance(changed, Mapping):
            settings |= {name: pair[1] for name, pair in changed.items() if isinstance(pair, list) and len(pair) == 2}
    return settings


def _rows(path: Path) -> list[dict[str, Any]]:
    """The lines of `metrics.jsonl`, by their steps.

    A run that went on from an earlier checkpoint may write some steps again: what it wrote before, from that step on,
    belongs to no run any more.
    """
    try:
        rows = read_metrics(path)
    except (ValueError, RecursionError) as error:
        raise TrainingRunError(f"{path} cannot be read: {error}.") from error
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        step = row.get("step")
        if not isinstance(step, int) or isinstance(step, bool):
            step = max(found, default=0) + 1
        if step in found:
            found = {earlier: kept for earlier, kept in found.items() if earlier < step}
        found[step] = {**row, "step": step}
    return [found[step] for step in sorted(found)]


def _key(run: TrainingRun) -> str:
    return _canonical({name: value for name, value in run.config.items() if name not in _NO_MATTER})


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _line_names(groups: Sequence[Sequence[TrainingRun]]) -> list[str]:
    """By the algorithm; and where several lines have the same one, by the settings in which these differ."""
    heads = [group[0] for group in groups]
    by_algorithm: dict[str, list[TrainingRun]] = {}
    for head in heads:
        by_algorithm.setdefault(_algorithm(head), []).append(head)
    named: list[str] = []
    for head in heads:
        parts = [f"{name}={short(head.config.get(name), 30)}" for name in differing(by_algorithm[_algorithm(head)])]
        if len(parts) > _MOST_NAMED:
            parts[_MOST_NAMED:] = ["…"]
        name = " ".join([_algorithm(head), *parts])
        count = sum(each == name or each.startswith(f"{name} (") for each in named)
        named.append(f"{name} ({count + 1})" if count else name)
    return named


def _algorithm(run: TrainingRun) -> str:
    return short(run.config.get("algorithm"), 40)
