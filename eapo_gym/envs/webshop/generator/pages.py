"""From a draft to a product: its title, bullet points and description, and what people ask for."""

from __future__ import annotations

from functools import lru_cache

from eapo_gym.envs.webshop.generator.dice import Dice
from eapo_gym.envs.webshop.generator.families import Draft
from eapo_gym.envs.webshop.generator.instructions import human, template
from eapo_gym.envs.webshop.generator.wording import ASPECTS, TITLE_WORDS
from eapo_gym.envs.webshop.products import NO_PRICE, Product

_HEADINGS = ("{A}: {s}", "{A} - {s}", "【{A}】{s}", "{U}: {s}", "{s}", "{s}")
"""How bullet points begin. {A}: the attribute as in titles, {U}: in capital letters, {s}: a sentence about it."""


def write(asin: str, draft: Draft) -> Product:
    """The product of a draft, with a number to sell it by."""
    # All that a page says is drawn by the family, and in an order that does not depend on what is said.
    dice = Dice("words", *draft.family)
    prices = tuple(cents / 100 for cents in draft.cents)
    said = [dice.pick(ASPECTS[aspect].sentences).format(a=value) for aspect, value in draft.attributes]
    asked = Dice("asked", *draft.family, draft.member)
    leaf, _ = draft.form
    return Product(
        asin=asin,
        name=_title(draft, dice),
        category=draft.category.name,
        query=draft.kind.query,
        product_category=f"{draft.kind.root} › {leaf}",
        description=_description(draft, said, dice),
        bullet_points=_bullet_points(draft, said, dice),
        prices=prices,
        price_tag=" to ".join(f"${price}" for price in prices or (NO_PRICE,)),
        options=draft.options,
        attributes=tuple(value for _, value in draft.attributes),
        template=template(draft, asked) if asked.below(100) < draft.category.templates else None,
        human=human(draft, asked),
    )


def _title(draft: Draft, dice: Dice) -> str:
    kind, category = draft.kind, draft.category
    shown = [draft.attributes[n] for n, place in enumerate(draft.places) if place == "title"]
    before = [title_case(value) for aspect, value in shown if ASPECTS[aspect].role == "is"]
    behind = [f"{ASPECTS[aspect].role} {title_case(value)}" for aspect, value in shown if ASPECTS[aspect].role != "is"]
    lead = " ".join([draft.brand, *before[:2], draft.form[1], *behind[:1]])
    pieces = dice.sample([*kind.keywords, *category.boosts], dice.weighted(category.title_pieces))
    pieces = [lead, *before[2:], *behind[1:], *pieces]
    # Where a value is sold apart, titles like to name it; others name one that cannot be chosen.
    spec_of = dice.pick(list(kind.options))
    spec = dice.pick(kind.options[spec_of])
    naming = dice.below(4)
    if draft.titled:
        spec = draft.options[draft.titled][-1]
    ending = ("", f", {title_case(spec)}", f" ({title_case(spec)})", f" - {title_case(spec)}")[naming]
    return dice.pick((", ", ", ", " - ", " | ", " ")).join(pieces) + ending


def _bullet_points(draft: Draft, said: list[str], dice: Dice) -> tuple[str, ...]:
    points = []
    kind, category = draft.kind, draft.category
    remarks = dice.shuffled([*kind.about, *category.closings])
    for (_, value), place, sentence in zip(draft.attributes, draft.places, said, strict=True):
        again = dice.chance(0.4)
        longer = dice.chance(0.8)
        heading = dice.pick(_HEADINGS)
        if place == "bullets" or (place == "title" and again):
            point = heading.format(A=title_case(value), U=value.upper(), s=sentence)
            points.append(f"{point} {remarks.pop()}" if longer else point)
    more = dice.weighted({0: 1, 1: 2, 2: 4, 3: 6, 4: 4, 5: 2})
    services = dice.sample(category.services, max(more, 1 - len(points)))
    points += [f"{service}. {remarks.pop()}" if dice.chance(0.5) else service for service in services]
    return tuple(dice.shuffled(points))


def _description(draft: Draft, said: list[str], dice: Dice) -> str:
    kind, category = draft.kind, draft.category
    opening = dice.pick(category.openings).format(noun=draft.form[1].lower(), brand=draft.brand.capitalize())
    opening = opening[:1].upper() + opening[1:]
    about = dice.sample(kind.about, dice.between(0, len(kind.about)))
    closings = dice.sample(category.closings, dice.weighted({1: 3, 2: 4, 4: 4, 6: 3, 8: 3, 10: 3}))
    hidden = [said[n] for n, place in enumerate(draft.places) if place == "description"]
    empty = dice.chance(0.35)
    return "" if empty and not hidden else " ".join([opening, *about, *hidden, *closings])


@lru_cache(maxsize=4096)
def title_case(words: str) -> str:
    """As titles write it. Not str.title, which follows the Unicode tables of its version of Python."""
    return " ".join(TITLE_WORDS.get(word, word[:1].upper() + word[1:]) for word in words.split(" "))
