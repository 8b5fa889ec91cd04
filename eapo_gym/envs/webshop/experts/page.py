"""The shop's pages, read back from the text that an agent is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eapo_gym.envs.webshop.actions import click

Kind = Literal["search", "results", "item", "sub"]

ASIN = r"[A-Za-z0-9]{1,10}"
PRICE = r"\$\d+(?:\.\d+)?(?: to \$\d+(?:\.\d+)?)?"

_SEPARATOR = " [SEP] "
_HEADER = re.compile(r"Page (\d+) \(Total results: (\d+)\)")
_BUTTONS = ("Description", "Features", "Reviews", "Attributes", "Buy Now")

_USUAL_NAMES = re.compile(
    r"(?:.* )?(?:name|type|packaging|quantity|shape)|colou?r|count|edition|fit|flavou?r|length|material|"
    r"number of items|pattern|scent|size|style|unit count|width",
    re.IGNORECASE,
)
"""What options are mostly called: how to tell a name from a value where nobody says what can be clicked."""


@dataclass(frozen=True, slots=True)
class Row:
    """A product among the results."""

    asin: str
    title: str
    price: str


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on a page."""

    kind: Kind
    rows: tuple[Row, ...] = ()
    number: int = 1
    """Of the page, among those of the results."""

    title: str = ""
    price: str = ""
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names and values, in the order of the page."""

    text: str = ""
    """Of a sub-page."""


def read_page(state: str, offered: Sequence[str] | None = None) -> Page | None:
    """The page that `state` shows in the mode "text", or None if it shows none of them.

    `offered` are the clicks that are possible, which tell the values of options from their names.
    """
    parts = state.split(_SEPARATOR)
    if parts[:2] == ["WebShop", "Instruction:"]:
        return Page("search")
    if parts[0] != "Instruction:" or "Back to Search" not in parts:
        return None
    rest = parts[parts.index("Back to Search") + 1 :]
    if rest and (header := _HEADER.fullmatch(rest[0].strip())):
        return Page("results", rows=_rows(rest[1:]), number=int(header[1]))
    if not rest or rest[0] != "< Prev":
        # A sub-page without a text ends with the button, and a notice may follow it.
        return Page("sub") if rest and rest[0].startswith("< Prev") else None
    rest = rest[1:]
    price = next((place for place, part in enumerate(rest) if part.startswith("Price: ")), None)
    if price is None or not any(part.startswith(_BUTTONS) for part in rest[price:]):
        return Page("sub", text=_SEPARATOR.join(rest))
    head = rest[: max(price - 1, 0)]
    return Page(
        "item", title=rest[price - 1] if price else "", price=_price(rest[price]), options=_options(head, offered)
    )


def _rows(parts: Sequence[str]) -> tuple[Row, ...]:
    rows = []
    asin, title = "", ""
    for part in parts:
        if asin and part.startswith("$"):
            rows.append(Row(asin, title, _price(part)))
            asin, title = "", ""
        elif asin:
            title = f"{title} {part}".strip()
        elif re.fullmatch(ASIN, part):
            asin = part.upper()
    return tuple(rows)


def _price(text: str) -> str:
    found = re.search(PRICE, text)
    return found[0] if found else ""


def _options(parts: Sequence[str], offered: Sequence[str] | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    clicks = None if offered is None else set(offered)
    groups: list[tuple[str, list[str]]] = []
    for part in parts:
        is_value = not _USUAL_NAMES.fullmatch(part) if clicks is None else click(part) in clicks
        if is_value and groups:
            groups[-1][1].append(part)
        elif not is_value:
            groups.append((part, []))
    return tuple((name, tuple(values)) for name, values in groups)
