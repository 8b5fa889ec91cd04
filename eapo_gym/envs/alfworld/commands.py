"""The command language of ALFWorld: what counts as a command, and the small liberties that models take with it."""

from __future__ import annotations

import re

from eapo_gym.errors import ActionError

EXAMPLES = ("look", "inventory", "help", "go to countertop 1", "open fridge 1", "take mug 1 from countertop 1")

_THING = r"[^\s].{0,200}?"
_FORMS = [
    re.compile(pattern)
    for pattern in (
        "look|inventory|help",
        f"(?:go to|open|close|examine|use) {_THING}",
        f"take {_THING} from {_THING}",
        f"move {_THING} to {_THING}",
        f"(?:heat|clean|cool|slice) {_THING} with {_THING}",
    )
]
_PUT = re.compile(rf"put (?P<thing>{_THING}) (?:in/on|in|on|into|onto) (?P<place>{_THING})")
_LONGEST = 500


def parse_command(text: str) -> str:
    """The command that `text` means.

    Case, blanks and a final stop do not matter, and "put X in/on Y", as in papers and older games, is "move X to Y".
    """
    if len(text) > _LONGEST:
        raise ActionError(f"A command has at most {_LONGEST} characters, this one has {len(text)}.", EXAMPLES[3])
    command = " ".join(text.split()).rstrip(".").lower()
    put = _PUT.fullmatch(command)
    if put is not None:
        return f"move {put['thing']} to {put['place']}"
    if any(form.fullmatch(command) for form in _FORMS):
        return command
    raise ActionError(
        f"{command[:80]!r} is not a command: expected look, inventory, help, go to R, open R, close R, take O from R, "
        "move O to R, examine X, use O, heat / cool / clean O with R or slice O with O, as in 'go to countertop 1'.",
        EXAMPLES[3],
    )
