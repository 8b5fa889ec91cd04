"""Words as the explorer compares them: in small letters, numbers apart from their units, and without a plural's s."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")

FILLERS = frozenset(
    """
    a about after all also am an and any are as at be because been but buy by can care could do each everyday find for
    from get had has have having hello help hey hi i if in into is it item items its just kind like looking ll look m
    made make matter matters me must my need of on one or order our out pair place please product products s search
    shop should show so some something such sure t than that the their them there these they this to type up us use ve
    want wants was we were what when where which who will with would you your
    """.split()  # noqa: SIM905
)
"""Words that say nothing about a product."""


def words(text: str) -> list[str]:
    """The words of a text, one after the other.

    >>> words("Men's T-Shirts, 3X-Large, 120ml")
    ['men', 't', 'shirt', '3', 'x', 'large', '120', 'ml']
    """
    return list(_words(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    plain = text.lower().replace("’", "'").replace("'s", "")
    return tuple(map(_singular, _WORD.findall(plain)))


def plain(text: str) -> str:
    """The words of a text as one text: what notes are made of.

    >>> plain('color: 28" x 28" Greens')
    'color 28 x 28 green'
    """
    return " ".join(words(text))


def content(text: str) -> list[str]:
    """The words that say something about a product, each once."""
    return [word for word in dict.fromkeys(words(text)) if word not in _FILLERS]


def within(few: Iterable[str], many: Iterable[str]) -> bool:
    """Whether the words stand in that order, one right after the other, among the others."""
    return f" {' '.join(few)} " in f" {' '.join(many)} "


def _singular(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word[-2] in "su":
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]


_FILLERS = frozenset(map(_singular, FILLERS))
