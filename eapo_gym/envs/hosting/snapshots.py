"""What `HostedEnv.snapshot` returns: opaque to the host, read by the tenant alone.

A snapshot of plain data (text, numbers, tuples, lists, dicts, arrays) is a `ValueSnapshot`: it outlives its process and
can be restored in any hosted environment of the same target. Any other object stays in the tenant, and the host holds a
`HandleSnapshot`: it ends with the process.
"""

from __future__ import annotations

import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NoReturn

from eapo_gym.errors import SnapshotError


@dataclass(frozen=True)
class ValueSnapshot:
    """The state itself, as bytes that the host does not read. Can be pickled."""

    target: str
    value: bytes = field(repr=False)


class HandleSnapshot:
    """A state that one process keeps for as long as this object lives."""

    def __init__(self, target: str, handle: int, drawer: Drawer) -> None:
        self.target = target
        self.handle = handle
        self.drawer = drawer
        drawer.held.add(self)
        # Not sent at once: this may run in any thread, in the middle of a call.
        weakref.finalize(self, drawer.dropped.append, handle).atexit = False

    def __copy__(self) -> HandleSnapshot:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> HandleSnapshot:
        return self  # never changed, and a second finalizer would drop what the first copy still needs

    def __reduce__(self) -> NoReturn:
        raise SnapshotError(
            "This snapshot stays in the process of its environment and cannot be pickled: "
            "only snapshots of plain data (text, numbers, tuples, lists, dicts, arrays) can."
        )


class Drawer:
    """The handles of one process: those that the host holds, and those that the process can forget."""

    def __init__(self) -> None:
        self.held: weakref.WeakSet[HandleSnapshot] = weakref.WeakSet()
        self.dropped: deque[int] = deque()

    def take_dropped(self) -> list[int]:
        """The handles let go since the last time."""
        return [self.dropped.popleft() for _ in range(len(self.dropped))]
