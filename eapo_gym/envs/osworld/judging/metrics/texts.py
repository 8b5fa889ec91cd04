"""Files of text: lines, tables of text, JSON and YAML, Python, HTML."""

from __future__ import annotations

import csv
import difflib
import functools
import io
import operator
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.judging.office.values import matches
from eapo_gym.envs.osworld.judging.registry import CannotJudge, Unreadable
from eapo_gym.envs.osworld.judging.safe_files import database_rows, json_in, json_of, text
from eapo_gym.errors import MissingExtra

TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)")
SAME_NUMBER = 1e-4
METADATA_LINES = 3
"""So many lines at the top of a program may be its "#!" and its encoding."""


def compare_text_file(
    result: Path | None, expected: Path, *, ignore_blanks: bool = False, ignore_case: bool = False
) -> float:
    if result is None:
        return 0.0

    def normal(written: str) -> str:
        if ignore_blanks:
            written = re.sub(r"\s+", " ", re.sub(r"[\t\n]", " ", written).strip())
        return written.lower() if ignore_case else written

    return float(normal(text(result)) == normal(text(expected)))


def compare_config(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether a file has exactly this text."""
    return float(result is not None and text(result) == rules["expected"])


def diff_text_file(result: Path | None, expected: Path) -> float:
    """How many of the lines are the same."""
    if result is None:
        return 0.0
    return difflib.SequenceMatcher(a=text(result).splitlines(), b=text(expected).splitlines()).ratio()


def compare_result_files(result: Path | None, expected: Path | None) -> float:
    """Whether a file says what the other does: the same text, or a number that is in it or nearly it."""
    if result is None or expected is None:
        return 0.0
    said, wanted = text(result).strip(), text(expected).strip()
    try:
        number = float(wanted)
        return float(wanted in said or abs(float(said) - number) < SAME_NUMBER)
    except ValueError:
        return float(said == wanted)


def file_contains(result: Path | None, rules: Mapping[str, Any]) -> float:
    if result is None:
        return 0.0
    written = text(result)
    return float(all(part in written for part in rules["expected"]))


def check_line_number(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether so many lines tell a time of the day."""
    if result is None:
        return 0.0
    return float(sum(bool(TIME_OF_DAY.search(line)) for line in _lines(result)) == int(rules["expected"]))


def compare_terminal_and_txt(result: Path | None, terminal: str | None) -> float:
    return float(bool(result) and bool(terminal) and text(result) == terminal)


def check_list(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether each expected pattern is in some line, and no unexpected one in any."""
    if result is None:
        return 0.0
    lines = _lines(result)
    expected, unexpected = ([re.compile(one) for one in rules.get(which, [])] for which in ("expect", "unexpect"))
    return float(
        all(any(pattern.search(line) for line in lines) for pattern in expected)
        and not any(pattern.search(line) for pattern in unexpected for line in lines)
    )


def check_csv(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether the table has each expected row, and no unexpected one; of a row only some columns may be told."""
    if result is None:
        return 0.0
    rows = list(csv.DictReader(io.StringIO(text(result), newline="")))
    return records_as_wanted(rows, rules)


def records_as_wanted(records: Sequence[Mapping[str, Any]], rules: Mapping[str, Any]) -> float:
    """Whether each record that is expected is among these, and none that is not."""

    def is_there(pattern: Mapping[str, Any]) -> bool:
        return any(all(key in one and one[key] == value for key, value in pattern.items()) for one in records)

    return float(all(map(is_there, rules.get("expect", []))) and not any(map(is_there, rules.get("unexpect", []))))


def check_json(result: Path | None, rules: Mapping[str, Any], *, is_yaml: bool = False) -> float:
    """Whether the values at some places of a JSON or YAML file are as the rules want them."""
    if result is None:
        return 0.0
    said = _yaml(result) if is_yaml else json_in(result)
    if is_yaml and said is None:
        return 0.0
    nothing = object()

    def at(place: Sequence[Any], otherwise: Any) -> Any:
        try:
            return functools.reduce(operator.getitem, place, said)
        except (KeyError, TypeError):
            return otherwise
        except IndexError:
            raise Unreadable(f"A list in {result.name!r} has no place for {list(place)}.") from None

    for rule in rules.get("expect", []):
        value = at(rule["key"], nothing)
        if value is nothing or not matches(value, rule):
            return 0.0
    return float(not any(matches(at(rule["key"], None), rule) for rule in rules.get("unexpect", [])))


def is_included_all_json_objects(wanted: Path | None, result: Path | None) -> float:
    """Whether the second file has all that the first has."""
    if wanted is None or result is None:
        return 0.0
    said, expected = json_in(result), json_in(wanted)
    return float(all(key in said and said[key] == value for key, value in expected.items()))


def check_json_settings(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether settings have these values."""
    if result is None:
        return 0.0
    said = json_in(result)
    return float(all(key in said and said[key] == value for key, value in rules["expected"].items()))


def check_json_keybindings(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether this binding is among those of a file, whose first line may be a comment."""
    if result is None:
        return 0.0
    written = text(result)
    for candidate in (written, written.partition("\n")[2]):
        try:
            bindings = json_of(candidate, result.name)
        except Unreadable:
            continue
        if isinstance(bindings, list):
            return float(rules["expected"] in bindings)
    return 0.0


def is_extension_installed(result: str, rules: Mapping[str, Any]) -> float:
    """Whether a text names something, or does not."""
    named = rules["expected"] in result
    return float(named if rules["type"] == "contain" else not named)


def compare_python_pure_text(result: Path | None, expected: Path | None) -> float:
    """Whether two programs are the same but for blank lines, blanks at the end, tabs, and what stands above."""
    if result is None or expected is None:
        return 0.0
    return float(_program(text(result)) == _program(text(expected)))


def check_html_background_image(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether a style of the page sets this picture as the background."""
    if result is None:
        return 0.0
    reader = _Styles()
    reader.feed(text(result))
    reader.close()
    return float(any(f"background-image: url('{rules['value']}')" in style for style in reader.styles))


def compare_time_in_speedtest_results(result: Path | None, minutes: str) -> float:
    """Whether the second line's second column ends with a time of today that is so near to now."""
    if result is None:
        return 0.0
    lines = _lines(result)
    try:
        told = datetime.strptime(lines[1].split(",")[1][-5:], "%H:%M")
    except (IndexError, ValueError):
        return 0.0
    now = datetime.now()
    apart = abs(told.hour * 60 + told.minute - now.hour * 60 - now.minute)
    return float(apart < int(minutes))


def run_sqlite3(result: Path | None, rules: Mapping[str, Any]) -> float:
    """The number that a query finds in a database."""
    rows = database_rows(result, rules["sql"])
    return float(rows[0][0] or 0)


def check_python_file_by_test_suite(result: Any, expected: Any, **options: Any) -> float:
    raise CannotJudge(
        "check_python_file_by_test_suite would run the agent's programs on this computer, which is not done here: "
        "judge this task with the benchmark's code on a machine of its own."
    )


def _lines(path: Path) -> list[str]:
    """The lines as a file has them: `splitlines` would break at other characters too."""
    return list(io.StringIO(text(path)))


def _program(written: str) -> list[str]:
    lines = written.splitlines()
    above = 0
    while above < min(METADATA_LINES, len(lines)) and re.match(r"#!|# -\*- coding:|# coding[:=]", lines[above].strip()):
        above += 1
    return [line.expandtabs(4).rstrip() for line in lines[above:] if line.strip()]


def _yaml(path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra.of("Checking YAML", "osworld") from None
    try:
        return yaml.safe_load(text(path))
    except (yaml.YAMLError, RecursionError) as error:
        raise Unreadable(f"The file {path.name!r} is no YAML: {error}.") from error


class _Styles(HTMLParser):
    """Gathers what stands in <style>."""

    def __init__(self) -> None:
        super().__init__()
        self.styles: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.styles.append(data)


METRICS = {
    one.__name__: one
    for one in (
        compare_text_file,
        compare_config,
        diff_text_file,
        compare_result_files,
        file_contains,
        check_line_number,
        compare_terminal_and_txt,
        check_list,
        check_csv,
        check_json,
        is_included_all_json_objects,
        check_json_settings,
        check_json_keybindings,
        is_extension_installed,
        compare_python_pure_text,
        check_html_background_image,
        compare_time_in_speedtest_results,
        run_sqlite3,
        check_python_file_by_test_suite,
    )
}
