"""From the text of an action to what it asks for, in whichever of the three languages it is written."""

from __future__ import annotations

import re

from eapo_gym.envs.osworld.actions import computer_13, indexed, pyautogui_code
from eapo_gym.envs.osworld.actions.computer_13 import SIGNALS, is_computer_13, parse_computer_13
from eapo_gym.envs.osworld.actions.indexed import parse_indexed
from eapo_gym.envs.osworld.actions.movements import Size, checked
from eapo_gym.envs.osworld.actions.parsed import EXAMPLE, Parsed
from eapo_gym.envs.osworld.actions.pyautogui_code import parse_code
from eapo_gym.envs.osworld.actions.source import MOST_CHARACTERS
from eapo_gym.errors import ActionError
from eapo_gym.json_action import parse_json_action

EXAMPLES = (*indexed.EXAMPLES, *computer_13.EXAMPLES, *pyautogui_code.EXAMPLES, *SIGNALS)

_FENCE = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def parse_action(text: str, size: Size | None = None) -> Parsed:
    """What a text asks for; raises `ActionError` with what is wrong and a right one.

    The languages look different: an object in braces is a JSON action (of the benchmark's thirteen if its type is in
    capitals), WAIT, DONE and FAIL stand alone, and anything else has to be pyautogui code. A fence around it all is
    taken away. With the screen's size, places that are not on it are refused here already.
    """
    if len(text) > MOST_CHARACTERS:
        raise ActionError(f"An action of {len(text)} characters: expected at most {MOST_CHARACTERS}.", EXAMPLE)
    body = _without_fence(text.replace("\r\n", "\n").strip())
    if not body:
        raise ActionError(f"The action is empty: expected one such as {EXAMPLE}.", EXAMPLE)
    if body in SIGNALS:
        return Parsed(SIGNALS[body], body, "pyautogui")
    if body.startswith("{"):
        fields = parse_json_action(body)
        parsed = parse_computer_13(fields) if is_computer_13(fields) else parse_indexed(fields)
    else:
        parsed = parse_code(body)
    checked(parsed.movements, size, EXAMPLE)
    return parsed


def _without_fence(body: str) -> str:
    if not body.startswith("```"):
        return body
    fenced = _FENCE.fullmatch(body)
    if fenced is None or "```" in fenced[1]:
        raise ActionError("Expected one action, with one fence of ``` around it or none: write it like DONE.", "DONE")
    return fenced[1].strip()
