"""What real games look like: the counts of `household.json`, made by benchmarks/alfworld_statistics.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class RoomStatistics:
    """What the rooms of one kind have in them. A histogram's nth entry says how many games have n of a thing."""

    receptacles: dict[str, list[int]]
    """Type of receptacle → histogram."""

    openable: dict[str, int]
    """Type of receptacle → share of those that can be opened (and are shut at the start)."""

    together: dict[str, dict[str, int]]
    """Type of receptacle → how often it shares its spot with which others, of the same or later types."""

    objects: dict[str, list[int]]
    """Type of object → histogram."""

    loose: dict[str, list[int]]
    """Type of object → how many are in a receptacle, beside one, elsewhere in the room."""

    places: dict[str, dict[str, int]]
    """Type of object → type of receptacle → chance that the object is in one given receptacle of the type."""

    nested: dict[tuple[str, str], int]
    """Types of two objects in the same place → chance that the first one lies in the second."""


@dataclass(frozen=True, slots=True)
class Household:
    """All that the generator knows of the domain, beside its rules."""

    per: int
    """Shares and chances are whole numbers out of so many."""

    properties: dict[str, frozenset[str]]
    """Predicate (pickupable, cleanable …) → the types of objects that have it."""

    can_contain: dict[str, frozenset[str]]
    """Type of receptacle → the types of objects that the rules allow to be put there."""

    cool_in_fridge: int
    """Share of the things in a fridge that count as cooled from the start."""

    heights: dict[str, tuple[int, int]]
    """Type of receptacle → between which heights it hangs or stands, in centimetres."""

    rooms: dict[str, RoomStatistics]
    tasks: dict[str, dict[str, dict[str, dict[str, int]]]]
    """Task type → kind of room → goal object → goal receptacle → games."""

    measured: dict[str, Any]
    """Means of the real games, to compare generated ones with."""

    def is_(self, quality: str, type_: str) -> bool:
        return type_ in self.properties[quality]


@cache
def household() -> Household:
    raw = json.loads(files(__package__).joinpath("household.json").read_text(encoding="utf-8"))
    return Household(
        per=raw["per"],
        properties={name: frozenset(types) for name, types in raw["properties"].items()},
        can_contain={name: frozenset(types) for name, types in raw["can_contain"].items()},
        cool_in_fridge=raw["cool_in_fridge"],
        heights={name: (low, high) for name, (low, high) in raw["heights"].items()},
        rooms={kind: _room(table) for kind, table in raw["rooms"].items()},
        tasks=raw["tasks"],
        measured=raw["measured"],
    )


def _room(table: dict[str, Any]) -> RoomStatistics:
    nested = {tuple(pair.split(" in ")): chance for pair, chance in table["nested"].items()}
    parts = {name: table[name] for name in RoomStatistics.__dataclass_fields__ if name != "nested"}
    return RoomStatistics(**parts, nested=nested)
