"""What came out of the learning experiment: by arm, and compared; from the folders of its runs and evaluations.

Shares have Wilson's interval over all episodes; the difference to the start Newcombe's; differences between arms are
paired by game, with the bootstrap of `eapo_gym.bench.compare`. These intervals are of the games. How much a training
run depends on its own luck is in the standard deviation over the seeds beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.bench.compare import compare
from eapo_gym.bench.metrics import metrics_of
from eapo_gym.bench.statistics import Spread, newcombe
from eapo_gym.bench.store import Run, load_run
from eapo_gym.trainers.runs import TrainingRun, load_training_run

SAMPLED, GREEDY = "sampled", "greedy"
METHOD = "eapo"
"""The arm that the others are compared with."""

DEAD = 1e-6
"""Exploratory rewards whose variance within groups is less than this tell nobody apart."""

HEALTH = (
    *("train/success", "train/steps", "explore/degree", "format/rate", "rollback/rate"),
    *("group/size_mean", "group/singletons", "group/size_1", "group/size_2", "group/size_3_4"),
    *("group/size_5_8", "group/size_9_16", "group/size_17_up"),
    *("reward/task", "reward/format", "reward/explore"),
    *("reward_variance/task", "reward_variance/format", "reward_variance/explore"),
    *("density/lift", "density/token_mean", "density/sequence", "density/log_prob", "density/second_share"),
    *("q/auc", "q/auc_lift", "q/kl", "q/loss", "policy/kl", "policy/entropy", "policy/clip_share"),
)

Numbers = dict[str, Any]


def outcome_of(runs: Path, evals: Path, arms: Mapping[str, str], seeds: Sequence[int]) -> Numbers:
    """All that is there; `arms` has for each the name of the model that it started from."""
    played: dict[str, dict[str, list[Run]]] = {}
    for how in (SAMPLED, GREEDY):
        played[how] = {
            arm: [run for seed in seeds if (run := _evaluation(evals / f"{arm}-seed{seed}-{how}"))] for arm in arms
        }
        played[how] |= {start: [run] for start in set(arms.values()) if (run := _evaluation(evals / f"{start}-{how}"))}
    found: Numbers = {"start": {}, "arms": {}, "method_minus_other": {}, "seeds_planned": list(seeds)}
    for start in dict.fromkeys(arms.values()):
        found["start"][start] = {how: _measured(each[start]) for how, each in played.items() if each.get(start)}
    for arm, start in arms.items():
        found["arms"][arm] = {
            "start": start,
            **{how: _measured(each[arm], each.get(start, [])) for how, each in played.items() if each[arm]},
            "training": _training(runs, arm, seeds),
        }
    for how, each in played.items():
        if each.get(METHOD):
            method = pooled(each[METHOD])
            found["method_minus_other"][how] = {
                other: compare(pooled(each[other]), method, (other, METHOD)).to_json()
                for other in arms
                if other != METHOD and each[other]
            }
    return found


def pooled(runs: Sequence[Run]) -> Run:
    """The evaluations of several training runs as one, in which each is a further repeat of all games."""
    planned: list[tuple[str, int]] = []
    episodes = []
    for run in runs:
        offset = 1 + max((repeat for _, repeat in planned), default=-1)
        planned += [(task, repeat + offset) for task, repeat in run.planned]
        episodes += [replace(episode, repeat=episode.repeat + offset) for episode in run.episodes]
    return Run(runs[0].stamp, planned, episodes)


def _measured(runs: Sequence[Run], start: Sequence[Run] = ()) -> Numbers:
    """Several evaluations, one of each training run."""
    each = [metrics_of(run) for run in runs]
    together = metrics_of(pooled(runs))
    success = together.success
    low, high = success.interval
    found: Numbers = {
        "success_by_run": [one.success.rate for one in each],
        "success": _spread([one.success.rate for one in each]),
        "pooled": {"successes": success.successes, "n": success.n, "rate": success.rate, "low": low, "high": high},
        "steps": _spread([one.steps.mean for one in each]),
        "exploration_degree": _spread([one.exploration_degree.mean for one in each]),
        "exploration_degree_no_self_loops": _spread([one.exploration_degree_no_self_loops.mean for one in each]),
        "format_rate": _spread([math.nan if one.format_rate is None else one.format_rate for one in each]),
        "invalid_rate": _spread([one.invalid_rate for one in each]),
        "rollback_rate": _spread([one.rollback_rate for one in each]),
        "outcomes": together.outcomes,
    }
    if start:
        before = metrics_of(pooled(start)).success
        low, high = newcombe((before.successes, before.n), (success.successes, success.n))
        found["minus_start"] = {"difference": success.rate - before.rate, "low": low, "high": high}
    return found


# Training


def _training(runs: Path, arm: str, seeds: Sequence[int]) -> Numbers:
    found = [run for seed in seeds if (run := _training_run(runs / f"{arm}-seed{seed}"))]
    return {
        "runs": len(found),
        "finished": sum(run.finished for run in found),
        "env_steps": [_known(run.last("env_steps")) for run in found],
        "steps": [_known(run.last("step")) for run in found],
        "seconds_per_step": _spread([_mean(run.column("time/step")) for run in found]),
        "curves": [_curve(run) for run in found],
        "thirds": {name: thirds for name in HEALTH if (thirds := _thirds(found, name)) is not None},
        "dead_share": _spread([_dead_share(run) for run in found]),
    }


def _curve(run: TrainingRun) -> list[Numbers]:
    """Success on the held-out games over training."""
    columns = {name: run.column(name) for name in ("step", "env_steps", "eval/success", "eval/degree")}
    there = ~np.isnan(columns["eval/success"])
    return [
        {name.removeprefix("eval/"): _known(float(values[i])) for name, values in columns.items()}
        for i in np.flatnonzero(there)
    ]


def _thirds(runs: Sequence[TrainingRun], name: str) -> list[float | None] | None:
    """The mean in the beginning, the middle and the end of training, over the runs; None where there is nothing."""
    columns = [np.array_split(run.column(name)[run.steps > 0], 3) for run in runs]  # step 0 is before any
    means = [Spread.of(value for parts in columns if not math.isnan(value := _mean(parts[i]))).mean for i in range(3)]
    return None if all(map(math.isnan, means)) else [_known(mean) for mean in means]


def _dead_share(run: TrainingRun) -> float:
    """The share of the steps in which the exploratory reward was the same within all groups."""
    if run.config.get("explore_reward") == "none":
        return math.nan
    variances = run.column("reward_variance/explore")
    variances = variances[~np.isnan(variances)]
    return float((variances < DEAD).mean()) if len(variances) else math.nan


# The table


def table_of(found: Mapping[str, Any]) -> str:
    """In Markdown: success sampled and greedy; what is behind it; how the training went."""
    parts = []
    for how in (SAMPLED, GREEDY):
        rows = [[name, *_cells(each[how], None)] for name, each in found["start"].items() if how in each]
        compared = found["method_minus_other"].get(how, {})
        rows += [[name, *_cells(each[how], compared.get(name))] for name, each in found["arms"].items() if how in each]
        head = ["", "success, %", "pooled, 95 %", "minus start", f"{METHOD} minus it", "degree", "steps", "form, %"]
        parts += [f"**{how.capitalize()}**", "", _markdown(head, rows), ""]
    names = {
        "env steps": None, "s/step": None, "dead": None,
        "singletons": "group/singletons", "group size": "group/size_mean", "AUC": "q/auc", "AUC lift": "q/auc_lift",
        "var task": "reward_variance/task", "var format": "reward_variance/format",
        "var explore": "reward_variance/explore",
    }  # fmt: skip
    rows = []
    for arm, each in found["arms"].items():
        own = each["training"]
        spent = [value for value in own["env_steps"] if value is not None]
        cells = [f"{np.mean(spent):,.0f}" if spent else "–", _pm(own["seconds_per_step"], 2), _pm(own["dead_share"], 2)]
        for name in filter(None, names.values()):
            thirds = own["thirds"].get(name)
            cells.append("–" if thirds is None else " → ".join("–" if x is None else f"{x:.2g}" for x in thirds))
        rows.append([f"{arm} ({own['finished']} of {len(found['seeds_planned'])})", *cells])
    parts += [
        "**Training** (begin → middle → end)",
        "",
        _markdown(["", *names], rows),
        "",
        "Mean ± standard deviation over training seeds. Pooled: all episodes, with Wilson's interval; minus start: "
        f"with Newcombe's; {METHOD} minus it: paired by game, with the bootstrap's, over games. Dead: the share of "
        "steps whose exploratory reward tells nobody apart within groups.",
        "",
    ]
    return "\n".join(parts)


def _cells(measured: Mapping[str, Any], compared: Mapping[str, Any] | None) -> list[str]:
    share, start = measured["pooled"], measured.get("minus_start")
    return [
        _pm(measured["success"], 1, 100),
        f"{100 * share['low']:.1f}–{100 * share['high']:.1f} (n = {share['n']})",
        "" if start is None else _difference(start),
        "" if compared is None else _difference(compared["differences"]["success"]),
        _pm(measured["exploration_degree"], 3),
        _pm(measured["steps"], 1),
        _pm(measured["format_rate"], 1, 100),
    ]


def _difference(value: Mapping[str, Any]) -> str:
    difference, low, high = (100 * value[name] for name in ("difference", "low", "high"))
    return f"{difference:+.1f} ({low:+.1f} to {high:+.1f})"


def _pm(spread: Mapping[str, Any], digits: int, scale: float = 1.0) -> str:
    if spread["mean"] is None:
        return "–"
    mean = f"{scale * spread['mean']:.{digits}f}"
    return mean if spread["std"] is None else f"{mean} ± {scale * spread['std']:.{digits}f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# Files and numbers


def _evaluation(folder: Path) -> Run | None:
    """A whole one: half of an evaluation would count what is missing as lost."""
    if not (folder / "run.json").exists():
        return None
    run = load_run(folder)
    return run if len(run.episodes) == len(run.planned) else None


def _training_run(folder: Path) -> TrainingRun | None:
    return load_training_run(folder) if (folder / "metrics.jsonl").exists() else None


def _spread(values: Sequence[float]) -> Numbers:
    spread = Spread.of(value for value in values if not math.isnan(value))
    return {"mean": _known(spread.mean), "std": _known(spread.std), "n": spread.n}


def _mean(values: Any) -> float:
    known = np.asarray(values)[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _known(value: float) -> float | None:
    """JSON has no NaN."""
    return value if math.isfinite(value) else None
