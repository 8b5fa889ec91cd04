"""What a tracker is, and what every one of them needs: flat names, and an identity that outlives the process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from eapo_gym.atomic import write_atomically
from eapo_gym.errors import EapoError

_IDENTITIES = "loggers.json"


class LoggerError(EapoError, RuntimeError):
    """A tracker that could not be opened."""


class Tracker:
    """One place where numbers go."""

    name: ClassVar[str]
    keeps_non_finite: ClassVar[bool] = False
    """False if a NaN or an infinity must not be handed to it."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Keep the numbers of a step; the names are flat."""
        raise NotImplementedError

    def sync(self) -> None:
        """Bring what was logged to the disk, where it is a file of the run's folder."""

    def artifact(self, path: Path) -> None:
        """Keep a file. What has no place for files lets it be: it is in the run's folder anyway."""

    def close(self, failed: bool) -> None:
        """Write what is still to be written; `failed` if the run did not come to its end."""


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Names joined with a slash. A value of None is no measurement, and left out.

    >>> dict(flatten({"reward": {"task": 1, "format": None}, "solved": True}))
    {'reward/task': 1.0, 'solved': 1.0}
    """
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{name}/")
        elif value is not None:
            try:
                yield name, float(value)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"{name}: expected a number to log, got {type(value).__name__} {value!r:.60}"
                ) from error


def remembered(folder: Path, name: str) -> str | None:
    """The identity that the run in this folder has with a tracker, if it was there before."""
    try:
        identities = json.loads((folder / _IDENTITIES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LoggerError(
            f"{folder / _IDENTITIES} is not JSON ({error}): mend it, or delete it to begin new runs."
        ) from error
    identity = identities.get(name) if isinstance(identities, dict) else None
    return identity if isinstance(identity, str) else None


def remember(folder: Path, name: str, identity: str) -> None:
    """So that a run that is resumed goes on in the same place."""
    path = folder / _IDENTITIES
    identities = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    write_atomically(path, json.dumps({**identities, name: identity}, indent=1) + "\n")
