"""The trained model in its roles: what it learns, what engines sample with afterwards, what is saved and goes on."""

from __future__ import annotations

import asyncio
import os
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("peft")

from eapo_gym.engines.base import EngineUnavailable, Message, Prompt, Sampling, Unsupported  # noqa: E402
from eapo_gym.engines.chat import Chat  # noqa: E402
from eapo_gym.engines.images import ImageReader  # noqa: E402
from eapo_gym.errors import UnknownName  # noqa: E402
from eapo_gym.trainers import loading  # noqa: E402
from eapo_gym.trainers.config import BadConfig, TrainConfig  # noqa: E402
from eapo_gym.trainers.failures import OutOfMemory  # noqa: E402
from eapo_gym.trainers.logprobs import BadRow, Row  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from eapo_gym.trainers.states import BadState  # noqa: E402
from tests.engines.running import TOLERANCE, plain_logprobs, run, tokenizer_of  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402


def settings(**values) -> TrainConfig:
    base = {"tuning": "lora", "lora_rank": 4, "lora_alpha": 8, "learning_rate": 5e-3, "microbatch_tokens": 256}
    return TrainConfig.make(**{**base, **values})


def load(architecture="qwen3", roles=("policy", "reference", "q"), **values) -> Policy:
    return Policy.load(settings(**values), tiny_model(architecture), roles=roles)


def rows(count=6, seed=0, targets=1) -> list[Row]:
    rng = np.random.default_rng(seed)

    def ids(least, most):
        return tuple(rng.integers(20, 300, rng.integers(least, most)).tolist())

    return [Row(ids(5, 60), tuple(ids(2, 30) for _ in range(targets))) for _ in range(count)]


def row_with_image(architecture) -> Row:
    reader = ImageReader(tiny_model(architecture))
    image = np.random.default_rng(3).integers(0, 256, (96, 64, 3), dtype=np.uint8)
    prompt = reader.chat.prompt([Message("user", "What is it?", (image,))])
    return Row(reader.read(prompt).ids, (tuple(range(40, 60)),), (image,))


def train(policy, batch, role="policy", steps=1):
    """Raise the log-probs of all targets; the losses and the norms of the gradients."""
    losses, norms = [], []
    tokens = sum(len(target) for row in batch for target in row.targets)
    for _ in range(steps):
        loss = 0.0
        for part in policy.passes(batch, role):
            own = -part.logprobs.sum() / tokens
            policy.backward(own)
            loss += float(own.detach())
        losses.append(loss)
        norms.append(policy.update(role))
    return losses, norms


def flat(scores) -> np.ndarray:
    return np.concatenate([one for of_row in scores for one in of_row])


# Learning


@pytest.mark.parametrize("architecture", ["qwen3", "gemma3-text", "qwen3-vl", "gemma3"])
@pytest.mark.parametrize("tuning", ["lora", "full"])
def test_a_step_lowers_the_loss_of_each_architecture_and_the_reference_stays(architecture, tuning):
    policy = load(architecture, tuning=tuning, learning_rate=2e-3)
    batch = rows()
    if architecture in ("qwen3-vl", "gemma3"):
        pytest.importorskip("PIL")
        batch.append(row_with_image(architecture))
    before = flat(policy.score(batch, "reference"))
    assert np.array_equal(flat(policy.score(batch, "policy")), before)
    assert np.array_equal(flat(policy.score(batch, "q")), before)
    losses, norms = train(policy, batch, steps=3)
    assert losses[0] > losses[1] > losses[2]
    assert losses[0] == pytest.approx(-before.mean(), abs=1e-4)
    assert min(norms) > 0
    assert np.array_equal(flat(policy.score(batch, "reference")), before)
    assert np.array_equal(flat(policy.score(batch, "q")), before)
    train(policy, batch, "q", steps=2)
    assert flat(policy.score(batch, "q")).mean() > before.mean()
    assert np.array_equal(flat(policy.score(batch, "reference")), before)


