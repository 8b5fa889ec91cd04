"""A phone as it comes: all apps, the benchmark's date, and a first touch of every app behind it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from eapo_gym.envs.androidworld.phone.app import Taste
from eapo_gym.envs.androidworld.phone.apps import all_apps
from eapo_gym.envs.androidworld.phone.phone import Phone

BENCHMARK_TIME = datetime(2023, 10, 15, 15, 34, tzinfo=timezone.utc)
"""The moment at which every one of the benchmark's tasks begins."""


def new_phone(layout_seed: int = 0, *, granted: bool = True) -> Phone:
    """A phone whose screens are laid out by a seed; 0 is the usual layout.

    With `granted` every app has the permissions that it asks for, as after the benchmark's own set-up.
    """
    phone = Phone(all_apps(), now=BENCHMARK_TIME.timestamp(), taste=Taste(layout_seed))
    if granted:
        pairs = {(app.package, permission) for app in all_apps() for permission in app.permissions}
        phone.state = replace(phone.state, granted=frozenset(pairs))
    return phone
