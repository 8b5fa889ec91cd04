"""`eapo-gym models`: a model is made, looked into, and named where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eapo_gym.cli.models import models
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.engines.tiny import TinyModelError

CONSOLE = CliRunner()


def run(*words: object) -> str:
    result = CONSOLE.invoke(models, list(map(str, words)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_help_needs_nothing():
    assert "--arch" in run("tiny", "--help")
    assert "--json" in run("show", "--help")


def test_made_and_shown(tmp_path: Path):
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    folder = tmp_path / "model"
    said = run("tiny", folder, "--size", "0.3m", "--vocab", 1000, "--context", 512)
    assert "Qwen3ForCausalLM" in said
    facts = json.loads(run("show", folder, "--json"))
    assert facts["parameters"] == pytest.approx(300_000, rel=0.1)
    assert facts["vocabulary"] <= 1000
    assert (facts["context"], facts["images"], facts["thinking switch"]) == (512, False, True)
    assert facts["sample"].endswith("<|im_start|>assistant\n")
    shown = run("show", folder)
    assert "<|im_start|>user" in shown
    assert f"{facts['parameters']:,}" in shown

    assert run("tiny", folder, "--size", "0.3m", "--vocab", 1000, "--context", 512) == said
    with pytest.raises(TinyModelError, match="another kind"):
        run("tiny", folder, "--size", "0.4m")


def test_an_environment_of_ones_own(tmp_path: Path):
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    run("tiny", tmp_path / "model", "--arch", "gemma3", "--env", "tests.toys:Corridor")
    facts = json.loads(run("show", tmp_path / "model", "--json"))
    assert (facts["architecture"], facts["images"]) == ("Gemma3ForConditionalGeneration", True)
    vocabulary = json.loads((tmp_path / "model/tokenizer.json").read_text())["model"]["vocab"]
    assert "corridor" in json.dumps(list(vocabulary)).lower() or "▁lamp" in vocabulary


def test_a_model_that_is_not_there(tmp_path: Path):
    pytest.importorskip("transformers")
    with pytest.raises(EngineUnavailable, match="There is no folder"):
        run("show", tmp_path / "model")
