"""From logits to tokens: temperature, top-k, top-p, min-p, and the draw. Every row of a batch has settings of its own.

    drawn_from = truncate(logits, settings)          # log-probs of the distribution that tokens are drawn from
    ids = draw(drawn_from, uniforms)                 # one number in [0, 1) for each row

A row's token follows from the row's logits, settings and number alone, so a response does not change with what else
happens to be in the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eapo_gym.engines.base import Sampling
from eapo_gym.errors import MissingExtra

try:
    import torch
except ImportError as error:
    raise MissingExtra.of("Sampling from logits", "transformers") from error

_NEVER = -math.inf


@dataclass(frozen=True, slots=True)
class RowSettings:
    """The settings of the rows of a batch, one value for each row."""

    temperature: tuple[float, ...]
    top_k: tuple[int, ...]
    top_p: tuple[float, ...]
    min_p: tuple[float, ...]

    @classmethod
    def of(cls, rows: Sequence[Sampling]) -> RowSettings:
        return cls(
            tuple(row.temperature for row in rows),
            tuple(row.top_k for row in rows),
            tuple(row.top_p for row in rows),
            tuple(row.min_p for row in rows),
        )


def truncate(logits: Any, settings: RowSettings) -> Any:
    """Log-probs of the distribution that tokens are drawn from; the order is temperature, top-k, top-p, min-p."""
    scores = logits.float()
    if any(temperature not in (0, 1) for temperature in settings.temperature):
        divisors = [temperature or 1.0 for temperature in settings.temperature]
        scores = scores / scores.new_tensor(divisors)[:, None]
    for keep, values, off in (
        (_keep_top_k, settings.top_k, 0),
        (_keep_top_p, settings.top_p, 1),
        (_keep_min_p, settings.min_p, 0),
    ):
        rows = [row for row, value in enumerate(values) if value != off and settings.temperature[row]]
        if rows:
            chosen = scores if len(rows) == len(values) else scores[rows]
            kept = keep(chosen, torch.tensor([values[row] for row in rows], device=scores.device)[:, None])
            chosen = chosen.masked_fill(~kept, _NEVER)
            scores = chosen if len(rows) == len(values) else scores.index_copy(0, _index(rows, scores), chosen)
    logprobs = torch.log_softmax(scores, dim=-1)
    greedy = [row for row, temperature in enumerate(settings.temperature) if not temperature]
    if greedy:
        certain = torch.full_like(logprobs[greedy], _NEVER)
        likeliest = scores[greedy].max(dim=-1, keepdim=True)
        # What is no number must not pass for certain.
        certain.scatter_(1, likeliest.indices, torch.where(likeliest.values.isfinite(), 0.0, torch.nan))
        logprobs = logprobs.index_copy(0, _index(greedy, scores), certain)
    return logprobs


def draw(logprobs: Any, uniforms: Sequence[float]) -> Any:
    """One token for each row: where its number falls in the cumulative distribution.

    Sums are in double precision: with a vocabulary of 150,000 tokens, single precision would lose the rare ones.
    """
    cumulative = logprobs.exp().cumsum(dim=-1, dtype=torch.float64)
    total = cumulative[:, -1:]
    number = torch.tensor(uniforms, dtype=torch.float64, device=logprobs.device)[:, None] * total
    # Below the total even if the product was rounded up to it, so that no impossible token is drawn.
    number = torch.minimum(number, torch.nextafter(total, torch.zeros_like(total)))
    # No distribution at all (NaN) must not become an id out of range.
    return torch.searchsorted(cumulative, number, right=True)[:, 0].clamp_max(logprobs.shape[-1] - 1)


def _keep_top_k(scores: Any, top_k: Any) -> Any:
    """The k likeliest, and whatever is as likely as the last of them."""
    top_k = top_k.clamp_max(scores.shape[-1])
    likeliest = scores.topk(int(top_k.max()), dim=-1).values
    return scores >= likeliest.gather(1, top_k - 1)


def _keep_top_p(scores: Any, top_p: Any) -> Any:
    """The fewest likeliest that have `top_p` of the probability together."""
    ordered, order = scores.sort(dim=-1)
    # From the rarest on: what has no more than 1 - top_p together goes.
    keep = ordered.softmax(dim=-1).cumsum(dim=-1) > 1 - top_p
    keep[:, -1] = True
    return keep.scatter(1, order, keep)


def _keep_min_p(scores: Any, min_p: Any) -> Any:
    """What has at least this share of the likeliest token's probability."""
    probabilities = scores.softmax(dim=-1)
    likeliest = probabilities.amax(dim=-1, keepdim=True)
    # Rounding must not drop the likeliest token itself where min_p is 1.
    return (probabilities >= min_p * likeliest) | (probabilities == likeliest)


def _index(rows: list[int], like: Any) -> Any:
    return torch.tensor(rows, device=like.device)
