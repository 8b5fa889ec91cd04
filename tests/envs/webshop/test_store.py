import json
import os
import pickle
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from eapo_gym.envs.webshop import store as store_module
from eapo_gym.envs.webshop.catalogue import Tally, read_products
from eapo_gym.envs.webshop.products import Instruction, Product
from eapo_gym.envs.webshop.store import (
    MemoryCatalogue,
    StoredCatalogue,
    StoreError,
    build_store,
    decode,
    encode,
    open_store,
)
from eapo_gym.errors import MissingData
from tests.envs.webshop.original import some_purchases
from tests.envs.webshop.small_catalogue import entries, write_files


@pytest.fixture
def products(tmp_path):
    return list(read_products(write_files(tmp_path)))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


def numbered(count):
    for number in range(count):
        yield Product(f"A{number}", f"Lamp {number}", "garden", "lamps", "Home", template=Instruction("x", ("bright",)))


def test_a_product_is_what_it_was():
    product = Product(
        asin="B1",
        name="half \ud83d \u2028 💡\n",
        category="",
        query="q",
        product_category="a › b",
        bullet_points=("", "x"),
        prices=(1.0, 2.5),
        options={"size": ("s",), "color": ()},
        template=Instruction("t", ("a",)),
        human=(Instruction("h", ("b",), ("red",)),),
    )
    assert decode(encode(product)) == product
    assert list(decode(encode(product)).options) == ["size", "color"]
    assert b"\n" not in encode(product)


def test_a_store_is_the_catalogue_that_it_was_built_from(folder, products):
    memory = MemoryCatalogue(products, "small", seed=4)
    tally = Tally(read=63, kept=60, unnamed=2, duplicates=1)
    built = build_store(folder, iter(products), "small", seed=4, tally=tally)
    for store in (built, open_store(folder)):
        assert (store.label, store.digest, store.seed, store.nouns_label) == ("small", memory.digest, 4, "rules v1")
        assert [store.product(number) for number in range(len(store))] == products
        for number, product in enumerate(products):
            assert store.number(product.asin) == number == memory.number(product.asin)
            assert store.price(number) == memory.price(number)
            assert store.nouns(number) == memory.nouns(number)
        for kind in ("synthetic", "human"):
            stored, held = store.goals(kind), memory.goals(kind)
            assert [stored.goal(n) for n in range(len(stored))] == [held.goal(n) for n in range(len(held))]
            assert stored.splits == held.splits
    assert store.note["tally"] == {"read": 63, "unnamed": 2, "duplicates": 1}
    assert store.note["goals"] == {"synthetic": len(memory.goals("synthetic")), "human": len(memory.goals("human"))}


def test_rewards_are_the_same_from_both(folder, products):
    memory, store = MemoryCatalogue(products, "small"), build_store(folder, products, "small")
    for asin, options, goal in some_purchases(memory, False, 200, seed=1):
        number = memory.number(asin)
        assert number is not None
        goals = memory.goals("synthetic"), store.goals("synthetic")
        assert memory.reward(number, goals[0].goal(goal), options) == store.reward(number, goals[1].goal(goal), options)


def test_asins_that_are_not_sold_here(folder):
    asins = ["B2", "B10", "A", "Ωμ", "B1"]
    build_store(folder, [Product(asin, "x", "", "", "") for asin in asins], "few")
    store = open_store(folder)
    assert [store.number(asin) for asin in asins] == [0, 1, 2, 3, 4]
    assert {store.number(asin) for asin in ("", "B", "B100", "zzz", "Ω", "\ud83d", "B2" * 40)} == {None}


def test_numbers_that_are_not_there(folder, products):
    store = build_store(folder, products, "small")
    for number in (-1, 60):
        with pytest.raises(IndexError, match=f"expected a number from 0 to 59, got {number}"):
            store.product(number)


def test_progress_is_told(folder, products):
    told: list[int] = []
    build_store(folder, products * 0 + list(numbered(600)), "many", progress=told.append)
    assert told == [256, 512, 600]


def test_a_store_that_is_not_there(folder):
    with pytest.raises(MissingData, match=r"There is no WebShop catalogue in .*: build it with 'eapo-gym data webshop"):
        open_store(folder)


def test_a_catalogue_without_products(folder):
    with pytest.raises(StoreError, match="has no products"):
        build_store(folder, [], "empty")
    assert list(folder.iterdir()) == []


def test_another_format_is_refused(folder, products):
    build_store(folder, products, "small")
    note = json.loads((folder / "note.json").read_text())
    (folder / "note.json").write_text(json.dumps(note | {"format": 99}))
    with pytest.raises(StoreError, match=r"has format 99, .* reads 1: rebuild it with 'eapo-gym data webshop"):
        open_store(folder)


@pytest.mark.parametrize("name", ["products.bin", "ends.npy", "asins.npy", "goals-human.npy"])
@pytest.mark.parametrize("damage", ["shorter", "gone"])
def test_a_damaged_store_is_refused(folder, products, name, damage):
    store = build_store(folder, products, "small")
    file = folder / store.note["files"] / name
    if damage == "gone":
        file.unlink()
    else:
        os.truncate(file, file.stat().st_size - 1)
    with pytest.raises(StoreError, match=rf"is damaged \({name} should have .*\): rebuild it with 'eapo-gym data"):
        open_store(folder)


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"format": 1}', "\x00"])
def test_a_damaged_note_is_refused(folder, products, note):
    build_store(folder, products, "small")
    (folder / "note.json").write_text(note)
    with pytest.raises(StoreError, match=r"is damaged \(note.json .*\): rebuild it with"):
        open_store(folder)


