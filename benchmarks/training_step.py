"""What does a step of training cost? Seconds of each part for GRPO, GiGPO and EAPO, and the memory of EAPO and GRPO.

    python benchmarks/training_step.py
    python benchmarks/training_step.py --size 60m --tasks 8 --group 16            (a GPU is used where there is one)

The three take their steps in turn, in one process, with the same model, tasks and seeds, so that what slows the machine
slows all of them. The learning rate is next to nothing: the policy stays what it was, and all of them play the very
same episodes. The model is tiny and was fine-tuned a little before, so that it writes explorations and memories for the
reward model to read. Environments are ALFWorld's, in the same process.

Peak memory is that of learning from one batch of expert episodes with LoRA, in a fresh process for each algorithm, with
a model whose weights matter. What the rollouts take is the same for both, and less.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium as gym
import torch
from common import write_result
from reward_model import play
from rich.console import Console
from rich.table import Table
from taught import teach

from eapo_gym.agents.loading import make_agent
from eapo_gym.agents.model import ModelAgent
from eapo_gym.engines.base import Sampling
from eapo_gym.engines.tiny import make_tiny
from eapo_gym.registration import ALFWORLD
from eapo_gym.schema import Context, Observation
from eapo_gym.trainers.batch import make_batch
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.learning import Learner, roles_of
from eapo_gym.trainers.policy import Policy
from eapo_gym.trainers.processes import Processes
from eapo_gym.trainers.rollout import Collector

ALGORITHMS = ("grpo", "gigpo", "eapo")
PARTS = ("rollout", "q_score", "grouping", "q_train", "logprobs", "update", "sync", "other")
"""Of a step; together they are all of it. `env` is a part of the rollout."""

GOALS = {"cpu": 1.35, "cuda": 1.10}
"""The most that a step of EAPO should take, in steps of GRPO."""

MEMORY_GOAL = 1.15

_NEXT_TO_NOTHING = 1e-12
"""Moves no weight in single precision."""

Numbers = dict[str, float]


class Arm:
    """One algorithm, with a model of its own."""

    def __init__(self, algorithm: str, model: str, **settings: Any) -> None:
        self.config = TrainConfig.make(
            algorithm=algorithm,
            model=model,
            learning_rate=_NEXT_TO_NOTHING,
            agent_options={"compact": True},
            **settings,
        )
        self.policy = Policy.load(self.config, roles=roles_of(self.config))
        self.engine = self.policy.open_engine()
        sampling = Sampling(
            max_tokens=self.config.max_tokens, temperature=self.config.temperature, adapter=self.policy.adapter
        )
        agent = make_agent(
            "eapo", engine=self.engine, env=self.config.env, sampling=sampling, options=dict(self.config.agent_options)
        )
        assert isinstance(agent, ModelAgent)
        self.agent = agent
        self.collector = Collector(self.config, agent, self.engine)
        self.learner = Learner(self.config, self.policy, agent, Processes(self.config))

    async def step(self, tasks: Sequence[str], number: int) -> Numbers:
        """Play, learn, hand on the weights: seconds of each part, and what was done in them."""
        synchronize()
        begin = time.perf_counter()
        collected = await self.collector.collect(tasks, number)
        batch = make_batch(collected.groups)
        played = time.perf_counter()
        async with self.policy.paused(self.engine):
            learned = self.learner.learn(batch, number)
        synchronize()
        between = time.perf_counter()
        await self.policy.sync(self.engine)
        synchronize()
        end = time.perf_counter()
        found = {name.removeprefix("time/"): value for name, value in learned.items() if name.startswith("time/")}
        found |= {"rollout": played - begin, "env": collected.counts.env_seconds, "sync": end - between}
        found["other"] = end - begin - sum(found.get(part, 0.0) for part in PARTS)
        found["step"] = end - begin
        return found | {
            "transitions": float(len(batch)),
            "env_steps": float(collected.counts.env_steps),
            "response_tokens": float(sum(len(one.response_ids) for one in batch.transitions)),
            "tokens": float(sum(len(one.prompt_ids) + len(one.response_ids) for one in batch.transitions)),
            "format_rate": learned["format/rate"] if "format/rate" in learned else float(batch.format_ok.mean()),
        }

    async def close(self) -> None:
        await self.collector.close()
        await self.engine.close()


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def draw(count: int, steps: int) -> list[list[str]]:
    """The tasks of each step."""
    env = gym.make(ALFWORLD, schema="native")
    core: Any = env.unwrapped
    names = list(core.tasks("train"))
    env.close()
    return [[names[(i * count + j) * 7 % len(names)] for j in range(count)] for i in range(steps)]


async def side_by_side(model: str, options: argparse.Namespace) -> dict[str, list[Numbers]]:
    """So many steps of each algorithm, in turn; before them one that does not count."""
    settings = {
        "tuning": options.tuning,
        "tasks_per_step": options.tasks,
        "group_size": options.group,
        "max_steps": options.max_steps,
        "max_tokens": options.max_tokens,
        "microbatch_tokens": options.microbatch_tokens,
    }
    arms = {name: Arm(name, model, **settings) for name in ALGORITHMS}
    found: dict[str, list[Numbers]] = {name: [] for name in ALGORITHMS}
    try:
        for number, tasks in enumerate(draw(options.tasks, options.steps + 1)):
            first = number % len(ALGORITHMS)  # nobody is always the first
            for name in (*ALGORITHMS[first:], *ALGORITHMS[:first]):
                gc.collect()
                measured = await arms[name].step(tasks, number)
                if number:
                    found[name].append(measured)
                print(f"step {number}/{options.steps} {name}: {measured['step']:.2f} s", flush=True)
    finally:
        for arm in arms.values():
            await arm.close()
    return found


def summarise(found: dict[str, list[Numbers]]) -> dict[str, Any]:
    """Medians over the steps; ratios are within the steps, and then the median of those."""
    medians: dict[str, Numbers] = {}
    for name, steps in found.items():
        part = {key: median(step.get(key, 0.0) for step in steps) for key in ("step", *PARTS, "env")}
        medians[name] = part
    rates = {
        name: {
            "rollout_response_tokens_per_second": median(each["response_tokens"] / each["rollout"] for each in steps),
            "update_tokens_per_second": median(each["tokens"] / each["update"] for each in steps),
            "env_steps_per_second": median(each["env_steps"] / each["rollout"] for each in steps),
            "env_steps_per_second_of_training": median(each["env_steps"] / each["step"] for each in steps),
        }
        for name, steps in found.items()
    }
    base = found["grpo"]
    ratios = {
        name: median(own["step"] / other["step"] for own, other in zip(steps, base, strict=True))
        for name, steps in found.items()
    }
    facts = ("transitions", "env_steps", "response_tokens", "tokens", "format_rate")
    return {
        "seconds": medians,
        "step_over_grpo": ratios,
        "rates": rates,
        "batch": {
            name: {fact: median(step[fact] for step in steps) for fact in facts} for name, steps in found.items()
        },
        "same_episodes": all(
            own["tokens"] == other["tokens"] for steps in found.values() for own, other in zip(steps, base, strict=True)
        ),
    }


# Memory


def memory_of(algorithm: str, model: str, options: argparse.Namespace) -> Numbers:
    """Of this process, which has done nothing before: learns twice, so that the optimiser's state is there too."""
    before = _resident()
    arm = Arm(
        algorithm,
        model,
        tuning="lora",
        lora_rank=options.memory_rank,
        lora_alpha=2 * options.memory_rank,
        max_tokens=512,
        microbatch_tokens=options.memory_microbatch,
    )
    batch = play(arm.policy.chat, options.memory_rows)
    for step in batch.transitions:
        seen = Observation(
            step.goal,
            step.state,
            explore=step.explore_in,
            memory=step.memory_in,
            context=Context(env=arm.config.env, task=step.task, t=step.t),
        )
        step.prompt_ids = arm.agent.prompt(seen).ids
    for number in range(2):
        arm.learner.learn(batch, number)
    asyncio.run(arm.close())
    weights = sum(one.numel() for one in arm.policy.model.parameters() if one.dtype.is_floating_point)
    found = {"peak_mb": _resident(), "before_mb": before, "parameters": float(weights)}
    if torch.cuda.is_available():
        found |= {"peak_mb": torch.cuda.max_memory_allocated() / 1e6, "before_mb": 0.0}
    return found