@pytest.mark.parametrize("tuning", ["lora", "full"])
def test_micro_batches_and_recomputation_do_not_change_the_update(tuning):
    batch = rows(9, targets=2)
    results = []
    for options in ({"microbatch_tokens": 100_000}, {"microbatch_tokens": 64}, {"gradient_checkpointing": True}):
        policy = load(tuning=tuning, **options)
        _, norms = train(policy, batch)
        results.append((norms[0], flat(policy.score(batch, "policy"))))
    for norm, scores in results[1:]:
        assert norm == pytest.approx(results[0][0], rel=1e-4)
        assert scores == pytest.approx(results[0][1], abs=2e-3)  # Adam turns rounding into whole steps where it is all


def test_gradients_are_clipped_and_what_is_not_finite_changes_nothing():
    policy = load(grad_clip=1e-3)
    batch = rows()
    before = policy.state()
    for part in policy.passes(batch, "policy"):
        policy.backward(part.logprobs.sum() * float("nan"))
    assert not np.isfinite(policy.update("policy"))
    assert_same(policy.state(), before)
    for part in policy.passes(batch, "policy"):
        policy.backward(1e3 * part.logprobs.sum())
    assert policy.update("policy") > 1  # as it was before the clipping
    moment = policy.state()["policy"]["optimizer"]["state"]
    # Adam's first moment is a tenth of the gradient that it was given.
    length = sum(float((one["exp_avg"] ** 2).sum()) for one in moment.values()) ** 0.5
    assert length == pytest.approx(1e-4, rel=1e-3)


def test_learning_rates_follow_their_schedule():
    policy = load(schedule="linear", warmup=2, steps=6, learning_rate=1e-3, q_learning_rate=1e-4)
    batch = rows(1)
    rates = []
    for _ in range(6):
        rates.append(policy.learning_rate("policy"))
        train(policy, batch)
    assert rates == pytest.approx([5e-4, 1e-3, 1e-3, 7.5e-4, 5e-4, 2.5e-4])
    assert policy.learning_rate("q") == pytest.approx(5e-5)
    assert load(schedule="cosine", steps=1).learning_rate("policy") == pytest.approx(5e-3)


def test_the_passes_say_which_row_and_target_a_token_is_of():
    policy = load(microbatch_tokens=128)
    batch = rows(7, targets=2)
    expected = policy.score(batch, "policy")
    seen = []
    for part in policy.passes(batch, "policy"):
        for place, index in enumerate(part.indices):
            seen.append(index)
            for target in range(2):
                own = part.logprobs[(part.row == place) & (part.target == target)]
                assert own.detach().numpy() == pytest.approx(expected[index][target], abs=TOLERANCE)
        policy.backward(part.logprobs.sum())
    assert sorted(seen) == list(range(7))


def test_bf16_is_near_single_precision():
    batch = rows()
    expected = flat(load(roles=("policy",)).score(batch, "policy"))
    for tuning in ("lora", "full"):
        policy = load(tuning=tuning, precision="bf16", learning_rate=2e-3)
        for role in ("policy", "reference", "q"):
            scores = flat(policy.score(batch, role))
            assert scores.dtype == np.float32
            assert not np.array_equal(scores, expected)
            assert scores == pytest.approx(expected, abs=0.3)
        losses, _ = train(policy, batch, steps=3)
        assert losses[0] > losses[1] > losses[2]
        weights = [one for part in (policy.state()["policy"]["weights"],) for one in part.values()]
        assert {one.dtype for one in weights} == {torch.float32}


# Engines


PROMPT = Prompt(tuple(range(100, 164)))
TARGET = tuple(range(200, 220))


