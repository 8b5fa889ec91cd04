"""Which state the phone is in: all of it but the clock, and what only shows for a moment."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

from eapo_gym.envs.androidworld.phone.databases import Database
from eapo_gym.envs.androidworld.phone.files import File
from eapo_gym.envs.androidworld.phone.state import Activity, State

_KNOWN: WeakKeyDictionary[Database, bytes] = WeakKeyDictionary()
"""What was made of a database before: all states in which it has not changed share it."""


def fingerprint(state: State, *more: str) -> str:
    """The same in every process. When a file was changed does not belong to it, nor what time it is."""
    digest = blake2b(digest_size=16)
    # Those in the background too: an app is opened again where it was left.
    tasks = [[_activity(each) for each in task.activities] for task in state.tasks]
    for part in (
        more,
        tasks,
        _activity(state.home) if state.at_home else (),
        state.at_home,
        state.shade,
        state.keyboard,
        state.clipboard,
        sorted(state.granted),
        sorted(state.disabled),
        {name: sorted(values.items()) for name, values in sorted(state.settings.items())},
        _plain(state.memory),
        sorted(state.files.folders),
    ):
        digest.update(repr(part).encode("utf-8", "surrogatepass") + b"\n")
    for path, file in sorted(state.files.files.items()):
        digest.update(path.encode("utf-8", "surrogatepass") + b"\0" + _content(file))
    return digest.hexdigest()


def _activity(activity: Activity) -> tuple[Any, ...]:
    return (
        activity.component,
        _plain(activity.extras),
        _plain(activity.kept),
        activity.focus,
        activity.cursor,
        activity.all_selected,
        activity.edit_menu,
        # A list that was scrolled and is back at its top is as it was.
        sorted((name, offset) for name, offset in activity.scrolled.items() if offset),
    )


def _content(file: File) -> bytes:
    content = file.content
    if isinstance(content, bytes):
        return blake2b(content, digest_size=16).digest()
    if content not in _KNOWN:
        rows = {table: [sorted(row.items()) for row in rows] for table, rows in sorted(content.tables.items())}
        _KNOWN[content] = blake2b(
            repr((content.schema, rows)).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
    return _KNOWN[content]


def _plain(value: Any) -> Any:
    """With mappings in the order of their names."""
    if isinstance(value, Mapping):
        return [(str(name), _plain(part)) for name, part in sorted(value.items(), key=lambda item: str(item[0]))]
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
