"""What is minimised: the losses of the policy and of the reward model, on flat tokens of many responses.

Tokens stand one after another; `row` says which response each of them is of, as a position in the per-row arguments.
The normalisers are those of the *whole* batch of an update, so that losses, gradients and statistics of micro-batches
add up to its own. (Where several processes average their gradients, a loss has to be multiplied by their number.)

Log-ratios are cut off at ±LOG_RATIO before they are raised to a power: a token that one model rules out gives a large
number, not an infinite one, and beyond the cut no gradient. What is not a number stays so.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from eapo_gym.errors import UnknownName
from eapo_gym.trainers.batch import Floats, Ints
from eapo_gym.trainers.groups import number

OBJECTIVES = ("reinforce", "weighted_mle")

BASELINES = ("task", "none")

LOG_RATIO = 20.0
"""Two models that differ by more than a factor of e^20 on a token differ by that."""

Stats = dict[str, Tensor]
"""By name, this micro-batch's share of the batch's mean: add them up. Tensors, so that a GPU need not be waited for."""


def policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    ref_logprobs: Tensor | None,
    advantages: Tensor,
    row: Tensor,
    *,
    rows: int,
    tokens: int,
    clip_low: float,
    clip_high: float,
    kl_weight: float = 0.0,
    mean: str = "response",
    weights: Tensor | None = None,
) -> tuple[Tensor, Stats]:
    """The clipped surrogate, and kl_weight · KL to the reference.

    `advantages` has one number per row, `weights` (of `truncated_importance`) one per token. `mean` is "response", over
    the tokens of each response and then over the `rows`, or "token", over all `tokens` alike. Without a KL the
    reference is not needed.
    """
    advantage = advantages.to(logprobs)[row]
    log_ratio = _bounded(logprobs - old_logprobs)
    ratio = log_ratio.exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip_low, 1 + clip_high) * advantage)
    if weights is not None:
        gain = gain * weights
    share = _shares(logprobs, row, len(advantages), rows, tokens, mean)
    loss = -(gain * share).sum()
    kl = torch.full((), float("nan"), device=logprobs.device)
    if ref_logprobs is not None:
        distances = _k3(logprobs, ref_logprobs)
        kl = (distances.detach() * share).sum()
        if kl_weight:
            loss = loss + kl_weight * (distances * share).sum()
    elif kl_weight:
        raise ValueError(f"kl_weight={kl_weight}: expected the log-probs of the reference model, got None.")
    with torch.no_grad():
        each = 1 / max(tokens, 1)
        clipped = ((ratio > 1 + clip_high) & (advantage > 0)) | ((ratio < 1 - clip_low) & (advantage < 0))
        stats = {
            "policy/loss": loss.detach(),
            "policy/kl": kl,
            "policy/kl_old": (torch.expm1(log_ratio) - log_ratio).sum() * each,
            "policy/entropy": -logprobs.sum() * each,
            "policy/clip_share": clipped.to(ratio).sum() * each,
            "policy/ratio": ratio.sum() * each,
        }
    return loss, stats


def truncated_importance(
    trainer_old: Tensor, sampler: Tensor, cap: float, *, tokens: int | None = None
) -> tuple[Tensor, Stats]:
    """What a token counts for when another engine than the trainer sampled it: its ratio between the two, up to `cap`.

    Both are log-probs of the policy that sampled, before the update; they differ by the engines' rounding. `tokens` are
    those of the whole batch, if these are not all.
    """
    with torch.no_grad():
        ratio = _bounded(trainer_old - sampler).exp()
        weights = ratio.clamp(max=cap)
        each = 1 / max(len(ratio) if tokens is None else tokens, 1)
        return weights, {"tis/mean": weights.sum() * each, "tis/capped": (ratio > cap).to(ratio).sum() * each}


def q_loss(
    logprobs: Tensor,
    prior_logprobs: Tensor,
    old_logprobs: Tensor | None,
    gains: Tensor,
    row: Tensor,
    *,
    rows: int,
    kl: float,
    clip: float,
    objective: str = "reinforce",
) -> tuple[Tensor, Stats]:
    """The loss of the reward model q on explorations and memories that the policy wrote.

    `gains` has one number per row (`q_gains`). All log-probs are means over a row's tokens, so that long memories do
    not dominate. The loss is -signal · log q: for "reinforce" the signal is gain - kl · (log q - log p), for
    "weighted_mle" it is the gain alone, which is then the weight of the row, and the optimum is p · exp(beta · Q).

    REINFORCE wants rows drawn from q, and weighted_mle rows drawn from p; these were drawn from the policy. So each
    counts by the ratio of the one to the other, the geometric mean over its tokens, within 1 ± clip; a clip of 0 takes
    the rows as they come. Unlike in the policy's surrogate, the ratio only weighs: q is to move as far from the policy
    as the returns ask, and its own distance from the prior is what holds it. `old_logprobs` are NaN for tokens that
    the policy did not sample; a row with one of them counts as it is. No gradient goes through signal or ratio.
    """
    if objective not in OBJECTIVES:
        raise UnknownName.of("objective of the reward model", objective, OBJECTIVES)
    log_q = _row_means(logprobs, row, len(gains))
    log_p = _row_means(prior_logprobs, row, len(gains))
    with torch.no_grad():
        distance = log_q - log_p
        signal = gains.to(log_q)
        if objective == "reinforce":
            signal = signal - kl * distance
        ratio = torch.ones_like(log_q)
        if old_logprobs is not None:
            wanted = log_q if objective == "reinforce" else log_p
            old = _row_means(old_logprobs, row, len(gains))
            ratio = torch.where(old.isnan(), ratio, _bounded(wanted - old).exp())
        signal = signal * ratio.clamp(1 - clip, 1 + clip)
    each = 1 / max(rows, 1)
    loss = -(signal * log_q).sum() * each
    return loss, {"q/loss": loss.detach(), "q/kl": distance.sum() * each, "q/ratio": ratio.sum() * each}


def q_gains(
    returns: Floats, task: Ints, *, beta: float, baseline: str = "task", objective: str = "reinforce"
) -> Floats:
    """What each row of the *whole* batch is worth to the reward model: beta · (Q - b), b the mean of its task or 0.

    For "weighted_mle" it is exp(beta · Q) over its mean within the task: positive, and 1 on average, so that a task
    where all succeed weighs no more than one where all fail.
    """
    if baseline not in BASELINES:
        raise UnknownName.of("baseline of the reward model", baseline, BASELINES)
    if objective not in OBJECTIVES:
        raise UnknownName.of("objective of the reward model", objective, OBJECTIVES)
    tasks = number(task)
    count = np.maximum(np.bincount(tasks), 1)
    if objective == "weighted_mle":
        best = np.full(count.size, -np.inf)
        np.maximum.at(best, tasks, returns)
        weights = np.exp(beta * (returns - best[tasks]))
        return np.asarray(weights / (np.bincount(tasks, weights) / count)[tasks], np.float64)
    if baseline == "none":
        return beta * np.asarray(returns, np.float64)
    return beta * (returns - (np.bincount(tasks, returns) / count)[tasks])


def _shares(logprobs: Tensor, row: Tensor, here: int, rows: int, tokens: int, mean: str) -> Tensor:
    """What each token counts for in the mean over the batch."""
    if mean == "token":
        return torch.full_like(logprobs, 1 / max(tokens, 1), requires_grad=False)
    if mean != "response":
        raise UnknownName.of("mean of the loss", mean, ("response", "token"))
    lengths = torch.bincount(row, minlength=here)
    return (1 / (lengths * max(rows, 1)).to(logprobs.dtype))[row]


def _row_means(values: Tensor, row: Tensor, here: int) -> Tensor:
    """The mean over the tokens of each row; 0 for a row without."""
    sums = torch.zeros(here, dtype=values.dtype, device=values.device).index_add(0, row, values)
    return sums / torch.bincount(row, minlength=here).clamp(min=1)


def _k3(logprobs: Tensor, ref_logprobs: Tensor) -> Tensor:
    """An estimate of KL(policy ‖ reference) on each token that the policy sampled: never negative, and without bias."""
    difference = _bounded(ref_logprobs - logprobs)
    return torch.expm1(difference) - difference


def _bounded(log_ratio: Tensor) -> Tensor:
    return log_ratio.clamp(-LOG_RATIO, LOG_RATIO)