def _resident() -> float:
    """The most memory that this process has held, in MB."""
    try:
        # Not what getrusage says: on Linux that begins with the peak of the process that started this one.
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / 1e6
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def measure_memory(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    model = make_tiny(folder / "for-memory", "qwen3", options.memory_size, compact=True, context=4096)
    found: dict[str, Any] = {}
    for algorithm in ("grpo", "eapo"):
        command = [sys.executable, __file__, *sys.argv[1:], "--memory-of", algorithm, "--model", str(model)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"Measuring the memory of {algorithm} failed:\n{done.stderr}")
        found[algorithm] = json.loads(done.stdout.splitlines()[-1])
    grown = {name: each["peak_mb"] - each["before_mb"] for name, each in found.items()}
    return {
        **found,
        "peak_over_grpo": found["eapo"]["peak_mb"] / found["grpo"]["peak_mb"],
        "without_libraries_over_grpo": grown["eapo"] / grown["grpo"],
        "settings": {
            "size": options.memory_size, "lora_rank": options.memory_rank, "rows": options.memory_rows,
            "microbatch_tokens": options.memory_microbatch,
        },
        "goal": MEMORY_GOAL,
    }  # fmt: skip


# What is printed


def print_times(summary: dict[str, Any], title: str) -> None:
    seconds = summary["seconds"]
    table = Table("seconds", *ALGORITHMS, "EAPO / GRPO", title=title)
    for part in (*PARTS, "env", "step"):
        row = [seconds[name][part] for name in ALGORITHMS]
        last = summary["step_over_grpo"]["eapo"] if part == "step" else row[-1] / row[0] if row[0] else float("nan")
        shown = f"{last:.2f}" if last == last else ""
        if part == "step":
            table.add_section()
        table.add_row("of which env" if part == "env" else part, *(f"{value:.3f}" for value in row), shown)
    for name in ("rollout_response_tokens_per_second", "update_tokens_per_second", "env_steps_per_second_of_training"):
        table.add_row(
            name.replace("_per_second", "/s").replace("_", " "),
            *(f"{summary['rates'][each][name]:,.0f}" for each in ALGORITHMS),
            "",
        )
    Console().print(table)
    if not summary["same_episodes"]:
        print("The algorithms did not play the same episodes: rounding was not the same, so compare with care.")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cpu"), default="auto", help="auto is a GPU where there is one")
    parser.add_argument("--size", default="0.8m", help="parameters of the model")
    parser.add_argument("--model", help="a folder with a model that writes in tag form, instead")
    parser.add_argument("--teach", type=int, default=100, help="updates of the fine-tuning before")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--max-steps", type=int, default=20)
    parser.add_argument("--max-tokens", type=int, default=100)
    parser.add_argument("--microbatch-tokens", type=int, default=16384)
    parser.add_argument("--tuning", choices=("lora", "full"), default="full")
    parser.add_argument("--memory-size", default="40m", help="parameters of the model whose memory is measured")
    parser.add_argument("--memory-rank", type=int, default=16)
    parser.add_argument("--memory-rows", type=int, default=32)
    parser.add_argument("--memory-microbatch", type=int, default=2048)
    parser.add_argument("--memory-of", choices=ALGORITHMS, help=argparse.SUPPRESS)
    parser.add_argument("--dry", action="store_true", help="print, and write no result")
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    if options.memory_of:
        print(json.dumps(memory_of(options.memory_of, options.model, options)))
        return
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        model = options.model or teach(folder, options.size, options.teach)
        steps = asyncio.run(side_by_side(model, options))
        summary = summarise(steps)
        summary["memory"] = measure_memory(folder, options)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else f"{torch.get_num_threads()} threads"
    print_times(summary, f"{options.size}, {options.tuning}, {options.tasks} × {options.group} episodes, {name}")
    memory = summary["memory"]
    print(f"EAPO / GRPO, a step: {summary['step_over_grpo']['eapo']:.2f} (goal: {GOALS[device]:.2f} at most)")
    print(
        f"EAPO / GRPO, peak memory with LoRA on {options.memory_size}: {memory['peak_over_grpo']:.2f} "
        f"({memory['eapo']['peak_mb']:,.0f} and {memory['grpo']['peak_mb']:,.0f} MB; without what the libraries take "
        f"{memory['without_libraries_over_grpo']:.2f}; goal: {MEMORY_GOAL:.2f} at most)"
    )
    if not options.dry:
        settings = ("size", "teach", "steps", "tasks", "group", "max_steps", "max_tokens", "microbatch_tokens")
        write_result(
            "training_step",
            {
                "device": device, "device_name": name, "tuning": options.tuning, "torch": torch.__version__,
                "settings": {each: getattr(options, each) for each in settings}, **summary,
                "goal": GOALS[device], "every_step": steps,
            },
        )  # fmt: skip


if __name__ == "__main__":
    main()
