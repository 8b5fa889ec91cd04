"""The algorithms: which settings tell them apart. Whatever a preset does not name is as in `TrainConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NO_EXPLORATION: dict[str, Any] = {"explore_reward": "none"}

_GRPO = {**_NO_EXPLORATION, "grouping": "trajectory", "singleton": "zero", "std_floor": 1e-6}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # Baselines. All of them keep the format reward, since every arm of a comparison must have it.
    "grpo": {**_GRPO, "task_credit": "episodic"},
    "dapo": {
        **_GRPO,
        "task_credit": "episodic",
        "dynamic_sampling": True,
        "clip_high": 0.28,
        "loss_mean": "token",
        "kl_weight": 0.0,
        "overlong_buffer": None,
    },
    "gigpo": {**_GRPO, "grouping": "gigpo", "task_credit": "discounted"},
    "lamer": {**_GRPO, "grouping": "gigpo", "task_credit": "discounted", "episodes_per_trajectory": 3},
    # The method
    "eapo": {},
    "eapo-paper": {
        "task_credit": "episodic",
        "score": "input",
        "density": "token_mean",
        "std_floor": 1e-6,
        "singleton": "zero",
    },
    "eapo-release": {
        "task_credit": "episodic",
        "score": "output",
        "density": "sequence",
        "std_floor": 1e-6,
        "singleton": "raw",
        "q_baseline": "none",
        "q_clip": 0.0,
    },
    # Its ablations
    "eapo-no-explore": {"explore_reward": "none"},
    "eapo-no-grouping": {"grouping": "state"},
    "eapo-no-format": {"format_weight": 0.0},
    "eapo-no-sft": {"rollback_sft": False},
    "eapo-online": {"explore_reward": "online"},
}
"""By the name of an algorithm, what it sets."""
