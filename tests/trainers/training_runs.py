"""Folders of training runs that never were: their metrics are drawn from curves, with noise."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.bench.statistics import wilson
from eapo_gym.trainers.config import TrainConfig

_SIZES = ("1", "2", "3_4", "5_8", "9_16", "17_up")
_TIMES = {"rollout": 14.0, "env": 1.2, "logprobs": 2.0, "update": 6.0, "grouping": 0.05, "sync": 0.3}


def write_run(
    folder: Path,
    *,
    steps: int = 60,
    eval_every: int = 10,
    eval_tasks: int = 64,
    speed: float = 1.0,
    metrics: bool = True,
    **settings: Any,
) -> Path:
    """A run that learns at some speed, with the metrics that its algorithm has."""
    config = TrainConfig.make(model="models/sft", steps=steps, eval_every=eval_every, **settings)
    folder.mkdir(parents=True)
    record = {"config": config.to_json(), "versions": {"eapo_gym": "0.1.0", "torch": "2.13.0"}, "begun": "2026-11-01"}
    (folder / "config.json").write_text(json.dumps(record))
    if metrics:
        rows = learning(config, steps, eval_every, eval_tasks, speed)
        write_rows(folder, rows)
    return folder


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    lines = [
        json.dumps({k: v if not isinstance(v, float) or math.isfinite(v) else str(v) for k, v in row.items()})
        for row in rows
    ]
    (folder / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))


def learning(config: TrainConfig, steps: int, eval_every: int, eval_tasks: int, speed: float) -> list[dict[str, Any]]:
    rng = np.random.default_rng([config.seed, round(1000 * speed)])
    explores = config.explore_reward == "q_phi"
    rows: list[dict[str, Any]] = []
    env_steps = 0
    for step in range(1, steps + 1):
        learned = 1 - math.exp(-speed * 2.5 * step / max(steps, 20))
        noise = rng.normal(size=40)
        success = float(np.clip(0.3 + 0.45 * learned + 0.06 * noise[0], 0, 1))
        length = 30 - 12 * learned + noise[1]
        env_steps += round(64 * length)
        sizes = np.exp(np.array([1.5, 1.0, 0.8, 0.6, 0.3, -0.2]) + learned * np.array([-0.7, 0, 0.3, 0.5, 0.5, 0.2]))
        sizes /= sizes.sum()
        times = {**_TIMES, **({"q_train": 3.0, "q_score": 1.4} if explores else {})}
        seconds = {name: value * (1.1 - 0.3 * learned) * math.exp(0.05 * noise[3]) for name, value in times.items()}
        row: dict[str, Any] = {
            "step": step,
            "env_steps": env_steps,
            "train/success": success,
            "train/steps": length,
            "train/episodes": 64,
            "reward/task": success * 0.6,
            "reward/format": 0.9 + 0.08 * learned + 0.01 * noise[4],
            "reward/explore": 0.5 + 0.2 * learned + 0.03 * noise[5] if explores else math.nan,
            "reward_variance/task": 0.05 * (1 - learned) + 0.02 + 0.004 * noise[6] ** 2,
            "reward_variance/format": 0.02 * (1 - learned) + 0.001 * noise[7] ** 2,
            "explore/degree": 0.2 + 0.15 * learned * (1 if explores else 0.3) + 0.02 * noise[8],
            "explore/degree_no_loops": 0.12 + 0.14 * learned * (1 if explores else 0.3) + 0.02 * noise[9],
            "group/size_mean": 3 + 3 * learned,
            "group/singletons": float(sizes[0]),
            **{f"group/size_{name}": float(size) for name, size in zip(_SIZES, sizes, strict=True)},
            "rollback/rate": 0.04 * learned + 0.005 * abs(noise[10]),
            "rollback/held": math.nan if step % 7 == 0 else 0.93,
            "format/rate": 0.9 + 0.08 * learned,
            "invalid/rate": 0.12 - 0.08 * learned + 0.01 * noise[11],
            "policy/kl": 0.02 * learned * step**0.3 + 0.001 * abs(noise[12]),
            "policy/clip_share": 0.02 + 0.01 * abs(noise[13]),
            "policy/grad_norm": 0.6 + 0.1 * noise[14],
            "policy/loss": 0.01 * noise[15],
            "policy/entropy": 1.2 - 0.5 * learned,
            "policy/learning_rate": 1e-4,
            **{f"time/{name}": value for name, value in seconds.items()},
            "time/step": sum(seconds.values()),
            "tokens_per_second/rollout": 900 + 30 * noise[16],
            "tokens_per_second/update": 4200 + 90 * noise[17],
            "failures/infrastructure": 0,
            "failures/timeout": int(noise[18] > 2),
            "memory/peak_mb": 2200 + 10 * noise[19],
        }
        row["reward/total"] = (
            row["reward/task"] + 0.5 * row["reward/format"] + (row["reward/explore"] if explores else 0)
        )
        if explores:
            row |= {
                "reward_variance/explore": 0.01 + 0.003 * noise[20] ** 2,
                "q/loss": 0.7 - 0.2 * learned + 0.03 * noise[21],
                "q/kl": 0.3 * learned,
                "q/auc": 0.5 + 0.2 * learned + 0.02 * noise[22],
                "q/auc_lift": 0.5 + 0.25 * learned + 0.02 * noise[23],
                "density/lift": 0.5 + 0.1 * learned,
                "density/sequence": 1e-9,
                "density/token_mean": 0.4,
                "density/log_prob": -1.2,
            }
        if eval_every and step % eval_every == 0:
            solved = int(rng.binomial(eval_tasks, min(0.28 + 0.45 * learned, 1)))
            low, high = wilson(solved, eval_tasks)
            row |= {
                "eval/success": solved / eval_tasks,
                "eval/low": low,
                "eval/high": high,
                "eval/steps": length + 2,
                "eval/degree": row["explore/degree"],
                "eval/degree_no_loops": row["explore/degree_no_loops"],
                "eval/format_rate": 0.97,
                "eval/invalid_rate": 0.05,
                "time/eval": 20.0,
            }
        rows.append(row)
    return rows
