"""The shop's pages for people: made of what pages may be made of, and able to do what the environment can."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from eapo_gym.bench.live.views import checked_page
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.opening import OpenShop
from eapo_gym.envs.webshop.products import Instruction, Product
from eapo_gym.envs.webshop.store import MemoryCatalogue
from tests.envs.webshop.original_sessions import SimpleNouns, TitleSearch
from tests.envs.webshop.small_shops import small_env


def elements(parts: Any) -> Iterator[dict[str, Any]]:
    for part in parts:
        if not isinstance(part, str):
            yield part
            yield from elements(part["parts"])


def texts(parts: Any) -> str:
    return " ".join(part if isinstance(part, str) else texts(part["parts"]) for part in parts)


def page_of(env: WebShopEnv) -> dict[str, Any]:
    return checked_page(env.live_page())


def commands(page: dict[str, Any]) -> list[str]:
    """What the buttons of a page do."""
    return [part["do"] for part in elements(page["parts"]) if "do" in part and not part.get("disabled")]


@pytest.mark.parametrize("source", ["embedded", "small"])
def test_every_button_of_every_page_does_something_and_nothing_is_missing(source: str) -> None:
    env = WebShopEnv(split="test", show_attributes=True) if source == "embedded" else small_env(split="train")
    dice = Random(1)
    for seed in range(15):
        env.reset(seed=seed)
        assert commands(page_of(env)) == []
        env.step(f"search[{env.goal.query if seed % 3 else 'lamp chair ' * 40}]")
        for _ in range(12):
            possible = env.valid_actions() or []
            done = commands(page_of(env))
            assert set(done) <= set(possible)
            assert set(possible) - set(done) <= {"click[next >]"}, "behind the last page there is none"
            if env.state.kind in ("search", "done"):
                break
            *_, info = env.step(dice.choice([action for action in done if "back to" not in action]))
            assert not info["invalid_action"]
        page_of(env)


def test_a_page_looks_and_changes_nothing() -> None:
    env = small_env(split="train")
    env.reset(seed=0)
    env.step("search[lamp]")
    before = (env.fingerprint(), env.state)
    assert env.live_page() == env.live_page()
    assert (env.fingerprint(), env.state) == before


def test_the_search_box_makes_a_search() -> None:
    env = small_env(split="train")
    env.reset(seed=0)
    [form] = [part for part in elements(page_of(env)["parts"]) if part["tag"] == "form"]
    assert "[" in form["without"], "a bracket that opens would cut the command in two"
    *_, info = env.step(form["before"] + 'lamp ] "x" 🧦' + form["after"])
    assert not info["invalid_action"]
    assert env.state.query == 'lamp ] "x" 🧦'


def test_the_pages_between_the_first_and_the_last() -> None:
    env = WebShopEnv(split="test")
    env.reset(options={"task": "test/0"})
    env.step("search[extra lightweight men's sneakers]")
    assert "click[< prev]" not in commands(page_of(env))
    for _ in range(4):
        env.step("click[next >]")
    assert "Page 5 of 5" in texts(page_of(env)["parts"])
    assert "click[next >]" not in commands(page_of(env))
    env.step("click[next >]")
    assert "There are no more products" in texts(page_of(env)["parts"])
    assert "click[< prev]" in commands(page_of(env))
    env.step("search[zzzzzz]")
    assert "No product was found" in texts(page_of(env)["parts"])


def test_products_that_were_looked_at_are_marked() -> None:
    env = small_env(split="train")
    env.reset(seed=0)
    env.step("search[lamp]")
    assert "Viewed" not in texts(page_of(env)["parts"])
    env.step(next(command for command in commands(page_of(env)) if command.startswith("click[b0")))
    env.step("click[< prev]")
    assert texts(page_of(env)["parts"]).count("Viewed") == 1


def test_options_are_marked_and_those_that_no_command_reaches_are_not_offered() -> None:
    options = {"color": ("red", "7", "[x]", "Upper", "buy now"), "size": ("7", "8")}
    product = Product("B0", "sock", "c", "q", "p", options=options, template=Instruction("a sock", ("a",)))
    env = WebShopEnv(
        split="train", shop=OpenShop(MemoryCatalogue([product], "one", nouns=SimpleNouns()), TitleSearch([product]))
    )
    env.reset(seed=0)
    env.step("search[sock]")
    env.step("click[b0]")
    values = [part for part in elements(page_of(env)["parts"]) if part.get("class") == "value"]
    assert [(part["parts"][0], part.get("disabled", False)) for part in values] == [
        ("red", False),
        ("7", True),  # of two options with the same value the last has it
        ("[x]", True),
        ("Upper", True),
        ("buy now", True),
        ("7", False),
        ("8", False),
    ]
    env.step("click[7]")
    env.step("click[red]")
    values = [part for part in elements(page_of(env)["parts"]) if part.get("class") == "value"]
    assert [part["parts"][0] for part in values if part["pressed"]] == ["red", "7"]
    assert [part["pressed"] for part in values] == [True, False, False, False, False, True, False]


def test_the_end_shows_the_reward_and_its_parts() -> None:
    env = WebShopEnv(split="test")
    env.reset(options={"task": "test/0"})
    for action in ("search[sneakers ethylene vinyl midsole]", "click[b0nbqrv591]", "click[7]"):
        env.step(action)
    _, reward, _, _, info = env.step("click[buy now]")
    shown = {part["label"]: part["value"] for part in elements(page_of(env)["parts"]) if part["tag"] == "progress"}
    parts = info["reward_parts"]
    assert shown == {
        "Kind": parts["r_type"],
        "Attributes": parts["r_att"],
        "Options": parts["r_option"],
        "Price": float(parts["r_price"]),
    }
    assert 0 < parts["r_option"] < 1
    assert f"= {reward:.2f}" in texts(page_of(env)["parts"])


def test_splits_are_those_with_goals() -> None:
    assert set(WebShopEnv(split="test").splits()) == {"test", "eval", "train"}
    product = Product("B0", "sock", "c", "q", "p", template=Instruction("a sock", ("a",)))
    shop = OpenShop(MemoryCatalogue([product], "one", nouns=SimpleNouns()), TitleSearch([product]))
    assert WebShopEnv(split="train", shop=shop).splits() == ["train"]
