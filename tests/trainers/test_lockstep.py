"""Answers by turns: who is waited for, who is not, and that the numbers are the same to the bit."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from contextvars import Context
from typing import Any

import pytest

from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.engines.base import EngineError, EngineUnavailable, Message, Prompt, PromptTooLong, Sampling
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.lockstep import LockStep
from eapo_gym.trainers.rollout import Collector
from tests.agents.scripted import ScriptedEngine
from tests.bench.players import explore
from tests.toys import Corridor


class Recording(ScriptedEngine):
    """Notes the turns, by the seeds of their requests."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.turns: list[list[int | None]] = []

    async def generate_all(self, calls: Sequence[Any]) -> Any:
        self.turns.append([sampling.seed for _, sampling in calls])
        return await super().generate_all(calls)


def run(work: Any, seconds: float = 30) -> Any:
    return asyncio.run(asyncio.wait_for(work, seconds))


def ask(engine: LockStep, seed: int) -> Any:
    return engine.generate([Prompt((0,), messages=(Message("user", str(seed)),))], Sampling(seed=seed))


def test_a_turn_has_a_request_of_everybody_in_their_order() -> None:
    async def work() -> list[list[int | None]]:
        inner = Recording(lambda prompt, sampling, i: f"to {prompt}")
        engine = LockStep(inner)

        async def one(order: int) -> None:
            async with engine.participant((order,)):
                for turn in range(3 + order % 2):
                    await asyncio.sleep(random.random() * 0.02)
                    [completion] = await ask(engine, 10 * turn + order)
                    assert completion.text == f"to {10 * turn + order}"

        async with engine.participant(()):
            tasks = [asyncio.ensure_future(one(order)) for order in (3, 0, 2, 1)]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return inner.turns

    assert run(work()) == [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23], [31, 33]]


def test_who_is_no_participant_is_answered_at_once() -> None:
    async def work() -> None:
        inner = Recording("x")
        engine = LockStep(inner)
        async with engine.participant((0,)):
            outside = asyncio.get_running_loop().create_future()

            async def other() -> None:
                outside.set_result(await ask(engine, 1))

            Context().run(asyncio.get_running_loop().create_task, other())  # begun elsewhere
            assert (await outside)[0].text == "x"
        [late] = await ask(engine, 2)  # it has left
        assert late.text == "x"
        assert inner.turns == []

    run(work())


@pytest.mark.parametrize("how", ["leaves", "fails", "is cancelled", "is cancelled while it waits"])
def test_nobody_waits_for_who_is_gone(how: str) -> None:
    async def work() -> None:
        engine = LockStep(Recording("x"), patience=1000)
        gone = asyncio.Event()

        async def going() -> None:
            async with engine.participant((1,)):
                if how == "fails":
                    await asyncio.sleep(0.01)
                    raise RuntimeError
                if how.startswith("is cancelled"):
                    gone.set()
                    await (ask(engine, 1) if "waits" in how else asyncio.sleep(1000))
                await asyncio.sleep(0.01)

        async def staying() -> Any:
            async with engine.participant((0,)):
                await gone.wait() if "waits" in how else None
                return await ask(engine, 0)

        async def third() -> None:
            async with engine.participant((2,)):
                await asyncio.sleep(0.05)

        tasks = [asyncio.ensure_future(work) for work in (going(), staying(), third())]
        await asyncio.sleep(0.02)
        if how.startswith("is cancelled"):
            tasks[0].cancel()
        [completion] = await tasks[1]
        assert completion.text == "x"
        await asyncio.gather(*tasks, return_exceptions=True)
        assert engine.stats()["turns_without"] == 0

    run(work())


def test_patience_has_an_end() -> None:
    async def work() -> None:
        engine = LockStep(Recording("x"), patience=0.05)

        async def hanging() -> None:
            async with engine.participant((1,)):
                await asyncio.sleep(0.3)
                await ask(engine, 1)

        task = asyncio.ensure_future(hanging())
        await asyncio.sleep(0)
        async with engine.participant((0,)):
            await ask(engine, 0)
            engine.patience = 1000  # it is waited for once, and not again before it asks
            await ask(engine, 2)
            await ask(engine, 4)
            assert not task.done()
            assert engine.stats()["turns_without"] == 1
        await task

    run(work())


