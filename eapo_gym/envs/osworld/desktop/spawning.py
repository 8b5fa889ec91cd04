"""Starting processes that the kernel ends together with this one.

The kernel's signal "your parent has died" is about the *thread* that started the child. A desktop that is started in a
thread of a pool would end with that thread, so all are started in one thread that lives as long as this process does.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO

_starter: ThreadPoolExecutor | None = None


def spawn(
    command: Sequence[str], *, pass_fds: Sequence[int], log: IO[bytes], user: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command with an empty environment, as another user if one is given (only root can)."""
    return _thread().submit(_spawn, command, pass_fds, log, user).result()


def _spawn(
    command: Sequence[str], pass_fds: Sequence[int], log: IO[bytes], user: int | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={},
        cwd="/",
        pass_fds=pass_fds,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )


def _thread() -> ThreadPoolExecutor:
    global _starter
    if _starter is None:
        _starter = ThreadPoolExecutor(1, thread_name_prefix="desktop-starter")
    return _starter


def _forget() -> None:
    """A forked process has the object, but not the thread."""
    global _starter
    _starter = None


os.register_at_fork(after_in_child=_forget)
