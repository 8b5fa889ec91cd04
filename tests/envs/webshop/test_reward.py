import json
from pathlib import Path

import pytest

from eapo_gym.envs.webshop.catalogue import read_products
from eapo_gym.envs.webshop.products import Goal, Product
from eapo_gym.envs.webshop.reward import reward
from eapo_gym.envs.webshop.store import MemoryCatalogue
from tests.envs.webshop.original import (
    RecordedNouns,
    ask_original,
    assert_like_original,
    real_files,
    some_purchases,
)
from tests.envs.webshop.small_catalogue import write_files

LAMP = Product(
    asin="B000000001",
    name="Bright Lamp",
    category="garden",
    query="desk lamps",
    product_category="Home › Lighting › Lamps",
    description="It is dimmable.",
    bullet_points=("Easy to", "carry"),
    attributes=("energy efficient", "easy assemble"),
)
GOAL = Goal(
    asin="B000000001",
    text="",
    attributes=("energy efficient", "dimmable"),
    options={"color": "red", "size": "x-large"},
    price_upper=30.0,
    weight=1.0,
    name="Bright Lamp",
    category="garden",
    query="desk lamps",
    product_category="Home › Lighting › Lamps",
)
NOUNS = ("bright", "lamp")


def earn(product=LAMP, nouns=NOUNS, goal=GOAL, goal_nouns=NOUNS, price=20.0, options=None):
    chosen = {"color": "dark red", "size": "x-large"} if options is None else options
    return reward(product, nouns, goal, goal_nouns, price, chosen)


def changed(thing, **changes):
    fields = {name: getattr(thing, name) for name in type(thing).__dataclass_fields__}
    return type(thing)(**fields | changes)


def test_all_that_was_asked_for():
    everything = earn(options={"color": "red", "size": "x-large"})
    assert everything.total == 1.0
    assert everything.parts() == {
        "r_type": 1.0,
        "r_att": 1.0,
        "w_att": 2 / 5,
        "query_match": True,
        "category_match": True,
        "title_score": 1.0,
        "r_option": 1.0,
        "w_option": 2 / 5,
        "r_price": True,
        "w_price": 1 / 5,
    }


def test_parts_that_are_missing():
    assert earn(options={}).total == 3 / 5
    assert earn(options={}).r_option == 0.0
    assert earn(options={"size": "x-large"}).r_option == 1 / 2
    assert earn(options={}, price=30.01).total == 2 / 5
    assert earn(options={}, price=30.0).r_price is True
    assert earn(changed(LAMP, description=""), options={}).r_att == 1 / 2


def test_a_goal_without_options_has_no_such_part():
    assert "r_option" not in earn(goal=changed(GOAL, options=())).parts()
    assert earn(goal=changed(GOAL, options={})).w_price == 1 / 3


def test_human_options_are_values_alone():
    goal = changed(GOAL, options=("red", "large"))
    assert earn(goal=goal, options={"color": "dark red", "size": "large"}).r_option == 1 / 2  # "dark" comes first
    assert earn(goal=goal, options={"color": "blood red", "size": "large"}).r_option == 1.0


def test_bullet_points_count_as_one_text():
    assert earn(goal=changed(GOAL, attributes=("easy to carry",))).r_att == 1.0


@pytest.mark.parametrize(
    ("nouns", "query", "r_type", "title_score"),
    [
        (("a",) * 10, "desk lamps", 0.0, 0.0),
        (("n0",), "desk lamps", 0.1, 1 / 11),
        (("n0", "n1"), "desk lamps", 1.0, 2 / 11),
        (("n0", "n1"), "gifts", 0.5, 2 / 11),
        (("n0", "n1", "n2"), "gifts", 1.0, 3 / 11),
    ],
)
def test_the_type_is_told_by_the_query_the_shelf_and_the_nouns(nouns, query, r_type, title_score):
    other = changed(LAMP, query=query, product_category="Gifts › Home")
    earned = earn(other, nouns=nouns, goal_nouns=tuple(f"n{number}" for number in range(11)))
    assert (earned.r_type, earned.title_score) == (r_type, title_score)
    assert earned.category_match is False


def test_titles_without_nouns():
    assert earn(goal_nouns=()).title_score == 0.2
    assert earn(goal_nouns=("lamp", "lamp")).title_score == 1 / 2  # as in the benchmark: once above, twice below


def test_a_goal_of_another_catalogue(tmp_path):
    shop = MemoryCatalogue(read_products(write_files(tmp_path)), "small")
    with pytest.raises(ValueError, match="does not sell 'B999999999'"):
        shop.reward(0, changed(GOAL, asin="B999999999"), {})


@pytest.mark.parametrize("kind", ["synthetic", "human"])
def test_goals_and_rewards_are_those_that_were_recorded_from_the_engine(tmp_path, kind):
    record = json.loads(Path(__file__).with_name("recorded_original.json").read_text(encoding="utf-8"))[kind]
    nouns = RecordedNouns(record["answer"]["nouns"])
    shop = MemoryCatalogue(read_products(write_files(tmp_path)), "small", nouns=nouns)
    assert len(record["purchases"]) >= 150
    assert_like_original(shop, kind == "human", record["purchases"], record["answer"])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("synthetic", 6000), ("human", 1000)])
def test_goals_and_rewards_are_the_engine_s(kind, count):
    human = kind == "human"
    files = real_files()
    products = list(read_products(files))
    purchases = some_purchases(MemoryCatalogue(products, "real"), human, count, seed=7)
    answer = ask_original(files, human, purchases)
    shop = MemoryCatalogue(products, "real", nouns=RecordedNouns(answer["nouns"]))
    assert_like_original(shop, human, purchases, answer)
    assert len(answer["goals"]) == (13 if human else 6910)
    assert len({total for total, _ in answer["rewards"]}) > 10  # not all of a kind


def test_another_seed_draws_as_the_engine_does():
    files = real_files()
    answer = ask_original(files, False, [], seed=11, titles=False)
    shop = MemoryCatalogue(read_products(files), "real", seed=11)
    assert_like_original(shop, False, [], answer)
