"""The transport: a tenant in a child process, frames over two pipes, time-outs, and a way out of every hang.

A tenant on another machine would be another `Transport`; what is said over it (client.py) would stay the same.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from eapo_gym.envs.hosting import codec
from eapo_gym.errors import HostingError

TENANT = Path(__file__).with_name("tenant.py")

_OUTPUT_KEPT = 16_000
_LINES = 12
_READ = 1 << 18
_LOOK_ROUND = 1.0
"""Seconds between two looks at whether a silent process is still alive."""

_FINAL_GRACE = 1.0
"""Seconds that a tenant has to leave when its host forgot to close it."""


class Fault(Exception):
    """The tenant is lost: it hangs ("timeout"), is dead ("died"), or talks nonsense ("protocol")."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class Transport(Protocol):
    """Carries messages to one tenant and back. A deadline is a `time.monotonic()`, or None to wait for ever."""

    def send(self, body: bytes, deadline: float | None) -> None:
        """Raises `Fault` if the message cannot be handed over."""

    def receive(self, deadline: float | None) -> bytes | bytearray:
        """The next message. Raises `Fault` if none comes."""

    def end(self, grace: float) -> None:
        """Give the tenant `grace` seconds to leave by itself, then make it. May be called again."""

    @property
    def output(self) -> str:
        """The last of what the tenant printed."""


