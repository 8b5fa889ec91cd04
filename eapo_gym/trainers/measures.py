"""What is measured of a step: the definitions of `eapo_gym.bench.metrics`, on what was played to train on."""

from __future__ import annotations

import math
import resource
import sys

from eapo_gym.bench.records import OUTCOMES
from eapo_gym.trainers.batch import Batch
from eapo_gym.trainers.rollout import Collected

Metrics = dict[str, float]


def of_rollouts(collected: Collected, batch: Batch, seconds: float) -> Metrics:
    """The numbers of a step's rollouts, which took so many seconds."""
    counts = collected.counts
    found = {
        "train/success": _ratio(counts.solved, counts.attempts),
        "train/steps": _mean(counts.lengths),
        "train/episodes": float(counts.episodes),
        "explore/degree": _mean(counts.degrees),
        "explore/degree_no_loops": _mean(counts.degrees_no_loops),
        "rollback/rate": _ratio(counts.rollbacks, counts.steps),
        "rollback/held": _ratio(counts.rollbacks_held, counts.rollbacks),
        "format/rate": _ratio(counts.format_ok, counts.steps),
        "invalid/rate": _ratio(counts.invalid, counts.steps),
        "tokens/prompt": float(counts.prompt_tokens),
        "tokens/response": float(counts.response_tokens),
        "tokens_per_second/rollout": _ratio(counts.response_tokens, seconds),
        "time/env": counts.env_seconds,
        "failures/dropped": float(counts.dropped),
        "failures/retries": float(counts.retries),
        "failures/uninformative_groups": float(collected.uninformative),
        "train/visits": float(batch.depth.mean() + 1) if len(batch) else math.nan,
    }
    failed = [outcome for outcome in OUTCOMES if outcome not in ("solved", "ended", "steps")]
    return found | {f"failures/{outcome}": float(counts.outcomes[outcome]) for outcome in failed}


def of_process() -> Metrics:
    """The most memory that this process has held, in MB: a GPU's where there is one."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return {"memory/peak_mb": torch.cuda.max_memory_allocated() / 1e6}
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"memory/peak_mb": used * (1 if sys.platform == "darwin" else 1024) / 1e6}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _mean(values: list[float] | list[int]) -> float:
    """To the last bit the same, in whatever order the episodes ended."""
    return math.fsum(values) / len(values) if values else math.nan
