"""Pictures of products: they follow from the product, and hold nothing that it says."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from eapo_gym.envs.webshop.opening import open_shop
from eapo_gym.envs.webshop.pictures import COLOURS, draw, picture_of, ring, shape_of
from eapo_gym.envs.webshop.products import Product

LAMP = Product("B000000001", "A Desk Lamp (Teal)", "garden", "desk lamps", "Home › Lighting › Desk Lamps")


def test_a_picture_follows_from_the_product() -> None:
    assert picture_of(LAMP) == picture_of(replace(LAMP))
    assert picture_of(LAMP) != picture_of(replace(LAMP, asin="B000000002")), "no two tiles need be the same"
    assert COLOURS["teal"] in picture_of(LAMP)


def test_the_colour_that_is_chosen_counts_most() -> None:
    lamp = replace(LAMP, name="A Desk Lamp", options={"Color": ("olive", "navy")})
    assert COLOURS["olive"] in picture_of(lamp)
    assert COLOURS["navy"] in picture_of(lamp, "navy")
    assert COLOURS["rose gold"] in picture_of(lamp, "a-rose gold 12")
    assert picture_of(lamp, "as in the picture") == picture_of(lamp)


@pytest.mark.parametrize(
    ("shelf", "query", "shape"),
    [
        ("Electronics › Phone Cases", "phone cases", "phone"),
        ("Furniture › Desk Lamps", "floor lamps", "lamp"),
        ("Furniture › Coffee Tables", "coffee tables", "table"),
        ("Grocery › Coffee", "coffee", "pouch"),
        ("Clothing › Flat Front", "men's shorts", "shorts"),
        ("", "", "lamp"),
    ],
)
def test_the_shape_is_what_the_product_is(shelf: str, query: str, shape: str) -> None:
    assert shape_of(replace(LAMP, product_category=shelf, query=query)) == shape


def test_of_a_product_that_is_nothing_known_there_is_a_picture_too() -> None:
    unknown = Product("", "\ud800", "", "", "", options={"color": ()})
    assert shape_of(unknown) == "parcel"
    ElementTree.fromstring(picture_of(unknown))


def test_every_product_of_the_catalogue_has_a_picture_that_is_xml_and_loads_nothing() -> None:
    shop = open_shop("embedded").shop
    pictures = {picture_of(shop.product(number)) for number in range(len(shop))}
    assert len(pictures) > 0.99 * len(shop)
    for picture in pictures:
        ElementTree.fromstring(picture)
        assert not any(word in picture for word in ("href", "url(", "<style", "<script", "<image", "{"))


def test_what_a_product_says_gets_into_no_picture() -> None:
    evil = replace(LAMP, asin='"><script>', name="lamp <script>{0}</script>", options={"color": ("<b>teal",)})
    for picture in (picture_of(evil), picture_of(evil, '"/><script>')):
        assert "script" not in picture
        ElementTree.fromstring(picture)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_ring_is_xml(share: float) -> None:
    ElementTree.fromstring(ring(share))


def test_a_shape_is_drawn_in_its_colour() -> None:
    assert "#123456" in draw("shoe", "#123456", "x")
