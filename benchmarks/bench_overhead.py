"""What does the bench cost? A random agent plays native ALFWorld through all of `evaluate`: planned, played, stored.

    python benchmarks/bench_overhead.py

The first run of a process also builds the games; the second one finds them built, as long evaluations do. What the
environment and the agent take for themselves is measured beside it: the rest is the bench. The goal is judged by
processor time, since other processes of a busy machine are not the bench's doing; the time by the clock is beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from common import write_result
from rich.console import Console
from rich.table import Table

from eapo_gym.bench.evaluate import Evaluation, evaluate
from eapo_gym.bench.store import load_run
from eapo_gym.registration import ALFWORLD

GOAL = 5000
"""Episode steps per second, on one process."""


def one_run(seeds: int, stored: bool) -> dict[str, Any]:
    config = Evaluation(
        env=ALFWORLD, split="valid", agent="random", seeds=tuple(range(seeds)), max_steps=50, parallel=64
    )
    with tempfile.TemporaryDirectory() as folder:
        begin, begin_cpu = time.perf_counter(), time.process_time()
        result = asyncio.run(evaluate(config, folder if stored else None))
        seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - begin_cpu
        metrics = result.metrics
        size = (Path(folder) / "episodes.jsonl").stat().st_size if stored else 0
        begin = time.perf_counter()
        if stored:
            load_run(folder)
        loading = time.perf_counter() - begin
    steps = metrics.total_steps
    return {
        "episodes": metrics.success.n,
        "steps": steps,
        "seconds": seconds,
        "steps_per_second": steps / seconds,
        "steps_per_cpu_second": steps / cpu_seconds,
        "microseconds_per_step": {
            "all": 1e6 * seconds / steps,
            "environment": 1e6 * metrics.env_seconds / steps,
            "agent": 1e6 * metrics.agent_seconds / steps,
        },
        "bytes_per_step": size / steps,
        "steps_loaded_per_second": steps / loading if stored else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="how often each of the split's games is played")
    seeds = parser.parse_args().seeds

    runs = {
        "first, games still to be built": one_run(seeds, stored=True),
        "second": one_run(seeds, stored=True),
        "second, nothing stored": one_run(seeds, stored=False),
    }
    table = Table(
        "run",
        "steps",
        "steps/s",
        "steps/s of CPU",
        "µs a step",
        "environment",
        "agent",
        title="evaluate() with a random agent",
    )
    for name, run in runs.items():
        parts = run["microseconds_per_step"]
        speeds = (f"{run[key]:,.0f}" for key in ("steps_per_second", "steps_per_cpu_second"))
        table.add_row(name, f"{run['steps']:,}", *speeds, *(f"{part:.0f}" for part in parts.values()))
    Console().print(table)
    second = runs["second"]
    print(
        f"stored: {second['bytes_per_step']:.0f} bytes a step; read: {second['steps_loaded_per_second']:,.0f} steps/s"
    )
    print(f"goal: {GOAL:,} steps/s, {'reached' if second['steps_per_cpu_second'] >= GOAL else 'NOT reached'}")
    write_result("bench_overhead", {"goal": GOAL, "runs": runs})


if __name__ == "__main__":
    main()
