"""What can go wrong in a long run, and what is done about it. Each has a name and one behaviour.

| What happens | What the run does |
| --- | --- |
| `DiskFull` | removes the draft, keeps the checkpoints that are whole, ends |
| a gradient is not finite (`BadUpdates`) | skips and counts the update; `max_bad_updates` in a row: `NotFinite`, ends |
| the engine dies (`survive_engine`) | reopens it and begins the step again; twice in one step: `EngineDied`, ends |
| an environment hangs | its episode is cut off, counted and left out; all of a step (`NothingPlayed`): ends |
| no episode of a step can be trained on | `NothingPlayed` with the commonest error, ends |
| no success for many steps (`SuccessWatch`) | warns once in a while, goes on |
| the memory is full (`naming_memory`) | `OutOfMemory` with the settings to lower, ends |

A run that ends this way has checkpoints that are whole, and goes on from the last one.
"""

from __future__ import annotations

import errno
import logging
import math
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from eapo_gym.bench.records import Outcome
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.errors import EapoError
from eapo_gym.trainers.config import TrainConfig

Result = TypeVar("Result")
Part = Literal["rollout", "update", "score"]

GO_ON = "Start the same command again to go on from the last checkpoint."

_log = logging.getLogger(__name__)


class RunEnded(EapoError, RuntimeError):
    """The run cannot go on now. What it has learned up to its last checkpoint is kept."""


# The disk


class DiskFull(RunEnded):
    """A checkpoint or an export had no room."""

    @classmethod
    def of(cls, what: str, needed: int, free: int, kept: str | None) -> DiskFull:
        """`needed` and `free` are bytes; `kept` names the last checkpoint that is whole."""
        last = f"The last whole one is {kept}." if kept else "There is none yet to go on from."
        return cls(
            f"The disk is full (or a quota is used up): {what} needs {_size(needed)}, and {_size(free)} are free. "
            f"{last} Make room, or set keep_last lower. {GO_ON}"
        )


_NO_ROOM = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}


def is_disk_full(error: OSError) -> bool:
    """There was no room, or no more of it for this user or this file."""
    return error.errno in _NO_ROOM


def free_bytes(place: Path) -> int:
    """What is left on the disk of a folder, or of the nearest one above it that exists."""
    import shutil

    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def _size(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} bytes"


# Numbers


class NotFinite(RunEnded):
    """Update after update came out as NaN or infinite."""


class BadUpdates:
    """Counts the updates that were skipped for not being finite, and ends the run after too many in a row.

    One for each model that is trained:

        norm = policy.update("policy")        # skipped there, if it is not finite
        if not bad_updates.note(norm): …      # counted here
    """

    def __init__(self, config: TrainConfig, role: Literal["policy", "q"] = "policy") -> None:
        self.skipped = 0
        """In the whole run."""

        self.in_a_row = 0
        self._limit = config.max_bad_updates
        self._who = "the policy" if role == "policy" else "the reward model"
        rate = config.policy_rate if role == "policy" else config.q_rate
        self._lower = f"{'learning_rate' if role == 'policy' else 'q_learning_rate'} (it is {rate:g})"
        if config.precision != "fp32":
            self._lower += ", or set precision to fp32"

    def note(self, norm: float) -> bool:
        """True if an update with a gradient of this norm counts; one that does not was skipped."""
        if math.isfinite(norm):
            self.in_a_row = 0
            return True
        self.skipped += 1
        self.in_a_row += 1
        if self.in_a_row >= self._limit:
            times = "once" if self.in_a_row == 1 else f"{self.in_a_row} times in a row"
            raise NotFinite(
                f"The gradient of {self._who} was not finite (its norm was {norm}) {times}: these updates were "
                f"skipped, and its weights are those of the last good one. Lower {self._lower}, and begin a new run "
                "from an export of the last checkpoint: this one cannot change how it learns."
            )
        _log.warning(
            "The gradient of %s was not finite (its norm was %s): the update is skipped (%d in a row, %d in all).",
            *(self._who, norm, self.in_a_row, self.skipped),
        )
        return False

    def state(self) -> dict[str, int]:
        """For the checkpoint: a run that is taken up stops where the uninterrupted one would have."""
        return {"skipped": self.skipped, "in_a_row": self.in_a_row}

    def load_state(self, state: Mapping[str, int]) -> None:
        self.skipped, self.in_a_row = state["skipped"], state["in_a_row"]


# Engines


class EngineDied(RunEnded):
    """The engine that samples died, was reopened, and died again in the same step."""


async def survive_engine(
    work: Callable[[], Awaitable[Result]], reopen: Callable[[], Awaitable[object]], step: int
) -> Result:
    """The result of `work`; should the engine die meanwhile, it is reopened and the work begun again, once.

    `work` must begin from the beginning when it is called again; what it had done by then is lost.
    """
    try:
        return await work()
    except EngineUnavailable as error:
        _log.warning("The engine died in step %d (%s): it is reopened, and the step begun again.", step, error)
        first = error
    try:
        await reopen()
        return await work()
    except EngineUnavailable as error:
        raise EngineDied(
            f"The engine died twice in step {step}: first {_sentence(first)}; when reopened {_sentence(error)}. "
            f"Find out why it does (memory? a driver? the server's own log), then go on. {GO_ON}"
        ) from error


