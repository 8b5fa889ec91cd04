"""The steps of a preparation: which types there are, and what each is told.

The benchmark's files write one thing in several ways: `shell` comes as true and as "true", a command as a text and as a
list. `read_step` is where that ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from eapo_gym.envs.osworld.tasks import ConfigStep

LONGEST_SLEEP = 600.0
"""Seconds; a step that sleeps longer is a mistake."""

_PLAIN_NAME = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f]{1,200}")


class Wrong(Exception):
    """What is wrong, without saying in which task: whoever reads the whole file adds that."""


Reader = Callable[[Any], Any]
"""Takes what stands in the file and returns what is meant by it, or raises `Wrong`: "expected …"."""


def text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong(f"expected a text, got {shown(value)}")
    return value


def any_text(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong(f"expected a text, got {shown(value)}")
    return value


def plain_name(value: Any) -> str:
    """The name of a file that is kept on this side, in the folder of the episode."""
    if not isinstance(value, str) or not _PLAIN_NAME.fullmatch(value):
        raise Wrong(f"expected the name of a file, without a folder, got {shown(value)}")
    return value


def flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise Wrong(f"expected true or false, got {shown(value)}")


def number(most: float) -> Reader:
    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise Wrong(f"expected a number from 0 to {most:g}, got {shown(value)}")
        return float(value)

    return read


def command(value: Any) -> str | tuple[str, ...]:
    if isinstance(value, list) and value:
        return tuple(any_text(word) for word in value)
    if isinstance(value, str) and value.strip():
        return value
    raise Wrong(f"expected a text or a list of texts, got {shown(value)}")


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Wrong(f"expected a list of texts, got {shown(value)}")
    return tuple(text(each) for each in value)


def objects(**fields: Reader) -> Reader:
    """A list of objects that have these fields."""

    def read(value: Any) -> tuple[Mapping[str, Any], ...]:
        if not isinstance(value, list):
            raise Wrong(f"expected a list of objects with {' and '.join(fields)}, got {shown(value)}")
        return tuple(read_fields(each, fields, needed=tuple(fields)) for each in value)

    return read


def anything(value: Any) -> Any:
    return value


def until(value: Any) -> Mapping[str, Any]:
    """What a command is repeated for: one of a code, and texts in what it writes."""
    if value in ({}, None):
        return {}

    def code(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Wrong(f"expected a whole number, got {shown(value)}")
        return value

    return read_fields(value, {"returncode": code, "stdout": any_text, "stderr": any_text})


def verification(value: Any) -> Mapping[str, Any]:
    """What must hold after a command: a window is there, another command succeeds."""
    if value in ({}, None):
        return {}
    return read_fields(value, {"window_exists": text, "command_success": text})


_COMMAND = {"command": command, "stdout": plain_name, "stderr": plain_name, "shell": flag, "until": until}
_VERIFIED = {
    "command": command,
    "verification": verification,
    "max_wait_time": number(LONGEST_SLEEP),
    "check_interval": number(60.0),
    "shell": flag,
}
_WINDOW = {"window_name": text, "strict": flag, "by_class": flag}
_VISIT = {"url": text, "title": any_text, "visit_time_from_now_in_seconds": number(1e10)}

STEPS: Mapping[str, Mapping[str, Reader]] = {
    "download": {"files": objects(url=text, path=text)},
    "upload_file": {"files": objects(local_path=text, path=text)},
    "launch": {"command": command, "shell": flag},
    "execute": _COMMAND,
    "command": _COMMAND,
    "execute_with_verification": _VERIFIED,
    "open": {"path": text},
    "activate_window": _WINDOW,
    "close_window": _WINDOW,
    "sleep": {"seconds": number(LONGEST_SLEEP)},
    "change_wallpaper": {"path": text},
    "chrome_open_tabs": {"urls_to_open": texts},
    "chrome_close_tabs": {"urls_to_close": texts},
    "update_browse_history": {"history": objects(**_VISIT)},
    "googledrive": {"settings_file": text, "operation": texts, "args": anything},
    "login": {"settings_file": text, "platform": text},
    "proxy": {"client_password": any_text},
}
"""Every type of step, with its parameters. The benchmark names three more, and can carry out none of them."""

_NEEDED = {
    *("files", "command", "path", "window_name", "seconds"),
    *("urls_to_open", "urls_to_close", "history", "platform", "operation"),
}
"""The parameters that no step which has them can do without."""


def read_step(value: Any) -> ConfigStep:
    """One step of a file; raises `Wrong`."""
    if not isinstance(value, dict):
        raise Wrong(
            f'expected an object such as {{"type": "sleep", "parameters": {{"seconds": 1}}}}, got {shown(value)}'
        )
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in STEPS:
        raise Wrong(f"its type {shown(kind)} is none of {', '.join(STEPS)}")
    fields = STEPS[kind]
    try:
        return ConfigStep(kind, read_fields(value.get("parameters", {}), fields, needed=_NEEDED.intersection(fields)))
    except Wrong as wrong:
        raise Wrong(f"({kind}) {wrong}") from None


def read_fields(value: Any, fields: Mapping[str, Reader], needed: Any = ()) -> Mapping[str, Any]:
    """An object whose fields are read one by one; one that is not known is wrong, since it would have no effect."""
    if not isinstance(value, dict):
        raise Wrong(f"expected an object with {', '.join(fields)}, got {shown(value)}")
    for name in fields:
        if name in needed and name not in value:
            raise Wrong(f"{name} is missing")
    read = {}
    for name, each in value.items():
        if name not in fields:
            raise Wrong(f"it is told {shown(name)}, which is none of {', '.join(fields)}")
        try:
            read[name] = fields[name](each)
        except Wrong as wrong:
            raise Wrong(f"{name}: {wrong}") from None
    return read


def shown(value: Any) -> str:
    """A value for a sentence: short, and for what is long only its kind."""
    if isinstance(value, dict | list):
        kind = "an object" if isinstance(value, dict) else "a list"
        return kind if value else f"{kind} that is empty"
    if value is None:
        return "nothing"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        return "a number of more than 40 digits"
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:57]}…"
