"""The verdict on a task: its checks, one after the other, combined as the benchmark does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.computer import Computer, ComputerError
from eapo_gym.envs.osworld.judging import registry
from eapo_gym.envs.osworld.judging.registry import Scene, Unreadable
from eapo_gym.envs.osworld.tasks import Check, DesktopTask
from eapo_gym.errors import EapoError

INFEASIBLE_STATUS = "infeasible"
"""What an agent answers when it holds that a task cannot be done; the benchmark's own word for it is FAIL."""

Prepare = Callable[[DesktopTask], object]
"""Carries out a task's `postconfig`, as `Preparer.finish` does."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check found."""

    metric: str
    score: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a task's work is worth, from 0 to 1, and why."""

    score: float
    checks: tuple[Checked, ...] = ()


def judge(
    task: DesktopTask,
    computer: Computer,
    *,
    answer_status: str | None,
    cache: Path,
    prepare: Prepare,
    download: Callable[[str], Path] | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
) -> Verdict:
    """Looks at the machine as the agent left it.

    What an agent answers decides alone where the task cannot be done, and where it gave a task up that can be; the
    machine is not touched then. `cache` is a folder of this episode only, the one in which `prepare` keeps what
    commands write: files from the machine are copied there.

    Raises `CannotJudge` where this computer has no means for a check, `ComputerError` where the machine does not
    answer, `MissingExtra` where a package is missing: none of these says anything about the agent.
    """
    gave_up = answer_status == INFEASIBLE_STATUS
    if task.evaluator.is_infeasible:
        said = "the agent said so" if gave_up else "the agent did not say so"
        score = float(gave_up)
        return Verdict(score, (Checked("infeasible", score, f"The task cannot be done, and {said}."),))
    if gave_up:
        return Verdict(0.0, (Checked("infeasible", 0.0, "The agent gave up, though the task can be done."),))
    cache.mkdir(parents=True, exist_ok=True)
    prepare(task)
    scene = Scene(computer, cache, download, task.beside, now)
    return _combined(task.evaluator.checks, scene, task.evaluator.all_of_them)


def _combined(checks: Sequence[Check], scene: Scene, all_of_them: bool) -> Verdict:
    """With "and" a check worth 0 ends it, or the average counts; with "or" one worth 1 ends it, or the best counts."""
    done: list[Checked] = []
    for check in checks:
        done.append(_checked(check, scene))
        if len(checks) > 1 and done[-1].score == (0.0 if all_of_them else 1.0):
            return Verdict(done[-1].score, tuple(done))
    scores = [one.score for one in done]
    return Verdict(sum(scores) / len(scores) if all_of_them else max(scores), tuple(done))


def _checked(check: Check, scene: Scene) -> Checked:
    compare = registry.metric(check.metric)
    look_at_result = _getter(check.result)
    look_at_expected = _getter(check.expected)
    result: Any = None
    try:
        if look_at_result is not None:
            result = look_at_result(scene, check.result or {})
    except FileNotFoundError as error:
        if isinstance(error, EapoError):
            raise
        return Checked(check.metric, 0.0, f"{check.metric}: there is no file {error.filename or error}.")
    except Unreadable as error:
        return Checked(check.metric, 0.0, f"{check.metric}: {error}")
    arguments = [result]
    if look_at_expected is not None:
        arguments.append(look_at_expected(scene, check.expected or {}))
    try:
        score = min(1.0, max(0.0, float(compare(*arguments, **check.options))))
    except Unreadable as error:
        return Checked(check.metric, 0.0, f"{check.metric}: {error}")
    except (EapoError, ComputerError):
        raise
    except Exception as error:  # what an agent leaves behind can make any parser fail in any way: it is not right then
        return Checked(
            check.metric, 0.0, f"{check.metric} cannot read what it found ({type(error).__name__}: {error})."
        )
    wanted = f", wanted {_short(arguments[1])}" if len(arguments) > 1 else ""
    return Checked(check.metric, score, f"{check.metric} is {score:g}: found {_short(result)}{wanted}.")


def _getter(config: Mapping[str, Any] | None) -> registry.Getter | None:
    return registry.getter(str(config.get("type"))) if config else None


def _short(value: object) -> str:
    if isinstance(value, Path):
        return f"the file {value.name!r}"
    if value is None:
        return "nothing"
    written = repr(value)
    return written if len(written) <= 200 else f"{written[:200]}…"
