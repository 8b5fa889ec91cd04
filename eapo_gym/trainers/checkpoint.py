"""Checkpoints of a run: whole or not there, checked when they are read, data and never code.

    checkpoints = Checkpoints(run / "checkpoints", keep_last=2)
    checkpoints.save(10, {"policy": policy.state(), "rng": capture_rng(), …}, score=0.4)
    if (found := checkpoints.latest()) is not None:
        state = checkpoints.load(found)

A folder is written under another name, brought to the disk, and renamed. So whatever happens to the process or the
machine, `step-000010` is whole if it is there; what a dead writer left is removed by the next one. A disk may still
lose bits later: `manifest.json` has the SHA-256 of every file, and of itself.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import random
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from eapo_gym.errors import EapoError
from eapo_gym.trainers.failures import DiskFull, free_bytes, is_disk_full
from eapo_gym.trainers.state_files import BadState, pack, packed_size, unpack

MANIFEST = "manifest.json"
FORMAT = 1
"""Of the folder; raised when old readers would misread it."""

_NAME = re.compile(r"step-(\d{6,})")
_DRAFT = re.compile(r"\.step-\d{6,}\.draft-[0-9a-f]{8}")
_REPLACED = re.compile(r"\.(step-\d{6,})\.replaced")
_LOCK = ".lock"

_log = logging.getLogger(__name__)


class CheckpointError(EapoError, ValueError):
    """A folder that is no checkpoint, or one that is no longer whole."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint on the disk."""

    path: Path
    step: int
    score: float | None
    """What the best one is chosen by; None if it was not measured."""

    files: Mapping[str, tuple[int, str]]
    """The size and the SHA-256 of each file."""


class Checkpoints:
    """The checkpoints of one run: the last ones, and the best."""

    def __init__(self, folder: Path, keep_last: int) -> None:
        if keep_last < 1:
            raise ValueError(f"keep_last: expected 1 or more, got {keep_last}.")
        self.folder = Path(folder)
        self.keep_last = keep_last
        _sweep(self.folder)

    def save(self, step: int, state: Mapping[str, Any], *, score: float | None = None) -> Path:
        """Write a checkpoint, then remove those that are neither among the last ones nor the best.

        Raises `DiskFull` where there is no room; the checkpoints that were there are still there then.
        """
        if step < 0:
            raise ValueError(f"step: expected 0 or more, got {step}.")
        path = self.folder / f"step-{step:06d}"
        draft = _draft_of(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with locked(self.folder / _LOCK, f"Another process is writing checkpoints in {self.folder}"):
                try:
                    _write(draft, step, state, score)
                    _put_in_place(draft, path)
                finally:
                    shutil.rmtree(draft, ignore_errors=True)
                self._prune()
        except OSError as error:
            if not is_disk_full(error):
                raise
            kept = max(self._whole(), key=lambda each: each.step, default=None)
            needed, free = packed_size(state), free_bytes(self.folder)
            what = f"the checkpoint of step {step}"
            raise DiskFull.of(what, needed, free, None if kept is None else str(kept.path)) from error
        return path

    def latest(self) -> Checkpoint | None:
        """The last one that is whole. Broken ones are named in a warning, and the one before is taken."""
        return self._first_whole(sorted(self._paths(), key=_step_of, reverse=True))

    def best(self) -> Checkpoint | None:
        """The one with the highest score that is whole; among equals the last. None if none has a score."""
        scored = [each for each in self._whole() if each.score is not None]
        scored.sort(key=lambda each: (each.score, each.step), reverse=True)
        return self._first_whole([each.path for each in scored])

    def load(self, checkpoint: Checkpoint | Path) -> dict[str, Any]:
        """The state that was saved, its tensors on the CPU; raises `CheckpointError` if it is not whole."""
        path = checkpoint.path if isinstance(checkpoint, Checkpoint) else Path(checkpoint)
        found = read_manifest(path)
        try:
            return unpack((name, _read_checked(found, name)) for name in found.files)
        except BadState as error:
            raise CheckpointError(f"{path} cannot be read: {error}. Take an earlier checkpoint.") from error

    def rewind(self, step: int) -> None:
        """Remove what is later than the step from which the run goes on: it belongs to a past that it no longer has."""
        for path in self._paths():
            if _step_of(path) > step:
                _remove(path)

    def _paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name) and path.is_dir()]

    def _whole(self) -> list[Checkpoint]:
        """Those whose manifest can be read and whose files have their sizes; their content is not looked at."""
        return [found for path in self._paths() if (found := _manifest_if_whole(path)) is not None]

    def _first_whole(self, paths: list[Path]) -> Checkpoint | None:
        return next((found for path in paths if (found := _verified(path)) is not None), None)

    def _prune(self) -> None:
        whole = sorted(self._whole(), key=lambda each: each.step)
        kept = whole[-self.keep_last :]
        scored = [each for each in whole if each.score is not None]
        if scored:
            kept.append(max(scored, key=lambda each: (each.score, each.step)))
        names = {each.path.name for each in kept}
        for path in self._paths():
            if path.name not in names:
                _remove(path)


