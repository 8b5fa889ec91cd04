"""The statistics of a report: a share with its Wilson interval, and a mean with its standard deviation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist, stdev

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Share:
    """`successes` out of `n`, and the interval in which the true share lies with 95 % confidence (Wilson's score).

    Wilson's interval stays within 0 and 1 and is honest where the textbook's ± is not: for few trials, and for shares
    near 0 or 1. Out of no trials nothing is known: the rate is NaN, and the interval everything.
    """

    successes: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.n:
            raise ValueError(f"expected 0 <= successes <= n, got successes={self.successes}, n={self.n}")

    @property
    def rate(self) -> float:
        return self.successes / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.successes, self.n)

    def __str__(self) -> str:
        if not self.n:
            return "–"
        low, high = self.interval
        return f"{100 * self.rate:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval for a share, without continuity correction.

    >>> low, high = wilson(9, 10)
    >>> print(f"{low:.4f} {high:.4f}")
    0.5958 0.9821
    """
    if not 0 <= successes <= n:
        raise ValueError(f"expected 0 <= successes <= n, got {successes=}, {n=}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, weight = successes / n, z * z / n
    centre = (share + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    # At the ends the formula is exact but for rounding, and 0 of n is no reason to exclude 0.
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    high = 1.0 if successes == n else min(1.0, centre + reach)
    return low, high


def newcombe(a: tuple[int, int], b: tuple[int, int]) -> tuple[float, float]:
    """Newcombe's interval for the difference of two shares, b − a, each given as (successes, n); from Wilson's two.

    >>> low, high = newcombe((0, 20), (20, 20))
    >>> print(f"{low:.4f} {high:.4f}")
    0.7722 1.0000
    """
    (low_a, high_a), (low_b, high_b) = wilson(*a), wilson(*b)
    share_a, share_b = a[0] / a[1], b[0] / b[1]
    difference = share_b - share_a
    low = difference - math.hypot(share_b - low_b, high_a - share_a)
    high = difference + math.hypot(high_b - share_b, share_a - low_a)
    return max(-1.0, low), min(1.0, high)


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean, and the sample's standard deviation around it, as tables over seeds have them.

    The mean of nothing is NaN, and so is the deviation of fewer than two values.
    """

    mean: float
    std: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        numbers = [float(value) for value in values]
        n = len(numbers)
        return cls(math.fsum(numbers) / n if n else math.nan, stdev(numbers) if n > 1 else math.nan, n)

    def __str__(self) -> str:
        if not self.n:
            return "–"
        return f"{self.mean:.2f}" if self.n == 1 else f"{self.mean:.2f} ± {self.std:.2f}"
