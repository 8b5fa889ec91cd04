"""What the explorer knows of an episode, and the text in which it keeps it between two turns.

    Turn 4. Part 1. Today: Sun, Oct 15. Known: wrote title. Tried: settings, settings > display; settings, display >
    scroll down. Read: "7 Hill Street". Last: tap brightness level, on settings, display.

The text holds everything that later decisions need, so that whoever reads it can go on from there. What was written is
read back as the same memory; any other text is no memory.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

_LONGEST = 20_000
"""No memory is longer than this many characters."""

MOST_TURNS = 999
"""It does not count any further."""

MOST_TRIED = 40
"""It forgets the oldest of what it tried."""


@dataclass(slots=True)
class Memory:
    """All that the explorer knows of an episode. Names are words in small letters with blanks between them."""

    turn: int = 0
    part: int = 1
    """Of the goal, which may ask for several things."""

    today: str = ""
    """As the phone shows it, such as "Sun, Oct 15"."""

    known: list[str] = field(default_factory=list)
    """What has been done or found out."""

    tried: list[tuple[str, str]] = field(default_factory=list)
    """On which screen, and what."""

    read: str = ""
    """What was read on a screen and is needed elsewhere, word by word."""

    last: str = ""
    """What was done last."""

    at: str = ""
    """The screen on which that was."""

    again: int = 0
    """How often the same was done there before, one time right after the other."""

    def __str__(self) -> str:
        parts = [f"Turn {self.turn}. Part {self.part}."]
        tried = "; ".join(f"{screen} > {what}" for screen, what in self.tried)
        for title, content in (
            ("Today", self.today),
            ("Known", "; ".join(self.known)),
            ("Tried", tried),
            ("Read", json.dumps(self.read, ensure_ascii=False) if self.read else ""),
        ):
            if content:
                parts.append(f"{title}: {content}.")
        if self.last:
            parts.append(f"Last: {self.last}, on {self.at}.")
        if self.again:
            parts.append(f"Again: {self.again}.")
        return " ".join(parts)

    @classmethod
    def parse(cls, text: str) -> Memory | None:
        """The memory that was written as `text`, or None if `text` is anything else."""
        match = _TEXT.fullmatch(text) if len(text) <= _LONGEST else None
        if match is None:
            return None
        said = match.groupdict(default="")
        try:
            read = json.loads(said["read"]) if said["read"] else ""
        except ValueError:
            return None
        tried = [entry.split(" > ") for entry in said["tried"].split("; ")] if said["tried"] else []
        return cls(
            turn=int(said["turn"]),
            part=int(said["part"]),
            today=said["today"],
            known=said["known"].split("; ") if said["known"] else [],
            tried=[(screen, what) for screen, what in tried],
            read=str(read),
            last=said["last"],
            at=said["at"],
            again=int(said["again"] or 0),
        )

    def note(self, fact: str) -> None:
        if fact not in self.known:
            self.known.append(fact)

    def has_tried(self, screen: str, what: str) -> bool:
        return (screen, what) in self.tried

    def take_down(self, screen: str, what: str) -> None:
        """What is done now."""
        self.again = min(self.again + 1, MOST_TURNS) if (self.at, self.last) == (screen, what) else 0
        self.at, self.last = screen, what
        if (screen, what) in self.tried:
            self.tried.remove((screen, what))
        self.tried = [*self.tried, (screen, what)][-MOST_TRIED:]


_WORDS = r"[^\W_]+(?: [^\W_]+)*"
_SCREEN = rf"{_WORDS}(?:, {_WORDS})?"
_TRIED = rf"{_SCREEN} > {_WORDS}"
_TEXT = re.compile(
    r"Turn (?P<turn>\d{1,3})\. Part (?P<part>\d{1,3})\."
    r"(?: Today: (?P<today>[A-Z][a-z]{2}, [A-Z][a-z]{2} \d{1,2})\.)?"
    rf"(?: Known: (?P<known>{_WORDS}(?:; {_WORDS})*)\.)?"
    rf"(?: Tried: (?P<tried>{_TRIED}(?:; {_TRIED})*)\.)?"
    r'(?: Read: (?P<read>".+")\.)?'
    rf"(?: Last: (?P<last>{_WORDS}), on (?P<at>{_SCREEN})\.)?"
    r"(?: Again: (?P<again>\d{1,3})\.)?",
    re.DOTALL,
)
