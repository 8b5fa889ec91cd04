"""How fast is WebShop's search, and does it find what the original finds?

The products are those of a folder with the benchmark's files (--catalogue), or synthetic ones. Measured are building
and opening the index, searches that were not made before, the same ones again, and the memory of a process that does
so. If a Python is named that has pyserini (the original's is 0.22.1; it needs Java), the same documents are indexed and
the same queries searched there, and the results are compared, down to the order of the first fifty.

    python benchmarks/webshop_search.py --products 1180000
    python benchmarks/webshop_search.py --catalogue FOLDER --reference PYTHON
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import psutil
from common import RESULTS, write_result
from rich.console import Console

from eapo_gym.envs.webshop.catalogue import CatalogueFiles, read_products
from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.search.documents import contents
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.search.index import open_index, write_index

MOST = 50
"""How many products a search of the benchmark returns."""

REFERENCE = Path(__file__).with_name("webshop_search_reference.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--catalogue", type=Path, help="a folder with the benchmark's files")
    parser.add_argument("--products", type=int, default=10_000, help="synthetic ones, where there is no catalogue")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--reference", help="a Python that has pyserini; without it nothing is compared")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder that the result is written to")
    options = parser.parse_args()
    console = Console()

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if options.catalogue:
            products = list(read_products(CatalogueFiles.in_folder(options.catalogue)))
            make = lambda: ((product.asin, contents(product)) for product in products)  # noqa: E731
            queries = queries_for(products, options.queries)
        else:
            make = lambda: synthetic(options.products)  # noqa: E731
            queries = synthetic_queries(options.products, options.queries)
        result: dict[str, Any] = {"catalogue": options.catalogue.name if options.catalogue else "synthetic"}
        start = time.perf_counter()
        write_index(folder / "index", make(), "benchmark")
        result["build_s"] = round(time.perf_counter() - start, 1)
        result["index_mb"] = round(sum(file.stat().st_size for file in (folder / "index").iterdir()) / 1e6, 1)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            result |= pool.apply(measure, (folder / "index", queries))
        if options.reference:
            result["agreement"] = compare(options.reference, folder, make(), queries)
    console.print_json(data=result)
    write_result("webshop_search", result, options.results)


def queries_for(products: Sequence[Product], count: int) -> list[str]:
    """Instructions, attributes, kinds of products, and random words of titles, a quarter of each; always the same."""
    chance = random.Random(0)
    instructions = [said.text for product in products for said in (product.template, *product.human) if said]
    attributes = [" ".join(product.attributes[:3]) for product in products if product.attributes]
    kinds = [f"{product.query} {product.category}" for product in products]
    titles = [product.name.split() for product in products if product.name.split()]
    makers: list[Callable[[], str]] = [
        lambda: chance.choice(instructions),
        lambda: chance.choice(attributes),
        lambda: chance.choice(kinds),
        lambda: " ".join(chance.choices(chance.choice(titles), k=chance.randint(1, 8))),
    ]
    return [makers[number % len(makers)]().lower() for number in range(count)]


def synthetic(count: int) -> Iterator[tuple[str, str]]:
    """Documents whose words are as frequent, and as many, as in descriptions of products."""
    vocabulary, totals = _vocabulary()
    for number in range(count):
        yield f"B{number * 7919 % 10**9:09d}", " ".join(_words(number, vocabulary, totals))


def synthetic_queries(products: int, count: int) -> list[str]:
    """Words of one document each, a few or, in every other query, many with common ones among them."""
    vocabulary, totals = _vocabulary()
    queries = []
    for number in range(count):
        chance = random.Random(f"query {number}")
        words = _words(chance.randrange(products), vocabulary, totals)
        query = chance.sample(words, k=min(len(words), chance.randint(2, 8)))
        if number % 2:
            query = [*vocabulary[:6], *query, *chance.sample(vocabulary[:200], k=4)]
        queries.append(" ".join(query))
    return queries


def _vocabulary() -> tuple[list[str], list[float]]:
    """Made-up words, and running totals of their frequencies: Zipf's law with a flat top, as fits real products."""
    parts = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]
    words = []
    for rank in range(300_000):
        word, rest = "", rank + len(parts)
        while rest:
            rest, part = divmod(rest, len(parts))
            word += parts[part]
        words.append(word + "x")
    return words, list(accumulate(1 / (rank + 20) ** 1.05 for rank in range(len(words))))


def _words(number: int, vocabulary: list[str], totals: list[float]) -> list[str]:
    chance = random.Random(number)
    return chance.choices(vocabulary, cum_weights=totals, k=max(5, int(chance.lognormvariate(4.4, 0.6))))


def measure(folder: Path, queries: Sequence[str]) -> dict[str, Any]:
    """In a process of its own, how fast the index is opened and searched, and what memory that takes."""
    before = _own_memory()
    start = time.perf_counter()
    search = ShopSearch(open_index(folder, "benchmark"))
    opened = time.perf_counter() - start
    for query in queries[: len(queries) // 10]:
        search.search(query, MOST)  # what is read of the index is in memory then, and no query is kept that counts

    unknown = list(dict.fromkeys(queries[len(queries) // 10 :]))
    cold = []
    for query in unknown:
        start = time.perf_counter()
        search.search(query, MOST)
        cold.append(time.perf_counter() - start)
    cold.sort()
    known = unknown[-500:]
    start = time.perf_counter()
    for query in known:
        search.search(query, MOST)
    again = time.perf_counter() - start
    return {
        "products": len(search),
        "queries": len(unknown),
        "open_s": round(opened, 3),
        "cold_per_s": round(len(cold) / sum(cold), 1),
        "cold_ms_median": round(1000 * cold[len(cold) // 2], 3),
        "cold_ms_99": round(1000 * cold[len(cold) * 99 // 100], 3),
        "cached_per_s": round(len(known) / again),
        "memory_mb": round((_own_memory() - before) / 1e6, 1),
    }


def _own_memory() -> int:
    """Memory that is not shared with other processes; files that are mapped into memory are."""
    memory = psutil.Process().memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def compare(
    python: str, folder: Path, documents: Iterator[tuple[str, str]], queries: Sequence[str]
) -> dict[str, float | int]:
    """How far our results are those of the original's search engine."""
    ids = []
    (folder / "documents").mkdir()
    with (folder / "documents" / "documents.jsonl").open("w", encoding="utf-8") as file:
        for asin, text in documents:
            ids.append(asin)
            file.write(json.dumps({"id": asin, "contents": text}) + "\n")
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    subprocess.run([python, str(REFERENCE), str(folder), str(MOST)], check=True)
    theirs = json.loads((folder / "hits.json").read_text(encoding="utf-8"))

    search = ShopSearch(open_index(folder / "index", "benchmark"))
    ours = [[ids[number] for number in search.search(query, MOST)] for query in queries]
    pairs = list(zip(ours, theirs, strict=True))
    return {
        "queries": len(pairs),
        "overlap_at_10": _overlap(pairs, 10),
        "overlap_at_50": _overlap(pairs, 50),
        "identical_at_10": sum(our[:10] == their[:10] for our, their in pairs) / len(pairs),
        "identical_at_50": sum(our == their for our, their in pairs) / len(pairs),
    }


def _overlap(pairs: Sequence[tuple[list[str], list[str]]], most: int) -> float:
    """The average share of the first so many that both have."""
    shares = [len({*our[:most]} & {*their[:most]}) / max(len(our[:most]), len(their[:most]), 1) for our, their in pairs]
    empty = sum(not our and not their for our, their in pairs)
    return (sum(shares) + empty) / len(pairs)


if __name__ == "__main__":
    main()
