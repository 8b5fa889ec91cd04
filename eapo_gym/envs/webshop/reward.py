"""What a purchase earns, part by part as the benchmark computes it: type, attributes, options, price."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from eapo_gym.envs.webshop.fuzzy import alike
from eapo_gym.envs.webshop.normalize import plain_option, plain_pair
from eapo_gym.envs.webshop.products import Goal, Product


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward and what it was computed from; the names are the benchmark's."""

    total: float
    r_type: float
    r_att: float
    w_att: float
    query_match: bool
    category_match: bool
    title_score: float
    r_option: float | None
    """None, like its weight, where the goal asks for no option."""

    w_option: float | None
    r_price: bool
    w_price: float

    def parts(self) -> dict[str, float | bool]:
        """The verbose breakdown, with the benchmark's keys in its order."""
        parts: dict[str, float | bool] = {
            "r_type": self.r_type,
            "r_att": self.r_att,
            "w_att": self.w_att,
            "query_match": self.query_match,
            "category_match": self.category_match,
            "title_score": self.title_score,
        }
        if self.r_option is not None and self.w_option is not None:
            parts |= {"r_option": self.r_option, "w_option": self.w_option}
        return parts | {"r_price": self.r_price, "w_price": self.w_price}


def reward(
    product: Product,
    nouns: Collection[str],
    goal: Goal,
    goal_nouns: Sequence[str],
    price: float,
    options: Mapping[str, str],
) -> Reward:
    """Judge the purchase of a product at a price with the options chosen; the nouns are those of the two titles."""
    attributes_met = sum(_has_attribute(product, attribute) for attribute in goal.attributes)
    options_met = _options_met(options, goal.options)
    price_met = price <= goal.price_upper
    asked = len(goal.attributes) + len(goal.options) + 1

    query_match = product.query == goal.query
    category_match = len(_path(product.product_category) & _path(goal.product_category)) >= 2
    title_score = _title_score(nouns, goal_nouns)
    r_type = type_reward(query_match or category_match, title_score)
    return Reward(
        total=(attributes_met + options_met + price_met) / asked * r_type,
        r_type=r_type,
        r_att=attributes_met / len(goal.attributes),
        w_att=len(goal.attributes) / asked,
        query_match=query_match,
        category_match=category_match,
        title_score=title_score,
        r_option=options_met / len(goal.options) if goal.options else None,
        w_option=len(goal.options) / asked if goal.options else None,
        r_price=price_met,
        w_price=1 / asked,
    )


def type_reward(same_shelf: bool, title_score: float) -> float:
    """Whether it is the kind of thing that was asked for; a title without a noun in common decides alone."""
    if title_score == 0.0:
        return 0.0
    if title_score < 0.1:
        return 0.1
    return 1.0 if same_shelf or title_score > 0.2 else 0.5


def _title_score(nouns: Collection[str], goal_nouns: Sequence[str]) -> float:
    """How many of the goal's nouns the title has; one that the goal repeats counts once above and twice below."""
    if not goal_nouns:
        return 0.2
    return len(set(goal_nouns).intersection(nouns)) / len(goal_nouns)


def _has_attribute(product: Product, attribute: str) -> bool:
    return any(alike(own, attribute) for own in product.attributes) or any(
        attribute in text for text in _page_texts(product.name, product.bullet_points, product.description)
    )


@lru_cache(maxsize=2048)
def _page_texts(name: str, bullet_points: tuple[str, ...], description: str) -> tuple[str, str, str]:
    return name.lower(), " ".join(bullet_points).lower(), description.lower()


def _options_met(chosen: Mapping[str, str], wanted: Mapping[str, str] | Sequence[str]) -> int:
    if not wanted or not chosen:
        return 0
    have = [plain_option(value) for value in chosen.values()]
    if isinstance(wanted, Mapping):
        want = [plain_pair(name, value) for name, value in wanted.items()]
    else:
        want = [plain_option(value) for value in wanted]
    return sum(any(alike(own, value) for own in have) for value in want)


@lru_cache(maxsize=65536)
def _path(product_category: str) -> frozenset[str]:
    return frozenset(part.strip() for part in product_category.split("›"))
