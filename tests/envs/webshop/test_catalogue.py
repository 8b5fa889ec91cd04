import json
import re
from pathlib import Path

import pytest

from eapo_gym.envs.webshop import catalogue
from eapo_gym.envs.webshop.catalogue import CatalogueError, CatalogueFiles, Tally, read_products
from eapo_gym.envs.webshop.products import Instruction, Product
from eapo_gym.errors import MissingData
from tests.envs.webshop.original import real_files
from tests.envs.webshop.small_catalogue import entries, write_files

ENTRY = {
    "asin": "B000000001",
    "name": "Lamp",
    "category": "garden",
    "query": " Desk LAMPS ",
    "product_category": "Home › Lamps",
    "full_description": "It shines.",
    "small_description": ["bright"],
    "pricing": "$12.99",
    "images": ["lamp.jpg", "other.jpg"],
    "customization_options": {"Color": [{"value": " Red/Blue ", "image": None}], "Gone": None},
}


def read(folder, *products, found=None, human=None):
    return list(read_products(write_files(folder, (list(products), found or {}, human or {}))))


def test_a_product_is_read_as_the_benchmark_reads_it(tmp_path):
    found = {"attributes": ["bright"], "instruction": "Find me a bright lamp", "instruction_attributes": ["bright"]}
    human = {"instruction": "a lamp.", "instruction_attributes": ["bright"], "instruction_options": ["red"]}
    assert read(tmp_path, ENTRY, found={"B000000001": found}, human={"B000000001": [human]}) == [
        Product(
            asin="B000000001",
            name="Lamp",
            category="garden",
            query="desk lamps",
            product_category="Home › Lamps",
            description="It shines.",
            bullet_points=("bright",),
            prices=(12.99,),
            price_tag="$12.99",
            options={"color": ("red | blue",)},
            attributes=("bright",),
            image="lamp.jpg",
            template=Instruction("Find me a bright lamp", ("bright",)),
            human=(Instruction("a lamp.", ("bright",), ("red",)),),
        )
    ]


@pytest.mark.parametrize(
    ("pricing", "prices", "tag"),
    [
        ("", (), "$100.0"),
        (None, (), "$100.0"),
        ("$5", (5.0,), "$5.0"),
        ("$1,049.50", (1049.5,), "$1049.5"),
        ("$19.99 to $39.95", (19.99, 39.95), "$19.99 to $39.95"),
        ("$8.00$9.00$10.00", (8.0, 9.0), "$8.0 to $9.0"),
    ],
)
def test_prices(tmp_path, pricing, prices, tag):
    (product,) = read(tmp_path, ENTRY | {"pricing": pricing})
    assert (product.prices, product.price_tag) == (prices, tag)


def test_what_may_be_missing(tmp_path):
    bare = {key: value for key, value in ENTRY.items() if key not in ("pricing", "customization_options")}
    bare |= {"small_description": "one text", "full_description": None}
    (product,) = read(tmp_path, bare)
    assert (product.prices, product.options, product.description) == ((), {}, "")
    assert product.attributes == ("DUMMY_ATTR",)
    assert product.bullet_points == ("one text",)
    assert product.template is None


def test_what_is_left_out_is_counted(tmp_path):
    tally = Tally()
    products = list(read_products(write_files(tmp_path), tally=tally))
    assert (tally.read, tally.kept, tally.unnamed, tally.duplicates) == (63, 60, 2, 1)
    assert len(products) == 60
    assert "the same ASIN again" not in {product.name for product in products}


def test_most_counts_entries_of_the_file(tmp_path):
    files = write_files(tmp_path)
    whole = list(read_products(files))
    assert list(read_products(files, most=10)) == whole[:8]  # two of the first ten are left out
    assert list(read_products(files, most=0)) == []


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_windows_of_every_size_read_the_same(tmp_path, monkeypatch, chunk):
    files = write_files(tmp_path, entries(count=8))
    whole = list(read_products(files))
    monkeypatch.setattr(catalogue, "_CHUNK", chunk)
    assert list(read_products(files)) == whole


def test_a_window_is_much_smaller_than_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_CHUNK", 4096)
    write_files(tmp_path, entries(count=500))
    stream = catalogue._Stream(tmp_path / "items_shuffle_small.json")
    assert max(len(stream._text) for _ in stream.entries()) < 20_000 < stream._path.stat().st_size / 10


def test_unicode_of_every_kind(tmp_path):
    name = "ligne\u2028séparée 💡 Ωμέγα \u0000 ￿ e\u0301 \ufeff עברית"
    (product,) = read(tmp_path, ENTRY | {"name": name})
    assert product.name == name


def test_half_a_character_written_as_an_escape_and_a_byte_order_mark(tmp_path):
    files = write_files(tmp_path, ([], {}, {}))
    files.products.write_bytes(b"\xef\xbb\xbf" + json.dumps([ENTRY | {"name": "half \ud83d"}]).encode())
    assert next(read_products(files)).name == "half \ud83d"


