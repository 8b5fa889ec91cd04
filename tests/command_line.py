"""Running `eapo-gym` in tests: in this process, or in one of its own."""

import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from eapo_gym.cli.app import app

ROOT = Path(__file__).parents[1]


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=input)


def run_apart(*arguments: str, input: str | None = None, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """In a process of its own, without a terminal."""
    command = [sys.executable, "-m", "eapo_gym.cli", *arguments]
    return subprocess.run(command, input=input, capture_output=True, text=True, timeout=120, cwd=cwd, check=False)
