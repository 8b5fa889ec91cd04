"""The examples run as they stand, and do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, *arguments: str) -> str:
    """What an example prints. It may not write to stderr: a warning would be the first thing that a newcomer sees."""
    command = [sys.executable, EXAMPLES / name, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_random_agent():
    assert re.fullmatch(r"\d of 3 games won, [\d.]+ steps per game\n", run("random_agent.py", "--episodes", "3"))


def test_your_own_policy_beats_guessing():
    printed = run("your_own_policy_native.py", "--episodes", "5")
    success = {line.split()[0]: float(line.split()[2]) for line in printed.splitlines()}
    assert success["searching"] > success["random"]


def test_your_own_agent_beats_guessing():
    won = {line.split()[0]: int(line.split()[1]) for line in run("your_own_agent.py").splitlines()}
    assert won["Searching"] > won["random"]


def test_explore_schema_takes_a_step_back_and_keeps_its_memory():
    *_, rollback, last = run("explore_schema.py").strip().split("\n\n<explore>")
    assert "rollback by 'close drawer 1', state reached: True" in rollback
    assert "<memory>" not in last
    kept = re.compile(r"  memory  (.+)").findall(last)
    assert kept == re.compile(r"  memory  (.+)").findall(rollback) == ["Looked into drawer 1."]


def test_tree_search_finds_a_way():
    printed = run("tree_search_with_branch.py", "--games", "1", "--states", "2000")
    assert re.search(r"\d+ states: go to .* → take .* → go to .* → move ", printed)


def test_vector():
    printed = run("vector.py", "--envs", "64", "--steps", "5")
    assert printed.startswith("64 environments, 8 games, ready after ")


def test_own_environment_keeps_the_contract():
    assert run("own_environment.py").startswith("Stairs keeps the contract: ")


def test_hosted_environment_outlives_its_process():
    printed = run("hosted_environment.py")
    assert "The process was killed. terminated=False, truncated=True, won=False" in printed
    assert "Processes given up, by cause: {'died': 1}" in printed


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested_and_introduced(example: Path):
    assert f'"{example.name}"' in Path(__file__).read_text(encoding="utf-8")
    assert f"\n    python examples/{example.name}" in example.read_text(encoding="utf-8")
