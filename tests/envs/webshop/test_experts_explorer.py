"""The explorer shops: it compares, goes back, searches again, and buys in time, from what it sees and remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from eapo_gym.agents.base import AgentError
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.experts.explorer import STEPS, Explorer
from eapo_gym.envs.webshop.experts.memory import Memory
from eapo_gym.envs.webshop.opening import OpenShop
from eapo_gym.envs.webshop.products import Goal, Instruction, Product
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.store import MemoryCatalogue
from eapo_gym.registration import WEBSHOP
from eapo_gym.schema import Context, Observation, Turn
from tests.envs.webshop.original_sessions import SimpleNouns

Change = Callable[[Observation, Turn], Turn | None]


@dataclass
class Trip:
    reward: float = 0.0
    turns: list[Turn] = field(default_factory=list)
    bought: str = ""
    chosen: dict[str, str] = field(default_factory=dict)

    @property
    def actions(self) -> list[str | None]:
        return [turn.action for turn in self.turns]


def shop_for(
    env: WebShopEnv, task: str, explorer: Explorer | None = None, change: Change | None = None, most: int = 60
) -> Trip:
    """An episode; `change` puts another turn in the place of the explorer's."""
    explorer = explorer or Explorer()
    raw, _ = env.reset(seed=0, options={"task": task})
    turn, trip = Turn(memory=""), Trip()
    for t in range(most):
        offered = env.valid_actions()
        seen = Observation.from_dict(
            raw,
            explore=turn.explore,
            memory=turn.memory or "",
            valid_actions=None if offered is None else tuple(offered),
            context=Context(WEBSHOP, task, t=t, seed=t),
        )
        turn = explorer.act(seen)
        turn = (change(seen, turn) if change else None) or turn
        trip.turns.append(turn)
        raw, trip.reward, bought, _, info = env.step(turn.action or "")
        assert not info["invalid_action"], turn.action
        if bought:
            assert env.state.number is not None
            trip.bought = env.open.room.item(env.state.number).product.asin
            trip.chosen = dict(env.state.options)
            break
    return trip


# In a shop of our own


def product(number: int, name: str, **more: object) -> Product:
    usual = {"prices": (20.0,), "price_tag": "$20.0", "query": "mug", "product_category": "Home › Mugs"}
    return Product(asin=f"B{number:09d}", name=name, category="garden", **{**usual, **more})  # type: ignore[arg-type]


class Wishing(OpenShop):
    """A shop in which somebody has this wish."""

    def __init__(self, products: list[Product], text: str) -> None:
        catalogue = MemoryCatalogue(products, "small", nouns=SimpleNouns())
        super().__init__(catalogue, ShopSearch.make(catalogue))
        self.text = text

    def goal(self, task: str) -> Goal:
        return replace(super().goal(task), text=self.text)


def trip_for(wish: str, *products: Product, **more: object) -> Trip:
    wished = replace(products[0], template=Instruction(wish, ("blue",)))
    # Goals are divided into splits: those of a product with eight sizes are enough for each.
    filler = product(900, "Zzz", options={"n": tuple("abcdefgh")}, template=Instruction("Find zzz", ("zzz",)))
    env = WebShopEnv(split="test", shop=Wishing([wished, *products[1:], filler], wish))
    return shop_for(env, env.tasks()[0], **more)  # type: ignore[arg-type]


def test_it_buys_at_once_what_has_everything() -> None:
    mug = product(1, "Blue Mug", options={"size": ("small", "large"), "color": ("red", "navy")})
    trip = trip_for("Find me blue mug with color: navy, and size: large, and price lower than 30.00 dollars", mug)
    assert trip.bought == mug.asin
    assert trip.chosen == {"size": "large", "color": "navy"}
    assert trip.actions[1:] == [f"click[{mug.asin.lower()}]", "click[navy]", "click[large]", "click[buy now]"]


def test_it_passes_over_what_is_too_dear_or_not_sold_as_wished() -> None:
    dear = product(1, "Blue Mug Blue Mug", prices=(90.0,), price_tag="$90.0", options={"size": ("small", "large")})
    small = product(2, "Large Blue Mug", description="A large blue mug.", options={"size": ("small",)})
    right = product(3, "Mug, Blue, for tea and coffee", options={"size": ("small", "large")})
    trip = trip_for("Find me blue mug with size: large, and price lower than 30.00 dollars", dear, small, right)
    assert trip.bought == right.asin
    assert f"click[{dear.asin.lower()}]" not in trip.actions
    notes = Memory.read(trip.turns[-1].memory or "")
    assert notes is not None
    assert {seen.asin: seen.no for seen in notes.seen} == {small.asin: ("size large",), right.asin: ()}


def test_it_reads_on_where_the_title_does_not_say_it() -> None:
    other = product(1, "Blue Mug", bullet_points=("dishwasher safe",))
    right = product(2, "Blue Mug", bullet_points=("hand painted",), description="Microwave proof.")
    trip = trip_for("i want a blue mug that is hand painted and microwave proof", other, right)
    assert trip.bought == right.asin
    assert {"click[features]", "click[description]", "click[< prev]"} <= set(trip.actions)


