"""Weights that change while the engine is used: replacements, adapters, and a trainer that shares the model."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from eapo_gym.engines.base import EngineError, Override, Prompt, Sampling  # noqa: E402
from eapo_gym.engines.transformers import TransformersEngine  # noqa: E402
from eapo_gym.errors import UnknownName  # noqa: E402
from tests.engines.running import TOLERANCE, greedy, opened, plain_logprobs, run, text_model  # noqa: E402

PROMPT = Prompt(tuple(range(100, 180)))
TARGET = list(range(200, 230))
GREEDY = Sampling(max_tokens=16, temperature=0)


def changed(model, seed):
    """A state dict like the model's, with other numbers."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: value + 0.05 * torch.randn(value.shape, generator=generator) if value.is_floating_point() else value
        for name, value in model.state_dict().items()
    }


def test_new_weights_are_used_at_once_and_old_prefixes_no_more():
    model, tokenizer = text_model("qwen3")
    other, _ = text_model("qwen3")
    other.load_state_dict(changed(other, 1))

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            [before] = await engine.score([PROMPT], [TARGET])
            await engine.update_weights(other.state_dict().items())
            [after] = await engine.score([PROMPT], [TARGET])
            return before, after, (await engine.generate([PROMPT], GREEDY))[0]

    before, after, made = run(work())
    expected = plain_logprobs(other, PROMPT.ids, TARGET)
    assert before != pytest.approx(expected, abs=0.01)
    assert after == pytest.approx(expected, abs=TOLERANCE)
    assert list(made.ids) == greedy(other, PROMPT.ids, 16, eos_token_id=[])


def test_responses_under_way_go_on_with_the_new_weights_and_leave_no_prefix():
    model, tokenizer = text_model("qwen3")
    new = changed(model, 2)

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            task = asyncio.create_task(engine.generate([PROMPT], replace(GREEDY, max_tokens=200)))
            while not engine.stats().get("response_tokens"):
                await asyncio.sleep(0.001)
            await engine.update_weights(new.items())
            assert not task.done()
            [made] = await task
            return made, (await engine.score([PROMPT], [TARGET]))[0]

    made, scored = run(work())
    assert len(made.ids) == 200
    # The model holds the new weights by now.
    assert scored == pytest.approx(plain_logprobs(model, PROMPT.ids, TARGET), abs=TOLERANCE)


def test_wrong_weights_are_refused_and_nothing_changes():
    model, tokenizer = text_model("qwen3")
    before = plain_logprobs(model, PROMPT.ids, TARGET)
    name = "model.norm.weight"
    good = (name, torch.zeros_like(model.state_dict()[name]))

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            with pytest.raises(UnknownName, match=r"Did you mean 'model.norm.weight'"):
                await engine.update_weights([good, ("model.norm.wait", torch.zeros(1))])
            with pytest.raises(EngineError, match=r"model.norm.weight has shape \(3,\): expected"):
                await engine.update_weights([good, (name, torch.zeros(3))])
            return (await engine.score([PROMPT], [TARGET]))[0]

    assert run(work()) == pytest.approx(before, abs=TOLERANCE)


def test_a_trainer_changes_a_shared_model_while_the_engine_is_paused():
    model, tokenizer = text_model("qwen3")

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            task = asyncio.create_task(engine.generate([PROMPT], replace(GREEDY, max_tokens=300)))
            while not engine.stats().get("response_tokens"):
                await asyncio.sleep(0.001)
            async with engine.paused():
                steps = engine.stats()["decode_steps"]
                model.train()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
                ids = torch.tensor([[*PROMPT.ids, *TARGET]])
                model(input_ids=ids, labels=ids).loss.backward()
                optimizer.step()
                await asyncio.sleep(0.05)
                assert engine.stats()["decode_steps"] == steps
                engine.forget_prefixes()
            assert not model.training
            scored = (await engine.score([PROMPT], [TARGET]))[0]
            return len((await task)[0].ids), scored

    count, scored = run(work())
    assert count == 300
    assert scored == pytest.approx(plain_logprobs(model, PROMPT.ids, TARGET), abs=TOLERANCE)


def test_a_pause_that_is_given_up_stops_nobody():
    model, tokenizer = text_model("qwen3")

    async def hold(engine):
        async with engine.paused():
            await asyncio.sleep(60)

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            tasks = [asyncio.create_task(hold(engine)) for _ in range(2)]  # the second waits for the first
            await asyncio.sleep(0.05)
            for task in tasks:
                task.cancel()
            return (await engine.generate([PROMPT], GREEDY))[0]

    assert list(run(work()).ids) == greedy(model, PROMPT.ids, 16, eos_token_id=[])


