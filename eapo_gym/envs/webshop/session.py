"""The shop's state machine: which page a customer sees, and where a search or a click leads.

States are immutable, and a transition makes a new one; so a snapshot is the state itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Literal

from eapo_gym.envs.webshop.actions import CLICK, SEARCH, click, read_action
from eapo_gym.envs.webshop.products import Catalogue, Product, Search

PageKind = Literal["search", "results", "item", "sub", "done"]

MOST_RESULTS = 50
RESULTS_PER_PAGE = 10

BACK_TO_SEARCH, PREVIOUS, NEXT, BUY = "back to search", "< prev", "next >", "buy now"
SEARCH_BUTTON = "search"
"""It stands among the clickables, and a click on it does nothing: one searches with `search[…]`."""
SUB_PAGES = {"description": "Description", "features": "Features", "reviews": "Reviews", "attributes": "Attributes"}

ADDRESS = "http://127.0.0.1:3000"
_PAGE_IN_ADDRESS: dict[str, PageKind] = {
    "search_results": "results",
    "item_page": "item",
    "item_sub_page": "sub",
    "done": "done",
}
_LONGEST_KEPT_QUERY = 1_000
_KEPT_QUERIES = 2_048


@dataclass(frozen=True, slots=True)
class State:
    """Where a customer stands. Equal states lead to equal pages, whatever came before."""

    kind: PageKind = "search"
    query: str = ""
    page: int = 1
    """Of the results; an item's page remembers it for the way back."""

    number: int | None = None
    """Of the product that is looked at, or was bought."""

    options: tuple[tuple[str, str], ...] = ()
    """Names and values of what is selected, in the order in which each name was first selected."""

    sub_page: str = ""
    visited: frozenset[str] = frozenset()
    """The asins that were looked at since the last time on the search page: one of the observations marks them."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a page needs of a product, made once."""

    product: Product
    sub_pages: tuple[str, ...]
    """Those that its page has a button for."""

    clicks: Mapping[str, tuple[str, str] | None]
    """What can be clicked on its page, in the order of the page: for an option its name and value, else None."""

    within_reach: tuple[str, ...]
    """Those of them that a `click[…]` can name."""


class Showroom:
    """A catalogue and its search, with what its pages are made of kept at hand. All sessions of a process share it."""

    def __init__(self, catalogue: Catalogue, search: Search, *, show_attributes: bool = False) -> None:
        self.catalogue = catalogue
        self.show_attributes = show_attributes
        self._search = search
        self.item = lru_cache(4_096)(self._item)
        self._kept_results = lru_cache(_KEPT_QUERIES)(self._find)

    def results(self, query: str, seed: str) -> Sequence[int]:
        """Numbers of all products that a query finds. `seed` decides what the special word `<r>` finds."""
        seed = seed if query.partition(" ")[0] == "<r>" else ""
        find = self._kept_results if len(query) <= _LONGEST_KEPT_QUERY else self._find
        return find(query, seed)

    def _find(self, query: str, seed: str) -> Sequence[int]:
        """By words, or, as the benchmark has it, all products of an attribute, a category or a query, or random ones.

        The benchmark draws new random products for every page of `<r>`; here a session has one draw, so that Prev leads
        back to the same page.
        """
        first, _, rest = query.partition(" ")
        if first == "<r>":
            return tuple(Random(seed).sample(range(len(self.catalogue)), min(MOST_RESULTS, len(self.catalogue))))
        if first == "<a>":
            return self._those(lambda product: rest.strip() in product.attributes)
        if first == "<c>":
            category = rest.partition(" ")[0].strip()
            return self._those(lambda product: product.category == category)
        if first == "<q>":
            return self._those(lambda product: product.query == rest.strip())
        return tuple(map(int, self._search.search(query, MOST_RESULTS)))

    def _those(self, fits: Callable[[Product], bool]) -> Sequence[int]:
        every = range(len(self.catalogue))
        return tuple(number for number in every if fits(self.catalogue.product(number)))

    def _item(self, number: int) -> Item:
        product = self.catalogue.product(number)
        clicks: dict[str, tuple[str, str] | None] = dict.fromkeys((BACK_TO_SEARCH, PREVIOUS))
        sub_pages = tuple(page for page in SUB_PAGES if page != "attributes" or self.show_attributes)
        clicks |= dict.fromkeys((*sub_pages, BUY))
        # Of two options with the same value the last has it, and an option that is called like a button replaces it.
        for name, values in product.options.items():
            clicks |= {value: (name.lower(), value) for value in values}
        return Item(product, sub_pages, clicks, tuple(filter(can_be_clicked, clicks)))


