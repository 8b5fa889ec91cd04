"""The command language of WebShop: `search[words]` and `click[what stands on a button]`."""

from __future__ import annotations

from eapo_gym.errors import ActionError
from eapo_gym.schema import MAX_TEXT

SEARCH, CLICK = "search", "click"
VERBS = (SEARCH, CLICK)
EXAMPLE = "search[red running shoes]"


def click(name: str) -> str:
    return f"{CLICK}[{name}]"


def read_action(action: str) -> tuple[str, str]:
    """The verb and what is between the brackets, in lower case; two empty texts where the benchmark sees no action.

    The benchmark matches `(.+)\\[(.+)\\]` at the start of the text. By hand that takes one pass, however many brackets
    there are: the last `]` of the first line closes, the last `[` before it opens, and neither side may be empty. What
    follows the closing bracket does not matter, and the verb counts only as it is, not with a capital or a blank.
    """
    line = action.partition("\n")[0]
    closing = line.rfind("]")
    opening = line.rfind("[", 1, max(closing - 1, 0))
    if opening < 1 or line[:opening] not in VERBS:
        return "", ""
    return line[:opening], line[opening + 1 : closing].lower()


def parse_command(text: str) -> str:
    """The command that `text` means. Case, and blanks around it or before the bracket, do not matter."""
    if len(text) > MAX_TEXT:
        raise ActionError(f"A command has at most {MAX_TEXT:,} characters, this one has {len(text):,}.", EXAMPLE)
    verb, bracket, rest = text.strip().partition("[")
    verb, argument = read_action(verb.strip().lower() + bracket + rest)
    if not verb:
        raise ActionError(
            f"{text.strip()[:80]!r} is not a command: expected search[words] or click[what stands on a button, a link "
            f"or an option], such as '{EXAMPLE}' or 'click[buy now]'.",
            EXAMPLE,
        )
    return f"{verb}[{argument}]"
