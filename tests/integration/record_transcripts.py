"""Makes tests/integration/transcripts.jsonl.xz: what the reference engine says on games of our own generator.

    EAPO_REFERENCE_PYTHON=… python -m tests.integration.record_transcripts
"""

from __future__ import annotations

import lzma
from pathlib import Path
from random import Random

from rich.progress import track

from eapo_gym.envs.alfworld.agreement import plan_of, record
from eapo_gym.envs.alfworld.data import TASK_TYPES
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.envs.alfworld.reference import hosted_reference

FILE = Path(__file__).parent / "transcripts.jsonl.xz"
GAMES_OF_A_TYPE = 4
STEPS = 60


def main() -> None:
    tasks = [
        generate(seed, task_type=kind).id
        for number, kind in enumerate(TASK_TYPES)
        for seed in range(2000 + 10 * number, 2000 + 10 * number + GAMES_OF_A_TYPE)
    ]
    reference = hosted_reference(games=tasks)
    native = ALFWorldEnv(games=tasks)
    lines = [
        record(reference, task, plan_of(native, task), STEPS, Random(task)).to_json()
        for task in track(tasks, "reference engine")
    ]
    reference.close()
    FILE.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))
    print(f"{len(lines)} transcripts in {FILE}, {FILE.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
