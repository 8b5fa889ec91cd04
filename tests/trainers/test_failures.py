from __future__ import annotations

import asyncio
import errno
import logging
import math
from pathlib import Path

import pytest

from eapo_gym.bench.records import Outcome
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.errors import EapoError
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.failures import (
    BadUpdates,
    DiskFull,
    EngineDied,
    NotFinite,
    NothingPlayed,
    OutOfMemory,
    RunEnded,
    SuccessWatch,
    free_bytes,
    is_disk_full,
    naming_memory,
    require_episodes,
    survive_engine,
)

NAN, INF = float("nan"), float("inf")


def config(**values: object) -> TrainConfig:
    return TrainConfig.make(**{"algorithm": "eapo", **values})


@pytest.mark.parametrize("kind", [DiskFull, NotFinite, EngineDied, NothingPlayed, OutOfMemory])
def test_each_is_an_error_of_the_suite_that_ends_a_run(kind: type[Exception]) -> None:
    assert issubclass(kind, RunEnded)
    assert issubclass(kind, EapoError)


# The disk


def test_a_full_disk_says_how_much_is_needed_and_what_is_kept() -> None:
    said = str(DiskFull.of("the checkpoint of step 20", 3_400_000_000, 12_000_000, "runs/a/step-000010"))
    for part in ("3.4 GB", "12.0 MB", "step-000010", "keep_last", "Start the same command again"):
        assert part in said
    assert "There is none yet" in str(DiskFull.of("it", 10, 5, None))


def test_no_room_is_told_from_other_errors(tmp_path: Path) -> None:
    assert is_disk_full(OSError(errno.ENOSPC, "no space"))
    assert is_disk_full(OSError(errno.EDQUOT, "quota"))
    assert not is_disk_full(OSError(errno.EIO, "broken"))
    assert free_bytes(tmp_path / "not" / "there") > 0


# Numbers


def test_updates_that_are_not_finite_are_counted_and_end_the_run_when_too_many_follow_each_other() -> None:
    updates = BadUpdates(config(max_bad_updates=3, learning_rate=0.002))
    assert [updates.note(norm) for norm in (1.0, NAN, INF, 0.5, -INF, NAN)] == [True, False, False, True, False, False]
    assert (updates.skipped, updates.in_a_row) == (4, 2)
    with pytest.raises(
        NotFinite, match=r"gradient of the policy .* 3 times in a row.*Lower learning_rate \(it is 0.002\)"
    ):
        updates.note(NAN)


def test_the_reward_model_has_its_own_rate() -> None:
    with pytest.raises(NotFinite, match=r"the reward model .* once.*Lower q_learning_rate \(it is 0.25\)"):
        BadUpdates(config(max_bad_updates=1, q_learning_rate=0.25), "q").note(NAN)


def test_precision_is_named_where_it_can_be_raised() -> None:
    for precision, named in (("bf16", True), ("auto", True), ("fp32", False)):
        with pytest.raises(NotFinite) as caught:
            BadUpdates(config(max_bad_updates=1, precision=precision)).note(NAN)
        assert ("set precision to fp32" in str(caught.value)) is named


@pytest.mark.parametrize("cut", range(6))
def test_a_run_that_is_taken_up_stops_where_the_uninterrupted_one_would(cut: int) -> None:
    norms = [1.0, NAN, 1.0, NAN, NAN, 1.0]
    whole, parts = BadUpdates(config()), BadUpdates(config())
    for norm in norms:
        whole.note(norm)
    for norm in norms[:cut]:
        parts.note(norm)
    state, parts = parts.state(), BadUpdates(config())
    parts.load_state(state)
    for norm in norms[cut:]:
        parts.note(norm)
    assert parts.state() == whole.state()


# Engines


class Dying:
    """Work whose engine dies so many times."""

    def __init__(self, deaths: int) -> None:
        self.deaths, self.calls, self.opened = deaths, 0, 0

    async def work(self) -> str:
        self.calls += 1
        await asyncio.sleep(0)
        if self.calls <= self.deaths:
            raise EngineUnavailable(f"The engine is gone ({self.calls}).")
        return "played"

    async def reopen(self) -> None:
        self.opened += 1


@pytest.mark.parametrize("deaths", [0, 1])
def test_an_engine_that_dies_once_is_reopened(deaths: int, caplog: pytest.LogCaptureFixture) -> None:
    engine = Dying(deaths)
    with caplog.at_level(logging.WARNING):
        assert asyncio.run(survive_engine(engine.work, engine.reopen, 7)) == "played"
    assert (engine.calls, engine.opened) == (deaths + 1, deaths)
    assert ("died in step 7" in caplog.text) is bool(deaths)


