"""What a shop sells, and what somebody is asked to buy there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

BUILD_COMMAND = "eapo-gym data webshop"
"""Brings the benchmark's files, and builds its catalogue and index from them."""

NO_PRICE = 100.0
"""What the benchmark takes for the price of a product that has none."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What somebody wrote down for a product: a human, or a template."""

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Values of options that are to be chosen; a template has none, since its goals go through all combinations."""


@dataclass(frozen=True, slots=True)
class Product:
    """One product as the pages show it, the reward judges it, and the search finds it."""

    asin: str
    name: str
    category: str
    query: str
    product_category: str
    """A path, as in "Home & Kitchen › Furniture › Tables"."""

    description: str = ""
    bullet_points: tuple[str, ...] = ()
    prices: tuple[float, ...] = ()
    """None, one, or the lowest and the highest."""

    price_tag: str = f"${NO_PRICE}"
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the name of an option its values, in the order of the page."""

    attributes: tuple[str, ...] = ()
    image: str = ""
    template: Instruction | None = None
    human: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """What to buy: what the instruction says, and what the reward is computed from."""

    asin: str
    """Of the product that it was made from. Any other that fits as well earns as much."""

    text: str
    attributes: tuple[str, ...]
    options: Mapping[str, str] | tuple[str, ...]
    """By name for synthetic goals, values alone for human ones."""

    price_upper: float
    weight: float
    """How often the benchmark draws it."""

    name: str
    category: str
    query: str
    product_category: str


class Catalogue(Protocol):
    """Products by their number, which is their place in the file; in memory, or in a file that processes share."""

    @property
    def label(self) -> str:
        """Which catalogue this is, for results: "embedded v1, 1,000 products", "official, 1,000 products", …"""

    @property
    def digest(self) -> str:
        """Of its content: an index belongs to one catalogue."""

    def __len__(self) -> int: ...

    def product(self, number: int) -> Product: ...

    def number(self, asin: str) -> int | None:
        """The place of a product, None for one that is not sold here."""


class Search(Protocol):
    """Finds products by words."""

    def search(self, query: str, most: int) -> Sequence[int]:
        """Numbers of products, best first."""