@pytest.mark.parametrize("end", range(1, 400, 13))
def test_a_truncated_file_says_which_product(tmp_path, end):
    files = write_files(tmp_path, ([ENTRY], {}, {}))
    text = json.dumps([ENTRY, ENTRY | {"asin": "B000000002"}])
    files.products.write_text(text[: -min(end, len(text) // 2 - 2)])
    reading = read_products(files)
    assert next(reading).asin == "B000000001"
    with pytest.raises(
        CatalogueError, match=r"items_shuffle_small.json is broken at product 2 \(the one after 'B0{8}1'"
    ):
        list(reading)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a JSON list of products, it starts with ''"),
        ('{"a": 1}', "expected a JSON list of products"),
        ("[1]", "broken at product 1: expected '{'"),
        ('[{"asin": "A" "name": 1}]', "broken at product 1: Expecting ',' delimiter"),
        ('[{"asin": "A", "name": tru }' + " " * 40 + "]", "broken at product 1: Expecting value"),
        ('[{"a": "\n' + "x" * 40 + '"}]', "broken at product 1: Invalid control character"),
        ('[{"asin": "nan"}{}]', "broken at product 1: expected ',' or ']'"),
        ("[] []", "expected nothing behind the last ']'"),
        ('[{"a": ' + "[" * 100_000, "broken at product 1: it is nested too deeply"),
        (
            '[{"asin": "nan"}, {"a": ' + "1" * 5_000 + "}]",
            "broken at product 2 (the one after 'nan'): Exceeds the limit",
        ),
        ("<!DOCTYPE html><html>", "expected a JSON list of products, it starts with '<!DOCTYPE html><html'"),
    ],
)
def test_a_malformed_file_says_where(tmp_path, text, said):
    files = write_files(tmp_path, ([], {}, {}))
    files.products.write_text(text)
    with pytest.raises(CatalogueError, match=re.escape(said)) as caught:
        list(read_products(files))
    assert str(files.products) in str(caught.value)


def test_a_broken_product_is_told_without_reading_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_CHUNK", 512)
    files = write_files(tmp_path, ([], {}, {}))
    files.products.write_text('[{"asin": oops}, ' + ", ".join(['{"asin": "A"}'] * 50_000) + "]")
    stream = catalogue._Stream(files.products)
    with pytest.raises(CatalogueError, match="product 1"):
        list(stream.entries())
    assert len(stream._text) < 2000


def test_a_file_that_is_not_utf8(tmp_path):
    files = write_files(tmp_path, ([], {}, {}))
    files.products.write_bytes(json.dumps([ENTRY]).encode().replace(b"Lamp", b"L\xffmp"))
    with pytest.raises(CatalogueError, match=r"items_shuffle_small.json is broken at its start: it is not UTF-8"):
        list(read_products(files))


@pytest.mark.parametrize("key", ["name", "category", "query", "product_category", "full_description", "images"])
def test_a_missing_key_says_which_product_and_key(tmp_path, key):
    entry = {name: value for name, value in ENTRY.items() if name != key}
    with pytest.raises(CatalogueError, match=rf"product 2 \(B0{{8}}2\): the key '{key}' is missing"):
        read(tmp_path, ENTRY, entry | {"asin": "B000000002"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pricing": "free"}, "as its pricing, got 'free'"),
        ({"pricing": "$"}, "as its pricing, got '\\$'"),
        ({"pricing": "$1.2.3"}, "as its pricing, got '\\$1.2.3'"),
        ({"pricing": "$" + "9" * 400}, "as its pricing, got '\\$999"),
        ({"pricing": 12.5}, "as its pricing, got 12.5"),
        ({"name": 7}, "expected a text as its name, got 7"),
        ({"customization_options": ["x"]}, "expected an object as its customization_options"),
        ({"customization_options": {"size": "x"}}, "as its option 'size', got 'x'"),
        ({"customization_options": {"size": [{"image": 1}]}}, "option 'size': the key 'value' is missing"),
        ({"small_description": [1]}, "expected a text as its small_description, got 1"),
    ],
)
def test_a_wrong_value_says_which(tmp_path, change, said):
    with pytest.raises(CatalogueError, match=rf"product 1 \(B000000001\).*{said}"):
        read(tmp_path, ENTRY | change)


def test_an_asin_that_is_no_text(tmp_path):
    with pytest.raises(
        CatalogueError, match=r"items_shuffle_small.json: product 2: expected a text as its asin, got 7"
    ):
        read(tmp_path, ENTRY, ENTRY | {"asin": 7})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"attributes": "x"}, "expected a list of texts as its attributes"),
        ({"instruction": "x", "instruction_attributes": []}, "names no attributes"),
        ({"instruction": "x"}, "as its instruction_attributes, got None"),
    ],
)
def test_wrong_attributes_say_of_which_product(tmp_path, found, said):
    with pytest.raises(CatalogueError, match=f"B000000001.*{said}"):
        read(tmp_path, ENTRY, found={"B000000001": found})


def test_wrong_human_instructions_say_of_which_product(tmp_path):
    with pytest.raises(CatalogueError, match=r"items_human_ins.json: product A: the key 'instruction' is missing"):
        read(tmp_path, human={"A": [{"instruction_attributes": ["x"]}]})


def test_files_of_a_folder(tmp_path):
    with pytest.raises(MissingData, match=r"found neither: name the folder that has the benchmark's files"):
        CatalogueFiles.in_folder(tmp_path)
    files = write_files(tmp_path)
    assert files.human == tmp_path / "items_human_ins.json"
    (tmp_path / "items_shuffle_1000.json").touch()
    with pytest.raises(CatalogueError, match=r"found items_shuffle_1000.json, items_shuffle_small.json"):
        CatalogueFiles.in_folder(tmp_path)


def test_the_real_catalogue():
    tally = Tally()
    products = list(read_products(real_files(), tally=tally))
    assert (tally.read, len(products), tally.unnamed, tally.duplicates) == (1000, 1000, 0, 0)
    assert sum(product.template is not None for product in products) == 415


def test_files_are_named_one_by_one_too(tmp_path: Path):
    files = write_files(tmp_path)
    without = CatalogueFiles(files.products, files.attributes)
    assert not any(product.human for product in read_products(without))
