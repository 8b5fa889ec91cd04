"""OverRIDE: the next token is drawn from p·(p / q)^λ, where q is a head tuned on the responses sampled before.

    heads = OverrideHeads()
    trace = heads.begin(sampling.override, adapter)        # one for each response
    logits = heads.reweight(logits, traces)                # every step, before temperature and truncation
    heads.learn(trace, ids)                                # when the response has ended

q = softmax(logits + B·A·f): a low-rank change of the output layer, as LoRA makes one, where f is what the head sees of
the context. What was sampled in such contexts has q > p and becomes less likely; the rest becomes more likely.

Three choices keep this cheap with a vocabulary of 150,000 tokens:

* f are the logits themselves, centred. They are a linear map W·h of the last hidden state, so A·W·h is a low-rank map
  of h; and they are all that a logits processor of a server sees, so that every engine has the same head.
* A is a fixed random projection, one for all heads. What has to be kept of a response under way is then `rank` numbers
  and the likeliest tokens of each step (a kilobyte) and no gradient, and tuning B alone is a convex problem.
* B has rows only for tokens that were sampled before. All others share what the normalisation takes from them.

A head is tuned when a response ends, not while it is sampled: responses that run at the same time differ from those
that have ended, and what they are does not depend on how a batch was put together.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from eapo_gym.engines.base import Override
from eapo_gym.errors import MissingExtra

try:
    import torch
except ImportError as error:
    raise MissingExtra.of("OverRIDE", "transformers") from error

_LIKELIEST = 64
"""So many tokens of a step are kept; what is less likely hardly moves the gradient."""

_PASSES = 16
"""How often a head is tuned on a response that has ended."""

_RIDGE = 0.1
"""What holds back a head in directions in which it has seen little."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What is kept of one step of a response: A·f, and the likeliest tokens with their log-probs."""

    features: Any
    ids: Any
    logprobs: Any


@dataclass(slots=True, eq=False)
class Trace:
    """What a response leaves behind as it is sampled: its steps, by the number of tokens before each."""

    override: Override
    weights: Hashable = None
    """Which weights sample it, such as those of an adapter."""

    steps: dict[int, _Step] = field(default_factory=dict)

    @property
    def head(self) -> tuple[Hashable, ...]:
        """The name of its head."""
        return (self.weights, self.override.key, self.override.rank)


class OverrideHeads:
    """The heads of the keys that were sampled last, `capacity` of them. For one thread.

    There must be more of them than episodes at a time, or what is sampled would depend on how many those are. A head
    has rows for a few hundred tokens, and takes some ten kilobytes.
    """

    def __init__(self, capacity: int = 4096) -> None:
        self.capacity = capacity
        self._heads: OrderedDict[tuple[Hashable, ...], _Head] = OrderedDict()
        self._projections: dict[tuple[int, int], Any] = {}

    def __len__(self) -> int:
        return len(self._heads)

    def clear(self) -> None:
        """Forget what was sampled, for instance since the weights of the model are others now."""
        self._heads.clear()

    def begin(self, override: Override, weights: Hashable = None) -> Trace:
        """The trace of a response that is about to be sampled; what other `weights` sample has heads of its own."""
        return Trace(override, weights)

    def reweight(self, logits: Any, traces: Sequence[Trace | None], positions: Sequence[int] | None = None) -> Any:
        """The logits to draw from; row i belongs to `traces[i]`, rows without a trace stay as they are.

        `positions` says how many tokens each response has so far; without it every call is a next step.
        """
        rows = {i: trace for i, trace in enumerate(traces) if trace is not None}
        if not rows:
            return logits
        # A group has one key and one way to use it: usually a task, whose responses are sampled at the same time.
        groups: dict[tuple[Override, Hashable], list[int]] = {}
        for i, trace in rows.items():
            groups.setdefault((trace.override, trace.weights), []).append(i)
        result = logits.float()  # the logits themselves if they are float32 already
        if result is logits:
            result = logits.clone()
        for (override, _), members in groups.items():
            raw = result[members]
            features = _centred(raw) @ self._projection(override.rank, raw)
            logprobs = torch.log_softmax(raw, dim=-1)
            likeliest = logprobs.topk(min(_LIKELIEST, logprobs.shape[-1]), dim=-1)
            for j, i in enumerate(members):
                trace = rows[i]
                position = len(trace.steps) if positions is None else positions[i]
                trace.steps[position] = _Step(features[j], likeliest.indices[j], likeliest.values[j])
            name = rows[members[0]].head
            head = self._heads.get(name)
            if head is not None and override.strength > 0:
                self._heads.move_to_end(name)
                result[members] = raw + override.strength * head.log_ratio(logprobs, features, override.floor)
        return result

    def learn(self, trace: Trace, ids: Sequence[int]) -> None:
        """Tune the head of the trace on a response that has ended, or on what there is of it.

        A head that comes to hold what is no number, as too high a learning rate makes it, begins anew.
        """
        steps = [(step, ids[position]) for position, step in sorted(trace.steps.items()) if position < len(ids)]
        trace.steps.clear()
        if not steps:
            return
        features = torch.stack([step.features for step, _ in steps])
        # A head that could not be tuned stays away.
        head = self._heads.pop(trace.head, None)
        if head is None:
            head = _Head(trace.override.rank, features.device)
        head.learn(
            features,
            torch.stack([step.ids for step, _ in steps]),
            torch.stack([step.logprobs for step, _ in steps]),
            torch.tensor([token for _, token in steps], device=features.device),
            trace.override.learning_rate,
        )
        if not (head.rows.isfinite().all() and head.curvature.isfinite().all()):
            return
        self._heads[trace.head] = head
        while len(self._heads) > self.capacity:
            self._heads.popitem(last=False)

    def _projection(self, rank: int, logits: Any) -> Any:
        """A, transposed. It is drawn on the CPU, so that it is the same on every machine."""
        size = logits.shape[-1]
        if (size, rank) not in self._projections:
            generator = torch.Generator().manual_seed(size)
            drawn = torch.randn(size, rank, generator=generator)
            self._projections[size, rank] = drawn.to(logits.device)
        return self._projections[size, rank]


