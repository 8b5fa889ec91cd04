from __future__ import annotations

import functools
import json
import logging
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'eapo-gym[train]'")
pytest.importorskip("safetensors", reason="needs safetensors: pip install 'eapo-gym[train]'")

from eapo_gym.trainers import checkpoint as module  # noqa: E402
from eapo_gym.trainers.checkpoint import (  # noqa: E402
    MANIFEST,
    CheckpointError,
    Checkpoints,
    capture_rng,
    locked,
    restore_rng,
)
from eapo_gym.trainers.failures import DiskFull  # noqa: E402

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def state_of(step: int, size: int = 256) -> dict[str, Any]:
    return {"policy": {"weight": torch.full((size,), float(step))}, "drawn": step, "rng": (1, None, [step])}


def is_state_of(state: dict[str, Any], step: int) -> bool:
    return (
        state["drawn"] == step and bool((state["policy"]["weight"] == step).all()) and state["rng"] == (1, None, [step])
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def in_child(work: Callable[[], object]) -> int:
    """The wait status of a process that does the work; 0 if it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints", keep_last=2)


# What is kept


def test_saved_and_loaded(checkpoints: Checkpoints) -> None:
    assert checkpoints.latest() is None
    assert checkpoints.best() is None
    path = checkpoints.save(10, state_of(10), score=0.5)
    assert path == checkpoints.folder / "step-000010"
    found = checkpoints.latest()
    assert found is not None
    assert (found.path, found.step, found.score) == (path, 10, 0.5)
    assert is_state_of(checkpoints.load(found), 10)
    assert is_state_of(checkpoints.load(path), 10)


def test_keeps_the_last_ones_and_the_best(checkpoints: Checkpoints) -> None:
    scores = {10: 0.1, 20: 0.9, 30: None, 40: 0.5, 50: float("nan"), 60: 0.2}
    for step, score in scores.items():
        checkpoints.save(step, state_of(step), score=score)
    assert names(checkpoints.folder) == ["step-000020", "step-000050", "step-000060"]
    best, latest = checkpoints.best(), checkpoints.latest()
    assert best is not None
    assert best.step == 20
    assert latest is not None
    assert latest.step == 60
    checkpoints.save(70, state_of(70), score=0.9)
    assert names(checkpoints.folder) == ["step-000060", "step-000070"]  # among equals the last is the best


def test_steps_of_more_than_six_digits_come_in_their_order(checkpoints: Checkpoints) -> None:
    for step in (999_999, 1_000_000, 1_000_001):
        checkpoints.save(step, state_of(step))
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.step == 1_000_001
    assert names(checkpoints.folder) == ["step-1000000", "step-1000001"]


def test_the_same_step_again_takes_the_place(checkpoints: Checkpoints) -> None:
    checkpoints.save(10, state_of(1))
    checkpoints.save(10, state_of(2))
    assert names(checkpoints.folder) == ["step-000010"]
    assert is_state_of(checkpoints.load(checkpoints.folder / "step-000010"), 2)


def test_rewind_removes_what_is_later(checkpoints: Checkpoints) -> None:
    for step in (10, 20, 30):
        checkpoints.save(step, state_of(step), score=step)
    checkpoints.rewind(20)
    assert names(checkpoints.folder) == ["step-000020"]


def test_the_same_state_gives_the_same_files(tmp_path: Path) -> None:
    one, other = (Checkpoints(tmp_path / name, 1).save(10, state_of(10), score=0.5) for name in ("one", "other"))
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in other.iterdir()
    }


def test_an_error_in_the_state_leaves_nothing(checkpoints: Checkpoints) -> None:
    checkpoints.save(10, state_of(10))
    with pytest.raises(TypeError, match="policy: expected"):
        checkpoints.save(20, {"policy": object()})
    assert names(checkpoints.folder) == ["step-000010"]


@pytest.mark.parametrize("keep", [0, -1])
def test_keeping_none_is_refused(tmp_path: Path, keep: int) -> None:
    with pytest.raises(ValueError, match="keep_last"):
        Checkpoints(tmp_path, keep)


# Disks that lie


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "truncated":
        del data[len(data) // 2 :]
    elif how == "empty":
        data.clear()
    elif how == "zeros":
        data[:] = bytes(len(data))
    elif how == "missing":
        path.unlink()
        return
    else:
        place = random.Random(how).randrange(len(data))
        data[place] ^= 1 << random.Random(how).randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["truncated", "empty", "zeros", "missing", *(f"flipped {i}" for i in range(8))])
@pytest.mark.parametrize("which", [MANIFEST, "state.json", "tensors-00001.safetensors"])
def test_a_broken_one_is_named_and_the_one_before_is_taken(
    checkpoints: Checkpoints, how: str, which: str, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoints.save(10, state_of(10), score=0.3)
    broken = checkpoints.save(20, state_of(20), score=0.7)
    damage(broken / which, how)
    with caplog.at_level(logging.WARNING):
        found = checkpoints.latest()
    assert found is not None
    assert found.step == 10
    assert str(broken) in caplog.text
    best = checkpoints.best()
    assert best is not None
    assert best.step == 10
    with pytest.raises(CheckpointError, match="step-000020"):
        checkpoints.load(broken)
    checkpoints.save(20, state_of(20))  # the run comes by again
    assert is_state_of(checkpoints.load(broken), 20)


def test_a_broken_one_does_not_take_the_place_of_a_whole_one(checkpoints: Checkpoints) -> None:
    for step in (10, 20):
        checkpoints.save(step, state_of(step))
    damage(checkpoints.folder / "step-000020" / "state.json", "truncated")
    checkpoints.save(30, state_of(30))
    assert names(checkpoints.folder) == ["step-000010", "step-000030"]


def test_all_broken_is_none(checkpoints: Checkpoints) -> None:
    damage(checkpoints.save(10, state_of(10)) / MANIFEST, "truncated")
    assert checkpoints.latest() is None


def test_a_folder_under_another_name_is_not_taken_for_that_step(checkpoints: Checkpoints) -> None:
    path = checkpoints.save(10, state_of(10))
    shutil.copytree(path, path.with_name("step-000099"))
    found = checkpoints.latest()
    assert found is not None
    assert found.step == 10


def test_what_is_no_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"is no checkpoint: there is no manifest\.json"):
        Checkpoints(tmp_path, 1).load(tmp_path / "nothing")


def test_a_later_format_is_refused(checkpoints: Checkpoints) -> None:
    path = checkpoints.save(10, state_of(10))
    content = json.loads((path / MANIFEST).read_text())
    del content["sha256"]
    content["format"] = 99
    (path / MANIFEST).write_text(json.dumps({**content, "sha256": module._checksum(content)}))
    with pytest.raises(CheckpointError, match="has format 99"):
        checkpoints.load(path)


def test_pickled_code_is_not_run(checkpoints: Checkpoints, tmp_path: Path) -> None:
    import pickle

    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "exploded",))

    path = checkpoints.save(10, state_of(10))
    data = pickle.dumps(Bomb())
    for name in ("state.json", "tensors-00001.safetensors"):
        (path / name).write_bytes(data)
    content = json.loads((path / MANIFEST).read_text())
    del content["sha256"]
    for name in content["files"]:
        content["files"][name] = {"size": len(data), "sha256": module.hashlib.sha256(data).hexdigest()}
    (path / MANIFEST).write_text(json.dumps({**content, "sha256": module._checksum(content)}))
    with pytest.raises(CheckpointError, match="cannot be read"):
        checkpoints.load(path)
    assert not (tmp_path / "exploded").exists()


# Killed


def check_after_kill(folder: Path, least: int) -> int:
    """Whatever happened: the last checkpoint is whole, nothing half is left, and the next one can be written."""
    checkpoints = Checkpoints(folder, keep_last=2)
    assert all(name.startswith("step-") for name in names(folder))
    found = checkpoints.latest()
    assert found is not None
    assert found.step >= least
    for name in names(folder):
        assert is_state_of(checkpoints.load(folder / name), int(name[5:]))
    checkpoints.save(found.step + 1, state_of(found.step + 1))
    return found.step


def save_and_die(folder: Path, step: int, lines: int, where: tuple[str, ...]) -> None:
    """Save a checkpoint in a process that is killed after so many lines of the functions named (all, if none is)."""
    left = lines

    def trace(frame: Any, event: str, arg: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in (module.__file__, shutil.__file__):
            return None
        if event == "line" and (not where or frame.f_code.co_name in where):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    writer = Checkpoints(folder, keep_last=2)
    sys.settrace(trace)
    writer.save(step, state_of(step))


def die_everywhere(before: Path, step: int, least: int, where: tuple[str, ...] = (), stride: int = 1) -> list[int]:
    """The last step that is there after a kill at the first line, after one at the next, and so on to the last."""
    found: list[int] = []
    while True:
        folder = before.with_name("killed")
        shutil.copytree(before, folder)
        status = in_child(functools.partial(save_and_die, folder, step, len(found) * stride, where))
        if status != 0:
            assert os.WTERMSIG(status) == signal.SIGKILL
            found.append(check_after_kill(folder, least))
        shutil.rmtree(folder)
        if status == 0:
            return found


@forks
def test_killed_all_along(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "before", keep_last=2)
    for step in (1, 2):
        checkpoints.save(step, state_of(step))
    found = die_everywhere(checkpoints.folder, 3, least=2, stride=7)
    assert len(found) > 20
    assert set(found) == {2, 3}
    assert found == sorted(found)  # the new one is there from some line on


@forks
def test_killed_while_it_removes_an_old_one(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "before", keep_last=2)
    for step in (1, 2):
        checkpoints.save(step, state_of(step))
    assert set(
        die_everywhere(checkpoints.folder, 3, least=3, where=("_remove", "_prune", "_rmtree_safe_fd"), stride=2)
    ) == {3}


@forks
def test_killed_while_it_replaces_one(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "before", keep_last=1)
    checkpoints.save(1, state_of(1))
    found = die_everywhere(
        checkpoints.folder, 1, least=1, where=("_put_in_place", "sync_folder", "_rmtree_safe_fd"), stride=2
    )
    assert len(found) > 10


@forks
def test_killed_at_random_times(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    begin = 0
    Checkpoints(folder, 2).save(begin, state_of(begin))
    for i in range(12):
        child = os.fork()
        if child == 0:
            writer = Checkpoints(folder, 2)
            step = begin
            while True:
                step += 1
                writer.save(step, state_of(step, size=200_000))
        time.sleep(random.Random(i).uniform(0.002, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        begin = check_after_kill(folder, least=begin) + 1


# Full disks


@forks
def test_no_room_for_a_file(checkpoints: Checkpoints) -> None:
    checkpoints.save(10, state_of(10))

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        with pytest.raises(DiskFull, match=r"the checkpoint of step 20 needs 4\.0 MB.*step-000010.*Make room"):
            checkpoints.save(20, state_of(20, size=1_000_000))

    assert in_child(work) == 0
    assert names(checkpoints.folder) == ["step-000010"]
    found = checkpoints.latest()
    assert found is not None
    assert is_state_of(checkpoints.load(found), 10)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    checkpoints = Checkpoints(small_disk / "checkpoints", keep_last=2)
    for step in (10, 20):
        checkpoints.save(step, state_of(step, size=50_000))
    with pytest.raises(DiskFull, match=r"needs 800\.\d kB.*step-000020"):
        checkpoints.save(30, state_of(30, size=200_000))
    assert names(checkpoints.folder) == ["step-000010", "step-000020"]
    (checkpoints.folder / "step-000010").rename(small_disk / "away")
    shutil.rmtree(small_disk / "away")  # somebody makes room
    checkpoints.save(30, state_of(30, size=150_000))
    found = checkpoints.latest()
    assert found is not None
    assert is_state_of(checkpoints.load(found), 30)


def test_other_errors_of_the_disk_are_what_they_are(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(handle: int) -> None:
        raise OSError(5, "Input/output error")

    checkpoints.save(10, state_of(10))
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="Input/output error"):
        checkpoints.save(20, state_of(20))
    assert names(checkpoints.folder) == ["step-000010"]


# Several processes


@forks
def test_a_reader_leaves_the_draft_of_a_living_writer(checkpoints: Checkpoints) -> None:
    checkpoints.save(10, state_of(10))
    draft = checkpoints.folder / ".step-000020.draft-00000000"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        draft.mkdir()
        with locked(checkpoints.folder / ".lock", "taken"):
            os.write(write, b".")
            time.sleep(600)
    os.read(read, 1)
    try:
        Checkpoints(checkpoints.folder, 2)
        assert draft.exists()
        with pytest.raises(CheckpointError, match="Another process is writing checkpoints"):
            checkpoints.save(20, state_of(20))
        assert draft.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    Checkpoints(checkpoints.folder, 2)
    assert not draft.exists()


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none", 1).latest() is None
    assert not (tmp_path / "none").exists()


# Randomness


def draws() -> list[float]:
    drawn = [random.random(), random.gauss(0, 1), float(np.random.rand()), float(np.random.standard_normal())]
    return [*drawn, float(torch.rand(())), float(torch.randn(()))]


def test_generators_go_on_where_they_stood(checkpoints: Checkpoints) -> None:
    draws()  # an odd number of normal draws: the other one of the pair is part of the state
    path = checkpoints.save(1, {"rng": capture_rng()})
    expected = draws()
    assert draws() != expected
    restore_rng(checkpoints.load(path)["rng"])
    assert draws() == expected


def test_a_state_of_gpus_that_are_not_here_is_told(caplog: pytest.LogCaptureFixture) -> None:
    state = capture_rng()
    state["gpus"] = [*state["gpus"], torch.zeros(16, dtype=torch.uint8)]
    with caplog.at_level(logging.WARNING):
        restore_rng({**state, "gpus": state["gpus"] + state["gpus"][:0]})
    assert "GPUs" in caplog.text
