"""What the benchmarks share: where results go, and what machine they come from."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import eapo_gym

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """The machine, as far as it matters for a speed."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except FileNotFoundError:
        pass  # not Linux: the general name will do
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}


def write_result(name: str, result: dict[str, Any], results: Path = RESULTS) -> Path:
    """Write a result with its command, machine and date; atomically, so that a broken run leaves the last one."""
    results.mkdir(exist_ok=True)
    file = results / f"{name}.json"
    record = {
        "command": shlex.join(["python", f"benchmarks/{_script()}", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "eapo_gym": eapo_gym.__version__,
        "machine": machine(),
        "result": result,
    }
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(file)
    print(f"written to {file}")
    return file


def _script() -> str:
    """The script that runs, as it stands in the folder of the benchmarks."""
    script, folder = Path(sys.argv[0]).resolve(), Path(__file__).resolve().parent
    return script.relative_to(folder).as_posix() if script.is_relative_to(folder) else script.name
