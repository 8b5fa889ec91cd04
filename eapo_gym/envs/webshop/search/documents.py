"""What of a product the search reads."""

from __future__ import annotations

from eapo_gym.envs.webshop.products import Product


def contents(product: Product) -> str:
    """Title, description, first bullet point and options, in small letters, as the benchmark indexes them."""
    options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in product.options.items())
    return " ".join((product.name, product.description, "".join(product.bullet_points[:1]), options)).lower()