def read_manifest(path: Path) -> Checkpoint:
    """The checkpoint in a folder: its manifest is checked, and that its files are there with their sizes."""
    try:
        text = (path / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(f"{path} is no checkpoint: there is no {MANIFEST} in it.") from None
    broken = f"The checkpoint {path} is broken"
    try:
        content = json.loads(text)
        checksum = content.pop("sha256")
        if checksum != _checksum(content):
            raise ValueError("its checksum is another")
        form, step, score = content["format"], int(content["step"]), content["score"]
        files = {str(name): (int(each["size"]), str(each["sha256"])) for name, each in content["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{broken}: {MANIFEST} cannot be trusted ({type(error).__name__}: {error}).") from error
    if form != FORMAT:
        raise CheckpointError(f"{path} has format {form}, and this version of eapo-gym reads {FORMAT}.")
    if _NAME.fullmatch(path.name) and _step_of(path) != step:
        raise CheckpointError(f"{broken}: it is of step {step}, and its folder has the name of another.")
    for name, (size, _) in files.items():
        file = path / name
        if "/" in name or not file.is_file():
            raise CheckpointError(f"{broken}: its file {name} is missing.")
        if (there := file.stat().st_size) != size:
            raise CheckpointError(f"{broken}: {name} has {there:,} bytes and should have {size:,}.")
    return Checkpoint(path, step, score, files)


def _manifest_if_whole(path: Path) -> Checkpoint | None:
    try:
        return read_manifest(path)
    except CheckpointError:
        return None  # `latest` names it, to whom it matters


def _verified(path: Path) -> Checkpoint | None:
    """The checkpoint, if every file of it is what was written; if not, a warning says so."""
    try:
        found = read_manifest(path)
        for name in found.files:
            _check(found, name)
    except CheckpointError as error:
        _log.warning("%s An earlier one is taken, if there is one.", error)
        return None
    return found


# Randomness


def capture_rng() -> dict[str, Any]:
    """Where the generators of Python, NumPy and torch (the CPU's and all GPUs') stand, in this process."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(legacy=False),
        "torch": torch.get_rng_state(),
        "gpus": list(torch.cuda.get_rng_state_all()) if torch.cuda.is_available() else [],
    }


def restore_rng(state: Mapping[str, Any]) -> None:
    """Put the generators back to where they stood."""
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if len(state["gpus"]) != here:
        _log.warning(
            "The checkpoint is of %d GPUs and here are %d: what is drawn on them will be another than it would have "
            "been.",
            *(len(state["gpus"]), here),
        )
    for device, generator in enumerate(state["gpus"][:here]):
        torch.cuda.set_rng_state(generator, device)


# Files


@contextmanager
def locked(path: Path, taken: str) -> Iterator[None]:
    """Hold the lock of a file; if another process has it, `taken` says what that means."""
    try:
        import fcntl
    except ImportError:  # not Unix: two processes in one folder are up to the user
        yield
        return
    with path.open("ab") as file:
        try:
            # A lock of the process, which the environments that it forks do not inherit.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise CheckpointError(f"{taken}: wait for it, or choose another folder.") from None
        yield


def _write(draft: Path, step: int, state: Mapping[str, Any], score: float | None) -> None:
    draft.mkdir()
    files = {}
    for name, data in pack(state):
        _write_file(draft / name, data)
        files[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    measured = float(score) if score is not None and math.isfinite(score) else None
    manifest = {"format": FORMAT, "step": step, "score": measured, "files": files}
    text = json.dumps({**manifest, "sha256": _checksum(manifest)}, indent=1)
    _write_file(draft / MANIFEST, text.encode())
    sync_folder(draft)


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(draft: Path, path: Path) -> None:
    """A folder cannot be renamed over another: the one that was there steps aside, and comes back if this fails."""
    aside = path.with_name(f".{path.name}.replaced")
    if path.exists():
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
    try:
        draft.rename(path)
    except OSError:
        if aside.exists():
            aside.rename(path)
        raise
    sync_folder(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _remove(path: Path) -> None:
    """Under the name of a draft first: a process that is killed meanwhile leaves no half checkpoint."""
    draft = _draft_of(path)
    path.rename(draft)
    shutil.rmtree(draft)


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.draft-{secrets.token_hex(4)}")


def _sweep(folder: Path) -> None:
    """Remove what killed writers have left. Whoever has the lock knows that nobody else is writing."""
    left = [path for path in folder.glob(".step-*") if _DRAFT.fullmatch(path.name) or _REPLACED.fullmatch(path.name)]
    if not left:
        return
    try:
        with locked(folder / _LOCK, f"Another process is writing checkpoints in {folder}"):
            for path in left:
                replaced = _REPLACED.fullmatch(path.name)
                if replaced and not (folder / replaced[1]).exists():
                    path.rename(folder / replaced[1])
                else:
                    shutil.rmtree(path, ignore_errors=True)
    except (CheckpointError, PermissionError):
        return  # somebody is writing these, or this is a reader: the next writer will do it


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; elsewhere than on Unix a folder cannot be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _step_of(path: Path) -> int:
    return int(path.name.removeprefix("step-"))


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read_checked(checkpoint: Checkpoint, name: str) -> bytes:
    data = (checkpoint.path / name).read_bytes()
    _compare(checkpoint, name, hashlib.sha256(data).hexdigest())
    return data


def _check(checkpoint: Checkpoint, name: str) -> None:
    digest = hashlib.sha256()
    with (checkpoint.path / name).open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    _compare(checkpoint, name, digest.hexdigest())


def _compare(checkpoint: Checkpoint, name: str, digest: str) -> None:
    if digest != checkpoint.files[name][1]:
        raise CheckpointError(f"The checkpoint {checkpoint.path} is broken: {name} is not what was written.")
