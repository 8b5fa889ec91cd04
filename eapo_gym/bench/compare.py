"""Compare two runs: what differs, by how much, and how sure that is.

    comparison = compare(load_run("runs/a"), load_run("runs/b"))
    print(comparison.table())

Tasks are what is drawn, so tasks are what is resampled; the repeats of a task stay together. Where both runs played the
same tasks they are paired, which takes the differences between easy and hard tasks out of the comparison. Every
planned episode counts: one that is missing was not solved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eapo_gym.bench.statistics import CONFIDENCE, newcombe, wilson
from eapo_gym.bench.store import Run, RunError
from eapo_gym.bench.table import Row, row_of

RESAMPLES = 10_000
_AT_A_TIME = 500
"""Resamples that are drawn in one go: they take memory."""

_EXACT = 14
"""Up to so many tasks that differ, all ways to swap them are gone through, and none is drawn."""

Counts = Callable[[Row], "tuple[float, float]"]
"""Of an episode, what a measure counts and out of how much: the measure is the ratio of the sums."""


def _of_played(part: Callable[[Row], float | None], whole: Callable[[Row], float] = lambda row: 1) -> Counts:
    def counts(row: Row) -> tuple[float, float]:
        value = part(row) if row.played else None
        return (0.0, 0.0) if value is None else (value, whole(row))

    return counts


def _of_steps(part: Callable[[Row], float]) -> Counts:
    return _of_played(part, lambda row: row.steps)


_MEASURES: dict[str, Counts] = {
    "score": lambda row: (row.score if row.played else 0.0, 1),
    "steps": _of_played(lambda row: row.steps),
    "steps_solved": _of_played(lambda row: row.steps if row.success else None),
    "exploration_degree": _of_played(lambda row: row.exploration_degree),
    "exploration_degree_no_self_loops": _of_played(lambda row: row.exploration_degree_no_self_loops),
    "invalid_rate": _of_steps(lambda row: row.invalid),
    "format_rate": _of_steps(lambda row: row.format_ok),
    "rollback_rate": _of_steps(lambda row: row.rollbacks),
    "response_tokens": lambda row: (row.response_tokens, 1),
    "calls": lambda row: (row.calls, 1),
}
"""All but success, which is counted out of what was planned."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure in both runs. What cannot be known is NaN."""

    measure: str
    a: float
    b: float
    low: float
    high: float
    """The 95 % interval of b − a: bootstrap, percentiles; where all tasks say the same of success, Wilson's."""

    @property
    def difference(self) -> float:
        return self.b - self.a

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side."""

    names: tuple[str, str]
    paired: bool
    tasks: tuple[int, int]
    differences: tuple[Difference, ...]
    """Success first."""

    p_value: float
    """Of the difference in success, two-sided, if both runs were alike."""

    test: str
    warnings: tuple[str, ...]
    """Why the two runs may not be comparable."""

    def to_json(self) -> dict[str, Any]:
        return {
            "a": self.names[0],
            "b": self.names[1],
            "paired": self.paired,
            "tasks": list(self.tasks),
            "confidence": CONFIDENCE,
            "p_value": _known(self.p_value),
            "test": self.test,
            "warnings": list(self.warnings),
            "differences": {
                each.measure: {
                    "a": _known(each.a),
                    "b": _known(each.b),
                    "difference": _known(each.difference),
                    "low": _known(each.low),
                    "high": _known(each.high),
                }
                for each in self.differences
            },
        }

    def table(self) -> str:
        """As text."""
        lines = [f"a: {self.names[0]}", f"b: {self.names[1]}", ""]
        lines.append(f"{'':34}{'a':>10}{'b':>10}{'b − a':>10}   95 % interval")
        for each in self.differences:
            if math.isnan(each.a) and math.isnan(each.b):
                continue
            numbers = "".join(f"{_shown(each.measure, value):>10}" for value in (each.a, each.b, each.difference))
            interval = f"{_shown(each.measure, each.low)} to {_shown(each.measure, each.high)}"
            lines.append(f"{each.measure.replace('_', ' '):34}{numbers}   {interval}{'  *' if each.clear else ''}")
        how = "the same tasks, paired" if self.paired else "unpaired, since the tasks are not the same"
        count = str(self.tasks[0]) if self.paired else f"{self.tasks[0]} and {self.tasks[1]}"
        lines += ["", f"{count} tasks: {how}; * leaves out 0.", f"Success: p = {self.p_value:.3g} ({self.test})."]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def compare(
    a: Run, b: Run, names: tuple[str, str] | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Compare two runs; the same seed gives the same intervals."""
    for run in (a, b):
        if not run.planned:
            raise RunError(f"{_name(run)} has no episodes: there is nothing to compare.")
    tasks = [list(dict.fromkeys(task for task, _ in run.planned)) for run in (a, b)]
    paired = set(tasks[0]) == set(tasks[1])
    if paired:
        tasks[1] = tasks[0]
    measures = [
        "success",
        *(name for name in _MEASURES if name != "format_rate" or (_aims_at_form(a) and _aims_at_form(b))),
    ]
    sums = [_sums(run, order, measures) for run, order in zip((a, b), tasks, strict=True)]
    if paired:
        _keep_what_both_solved(sums, measures.index("steps_solved"))
    values = [_ratios(*(part.sum(axis=0) for part in each)) for each in sums]
    low, high = _bootstrap(sums[0], sums[1], paired, resamples, np.random.default_rng(seed))
    if low[0] == high[0]:
        # All won against all lost, say: no resample differs, which does not mean that another sample would not.
        low[0], high[0] = _without_variation(float(values[0][0]), float(values[1][0]), tasks, paired)
    rates = [np.divide(parts[:, 0], wholes[:, 0]) for parts, wholes in sums]
    p_value, test = _test(rates[0], rates[1], paired, resamples, np.random.default_rng(seed + 1))
    return Comparison(
        names or (_name(a), _name(b)),
        paired,
        (len(tasks[0]), len(tasks[1])),
        tuple(
            Difference(name, float(values[0][i]), float(values[1][i]), float(low[i]), float(high[i]))
            for i, name in enumerate(measures)
        ),
        p_value,
        test,
        tuple(_warnings(a, b)),
    )


