"""A phone as it comes: all apps, the benchmark's date, and a first touch of every app behind it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from functools import cache

from eapo_gym.envs.androidworld.phone.app import Taste
from eapo_gym.envs.androidworld.phone.apps import all_apps
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.phone.state import State

BENCHMARK_TIME = datetime(2023, 10, 15, 15, 34, tzinfo=timezone.utc)
"""The moment at which every one of the benchmark's tasks begins."""


def new_phone(layout_seed: int = 0, *, granted: bool = True) -> Phone:
    """A phone whose screens are laid out by a seed; 0 is the usual layout.

    With `granted` every app has the permissions that it asks for, as after the benchmark's own set-up.
    """
    state = _first_state(granted)
    return Phone(all_apps(), now=state.now, taste=Taste(layout_seed), state=state)


@cache
def _first_state(granted: bool) -> State:
    """All apps as they are at first; made once, since a state never changes."""
    state = Phone(all_apps(), now=BENCHMARK_TIME.timestamp()).state
    pairs = {(app.package, permission) for app in all_apps() for permission in app.permissions}
    return replace(state, granted=frozenset(pairs)) if granted else state
