"""The reward model q(e, m | s): how likely an exploration and a memory are, seen from episodes that went well.

    model = RewardModel(policy, config, agent)
    scored = model.prepare(batch)
    explore = model.score(scored)      # the exploratory reward of each transition
    trained = model.train(scored)      # afterwards: what a transition earns is decided before q learns from it
    health = model.health(scored, trained)

q starts as the policy did and is trained at every step to maximise beta·E_q[Q(s, e, m)] - KL(q ‖ p), p the frozen
reference. Its optimum is q* ∝ p·exp(beta·Q): pairs that go with success gain probability over the prior p, and by that
gain (the density "lift") they are told from pairs that are merely likely, such as empty, copied or bland ones.

**Prompt and target.** Goal and state, of a screen its elements or pictures too, through the agent's own prompt, without
the explore and memory that the policy was shown there, and without what a transition does not keep (the list of valid
actions). The target is the pair that `config.score` names, in tag form: what the response wrote ("output"), or what its
prompt was given ("input"), and once more with s' added to the memory (`eapo_gym.trainers.pairs`).

**The ratio is an approximation.** Pairs come from the policy, so each counts by the clipped ratio of q to the policy on
the same tokens. But the policy was also shown the explore and memory of the step before, and its own thought, and q is
not: the two condition on different things, and the ratio corrects for the change of the model alone.

**What is not scored** earns 0: reflections between episodes, which hold no pair, and transitions whose pair is longer
than the model's window. Where there is only room for the first pair, that one decides.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from eapo_gym.agents.model import ModelAgent
from eapo_gym.agents.pictures import digests
from eapo_gym.engines.base import Prompt
from eapo_gym.engines.images import ImageReader
from eapo_gym.schema import Context, Observation, Transition
from eapo_gym.trainers.batch import Batch, Bools, Floats, Ints
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.groups import auc_within
from eapo_gym.trainers.logprobs import Row
from eapo_gym.trainers.objective import q_gains, q_loss
from eapo_gym.trainers.pairs import Pair, PairWriter
from eapo_gym.trainers.policy import Pass, Policy
from eapo_gym.trainers.rewards import DENSITIES, densities, explore_rewards, task_rewards

Tokens = NDArray[np.float32]

PATIENCE = 5
"""Steps with successes and failures in which q may be no better than chance before somebody is told."""

CHANCE = 0.05
"""An AUC that is less than this from one half is chance."""

_KNOWN_PROMPTS = 1 << 13
"""Of earlier steps: tasks and their states come back."""

_BIN = 5
"""Steps of an episode in one bin of the AUC: late steps are rarer in successes, and q must not be praised for that."""


@dataclass(slots=True)
class Scored:
    """The transitions of a batch as the reward model reads them, and then what it says of them."""

    batch: Batch
    rows: list[Row]
    """What goes through the model: equal ones once."""

    row: Ints
    """Which of them belongs to each transition; -1 for those that are not scored."""

    prompts: list[Hashable]
    """For each row what tells its prompt from others."""

    sampled: list[Tokens | None]
    """For each transition the log-probs of its first pair's tokens when the policy sampled them, if it did."""

    log_q: Floats
    """[transitions, 2]: sums over the tokens of the first and of the second pair; NaN where there is none."""

    log_p: Floats
    """The same of the reference."""

    tokens: Floats
    """The tokens of both."""

    densities: dict[str, Floats] = field(default_factory=dict)
    """[transitions, 2] for each way to make a density of a log-prob; the configured one is the reward."""

    explore: Floats = field(default_factory=lambda: np.zeros(0))
    """The exploratory reward."""

    second: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    """It is that of the second pair."""

    prior: list[Tokens] = field(default_factory=list)
    """For each row, the reference's log-probs of the first pair's tokens."""

    @property
    def known(self) -> Bools:
        """Which transitions have a score."""
        return self.row >= 0


@dataclass(frozen=True, slots=True)
class Health:
    """How the reward model does: numbers for the log, and once in a run something to say."""

    metrics: dict[str, float]
    warning: str | None = None


