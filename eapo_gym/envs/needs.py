"""What an environment needs to run, and what of it is here: what `eapo-gym envs` shows.

An environment states its needs in one function, named in `NEEDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

NEEDS = {
    "eapo/ALFWorld-v0": "eapo_gym.envs.alfworld.needs:needs",
    "eapo/WebShop-v0": "eapo_gym.envs.webshop.needs:needs",
    "eapo/AndroidWorld-v0": "eapo_gym.envs.androidworld.needs:needs",
    "eapo/OSWorld-v0": "eapo_gym.envs.osworld.needs:needs",
}
"""Id → "module:function"; the function takes nothing, returns a list of `Need`, and changes nothing."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that an environment can use, and whether it is here."""

    name: str
    ok: bool
    detail: str
    """What was found, or what is missing."""

    fix: str = ""
    """The command that brings it."""

    optional: bool = False
    """The environment works without it, with less."""


def needs_of(env_id: str) -> list[Need]:
    """The needs of a registered environment; none that are known of for those that state none."""
    where, _, name = NEEDS.get(env_id, "").partition(":")
    if not where:
        return []
    function: Callable[[], list[Need]] = getattr(import_module(where), name)
    return function()


def works(needs: list[Need]) -> bool:
    """Whether an environment with these needs can be played now."""
    return all(need.ok for need in needs if not need.optional)
