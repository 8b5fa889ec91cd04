"""How fast is ALFWorld? The native engine beside the reference engine, in one run.

A random agent plays G trajectories of each game, as training does, so that each game is new once and known afterwards.
All of a step counts: the text, the admissible commands, the info, and choosing the action.

    python benchmarks/alfworld.py                    # embedded games
    ALFWORLD_DATA=… python benchmarks/alfworld.py    # the benchmark's training games
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from random import Random
from typing import Any

import gymnasium as gym
import psutil
from common import machine, write_result
from rich.console import Console
from rich.table import Table

import eapo_gym
from eapo_gym.envs.alfworld.agreement import random_command
from eapo_gym.envs.alfworld.data import DATA_VARIABLE, shelf
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.reference import PYTHON_VARIABLE, hosted_reference, is_installed

TRAJECTORIES = 16
STEPS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=64, help="games that the native engine plays")
    parser.add_argument("--vector", type=int, default=1024, help="environments in the vector")
    parser.add_argument("--reference-steps", type=int, default=100)
    options = parser.parse_args()
    source = "official" if os.environ.get(DATA_VARIABLE) else "embedded"

    rows: dict[str, dict[str, Any]] = {}
    if is_installed() or os.environ.get(PYTHON_VARIABLE):
        rows["reference engine, one process"] = reference(source, options.reference_steps)
    rows["native, plain environment"] = plain(source, options.games)
    for schema in ("native", "explore"):
        rows[f"native, gym.make, schema={schema!r}"] = made(source, schema, options.games)
    size = options.vector
    for schema in ("native", "explore"):
        grouped = size // TRAJECTORIES
        rows[f"native, vector of {size}: {grouped} games × {TRAJECTORIES}, schema={schema!r}"] = vector(
            source, schema, size, grouped
        )
    for schema in ("native", "explore"):
        rows[f"native, vector of {size}: as many games, schema={schema!r}"] = vector(source, schema, size, size)
    costs = snapshot_and_memory(source)
    show(rows, costs, source)
    write_result("alfworld", {"source": source, "rates": rows, "costs": costs})


def reference(source: str, steps: int) -> dict[str, Any]:
    env = hosted_reference(source=source)
    tasks = env.tasks()
    resets = []
    for task in tasks[:3]:
        began = time.perf_counter()
        _, info = env.reset(options={"task": task})
        resets.append(time.perf_counter() - began)
    rng = Random(0)
    began = time.perf_counter()
    for _ in range(steps):
        _, _, over, _, info = env.step(random_command(info["admissible_commands"], rng))
        if over:
            _, info = env.reset(options={"task": tasks[0]})
    seconds = time.perf_counter() - began
    env.close()
    return {"steps_per_s": steps / seconds, "new_game_ms": median(resets[1:]) * 1e3}


def plain(source: str, games: int) -> dict[str, Any]:
    shelf.clear()
    return play(ALFWorldEnv(source=source), games, Random(0), str)


def made(source: str, schema: str, games: int) -> dict[str, Any]:
    shelf.clear()
    env = gym.make("eapo/ALFWorld-v0", source=source, schema=schema)
    return play(env, games, Random(0), written_as(schema))


def play(env: gym.Env[Any, Any], games: int, rng: Random, write: Any) -> dict[str, Any]:
    tasks = env.get_wrapper_attr("tasks")()
    new, known = [], []
    steps = 0
    stepping = 0.0
    for task in tasks[:games]:
        for trajectory in range(TRAJECTORIES):
            began = time.perf_counter()
            _, info = env.reset(options={"task": task})
            (known if trajectory else new).append(time.perf_counter() - began)
            began = time.perf_counter()
            for _ in range(STEPS):
                _, _, over, cut, info = env.step(write(rng.choice(info["admissible_commands"])))
                steps += 1
                if over or cut:
                    break
            stepping += time.perf_counter() - began
    warm = 0.0
    for _ in range(TRAJECTORIES):  # the last game again: all of it is known by now
        _, info = env.reset(options={"task": tasks[games - 1]})
        began = time.perf_counter()
        for _ in range(STEPS):
            _, _, over, cut, info = env.step(write(rng.choice(info["admissible_commands"])))
            if over or cut:
                _, info = env.reset(options={"task": tasks[games - 1]})
        warm += time.perf_counter() - began
    return {
        "steps_per_s": steps / stepping,
        "known_game_steps_per_s": TRAJECTORIES * STEPS / warm,
        "new_game_ms": median(new) * 1e3,
        "known_game_ms": median(known) * 1e3,
    }


def vector(source: str, schema: str, size: int, games: int) -> dict[str, Any]:
    shelf.clear()
    shelf.capacity = size
    games = min(games, len(ALFWorldEnv(source=source).tasks()))
    envs = eapo_gym.make_vec("eapo/ALFWorld-v0", size, source=source, schema=schema, games=games)
    tasks = envs.call("tasks")[0]
    before = psutil.Process().memory_info().rss
    began = time.perf_counter()
    _, infos = envs.reset(seed=0, options={"tasks": [tasks[i % games] for i in range(size)]})
    reset = time.perf_counter() - began
    rng, write = Random(0), written_as(schema)
    rates = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(STEPS):
            _, _, _, _, infos = envs.step([write(rng.choice(commands)) for commands in infos["admissible_commands"]])
        rates.append(size * STEPS / (time.perf_counter() - began))
    grown = psutil.Process().memory_info().rss - before
    envs.close()
    return {
        "steps_per_s": rates[0],
        "known_game_steps_per_s": rates[-1],
        "new_game_ms": reset / games * 1e3,
        "games": games,
        "memory_mb": grown / 2**20,
    }


def written_as(schema: str) -> Any:
    if schema == "native":
        return str
    return lambda command: (
        f"<think> Try it. </think> <explore> {command} </explore> <memory> I did {command}. </memory> "
        f"<action> \\boxed{{{command}}} </action>"
    )


def snapshot_and_memory(source: str) -> dict[str, float]:
    env = ALFWorldEnv(source=source)
    env.reset(seed=0)
    rng = Random(0)
    for _ in range(30):
        env.step(rng.choice(env.valid_actions()))
    rounds = 20_000
    began = time.perf_counter()
    for _ in range(rounds):
        env.restore(env.snapshot())
    restore = (time.perf_counter() - began) / rounds
    began = time.perf_counter()
    for _ in range(rounds):
        env.snapshot()
    snapshot = (time.perf_counter() - began) / rounds

    tracemalloc.start()
    more = [ALFWorldEnv(source=source) for _ in range(200)]
    for other in more:
        other.reset(seed=0, options={"task": env.task})
        for _ in range(STEPS):
            other.step(rng.choice(other.valid_actions()))
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "snapshot_us": snapshot * 1e6,
        "snapshot_and_restore_us": restore * 1e6,
        "kb_per_further_env": grown / len(more) / 1024,
    }


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def show(rows: dict[str, dict[str, Any]], costs: dict[str, float], source: str) -> None:
    table = Table(title=f"ALFWorld, {source} games, {machine()['cpu']}")
    for column in ("", "steps/s", "× reference", "steps/s, known game", "reset, new game", "reset, known game"):
        table.add_column(column, justify="left" if not column else "right")
    base = rows.get("reference engine, one process", {}).get("steps_per_s")
    for name, row in rows.items():
        table.add_row(
            name,
            f"{row['steps_per_s']:,.0f}",
            f"{row['steps_per_s'] / base:,.0f}" if base else "–",
            f"{row['known_game_steps_per_s']:,.0f}" if "known_game_steps_per_s" in row else "–",
            f"{row['new_game_ms']:,.1f} ms",
            f"{row['known_game_ms']:,.2f} ms" if "known_game_ms" in row else "–",
        )
    console = Console(width=130)
    console.print(table)
    console.print(
        f"snapshot {costs['snapshot_us']:.1f} µs, snapshot and restore {costs['snapshot_and_restore_us']:.1f} µs, "
        f"{costs['kb_per_further_env']:.0f} KB per further environment of a known game"
    )


if __name__ == "__main__":
    main()
