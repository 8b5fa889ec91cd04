"""Families: a product and its near misses, which differ from it in one attribute, one option's value, or the price.

A draft is what is drawn of a product before anything is written. The same words are then drawn for all members of a
family, so that their pages differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from eapo_gym.envs.webshop.generator.beauty import BEAUTY
from eapo_gym.envs.webshop.generator.dice import Dice
from eapo_gym.envs.webshop.generator.electronics import ELECTRONICS
from eapo_gym.envs.webshop.generator.fashion import FASHION
from eapo_gym.envs.webshop.generator.garden import GARDEN
from eapo_gym.envs.webshop.generator.grocery import GROCERY
from eapo_gym.envs.webshop.generator.kinds import Category, Kind
from eapo_gym.envs.webshop.generator.wording import BRAND_ENDS, BRAND_STARTS

CATEGORIES = (FASHION, GARDEN, ELECTRONICS, BEAUTY, GROCERY)

FAMILY_SIZES = (3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1)
"""Of each category's families in a block: 11 of its 20 products have siblings."""

BLOCK = len(CATEGORIES) * sum(FAMILY_SIZES)
"""Products are made by blocks of so many, in which all categories have the same share."""

RISING = ("size", "number of items")
"""Options whose values go up, and are sold in a row."""

Place = Literal["title", "bullets", "description"]
"""Where a page mentions an attribute."""

_PLACES: Mapping[Place, int] = {"title": 35, "bullets": 45, "description": 20}

Difference = Literal["attribute", "option", "price"]


@dataclass(frozen=True, slots=True)
class Draft:
    """What is drawn of a product."""

    category: Category
    kind: Kind
    form: tuple[str, str]
    brand: str
    attributes: tuple[tuple[str, str], ...]
    """Aspects and their values."""

    places: tuple[Place, ...]
    """Of the attributes, in their order."""

    pivot: int
    """Which attribute the family's members differ in, where they do; instructions always ask for it."""

    options: Mapping[str, tuple[str, ...]]
    titled: str
    """The option whose last value stands in the title, and which siblings may lack; "" for none."""

    cents: tuple[int, ...]
    family: tuple[object, ...]
    """Seed, category and number: the name of its dice."""

    member: int
    asks_for_last: bool = False
    """Instructions ask for the last value of the titled option, which a sibling lacks."""


def drafts(seed: int, block: int) -> list[Draft]:
    """All products of a block, shuffled."""
    members = []
    for category in CATEGORIES:
        sizes = Dice("sizes", seed, category.name, block).shuffled(FAMILY_SIZES)
        for place, size in enumerate(sizes):
            members += family(category, seed, block * len(sizes) + place, size)
    return Dice("order", seed, block).shuffled(members)


def family(category: Category, seed: int, number: int, size: int) -> list[Draft]:
    """A product and its siblings."""
    name = (seed, category.name, number)
    dice = Dice("family", *name)
    first = _draw(category, _kind(category, seed, number), name, dice)
    if size == 1:
        return [replace(first, cents=()) if dice.chance(0.04) else first]
    if dice.chance(0.4):
        first = replace(first, places=_with_title(first.places, first.pivot))
    members = [first]
    chances: dict[Difference, int] = {"attribute": 60, "price": 20}
    if first.options:
        chances["option"] = 20
    for member in range(1, size):
        difference = dice.weighted(chances)
        del chances[difference]
        if difference == "option":
            members[0] = replace(members[0], asks_for_last=True)
        members.append(replace(_DIFFERENT[difference](first, dice), member=member))
    return members


def _kind(category: Category, seed: int, number: int) -> Kind:
    """Kinds take turns, in an order that is drawn for each turn."""
    turn, place = divmod(number, len(category.kinds))
    return category.kinds[_turn(category.name, len(category.kinds), seed, turn)[place]]


@lru_cache(maxsize=64)
def _turn(category: str, kinds: int, seed: int, turn: int) -> list[int]:
    return Dice("kinds", seed, category, turn).shuffled(range(kinds))


def _draw(category: Category, kind: Kind, name: tuple[object, ...], dice: Dice) -> Draft:
    described = dice.chance(0.7)
    aspects = dice.sample(list(kind.aspects), dice.weighted(category.attributes))
    attributes = tuple((aspect, dice.pick(kind.aspects[aspect])) for aspect in aspects)
    places: tuple[Place, ...] = tuple(_place(dice, described) for _ in attributes)
    options = _options(kind, dice.weighted(category.options), dice)
    titled = dice.pick(list(options)) if options else ""
    low, high = (100 * dollars for dollars in kind.price)
    # The lower of two draws, since most things are cheap.
    cents = _ending(low + (high - low) * min(dice.below(1000), dice.below(1000)) // 1000, dice)
    ranged = options and dice.below(100) < category.price_ranges
    prices = (cents, _ending(cents + max(200, cents * dice.between(15, 120) // 100), dice)) if ranged else (cents,)
    brand = dice.pick(BRAND_STARTS) + dice.pick(BRAND_ENDS)
    return Draft(
        category=category,
        kind=kind,
        form=dice.pick(kind.forms),
        brand=brand.upper() if dice.chance(0.25) else brand,
        attributes=attributes,
        places=places,
        pivot=dice.below(len(attributes)),
        options=options,
        titled=titled,
        cents=prices,
        family=name,
        member=0,
    )


def _place(dice: Dice, described: bool) -> Place:
    where = dice.weighted(_PLACES)
    return "bullets" if where == "description" and not described else where


def _with_title(places: tuple[Place, ...], pivot: int) -> tuple[Place, ...]:
    """What the family differs in stands in the title after all; for the others one has to open the pages."""
    return (*places[:pivot], "title", *places[pivot + 1 :])


def _options(kind: Kind, count: int, dice: Dice) -> dict[str, tuple[str, ...]]:
    names = dice.sample(list(kind.options), count)
    options = {}
    for name in kind.options:
        if name in names:
            pool = kind.options[name]
            amount = max(dice.between(2, len(pool)), dice.between(2, len(pool)))
            if name in RISING:
                start = dice.below(len(pool) - amount + 1)
                options[name] = pool[start : start + amount]
            else:
                options[name] = tuple(dice.sample(pool, amount))
    return options


def _ending(cents: int, dice: Dice) -> int:
    """A price as shops like them."""
    return cents // 100 * 100 + dice.weighted({99: 60, 95: 12, 49: 10, 0: 10, 88: 8})


# Siblings


def _with_another_attribute(first: Draft, dice: Dice) -> Draft:
    aspect, value = first.attributes[first.pivot]
    other = dice.pick([other for other in first.kind.aspects[aspect] if other != value])
    attributes = list(first.attributes)
    attributes[first.pivot] = aspect, other
    return replace(first, attributes=tuple(attributes))


def _without_an_option_value(first: Draft, dice: Dice) -> Draft:
    options = {**first.options, first.titled: first.options[first.titled][:-1]}
    return replace(first, options=options)


def _at_another_price(first: Draft, dice: Dice) -> Draft:
    """So much dearer that it is often more than the other's buyer will pay."""
    extra = 100 * dice.between(12, 50) + first.cents[0] // 1000 * 100
    return replace(first, cents=tuple(cents + extra for cents in first.cents))


_DIFFERENT: Mapping[Difference, Callable[[Draft, Dice], Draft]] = {
    "attribute": _with_another_attribute,
    "option": _without_an_option_value,
    "price": _at_another_price,
}
