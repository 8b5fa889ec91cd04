"""What a customer sees of a state: as text, as text with marked buttons, as HTML, or as the page's address.

A page is a row of pieces, one for each text that stands in the benchmark's HTML. The benchmark makes its text modes by
parsing that HTML again; here they are written from the pieces, with what its parser does to blanks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Literal, NamedTuple

from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.session import SUB_PAGES, Item, Session, State

Mode = Literal["text", "text_rich", "html", "url"]
MODES: tuple[Mode, ...] = ("text", "text_rich", "html", "url")


class Piece(NamedTuple):
    text: str
    kind: Literal["text", "button", "label", "link"] = "text"


def show(mode: Mode, session: Session, state: State, instruction: str, reward: float = 0.0) -> str:
    """The page of a state in one of the modes. `reward` stands on the page after a purchase."""
    if mode == "url":
        return session.address(state)
    if mode == "html":
        return html_page(session, state, instruction, reward)
    pieces = list(_seen(page(session, state, instruction, reward)))
    if mode == "text":
        return " [SEP] ".join([piece.text.strip() for piece in pieces])
    return _rich(pieces, session, state)


def page(session: Session, state: State, instruction: str, reward: float = 0.0) -> list[Piece]:
    """The texts of a page from top to bottom."""
    if state.kind == "search":
        return [Piece("WebShop"), Piece("Instruction: "), Piece(instruction), _SEARCH]
    if state.kind == "done":
        return _receipt(session, state, reward)
    head = [Piece("Instruction:"), Piece(instruction), _BACK]
    if state.kind == "results":
        return head + _results(session, state)
    assert state.number is not None
    item = session.room.item(state.number)
    return [*head, _PREVIOUS, *(_item(item) if state.kind == "item" else _sub_page(item.product, state.sub_page))]


_SEARCH, _BACK, _PREVIOUS, _NEXT, _BUY = (
    Piece(text, "button") for text in ("Search", "Back to Search", "< Prev", "Next >", "Buy Now")
)


def _results(session: Session, state: State) -> list[Piece]:
    pieces = [Piece(f"Page {state.page} (Total results: {len(session.results(state))})")]
    pieces += [_PREVIOUS, _NEXT] if state.page > 1 else [_NEXT]
    for number in session.on_page(state):
        product = session.room.item(number).product
        pieces += [Piece(product.asin, "link"), Piece(product.name), Piece(product.price_tag)]
    return pieces


def _item(item: Item) -> list[Piece]:
    product = item.product
    pieces = []
    for name, values in product.options.items():
        pieces.append(Piece(name))
        pieces += [Piece(value, "label") for value in values]
    pieces += [Piece(product.name), Piece(f"Price: {product.price_tag}"), Piece(f"Rating: {NO_RATING}")]
    pieces += [Piece(SUB_PAGES[name], "button") for name in item.sub_pages]
    return [*pieces, _BUY]


NO_RATING = "N.A."
"""The benchmark has pages for ratings and reviews, but no data for them."""


def _sub_page(product: Product, name: str) -> list[Piece]:
    if name == "Description":
        return [Piece(product.description)]
    if name == "Features":
        return [Piece(f" {point}") for point in product.bullet_points]
    if name == "Attributes":
        kinds = (product.category, product.query, product.product_category)
        return [*(Piece(f" {attribute}") for attribute in product.attributes), *map(Piece, kinds)]
    return []  # reviews


def _receipt(session: Session, state: State, reward: float) -> list[Piece]:
    """The page after a purchase. Most of it the benchmark hides from people, and fills in on its web site alone."""
    assert state.number is not None
    asin = session.room.item(state.number).product.asin
    return [
        Piece(text)
        for text in (
            *("Thank you for shopping with us!", "Your code: ", "None", " (Paste it in your MTurk interface.)"),
            *("Purchased", "asin", asin, "options", chosen_options(state), "attrs", "None", "category", "None"),
            *("query", "None", "product category", "None"),
            *("Target", "asin", "options", "attrs", "price upper", "instuction text", "category", "product category"),
            *("query", "Goal ", "None", "Reward", "Your score (min 0.0, max 1.0)", str(reward)),
            *("Reward Details ", "None"),
        )
    ]


def chosen_options(state: State) -> str:
    """As JSON that may stand in HTML: sorted by name, in ASCII, without what opens a tag."""
    text = json.dumps(dict(state.options), sort_keys=True)
    return text.translate(_NOT_IN_HTML)


_NOT_IN_HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'"}


# Text


def _seen(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """What the benchmark's parser leaves: no empty text, and of blanks alone one, or none if they break the line."""
    for piece in pieces:
        if piece.text.strip(_BLANKS):
            yield piece
        elif piece.text and "\n" not in piece.text:
            yield piece._replace(text=" ")


