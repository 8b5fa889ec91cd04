"""What the figures of training runs show: which metrics stand side by side, and what a reader needs to know of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eapo_gym.trainers.runs import Line, as_number


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric."""

    metric: str
    title: str
    unit: str = ""
    share: bool = False
    """From 0 to 1: drawn in percent."""

    level: float | None = None
    """Where a rule tells good from bad."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What is drawn side by side, because it is read together."""

    key: str
    title: str
    about: str
    """What a reader needs to know to read it."""

    panels: tuple[Panel, ...]
    stacked: bool = False
    """The metrics are parts of a whole: each line has a panel, in which they lie one upon the other."""

    unit: str = ""
    """Of stacked parts."""


def _share(metric: str, title: str) -> Panel:
    return Panel(metric, title, "%", share=True)


_SIZES = {"1": "1", "2": "2", "3_4": "3–4", "5_8": "5–8", "9_16": "9–16", "17_up": "17 or more"}
_PARTS = {
    "rollout": "rollout",
    "online": "online rewards",
    "q_train": "q: training",
    "q_score": "q: scoring",
    "grouping": "grouping",
    "logprobs": "log-probs",
    "update": "update",
    "sync": "weights to the engine",
    "eval": "evaluation",
    "save": "checkpoint",
}

FIGURES = (
    Figure(
        "success",
        "Success",
        "Share of the solved episodes. In evaluation the interval is Wilson's, 95 %: the area of a single run, "
        "or, with several seeds, the whiskers (all of their episodes together).",
        (_share("train/success", "Training"), _share("eval/success", "Evaluation")),
    ),
    Figure(
        "exploration",
        "Exploration degree",
        "Share of an episode's distinct states that it visited more than once; without self-loops, actions that leave "
        "the state as it is do not count as visits.",
        (
            Panel("explore/degree", "Training"),
            Panel("explore/degree_no_loops", "Training, without self-loops"),
            Panel("eval/degree", "Evaluation"),
            Panel("eval/degree_no_loops", "Evaluation, without self-loops"),
        ),
    ),
    Figure(
        "steps",
        "Steps of an episode",
        "Mean number of actions.",
        (Panel("train/steps", "Training", "actions"), Panel("eval/steps", "Evaluation", "actions")),
    ),
    Figure(
        "rollback",
        "Rollback",
        "Share of the steps that are rollbacks, and of the rollbacks that reached the state before.",
        (_share("rollback/rate", "Rollbacks"), _share("rollback/held", "Held")),
    ),
    Figure(
        "rewards",
        "Rewards",
        "Mean over the transitions of each part, before its weight, and of their weighted sum.",
        (
            Panel("reward/task", "Task"),
            Panel("reward/format", "Format"),
            Panel("reward/explore", "Exploration"),
            Panel("reward/total", "Sum"),
        ),
    ),
    Figure(
        "variance",
        "Variance of rewards within groups",
        "Mean over the groups: a part that does not vary within a group teaches nothing.",
        (
            Panel("reward_variance/task", "Task"),
            Panel("reward_variance/format", "Format"),
            Panel("reward_variance/explore", "Exploration"),
        ),
    ),
    Figure(
        "groups",
        "Sizes of groups",
        "Shares of the transitions whose group has so many members. Who is alone has nobody to be compared with.",
        tuple(_share(f"group/size_{key}", label) for key, label in _SIZES.items()),
        stacked=True,
        unit="% of transitions",
    ),
    Figure(
        "group_means",
        "Groups",
        "Mean number of transitions in a group, and the share of groups that have only one.",
        (Panel("group/size_mean", "Size", "transitions"), _share("group/singletons", "Singletons")),
    ),
    Figure(
        "reward_model",
        "The reward model q",
        "AUC: how well it tells transitions of solved episodes from others before it is trained on them, "
        "by log q and by log q − log p; at 0.5 it cannot.",
        (
            Panel("q/loss", "Loss"),
            Panel("q/kl", "Distance from the prior", "nats per token"),
            Panel("q/auc", "AUC of log q", level=0.5),
            Panel("q/auc_lift", "AUC of log q − log p", level=0.5),
            Panel("q/grad_norm", "Norm of the gradient"),
            Panel("q/ratio", "Ratio to the sampling policy", level=1.0),
        ),
    ),
    Figure(
        "densities",
        "Densities",
        "Means of the four densities of exploration and memory, and how often the state after the action explains them "
        "better.",
        (
            Panel("density/lift", "Lift"),
            Panel("density/token_mean", "Token mean"),
            Panel("density/sequence", "Sequence"),
            Panel("density/log_prob", "Log-prob", "nats"),
            _share("density/second_share", "Second term is greater"),
        ),
    ),
    Figure(
        "policy",
        "The policy's updates",
        "Distance from the reference model, share of the tokens whose ratio is clipped, and the norm of the gradient "
        "before it is clipped.",
        (
            Panel("policy/kl", "KL to the reference", "nats per token"),
            _share("policy/clip_share", "Clipped tokens"),
            Panel("policy/grad_norm", "Norm of the gradient"),
            Panel("policy/loss", "Loss"),
            Panel("policy/entropy", "Entropy", "nats per token"),
            Panel("policy/ratio", "Ratio to the sampling policy", level=1.0),
            Panel("policy/learning_rate", "Learning rate"),
        ),
    ),
    Figure(
        "form",
        "Format and invalid actions",
        "Share of the responses in the right form, and of the steps that did nothing.",
        (
            _share("format/rate", "Right form"),
            _share("invalid/rate", "Invalid actions"),
            _share("eval/format_rate", "Right form, evaluation"),
            _share("eval/invalid_rate", "Invalid actions, evaluation"),
        ),
    ),
    Figure(
        "sampler",
        "Sampler and trainer",
        "Where another engine samples: the mean truncated ratio of the trainer's probabilities to the engine's, and "
        "the share of tokens that it is truncated for.",
        (Panel("tis/mean", "Mean ratio", level=1.0), _share("tis/capped", "Truncated")),
    ),
    Figure(
        "seconds",
        "Seconds of a step",
        "Where the time of a training step goes. The environments' is within the rollouts; that of a checkpoint stands "
        "with the step after it.",
        tuple(Panel(f"time/{key}", label, "s") for key, label in _PARTS.items()),
        stacked=True,
        unit="seconds",
    ),
    Figure(
        "speed",
        "Throughput",
        "Tokens that were sampled, and that went through the update, in a second; what a whole step takes; and what "
        "the environments take of it, summed over episodes that run at the same time.",
        (
            Panel("tokens_per_second/rollout", "Rollout", "tokens / s"),
            Panel("tokens_per_second/update", "Update", "tokens / s"),
            Panel("time/step", "Step", "seconds"),
            Panel("time/env", "Environments", "seconds"),
            Panel("memory/peak_mb", "Peak memory", "MB"),
        ),
    ),
    Figure(
        "failures",
        "Failures",
        "Episodes of a step that failed, by the cause, and what became of them; groups that teach nothing; and updates "
        "that were skipped for not being finite.",
        (
            Panel("failures/infrastructure", "Infrastructure", "episodes"),
            Panel("failures/timeout", "Timed out", "episodes"),
            Panel("failures/agent", "Agent", "episodes"),
            Panel("failures/dropped", "Left out", "trajectories"),
            Panel("failures/retries", "Begun again", "episodes"),
            Panel("failures/uninformative_groups", "All earned the same", "groups"),
            Panel("failures/skipped_updates", "Skipped updates", "updates"),
        ),
    ),
)


def figures_of(lines: Sequence[Line]) -> tuple[list[Figure], list[str]]:
    """The figures that have data, with the panels that have; and the titles of what is left out."""
    kept, missing = [], []
    for figure in FIGURES:
        panels = tuple(panel for panel in figure.panels if _is_measured(panel.metric, lines))
        if panels:
            kept.append(replace(figure, panels=panels))
            gone = [panel.title for panel in figure.panels if panel not in panels] if not figure.stacked else []
            missing += [f"{figure.title}: {title}" for title in gone]
        else:
            missing.append(figure.title)
    return kept, missing


def _is_measured(metric: str, lines: Sequence[Line]) -> bool:
    return any(not math.isnan(as_number(row.get(metric))) for line in lines for run in line.runs for row in run.rows)
