"""Pictures of products, drawn here: the catalogue of the package has none, and the benchmark's are at an address.

A picture follows from the product alone: its shape from what the product is, its colour from the colour that is chosen
or that stands in its name, the rest from its ASIN. No text of a product gets into it.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files

from eapo_gym.envs.webshop.products import Product


def picture_of(product: Product, chosen_colour: str = "") -> str:
    """A square SVG of a product, in the colour that is chosen, if one is."""
    return draw(shape_of(product), _colour_of(product, chosen_colour), product.asin)


@lru_cache(maxsize=4_096)
def draw(shape: str, colour: str, seed: str) -> str:
    """A shape in a colour ("#rrggbb") on a tile; `seed` decides what the tile looks like."""
    dice = blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    tile = _TILES[dice[0] % len(_TILES)]
    x, y, radius = 30 + dice[1] % 140, 20 + dice[2] % 90, 55 + dice[3] % 35
    dark, light = _mix(colour, "#14171c", 0.38), _mix(colour, "#ffffff", 0.5)
    shapes = _shapes()[shape].format(m=colour, d=dark, l=light, w="#fffdf8")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">'
        f'<rect width="200" height="200" fill="{tile}"/>'
        f'<circle cx="{x}" cy="{y}" r="{radius}" fill="#ffffff" fill-opacity=".42"/>'
        '<ellipse cx="100" cy="160" rx="66" ry="7" fill="#1a2430" fill-opacity=".13"/>'
        f'<g stroke="#1a2430" stroke-opacity=".24" stroke-width="1.5" stroke-linejoin="round">{shapes}</g></svg>'
    )


@cache
def _shapes() -> dict[str, str]:
    drawn = files(__package__).joinpath("shapes.svg").read_text(encoding="utf-8")
    return {
        name: " ".join(shape.split()) for name, shape in re.findall(r'<symbol id="(\w+)">(.*?)</symbol>', drawn, re.S)
    }


def ring(share: float) -> str:
    """A ring of which so much is drawn, from 0 to 1."""
    colour = "#2f8f5f" if share >= 1 else "#cf8a2e" if share > 0 else "#b9480e"
    whole = 2 * math.pi * 42
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><g fill="none" stroke-width="9">'
        '<circle cx="50" cy="50" r="42" stroke="#8a929b" stroke-opacity=".25"/>'
        f'<circle cx="50" cy="50" r="42" stroke="{colour}" stroke-linecap="round" transform="rotate(-90 50 50)"'
        f' stroke-dasharray="{whole * share:.2f} {whole:.2f}" stroke-opacity="{1 if share else 0}"/></g></svg>'
    )


def shape_of(product: Product) -> str:
    """What a product looks like: its shelf says it best, then what it is found by, then its name."""
    shelf = product.product_category.rpartition("›")[2]
    for text in (shelf, product.query, product.name):
        found = _KIND_WORDS.findall(text.lower())
        if found:
            return _KINDS[found[-1]]  # in English the thing itself comes last: a desk lamp, a phone case
    return _SHAPE_OF_CATEGORY.get(product.category, "parcel")


def _colour_of(product: Product, chosen: str) -> str:
    on_offer = [" ".join(values[:1]) for name, values in product.options.items() if "color" in name.lower()]
    for text in (chosen, product.name, *on_offer):
        found = _COLOUR_WORDS.findall(text.lower())
        if found:
            return COLOURS[found[-1]]
    number = blake2b(product.asin.encode("utf-8", "surrogatepass"), digest_size=2, person=b"colour").digest()[0]
    return _CALM_COLOURS[number % len(_CALM_COLOURS)]


def _mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one in it."""
    pairs = ((int(colour[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(own * (1 - share) + of_other * share):02x}" for own, of_other in pairs)


_TILES = ("#eef1f4", "#f3efe8", "#ecf1ec", "#f3ecec", "#edeef6", "#f1eef4")
_CALM_COLOURS = ("#4f7ea8", "#c46a5a", "#5b9279", "#c69a4c", "#8a6fae", "#4f8f9d", "#b96a8b", "#7a8794", "#a5744f")

COLOURS = {
    "amber": "#d18b2c", "antique bronze": "#7c5f3b", "army green": "#59633f", "auburn": "#7d3a26", "beige": "#d8c6a8",
    "berry": "#8d2f58", "black": "#2f3338", "blue": "#3f74b8", "blush": "#e3b0ab", "brick": "#a4493a",
    "bronze": "#8a6a3f", "brown": "#7a5237", "brushed nickel": "#a9aaa6", "burgundy": "#74283a",
    "champagne": "#e2cfa9", "charcoal": "#474c53", "chestnut": "#774632", "chrome": "#b9c0c7", "cognac": "#97562f",
    "copper": "#b5704a", "coral": "#ea7d68", "cream": "#eee3cb", "dark blue": "#27406e", "dark green": "#2f5a41",
    "dark grey": "#555b62", "dusty rose": "#c79090", "espresso": "#4a342a", "fuchsia": "#c43b8d", "gold": "#cda549",
    "gray": "#8b9198", "green": "#4c8f5c", "grey": "#8b9198", "heather": "#9aa0ab", "honey blonde": "#d2a566",
    "hot pink": "#e0559b", "ivory": "#efe8d6", "jet black": "#24262a", "khaki": "#b1a078", "lavender": "#b3a3d6",
    "light blue": "#9cc3e3", "light grey": "#c2c7cc", "lilac": "#c0a4cf", "mahogany": "#683127", "maroon": "#6e2b32",
    "matte black": "#33363a", "mauve": "#a5819a", "mint": "#a4d6bf", "mustard": "#cc9f35", "natural": "#d1b68c",
    "navy": "#2b3f66", "nude": "#dcb79c", "oak": "#c49e69", "olive": "#7a7b4a", "orange": "#e0823d",
    "peach": "#f0b592", "pink": "#e39bb2", "plum": "#6d3f66", "purple": "#7d5aa6", "red": "#c3423f",
    "rose": "#cf7d8c", "rose gold": "#d3a08f", "royal blue": "#3258b5", "ruby red": "#a32638",
    "sage green": "#9cae90", "silver": "#bcc2c9", "sky blue": "#86bfe6", "slate": "#5f6c7a", "tan": "#c8a67c",
    "taupe": "#9c8b7c", "teal": "#2f8583", "turquoise": "#49b3b1", "walnut": "#6f4d37", "white": "#f5f5f2",
    "wine": "#6f2437", "yellow": "#e6c444",
}  # fmt: skip
"""Colours by name. Of the names of a longer one ("rose gold") the longer one counts."""


def _any_of(words: object, after: str) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)  # type: ignore[call-overload]
    return re.compile(rf"\b({'|'.join(longest_first)}){after}")


_COLOUR_WORDS = _any_of(COLOURS, r"\b")

_WORDS = {
    "shoe": "sneaker shoe running walking oxford",
    "boot": "boot bootie",
    "flat": "flats ballet loafer mule slipper sandal pump clog",
    "tee": "t-shirt tee henley polo top tunic blouse shirt bodysuit",
    "hoodie": "hoodie sweater sweatshirt cardigan sleep robe pajama pullover",
    "jacket": "jacket coat down vest blazer suit",
    "dress": "dress gown nightgown jumpsuit romper",
    "trousers": "pants legging jean trouser",
    "shorts": "short boxer underwear brief",
    "swimsuit": "swim bikini one-piece tankini lingerie",
    "sock": "sock hosiery",
    "bag": "bag tote luggage",
    "bottle": "bottle lotion shampoo conditioner wash serum oil dispenser remover mouthwash liquid leave-in hair",
    "jar": "jar cream butter mask scrub balm spread deodorant refillable",
    "tube": "toothpaste tube mascara cleanser gel sunscreen",
    "spray": "spray fragrance perfume cologne",
    "lipstick": "lip lipstick eyeliner concealer",
    "palette": "palette eyeshadow eye",
    "brush": "brush applicator sponge",
    "toothbrush": "toothbrush floss dental denture",
    "wig": "wig extension hairpiece",
    "polish": "nail polish",
    "headphones": "headphone earbud headset on-ear over-ear",
    "phone": "phone screen_protector lens_protector smartphone iphone tablet armband lens cellular",
    "cable": "cable cord hdmi adapter",
    "speaker": "speaker soundbar audio radio subwoofer",
    "keyboard": "keyboard mouse mice combo computer laptop",
    "camera": "camera photography flash lens webcam surveillance binocular",
    "screen": "projector projection screen television tv monitor",
    "watch": "smartwatch watch wearable",
    "tripod": "tripod monopod selfie mount",
    "strip": "power charger surge battery batteries bank",
    "remote": "remote",
    "box": "cereal granola muesli oatmeal cookie chocolate chip wafer shortbread cracker pretzel bar bars pod gift",
    "pouch": "coffee bean ground chip chips nut nuts almond cashew seed popcorn jerky meat raisin date fruit mango"
    " snack rice cakes mix",
    "cup": "tea herbal beverage",
    "carton": "milk creamer juice",
    "candy": "candy candies chocolate truffle gummy",
    "sauce": "sauce",
    "chair": "chair stool",
    "table": "table desk console vanities vanity",
    "lamp": "lamp sconce light lighting chandelier pendant",
    "bed": "bed beds bedframe headboard mattress",
    "sofa": "sofa couch ottoman pouf bench loveseat",
    "shelf": "shelf shelves bookshelves bookcase book rack cabinet stand storage entertainment",
    "rug": "rug runner mat",
    "curtain": "curtain panel shade valance window blind",
    "frame": "art poster print tapestry tapestries sculpture painting",
    "mirror": "mirror",
    "pillow": "pillow cushion blanket",
    "candle": "candle",
    "plant": "plant flower planter",
}
"""What words of a shelf, a query or a name stand for a shape, also with the ending of a plural."""

_KINDS = {word.replace("_", " "): shape for shape, words in _WORDS.items() for word in words.split()}
_KIND_WORDS = _any_of(_KINDS, r"(?:s|es)?\b")
_SHAPE_OF_CATEGORY = {"fashion": "tee", "beauty": "bottle", "electronics": "strip", "grocery": "box", "garden": "lamp"}