def test_a_changed_product_is_noticed(folder, products):
    store = build_store(folder, products, "small")
    with (folder / store.note["files"] / "products.bin").open("r+b") as file:
        file.seek(int(store._ends[4]) + 20)
        file.write(b"#")
    store = open_store(folder)
    assert store.product(4) == products[4]
    with pytest.raises(StoreError, match="product 5 is not what was written"):
        store.product(5)


def test_an_array_of_the_right_size_that_is_no_array(folder, products):
    store = build_store(folder, products, "small")
    file = folder / store.note["files"] / "prices.npy"
    file.write_bytes(b"\0" * file.stat().st_size)
    with pytest.raises(StoreError, match=r"prices.npy cannot be read"):
        open_store(folder)


def test_a_build_that_fails_leaves_the_one_before(folder, products):
    build_store(folder, products, "first")

    def failing():
        yield from islice(products, 5)
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="the disk is full"):
        build_store(folder, failing(), "second")
    assert open_store(folder).label == "first"
    assert len(list(folder.iterdir())) == 2


def test_a_new_build_replaces_the_one_before_which_stays_open(folder, products):
    before = build_store(folder, products, "first")
    after = build_store(folder, numbered(5), "second")
    assert [before.product(number) for number in range(60)] == products
    assert before.goals("synthetic").goal(0).asin in {product.asin for product in products}
    assert (open_store(folder).label, len(after)) == ("second", 5)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["note.json", after.note["files"]])


def test_drafts_of_builders_that_died_are_cleared_away_after_a_day(folder, products):
    for name, age in (("draft-dead", 100_000), ("draft-alive", 60), ("files-dead", 100_000), ("files-alive", 60)):
        (folder / name).mkdir(parents=True)
        stamp = store_module.time.time() - age
        os.utime(folder / name, (stamp, stamp))
    build_store(folder, products, "small")
    left = {path.name for path in folder.iterdir()}
    assert {"draft-alive", "files-alive"} <= left
    assert not {"draft-dead", "files-dead"} & left
    assert open_store(folder).product(3) == products[3]


def test_only_folders_of_builders_are_cleared_away(folder, products):
    store = build_store(folder, products, "small")
    for name in ("draft-dead", "files-dead", "mine"):
        (folder / name).mkdir()
    (folder / ".note.json.0123").touch()
    os.utime(folder / "mine", (0, 0))
    build_store(folder, products, "small")
    assert (folder / "draft-dead").exists()
    store_module.clear_leftovers(folder)
    store = open_store(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["note.json", "mine", store.note["files"]])


BUILDER = """
import sys
from pathlib import Path
from eapo_gym.envs.webshop.store import build_store, open_store
from tests.envs.webshop.test_store import numbered
for _ in range(4):
    build_store(Path(sys.argv[1]), numbered(400), "many")
    assert open_store(Path(sys.argv[1])).product(399).name == "Lamp 399"
"""


def test_two_builders_at_once_do_no_harm(folder):
    builders = [
        subprocess.Popen(
            [sys.executable, "-c", BUILDER, str(folder)],
            cwd=Path(__file__).parents[3],
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for builder in builders:
        _, errors = builder.communicate(timeout=120)
        assert builder.returncode == 0, errors
    store = open_store(folder)
    assert [store.product(number).asin for number in range(len(store))] == [f"A{number}" for number in range(400)]
    assert len(list(folder.glob("files-*"))) <= 8
    assert not list(folder.glob("draft-*"))


def test_another_process_opens_it_by_its_folder(folder, products):
    store = build_store(folder, products, "small")
    again = pickle.loads(pickle.dumps(store))
    assert isinstance(again, StoredCatalogue)
    assert again.product(3) == products[3]
    assert len(pickle.dumps(store)) < 1000


def test_few_products_stay_decoded(folder, monkeypatch):
    monkeypatch.setattr(store_module, "DECODED", 10)
    store = build_store(folder, numbered(100), "many")
    first = store.product(0)
    assert store.product(0) is first
    for number in range(1, 30):
        store.product(number)
    assert store.product(0) is not first


def test_the_arrays_are_mapped_not_read(folder, products):
    store = build_store(folder, products, "small")
    for values in (store._ends, store._prices, store._asins, store.goals("synthetic")._rows):
        base = values
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert isinstance(base, np.memmap) or isinstance(base.base, store_module.mmap.mmap)


def test_the_digest_is_of_the_products_alone(tmp_path, products):
    one = MemoryCatalogue(products, "one")
    assert MemoryCatalogue(products, "two", seed=3).digest == one.digest
    other = list(read_products(write_files(tmp_path, entries(seed=2))))
    assert MemoryCatalogue(other, "one").digest != one.digest
    assert MemoryCatalogue(products[:-1], "one").digest != one.digest


def test_a_catalogue_in_memory_sells_each_product_once(products):
    with pytest.raises(ValueError, match="1 of them have an ASIN of another"):
        MemoryCatalogue([*products, products[0]], "twice")
