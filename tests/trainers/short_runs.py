"""Training runs of a few seconds: a corridor of two rooms, and a tiny model that solves about half of its tasks.

A model that knows nothing would earn the same with all that it says, and learn nothing from it; so this one has seen
a few hundred answers of somebody who errs.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.engines import tiny, tiny_text
from eapo_gym.loggers import read_metrics
from eapo_gym.schema import Turn
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.examples import Example, write_examples
from tests import toys
from tests.engines.tiny_models import tiny_model
from tests.toys import Corridor

ROOMS = 2
ENV = "tests.toys:Corridor"
THOUGHTS = ("look around", "try the other room", "open the door")
NOTES = ("nothing yet", "the key is here", "the lamp is off", "I hold the key")

_SHELF = Path(tempfile.gettempdir()) / f"eapo-gym-tests-{os.getuid()}"
_SOURCES = b"".join(Path(source.__file__).read_bytes() for source in (tiny, tiny_text, toys))
_SOURCES += Path(__file__).read_bytes()


def examples(count: int = 400, errs: float = 0.25) -> list[Example]:
    """What somebody says who knows the way, and now and then does not take it."""
    dice = random.Random(0)
    env = Corridor(rooms=ROOMS)
    found: list[Example] = []
    while len(found) < count:
        obs, info = env.reset(seed=len(found), options={"task": dice.choice(env.tasks())})
        explore, memory, done = "", "", False
        for _ in range(6):
            if done:
                break
            action = dice.choice(env.valid_actions()) if dice.random() < errs else _right(env)
            turn = Turn(explore=dice.choice(THOUGHTS), memory=dice.choice(NOTES), action=action)
            seen = {"goal": obs["goal"], "state": obs["state"], "explore": explore, "memory": memory}
            found.append(Example(kind="demonstration", env=ENV, task=info["task"], turn=turn, **seen))
            obs, _, done, _, info = env.step(action)
            explore, memory = str(turn.explore), str(turn.memory)
    return found[:count]


def _right(env: Corridor) -> str:
    offered = env.valid_actions()
    if "unlock door" in offered or "take key" in offered:
        return "unlock door" if "unlock door" in offered else "take key"
    return "right" if "right" in offered else "left"


@cache
def blank_model() -> Path:
    """It has the words, and says anything."""
    texts = [*tiny_text.environment_texts(Corridor(rooms=ROOMS)), *THOUGHTS, *NOTES]
    return tiny_model("qwen3", "0.1m", texts=tuple(texts), vocab=512, context=512, compact=True)


@cache
def player() -> Path:
    """The folder of the model, which is made once on a machine; nobody may write to it."""
    for package in ("torch", "transformers", "peft"):
        pytest.importorskip(package)
    from eapo_gym.trainers.sft import sft

    versions = [__import__(package).__version__ for package in ("torch", "transformers")]
    folder = _SHELF / f"player-{hashlib.sha256(_SOURCES + repr(versions).encode()).hexdigest()[:16]}"
    if not folder.exists():
        draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
        config = settings(
            model=str(blank_model()), tuning="full", sft_learning_rate=5e-3, sft_batch=16, sft_epochs=6.0, max_tokens=64
        )
        result = sft(config, examples(), draft)
        try:
            result.model.rename(folder)
        except OSError:
            assert folder.exists()  # somebody else was faster
        shutil.rmtree(draft)
    return folder


def settings(**values: Any) -> TrainConfig:
    """A run of two steps, with an evaluation before and after them."""
    return TrainConfig.make(**given(**values))


def given(**values: Any) -> dict[str, Any]:
    """The same as plain values, for a file or for arguments."""
    small: dict[str, Any] = {
        "env": ENV, "env_kwargs": {"rooms": ROOMS}, "agent_options": {"compact": True}, "max_steps": 5,
        "tasks_per_step": 2, "group_size": 4, "max_tokens": 40, "steps": 2, "eval_every": 2, "save_every": 1,
        "lora_rank": 4, "lora_alpha": 8, "learning_rate": 3e-3, "microbatch_tokens": 2048, "online_rollouts": 1,
        "sft_held_out": 0.0,
    }  # fmt: skip
    model = {} if "model" in values else {"model": str(player())}
    return {**small, **model, **values}


def arguments(**values: Any) -> list[str]:
    """The same for the command line."""
    return [f"{name}={json.dumps(value)}" for name, value in given(**values).items()]


def write_data(folder: Path, count: int = 48) -> str:
    """A file to fine-tune on first."""
    path = folder / "answers.jsonl"
    write_examples(examples(count), path)
    return str(path)


# What came of a run

_CLOCKS = ("time", "time/", "tokens_per_second", "memory/")


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run, without what a clock or the machine has said; texts for what is not finite, to compare."""
    return [
        {name: repr(value) for name, value in row.items() if not name.startswith(_CLOCKS)}
        for row in read_metrics(folder)
    ]


def weights(model: Path) -> dict[str, Any]:
    """Of an exported model."""
    from safetensors.torch import load_file

    return dict(load_file(model / "model.safetensors"))


def same_weights(one: Path, other: Path) -> bool:
    """To the bit."""
    import torch

    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)
