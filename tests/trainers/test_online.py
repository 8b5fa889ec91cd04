"""Online rewards in a corridor where the value of every state under the scripted policy is known."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.engines.base import Sampling
from eapo_gym.trainers.batch import Batch, Floats, make_batch
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.online import online_rewards
from eapo_gym.trainers.rollout import Collected, Collector
from tests.agents.scripted import ScriptedEngine
from tests.toys import Corridor
from tests.trainers.policies import KEY_HERE, collector, idler, learner, say, section, solve, solver

GAMMA = 0.9


def valued(
    collecting: Collector, tasks: Sequence[str] = (KEY_HERE,), on_progress: Any = None, between: Any = None
) -> tuple[Batch, Floats, Collected]:
    async def work() -> tuple[Batch, Floats, Collected]:
        try:
            collected = await collecting.collect(tasks, 0)
            batch = make_batch(collected.groups)
            if between is not None:
                between(batch)
            rewards = await online_rewards(
                batch, collecting, collecting.config, collected=collected, on_progress=on_progress
            )
        finally:
            await collecting.close()
        return batch, rewards, collected

    return asyncio.run(asyncio.wait_for(work(), 90))


def of_first(batch: Batch, rewards: Floats) -> list[float]:
    return rewards[batch.trajectory == 0].tolist()


def powers(*exponents: int) -> Any:
    return pytest.approx([GAMMA**exponent for exponent in exponents])


def test_on_the_shortest_way_the_reward_is_the_discount_of_what_is_left() -> None:
    batch, rewards, collected = valued(collector(solver, online_rollouts=2))
    assert [step.action for step in batch.transitions[:4]] == ["take key", "right", "right", "unlock door"]
    assert of_first(batch, rewards) == powers(3, 2, 1, 0)
    # Rollouts of 3 + 2 + 1 steps onward, and of 4 + 3 + 2 from where the way back led, twice each.
    assert collected.counts.env_steps == 4 * (4 + 2 * (6 + 9))
    assert collected.counts.outcomes == {"solved": 4}  # of the attempts alone


def detour(prompt: str, sampling: Sampling, i: int) -> str:
    """Goes right first, and then looks about as long as it does not remember what is there."""
    state, memory = section(prompt, "state"), section(prompt, "memory")
    if not memory:
        return say("right", memory="went right")
    if memory == "went right":
        return say("look", memory="looked")
    return say(solve(state))


def test_going_back_with_what_was_seen_may_be_worth_more_than_going_on() -> None:
    batch, rewards, _ = valued(collector(detour, steps=20))
    assert [step.action for step in batch.transitions[:3]] == ["right", "look", "left"]
    # Onward from the first action: look, left, and the 4 steps of the way: γ·γ^5. Back, knowing room 1: γ²·γ^3.
    # The look left the state as it was, and there is no way back from it: γ·γ^4.
    assert of_first(batch, rewards) == powers(5, 5, 4, 3, 2, 1, 0)


def test_the_memory_of_who_comes_back_is_the_old_one_and_the_state_that_was_seen() -> None:
    memories: set[str] = set()

    def noting(prompt: str, sampling: Sampling, i: int) -> str:
        memories.add(section(prompt, "memory"))
        return detour(prompt, sampling, i)

    valued(collector(noting, steps=20, group_size=2))
    assert "You are in room 1. You see a lamp that is off." in memories
    assert "looked\nYou are in room 1. You see a lamp that is off. You hold the key." in memories


def lamp(prompt: str, sampling: Sampling, i: int) -> str:
    """Lights the lamp first, which nothing undoes, and looks at it for a while."""
    state, memory = section(prompt, "state"), section(prompt, "memory")
    if not memory:
        return say("light lamp", memory="1")
    return say("look", memory=f"{memory}1") if len(memory) < 4 else say(solve(state))


@pytest.mark.parametrize("restore", [False, True])
def test_where_nothing_undoes_an_action_only_a_restored_state_counts(restore: bool) -> None:
    batch, rewards, _ = valued(collector(lamp, steps=20, online_restore=restore))
    assert [step.action for step in batch.transitions[:5]] == ["light lamp", "look", "look", "look", "take key"]
    # γ·γ^6 onward; back in front of a dark lamp, with a memory that is long enough, γ²·γ^3.
    first = 5 if restore else 7
    assert of_first(batch, rewards) == powers(first, 6, 5, 4, 3, 2, 1, 0)


def test_rollouts_end_where_the_episode_would_have() -> None:
    batch, rewards, _ = valued(collector(solver, steps=4))
    assert of_first(batch, rewards) == powers(3, 2, 1, 0)  # onward there are steps enough, and after a way back not
    batch, rewards, collected = valued(collector(solver, steps=3, online_rollouts=3))
    assert of_first(batch, rewards) == [0.0, 0.0, 0.0]
    # Onward 2 + 1 steps; after a way back 1, and none.
    assert collected.counts.env_steps == 4 * (3 + 3 * (2 + 1 + 1))


def test_rollouts_are_no_longer_than_they_matter() -> None:
    _, rewards, collected = valued(
        collector(idler, steps=40, gamma_explore=0.5, online_rollouts=1, group_size=2), (KEY_HERE,)
    )
    assert not rewards.any()
    longest = math.ceil(math.log(0.01) / math.log(0.5))
    assert collected.counts.env_steps == 2 * (40 + sum(min(39 - t, longest) for t in range(40)))


def test_values_are_means_over_rollouts_that_draw_for_themselves() -> None:
    seeds: list[int | None] = []

    def half(prompt: str, sampling: Sampling, i: int) -> str:
        """Decides at its second step whether to go on, and sticks to it."""
        state, memory = section(prompt, "state"), section(prompt, "memory")
        seeds.append(sampling.seed)
        if memory == "" and "a key" in state:
            return say("take key", memory="took")
        mine = memory if memory in ("yes", "no") else ("yes", "no")[(sampling.seed or 0) // 7 % 2]
        return say(solve(state) if mine == "yes" else "look", memory=mine)

    batch, rewards, _ = valued(collector(half, steps=10, online_rollouts=10, group_size=8))
    firsts = np.array([rewards[batch.trajectory == i][0] for i in range(8)])
    wins = firsts / GAMMA**3 * 10
    assert len(set(np.round(firsts, 6))) > 1
    # Each of them is a share of ten, of one arm or of the other.
    assert all(
        min(abs(win - round(win)), abs(first / GAMMA**5 * 10 - round(first / GAMMA**5 * 10))) < 1e-9
        for win, first in zip(wins, firsts, strict=True)
    )
    assert 0.2 < np.mean(wins) / 10 < 0.9
    assert len(set(seeds)) > 0.99 * len(seeds)
    again, repeated, _ = valued(collector(half, steps=10, online_rollouts=10, group_size=8, parallel=2))
    assert repeated.tolist() == rewards.tolist()
    assert len(again) == len(batch)


def test_reflections_explore_nothing_and_later_episodes_know_them() -> None:
    batch, rewards, _ = valued(collector(learner, steps=5, episodes_per_trajectory=2, group_size=2, online_rollouts=1))
    assert batch.reflection[batch.trajectory == 0].tolist() == [False] * 5 + [True] + [False] * 4
    assert of_first(batch, rewards)[:6] == [0.0] * 6
    assert of_first(batch, rewards)[6:] == powers(3, 2, 1, 0)


class Forgetful(Corridor):
    """Another corridor each time."""

    resets = 0
    mine = 0

    def reset(self, **options: Any) -> Any:
        Forgetful.resets += 1
        self.mine = Forgetful.resets
        return super().reset(**options)

    def fingerprint(self) -> str:
        return f"{self.mine} {super().fingerprint()}"


def test_an_environment_that_does_not_repeat_itself_is_named() -> None:
    with pytest.warns(UserWarning, match="6 of 8 transitions .* repeats itself"):
        batch, rewards, collected = valued(collector(solver, lambda: Forgetful(rooms=3), group_size=2))
    assert of_first(batch, rewards) == [0.0, 0.0, 0.0, 1.0]
    assert any("NotRepeatable" in said for said in collected.counts.problems)


class Fragile(Corridor):
    """Breaks at every look, and, once it is `worn`, when the door is unlocked."""

    worn = False

    def step(self, action: str) -> Any:
        if action == "look" or (self.worn and action == "unlock door"):
            raise RuntimeError("It broke.")
        return super().step(action)


def test_rollouts_that_break_count_for_nothing() -> None:
    def breaks_when_back(prompt: str, sampling: Sampling, i: int) -> str:
        return say("look" if section(prompt, "memory") else solve(section(prompt, "state"), 2))

    collecting = collector(breaks_when_back, lambda: Fragile(rooms=2), group_size=2)
    batch, rewards, collected = valued(collecting)
    assert of_first(batch, rewards) == powers(2, 1, 0)
    assert collected.counts.outcomes == {"solved": 2}


def test_a_transition_without_any_rollout_keeps_its_own_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    def wear(_: Any) -> None:
        monkeypatch.setattr(Fragile, "worn", True)

    collecting = collector(lambda prompt, *_: say(solve(section(prompt, "state"), 2)), lambda: Fragile(rooms=2))
    with pytest.warns(UserWarning, match="8 of 12 transitions .* No rollout came to an end"):
        batch, rewards, _ = valued(collecting, between=wear)
    assert of_first(batch, rewards) == [0.0, 0.0, 1.0]


def test_an_agent_with_a_history_is_refused() -> None:
    engine = ScriptedEngine(solver)
    config = TrainConfig.make(env="toy", group_size=2)
    collecting = Collector(config, EAPOAgent(engine, with_history=True), engine, make_env=Corridor)
    with pytest.raises(BadConfig, match="with_history"):
        asyncio.run(online_rewards(make_batch([]), collecting, config))


def test_progress_is_told_by_transition() -> None:
    told: list[Any] = []
    batch, _, _ = valued(collector(solver, group_size=2), on_progress=told.append)
    assert (told[-1].planned, told[-1].done) == (len(batch), len(batch))


def test_a_real_model_in_alfworld_repeats_itself() -> None:
    pytest.importorskip("transformers")
    from tests.engines.running import opened
    from tests.engines.tiny_models import tiny_model

    async def work() -> tuple[list[float], int]:
        async with opened(tiny_model()) as engine:
            agent = EAPOAgent(engine, Sampling(max_tokens=10), env="eapo/ALFWorld-v0", compact=True)
            config = TrainConfig.make(group_size=2, max_steps=3, max_tokens=10, online_rollouts=1, deterministic=True)
            collecting = Collector(config, agent, engine)
            tasks = collecting._open_env().unwrapped.tasks()[:1]  # type: ignore[attr-defined]
            collected = await collecting.collect(tasks, 0)
            rewards = await online_rewards(make_batch(collected.groups), collecting, config, collected=collected)
            await collecting.close()
            return rewards.tolist(), collected.counts.env_steps

    first = asyncio.run(asyncio.wait_for(work(), 60))
    assert first == asyncio.run(asyncio.wait_for(work(), 60))
    assert first[1] >= 2 * (3 + 2 + 1)
