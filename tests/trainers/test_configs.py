"""The configurations in `configs`: each of them can be run, as far as that can be told without a model."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="PyYAML reads training configurations (extra train)")

from eapo_gym.bench.setting import open_env, select_tasks
from eapo_gym.trainers.config import TrainConfig, read_yaml
from eapo_gym.trainers.presets import PRESETS

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
EVERY_CONFIG = pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)


def test_there_are_some():
    assert {"alfworld_eapo.yaml", "webshop_eapo.yaml"} <= {path.name for path in CONFIGS}


@EVERY_CONFIG
def test_what_it_says_is_what_is_run(path):
    config = TrainConfig.load(path)
    written = read_yaml(path)
    loaded = config.to_json()
    for name, value in written.items():
        # YAML takes 1e-4 for a text.
        assert loaded[name] == (float(value) if isinstance(loaded[name], float) else value), name


@EVERY_CONFIG
@pytest.mark.parametrize("algorithm", PRESETS)
def test_every_algorithm_can_be_run_from_it(path, algorithm):
    """What tells the algorithms apart is theirs: a file that settles it would make them all the same."""
    config = TrainConfig.load(path, [f"algorithm={algorithm}"])
    for name, value in PRESETS[algorithm].items():
        assert getattr(config, name) == value, name


@EVERY_CONFIG
def test_its_environment_has_tasks_to_train_and_to_evaluate_on(path):
    config = TrainConfig.load(path)
    rollback = None if config.rollback == "none" else config.rollback
    for split, most in ((config.split, config.max_tasks), (config.eval_split, config.eval_tasks)):
        kwargs = {"split": split, **config.env_kwargs}
        env = open_env(config.env, kwargs, rollback=rollback, max_steps=config.max_steps)
        assert select_tasks(env.unwrapped.tasks(), None, most)
        env.close()


@pytest.mark.parametrize("name", ["alfworld_eapo.yaml", "webshop_eapo.yaml"])
def test_the_real_ones_have_the_values_of_the_method(name: str):
    """But for what is played, and what makes it fit on a machine, each of them is the preset."""
    config = TrainConfig.load(Path(__file__).parents[2] / "configs" / name)
    machine = {"model", "parallel", "precision", "gradient_checkpointing", "learning_rate"}
    played = {"env", "max_steps", "eval_split", "eval_tasks"} if name.startswith("webshop") else set()
    assert config.model
    usual = asdict(TrainConfig.make(algorithm="eapo"))
    other = {item.name for item in fields(config) if getattr(config, item.name) != usual[item.name]}
    assert other <= machine | played
    assert config.policy_rate == TrainConfig().policy_rate
