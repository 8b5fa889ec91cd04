"""A run that is killed at any moment, and taken up, ends as one that was not: the same weights, to the bit.

What a killed process leaves is the files as they are at that moment. So a run is watched, its folder is copied at many
moments, and each copy is taken up. Once more, and slowly, with processes that are really killed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from eapo_gym.bench import evaluate as evaluating  # noqa: E402
from eapo_gym.trainers import checkpoint, loading, publish  # noqa: E402
from eapo_gym.trainers import sft as fine_tuning  # noqa: E402
from eapo_gym.trainers.checkpoint import Checkpoints  # noqa: E402
from eapo_gym.trainers.config import TrainConfig  # noqa: E402
from eapo_gym.trainers.train import Progress, train  # noqa: E402
from tests.trainers import short_runs  # noqa: E402
from tests.trainers.short_runs import blank_model, metrics, same_weights, settings  # noqa: E402

ROOT = Path(__file__).parents[2]

RUN: dict[str, Any] = {
    "steps": 3, "eval_every": 2, "save_every": 1, "minibatches": 2, "epochs": 2, "tasks_per_step": 1, "sft_batch": 16,
    "sft_epochs": 2.0, "sft_learning_rate": 5e-3, "schedule": "linear", "warmup": 1,
}  # fmt: skip
"""With all that has a state: fine-tuning, q, tasks by turns, several updates a step, a schedule, evaluations."""


def same_run(one: Path, other: Path) -> None:
    assert metrics(one) == metrics(other)
    assert same_weights(one / "model", other / "model")
    done = [json.loads((run / "done.json").read_text()) for run in (one, other)]
    kept = [{n: v for n, v in each["metrics"].items() if n in ("env_steps", "eval/success")} for each in done]
    assert kept[0] == kept[1]
    assert done[0]["steps"] == done[1]["steps"]
    left = [path.name for path in other.rglob(".*") if path.name not in (".lock", ".gitignore")]
    assert not left


class Watched:
    """A run, and its folder at moments of it."""

    def __init__(self, folder: Path, config: TrainConfig) -> None:
        self.config, self.whole, self.copies = config, folder / "whole", folder / "copies"
        self.moments: dict[str, Path] = {}
        with pytest.MonkeyPatch.context() as patch:
            self._before(
                patch, checkpoint, "_write_file", lambda path, _: f"saving {path.parent.name[1:12]} {path.name}"
            )
            self._before(patch, checkpoint, "_put_in_place", lambda draft, path: f"naming {path.name}")
            self._before(patch, evaluating._Evaluator, "_keep", lambda *_: "evaluating")
            self._before(patch, loading, "_copy_image_files", lambda _, draft: f"exporting {draft.name}")
            self._before(patch, publish, "_write", lambda path, _: f"exporting {path.name}")
            self._before(patch, fine_tuning._Run, "_update", lambda _, step: f"fine-tuning {step}")
            train(config, self.whole, on_progress=self._told)

    def _before(self, patch: pytest.MonkeyPatch, where: Any, name: str, called: Callable[..., str]) -> None:
        original = getattr(where, name)

        def and_copy(*args: Any) -> Any:
            self._copy(called(*args))
            return original(*args)

        patch.setattr(where, name, and_copy)

    def _told(self, now: Progress) -> None:
        self._copy(f"{now.doing} {now.step}")

    def _copy(self, moment: str) -> None:
        name = f"{len(self.moments):04d} {moment}"
        self.moments[name] = self.copies / name
        shutil.copytree(self.whole, self.copies / name)

    def of(self, *words: str) -> list[str]:
        return [name for name in self.moments if any(word in name for word in words)]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watched")
    return Watched(folder, settings(model=str(blank_model()), sft_data=(short_runs.write_data(folder),), **RUN))


KINDS = {
    "in the fine-tuning": ("fine-tuning", "saving step-000006", "exporting .model"),
    "in the first evaluation": ("evaluating",),
    "in a step": ("play", "learn", "log 1", "log 2"),
    "while it saves": ("saving step-000002", "saving step-000003", "naming"),
    "in the export": ("exporting ..model", "exporting README"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_wherever_it_was_killed_it_ends_as_if_it_had_not_been(kind: str, watched: Watched, tmp_path: Path) -> None:
    moment = random.choice(watched.of(*KINDS[kind]))
    print("killed at", moment)
    out = tmp_path / "run"
    shutil.copytree(watched.moments[moment], out)
    again = train(watched.config, out)
    same_run(watched.whole, out)
    assert again.metrics["eval/success"] == json.loads((out / "done.json").read_text())["metrics"]["eval/success"]


def test_a_run_that_is_taken_up_by_steps_is_the_run_at_once(watched: Watched, tmp_path: Path) -> None:
    """Killed again and again, each time a little later."""
    out = tmp_path / "run"
    shutil.copytree(watched.moments[watched.of("log 0")[0]], out)
    for step in (1, 2):

        def stop(now: Progress, step: int = step) -> None:
            if now.doing == "log" and now.step == step:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(watched.config, out, on_progress=stop)
        found = Checkpoints(out / "checkpoints", 1).latest()
        assert (found.step if found else 0) == step - 1  # what was logged and not saved is played again
    train(watched.config, out)
    same_run(watched.whole, out)


def test_another_engine_has_the_weights_of_the_checkpoint_when_it_goes_on(tmp_path: Path) -> None:
    for tuning in ("lora", "full"):
        config = settings(sampler="transformers", tuning=tuning, eval_every=0, algorithm="grpo", tasks_per_step=1)
        train(config, tmp_path / tuning / "whole")

        def stop(now: Progress) -> None:
            if now.doing == "play" and now.step == 2:
                raise KeyboardInterrupt

        out = tmp_path / tuning / "stopped"
        with pytest.raises(KeyboardInterrupt):
            train(config, out, on_progress=stop)
        train(config, out)
        same_run(tmp_path / tuning / "whole", out)


def test_a_run_goes_on_without_what_was_logged(tmp_path: Path) -> None:
    """A power cut may leave a checkpoint and not the file of metrics; a run that was done but for its end."""
    config = settings(eval_every=0, algorithm="grpo", tasks_per_step=1, steps=1)
    whole = train(config, tmp_path)
    (tmp_path / "done.json").unlink()
    (tmp_path / "metrics.jsonl").unlink()
    again = train(config, tmp_path)
    assert {name: repr(value) for name, value in again.metrics.items()} == {
        name: repr(value) for name, value in whole.metrics.items()
    }


@pytest.mark.parametrize("part", ["", "sft"])
def test_what_was_logged_is_on_the_disk_before_a_checkpoint_is(part: str, tmp_path: Path) -> None:
    metrics_file, synced = tmp_path / "run" / part / "metrics.jsonl", 0
    sync, write, saved = os.fsync, checkpoint._write_file, 0

    def and_note(file: int) -> None:
        nonlocal synced
        sync(file)
        if metrics_file.exists() and os.fstat(file).st_ino == metrics_file.stat().st_ino:
            synced = os.fstat(file).st_size

    def and_compare(path: Path, data: bytes) -> None:
        nonlocal saved
        if path.parents[2] == metrics_file.parent:
            saved += 1
            assert synced == metrics_file.stat().st_size > 0
        write(path, data)

    config = settings(
        eval_every=0, algorithm="grpo", tasks_per_step=1, sft_data=(short_runs.write_data(tmp_path),), sft_max_steps=2
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", and_note)
        patch.setattr(checkpoint, "_write_file", and_compare)
        train(config, tmp_path / "run")
    assert saved


# Processes that are really killed


def start(out: Path, log: Path, threads: int, **values: Any) -> subprocess.Popen[bytes]:
    """`eapo-gym train` in a process of its own."""
    command = [sys.executable, "-m", "eapo_gym.cli", "train", *short_runs.arguments(**values)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    with log.open("ab") as file:
        return subprocess.Popen(
            [*command, "--out", str(out), "--no-report"], cwd=ROOT, env=environment, stdout=file, stderr=file
        )


def kill_when(process: subprocess.Popen[bytes], is_time: Callable[[], bool], log: Path) -> bool:
    """Kill it with -9 when it is time; false if it had come to its end before."""
    try:
        for _ in range(12_000):
            if process.poll() is not None:
                assert process.returncode == 0, log.read_text()[-3000:]
                return False
            if is_time():
                return True
            time.sleep(0.01)
        raise AssertionError(f"It took too long. {log.read_text()[-3000:]}")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_ctrl_c_ends_the_fine_tuning_of_a_run(tmp_path: Path) -> None:
    data, out, log = short_runs.write_data(tmp_path), tmp_path / "run", tmp_path / "log"
    values = {"model": str(blank_model()), "sft_data": [data], **RUN, "sft_epochs": 100_000.0}
    process = start(out, log, 1, **values)
    while not (out / "sft" / "checkpoints" / "step-000002").exists():
        assert process.poll() is None, log.read_text()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.wait()
    assert log.read_text().endswith(f"Stopped. The same command goes on with {out}.\n")
    assert "Traceback" not in log.read_text()
    found = Checkpoints(out / "sft" / "checkpoints", 1).latest()
    assert found is not None
    assert found.step >= 2


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_processes_that_are_killed_at_random_moments(threads: int, tmp_path: Path) -> None:
    values = {"model": str(blank_model()), "sft_data": [short_runs.write_data(tmp_path)], **RUN, "steps": 6}
    log, whole, out = tmp_path / "log", tmp_path / "whole", tmp_path / "killed"
    kill_when(start(whole, log, threads, **values), lambda: False, log)
    # How far it has come is told by its files; a moment after one of them has come is any moment.
    milestones = [
        "config.json",
        "sft/checkpoints/step-*",
        "evals/*",
        "checkpoints/step-000002",
        "checkpoints/step-000004",
    ]
    for milestone in milestones[: 5 if threads == 1 else 3]:
        process, seen, pause = start(out, log, threads, **values), 0.0, random.uniform(0, 1.0)
        print(f"{pause:.3f} s after {milestone}")

        def is_time(milestone: str = milestone, pause: float = pause) -> bool:
            nonlocal seen
            if not seen and any(out.glob(milestone)):
                seen = time.monotonic()
            return bool(seen) and time.monotonic() - seen > pause

        if not kill_when(process, is_time, log):
            break
    kill_when(start(out, log, threads, **values), lambda: False, log)
    same_run(whole, out)
