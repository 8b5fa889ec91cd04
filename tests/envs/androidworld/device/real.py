"""The benchmark's real packages, in an interpreter of their own; where they are not, what needs them is skipped."""

import os
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.androidworld.device.hosted import PYTHON_VARIABLE, HostedDevice

ROOT = Path(__file__).parents[4]

needs_android_world = pytest.mark.skipif(
    not os.environ.get(PYTHON_VARIABLE), reason=f"${PYTHON_VARIABLE} names no interpreter that has android_world"
)


def folders() -> list[str]:
    """What that interpreter imports from: this checkout, and where android_world was not installed, its checkout."""
    return [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]


def device(device: dict[str, Any] | None = None, target: str = "", **kwargs: Any) -> HostedDevice:
    """The embedded phone under the real packages."""
    kwargs = {"device": {"kind": "phone", **(device or {})}, **kwargs}
    return HostedDevice(kwargs, None, folders(), *([target] if target else []))
