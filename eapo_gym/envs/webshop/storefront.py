"""The shop as a person sees it in the browser: pages to look at, whose clicks are the environment's actions.

They show what the benchmark's pages show, with pictures, and can do what those can: one searches on the search page
alone, so elsewhere what looks like a search box leads back there. The texts of products are data in them, never markup.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import Any

from eapo_gym.envs.webshop.actions import SEARCH, click
from eapo_gym.envs.webshop.pages import NO_RATING
from eapo_gym.envs.webshop.pictures import COLOURS, draw, picture_of, ring
from eapo_gym.envs.webshop.products import NO_PRICE, Product
from eapo_gym.envs.webshop.reward import Reward
from eapo_gym.envs.webshop.session import (
    BACK_TO_SEARCH,
    BUY,
    NEXT,
    PREVIOUS,
    RESULTS_PER_PAGE,
    SUB_PAGES,
    Session,
    State,
)

Part = str | dict[str, Any]


def storefront(session: Session, state: State, instruction: str, verdict: Reward | None = None) -> dict[str, Any]:
    """The page of a state, as `eapo_gym.bench.live.views` says what one is. `verdict` is of a purchase."""
    head = [_bar(state), _part("p", "instruction", instruction)]
    if state.kind == "search":
        parts = _search_page(session)
    elif state.kind == "results":
        parts = [*head, *_results(session, state)]
    elif state.kind == "item":
        parts = [*head, *_item(session, state)]
    elif state.kind == "sub":
        parts = [*head, *_sub_page(session, state)]
    else:
        assert verdict is not None
        parts = [_part("header", "bar", _BRAND), *_receipt(session, state, verdict)]
    key = f"{state.kind} {state.number} {state.sub_page} {state.page} {state.query}"
    return {"key": key, "style": _style(), "parts": [_part("div", "shop", *parts)]}


@cache
def _style() -> str:
    return files(__package__).joinpath("storefront.css").read_text(encoding="utf-8")


def _part(tag: str, class_: str = "", *parts: Part, **more: Any) -> dict[str, Any]:
    return {"tag": tag, "class": class_, "parts": parts, **more}


def _button(name: str, class_: str, *parts: Part, **more: Any) -> dict[str, Any]:
    return _part("button", class_, *parts, do=click(name), **more)


def _picture(product: Product, class_: str = "picture", colour: str = "") -> dict[str, Any]:
    return _part("img", class_, svg=picture_of(product, colour), label="")


def _price(product: Product) -> str:
    return " – ".join(f"${price:,.2f}" for price in product.prices or (NO_PRICE,))


_BRAND = _part("span", "brand", _part("span", "mark", "W"), _part("span", "brand-name", "WebShop"))


def _bar(state: State) -> Part:
    """The head of every page but the first."""
    again = _button(
        BACK_TO_SEARCH,
        "again",
        _part("span", "words", state.query),
        _part("span", "hint", "New search"),
        title="Back to Search",
        label=f"Back to Search. You searched for {state.query}",
    )
    return _part("header", "bar", _BRAND, again)


# Search


def _search_page(session: Session) -> list[Part]:
    form = _part(
        "form",
        "search",
        _part("input", placeholder=f"Search {len(session.room.catalogue):,} products", label="Search for products"),
        _part("button", "go", "Search"),
        before=f"{SEARCH}[",
        after="]",
        without="[",
        label="Search",
    )
    window = (_part("img", "picture", svg=draw(shape, colour, shape), label="") for shape, colour in _IN_THE_WINDOW)
    return [
        _part("section", "hero", _BRAND, _part("h2", "", "What would you like to buy?"), form),
        _part("div", "window", *window),
    ]


_IN_THE_WINDOW = (
    ("shoe", COLOURS["coral"]),
    ("headphones", COLOURS["slate"]),
    ("lamp", COLOURS["mustard"]),
    ("dress", COLOURS["teal"]),
    ("bottle", COLOURS["mauve"]),
    ("cup", COLOURS["navy"]),
    ("chair", COLOURS["sage green"]),
    ("bag", COLOURS["cognac"]),
)
"""What decorates the search page: shapes and colours, none of them a product."""


# Results


def _results(session: Session, state: State) -> list[Part]:
    found, here = len(session.results(state)), session.on_page(state)
    pages = max(1, math.ceil(found / RESULTS_PER_PAGE))
    count = f"{found:,} {'product' if found == 1 else 'products'}"
    head = _part("div", "results-head", _part("h2", "", "Results"), _part("span", "soft", count))
    if here:
        body = _part("ul", "cards", *(_card(session, state, number) for number in here))
    elif found:
        body = _part("p", "nothing", "There are no more products. Go back a page, or search for something else.")
    else:
        body = _part("p", "nothing", "No product was found. Search again, with other words.")
    turn = _part(
        "nav",
        "turn",
        _button(PREVIOUS, "", "← Previous", disabled=state.page <= 1, label="Previous page"),
        _part("span", "soft", f"Page {state.page}" + (f" of {pages}" if state.page <= pages else "")),
        _button(NEXT, "", "Next →", disabled=state.page >= pages, label="Next page"),
        label="Pages of the results",
    )
    return [head, body, turn]


def _card(session: Session, state: State, number: int) -> Part:
    product = session.room.item(number).product
    viewed = [_part("span", "viewed", "Viewed")] if product.asin in state.visited else []
    card = _button(
        product.asin.lower(),
        "card",
        _picture(product),
        *viewed,
        _part("span", "name", product.name),
        _part("span", "price", _price(product)),
        _part("span", "asin", product.asin),
        title=product.name,
    )
    return _part("li", "", card)


# A product


def _item(session: Session, state: State) -> list[Part]:
    assert state.number is not None
    item = session.room.item(state.number)
    product, chosen = item.product, dict(state.options)
    colour = next((value for name, value in chosen.items() if "color" in name), "")
    options = [_option(session, state, name, values) for name, values in product.options.items()]
    more = [_button(name, "", SUB_PAGES[name]) for name in item.sub_pages]
    info = _part(
        "section",
        "info",
        _part("h2", "", product.name),
        _part("p", "soft", f"Rating: {NO_RATING}", _part("span", "dot", "·"), product.asin),
        _part("p", "price", _price(product)),
        *options,
        _button(BUY, "buy", "Buy Now"),
        _part("nav", "more", *more, label="More about the product"),
    )
    back = _button(PREVIOUS, "back", f"← Results, page {state.page}")
    return [back, _part("div", "product", _picture(product, "picture large", colour), info)]


def _option(session: Session, state: State, name: str, values: tuple[str, ...]) -> Part:
    chosen = dict(state.options).get(name.lower(), "")
    head = _part("h3", "", name, _part("span", "chosen", chosen or "not chosen yet"))
    buttons = [_value(session, state, name.lower(), value, value == chosen) for value in values]
    return _part("div", "option", head, _part("div", "values many" if len(values) > 40 else "values", *buttons))


def _value(session: Session, state: State, name: str, value: str, is_chosen: bool) -> Part:
    """A button for a value of an option. Whether a click can choose it, the session knows."""
    after = session.after(state, click(value))
    if after is not None and after.kind == "item" and dict(after.options).get(name) == value:
        return _button(value, "value", value, pressed=is_chosen)
    why = "No command can choose this: another button has the same name, or its brackets cut the command in two."
    return _part("button", "value", value, disabled=True, pressed=is_chosen, title=why)


def _sub_page(session: Session, state: State) -> list[Part]:
    assert state.number is not None
    product = session.room.item(state.number).product
    head = _part(
        "div",
        "short",
        _picture(product, "picture", next((value for name, value in state.options if "color" in name), "")),
        _part("div", "", _part("p", "name", product.name), _part("p", "price", _price(product))),
    )
    body = _part("section", "text", _part("h2", "", state.sub_page), *_text_of(product, state.sub_page))
    return [_button(PREVIOUS, "back", "← Back to the product"), head, body]


def _text_of(product: Product, sub_page: str) -> list[Part]:
    if sub_page == "Description" and product.description.strip():
        return [_part("p", "", product.description)]
    if sub_page == "Features" and product.bullet_points:
        return [_part("ul", "points", *(_part("li", "", point) for point in product.bullet_points))]
    if sub_page == "Attributes":
        kinds = {"Category": product.category, "Query": product.query, "Shelf": product.product_category}
        return [
            _part("ul", "tags", *(_part("li", "", attribute) for attribute in product.attributes)),
            _table(kinds),
        ]
    nothing = {
        "Description": "This product has no description.",
        "Features": "This product has no list of features.",
        "Reviews": "There are no reviews: the benchmark has a page for them, and no data.",
    }
    return [_part("p", "soft", nothing.get(sub_page, ""))]


def _table(rows: dict[str, str]) -> Part:
    pairs = [(_part("dt", "", name), _part("dd", "", value)) for name, value in rows.items()]
    return _part("dl", "table", *(part for pair in pairs for part in pair))


# The end


def _receipt(session: Session, state: State, verdict: Reward) -> list[Part]:
    assert state.number is not None
    product = session.room.item(state.number).product
    chosen = dict(state.options)
    colour = next((value for name, value in chosen.items() if "color" in name), "")
    bought = _part(
        "section",
        "bought",
        _picture(product, "picture", colour),
        _part(
            "div",
            "",
            _part("p", "name", product.name),
            _part("p", "price", _price(product)),
            _table(chosen) if chosen else _part("p", "soft", "No options were chosen."),
            _part("p", "asin", product.asin),
        ),
    )
    score = _part(
        "div",
        "score",
        _part("img", "", svg=ring(verdict.total), label=""),
        _part("div", "", _part("strong", "", f"{verdict.total:.2f}"), _part("span", "soft", "reward")),
    )
    said = "Exactly what was asked for." if verdict.total == 1 else "It does not fit in everything that was asked for."
    thanks = _part("div", "", _part("h2", "", "Thank you for shopping with us!"), _part("p", "soft", said))
    parts = _part("section", "verdict", _part("h3", "", "What the reward is made of"), *_rows(verdict), _sum(verdict))
    return [_part("div", "thanks", score, thanks), bought, parts]


def _rows(verdict: Reward) -> list[Part]:
    shelf = "from the right shelf" if verdict.query_match or verdict.category_match else "from another shelf"
    kind = f"{shelf}, with {verdict.title_score:.0%} of the nouns in the title; it multiplies the rest"
    rows = [_row("Kind", verdict.r_type, kind)]
    rows.append(_row("Attributes", verdict.r_att, f"of those asked for; weight {verdict.w_att:.2f}"))
    if verdict.r_option is not None:
        rows.append(_row("Options", verdict.r_option, f"of those asked for; weight {verdict.w_option:.2f}"))
    price = "within the limit" if verdict.r_price else "above the limit"
    return [*rows, _row("Price", float(verdict.r_price), f"{price}; weight {verdict.w_price:.2f}")]


def _row(name: str, value: float, why: str) -> Part:
    return _part(
        "div",
        "row full" if value >= 1 else "row",
        _part("strong", "", name),
        _part("progress", value=min(1.0, max(0.0, value)), label=name),
        _part("span", "number", f"{value:.2f}"),
        _part("span", "soft", why),
    )


def _sum(verdict: Reward) -> Part:
    terms = [(verdict.w_att, verdict.r_att), (verdict.w_option, verdict.r_option), (verdict.w_price, verdict.r_price)]
    inner = " + ".join(
        f"{weight:.2f} · {value:.2f}" for weight, value in terms if weight is not None and value is not None
    )
    return _part("p", "sum", f"{verdict.r_type:.2f} × ({inner}) = {verdict.total:.2f}")
