"""Does a killed evaluation end as if nothing had happened? kill −9 at random moments, many times in a row, then once
more to the end: the result must be the one of a run that nobody disturbed, and no episode may be played twice.

    python benchmarks/kill_and_resume.py
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common import write_result
from rich.progress import track

from eapo_gym.bench.evaluate import Evaluation, evaluate
from eapo_gym.bench.store import EPISODES_FILE, Run, load_run
from eapo_gym.registration import ALFWORLD

SEEDS = 12


def play(folder: str) -> None:
    config = Evaluation(
        env=ALFWORLD, split="valid", agent="random", seeds=tuple(range(SEEDS)), max_steps=50, parallel=8
    )
    asyncio.run(evaluate(config, folder))


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--play", str(folder)])


def without_times(data: Mapping[str, Any]) -> dict[str, Any]:
    steps = [
        {**step, "note": {name: value for name, value in step["note"].items() if not name.endswith("_seconds")}}
        for step in data["steps"]
    ]
    return {**data, "seconds": None, "steps": steps}


def episodes_of(run: Run) -> list[dict[str, Any]]:
    return [without_times(episode.to_json()) for episode in run.episodes]


def size_of(folder: Path) -> int:
    path = folder / EPISODES_FILE
    return path.stat().st_size if path.exists() else 0


def kill_once(folder: Path, dice: random.Random, per_kill: int) -> dict[str, Any]:
    """Let it write about `per_kill` bytes, wait for a moment that no write has chosen, and kill it."""
    process = start(folder)
    goal = size_of(folder) + dice.randrange(per_kill)
    while process.poll() is None and size_of(folder) <= goal:
        time.sleep(0.001)
    time.sleep(dice.random() * 0.05)
    killed = process.poll() is None
    if killed:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    data = (folder / EPISODES_FILE).read_bytes()
    return {"killed": killed, "whole_lines": data.count(b"\n"), "torn": not data.endswith(b"\n") and bool(data)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--play", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        play(options.play)
        return

    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as where:
        whole, killed = Path(where) / "whole", Path(where) / "killed"
        assert start(whole).wait() == 0, "the run that nobody disturbs failed"
        per_kill = int(1.6 * size_of(whole) / options.kills)
        kills = []
        for _ in track(range(options.kills), "killing"):
            before = (killed / EPISODES_FILE).read_bytes() if kills else b""
            kills.append(kill_once(killed, dice, per_kill))
            after = (killed / EPISODES_FILE).read_bytes()
            kept = before[: before.rfind(b"\n") + 1]
            assert after.startswith(kept), "an episode that was finished is gone"
        assert start(killed).wait() == 0, "the last run failed"
        runs = load_run(whole), load_run(killed)
        equal = episodes_of(runs[0]) == episodes_of(runs[1])
        metrics = [json.loads((folder / "metrics.json").read_text()) for folder in (whole, killed)]
        times = ("seconds", "agent_seconds", "env_seconds")
        metrics = [{name: value for name, value in each.items() if name not in times} for each in metrics]
    result = {
        "kills": sum(kill["killed"] for kill in kills),
        "torn_lines": sum(kill["torn"] for kill in kills),
        "whole_lines_at_each_kill": [kill["whole_lines"] for kill in kills],
        "episodes": len(runs[1].episodes),
        "planned": len(runs[1].planned),
        "equal": equal and metrics[0] == metrics[1],
    }
    print(json.dumps(result, indent=1))
    write_result("kill_and_resume", result)
    if not result["equal"] or result["kills"] < options.kills:
        sys.exit("The results differ, or the run came to its end before it could be killed so often.")


if __name__ == "__main__":
    main()
