"""How long do grouping and normalising take?

A million transitions (tasks × 16 trajectories × 50 steps of random walks on places of their task) are grouped and their
rewards normalised, in every grouping; the budget is 2 s on one core. The walks with states and visits (EAPO's grouping)
are also done by a plain loop over dictionaries, as a measure, and its advantages are compared.

    OMP_NUM_THREADS=1 python benchmarks/grouping.py
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from common import write_result
from rich.console import Console
from rich.table import Table

from eapo_gym.trainers.batch import Batch, Floats
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.groups import auc_within, batch_advantages, batch_statistics
from eapo_gym.trainers.rewards import Rewards, batch_rewards

BUDGET_SECONDS = 2.0
GROUP_SIZE = 16
STEPS = 50
PLACES = 40


def walks(count: int, rng: np.random.Generator) -> Batch:
    """`count` transitions of random walks, a step to a place next door or none at all."""
    trajectories = count // STEPS
    moves = rng.integers(-1, 2, (trajectories, STEPS))
    moves[:, 0] = 0  # all begin at the same place
    places = np.cumsum(moves, 1) % PLACES
    depth = np.zeros_like(places)
    visits = np.zeros((trajectories, PLACES), np.int64)
    every = np.arange(trajectories)
    for t in range(STEPS):
        depth[:, t] = visits[every, places[:, t]]
        visits[every, places[:, t]] += 1
    task = np.repeat(every // GROUP_SIZE, STEPS)
    return Batch(
        [],
        task=task,
        trajectory=np.repeat(every, STEPS),
        episode=np.zeros(count, np.int64),
        t=np.tile(np.arange(STEPS), trajectories),
        length=np.full(count, STEPS),
        state=task * PLACES + places.ravel(),
        depth=depth.ravel(),
        success=np.repeat(rng.random(trajectories) < 0.4, STEPS),
        format_ok=rng.random(count) < 0.9,
        reflection=np.zeros(count, np.bool_),
        response_tokens=rng.integers(20, 200, count),
    )


def by_dictionaries(batch: Batch, rewards: Floats, std_floor: float) -> Floats:
    """EAPO's advantages, singletons as the formula has them, as one would write them down."""
    groups: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for i, key in enumerate(zip(batch.task.tolist(), batch.state.tolist(), batch.depth.tolist(), strict=True)):
        groups[key].append(i)
    found = np.zeros(len(rewards))
    for members in groups.values():
        own = rewards[members]
        found[members] = (own - own.mean()) / max(own.std(), std_floor)
    return found


def seconds(run: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return round(min(times), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transitions", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs is reported")
    options = parser.parse_args()
    count = options.transitions // (GROUP_SIZE * STEPS) * GROUP_SIZE * STEPS
    if not count:
        parser.error(f"--transitions: expected {GROUP_SIZE * STEPS} or more")

    rng = np.random.default_rng(0)
    batch, explore = walks(count, rng), rng.random(count)
    rows: dict[str, dict[str, float]] = {}
    rewards: Rewards
    for name in ("eapo", "eapo-paper", "eapo-release", "eapo-no-grouping", "grpo", "gigpo"):
        config = TrainConfig.make(algorithm=name)
        rewards = batch_rewards(batch, config, explore)
        rows[name] = {
            "rewards_s": seconds(lambda config=config: batch_rewards(batch, config, explore), options.repeat),
            "advantages_s": seconds(
                lambda config=config, rewards=rewards: batch_advantages(batch, rewards, config), options.repeat
            ),
            "statistics_s": seconds(
                lambda config=config, rewards=rewards: batch_statistics(batch, rewards, config), options.repeat
            ),
        }
    auc_s = seconds(lambda: auc_within(explore, batch.success, batch.t // 5), options.repeat)
    paper = TrainConfig.make(algorithm="eapo-paper")
    rewards = batch_rewards(batch, paper, explore)
    dictionaries_s = seconds(lambda: by_dictionaries(batch, rewards.total, paper.std_floor), 1)
    difference = np.abs(
        by_dictionaries(batch, rewards.total, paper.std_floor) - batch_advantages(batch, rewards, paper)
    ).max()

    table = Table("preset", "rewards s", "advantages s", "statistics s", title=f"{count:,} transitions")
    for name, row in rows.items():
        over = row["advantages_s"] > BUDGET_SECONDS
        table.add_row(name, *(f"{number:.3f}" for number in row.values()), style="red" if over else "")
    console = Console()
    console.print(table)
    faster = dictionaries_s / rows["eapo-paper"]["advantages_s"]
    console.print(
        f"AUC within bins: {auc_s:.3f} s; a loop over dictionaries: {dictionaries_s:.2f} s, {faster:.0f} × more"
    )
    console.print(f"its advantages differ by at most {difference:.1e}")
    statistics = batch_statistics(batch, rewards, paper)
    write_result(
        "grouping",
        {
            "transitions": count,
            "budget_seconds": BUDGET_SECONDS,
            "slowest_s": max(row["advantages_s"] for row in rows.values()),
            "presets": rows,
            "auc_within_s": auc_s,
            "dictionaries_s": dictionaries_s,
            "largest_difference": float(difference),
            "groups": {name: round(value, 4) for name, value in statistics.items() if name.startswith("group/")},
        },
    )


if __name__ == "__main__":
    main()
