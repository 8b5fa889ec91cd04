import itertools
import json
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.bench.compare import Comparison, _test, compare, mcnemar
from eapo_gym.bench.records import Episode
from eapo_gym.bench.store import Run, RunError
from tests.bench.test_metrics import episode

ENVIRONMENT = {
    "id": "toy",
    "source": "embedded",
    "split": "valid",
    "catalogue": "c",
    "step_limit": 50,
    "rollback_mode": "inverse",
}


def run(results: dict[str, str], name: str = "x", **environment: Any) -> Run:
    """Task → what its repeats came to: s solved in 2 steps, l in 4, u not, i infrastructure, a blank is missing."""
    kinds = {"s": ("solved", "abc"), "l": ("solved", "ababc"), "u": ("steps", "aabab"), "i": ("infrastructure", "a")}
    episodes: list[Episode] = []
    for task, outcomes in results.items():
        for repeat, letter in enumerate(outcomes):
            if letter != " ":
                outcome, states = kinds[letter]
                episodes.append(episode(task, outcome, states=states, repeat=repeat))
    planned = [(task, repeat) for task, outcomes in results.items() for repeat in range(len(outcomes))]
    stamp = {"config": {}, "environment": {**ENVIRONMENT, **environment}, "agent": {"name": name, "form": "tags"}}
    return Run(stamp, planned, episodes)


def tasks(letters: str) -> dict[str, str]:
    return {f"t{i:03d}": letter for i, letter in enumerate(letters)}


def of(comparison: Comparison, measure: str) -> Any:
    return next(each for each in comparison.differences if each.measure == measure)


def test_values_are_those_of_the_runs() -> None:
    comparison = compare(run(tasks("suus")), run(tasks("ssus")), resamples=200)
    success = of(comparison, "success")
    assert (success.a, success.b, success.difference) == (0.5, 0.75, 0.25)
    assert (of(comparison, "steps").a, of(comparison, "steps").b) == (3.0, 2.5)
    assert of(comparison, "steps_solved").a == 2.0
    assert comparison.paired
    assert comparison.tasks == (4, 4)


def test_a_run_compared_with_itself_differs_by_nothing() -> None:
    comparison = compare(run(tasks("susuiuss ")), run(tasks("susuiuss ")), resamples=500)
    success, *others = comparison.differences
    assert all((each.low, each.high) == (0, 0) for each in others if not math.isnan(each.low))
    assert success.difference == 0
    assert success.low == -success.high < 0, "eight tasks that agree do not prove that all do"
    assert comparison.p_value == 1
    assert not any(each.clear for each in comparison.differences)


def test_missing_and_failed_episodes_count_as_unsolved() -> None:
    comparison = compare(run(tasks("ssss")), run(tasks("ss i")), resamples=100)
    assert of(comparison, "success").b == 0.5
    assert of(comparison, "steps").b == 2.0, "which only those that were played have"
    assert comparison.warnings == (
        "b is not complete: 1 of its 4 are missing, which counts as unsolved.",
        "the infrastructure failed in 1 of the 4 episodes of b.",
    )


def slow_interval(a: Run, b: Run, measure: str, resamples: int) -> tuple[float, float]:
    """The bootstrap as one would write it down: draw tasks, average their episodes, take percentiles."""
    dice = random.Random(1)
    names = sorted({task for task, _ in a.planned})

    def value(run_: Run, drawn: list[str]) -> float:
        episodes = [each for task in drawn for each in run_.episodes if each.trajectory.task == task]
        values = [float(each.success) if measure == "success" else float(len(each)) for each in episodes]
        return sum(values) / len(values)

    differences = []
    for _ in range(resamples):
        drawn = dice.choices(names, k=len(names))
        differences.append(value(b, drawn) - value(a, drawn))
    differences.sort()
    return differences[int(0.025 * resamples)], differences[int(0.975 * resamples)]


@pytest.mark.parametrize("measure", ["success", "steps"])
def test_intervals_are_those_of_the_slow_bootstrap(measure: str) -> None:
    dice = random.Random(3)
    a = run({f"t{i}": "".join(dice.choices("su", (3, 7), k=3)) for i in range(30)})
    b = run({f"t{i}": "".join(dice.choices("su", (6, 4), k=3)) for i in range(30)})
    fast, slow = of(compare(a, b), measure), slow_interval(a, b, measure, 1500)
    assert (fast.low, fast.high) == pytest.approx(slow, abs=0.06 * (1 if measure == "success" else 2))
    assert fast.low < fast.difference < fast.high


def test_pairing_takes_the_differences_between_tasks_out() -> None:
    hard_and_easy = "s" * 40 + "u" * 40
    better = "s" * 46 + "u" * 34
    paired = of(compare(run(tasks(hard_and_easy)), run(tasks(better))), "success")
    other_tasks = {f"other{i}": letter for i, letter in enumerate(better)}
    apart = compare(run(tasks(hard_and_easy)), run(other_tasks))
    unpaired = of(apart, "success")
    assert paired.clear
    assert not unpaired.clear
    assert not apart.paired
    assert "unpaired" in apart.table()
    assert unpaired.difference == pytest.approx(paired.difference)
    # The normal approximation of two independent shares.
    width = 2 * 1.96 * math.sqrt(0.5 * 0.5 / 80 + 0.575 * 0.425 / 80)
    assert unpaired.high - unpaired.low == pytest.approx(width, rel=0.1)


