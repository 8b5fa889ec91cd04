"""Actions that are JSON objects, in the ways in which models write them."""

from __future__ import annotations

import json
import re
from typing import Any

from eapo_gym.errors import ActionError

_MAX_LENGTH = 1 << 16
_MAX_BRACKETS = 2_000
"""Of both kinds. Python's parser goes one deeper with each, and in a thread with a small stack ends the process."""

_EXAMPLE = '{"action_type": "click", "index": 5}'

_KEY = re.compile(r"""\s*(?:"([^"\\]*)"|'([^'\\]*)'|([A-Za-z_]\w*))\s*:\s*""")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""", re.DOTALL)
_NEXT_KEY = re.compile(r""",(?=\s*(?:"[^"\\]*"|'[^'\\]*'|[A-Za-z_]\w*)\s*:)""")
_COMMA = re.compile(r"\s*(?:,|\Z)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}


def parse_json_action(text: str) -> dict[str, Any]:
    """The object that an action of a GUI environment is; raises `ActionError` if the text is none.

    Besides JSON it reads the doubled braces that prompts show, and the relaxed form without quotes. There a value goes
    on until the next key or the end, commas included, and is a number or a truth value where it reads as one.

    >>> parse_json_action('{"action_type": "click", "index": 5}')
    {'action_type': 'click', 'index': 5}
    >>> parse_json_action("{{action_type: status, goal_status: complete}}")
    {'action_type': 'status', 'goal_status': 'complete'}
    >>> parse_json_action("{action_type: input_text, text: bread, milk and tea, index: 2}")
    {'action_type': 'input_text', 'text': 'bread, milk and tea', 'index': 2}
    """
    if len(text) > _MAX_LENGTH:
        raise ActionError(f"An action of {len(text)} characters: expected at most {_MAX_LENGTH}.", _EXAMPLE)
    if (brackets := text.count("[") + text.count("{")) > _MAX_BRACKETS:
        raise ActionError(f"An action with {brackets} brackets: expected at most {_MAX_BRACKETS}.", _EXAMPLE)
    body = text.strip()
    if len(body) < 2 or body[0] != "{" or body[-1] != "}":
        raise ActionError(f"Expected one JSON object like {_EXAMPLE}, got {text[:80]!r}.", _EXAMPLE)
    inner = body[1:-1].strip()
    if inner.startswith("{") and inner.endswith("}"):
        body, inner = inner, inner[1:-1].strip()
    try:
        fields = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        fields = _relaxed(inner.removesuffix(","))
    return dict(fields)


def _relaxed(inner: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    at = 0
    while at < len(inner):
        key = _KEY.match(inner, at)
        if key is None:
            raise ActionError(f"Expected a name and a colon as in {_EXAMPLE}, got {inner[at : at + 80]!r}.", _EXAMPLE)
        name = next(group for group in key.groups() if group is not None)
        quoted = _QUOTED.match(inner, key.end())
        following = None if quoted else _NEXT_KEY.search(inner, key.end())
        stop = quoted.end() if quoted else following.start() if following else len(inner)
        value = inner[key.end() : stop].strip()
        fields[name] = _unquoted(value) if quoted else _bare(name, value)
        comma = _COMMA.match(inner, stop)
        if comma is None:
            raise ActionError(f"Expected a comma after {name}, got {inner[stop : stop + 80]!r}.", _EXAMPLE)
        at = comma.end()
    return fields


def _unquoted(text: str) -> str:
    return _ESCAPED.sub(lambda e: chr(int(e[1], 16)) if e[1] else _CONTROLS.get(e[2], e[2]), text[1:-1])


def _bare(name: str, text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text) or text.startswith("["):
        try:
            return json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return text
    if not text or "{" in text or "}" in text:
        raise ActionError(f"Expected a value for {name}, got {text[:80]!r}: put text with braces in quotes.", _EXAMPLE)
    return text


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
