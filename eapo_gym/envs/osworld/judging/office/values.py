"""One value against a rule of a task: `{"method": "eq", "ref": 5}`."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from eapo_gym.envs.osworld.tasks import TaskFileError

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def matches(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether the value is as the rule asks; a value of a kind that cannot be compared is not.

    Methods: `eq`, `ne`, `lt`, `le`, `gt`, `ge`; `re` with flags behind dots (`re.I`); `approx:0.1`; `range.te` (open at
    the left, closed at the right); `spreadsheet_range` (holds the first range, lies in the second); `str_list_eq` and
    `str_set_eq` (what stands between commas).
    """
    method, reference = rule["method"], rule["ref"]
    try:
        if method.startswith("re"):
            flags = (re.RegexFlag[name] for name in method.split(".")[1:])
            flag = functools.reduce(operator.or_, flags, re.RegexFlag(0))
            return re.search(reference, value, flag) is not None
        if method in COMPARISONS:
            return bool(COMPARISONS[method](value, reference))
        if method.startswith("approx"):
            return abs(float(value) - float(reference)) <= float(method.split(":")[1])
        if method == "spreadsheet_range":
            return _holds_and_lies_in(value, *reference)
        if method.startswith("range."):
            low, high = (COMPARISONS["l" + edge] for edge in method[6:8])
            return bool(low(reference[0], value) and high(value, reference[1]))
        if method == "str_list_eq":
            return _between_commas(value) == list(reference)
        if method == "str_set_eq":
            return set(_between_commas(value)) == set(reference)
    except (AttributeError, TypeError, ValueError):
        return False
    raise TaskFileError(f"Expected a rule with one of the benchmark's methods, got {method!r}.")


def _between_commas(value: str) -> list[str]:
    return value.strip("\"'").split(",")


def _holds_and_lies_in(value: Any, inner: str, outer: str) -> bool:
    from openpyxl.worksheet.cell_range import MultiCellRange

    return all(part in value for part in MultiCellRange(inner)) and all(part in MultiCellRange(outer) for part in value)
