"""What ALFWorld needs, and what of it is on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from eapo_gym.envs.alfworld.data import DATA_VARIABLE, DOWNLOAD, data_folder
from eapo_gym.envs.alfworld.generator import EMBEDDED_SPLITS, VERSION
from eapo_gym.envs.alfworld.inspection import FOLDER, overview
from eapo_gym.envs.alfworld.reference import PYTHON_VARIABLE, is_installed
from eapo_gym.envs.needs import Need

_PACKAGES = "pip install 'eapo-gym[alfworld]'"

_ASKS = """
import sys
from importlib.util import find_spec
sys.exit(not all(map(find_spec, ("eapo_gym", "alfworld", "textworld", "fast_downward"))))
"""


def needs() -> list[Need]:
    return [
        Need("native engine", True, "built in"),
        _embedded_games(),
        _official_games(),
        _reference_engine(),
    ]


def _embedded_games() -> Need:
    counts = ", ".join(f"{split} {len(seeds):,}" for split, seeds in EMBEDDED_SPLITS.items())
    return Need("embedded games", True, f"{counts} (generator version {VERSION})")


def _official_games() -> Need:
    data = data_folder()
    states = overview(data)
    said = f"${DATA_VARIABLE}" if os.environ.get(DATA_VARIABLE) else f"${DATA_VARIABLE} is not set"
    if all(state.missing for state in states):
        detail = f"not at {data / FOLDER} ({said})"
    else:
        detail = f"{data / FOLDER} ({said}): {'; '.join(map(str, states))}"
    fix = DOWNLOAD
    if all(state.complete for state in states):
        fix = "" if all(state.verified for state in states) else f"{DOWNLOAD} --verify"
    return Need("official games", all(state.complete for state in states), detail, fix, optional=True)


def _reference_engine() -> Need:
    python = os.environ.get(PYTHON_VARIABLE)
    if python:
        fault = _fault_of(python)
        detail = f"{python} (${PYTHON_VARIABLE}){': ' + fault if fault else ''}"
        fix = f"{python} -m {_PACKAGES}" if fault and Path(python).exists() else ""
        return Need("reference engine", not fault, detail, fix, optional=True)
    if is_installed():
        return Need("reference engine", True, f"installed in {sys.executable}", optional=True)
    detail = f"not installed in {sys.executable}, and ${PYTHON_VARIABLE} names no other Python that has it"
    return Need("reference engine", False, detail, _PACKAGES, optional=True)


def _fault_of(python: str) -> str:
    """What keeps another interpreter from hosting the reference engine, or nothing."""
    try:
        asked = subprocess.run([python, "-c", _ASKS], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run ({type(error).__name__})"
    return "lacks alfworld, textworld or eapo_gym" if asked.returncode else ""
