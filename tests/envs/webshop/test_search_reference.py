"""The search beside the original's, where that is at hand: pyserini 0.22.1, which needs Java."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from eapo_gym.envs.webshop.catalogue import read_products
from eapo_gym.envs.webshop.search import ShopSearch
from eapo_gym.envs.webshop.search.documents import contents
from eapo_gym.envs.webshop.search.index import make_index
from tests.envs.webshop.original import real_files

PYTHON = "EAPO_PYSERINI_PYTHON"
"""Names a Python with pyserini; this one unless set."""

SCRIPT = Path(__file__).parents[3] / "benchmarks/webshop_search_reference.py"

WORDS = [
    *("red", "blue", "black", "white", "shoe", "shoes", "shoe's", "running", "runs", "cotton", "leather", "steel"),
    *(
        "naïve",
        "日本",
        "ไทย",
        "😀",
        "👨‍👩‍👧",
        "3.5",
        "50,000",
        "men’s",
        "the",
        "of",
        "a_b",
        "ａｂ",
        "𝐚𝐛s",
        'ה"ב',
        "\u202fx",
    ),
]


@pytest.fixture
def reference() -> str:
    """A Python that has pyserini."""
    python = os.environ.get(PYTHON) or sys.executable
    if python == sys.executable and not find_spec("pyserini"):
        pytest.skip(f"pyserini is not here: let {PYTHON} name a Python that has it")
    check = subprocess.run([python, "-c", "import pyserini.search.lucene"], capture_output=True, text=True)
    if check.returncode:
        pytest.skip(f"pyserini does not work here: {check.stderr.strip()[-80:]}")
    return python


@pytest.mark.slow
def test_ties_and_all_kinds_of_words(reference: str, tmp_path: Path) -> None:
    chance = random.Random(4)
    documents = [
        (f"B{number * 7919 % 9973:04d}", " ".join(chance.choices(WORDS, k=int(40 * chance.random() ** 3))))
        for number in range(4000)
    ]
    queries = [" ".join(chance.choices(WORDS, k=chance.randint(1, 8))) for _ in range(500)]
    assert_same(reference, documents, queries, tmp_path)


@pytest.mark.slow
def test_the_benchmarks_own_products(reference: str, tmp_path: Path) -> None:
    products = list(read_products(real_files()))
    documents = [(product.asin, contents(product)) for product in products]
    chance = random.Random(5)
    titles = [product.name.split() for product in products if product.name.strip()]
    queries = [said.text for product in products for said in (product.template, *product.human) if said]
    queries += [" ".join(chance.choices(chance.choice(titles), k=chance.randint(1, 8))) for _ in range(500)]
    assert_same(reference, documents, queries, tmp_path)


def assert_same(reference: str, documents: list[tuple[str, str]], queries: list[str], folder: Path) -> None:
    """The first fifty products of each query are the same, in the same order."""
    (folder / "documents").mkdir()
    lines = [json.dumps({"id": asin, "contents": text}) + "\n" for asin, text in documents]
    (folder / "documents" / "documents.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    subprocess.run([reference, str(SCRIPT), str(folder), "50"], check=True)
    theirs = json.loads((folder / "hits.json").read_text(encoding="utf-8"))
    search = ShopSearch(make_index(documents))
    for query, found in zip(queries, theirs, strict=True):
        assert [documents[number][0] for number in search.search(query, 50)] == found, query
