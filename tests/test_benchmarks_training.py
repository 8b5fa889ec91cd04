"""The benchmarks of a training step and of log-probs: what they make of their numbers, and all of it at toy size."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

for package in ("torch", "transformers", "peft"):
    pytest.importorskip(package)

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts import each other from where they stand."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def said(script: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), "--dry", "--device", "cpu", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def step(seconds: float, **more: float) -> dict[str, float]:
    numbers = {
        "rollout": seconds / 2,
        "update": seconds / 4,
        "env_steps": 10.0,
        "format_rate": 1.0,
        "transitions": 10.0,
    }
    return {"step": seconds, **numbers, "response_tokens": 100.0, "tokens": 400.0, **more}


def test_ratios_are_within_steps() -> None:
    """A machine that is slow for one step is slow for all who take it then."""
    from training_step import summarise

    base, factors = [1.0, 10.0, 2.0, 1.0, 5.0], [1.2, 1.3, 1.25, 1.3, 1.2]
    found = {
        "grpo": [step(seconds) for seconds in base],
        "gigpo": [step(seconds) for seconds in base],
        "eapo": [step(seconds * factor, q_score=0.1) for seconds, factor in zip(base, factors, strict=True)],
    }
    summary = summarise(found)
    assert summary["step_over_grpo"] == pytest.approx({"grpo": 1.0, "gigpo": 1.0, "eapo": 1.25})
    assert summary["seconds"]["grpo"]["step"] == 2.0
    assert (summary["seconds"]["grpo"]["q_score"], summary["seconds"]["eapo"]["q_score"]) == (0.0, 0.1)
    assert summary["rates"]["grpo"]["update_tokens_per_second"] == pytest.approx(400 / (2.0 / 4))
    assert summary["same_episodes"]
    found["eapo"][0]["tokens"] += 1
    assert not summarise(found)["same_episodes"]


def test_trainer_and_plain_loop_agree(tmp_path: Path) -> None:
    """With full weights and with adapters: log-probs, and the norm of the gradient."""
    from log_probs import Ours, Plain, differences, make_alike

    from eapo_gym.trainers.config import TrainConfig
    from eapo_gym.trainers.logprobs import Row
    from tests.engines.tiny_models import tiny_model

    dice = np.random.default_rng(0)
    rows = [
        Row(tuple(dice.integers(5, 90, dice.integers(3, 30)).tolist()), (tuple(dice.integers(5, 90, size).tolist()),))
        for size in (1, 7, 12, 3, 9, 30)
    ]
    advantages = dice.normal(size=len(rows))
    model = str(tiny_model("qwen3", "0.1m", compact=True))
    for tuning in ("full", "lora"):
        config = TrainConfig.make(
            model=model, tuning=tuning, lora_rank=4, lora_alpha=8, learning_rate=1e-6, microbatch_tokens=64
        )
        ours, plain = Ours(config, rows, advantages), Plain(config, rows, advantages, 2)
        make_alike(ours.model, [plain.model])
        for each in (ours, plain):
            each.begin()
        assert differences({"ours": ours, "plain": plain})["ours"] < 1e-4
        assert ours.update() == pytest.approx(plain.update(), rel=1e-3)


def test_a_difference_is_found() -> None:
    """The check that the benchmark makes of itself sees a log-prob that is not the same."""
    from log_probs import differences

    class Fixed(argparse.Namespace):
        def score(self) -> list[np.ndarray]:
            return list(self.old)

    plain = Fixed(old=[np.array([-1.0, -2.0]), np.array([-3.0])])
    other = Fixed(old=[np.array([-1.0, -2.0]), np.array([-3.5])])
    assert differences({"plain": plain, "ours": other}) == {"ours": 0.5}


@pytest.mark.slow
def test_a_training_step_at_toy_size() -> None:
    out = said(
        "training_step.py",
        *("--size", "0.2m", "--teach", "3", "--steps", "2", "--tasks", "1", "--group", "2", "--max-steps", "3"),
        *("--max-tokens", "40", "--memory-size", "1m", "--memory-rows", "6"),
    )
    for part in ("rollout", "q_score", "q_train", "grouping", "logprobs", "update", "sync", "of which env"):
        assert part in out
    assert re.search(r"EAPO / GRPO, a step: \d+\.\d\d", out)
    assert re.search(r"peak memory with LoRA on 1m: \d+\.\d\d", out)
    assert "did not play the same episodes" not in out


@pytest.mark.slow
def test_log_probs_at_toy_size() -> None:
    out = said("log_probs.py", "--size", "0.2m", "--rows", "8", "--repeats", "1", "--microbatch-tokens", "1000")
    assert len(re.findall(r"(?:full|lora)\s*│ (?:score|update)", out)) == 4
    for tuning in ("full", "lora"):
        found = re.search(
            rf"{tuning}: the largest difference of a log-prob from the plain loop's: ours (\S+?),?\s", out
        )
        assert found is not None
        assert float(found[1]) < 1e-4
