"""What the search finds, and in which order."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.envs.webshop.generator import generate
from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.search import ShopSearch, engine
from eapo_gym.envs.webshop.search.analysis import terms
from eapo_gym.envs.webshop.search.bm25 import LENGTHS, length_codes
from eapo_gym.envs.webshop.search.documents import contents
from eapo_gym.envs.webshop.search.engine import LONGEST_QUERY, MOST_WORDS
from eapo_gym.envs.webshop.search.index import make_index

VOCABULARY = [
    *("red", "blue", "black", "white", "shoe", "dress", "shirt", "cotton", "leather", "steel", "large", "small", "men"),
    *("women", "kid", "kitchen", "table", "lamp", "cable", "phone", "case", "box", "set", "pack", "light"),
]

# Recorded: for a query, the first ten of `collection()` that Lucene finds (pyserini 0.22.1 with its defaults).
RECORDED = {
    "red": "B2326 B8166 B1260 B6037 B5518 B6631 B9676 B5690 B0816 B2226",
    "light": "B1929 B4924 B3439 B8585 B0866 B5568 B5493 B4180 B4355 B0519",
    "red shoe": "B8191 B2226 B3489 B6309 B1979 B9898 B5171 B7325 B8288 B3464",
    "pack pack pack red": "B4280 B2326 B1385 B6878 B7125 B9873 B6656 B9823 B0544 B4180",
    "men women kid": "B8388 B3389 B3192 B6556 B6903 B9773 B3439 B7869 B5840 B1138",
    "black leather shoe for men": "B4774 B2029 B3464 B5171 B1013 B7325 B6087 B4180 B8957 B2251",
    "light box table lamp": "B8585 B0666 B2226 B3339 B4355 B8710 B1904 B6706 B8982 B1929",
    "red blue black white shoe dress": "B8191 B8685 B8957 B6828 B5690 B3464 B2226 B7325 B6706 B6581",
    "the": "",
    "zzz cotton": "B4355 B5393 B1435 B4180 B3167 B5171 B8735 B7547 B7919 B6062",
    "set of small tables": "B0544 B4380 B8388 B4355 B8041 B1979 B6087 B2326 B4924 B5518",
}


def collection(count: int = 300, seed: int = 0) -> list[tuple[str, str]]:
    """Short documents of few words, so that many score the same; not in the order of their ids."""
    chance = random.Random(seed).random
    documents = []
    for number in range(count):
        words = [VOCABULARY[int(len(VOCABULARY) * chance() ** 2)] for _ in range(int(60 * chance() ** 3) + 1)]
        documents.append((f"B{number * 7919 % 9973:04d}", " ".join(words)))
    return documents


@pytest.fixture(params=["all at once", "one by one"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of scoring: that of small collections, and that of large ones."""
    monkeypatch.setattr(engine, "_SMALL", 1 << 30 if request.param == "all at once" else 0)
    monkeypatch.setattr(engine, "_LONG", 0)  # so that lists are spared here too
    return str(request.param)


@pytest.mark.parametrize("query", RECORDED)
def test_results_are_those_of_lucene_in_its_order(query: str, way: str) -> None:
    documents = collection()
    found = ShopSearch(make_index(documents)).search(query, 10)
    assert [documents[number][0] for number in found] == RECORDED[query].split()