def test_it_searches_again_where_nothing_fits_and_returns_to_the_best() -> None:
    trip = trip_for(
        "Find me blue mug with size: large, and price lower than 30.00 dollars",
        product(1, "Blue Mug", options={"size": ("small",)}),
        product(2, "Mug", options={"size": ("small",)}),
    )
    assert trip.bought == product(1, "").asin
    searches = [action for action in trip.actions if action and action.startswith("search")]
    assert len(set(searches)) > 1
    assert trip.actions.count("click[back to search]") >= len(searches) - 1


def test_options_of_a_persons_wish_are_found_in_its_words() -> None:
    mug = product(1, "Mug", options={"color": ("red", "sky blue"), "size": ("12 oz", "20 oz"), "lid": ("yes", "no")})
    trip = trip_for("i need a sky blue mug that holds 20oz", mug)
    assert trip.chosen == {"color": "sky blue", "size": "20 oz"}


def test_options_that_nobody_sells_do_not_keep_it_from_buying() -> None:
    mug = product(1, "Blue Mug", options={"color": ("red", "green"), "buy now": ("buy now",), "[x": ("[x",)})
    trip = trip_for("Find me blue mug with color: silver, and pattern: [x, and price lower than 30.00 dollars", mug)
    assert trip.bought == mug.asin
    assert len(trip.actions) < STEPS


def test_it_buys_even_what_is_too_dear_if_there_is_nothing_else() -> None:
    trip = trip_for("Find me blue mug, and price lower than 10.00 dollars", product(1, "Blue Mug"))
    assert trip.bought == product(1, "").asin


# In the embedded shop


@pytest.fixture(scope="module")
def env() -> WebShopEnv:
    return WebShopEnv(split="test")


@pytest.mark.parametrize("kind", ["synthetic", "human"])
@pytest.mark.parametrize("use_valid_actions", [True, False])
def test_it_mostly_finds_what_is_wished_for(kind: str, use_valid_actions: bool) -> None:
    env = WebShopEnv(split="test", kind=kind)
    trips = [shop_for(env, task, Explorer(use_valid_actions=use_valid_actions)) for task in env.tasks()[:40]]
    assert sum(trip.reward == 1.0 for trip in trips) >= 32
    assert all(trip.bought and len(trip.turns) < 45 for trip in trips)


def test_all_it_knows_is_in_its_notes(env: WebShopEnv) -> None:
    trip = shop_for(env, env.tasks()[0])
    assert all(Memory.read(turn.memory or "") for turn in trip.turns)
    assert max(len(turn.memory or "") for turn in trip.turns) < 1_500
    again = shop_for(env, env.tasks()[0], change=lambda seen, turn: Explorer().act(seen))
    assert again.turns == trip.turns


def test_a_lost_or_forged_memory_is_no_catastrophe(env: WebShopEnv) -> None:
    forged = str(Memory(9_999, 7, "B1", ("a b",), buy="B2", last="click[b1]"))
    for wrong in ("", "what I know", forged):

        def forget(seen: Observation, turn: Turn, wrong: str = wrong) -> Turn | None:
            return replace(turn, memory=wrong) if seen.context.t in (1, 4, 7) else None

        trips = [shop_for(env, task, change=forget) for task in env.tasks()[:6]]
        assert all(trip.bought for trip in trips)


def test_without_memory_it_draws(env: WebShopEnv) -> None:
    explorer = Explorer(memoryless=True)
    trips = [shop_for(env, task, explorer) for task in env.tasks()[:30]]
    assert all(turn.memory == "" for trip in trips for turn in trip.turns)
    remembering = [shop_for(env, task) for task in env.tasks()[:30]]
    assert sum(trip.reward for trip in trips) < sum(trip.reward for trip in remembering)
    assert [shop_for(env, task, explorer).turns for task in env.tasks()[:3]] == [trip.turns for trip in trips[:3]]


def test_a_mistake_is_found_out(env: WebShopEnv) -> None:
    made = 0

    def err(seen: Observation, turn: Turn) -> Turn | None:
        nonlocal made
        mistaken = Explorer().mistake(seen, turn) if seen.context.t < 8 else None
        made += mistaken is not None
        assert mistaken is None or mistaken.action != turn.action
        return mistaken

    trips = [shop_for(env, task, change=err) for task in env.tasks()[:15]]
    assert made > 10
    assert sum(trip.reward == 1.0 for trip in trips) >= 11


def test_who_doubts_looks_again_and_buys_all_the_same(env: WebShopEnv) -> None:
    doubted = 0

    def hesitate(seen: Observation, turn: Turn) -> Turn | None:
        nonlocal doubted
        doubtful = Explorer().doubt(seen, turn) if seen.context.t % 3 == 0 else None
        doubted += doubtful is not None
        assert doubtful is None or (doubtful.action != turn.action and doubtful.explore != turn.explore)
        return doubtful

    trips = [shop_for(env, task, change=hesitate, most=100) for task in env.tasks()[:15]]
    assert doubted > 10
    assert sum(trip.reward == 1.0 for trip in trips) >= 11


def test_it_says_what_it_cannot_read() -> None:
    env = WebShopEnv(split="test", observation_mode="html")
    raw, _ = env.reset(seed=0)
    observation = Observation.from_dict(raw)
    assert not Explorer.knows(observation)
    with pytest.raises(AgentError, match="observation mode 'text'"):
        Explorer().act(observation)
