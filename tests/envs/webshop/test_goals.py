import random
from collections import Counter
from itertools import product
from random import Random

import numpy as np
import pytest

from eapo_gym.envs.webshop.catalogue import read_products
from eapo_gym.envs.webshop.goals import combination, splits
from eapo_gym.envs.webshop.products import Instruction, Product
from eapo_gym.envs.webshop.store import MemoryCatalogue
from eapo_gym.errors import UnknownName
from tests.envs.webshop.original import real_files
from tests.envs.webshop.small_catalogue import write_files


@pytest.fixture
def shop(tmp_path):
    return MemoryCatalogue(read_products(write_files(tmp_path)), "small")


def lamp(number: int = 0, **changes) -> Product:
    fields = {
        "asin": f"B{number:09d}",
        "name": "Lamp",
        "category": "garden",
        "query": "lamps",
        "product_category": "Home",
        "prices": (5.0,),
        "template": Instruction("Find me a lamp", ("bright",)),
    }
    return Product(**fields | changes)


def goals_of(*products, seed=0, kind="synthetic"):
    goals = MemoryCatalogue(products, "lamps", seed).goals(kind)
    return [goals.goal(number) for number in range(len(goals))]


def test_a_goal_for_every_combination_of_options():
    goals = goals_of(lamp(options={"size": ("s", "m"), "color": ("red", "blue", "tan")}))
    assert {tuple(goal.options.items()) for goal in goals} == {
        (("color", color), ("size", size)) for color in ("red", "blue", "tan") for size in ("s", "m")
    }
    goal = next(goal for goal in goals if goal.options == {"color": "blue", "size": "m"})
    limit = f"{goal.price_upper:.2f}"
    assert goal.text == f"Find me a lamp with color: blue, and size: m, and price lower than {limit} dollars"


def test_no_option_no_goal_and_no_limit():
    assert goals_of(lamp(options={"size": ()})) == []
    assert goals_of(lamp(template=None)) == []
    (goal,) = goals_of(lamp(prices=(985.0,)))
    assert (goal.text, goal.price_upper, goal.options) == ("Find me a lamp", 1_000_000.0, {})


def test_combinations_are_in_the_order_of_itertools():
    options = {"size": ("s", "m"), "color": ("red", "blue", "red"), "fit": ("wide",)}
    names = sorted(options)
    everything = [dict(zip(names, values, strict=True)) for values in product(*(options[name] for name in names))]
    assert [combination(options, number) for number in range(6)] == everything
    assert list(combination(options, 3)) == names


def test_a_human_goal_has_values_alone_and_the_human_s_words():
    human = (Instruction("a lamp...", ("bright",), ("red", "large")), Instruction("nothing", ()))
    (goal,) = goals_of(lamp(template=None, human=human), kind="human")
    assert goal.text == f"a lamp, and price lower than {goal.price_upper:.2f} dollars"
    assert (goal.options, goal.attributes, goal.weight) == (("red", "large"), ("bright",), 1.0)


def test_rare_attributes_weigh_more():
    common, rare = Instruction("x", ("bright",)), Instruction("y", ("bright", "small"))
    goals = goals_of(lamp(0, template=common, options={"size": ("s", "m")}), lamp(1, template=rare))
    assert {goal.asin: goal.weight for goal in goals} == {"B000000000": 1 / 3, "B000000001": (1 / 3 + 1) / 2}


def test_prices_and_limits_come_from_the_seed_alone():
    products = [lamp(number, prices=(10.0, 90.0)) for number in range(30)]
    random.seed(1)
    before = random.getstate()
    first, again, other = (MemoryCatalogue(products, "lamps", seed) for seed in (0, 0, 1))
    for shop in (first, again, other):
        shop.goals("synthetic")
        shop.goals("human")
    assert random.getstate() == before
    expected = Random(0)
    assert [first.price(number) for number in range(30)] == [expected.uniform(10.0, 90.0) for _ in range(30)]
    assert goals_of(*products) == goals_of(*products) != goals_of(*products, seed=1)
    assert [first.price(n) for n in range(30)] == [again.price(n) for n in range(30)]
    assert [first.price(n) for n in range(30)] != [other.price(n) for n in range(30)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 13, 1499, 1500, 1501, 1600, 6910, 100_000])
def test_splits_never_overlap_and_cover_all(count):
    parts = splits(count)
    assert list(parts) == ["test", "eval", "train"]
    assert [number for part in parts.values() for number in part] == list(range(count))
    if count > 1500:
        assert (parts["test"], parts["eval"]) == (range(500), range(500, 1500))
    elif count >= 4:
        assert all(parts.values())


def test_a_split_that_is_not_there(shop):
    with pytest.raises(UnknownName, match="Unknown split 'tests'"):
        shop.goals("synthetic").split("tests")


def test_a_draw_is_the_benchmark_s(shop):
    import bisect

    goals = shop.goals("synthetic")
    weights = [goals.goal(number).weight for number in range(len(goals))]
    cumulative = [0, *np.cumsum(weights).tolist()]
    ours, theirs = Random(3), Random(3)
    for _ in range(500):
        place = bisect.bisect(cumulative, theirs.uniform(0, cumulative[-1]))
        assert goals.draw(ours) == min(place, len(cumulative) - 2)


def test_a_draw_stays_among_those_asked_for(shop):
    goals = shop.goals("synthetic")
    random, among = Random(0), goals.split("eval")
    drawn = Counter(goals.draw(random, among) for _ in range(3000))
    assert set(drawn) == set(among[1:])  # the first is never drawn, as in the benchmark
    assert goals.draw(random, range(4, 5)) == 4
    with pytest.raises(ValueError, match="there are none to draw from"):
        goals.draw(random, range(3, 3))


def test_a_goal_that_is_not_there(shop):
    goals = shop.goals("human")
    with pytest.raises(IndexError, match=f"expected a number from 0 to {len(goals) - 1}, got -1"):
        goals.goal(-1)


def test_the_real_catalogue_has_6910_synthetic_goals():
    shop = MemoryCatalogue(read_products(real_files()), "real")
    assert len(shop.goals("synthetic")) == 6910
    assert len(shop.goals("human")) == 13