class RewardModel:
    """The reward model of one training run.

    Args:
        policy: holds the weights: the roles "q" and "reference" are used here.
        config: what is scored, how it becomes a reward, and how q is trained.
        agent: whose prompts q reads.
    """

    def __init__(self, policy: Policy, config: TrainConfig, agent: ModelAgent) -> None:
        self.policy = policy
        self.config = config
        self.agent = agent
        self._writer = PairWriter(policy.chat)
        self._prompts: dict[Hashable, tuple[int, ...]] = {}
        self._reader: ImageReader | None = None
        self._blind_steps = 0
        self._has_warned = False

    # What is read

    def prepare(self, batch: Batch) -> Scored:
        """The prompts and pairs of a batch. Nothing is computed yet."""
        rows: list[Row] = []
        numbers: dict[Hashable, int] = {}
        row = np.full(len(batch), -1, np.int64)
        sampled: list[Tokens | None] = [None] * len(batch)
        prompts: list[Hashable] = []
        if len(self._prompts) > _KNOWN_PROMPTS:
            self._prompts.clear()
        for i, (transition, pair) in enumerate(zip(batch.transitions, self._pairs(batch), strict=True)):
            if pair is None:
                continue
            prompt, images, key = self._prompt(transition)
            room = self.policy.context - len(prompt)
            if len(pair.ids) > room:
                continue
            second = self._writer.with_entry(pair, transition.next_description or transition.next_state)
            targets = [pair.ids, second] if len(second) <= room else [pair.ids]
            identity = (key, *targets)
            row[i] = numbers.setdefault(identity, len(rows))
            if row[i] == len(rows):
                rows.append(Row(prompt, tuple(targets), images))
                prompts.append(key)
            sampled[i] = pair.logprobs
        log_q, log_p, tokens = np.full((3, len(batch), 2), np.nan)
        return Scored(batch, rows, row, prompts, sampled, log_q, log_p, tokens)

    def _pairs(self, batch: Batch) -> list[Pair | None]:
        """Of each transition the pair that is scored; reflections have none."""
        acts = ~batch.reflection
        own = [self._writer.sampled(step) if acts[i] else None for i, step in enumerate(batch.transitions)]
        if self.config.score == "output":
            return [
                (own[i] or self._writer.written(step.explore, step.memory)) if acts[i] else None
                for i, step in enumerate(batch.transitions)
            ]
        # What a prompt was given is what the response before it wrote, and its tokens are that response's.
        columns = zip(batch.trajectory.tolist(), batch.episode.tolist(), batch.t.tolist(), strict=True)
        places = {place: i for i, place in enumerate(columns) if acts[i]}
        pairs: list[Pair | None] = []
        for i, step in enumerate(batch.transitions):
            pair = None
            if acts[i]:
                before = places.get((int(batch.trajectory[i]), int(batch.episode[i]), int(batch.t[i]) - 1))
                if before is not None and self._reads(step, batch.transitions[before]):
                    pair = own[before]
                pair = pair or self._writer.written(step.explore_in, step.memory_in)
            pairs.append(pair)
        return pairs

    @staticmethod
    def _reads(step: Transition, before: Transition) -> bool:
        return (step.explore_in, step.memory_in) == (before.explore, before.memory)

    def _prompt(self, step: Transition) -> tuple[tuple[int, ...], Sequence[np.ndarray], Hashable]:
        """Goal and state as the model is fed them, the images among them, and what tells this prompt from others."""
        images = step.images
        key = (step.goal, step.state, step.elements, *digests(images))
        if key not in self._prompts:
            shown: dict[str, Any] = dict(zip(self.agent.build.image_fields, images, strict=False))
            context = Context(env=self.config.env)
            seen = Observation(step.goal, step.state, elements=step.elements, context=context, **shown)
            self._prompts[key] = self._expanded(self.agent.prompt(seen))
        return self._prompts[key], images, key

    def _expanded(self, prompt: Prompt) -> tuple[int, ...]:
        """The ids with all the tokens that images take."""
        if not prompt.images:
            return prompt.ids
        self._reader = self._reader or ImageReader(self.policy.chat.name, self.policy.chat)
        return self._reader.read(prompt).ids

    # The reward

    def score(self, scored: Scored) -> Floats:
        """The exploratory reward of each transition; what it is made of stands in `scored` from now on."""
        q, p = (self.policy.score(scored.rows, role) for role in ("q", "reference"))
        known, row = scored.known, scored.row[scored.known]
        scored.log_q[known], scored.log_p[known] = _sums(q)[row], _sums(p)[row]
        scored.tokens[known] = _counts(scored.rows)[row]
        scored.prior = [targets[0] for targets in p]
        scored.densities = {name: np.full_like(scored.tokens, np.nan) for name in DENSITIES}
        there = ~np.isnan(scored.tokens)
        columns = densities(scored.log_q[there], scored.log_p[there], scored.tokens[there])
        for name, column in columns.items():
            scored.densities[name][there] = column

        first, second = scored.densities[self.config.density].T
        reward: Floats = first.copy()
        both = there[:, 1]
        reward[both] = explore_rewards(first[both], second[both], self.config.gamma_explore, self.config.density)
        scored.second = both & (reward > first)
        # A log-prob is below 0: what cannot be scored must not be the best of all.
        reward[~known] = reward[known].min(initial=0.0)
        scored.explore = reward
        return scored.explore

    # Its training

    def train(self, scored: Scored) -> dict[str, float]:
        """One pass over the first pairs, and one update.

        Equal pairs go through the model once, and count for each transition that has them. The reference's log-probs
        are those of the scoring.
        """
        if len(scored.prior) != len(scored.rows):
            raise ValueError("train needs the log-probs of the scoring: expected transitions that `score` was given.")
        config, lessons = self.config, _Lessons.of(scored)
        gains = torch.from_numpy(self._gains(scored))
        [count] = _of_all_processes([float(scored.known.sum())], self.policy.device)
        stats: dict[str, float] = {"q/loss": 0.0, "q/kl": 0.0, "q/ratio": 0.0}
        for passed in self.policy.passes(lessons.rows, "q"):
            who, tokens, owner = lessons.spread(passed)
            log_q = passed.logprobs[tokens.to(passed.logprobs.device)]
            prior = [scored.prior[row] for row in scored.row[who]]
            loss, shares = q_loss(
                log_q,
                torch.from_numpy(np.concatenate(prior)).to(log_q),
                self._old(scored, who, prior, log_q),
                gains[who].to(log_q),
                owner.to(log_q.device),
                rows=int(count),
                kl=config.q_kl,
                clip=config.q_clip,
                objective=config.q_objective,
            )
            self.policy.backward(loss)
            for name, share in shares.items():
                stats[name] += float(share)
        if not count:
            return {}
        stats = dict(zip(stats, _of_all_processes(list(stats.values()), self.policy.device), strict=True))
        return {**stats, "q/grad_norm": self.policy.update("q")}

    def _old(self, scored: Scored, who: Ints, prior: Sequence[Tokens], log_q: Any) -> Any:
        """What the policy gave to the tokens; where it did not sample them nothing is corrected, so the ratio is 1."""
        unchanged = np.concatenate(prior)
        if self.config.q_objective == "reinforce":
            unchanged = log_q.detach().float().cpu().numpy()
        begins = np.cumsum([0, *map(len, prior)])
        pieces = [
            unchanged[begin : begin + len(values)] if scored.sampled[i] is None else scored.sampled[i]
            for i, begin, values in zip(who, begins, prior, strict=False)
        ]
        return torch.from_numpy(np.concatenate(pieces)).to(log_q)

    def _gains(self, scored: Scored) -> Floats:
        """What each transition is worth to q; the transitions that are not scored have no part in it."""
        batch, known, config = scored.batch, scored.known, self.config
        returns = task_rewards(batch.success, batch.t, batch.length, "discounted", config.gamma_task)
        gains = np.zeros(len(batch))
        gains[known] = q_gains(
            returns[known],
            batch.task[known],
            beta=config.q_beta,
            baseline=config.q_baseline,
            objective=config.q_objective,
        )
        return gains

    # How it does

    def health(self, scored: Scored, trained: Mapping[str, float] | None = None) -> Health:
        """The numbers of a step, and a warning once q has been no better than chance for `PATIENCE` steps in a row.

        The AUC is that of telling transitions of successful from those of failed episodes by the first pair, before q
        was trained on them. Only steps with both outcomes count.
        """
        batch, known = scored.batch, scored.known
        mean_q, mean_p = (column[known, 0] / scored.tokens[known, 0] for column in (scored.log_q, scored.log_p))
        labels, bins = batch.success[known], batch.t[known] // _BIN
        metrics = {
            **(trained or {}),
            "q/auc": auc_within(mean_q, labels, bins),
            "q/auc_lift": auc_within(mean_q - mean_p, labels, bins),
            "density/second_share": _mean(scored.second[known]),
        }
        metrics |= {f"density/{name}": _mean(column[known, 0]) for name, column in scored.densities.items()}
        return Health(metrics, self._warning(metrics))

    def _warning(self, metrics: Mapping[str, float]) -> str | None:
        name = "q/auc_lift" if self.config.density == "lift" else "q/auc"
        auc = metrics[name]
        if np.isnan(auc):
            return None  # all succeeded, or all failed: it says nothing
        self._blind_steps = self._blind_steps + 1 if auc < 0.5 + CHANCE else 0
        if self._blind_steps < PATIENCE or self._has_warned:
            return None
        self._has_warned = True
        return (
            f"The reward model is blind: for {PATIENCE} steps it has told pairs of successful episodes from those of "
            f"failed ones no better than chance ({name} is {auc:.2f}, expected above {0.5 + CHANCE:.2f}), so the "
            "exploratory reward is noise. Raise q_learning_rate or q_beta, or set explore_reward=none."
        )

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs of it beside the policy's weights."""
        return {"blind_steps": self._blind_steps, "has_warned": self._has_warned}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._blind_steps, self._has_warned = int(state["blind_steps"]), bool(state["has_warned"])


