"""The losses against slow loops, finite differences, numbers made by hand, and optima that are known."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.errors import UnknownName

torch = pytest.importorskip("torch")

from eapo_gym.trainers.objective import policy_loss, q_gains, q_loss, truncated_importance  # noqa: E402

Tensor = Any
CLIPS = {"clip_low": 0.2, "clip_high": 0.28}


@dataclass
class Tokens:
    """Responses of some lengths, with the log-probs that several models give to their tokens."""

    row: Tensor
    logprobs: Tensor
    old: Tensor
    ref: Tensor
    weights: Tensor
    advantages: Tensor

    @property
    def rows(self) -> int:
        return len(self.advantages)

    def of(self, chosen: list[int]) -> Tokens:
        """The responses with these numbers, as a micro-batch."""
        keep = torch.isin(self.row, torch.tensor(chosen, dtype=torch.long))
        place = {number: i for i, number in enumerate(chosen)}
        row = torch.tensor([place[number] for number in self.row[keep].tolist()], dtype=torch.long)
        tokens = (values[keep] for values in (self.logprobs, self.old, self.ref, self.weights))
        return Tokens(row, *tokens, self.advantages[chosen])


def tokens_of(lengths: list[int], seed: int) -> Tokens:
    random = torch.Generator().manual_seed(seed)

    def draw(count: int) -> Tensor:
        return torch.randn(count, generator=random, dtype=torch.float64)

    row = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths, dtype=torch.long))
    count = len(row)
    logprobs = -draw(count).abs()
    old, ref = logprobs + 0.3 * draw(count), logprobs + 0.5 * draw(count)
    return Tokens(row, logprobs, old, ref, draw(count).abs(), draw(len(lengths)))


def loss_of(batch: Tokens, logprobs: Tensor, rows: int, tokens: int, mean: str, kl_weight: float = 0.1) -> Any:
    options = {"rows": rows, "tokens": tokens, "mean": mean, "kl_weight": kl_weight, "weights": batch.weights}
    return policy_loss(logprobs, batch.old, batch.ref, batch.advantages, batch.row, **CLIPS, **options)


def slow_policy_loss(batch: Tokens, mean: str, kl_weight: float) -> float:
    by_row: dict[int, list[float]] = defaultdict(list)
    for i, row in enumerate(batch.row.tolist()):
        logprob, old, ref = (float(values[i]) for values in (batch.logprobs, batch.old, batch.ref))
        ratio, advantage = math.exp(logprob - old), float(batch.advantages[row])
        gain = min(ratio * advantage, min(max(ratio, 0.8), 1.28) * advantage) * float(batch.weights[i])
        kl = math.exp(ref - logprob) - (ref - logprob) - 1
        by_row[row].append(gain - kl_weight * kl)
    if mean == "token":
        return -sum(map(sum, by_row.values())) / max(len(batch.row), 1)
    return -sum(sum(own) / len(own) for own in by_row.values()) / batch.rows


LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=6)
MEANS = st.sampled_from(["response", "token"])

# The policy


@settings(deadline=None)
@given(LENGTHS, st.integers(0, 99), MEANS, st.sampled_from([0.0, 0.1]))
def test_the_loss_is_as_defined(lengths: list[int], seed: int, mean: str, kl_weight: float) -> None:
    batch = tokens_of(lengths, seed)
    loss, stats = loss_of(batch, batch.logprobs, batch.rows, len(batch.row), mean, kl_weight)
    assert loss.item() == pytest.approx(slow_policy_loss(batch, mean, kl_weight), abs=1e-12)
    assert float(stats["policy/loss"]) == loss.item()


@settings(deadline=None)
@given(LENGTHS, st.integers(0, 99), MEANS, st.data())
def test_micro_batches_add_up_to_the_batch(lengths: list[int], seed: int, mean: str, data: st.DataObject) -> None:
    batch = tokens_of(lengths, seed)
    whole = batch.logprobs.clone().requires_grad_()
    loss, stats = loss_of(batch, whole, batch.rows, len(batch.row), mean)
    loss.backward()

    order = data.draw(st.permutations(range(batch.rows)))
    cuts = sorted(data.draw(st.sets(st.integers(1, batch.rows), max_size=3)) | {0, batch.rows})
    parts = batch.logprobs.clone().requires_grad_()
    summed, sums = 0.0, defaultdict(float)
    for start, end in itertools.pairwise(cuts):
        chosen = order[start:end]
        part = batch.of(chosen)
        own = parts[torch.isin(batch.row, torch.tensor(chosen, dtype=torch.long))]
        part_loss, part_stats = loss_of(part, own, batch.rows, len(batch.row), mean)
        part_loss.backward()
        summed += part_loss.item()
        for name, value in part_stats.items():
            sums[name] += float(value)
    assert summed == pytest.approx(loss.item(), abs=1e-12)
    torch.testing.assert_close(parts.grad, whole.grad, rtol=1e-12, atol=1e-14)
    assert dict(sums) == pytest.approx({name: float(value) for name, value in stats.items()}, abs=1e-12)


@pytest.mark.parametrize("mean", ["response", "token"])
def test_the_gradient_is_that_of_finite_differences(mean: str) -> None:
    batch = tokens_of([3, 1, 4, 2], 5)
    total = len(batch.row)
    point = batch.logprobs.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda logprobs: loss_of(batch, logprobs, 4, total, mean)[0], (point,))


def test_the_gradient_by_hand() -> None:
    """Two responses, of two tokens and of one, at the policy that sampled them: ratios are 1, and so are slopes."""
    old = torch.tensor([-1.0, -2.0, -0.5])
    logprobs, row = old.clone().requires_grad_(), torch.tensor([0, 0, 1])
    loss, stats = policy_loss(logprobs, old, None, torch.tensor([3.0, -2.0]), row, rows=2, tokens=3, **CLIPS)
    loss.backward()
    assert logprobs.grad.tolist() == pytest.approx([-3 / 4, -3 / 4, 2 / 2])
    assert loss.item() == pytest.approx(-(3 - 2) / 2)
    assert float(stats["policy/ratio"]) == 1
    assert float(stats["policy/clip_share"]) == 0
    assert float(stats["policy/entropy"]) == pytest.approx(3.5 / 3)
    assert math.isnan(stats["policy/kl"])


def test_a_step_too_far_has_no_gradient_and_one_back_has() -> None:
    ratio = torch.tensor([1.3, 1.5, 1.3, 0.7, 0.7, 1.25, 1.27])
    advantages = torch.tensor([1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
    logprobs = ratio.log().requires_grad_()
    row = torch.arange(7)
    loss, stats = policy_loss(logprobs, torch.zeros(7), None, advantages, row, rows=1, tokens=7, **CLIPS)
    loss.backward()
    assert logprobs.grad.tolist() == pytest.approx([0, 0, 1.3, -0.7, 0, -1.25, -1.27])
    assert float(stats["policy/clip_share"]) == pytest.approx(3 / 7)
    assert float(stats["policy/ratio"]) == pytest.approx(float(ratio.mean()))


def test_the_distance_from_the_policy_that_sampled_is_right_on_average() -> None:
    """Three tokens, each sampled as often as the old policy has it: the estimate is the exact KL."""
    old, new = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([0.2, 0.2, 0.6])
    seen = torch.tensor([0, 0, 1, 2])
    row = torch.zeros(4, dtype=torch.long)
    _, stats = policy_loss(new.log()[seen], old.log()[seen], None, torch.ones(1), row, rows=1, tokens=4, **CLIPS)
    assert float(stats["policy/kl_old"]) == pytest.approx(float((old * (old / new).log()).sum()))


def test_the_distance_from_the_reference_is_never_negative_and_pulls_back() -> None:
    ref = torch.tensor([-1.0, -1.0])
    logprobs = torch.tensor([-0.5, -2.0], requires_grad=True)
    row = torch.tensor([0, 0])
    options = {"rows": 1, "tokens": 2, "kl_weight": 0.5, **CLIPS}
    loss, stats = policy_loss(logprobs, logprobs.detach(), ref, torch.zeros(1), row, **options)
    loss.backward()
    k3 = [math.exp(-0.5) + 0.5 - 1, math.exp(1) - 1 - 1]
    assert float(stats["policy/kl"]) == pytest.approx(sum(k3) / 2)
    assert loss.item() == pytest.approx(0.5 * sum(k3) / 2)
    assert logprobs.grad[0] > 0 > logprobs.grad[1]


def test_a_kl_needs_a_reference() -> None:
    one = torch.zeros(1)
    with pytest.raises(ValueError, match=r"kl_weight=0\.1: expected the log-probs of the reference"):
        policy_loss(one, one, None, one, torch.zeros(1, dtype=torch.long), rows=1, tokens=1, kl_weight=0.1, **CLIPS)
    with pytest.raises(UnknownName, match="mean of the loss 'tokens'"):
        policy_loss(one, one, one, one, torch.zeros(1, dtype=torch.long), rows=1, tokens=1, mean="tokens", **CLIPS)


@pytest.mark.parametrize("logprob", [-1e4, -math.inf])
def test_tokens_that_a_model_rules_out_give_finite_losses_and_gradients(logprob: float) -> None:
    for at in range(3):
        values = [torch.tensor([-1.0, -1.0]) for _ in range(3)]
        values[at][0] = logprob
        policy, old, ref = values
        policy = policy.requires_grad_()
        for advantage in (1.0, -1.0):
            policy.grad = None
            row = torch.tensor([0, 0])
            options = {"rows": 1, "tokens": 2, "kl_weight": 0.1, **CLIPS}
            loss, _ = policy_loss(policy, old, ref, torch.tensor([advantage]), row, **options)
            loss.backward()
            assert torch.isfinite(loss)
            assert torch.isfinite(policy.grad).all()


def test_what_is_not_a_number_is_not_hidden() -> None:
    batch = tokens_of([2, 2], 0)
    for name in ("logprobs", "old", "ref", "weights", "advantages"):
        spoilt = tokens_of([2, 2], 0)
        getattr(spoilt, name)[0] = math.nan
        assert loss_of(spoilt, spoilt.logprobs, 2, 4, "response")[0].isnan(), name
    assert loss_of(batch, batch.logprobs, 2, 4, "response")[0].isfinite()


def test_a_batch_without_tokens_has_a_loss_of_nothing() -> None:
    none = torch.zeros(0, requires_grad=True)
    row = torch.zeros(0, dtype=torch.long)
    loss, _ = policy_loss(none, none.detach(), None, torch.zeros(0), row, rows=0, tokens=0, **CLIPS)
    loss.backward()
    assert loss.item() == 0


# Another engine that samples


def test_importance_between_engines_is_truncated() -> None:
    trainer = torch.tensor([-1.0, -1.0, -1.0, math.nan])
    sampler = torch.tensor([-1.0, -1.0 - math.log(5), -1.0 + math.log(4), -1.0])
    weights, stats = truncated_importance(trainer[:3], sampler[:3], 2.0)
    assert weights.tolist() == pytest.approx([1, 2, 0.25])
    assert float(stats["tis/mean"]) == pytest.approx(3.25 / 3)
    assert float(stats["tis/capped"]) == pytest.approx(1 / 3)
    assert truncated_importance(trainer, sampler, 2.0)[0][3].isnan()
    _, half = truncated_importance(trainer[:3], sampler[:3], 2.0, tokens=6)
    assert float(half["tis/mean"]) == pytest.approx(3.25 / 6)


# The reward model


def q_of(logprobs: Tensor, prior: Tensor, old: Tensor | None, gains: Tensor, row: Tensor, **more: Any) -> Any:
    return q_loss(logprobs, prior, old, gains, row, **{"rows": len(gains), "kl": 1.0, "clip": 0.2, **more})


@settings(deadline=None)
@given(LENGTHS, st.integers(0, 99), st.sampled_from(["reinforce", "weighted_mle"]), st.sampled_from([0.0, 0.2]))
def test_the_loss_of_the_reward_model_is_as_defined(lengths: list[int], seed: int, objective: str, clip: float) -> None:
    batch = tokens_of(lengths, seed)
    logprobs = batch.logprobs.clone().requires_grad_()
    loss, stats = q_of(
        logprobs, batch.ref, batch.old, batch.advantages, batch.row, objective=objective, clip=clip, kl=0.7
    )
    loss.backward()
    expected, gradient = 0.0, []
    distances = []
    for number, length in enumerate(lengths):
        q, p, old = (float(v[batch.row == number].mean()) for v in (batch.logprobs, batch.ref, batch.old))
        signal = float(batch.advantages[number])
        if objective == "reinforce":
            signal -= 0.7 * (q - p)
        ratio = math.exp((q if objective == "reinforce" else p) - old)
        signal *= min(max(ratio, 1 - clip), 1 + clip)
        expected -= signal * q / len(lengths)
        gradient += [-signal / length / len(lengths)] * length
        distances.append(q - p)
    assert loss.item() == pytest.approx(expected, abs=1e-12)
    assert logprobs.grad.tolist() == pytest.approx(gradient, abs=1e-12)
    assert float(stats["q/kl"]) == pytest.approx(sum(distances) / len(distances), abs=1e-12)


@settings(deadline=None)
@given(LENGTHS, st.integers(0, 99), st.data())
def test_micro_batches_of_the_reward_model_add_up(lengths: list[int], seed: int, data: st.DataObject) -> None:
    batch = tokens_of(lengths, seed)
    whole, stats = q_of(batch.logprobs, batch.ref, batch.old, batch.advantages, batch.row)
    cut = data.draw(st.integers(0, batch.rows))
    parts = [batch.of(list(range(cut))), batch.of(list(range(cut, batch.rows)))]
    found = [q_of(p.logprobs, p.ref, p.old, p.advantages, p.row, rows=batch.rows) for p in parts]
    assert (found[0][0] + found[1][0]).item() == pytest.approx(float(whole), abs=1e-12)
    for name, value in stats.items():
        assert float(found[0][1][name] + found[1][1][name]) == pytest.approx(float(value), abs=1e-12)


def test_long_memories_do_not_dominate() -> None:
    """The same token ten times pulls as much as once."""
    logprobs = torch.full((11,), -1.0, requires_grad=True)
    row = torch.tensor([0] * 10 + [1])
    loss, _ = q_of(logprobs, logprobs.detach(), None, torch.ones(2), row)
    loss.backward()
    assert float(logprobs.grad[:10].sum()) == pytest.approx(float(logprobs.grad[10]))


def test_rows_that_the_policy_did_not_sample_count_as_they_are() -> None:
    logprobs, prior = torch.tensor([-1.0, -1.0]), torch.tensor([-1.0, -1.0])
    old, row = torch.tensor([math.nan, -3.0]), torch.tensor([0, 1])
    loss, stats = q_of(logprobs, prior, old, torch.ones(2), row)
    assert loss.item() == pytest.approx((1 + 1.2) / 2)
    assert float(stats["q/ratio"]) == pytest.approx((1 + math.exp(2)) / 2)
    logprobs[0] = math.nan
    assert q_of(logprobs, prior, old, torch.ones(2), row)[0].isnan()


@pytest.mark.parametrize("objective", ["reinforce", "weighted_mle"])
@pytest.mark.parametrize("policy", [[2, 2, 2], [4, 1, 1]])
def test_the_reward_model_comes_to_the_posterior(objective: str, policy: list[int]) -> None:
    """Three memories; q ∝ p · exp(beta · Q) is known, and it is reached from samples of quite another policy."""
    beta, prior = 1.5, torch.tensor([0.5, 0.3, 0.2])
    returns = np.array([0.0, 1.0, 0.5])
    seen = torch.repeat_interleave(torch.arange(3), torch.tensor(policy))
    log_p, log_pi = prior.log()[seen], (torch.tensor(policy) / sum(policy)).log()[seen]
    row = torch.arange(len(seen))
    baseline = "none" if objective == "weighted_mle" else "task"
    gains = q_gains(returns[seen.numpy()], np.zeros(len(seen)), beta=beta, baseline=baseline, objective=objective)
    logits = prior.log().clone().requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=0.05)
    for _ in range(300):
        log_q = logits.log_softmax(0)[seen]
        loss, _ = q_of(log_q, log_p, log_pi, torch.tensor(gains), row, clip=100.0, objective=objective)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    posterior = prior * torch.tensor(beta * returns, dtype=torch.float32).exp()
    torch.testing.assert_close(logits.softmax(0).detach(), posterior / posterior.sum(), rtol=0, atol=0.01)


def test_gains_by_hand() -> None:
    returns, task = np.array([1.0, 0.0, 0.5, 0.5]), np.array([7, 7, 3, 3])
    assert q_gains(returns, task, beta=2.0).tolist() == [1.0, -1.0, 0.0, 0.0]
    assert q_gains(returns, task, beta=2.0, baseline="none").tolist() == [2.0, 0.0, 1.0, 1.0]
    weights = q_gains(returns, task, beta=2.0, objective="weighted_mle")
    assert weights.tolist() == pytest.approx([2 * math.e**2 / (math.e**2 + 1), 2 / (math.e**2 + 1), 1, 1])
    assert np.isfinite(q_gains(returns, task, beta=1e4, objective="weighted_mle")).all()
    assert q_gains(np.zeros(0), np.zeros(0, np.int64), beta=1.0, objective="weighted_mle").tolist() == []


def test_the_signal_of_the_authors_code() -> None:
    """eapo-release: beta = k = 1, no baseline, and no ratio: (Q - (log q - log p)) · log q."""
    gains = q_gains(np.array([1.0]), np.array([0]), beta=1.0, baseline="none")
    loss, _ = q_of(torch.tensor([-2.0]), torch.tensor([-2.5]), None, torch.tensor(gains), torch.tensor([0]), clip=0.0)
    assert loss.item() == pytest.approx(-(1 - 0.5) * -2.0)


def test_names_that_there_are_not_are_refused() -> None:
    one, row = torch.zeros(1), torch.zeros(1, dtype=torch.long)
    with pytest.raises(UnknownName, match="Did you mean 'reinforce'"):
        q_of(one, one, None, one, row, objective="reinforced")
    with pytest.raises(UnknownName, match="Did you mean 'weighted_mle'"):
        q_gains(np.zeros(1), np.zeros(1), beta=1.0, objective="weighted")
    with pytest.raises(UnknownName, match="baseline of the reward model 'mean'"):
        q_gains(np.zeros(1), np.zeros(1), beta=1.0, baseline="mean")
