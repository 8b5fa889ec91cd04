"""The benchmark's own metrics, asked through an interpreter that has them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

VARIABLE = "EAPO_OSWORLD_PYTHON"


class Oracle:
    """One process that answers question after question."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("benchmark_oracle.py")
        self._process = subprocess.Popen(
            [python, "-W", "ignore", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, metric: str, *arguments: Any, **options: Any) -> float | str:
        """The metric's verdict; what it raised, as text."""
        question = {"metric": metric, "result": arguments[0], "options": options}
        if len(arguments) > 1:
            question["expected"] = arguments[1]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question, default=str) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer.get("raised") or float(answer["verdict"] or 0.0)


def benchmark() -> Iterator[Oracle]:
    """The oracle, or a skip that says what is missing."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no interpreter that has desktop-env and what its metrics need")
    with Oracle(python) as oracle:
        yield oracle
