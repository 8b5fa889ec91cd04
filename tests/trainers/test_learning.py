"""A step of learning against an obvious one: a loop over transitions, plain forward passes, formulas by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("peft")

from eapo_gym.agents.eapo import EAPOAgent  # noqa: E402
from eapo_gym.engines.base import Sampling  # noqa: E402
from eapo_gym.trainers import learning  # noqa: E402
from eapo_gym.trainers.batch import Batch, make_batch  # noqa: E402
from eapo_gym.trainers.config import TrainConfig  # noqa: E402
from eapo_gym.trainers.failures import NotFinite  # noqa: E402
from eapo_gym.trainers.learning import Learner, roles_of  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from eapo_gym.trainers.processes import Processes  # noqa: E402
from eapo_gym.trainers.train import train  # noqa: E402
from tests.trainers.short_runs import player, settings  # noqa: E402


class Enough(Exception):
    """What was wanted is there."""


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """What a real step has to learn from."""
    seen: list[Batch] = []

    def take(self: Learner, batch: Batch, *_: Any) -> Any:
        seen.append(batch)
        raise Enough

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learner, "learn", take)
        with pytest.raises(Enough):
            train(settings(eval_every=0, group_size=5, seed=3), tmp_path_factory.mktemp("run"))
    assert 0 < seen[0].success.mean() < 1
    assert 0 < seen[0].format_ok.mean() < 1
    return seen[0]


class Taught:
    """A learner whose gradients are kept."""

    def __init__(self, config: TrainConfig, apart: float = 0.0) -> None:
        self.config = config
        self.policy = Policy.load(config, roles=roles_of(config))
        self.engine = self.policy.open_engine()
        sampling = Sampling(max_tokens=config.max_tokens, adapter=self.policy.adapter)
        agent = EAPOAgent(self.engine, sampling, compact=True)
        self.learner = Learner(config, self.policy, agent, Processes(config))
        self.gradients: dict[str, list[dict[str, Any]]] = {"policy": [], "q": []}
        update = self.policy.update

        def keep(role: Any) -> float:
            parameters = self.policy._parts[role].parameters or {}
            kept = {name: one.grad.clone() for name, one in parameters.items() if one.grad is not None}
            self.gradients[role].append(kept)
            return update(role)

        self.policy.update = keep  # type: ignore[method-assign]
        if apart:  # so that the policy, what sampled, the reference and q are four different models
            generator = torch.Generator().manual_seed(5)
            for part in self.policy._parts.values():
                for one in (part.parameters or {}).values():
                    with torch.no_grad():
                        one.add_(apart * torch.randn(one.shape, generator=generator))


def logprobs(model: Any, prompt: Any, ids: Any) -> Any:
    """One forward pass, without padding, cache or anything else."""
    tokens = torch.tensor([[*prompt, *ids]])
    logits = model(input_ids=tokens, use_cache=False).logits[0, len(prompt) - 1 : -1]
    return logits.log_softmax(-1).gather(1, tokens[0, len(prompt) :, None])[:, 0]


def copy_of(policy: Policy, role: str) -> Any:
    """A plain model with the weights of a role."""
    model = transformers.AutoModelForCausalLM.from_pretrained(player(), dtype=torch.float32)
    own = dict(model.named_parameters())
    for name, one in (policy._parts[role].parameters or {}).items():  # type: ignore[index]
        with torch.no_grad():
            own[name].copy_(one)
    return model.eval()


def by_hand(config: TrainConfig, batch: Batch, rows: list[Any], models: dict[str, Any]) -> dict[str, float]:
    """Leaves the gradients of a step in `models`; `rows` are the prompts and pairs that the reward model reads."""
    steps = batch.transitions
    count = len(steps)
    total, loss_q = [], 0.0
    returns = [
        float(batch.success[i]) * config.gamma_task ** (int(batch.length[i]) - 1 - step.t)
        for i, step in enumerate(steps)
    ]
    for i, step in enumerate(steps):
        prompt, (first, second), sampled = rows[i]
        lifts, log_q, log_p = [], [], []
        for target in (first, second):
            log_q.append(logprobs(models["q"], prompt, target))
            with torch.no_grad():
                log_p.append(logprobs(models["reference"], prompt, target))
            lifts.append(1 / (1 + math.exp(float(log_p[-1].mean() - log_q[-1].detach().mean()))))
        explore = max(lifts[0], config.gamma_explore**2 * lifts[1])
        total.append(returns[i] + config.format_weight * step.format_ok + config.explore_weight * explore)
        own_task = [returns[j] for j in range(count) if batch.task[j] == batch.task[i]]
        distance = float(log_q[0].detach().mean() - log_p[0].mean())
        signal = config.q_beta * (returns[i] - sum(own_task) / len(own_task)) - config.q_kl * distance
        ratio = 1.0 if sampled is None else math.exp(float(log_q[0].mean()) - float(np.mean(sampled)))
        signal *= min(max(ratio, 1 - config.q_clip), 1 + config.q_clip)
        loss = -signal * log_q[0].mean() / count
        loss.backward()
        loss_q += float(loss.detach())

    groups = defaultdict(list)
    for i, step in enumerate(steps):
        groups[step.task, step.fingerprint, step.depth].append(i)
    loss_policy = 0.0
    for i, step in enumerate(steps):
        group = groups[step.task, step.fingerprint, step.depth]
        if len(group) == 1:
            whole = [j for j in range(count) if steps[j].task == step.task]
            near = [j for j in whole if steps[j].t // 5 == step.t // 5]
            group = near if len(near) >= 4 else whole
        rewards = [total[j] for j in group]
        advantage = (total[i] - float(np.mean(rewards))) / max(float(np.std(rewards)), config.std_floor)
        new = logprobs(models["policy"], step.prompt_ids, step.response_ids)
        with torch.no_grad():
            reference = logprobs(models["reference"], step.prompt_ids, step.response_ids)
        ratio = (new - torch.tensor(step.response_logprobs)).exp()
        clipped = ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
        gain = torch.minimum(ratio * advantage, clipped * advantage)
        k3 = (reference - new).exp() - 1 - (reference - new)
        loss = -(gain - config.kl_weight * k3).mean() / count
        loss.backward()
        loss_policy += float(loss.detach())
    return {"policy/loss": loss_policy, "q/loss": loss_q, "reward/total": float(np.mean(total))}


def close_to(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, one in expected.items():
        scale = float(one.abs().max())
        assert torch.allclose(found[name], one, atol=2e-3 * scale + 1e-7), name


@pytest.mark.parametrize("tokens", [200, 100_000])
def test_the_gradient_of_a_step_is_that_of_the_formulas(batch: Batch, tokens: int) -> None:
    """In micro-batches of one row each, or all in one."""
    config = settings(tuning="full", microbatch_tokens=tokens, kl_weight=0.1)
    taught = Taught(config, apart=0.02)
    model = taught.learner.reward_model
    assert model is not None
    scored = model.prepare(batch)
    read = [scored.rows[row] for row in scored.row.tolist()]
    rows = [(row.prompt, row.targets, sampled) for row, sampled in zip(read, scored.sampled, strict=True)]
    models = {role: copy_of(taught.policy, role) for role in ("policy", "reference", "q")}

    found = taught.learner.learn(batch, 1)
    expected = by_hand(config, batch, rows, models)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=2e-4, abs=1e-6), name
    assert found["policy/clip_share"] > 0  # the models are far enough apart for all of it to matter
    for role in ("policy", "q"):
        [gradient] = taught.gradients[role]
        close_to(gradient, {name: one.grad for name, one in models[role].named_parameters() if one.grad is not None})


def test_minibatches_are_updates_of_their_own_that_see_every_row_once(batch: Batch) -> None:
    config = settings(minibatches=3, epochs=2, algorithm="eapo-no-explore")
    taught = Taught(config)
    seen: list[list[int]] = []
    update = taught.learner._update

    def watch(part: list[int], *rest: Any) -> float:
        seen.append(part)
        return update(part, *rest)

    taught.learner._update = watch  # type: ignore[method-assign]
    found = taught.learner.learn(batch, 1)
    assert len(taught.gradients["policy"]) == len(seen) == 6
    everything = list(range(len(batch)))
    for epoch in (seen[:3], seen[3:]):
        assert sorted(row for part in epoch for row in part) == everything
    assert seen[:3] != seen[3:]
    again = list(taught.learner._parts(len(batch), 1))
    assert again == seen
    assert again != list(taught.learner._parts(len(batch), 2))
    assert abs(found["policy/ratio"] - 1) > 1e-6  # later updates are of another policy than the one that sampled


def test_more_minibatches_than_rows_do_no_harm(batch: Batch) -> None:
    few = make_batch([("a", batch.attempts[:1])])
    taught = Taught(settings(minibatches=len(few) + 3))
    found = taught.learner.learn(few, 1)
    assert math.isfinite(found["policy/loss"])


@pytest.mark.parametrize("algorithm", ["eapo", "grpo", "gigpo", "eapo-release"])
def test_a_process_may_have_nothing_while_others_have(algorithm: str) -> None:
    taught = Taught(settings(algorithm=algorithm))
    before = taught.policy.state()
    found = taught.learner.learn(make_batch([]), 1)
    assert math.isnan(found["reward/total"])
    after = taught.policy.state()
    for name, value in before["policy"]["weights"].items():
        assert torch.equal(after["policy"]["weights"][name], value)


def test_a_row_that_is_longer_than_a_microbatch_goes_by_itself(batch: Batch) -> None:
    longest = max(len(one.prompt_ids) + len(one.response_ids) for one in batch.transitions)
    small, large = (Taught(settings(microbatch_tokens=tokens)) for tokens in (longest // 2, 100_000))
    for taught in (small, large):
        taught.learner.learn(batch, 1)
    for role in ("policy", "q"):
        close_to(small.gradients[role][0], large.gradients[role][0])


# What goes wrong


def test_a_response_that_may_be_longer_than_the_window_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    Taught(settings(max_tokens=511))
    assert "max_tokens" not in caplog.text
    Taught(settings(max_tokens=2000))
    assert "max_tokens is 2,000, and the window of the model is 512" in caplog.text


def test_an_update_that_is_not_finite_is_skipped_and_the_weights_stay(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught = Taught(settings(max_bad_updates=3))
    good = learning.policy_loss
    broken = True

    def loss(*args: Any, **kwargs: Any) -> Any:
        value, stats = good(*args, **kwargs)
        return (value * math.nan if broken else value), stats

    monkeypatch.setattr(learning, "policy_loss", loss)

    def weights() -> dict[str, Any]:
        return dict(taught.policy.state()["policy"]["weights"])

    def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return all(torch.equal(one[name], other[name]) for name in one)

    start = weights()
    for step in (1, 2):
        found = taught.learner.learn(batch, step)
        assert found["failures/skipped_updates"] == step
        assert math.isnan(found["policy/grad_norm"])
        assert same(weights(), start)
    broken = False
    found = taught.learner.learn(batch, 3)
    assert found["failures/skipped_updates"] == 2
    good_ones = weights()
    assert not same(good_ones, start)
    broken = True
    for step in (4, 5):
        taught.learner.learn(batch, step)
    with pytest.raises(NotFinite, match="3 times in a row"):
        taught.learner.learn(batch, 6)
    assert same(weights(), good_ones)


def test_a_state_goes_on_as_if_nothing_had_been_in_between(batch: Batch) -> None:
    config = settings(minibatches=2)
    one, other = Taught(config), Taught(config)
    one.learner.learn(batch, 1)
    one.learner.bad_updates["q"].note(math.nan)
    other.policy.load_state(one.policy.state())
    other.learner.load_state(one.learner.state())
    numbers = [
        {name: repr(value) for name, value in each.learner.learn(batch, 2).items() if "time" not in name}
        for each in (one, other)
    ]
    for each in numbers:
        del each["tokens_per_second/update"]
    assert numbers[0] == numbers[1]
    assert numbers[0]["failures/skipped_updates"] == "1"


def test_what_an_algorithm_needs_the_model_for() -> None:
    def roles(**values: Any) -> tuple[str, ...]:
        return roles_of(settings(**values))

    assert roles(algorithm="eapo") == ("policy", "reference", "q")
    assert roles(algorithm="grpo") == ("policy", "reference")
    assert roles(algorithm="dapo", overlong_buffer=0) == ("policy",)
    assert roles(algorithm="eapo", kl_weight=0.0) == ("policy", "reference", "q")


def test_groups_that_all_earn_the_same_teach_nothing(batch: Batch, tmp_path: Path) -> None:
    taught = Taught(settings(algorithm="dapo", overlong_buffer=0, format_weight=0.0))
    won = [attempt for attempt in batch.attempts if attempt.success]
    lost = [attempt for attempt in batch.attempts if not attempt.success]
    assert taught.learner.informative([won[0], lost[0]])
    assert not taught.learner.informative(won)
    assert not taught.learner.informative(lost)
    by_format = Taught(replace(taught.config, format_weight=0.5))
    shares = {np.mean([step.format_ok for step in attempt.transitions()]) for attempt in lost}
    assert by_format.learner.informative(lost) == (len(shares) > 1)
