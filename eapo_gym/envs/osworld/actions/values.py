"""Values that actions hold: numbers and names, each within its bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches

from eapo_gym.envs.osworld.inputs import BUTTONS, Button
from eapo_gym.errors import ActionError

MOST_PIXELS = 100_000
MOST_SECONDS_AT_ONCE = 30.0


def shown(value: object) -> str:
    """A value, as an error shows it: of any size, in a few characters."""
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a number of more than 20 digits"
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:59]}…"


def whole_number(name: str, value: object, lowest: int, highest: int, example: str) -> int:
    """A number, of which what stands behind the point is left out."""
    number = _number(value)
    if number is None or not lowest <= number <= highest:
        raise ActionError(
            f"{name}: expected a number from {lowest} to {highest}, got {shown(value)}: as in {example}.", example
        )
    return int(number)


def seconds(name: str, value: object, example: str) -> float:
    """A duration."""
    number = _number(value)
    if number is None or not 0 <= number <= MOST_SECONDS_AT_ONCE:
        raise ActionError(
            f"{name}: expected 0 to {MOST_SECONDS_AT_ONCE:g} seconds, got {shown(value)}: as in {example}.", example
        )
    return float(number)


def button(value: object, example: str) -> Button:
    """A button of the mouse."""
    name = value.lower() if isinstance(value, str) else ""
    name = {"primary": "left", "secondary": "right"}.get(name, name)
    for known in BUTTONS:
        if name == known:
            return known
    raise ActionError(f"button: expected one of {', '.join(BUTTONS)}, got {shown(value)}: as in {example}.", example)


def one_of(name: str, value: object, known: Sequence[str], example: str) -> str:
    """A name among those that there are."""
    if isinstance(value, str) and value in known:
        return value
    close = get_close_matches(str(value)[:40], known, n=1) if isinstance(value, str) else []
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise ActionError(f"{name}: expected one of {', '.join(known)}, got {shown(value)}.{meant}", example)


def _number(value: object) -> int | float | None:
    """The number that a value is, in digits or as a text of a few of them."""
    if isinstance(value, str) and len(value) <= 20:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None