@pytest.mark.parametrize("sampler", ["shared", "transformers"])
@pytest.mark.parametrize("tuning", ["lora", "full"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_an_engine_samples_with_the_new_weights_after_an_update(sampler, tuning, precision):
    policy = load(sampler=sampler, tuning=tuning, precision=precision, roles=("policy", "reference"))
    batch = [Row(PROMPT.ids, (TARGET,)), *rows()]
    tolerance = TOLERANCE if precision == "fp32" else 0.15

    async def work():
        engine = policy.open_engine()
        try:
            [before] = await engine.score([PROMPT], [TARGET], adapter=policy.adapter)
            agreed = [(before, policy.score(batch, "policy")[0][0])]
            for _ in range(2):
                async with policy.paused(engine):
                    train(policy, batch)
                await policy.sync(engine)
                [after] = await engine.score([PROMPT], [TARGET], adapter=policy.adapter)
                agreed.append((after, policy.score(batch, "policy")[0][0]))
            sampling = Sampling(max_tokens=8, seed=1, adapter=policy.adapter)
            [made] = await engine.generate([PROMPT], sampling)
            again = policy.score([Row(made.prompt_ids, (made.ids,))], "policy")[0][0]
            agreed.append((made.logprobs, again))
            return agreed
        finally:
            await engine.close()

    agreed = run(work())
    for engine_says, trainer_says in agreed:
        assert engine_says == pytest.approx(trainer_says.tolist(), abs=tolerance)
    assert np.mean(agreed[2][1]) > np.mean(agreed[0][1]) + 2 * tolerance


@pytest.mark.parametrize("tuning", ["lora", "full"])
def test_an_engine_with_a_copy_begins_with_the_policy_as_it_is(tuning):
    policy = load(sampler="transformers", tuning=tuning, roles=("policy",))
    train(policy, [Row(PROMPT.ids, (TARGET,))], steps=2)

    async def work():
        engine = policy.open_engine(max_batch=4)
        try:
            return (await engine.score([PROMPT], [TARGET], adapter=policy.adapter))[0]
        finally:
            await engine.close()

    assert run(work()) == pytest.approx(flat(policy.score([Row(PROMPT.ids, (TARGET,))], "policy")), abs=TOLERANCE)


def test_responses_under_way_wait_for_the_update_of_shared_weights():
    policy = load(roles=("policy",))
    batch = rows()

    async def work():
        engine = policy.open_engine()
        engine._batcher._ends = frozenset()
        try:
            sampling = Sampling(max_tokens=200, seed=0, adapter=policy.adapter)
            task = asyncio.create_task(engine.generate([PROMPT], sampling))
            while not engine.stats().get("response_tokens"):
                await asyncio.sleep(0.001)
            async with policy.paused(engine):
                losses, _ = train(policy, batch, steps=2)
            return losses, (await task)[0]
        finally:
            await engine.close()

    losses, made = run(work())
    assert losses[0] > losses[1]
    assert len(made.ids) == 200
    assert np.isfinite(made.logprobs).all()


# Files and states


@pytest.mark.parametrize(("architecture", "tuning"), [("qwen3", "lora"), ("gemma3-text", "full"), ("qwen3-vl", "lora")])
def test_an_exported_folder_is_a_model_like_any_other(tmp_path, architecture, tuning):
    policy = load(architecture, tuning=tuning, roles=("policy", "q"))
    batch = rows(3)
    train(policy, batch, steps=2)
    expected = policy.score(batch, "policy")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").touch()
    folder = policy.export(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert not (folder / "old").exists()
    kind = transformers.AutoModelForImageTextToText if "vl" in architecture else transformers.AutoModelForCausalLM
    model, report = kind.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    for row, [scores] in zip(batch, expected, strict=True):
        assert plain_logprobs(model, row.prompt, row.targets[0]) == pytest.approx(scores.tolist(), abs=1e-4)
    # It can be trained on, with all that belongs to it.
    again = Policy.load(settings(), folder, roles=("policy",))
    assert flat(again.score(batch, "policy")) == pytest.approx(flat(expected), abs=1e-4)
    if "vl" in architecture:
        pytest.importorskip("PIL")
        row = row_with_image(architecture)
        assert flat(again.score([row], "policy")) == pytest.approx(flat(policy.score([row], "policy")), abs=1e-4)


def assert_same(one, other):
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    else:
        assert one == other


@pytest.mark.parametrize("tuning", ["lora", "full"])
def test_a_state_goes_on_to_the_bit(tmp_path, tuning):
    options = {"tuning": tuning, "schedule": "cosine", "steps": 10, "weight_decay": 0.1}
    first = load(**options)
    train(first, rows(), steps=2)
    train(first, rows(seed=1), "q", steps=1)
    torch.save(first.state(), tmp_path / "state.pt")
    train(first, rows(seed=2), steps=2)
    train(first, rows(seed=3), "q", steps=2)

    second = load(**options, seed=5)
    train(second, rows(seed=9), steps=1)  # what was there before does not matter
    second.load_state(torch.load(tmp_path / "state.pt", weights_only=True))
    train(second, rows(seed=2), steps=2)
    train(second, rows(seed=3), "q", steps=2)
    assert_same(first.state(), second.state())
    assert np.array_equal(flat(first.score(rows(), "q")), flat(second.score(rows(), "q")))


def test_a_state_is_a_copy_and_does_not_change_with_the_weights():
    policy = load(roles=("policy",))
    train(policy, rows())
    state = policy.state()
    kept = deepcopy(state)
    policy.load_state(state)
    train(policy, rows(), steps=2)
    assert_same(state, kept)


def test_a_state_of_something_else_is_refused_and_changes_nothing():
    policy = load()
    before = policy.state()
    with pytest.raises(BadState, match=r"roles \['policy'\]: expected \['policy', 'q'\]"):
        policy.load_state(load(roles=("policy",)).state())
    other = load(lora_rank=8)
    train(other, rows())
    with pytest.raises(BadState, match="expected the model, tuning, lora_rank"):
        policy.load_state(other.state())
    with pytest.raises(BadState, match="belongs to another model or to other adapters"):
        policy.load_state(load(tuning="full").state())
    assert_same(policy.state(), before)


# Refusals


def test_a_row_longer_than_the_window_is_refused():
    policy = load(roles=("policy",))
    with pytest.raises(BadRow, match=r"4,097 tokens, and the window .* is 4,096: lower max_tokens"):
        policy.score([Row((5,) * 4000, ((6,) * 97,))], "policy")


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_what_does_not_fit_names_the_settings(monkeypatch, error):
    policy = load(roles=("policy",))

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(loading.base_of(policy.model).get_decoder(), "forward", fail)
    with pytest.raises(OutOfMemory, match=r"to score .* Lower microbatch_tokens \(it is 256\)"):
        policy.score(rows(), "policy")
    expected = r"to train\. Lower microbatch_tokens \(it is 256\), or set gradient_checkpointing to true"
    with pytest.raises(OutOfMemory, match=expected):
        next(iter(policy.passes(rows(), "policy")))


def test_moments_that_do_not_fit_name_the_settings(monkeypatch):
    def fail(*args, **kwargs):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.optim.AdamW, "step", fail)
    policy = load(roles=("policy",), tuning="full")
    with pytest.raises(OutOfMemory, match=r"to train\. Lower microbatch_tokens .*\(tuning=lora\)"):
        policy.update("policy")


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_copies_that_do_not_fit_name_what_to_do(monkeypatch, error):
    def fail(model):
        raise error

    monkeypatch.setattr(loading, "deepcopy", fail)
    with pytest.raises(
        EngineUnavailable, match=r"does not fit in the memory of .*or tuning=lora, which keeps one copy"
    ):
        load(tuning="full")


def test_an_update_without_a_gradient_moves_nothing():
    policy = load(roles=("policy",), weight_decay=0.5)
    before = policy.state()["policy"]["weights"]
    assert list(policy.passes([], "policy")) == []
    assert policy.update("policy") == 0
    assert_same(policy.state()["policy"]["weights"], before)


def test_other_errors_of_a_pass_are_not_renamed(monkeypatch):
    policy = load(roles=("policy",))

    def fail(*args, **kwargs):
        raise RuntimeError("something else")

    monkeypatch.setattr(loading.base_of(policy.model).get_decoder(), "forward", fail)
    with pytest.raises(RuntimeError, match="something else"):
        policy.score(rows(), "policy")


def test_settings_that_a_model_does_not_have_are_refused(tmp_path):
    with pytest.raises(BadConfig, match=r"takes no adapters in 'query'.*q_proj"):
        load(lora_targets="query")
    with pytest.raises(BadConfig, match="names the output layer or the embedding, which are one"):
        load(lora_targets="q_proj,lm_head")
    with pytest.raises(UnknownName, match="Did you mean 'policy'"):
        load(roles=("police",))
    with pytest.raises(UnknownName, match="Name it in the roles"):
        load(roles=("policy",)).score(rows(), "q")
    with pytest.raises(BadConfig, match="model: expected a folder or a hub's id, got none"):
        Policy.load(settings())
    with pytest.raises(EngineUnavailable, match="expected one with a model"):
        Policy.load(settings(), tmp_path / "nothing")
    policy = load(roles=("policy", "reference"))
    with pytest.raises(ValueError, match="the reference has no gradient"):
        next(iter(policy.passes(rows(), "reference")))
    with pytest.raises(ValueError, match="the reference has no gradient"):
        policy.update("reference")


def test_layers_can_be_chosen():
    policy = load(lora_targets="q_proj, v_proj")
    names = policy.state()["q"]["weights"]
    assert {name.split(".")[-4] for name in names} == {"q_proj", "v_proj"}
    assert {name.split(".")[-1 - 1] for name in names} == {"q"}


def test_a_tokenizer_that_loses_what_it_encodes_is_refused():
    tokenizer = tokenizer_of("qwen3")
    loading.check_tags(Chat(tokenizer))
    tokenizer.backend_tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    with pytest.raises(Unsupported, match=r"does not give back a response .* Take a model whose tokenizer keeps"):
        loading.check_tags(Chat(tokenizer))


def test_a_model_without_a_chat_template_is_refused(tmp_path):
    folder = load(roles=("policy",)).export(tmp_path / "model")
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(EngineUnavailable, match="has no chat template"):
        Policy.load(settings(), folder)


def test_an_export_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    synced, sync = set(), os.fsync

    def and_note(file):
        synced.add(os.fstat(file).st_ino)
        sync(file)

    monkeypatch.setattr(os, "fsync", and_note)
    folder = load(roles=("policy",)).export(tmp_path / "model")
    assert {path.stat().st_ino for path in (tmp_path, folder, *folder.iterdir())} <= synced


def test_an_export_that_gets_no_name_leaves_the_earlier_one(tmp_path, monkeypatch):
    policy, rename = load(roles=("policy",)), Path.rename
    folder = policy.export(tmp_path / "model")
    (folder / "earlier").touch()

    def refused(path, target):
        if Path(target) == folder and not path.name.endswith(".old"):
            raise PermissionError(13, "Permission denied", str(target))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError):
        policy.export(folder)
    assert (folder / "earlier").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_model_with_log_probs_of_its_own_making_is_refused(monkeypatch):
    kind = transformers.Qwen3ForCausalLM
    forward = kind.forward

    def scaled(self, *args, **kwargs):
        output = forward(self, *args, **kwargs)
        return replace(output, logits=output.logits * 0.5)

    monkeypatch.setattr(kind, "forward", scaled)
    with pytest.raises(Unsupported, match="log-probs of its own making"):
        load()