def test_who_loses_patience_in_the_middle_of_a_turn_costs_nobody_else() -> None:
    """A response that takes too long is cancelled by whoever asked; the turn goes on for the others."""

    async def work() -> None:
        release = asyncio.Event()

        class Slow(ScriptedEngine):
            async def generate(self, prompts: Any, sampling: Any) -> Any:
                await release.wait()
                return await super().generate(prompts, sampling)

        engine = LockStep(Slow("x"))

        async def asking(order: int, limit: float | None) -> Any:
            async with engine.participant((order,)):
                return await asyncio.wait_for(ask(engine, order), limit)

        tasks = [asyncio.ensure_future(asking(0, 0.05)), asyncio.ensure_future(asking(1, None))]
        with pytest.raises(asyncio.TimeoutError):
            await tasks[0]
        release.set()
        assert (await tasks[1])[0].text == "x"

        release.clear()
        alone = asyncio.ensure_future(asking(2, 0.05))
        with pytest.raises(asyncio.TimeoutError):
            await alone
        await asyncio.sleep(0.01)
        assert engine._turn is None  # nobody waits for any of it: it was ended

    run(work())


def test_an_error_is_told_to_who_caused_it_and_an_end_to_all() -> None:
    class Picky(ScriptedEngine):
        dead = False

        async def generate(self, prompts: Any, sampling: Any) -> Any:
            if self.dead:
                raise EngineUnavailable("It is gone.")
            if sampling.seed == 1:
                raise PromptTooLong("No room.")
            return await super().generate(prompts, sampling)

    async def work() -> None:
        engine = LockStep(Picky("x"))

        async def asking(order: int) -> Any:
            async with engine.participant((order,)):
                return await ask(engine, order)

        answers = await asyncio.gather(*map(asking, range(3)), return_exceptions=True)
        assert [type(answer) for answer in answers] == [list, PromptTooLong, list]
        Picky.dead = True
        answers = await asyncio.gather(*map(asking, range(3)), return_exceptions=True)
        assert [str(answer) for answer in answers] == ["It is gone."] * 3

    run(work())


def test_two_of_one_order_are_refused() -> None:
    async def work() -> None:
        engine = LockStep(ScriptedEngine())
        async with engine.participant((0,)):
            with pytest.raises(ValueError, match="another order"):
                async with engine.participant((0,)):
                    pass

    run(work())


# The real engine


def prompts_of(engine: Any, *texts: str) -> list[Prompt]:
    return [engine.prompt([Message("user", text)]) for text in texts]


def test_calls_at_one_moment_are_as_so_many_calls() -> None:
    pytest.importorskip("transformers")
    from tests.engines.running import TOLERANCE, opened
    from tests.engines.tiny_models import tiny_model

    async def work() -> None:
        async with opened(tiny_model(), context=400) as engine:
            first, second = prompts_of(engine, "go to the desk", "look"), prompts_of(engine, "open the fridge")
            huge = Prompt(tuple(range(40, 90)) * 10)
            calls = [
                (first, Sampling(max_tokens=9, seed=1)),
                ([huge], Sampling(max_tokens=9, seed=2)),
                (second, Sampling(max_tokens=9, seed=3)),
                ([Prompt(())], Sampling(max_tokens=9, seed=4)),
            ]
            answers = await engine.generate_all(calls)
            assert [type(answer) for answer in answers[1::2]] == [PromptTooLong, EngineError]
            for answer, call in ((answers[0], calls[0]), (answers[2], calls[2])):
                alone = await engine.generate(*call)
                assert [one.ids for one in answer] == [one.ids for one in alone]
                for one, other in zip(answer, alone, strict=True):
                    assert one.logprobs == pytest.approx(other.logprobs, abs=TOLERANCE)
        with pytest.raises(EngineUnavailable):
            raise (await engine.generate_all(calls[:1]))[0]

    run(work(), 60)


class Sluggish(Corridor):
    """Takes its time, a different one in every run."""

    def step(self, action: str) -> Any:
        time.sleep(random.random() * 0.004)
        return super().step(action)


def test_two_runs_with_one_seed_are_equal_to_the_bit() -> None:
    """However long environments take, and whatever the engine has been asked before."""
    pytest.importorskip("transformers")
    from tests.engines.running import opened
    from tests.engines.tiny_models import tiny_model

    async def numbers(asked_before: bool) -> Any:
        async with opened(tiny_model(), max_batch=8) as engine:
            agent = EAPOAgent(engine, Sampling(max_tokens=12), compact=True)
            config = TrainConfig.make(env="toy", group_size=4, parallel=6, max_tokens=12, deterministic=True)
            collector = Collector(config, agent, engine, make_env=lambda: explore(Sluggish(), 4))
            if asked_before:
                await engine.generate(prompts_of(engine, "look", "a"), Sampling(max_tokens=30, seed=9))
                await collector.collect(["train/key-in-1"], step=5)
            collected = await collector.collect(["train/key-in-0", "train/key-in-2"], step=0)
            await collector.close()
        return [
            [(step.prompt_ids, step.response_ids, step.response_logprobs) for step in attempt.transitions()]
            for _, attempts in collected.groups
            for attempt in attempts
        ]

    first = run(numbers(asked_before=False), 60)
    assert run(numbers(asked_before=False), 60) == first
    assert run(numbers(asked_before=True), 60) == first
    assert sum(map(len, first)) == 8 * 4
