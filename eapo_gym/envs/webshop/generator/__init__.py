"""A seeded catalogue of made-up products, for those who do not have the benchmark's.

>>> products = generate(1000)
>>> len(products), products[:10] == generate(10)
(1000, True)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from eapo_gym.envs.webshop.generator.dice import VERSION, Dice
from eapo_gym.envs.webshop.generator.families import BLOCK, CATEGORIES, drafts
from eapo_gym.envs.webshop.generator.pages import write
from eapo_gym.envs.webshop.products import Product

__all__ = ["CATEGORIES", "MOST_PRODUCTS", "VERSION", "generate", "generated"]

MOST_PRODUCTS = 10_000_000

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ASINS = len(_DIGITS) ** 8


def generate(products: int = 1000, seed: int = 0) -> list[Product]:
    """The first so many products of a seed's catalogue: the same ones everywhere, for one version of the generator.

    A product does not depend on how many are made, so a small catalogue is the beginning of each larger one.
    """
    return list(generated(products, seed))


def generated(products: int, seed: int = 0) -> Iterator[Product]:
    """The same products one after the other, for catalogues that are not to be held in memory."""
    if not isinstance(products, int) or isinstance(products, bool) or not 0 <= products <= MOST_PRODUCTS:
        raise ValueError(f"products: expected a whole number from 0 to {MOST_PRODUCTS:,}, got {products!r:.40}")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 10**18:
        raise ValueError(f"seed: expected a whole number from 0 to 10**18 - 1, got {seed!r:.40}")
    blocks = -(-products // BLOCK)
    all_drafts = (draft for block in range(blocks) for draft in drafts(seed, block))
    first = Dice("asins", seed).below(_ASINS)
    return (write(_asin(first, number), draft) for number, draft in enumerate(islice(all_drafts, products)))


def _asin(first: int, number: int) -> str:
    """No two numbers have the same one, as the step and the number of all asins have no common factor."""
    rest = (first + number * 1_234_567_890_121) % _ASINS
    digits = []
    for _ in range(8):
        rest, digit = divmod(rest, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "B0" + "".join(reversed(digits))
