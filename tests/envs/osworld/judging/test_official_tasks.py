"""Every task of the benchmark names getters and metrics that there are."""

from __future__ import annotations

import json
import tarfile

from eapo_gym.envs.osworld.judging import known_getters, known_metrics
from tests.envs.osworld.remembering import official_archive


def test_all_getters_and_metrics_of_the_benchmark_are_known() -> None:
    getters: set[str] = set()
    metrics: set[str] = set()
    with tarfile.open(official_archive()) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        listed = next(held for name, held in files.items() if name.endswith("test_all.json") and held is not None)
        tasks = {
            f"examples/{domain}/{number}.json" for domain, numbers in json.load(listed).items() for number in numbers
        }
        for name, held in files.items():
            if held is None or not any(name.endswith(task) for task in tasks):
                continue
            evaluator = json.load(held)["evaluator"]
            metrics |= set(_listed(evaluator["func"]))
            parts = (part for which in ("result", "expected") for part in _listed(evaluator.get(which)))
            getters |= {part["type"] for part in parts if part}
    assert len(metrics) > 100
    assert metrics <= known_metrics()
    assert getters <= known_getters()


def _listed(value: object) -> list:  # type: ignore[type-arg]
    return value if isinstance(value, list) else [value]