@pytest.fixture(scope="module")
def adapters(tmp_path_factory):
    """Folders of three adapters for the model of these tests, of different ranks."""
    peft = pytest.importorskip("peft")
    folders = {}
    for seed, (name, rank) in enumerate({"policy": 2, "reward": 4, "policy-later": 3}.items()):
        model, _ = text_model("qwen3")
        config = peft.LoraConfig(r=rank, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM")
        wrapped = peft.get_peft_model(model, config)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in wrapped.parameters():
                if parameter.requires_grad:
                    parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))
        folders[name] = tmp_path_factory.mktemp(name)
        wrapped.save_pretrained(folders[name])
    return folders


def with_adapter(folder):
    peft = pytest.importorskip("peft")
    return peft.PeftModel.from_pretrained(text_model("qwen3")[0], folder).eval()


def test_adapters_are_mixed_in_one_batch(adapters):
    model, tokenizer = text_model("qwen3")
    prompts = [Prompt(PROMPT.ids[i:]) for i in range(4)]
    choices = [None, "policy", "reward"]

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            for name in ("policy", "reward"):
                await engine.load_adapter(name, str(adapters[name]))
            asked = [engine.generate(prompts, replace(GREEDY, adapter=name)) for name in choices]
            made = await asyncio.gather(*asked)
            return made, [await engine.score([PROMPT], [TARGET], adapter=name) for name in choices]

    made, scores = run(work())
    plain, _ = text_model("qwen3")
    models = [plain, with_adapter(adapters["policy"]), with_adapter(adapters["reward"])]
    for expected, ours, [scored] in zip(models, made, scores, strict=True):
        for prompt, one in zip(prompts, ours, strict=True):
            assert one.logprobs == pytest.approx(plain_logprobs(expected, prompt.ids, one.ids), abs=TOLERANCE)
        assert scored == pytest.approx(plain_logprobs(expected, PROMPT.ids, TARGET), abs=TOLERANCE)
    assert len({one[0].ids for one in made}) == 3


def test_an_adapter_that_is_loaded_again_replaces_the_old_one(adapters):
    model, tokenizer = text_model("qwen3")

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            scores = []
            for name in ("policy", "policy-later", "policy"):
                await engine.load_adapter("policy", str(adapters[name]))
                scores += await engine.score([PROMPT], [TARGET], adapter="policy")
            return [*scores, *await engine.score([PROMPT], [TARGET])]

    first, later, again, without = run(work())
    assert first == pytest.approx(plain_logprobs(with_adapter(adapters["policy"]), PROMPT.ids, TARGET), abs=TOLERANCE)
    expected = plain_logprobs(with_adapter(adapters["policy-later"]), PROMPT.ids, TARGET)
    assert later == pytest.approx(expected, abs=TOLERANCE)
    assert again == pytest.approx(first, abs=TOLERANCE)
    assert without == pytest.approx(plain_logprobs(text_model("qwen3")[0], PROMPT.ids, TARGET), abs=TOLERANCE)


def test_base_weights_are_updated_beneath_adapters(adapters):
    model, tokenizer = text_model("qwen3")
    new = changed(model, 3)

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            await engine.load_adapter("policy", str(adapters["policy"]))
            await engine.update_weights(new.items())
            return await engine.score([PROMPT], [TARGET]), await engine.score([PROMPT], [TARGET], adapter="policy")

    [without], [with_it] = run(work())
    plain, _ = text_model("qwen3")
    plain.load_state_dict(new)
    assert without == pytest.approx(plain_logprobs(plain, PROMPT.ids, TARGET), abs=TOLERANCE)
    assert with_it != pytest.approx(without, abs=0.01)


def test_a_peft_model_is_shared_and_left_as_its_trainer_set_it(adapters):
    model = with_adapter(adapters["policy"])
    model.load_adapter(str(adapters["reward"]), adapter_name="reward")
    model.set_adapter("reward")
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    _, tokenizer = text_model("qwen3")

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            return [(await engine.score([PROMPT], [TARGET], adapter=name))[0] for name in (None, "default", "reward")]

    without, policy, reward = run(work())
    assert {name for name, parameter in model.named_parameters() if parameter.requires_grad} == trained
    assert model.active_adapter == "reward"
    assert reward == pytest.approx(plain_logprobs(model, PROMPT.ids, TARGET), abs=TOLERANCE)
    with model.disable_adapter():
        assert without == pytest.approx(plain_logprobs(model, PROMPT.ids, TARGET), abs=TOLERANCE)
    model.set_adapter("default")
    assert policy == pytest.approx(plain_logprobs(model, PROMPT.ids, TARGET), abs=TOLERANCE)


