"""The benchmark's own verdicts, for the tests that compare with them."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.osworld.judging import registry
from eapo_gym.errors import MissingExtra

PYTHON = "EAPO_OSWORLD_PYTHON"
RECORD = "EAPO_OSWORLD_RECORD"
RECORDED = Path(__file__).with_name("recorded_verdicts.json")
NOTHING = object()


@dataclass(frozen=True)
class Case:
    """What a metric is asked; paths are files of the test."""

    metric: str
    result: Any
    expected: Any = NOTHING
    options: Mapping[str, Any] = field(default_factory=dict)


def benchmark_says(questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The benchmark's answers; skips the test where there is no interpreter that has it."""
    python = os.environ.get(PYTHON)
    if not python:
        pytest.skip(f"{PYTHON} does not name an interpreter with desktop-env 1.0.2 and what its metrics need")
    oracle = _oracle(python)
    assert oracle.stdin is not None
    assert oracle.stdout is not None
    answers = []
    for question in questions:
        print(json.dumps(question, default=str), file=oracle.stdin, flush=True)
        answer = oracle.stdout.readline()
        assert answer, f"the benchmark's code ended at {question}"
        answers.append(json.loads(answer))
    return answers


@functools.cache
def _oracle(python: str) -> subprocess.Popen[str]:
    """One process for all tests of this run, as the benchmark's packages take seconds to import."""
    script = str(Path(__file__).with_name("oracle.py"))
    oracle = subprocess.Popen(
        [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    atexit.register(_end, oracle)
    return oracle


def _end(oracle: subprocess.Popen[str]) -> None:
    oracle.kill()  # its libraries take their time to end by themselves
    oracle.wait()


def our_score(case: Case) -> float:
    """Ours, worth nothing where something cannot be read, as for `judge`; a missing package skips the test."""
    arguments = [case.result] + ([] if case.expected is NOTHING else [case.expected])
    try:
        return min(1.0, max(0.0, float(registry.metric(case.metric)(*arguments, **case.options))))
    except MissingExtra as missing:
        pytest.skip(str(missing))
    except Exception:  # as judge understands it
        return 0.0


def assert_same_verdicts(name: str, cases: Sequence[Case], *, within: float = 1e-9) -> None:
    """Ours are the benchmark's, for right and for wrong work; where it raises, and the task has no score, ours is 0.

    Where the benchmark's code is not here, its verdicts are those that were recorded under the name, with
    `EAPO_OSWORLD_RECORD=1` and on another day perhaps, with libraries that draw and resize a little otherwise.
    """
    here = bool(os.environ.get(PYTHON))
    theirs = _live(cases) if here else _recorded(name, len(cases))
    if here and os.environ.get(RECORD):
        _record(name, theirs)
    ours = [our_score(case) for case in cases]
    bearable = within if here else max(within, 1e-6)
    differ = [
        f"{case}: ours {our}, the benchmark's {their}"
        for case, our, their in zip(cases, ours, theirs, strict=True)
        if abs(our - their) > bearable
    ]
    assert not differ, "\n".join(differ)
    for metric in {case.metric for case in cases}:
        given = {score > 0 for case, score in zip(cases, theirs, strict=True) if case.metric == metric}
        assert given == {True, False}, f"the cases of {metric} are all of one kind, and so prove little"


def _live(cases: Sequence[Case]) -> list[float]:
    answers = benchmark_says(
        [
            {"metric": case.metric, "result": case.result, "options": dict(case.options)}
            | ({} if case.expected is NOTHING else {"expected": case.expected})
            for case in cases
        ]
    )
    return [min(1.0, max(0.0, answer.get("score", 0.0))) for answer in answers]


def _recorded(name: str, count: int) -> list[float]:
    scores: list[float] = json.loads(RECORDED.read_text()).get(name, [])
    assert len(scores) == count, f"{len(scores)} verdicts are recorded as {name!r}, for {count} cases: record them anew"
    return scores


def _record(name: str, scores: Sequence[float]) -> None:
    """One line for each name, so that a change is seen where it is."""
    kept = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    kept[name] = [round(score, 9) if score % 1 else int(score) for score in scores]
    lines = (f"{json.dumps(key)}: {json.dumps(kept[key], separators=(',', ':'))}" for key in sorted(kept))
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
