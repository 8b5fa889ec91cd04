"""`eapo-gym eval`, `baselines`, `compare` and `report`, as one runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from eapo_gym.bench.evaluate import Evaluation
from eapo_gym.bench.store import load_run
from eapo_gym.cli.evaluating import default_folder, target_of
from eapo_gym.loggers import read_metrics
from tests.command_line import run

ROOT = Path(__file__).parent.parent
GAMES = ("--split", "valid", "--tasks", "4", "--max-steps", "12")


def test_eval_plays_prints_and_writes_a_report(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = run("eval", "--agent", "oracle", *GAMES, "--seeds", "2", "--out", str(out))
    assert ran.exit_code == 0
    assert "generated tasks, not the benchmark's" in " ".join(ran.stdout.split())
    assert "100.0 %" in ran.stdout
    assert "8 solved" in ran.stdout
    assert len(load_run(out).episodes) == 8
    assert {"run.json", "episodes.jsonl", "episodes.csv", "metrics.json", "report.html"} <= set(os.listdir(out))
    again = run("eval", "--agent", "oracle", *GAMES, "--seeds", "2", "--out", str(out), "--json", "--no-report")
    assert json.loads(again.stdout)["success"] == json.loads((out / "metrics.json").read_text())["success"]
    other = run("eval", "--agent", "random", *GAMES, "--seeds", "2", "--out", str(out))
    assert other.exit_code == 2
    assert "holds another run: its config.agent is 'oracle', and here it is 'random'" in other.stderr


def test_what_fails_says_so_with_an_example(tmp_path: Path) -> None:
    agent = tmp_path / "broken.py"
    agent.write_text("class Broken:\n    def act(self, observation):\n        raise ValueError('no [b]idea[/b]')\n")
    ran = run("eval", "--agent", f"python:{agent}:Broken", *GAMES, "--out", str(tmp_path / "run"), "--no-report")
    assert ran.exit_code == 1, "where nothing was played, nothing was measured"
    assert "no episode of" in ran.output
    assert "4 agent" in ran.stdout
    assert "no [b]idea[/b]" in ran.stdout


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    for arguments, said in {
        ("--agent", "orakle"): "Did you mean 'oracle'",
        ("--agent", "eapo"): "needs a model",
        ("--agent", "random", "--split", "test"): "Unknown split",
        ("--agent", "random", "--rollback", "undo"): "Unknown rollback mode",
        ("--agent", "random", "--env-kwarg", "foo=1"): "Unknown argument of eapo/ALFWorld-v0 'foo'",
    }.items():
        ran = run("eval", *arguments, "--tasks", "1", "--out", str(tmp_path / "run"))
        assert ran.exit_code == 2, ran.stdout
        assert said in ran.stderr
        assert ran.stderr.count("\n") == 1


def test_baselines_compare_and_report(tmp_path: Path) -> None:
    out = tmp_path / "table"
    arms = ("--arm", "random", "--arm", "explorer")
    ran = run("baselines", *arms, *GAMES, "--out", str(out))
    assert ran.exit_code == 0, ran.stderr
    table = json.loads((out / "baselines.json").read_text())
    assert list(table) == ["random", "explorer"]
    assert table["random"]["success"]["rate"] < table["explorer"]["success"]["rate"]
    assert (out / "report.html").exists()
    compared = run("compare", str(out / "random"), str(out / "explorer"), "--json")
    data = json.loads(compared.stdout)
    assert data["paired"] is True
    assert data["differences"]["success"]["difference"] > 0
    assert "the same tasks, paired" in run("compare", str(out / "random"), str(out / "explorer")).stdout
    page = tmp_path / "both.html"
    assert run("report", str(out / "random"), str(out / "explorer"), "--out", str(page)).exit_code == 0
    assert page.stat().st_size > 10_000
    assert "no run" in run("report", str(tmp_path)).stderr


def test_ctrl_c_is_a_pause(tmp_path: Path) -> None:
    agent = tmp_path / "slow.py"
    agent.write_text(
        "import asyncio\nclass Slow:\n    async def act(self, observation):\n"
        "        await asyncio.sleep(0.02)\n        return 'look'\n"
    )
    out = tmp_path / "run"
    command = [sys.executable, "-m", "eapo_gym.cli", "eval", "--agent", f"python:{agent}:Slow", "--split", "valid"]
    process = subprocess.Popen(
        [*command, "--max-steps", "3", "--parallel", "2", "--out", str(out)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (out / "episodes.jsonl").exists() or not (out / "episodes.jsonl").stat().st_size:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == f"Stopped. The same command goes on with {out}.\n"
    run_ = load_run(out)
    assert 0 < len(run_.episodes) < len(run_.planned)


def test_names() -> None:
    assert target_of("alfworld") == "eapo/ALFWorld-v0"
    assert target_of("tests/toys.py:Corridor") == f"{Path.cwd()}/tests/toys.py:Corridor"
    config = Evaluation(env="eapo/ALFWorld-v0", agent="python:/a/b.py:C", split="valid", model="Qwen/Qwen3-1.7B")
    assert default_folder(config) == Path("runs/ALFWorld-v0-valid-python-a-b.py-C-Qwen-Qwen3-1.7B")


def test_a_tracker_that_is_not_there_is_missed_at_once(tmp_path: Path) -> None:
    ran = run("eval", "--agent", "random", *GAMES, "--out", str(tmp_path / "run"), "--log", "tensorbord")
    assert ran.exit_code == 2
    assert "Did you mean 'tensorboard'?" in ran.output
    assert not (tmp_path / "run" / "episodes.jsonl").exists()


def test_numbers_always_stand_in_metrics_jsonl(tmp_path: Path) -> None:
    run("eval", "--agent", "oracle", *GAMES, "--out", str(tmp_path / "run"), "--no-report")
    *_, last = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert last["success"] == 1


def test_an_option_goes_to_the_arms_that_have_it(tmp_path: Path) -> None:
    arms = ("--arm", "random", "--arm", "explorer", "--out", str(tmp_path / "arms"), "--no-report")
    assert run("baselines", *GAMES, *arms, "--agent-option", "memoryless=true").exit_code == 0
    stamps = {name: load_run(tmp_path / "arms" / name).stamp["config"] for name in ("random", "explorer")}
    assert {name: stamp["agent_options"] for name, stamp in stamps.items()} == {
        "random": {},
        "explorer": {"memoryless": True},
    }
    wrong = run("baselines", *GAMES, *arms, "--agent-option", "memory=false")
    assert wrong.exit_code == 2
    assert "Did you mean 'memoryless'?" in wrong.output
    assert "Did you mean '0-shot'?" in run("baselines", *GAMES, "--arm", "0-sht", "--out", str(tmp_path / "x")).output
