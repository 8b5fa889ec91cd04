"""Sessions that the original played, and the same ones played here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from eapo_gym.envs.webshop.catalogue import CatalogueFiles, read_products
from eapo_gym.envs.webshop.goals import Kind
from eapo_gym.envs.webshop.opening import OpenShop
from eapo_gym.envs.webshop.pages import Mode, show
from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.session import START, Session
from eapo_gym.envs.webshop.store import MemoryCatalogue
from tests.envs.webshop.play_originally import simple_nouns, simple_search

ORIGINAL = os.environ.get("EAPO_WEBSHOP_ORIGINAL")
"""A checkout of the original."""

PYTHON = os.environ.get("EAPO_WEBSHOP_PYTHON") or f"{ORIGINAL}/.venv/bin/python"
"""An interpreter with what it needs (see play_originally.py)."""

PLAYER = Path(__file__).with_name("play_originally.py")


def ask_original(request: Mapping[str, Any]) -> dict[str, Any]:
    """What the original showed in the sessions of a request."""
    assert ORIGINAL is not None
    done = subprocess.run(
        [PYTHON, "-W", "ignore", str(PLAYER), ORIGINAL],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class TitleSearch:
    """The search that stands in for the original's, on both sides."""

    def __init__(self, products: list[Product]) -> None:
        self.titles = [product.name for product in products]

    def search(self, query: str, most: int) -> list[int]:
        return simple_search(self.titles, query, most)


class SimpleNouns:
    """The tagger that stands in for the original's, on both sides."""

    label = "words of more than three letters"

    def find(self, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
        for title in titles:
            yield tuple(word.lower() for word in simple_nouns(title))


def shop_of(request: Mapping[str, Any]) -> OpenShop:
    """The shop of a request's files, as it is read here."""
    with TemporaryDirectory() as folder:
        names = {"products": "items_shuffle", "attributes": "items_ins_v2", "human": "items_human_ins"}
        for part, name in names.items():
            (Path(folder) / f"{name}.json").write_text(json.dumps(request[part]), encoding="utf-8")
        products = list(read_products(CatalogueFiles.in_folder(Path(folder))))
    shop = MemoryCatalogue(products, "small", request["seed"], SimpleNouns())
    kind: Kind = "human" if request["human_goals"] else "synthetic"
    return OpenShop(shop, TitleSearch(products), kind=kind, show_attributes=request["show_attrs"])


def differences(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Where a session goes otherwise here: its seed and step, the action, and both sides."""
    shop = shop_of(request)
    for played in answer["sessions"]:
        place, goal = str(played["goal"]), shop.goal(str(played["goal"]))
        session, state, reward = Session(shop.room, place), START, 0.0
        if goal.text != answer["goals"][place]["instruction_text"]:
            yield f"{played['seed']}: goal {place}\n{answer['goals'][place]}\n{goal}"
        for step, moment in enumerate(played["moments"]):
            where = f"{played['seed']}/{step} {moment.get('action')!r}"
            earned = 0.0
            if step:
                state = session.after(state, moment["action"]) or state
                bought = moment["done"]
                if bought:
                    assert state.number is not None
                    reward = earned = shop.reward(place, state.number, dict(state.options)).total
                if earned != moment["reward"]:
                    yield f"{where}: the reward is {moment['reward']} there and {earned} here"
            here = {
                **{mode: show(mode, session, state, goal.text, reward) for mode in _TEXTS},
                "search_bar": state.kind == "search",
                "clickables": session.clickables(state),
            }
            for name, seen in here.items():
                if seen != moment[name]:
                    yield f"{where}: {name}\n{moment[name]!r}\n{seen!r}"
                    break


_TEXTS: tuple[Mode, ...] = ("text", "text_rich", "url")

# Products with everything that a page could stumble over

_WORDS = ("red", "Blue", "shoe", "Lamp", "wooden", "<b>chair</b>", "café", "日本", "&amp;", "cup", "soft", "'s")
_ODD_TEXTS: tuple[Mode, ...] = (
    "",
    " ",
    "\n",
    "\xa0",
    "\t ",
    " \n ",
    "a\nb",
    " padded ",
    "None",
    "[SEP]",
    "x]",
    "&lt;",
    "\u2028",
    '"q"',
)
_ODD_VALUES = ("Buy Now", "Search", "Description", "< Prev", "Next >", "Attributes", "1/2", "/half", "half/", "a[b")
_PRICES = (None, "", "$5.0", "$12.99", "$10.5 to $29.99", "$1,299.0", "$950.0", "$991.5")


def random_products(seed: int, count: int) -> dict[str, Any]:
    """The three files of a small catalogue, in the original's form."""
    rng = Random(seed)

    def text() -> str:
        return rng.choice(_ODD_TEXTS) if rng.random() < 0.15 else " ".join(rng.choices(_WORDS, k=rng.randint(1, 8)))

    def value() -> str:
        return rng.choice((*_ODD_VALUES, *_ODD_TEXTS)) if rng.random() < 0.25 else " ".join(rng.choices(_WORDS, k=2))

    products, attributes = [], {}
    for number in range(count):
        asin = f"B{number:05d}{''.join(rng.choices('ABCXYZ', k=4))}"
        names = rng.sample(("Color", "size", "Style", "fit type", "", "café"), rng.randint(0, 3))
        products.append(
            {
                "asin": asin,
                "name": text(),
                "category": rng.choice(("garden", "beauty", "food & drink")),
                "query": rng.choice((" Lamps", "red shoes", "tables")),
                "product_category": " › ".join(rng.sample(("Home", "Kitchen", "Beauty", "Food"), rng.randint(1, 3))),
                "full_description": text(),
                "small_description": text() if rng.random() < 0.1 else [text() for _ in range(rng.randint(0, 4))],
                "pricing": rng.choice(_PRICES),
                "images": [f"https://example.org/{number}.jpg"],
                "customization_options": {
                    name: [{"value": value(), "image": None} for _ in range(rng.randint(1, 4))] for name in names
                }
                or "",
            }
        )
        words = rng.sample(("soft", "red", "wooden", "easy clean"), rng.randint(1, 3))
        attributes[asin] = {"attributes": words, "instruction": f"Find me {text()}", "instruction_attributes": words}
    return {"products": products, "attributes": attributes, "human": {}, "human_goals": False, "seed": seed}
