"""Thunderbird: its settings, its filters, its folders."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.judging.metrics.texts import records_as_wanted
from eapo_gym.envs.osworld.judging.office.values import matches
from eapo_gym.envs.osworld.judging.safe_files import text

PREFERENCE = re.compile(r'user_pref\("(?P<key>(?:[^"]|\\")+)", (?P<value>.+)\);')
CONDITION = re.compile(r'\b(?:AND|OR) \((?:[\w ]+),(?:[\w \']+),(?:"(?:(?:[^"]|")+)"|(?:[^)]+))\)|\bALL\b')
FIELDS = ("name", "enabled", "type", "action", "actionValue")
BETWEEN_MESSAGES = "FROM - "


def check_thunderbird_prefs(result: Path | None, rule: Mapping[str, Any]) -> float:
    """Whether settings are as they should be, and none as it should not; of a setting told twice the last counts."""
    if result is None:
        return 0.0
    expected, unexpected = rule.get("expect", {}), rule.get("unexpect", {})
    as_wanted = dict.fromkeys(expected, False)
    fine = True
    for line in text(result).split("\n"):
        told = PREFERENCE.fullmatch(line.strip())
        if told is None:
            continue
        key, value = told["key"], json.loads(told["value"])
        if key in expected:
            as_wanted[key] = matches(value, expected[key])
        elif key in unexpected:
            fine = fine and not matches(value, unexpected[key])
    return float(fine and all(as_wanted.values()))


def check_thunderbird_filter(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether each expected filter is there, and no unexpected one; of a filter only some fields may be told."""
    if result is None:
        return 0.0
    filters: list[dict[str, Any]] = []
    current: dict[str, Any] = {}
    for line in text(result).split("\n"):
        field, _, quoted = line.partition("=")
        value = quoted[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        if field == "name":
            current = {}
        if field in FIELDS:
            current[field] = value
        elif field == "condition":  # the last line of a filter
            filters.append(current | {"condition": CONDITION.findall(value)})
    return records_as_wanted(filters, rules)


def check_thunderbird_folder(
    result: Any,
    expected: Any,
    *,
    remove_deleted: bool = True,
    remove_duplicate: bool = True,
    ignore_status: bool = False,
    ignore_keys: bool = False,
) -> float:
    """Whether folders have the same messages, as the benchmark sees them.

    The benchmark means to compare messages, and looks at the blank ones alone (a test of its code is the wrong way
    round). Its verdict is given here, so that scores are comparable: nearly any file that is there is right.
    """
    results, wanted = (result, expected) if isinstance(expected, list) else ([result], [expected])
    for one, other in zip(results, wanted, strict=False):
        if one is None:
            return 0.0
        found, gold = (_blank_messages(text(path)) for path in (one, other))
        if (found > 0) != (gold > 0) or (not remove_duplicate and found != gold):
            return 0.0
    return 1.0


def _blank_messages(folder: str) -> int:
    return sum(not message.strip() for message in folder.strip().split(BETWEEN_MESSAGES))


METRICS = {
    "check_thunderbird_prefs": check_thunderbird_prefs,
    "check_thunderbird_filter": check_thunderbird_filter,
    "check_thunderbird_folder": check_thunderbird_folder,
}
