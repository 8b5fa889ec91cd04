"""What the explorer knows of a shopping trip, and the text in which it keeps it between two turns.

    Step 9. Search 1. At B0UFPWSGEQ. Chosen: flavor name teriyaki. Seen: B0UFPWSGEQ $11.95, search 1, fits; B0PY0WHDPG
    $11.95, search 1, read features, lacks non gmo, no size 4 oz. To buy: B0UFPWSGEQ. Last: click[teriyaki].

The text holds everything that later decisions need, so that whoever reads it can go on from there. What was written is
read back as the same memory; any other text is no memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from eapo_gym.envs.webshop.experts.page import ASIN, PRICE

_LONGEST = 50_000
"""No memory is longer than this many characters."""

MOST_STEPS = 9_999
"""It does not count any further."""

SUB_PAGES = ("features", "description")
"""Those that are worth a look, in this order."""


@dataclass(slots=True)
class Seen:
    """A product whose page was looked at."""

    asin: str
    price: str = ""
    search: int = 1
    """Which of the searches found it."""

    read: tuple[str, ...] = ()
    """Sub-pages."""

    lacks: tuple[str, ...] = ()
    """Words of the wish that were not found in what was read of it."""

    no: tuple[str, ...] = ()
    """Options of the wish that it is not sold in, each in words: "size 7"."""

    def __str__(self) -> str:
        parts = [f"{self.asin} {self.price}".rstrip(), f"search {self.search}"]
        if self.read:
            parts.append(f"read {' and '.join(self.read)}")
        if self.lacks:
            parts.append(f"lacks {' '.join(self.lacks)}")
        parts += [f"no {option}" for option in self.no]
        if not (self.lacks or self.no):
            parts.append("fits")
        return ", ".join(parts)

    @classmethod
    def read_back(cls, text: str) -> Seen:
        """What was written as `text`, which has been seen to be such a text."""
        first, search, *parts = text.split(", ")
        asin, _, price = first.partition(" ")
        seen = cls(asin, price, int(search.partition(" ")[2]))
        for part in parts:
            verb, _, rest = part.partition(" ")
            if verb == "read":
                seen.read = tuple(rest.split(" and "))
            elif verb == "lacks":
                seen.lacks = tuple(rest.split(" "))
            elif verb == "no":
                seen.no += (rest,)
        return seen


@dataclass(slots=True)
class Memory:
    """All that the explorer knows of an episode."""

    step: int = 0
    """Turns taken."""

    search: int = 0
    """Which of the wish's searches led to the present results, or is to come; 0 for none of them."""

    at: str = ""
    """The product whose page, or one of whose sub-pages, is open."""

    chosen: tuple[str, ...] = ()
    """Options that were selected there, each in words."""

    seen: list[Seen] = field(default_factory=list)
    """In the order in which they were looked at."""

    buy: str = ""
    """The product that was settled upon."""

    last: str = ""
    """The command given last."""

    def __str__(self) -> str:
        parts = [f"Step {self.step}. Search {self.search}."]
        for title, content in (
            ("At", self.at),
            ("Chosen:", "; ".join(self.chosen)),
            ("Seen:", "; ".join(map(str, self.seen))),
            ("To buy:", self.buy),
            ("Last:", self.last),
        ):
            if content:
                parts.append(f"{title} {content}.")
        return " ".join(parts)

    @classmethod
    def read(cls, text: str) -> Memory | None:
        """The memory that was written as `text`, or None if `text` is anything else."""
        match = _TEXT.fullmatch(text) if len(text) <= _LONGEST else None
        if match is None:
            return None
        parts = match.groupdict(default="")
        return cls(
            step=int(parts["step"]),
            search=int(parts["search"]),
            at=parts["at"],
            chosen=tuple(parts["chosen"].split("; ")) if parts["chosen"] else (),
            seen=[Seen.read_back(entry) for entry in parts["seen"].split("; ")] if parts["seen"] else [],
            buy=parts["buy"],
            last=parts["last"],
        )

    def about(self, asin: str) -> Seen | None:
        """What is known of a product."""
        return next((seen for seen in self.seen if seen.asin == asin), None)


_WORD = r"(?:[^\W_]+(?:\.\d+)*)"
_WORDS = rf"{_WORD}(?: {_WORD})*"
_SUB = "|".join(SUB_PAGES)
_SEEN = (
    rf"{ASIN}(?: {PRICE})?, search \d{{1,4}}(?:, read (?:{_SUB})(?: and (?:{_SUB}))*)?"
    rf"(?:, fits|(?:, lacks {_WORDS})?(?:, no {_WORDS})*)"
)
_TEXT = re.compile(
    r"Step (?P<step>\d{1,4})\. Search (?P<search>\d{1,4})\."
    rf"(?: At (?P<at>{ASIN})\.)?"
    rf"(?: Chosen: (?P<chosen>{_WORDS}(?:; {_WORDS})*)\.)?"
    rf"(?: Seen: (?P<seen>{_SEEN}(?:; {_SEEN})*)\.)?"
    rf"(?: To buy: (?P<buy>{ASIN})\.)?"
    r"(?: Last: (?P<last>.+)\.)?",
    re.DOTALL,
)
