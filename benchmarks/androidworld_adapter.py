"""What does the adapter for real devices cost per step, beside the device's own time?

    EAPO_ANDROIDWORLD_PYTHON=…/python python benchmarks/androidworld_adapter.py [--steps 200]

That interpreter has `android_world` (from its repository), `android-env` and `gymnasium`. The device is the embedded
phone under both. Its own time is what it takes to draw its screen, to tell its elements, and to answer adb; the rest of
a step is what the adapter takes together with the benchmark's code and android-env. The waiting for a screen that rests
takes no time here: the phone's clock is set forward.

`hosted` is the same in a process of its own, with what it takes to bring a screenshot over.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

ROOT = Path(__file__).parent.parent
PYTHON = "EAPO_ANDROIDWORLD_PYTHON"
TASK = "test/SystemWifiTurnOff/0"
GOAL_MS = 20.0

ACTIONS = tuple(
    json.dumps(action)
    for action in (
        {"action_type": "open_app", "app_name": "Settings"},
        {"action_type": "scroll", "direction": "down"},
        {"action_type": "scroll", "direction": "up"},
        {"action_type": "click", "x": 540, "y": 600},
        {"action_type": "navigate_back"},
        {"action_type": "navigate_home"},
        {"action_type": "open_app", "app_name": "Contacts"},
        {"action_type": "wait"},
        {"action_type": "navigate_home"},
    )
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        json.dump(inside(options.steps), sys.stdout)
        return
    if PYTHON not in os.environ:
        sys.exit(f"Let {PYTHON} name the interpreter that has android_world.")
    folders = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    command = [os.environ[PYTHON], __file__, "--inside", "--steps", str(options.steps)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    result = json.loads(ran.stdout)
    result["hosted"] = hosted(options.steps, folders)
    for mode, row in result["inside"].items():
        said = "within" if row["adapter_ms"]["median"] <= GOAL_MS else "above"
        print(f"{mode}: adapter {row['adapter_ms']} ms, device {row['device_ms']} ms per step; {said} {GOAL_MS:g} ms")
    for mode, row in result["hosted"].items():
        print(f"{mode}, hosted: {row} ms per step in all")
    print(
        f"saved {result['save_ms']} ms, put back {result['load_ms']} ms (the embedded phone; an emulator takes seconds)"
    )
    sys.path.insert(0, str(Path(__file__).parent))
    from common import write_result

    write_result("androidworld_adapter", result)


def inside(steps: int) -> dict[str, Any]:
    """In the interpreter that has the packages."""
    from eapo_gym.envs.androidworld.device.connection import PhoneConnection
    from eapo_gym.envs.androidworld.device.env import AndroidDeviceEnv

    connection = PhoneConnection()
    stopwatch = Stopwatch()
    stopwatch.watch_phone(connection)
    env = AndroidDeviceEnv(connection, tasks=[TASK.split("/")[1]])
    result: dict[str, Any] = {"inside": {}, "steps": steps}
    for mode in ("both", "elements"):
        env.observation_mode = mode
        env.reset(options={"task": TASK})
        whole, device = [], []
        for _, action in zip(range(steps), cycle(ACTIONS), strict=False):
            stopwatch.seconds, begin = 0.0, time.perf_counter()
            env.step(action)
            whole.append(time.perf_counter() - begin)
            device.append(stopwatch.seconds)
        own = [all_of_it - devices for all_of_it, devices in zip(whole, device, strict=True)]
        result["inside"][mode] = {"adapter_ms": in_ms(own), "device_ms": in_ms(device)}
    saved, loaded = [], []
    for _ in range(20):
        begin = time.perf_counter()
        snapshot = env.snapshot()
        saved.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        env.restore(snapshot)
        loaded.append(time.perf_counter() - begin)
    env.close()
    return {**result, "save_ms": in_ms(saved), "load_ms": in_ms(loaded)}


class Stopwatch:
    """Adds up the time in which the device is at work."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.depth = 0

    def watch_phone(self, connection: Any) -> None:
        from eapo_gym.envs.androidworld.simulator import PhoneAdbController, PhoneSimulator

        connection.forest = self.timed(connection.forest)
        connection.sleep = self.timed(connection.sleep)
        PhoneSimulator._get_screenshot_impl = self.timed(PhoneSimulator._get_screenshot_impl)
        PhoneAdbController.execute_command = self.timed(PhoneAdbController.execute_command)

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            self.depth += 1
            begin = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += time.perf_counter() - begin

        return timed


def hosted(steps: int, folders: list[str]) -> dict[str, Any]:
    """From the other side."""
    sys.path.insert(0, str(ROOT))
    from eapo_gym.envs.androidworld.device.hosted import hosted_device

    found = {}
    for mode in ("both", "elements"):
        env = hosted_device(path=folders, device="phone", tasks=[TASK.split("/")[1]], observation_mode=mode)
        env.reset(options={"task": TASK})
        whole = []
        for _, action in zip(range(steps), cycle(ACTIONS), strict=False):
            begin = time.perf_counter()
            env.step(action)
            whole.append(time.perf_counter() - begin)
        env.close()
        found[mode] = in_ms(whole)
    return found


def in_ms(seconds: list[float]) -> dict[str, float]:
    values = [1000 * each for each in seconds]
    return {
        "mean": round(mean(values), 1),
        "median": round(median(values), 1),
        "p95": round(quantiles(values, n=20)[-1], 1),
    }


if __name__ == "__main__":
    main()
