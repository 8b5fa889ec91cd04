"""A hundred thousand outputs that no model should write, through agent and environment.

Each goes the way that a response goes: out of an engine, through the EAPO agent, into `eapo/ALFWorld-v0`, and its
traces into the next observation and the next prompt, which is built too. Nothing may crash, and slow, independent
checks look at every step: whether the format reward is right, whether memory was lost, whether the next prompt holds
anything but the structure of a prompt, and whether what is recorded of the step comes back from its file.
The time is the processor's, for one output through agent and environment, with the checks left out. Outputs that leave
a megabyte of memory behind make the steps after them slow, too: `carried` is what the episode remembered before.

    python benchmarks/hostile_outputs.py
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from common import write_result
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.hostile_outputs import Gauntlet, Writer

SHOWN = 200
BETWEEN_COLLECTIONS = 1000


async def face_all(count: int, seed: int, large_every: int) -> dict[str, Any]:
    gauntlet, writer = Gauntlet(seed), Writer(seed, large_every)
    milliseconds: dict[str, list[float]] = defaultdict(list)
    slowest: dict[str, Any] = {"ms": 0.0}
    failures: list[dict[str, Any]] = []
    # The games that the environment keeps make a full collection take half a second, whatever output it falls on.
    gc.disable()
    with Progress(*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        for kind, output in progress.track(writer.outputs(count, gauntlet.commands), count, description="outputs"):
            if sum(map(len, milliseconds.values())) % BETWEEN_COLLECTIONS == 0:
                gc.collect()
            carried = len(gauntlet.seen.memory)
            case = {"kind": kind, "characters": len(output), "carried": carried, "begins": ascii(output[:SHOWN])}
            try:
                ms = 1000 * await gauntlet.face(output)
            except Exception as error:  # that is what is looked for: it is counted, shown, and fails the run
                failures.append({**case, "error": f"{type(error).__name__}: {error}"[:1000]})
                gauntlet = Gauntlet(gauntlet.seed)
                continue
            milliseconds[kind].append(ms)
            if ms > slowest["ms"]:
                slowest = {"ms": round(ms, 3), **case}
    every = [ms for times in milliseconds.values() for ms in times]
    return {
        "outputs": count,
        "seed": seed,
        "failures": failures,
        "ms": percentiles(every),
        "slowest": slowest,
        "kinds": {kind: {"outputs": len(times), **percentiles(times)} for kind, times in sorted(milliseconds.items())},
    }


def percentiles(times: list[float]) -> dict[str, float]:
    p50, p90, p99, p999, most = np.percentile(times, [50, 90, 99, 99.9, 100]) if times else np.zeros(5)
    names = ("p50", "p90", "p99", "p99.9", "max")
    return {name: round(float(value), 3) for name, value in zip(names, (p50, p90, p99, p999, most), strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large-every", type=int, default=500, help="one output in so many has up to a megabyte")
    options = parser.parse_args()

    result = asyncio.run(face_all(options.outputs, options.seed, options.large_every))
    table = Table("kind", "outputs", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms", title="one output, one step")
    for kind, row in [*result["kinds"].items(), ("all", {"outputs": options.outputs, **result["ms"]})]:
        table.add_row(kind, f"{row['outputs']:,}", *(f"{row[name]:.2f}" for name in result["ms"]))
    console = Console()
    console.print(table)
    slowest = result["slowest"]
    console.print(
        f"slowest: {slowest['ms']:.0f} ms, {slowest['kind']} of {slowest['characters']:,} characters, "
        f"with {slowest['carried']:,} characters of memory"
    )
    console.print(f"failures: {len(result['failures'])}")
    for failure in result["failures"][:5]:
        console.print(failure, markup=False)
    write_result("hostile_outputs", result)
    sys.exit(bool(result["failures"]))


if __name__ == "__main__":
    main()
