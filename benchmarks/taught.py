"""A tiny model that writes in tag form, for benchmarks that are of no meaning with one that babbles."""

from __future__ import annotations

import asyncio
from pathlib import Path

from eapo_gym.engines.tiny import make_tiny
from eapo_gym.trainers.collecting import Walks
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.demonstrations import Demonstrations, collect_demonstrations
from eapo_gym.trainers.examples import Example
from eapo_gym.trainers.sft import sft

_RATE = 3e-3
"""Of a fine-tuning that begins with random weights."""


def demonstrations(folder: str | Path, tasks: int) -> list[Example]:
    """What ALFWorld's explorer saw and wrote, in few words."""
    shown = Demonstrations(agent="explorer", think=False, brief=True, agent_options={"use_valid_actions": False})
    return asyncio.run(collect_demonstrations(shown, Walks(max_tasks=tasks, parallel=32), folder)).examples


def teach(folder: Path, size: str, updates: int, *, context: int = 1024) -> str:
    """The folder of a model of this size after so many updates on demonstrations."""
    start = make_tiny(folder / "start", "qwen3", size, compact=True, context=context)
    config = TrainConfig.make(
        model=str(start),
        tuning="full",
        sft_learning_rate=_RATE,
        schedule="cosine",
        warmup=min(10, updates - 1),
        sft_epochs=1000.0,
        sft_max_steps=updates,
        sft_batch=32,
        sft_held_out=0.0,
        max_tokens=128,
        agent_options={"compact": True},
        save_every=1_000_000,
    )
    return str(sft(config, demonstrations(folder / "shown", max(20, 2 * updates)), folder / "sft").model)