class _Head:
    """B, by rows: `rows[i]` belongs to the token `tokens[i]`, and the tokens are sorted."""

    def __init__(self, rank: int, device: Any) -> None:
        self.tokens = torch.empty(0, dtype=torch.long, device=device)
        self.rows = torch.empty(0, rank, device=device)
        self.curvature = torch.eye(rank, device=device) * _RIDGE

    def log_ratio(self, logprobs: Any, features: Any, floor: float) -> Any:
        """log(p / max(q, floor)) of every token."""
        change = features @ self.rows.T
        known = logprobs[:, self.tokens]
        raised = known + change
        log_sum = torch.logsumexp(torch.cat([raised, _what_is_left(known)], dim=-1), dim=-1, keepdim=True)
        q = logprobs - log_sum
        q[:, self.tokens] = raised - log_sum
        # A token that is impossible stays so: the difference of two infinities is none.
        return torch.where(logprobs.isfinite(), logprobs - q.clamp_min(math.log(floor)), 0.0)

    def learn(self, features: Any, ids: Any, logprobs: Any, sampled: Any, rate: float) -> None:
        """Steps down the cross-entropy of what was sampled.

        The steps are Newton's, with a curvature that is never less than the true one (half of what the features span),
        and that grows with every response: a head follows the first responses closely and then their average.
        """
        self._make_room(sampled.unique())
        steps = torch.arange(len(sampled), device=features.device)
        target = torch.searchsorted(self.tokens, sampled)
        # p[step, known token]: where a token was not among the likeliest it is as good as impossible.
        where = torch.searchsorted(self.tokens, ids).clamp_max(len(self.tokens) - 1)
        p = logprobs.new_full((len(sampled), len(self.tokens)), -math.inf)
        p.scatter_reduce_(1, where, torch.where(self.tokens[where] == ids, logprobs, -math.inf), "amax")
        p[steps, target] = p[steps, target].maximum(logprobs[:, -1])
        p = torch.cat([p, _what_is_left(p)], dim=-1)

        self.curvature += features.T @ features / 2
        solved = torch.linalg.solve(self.curvature, features.T)
        for _ in range(_PASSES):
            change = torch.nn.functional.pad(features @ self.rows.T, (0, 1))
            gradient = torch.softmax(p + change, dim=-1)[:, :-1]
            gradient[steps, target] -= 1
            self.rows -= rate * (solved @ gradient).T

    def _make_room(self, tokens: Any) -> None:
        """Rows of zeros, which change nothing, for tokens that have none yet."""
        merged = torch.cat([self.tokens, tokens]).unique()
        rows = self.rows.new_zeros(len(merged), self.rows.shape[1])
        rows[torch.searchsorted(merged, self.tokens)] = self.rows
        self.tokens, self.rows = merged, rows


def _what_is_left(logprobs: Any) -> Any:
    """The log-prob of all tokens but these, together."""
    return (1 - logprobs.exp().sum(dim=-1, keepdim=True)).clamp_min(1e-12).log()


def _centred(logits: Any) -> Any:
    """Logits without what says nothing of the context, their mean and scale; tokens ruled out count as average."""
    finite = logits.isfinite()
    kept = torch.where(finite, logits, 0.0)
    centred = torch.where(finite, kept - kept.sum(dim=-1, keepdim=True) / finite.sum(dim=-1, keepdim=True), 0.0)
    return torch.nn.functional.normalize(centred, dim=-1)
