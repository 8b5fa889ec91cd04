"""Reading a task's file, which somebody else wrote: what comes out is as `DesktopTask` promises, or it is refused.

What the benchmark writes in several ways has one form afterwards: one metric is a list of one, what is empty is None,
an app has the name of its folder. What is refused is named in one sentence, with the task and the place in its file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from eapo_gym.envs.osworld.steps import Wrong, read_step, shown
from eapo_gym.envs.osworld.tasks import INFEASIBLE, Check, ConfigStep, DesktopTask, Evaluator, TaskFileError

LARGEST_FILE = 1_000_000
"""Bytes; the benchmark's largest file has 7,000."""

LONGEST_INSTRUCTION = 10_000
"""Characters; the benchmark's longest has 651."""

MOST_STEPS, MOST_CHECKS = 200, 50

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")

_APPS = {
    "calc": "libreoffice_calc",
    "writer": "libreoffice_writer",
    "impress": "libreoffice_impress",
    "vscode": "vs_code",
    "terminal": "os",
    "browser": "chrome",
}
"""What the benchmark's files call an app besides the name of its folder."""


def read_task(
    source: Path | Mapping[str, Any],
    *,
    domain: str,
    metrics: Collection[str] | None = None,
    getters: Collection[str] | None = None,
) -> DesktopTask:
    """A task of a file, or of what such a file holds.

    Args:
        source: the file, or its content.
        domain: the folder that it stands in, which is the first half of the task's id.
        metrics: the names of the metrics that there are; any name will do without it.
        getters: the same of the getters.

    Raises:
        TaskFileError: it is not as a task's file should be.
    """
    name = f"{domain}/{source.stem}" if isinstance(source, Path) else domain
    try:
        if not _NAME.fullmatch(domain):
            raise Wrong(f"expected a domain such as libreoffice_calc, got {shown(domain)}")
        raw = _load(source)
        key = _key(raw, source)
        name = f"{domain}/{key}"
        return DesktopTask(
            id=name,
            domain=domain,
            instruction=_instruction(raw),
            config=_steps(raw, "config"),
            evaluator=_evaluator(raw, metrics, getters),
            apps=_apps(raw),
            beside=source.parent if isinstance(source, Path) else None,
            raw=raw,
        )
    except Wrong as wrong:
        raise TaskFileError(f"Task {name:.200}: {wrong}.") from None


