"""What does a process of its own cost? The same environment here and hosted, call by call, side by side.

python benchmarks/hosting.py
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import gymnasium as gym
import numpy as np
import psutil
from common import write_result
from gymnasium import spaces
from rich.console import Console
from rich.table import Table

from eapo_gym.envs.hosting import HostedEnv

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.toys import Corridor  # noqa: E402


class Screen(gym.Env[Any, Any]):
    """Shows one and the same screenshot for ever, so that only its way to the agent is measured."""

    observation_space = spaces.Box(0, 255, (1080, 1920, 3), np.uint8)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.picture = np.random.default_rng(0).integers(0, 256, (1080, 1920, 3), dtype=np.uint8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self.picture.copy(), {}

    def step(self, action: Any) -> Any:
        return self.picture.copy(), 0.0, False, False, {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5000, help="how often each call is timed")
    options = parser.parse_args()

    rows: dict[str, dict[str, Any]] = {}
    with HostedEnv("tests.toys:Corridor") as hosted:
        local = Corridor()
        for name, call in TEXT_CALLS.items():
            rows[name] = {"local": microseconds(call, local, options.calls)}
            rows[name]["hosted"] = microseconds(call, hosted, options.calls)
        memory = psutil.Process(hosted.tenant["pid"]).memory_info().rss
    with HostedEnv(f"{Path(__file__).resolve()}:Screen") as hosted:
        pictures = max(20, options.calls // 50)
        rows["step, 1920×1080 screenshot"] = {
            "local": microseconds(one_step, Screen(), pictures),
            "hosted": microseconds(one_step, hosted, pictures),
        }
    bare = f"{ROOT / 'tests/envs/hosting/bare.py'}:Bare"
    for name, target in {"Gymnasium and NumPy": "tests.toys:Corridor", "the standard library": bare}.items():
        rows[f"start and close, {name}"] = {"hosted": microseconds(start_and_close, target, 10)}

    table = Table("call", "here, µs", "hosted, µs", "hosted p99, µs", title="A process of its own")
    for name, row in rows.items():
        here = f"{row['local']['median']:,.1f}" if "local" in row else ""
        table.add_row(name, here, f"{row['hosted']['median']:,.0f}", f"{row['hosted']['p99']:,.0f}")
    Console().print(table)
    print(f"resident memory of the hosted corridor: {memory / 2**20:.0f} MiB")
    write_result("hosting", {"microseconds": rows, "resident_bytes": memory})


def microseconds(call: Callable[[Any], object], subject: Any, times: int) -> dict[str, float]:
    if isinstance(subject, gym.Env):
        subject.reset(seed=0)
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call(subject)
        taken.append(1e6 * (time.perf_counter() - start))
    return {"median": median(taken), "p99": quantiles(taken, n=100)[98], "calls": times}


def one_step(env: Any) -> None:
    env.step("look")


def step_and_ask(env: Any) -> None:
    env.step("look")
    env.fingerprint()
    env.valid_actions()


def save_and_load(env: Any) -> None:
    env.restore(env.snapshot())


def one_reset(env: Any) -> None:
    env.reset()


def start_and_close(target: str) -> None:
    HostedEnv(target).close()


TEXT_CALLS = {
    "step": one_step,
    "step, fingerprint, valid_actions": step_and_ask,
    "snapshot and restore": save_and_load,
    "reset": one_reset,
}

if __name__ == "__main__":
    main()
