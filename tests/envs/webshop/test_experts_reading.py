"""What the explorer reads: wishes, and the shop's pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.experts.page import read_page
from eapo_gym.envs.webshop.experts.wish import read_wish
from eapo_gym.envs.webshop.experts.words import FILLERS, words
from eapo_gym.envs.webshop.opening import open_shop
from tests.envs.webshop.small_shops import PRODUCTS, small_env


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Women's T-Shirts, 3X-Large", ["women", "t", "shirt", "3", "x", "large"]),
        ("120ml", ["120", "ml"]),
        ("10.5 oz.", ["10.5", "oz"]),
        ("dresses boxes watches accessories glass", ["dress", "box", "watch", "accessory", "glass"]),
        ("Crème brûlée – 抹茶", ["crème", "brûlée", "抹茶"]),
    ],
)
def test_words_are_compared_plainly(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_every_synthetic_wish_is_understood() -> None:
    shop = open_shop("embedded")
    for task in shop.tasks("test")[:100]:
        goal = shop.goal(task)
        wish = read_wish(goal.text)
        assert dict(wish.options) == dict(goal.options)
        assert wish.limit == goal.price_upper
        assert "price" not in wish.text
        attributes = {word for attribute in goal.attributes for word in words(attribute)}
        assert attributes <= {*wish.words, *FILLERS}


@pytest.mark.parametrize(
    ("goal", "features", "options", "limit"),
    [
        ("i need a red lamp, and price lower than 30.00 dollars", (("red", "lamp"),), (), 30.0),
        ("what matters to me: dry clean, in size 2xl please", (("dry", "clean"), ("size", "2", "xl")), (), None),
        (
            "Find me shoes with arch support with color: blue, and size: 7",
            (("shoe",), ("arch", "support")),
            (("color", "blue"), ("size", "7")),
            None,
        ),
        ("", (), (), None),
    ],
)
def test_what_a_wish_says(goal: str, features: object, options: object, limit: float | None) -> None:
    wish = read_wish(goal)
    assert (wish.features, wish.options, wish.limit) == (features, options, limit)


def test_searches_are_commands_that_the_shop_takes() -> None:
    for goal in ("a [strange] wish] with\nlines", "", "[]", "🦊"):
        searches = read_wish(goal).searches
        assert searches
        for text in searches:
            assert small_env().parse_action(f"search[{text}]") == f"search[{text}]"


@given(st.text())
def test_reading_never_fails(text: str) -> None:
    read_wish(text)
    read_page(text)
    read_page(f"Instruction: [SEP] {text} [SEP] Back to Search [SEP] < Prev [SEP] {text}")


def state_after(env: WebShopEnv, *actions: str) -> str:
    obs, _ = env.reset(seed=0, options={"task": env.tasks()[0]})
    for action in actions:
        obs, *_ = env.step(action)
    return str(obs["state"])


def test_pages_are_told_apart() -> None:
    env = small_env()
    product = PRODUCTS[1]
    to_it = ("search[red chair]", f"click[{product.asin.lower()}]")
    kinds = [
        getattr(read_page(state_after(env, *actions)), "kind", None)
        for actions in ((), to_it[:1], to_it, (*to_it, "click[features]"), (*to_it, "click[reviews]"))
    ]
    assert kinds == ["search", "results", "item", "sub", "sub"]
    assert read_page(state_after(env, *to_it, "click[buy now]")) is None


def test_a_product_is_read_with_and_without_the_offered_clicks() -> None:
    env = small_env()
    product = PRODUCTS[1]
    state = state_after(env, "search[red chair]", f"click[{product.asin.lower()}]")
    for offered in (env.valid_actions(), None):
        page = read_page(f"{state}\nThe rollback did nothing: a notice.", offered)
        assert page is not None
        assert (page.title, page.price) == (product.name, product.price_tag)
        assert dict(page.options) == product.options


def test_results_are_read() -> None:
    env = small_env()
    state = state_after(env, "search[red chair]", "click[next >]")
    page = read_page(state)
    assert page is not None
    assert page.number == 2
    assert page.rows
    by_asin = {product.asin: product for product in PRODUCTS}
    for row in page.rows:
        assert (row.title, row.price) == (by_asin[row.asin].name, by_asin[row.asin].price_tag)
