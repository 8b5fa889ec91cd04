"""Images in the transformers engine, against the models' own forward pass and generate."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("PIL")

from eapo_gym.engines.base import EngineError, Message, Prompt, Sampling  # noqa: E402
from eapo_gym.engines.images import ImageReader  # noqa: E402
from tests.engines.running import TOLERANCE, livelier, opened, plain_logprobs, run, text_model, tokenizer_of  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402

GREEDY = Sampling(max_tokens=12, temperature=0)
SIZES = ((64, 64), (96, 160), (200, 70))


def image(seed: int, size: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)


@pytest.fixture(scope="module", params=["qwen3-vl", "gemma3"])
def seeing(request):
    """A model, its tokenizer, and the reader of its images; Gemma's window is shorter than an image."""
    folder = tiny_model(request.param)
    config = transformers.AutoConfig.from_pretrained(folder)
    if request.param == "gemma3":
        config.text_config.sliding_window = 12
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, config=config, attn_implementation="sdpa")
    return livelier(model), tokenizer_of(request.param), ImageReader(folder)


def prompts_with_images(engine) -> list[Prompt]:
    images = [image(i, size) for i, size in enumerate(SIZES)]
    return [
        engine.prompt([Message("system", "Play."), Message("user", "What do you see? " * words, tuple(of_it))])
        for words, of_it in (
            (1, []),
            (9, images[:1]),
            (2, images[1:]),
            (5, [images[2], images[0]]),
            (30, []),
            (1, [images[0], images[0]]),
        )
    ]


def inputs_of(reader: ImageReader, prompt: Prompt, after: int = 0) -> dict[str, torch.Tensor]:
    """What the whole model wants beside the ids, for the prompt and so many tokens after it."""
    seen = reader.read(prompt)
    kinds = torch.tensor([[*map(int, seen.is_image), *[0] * after]])
    arrays = {name: torch.from_numpy(np.asarray(array)) for name, array in seen.arrays.items()}
    return {**arrays, ("mm_token_type_ids" if "image_grid_thw" in arrays else "token_type_ids"): kinds}


def expected_logprobs(model, reader, prompt, made) -> list[float]:
    if not prompt.images:
        return plain_logprobs(model, made.prompt_ids, made.ids)
    return plain_logprobs(model, made.prompt_ids, made.ids, **inputs_of(reader, prompt, len(made.ids)))


def expected_ids(model, reader, prompt, made) -> list[int]:
    ids = torch.tensor([made.prompt_ids])
    inputs = inputs_of(reader, prompt) if prompt.images else {}
    whole = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, eos_token_id=[], **inputs
    )
    return whole[0, len(made.prompt_ids) :].tolist()


def test_images_give_what_generate_says(seeing):
    model, tokenizer, reader = seeing

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer, max_batch=4) as engine:
            prompts = prompts_with_images(engine)

            async def one(i):
                await asyncio.sleep(0.005 * i)
                return (await engine.generate([prompts[i]], GREEDY))[0]

            return prompts, await asyncio.gather(*map(one, range(len(prompts))))

    prompts, completions = run(work())
    for prompt, made in zip(prompts, completions, strict=True):
        assert made.prompt_ids == reader.read(prompt).ids
        assert list(made.ids) == expected_ids(model, reader, prompt, made)
        assert made.logprobs == pytest.approx(expected_logprobs(model, reader, prompt, made), abs=TOLERANCE)


def test_equal_images_are_copied_and_others_are_not(seeing):
    model, tokenizer, reader = seeing

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:

            def ask(text, *images):
                return engine.prompt([Message("user", text, images)])

            red, blue = image(1, SIZES[1]), image(2, SIZES[1])
            prompts = [
                ask("go on " * 20, red),
                ask("go on " * 19 + "now", red),
                ask("go on " * 20, blue),
                ask("go", red, blue),
            ]
            made, reused = [], []
            for prompt in prompts:
                before = engine.stats().get("reused_tokens", 0)
                made += await engine.generate([prompt], GREEDY)
                reused.append(engine.stats()["reused_tokens"] - before)
            return prompts, made, reused

    prompts, completions, reused = run(work())
    for prompt, made in zip(prompts, completions, strict=True):
        assert list(made.ids) == expected_ids(model, reader, prompt, made)
        assert made.logprobs == pytest.approx(expected_logprobs(model, reader, prompt, made), abs=TOLERANCE)
    first, second, third, fourth = (reader.read(prompt).is_image for prompt in prompts)
    assert reused[0] == 0
    assert reused[1] > len(first) / 2
    # Another image at the same place has the same ids: what comes before it is shared, no more.
    assert reused[2] == third.index(True)
    assert len(second) > reused[3] >= sum(fourth) // 2


def test_image_tokens_that_were_sampled_are_not_images(seeing):
    model, tokenizer, reader = seeing
    token = model.config.image_token_id

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            prompt = prompts_with_images(engine)[1]
            [made] = await engine.generate([prompt], GREEDY)
            target = [*made.ids[:4], token, token, *made.ids[4:8]]
            # The target and the image are fed in one pass, then in several.
            whole = await engine.score([prompt], [target])
            engine.forget_prefixes()
            engine._batcher._piece = 16
            return prompt, target, whole + await engine.score([prompt], [target])

    prompt, target, (whole, pieces) = run(work())
    assert whole == pytest.approx(pieces, abs=TOLERANCE)
    # An image token in a text has the embedding of its id: the part before it is that of a plain pass.
    seen = reader.read(prompt)
    plain = plain_logprobs(model, seen.ids, target[:4], **inputs_of(reader, prompt, 4))
    assert whole[:4] == pytest.approx(plain, abs=TOLERANCE)


def test_images_survive_giving_way(seeing):
    model, tokenizer, reader = seeing

    async def work(**options):
        async with opened(model, endless=True, tokenizer=tokenizer, **options) as engine:
            prompts = prompts_with_images(engine)[1:4]
            return prompts, await engine.generate(prompts, replace(GREEDY, max_tokens=100)), engine.stats()

    prompts, roomy, _ = run(work())
    longest = max(len(one.prompt_ids) for one in roomy)
    _, tight, stats = run(work(max_tokens_in_cache=3 * (-(-longest // 64) * 64)))
    assert stats["gave_way"] > 0
    for prompt, one, other in zip(prompts, tight, roomy, strict=True):
        assert one.ids == other.ids
        assert one.logprobs == pytest.approx(expected_logprobs(model, reader, prompt, one), abs=TOLERANCE)


def test_placeholders_and_images_must_agree(seeing):
    model, tokenizer, _ = seeing

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            assert engine.capabilities.images
            prompt = prompts_with_images(engine)[1]
            for wrong in (replace(prompt, images=()), replace(prompt, images=prompt.images * 2)):
                with pytest.raises(EngineError, match="places for images"):
                    await engine.generate([wrong], GREEDY)

    run(work())


def test_text_models_refuse_images():
    model, tokenizer = text_model("qwen3")

    async def work():
        async with opened(model, endless=True, tokenizer=tokenizer) as engine:
            assert not engine.capabilities.images
            with pytest.raises(EngineError, match="sees no images"):
                await engine.generate([Prompt((100, 101), (image(0, SIZES[0]),))], GREEDY)

    run(work())
