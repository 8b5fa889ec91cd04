"""From the benchmark's files to what environments open: the store of products and goals, and the search index."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from eapo_gym.envs.webshop.catalogue import CatalogueFiles, Tally, read_products
from eapo_gym.envs.webshop.nouns import find_nouns
from eapo_gym.envs.webshop.opening import INDEX, STORE, data_folder
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.store import StoredCatalogue, build_store

Progress = Callable[[str, int], object]
"""Told what is made, and how many products are done."""


def build_official(
    origin: Path, into: Path | None = None, *, most: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[StoredCatalogue, Tally]:
    """Build the official catalogue from the benchmark's files in `origin`, the first `most` products of them.

    It goes into the folder that `source="official"` looks into, or another one. The seed draws prices and limits, which
    the benchmark leaves to chance.
    """
    tell = progress or (lambda what, done: None)
    into = into or data_folder()
    tally = Tally()
    files = CatalogueFiles.in_folder(origin)
    label = f"official, {files.products.name}" + ("" if most is None else f", the first {most:,}")
    catalogue = build_store(
        into / STORE,
        read_products(files, most, tally),
        label,
        seed=seed,
        nouns=find_nouns(),
        tally=tally,
        progress=partial(_told, tell, "products"),
    )
    ShopSearch.build(into / INDEX, catalogue, partial(_told, tell, "search index"))
    return catalogue, tally


def _told(tell: Progress, what: str, done: int) -> None:
    tell(what, done)
