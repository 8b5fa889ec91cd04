"""One step of learning: from what was played to new weights. The algorithms differ in the settings alone.

1  the reward model scores explorations and memories, as it was before it has seen them      (explore_reward=q_phi)
2  rewards: task, format, exploration                                                          rewards.py
3  groups, and advantages within them                                                          groups.py
4  the reward model learns from the episodes                                                   qphi.py
5  the policy learns by the clipped objective, with a distance from the reference              objective.py
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from eapo_gym.agents.model import ModelAgent
from eapo_gym.trainers.batch import Attempt, Batch, Floats, make_batch
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.failures import BadUpdates, naming_memory
from eapo_gym.trainers.groups import batch_advantages, batch_statistics, members
from eapo_gym.trainers.logprobs import Row
from eapo_gym.trainers.objective import policy_loss, truncated_importance
from eapo_gym.trainers.policy import Policy, Role
from eapo_gym.trainers.processes import Processes
from eapo_gym.trainers.qphi import RewardModel
from eapo_gym.trainers.rewards import Rewards, batch_rewards

Metrics = dict[str, float]

_SAME = 1e-6
"""Rewards that differ by less are equal."""

_log = logging.getLogger(__name__)


def roles_of(config: TrainConfig) -> tuple[Role, ...]:
    """What the configuration needs the model for."""
    scores = config.explore_reward == "q_phi"
    needed: dict[Role, bool] = {"policy": True, "reference": config.kl_weight > 0 or scores, "q": scores}
    return tuple(role for role, is_needed in needed.items() if is_needed)


class Learner:
    """Learns from one batch after the other; see the module."""

    def __init__(self, config: TrainConfig, policy: Policy, agent: ModelAgent, processes: Processes) -> None:
        self.config, self.policy, self.processes = config, policy, processes
        self.reward_model = RewardModel(policy, config, agent) if config.explore_reward == "q_phi" else None
        self.bad_updates = {role: BadUpdates(config, role) for role in ("policy", "q")}
        self.warnings: list[str] = []
        """What somebody should be told, and has not been yet."""

        self._seconds: dict[str, float] = {}
        window = agent.engine.context
        if config.max_tokens >= window and processes.is_first:
            _log.warning(
                "max_tokens is %s, and the window of the model is %s, prompt included: responses end where it does.",
                *(f"{config.max_tokens:,}", f"{window:,}"),
            )

    def learn(self, batch: Batch, step: int, explore: Floats | None = None) -> Metrics:
        """Learn from a batch; `explore` are its exploratory rewards where they come from rollouts."""
        self._seconds = defaultdict(float)
        metrics: Metrics = {}
        scored = None
        if self.reward_model is not None:
            with self._timed("q_score"), naming_memory(self.config, "score"):
                scored = self.reward_model.prepare(batch)
                explore = self.reward_model.score(scored)
        with self._timed("grouping"):
            rewards = batch_rewards(batch, self.config, explore)
            advantages = batch_advantages(batch, rewards, self.config)
            metrics |= _of_rewards(rewards) | batch_statistics(batch, rewards, self.config)
        if self.reward_model is not None and scored is not None:
            with self._timed("q_train"), naming_memory(self.config, "update"):
                trained = self.reward_model.train(scored)
            if "q/grad_norm" in trained:
                self.bad_updates["q"].note(trained["q/grad_norm"])
            health = self.reward_model.health(scored, trained)
            metrics |= health.metrics
            if health.warning is not None:
                self.warnings.append(health.warning)
        metrics |= self._improve(batch, advantages, step)
        metrics["failures/skipped_updates"] = sum(each.skipped for each in self.bad_updates.values())
        return metrics | {f"time/{part}": seconds for part, seconds in self._seconds.items()}

    def asks_as(self, agent: ModelAgent) -> None:
        """The prompts are this agent's from now on: that of an engine that was opened again."""
        if self.reward_model is not None:
            self.reward_model.agent = agent

    def informative(self, attempts: Sequence[Attempt]) -> bool:
        """Whether a group of attempts tells good from bad: they have not all earned the same."""
        batch = make_batch([("", attempts)])
        member = members(batch)
        total = batch_rewards(batch, self.config).total
        means = np.bincount(member, total) / np.maximum(np.bincount(member), 1)
        return bool(means.size and np.ptp(means) > _SAME)

    # The policy

    def _improve(self, batch: Batch, advantages: Floats, step: int) -> Metrics:
        config, policy = self.config, self.policy
        rows = [Row(tuple(one.prompt_ids), (tuple(one.response_ids),), one.images) for one in batch.transitions]
        sampled = [np.asarray(one.response_logprobs, np.float32) for one in batch.transitions]
        with self._timed("logprobs"), naming_memory(config, "score"):
            old, reference = sampled, None
            if config.sampler != "shared":
                old = [each for [each] in policy.score(rows, "policy", config.temperature)]
            if config.kl_weight > 0:
                reference = [each for [each] in policy.score(rows, "reference", config.temperature)]
        sums: dict[str, float] = defaultdict(float)
        with self._timed("update"), naming_memory(config, "update"):
            norms = [
                self._update(part, rows, advantages, sampled, old, reference, sums)
                for part in self._parts(len(rows), step)
            ]
        updates = max(len(norms), 1)
        found: Metrics = defaultdict(float)
        for own in self.processes.gather(dict(sums)):  # shares of the whole batch's means, which add up to them
            for name, value in own.items():
                found[name] += value / updates
        finite = [norm for norm in norms if np.isfinite(norm)]
        found["policy/grad_norm"] = float(np.mean(finite)) if finite else float("nan")
        found["policy/learning_rate"] = policy.learning_rate("policy")
        found["tokens_per_second/update"] = config.epochs * sum(row.length for row in rows) / self._seconds["update"]
        return dict(found)

    def _parts(self, count: int, step: int) -> Iterator[list[int]]:
        """Which rows each update is made of."""
        config = self.config
        for epoch in range(config.epochs):
            order = np.arange(count)
            if config.minibatches > 1:
                order = np.random.default_rng((config.seed, step, epoch, self.processes.rank)).permutation(count)
            yield from (part.tolist() for part in np.array_split(order, config.minibatches))

    def _update(
        self,
        part: list[int],
        rows: list[Row],
        advantages: Floats,
        sampled: list[np.ndarray],
        old: list[np.ndarray],
        reference: list[np.ndarray] | None,
        sums: dict[str, float],
    ) -> float:
        """One update of the policy; returns the norm of its gradient."""
        config, policy = self.config, self.policy
        own_tokens = sum(len(old[i]) for i in part)
        count, tokens = map(int, self.processes.sums([len(part), own_tokens]))
        collected: dict[str, list[torch.Tensor]] = defaultdict(list)
        for each in policy.passes([rows[i] for i in part], "policy", config.temperature):
            here = [part[i] for i in each.indices]

            def flat(columns: list[np.ndarray], here: list[int] = here, like: Any = each.logprobs) -> torch.Tensor:
                return torch.from_numpy(np.concatenate([columns[i] for i in here])).to(like)

            before = flat(old)
            weights = None
            if config.sampler != "shared":
                weights, stats = truncated_importance(before, flat(sampled), config.tis_cap, tokens=tokens)
                _collect(collected, stats)
            loss, stats = policy_loss(
                each.logprobs,
                before,
                None if reference is None else flat(reference),
                torch.from_numpy(advantages[here]).to(each.logprobs),
                each.row,
                rows=count,
                tokens=tokens,
                clip_low=config.clip_low,
                clip_high=config.clip_high,
                kl_weight=config.kl_weight,
                mean=config.loss_mean,
                weights=weights,
            )
            policy.backward(loss)
            _collect(collected, stats)
        norm = policy.update("policy")
        self.bad_updates["policy"].note(norm)
        for name, values in collected.items():
            sums[name] += float(torch.stack(values).sum())
        return norm

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[part] += time.perf_counter() - begin

    # Checkpoints

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs beside the policy's own state."""
        return {
            "bad_updates": {role: each.state() for role, each in self.bad_updates.items()},
            "reward_model": None if self.reward_model is None else self.reward_model.state(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        for role, each in self.bad_updates.items():
            each.load_state(state["bad_updates"][role])
        if self.reward_model is not None:
            self.reward_model.load_state(state["reward_model"])


def _of_rewards(rewards: Rewards) -> Metrics:
    parts = {"total": rewards.total, "task": rewards.task, "format": rewards.format, "explore": rewards.explore}
    return {f"reward/{name}": float(part.mean()) if part.size else float("nan") for name, part in parts.items()}


def _collect(into: dict[str, list[torch.Tensor]], stats: dict[str, torch.Tensor]) -> None:
    for name, value in stats.items():
        into[name].append(value.detach())
