"""What the vocabularies of the five categories are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["is", "with", "for"]
"""Where an attribute stands in a sentence: "a WASHABLE rug", "a lamp with LINEN SHADE", "cream for DRY SKIN"."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One respect in which products of a kind differ: fabric, fit, diet. A product has one value or none."""

    role: Role
    sentences: tuple[str, ...]
    """How a page mentions a value in words: {a} is the value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of product."""

    query: str
    root: str
    """The path of its category without the last part, which the form adds."""

    forms: tuple[tuple[str, str], ...]
    """The last part of the path, and what the thing is called there."""

    ask: str
    """How somebody counts it: "a", "a pair of", "some"."""

    price: tuple[int, int]
    """In dollars, without its siblings' extra."""

    aspects: Mapping[str, tuple[str, ...]]
    """By the name of an aspect its values. None of them may pass for another of the kind, however fuzzily compared."""

    options: Mapping[str, tuple[str, ...]]
    """By the name of an option all values that there are. Sizes and the like go up, and are sold in a row."""

    keywords: tuple[str, ...]
    """What sellers add to titles."""

    about: tuple[str, ...]
    """Sentences that are true of any product of the kind."""


@dataclass(frozen=True, slots=True)
class Category:
    """One of the shop's categories, with shares (in percent) that are about those of the benchmark's 1,000 products."""

    name: str
    kinds: tuple[Kind, ...]
    attributes: Mapping[int, int]
    """How many attributes a product has → how often."""

    options: Mapping[int, int]
    """How many options a product has → how often."""

    price_ranges: int
    """Products that have options and a lowest and a highest price."""

    templates: int
    """Products that a template's instruction asks for."""

    title_pieces: Mapping[int, int]
    """How many more pieces titles have behind the name of the thing → how often."""

    boosts: tuple[str, ...]
    """Such pieces, for any kind."""

    openings: tuple[str, ...]
    """First sentences of descriptions: {noun}, {brand}."""

    services: tuple[str, ...]
    """Bullet points about anything but attributes."""

    closings: tuple[str, ...]
    """Sentences that fill descriptions."""