def test_an_engine_that_dies_twice_ends_the_run() -> None:
    engine = Dying(2)
    with pytest.raises(
        EngineDied, match=r"step 7: first The engine is gone \(1\); when reopened The engine is gone \(2\)"
    ):
        asyncio.run(survive_engine(engine.work, engine.reopen, 7))
    assert engine.opened == 1


def test_an_engine_that_cannot_be_reopened_ends_the_run() -> None:
    engine = Dying(1)

    async def reopen() -> None:
        raise EngineUnavailable("No memory for it.")

    with pytest.raises(EngineDied, match="No memory for it"):
        asyncio.run(survive_engine(engine.work, reopen, 7))


def test_other_errors_are_not_the_engines() -> None:
    async def work() -> None:
        raise ValueError("mine")

    async def reopen() -> None:
        raise AssertionError("nothing to reopen")

    with pytest.raises(ValueError, match="mine"):
        asyncio.run(survive_engine(work, reopen, 1))


# Episodes


def test_one_episode_that_was_played_is_enough() -> None:
    require_episodes([("infrastructure", "x"), ("timeout", "y"), ("steps", "")], 3)
    require_episodes([("solved", "")], 3)


def test_a_step_of_failures_ends_the_run_with_the_commonest_error() -> None:
    ended: list[tuple[Outcome, str]] = [
        ("timeout", "slow"),
        ("infrastructure", "reset: port 4001 is taken."),
        ("timeout", "slow"),
        ("infrastructure", "reset: port 4002 is taken."),
        ("infrastructure", "reset: port 4003 is taken."),
    ]
    with pytest.raises(NothingPlayed, match=r"All 5 episodes of step 3 failed; most often \(3 of them\).*port 4001"):
        require_episodes(ended, 3)


def test_hanging_environments_name_the_limits() -> None:
    with pytest.raises(NothingPlayed, match="Raise episode_timeout, step_timeout or response_timeout"):
        require_episodes([("timeout", "it took longer than its 5 s")], 3)


def test_prompts_that_are_too_long_need_another_run() -> None:
    with pytest.raises(
        NothingPlayed, match=r"too long, begin a new run in another folder, .*; otherwise mend it\. Start"
    ):
        require_episodes([("agent", "the prompt takes 600 tokens, and its budget is 512")], 3)


def test_no_episode_at_all_is_an_error() -> None:
    with pytest.raises(NothingPlayed, match="no episode in step 3"):
        require_episodes([], 3)


def test_long_errors_are_told_in_one_line() -> None:
    with pytest.raises(NothingPlayed) as caught:
        require_episodes([("infrastructure", "line\n" * 1000)], 3)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_no_success_is_warned_of_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    watch = SuccessWatch(patience=3)
    successes = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    with caplog.at_level(logging.WARNING):
        warned = [step for step, count in enumerate(successes, 1) if watch.note(count, step)]
    assert warned == [3, 6, 11]
    assert "sft_data" in caplog.text
    assert watch.without == 3


def test_of_several_processes_one_warns(caplog: pytest.LogCaptureFixture) -> None:
    watch = SuccessWatch(patience=1)
    with caplog.at_level(logging.WARNING):
        assert not watch.note(0, 1, aloud=False)
    assert not caplog.text
    assert watch.without == 1, "it counts all the same: what it knows is kept with a checkpoint"


# Memory


def test_memory_names_what_to_lower() -> None:
    with (
        pytest.raises(
            OutOfMemory, match=r"to train.*microbatch_tokens \(it is 4096\).*gradient_checkpointing.*group_size"
        ),
        naming_memory(config(microbatch_tokens=4096), "update"),
    ):
        raise MemoryError
    with (
        pytest.raises(OutOfMemory) as caught,
        naming_memory(config(gradient_checkpointing=True, tuning="full"), "update"),
    ):
        raise MemoryError
    assert "gradient_checkpointing" not in str(caught.value)
    assert "tuning=lora" in str(caught.value)
    with pytest.raises(OutOfMemory, match=r"parallel \(it is 256\)"), naming_memory(config(), "rollout"):
        raise MemoryError


def test_memory_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'eapo-gym[train]'")
    with pytest.raises(OutOfMemory, match="not enough memory"), naming_memory(config(), "score"):
        torch.empty(1 << 55, dtype=torch.uint8)
    with pytest.raises(OutOfMemory, match="CUDA out of memory"), naming_memory(config(), "score"):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")


def test_what_has_enough_memory_fails_as_it_does() -> None:
    with pytest.raises(RuntimeError, match="shapes") as caught, naming_memory(config(), "update"):
        raise RuntimeError("shapes do not go together")
    assert not isinstance(caught.value, RunEnded)
    with pytest.raises(OutOfMemory) as once, naming_memory(config(), "update"), naming_memory(config(), "rollout"):
        raise MemoryError
    assert "to sample responses" in str(once.value)  # the inner one knows better
    assert math.isfinite(len(str(once.value)))
