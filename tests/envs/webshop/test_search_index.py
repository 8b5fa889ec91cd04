"""Indexes in folders: what is written is found, whole or not at all, and only that of the right catalogue."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eapo_gym.envs.webshop.products import BUILD_COMMAND, Product
from eapo_gym.envs.webshop.search import SearchIndexError, ShopSearch, index
from eapo_gym.envs.webshop.search.index import NOTE, make_index, open_index, write_index
from eapo_gym.errors import MissingData

DOCUMENTS = [
    ("B2", "red shoes for running"),
    ("B1", "blue shoes, 😀"),
    ("B3", ""),
    ("B0", "a red lamp and a red table"),
]


class Shelf:
    """A catalogue of some lamps."""

    label = "a shelf"

    def __init__(self, digest: str = "shelf", names: tuple[str, ...] = ("Red lamp", "Blue lamp", "Red table")) -> None:
        self.digest = digest
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    def product(self, number: int) -> Product:
        return Product(f"B{9 - number}", self.names[number], "", "", "")

    def number(self, asin: str) -> int | None:
        return 9 - int(asin[1:])


def test_an_index_in_a_folder_finds_what_one_in_memory_finds(tmp_path: Path) -> None:
    ShopSearch.build(tmp_path / "index", Shelf())
    stored, made = ShopSearch.open(tmp_path / "index", Shelf()), ShopSearch.make(Shelf())
    for query, found in {"red": (0, 2), "lamp": (1, 0), "red table": (2, 0), "green": ()}.items():
        assert stored.search(query, 50) == made.search(query, 50)
        assert set(made.search(query, 50)) == set(found)
    assert len(stored) == 3


def test_large_collections_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_index(DOCUMENTS * 3)
    told: list[int] = []
    monkeypatch.setattr(index, "_CHUNK_DOCUMENTS", 5)
    monkeypatch.setattr(index, "_MOST_SPELLINGS", 3)
    write_index(tmp_path / "index", DOCUMENTS * 3, "d", told.append)
    parted = open_index(tmp_path / "index", "d")
    assert told == [5, 10, 12]
    for name in ("terms", "starts", "documents", "kinds", "ratios", "highest", "weights", "ranks"):
        assert np.array_equal(getattr(whole, name), getattr(parted, name)), name


def test_arrays_are_mapped_and_cannot_be_written(tmp_path: Path) -> None:
    write_index(tmp_path / "index", DOCUMENTS, "d")
    documents = open_index(tmp_path / "index", "d").documents
    assert isinstance(documents.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        documents[0] = 1


@pytest.mark.parametrize("documents", [[], [("A", "")], [("A", "the")]], ids=str)
def test_empty_collections_are_written_and_opened(tmp_path: Path, documents: list[tuple[str, str]]) -> None:
    write_index(tmp_path / "index", documents, "d")
    assert ShopSearch(open_index(tmp_path / "index", "d")).search("red", 50) == ()


def test_the_index_of_another_catalogue_is_refused(tmp_path: Path) -> None:
    ShopSearch.build(tmp_path / "index", Shelf())
    with pytest.raises(SearchIndexError, match="another catalogue") as refusal:
        ShopSearch.open(tmp_path / "index", Shelf("other"))
    assert BUILD_COMMAND in str(refusal.value)
    assert str(refusal.value).endswith(".")
    ShopSearch.build(tmp_path / "index", Shelf("other", ("Green lamp",)))
    assert ShopSearch.open(tmp_path / "index", Shelf("other")).search("green", 5) == (0,)


def test_a_missing_index_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=BUILD_COMMAND):
        open_index(tmp_path / "index", "d")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "kinds.npy").unlink(), "is broken"),
        (lambda folder: (folder / "kinds.npy").write_bytes((folder / "kinds.npy").read_bytes()[:-1]), "is broken"),
        (lambda folder: (folder / "documents.npy").write_bytes(b""), "is broken"),
        (lambda folder: np.save(folder / "ranks.npy", np.zeros(3, np.int32)), "is broken"),
        (lambda folder: (folder / NOTE).write_text("{"), "is broken"),
        (lambda folder: (folder / NOTE).write_text("[]"), "is broken"),
        (lambda folder: (folder / NOTE).write_text(json.dumps({"format": 0, "catalogue": "d"})), "format 0, expected"),
        (lambda folder: (folder / NOTE).write_text(json.dumps({"format": 1, "catalogue": "d"})), "is broken"),
    ],
)
def test_a_broken_index_is_refused_and_built_again(tmp_path: Path, damage: object, message: str) -> None:
    assert callable(damage)
    folder = tmp_path / "index"
    write_index(folder, DOCUMENTS, "d")
    damage(folder)
    with pytest.raises(SearchIndexError, match=message) as refusal:
        open_index(folder, "d")
    assert BUILD_COMMAND in str(refusal.value)
    write_index(folder, DOCUMENTS, "d")
    assert len(open_index(folder, "d")) == 4
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_a_build_that_fails_leaves_the_old_index(tmp_path: Path) -> None:
    def broken() -> Iterator[tuple[str, str]]:
        yield "B0", "red"
        raise ConnectionError

    write_index(tmp_path / "index", DOCUMENTS, "d")
    with pytest.raises(ConnectionError):
        write_index(tmp_path / "index", broken(), "e")
    assert len(open_index(tmp_path / "index", "d")) == 4
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_what_is_no_index_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SearchIndexError, match="something else"):
        write_index(tmp_path, DOCUMENTS, "d")
    with pytest.raises(SearchIndexError, match="something else"):
        write_index(tmp_path / "notes.txt", DOCUMENTS, "d")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_open_index_stays_usable_when_another_takes_its_place(tmp_path: Path) -> None:
    ShopSearch.build(tmp_path / "index", Shelf())
    search = ShopSearch.open(tmp_path / "index", Shelf())
    ShopSearch.build(tmp_path / "index", Shelf("other", ("Green lamp",)))
    assert set(search.search("red", 5)) == {0, 2}


def test_processes_may_build_the_same_index_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from eapo_gym.envs.webshop.search.index import write_index\n"
        "documents = [(f'B{number}', f'red shoe {number}') for number in range(2000)]\n"
        "input()\n"
        "for _ in range(5): write_index(Path(sys.argv[1]), documents, 'd')\n"
    )
    builders = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "index")], stdin=subprocess.PIPE)
        for _ in range(3)
    ]
    for builder in builders:
        assert builder.stdin
        builder.stdin.write(b"\n")
        builder.stdin.flush()
    assert [builder.wait(100) for builder in builders] == [0, 0, 0]
    assert len(ShopSearch(open_index(tmp_path / "index", "d")).search("red", 50)) == 50
    assert [file.name for file in tmp_path.iterdir()] == ["index"]
