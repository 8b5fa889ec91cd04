"""Who is compared with whom, and what comes of it: groups of transitions, and advantages within them.

A group's members are the transitions that had the same choice before them. Everything here is linear in the number of
transitions but for one sort, and works on columns (`eapo_gym.trainers.batch.Batch`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from eapo_gym.errors import UnknownName
from eapo_gym.trainers.batch import Batch, Bools, Floats, Ints
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.rewards import Rewards

GROUPINGS = ("state_depth", "state", "trajectory", "gigpo")

SINGLETONS = ("zero", "raw", "task")

BUCKET = 5
"""Steps of an episode that count as about the same time."""

ENOUGH = 4
"""Of fewer rewards, the mean and the standard deviation say more about chance than about the task."""

SIZES: Mapping[str, tuple[float, float]] = {
    "1": (1, 1),
    "2": (2, 2),
    "3_4": (3, 4),
    "5_8": (5, 8),
    "9_16": (9, 16),
    "17_up": (17, np.inf),
}
"""The ranges of sizes whose shares are logged."""


def batch_advantages(batch: Batch, rewards: Rewards, config: TrainConfig) -> Floats:
    """The advantage of each transition, as the configuration has it."""
    whole = group_ids(batch, "trajectory")
    if config.grouping == "trajectory":
        return trajectory_advantages(
            rewards.total, whole, members(batch), std_floor=config.std_floor, singleton=config.singleton
        )
    groups = group_ids(batch, config.grouping)
    by_step = advantages(
        rewards.total, groups, std_floor=config.std_floor, singleton=config.singleton, task=whole, t=batch.t
    )
    if config.grouping != "gigpo":
        return by_step
    by_episode = trajectory_advantages(
        rewards.outcome, whole, members(batch), std_floor=config.std_floor, singleton=config.singleton
    )
    return gigpo_advantages(by_episode, by_step, config.step_weight)


def batch_statistics(batch: Batch, rewards: Rewards, config: TrainConfig) -> dict[str, float]:
    """The sizes of the groups, and how much each part of the reward varies in them, as they are logged."""
    parts = {"task": rewards.task, "format": rewards.format, "explore": rewards.explore}
    unit = members(batch) if config.grouping == "trajectory" else None
    return group_statistics(group_ids(batch, config.grouping), parts, unit)


# Groups


def number(*columns: Ints | Bools) -> Ints:
    """Number the rows from 0, equal rows alike, in the order of their values."""
    key = np.zeros(len(columns[0]), np.int64)
    size = 1
    for column in columns:
        values = column.astype(np.int64)
        width = _width(values)
        if size * width > 2**62:
            key, values = _dense(key), _dense(values)
            size, width = _width(key), _width(values)
        key = key * width + values
        size *= width
    return _dense(key)


def _width(values: Ints) -> int:
    if values.size and values.min() < 0:
        return 2**63  # numbers below 0 have to be made dense first
    return int(values.max(initial=0)) + 1


def _dense(values: Ints) -> Ints:
    return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)


def group_ids(batch: Batch, grouping: str) -> Ints:
    """Which group each transition is in, numbered from 0.

    "state_depth" (EAPO): of one task, the same state at the same visit. "state" (GiGPO's anchors, and the ablation):
    the same state. "gigpo": those of its step advantages, which are the same. "trajectory" (GRPO): of one task, all;
    its members are trajectories (`members`).

    Where an attempt has several episodes (LaMer), only those of the same number are compared: a later one is played
    because all before it failed, and an earlier one also earns what comes after it. Reflections are compared with the
    reflections on the same episode, never with actions.
    """
    if grouping not in GROUPINGS:
        raise UnknownName.of("grouping", grouping, GROUPINGS)
    own: list[Ints | Bools] = [batch.task, batch.episode, batch.reflection]
    if grouping != "trajectory":
        own.append(np.where(batch.reflection, 0, batch.state))
    if grouping == "state_depth":
        own.append(np.where(batch.reflection, 0, batch.depth))
    return number(*own)


def members(batch: Batch) -> Ints:
    """Which transitions stand together when whole trajectories are compared: an episode's actions, or a reflection."""
    return number(batch.trajectory, batch.episode, batch.reflection)


# Advantages


def advantages(
    rewards: Floats,
    groups: Ints,
    *,
    std_floor: float,
    singleton: str = "zero",
    task: Ints | None = None,
    t: Ints | None = None,
) -> Floats:
    """(R - mean) / max(std, std_floor) within each group, with the population's standard deviation.

    Who is alone in a group has no baseline there, and gets by `singleton`: "zero" what the formula says; "raw" its
    reward; "task" its advantage among all transitions of its task in the same five steps, or, where they are too few,
    at any time. For that, `task` and `t` are needed. Groups are numbered from 0.
    """
    if singleton not in SINGLETONS:
        raise UnknownName.of("singleton rule", singleton, SINGLETONS)
    found, count = _normalised(rewards, groups, std_floor)
    alone = count == 1
    if singleton == "raw":
        found[alone] = rewards[alone]
    elif singleton == "task" and alone.any():
        if task is None or t is None:
            raise ValueError('singleton="task": expected the columns task and t, got None.')
        near, enough = _normalised(rewards, number(task, t // BUCKET), std_floor)
        wide, _ = _normalised(rewards, number(task), std_floor)
        found[alone] = np.where(enough >= ENOUGH, near, wide)[alone]
    return found


def _normalised(rewards: Floats, groups: Ints, std_floor: float) -> tuple[Floats, Ints]:
    """Each one's advantage in its group, and the size of that."""
    deviation, count = _deviations(rewards, groups)
    variance = np.bincount(groups, deviation**2) / np.maximum(np.bincount(groups), 1)
    return deviation / np.maximum(np.sqrt(variance), std_floor)[groups], count[groups]


def _deviations(rewards: Floats, groups: Ints) -> tuple[Floats, Ints]:
    """From the mean of the group, and the sizes of all groups.

    Measured from one of its rewards, a group of equal rewards has deviations of exactly 0, not of rounding errors that
    a small `std_floor` would blow up.
    """
    count = np.bincount(groups)
    origin = np.zeros(count.size)
    origin[groups] = rewards
    shifted = rewards - origin[groups]
    mean = np.bincount(groups, shifted) / np.maximum(count, 1)
    return shifted - mean[groups], count


def trajectory_advantages(
    rewards: Floats, groups: Ints, member: Ints, *, std_floor: float, singleton: str = "zero"
) -> Floats:
    """GRPO: the members of a group are trajectories, and all transitions of one get its advantage.

    The reward of a trajectory is the *mean* of R over its transitions: a sum would pay format and exploration by the
    step, and so long trajectories for being long. With episodic credit it is success + format_weight · the share of
    well-formed responses + explore_weight · the mean exploratory reward. Where only one trajectory of a task is left,
    there is nothing wider to compare it with, and "task" is as "zero".
    """
    number_of = number(member)
    mean = np.bincount(number_of, rewards) / np.bincount(number_of)
    group = np.zeros(mean.size, np.int64)
    group[number_of] = groups
    rule = "zero" if singleton == "task" else singleton
    return advantages(mean, number(group), std_floor=std_floor, singleton=rule)[number_of]


def gigpo_advantages(by_episode: Floats, by_step: Floats, step_weight: float) -> Floats:
    """GiGPO: how the episode did among those of its task, and the step among those from the same state."""
    return by_episode + step_weight * by_step


# Statistics


def group_statistics(groups: Ints, parts: Mapping[str, Floats], member: Ints | None = None) -> dict[str, float]:
    """How large the groups are, and how much each part of the reward varies within them.

    `group/size_…` are shares of the transitions; `group/singletons` is the share of the *groups* that have one member.
    `reward_variance/…` is the mean squared deviation from the group's mean, over those who are not alone: a part
    without variance teaches nothing, however large it is. With `member`, what is compared are its means.
    """
    shares = groups
    if member is not None:
        number_of = number(member)
        counts = np.bincount(number_of)
        parts = {name: np.bincount(number_of, part) / counts for name, part in parts.items()}
        compared = np.zeros(counts.size, np.int64)
        compared[number_of] = groups
        groups = compared
    count = np.bincount(groups)
    existing = count[count > 0]
    sizes = count[shares]
    found = {
        "group/size_mean": _mean(existing.astype(np.float64)),
        "group/singletons": _mean((existing == 1).astype(np.float64)),
    }
    for name, (low, high) in SIZES.items():
        found[f"group/size_{name}"] = _mean(((sizes >= low) & (sizes <= high)).astype(np.float64))
    compared_with_others = count[groups] > 1
    for name, part in parts.items():
        found[f"reward_variance/{name}"] = _mean(_deviations(part, groups)[0][compared_with_others] ** 2)
    return found


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def auc(scores: Floats, labels: Bools) -> float:
    """The chance that a positive outscores a negative, ties counted half; NaN where one of them is missing."""
    return auc_within(scores, labels, np.zeros(len(scores), np.int64))


def auc_within(scores: Floats, labels: Bools, bins: Ints) -> float:
    """The AUC over the pairs of a positive and a negative in the same bin.

    Within bins of t, for example, it cannot be earned by telling late steps from early ones.
    """
    if np.isnan(scores).any():
        return float("nan")
    order = np.unique(scores, return_inverse=True)[1]
    place = number(number(bins), order)
    positive = np.bincount(place, labels)
    negative = np.bincount(place, ~np.asarray(labels, np.bool_))
    bin_of = np.zeros(positive.size, np.int64)
    bin_of[place] = number(bins)
    total = np.bincount(bin_of, negative)
    before = np.cumsum(total) - total
    below = np.cumsum(negative) - negative - before[bin_of]
    pairs = float(np.bincount(bin_of, positive) @ total)
    return float(positive @ (below + negative / 2)) / pairs if pairs else float("nan")
