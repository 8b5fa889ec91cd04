"""Settings of the desktop, and what lies in folders."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from eapo_gym.envs.osworld.judging.registry import Unreadable


def check_gnome_favorite_apps(result: str, rule: Mapping[str, Any]) -> float:
    """Whether a list, as GNOME's settings write it, has the same members."""
    try:
        found = ast.literal_eval(result.strip().removeprefix("@as "))
    except (ValueError, SyntaxError, RecursionError) as error:
        raise Unreadable(f"{result[:200]!r} is no list of programs.") from error
    return float(len(found) == len(rule["expected"]) and set(found) == set(rule["expected"]))


def is_utc_0(result: str) -> float:
    """Whether the fourth line of what timedatectl says ends with no offset."""
    return float(result.split("\n")[3].endswith("+0000)"))


def check_text_enlarged(result: str) -> float:
    return float(float(result) > 1.0)


def check_moved_jpgs(folder: Mapping[str, Any], rule: Mapping[str, Any]) -> float:
    """Whether a folder holds exactly these files."""
    names = [node["name"] for node in folder["children"]]
    return float(len(names) == len(rule["expected"]) and set(names) == set(rule["expected"]))


def is_in_vm_clickboard(rule: Mapping[str, Any], pasted: str) -> float:  # the benchmark's spelling
    """Whether what the clipboard gave holds all that is expected: here the rule comes first."""
    wanted = rule["expected"] if isinstance(rule["expected"], list) else [rule["expected"]]
    return float(all(part in pasted for part in wanted))


METRICS = {
    one.__name__: one
    for one in (check_gnome_favorite_apps, is_utc_0, check_text_enlarged, check_moved_jpgs, is_in_vm_clickboard)
}
