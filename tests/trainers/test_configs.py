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
REAL = {
    "alfworld_eapo.yaml": set[str](),
    "webshop_eapo.yaml": {"env", "max_steps", "eval_split", "eval_tasks"},
    "androidworld_elements_eapo.yaml": {"env", "env_kwargs", "max_steps", "eval_tasks"},
    "androidworld_vision_eapo.yaml": {"env", "env_kwargs", "agent_options", "max_steps", "eval_tasks"},
}
"""Those of real models, with what is played in them."""

EVERY_CONFIG = pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)


def test_there_are_some():
    assert set(REAL) <= {path.name for path in CONFIGS}


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


@pytest.mark.parametrize("name", REAL)
def test_the_real_ones_have_the_values_of_the_method(name: str):
    """But for what is played, and what makes it fit on a machine, each of them is the preset."""
    config = TrainConfig.load(Path(__file__).parents[2] / "configs" / name)
    machine = {"model", "parallel", "precision", "gradient_checkpointing", "learning_rate"}
    assert config.model
    usual = asdict(TrainConfig.make(algorithm="eapo"))
    other = {item.name for item in fields(config) if getattr(config, item.name) != usual[item.name]}
    assert other <= machine | REAL[name]
    assert config.policy_rate == TrainConfig().policy_rate


@pytest.mark.parametrize(
    "path", [path for path in CONFIGS if path.name.startswith("androidworld")], ids=lambda p: p.name
)
def test_a_task_of_the_phone_has_its_own_budget_in_training(path: Path):
    pytest.importorskip("PIL", reason="needs Pillow (pip install 'eapo-gym[gui]')")
    config = TrainConfig.load(path)
    env = open_env(config.env, {"split": "train", **config.env_kwargs}, rollback="inverse", max_steps=config.max_steps)
    obs, info = env.reset(options={"task": "train/SystemWifiTurnOff/0"})
    assert ("marked" in obs) == ("vision" in path.name)
    steps, truncated = 0, False
    while not truncated:
        _, _, _, truncated, _ = env.step('<action> \\boxed{{"action_type": "wait"}} </action>')
        steps += 1
    assert steps == info["max_steps"] == 10
    env.close()
