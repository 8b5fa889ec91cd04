"""What can go wrong in a run, and what the run does about it: see `eapo_gym.trainers.failures`."""

from __future__ import annotations

import math
import resource
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from eapo_gym.engines.transformers import TransformersEngine  # noqa: E402
from eapo_gym.loggers import read_metrics  # noqa: E402
from eapo_gym.trainers import learning  # noqa: E402
from eapo_gym.trainers.checkpoint import Checkpoints  # noqa: E402
from eapo_gym.trainers.config import TrainConfig  # noqa: E402
from eapo_gym.trainers.failures import DiskFull, EngineDied, NotFinite, NothingPlayed, OutOfMemory  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from eapo_gym.trainers.train import Progress, train  # noqa: E402
from tests.bench.players import explore  # noqa: E402
from tests.toys import Corridor  # noqa: E402
from tests.trainers.short_runs import ROOMS, metrics, same_weights, settings, write_data  # noqa: E402


def usual() -> TrainConfig:
    """Another task in each step."""
    return settings(tasks_per_step=1, group_size=6)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to which nothing happens."""
    return train(usual(), tmp_path_factory.mktemp("whole")).folder


def same_run(one: Path, other: Path) -> None:
    assert metrics(one) == metrics(other)
    assert same_weights(one / "model", other / "model")


# The disk


@pytest.mark.parametrize("at", ["save", "export"])
def test_a_full_disk_ends_the_run_and_what_was_saved_is_whole(at: str, whole: Path, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(now: Progress) -> None:
        if at == "save" and now.doing == "save" and now.step == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, hard))

    export = Policy.export

    def full(self: Policy, folder: Any) -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, hard))
        return export(self, folder)

    with pytest.MonkeyPatch.context() as patch:
        if at == "export":
            patch.setattr(Policy, "export", full)
        try:
            with pytest.raises(DiskFull, match=r"The disk is full.*Start the same command again"):
                train(usual(), tmp_path, on_progress=fill)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    found = Checkpoints(tmp_path / "checkpoints", 1).latest()
    assert found is not None
    assert found.step == (1 if at == "save" else 2)
    train(usual(), tmp_path)
    same_run(tmp_path, whole)


# Numbers


def test_a_loss_that_is_not_a_number_is_skipped_and_too_many_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = learning.policy_loss
    monkeypatch.setattr(
        learning, "policy_loss", lambda *args, **rest: ((found := good(*args, **rest))[0] * broken, found[1])
    )
    config = settings(steps=4, eval_every=0, max_bad_updates=3, algorithm="grpo", keep_last=4)
    broken = 1.0

    def from_the_second(now: Progress) -> None:
        nonlocal broken
        broken = math.nan if now.step > 1 else 1.0

    with pytest.raises(NotFinite, match=r"The gradient of the policy was not finite .* 3 times in a row"):
        train(config, tmp_path, on_progress=from_the_second)
    rows = read_metrics(tmp_path)
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert [row["failures/skipped_updates"] for row in rows[1:]] == [0, 1, 2]
    checkpoints = Checkpoints(tmp_path / "checkpoints", 4)
    states = [checkpoints.load(tmp_path / "checkpoints" / f"step-{step:06d}") for step in (1, 3)]
    first, last = (state["policy"]["policy"]["weights"] for state in states)
    assert all(torch.equal(first[name], last[name]) for name in first)

    broken = 1.0
    train(config, tmp_path)  # whatever it was that is mended
    assert read_metrics(tmp_path)[-1]["failures/skipped_updates"] == 2


# Engines


def dying(patch: pytest.MonkeyPatch, *calls: int) -> list[TransformersEngine]:
    """An engine that ends at the n-th turn, counted over all that are opened; returns those that have ended."""
    ended: list[TransformersEngine] = []
    generate, count = TransformersEngine.generate_all, 0

    async def generate_all(self: TransformersEngine, requests: Any) -> Any:
        nonlocal count
        count += 1
        if count in calls:
            ended.append(self)
            await self.close()
        return await generate(self, requests)

    patch.setattr(TransformersEngine, "generate_all", generate_all)
    return ended


@pytest.mark.parametrize("turn", [2, 8, 14])
def test_an_engine_that_dies_is_opened_again_and_nothing_is_lost(
    turn: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In the evaluation before the first step, or in a step."""
    ended = dying(monkeypatch, turn)
    train(usual(), tmp_path)
    assert len(ended) == 1
    assert "The engine died in step" in caplog.text
    same_run(tmp_path, whole)


