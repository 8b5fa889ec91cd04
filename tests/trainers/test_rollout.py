"""Collecting: what is played, what is kept of it, and what is counted when something breaks."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.agents.pictures import PackedImages
from eapo_gym.engines.base import EngineError, EngineUnavailable, Prompt, PromptTooLong, Sampling, Unsupported
from eapo_gym.trainers.batch import Attempt, make_batch
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.lockstep import LockStep
from eapo_gym.trainers.measures import of_rollouts
from eapo_gym.trainers.rollout import Collected, Collector, is_deterministic
from tests.agents.scripted import ScriptedEngine
from tests.toys import Corridor
from tests.trainers.policies import (
    KEY_HERE,
    KEY_THERE,
    collector,
    config,
    gambler,
    idler,
    learner,
    say,
    section,
    solve,
    solver,
)


def collect(collecting: Collector, tasks: Sequence[str], step: int = 0, **options: Any) -> Collected:
    async def work() -> Collected:
        try:
            return await collecting.collect(tasks, step, **options)
        finally:
            await collecting.close()

    return asyncio.run(asyncio.wait_for(work(), 60))


def drawn(collected: Collected) -> list[Any]:
    """All that was done."""
    return [
        [[(step.action, step.memory) for step in attempt.transitions()] for attempt in attempts]
        for _, attempts in collected.groups
    ]


# A real model


@pytest.fixture(scope="module")
def alfworld() -> Any:
    pytest.importorskip("transformers")
    from tests.engines.running import TOLERANCE, opened
    from tests.engines.tiny_models import tiny_model

    async def work() -> Any:
        async with opened(tiny_model()) as engine:
            agent = EAPOAgent(engine, Sampling(max_tokens=20), env="eapo/ALFWorld-v0", compact=True)
            settings = TrainConfig.make(group_size=3, max_steps=4, max_tokens=20)
            collecting = Collector(settings, agent, engine)
            tasks = collecting._open_env().unwrapped.tasks()  # type: ignore[attr-defined]
            collected = await collecting.collect([tasks[0], tasks[5], tasks[0]], step=2)
            await collecting.close()
            transitions = make_batch(collected.groups).transitions
            scores = await engine.score(
                [Prompt(tuple(step.prompt_ids)) for step in transitions], [step.response_ids for step in transitions]
            )
        return tasks, collected, transitions, scores, TOLERANCE

    return asyncio.run(asyncio.wait_for(work(), 120))


def test_what_is_trained_on_is_what_was_sampled(alfworld: Any) -> None:
    _, collected, transitions, scores, tolerance = alfworld
    assert len(transitions) == 3 * 3 * 4 == collected.counts.env_steps
    for step, score in zip(transitions, scores, strict=True):
        assert 1 <= len(step.response_ids) <= 20
        np.testing.assert_allclose(step.response_logprobs, score, atol=tolerance)


def test_a_group_begins_in_one_state_and_its_members_draw_for_themselves(alfworld: Any) -> None:
    tasks, collected, transitions, _, _ = alfworld
    assert [task for task, _ in collected.groups] == [tasks[0], tasks[5], tasks[0]]
    for task, attempts in collected.groups:
        firsts = [attempt.transitions()[0] for attempt in attempts]
        assert len({first.fingerprint for first in firsts}) == 1
        assert {first.task for first in firsts} == {task}
        assert len({attempt.episodes[0].info["env_seed"] for attempt in attempts}) == 1
    assert len({tuple(step.response_ids) for step in transitions}) == len(transitions)  # no two drew alike
    assert len({step.trajectory for step in transitions}) == 9
    assert collected.counts.response_tokens == sum(len(step.response_ids) for step in transitions)
    assert collected.counts.outcomes == {"steps": 9}


# Seeds


def test_what_is_drawn_follows_from_seed_step_task_and_member() -> None:
    tasks = [KEY_HERE, KEY_THERE, KEY_HERE]
    first = drawn(collect(collector(gambler), tasks))
    assert drawn(collect(collector(gambler, parallel=1), tasks)) == first
    assert drawn(collect(collector(gambler), [KEY_THERE, KEY_HERE])) == [first[1], first[0]]
    assert first[0] != first[2]  # the same task drawn twice
    assert drawn(collect(collector(gambler), tasks, step=1)) != first
    assert drawn(collect(collector(gambler, seed=1), tasks)) != first
    other = collector(gambler)
    other.stream = 1  # of another process
    assert drawn(collect(other, tasks)) != first


def test_environments_are_used_again_and_no_more_than_parallel() -> None:
    made: list[Corridor] = []

    def make() -> Corridor:
        made.append(Corridor(rooms=3))
        return made[-1]

    async def work() -> None:
        collecting = collector(solver, make, parallel=3)
        for step in range(3):
            collected = await collecting.collect([KEY_HERE, KEY_HERE], step)
            assert collected.counts.outcomes == {"solved": 8}
        await collecting.close()

    asyncio.run(work())
    assert len(made) == 3


def test_progress_comes_to_its_end() -> None:
    told: list[Any] = []
    collect(collector(solver), [KEY_HERE], on_progress=told.append)
    assert (told[0].planned, told[0].done) == (4, 0)
    assert (told[-1].planned, told[-1].done, told[-1].successes, told[-1].steps) == (4, 4, 4, 16)


# What breaks


class Crashing(Corridor):
    """Lighting the lamp raises."""

    def step(self, action: str) -> Any:
        if action == "light lamp":
            raise RuntimeError("The lamp exploded.")
        return super().step(action)


class Hanging(Corridor):
    """Lighting the lamp takes until `gate` is set."""

    gate = threading.Event()

    def step(self, action: str) -> Any:
        if action == "light lamp":
            self.gate.wait(30)
        return super().step(action)


def one_lights_the_lamp() -> Any:
    """A policy of which one attempt lights the lamp at its first step, whatever its seed, and all others solve."""
    chosen: list[int | None] = []

    def reply(prompt: str, sampling: Sampling, i: int) -> str:
        state = section(prompt, "state")
        if "room 0" in state and "a key" in state and (not chosen or chosen[0] == sampling.seed):
            chosen.append(sampling.seed)
            return say("light lamp")
        return say(solve(state))

    return reply


def test_a_crash_costs_its_own_episode_and_is_counted() -> None:
    collected = collect(collector(one_lights_the_lamp(), Crashing, retries=2, steps=12), [KEY_HERE, "train/key-in-2"])
    counts = collected.counts
    assert [len(attempts) for _, attempts in collected.groups] == [3, 4]
    assert counts.outcomes["infrastructure"] == 1
    assert counts.episodes == 8
    assert (counts.dropped, counts.retries) == (1, 2)
    assert any("The lamp exploded." in said for said in counts.problems)
    [failed] = [error for outcome, error in counts.ended if outcome == "infrastructure"]
    assert failed == "step: RuntimeError: The lamp exploded."
    assert counts.env_steps == sum(len(attempt.transitions()) for _, group in collected.groups for attempt in group)


def test_a_group_of_which_nothing_remains_is_left_out() -> None:
    collected = collect(collector(lambda *_: say("light lamp"), Crashing, retries=0), [KEY_HERE])
    assert collected.groups == []
    assert collected.counts.outcomes == {"infrastructure": 4}
    assert len(make_batch(collected.groups)) == 0


@pytest.mark.parametrize("limit", [{"step_timeout": 0.2}, {"episode_timeout": 0.4, "step_timeout": None}])
def test_a_straggler_is_cut_off_and_its_seat_plays_on(limit: dict[str, Any]) -> None:
    Hanging.gate.clear()

    async def work() -> None:
        collecting = collector(one_lights_the_lamp(), lambda: Hanging(rooms=3), parallel=2, **limit)
        try:
            first = await collecting.collect([KEY_HERE], 0)
            second = await collecting.collect([KEY_HERE], 1)
        finally:
            Hanging.gate.set()
            await collecting.close()
        assert first.counts.outcomes == {"timeout": 1, "solved": 3}
        assert [len(attempts) for _, attempts in first.groups] == [3]
        assert second.counts.outcomes == {"solved": 4}

    asyncio.run(asyncio.wait_for(work(), 30))


def test_a_prompt_that_grew_too_long_is_the_policys_own_failure() -> None:
    class Short(ScriptedEngine):
        async def generate(self, prompts: Any, sampling: Any) -> Any:
            if "room 1" in section(prompts[0].messages[0].text, "state"):
                raise PromptTooLong("No room.")
            return await super().generate(prompts, sampling)

    collected = collect(collector(Short(solver)), [KEY_HERE])
    [(_, attempts)] = collected.groups
    assert collected.counts.outcomes == {"agent": 4}
    assert [[step.action for step in attempt.transitions()] for attempt in attempts] == [["take key", "right"]] * 4
    assert not any(attempt.success for attempt in attempts)


def test_an_engine_that_dies_ends_the_step() -> None:
    class Dying(ScriptedEngine):
        async def generate(self, prompts: Any, sampling: Any) -> Any:
            if len(self.generated) >= 5:
                raise EngineUnavailable("The engine stopped at an error of its own.")
            return await super().generate(prompts, sampling)

    async def work() -> None:
        before = asyncio.all_tasks()
        collecting = collector(Dying(solver))
        with pytest.raises(EngineUnavailable, match="stopped at an error"):
            await collecting.collect([KEY_HERE, KEY_HERE], 0)
        await collecting.close()
        assert asyncio.all_tasks() == before

    asyncio.run(asyncio.wait_for(work(), 30))


def test_what_cannot_be_trained_on_is_refused() -> None:
    engine = ScriptedEngine()
    with pytest.raises(BadConfig, match="top_p"):
        Collector(config(), EAPOAgent(engine, Sampling(top_p=0.9)), engine)
    blind = ScriptedEngine(tokenizer=False)
    with pytest.raises(Unsupported, match="log-probs"):
        Collector(config(), EAPOAgent(blind), blind)


def test_who_is_deterministic() -> None:
    class OnCPU(ScriptedEngine):
        def stamp(self) -> dict[str, Any]:
            return {**super().stamp(), "device": "cpu"}

    assert is_deterministic(config(), OnCPU())
    assert not is_deterministic(config(), ScriptedEngine())
    assert not is_deterministic(config(deterministic=False), OnCPU())
    assert isinstance(collector(ScriptedEngine(), deterministic=True).engine, LockStep)


# Dynamic sampling


def differ(attempts: Sequence[Attempt]) -> bool:
    return len({attempt.success for attempt in attempts}) > 1


def half_solves(prompt: str, sampling: Sampling, i: int) -> str:
    """Of the task with the key in the first room every other attempt is solved, of others none."""
    state, memory = section(prompt, "state"), section(prompt, "memory")
    assert sampling.seed is not None
    mine = memory or ("solve" if sampling.seed % 2 and "a key" in state else "idle")
    return say(solve(state) if mine == "solve" else "look", memory=mine)


def dynamic(reply: Any, tasks: Sequence[str], **values: Any) -> tuple[Collected, list[int]]:
    asked: list[int] = []
    source = iter(tasks)

    def draw(count: int) -> list[str]:
        asked.append(count)
        return [next(source) for _ in range(count)]

    async def work() -> Collected:
        collecting = collector(reply, dynamic_sampling=True, group_size=6, **values)
        try:
            return await collecting.collect_dynamic(draw, 0, differ)
        finally:
            await collecting.close()

    return asyncio.run(asyncio.wait_for(work(), 60)), asked


def test_tasks_that_teach_nothing_are_drawn_again() -> None:
    collected, asked = dynamic(half_solves, [KEY_HERE, KEY_THERE, KEY_THERE, KEY_HERE, KEY_HERE])
    assert asked == [2, 1, 1]
    assert [task for task, _ in collected.groups] == [KEY_HERE, KEY_HERE]
    assert (collected.rounds, collected.uninformative) == (3, 2)
    assert collected.counts.episodes == 4 * 6
    kept = sum(len(attempt.transitions()) for _, group in collected.groups for attempt in group)
    assert collected.counts.env_steps == kept + 2 * 6 * 8  # those that were thrown away have cost as well
    first, second = drawn(collected)
    assert first != second  # the task that was drawn again is played anew
    # What was played is measured, and not what was kept of it.
    measured = of_rollouts(collected, make_batch(collected.groups), 1.0)
    solved = sum(attempt.success for _, group in collected.groups for attempt in group)
    assert 0 < solved < 12
    assert measured["train/success"] == solved / 24
    assert measured["train/steps"] == (kept + 2 * 6 * 8) / 24


def test_dynamic_sampling_goes_on_with_what_there_is() -> None:
    collected, asked = dynamic(half_solves, [KEY_THERE, KEY_HERE] + [KEY_THERE] * 9, dynamic_rounds=2)
    assert asked == [2, 1]
    assert [task for task, _ in collected.groups] == [KEY_HERE]
    with pytest.warns(UserWarning, match="no task in 3 rounds"):
        collected, asked = dynamic(idler, [KEY_HERE] * 9)
    assert asked == [2, 2, 2]
    assert len(collected.groups) == 2
    assert collected.uninformative == 4


# Episodes in sequence


def test_reflections_carry_over_and_the_first_success_is_the_last_episode() -> None:
    engine = ScriptedEngine(learner)
    collected = collect(collector(engine, steps=5, episodes_per_trajectory=4, group_size=2), [KEY_HERE])
    [(task, attempts)] = collected.groups
    for attempt in attempts:
        assert [len(episode) for episode in attempt.episodes] == [5, 4]
        assert attempt.success
        assert len({episode.transitions[0].fingerprint for episode in attempt.episodes}) == 1
        [reflection] = attempt.reflections
        assert engine.decode(reflection.response_ids) == "Take the key first. </past_reflections>"
        assert len(reflection.response_logprobs) == len(reflection.response_ids)
        assert "<past_state>" in engine.decode(reflection.prompt_ids)
        assert (reflection.action, reflection.fingerprint, reflection.t) == (None, "after episode 1", 5)
        prompt = engine.decode(attempt.episodes[1].transitions[0].prompt_ids)
        assert "After episode 1: Take the key first. &#60;/past_reflections>" in prompt
    assert collected.counts.outcomes == {"steps": 2, "solved": 2}
    batch = make_batch(collected.groups)
    assert batch.reflection.tolist() == ([False] * 5 + [True] + [False] * 4) * 2
    assert batch.episode.tolist() == ([0] * 6 + [1] * 4) * 2
    assert len({tuple(step.trajectory for step in attempt.transitions()) for attempt in attempts}) == 2
    assert batch.tasks == [task]


def test_an_attempt_that_never_succeeds_has_all_its_episodes() -> None:
    collected = collect(collector(idler, steps=3, episodes_per_trajectory=3, group_size=2), [KEY_HERE])
    for _, attempts in collected.groups:
        assert [(len(attempt.episodes), len(attempt.reflections)) for attempt in attempts] == [(3, 2)] * 2
    seeds = Counter(step.trajectory for step in make_batch(collected.groups).transitions)
    assert len(seeds) == 6


def test_an_attempt_ends_before_an_episode_that_was_cut_off() -> None:
    def explodes_later(prompt: str, sampling: Sampling, i: int) -> str:
        return say("light lamp" if "After episode 2" in prompt else "look")

    policy = collector(explodes_later, Crashing, steps=3, episodes_per_trajectory=4, group_size=2, retries=0)
    collected = collect(policy, [KEY_HERE])
    for _, attempts in collected.groups:
        assert [(len(attempt.episodes), len(attempt.reflections)) for attempt in attempts] == [(2, 1)] * 2
    assert collected.counts.outcomes == {"steps": 4, "infrastructure": 2}
    assert collected.counts.dropped == 0


def test_a_reflection_that_fails_ends_its_attempt_only() -> None:
    class Mute(ScriptedEngine):
        async def generate(self, prompts: Any, sampling: Any) -> Any:
            if "goal was not reached" in prompts[0].messages[0].text:
                raise EngineError("No answer.")
            return await super().generate(prompts, sampling)

    collected = collect(collector(Mute(idler), steps=3, episodes_per_trajectory=3), [KEY_HERE])
    [(_, attempts)] = collected.groups
    assert [(len(attempt.episodes), attempt.reflections) for attempt in attempts] == [(1, ())] * 4
    assert collected.counts.problems["reflection: No answer."] == 4


def test_images_of_prompts_are_kept_for_training() -> None:
    from eapo_gym.agents.prompts import Guide
    from tests.bench.players import explore
    from tests.toys_gui import EXAMPLES, Pages

    engine = ScriptedEngine(lambda *_: say(EXAMPLES[0]), images=True)
    agent = EAPOAgent(engine, Sampling(max_tokens=64), guide=Guide("r", ()))
    collecting = Collector(config(group_size=2), agent, engine, make_env=lambda: explore(Pages(), 2))
    task = Pages().tasks()[0]
    collected = collect(collecting, [task])
    for step in make_batch(collected.groups).transitions:
        assert len(step.images) >= 1
        assert isinstance(step.images, PackedImages), "thousands of them wait until they are trained on"
        assert step.elements == "0: On\n1: Off", "the reward model is to see what the policy saw"
    assert not agent.keeps_images  # the agent that was handed in is as it was
