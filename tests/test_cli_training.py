"""`eapo-gym train`: what it says while it trains, and the one sentence that it has for each thing that cannot be."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")
yaml = pytest.importorskip("yaml")

from eapo_gym.cli.training import default_folder, said  # noqa: E402
from eapo_gym.loggers import read_metrics  # noqa: E402
from eapo_gym.trainers.config import TrainConfig, docs  # noqa: E402
from eapo_gym.trainers.presets import PRESETS  # noqa: E402
from tests.command_line import run, set_up_machine  # noqa: E402
from tests.trainers.short_runs import arguments, given, player, write_data  # noqa: E402


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    set_up_machine(monkeypatch, tmp_path)


def refused(out: Path, *more: str, **values: Any) -> str:
    """The sentence with which a run ends that cannot be."""
    result = run("train", *arguments(**values), *more, "--out", str(out), "--no-report")
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    said = [line for line in result.stderr.splitlines() if line.startswith("eapo-gym: ")]
    assert len(said) == 1, result.stderr
    assert "Traceback" not in result.output
    return said[0]


def test_a_run_from_a_file_and_arguments(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(given(algorithm="grpo", eval_tasks=1)))
    out = tmp_path / "run"
    result = run("train", "--config", str(file), "steps=1", "seed=3", "--out", str(out))
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("step ")]
    assert [line.split()[1] for line in lines] == ["0/1", "1/1"]
    assert all(word in lines[1] for word in ("solved", "reward", "format", "kl", "grad", "| eval"))
    assert f"The trained model is in {out / 'model'}" in result.stdout
    assert "of valid (95 % interval" in result.stdout
    assert (out / "report.html").is_file()
    config = json.loads((out / "config.json").read_text())["config"]
    assert (config["algorithm"], config["seed"], config["steps"]) == ("grpo", 3, 1)

    again = run("train", "--config", str(file), "steps=1", "seed=3", "--out", str(out), "--no-report")
    assert again.exit_code == 0
    assert "step" not in again.stderr
    other = run("train", "--config", str(file), "steps=1", "seed=4", "group_size=2", "--out", str(out))
    assert other.exit_code == 2
    assert "seed was 3, and is 4" in other.stderr
    assert "group_size was 4, and is 2" in other.stderr
    assert len(read_metrics(out)) == 2


def broken_model(folder: Path, **changes: Any) -> str:
    """A copy of the model with other files; None takes one away."""
    shutil.copytree(player(), folder)
    for name, change in changes.items():
        path = next(folder.glob(f"{name}.*"))
        if change is None:
            path.unlink()
        else:
            path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    return str(folder)


def test_settings_that_cannot_be(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert "Unknown setting 'grop_size'" in (said := refused(out, "grop_size=3"))
    assert "Did you mean 'group_size'?" in said
    assert "group_size: expected a whole number, got 'many'" in refused(out, "group_size=many")
    assert "Expected a setting as key=value" in refused(out, "grpo")
    assert "is not YAML" in refused(out, "agent_options={compact")
    assert "Unknown algorithm 'eapoo'" in refused(out, "algorithm=eapoo")
    file = tmp_path / "broken.yaml"
    file.write_text("steps: [1\nseed: 2")
    assert "broken.yaml is not YAML" in refused(out, "--config", str(file))
    assert "got none: add model=" in refused(out, model="")
    assert not out.exists()


def test_environments_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    assert "Nothing" in refused(out, env="eapo/Nothing-v0")
    assert "tests.toys has no 'Nothing'" in refused(out, env="tests.toys:Nothing")
    assert "nowhere cannot be imported" in refused(out, env="nowhere:Nothing")
    assert "Unknown argument of tests.toys:Corridor 'doors': expected one of 'rooms'" in refused(
        out, env_kwargs={"doors": 3}
    )
    alfworld: dict[str, Any] = {"env": "eapo/ALFWorld-v0", "env_kwargs": {}, "max_tasks": 2}
    assert "Unknown split" in refused(out, split="nowhere", **alfworld)
    assert "Unknown split" in refused(out, eval_split="nowhere", **alfworld)


def test_models_that_cannot_be_trained(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert "There is no folder" in refused(out, model=str(tmp_path / "nowhere" / "model"))
    mute = broken_model(tmp_path / "mute", chat_template=None)
    assert "has no chat template" in refused(out, model=mute)
    normalizer = {"normalizer": {"type": "Replace", "pattern": {"String": "}"}, "content": ""}}
    kind = {"tokenizer_class": "PreTrainedTokenizerFast"}
    lossy = broken_model(tmp_path / "lossy", tokenizer=normalizer, tokenizer_config=kind)
    assert "does not give back a response that it has encoded" in refused(out, model=lossy)
    assert "lora_targets: Qwen3ForCausalLM takes no adapters in 'nose'" in refused(out, lora_targets="nose")


def test_options_that_are_not_there(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert "Unknown option of the agent 'eapo' 'compcat'" in refused(out, agent_options={"compcat": True})
    for sampler in ("shared", "transformers"):
        said = refused(out, engine_options={"max_bath": 4}, sampler=sampler)
        assert "Unknown option of the engine 'transformers' 'max_bath'" in said
    # What could not begin is not in the way of what can.
    assert run("train", *arguments(steps=1, eval_every=0), "--out", str(out), "--no-report").exit_code == 0


def test_a_prompt_that_is_longer_than_the_window(tmp_path: Path) -> None:
    sentence = refused(tmp_path / "run", agent_options={}, eval_every=0)
    assert "All 8 episodes of step 1 failed" in sentence
    assert "PromptTooLong" in sentence
    assert "use the compact prompt" in sentence


def test_data_that_is_not_there(tmp_path: Path) -> None:
    assert "There is no nowhere.jsonl" in refused(tmp_path / "run", sft_data=["nowhere.jsonl"])
    text = tmp_path / "text.jsonl"
    text.write_text("Once upon a time\n")
    assert "text.jsonl" in refused(tmp_path / "run", sft_data=[str(text)])


def test_data_that_is_too_long_and_then_is_not(tmp_path: Path) -> None:
    data, out = write_data(tmp_path), tmp_path / "run"
    tuned: dict[str, Any] = {"sft_data": [data], "sft_batch": 24, "eval_every": 0, "steps": 1}
    said = refused(out, max_tokens=8, **tuned)
    assert "None of 48 examples can be trained on. 48 have a target that is longer than max_tokens (it is 8, " in said
    assert "window" not in said
    result = run("train", *arguments(**tuned), "--out", str(out), "--no-report")
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith(("fine-tuned", "step "))]
    assert re.fullmatch(r"fine-tuned, 2 updates  loss \d+\.\d{3}", lines[0])
    assert [line.split()[1] for line in lines[1:]] == ["0/1", "1/1"]


def test_every_setting_and_every_preset_is_listed() -> None:
    result = run("train", "--help-config")
    assert result.exit_code == 0
    for name in docs():
        assert name in result.stdout
    for name in PRESETS:
        assert f"  {name} " in result.stdout


def test_a_run_without_a_folder_has_a_name_that_is_found_again() -> None:
    config = TrainConfig.make(algorithm="grpo", seed=2)
    assert default_folder(config) == Path("runs/ALFWorld-v0-grpo-seed2")
    assert default_folder(TrainConfig.make(env="../my env.py:Env")) == Path("runs/my-env.py-Env-eapo-seed0")


def test_a_line_has_what_was_measured() -> None:
    line = said({"train/success": 0.5, "q/auc_lift": math.nan, "policy/kl": 0.0123, "something/else": 1.0})
    assert line == "solved 50%  kl 0.012"
