"""Android's tools on this machine: where they are, and questions to a device through `adb`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

_FOLDERS = {"adb": "platform-tools", "emulator": "emulator", "avdmanager": "cmdline-tools/latest/bin"}
"""Where Android's SDK keeps its tools."""

_SDKS = ("$ANDROID_SDK_ROOT", "$ANDROID_HOME", "~/Android/Sdk", "~/Library/Android/sdk")


def find_tool(name: str, given: str | None = None) -> str | None:
    """The path of one of Android's tools: the one that is given, or the first that is found."""
    if given is not None:
        return shutil.which(os.path.expanduser(given))
    for sdk in _SDKS:
        path = Path(os.path.expandvars(os.path.expanduser(sdk)), _FOLDERS[name], name)
        if path.is_absolute() and os.access(path, os.X_OK):
            return str(path)
    return shutil.which(name)


def serial_of(console_port: int) -> str:
    """What `adb` calls an emulator."""
    return f"emulator-{console_port}"


def listens(port: int) -> bool:
    """Whether something on this machine takes connections at a port."""
    try:
        socket.create_connection(("localhost", port), timeout=2).close()
    except OSError:
        return False
    return True


class ToolError(Exception):
    """A tool that failed, does not answer, or cannot be run."""


def output_of(command: Sequence[str], timeout: float = 20.0) -> str:
    """What a tool prints. Its words are arguments: no shell of this machine reads them."""
    try:
        ran = subprocess.run(list(command), capture_output=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{Path(command[0]).name} gave no answer within {timeout:g} s") from None
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be run ({error.strerror})") from error
    said = (ran.stdout + ran.stderr).decode("utf-8", "replace").strip()
    if ran.returncode:
        raise ToolError(said.splitlines()[-1][:300] if said else f"{command[0]} ended with status {ran.returncode}")
    return said
