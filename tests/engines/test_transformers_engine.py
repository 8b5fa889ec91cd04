"""The transformers engine against transformers: the same tokens and log-probs, whoever else is in the batch."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from eapo_gym.engines.base import EngineError, Message, Override, Prompt, PromptTooLong, Sampling
from eapo_gym.engines.transformers.request import Request
from tests.engines.running import TOLERANCE, greedy, opened, plain_logprobs, run, text_model
from tests.engines.tiny_models import tiny_model

GREEDY = Sampling(max_tokens=24, temperature=0)
LENGTHS = (3, 160, 1, 47, 90, 16, 200, 33)


@pytest.fixture(scope="module", params=["qwen3", "gemma3", "llama"])
def model(request):
    return text_model(request.param)


@pytest.fixture(scope="module")
def qwen():
    return text_model("qwen3")


def made_up(length: int, start: int = 0) -> Prompt:
    """A prompt of ordinary ids, other ones for another start."""
    return Prompt(tuple(100 + (start * 131 + 7 * i * i + i) % 300 for i in range(length)))


def test_greedy_is_what_generate_says_while_others_join_and_leave(model):
    weights, tokenizer = model

    async def one(engine, i, length):
        # They come at different times, and have different lengths: every step has another batch.
        await asyncio.sleep(0.004 * i)
        [made] = await engine.generate([made_up(length, i)], replace(GREEDY, max_tokens=8 + 5 * i))
        return made

    async def all_of_them():
        async with opened(weights, tokenizer=tokenizer, max_batch=4) as engine:
            completions = await asyncio.gather(*(one(engine, i, n) for i, n in enumerate(LENGTHS)))
            return completions, engine.stats()

    completions, stats = run(all_of_them())
    for i, (length, made) in enumerate(zip(LENGTHS, completions, strict=True)):
        prompt = made_up(length, i).ids
        assert made.prompt_ids == prompt
        assert list(made.ids) == greedy(weights, prompt, 8 + 5 * i)
        assert made.logprobs == pytest.approx(plain_logprobs(weights, prompt, made.ids), abs=TOLERANCE)
        assert set(made.sampled_logprobs) == {0.0}
    assert stats["requests"] == len(LENGTHS)
    assert stats["mean_batch"] > 1
    assert stats["response_tokens"] == sum(len(made.ids) for made in completions)


def test_log_probs_of_samples_are_those_of_a_plain_forward_pass(model):
    weights, tokenizer = model
    prompts = [made_up(n, i) for i, n in enumerate(LENGTHS)]

    async def sample():
        async with opened(weights, tokenizer=tokenizer) as engine:
            made = await engine.generate(prompts, Sampling(max_tokens=30, seed=1, temperature=0.8))
            return made, await engine.score(prompts, [one.ids for one in made])

    made, scores = run(sample())
    for prompt, one, scored in zip(prompts, made, scores, strict=True):
        expected = plain_logprobs(weights, prompt.ids, one.ids)
        assert one.logprobs == pytest.approx(expected, abs=TOLERANCE)
        assert scored == pytest.approx(expected, abs=TOLERANCE)
        assert len(one.sampled_logprobs) == len(one.ids)


def test_sampled_log_probs_are_those_of_the_distribution_drawn_from(qwen):
    weights, tokenizer = qwen

    async def sample(sampling):
        async with opened(weights, tokenizer=tokenizer) as engine:
            return (await engine.generate([made_up(20)], sampling))[0]

    plain = run(sample(Sampling(max_tokens=20, seed=3)))
    assert plain.sampled_logprobs == plain.logprobs
    certain = run(sample(Sampling(max_tokens=20, seed=3, top_k=1)))
    assert list(certain.ids) == greedy(weights, made_up(20).ids, 20)
    assert certain.sampled_logprobs == pytest.approx([0.0] * len(certain.ids), abs=1e-6)
    assert max(certain.logprobs) < 0
    cut = run(sample(Sampling(max_tokens=20, seed=3, min_p=0.3)))
    assert all(sampled > own for sampled, own in zip(cut.sampled_logprobs, cut.logprobs, strict=True))


def test_a_seed_gives_the_same_tokens_alone_and_in_a_crowd(qwen):
    weights, tokenizer = qwen
    sampling = Sampling(max_tokens=32, temperature=1.2, seed=11, top_p=0.95)
    prompts = [made_up(n, i) for i, n in enumerate(LENGTHS)]

    async def alone_and_together():
        async with opened(weights, tokenizer=tokenizer) as engine:
            alone = await engine.generate(prompts[:2], sampling)
        async with opened(weights, tokenizer=tokenizer, max_batch=5) as engine:
            crowd = [engine.generate(prompts[2:], replace(sampling, seed=seed, top_p=1.0)) for seed in (1, 2)]
            *_, together = await asyncio.gather(*crowd, engine.generate(prompts[:2], sampling))
            again = await engine.generate(prompts[:2], sampling)
            other = await engine.generate(prompts[:2], replace(sampling, seed=12))
        return alone, together, again, other

    alone, together, again, other = run(alone_and_together())
    ids = [one.ids for one in alone]
    assert [one.ids for one in together] == ids
    assert [one.ids for one in again] == ids
    assert [one.ids for one in other] != ids


def test_prompts_of_one_call_have_generators_of_their_own(qwen):
    weights, tokenizer = qwen

    async def sample(prompts, seed):
        async with opened(weights, tokenizer=tokenizer) as engine:
            return [one.ids for one in await engine.generate(prompts, Sampling(max_tokens=12, seed=seed))]

    same = run(sample([made_up(9)] * 4, 5))
    assert len(set(same)) == 4
    assert run(sample([made_up(9)] * 2, 5)) == same[:2]
    assert run(sample([made_up(9)] * 2, -5)) != same[:2]
    assert run(sample([made_up(9)] * 2, None)) != run(sample([made_up(9)] * 2, None))


def test_a_common_beginning_is_copied_and_changes_nothing(model):
    weights, tokenizer = model
    shared = made_up(120).ids
    prompts = [Prompt((*shared, *made_up(15 + i, 50 + i).ids)) for i in range(6)]

    async def sample():
        async with opened(weights, tokenizer=tokenizer) as engine:
            made = await engine.generate(prompts, replace(GREEDY, max_tokens=10))
            reused = engine.stats()["reused_tokens"]
            longer = [Prompt((*one.prompt_ids, *one.ids, 110, 111)) for one in made]
            return made, reused, await engine.generate(longer, replace(GREEDY, max_tokens=10)), engine.stats()

    made, reused, longer, stats = run(sample())
    # One of them was fed its beginning, the others waited for it, and what a response left behind is used too.
    assert reused == 5 * len(shared)
    assert stats["reused_tokens"] - reused >= sum(len(one.prompt_ids) + len(one.ids) - 1 for one in made)
    for one in (*made, *longer):
        assert list(one.ids) == greedy(weights, one.prompt_ids, 10)
        assert one.logprobs == pytest.approx(plain_logprobs(weights, one.prompt_ids, one.ids), abs=TOLERANCE)


def test_long_prompts_are_fed_in_pieces(model, monkeypatch):
    weights, tokenizer = model
    prompts = [made_up(n, i) for i, n in enumerate((700, 20, 330))]

    async def sample():
        async with opened(weights, tokenizer=tokenizer) as engine:
            engine._batcher._piece = 64
            return await engine.generate(prompts, GREEDY), engine.stats()

    made, stats = run(sample())
    assert stats["prompt_steps"] >= 700 // 64
    for one in made:
        assert list(one.ids) == greedy(weights, one.prompt_ids, 24)


def test_little_room_in_the_cache_makes_rows_wait_and_changes_nothing(qwen):
    weights, tokenizer = qwen
    prompts = [made_up(40, i) for i in range(6)]
    sampling = Sampling(max_tokens=60, temperature=1.0, seed=2)

    async def sample(**options):
        async with opened(weights, tokenizer=tokenizer, **options) as engine:
            return await engine.generate(prompts, sampling), engine.stats()

    roomy, stats = run(sample())
    assert stats.get("gave_way", 0) == 0
    # Six prompts have room as they come, but not when they have grown.
    tight, stats = run(sample(max_tokens_in_cache=6 * 64))
    assert stats["gave_way"] > 0
    assert [one.ids for one in tight] == [one.ids for one in roomy]
    for one, other in zip(tight, roomy, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=TOLERANCE)


def test_texts_stop_a_response_and_are_part_of_it(qwen):
    weights, tokenizer = qwen
    sampling = Sampling(max_tokens=200, seed=4, temperature=1.5)

    async def sample(**changes):
        async with opened(weights, tokenizer=tokenizer) as engine:
            return (await engine.generate([made_up(12)], replace(sampling, **changes)))[0]

    free = run(sample())
    middle = len(free.text) // 2
    stop = free.text[middle : middle + 4]
    stopped = run(sample(stop=("does not occur", stop)))
    assert stopped.finish == "stop"
    assert stopped.ids == free.ids[: len(stopped.ids)]
    assert stop in stopped.text
    # Not one token later than needed.
    assert stop not in tokenizer.decode(stopped.ids[:-1], skip_special_tokens=True)


@pytest.mark.parametrize("stop", ["。終了します。次へ進む", "😀😀😀😀😀😀😀", "</action>"])
def test_stop_texts_may_take_a_token_for_each_byte(qwen, stop):
    weights, tokenizer = qwen

    async def ask():
        async with opened(weights, tokenizer=tokenizer) as engine:
            prompt, response = engine.encode("hello"), engine.encode(f"so {stop}")
            sampling = Sampling(stop=(stop,))
            for end in range(1, len(response) + 1):
                tokens = [*prompt, *response[:end]]
                request = Request(tokens, len(prompt), sampling, 100, np.random.default_rng(0))
                assert engine._stops_at(request) == (end == len(response))

    run(ask())


def test_a_response_ends_with_the_token_that_ends_it(qwen):
    weights, tokenizer = qwen

    async def sample():
        async with opened(weights, tokenizer=tokenizer) as engine:
            return await engine.generate([made_up(12, i) for i in range(8)], Sampling(max_tokens=4000, temperature=3))

    ends = {tokenizer.convert_tokens_to_ids("<|im_end|>"), tokenizer.convert_tokens_to_ids("<|endoftext|>")}
    for one in run(sample()):
        assert (one.finish == "stop") == (one.ids[-1] in ends)
        assert not ends.intersection(one.ids[:-1])
        assert "<|im_end|>" not in one.text
        assert one.finish == "stop" or len(one.ids) == 4000


def test_the_context_bounds_prompt_and_response(qwen):
    weights, tokenizer = qwen

    async def ask():
        async with opened(weights, tokenizer=tokenizer, context=50) as engine:
            assert engine.context == 50
            [made] = await engine.generate([made_up(45)], Sampling(max_tokens=100, top_k=1))
            with pytest.raises(PromptTooLong, match="50 tokens, the context 50"):
                await engine.generate([made_up(50)], Sampling())
            with pytest.raises(PromptTooLong, match="51 tokens"):
                await engine.score([made_up(45)], [[5] * 6])
            return made

    made = run(ask())
    assert (len(made.ids), made.finish) == (5, "length")


def test_what_cannot_be_fed_is_refused_before_it_reaches_the_model(qwen):
    weights, tokenizer = qwen

    async def ask():
        async with opened(weights, tokenizer=tokenizer) as engine:
            with pytest.raises(EngineError, match="empty"):
                await engine.generate([Prompt(())], Sampling())
            with pytest.raises(EngineError, match="the model has 0 to"):
                await engine.generate([Prompt((1, 10**6))], Sampling())
            with pytest.raises(EngineError, match="1 prompts and 2 targets"):
                await engine.score([made_up(3)], [[1], [2]])
            assert await engine.score([made_up(3)], [[]]) == [[]]
            assert await engine.generate([], Sampling()) == []

    run(ask())


def test_scores_share_the_prompts_of_their_targets(qwen):
    weights, tokenizer = qwen
    prompts = [made_up(150, i // 2) for i in range(8)]
    targets = [list(made_up(5 + 3 * i, 70 + i).ids) for i in range(8)]

    async def ask():
        async with opened(weights, tokenizer=tokenizer) as engine:
            return await engine.score(prompts, targets), engine.stats()

    scores, stats = run(ask())
    for prompt, target, scored in zip(prompts, targets, scores, strict=True):
        assert scored == pytest.approx(plain_logprobs(weights, prompt.ids, target), abs=TOLERANCE)
    assert stats["reused_tokens"] == 4 * 149


def test_scores_and_responses_run_at_the_same_time(qwen):
    weights, tokenizer = qwen
    target = list(made_up(20, 9).ids)

    async def ask():
        async with opened(weights, tokenizer=tokenizer) as engine:
            return await asyncio.gather(
                engine.generate([made_up(30)], GREEDY),
                engine.score([made_up(30)], [target]),
                engine.score([made_up(1)], [[7]]),
            )

    [made], [scored], [short] = run(ask())
    assert list(made.ids) == greedy(weights, made_up(30).ids, 24)
    assert scored == pytest.approx(plain_logprobs(weights, made_up(30).ids, target), abs=TOLERANCE)
    assert short == pytest.approx(plain_logprobs(weights, made_up(1).ids, [7]), abs=TOLERANCE)


def test_override_makes_what_was_sampled_less_likely(qwen):
    weights, tokenizer = qwen
    override = Override(key="task", strength=2.0)

    async def ask():
        async with opened(weights, tokenizer=tokenizer) as engine:
            plain = Sampling(max_tokens=6, temperature=0.2, seed=1)
            first = await engine.generate([made_up(12)], replace(plain, override=override))
            again = [(await engine.generate([made_up(12)], replace(plain, override=override)))[0] for _ in range(3)]
            other = await engine.generate([made_up(12)], replace(plain, override=replace(override, key="other")))
            return first[0], again, other[0]

    first, again, other = run(ask())
    # A head that has learnt nothing changes nothing; one that has does, in its own task alone.
    assert other.ids == first.ids
    assert any(one.ids != first.ids for one in again)
    for one in (first, *again):
        assert one.logprobs == pytest.approx(plain_logprobs(weights, one.prompt_ids, one.ids), abs=TOLERANCE)


def test_a_folder_is_all_that_is_needed():
    async def ask():
        async with opened(str(tiny_model("qwen3"))) as engine:
            prompt = engine.prompt([Message("system", "Play."), Message("user", "You see a drawer.")], prefill="<")
            [made] = await engine.generate([prompt], Sampling(max_tokens=5, seed=0))
            return engine, prompt, made

    engine, prompt, made = run(ask())
    assert made.prompt_ids == prompt.ids
    assert made.text == engine.decode(made.ids)
    stamp = engine.stamp()
    assert (stamp["kind"], stamp["model"], stamp["dtype"]) == ("transformers", str(tiny_model("qwen3")), "float32")
    assert stamp["architecture"] == "Qwen3ForCausalLM"
    assert not {"torch", "transformers"} & set(stamp)  # a run has the versions of all packages elsewhere


def test_several_event_loops_share_an_engine(qwen):
    weights, tokenizer = qwen

    async def ask(engine):
        return (await engine.generate([made_up(10)], GREEDY))[0].ids

    async def all_of_them():
        async with opened(weights, tokenizer=tokenizer) as engine:
            # Each thread has an event loop of its own.
            return await asyncio.gather(*(asyncio.to_thread(lambda: asyncio.run(ask(engine))) for _ in range(4)))

    assert set(run(all_of_them())) == {tuple(greedy(weights, made_up(10).ids, 24))}
