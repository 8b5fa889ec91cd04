"""How good are AndroidWorld's experts? Success by difficulty, beside the explorer without a memory and beside chance.

python benchmarks/androidworld_experts.py                # every task that the embedded phone supports
python benchmarks/androidworld_experts.py --episodes 1   # so many of each task
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from common import write_result
from rich.console import Console
from rich.progress import track
from rich.table import Table

import eapo_gym  # noqa: F401 (registers the ids)
from eapo_gym.agents.base import Agent, as_response
from eapo_gym.agents.experts import ExplorerAgent, OracleAgent
from eapo_gym.agents.random import RandomAgent
from eapo_gym.bench.rollout import seed_of
from eapo_gym.bench.statistics import Share
from eapo_gym.registration import ANDROIDWORLD
from eapo_gym.schema import Context, Observation

DIFFICULTIES = ("easy", "medium", "hard")

PLAYERS: dict[str, Agent] = {
    "oracle": OracleAgent(),
    "explorer": ExplorerAgent(),
    "explorer, memoryless": ExplorerAgent(memoryless=True),
    "random": RandomAgent(env=ANDROIDWORLD),
}


@dataclass(frozen=True, slots=True)
class Result:
    agent: str
    task: str
    difficulty: str
    won: bool
    steps: int
    seconds: float
    """Time that the agent took to decide, per step."""


def play(name: str, env: gym.Env[Any, Any], task: str, seed: int) -> Result:
    agent = PLAYERS[name]
    raw, info = env.reset(seed=seed, options={"task": task})
    thinking, steps, over = 0.0, 0, False
    while not over:
        context = Context(ANDROIDWORLD, task, f"{task}#0", steps, seed_of(seed, task, 0, steps))
        seen = Observation.from_dict(raw, context=context)
        begin = time.perf_counter()
        response = as_response(agent.act_in(env, seen) if agent.privileged else agent.act(seen))
        thinking += time.perf_counter() - begin
        raw, _, terminated, truncated, info = env.step(response.text)
        steps, over = steps + 1, terminated or truncated
    return Result(name, info["task_type"], info["difficulty"], info["won"], steps, thinking / steps)


def row(results: Sequence[Result]) -> dict[str, Any]:
    won = Share(sum(result.won for result in results), len(results))
    return {
        "episodes": len(results),
        "success": won.rate,
        "success, 95 %": won.interval,
        "mean steps": sum(result.steps for result in results) / len(results),
        "ms a decision": 1000 * sum(result.seconds for result in results) / len(results),
    }


def rows(results: Sequence[Result]) -> dict[str, Any]:
    parts = {level: [each for each in results if each.difficulty == level] for level in DIFFICULTIES}
    return {level: row(part) for level, part in {**parts, "all": list(results)}.items() if part}


def by_task(results: Sequence[Result]) -> dict[str, str]:
    """How many of its episodes were won, of each task."""
    played: dict[str, list[bool]] = {}
    for result in results:
        played.setdefault(result.task, []).append(result.won)
    return {task: f"{sum(won)}/{len(won)}" for task, won in sorted(played.items())}


def report(agents: dict[str, Any], console: Console) -> None:
    table = Table(title="AndroidWorld on the embedded phone")
    for column in ("agent", "difficulty", "episodes", "success (95 %)", "steps", "ms"):
        table.add_column(column, justify="left" if column in ("agent", "difficulty") else "right", no_wrap=True)
    for agent, parts in agents.items():
        for level, cells in parts.items():
            low, high = cells["success, 95 %"]
            table.add_row(
                agent,
                level,
                str(cells["episodes"]),
                f"{100 * cells['success']:.1f} % ({100 * low:.1f}–{100 * high:.1f})",
                f"{cells['mean steps']:.1f}",
                f"{cells['ms a decision']:.2f}",
            )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, help="play so many of each task, instead of the split's number")
    parser.add_argument("--split", default="test")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console()
    console.width = max(console.width, 100)  # also where it is written to a file
    env = gym.make(ANDROIDWORLD, split=options.split, episodes=options.episodes, observation_mode="elements")
    tasks = env.get_wrapper_attr("tasks")()
    results = [
        play(agent, env, task, options.seed)
        for task in track(tasks, "AndroidWorld", console=console)
        for agent in PLAYERS
    ]
    played = {agent: [result for result in results if result.agent == agent] for agent in PLAYERS}
    agents = {agent: rows(part) for agent, part in played.items()}
    report(agents, console)
    tasks_won = {agent: by_task(part) for agent, part in played.items()}
    write_result(
        "androidworld_experts",
        {"split": options.split, "seed": options.seed, "agents": agents, "won of each task": tasks_won},
    )


if __name__ == "__main__":
    main()
