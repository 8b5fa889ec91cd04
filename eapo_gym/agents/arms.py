"""The rows of the baselines table: which agent, with which options, drawing tokens how.

Every arm is put on the same checkpoint, the same tasks and the same budget of steps; only what stands here differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from eapo_gym.engines.base import Override, Sampling
from eapo_gym.errors import UnknownName

_NOTHING: Mapping[str, Any] = MappingProxyType({})

MIN_P: Mapping[str, Any] = MappingProxyType({"min_p": 0.1})
"""Drops tokens with less than a tenth of the likeliest token's probability."""

OVERRIDE: Mapping[str, Any] = MappingProxyType({"override": Override(key="")})
"""Away from what was sampled in this episode before. The agent puts the episode in the place of the key."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One row."""

    agent: str
    about: str
    options: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    sampling: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    """What differs from the run's own sampling."""

    def sampled_with(self, sampling: Sampling) -> Sampling:
        """The run's sampling with this arm's changes."""
        return replace(sampling, **self.sampling)


ARMS: dict[str, Arm] = {
    "0-shot": Arm("eapo", "the EAPO prompt"),
    "plain": Arm("plain", "no explore, no memory"),
    "naive": Arm("naive", "plain, told to try alternatives"),
    "react": Arm("react", "thought and action over the history"),
    "tot": Arm("tot", "several proposals, judged by the model itself"),
    "min-p": Arm("eapo", "the EAPO prompt, Min-p sampling", sampling=MIN_P),
    "override": Arm("eapo", "the EAPO prompt, OverRIDE sampling", sampling=OVERRIDE),
}


def arm(name: str) -> Arm:
    """The row of that name."""
    try:
        return ARMS[name]
    except KeyError:
        raise UnknownName.of("arm", name, ARMS) from None