class Session:
    """One customer's way through a shop. `seed` names it in addresses, and decides what `<r>` finds."""

    def __init__(self, room: Showroom, seed: str) -> None:
        self.room = room
        self.seed = seed

    def results(self, state: State) -> Sequence[int]:
        return self.room.results(state.query, self.seed)

    def on_page(self, state: State) -> Sequence[int]:
        """Numbers of the products on a page of results; beyond the last page there are none."""
        first = (state.page - 1) * RESULTS_PER_PAGE
        return self.results(state)[first : state.page * RESULTS_PER_PAGE]

    def clickables(self, state: State) -> list[str]:
        """What stands on buttons and links, in lower case, then the values of options as they are."""
        if state.kind == "search":
            return [SEARCH_BUTTON]
        if state.kind == "sub":
            return [BACK_TO_SEARCH, PREVIOUS]
        if state.kind == "done":
            return []
        if state.kind == "item":
            return list(self._item(state).clicks)
        buttons = [BACK_TO_SEARCH, *([PREVIOUS] if state.page > 1 else []), NEXT]
        return list(dict.fromkeys([*buttons, *self._links(state)]))

    def clicks(self, state: State) -> list[str]:
        """The clickables that a `click[…]` can name: not the search button, nor what brackets would cut in two."""
        if state.kind == "item":
            return list(self._item(state).within_reach)
        return [name for name in self.clickables(state) if can_be_clicked(name)]

    def after(self, state: State, action: str) -> State | None:
        """The state that an action leads to; None if it does nothing, since there is no such action here."""
        verb, argument = read_action(action)
        if verb == SEARCH:
            return replace(_ON_RESULTS, query=argument, visited=state.visited)
        if verb == CLICK and argument != SEARCH_BUTTON:
            if state.kind == "item":
                return self._click_on_item(state, argument) if argument in self._item(state).clicks else None
            if argument in self.clickables(state):
                return self._click(state, argument)
        return None

    def address(self, state: State) -> str:
        """The page's URL."""
        if state.kind == "search":
            return f"{ADDRESS}/{self.seed}"
        words = state.query.replace(" ", "+")
        if state.kind == "results":
            return f"{ADDRESS}/search_results/{self.seed}/{words}/{state.page}"
        asin, options = self._item(state).product.asin, dict(state.options)
        if state.kind == "item":
            return f"{ADDRESS}/item_page/{self.seed}/{asin}/{words}/{state.page}/{json.dumps(options)}"
        if state.kind == "sub":
            return f"{ADDRESS}/item_sub_page/{self.seed}/{asin}/{words}/{state.page}/{state.sub_page}/{options}"
        return f"{ADDRESS}/done/{self.seed}/{asin}/{options}"

    # Clicks

    def _click_on_item(self, state: State, name: str) -> State:
        """Buttons come first: an option with the name of one does what the button does."""
        if name in (BUY, BACK_TO_SEARCH, PREVIOUS, NEXT) or name in SUB_PAGES:
            return self._click(state, name)
        return self._select(state, name)

    def _click(self, state: State, name: str) -> State:
        if name == BUY:
            return replace(state, kind="done")
        if name == BACK_TO_SEARCH:
            return START
        if name in (NEXT, PREVIOUS):
            return self._turn(state, name)
        if name in SUB_PAGES and state.number is not None:
            return replace(state, kind="sub", sub_page=SUB_PAGES[name])
        number = self._links(state)[name]
        asin = self.room.item(number).product.asin
        return replace(state, kind="item", number=number, visited=state.visited | {asin})

    def _turn(self, state: State, name: str) -> State:
        """Prev and Next go by what the page's address says, so a query like "item_page" confuses them."""
        address = self.address(state)
        kind = next((kind for word, kind in _PAGE_IN_ADDRESS.items() if word in address), "search")
        if kind == "results":
            page = state.page + (1 if name == NEXT else -1)
            return replace(_ON_RESULTS, query=state.query, page=page, visited=state.visited)
        if name == PREVIOUS and kind == "item":
            return replace(_ON_RESULTS, query=state.query, page=state.page, visited=state.visited)
        # On a product's page Next can only be an option.
        return replace(state, kind="item", sub_page="") if name == PREVIOUS else self._select(state, name)

    def _select(self, state: State, value: str) -> State:
        option = self._item(state).clicks[value]
        assert option is not None
        return replace(state, options=tuple((dict(state.options) | dict([option])).items()))

    def _links(self, state: State) -> dict[str, int]:
        return {self.room.item(number).product.asin.lower(): number for number in self.on_page(state)}

    def _item(self, state: State) -> Item:
        assert state.number is not None
        return self.room.item(state.number)


def can_be_clicked(name: str) -> bool:
    return name != SEARCH_BUTTON and read_action(click(name)) == (CLICK, name)


START = State()
_ON_RESULTS = State("results")