# Episodes


class NothingPlayed(RunEnded):
    """A step in which every episode failed, so that there is nothing to train on."""


_FAILED: Mapping[Outcome, str] = {
    "infrastructure": "the environment or the engine failed",
    "timeout": "it took too long",
    "agent": "the agent failed",
}


def require_episodes(ended: Iterable[tuple[Outcome, str]], step: int) -> None:
    """Stop when all episodes of a step failed, given how each ended and its error: training on nothing is no help."""
    played = list(ended)
    failed = [(outcome, error) for outcome, error in played if outcome in _FAILED]
    if len(failed) < len(played):
        return
    if not played:
        raise NothingPlayed(f"There was no episode in step {step}: expected some to train on.")
    # Errors that differ in a number alone (a port, an address, a duration) are the same error.
    kinds = Counter((outcome, re.sub(r"\d+", "#", error)) for outcome, error in failed)
    (outcome, kind), count = kinds.most_common(1)[0]
    example = next(error for which, error in failed if which == outcome and re.sub(r"\d+", "#", error) == kind)
    advice = {
        "infrastructure": "Mend it",
        "timeout": "Raise episode_timeout, step_timeout or response_timeout, or mend what hangs",
        "agent": "Where prompts are too long, begin a new run in another folder, with fewer max_tokens, the compact "
        "prompt or a model with a longer context; otherwise mend it",
    }[outcome]
    raise NothingPlayed(
        f"All {len(played)} episodes of step {step} failed; most often ({count} of them) because {_FAILED[outcome]}: "
        f"{_sentence(example)}. {advice}. {GO_ON}"
    )


class SuccessWatch:
    """Warns when no episode succeeds for a number of steps, and again each time that so many have gone by."""

    def __init__(self, patience: int = 20) -> None:
        if patience < 1:
            raise ValueError(f"patience: expected 1 or more steps, got {patience}.")
        self.without = 0
        """Steps since the last success."""

        self._patience = patience

    def note(self, successes: int, step: int, *, aloud: bool = True) -> bool:
        """Tell how many episodes of a step succeeded; True if it warned. Of several processes one does so aloud."""
        self.without = 0 if successes else self.without + 1
        if not aloud or not self.without or self.without % self._patience:
            return False
        _log.warning(
            "No episode has succeeded for %d steps (now at step %d): there is no success to learn from. Training goes "
            "on; what helps is fine-tuning first (sft_data), easier tasks, more max_steps, or a larger group_size.",
            *(self.without, step),
        )
        return True


# Memory


class OutOfMemory(RunEnded):
    """The model, or what goes through it at a time, does not fit."""


@contextmanager
def naming_memory(config: TrainConfig, part: Part) -> Iterator[None]:
    """Work that may run out of memory; if it does, the error names the settings to lower, with their values."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RunEnded) or not is_out_of_memory(error):
            raise
        raise OutOfMemory(
            f"There was not enough memory {_PARTS[part]}. {_advice(config, part)} {GO_ON} ({_sentence(error)}.)"
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Python's own, or torch's of a GPU or of the CPU (which has no class for it)."""
    if isinstance(error, MemoryError):
        return True
    torch = sys.modules.get("torch")  # where it is not loaded, it has raised nothing
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and ("DefaultCPUAllocator" in str(error) or "out of memory" in str(error))


_PARTS: Mapping[Part, str] = {
    "rollout": "to sample responses",
    "update": "to train",
    "score": "to score with the reward model or the reference",
}


def _advice(config: TrainConfig, part: Part) -> str:
    """The settings that would help here. Those that a run may change (first) come before those that need a new one."""
    now, new = [], []
    if part == "rollout":
        now.append(f"parallel (it is {config.parallel})")
        new += [f"max_tokens (it is {config.max_tokens})", f"group_size (it is {config.group_size})"]
    else:
        now.append(f"microbatch_tokens (it is {config.microbatch_tokens})")
    text = f"Lower {' or '.join(now)}"
    if part == "update" and not config.gradient_checkpointing:
        text += ", or set gradient_checkpointing to true"
    if part == "update":
        new.append(f"group_size (it is {config.group_size})")
    if config.tuning == "full":
        new.append("the weights that are trained (tuning=lora)")
    return f"{text}." + (f" Should that not do, begin a new run with less of: {', '.join(new)}." if new else "")


def _sentence(error: object) -> str:
    """What an error says, in one line without the full stop."""
    said = " ".join(str(error).split()).rstrip(".")
    said = said or type(error).__name__
    return said if len(said) <= 300 else said[:299] + "…"
