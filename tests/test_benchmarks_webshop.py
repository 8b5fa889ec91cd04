"""The benchmark of WebShop's speed at toy size: all of it runs, and what it says is what the docs show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.envs.webshop.original import ENGINE, real_files

ROOT = Path(__file__).parent.parent


def run(results: Path, *arguments: str, **variables: str) -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "benchmarks/webshop.py"), "--sessions", "10", "--queries", "40"]
    env = {name: value for name, value in os.environ.items() if name != ENGINE}
    done = subprocess.run(
        [*command, "--results", str(results), *arguments], capture_output=True, text=True, env=env | variables
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads((results / "webshop.json").read_text(encoding="utf-8"))["result"]
    return result | {"said": done.stdout}


def test_a_full_catalogue_is_built_once_and_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("--catalogue", str(tmp_path / "none"), "--full", str(tmp_path / "full"), "--processes", "2")
    result = run(tmp_path, *arguments, "--products", "300")
    assert list(result["small"]) == ["embedded"]
    assert result["small"]["embedded"]["steps"] > 20
    assert result["full"]["build"]["products"] == 300
    assert result["full"]["queries"] > 20
    assert result["full"]["memory_of_the_largest"]["private_mb"] > 1
    assert "building" in result["said"]
    again = run(tmp_path, *arguments, "--products", "300")
    assert again["full"]["build"] == result["full"]["build"]
    assert "building" not in again["said"]

    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from measured import webshop

    table = webshop(again)
    assert "| embedded |" in table
    assert "| 300 products |" in table
    assert "opening both in a new process" in table


@pytest.mark.skipif(ENGINE not in os.environ, reason=f"the original is not here: let {ENGINE} name a checkout of it")
def test_the_original_shows_the_same_pages(tmp_path: Path) -> None:
    arguments = ("--catalogue", str(real_files().products.parent), "--beside", "3")
    result = run(tmp_path, *arguments, **{ENGINE: os.environ[ENGINE]})
    assert result["beside"]["steps"] > 5
    assert result["beside"]["original"]["steps_per_s"] > 0
    if result["beside"]["nouns_of_the_original"] == "spaCy":
        assert result["beside"]["pages_that_differ"] <= 1  # the receipt, where our nouns are found by rules
