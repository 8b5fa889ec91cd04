"""Where searches and clicks lead."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

from eapo_gym.envs.webshop.actions import parse_command, read_action
from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.session import START, Session, Showroom, State
from eapo_gym.envs.webshop.store import MemoryCatalogue
from eapo_gym.errors import ActionError
from tests.envs.webshop.original_sessions import TitleSearch
from tests.envs.webshop.small_shops import PRODUCTS


def session_of(products: list[Product], **kwargs: bool) -> Session:
    return Session(Showroom(MemoryCatalogue(products, "small"), TitleSearch(products), **kwargs), "7")


@pytest.fixture
def session() -> Session:
    return session_of(PRODUCTS)


def walk(session: Session, *actions: str, state: State = START) -> State:
    for action in actions:
        after = session.after(state, action)
        assert after is not None, action
        state = after
    return state


def test_reading_an_action_is_the_benchmarks_pattern():
    pattern, rng = re.compile(r"(.+)\[(.+)\]"), Random(0)
    for _ in range(20_000):
        text = "".join(rng.choices(["search", "click", "[", "]", "a", " ", "\n", "É"], k=rng.randint(0, 8)))
        found = pattern.match(text)
        right = found is not None and found[1] in ("search", "click")
        assert read_action(text) == ((found[1], found[2].lower()) if right else ("", "")), text


@pytest.mark.parametrize("text", ["[" * 1_000_000, "search[" * 150_000, "click[" + "]" * 1_000_000, "a" * 1_000_000])
def test_a_million_brackets_are_read_in_one_pass(text):
    read_action(text)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (" Search[Red Shoes]\n", "search[red shoes]"),
        ("CLICK[Buy Now]", "click[buy now]"),
        ("click [< Prev]", "click[< prev]"),
        ("click[half | ]", "click[half | ]"),
        ("search[a]b]", "search[a]b]"),
        ("search[日本 é] and then some", "search[日本 é]"),
    ],
)
def test_a_command_in_one_form(text, command):
    assert parse_command(text) == command == parse_command(command)


@pytest.mark.parametrize(
    "text", ["", "click[", "search[]", "buy[now]", "click buy now", "[x]", "search[" + "x" * 2**20 + "]"]
)
def test_what_is_no_command_is_told_how_one_looks(text):
    with pytest.raises(ActionError) as refused:
        parse_command(text)
    assert refused.value.example == "search[red running shoes]"
    assert len(str(refused.value)) < 500


def test_pages_of_results_go_on_beyond_the_last(session):
    state = walk(session, "search[lamp]")
    assert len(session.results(state)) == 18
    pages = []
    for _ in range(3):
        pages.append(len(session.on_page(state)))
        state = walk(session, "click[next >]", state=state)
    assert pages == [10, 8, 0]
    assert session.clickables(state) == ["back to search", "< prev", "next >"]
    assert walk(session, *["click[< prev]"] * 3, state=state) == walk(session, "search[lamp]")
    assert session.after(walk(session, "search[lamp]"), "click[< prev]") is None


def test_the_way_in_and_out_of_a_product(session):
    results = walk(session, "search[chair]", "click[next >]")
    product = PRODUCTS[session.on_page(results)[0]]
    item = walk(session, f"click[{product.asin}]", state=results)
    assert (item.kind, item.page, item.options) == ("item", 2, ())
    chosen = walk(session, "click[Blue]", "click[large]", "click[red]", state=item)
    assert chosen.options == (("color", "red"), ("size", "large"))
    below = walk(session, "click[features]", state=chosen)
    assert (below.kind, below.sub_page) == ("sub", "Features")
    assert session.clickables(below) == ["back to search", "< prev"]
    assert walk(session, "click[< prev]", state=below) == chosen
    assert walk(session, "click[< prev]", state=chosen) == replace(results, visited=frozenset({product.asin}))
    assert walk(session, "click[back to search]", state=below) == START
    bought = walk(session, "click[buy now]", state=chosen)
    assert (bought.kind, bought.options, session.clickables(bought)) == ("done", chosen.options, [])


def test_a_search_is_understood_on_every_page(session):
    item = walk(session, "search[chair]", f"click[{PRODUCTS[1].asin}]", "click[blue]")
    for state in (item, walk(session, "click[description]", state=item), walk(session, "click[buy now]", state=item)):
        found = walk(session, "search[lamp]", state=state)
        assert (found.kind, found.query, found.page, found.options, found.number) == ("results", "lamp", 1, (), None)


@pytest.mark.parametrize(
    "action", ["click[search]", "click[buy now]", "click[", "click[]", "search[]", "Search[lamp]", "look"]
)
def test_what_is_not_there_does_nothing(session, action):
    assert session.after(START, action) is None


def test_a_product_of_another_page_is_not_there(session):
    assert session.after(walk(session, "search[chair]"), f"click[{PRODUCTS[0].asin}]") is None


def odd_item(**options: tuple[str, ...]) -> tuple[Session, State]:
    product = replace(PRODUCTS[0], options=options)
    session = session_of([product])
    return session, walk(session, "search[lamp]", f"click[{product.asin}]")


def test_of_two_options_with_one_value_the_last_has_it():
    session, item = odd_item(color=("red", "one size"), size=("one size",))
    assert session.clickables(item)[-2:] == ["red", "one size"]
    assert walk(session, "click[one size]", state=item).options == (("size", "one size"),)


def test_an_option_that_is_called_like_a_button_is_the_button():
    session, item = odd_item(style=("buy now", "< prev", "features", "attributes", "search", "next >"))
    assert [walk(session, f"click[{name}]", state=item).kind for name in ("buy now", "< prev", "features")] == [
        *("done", "results", "sub")
    ]
    assert walk(session, "click[attributes]", state=item).sub_page == "Attributes"
    assert session.after(item, "click[search]") is None
    assert walk(session, "click[next >]", state=item).options == (("style", "next >"),)


def test_what_brackets_cut_in_two_cannot_be_clicked():
    session, item = odd_item(style=("a[b", "a]b", "", "a\nb"))
    assert session.clickables(item)[-4:] == ["a[b", "a]b", "", "a\nb"]
    assert "a]b" in session.clicks(item)
    assert not {"a[b", "", "a\nb"} & set(session.clicks(item))
    assert all(session.after(item, f"click[{value}]") is None for value in ("a[b", "", "a\nb"))


def test_a_query_like_a_pages_address_confuses_prev():
    session, item = odd_item()
    item = walk(session, "search[search_results lamp]", f"click[{PRODUCTS[0].asin}]")
    assert walk(session, "click[< prev]", state=item).page == 0
    below = walk(session, "search[item_page lamp]", f"click[{PRODUCTS[0].asin}]", "click[features]")
    assert walk(session, "click[< prev]", state=below).kind == "results"


def test_special_words_find_kinds_of_products(session):
    def found(query: str) -> list[int]:
        return list(session.results(walk(session, f"search[{query}]")))

    assert found("<q> chair") == [n for n, product in enumerate(PRODUCTS) if product.query == "chair"]
    assert found("<c> garden and more") == list(range(len(PRODUCTS)))
    assert found("<a> sturdy") == list(range(len(PRODUCTS)))
    assert found("<c>") == found("<a> nothing") == []
    assert sorted(found("<r>")) == list(range(len(PRODUCTS)))
    assert found("<r>") == found("<r>")
    other = Session(session.room, "8")
    for query in ("<r>", f"<r> {'and more ' * 200}"):
        assert other.results(walk(other, f"search[{query}]")) != session.results(walk(session, f"search[{query}]"))


def test_a_search_of_a_megabyte_is_a_search(session):
    state = walk(session, f"search[{'lamp ' * 200_000}]")
    assert len(session.results(state)) == 18
    assert session.results(walk(session, "search[ ]")) == ()
    assert session.results(walk(session, "search[日本 \U0001f600 é]")) == ()