def saved_adapter(folder, architecture, seed=0, **options):
    """The folder of an adapter of which all that is trained has other numbers than the model."""
    peft = pytest.importorskip("peft")
    wrapped = peft.get_peft_model(text_model(architecture)[0], peft.LoraConfig(r=2, **options))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in wrapped.parameters():
            if parameter.requires_grad:
                parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    wrapped.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        ("qwen3", {"modules_to_save": ["norm"]}),
        ("llama", {"modules_to_save": ["lm_head"]}),
        ("llama", {"trainable_token_indices": list(range(100, 300))}),
    ],
    ids=["norm", "head", "tokens"],
)
def test_modules_that_an_adapter_has_copies_of_are_switched_too(tmp_path, architecture, options):
    peft = pytest.importorskip("peft")
    model, tokenizer = text_model(architecture)
    folders = {
        "small": saved_adapter(tmp_path / "small", architecture, 1, target_modules=["q_proj"]),
        "full": saved_adapter(tmp_path / "full", architecture, target_modules=["q_proj"], **options),
    }

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            for name, folder in folders.items():
                await engine.load_adapter(name, folder)
            return [(await engine.score([PROMPT], [TARGET], adapter=name))[0] for name in (None, "full", "small", None)]

    without, full, small, again = run(work())
    plain = plain_logprobs(text_model(architecture)[0], PROMPT.ids, TARGET)
    assert without == pytest.approx(plain, abs=TOLERANCE)
    assert again == pytest.approx(plain, abs=TOLERANCE)
    for scored, name in ((full, "full"), (small, "small")):
        alone = peft.PeftModel.from_pretrained(text_model(architecture)[0], folders[name]).eval()
        assert scored == pytest.approx(plain_logprobs(alone, PROMPT.ids, TARGET), abs=TOLERANCE)


def test_adapters_that_change_biases_are_refused(tmp_path):
    peft = pytest.importorskip("peft")
    model, tokenizer = text_model("qwen3")
    folder = saved_adapter(tmp_path, "qwen3", target_modules=["q_proj"], bias="all")

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            with pytest.raises(EngineError, match=r"bias='all', .*: expected bias='none'"):
                await engine.load_adapter("biased", folder)

    run(work())
    with pytest.raises(EngineError, match=r"'default' was trained with bias='all'"):
        TransformersEngine(peft.PeftModel.from_pretrained(text_model("qwen3")[0], folder), tokenizer=tokenizer)


def test_who_paused_the_engine_changes_weights_and_is_refused_what_would_wait_for_ever(adapters):
    model, tokenizer = text_model("qwen3")
    other, _ = text_model("qwen3")
    other.load_state_dict(changed(other, 1))

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            await engine.score([PROMPT], [TARGET])
            async with engine.paused():
                await engine.update_weights(other.state_dict().items())
                await engine.load_adapter("policy", str(adapters["policy"]))
                for refused in (engine.generate([PROMPT], GREEDY), engine.score([PROMPT], [TARGET])):
                    with pytest.raises(EngineError, match=r"leave `async with engine.paused\(\)` first"):
                        await refused
                with pytest.raises(EngineError, match="one at a time"):
                    async with engine.paused():
                        pass
                # Anybody else just waits.
                async with opened(other, tokenizer=tokenizer) as another:
                    await another.score([PROMPT], [TARGET])
            return (await engine.score([PROMPT], [TARGET]))[0], (await engine.generate([PROMPT], GREEDY))[0]

    scored, made = run(work())
    assert scored == pytest.approx(plain_logprobs(other, PROMPT.ids, TARGET), abs=TOLERANCE)
    assert list(made.ids) == greedy(other, PROMPT.ids, 16, eos_token_id=[])


def test_what_an_adapter_sampled_is_no_concern_of_overrides_head_for_the_model(adapters):
    model, tokenizer = text_model("qwen3")
    reweighted = replace(GREEDY, override=Override("task", strength=2.0))

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            await engine.load_adapter("policy", str(adapters["policy"]))
            for _ in range(3):
                await engine.generate([PROMPT], replace(reweighted, adapter="policy"))
            return (await engine.generate([PROMPT], reweighted))[0]

    assert list(run(work()).ids) == greedy(text_model("qwen3")[0], PROMPT.ids, 16, eos_token_id=[])


def test_unknown_adapters_are_refused(adapters, tmp_path):
    model, tokenizer = text_model("qwen3")

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            with pytest.raises(UnknownName, match=r"Unknown adapter 'policy': expected one of none at all\. Load it"):
                await engine.generate([PROMPT], replace(GREEDY, adapter="policy"))
            with pytest.raises(EngineError, match=r"holds no adapter"):
                await engine.load_adapter("policy", str(tmp_path))
            await engine.load_adapter("policy", str(adapters["policy"]))
            with pytest.raises(UnknownName, match=r"Did you mean 'policy'"):
                await engine.score([PROMPT], [TARGET], adapter="polici")

    run(work())