@dataclass(frozen=True, slots=True)
class _Lessons:
    """What q is trained on: distinct first pairs, and whose they are."""

    rows: list[Row]
    members: list[list[Ints]]
    """For each row and each of its targets the transitions that have it."""

    @classmethod
    def of(cls, scored: Scored) -> _Lessons:
        """Rows that differ in the second pair alone are one lesson; lessons of one prompt share a row."""
        numbers: dict[Hashable, int] = {}
        alone: list[Row] = []
        prompts: list[Hashable] = []
        lesson = np.empty(len(scored.rows), np.int64)
        for i, row in enumerate(scored.rows):
            identity = (scored.prompts[i], row.targets[0])
            lesson[i] = numbers.setdefault(identity, len(alone))
            if lesson[i] == len(alone):
                alone.append(Row(row.prompt, row.targets[:1], row.images))
                prompts.append(scored.prompts[i])
        who = np.flatnonzero(scored.known)
        of_who = lesson[scored.row[who]]
        order = np.argsort(of_who, kind="stable")
        members = np.split(who[order], np.cumsum(np.bincount(of_who, minlength=len(alone)))[:-1])
        shared = _sharing(alone, prompts)
        rows = [replace(alone[of[0]], targets=tuple(alone[i].targets[0] for i in of)) for of in shared]
        return cls(rows, [[members[i] for i in of] for of in shared])

    def spread(self, passed: Pass) -> tuple[Ints, Any, Any]:
        """The transitions of a micro-batch; for all their tokens the place in it, and which transition it is of."""
        nobody = np.zeros(0, np.int64)
        groups = [members for i in passed.indices for members in self.members[i]]
        who = np.concatenate([nobody, *groups])
        at = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        lengths = np.array([len(target) for i in passed.indices for target in self.rows[i].targets], np.int64)
        begins = np.cumsum(lengths) - lengths
        counts = lengths[at]
        owner = np.repeat(np.arange(len(who)), counts)
        tokens = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begins[at], counts)
        return who, torch.from_numpy(tokens), torch.from_numpy(owner)


