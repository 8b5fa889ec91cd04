r"""What does each part of EAPO bring? All arms from one start, with one budget of environment steps, on held-out games.

    python benchmarks/learning/run.py --jobs 2           all of it: hours; the same command goes on after a break
    python benchmarks/learning/run.py --only eapo,0      this run alone (or an arm: --only eapo)
    python benchmarks/learning/run.py --show             the table of what is there so far
    python benchmarks/learning/run.py --quick            all of it, shrunk to a minute, to try the script

    python benchmarks/learning/run.py --out runs/switches --result learning_switches \
        --only eapo-singleton-zero --only eapo-singleton-raw --only eapo-token-mean --only eapo-episodic \
        --only eapo-std-floor                            the open switches alone, from the very same start

1  prepare    a tiny model, demonstrations, rollback pairs; fine-tuned with and without the pairs: two start models
2  train      every arm with every seed, each by `eapo-gym train` in a process of its own
3  evaluate   every end model, and the start models, on all held-out games: runs of `eapo_gym.bench`, in a folder each
4  show       the table, `results/learning.json`, and the training report of all runs

What is done with what is in the YAML file. The last model of a run is what counts, not its best, so the held-out games
choose nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import torch
import yaml
from common import RESULTS, write_result
from learning.outcome import GREEDY, SAMPLED, outcome_of, table_of
from transformers.utils.logging import disable_progress_bar

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.evaluate import Evaluation, evaluate
from eapo_gym.bench.setting import versions, without_secrets
from eapo_gym.bench.store import plain
from eapo_gym.engines import open_engine
from eapo_gym.engines.base import Sampling
from eapo_gym.engines.tiny import make_tiny
from eapo_gym.envs.alfworld.experts.brief import brief_memory
from eapo_gym.trainers.collecting import Walks
from eapo_gym.trainers.config import TrainConfig, check_names
from eapo_gym.trainers.demonstrations import Demonstrations, collect_demonstrations
from eapo_gym.trainers.examples import Example, read_examples, write_examples
from eapo_gym.trainers.records import hash_data
from eapo_gym.trainers.report import write_training_report
from eapo_gym.trainers.rollback import Rollbacks, collect_rollbacks
from eapo_gym.trainers.rollback_rate import measure_rollback
from eapo_gym.trainers.runs import load_training_run, load_training_runs
from eapo_gym.trainers.sft import sft
from eapo_gym.trainers.sweep import FINISHED, Point, Progress, Sweep, last_words, run_sweep

HERE = Path(__file__).parent
RUNS, EVALS, DATA = "runs", "evals", "data"
WITH, WITHOUT, UNTRAINED = "sft", "sft-without-rollback", "untrained"
"""The start models, and what they were made from."""

MOST_LEFT_OUT = 0.05
"""Of the rollback pairs; if they were left out for their length, the two start models would be the same."""

_TOLD_EVERY = 60.0
"""Seconds between two lines on the runs that are going on."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the YAML file says, and where it is carried out."""

    values: Mapping[str, Any]
    out: Path

    @classmethod
    def read(cls, path: Path, out: Path, *, quick: bool) -> Experiment:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        shrunk = values.pop("quick", {})
        if quick:
            values = merged(values, shrunk)
        values["arms"] = {name: arm for name, arm in values["arms"].items() if arm is not None}
        for settings in (values["sft"], values["train"], *values["arms"].values()):
            check_names(settings)
        return cls(values, out)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def base(self) -> Path:
        return self.out / UNTRAINED

    def start(self, arm: str) -> str:
        """The name of the model that an arm starts from."""
        algorithm = self["arms"][arm].get("algorithm", arm)
        return WITH if TrainConfig.make(algorithm=algorithm).rollback_sft else WITHOUT

    def model(self, name: str) -> Path:
        """The folder of a start model."""
        return self.base() if name == UNTRAINED else self.out / name / "model"

    def common(self) -> dict[str, Any]:
        """Settings that fine-tuning and training share."""
        return {name: self[name] for name in ("env", "env_kwargs", "split", "agent_options", "max_steps", "max_tokens")}

    def points(self, only: Sequence[str] = ()) -> list[Point]:
        """The runs: each arm with each seed; all of their settings are checked here."""
        found = []
        for arm, own in self["arms"].items():
            for seed in self["seeds"]:
                if only and not {arm, f"{arm},{seed}"} & set(only):
                    continue
                model = str(self.model(self.start(arm)))
                settings = {"algorithm": arm, **self.common(), **self["train"], **own, "model": model, "seed": seed}
                config = TrainConfig.make(**settings)
                overrides = tuple(f"{name}={json.dumps(value)}" for name, value in settings.items())
                found.append(
                    Point(f"{arm}-seed{seed}", {"arm": arm}, seed, overrides, plain(without_secrets(config.to_json())))
                )
        if not found:
            known = ", ".join(self["arms"])
            sys.exit(f"--only {' --only '.join(only)}: there is no such run. Arms: {known}; seeds: {self['seeds']}.")
        return found


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The values with those of `changes` instead, section by section."""
    found = dict(values)
    for name, change in changes.items():
        own = found.get(name)
        found[name] = merged(own, change) if isinstance(own, Mapping) and isinstance(change, Mapping) else change
    return found


def say(text: str) -> None:
    print(text, flush=True)


# 1  prepare


def prepare(plan: Experiment) -> dict[str, Any]:
    """The start models; what was made so far is taken as it is. Returns what is to be known of the data."""
    model, shown, back = plan["model"], plan["demonstrations"], plan["rollback"]
    make_tiny(
        plan.base(), model["architecture"], model["size"], context=model["context"], compact=True, seed=model["seed"]
    )
    walks = {"env": plan["env"], "env_kwargs": plan["env_kwargs"], "parallel": 32}
    what = Demonstrations(
        agent="explorer",
        agent_options={"use_valid_actions": False},
        think=False,
        brief=True,
        doubt=shown["doubt"],
        noise=shown["noise"],
    )
    pairs = Rollbacks(walker=back["walker"], think=False, entry=back["entry"])
    steps = back["max_steps"]
    demonstrations = asyncio.run(
        collect_demonstrations(
            what,
            Walks(
                **walks,
                split=plan["split"],
                max_tasks=shown["tasks"],
                seeds=shown["seeds"],
                max_steps=shown["max_steps"],
            ),
            plan.out / DATA / "demonstrations",
        )
    )
    back_pairs = {}
    for folder, split, tasks in (
        ("rollback", plan["split"], back["tasks"]),
        ("rollback-held-out", plan["evaluation"]["split"], back["held_out_tasks"]),
    ):
        walked = Walks(**walks, split=split, max_tasks=tasks, max_steps=steps)
        found = asyncio.run(collect_rollbacks(pairs, walked, plan.out / DATA / folder))
        path = write_examples(map(in_brief, found.examples), plan.out / DATA / f"{folder}.jsonl")
        back_pairs[folder] = path, found
    pairs_path, learned = back_pairs["rollback"]
    say(f"data: {len(demonstrations.examples):,} demonstrations, {len(learned.examples):,} rollback pairs")
    tuned = {}
    for name in (WITH, WITHOUT):
        settings = {**plan.common(), **plan["sft"], "model": str(plan.base()), "rollback_sft": name == WITH}
        done = sft(TrainConfig.make(**settings), [demonstrations.path, pairs_path], plan.out / name)
        tuned[name] = {
            "updates": done.steps, "examples": done.examples, "too_long": done.too_long + done.over_max_tokens,
            "loss": done.loss, "valid_loss": done.valid_after,
        }  # fmt: skip
        say(f"{name}: loss {done.loss:.3f} after {done.steps} updates on {done.examples:,} examples")
        if (too_long := done.too_long + done.over_max_tokens) > MOST_LEFT_OUT * len(learned.examples):
            sys.exit(
                f"{too_long} examples are too long, and {len(learned.examples)} are rollback pairs: raise "
                "max_tokens or the model's context, or lower rollback.entry, and choose another folder."
            )
    return plain(
        {
            "demonstrations": demonstrations.summary,
            "rollback": {"pairs": len(learned.examples), "admission": learned.admission.to_json()},
            "rollback_success": rollback_success(plan, back_pairs["rollback-held-out"][0], back["most"]),
            "sft": tuned,
        }
    )


def in_brief(pair: Example) -> Example:
    """The walker's notes in few words, as in the demonstrations; the entry after them stays."""

    def shortened(memory: str) -> str:
        notes, line, entry = memory.rpartition("\n")
        return brief_memory(pair.goal, notes) + line + entry

    turn = replace(pair.turn, memory=shortened(pair.turn.memory or ""))
    return replace(pair, memory=shortened(pair.memory), turn=turn)


