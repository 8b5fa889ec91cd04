"""How good is WebShop's explorer? Score, success and steps, beside itself without a memory and beside chance.

    python benchmarks/webshop_experts.py             # embedded goals, and the benchmark's where they are here
    python benchmarks/webshop_experts.py --most 100  # the first goals of each split

The benchmark's files are looked for in the folder data/webshop of $EAPO_SHARED, or else of ../shared.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import write_result
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eapo_gym.agents.base import Agent, as_response
from eapo_gym.agents.experts import ExplorerAgent
from eapo_gym.agents.random import RandomAgent
from eapo_gym.bench.rollout import seed_of
from eapo_gym.bench.statistics import Share
from eapo_gym.envs.webshop.catalogue import CatalogueFiles, read_products
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.nouns import find_nouns
from eapo_gym.envs.webshop.opening import OpenShop, open_shop
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.store import MemoryCatalogue
from eapo_gym.protocol import parse
from eapo_gym.registration import WEBSHOP, WEBSHOP_STEPS
from eapo_gym.schema import Context, Observation, Turn

PLAYERS: dict[str, Agent] = {
    "explorer": ExplorerAgent(),
    "explorer, text alone": ExplorerAgent(use_valid_actions=False),
    "explorer, memoryless": ExplorerAgent(memoryless=True),
    "random": RandomAgent(env=WEBSHOP),
}


@dataclass(frozen=True, slots=True)
class Result:
    agent: str
    score: float
    """The reward of the purchase, 0 where nothing was bought."""

    won: bool
    steps: int
    seconds: float
    """Time that the agent took to decide, per step."""


def play(name: str, env: WebShopEnv, task: str, seed: int) -> Result:
    raw, _ = env.reset(seed=seed, options={"task": task})
    turn = Turn(memory="")
    thinking = 0.0
    for t in range(WEBSHOP_STEPS):
        offered = env.valid_actions()
        seen = Observation.from_dict(
            raw,
            explore=turn.explore,
            memory=turn.memory or "",
            valid_actions=None if offered is None else tuple(offered),
            context=Context(WEBSHOP, task, f"{task}#0", t, seed_of(seed, task, 0, t)),
        )
        begin = time.perf_counter()
        response = as_response(PLAYERS[name].act(seen))
        thinking += time.perf_counter() - begin
        turn = parse(response.text, env.parse_action)
        raw, reward, terminated, _, info = env.step(turn.action or "")
        if terminated:
            return Result(name, reward, info["won"], t + 1, thinking / (t + 1))
    return Result(name, 0.0, False, WEBSHOP_STEPS, thinking / WEBSHOP_STEPS)


def row(results: Sequence[Result]) -> dict[str, Any]:
    won = Share(sum(result.won for result in results), len(results))
    return {
        "goals": len(results),
        "score": sum(result.score for result in results) / len(results),
        "success": won.rate,
        "success, 95 %": won.interval,
        "mean steps": sum(result.steps for result in results) / len(results),
        "most steps": max(result.steps for result in results),
        "ms a decision": 1000 * sum(result.seconds for result in results) / len(results),
    }


def report(numbers: dict[str, Any], console: Console) -> None:
    for title, played in numbers.items():
        table = Table(title=f"WebShop, {title}")
        for column in ("agent", "goals", "score", "success (95 %)", "steps", "most", "ms"):
            table.add_column(column, justify="left" if column == "agent" else "right", no_wrap=True)
        for agent, cells in played["agents"].items():
            low, high = cells["success, 95 %"]
            table.add_row(
                agent,
                str(cells["goals"]),
                f"{cells['score']:.3f}",
                f"{100 * cells['success']:.1f} % ({100 * low:.1f}–{100 * high:.1f})",
                f"{cells['mean steps']:.1f}",
                str(cells["most steps"]),
                f"{cells['ms a decision']:.2f}",
            )
        console.print(table)


def shops() -> dict[str, tuple[OpenShop, tuple[str, ...]]]:
    """What is played: a shop with a kind of goals, and the splits of it."""
    chosen: dict[str, tuple[OpenShop, tuple[str, ...]]] = {
        "embedded, synthetic goals": (open_shop("embedded"), ("test",)),
        "embedded, human goals": (open_shop("embedded", kind="human"), ("test",)),
    }
    folder = Path(os.environ.get("EAPO_SHARED") or Path(__file__).resolve().parents[2] / "shared") / "data/webshop"
    if folder.is_dir():
        products = read_products(CatalogueFiles.in_folder(folder))
        catalogue = MemoryCatalogue(products, "the benchmark's 1,000 products", nouns=find_nouns())
        search = ShopSearch.make(catalogue)
        chosen["the benchmark's 1,000 products, synthetic goals"] = (OpenShop(catalogue, search), ("test",))
        # There are so few that each of them counts.
        human = OpenShop(catalogue, search, kind="human")
        chosen["the benchmark's 1,000 products, human goals"] = (human, ("test", "eval", "train"))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, help="play so many goals of each split, the first ones")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console()
    console.width = max(console.width, 110)  # also where it is written to a file
    numbers: dict[str, Any] = {}
    for title, (shop, splits) in shops().items():
        envs = [WebShopEnv(split=split, shop=shop) for split in splits]
        plan = [(env, task) for env in envs for task in env.tasks()[: options.most]]
        results = [
            play(agent, env, task, options.seed)
            for env, task in track(plan, title, console=console)
            for agent in PLAYERS
        ]
        numbers[title] = {
            "catalogue": shop.shop.label,
            "nouns": shop.shop.nouns_label,
            "splits": list(splits),
            "agents": {agent: row([result for result in results if result.agent == agent]) for agent in PLAYERS},
        }
    report(numbers, console)
    write_result("webshop_experts", {"seed": options.seed, "steps": WEBSHOP_STEPS, "shops": numbers})


if __name__ == "__main__":
    main()
