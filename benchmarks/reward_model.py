"""What does the reward model cost? Prepare, score and train on 1,000 transitions, against one sample at a time.

    python benchmarks/reward_model.py

The transitions are those of the expert explorer in ALFWorld, disturbed so that the trajectories of a task differ, and
the model is a tiny one. "One at a time" is the plain way to do the same: for each transition the prompt is built, each
of the two targets is encoded and goes through the model by itself, in both roles, and the training has a forward and a
backward pass for each. It is measured on a part of the transitions; the goal is 20 times its speed.

On a CPU the arithmetic itself is the limit, so what is gained there is what is not computed twice; on a GPU it is above
all that many rows go through at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from common import write_result
from rich.console import Console
from rich.table import Table

from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.agents.experts import ExplorerAgent
from eapo_gym.engines.base import Sampling
from eapo_gym.engines.tiny import make_tiny
from eapo_gym.protocol import render, render_section
from eapo_gym.registration import ALFWORLD
from eapo_gym.schema import Context, Observation, Trajectory, Transition
from eapo_gym.trainers.batch import Attempt, Batch, make_batch
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.pairs import memory_entry
from eapo_gym.trainers.policy import Policy
from eapo_gym.trainers.qphi import RewardModel

GOAL = 20
"""Times the speed of one sample at a time."""

GROUP = 16
STEPS = 20
NOISE = 0.3
"""Share of actions that are drawn instead of the expert's."""


def clock() -> float:
    """Processor time on a CPU, on one thread, since other processes of a busy machine are none of our doing."""
    if not torch.cuda.is_available():
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def play(chat: Any, count: int) -> Batch:
    """So many transitions of several tasks, in groups."""
    env = gym.make(ALFWORLD, schema="native")
    core: Any = env.unwrapped
    groups, left = [], count
    for task in core.tasks():
        attempts = []
        for member in range(GROUP):
            trajectory = _episode(env, core, chat, task, member, left)
            left -= len(trajectory)
            attempts.append(Attempt((trajectory,)))
        groups.append((task, attempts))
        if left <= 0:
            break
    env.close()
    return make_batch(groups)


def _episode(env: Any, core: Any, chat: Any, task: str, member: int, left: int) -> Trajectory:
    dice, expert = random.Random(f"{task} {member}"), ExplorerAgent()
    raw, _ = env.reset(seed=0, options={"task": task})
    explore = memory = ""
    trajectory = Trajectory(task, "benchmark")
    for t in range(min(STEPS, left)):
        offered = tuple(core.valid_actions())
        context = Context(env=ALFWORLD, task=task, t=t, seed=member)
        more = {"explore": explore, "memory": memory, "valid_actions": offered, "context": context}
        turn: Any = expert.act(Observation.from_dict(raw, **more))
        ids = tuple(chat.encode(render(turn)))
        seen, before = raw, core.fingerprint()
        action = dice.choice(offered) if dice.random() < NOISE else turn.action
        raw, reward, terminated, truncated, _ = env.step(action)
        made = Transition(
            task=task,
            trajectory=f"{task} {member}",
            t=t,
            goal=seen["goal"],
            state=seen["state"],
            fingerprint=before,
            depth=0,
            explore_in=explore,
            memory_in=memory,
            explore=turn.explore,
            memory=turn.memory,
            action=action,
            format_ok=True,
            reward=float(reward),
            terminated=terminated,
            truncated=truncated,
            next_state=raw["state"],
            next_fingerprint=core.fingerprint(),
            response_ids=ids,
            response_logprobs=(-1.0,) * len(ids),
        )
        trajectory.transitions.append(made)
        explore, memory = turn.explore, turn.memory
        if terminated or truncated:
            trajectory.success = reward > 0
            break
    return trajectory


def together(model: RewardModel, batch: Batch) -> dict[str, float]:
    """Seconds of each part."""
    marks = [clock()]
    scored = model.prepare(batch)
    marks.append(clock())
    model.score(scored)
    marks.append(clock())
    trained = model.train(scored)
    model.health(scored, trained)
    marks.append(clock())
    return dict(zip(("prepare", "score", "train"), np.diff(marks).tolist(), strict=True))


