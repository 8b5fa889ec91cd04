"""Running `eapo-gym` in tests: in this process, or in one of its own."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eapo_gym.cli.app import app

ROOT = Path(__file__).parents[1]


def set_up_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the benchmark's data or another interpreter, and with a wide terminal."""
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("EAPO_REFERENCE_PYTHON", raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=input)


def run_apart(*arguments: str, input: str | None = None, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """In a process of its own, without a terminal."""
    command = [sys.executable, "-m", "eapo_gym.cli", *arguments]
    return subprocess.run(command, input=input, capture_output=True, text=True, timeout=120, cwd=cwd, check=False)
