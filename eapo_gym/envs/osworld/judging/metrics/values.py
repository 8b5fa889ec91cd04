"""Values that a getter gives as they are: texts, lists, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.judging.office.documents import paragraphs
from eapo_gym.envs.osworld.judging.office.similarity import similarity
from eapo_gym.envs.osworld.tasks import TaskFileError

EVALUATION_FAILED = "__EVALUATION_FAILED__"
"""What stands for an expected value that could not be had."""

PLACES = 3
"""So many words the document of `fuzzy_place_math` must have."""


def exact_match(result: Any, rules: Mapping[str, Any]) -> float:
    return float(result == rules["expected"])


def match_in_list(result: Any, rules: Mapping[str, Any]) -> float:
    """Whether the result is one of those that are expected."""
    return float(result in rules["expected"])


def is_in_list(result: Any, rules: Mapping[str, Any]) -> float:
    """Whether what is expected is one of the result's."""
    return float(rules["expected"] in result)


def fuzzy_match(result: str | None, rules: Mapping[str, Any]) -> float:
    """How alike two texts are."""
    return 0.0 if result is None else similarity(result, rules["expected"])


def fuzzy_place_math(result: Path | None, rules: Mapping[str, Any]) -> float:
    """How alike the three words of a document are to the answers that are nearest to them."""
    if result is None:
        return 0.0
    words = [word for paragraph in paragraphs(result) for word in paragraph.split()]
    if len(words) != PLACES:
        return 0.0
    return sum(max((similarity(word, answer) for answer in rules["expected"]), default=0.0) for word in words) / PLACES


def literal_match(result: Any, expected: Any, *, type: str = "str", ignore_case: bool = False) -> float:
    """Whether both are written alike: as one text, or each of a list's."""

    def literal(value: object) -> str:
        return str(value).lower() if ignore_case else str(value)

    if type == "str":
        return float(literal(result) == literal(expected))
    if type == "list":
        both_lists = isinstance(result, (list, tuple)) and isinstance(expected, (list, tuple))
        return float(both_lists and list(map(literal, result)) == list(map(literal, expected)))
    raise TaskFileError(f"literal_match compares a 'str' or a 'list', not {type!r}.")


def check_include_exclude(result: Any, rules: Mapping[str, Sequence[str]]) -> float:
    """Whether a text holds all that it should and nothing that it should not."""
    if result is None:
        return 0.0
    return float(
        all(part in result for part in rules.get("include", []))
        and all(part not in result for part in rules.get("exclude", []))
    )


def check_direct_json_object(result: Any, rules: Mapping[str, Any]) -> float:
    """Whether an object has the expected values; with `expect_in_result`, whether it holds them.

    A text is read as JSON, with single quotes for double ones.
    """
    found = json.loads(result.strip().replace("'", '"')) if isinstance(result, str) else result
    expected = rules.get("expected")
    if found is None or not isinstance(expected, Mapping) or EVALUATION_FAILED in expected.values():
        return 0.0
    try:
        if rules.get("expect_in_result", False):
            return float(all(_holds(found.get(key), wanted) for key, wanted in expected.items()))
        if expected.get("ignore_list_order", False):
            return float(all(sorted(wanted) == sorted(found.get(key)) for key, wanted in expected.items()))
        return float(all(found.get(key) == wanted for key, wanted in expected.items()))
    except (AttributeError, TypeError):
        return 0.0


def _holds(found: Any, wanted: Any) -> bool:
    """One of a list is there or is all that is there; a text is part of what is there."""
    if isinstance(wanted, list):
        if isinstance(found, list):
            return any(one in found for one in wanted)
        return isinstance(found, str) and found in wanted
    return isinstance(wanted, str) and wanted in found


def compare_answer(result: Any, rules: Mapping[str, Any]) -> float:
    return float(bool(result) and result == rules["expected"])


METRICS = {
    "exact_match": exact_match,
    "match_in_list": match_in_list,
    "is_in_list": is_in_list,
    "fuzzy_match": fuzzy_match,
    "fuzzy_place_math": fuzzy_place_math,
    "literal_match": literal_match,
    "check_include_exclude": check_include_exclude,
    "check_direct_json_object": check_direct_json_object,
    "compare_answer": compare_answer,
}