def rollback_success(plan: Experiment, pairs: Path, most: int) -> dict[str, Any]:
    """How often each start model, and the untrained one, finds the way back in games that it has not seen."""
    path = plan.out / "rollback.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    examples = read_examples(pairs)
    chosen = [examples[i * len(examples) // most] for i in range(most)] if most < len(examples) else examples

    async def measure(name: str) -> dict[str, Any]:
        engine = open_engine("transformers", str(plan.model(name)))
        try:
            rate = await measure_rollback(
                chosen, engine, agent_options=plan["agent_options"], max_tokens=plan["max_tokens"]
            )
        finally:
            await engine.close()
        return rate.to_json()

    for name in (UNTRAINED, WITHOUT, WITH):
        if name not in found:
            found[name] = asyncio.run(measure(name))
            write_atomically(path, json.dumps(found, indent=1) + "\n")
        say(f"{name}: goes back in {100 * found[name]['kinds']['all']['rate']:.1f} % of {len(chosen)} held-out pairs")
    return found


# 2  train


def train(plan: Experiment, points: Sequence[Point], jobs: int) -> dict[str, str]:
    """So many runs at a time; returns what became of each."""
    out = plan.out / RUNS
    out.mkdir(parents=True, exist_ok=True)
    running: tuple[str, ...] = ()

    def told(now: Progress) -> None:
        nonlocal running
        running = now.running
        if now.event:
            say(f"[{now.finished} of {now.total}] {now.event}")

    with every(_TOLD_EVERY, lambda: [say(line_on(out / name)) for name in running]):
        states = run_sweep(Sweep(None, {}, tuple(points)), out, jobs=jobs, on_change=told)
    failed = [name for name, state in states.items() if state != FINISHED]
    for name in failed:
        say(f"{name} failed:\n{last_words(out, name)}")
    return states


def line_on(folder: Path) -> str:
    """How far a run has come."""
    if not (folder / "config.json").exists():
        return f"{folder.name}: begins"
    run = load_training_run(folder)
    done, budget = run.last("env_steps"), run.config.get("env_steps")
    numbers = {"train": run.recent("train/success"), "held-out": run.final_eval().get("success", math.nan)}
    known = "".join(f", {name} {value:.1%}" for name, value in numbers.items() if not math.isnan(value))
    return f"{folder.name}: {0 if math.isnan(done) else done:,.0f} of {budget:,} environment steps{known}"


@contextmanager
def every(seconds: float, work: Any) -> Any:
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            work()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# 3  evaluate


def evaluate_all(plan: Experiment, models: Mapping[str, Path]) -> None:
    """What is not played yet: sampled, and greedy."""
    for name, model in models.items():
        for how in (SAMPLED, GREEDY):
            folder = plan.out / EVALS / f"{name}-{how}"
            forget_others(folder, model)
            result = asyncio.run(evaluate(evaluation_of(plan, model, how), folder))
            say(f"{name}, {how}: {result.metrics.success} of {len(result.planned)} episodes")


def forget_others(folder: Path, model: Path) -> None:
    """What was played with other weights, before the run was trained again, is no evaluation of this model."""
    note, digest = folder.with_name(f"{folder.name}.sha256"), hash_data(model)
    if folder.exists() and (not note.exists() or note.read_text(encoding="utf-8") != digest):
        shutil.rmtree(folder)
    note.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(note, digest)


def evaluation_of(plan: Experiment, model: Path, how: str) -> Evaluation:
    values = plan["evaluation"]
    trained = TrainConfig.make(**plan["train"])
    return Evaluation(
        env=plan["env"],
        env_kwargs=plan["env_kwargs"],
        split=values["split"],
        agent="eapo",
        agent_options=plan["agent_options"],
        model=str(model),
        sampling=Sampling(
            max_tokens=plan["max_tokens"], temperature=trained.temperature if how == SAMPLED else 0.0, logprobs=False
        ),
        seeds=tuple(range(values["seeds"] if how == SAMPLED else 1)),
        max_tasks=values["tasks"],
        max_steps=plan["max_steps"],
        rollback=None if trained.rollback == "none" else trained.rollback,
        parallel=values["parallel"],
    )


# 4  show


def show(plan: Experiment, data: Mapping[str, Any], results: Path, name: str) -> None:
    """The table of what is there, and all of it as JSON; the report of the training runs."""
    arms = {arm: plan.start(arm) for arm in plan["arms"]}
    found = outcome_of(plan.out / RUNS, plan.out / EVALS, arms, plan["seeds"])
    table = table_of(found)
    say(f"\n{table}")
    write_atomically(plan.out / "table.md", table)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    write_result(
        name,
        {
            "experiment": plain(dict(plan.values)), "device": device, "versions": versions(),
            "data": data, **found, "table": table,
        },
        results,
    )  # fmt: skip
    folders = [folder for arm in arms for seed in plan["seeds"] if _has_metrics(folder := _run(plan, arm, seed))]
    if folders:
        say(f"report: {write_training_report(load_training_runs(folders), plan.out / 'report.html')}")


def _run(plan: Experiment, arm: str, seed: int) -> Path:
    return plan.out / RUNS / f"{arm}-seed{seed}"


def _has_metrics(folder: Path) -> bool:
    return (folder / "metrics.jsonl").exists()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=HERE / "experiment.yaml")
    parser.add_argument("--out", type=Path, default=Path("runs/learning"))
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--only", action="append", default=[], metavar="ARM[,SEED]", help="repeat for more")
    parser.add_argument("--eval-seeds", type=int, help="how often each held-out game is played, instead of the file's")
    parser.add_argument("--show", action="store_true", help="play nothing: the table of what is there so far")
    parser.add_argument("--result", default="learning", help="the name of the result's file")
    parser.add_argument("--quick", action="store_true", help="shrunk to a minute; its result stays in the folder")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    plan = Experiment.read(options.config, out, quick=options.quick)
    if options.eval_seeds is not None:
        plan.values["evaluation"]["seeds"] = options.eval_seeds  # type: ignore[index]
    points = plan.points(options.only)
    results = out if options.quick else RESULTS
    noted = out / "data.json"
    if not options.show:
        out.mkdir(parents=True, exist_ok=True)
        disable_progress_bar()  # of models that are loaded
        # The cores are shared out. How many threads a run has decides its last bits, so it is said in the results.
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // options.jobs)))
        data = {**prepare(plan), "threads_of_a_run": os.environ["OMP_NUM_THREADS"]}
        write_atomically(noted, json.dumps(data, indent=1) + "\n")
        states = train(plan, points, options.jobs)
        ended = {name: out / RUNS / name / "model" for name, state in states.items() if state == FINISHED}
        starts = {name: plan.model(name) for name in dict.fromkeys(plan.start(arm) for arm in plan["arms"])}
        evaluate_all(plan, {**starts, **ended})
    data = json.loads(noted.read_text(encoding="utf-8")) if noted.exists() else {}
    show(plan, data, results, options.result)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on.")