class TenantProcess:
    """A tenant in a child process that leads a session of its own, so that its whole family can be ended."""

    def __init__(self, python: str | None = None, environment: Mapping[str, str | None] | None = None) -> None:
        if os.name != "posix":
            raise HostingError("Hosted environments need a POSIX system (Linux, macOS): on Windows, use WSL.")
        interpreter = python or sys.executable
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        self._prints, prints = os.pipe()
        ours, theirs = (self._requests, self._replies, self._prints), (requests, replies, prints)
        try:
            self._child = subprocess.Popen(
                [interpreter, "-u", str(TENANT), str(requests), str(replies)],
                stdin=subprocess.DEVNULL,
                stdout=prints,
                stderr=prints,
                pass_fds=(requests, replies),
                env=_child_environment(environment or {}, foreign=python is not None),
                start_new_session=True,
            )
        except OSError as error:
            _close_all(ours)
            raise HostingError(
                f"python: expected the path of a Python interpreter, got {interpreter!r} ({error.strerror})."
            ) from error
        finally:
            _close_all(theirs)
        for descriptor in ours:
            os.set_blocking(descriptor, False)
        self._printed = b""
        self._to_send, self._to_receive = select.poll(), select.poll()
        self._to_send.register(self._requests, select.POLLOUT)
        self._to_receive.register(self._replies, select.POLLIN)
        # What the tenant prints is taken while the host waits, so that it never hangs on a full pipe.
        for poll in (self._to_send, self._to_receive):
            poll.register(self._prints, select.POLLIN)
        self._prints_ended = False
        self._leave = (self._child, ours, os.getpid())
        # Whoever forgets to close leaves no process behind: this runs when the object goes, or the interpreter ends.
        self._finalizer = weakref.finalize(self, _end, *self._leave, _FINAL_GRACE)
        _living.add(self)

    @property
    def pid(self) -> int:
        return self._child.pid

    def send(self, body: bytes, deadline: float | None) -> None:
        if not self._finalizer.alive:
            raise Fault("died", "ended by its host, or started by another process than this one.")
        rest = memoryview(codec.prefix_of(body) + body)
        while rest:
            rest = rest[self._write(rest, deadline) :]

    def receive(self, deadline: float | None) -> bytearray:
        prefix = self._read(codec.PREFIX.size, deadline, "without a reply")
        try:
            length = codec.body_length(prefix)
        except codec.CodecError as error:
            raise Fault("protocol", f"garbage on the pipe: {error}") from error
        return self._read(length, deadline, "in the middle of a reply")

    def end(self, grace: float) -> None:
        if self._finalizer.alive:
            self._read_prints()
            self._let_go(grace)

    def _let_go(self, grace: float) -> None:
        if self._finalizer.detach() is not None:
            _end(*self._leave, grace)
            _living.discard(self)

    @property
    def output(self) -> str:
        if self._finalizer.alive:
            self._read_prints()
        return self._printed.decode("utf-8", "replace")

    def _write(self, data: memoryview, deadline: float | None) -> int:
        try:
            return os.write(self._requests, data)
        except BlockingIOError:
            self._wait(self._to_send, self._requests, deadline)
            return 0
        except BrokenPipeError:
            raise self._death("before it took the request") from None

    def _read(self, size: int, deadline: float | None, when: str) -> bytearray:
        data = bytearray(size)
        rest = memoryview(data)
        while rest:
            self._wait(self._to_receive, self._replies, deadline)
            count = os.readv(self._replies, [rest])
            if count == 0:
                raise self._death("in the middle of a reply" if len(rest) < size else when)
            rest = rest[count:]
            if rest and _is_late(deadline):
                raise Fault("timeout", "only a part of the answer came in time.")
        return data

    def _wait(self, poll: select.poll, wanted: int, deadline: float | None) -> None:
        while True:
            left = _LOOK_ROUND if deadline is None else min(_LOOK_ROUND, deadline - time.monotonic())
            ready = [descriptor for descriptor, _ in poll.poll(max(0.0, left) * 1000)]
            if self._prints in ready:
                self._read_prints()
            if wanted in ready:
                return
            if _is_late(deadline):
                raise Fault("timeout", f"no answer in time.{self._where_it_hangs()}")
            # A process that the tenant left behind may keep the pipe open after its death.
            if not ready and self._child.poll() is not None:
                raise self._death("without a reply")

    def _read_prints(self) -> None:
        while not self._prints_ended:
            try:
                chunk = os.read(self._prints, _READ)
            except BlockingIOError:
                return
            if not chunk:
                self._prints_ended = True
                self._to_send.unregister(self._prints)
                self._to_receive.unregister(self._prints)
            self._printed = (self._printed + chunk)[-_OUTPUT_KEPT:]

    def _where_it_hangs(self) -> str:
        """The stack of the call that takes too long, from the tenant's fault handler; the tenant is killed next."""
        self._child.send_signal(signal.SIGUSR1)
        stack = ""
        for _ in range(10):
            time.sleep(0.02)
            stack = self.output.rpartition("(most recent call first):\n")[2]
            if "in <module>" in stack:
                break
        return _quoted(" It hangs in", stack.splitlines()[:_LINES]) if "in <module>" in stack else self._last_lines()

    def _death(self, when: str) -> Fault:
        try:
            code = self._child.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return Fault("died", f"it closed its pipe {when}.{self._last_lines()}")
        how = f"exited with code {code}" if code >= 0 else f"was killed by {_signal_name(-code)}"
        return Fault("died", f"its process {how} {when}.{self._last_lines()}")

    def _last_lines(self) -> str:
        lines = [line for line in self.output.splitlines() if line.strip()]
        # A crash in C code leaves a stack, which begins with what happened and where.
        crash = max((at for at, line in enumerate(lines) if line.startswith("Fatal Python error")), default=-_LINES)
        return _quoted(" It printed last", lines[crash:][:_LINES])


def _is_late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _quoted(what: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{what}:", *(f"  | {line:.300}" for line in lines)]) if lines else ""


def _signal_name(number: int) -> str:
    return next((known.name for known in signal.Signals if known == number), f"signal {number}")


def _child_environment(changes: Mapping[str, str | None], foreign: bool) -> dict[str, str]:
    environment = dict(os.environ)
    # A hash seed of its own: an environment that depends on it must not look deterministic by inheritance.
    dropped = ["PYTHONHASHSEED"]
    if foreign:
        # These speak of the host's interpreter and would break another one.
        dropped += ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"]
    for name in dropped:
        environment.pop(name, None)
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _end(child: subprocess.Popen[bytes], descriptors: Sequence[int], owner: int, grace: float) -> None:
    _close_all(descriptors)
    if os.getpid() != owner:
        child.returncode = 0  # this is a forked copy of the host, and the child is not its own to wait for
        return
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=grace)
    with contextlib.suppress(ProcessLookupError):
        # The whole group: what the environment started goes with it, even where it went by itself.
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


_living: weakref.WeakSet[TenantProcess] = weakref.WeakSet()


def _let_go_after_fork() -> None:
    # Held open in a forked copy of the host, its ends of the pipes would hide its death from the tenants.
    for process in list(_living):
        process._let_go(0.0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_after_fork)
