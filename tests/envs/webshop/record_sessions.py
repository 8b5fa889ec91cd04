"""Records sessions that the original played, for those who do not have it: `recorded_sessions.json.gz`.

    EAPO_WEBSHOP_ORIGINAL=<checkout> python -m tests.envs.webshop.record_sessions

Two catalogues, which the file holds too: one of odd texts, and the beginning of the embedded one.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from eapo_gym.envs.webshop.generator import generate
from eapo_gym.envs.webshop.products import Product
from tests.envs.webshop.original_sessions import ask_original, differences, random_products

RECORDED = Path(__file__).with_name("recorded_sessions.json.gz")


def as_original(products: list[Product]) -> dict[str, Any]:
    """The three files of a catalogue in the original's form."""
    entries, attributes = [], {}
    for product in products:
        entries.append(
            {
                "asin": product.asin,
                "name": product.name,
                "category": product.category,
                "query": product.query,
                "product_category": product.product_category,
                "full_description": product.description,
                "small_description": list(product.bullet_points),
                "pricing": " to ".join(f"${price}" for price in product.prices),
                "images": [product.image],
                "customization_options": {
                    name: [{"value": value, "image": None} for value in values]
                    for name, values in product.options.items()
                },
            }
        )
        attributes[product.asin] = {"attributes": list(product.attributes)}
        if product.template is not None:
            wanted = {"instruction": product.template.text, "instruction_attributes": list(product.template.attributes)}
            attributes[product.asin] |= wanted
    return {"products": entries, "attributes": attributes, "human": {}, "human_goals": False, "seed": 0}


def main() -> None:
    requests = [
        random_products(7, 40) | {"show_attrs": True, "first": 0, "sessions": 40, "steps": 15},
        as_original(generate(60)) | {"show_attrs": False, "first": 0, "sessions": 40, "steps": 15},
    ]
    played = [(request, ask_original(request)) for request in requests]
    for request, answer in played:
        assert not list(differences(request, answer))
        # An original's goal says more than is compared.
        answer["goals"] = {place: {"instruction_text": g["instruction_text"]} for place, g in answer["goals"].items()}
        del answer["prices"]
    text = json.dumps(played, ensure_ascii=False, separators=(",", ":"))
    RECORDED.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
