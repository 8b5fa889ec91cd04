"""What an environment's own page is made of, for environments that have one for people (`AgentEnv.live_page`).

    page
      key: str           pages with the same key are one that changed: the reader stays where they were on it
      style: str         CSS for this page alone; the game's colours are in its variables (--paper, --card, --ink, …)
      parts: [part]

    part                 a text, or an element:
      tag: str           one of TAGS
      class: str         for the style                    label: str     what it is called, for who cannot see it
      title: str         shown where the mouse rests      parts: [part]  what is in it

      button             do: str         the command that a click on it is
                         pressed: bool   it is one of several, and chosen (or not)
                         disabled: bool  nothing can be done with it now
      form               what is written into its `input` is a command between `before` and `after`; the characters in
                         `without` would break it, and become blanks
      input              placeholder: str
      img                svg: str        the picture; scripts do not run in it, and nothing is loaded
      progress           value: float    from 0 to 1

A page is data. The browser makes elements of these tags and these attributes, and every text becomes text; so whatever
a product, a mail or a web site says, it cannot become markup. The tags and the style must come from the environment's
own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eapo_gym.errors import ContractError

TAGS = frozenset(
    {"div", "section", "header", "footer", "nav", "h2", "h3", "h4", "p", "span", "strong", "small", "em"}
    | {"ul", "ol", "li", "dl", "dt", "dd", "button", "form", "input", "img", "progress"}
)

_TEXTS = ("class", "label", "title", "do", "before", "after", "without", "placeholder", "svg")
_FLAGS = ("pressed", "disabled")
_KNOWN = {"tag", "parts", "value", *_TEXTS, *_FLAGS}
_DEEPEST = 40


def checked_page(page: object) -> dict[str, Any]:
    """The page, if it is one."""
    if not isinstance(page, Mapping) or not {"key", "style", "parts"} >= page.keys() >= {"parts"}:
        raise ContractError(f"live_page: expected a mapping with key, style and parts, got {page!r:.80}.")
    key, style = page.get("key", ""), page.get("style", "")
    if not isinstance(key, str) or not isinstance(style, str):
        raise ContractError(f"live_page: expected texts for key and style, got {key!r:.40} and {style!r:.40}.")
    return {"key": key, "style": style, "parts": _checked_parts(page["parts"], _DEEPEST)}


def _checked_parts(parts: object, deepest: int) -> list[Any]:
    if not isinstance(parts, list | tuple):
        raise ContractError(f"live_page: expected a list of parts, got {parts!r:.80}.")
    if not deepest:
        raise ContractError(f"live_page: expected at most {_DEEPEST} parts within each other.")
    return [part if isinstance(part, str) else _checked_part(part, deepest - 1) for part in parts]


def _checked_part(part: object, deepest: int) -> dict[str, Any]:
    if not isinstance(part, Mapping):
        raise ContractError(f"live_page: expected a text or an element, got {part!r:.80}.")
    tag = part.get("tag")
    if not isinstance(tag, str) or tag not in TAGS:
        raise ContractError(f"live_page: expected one of the tags {', '.join(sorted(TAGS))}, got {tag!r:.40}.")
    if unknown := part.keys() - _KNOWN:
        raise ContractError(f"live_page: {sorted(map(str, unknown))} is nothing that a {tag} can have.")
    for name in _TEXTS:
        if not isinstance(part.get(name, ""), str):
            raise ContractError(f"live_page: {name}: expected a text, got {part[name]!r:.40}.")
    for name in _FLAGS:
        if not isinstance(part.get(name, False), bool):
            raise ContractError(f"live_page: {name}: expected True or False, got {part[name]!r:.40}.")
    value = part.get("value", 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ContractError(f"live_page: value: expected a number from 0 to 1, got {value!r:.40}.")
    return {**part, "parts": _checked_parts(part.get("parts", ()), deepest)}
