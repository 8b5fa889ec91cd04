"""A model is trained from nothing, on a CPU: what `eapo-gym demo` does.

A model that knows no word is shown a little of what an expert does (fine-tuning). The expert knows its job and does not
trust itself: every other time that it knows what to do, it explores all the same. So the model learns how to explore
and how to act, but not when, and fails at most games. Then it plays by itself, and is trained on what comes of it
(EAPO). It is measured before, between and after, on the same games, none of which it was trained on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eapo_gym.bench.evaluate import Evaluation
from eapo_gym.cli.terminal import console, plain
from eapo_gym.registration import ALFWORLD

if TYPE_CHECKING:
    from eapo_gym.trainers.config import TrainConfig

STAGES = ("untrained", "fine-tuned", "after EAPO")

SETTINGS: Mapping[str, Any] = {
    "env": ALFWORLD,
    "env_kwargs": {
        "task_types": ["pick_and_place_simple", "pick_clean_then_place_in_recep"],
        "rooms": ["bathroom"],
        "difficulty": "toy",
    },
    "agent_options": {"compact": True},
    "max_steps": 20,
    "max_tokens": 96,
    "tuning": "full",
    "microbatch_tokens": 4096,
    "eval_every": 0,
    "save_every": 5,
    # the fine-tuning
    "sft_batch": 8,
    "sft_epochs": 1000,
    "sft_learning_rate": 2e-3,
    "sft_held_out": 0.02,
    # the reinforcement learning
    "algorithm": "eapo",
    "minibatches": 4,
    "parallel": 128,
    "max_idle": 3,
    "singleton": "zero",
    "kl_weight": 0.03,
    "learning_rate": 5e-4,
    "q_learning_rate": 1e-3,
}
"""What the small model is trained with."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    model: str = "0.3m"
    games: int = 6000
    """Made for training. One in nine is in a bathroom: the expert shows those, and the model plays them later."""

    rollbacks: int = 100
    """Of these games are walked through for pairs that undo."""

    updates: int = 1000
    """Of the fine-tuning."""

    steps: int = 18
    """Of the reinforcement learning."""

    tasks: int = 16
    """Games in one of them."""

    members: int = 8
    """How often each is played."""


HELD_OUT = 1500
"""Games made for evaluation, of which again one in nine is in a bathroom."""

DOUBT, NOISE = 0.5, 0.2
"""Of the expert: how often it explores when it need not, and how often something goes wrong, which it mends."""


def learn(out: Path, seed: int, size: Size) -> dict[str, str]:
    """Make, fine-tune and train a model in `out`, going on where it was broken off; the model of each stage."""
    import torch

    from eapo_gym.cli.models import training_texts
    from eapo_gym.engines.tiny import make_tiny
    from eapo_gym.trainers.config import TrainConfig

    # So small are its tensors that threads wait for each other longer than they work: rollouts take twice as long.
    torch.set_num_threads(1)
    played = {**SETTINGS["env_kwargs"], "games": size.games}
    base = TrainConfig.make(
        **{**SETTINGS, "env_kwargs": played}, tasks_per_step=size.tasks, group_size=size.members, seed=seed
    )
    with _stage(f"A transformer with {size.model} parameters that knows no word"):
        model = make_tiny(
            out / "tiny-qwen3", "qwen3", size.model, texts=training_texts(ALFWORLD), compact=True, context=1024
        )
    with _stage(f"An expert shows games, and {size.rollbacks} are walked through and back"):
        data = asyncio.run(_collect(out / "data", size))
    with _stage(f"Fine-tuning, {size.updates} updates"):
        tuned = _fine_tune(replace(base, model=str(model), sft_max_steps=size.updates), data, out / "sft")
    with _stage(f"EAPO, {size.steps} steps of {size.tasks} games played {size.members} times each"):
        trained = _train(replace(base, model=tuned, steps=size.steps), out / "eapo")
    return dict(zip(STAGES, (str(model), tuned, trained), strict=True))


def evaluation_of(seed: int, games: int) -> Evaluation:
    """How each stage is measured: as it samples in training, on games that are held out."""
    from eapo_gym.engines.base import Sampling

    return Evaluation(
        env=ALFWORLD,
        env_kwargs={**SETTINGS["env_kwargs"], "games": HELD_OUT},
        split="valid",
        agent="eapo",
        agent_options={"compact": True},
        sampling=Sampling(max_tokens=SETTINGS["max_tokens"]),
        seeds=(seed,),
        max_tasks=games,
        max_steps=SETTINGS["max_steps"],
        parallel=SETTINGS["parallel"],
    )


async def _collect(out: Path, size: Size) -> list[Path]:
    from eapo_gym.trainers.collecting import Walks
    from eapo_gym.trainers.demonstrations import Demonstrations, collect_demonstrations
    from eapo_gym.trainers.rollback import Rollbacks, collect_rollbacks

    steps, played = SETTINGS["max_steps"], {**SETTINGS["env_kwargs"], "games": size.games}
    shown = await collect_demonstrations(
        Demonstrations(
            agent="explorer",
            agent_options={"use_valid_actions": False},
            think=False,
            brief=True,
            doubt=DOUBT,
            noise=NOISE,
        ),
        Walks(env_kwargs=played, max_steps=2 * steps, parallel=32),
        out / "demonstrations",
    )
    undone = await collect_rollbacks(
        Rollbacks(walker="random", think=False, entry=80),
        Walks(env_kwargs=played, max_tasks=size.rollbacks, max_steps=8, parallel=32),
        out / "rollbacks",
    )
    return [shown.path, undone.path]


def _fine_tune(config: TrainConfig, data: list[Path], out: Path) -> str:
    from eapo_gym.cli.training_data import tuning
    from eapo_gym.trainers.sft import sft

    config = replace(config, schedule="cosine", warmup=40, weight_decay=0.01, beta2=0.95, save_every=500)
    with tuning() as tell:
        return str(sft(config, data, out, on_progress=tell).model)


def _train(config: TrainConfig, out: Path) -> str:
    from eapo_gym.cli.training import Watch
    from eapo_gym.trainers.train import train

    with Watch(config.steps) as watch:
        return str(train(config, out, on_progress=watch).model)


@contextmanager
def _stage(title: str) -> Iterator[None]:
    """Say what begins, and how long it took."""
    say, begin = console(), time.perf_counter()
    say.print(plain(title, style="bold"), soft_wrap=True)
    yield
    say.print(plain(f"  {time.perf_counter() - begin:.0f} s", style="dim"))
