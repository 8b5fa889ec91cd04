"""What is wished for, as far as the sentence tells: features, options, and a price limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from eapo_gym.envs.webshop.experts.words import content, plain

_ANYTHING = "product"

_LIMIT = re.compile(r",?(?: and)? price (?:lower|less) than \$?(\d+(?:\.\d+)?)(?: dollars)?\.?\s*$")
_NAME = r"(?:(?! with )[^:.,;]){1,40}"
_OPTIONS = re.compile(rf" with (?P<options>{_NAME}: .+)$")
_NEXT_OPTION = re.compile(rf", and (?={_NAME}: )")
_BETWEEN = re.compile(r"[,.;:?!]\s|[,.;:?!]$|\b(?:and|but|for|has|have|in|is|made|that|which|whose|with)\b")


@dataclass(frozen=True, slots=True)
class Wish:
    """A goal, in parts."""

    text: str
    """All of it but the limit."""

    body: str
    """Without the options that it names."""

    features: tuple[tuple[str, ...], ...]
    """What the product should be or have, each in words."""

    options: tuple[tuple[str, str], ...]
    """Names and values, where the sentence has them as such; a person's sentence only mentions values."""

    limit: float | None
    """The price has to be lower."""

    @property
    def words(self) -> list[str]:
        """The words of the features, each once."""
        return list(dict.fromkeys(word for feature in self.features for word in feature))

    @property
    def searches(self) -> tuple[str, ...]:
        """What to search for, one after the other while nothing fits."""
        essence = " ".join(self.words)
        texts = filter(None, (_searchable(self.text), _searchable(self.body), essence))
        return tuple(dict.fromkeys(texts)) or (_ANYTHING,)


@lru_cache(maxsize=4096)
def read_wish(goal: str) -> Wish:
    """The parts of a goal.

    >>> wish = read_wish("Find me soft, warm socks with color: red, and size: 7-9, and price lower than 20.00 dollars")
    >>> wish.features, wish.options, wish.limit
    ((('soft',), ('warm', 'sock')), (('color', 'red'), ('size', '7-9')), 20.0)
    """
    text = " ".join(goal.split())
    limit = _LIMIT.search(text)
    if limit:
        text = text[: limit.start()]
    found = _OPTIONS.search(text)
    named = _NEXT_OPTION.split(found["options"]) if found else []
    options = tuple((name.strip(), value.strip()) for name, _, value in (pair.partition(": ") for pair in named))
    body = text[: found.start()] if found else text
    features = [tuple(content(part)) for part in _BETWEEN.split(body.lower())]
    return Wish(
        text=text,
        body=body,
        features=tuple(dict.fromkeys(filter(None, features))),
        options=tuple((name, value) for name, value in options if plain(value)),
        limit=float(limit[1]) if limit else None,
    )


def _searchable(text: str) -> str:
    """Brackets would end the command."""
    return " ".join(re.sub(r"[\[\]]", " ", text).lower().split())