def _sharing(lessons: Sequence[Row], prompts: Sequence[Hashable]) -> list[list[int]]:
    """Which lessons stand in one row, so that their prompt is computed once.

    No row becomes wider than the widest lesson is alone: attention costs the square of that.
    """
    most = max((lesson.length for lesson in lessons), default=0)
    shared: list[list[int]] = []
    widths: list[int] = []
    latest: dict[Hashable, int] = {}
    for i, (lesson, prompt) in enumerate(zip(lessons, prompts, strict=True)):
        row = latest.get(prompt)
        if row is not None and widths[row] + len(lesson.targets[0]) <= most:
            shared[row].append(i)
            widths[row] += len(lesson.targets[0])
        else:
            latest[prompt] = len(shared)
            shared.append([i])
            widths.append(lesson.length)
    return shared


def _sums(scores: Sequence[Sequence[Tokens]]) -> Floats:
    """[rows, 2]: the log-probs of whole targets; NaN where there is no second one."""
    found = np.full((len(scores), 2), np.nan)
    for i, targets in enumerate(scores):
        for j, values in enumerate(targets):
            found[i, j] = values.sum(dtype=np.float64)
    return found


def _counts(rows: Sequence[Row]) -> Floats:
    found = np.full((len(rows), 2), np.nan)
    for i, row in enumerate(rows):
        found[i, : len(row.targets)] = list(map(len, row.targets))
    return found


def _of_all_processes(values: list[float], device: Any) -> list[float]:
    """Sums over the processes that train together: each has transitions of its own."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return values
    total = torch.tensor(values, dtype=torch.float64, device=device)
    torch.distributed.all_reduce(total)
    return [float(value) for value in total]


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if values.size else float("nan")