def one_at_a_time(
    policy: Any, agent: EAPOAgent, config: TrainConfig, transitions: Sequence[Transition]
) -> dict[str, float]:
    """The same work without any of it shared, on plain models."""
    reference = policy.model
    q = type(reference).from_pretrained(config.model).to(policy.device)
    optimizer = torch.optim.AdamW(q.parameters(), lr=config.q_rate)
    seconds = {"score": 0.0, "train": 0.0}

    def log_probs(model: Any, prompt: Sequence[int], target: Sequence[int]) -> Any:
        ids = torch.tensor([[*prompt, *target]], device=policy.device)
        logits = model(ids).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        return logits.gather(1, torch.tensor(target, device=policy.device)[:, None])[:, 0]

    for step in transitions:
        begin = clock()
        prompt = agent.prompt(Observation(step.goal, step.state, context=Context(env=config.env))).ids
        start = render_section("explore", step.explore) + "\n"
        memories = (step.memory, f"{step.memory}\n{memory_entry(step.next_state)}")
        targets = [policy.chat.encode(start + render_section("memory", memory)) for memory in memories]
        with torch.no_grad():
            values = [[float(log_probs(model, prompt, target).sum()) for target in targets] for model in (q, reference)]
        scored = clock()
        log_q = log_probs(q, prompt, targets[0])
        signal = 1.0 - (log_q.detach().mean() - values[1][0] / len(targets[0]))
        (-(signal * log_q.mean()) / len(transitions)).backward()
        seconds["score"] += scored - begin
        seconds["train"] += clock() - scored
    optimizer.step()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transitions", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=100, help="transitions that are done one at a time")
    parser.add_argument("--size", default="0.2m", help="parameters of the model")
    parser.add_argument("--tuning", choices=("lora", "full"), default="full")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dry", action="store_true", help="print, and write no result")
    options = parser.parse_args()

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = str(make_tiny(f"{folder}/model", "qwen3", options.size))
        config = TrainConfig.make(model=model, tuning=options.tuning, max_tokens=512)
        policy = Policy.load(config)
        engine = policy.open_engine()
        agent = EAPOAgent(engine, Sampling(max_tokens=config.max_tokens), env=config.env, compact=True)
        batch = play(policy.chat, options.transitions)
        reward_model = RewardModel(policy, config, agent)
        together(reward_model, play(policy.chat, 50))  # warm up
        runs = [together(RewardModel(policy, config, agent), batch) for _ in range(options.repeats)]
        best = min(runs, key=lambda run: sum(run.values()))
        scored = reward_model.prepare(batch)
        part = batch.transitions[:: max(1, len(batch) // options.alone)][: options.alone]
        if options.tuning == "lora":
            plain = Policy.load(TrainConfig.make(model=model, tuning="full"), roles=("policy",))
            plain.model.to(policy.device)
        else:
            plain = policy
        alone = one_at_a_time(plain, agent, config, part)
        asyncio.run(engine.close())

    count = len(batch)
    batched = {name: 1000 * value / count for name, value in best.items()}
    single = {name: 1000 * value / len(part) for name, value in alone.items()}
    speedup = sum(single.values()) / sum(batched.values())
    parts = ("prepare", "score", "train")
    table = Table("seconds for 1,000 transitions", *parts, "all", title=f"{options.size}, {options.tuning}")
    for name, values in (("batched", batched), ("one at a time", single)):
        cells = [f"{values[part]:.2f}" if part in values else "" for part in parts]
        table.add_row(name, *cells, f"{sum(values.values()):.2f}")
    Console().print(table)
    prompt_tokens = float(np.mean([len(row.prompt) for row in scored.rows]))
    pair_tokens = float(np.mean([len(row.targets[0]) for row in scored.rows]))
    print(
        f"{speedup:.1f} × the speed of one at a time (goal: {GOAL} ×); {len(scored.rows)} distinct rows of {count}; "
        f"prompts of {prompt_tokens:.0f} and first pairs of {pair_tokens:.0f} tokens on average"
    )
    if not options.dry:
        write_result(
            "reward_model",
            {
                "device": str(policy.device), "model": options.size, "tuning": options.tuning, "transitions": count,
                "distinct_rows": len(scored.rows), "prompt_tokens": prompt_tokens,
                "pair_tokens": pair_tokens, "torch_threads": torch.get_num_threads(),
                "seconds_per_1000": batched, "one_at_a_time_seconds_per_1000": single,
                "speedup": speedup, "goal": GOAL,
            },
        )  # fmt: skip


if __name__ == "__main__":
    main()
