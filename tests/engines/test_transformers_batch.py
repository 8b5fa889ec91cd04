"""What may go wrong in the batch: callers give up, the model fails, memory runs out, the engine ends."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from eapo_gym.engines.base import EngineError, EngineUnavailable, Override, Prompt, Sampling  # noqa: E402
from eapo_gym.engines.transformers import TransformersEngine, cache  # noqa: E402
from tests.engines.running import TOLERANCE, greedy, opened, plain_logprobs, run, text_model  # noqa: E402

LONG = Sampling(max_tokens=1800, temperature=0)
SHORT = replace(LONG, max_tokens=8)


@pytest.fixture(scope="module")
def qwen():
    return text_model("qwen3")


def made_up(length: int, start: int = 0) -> Prompt:
    return Prompt(tuple(100 + (start * 131 + 7 * i * i + i) % 300 for i in range(length)))


async def under_way(engine, rows: int = 1) -> None:
    while len(engine._batcher._rows) < rows or any(row.pending > 1 for row in engine._batcher._rows):
        await asyncio.sleep(0.001)


def test_cancelled_requests_leave_the_batch(qwen):
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer, max_batch=3) as engine:
            tasks = [asyncio.create_task(engine.generate([made_up(9, i)] * 2, LONG)) for i in range(3)]
            await under_way(engine, 3)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # There is room again: all three rows were freed, and what waited does not come any more.
            [made] = await engine.generate([made_up(30, 5)], SHORT)
            assert not engine._batcher._rows
            assert not engine._batcher._waiting
            return made

    made = run(work())
    assert list(made.ids) == greedy(weights, made_up(30, 5).ids, 8, eos_token_id=[])


def test_time_outs_free_their_rows(qwen):
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.generate([made_up(9)], LONG), 0.05)
            await engine.generate([made_up(4)], SHORT)
            return len(engine._batcher._rows)

    assert run(work()) == 0


def test_close_ends_what_is_under_way(qwen):
    weights, tokenizer = qwen

    async def work():
        engine = TransformersEngine(weights, tokenizer=tokenizer, max_batch=1)
        engine._batcher._ends = frozenset()
        tasks = [asyncio.create_task(engine.generate([made_up(9, i)], LONG)) for i in range(3)]
        await under_way(engine)
        await engine.close()
        await engine.close()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(result, EngineUnavailable)
        for ask in (engine.generate([made_up(3)], SHORT), engine.score([made_up(3)], [[1]]), engine.update_weights([])):
            with pytest.raises(EngineUnavailable, match="was closed"):
                await ask
        engine.forget_prefixes()

    run(work())


def test_close_while_paused_does_not_hang(qwen):
    weights, tokenizer = qwen

    async def work():
        engine = TransformersEngine(weights, tokenizer=tokenizer)
        async with engine.paused():
            await engine.close()

    run(work())


def test_a_pause_that_close_comes_before_does_not_hang(qwen):
    weights, tokenizer = qwen

    async def hold(engine):
        async with engine.paused():
            await asyncio.sleep(0.2)

    async def work():
        engine = TransformersEngine(weights, tokenizer=tokenizer)
        first, second = (asyncio.create_task(hold(engine)) for _ in range(2))
        await asyncio.sleep(0.05)
        await engine.close()
        assert await first is None
        with pytest.raises(EngineUnavailable, match="was closed"):
            await second

    run(work())


class Fault:
    """Makes the model raise in the passes that `wrong` picks, by their number and their ids."""

    def __init__(self, model, wrong, error):
        self.model, self.wrong, self.error = model, wrong, error
        self.passes = 0

    def __enter__(self):
        self.hook = self.model.register_forward_pre_hook(self.before, with_kwargs=True)
        return self

    def before(self, module, args, inputs):
        self.passes += 1
        if self.wrong(self.passes, inputs["input_ids"]):
            raise self.error

    def __exit__(self, *_):
        self.hook.remove()


def test_a_failing_pass_fails_its_rows_and_no_others(qwen):
    weights, tokenizer = qwen
    poison = 399

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            good = asyncio.create_task(engine.generate([made_up(20)], replace(LONG, max_tokens=300)))
            await under_way(engine)
            with pytest.raises(EngineError, match=r"The model failed: ValueError: broken") as raised:
                await engine.generate([Prompt((poison,) * 5)], SHORT)
            assert not isinstance(raised.value, EngineUnavailable)
            return (await good)[0], (await engine.generate([made_up(10, 2)], SHORT))[0]

    with Fault(weights, lambda _, ids: bool((ids == poison).all()), ValueError("broken")):
        good, later = run(work())
    assert list(good.ids) == greedy(weights, made_up(20).ids, 300, eos_token_id=[])
    assert list(later.ids) == greedy(weights, made_up(10, 2).ids, 8, eos_token_id=[])


def test_out_of_memory_halves_the_batch_and_loses_nothing(qwen):
    weights, tokenizer = qwen
    prompts = [made_up(20 + i, i) for i in range(8)]
    sampling = Sampling(max_tokens=40, seed=1)

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            return await engine.generate(prompts, sampling), engine.stats()

    undisturbed, _ = run(work())
    with Fault(weights, lambda _, ids: len(ids) > 3, torch.OutOfMemoryError("out of memory")):
        made, stats = run(work())
    assert stats["out_of_memory"] > 0
    assert stats["gave_way"] > 0
    assert [one.ids for one in made] == [one.ids for one in undisturbed]


def test_memory_for_not_even_one_request_is_an_error(qwen):
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            with (
                Fault(weights, lambda *_: True, torch.OutOfMemoryError("out of memory")),
                pytest.raises(EngineError, match="not enough memory for a single request"),
            ):
                await engine.generate([made_up(500), made_up(9)], SHORT)
            return (await engine.generate([made_up(10)], SHORT))[0]

    assert list(run(work()).ids) == greedy(weights, made_up(10).ids, 8, eos_token_id=[])


def test_an_error_of_the_engine_itself_fails_everybody_and_hangs_nobody(qwen, monkeypatch):
    weights, tokenizer = qwen

    async def work():
        engine = TransformersEngine(weights, tokenizer=tokenizer)
        engine._batcher._ends = frozenset()
        task = asyncio.create_task(engine.generate([made_up(9)], LONG))
        await under_way(engine)
        monkeypatch.setattr(engine._batcher, "_sample", lambda: 1 / 0)
        with pytest.raises(EngineUnavailable, match="ZeroDivisionError"):
            await task
        with pytest.raises(EngineUnavailable, match="ZeroDivisionError"):
            await engine.generate([made_up(9)], SHORT)
        await engine.close()

    run(work())


def test_logits_that_are_no_numbers_are_an_error(qwen):
    weights, tokenizer = qwen
    head = weights.get_output_embeddings()

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            hook = head.register_forward_hook(lambda *given: given[-1] * float("nan"))
            try:
                with pytest.raises(EngineError, match="not numbers"):
                    await engine.generate([made_up(9)], SHORT)
            finally:
                hook.remove()
            return (await engine.generate([made_up(9)], SHORT))[0]

    assert list(run(work()).ids) == greedy(weights, made_up(9).ids, 8, eos_token_id=[])


def test_waiting_requests_join_while_long_ones_run(qwen):
    """A short request that comes later ends before a long one that came first."""
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer, max_batch=4) as engine:
            long = asyncio.create_task(engine.generate([made_up(9)], LONG))
            await under_way(engine)
            await engine.generate([made_up(9, i) for i in range(12)], SHORT)
            assert not long.done()
            long.cancel()

    run(work())


def test_a_cache_that_cannot_grow_loses_nothing(qwen, monkeypatch):
    """Memory runs out in the middle of growing, when some layers have grown and others have not."""
    weights, tokenizer = qwen
    prompts = [made_up(20 + i, i) for i in range(6)]
    sampling = Sampling(max_tokens=120, seed=1)

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            return await engine.generate(prompts, sampling), engine.stats()

    undisturbed, _ = run(work())
    grow, calls = cache._resized, []

    def fails_sometimes(*given):
        calls.append(1)
        if len(calls) in (2, 4):
            raise torch.OutOfMemoryError("out of memory")
        return grow(*given)

    monkeypatch.setattr(cache, "_resized", fails_sometimes)
    made, stats = run(work())
    assert stats["out_of_memory"] == 2
    assert [one.ids for one in made] == [one.ids for one in undisturbed]


def test_a_score_that_gives_way_begins_again(qwen):
    """Some of its log-probs are known by then, which must not count twice."""
    weights, tokenizer = qwen
    prompt, target = made_up(30), list(made_up(200, 9).ids)

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            engine._batcher.call(lambda: time.sleep(0.2))  # both join in one round, and are fed as many tokens
            asked = engine.generate([made_up(100, 1)], SHORT), engine.score([prompt], [target])
            return *await asyncio.gather(*asked), engine.stats()

    with Fault(weights, lambda number, _: number == 2, torch.OutOfMemoryError("out of memory")):
        [made], [scored], stats = run(work(), 20)
    assert stats["gave_way"] == 1
    assert len(made.ids) == 8
    assert scored == pytest.approx(plain_logprobs(weights, prompt.ids, target), abs=TOLERANCE)


def test_one_long_prompt_does_not_keep_short_ones_out_for_ever(qwen):
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer, max_tokens_in_cache=2048) as engine:
            short = [made_up(20, i) for i in range(16)]
            await engine.generate([made_up(1500)], SHORT)
            before = engine.stats()
            made = await engine.generate(short, SHORT)
            after = engine.stats()
            rows, steps = (after[name] - before[name] for name in ("decode_rows", "decode_steps"))
            return made, rows / steps

    made, mean = run(work())
    assert mean > 12
    for i, one in enumerate(made):
        assert list(one.ids) == greedy(weights, made_up(20, i).ids, 8, eos_token_id=[])


def test_the_context_is_the_models_whatever_the_memory(qwen):
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer, max_tokens_in_cache=100) as engine:
            assert engine.context == weights.config.max_position_embeddings
            lower = "lower the engine's context or Sampling's max_tokens, or raise max_tokens_in_cache"
            with pytest.raises(EngineError, match=f"of 120 tokens does not fit .* memory for 100: {lower}"):
                await engine.generate([made_up(120)], SHORT)
            growing = asyncio.create_task(engine.generate([made_up(60)], replace(SHORT, max_tokens=80)))
            short = await engine.generate([made_up(9)], SHORT)
            with pytest.raises(EngineError, match=f"of 101 tokens does not fit .*: {lower}"):
                await growing
            return short[0]

    assert list(run(work()).ids) == greedy(weights, made_up(9).ids, 8, eos_token_id=[])


def test_a_response_from_which_nothing_can_be_learnt_fails_alone(qwen, monkeypatch):
    weights, tokenizer = qwen

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            monkeypatch.setattr(engine._batcher.heads, "learn", lambda *_: 1 / 0)
            asked = [engine.generate([made_up(9, i)], SHORT) for i in range(2)]
            asked.append(engine.generate([made_up(9, 2)], replace(SHORT, override=Override("a"))))
            return await asyncio.gather(*asked, return_exceptions=True)

    *good, bad = run(work())
    assert [len(made[0].ids) for made in good] == [8, 8]
    assert isinstance(bad, EngineError)
    assert "OverRIDE could not learn" in str(bad)


@pytest.mark.parametrize("temperature", [0, 1])
def test_what_cannot_be_drawn_is_an_error_of_its_own_row(qwen, temperature):
    weights, tokenizer = qwen
    sampling = replace(SHORT, temperature=temperature, seed=1)

    async def work():
        async with opened(weights, endless=True, tokenizer=tokenizer) as engine:
            await engine.generate([made_up(9)], replace(sampling, override=Override("a")))
            asked = [engine.generate([made_up(9, i)], sampling) for i in range(2)]
            asked.append(engine.generate([made_up(9)], replace(sampling, override=Override("a", strength=1e38))))
            return await asyncio.gather(*asked, return_exceptions=True)

    *good, bad = run(work())
    assert [len(made[0].ids) for made in good] == [8, 8]
    assert isinstance(bad, EngineError)
    assert "lower Override's strength" in str(bad)
