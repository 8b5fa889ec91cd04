import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.bench.statistics import Share, Spread, wilson

outcomes = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval_has_the_published_values(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(2, 5000).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))))
def test_wilson_interval_solves_the_equation_that_defines_it(outcome: tuple[int, int]) -> None:
    # The ends are the shares from which the one observed is just z standard errors away.
    successes, n = outcome
    for end in wilson(successes, n, confidence=0.9):
        assert abs(successes / n - end) / math.sqrt(end * (1 - end) / n) == pytest.approx(1.6448536269514722, rel=1e-6)


def test_none_or_all_of_n_have_the_closed_form() -> None:
    z2 = 1.959963984540054**2
    assert wilson(0, 10) == pytest.approx((0, z2 / (10 + z2)))
    assert wilson(10, 10) == pytest.approx((10 / (10 + z2), 1))


@given(outcomes)
def test_wilson_interval_holds_the_share_and_mirrors_failures(outcome: tuple[int, int]) -> None:
    successes, n = outcome
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert wilson(n - successes, n) == pytest.approx((1 - high, 1 - low))


@given(outcomes)
def test_more_trials_narrow_the_interval(outcome: tuple[int, int]) -> None:
    successes, n = outcome
    low, high = wilson(successes, n)
    more_low, more_high = wilson(4 * successes, 4 * n)
    assert more_high - more_low < high - low


def test_no_trials_say_nothing() -> None:
    nothing = Share(0, 0)
    assert nothing.interval == (0.0, 1.0)
    assert math.isnan(nothing.rate)
    assert str(nothing) == "–"


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="0 <= successes <= n"):
        Share(successes, n)
    with pytest.raises(ValueError, match="0 <= successes <= n"):
        wilson(successes, n)


def test_a_share_reads_as_in_a_table() -> None:
    assert str(Share(9, 10)) == "90.0 % (59.6–98.2)"


def test_spread_is_mean_and_sample_deviation() -> None:
    spread = Spread.of([2, 4, 4, 4, 5, 5, 7, 9])
    assert spread.mean == 5
    assert spread.std == pytest.approx(math.sqrt(32 / 7))
    assert str(spread) == "5.00 ± 2.14"


def test_spread_of_too_little_does_not_invent_a_deviation() -> None:
    one, none = Spread.of([0.25]), Spread.of([])
    assert (one.mean, one.n, str(one)) == (0.25, 1, "0.25")
    assert math.isnan(one.std)
    assert math.isnan(none.mean)
    assert str(none) == "–"
