"""What the explorer knows of a game, and the text in which it keeps it between two turns.

    I am at desk 1, carrying nothing. Found: desklamp 1 on desk 1; mug 1-2 on desk 1; mug 4 in drawer 3.
    Open: drawer 1-3. Searched: desk 1; drawer 1-3. Not searched: drawer 4-6; shelf 1, 3. Last: take mug 1 from desk 1.

The text holds everything that later decisions need, so that whoever reads it can go on from there. What was written is
read back as the same memory; any other text is no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from eapo_gym.envs.alfworld.experts.places import OPENABLE

NAME = r"[a-z]+ \d{1,4}"
"""The name of a thing."""

_LONGEST = 20_000
"""No memory is longer than this many characters."""

_STATES = {"clean": "clean", "heat": "hot", "cool": "cold"}
"""What a treatment makes of a thing."""


def kind(name: str) -> str:
    """ "desk 1" is a "desk"."""
    return name.partition(" ")[0]


def number(name: str) -> int:
    return int(name.partition(" ")[2])


def by_name(name: str) -> tuple[str, int]:
    """A key to sort by: "drawer 10" comes after "drawer 9"."""
    return kind(name), number(name)


@dataclass(slots=True)
class Memory:
    at: str = ""
    """The receptacle that the agent went to; "" in the middle of the room."""

    carrying: str = ""
    treated: str = ""
    """The last treatment of what is carried: "clean", "heat" or "cool"."""

    found: set[tuple[str, str]] = field(default_factory=set)
    """(object, receptacle), for the objects that matter to the goal. Games may show one object in two receptacles."""

    opened: set[str] = field(default_factory=set)
    """Receptacles of the kinds that are mostly closed which are known to be open."""

    searched: set[str] = field(default_factory=set)
    unsearched: set[str] = field(default_factory=set)
    useless: set[str] = field(default_factory=set)
    """Receptacles that did not do what was asked of them; not to be tried for that again."""

    last: str = ""
    """The command given last, without which "Nothing happens." would say nothing."""

    def __str__(self) -> str:
        place = f"at {self.at}" if self.at else "in the middle of the room"
        load = self.carrying or "nothing"
        if self.treated:
            load += f" ({_STATES[self.treated]})"
        sentences = [f"I am {place}, carrying {load}."]
        found = [
            f"{things} {preposition(place)} {place}"
            for place in sorted({place for _, place in self.found}, key=by_name)
            for things in ranges(thing for thing, where in self.found if where == place)
        ]
        for title, items in (
            ("Found", found),
            ("Open", ranges(self.opened)),
            ("Searched", ranges(self.searched)),
            ("Not searched", ranges(self.unsearched)),
            ("Of no use", ranges(self.useless)),
            ("Last", [self.last] if self.last else []),
        ):
            if items:
                sentences.append(f"{title}: {'; '.join(items)}.")
        return " ".join(sentences)

    @classmethod
    def read(cls, text: str) -> Memory | None:
        """The memory that was written as `text`, or None if `text` is anything else."""
        match = _TEXT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
        if match is None:
            return None
        parts = match.groupdict(default="")
        return cls(
            at=parts["at"],
            carrying="" if parts["carrying"] == "nothing" else parts["carrying"],
            treated=next((verb for verb, state in _STATES.items() if state == parts["treated"]), ""),
            found={
                (thing, place)
                for things, place in re.findall(rf"({_SOME}) (?:in|on) ({NAME})", parts["found"])
                for thing in _names(things)
            },
            opened=set(_names(parts["opened"])),
            searched=set(_names(parts["searched"])),
            unsearched=set(_names(parts["unsearched"])),
            useless=set(_names(parts["useless"])),
            last=parts["last"],
        )


def preposition(receptacle: str) -> str:
    return "in" if kind(receptacle) in OPENABLE else "on"


_RUN = r"\d{1,4}(?:-\d{1,4})?"
_SOME = rf"[a-z]+ {_RUN}(?:, {_RUN})*"
_RANGES = rf"{_SOME}(?:; {_SOME})*"
_TEXT = re.compile(
    rf"I am (?:at (?P<at>{NAME})|in the middle of the room), "
    rf"carrying (?P<carrying>nothing|{NAME})(?: \((?P<treated>{'|'.join(_STATES.values())})\))?\."
    rf"(?: Found: (?P<found>{_SOME} (?:in|on) {NAME}(?:; {_SOME} (?:in|on) {NAME})*)\.)?"
    rf"(?: Open: (?P<opened>{_RANGES})\.)?"
    rf"(?: Searched: (?P<searched>{_RANGES})\.)?"
    rf"(?: Not searched: (?P<unsearched>{_RANGES})\.)?"
    rf"(?: Of no use: (?P<useless>{_RANGES})\.)?"
    r"(?: Last: (?P<last>[a-z0-9 ]+)\.)?"
)


def ranges(names: Iterable[str]) -> list[str]:
    """Like "drawer 1-3, 5", one for each kind."""
    numbers: dict[str, list[int]] = {}
    for name in sorted(names, key=by_name):
        numbers.setdefault(kind(name), []).append(number(name))
    return [f"{kind_} {', '.join(_runs(values))}" for kind_, values in numbers.items()]


def _runs(values: list[int]) -> Iterator[str]:
    start = values[0]
    for value, following in zip(values, [*values[1:], None], strict=True):
        if following != value + 1:
            yield str(value) if start == value else f"{start}-{value}"
            if following is not None:
                start = following


def _names(ranges: str) -> Iterator[str]:
    for part in filter(None, ranges.split("; ")):
        kind_, _, runs = part.partition(" ")
        for run in runs.split(", "):
            first, _, last = run.partition("-")
            yield from (f"{kind_} {value}" for value in range(int(first), int(last or first) + 1))
