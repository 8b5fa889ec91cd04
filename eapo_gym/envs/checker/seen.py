"""What an environment showed, kept so that it can be compared later, and how two such things differ."""

from __future__ import annotations

import hashlib
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from eapo_gym.envs.base import AgentEnv

# The parts of `info` that belong to the state; the rest may speak of the last step alone.
_STATE_INFO = ("task", "source", "split", "won")


@dataclass(frozen=True, slots=True)
class Difference:
    what: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """A difference between two stretches of an episode, after how many steps it shows, and a hint at its cause."""

    steps: int
    difference: Difference
    hint: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What one reset, step or restore returned."""

    obs: Mapping[str, Any]
    info: Mapping[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False

    @property
    def ended(self) -> bool:
        return self.terminated or self.truncated

    @property
    def text(self) -> dict[str, str]:
        return {key: value for key, value in self.obs.items() if isinstance(value, str)}


@dataclass(frozen=True, slots=True)
class View:
    """What the contract says of a state."""

    fingerprint: str
    valid: tuple[str, ...] | None
    describe: str


@dataclass(slots=True)
class Trail:
    """A stretch of an episode: where it began, the commands, and what was seen before and after each."""

    start: tuple[str, ...]
    moments: list[Moment]
    views: list[View]
    attributes: dict[str, str]
    commands: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.commands)

    def calls(self, steps: int) -> str:
        """The calls that lead to the moment after `steps` of its commands."""
        return "; ".join([*self.start, *(called("step", command) for command in self.commands[:steps])])


def moment(obs: Any, info: Any, reward: Any = 0.0, terminated: bool = False, truncated: bool = False) -> Moment:
    return Moment(_frozen(obs), _frozen(info), float(reward), terminated, truncated)


def moments_differ(expected: Moment, actual: Moment, *, arrays: bool = True, whole: bool = True) -> Difference | None:
    """`whole` compares all of `info` and what the step gave, else only what belongs to the state."""
    pairs = [(f"observation[{k!r}]", expected.obs.get(k), actual.obs.get(k)) for k in _keys(expected.obs, actual.obs)]
    if not arrays:
        pairs = [pair for pair in pairs if not isinstance(pair[1], _Array)]
    names = _keys(expected.info, actual.info) if whole else list(_STATE_INFO)
    pairs += [(f"info[{name!r}]", expected.info.get(name), actual.info.get(name)) for name in names]
    if whole:
        pairs += [(name, getattr(expected, name), getattr(actual, name)) for name in _STEP_RESULTS]
    return _first(pairs)


_STEP_RESULTS = ("reward", "terminated", "truncated")


def moments_part(expected: list[Moment], actual: list[Moment], *, arrays: bool = True) -> tuple[int, Difference] | None:
    """The first place where two episodes show something else, and what."""
    for steps, (then, now) in enumerate(zip(expected, actual, strict=False)):
        found = moments_differ(then, now, arrays=arrays)
        if found:
            return steps, found
    return None


def views_differ(expected: View, actual: View) -> Difference | None:
    return _first(
        [
            ("fingerprint()", expected.fingerprint, actual.fingerprint),
            ("valid_actions()", expected.valid, actual.valid),
            ("describe()", expected.describe, actual.describe),
        ]
    )


def trails_differ(
    expected: Trail, actual: Trail, *, arrays: bool = True, whole_start: bool = True
) -> Divergence | None:
    """Where two stretches with the same commands part.

    `whole_start=False` is for a stretch that a restore began: it gives the state back, not what the last step gave.
    """
    for steps, (then, now) in enumerate(zip(expected.moments, actual.moments, strict=False)):
        found = moments_differ(then, now, arrays=arrays, whole=whole_start or steps > 0)
        found = found or views_differ(expected.views[steps], actual.views[steps])
        if found:
            return Divergence(steps, found, changed_attributes(expected.attributes, actual.attributes))
    return None


def plain_attributes(env: AgentEnv) -> dict[str, str]:
    """The small attributes of an environment, to name the one that a restore or a reset forgot."""
    kinds = (str, int, float, bool, type(None), tuple, list, dict, set, frozenset)
    # Bounded on purpose: some attribute may be a table of a million rows.
    return {name: reprlib.repr(value) for name, value in vars(env).items() if isinstance(value, kinds)}


def changed_attributes(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """A hint like ` Attributes that differ: self._lamp was False and is True.`, or nothing."""
    changed = [name for name in then if name in now and now[name] != then[name]]
    differing = ", ".join(f"self.{name} was {then[name]} and is {now[name]}" for name in changed[:5])
    return f" Attributes that differ: {differing}." if changed else ""


def called(name: str, *args: Any, **kwargs: Any) -> str:
    """The source text of a call, as it stands in the script of a finding."""
    parts = [shown(arg, 120) for arg in args]
    parts += [f"{key}={shown(value, 120)}" for key, value in kwargs.items() if value is not None]
    return f"{name}({', '.join(parts)})"


def shown(value: Any, limit: int = 300) -> str:
    """`repr`, but short however long the value is."""
    if isinstance(value, str | bytes) and len(value) > limit:
        return f"{value[:limit]!r}… ({len(value):,} characters)"
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"


def said(error: Exception) -> str:
    """An exception in one line that any terminal can show."""
    message = str(error).encode("utf-8", "backslashreplace").decode("utf-8")
    return f"{type(error).__name__}: {message:.300}"


def contrast(expected: Any, actual: Any) -> tuple[str, str]:
    """Both values, cut to the place where they begin to differ if they are long texts."""
    if isinstance(expected, tuple | list) and isinstance(actual, tuple | list):
        missing, new = [x for x in expected if x not in actual], [x for x in actual if x not in expected]
        if len(expected) > 8 and (missing or new):
            return _counted(expected, missing), _counted(actual, new)
    if isinstance(expected, str) and isinstance(actual, str) and max(len(expected), len(actual)) > 300:
        same = next((i for i, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b), None)
        begin = max(0, (min(len(expected), len(actual)) if same is None else same) - 60)
        dots = "…" if begin else ""
        return dots + shown(expected[begin:], 200), dots + shown(actual[begin:], 200)
    return shown(expected), shown(actual)


def _counted(entries: tuple[Any, ...] | list[Any], alone: list[Any]) -> str:
    return f"{len(entries)} entries" + (f", only here: {shown(alone)}" if alone else "")


@dataclass(frozen=True, slots=True)
class _Array:
    """Stands for an array, whose bytes are too many to keep for every step."""

    shape: tuple[int, ...]
    dtype: str
    digest: str

    def __repr__(self) -> str:
        return f"<{self.dtype} array of shape {self.shape}, digest {self.digest[:8]}>"


def _frozen(value: Any) -> Any:
    """A copy that later steps cannot touch."""
    if isinstance(value, np.ndarray):
        digest = hashlib.sha1(np.ascontiguousarray(value).tobytes(), usedforsecurity=False).hexdigest()
        return _Array(value.shape, str(value.dtype), digest)
    if isinstance(value, Mapping):
        # RecordEpisodeStatistics puts the wall clock there, which never comes twice.
        return {key: _frozen(part) for key, part in value.items() if not (key == "t" and "r" in value and "l" in value)}
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if value is None or isinstance(value, str | bytes | bool | int | float | np.generic):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: _frozen(getattr(value, part.name)) for part in fields(value)}
    return f"<{type(value).__name__}>"


def _keys(*mappings: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _first(pairs: list[tuple[str, Any, Any]]) -> Difference | None:
    for what, expected, actual in pairs:
        if expected != actual:
            return Difference(what, *contrast(expected, actual))
    return None
