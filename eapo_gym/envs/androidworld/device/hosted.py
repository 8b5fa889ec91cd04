"""The host's side: the device's environment in a process of its own, under the interpreter that has `android_world`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import MissingExtra

PYTHON_VARIABLE = "EAPO_ANDROIDWORLD_PYTHON"
"""An interpreter that has android_world and eapo-gym, for those who keep them apart from their own."""

PACKAGE = "git+https://github.com/google-research/android_world"
"""It is not on the package index."""

_START_SECONDS = 900.0
"""An emulator that boots, and installs its apps if it has to."""

_RESET_SECONDS = 600.0
_STEP_SECONDS = 120.0

_MODULES = ("android_world", "android_env")


class HostedDevice(HostedEnv):
    """A device in a process of its own."""

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        python: str | None = None,
        path: Sequence[str | os.PathLike[str]] = (),
        target: str = "eapo_gym.envs.androidworld.device.env:AndroidDeviceEnv",
    ) -> None:
        python = python or os.environ.get(PYTHON_VARIABLE) or None
        if python is None and not is_installed():
            raise MissingExtra(f"source='official' needs AndroidWorld's own package: {how_to_install('python')}")
        try:
            super().__init__(
                target,
                kwargs,
                python=python,
                path=path,
                timeout=_STEP_SECONDS,
                timeouts={
                    "reset": _RESET_SECONDS,
                    "restore": _RESET_SECONDS,
                    "snapshot": _RESET_SECONDS,
                    "close": 60.0,
                },
                start_timeout=_START_SECONDS,
            )
        except ImportError as error:
            raise MissingExtra(
                f"{python or 'This Python'} lacks {error.name}: {how_to_install(python or 'python')}"
            ) from error
        self.most_steps: int = self.call("most_steps")


def hosted_device(
    python: str | None = None,
    path: Sequence[str | os.PathLike[str]] = (),
    device: str = "emulator",
    split: str = "test",
    tasks: Sequence[str] | None = None,
    episodes: int | None = None,
    observation_mode: str = "both",
    render_mode: str | None = None,
    patience: Mapping[str, float] | None = None,
    **connection: Any,
) -> HostedDevice:
    """AndroidWorld's own tasks on a device.

    Args:
        python: the interpreter that has `android_world`, instead of the one that $EAPO_ANDROIDWORLD_PYTHON names.
        path: folders that it can import from besides its own.
        device: "emulator", or "phone": the embedded phone under the benchmark's own code.
        split: and the next five, see `AndroidDeviceEnv`.
        connection: see `EmulatorConnection`: console_port, grpc_port, adb_path, avd, emulator_path, snapshot, setup.
    """
    kwargs = {
        "device": {"kind": device, **connection},
        "split": split,
        "tasks": tasks,
        "episodes": episodes,
        "observation_mode": observation_mode,
        "render_mode": render_mode,
        "patience": patience,
    }
    return HostedDevice(kwargs, python, path)


def is_installed() -> bool:
    """Whether this interpreter has the benchmark's package."""
    return all(find_spec(module) is not None for module in _MODULES)


def how_to_install(python: str) -> str:
    return (
        f"{python} -m pip install --no-deps '{PACKAGE}', with what it needs (see the page AndroidWorld, Real devices); "
        f"then let ${PYTHON_VARIABLE} name that interpreter."
    )
