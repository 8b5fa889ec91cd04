"""What the logits of a pass say: the next token of a response, the score of a target. No request is changed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from eapo_gym.engines.base import Sampling
from eapo_gym.engines.override import OverrideHeads
from eapo_gym.engines.sampling import RowSettings, draw, truncate
from eapo_gym.engines.transformers.request import Request


class Drawn(NamedTuple):
    """The next token of a response; what is not a number in `logprob` are logits that were none."""

    row: Request
    token: int
    logprob: float
    sampled_logprob: float
    """In the distribution that it was drawn from."""


class Scored(NamedTuple):
    """Log-probs of those tokens of a target that the pass has reached."""

    row: Request
    logprobs: list[float]


def read(
    rows: Sequence[Request], counts: Sequence[int], logits: Any, heads: OverrideHeads
) -> tuple[list[Drawn], list[Scored]]:
    """Read the logits of the wanted positions of rows that were fed so many tokens each."""
    drawing: list[tuple[Request, int]] = []
    scored: list[Scored] = []
    first = 0
    for row, count in zip(rows, counts, strict=True):
        stop = row.filled + count
        wanted = max(0, stop - max(row.filled, row.wanted_from))
        if row.sampling is None:
            start = stop - wanted + 1  # the logits of a position are about the token after it
            targets = row.tokens[start : start + wanted]
            scored.append(Scored(row, _log_probs(logits[first : first + len(targets)], targets)))
        elif wanted:
            drawing.append((row, first))
        first += wanted
    if not drawing:
        return [], scored
    if len(drawing) < len(logits):
        logits = logits[[at for _, at in drawing]]
    return _draw([row for row, _ in drawing], logits, heads), scored


def _draw(rows: list[Request], logits: Any, heads: OverrideHeads) -> list[Drawn]:
    samplings = [_sampling(row) for row in rows]
    own = torch.log_softmax(logits, dim=-1)
    if any(row.trace is not None for row in rows):
        positions = [len(row.tokens) - row.prompt_length for row in rows]
        logits = heads.reweight(logits, [row.trace for row in rows], positions)
    plain = all(sampling.temperature == 1 and not sampling.distorts for sampling in samplings)
    drawn_from = own if plain else truncate(logits, RowSettings.of(samplings))
    tokens = draw(
        drawn_from,
        [row.uniform() if sampling.temperature else 0.0 for row, sampling in zip(rows, samplings, strict=True)],
    )
    chosen = [distribution.gather(1, tokens[:, None])[:, 0].double() for distribution in (own, drawn_from)]
    # In one piece, since a GPU is waited for whenever something is read from it.
    read_off = torch.stack([tokens.double(), *chosen], dim=1).tolist()
    return [Drawn(row, int(token), *logprobs) for row, (token, *logprobs) in zip(rows, read_off, strict=True)]


def _sampling(row: Request) -> Sampling:
    assert row.sampling is not None
    return row.sampling


def _log_probs(logits: Any, targets: Sequence[int]) -> list[float]:
    if not targets:
        return []
    chosen = logits.gather(1, torch.tensor(targets, device=logits.device)[:, None])[:, 0]
    result: list[float] = (chosen - logits.logsumexp(dim=-1)).tolist()
    return result
