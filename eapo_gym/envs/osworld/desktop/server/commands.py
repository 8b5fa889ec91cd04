"""Runs the commands of tasks, inside of the sandbox."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MOST_OUTPUT = 16 * 2**20
"""Bytes of each stream that are kept."""

_THREADS_AND_PROCESSES = 4096
_OPEN_FILES = 4096
_FILE_SIZE = 4 * 2**30


class TookTooLong(RuntimeError):
    """A command that was ended because its time was over."""


@dataclass(frozen=True)
class Ran:
    output: str
    error: str
    code: int


def limit_resources() -> None:
    """For this process and all that it starts."""
    import resource

    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, _THREADS_AND_PROCESSES),
    ):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    # The first to go where memory runs out.
    Path("/proc/self/oom_score_adj").write_text("500")


def run(command: str | Sequence[str], *, shell: bool, seconds: float, folder: str | None = None) -> Ran:
    """Run to the end. Programs that it leaves running in the background are left so."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        process = subprocess.Popen(
            as_arguments(command, shell),
            shell=shell,
            executable="/bin/bash" if shell else None,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=error,
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            _end_group(process)
            raise TookTooLong(f"The command took longer than {seconds:g} seconds and was ended.") from None
        return Ran(_text(output), _text(error), code)


def launch(command: str | Sequence[str], *, shell: bool) -> None:
    """Start a program and leave it running; raises OSError where it cannot be started."""
    process = subprocess.Popen(
        as_arguments(command, shell),
        shell=shell,
        executable="/bin/bash" if shell else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _launched.append(process)
    forget_ended()


def forget_ended() -> None:
    """Ask programs that have ended for their code, as they stay in the list of processes otherwise."""
    _launched[:] = [each for each in _launched if each.poll() is None]


_launched: list[subprocess.Popen[bytes]] = []


def run_python(code: str, seconds: float) -> Ran:
    return run([sys.executable, "-c", code], shell=False, seconds=seconds)


def as_arguments(command: str | Sequence[str], shell: bool) -> str | list[str]:
    """As the benchmark's server takes it: one text is split at its blanks, and ~/ is the home."""
    if shell:
        return command if isinstance(command, str) else " ".join(command)
    parts = shlex.split(command) if isinstance(command, str) else list(command)
    return [os.path.expanduser(part) if part.startswith("~/") else part for part in parts]


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_OUTPUT).decode("utf-8", "replace")
