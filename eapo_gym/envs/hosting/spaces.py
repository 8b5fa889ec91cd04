"""Gymnasium spaces from the data that a tenant sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from eapo_gym.errors import HostingError
from eapo_gym.schema import MAX_TEXT, AnyText

Space = spaces.Space[Any]


def space_from(data: dict[str, Any]) -> Space:
    """The space that `tenant.space_data` described, or that an environment without Gymnasium stated as such data."""
    build = _BUILDERS.get(data["space"])
    if build is None:
        raise HostingError(f"space: expected one of {', '.join(_BUILDERS)}, got {data['space']!r:.40}.")
    try:
        return build(data)
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        raise HostingError(
            f"space: {data!r:.200} does not describe a {data['space']} ({type(error).__name__}: {error})."
        ) from error


def _dict(data: dict[str, Any]) -> Space:
    return spaces.Dict([(key, space_from(part)) for key, part in dict(data["spaces"]).items()])


def _any_text(data: dict[str, Any]) -> Space:
    return AnyText(data.get("max_length", MAX_TEXT), examples=data.get("examples", ()))


def _box(data: dict[str, Any]) -> Space:
    return spaces.Box(data["low"], data["high"], tuple(data["shape"]), np.dtype(data["dtype"]).type)


def _discrete(data: dict[str, Any]) -> Space:
    # Gymnasium before 1.3 knows no type but the default.
    dtype = {} if data.get("dtype", "int64") == "int64" else {"dtype": np.dtype(data["dtype"]).type}
    return spaces.Discrete(data["n"], start=data.get("start", 0), **dtype)


def _multi_discrete(data: dict[str, Any]) -> Space:
    return spaces.MultiDiscrete(data["nvec"], dtype=np.dtype(data["dtype"]).type, start=data["start"])


_BUILDERS: dict[str, Callable[[dict[str, Any]], Space]] = {
    "Dict": _dict,
    "Tuple": lambda data: spaces.Tuple([space_from(part) for part in data["spaces"]]),
    "Sequence": lambda data: spaces.Sequence(space_from(data["part"]), stack=data["stack"]),
    "AnyText": _any_text,
    "Text": lambda data: spaces.Text(data["max_length"], min_length=data["min_length"], charset=data["charset"]),
    "Box": _box,
    "Discrete": _discrete,
    "MultiDiscrete": _multi_discrete,
    "MultiBinary": lambda data: spaces.MultiBinary(data["n"]),
}