def test_an_engine_that_dies_twice_in_a_step_ends_the_run_and_it_goes_on_later(whole: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        dying(patch, 7, 8)
        with pytest.raises(EngineDied, match="The engine died twice in step 1"):
            train(usual(), tmp_path)
    train(usual(), tmp_path)
    same_run(tmp_path, whole)


def test_an_engine_that_dies_while_the_policy_learns_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One that has a copy of the weights, and is to have the new ones."""
    config = replace(usual(), sampler="transformers")
    train(config, tmp_path / "whole")
    syncs, sync = 0, Policy.sync

    async def dies_once(self: Policy, engine: TransformersEngine) -> None:
        nonlocal syncs
        syncs += 1
        if syncs == 2:
            await engine.close()
        await sync(self, engine)

    monkeypatch.setattr(Policy, "sync", dies_once)
    train(config, tmp_path / "died")
    assert "The engine died in step" in caplog.text
    same_run(tmp_path / "died", tmp_path / "whole")


def test_an_engine_that_dies_while_rewards_are_played_for_begins_the_step_again(tmp_path: Path) -> None:
    config = settings(algorithm="eapo-online", eval_every=0, steps=1, tasks_per_step=1)
    train(config, tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        # After five turns of the episodes themselves.
        ended = dying(patch, 8)
        train(config, tmp_path / "died")
    assert ended
    same_run(tmp_path / "died", tmp_path / "whole")


# Environments


class Faulty(Corridor):
    """Hangs or crashes at the n-th step, counted over all environments."""

    steps, hangs_at, crashes_at = 0, 0, 0
    gate = threading.Event()

    def step(self, action: str) -> Any:
        Faulty.steps += 1
        if Faulty.steps == self.hangs_at:
            self.gate.wait(60)
        if Faulty.steps == self.crashes_at:
            raise RuntimeError("the simulator has crashed")
        return super().step(action)


class Gone(Corridor):
    def reset(self, **_: Any) -> Any:
        raise ConnectionError(f"no simulator at port {id(self) % 10_000}")


def test_an_environment_that_hangs_costs_its_own_episode_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Faulty, "hangs_at", 10)
    monkeypatch.setattr(Faulty, "steps", 0)
    config = settings(eval_every=0, step_timeout=4.0)
    train(config, tmp_path, make_env=lambda: explore(Faulty(rooms=ROOMS), 5))
    Faulty.gate.set()
    first, second = read_metrics(tmp_path)[1:]
    assert (first["failures/timeout"], first["failures/dropped"], first["train/episodes"]) == (1, 1, 8)
    assert (second["failures/timeout"], second["failures/dropped"]) == (0, 0)
    assert first["policy/grad_norm"] > 0


def test_an_environment_that_crashes_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Faulty, "crashes_at", 10)
    monkeypatch.setattr(Faulty, "steps", 0)
    train(settings(eval_every=0, steps=1), tmp_path, make_env=lambda: explore(Faulty(rooms=ROOMS), 5))
    row = read_metrics(tmp_path)[-1]
    assert (row["failures/retries"], row["failures/infrastructure"], row["failures/dropped"]) == (1, 0, 0)


def test_without_any_episode_the_run_ends_with_the_commonest_error(tmp_path: Path) -> None:
    with pytest.raises(NothingPlayed, match=r"All 8 episodes of step 1 failed; .*no simulator at port \d+\..*Mend it"):
        train(settings(eval_every=0, retries=0), tmp_path, make_env=lambda: explore(Gone(rooms=ROOMS), 5))
    # Once it is mended the same command goes on.
    train(settings(eval_every=0, retries=1, steps=1), tmp_path)


# Memory


def test_too_little_memory_names_the_settings_to_lower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    config = settings(eval_every=0, algorithm="grpo", sft_data=(write_data(tmp_path),), sft_max_steps=1)
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(learning, "policy_loss", full)
        with pytest.raises(OutOfMemory, match=r"Lower microbatch_tokens \(it is 2048\), or set gradient_checkpointing"):
            train(config, out)
    tuned = read_metrics(out / "sft")
    # Both may be changed in a run that goes on.
    train(replace(config, microbatch_tokens=512, gradient_checkpointing=True), out)
    assert read_metrics(out)[-1]["step"] == 2
    assert read_metrics(out / "sft") == tuned


def test_too_little_memory_for_what_samples_names_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine with a copy of the weights, when it is to have those of the first step."""
    load_adapter, calls = TransformersEngine.load_adapter, 0

    async def full(self: TransformersEngine, *args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        await load_adapter(self, *args)

    monkeypatch.setattr(TransformersEngine, "load_adapter", full)
    config = settings(eval_every=0, algorithm="grpo", sampler="transformers", steps=1)
    with pytest.raises(OutOfMemory, match=r"not enough memory to sample responses\. Lower parallel \(it is 256\)"):
        train(config, tmp_path)
    train(replace(config, parallel=4), tmp_path)