def _load(source: Path | Mapping[str, Any]) -> Mapping[str, Any]:
    """The file's content, as JSON that can also be written again."""
    if isinstance(source, Path):
        try:
            with source.open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
        except OSError as error:
            raise Wrong(f"its file {source} cannot be read ({error.strerror or error})") from None
    else:
        try:
            content = json.dumps(source, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise Wrong(f"it is nothing that JSON can hold ({_brief(error)})") from None
    if len(content) > LARGEST_FILE:
        raise Wrong(f"expected a file of at most {LARGEST_FILE // 1_000_000} MB, and this one is larger")
    try:
        raw = json.loads(content.decode(), parse_constant=_no_constant)
        json.dumps(raw, ensure_ascii=False).encode()  # halves of characters ("\ud800") can be in no file and no prompt
    except (ValueError, RecursionError) as error:
        raise Wrong(f"it is not JSON ({_brief(error)})") from None
    if not isinstance(raw, dict):
        raise Wrong(f"expected a JSON object, got {shown(raw)}")
    return raw


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _brief(error: Exception) -> str:
    return f"{error}"[:120].rstrip(".") if str(error) else type(error).__name__


def _key(raw: Mapping[str, Any], source: Path | Mapping[str, Any]) -> str:
    key = raw.get("id")
    if not isinstance(key, str) or not _NAME.fullmatch(key):
        raise Wrong(f"expected an id of letters, digits, '-', '_' and '.', got {shown(key)}")
    if isinstance(source, Path) and key != source.stem:
        raise Wrong(f"its id is {key!r}, and its file is called {source.name!r}: one of them must change")
    return key


def _instruction(raw: Mapping[str, Any]) -> str:
    instruction = raw.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        raise Wrong(f"instruction: expected a text, got {shown(instruction)}")
    if len(instruction) > LONGEST_INSTRUCTION:
        raise Wrong(f"instruction: expected at most {LONGEST_INSTRUCTION:,} characters, got {len(instruction):,}")
    return instruction


def _steps(part: Mapping[str, Any], name: str, within: str = "") -> tuple[ConfigStep, ...]:
    steps = part.get(name)
    if steps is None:
        return ()
    if not isinstance(steps, list):
        raise Wrong(f"{within}{name}: expected a list of steps, got {shown(steps)}")
    if len(steps) > MOST_STEPS:
        raise Wrong(f"{within}{name}: expected at most {MOST_STEPS} steps, got {len(steps)}")
    return tuple(_step(step, f"{within}{name}, step {number}") for number, step in enumerate(steps, 1))


def _step(step: Any, place: str) -> ConfigStep:
    try:
        return read_step(step)
    except Wrong as wrong:
        raise Wrong(f"{place}: {wrong}") from None


def _apps(raw: Mapping[str, Any]) -> tuple[str, ...]:
    apps = raw.get("related_apps", [])
    if not isinstance(apps, list) or not all(isinstance(app, str) for app in apps):
        raise Wrong(f"related_apps: expected a list of names, got {shown(apps)}")
    named = (app.strip().lower().replace(" ", "_") for app in apps)
    return tuple(dict.fromkeys(_APPS.get(app, app) for app in named))


# How it is judged


def _evaluator(raw: Mapping[str, Any], metrics: Collection[str] | None, getters: Collection[str] | None) -> Evaluator:
    evaluator = raw.get("evaluator")
    if not isinstance(evaluator, dict):
        raise Wrong(f"evaluator: expected an object with func, result and expected, got {shown(evaluator)}")
    names = _metrics(evaluator, metrics)
    results, expectations, options = (_parts(evaluator, part, len(names)) for part in ("result", "expected", "options"))
    checks = []
    for name, result, expected, chosen in zip(names, results, expectations, options, strict=True):
        _check_getter(result, "result", getters)
        _check_getter(expected, "expected", getters)
        if result is None and name != INFEASIBLE:
            raise Wrong(f"evaluator: result is missing, and {name!r} has nothing to look at")
        checks.append(Check(name, result, expected, chosen or {}))
    conj = evaluator.get("conj", "and")
    if conj not in ("and", "or"):
        raise Wrong(f"evaluator: expected conj to be 'and' or 'or', got {shown(conj)}")
    return Evaluator(tuple(checks), conj == "and", _steps(evaluator, "postconfig", "evaluator: "))


def _metrics(evaluator: Mapping[str, Any], known: Collection[str] | None) -> list[str]:
    func = evaluator.get("func")
    given: list[Any] = func if isinstance(func, list) else [func]
    if not given or len(given) > MOST_CHECKS:
        raise Wrong(f"evaluator: expected func to name from 1 to {MOST_CHECKS} metrics, got {len(given)}")
    names = []
    for name in given:
        if not isinstance(name, str) or not name:
            raise Wrong(f"evaluator: expected func to name a metric, got {shown(name)}")
        if known is not None and name not in known:
            raise Wrong(f"evaluator: there is no metric {shown(name)}")
        names.append(name)
    return names


def _parts(evaluator: Mapping[str, Any], part: str, count: int) -> list[Mapping[str, Any] | None]:
    """One part of the evaluator, for each of its metrics; what is empty or missing is None."""
    given = evaluator.get(part)
    if not given and isinstance(given, dict | list | None):
        return [None] * count
    several = isinstance(evaluator.get("func"), list)
    values = given if several else [given]
    if not isinstance(values, list) or len(values) != count:
        expected = f"a list of {count}, one for each metric" if several else "an object"
        got = f"a list of {len(values)}" if isinstance(values, list) and several else shown(given)
        raise Wrong(f"evaluator: expected {part} to be {expected}, got {got}")
    for value in values:
        if not isinstance(value, dict | None):
            raise Wrong(f"evaluator: expected {part} to be an object, got {shown(value)}")
    return [value or None for value in values]


def _check_getter(getter: Mapping[str, Any] | None, part: str, known: Collection[str] | None) -> None:
    if getter is None:
        return
    kind = getter.get("type")
    if not isinstance(kind, str) or not kind:
        raise Wrong(f"evaluator: expected {part} to have a type that names a getter, got {shown(kind)}")
    if known is not None and kind not in known:
        raise Wrong(f"evaluator: there is no getter {shown(kind)}")