def test_the_same_seed_gives_the_same_interval() -> None:
    a, b = run(tasks("suususuu" * 4)), run(tasks("ssususus" * 4))
    assert compare(a, b, seed=1) == compare(a, b, seed=1)
    assert compare(a, b, seed=1).differences != compare(a, b, seed=2).differences


# Tests of significance


@pytest.mark.parametrize(
    ("won", "lost", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (8, 1, 0.0390625), (3, 3, 1.0), (10, 2, 0.03857421875)]
)
def test_mcnemar_known_values(won: int, lost: int, p: float) -> None:
    assert mcnemar(won, lost) == pytest.approx(p)
    assert mcnemar(lost, won) == mcnemar(won, lost)


def test_mcnemar_of_thousands() -> None:
    assert mcnemar(3000, 3000) == 1.0
    assert 0 < mcnemar(900, 1100) < 1e-5


@given(st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_the_exact_test_is_the_enumeration_of_all_signs(differences: list[float]) -> None:
    p, name = _test(np.zeros(len(differences)), np.array(differences), True, 100, np.random.default_rng(0))
    seen = abs(sum(differences))
    swaps = list(itertools.product((1, -1), repeat=len(differences)))
    as_large = [abs(sum(s * d for s, d in zip(swap, differences, strict=True))) >= seen - 1e-9 for swap in swaps]
    assert p == pytest.approx(sum(as_large) / len(swaps))
    assert "exact" in name


def test_drawn_tests_come_near_the_exact_ones() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 120) / 2
    b = np.clip(a + rng.choice([-0.5, 0, 0.5], 120, p=[0.15, 0.55, 0.3]), 0, 1)
    p, name = _test(a, b, True, 20_000, np.random.default_rng(1))
    assert "20,000 draws" in name
    # All differences have the same size, so that the exact answer is that of the signs.
    assert p == pytest.approx(mcnemar(int((b > a).sum()), int((b < a).sum())), abs=0.01)
    alone = np.array([0.0] * 12 + [1.0] * 8), np.array([0.0] * 5 + [1.0] * 15)
    p, name = _test(*alone, False, 20_000, np.random.default_rng(1))
    assert p == pytest.approx(0.0536, abs=0.006), "Fisher's exact test of 8 and 15 out of 20"
    assert "permutation" in name


# What is said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": "official"}, "source of the tasks is not the same: embedded in a, official in b"),
        ({"split": "train"}, "split is not the same"),
        ({"step_limit": 100}, "step limit is not the same: 50 in a, 100 in b"),
        ({"rollback_mode": "restore"}, "rollback mode is not the same"),
        ({"catalogue": "d"}, "catalogue of tasks is not the same"),
        ({"id": "other"}, "environment is not the same"),
    ],
)
def test_what_cannot_be_compared_is_said(change: dict[str, Any], said: str) -> None:
    comparison = compare(run(tasks("su")), run(tasks("su"), **change), resamples=50)
    assert said in comparison.warnings[0]
    assert f"Warning: the {said}" in comparison.table()


def test_a_stamp_need_not_be_whole() -> None:
    odd = run(tasks("su"))
    odd.stamp = {"config": {}, "environment": None, "agent": None, "versions": None}
    assert compare(odd, run(tasks("su")), resamples=50).p_value == 1.0


def test_runs_without_episodes_are_refused() -> None:
    for pair in ((run({}), run({})), (run(tasks("s")), run({}))):
        with pytest.raises(RunError, match="x has no episodes: there is nothing to compare"):
            compare(*pair)


def test_oracles_are_named() -> None:
    a, b = run(tasks("su"), rollback_mode="restore"), run(tasks("su"), rollback_mode="restore")
    b.stamp["agent"]["privileged"] = True
    warnings = " ".join(compare(a, b, resamples=50).warnings)
    assert "a takes steps back by restoring" in warnings
    assert "the agent of b looks into the environment" in warnings


def test_table_and_json() -> None:
    free = run(tasks("su"), "plain")
    free.stamp["agent"]["form"] = "free"
    comparison = compare(run(tasks("uu"), "eapo"), free, resamples=50)
    data = json.loads(json.dumps(comparison.to_json(), allow_nan=False))
    assert (data["a"], data["b"], data["paired"]) == ("eapo", "plain", True)
    assert data["differences"]["success"]["difference"] == 0.5
    assert data["differences"]["steps_solved"]["a"] is None
    assert "format_rate" not in data["differences"], "an agent that does not aim at the form has no format rate"
    table = comparison.table()
    assert "success" in table
    assert "50.0 %" in table
    assert "2 tasks: the same tasks, paired" in table


def test_all_against_none_is_not_known_to_the_last_digit() -> None:
    every, none = run(tasks("s" * 20)), run(tasks("u" * 20))
    paired = compare(none, every, resamples=100).differences[0]
    assert (paired.difference, paired.high) == (1, 1)
    assert 0.8 < paired.low < 0.9
    others = run({f"other {task}": outcomes for task, outcomes in tasks("u" * 20).items()})
    assert compare(others, every, resamples=100).differences[0].low == pytest.approx(0.7721, abs=1e-4)


def test_how_long_it_took_is_compared_on_what_both_solved() -> None:
    steps = of(compare(run(tasks("ssuu")), run(tasks("sslu")), resamples=100), "steps_solved")
    assert steps.a == steps.b == 2, "the third task, which only one of them solved, does not count"
