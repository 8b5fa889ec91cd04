"""Does the native ALFWorld engine do what the reference does, on the benchmark's own games?

Plays mixed walks (the way to the goal, random commands, junk) on the reference engine, plays the same commands on the
native one, and compares texts, commands, rewards, wins and state fingerprints, step for step. What the reference said
is kept in a file, so a run that was stopped goes on, and a changed native engine is compared again in seconds.

    ALFWORLD_DATA=… EAPO_REFERENCE_PYTHON=… python benchmarks/alfworld_agreement.py --games 330 --steps 45
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Lock

from common import write_result
from rich.progress import Progress, track

from eapo_gym.envs.alfworld.agreement import Transcript, plan_of, record, replay
from eapo_gym.envs.alfworld.data import data_folder
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.reference import hosted_reference
from eapo_gym.envs.alfworld.task_types import TASK_TYPES, task_type

SPLITS = ("train", "valid_seen", "valid_train")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=330, help="in all, shared out among splits and task types")
    parser.add_argument("--steps", type=int, default=45, help="of a walk, unless it wins before")
    parser.add_argument("--splits", nargs="+", default=SPLITS)
    parser.add_argument("--jobs", type=int, default=2, help="reference processes at a time")
    parser.add_argument("--kept", type=Path, default=Path("runs/alfworld_agreement.jsonl"))
    options = parser.parse_args()

    native = {split: ALFWorldEnv(games=split_folder(split)) for split in options.splits}
    options.kept.parent.mkdir(parents=True, exist_ok=True)
    known = set(options.kept.read_text(encoding="utf-8").splitlines()) if options.kept.exists() else set()
    done = {Transcript.from_json(line.partition("\t")[2]).task for line in known}
    chosen = [
        (split, task)
        for split, env in native.items()
        for task in choose(env.tasks(), options.games // len(options.splits))
        if task not in done
    ]
    writing = Lock()
    with (
        Progress() as progress,
        ThreadPoolExecutor(options.jobs) as pool,
        options.kept.open("a", encoding="utf-8") as kept,
    ):
        bar = progress.add_task("reference", total=len(chosen))

        def play(share: list[tuple[str, str]]) -> None:
            for split, transcript in recorded(share, native, options.steps):
                with writing:
                    kept.write(f"{split}\t{transcript.to_json()}\n")
                    kept.flush()
                progress.advance(bar)

        list(pool.map(play, [chosen[i :: options.jobs] for i in range(options.jobs)]))

    lines = options.kept.read_text(encoding="utf-8").splitlines()
    steps = 0
    differences: list[str] = []
    for line in track(lines, "native"):
        split, _, text = line.partition("\t")
        transcript = Transcript.from_json(text)
        differences += replay(native[split], transcript)
        steps += len(transcript.steps) - 1
    for difference in differences[:20]:
        print(difference)
    print(f"{len(lines)} games, {steps} steps, {len(differences)} differences")
    result = {"games": len(lines), "steps": steps, "differences": len(differences), "splits": list(options.splits)}
    write_result("alfworld_agreement", result)


def split_folder(split: str) -> Path:
    return data_folder() / "json_2.1.1" / split


def choose(tasks: list[str], count: int) -> list[str]:
    """Some tasks, as many of each type as there are; always the same ones."""
    kinds = [[task for task in tasks if task_type(task) == kind] for kind in TASK_TYPES]
    for kind in kinds:
        Random(0).shuffle(kind)
    longest = max(map(len, kinds))
    return [kind[i] for i in range(longest) for kind in kinds if i < len(kind)][:count]


def recorded(
    share: list[tuple[str, str]], native: dict[str, ALFWorldEnv], steps: int
) -> Iterator[tuple[str, Transcript]]:
    """Transcripts of the reference engine."""
    for split in dict.fromkeys(split for split, _ in share):
        reference = hosted_reference(games=split_folder(split))
        try:
            for task in (task for where, task in share if where == split):
                yield split, record(reference, task, plan_of(native[split], task), steps, Random(task))
        finally:
            reference.close()


if __name__ == "__main__":
    main()
