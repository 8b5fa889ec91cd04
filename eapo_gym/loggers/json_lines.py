"""`metrics.jsonl`: one line for each call of `log`, in the file as soon as it is made."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eapo_gym.loggers.base import Tracker

METRICS = "metrics.jsonl"

_BLOCK = 1 << 16


class JsonLines(Tracker):
    """Flat names and numbers, with `step` and `time` (seconds since 1970).

    JSON has no NaN: what is not finite is written as the text "nan", "inf" or "-inf", which `float` reads.
    """

    name = "json"
    keeps_non_finite = True

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / METRICS
        _cut_torn_line(path)
        # Unbuffered: a line goes out in one write, so that a kill leaves whole lines and at most one torn one.
        self._file = path.open("ab", buffering=0)

    def log(self, values: Mapping[str, float], step: int) -> None:
        row = {name: value if math.isfinite(value) else str(value) for name, value in values.items()}
        line = json.dumps({**row, "step": step, "time": round(time.time(), 3)}) + "\n"
        data = line.encode()
        if self._file.write(data) != len(data):
            raise OSError(f"{self._file.name}: the line was not written whole; is the disk full?")

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self, failed: bool) -> None:
        self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a `metrics.jsonl` (or of the folder that it is in), with numbers as they were logged.

    A last line that was torn by a kill is left out; anything else that is no row is an error.
    """
    path = path / METRICS if path.is_dir() else path
    whole, newline, _ = path.read_bytes().rpartition(b"\n")
    lines = whole.split(b"\n") if newline else []
    return [_row(line, path, number) for number, line in enumerate(lines, 1)]


def _row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        return {name: float(value) if isinstance(value, str) else value for name, value in row.items()}
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path}, line {number}: expected a JSON object of numbers, got {line!r:.80}") from error


def _cut_torn_line(path: Path) -> None:
    """What stands behind the last newline is of a process that was killed while it wrote."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)