@pytest.mark.parametrize("most", [1, 7, 50, 5000])
def test_results_are_those_of_the_definition(most: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_GROUPS", 2)  # so that groups are made of few documents too
    chance = random.Random(most)
    documents = [*collection(1200, seed=1), ("A", ""), ("Z", "the of"), ("ZZ", "😀 naïve 日本 " * 200)]
    search = ShopSearch(make_index(documents))
    scores = Definition(documents)
    for _ in range(40):
        query = " ".join(
            chance.choice([*VOCABULARY, "naive naïve", "日本", "the"]) for _ in range(chance.randint(1, 9))
        )
        assert search.search(query, most) == scores.best(query, most), query


class Definition:
    """BM25 as Lucene has it, document by document, with a 32-bit float for every step."""

    def __init__(self, documents: list[tuple[str, str]]) -> None:
        self.ids = [asin for asin, _ in documents]
        self.terms = [Counter(terms(text)) for _, text in documents]
        self.lengths = [each.total() if hasattr(each, "total") else sum(each.values()) for each in self.terms]
        self.filled = sum(length > 0 for length in self.lengths)
        self.average = np.float32(sum(self.lengths) / self.filled)
        self.having = Counter(term for each in self.terms for term in each)

    def best(self, query: str, most: int) -> tuple[int, ...]:
        one = np.float32(1)
        weights = {
            term: np.float32(count)
            * np.float32(math.log(1 + (self.filled - self.having[term] + 0.5) / (self.having[term] + 0.5)))
            for term, count in Counter(terms(query)).items()
        }
        scored = []
        for number, counted in enumerate(self.terms):
            length = np.float32(max(size for size in LENGTHS.tolist() if size <= self.lengths[number]))
            norm = one / (np.float32(0.9) * ((one - np.float32(0.4)) + np.float32(0.4) * length / self.average))
            parts = [
                weights[term] - weights[term] / (one + np.float32(counted[term]) * norm)
                for term in weights
                if term in counted
            ]
            if parts:
                scored.append((-np.float32(sum(map(float, parts))), self.ids[number], number))
        return tuple(number for _, _, number in sorted(scored)[:most])


@contextmanager
def pruned(groups: int = 2, look_up_cost: int = 1) -> Iterator[None]:
    """Small collections are searched as large ones are, and nothing is too short to be spared."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_SMALL": 0, "_LONG": 0, "_GROUPS": groups, "_LOOK_UP_COST": look_up_cost}.items():
            patch.setattr(engine, name, value)
        yield


texts = st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(
    documents=st.lists(st.one_of(texts, st.sampled_from(["h", "h g", "a h h"])), min_size=1, max_size=60),
    query=st.lists(st.sampled_from("abcdefghx"), min_size=1, max_size=8).map(" ".join),
    most=st.integers(1, 12),
    groups=st.integers(1, 4),
    look_up_cost=st.sampled_from([0, 1, 1000]),
)
def test_what_is_spared_changes_no_result(
    documents: list[str], query: str, most: int, groups: int, look_up_cost: int
) -> None:
    """Short texts of few words: most scores have equals, at the end of the results too."""
    numbered = [(f"B{number * 31 % 61:02d}", text.replace("a", "apple")) for number, text in enumerate(documents)]
    search, query = ShopSearch(make_index(numbered)), query.replace("a", "apple")
    whole = search._search(query, most)
    with pruned(groups, look_up_cost):
        assert search._search(query, most) == whole


@pytest.mark.parametrize("most", [1, 10, 50])
def test_what_is_spared_changes_no_result_in_the_embedded_catalogue(most: int) -> None:
    products = generate(1000)
    search = ShopSearch(make_index((product.asin, contents(product)) for product in products))
    spared = 0
    for product in products[:: 1000 // 120]:
        asked = product.template.text if product.template else product.name
        for query in (asked, product.query, " ".join(product.attributes), f"the {product.category} for women"):
            whole = search._search(query, most)
            with pruned(), counted_reads() as reads:
                assert search._search(query, most) == whole, query
            spared += len(search._terms(query)) - len(reads)
    assert spared > 100, "nothing was spared, so nothing was tested"


@contextmanager
def counted_reads() -> Iterator[list[object]]:
    """The terms whose lists were read from end to end."""
    reads: list[object] = []
    add = ShopSearch._add
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShopSearch, "_add", lambda self, term, reached: (reads.append(term), add(self, term, reached)))
        yield reads


def test_sums_that_32_bits_get_wrong_lose_no_result() -> None:
    """What is reached is summed in 32 bits: hundreds of terms, and documents whose scores are all but the same."""
    chance = random.Random(0)
    words = [f"w{number}" for number in range(300)]
    documents = [(f"B{number:04d}", " ".join(chance.sample(words, 280))) for number in range(400)]
    search, query = ShopSearch(make_index(documents)), " ".join(words)
    for most in (1, 20, 399):
        whole = search._search(query, most)
        with pruned(look_up_cost=1000):
            assert search._search(query, most) == whole


def test_lengths_are_kept_in_a_byte() -> None:
    lengths = np.array([0, 1, 39, 40, 41, 42, 100, 1000, 2_000_000_000])
    assert LENGTHS[length_codes(lengths)].tolist() == [0, 1, 39, 40, 40, 42, 96, 984, 1_879_048_216]
    assert LENGTHS[255] == 2_013_265_944
    assert (np.diff(LENGTHS) > 0).all()


@pytest.mark.parametrize(
    "query",
    ["", " ", "the of and", "\0\x01\x7f", "?!", "zzz", "\ud800", "\ud83d red"[:1], "_" * 100, "😀", "日本"],
    ids=ascii,
)
def test_queries_without_words_that_are_known_find_nothing(query: str, way: str) -> None:
    assert ShopSearch(make_index(collection())).search(query, 50) == ()


@pytest.mark.parametrize("most", [0, -1])
def test_nothing_is_found_when_nothing_is_wanted(most: int) -> None:
    assert ShopSearch(make_index(collection())).search("red", most) == ()


@pytest.mark.parametrize(
    "unit", ["red ", "red\n\0", "x", "‿", "\u200d", "😀\u200d", "é ", "日", "\ud800 ", "🇦", 'ה"', "́", "w{} "], ids=ascii
)
def test_a_query_of_a_megabyte_is_no_trouble(unit: str, way: str) -> None:
    search = ShopSearch(make_index(collection()))
    query = "".join(unit.format(number) for number in range(1_000_000 // len(unit)))
    assert len(search.search(f"{query} red", 50)) == (50 if "red" in unit else 0)  # what is at its end is not read
    assert len(search.search(f"red {query}", 50)) == 50


def test_only_the_beginning_of_a_long_query_counts() -> None:
    search = ShopSearch(make_index(collection()))
    words = " ".join(f"unknown{number}" for number in range(MOST_WORDS))
    assert search.search(f"red {words}", 5) == search.search("red", 5)
    assert search.search(f"{words} red", 5) == ()
    assert search.search("red " * 2000 + "shoe", 5) == search.search("shoe" + " red" * 2000, 5)  # repeated words count
    assert search.search("-" * LONGEST_QUERY + " red", 5) == ()


def test_queries_are_cached_with_how_many_are_wanted() -> None:
    search = ShopSearch(make_index(collection()))
    ten = search.search("red shoe", 10)
    assert search.search("red shoe", 10) is ten
    assert search.search("red shoe", 3) == ten[:3]
    assert search.search("red shoes", 10) == ten
    for number in range(5000):
        search.search(f"red {number}", 1)
    assert search.search("red shoe", 10) == ten


def test_threads_may_search_at_once(way: str) -> None:
    search = ShopSearch(make_index(collection()))
    queries = [f"{first} {second}" for first in VOCABULARY for second in VOCABULARY]
    expected = [ShopSearch(make_index(collection())).search(query, 10) for query in queries[:40]]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: search.search(query, 10), queries))[:40] == expected


@pytest.mark.parametrize("documents", [[], [("A", "")], [("A", "the"), ("B", "!")], [("A", "red")]], ids=str)
def test_the_smallest_collections_are_searched(documents: list[tuple[str, str]], way: str) -> None:
    found = ShopSearch(make_index(documents)).search("red", 50)
    assert found == ((0,) if documents == [("A", "red")] else ())


def test_equals_come_in_the_order_of_their_ids(way: str) -> None:
    documents = [("b", "red"), ("B", "red"), ("ä", "red"), ("𝐚", "red"), ("￿", "red"), ("", "red"), ("a", "red red")]
    found = ShopSearch(make_index(documents)).search("red", 50)
    assert [documents[number][0] for number in found] == ["a", "", "B", "b", "ä", "￿", "𝐚"]


def test_contents_are_title_description_first_bullet_point_and_options() -> None:
    product = Product(
        asin="B0", name="Big LAMP", category="", query="", product_category="", description="Shines.",
        bullet_points=("First", "Second"), options={"Color": ("red", "blue"), "size": ("2 | 3",)},
    )  # fmt: skip
    assert contents(product) == "big lamp shines. first color: red, blue, and size: 2 | 3"
    assert contents(Product("B1", "Bare", "", "", "")) == "bare   "
