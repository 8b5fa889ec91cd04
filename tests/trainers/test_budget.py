"""A run ends with the step that uses up its budget of environment steps, wherever it was broken off before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eapo_gym.loggers import read_metrics
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.runs import load_training_run
from tests.trainers import short_runs

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

PER_STEP = 2 * 4 * 5
"""The most that a step of these runs takes from the environment: tasks, members of a group, actions."""


def steps_of(folder: Path) -> list[float]:
    return [row["env_steps"] for row in read_metrics(folder)]


def test_a_run_ends_with_the_step_that_uses_up_its_budget(tmp_path: Path) -> None:
    from eapo_gym.trainers.train import train

    budget = 2 * PER_STEP + 1
    config = short_runs.settings(algorithm="grpo", steps=50, env_steps=budget, eval_every=100, tuning="full")
    result = train(config, tmp_path)
    spent = steps_of(tmp_path)
    assert spent[-1] >= budget > spent[-2]
    assert len(spent) < 50
    rows = list(read_metrics(tmp_path))
    assert "eval/success" in rows[-1], "the last step is evaluated, though it is none of the hundredth ones"
    assert (result.model / "config.json").exists()
    run = load_training_run(tmp_path)
    assert run.finished
    again = train(config, tmp_path)
    assert again.metrics["env_steps"] == spent[-1]
    assert steps_of(tmp_path) == spent, "a run that has used up its budget does nothing more"


def test_the_steps_end_a_run_that_has_budget_left(tmp_path: Path) -> None:
    from eapo_gym.trainers.train import train

    config = short_runs.settings(algorithm="grpo", steps=1, env_steps=1_000_000, eval_every=0, tuning="full")
    train(config, tmp_path)
    assert [row["step"] for row in read_metrics(tmp_path)] == [0, 1]


class Stopped(Exception):
    pass


def test_a_run_that_was_broken_off_keeps_to_its_budget(tmp_path: Path) -> None:
    from eapo_gym.trainers.train import train

    config = short_runs.settings(algorithm="grpo", steps=50, env_steps=2 * PER_STEP, eval_every=0, tuning="full")
    train(config, tmp_path / "whole")

    def stop(now: Any) -> None:
        if now.step == 2 and now.doing == "play":
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path / "broken", on_progress=stop)
    train(config, tmp_path / "broken")
    assert steps_of(tmp_path / "broken") == steps_of(tmp_path / "whole")


@pytest.mark.parametrize("budget", [0, -5])
def test_a_budget_is_a_positive_number(budget: int) -> None:
    with pytest.raises(BadConfig, match="env_steps"):
        TrainConfig.make(env_steps=budget)


def test_a_larger_budget_goes_on(tmp_path: Path) -> None:
    from eapo_gym.errors import EapoError
    from eapo_gym.trainers.train import train

    def settings(**changes: Any) -> TrainConfig:
        return short_runs.settings(algorithm="grpo", steps=50, eval_every=0, tuning="full", **changes)

    train(settings(env_steps=PER_STEP), tmp_path / "run")
    before = steps_of(tmp_path / "run")
    train(settings(env_steps=PER_STEP), tmp_path / "run")
    assert steps_of(tmp_path / "run") == before, "it was done"
    train(settings(env_steps=2 * PER_STEP), tmp_path / "run")
    train(settings(env_steps=2 * PER_STEP), tmp_path / "whole")
    assert steps_of(tmp_path / "run") == steps_of(tmp_path / "whole")
    assert len(steps_of(tmp_path / "run")) > len(before)
    train(settings(env_steps=PER_STEP, schedule="linear"), tmp_path / "scheduled")
    with pytest.raises(EapoError, match="env_steps"):
        train(settings(env_steps=2 * PER_STEP, schedule="linear"), tmp_path / "scheduled")
