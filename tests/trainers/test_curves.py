import math
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.trainers.curves import curve_of, smooth, stack_of, thin, window_of
from eapo_gym.trainers.runs import Line, TrainingRun

VALUES = st.lists(st.one_of(st.floats(-100, 100), st.just(math.nan)), min_size=1, max_size=40)


def line(*runs: list[dict[str, Any]]) -> Line:
    return Line("line", tuple(TrainingRun(str(i), {"seed": i}, rows) for i, rows in enumerate(runs)))


@given(VALUES, st.sampled_from([1, 3, 5, 11]))
def test_smoothing_is_the_mean_of_the_known_neighbours(values: list[float], window: int) -> None:
    half = window // 2
    expected = []
    for i, value in enumerate(values):
        around = [other for other in values[max(0, i - half) : i + half + 1] if not math.isnan(other)]
        expected.append(math.nan if math.isnan(value) else mean(around))
    np.testing.assert_allclose(smooth(np.array(values), window), expected, atol=1e-9)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=300), st.integers(1, 50))
def test_thinning_keeps_order_and_means(values: list[float], most: int) -> None:
    x, y = thin(np.arange(len(values), dtype=np.float64), np.array(values), most=most)
    assert len(x) == len(y) == min(len(values), most)
    assert (np.diff(x) > 0).all()
    if len(values) % most == 0 or len(values) <= most:
        assert y.mean() == pytest.approx(np.mean(values), abs=1e-9)
    assert min(values) - 1e-9 <= y.min() <= y.max() <= max(values) + 1e-9


def test_a_line_is_mean_and_deviation_over_seeds() -> None:
    seeds = [[1.0, 2.0, 4.0], [3.0, 5.0, 5.0], [2.0, 2.0, 9.0]]
    runs = [
        [{"step": t + 1, "env_steps": 10 * (t + 1) + i, "m": v} for t, v in enumerate(seed)]
        for i, seed in enumerate(seeds)
    ]
    curve = curve_of(line(*runs), "m", "env_steps")
    assert curve is not None
    columns = list(zip(*seeds, strict=True))
    np.testing.assert_allclose(curve.mean, [mean(c) for c in columns])
    np.testing.assert_allclose(curve.high - curve.mean, [stdev(c) for c in columns])
    np.testing.assert_allclose(curve.x, [11, 21, 31])
    assert curve.whole == 3
    extremes = curve_of(line(*runs), "m", "step", band="range")
    assert extremes is not None
    np.testing.assert_allclose(extremes.low, [min(c) for c in columns])
    np.testing.assert_allclose(extremes.high, [max(c) for c in columns])


def test_where_seeds_have_not_come_the_line_is_of_the_others_and_says_so() -> None:
    rows = [{"step": t, "env_steps": 100.0 * t, "m": 1.0} for t in range(1, 6)]
    short = [{"step": t, "env_steps": 900.0 * t, "m": 3.0} for t in range(1, 3)]
    curve = curve_of(line(rows, short), "m", "env_steps")
    assert curve is not None
    assert curve.mean.tolist() == [2, 2, 1, 1, 1]
    assert curve.whole == 2
    assert (np.diff(curve.x) >= 0).all(), "a curve does not go back"


def test_what_is_not_measured_is_left_out() -> None:
    rows = [{"step": t, "m": math.nan if t % 2 else float(t)} for t in range(1, 7)]
    curve = curve_of(line(rows), "m", "step")
    assert curve is not None
    assert curve.steps.tolist() == [2, 4, 6]
    assert curve.low.tolist() == curve.high.tolist() == [2, 4, 6]
    assert curve_of(line(rows), "nothing", "step") is None
    assert curve_of(line([]), "m", "step") is None


def test_evaluations_are_not_smoothed() -> None:
    rows = [{"step": t, "eval/success": float(t % 2)} for t in range(1, 7)]
    curve = curve_of(line(rows), "eval/success", "step", window=5)
    assert curve is not None
    assert curve.mean.tolist() == [1, 0, 1, 0, 1, 0]


def test_a_stack_has_nothing_where_a_part_was_not_there() -> None:
    rows = [{"step": 1, "a": 1.0}, {"step": 2, "a": 2.0, "b": 4.0}, {"step": 3}]
    found = stack_of(line(rows), ["a", "b"], "step")
    assert found is not None
    x, parts = found
    assert x.tolist() == [1, 2]
    assert parts.tolist() == [[1, 2], [0, 4]]
    assert stack_of(line([{"step": 1}]), ["a"], "step") is None


@pytest.mark.parametrize(("steps", "window"), [(0, 1), (1, 1), (19, 1), (40, 3), (100, 5), (1000, 51)])
def test_the_window_is_odd_and_about_a_twentieth(steps: int, window: int) -> None:
    assert window_of([line([{"step": i} for i in range(steps)])]) == window
