"""What does continuous batching bring, when responses differ in length and environments in speed?

The same episodes are played in four ways, with the same tokens in each: seeds and lengths are those of a step.

    one by one     an episode after the other, one response at a time
    generate       transformers' own generate, all episodes in lock-step
    lock-step      this engine, all episodes in lock-step: a step begins when the last response and environment are done
    asynchronous   this engine, every episode a coroutine of its own

A batch is full if each of its rows is a response that somebody waits for. Of generate's rows, those whose response has
ended go on until the longest has.

    python benchmarks/engine_batching.py
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import write_result
from rich.console import Console
from rich.table import Table

from eapo_gym.engines.base import Message, Prompt, Sampling
from eapo_gym.engines.tiny import make_tiny
from eapo_gym.engines.transformers import TransformersEngine

SYSTEM = "You play a game of rooms and things. Say what you think, what to explore, what to remember, and one command."


@dataclass(frozen=True)
class Step:
    """One step of an episode: what is asked, how long the response is, how long the environment takes."""

    prompt: Prompt
    seed: int
    tokens: int
    pause: float


def episodes_of(engine: TransformersEngine, count: int, steps: int, pause: float) -> list[list[Step]]:
    """Responses with a median of 40 tokens, some of them five times as long."""
    rng = np.random.default_rng(0)
    episodes = []
    for episode in range(count):
        goal = f"Your task: put thing {episode % 8} in drawer {episode % 5}."
        episodes.append(
            [
                Step(
                    engine.prompt(
                        [
                            Message("system", SYSTEM),
                            Message(
                                "user", f"{goal} You see drawer {rng.integers(9)}. " + "It is open. " * rng.integers(8)
                            ),
                        ]
                    ),
                    seed=episode * steps + step,
                    tokens=int(np.clip(rng.lognormal(np.log(40), 0.8), 5, 250)),
                    pause=float(rng.uniform(0, 2 * pause)),
                )
                for step in range(steps)
            ]
        )
    return episodes


async def respond(engine: TransformersEngine, step: Step) -> int:
    [made] = await engine.generate([step.prompt], Sampling(max_tokens=step.tokens, seed=step.seed))
    return len(made.ids)


async def play(engine: TransformersEngine, episode: list[Step]) -> int:
    tokens = 0
    for step in episode:
        tokens += await respond(engine, step)
        await asyncio.sleep(step.pause)
    return tokens


async def one_by_one(engine: TransformersEngine, episodes: list[list[Step]]) -> int:
    return sum([await play(engine, episode) for episode in episodes])


async def lock_step(engine: TransformersEngine, episodes: list[list[Step]]) -> int:
    tokens = 0
    for steps in zip(*episodes, strict=True):
        tokens += sum(await asyncio.gather(*(respond(engine, step) for step in steps)))
        await asyncio.sleep(max(step.pause for step in steps))
    return tokens


async def asynchronous(engine: TransformersEngine, episodes: list[list[Step]]) -> int:
    return sum(await asyncio.gather(*(play(engine, episode) for episode in episodes)))


def generate(model: Any, episodes: list[list[Step]], batch: int) -> tuple[int, float]:
    """Tokens that were wanted, and the share of rows that made them."""
    wanted = made = 0
    for steps in zip(*episodes, strict=True):
        for i in range(0, len(steps), batch):
            part = steps[i : i + batch]
            width = max(len(step.prompt.ids) for step in part)
            ids = torch.tensor([[0] * (width - len(step.prompt.ids)) + list(step.prompt.ids) for step in part])
            mask = torch.tensor([[0] * (width - len(step.prompt.ids)) + [1] * len(step.prompt.ids) for step in part])
            longest = max(step.tokens for step in part)
            with torch.inference_mode():
                model.generate(
                    ids, attention_mask=mask, do_sample=True, top_k=0, min_new_tokens=longest, max_new_tokens=longest
                )
            wanted += sum(step.tokens for step in part)
            made += batch * longest
        time.sleep(max(step.pause for step in steps))
    return wanted, wanted / made


async def measure(engine: TransformersEngine, way: Any, episodes: list[list[Step]]) -> dict[str, float]:
    engine.forget_prefixes()
    before = dict(engine.stats())
    start = time.perf_counter()
    tokens = await way(engine, episodes)
    seconds = time.perf_counter() - start
    now = engine.stats()
    rows, steps, reused, fed = (
        now.get(name, 0) - before.get(name, 0)
        for name in ("decode_rows", "decode_steps", "reused_tokens", "prompt_tokens")
    )
    most = int(engine.stamp()["max_batch"])
    return {
        "responses": sum(map(len, episodes)),
        "tokens": tokens,
        "seconds": round(seconds, 2),
        "tokens_per_second": round(tokens / seconds, 1),
        "rows_per_step": round(rows / steps, 2),
        "batch_fill": round(rows / steps / most, 3),
        "prompt_tokens_copied": round(reused / fed, 3),
    }


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        model = make_tiny(Path(folder) / "model", "qwen3", arguments.size)
        engine = TransformersEngine(str(model), max_batch=arguments.batch)
        engine._batcher._ends = frozenset()  # lengths are those that were drawn
        episodes = episodes_of(engine, arguments.episodes, arguments.steps, arguments.pause)
        await engine.generate([episodes[0][0].prompt] * arguments.batch, Sampling(max_tokens=8))  # to warm up
        few = episodes[: max(1, arguments.episodes // 16)]
        rows: dict[str, dict[str, float]] = {"one by one": await measure(engine, one_by_one, few)}
        start = time.perf_counter()
        tokens, fill = generate(engine._model, episodes, arguments.batch)
        seconds = time.perf_counter() - start
        rows["generate"] = {
            "responses": arguments.episodes * arguments.steps,
            "tokens": tokens,
            "seconds": round(seconds, 2),
            "tokens_per_second": round(tokens / seconds, 1),
            "rows_per_step": round(fill * arguments.batch, 2),
            "batch_fill": round(fill, 3),
        }
        rows["lock-step"] = await measure(engine, lock_step, episodes)
        rows["asynchronous"] = await measure(engine, asynchronous, episodes)
        stamp = engine.stamp() | {"model": f"tiny Qwen3, {arguments.size} parameters"}
        await engine.close()
    assert rows["lock-step"]["tokens"] == rows["asynchronous"]["tokens"] == rows["generate"]["tokens"]
    return {"engine": stamp, "options": vars(arguments), "ways": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="0.9m", help="parameters of the model")
    parser.add_argument("--episodes", type=int, default=128, help="that are played at a time")
    parser.add_argument("--steps", type=int, default=8, help="of each episode")
    parser.add_argument("--batch", type=int, default=64, help="responses that are sampled at a time")
    parser.add_argument("--pause", type=float, default=0.01, help="mean seconds that an environment takes for a step")
    parser.add_argument("--no-write", action="store_true", help="only print the table")
    arguments = parser.parse_args()
    write = not arguments.no_write
    del arguments.no_write
    result = asyncio.run(run(arguments))
    table = Table(title=f"Batching on {result['engine']['model']}, {torch.get_num_threads()} threads")
    for title in ("way", "responses", "tokens", "seconds", "tokens/s", "rows a step", "batch fill", "prompt copied"):
        table.add_column(title, justify="left" if title == "way" else "right")
    for way, row in result["ways"].items():
        table.add_row(
            way,
            f"{row['responses']:,}",
            f"{row['tokens']:,}",
            f"{row['seconds']:.2f}",
            f"{row['tokens_per_second']:,.0f}",
            f"{row['rows_per_step']:.1f}",
            f"{row['batch_fill']:.0%}",
            f"{row['prompt_tokens_copied']:.0%}" if "prompt_tokens_copied" in row else "",
        )
    Console().print(table)
    if write:
        write_result("engine_batching", result | {"threads": torch.get_num_threads()})


if __name__ == "__main__":
    main()
