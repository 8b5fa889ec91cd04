"""How fast is the embedded phone? Steps with and without its picture, snapshots, memory.

    python benchmarks/androidworld.py [--seconds 5]

A step is one touch, writing or swipe of somebody who does the tasks of the split `test` by their plans, so that what is
on the screen is what an agent would see. Plans are thought out beforehand: their time does not count.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from itertools import cycle
from typing import Any

from common import write_result
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.env import AndroidWorldEnv
from eapo_gym.envs.androidworld.tasks import supported
from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.wrappers import SetOfMarks

SPLIT = "test"


def planned(env: AndroidWorldEnv) -> list[tuple[str, list[str]]]:
    """The tasks with the actions that do them."""
    found = []
    for name, task in track(sorted(supported().items()), "plans", transient=True):
        env.reset(options={"task": f"{SPLIT}/{name}/0"})
        hands, actions = Hands(env.phone), []
        params = task.begun(env.phone, task.draw(TaskDice(SPLIT, name, "0")))
        for action in task.plan(Finger(hands.elements), params):
            actions.append(action.command())
            if action.action_type == "status":
                break
            if action.action_type != "answer":
                hands.act(action)
        found.append((env.task, actions))
    return found


def steps_per_second(env: Any, plans: list[tuple[str, list[str]]], seconds: float) -> dict[str, float]:
    steps = 0
    in_steps = in_resets = 0.0
    for episodes, (task, actions) in enumerate(cycle(plans), 1):
        begin = time.perf_counter()
        env.reset(options={"task": task})
        in_resets += time.perf_counter() - begin
        for action in actions:
            begin = time.perf_counter()
            env.step(action)
            in_steps += time.perf_counter() - begin
            steps += 1
        if in_steps + in_resets > seconds and episodes >= len(plans):
            return {"steps_per_s": steps / in_steps, "resets_per_s": episodes / in_resets, "steps": steps}
    raise AssertionError("there are no plans")


def snapshots_per_second(env: AndroidWorldEnv, seconds: float) -> float:
    """Saved and put back, with the observation that this gives."""
    env.reset(seed=0)
    begin, done = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        env.restore(env.snapshot())
        done += 1
    return done / (time.perf_counter() - begin)


def kilobytes_per_environment(count: int = 100) -> float:
    """What each further environment takes, in the middle of an episode."""
    first = AndroidWorldEnv(split=SPLIT, observation_mode="elements")
    first.reset(seed=0)
    tracemalloc.start()
    kept = []
    for seed in range(count):
        env = AndroidWorldEnv(split=SPLIT, observation_mode="elements")
        env.reset(seed=seed)
        env.step('{"action_type": "open_app", "app_name": "Settings"}')
        kept.append(env)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / 1000 / len(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    seconds = parser.parse_args().seconds
    text = AndroidWorldEnv(split=SPLIT, observation_mode="elements")
    plans = planned(text)
    places = {
        "elements": steps_per_second(text, plans, seconds),
        "elements and screenshot": steps_per_second(AndroidWorldEnv(split=SPLIT), plans, seconds),
        "elements, screenshot and marks": steps_per_second(SetOfMarks(AndroidWorldEnv(split=SPLIT)), plans, seconds),
    }
    result = {
        "tasks": len(plans),
        "places": places,
        "snapshots_per_s": snapshots_per_second(text, seconds),
        "kb_per_further_env": kilobytes_per_environment(),
    }
    table = Table("one process", "steps/s", "resets/s")
    for name, row in places.items():
        table.add_row(name, f"{row['steps_per_s']:,.0f}", f"{row['resets_per_s']:,.0f}")
    console = Console()
    console.print(table)
    console.print(
        f"saved and put back: {result['snapshots_per_s']:,.0f}/s; {result['kb_per_further_env']:.0f} KB per env"
    )
    write_result("androidworld", result)


if __name__ == "__main__":
    main()
