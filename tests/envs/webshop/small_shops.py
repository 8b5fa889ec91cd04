"""A shop that fits on a page, for the tests of the environment."""

from __future__ import annotations

from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.opening import OpenShop
from eapo_gym.envs.webshop.products import Instruction, Product
from eapo_gym.envs.webshop.store import MemoryCatalogue
from tests.envs.webshop.original_sessions import SimpleNouns, TitleSearch

PRODUCTS = [
    Product(
        asin=f"B{number:09d}",
        name=f"{colour} {thing} number {number}",
        category="garden",
        query=thing,
        product_category="Home › Garden",
        description=f"A {thing}.",
        bullet_points=("sturdy", f"{colour}, washable"),
        prices=(10.0 + number,),
        price_tag=f"${10.0 + number}",
        options={"color": ("red", "blue"), "size": ("small", "large")} if number % 2 else {},
        attributes=("sturdy",),
        template=Instruction(f"Find me a sturdy {colour} {thing}", ("sturdy",)),
    )
    for number, (colour, thing) in enumerate((c, t) for c in ("red", "blue", "green") for t in ("lamp", "chair") * 6)
]


def small_open_shop() -> OpenShop:
    return OpenShop(MemoryCatalogue(PRODUCTS, "small", nouns=SimpleNouns()), TitleSearch(PRODUCTS))


def small_env(**kwargs: object) -> WebShopEnv:
    return WebShopEnv(shop=small_open_shop(), **kwargs)
