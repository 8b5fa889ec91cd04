"""What an app is set to, in the file in which Android's apps keep it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from html import escape, unescape

from eapo_gym.envs.androidworld.phone.app import Scene, Turn
from eapo_gym.envs.androidworld.phone.state import State

_ENTRY = re.compile(r'<string name="([^"]*)">([^<]*)</string>')


def preference(at: Scene, package: str, name: str, default: str = "") -> str:
    """What was set under that name in an app."""
    return _preferences(at, package).get(name, default)


def prefer(turn: Turn, package: str, **values: str) -> None:
    """Set some of them; they stay when the app is stopped."""
    entries = {**_preferences(turn, package), **values}
    lines = "".join(f'    <string name="{escape(name)}">{escape(value)}</string>\n' for name, value in entries.items())
    head = "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>"
    turn.write(path_of_preferences(package), f"{head}\n<map>\n{lines}</map>\n")


def set_preference(turn: Turn, package: str, name: str, value: str) -> None:
    """Set one whose name is not known beforehand."""
    prefer(turn, package, **{name: value})


def without_preferences(state: State, package: str) -> State:
    """As the app is when it is new."""
    path = path_of_preferences(package)
    return replace(state, files=state.files.remove(path, state.now)) if path in state.files else state


def path_of_preferences(package: str) -> str:
    return f"/data/data/{package}/shared_prefs/{package}_preferences.xml"


def _preferences(at: Scene, package: str) -> Mapping[str, str]:
    path = path_of_preferences(package)
    return _read(at.files.text(path)) if path in at.files else {}


@lru_cache(maxsize=64)
def _read(content: str) -> Mapping[str, str]:
    return {unescape(name): unescape(value) for name, value in _ENTRY.findall(content)}
