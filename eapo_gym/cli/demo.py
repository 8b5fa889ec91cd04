"""`eapo-gym demo`: four agents play the same games, and what comes of it."""

from __future__ import annotations

import json
import platform
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

import eapo_gym
from eapo_gym.atomic import write_atomically
from eapo_gym.bench.episodes import Episode, MakePolicy, Policy, Summary, play_all, summarise
from eapo_gym.bench.page import episode_page
from eapo_gym.cli.targets import make_env
from eapo_gym.cli.terminal import console, plain, progress
from eapo_gym.envs.alfworld.experts import Decision, Explorer, Oracle
from eapo_gym.envs.base import Info, Obs
from eapo_gym.registration import ALFWORLD
from eapo_gym.schema import Turn

PAGE_OF = "explorer"

_GOOD_READ = 25
"""Steps."""


def demo(episodes: int, out: Path, seed: int) -> None:
    """Play, print a table, and write `results.json` and `episode.html` into `out`."""
    env = make_env(ALFWORLD, {"schema": "native", "split": "valid", "games": episodes})
    tasks = env.get_wrapper_attr("tasks")()
    played: dict[str, list[Episode]] = {}
    with progress() as bar:
        for agent, make_policy in AGENTS.items():
            played[agent] = play_all(env, make_policy, bar.track(tasks, description=agent), seed=seed, agent=agent)
    env.close()
    summaries = [summarise(agent, list_) for agent, list_ in played.items()]
    shown = interesting(played[PAGE_OF])
    results, page = out / "results.json", out / "episode.html"
    write_atomically(results, _results(summaries, played, seed, len(tasks)))
    write_atomically(page, episode_page(shown))
    _print(summaries, len(tasks), results, page, shown)


# The agents


def _oracle(env: gym.Env[Any, Any], seed: int) -> Policy:
    core: Any = env.unwrapped
    oracle = Oracle()
    return lambda obs, info: _turn(oracle.act(core.game, core.state))


def _explorer(env: gym.Env[Any, Any], seed: int) -> Policy:
    return _explores(Explorer())


def _forgetful(env: gym.Env[Any, Any], seed: int) -> Policy:
    return _explores(Explorer(memoryless=True, seed=seed))


def _explores(explorer: Explorer) -> Policy:
    def policy(obs: Obs, info: Info) -> Turn:
        commands = info["admissible_commands"]
        return _turn(explorer.act(obs["goal"], obs["state"], commands, obs["explore"], obs["memory"]))

    return policy


def _random(env: gym.Env[Any, Any], seed: int) -> Policy:
    dice = random.Random(seed)
    return lambda obs, info: dice.choice(info["admissible_commands"])


def _turn(decision: Decision) -> Turn:
    return Turn(decision.think, decision.explore, decision.memory, decision.command, format_ok=True)


AGENTS: dict[str, MakePolicy] = {
    "oracle": _oracle,
    "explorer": _explorer,
    "explorer, no memory": _forgetful,
    "random": _random,
}


# What is shown of it


def interesting(episodes: Sequence[Episode]) -> Episode:
    """A solved episode that came back to states, or else had to search: long enough for that, short enough to read."""

    def interest(episode: Episode) -> tuple[bool, float, int]:
        degree = episode.trajectory.exploration_degree(self_loops=False)
        return episode.success, degree, -abs(len(episode) - _GOOD_READ)

    return max(episodes, key=interest)


def _results(summaries: Sequence[Summary], played: dict[str, list[Episode]], seed: int, games: int) -> str:
    content = {
        "environment": ALFWORLD,
        "source": "embedded",
        "split": "valid",
        "engine": "native",
        "games": games,
        "seed": seed,
        "eapo_gym": eapo_gym.__version__,
        "gymnasium": gym.__version__,
        "python": platform.python_version(),
        "agents": [summary.to_dict() for summary in summaries],
        "episodes": [episode.to_dict() for list_ in played.values() for episode in list_],
    }
    return json.dumps(content, indent=1) + "\n"


def _print(summaries: Sequence[Summary], games: int, results: Path, page: Path, shown: Episode) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = f"{ALFWORLD}: the same {games} embedded games for every agent"
    table = Table(title=title, title_style="bold", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("agent", no_wrap=True)
    table.add_column("success\n(95 % interval)", justify="right", min_width=12)
    for name in ("steps", "solved\nin", "expl.\ndegree", "no\nloops", "invalid", "time"):
        table.add_column(name, justify="right")
    for summary in summaries:
        table.add_row(
            summary.agent,
            str(summary.success),
            f"{summary.steps.mean:.1f}",
            f"{summary.steps_solved.mean:.1f}" if summary.steps_solved.n else "–",
            f"{summary.exploration_degree.mean:.3f}",
            f"{summary.exploration_degree_no_self_loops.mean:.3f}",
            f"{100 * summary.invalid_rate:.1f} %",
            f"{summary.seconds:.1f} s",
        )
    out = console()
    out.print(table)
    out.print(
        "These are generated games, not the benchmark's. The exploration degree is the share of the distinct states "
        "that an episode visited more than once; a self-loop is a step that leaves the state as it is.\n"
    )
    task = shown.trajectory.task
    out.print(plain(f"One episode, step by step:  {page.resolve()}"), soft_wrap=True)
    out.print(plain(f"All numbers:                {results.resolve()}"), soft_wrap=True)
    out.print(plain(f"Play that game yourself:    eapo-gym play alfworld --split valid --task {task}"), soft_wrap=True)
    out.print("The benchmark's own games:  eapo-gym data alfworld")
