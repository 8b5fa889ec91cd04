"""What each transition earns: R = task + format_weight · format + explore_weight · explore, and its switches.

All functions take columns (`eapo_gym.trainers.batch.Batch`) and return one float64 number per transition. What is not a
number stays so: the loop skips an update that it would spoil, which a zero in its place would hide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eapo_gym.errors import UnknownName
from eapo_gym.trainers.batch import Batch, Bools, Floats, Ints
from eapo_gym.trainers.config import TrainConfig

CREDITS = ("episodic", "discounted")

DENSITIES = ("lift", "token_mean", "sequence", "log_prob")

LOG_FLOOR = -60.0
"""Lower log-probs count as this: a token of probability 0 must not turn a whole group into NaN."""


@dataclass(frozen=True, slots=True)
class Rewards:
    """The parts, as they are before they are weighted, and what is made of them."""

    task: Floats
    format: Floats
    explore: Floats
    overlong: Floats
    """What was taken off for length: 0 down to -1."""

    total: Floats
    """R, by which transitions are compared."""

    outcome: Floats
    """R with the plain success of the episode for its task part, by which GiGPO compares whole episodes."""


def batch_rewards(batch: Batch, config: TrainConfig, explore: Floats | None = None) -> Rewards:
    """All rewards of a step of training; `explore` comes from the reward model or from online rollouts, or is none."""
    count = batch.task.size
    explore = np.zeros(count) if explore is None else np.asarray(explore, np.float64)
    if explore.shape != (count,):
        raise ValueError(f"explore: expected one number for each of {count} transitions, got shape {explore.shape}.")

    def credited(credit: str) -> Floats:
        if config.episodes_per_trajectory == 1:
            return task_rewards(batch.success, batch.t, batch.length, credit, config.gamma_task)
        return lamer_rewards(
            batch.success,
            batch.t,
            batch.length,
            batch.trajectory,
            batch.episode,
            batch.reflection,
            credit,
            config.gamma_task,
            config.gamma_episode,
        )

    task, success = credited(config.task_credit), credited("episodic")
    overlong = overlong_penalty(batch.response_tokens, config.max_tokens, config.overlong_tokens)
    total, outcome = (
        combine(part, batch.format_ok, explore, config.format_weight, config.explore_weight) + overlong
        for part in (task, success)
    )
    return Rewards(task, batch.format_ok.astype(np.float64), explore, overlong, total, outcome)


def combine(task: Floats, format_ok: Bools, explore: ArrayLike, format_weight: float, explore_weight: float) -> Floats:
    """R, of its three parts."""
    return np.asarray(task + format_weight * format_ok + explore_weight * np.asarray(explore, np.float64), np.float64)


# Success


def task_rewards(success: Bools, t: Ints, length: Ints, credit: str, gamma: float) -> Floats:
    """What success is worth to each step of its episode.

    "episodic": 1 to every step. "discounted": gamma to the power of the steps that came after it, so that the last
    action (t = length - 1) gets 1. As success is all that an episode is paid, that is also the discounted return from
    the step on, which the reward model learns from and GiGPO compares.
    """
    if credit == "episodic":
        return success.astype(np.float64)
    if credit != "discounted":
        raise UnknownName.of("task credit", credit, CREDITS)
    # A reflection comes after the last action: its t is the length.
    return np.asarray(success * np.float_power(gamma, np.maximum(length - 1 - t, 0)), np.float64)


def lamer_rewards(
    success: Bools,
    t: Ints,
    length: Ints,
    trajectory: Ints,
    episode: Ints,
    reflection: Bools,
    credit: str,
    gamma: float,
    gamma_episode: float,
) -> Floats:
    """Credit across the episodes of an attempt (LaMer): a failed episode is worth what it taught.

    A step of episode i earns what its own episode pays it, and gamma_episode^(j - i) for the success of each later
    episode j, however many steps that one took. The reflection after episode i earns the second part alone.
    """
    own = np.where(reflection, 0.0, task_rewards(success, t, length, credit, gamma))
    if not own.size:
        return own
    _, attempt = np.unique(trajectory, return_inverse=True)
    succeeded = np.zeros((attempt.max() + 1, episode.max() + 1))
    succeeded[attempt, episode] = success
    later = np.zeros_like(succeeded)
    for i in range(succeeded.shape[1] - 2, -1, -1):
        later[:, i] = gamma_episode * (succeeded[:, i + 1] + later[:, i + 1])
    return np.asarray(own + later[attempt, episode], np.float64)


# Exploration


def densities(log_q: Floats, log_p: Floats, counts: Floats | Ints) -> dict[str, Floats]:
    """D of a target, all four of them, from the sums of its tokens' log-probs in the reward model and the prior.

    * lift: sigmoid of the mean log q - log p of a token: how much likelier the target is where tasks succeed;
    * token_mean: exp of the mean log q, which is comparable between lengths but likes what is bland or copied;
    * sequence: exp of the summed log q, which is next to nothing for more than a few words (the sum is cut off at
      LOG_FLOOR, as in the code that its authors released);
    * log_prob: the mean log q itself, the logarithm of token_mean; a sum would grow with the length and drown the task.

    A target without tokens has nothing that could be credited: it gets 0 of each. NaN stands for what was not scored.
    """
    tokens = np.maximum(counts, 1)
    mean_q = np.maximum(np.asarray(log_q, np.float64) / tokens, LOG_FLOOR)
    mean_p = np.maximum(np.asarray(log_p, np.float64) / tokens, LOG_FLOOR)
    found = {
        "lift": 1 / (1 + np.exp(mean_p - mean_q)),
        "token_mean": np.exp(mean_q),
        "sequence": np.exp(np.maximum(np.asarray(log_q, np.float64), LOG_FLOOR)),
        "log_prob": mean_q,
    }
    return {name: np.where(np.equal(counts, 0), 0.0, value) for name, value in found.items()}


def density(name: str, log_q: Floats, log_p: Floats, counts: Floats | Ints) -> Floats:
    """One of the `densities`."""
    if name not in DENSITIES:
        raise UnknownName.of("density", name, DENSITIES)
    return densities(log_q, log_p, counts)[name]


def explore_rewards(first: Floats, second: Floats, gamma: float, density: str) -> Floats:
    """max(D(e, m), gamma² · D(e, [m, s'])): using what is known against finding out more, two steps later.

    A log-prob is negative, and gamma² times it would be *more*: the discount would be a bonus for exploring. What is
    discounted is the probability, so in logarithms 2 · log(gamma) is added; then the log_prob reward is the logarithm
    of the token_mean reward, as its density is.
    """
    if density not in DENSITIES:
        raise UnknownName.of("density", density, DENSITIES)
    if density != "log_prob":
        return np.maximum(first, gamma**2 * second)
    with np.errstate(divide="ignore"):  # log(0) is right: nothing is left of the second
        return np.asarray(np.maximum(first, second + 2 * np.log(gamma)), np.float64)


# Length


def overlong_penalty(tokens: Ints, max_tokens: int, buffer: int) -> Floats:
    """DAPO's soft penalty: from 0 where the last `buffer` tokens before the limit begin, down to -1 at the limit."""
    if buffer == 0:
        return np.zeros(np.shape(tokens))
    return -np.clip((tokens - (max_tokens - buffer)) / buffer, 0.0, 1.0)
