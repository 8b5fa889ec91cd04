"""What the first page of a report says: what each run was, its numbers, and a row for each episode."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from eapo_gym.bench.metrics import metrics_of
from eapo_gym.bench.records import Episode
from eapo_gym.bench.report.view import as_text, finite
from eapo_gym.bench.store import Run
from eapo_gym.bench.table import row_of

_MOST_GROUPS = 60
"""More kinds of tasks or seeds than this would make a table that nobody reads."""

_LONGEST_FACT = 120


def line_of(episode: Episode, run: int) -> dict[str, Any]:
    """An episode as a line of the list, and as a point of the plots."""
    row = row_of(episode)
    steps = episode.trajectory.transitions
    return {
        "run": run,
        "task": as_text(row.task),
        "type": row.task_type or "",
        "repeat": row.repeat,
        "goal": as_text(steps[0].goal) if steps else "",
        "outcome": row.outcome,
        "error": as_text(row.error),
        "steps": row.steps,
        "states": row.distinct_states,
        "degree": row.exploration_degree,
        "invalid": row.invalid,
        "rollbacks": row.rollbacks,
        "tokens": row.response_tokens,
        "seconds": finite(row.seconds),
    }


def overview_of(run: Run, name: str) -> dict[str, Any]:
    """A run: what it was, and its numbers, which are those of `metrics.json`."""
    metrics = metrics_of(run).to_json()
    agent = _part(run.stamp, "agent")
    return {
        "name": name,
        "agent": _text(agent.get("name")) or metrics["agent"],
        "environment": _text(_part(run.stamp, "environment").get("id")),
        "sources": sorted({episode.trajectory.source for episode in run.episodes} - {""}),
        "privileged": bool(agent.get("privileged")),
        "rollback_mode": _common(run, "environment", "rollback_mode"),
        "facts": [[label, value] for label, value in _facts(run).items() if value],
        "stamp": json.dumps(run.stamp, indent=1, default=str),
        "planned": len(run.planned),
        "played": len(run.episodes),
        "by_type": _groups(metrics["success_by_type"]),
        "by_seed": _groups(metrics["success_by_seed"], "seed "),
        "metrics": metrics,
    }


def _groups(shares: Mapping[str, dict[str, Any]], prefix: str = "") -> list[dict[str, Any]]:
    """Shares that are worth to be compared; one alone is none."""
    if not 1 < len(shares) <= _MOST_GROUPS:
        return []
    return [{"name": f"{prefix}{name}", **share} for name, share in shares.items()]


def _facts(run: Run) -> dict[str, str]:
    """What two results must share to be comparable, and with what they were made."""
    environment, engine = _part(run.stamp, "environment"), _part(run.stamp, "engine")
    config, versions = _part(run.stamp, "config"), _part(run.stamp, "versions")
    sampling = _part(config, "sampling")
    return {
        "split": _common(run, "environment", "split"),
        "environment’s engine": _common(run, "environment", "engine"),
        "step limit": _text(environment.get("step_limit")),
        "rollback": _common(run, "environment", "rollback_mode") or ("none" if "rollback_mode" in environment else ""),
        "seeds": _text(config.get("seeds")),
        "model": _text(engine.get("model")),
        "engine": _text(engine.get("kind")),
        "temperature": _text(sampling.get("temperature")) if engine else "",
        "versions": ", ".join(f"{name.replace('_', '-')} {_text(value)}" for name, value in versions.items()),
    }


def _common(run: Run, part: str, name: str) -> str:
    """What the stamp says, or else what all episodes say."""
    said = _text(_part(run.stamp, part).get(name))
    values = {_text(episode.trajectory.info.get(name)) for episode in run.episodes}
    return said or (values.pop() if len(values) == 1 else "")


def _part(stamp: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = stamp.get(name)
    return part if isinstance(part, Mapping) else {}


def _text(value: object) -> str:
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return text if len(text) <= _LONGEST_FACT else text[: _LONGEST_FACT - 1] + "…"
