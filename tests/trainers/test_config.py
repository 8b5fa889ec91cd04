"""The configuration: presets, files, arguments, and what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="PyYAML reads configurations: pip install 'eapo-gym[train]'")

from eapo_gym.errors import UnknownName
from eapo_gym.trainers.config import BadConfig, TrainConfig, docs
from eapo_gym.trainers.presets import PRESETS


def test_every_setting_is_documented_with_one_line() -> None:
    assert docs().keys() == {item.name for item in fields(TrainConfig)}
    assert all(text.endswith(".") and len(text) < 150 for text in docs().values())


def test_the_file_beats_the_preset_and_arguments_beat_the_file(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("algorithm: grpo\nseed: 3\nkl_weight: 0.5\nagent_options: {compact: true}\n")
    config = TrainConfig.load(file, ["seed=4", "learning_rate=3e-4"])
    assert (config.grouping, config.explore_reward) == ("trajectory", "none"), "the preset's"
    assert (config.kl_weight, config.agent_options) == (0.5, {"compact": True}), "the file's"
    assert (config.seed, config.learning_rate) == (4, 3e-4), "the arguments'"
    assert TrainConfig.load(file, ["algorithm=gigpo"]).grouping == "gigpo"


def test_one_entry_of_a_mapping_leaves_the_others_as_the_file_has_them(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("env_kwargs: {difficulty: toy, games: 12000}\nmodel: m\n")
    config = TrainConfig.load(file, ["env_kwargs.games=10", "env_kwargs.rooms=kitchen"])
    assert config.env_kwargs == {"difficulty": "toy", "games": 10, "rooms": "kitchen"}
    assert TrainConfig.load(file, ["env_kwargs={games: 10}"]).env_kwargs == {"games": 10}
    with pytest.raises(BadConfig, match=r"model\.x: expected model to be a mapping, and it is 'm'"):
        TrainConfig.load(file, ["model.x=1"])


def test_vllm_tells_log_probs_at_temperature_1_alone() -> None:
    assert TrainConfig.make(sampler="vllm").temperature == 1
    with pytest.raises(BadConfig, match="temperature: expected 1 with sampler=vllm"):
        TrainConfig.make(sampler="vllm", temperature=0.7)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("sft_data=[a.jsonl, b.jsonl]", "sft_data", ("a.jsonl", "b.jsonl")),
        ("sft_data=a.jsonl", "sft_data", ("a.jsonl",)),
        ("max_tasks=null", "max_tasks", None),
        ("dynamic_sampling=true", "dynamic_sampling", True),
        ("agent_options={compact: true}", "agent_options", {"compact": True}),
        ("agent_options.compact=true", "agent_options", {"compact": True}),
        ("gamma_task=1", "gamma_task", 1.0),
        ("model=", "model", ""),
        ("episode_timeout=5", "episode_timeout", 5.0),
        ("eval_temperature=0", "eval_temperature", 0.0),
        ("response_timeout=null", "response_timeout", None),
    ],
)
def test_arguments_are_yaml(text: str, name: str, value: Any) -> None:
    found = getattr(TrainConfig.load(None, [text]), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group_sise=4", "Did you mean 'group_size'"),
        ("algorithm=eapo-papr", "Did you mean 'eapo-paper'"),
        ("seed", "key=value"),
        ("seed=x", "seed: expected a whole number, got 'x'"),
        ("seed=1.5", "seed: expected a whole number"),
        ("seed=true", "seed: expected a whole number"),
        ("grouping=stat", "grouping: expected one of state_depth"),
        ("learning_rate=fast", "learning_rate: expected a number or null"),
        ("learning_rate=-1", "learning_rate: expected a number above 0"),
        ("group_size=1", "nothing to be compared with"),
        ("gamma_task=1.1", "a discount from 0 to 1"),
        ("temperature=0", "temperature"),
        ("agent_options=[1]", "agent_options: expected a mapping"),
        ("sft_data=[1]", "a list of texts"),
        ("overlong_buffer=5000", "less than max_tokens"),
        ("kl_weight=.nan", "kl_weight"),
        ("learning_rate=.inf", "learning_rate: expected a number or null, got inf"),
        ("grad_clip=-.inf", "grad_clip: expected a number, got -inf"),
        ("q_beta=" + "9" * 400, "q_beta: expected a number, got 999"),
        ("temperature=1e-9", "temperature: expected a number from 0.0001 on, got 1e-09"),
        ("eval_temperature=-1", "a number from 0.0001 on, or null; got -1.0."),
        ("eval_temperature=1e-9", "eval_temperature: expected 0 (the likeliest token), a number from 0.0001 on"),
        ("episode_timeout=0", "episode_timeout: expected a number above 0 or null"),
        ("response_timeout=-5", "response_timeout: expected a number above 0 or null, got -5"),
        ("step_timeout=0", "step_timeout: expected a number above 0 or null"),
        ("env={", "env: '{' is not YAML"),
    ],
)
def test_what_cannot_be_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises((BadConfig, UnknownName)) as found:
        TrainConfig.load(None, [text])
    assert said in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [("- 1", "got list"), ("a: [", "is not YAML"), ("sed: 1", "Did you mean 'seed'"), (b"\xff\xfe", "is not YAML")],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, content: str | bytes, said: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises((BadConfig, UnknownName), match=said):
        TrainConfig.load(file)
    with pytest.raises(BadConfig, match="no such file"):
        TrainConfig.load(tmp_path / "none.yaml")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_made_and_written(name: str) -> None:
    config = TrainConfig.make(algorithm=name, model="m")
    assert TrainConfig.make(**config.to_json()) == config
    for setting, value in PRESETS[name].items():
        assert getattr(config, setting) == value


def test_the_presets_differ_as_their_names_say() -> None:
    eapo = TrainConfig.make(algorithm="eapo").to_json()

    def changes(name: str) -> dict[str, Any]:
        other = TrainConfig.make(algorithm=name).to_json()
        return {key: other[key] for key in other if other[key] != eapo[key] and key != "algorithm"}

    assert changes("eapo-no-explore") == {"explore_reward": "none"}
    assert changes("eapo-no-grouping") == {"grouping": "state"}
    assert changes("eapo-no-format") == {"format_weight": 0.0}
    assert changes("eapo-no-sft") == {"rollback_sft": False}
    assert changes("eapo-online") == {"explore_reward": "online"}
    for name in ("grpo", "dapo", "gigpo", "lamer"):
        assert TrainConfig.make(algorithm=name).format_weight == eapo["format_weight"], "every arm has it"