def _sums(run: Run, tasks: Sequence[str], measures: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """By task and measure: what is counted, and out of how much."""
    index = {task: i for i, task in enumerate(tasks)}
    parts, wholes = np.zeros((len(tasks), len(measures))), np.zeros((len(tasks), len(measures)))
    for task, _ in run.planned:
        wholes[index[task], 0] += 1
    for row in map(row_of, run.episodes):
        i = index[row.task]
        parts[i, 0] += row.success
        for j, name in enumerate(measures[1:], start=1):
            part, whole = _MEASURES[name](row)
            parts[i, j] += part
            wholes[i, j] += whole
    return parts, wholes


def _keep_what_both_solved(sums: Sequence[tuple[np.ndarray, np.ndarray]], steps: int) -> None:
    """How long it took is compared on the same tasks: who solves harder ones too is not slower for that."""
    (parts_a, wholes_a), (parts_b, wholes_b) = sums
    not_both = (wholes_a[:, steps] == 0) | (wholes_b[:, steps] == 0)
    for counted in (parts_a, wholes_a, parts_b, wholes_b):
        counted[not_both, steps] = 0


def _without_variation(a: float, b: float, tasks: Sequence[Sequence[str]], paired: bool) -> tuple[float, float]:
    """The interval of b − a where every task says the same."""
    if not paired:
        return newcombe((round(a * len(tasks[0])), len(tasks[0])), (round(b * len(tasks[1])), len(tasks[1])))
    _, unseen = wilson(0, len(tasks[0]))  # the share of pairs that may be otherwise, though none of these is
    return max(-1.0, b - a - unseen), min(1.0, b - a + unseen)


def _ratios(parts: np.ndarray, wholes: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(parts, wholes, out=np.full(parts.shape, math.nan), where=wholes > 0))


def _bootstrap(
    a: tuple[np.ndarray, np.ndarray],
    b: tuple[np.ndarray, np.ndarray],
    paired: bool,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The percentile interval of b − a for each measure."""
    drawn = []
    for begin in range(0, resamples, _AT_A_TIME):
        count = min(_AT_A_TIME, resamples - begin)
        of_a = _times_drawn(len(a[0]), count, rng)
        of_b = of_a if paired else _times_drawn(len(b[0]), count, rng)
        drawn.append(_ratios(of_b @ b[0], of_b @ b[1]) - _ratios(of_a @ a[0], of_a @ a[1]))
    differences = np.concatenate(drawn)
    tails = [100 * (1 - CONFIDENCE) / 2, 100 * (1 + CONFIDENCE) / 2]
    low, high = np.full(differences.shape[1], math.nan), np.full(differences.shape[1], math.nan)
    for j, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        # A resample may hold no task of which the measure is known (nothing solved, say): it says nothing of it.
        if len(known):
            low[j], high[j] = np.percentile(known, tails)
    return low, high


def _times_drawn(tasks: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """For each of `count` resamples, how often each task is in it."""
    return np.asarray(rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=count), dtype=float)


def _test(a: np.ndarray, b: np.ndarray, paired: bool, resamples: int, rng: np.random.Generator) -> tuple[float, str]:
    """The p-value of the difference between the success rates of tasks, and what test it is of."""
    if not paired:
        return _permutation(a, b, resamples, rng), "permutation of the tasks of both runs"
    differences = b - a
    differences = differences[differences != 0]
    n = len(differences)
    if np.all(np.abs(differences) == 1):
        return mcnemar(int(np.sum(differences > 0)), int(np.sum(differences < 0))), "exact McNemar test"
    if n <= _EXACT:
        # Row i of the table holds the bits of i, as signs.
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float(np.mean(_as_large(signs @ differences, differences.sum()))), "exact sign-flip test over tasks"
    extreme = 0
    for begin in range(0, resamples, _AT_A_TIME):
        signs = rng.choice((-1.0, 1.0), size=(min(_AT_A_TIME, resamples - begin), n))
        extreme += int(np.sum(_as_large(signs @ differences, differences.sum())))
    return (1 + extreme) / (1 + resamples), f"sign-flip test over tasks, {resamples:,} draws"


def mcnemar(won: int, lost: int) -> float:
    """The exact two-sided p-value of so many pairs that changed to the better, and so many to the worse.

    >>> round(mcnemar(8, 1), 4)
    0.0391
    """
    n = won + lost
    # Whole numbers, however large: a float would overflow.
    tail = sum(math.comb(n, k) for k in range(min(won, lost) + 1))
    return min(1.0, 2 * tail / (1 << n))


def _permutation(a: np.ndarray, b: np.ndarray, resamples: int, rng: np.random.Generator) -> float:
    both = np.concatenate([a, b])
    seen = b.mean() - a.mean()
    extreme = 0
    for begin in range(0, resamples, _AT_A_TIME):
        shuffled = rng.permuted(np.tile(both, (min(_AT_A_TIME, resamples - begin), 1)), axis=1)
        drawn = shuffled[:, len(a) :].mean(axis=1) - shuffled[:, : len(a)].mean(axis=1)
        extreme += int(np.sum(_as_large(drawn, seen)))
    return (1 + extreme) / (1 + resamples)


def _as_large(drawn: np.ndarray, seen: float) -> np.ndarray:
    # Sums of the same numbers in another order differ in their last bits.
    return np.asarray(np.abs(drawn) >= abs(seen) - 1e-9)


def _warnings(a: Run, b: Run) -> Iterator[str]:
    ours, theirs = _part(a, "environment"), _part(b, "environment")
    for field, what in (
        ("id", "environment"),
        ("source", "source of the tasks"),
        ("split", "split"),
        ("catalogue", "catalogue of tasks"),
        ("engine", "engine of the environment"),
        ("step_limit", "step limit"),
        ("rollback_mode", "rollback mode"),
    ):
        if ours.get(field) != theirs.get(field):
            yield f"the {what} is not the same: {ours.get(field)!s:.100} in a, {theirs.get(field)!s:.100} in b."
    versions = [_part(run, "versions").get("eapo_gym") for run in (a, b)]
    if versions[0] != versions[1]:
        yield f"they were played with different versions of eapo-gym: {versions[0]} and {versions[1]}."
    for name, run in (("a", a), ("b", b)):
        if _part(run, "environment").get("rollback_mode") == "restore":
            yield f"{name} takes steps back by restoring snapshots, which no agent outside of a simulation can."
        if _part(run, "agent").get("privileged"):
            yield f"the agent of {name} looks into the environment."
        missing = len(run.planned) - len(run.episodes)
        if missing:
            yield f"{name} is not complete: {missing} of its {len(run.planned)} are missing, which counts as unsolved."
        failed = sum(episode.outcome == "infrastructure" for episode in run.episodes)
        if failed:
            yield f"the infrastructure failed in {failed} of the {len(run.planned)} episodes of {name}."


def _part(run: Run, name: str) -> Mapping[str, Any]:
    """Of a stamp, which a run that was played otherwise (by a person, say) may not have whole."""
    part = run.stamp.get(name)
    return part if isinstance(part, Mapping) else {}


def _aims_at_form(run: Run) -> bool:
    return bool(_part(run, "agent").get("form", "tags") != "free")


def _name(run: Run) -> str:
    agent = str(_part(run, "agent").get("name", "?"))
    return f"{agent} ({run.folder})" if run.folder else agent


def _shown(measure: str, value: float) -> str:
    if math.isnan(value):
        return "–"
    if measure == "success" or measure.endswith("_rate"):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}" if measure.startswith("exploration") else f"{value:.1f}"


def _known(value: float) -> float | None:
    """JSON has no NaN."""
    return value if math.isfinite(value) else None
