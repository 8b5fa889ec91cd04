"""What is measured of a run: the definitions that every table and report uses.

Every planned episode is in the denominator of the success rate: those that failed for any reason, and those that are
not there yet. Steps, rates and exploration degrees are of the episodes that were *played* to their end, since one that
was broken off says nothing of how many steps it would have taken; costs (tokens, calls, seconds) are of all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from eapo_gym.bench.records import OUTCOMES
from eapo_gym.bench.statistics import Share, Spread
from eapo_gym.bench.store import Key, Run
from eapo_gym.bench.table import Row, row_of

UNKNOWN_TYPE = "unknown"
MISSING = "missing"
_PARTS = ("task", "format", "explore")
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Metrics:
    """A run in numbers. What cannot be known, such as the mean of nothing, is NaN, and null in JSON."""

    agent: str
    success: Share
    """Out of all planned episodes, with Wilson's interval."""

    success_over_seeds: Spread
    """Mean and standard deviation of the success rates of the repeats."""

    success_by_seed: dict[int, Share]
    """By repeat."""

    success_by_type: dict[str, Share]
    score: Spread
    """Of all planned episodes: what the task gave in sum, without the format's share; 0 for what was broken off."""

    outcomes: dict[str, int]
    """All outcomes, those that did not occur too, and `missing` for what was planned and is not there."""

    steps: Spread
    steps_solved: Spread
    invalid_rate: float
    """Share of the steps that did nothing."""

    format_rate: float | None
    """Share of the responses in the right form; None for agents that do not aim at it."""

    exploration_degree: Spread
    """Share of an episode's distinct states that it visited more than once, and the mean of that."""

    exploration_degree_no_self_loops: Spread
    rollback_rate: float
    """Share of the steps that were rollbacks."""

    rollbacks_held: Share
    """Rollbacks that reached the state before, out of all."""

    reward_parts: dict[str, float]
    """Means per step."""

    total_steps: int
    """Of all episodes, the broken-off ones too, as are the numbers below."""

    calls: int
    prompt_tokens: int
    response_tokens: int
    seconds: float
    """Sum over the episodes; those that run at the same time are counted one by one."""

    agent_seconds: float
    env_seconds: float

    @property
    def score_says_more(self) -> bool:
        """Tasks can be solved in part here: the score is not the success rate once more."""
        return self.score.n > 0 and abs(self.score.mean - self.success.rate) > _SAME

    def to_json(self) -> dict[str, Any]:
        """As plain data; a share has its rate and interval, a spread its mean and standard deviation."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}


def metrics_of(run: Run) -> Metrics:
    """The metrics of a run."""
    form = run.stamp.get("agent", {}).get("form", "tags")
    return summarise([row_of(episode) for episode in run.episodes], run.planned, form=form)


def summarise(rows: Sequence[Row], planned: Sequence[Key], *, form: Literal["tags", "free"] = "tags") -> Metrics:
    """Sum up the episodes of one agent, out of those that were planned."""
    played = [row for row in rows if row.played]
    steps = sum(row.steps for row in played)
    solved = {row.key for row in rows if row.success} & set(planned)
    by_seed = _shares((key[1], key in solved) for key in planned)
    type_of = {row.task: row.task_type for row in rows if row.task_type is not None}
    by_type = _shares((type_of.get(key[0], UNKNOWN_TYPE), key in solved) for key in planned)
    scores = {row.key: row.score for row in played}
    counted = Counter(row.outcome for row in rows)
    rollbacks = sum(row.rollbacks for row in played)
    return Metrics(
        agent=rows[0].agent if rows else "",
        success=Share(len(solved), len(planned)),
        success_over_seeds=Spread.of(share.rate for share in by_seed.values()),
        success_by_seed=by_seed,
        success_by_type=dict(sorted(by_type.items())) if type_of else {},
        score=Spread.of(scores.get(key, 0.0) for key in planned),
        outcomes={**{name: counted[name] for name in OUTCOMES}, MISSING: len(planned) - len(rows)},
        steps=Spread.of(row.steps for row in played),
        steps_solved=Spread.of(row.steps for row in played if row.success),
        invalid_rate=_ratio(sum(row.invalid for row in played), steps),
        format_rate=None if form == "free" else _ratio(sum(row.format_ok for row in played), steps),
        exploration_degree=Spread.of(_known(row.exploration_degree for row in played)),
        exploration_degree_no_self_loops=Spread.of(_known(row.exploration_degree_no_self_loops for row in played)),
        rollback_rate=_ratio(rollbacks, steps),
        rollbacks_held=Share(sum(row.rollbacks_held for row in played), rollbacks),
        reward_parts=_parts(played),
        total_steps=sum(row.steps for row in rows),
        calls=sum(row.calls for row in rows),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        response_tokens=sum(row.response_tokens for row in rows),
        seconds=math.fsum(row.seconds for row in rows),
        agent_seconds=math.fsum(row.agent_seconds for row in rows),
        env_seconds=math.fsum(row.env_seconds for row in rows),
    )


def _shares(outcomes: Iterable[tuple[Any, bool]]) -> dict[Any, Share]:
    """What is to be counted apart → its share of successes."""
    all_, won = Counter[Any](), Counter[Any]()
    for name, success in outcomes:
        all_[name] += 1
        won[name] += success
    return {name: Share(won[name], n) for name, n in all_.items()}


def _parts(rows: Sequence[Row]) -> dict[str, float]:
    parts = {}
    for name in _PARTS:
        having = [row for row in rows if getattr(row, f"reward_{name}") is not None]
        if having:
            total = math.fsum(getattr(row, f"reward_{name}") for row in having)
            parts[name] = _ratio(total, sum(row.steps for row in having))
    return parts


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _plain(value: Any) -> Any:
    if isinstance(value, Share):
        low, high = value.interval
        return {"successes": value.successes, "n": value.n, "rate": _plain(value.rate), "low": low, "high": high}
    if isinstance(value, Spread):
        return {"mean": _plain(value.mean), "std": _plain(value.std), "n": value.n}
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
