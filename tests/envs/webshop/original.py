"""The benchmark's own engine and data, for the tests that compare with them where they are at hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from eapo_gym.envs.webshop.catalogue import CatalogueFiles
from eapo_gym.envs.webshop.products import Goal, Product
from eapo_gym.envs.webshop.store import Shop

ENGINE = "EAPO_WEBSHOP_ORIGINAL"
"""Names a folder with the benchmark's `web_agent_site`."""

PYTHON = "EAPO_WEBSHOP_PYTHON"
"""Names a Python with its packages (spacy with en_core_web_sm, thefuzz); this one unless set."""

SHARED = "EAPO_SHARED"

Purchase = tuple[str, dict[str, str], int]
"""ASIN, options, number of the goal."""


def real_files() -> CatalogueFiles:
    """The 1,000-product catalogue; skips the test where it is not."""
    folder = Path(os.environ.get(SHARED) or Path(__file__).parents[4] / "shared") / "data/webshop"
    if not folder.is_dir():
        pytest.skip(f"the benchmark's data are not here: let {SHARED} name a folder with data/webshop in it")
    return CatalogueFiles.in_folder(folder)


def ask_original(
    files: CatalogueFiles, human: bool, purchases: list[Purchase], seed: int = 0, titles: bool = True
) -> dict[str, Any]:
    """What the engine itself makes of a catalogue; skips the test where it is not."""
    engine = os.environ.get(ENGINE)
    if not engine or not (Path(engine) / "web_agent_site").is_dir():
        pytest.skip(f"the benchmark's engine is not here: let {ENGINE} name a folder with its web_agent_site")
    python = os.environ.get(PYTHON) or sys.executable
    check = subprocess.run([python, "-c", "import spacy, thefuzz"], capture_output=True, text=True)
    if check.returncode:
        pytest.skip(f"the engine's packages are not here (let {PYTHON} name a Python): {check.stderr.strip()[-80:]}")
    return _ask(python, engine, files, human, json.dumps(purchases), seed, titles)


@cache
def _ask(
    python: str, engine: str, files: CatalogueFiles, human: bool, purchases: str, seed: int, titles: bool
) -> dict[str, Any]:
    asked = {
        "engine": engine,
        "data": [str(files.products), str(files.attributes), str(files.human)],
        "human": human,
        "seed": seed,
        "purchases": json.loads(purchases),
        "titles": titles,
    }
    script = Path(__file__).with_name("ask_original.py")
    done = subprocess.run([python, str(script)], input=json.dumps(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class RecordedNouns:
    """The nouns that the engine's own model found."""

    label = "recorded"

    def __init__(self, nouns: dict[str, list[str]]) -> None:
        self._nouns = nouns

    def find(self, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
        return (tuple(self._nouns[title]) for title in titles)


def some_purchases(shop: Shop, human: bool, count: int, seed: int) -> list[Purchase]:
    """Purchases at random, of which half are of the goal's product or of one that was found by the same query."""
    random = Random(seed)
    goals = shop.goals("human" if human else "synthetic")
    by_query: dict[str, list[int]] = {}
    for number in range(len(shop)):
        by_query.setdefault(shop.product(number).query, []).append(number)
    purchases: list[Purchase] = []
    for _ in range(count):
        goal_number = random.randrange(len(goals))
        goal = goals.goal(goal_number)
        number = random.choice(
            [
                random.randrange(len(shop)),
                random.randrange(len(shop)),
                goals.product(goal_number),
                random.choice(by_query[goal.query]),
            ]
        )
        product = shop.product(number)
        options = {
            name: random.choice(values) for name, values in product.options.items() if values and random.random() < 0.8
        }
        if isinstance(goal.options, dict) and random.random() < 0.5:
            options |= {name: value for name, value in goal.options.items() if name in product.options}
        purchases.append((product.asin, options, goal_number))
    return purchases


def as_original(goal: Goal) -> dict[str, Any]:
    """A goal as the engine holds it."""
    fields = asdict(goal)
    options = fields.pop("options")
    return fields | {
        "instruction_text": fields.pop("text"),
        "attributes": list(fields.pop("attributes")),
        "goal_options": options if isinstance(options, dict) else list(options),
    }


def product_as_original(product: Product) -> dict[str, Any]:
    """A product as the engine holds it, but for what only its pages and ours have."""
    return {
        "asin": product.asin,
        "Title": product.name,
        "Description": product.description,
        "BulletPoints": list(product.bullet_points),
        "pricing": list(product.prices) or [100.0],
        "Price": product.price_tag,
        "options": {name: list(values) for name, values in product.options.items()},
        "Attributes": list(product.attributes),
        "MainImage": product.image,
        "category": product.category,
        "query": product.query,
        "product_category": product.product_category,
    }


def assert_like_original(shop: Shop, human: bool, purchases: list[Purchase], answer: dict[str, Any]) -> None:
    """The same products, prices, goals in the same order, and rewards, to the last digit."""
    assert [product_as_original(shop.product(number)) for number in range(len(shop))] == answer["products"]
    assert {shop.product(number).asin: shop.price(number) for number in range(len(shop))} == answer["prices"]
    goals = shop.goals("human" if human else "synthetic")
    assert [as_original(goals.goal(number)) for number in range(len(goals))] == answer["goals"]
    for (asin, options, goal_number), (total, parts) in zip(purchases, answer["rewards"], strict=True):
        number = shop.number(asin)
        assert number is not None
        earned = shop.reward(number, goals.goal(goal_number), options)
        assert (earned.total, earned.parts()) == (total, parts), (asin, options, goal_number)