_BLANKS = " \n\t\f\r"


def _rich(pieces: Sequence[Piece], session: Session, state: State) -> str:
    """Buttons in marks, and what was clicked before in other ones; options that are clicked are named at the top."""
    address = session.address(state) if state.kind == "item" else ""
    clicked, lines = "", []
    for text, kind in pieces:
        if kind == "button":
            lines.append(f"[button] {text} [button_]\n")
        elif kind == "link":
            mark = "clicked button" if text in state.visited else "button"
            lines.append(f"\n[{mark}] {text} [{mark}_]\n")
        elif kind == "label" and f'"{text}"' in address:
            lines.append(f"  [clicked button] {text} [clicked button_]\n")
            clicked = f"You have clicked {text}.\n{clicked}"
        elif kind == "label":
            lines.append(f"  [button] {text} [button_]\n")
        else:
            lines.append(f"{text}\n")
    return clicked + "".join(lines)


# HTML


def html_page(session: Session, state: State, instruction: str, reward: float = 0.0) -> str:
    """A page of our own making: the same texts, with the ids, classes and inputs that tools for the benchmark look for.

    No blanks stand between the elements, so the texts are all there is to find.
    """
    pieces = page(session, state, instruction, reward)
    if state.kind == "done":
        body = "".join(_element("p", piece.text) for piece in pieces)
    elif state.kind == "search":
        body = _search_form(instruction)
    else:
        body = _instruction(instruction) + _BODIES[state.kind](session, state, pieces[2:])
    return f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{body}</body></html>'


def _element(tag: str, text: str, **attributes: str) -> str:
    written = "".join(f' {name.rstrip("_")}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{escape(text)}</{tag}>"


def _instruction(text: str, label: str = "Instruction:") -> str:
    return f'<div id="instruction-text"><h4>{label}<br>{escape(text)}</h4></div>'


def _search_form(instruction: str) -> str:
    return (
        f'<div id="logo">{_element("h2", "WebShop")}</div>{_instruction(instruction, "Instruction: ")}'
        '<form id="form-buscar" method="post"><input id="search_input" type="text" name="search_query" required>'
        f"{_button('Search')}</form>"
    )


def _button(text: str) -> str:
    kind = "btn purchase" if text == _BUY.text else "btn"
    return _element("button", text, type="submit", class_=kind)


def _html_of_results(session: Session, state: State, pieces: Sequence[Piece]) -> str:
    buttons = 4 if state.page > 1 else 3
    parts = [_button(text) if kind == "button" else _element("h3", text) for text, kind in pieces[:buttons]]
    products = (session.room.item(number).product for number in session.on_page(state))
    parts += [
        f'<div class="list-group-item"><img class="result-img" src="{escape(product.image)}" alt="">'
        f'<h4 class="product-asin">{_element("a", product.asin, class_="product-link", href="#")}</h4>'
        f"{_element('h4', product.name, class_='product-title')}"
        f"{_element('h5', product.price_tag, class_='product-price')}</div>"
        for product in products
    ]
    return "".join(parts)


def _html_of_item(session: Session, state: State, pieces: Sequence[Piece]) -> str:
    assert state.number is not None
    item = session.room.item(state.number)
    product, chosen = item.product, dict(state.options)
    parts = [_button(_BACK.text), _button(_PREVIOUS.text)]
    parts.append(f'<img id="product-image" class="item-page-img" src="{escape(product.image)}" alt="">')
    for name, values in product.options.items():
        parts.append(_element("h4", name))
        for place, value in enumerate(values):
            id_ = escape(f"radio_{name}{place}")
            checked = " checked" if chosen.get(name.lower()) == value else ""
            parts.append(
                f'<input type="radio" id="{id_}" name="{escape(name)}" value="{escape(value)}"{checked}>'
                f'<label for="{id_}">{escape(value)}</label>'
            )
    parts.append(_element("h2", product.name))
    parts += [_element("h4", f"Price: {product.price_tag}"), _element("h4", f"Rating: {NO_RATING}")]
    parts += [_button(SUB_PAGES[name]) for name in item.sub_pages]
    return "".join([*parts, _button(_BUY.text)])


def _html_of_sub_page(session: Session, state: State, pieces: Sequence[Piece]) -> str:
    kind = "attribute" if state.sub_page == "Attributes" else "product-info"
    texts = "".join(_element("p", piece.text, class_=kind) for piece in pieces[2:])
    return f"{_button(_BACK.text)}{_button(_PREVIOUS.text)}{texts}"


_BODIES: Mapping[str, Callable[[Session, State, Sequence[Piece]], str]] = {
    "results": _html_of_results,
    "item": _html_of_item,
    "sub": _html_of_sub_page,
}
