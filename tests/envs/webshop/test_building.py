"""From the benchmark's files to an environment that plays them, by the command."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest
from typer.testing import CliRunner

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.cli.app import app
from eapo_gym.envs.webshop.needs import needs
from tests.envs.webshop.small_catalogue import write_files


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("WEBSHOP_DATA", str(folder))
    return folder


def official() -> bool:
    return next(need.ok for need in needs() if need.name == "official catalogue")


def test_the_command_builds_what_the_official_source_opens(tmp_path: Path, data: Path) -> None:
    assert not official()
    write_files(tmp_path)
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "60 products" in result.output
    assert "left out, as in the benchmark: 3 (1 were there already)" in result.output
    assert official()
    env = gym.make("eapo/WebShop-v0", source="official", schema="native")
    _, info = env.reset(seed=0)
    assert info["source"] == "official"
    assert info["catalogue"].startswith("official, items_shuffle_small.json")
    found, _, _, _, info = env.step("search[lamp]")
    assert "Page 1" in found["state"]
    assert not info["invalid_action"]


def test_a_folder_without_the_files_is_one_sentence(tmp_path: Path, data: Path) -> None:
    result = CliRunner().invoke(app, ["data", "webshop", "--from", str(tmp_path)])
    assert result.exit_code != 0
    assert "name the folder that has the benchmark's files" in " ".join(result.output.split())
