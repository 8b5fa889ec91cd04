"""The errors of the suite: each is one sentence that says what was expected, what came, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class EapoError(Exception):
    """Base of every error that the suite raises on purpose."""


class ActionError(EapoError, ValueError):
    """A text that is not an action of this environment; `example` is one that is."""

    def __init__(self, message: str, example: str | None = None) -> None:
        super().__init__(message)
        self.example = example


class UnknownName(EapoError, ValueError):
    """A name (split, task, engine, schema, …) that is not among those that exist."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str], hint: str = "") -> UnknownName:
        """Say which names exist (a few of them) and which one was probably meant."""
        names = list(known)
        close = get_close_matches(str(name), names, n=1)
        listed = ", ".join(repr(n) for n in names[:8]) + (f", … ({len(names)} in all)" if len(names) > 8 else "")
        message = f"Unknown {kind} {name!r}: expected one of {listed or 'none at all'}."
        if close:
            message += f" Did you mean {close[0]!r}?"
        return cls(f"{message} {hint}".rstrip())


class MissingExtra(EapoError, ImportError):
    """An optional dependency that is not installed."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtra:
        return cls(f"{what} needs packages that are not installed: pip install 'eapo-gym[{extra}]'")


class MissingData(EapoError, FileNotFoundError):
    """Benchmark data that is not on this machine."""


class GameFileError(EapoError, ValueError):
    """A game file that is broken, truncated, or outside of what the engine understands."""


class ContractError(EapoError, AssertionError):
    """An environment breaks a promise of the contract."""


class SnapshotError(EapoError, ValueError):
    """A snapshot or branch that does not belong to this environment."""


class HostingError(EapoError, RuntimeError):
    """A hosted environment's process failed, and trying again did not help."""
