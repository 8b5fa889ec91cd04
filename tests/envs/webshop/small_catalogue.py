"""A small catalogue in the benchmark's own format, made up from a seed, with all that its loader has to cope with."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from eapo_gym.envs.webshop.catalogue import CatalogueFiles

THINGS = {
    "Lamp": ("desk lamps", "Home & Kitchen › Lighting › Lamps", ("energy efficient", "easy assemble", "bronze finish")),
    "Kettle": ("tea kettles", "Home & Kitchen › Kettles", ("stainless steel", "easy clean", "bpa free")),
    "Shirt": ("t-shirts", "Clothing › Men › Shirts", ("machine wash", "long sleeve", "cotton spandex")),
    "Sneakers": ("walking shoes", "Clothing › Women › Shoes › Sneakers", ("rubber sole", "non slip", "arch support")),
    "Shampoo": ("shampoo", "Beauty & Personal Care › Hair Care › Shampoo", ("sulfate free", "dry hair", "tea tree")),
    "Biscuits": ("Cookies ", "Grocery & Gourmet Food › Snacks", ("gluten free", "non gmo", "individually wrapped")),
    "Kabel": ("hdmi cables", "Electronics › Cables", ("gold plated", "high speed", "1080p hd")),
    "Speaker": (
        "bluetooth speakers",
        "Electronics › Audio › Speakers",
        ("hands free", "water resistant", "stereo sound"),
    ),
}
MAKERS = ("Alvero", "Brïghtwell", "Corvane", "DAXO", "elmora", "Фарос", "三木", "O'Nyx", "Q-Line")
ADORNMENTS = ("Portable", "Classic", "2-Pack", "with Gift Box", "for Men and Women", "(Large)", "100% Pure", "💡 New")
OPTIONS: dict[str, tuple[str, ...]] = {
    "Color": ("Navy Blue", "black", "Rose/Gold", "Crème", "standard", "  White "),
    "size": ("X-Large", "7.5 Wide", "32W x 30L", "16 Ounce (Pack of 2)", "S/M"),
    "flavor name": ("Peach", "Dark Chocolate", "Mint 🍃"),
}
PRICES = ("", "$12.99", "$5", "$1,049.00", "$975.5", "$19.99 to $39.95", "$8.00$9.00$10.00", "$989.99")


def entries(count: int = 60, seed: int = 1) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    """What the three files hold: products, what was found out about them, and what humans asked for."""
    random = Random(seed)
    products: list[dict[str, Any]] = []
    found: dict[str, Any] = {}
    human: dict[str, Any] = {}
    for number in range(count):
        asin = f"B{number:09d}"
        thing = random.choice(list(THINGS))
        query, shelf, attributes = THINGS[thing]
        own = random.sample(attributes, random.randint(1, 3)) + random.sample(["wireless", "eco friendly"], 1)
        adornments = random.sample(ADORNMENTS, 2)
        products.append(
            {
                "asin": asin,
                "name": f"{random.choice(MAKERS)} {adornments[0]} {thing}, {own[0].title()} {adornments[1]}",
                "category": random.choice(["garden", "fashion", "beauty"]),
                "query": random.choice([query, query, "gifts"]),
                "product_category": shelf,
                "full_description": random.choice(
                    ["", f"A {thing} that is {random.choice(attributes)}. Ünïcode\u2028!"]
                ),
                "small_description": random.choice(["", [], [f"{a.upper()} ✓" for a in own], [thing, "Ça va"]]),
                "pricing": random.choice(PRICES),
                "images": [f"https://images.example/{number}.jpg"],
                "customization_options": _options(random),
                "brand": "left out",
            }
        )
        found[asin] = {"attributes": own} if random.random() < 0.9 else {}
        if random.random() < 0.5:
            wanted = random.sample(own, random.randint(1, len(own)))
            found[asin] |= {
                "instruction": f"Find me {', '.join(wanted)} {thing.lower()}",
                "instruction_attributes": wanted,
            }
        if random.random() < 0.4:
            human[asin] = [_asked(random, thing, own) for _ in range(random.randint(1, 2))]
    products.insert(7, products[3] | {"name": "the same ASIN again"})
    products.insert(9, products[4] | {"asin": "nan"})
    products.insert(11, products[5] | {"asin": "B0000000001"})
    found["B0000000001"] = {"attributes": []}
    return products, found, human


def write_files(folder: Path, contents: tuple[Any, Any, Any] | None = None) -> CatalogueFiles:
    """The three files, with unicode as it is."""
    names = ("items_shuffle_small.json", "items_ins_v2_small.json", "items_human_ins.json")
    for name, content in zip(names, contents or entries(), strict=True):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return CatalogueFiles.in_folder(folder)


def _options(random: Random) -> Any:
    if random.random() < 0.3:
        return random.choice(["", {}, None])
    options: dict[str, Any] = {
        name: [{"value": value, "image": None} for value in random.sample(OPTIONS[name], random.randint(1, 3))]
        for name in random.sample(list(OPTIONS), random.randint(1, 2))
    }
    return options | {"Style": None} if random.random() < 0.2 else options


def _asked(random: Random, thing: str, attributes: list[str]) -> dict[str, Any]:
    return {
        "instruction": f"i need a {thing.lower()} that is {attributes[0]}{random.choice(['', '.', '...'])}",
        "instruction_attributes": random.choice([[], attributes[:1], attributes[:2]]),
        "instruction_options": random.choice([[], ["navy blue"], ["rose | gold", "x-large"]]),
    }
