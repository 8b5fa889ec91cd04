"""Catalogues to shop in: one in memory, and one in files that any number of processes share.

The shared one is built once. It is memory-mapped, and a product is decoded when somebody looks at it, so a further
process costs little memory even where the catalogue has more than a million products.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import secrets
import shutil
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from eapo_gym.atomic import write_atomically
from eapo_gym.envs.webshop.catalogue import Tally
from eapo_gym.envs.webshop.goals import KINDS, ROW, Draws, Goals, Kind, cumulative_weights
from eapo_gym.envs.webshop.nouns import Nouns, RuleNouns
from eapo_gym.envs.webshop.products import BUILD_COMMAND, Goal, Instruction, Product
from eapo_gym.envs.webshop.reward import Reward, reward
from eapo_gym.errors import EapoError, MissingData

FORMAT = 1
"""Of the files below; a store of another format is built anew."""

NOTE = "note.json"

DECODED = 2048
"""How many products a process keeps decoded: some 20 MB."""

_DRAFT, _FILES = "draft-", "files-"
_NAMED = re.compile(rb'"files": "(files-[0-9a-f]+)"')
_FORGOTTEN = 24 * 3600
_BATCH = 256

Progress = Callable[[int], None]
"""Told how many products are done."""


class StoreError(EapoError, RuntimeError):
    """A store that cannot be used as it is."""


class Shop:
    """A catalogue with what a shop needs besides products: drawn prices, goals, the nouns of titles."""

    label: str
    digest: str
    seed: int
    """From which prices and price limits were drawn."""

    nouns_label: str
    """What found the nouns; a part of every result, since the reward depends on it."""

    product: Callable[[int], Product]
    nouns: Callable[[int], tuple[str, ...]]
    """The nouns of a product's title by its number, in lower case."""

    def __len__(self) -> int:
        raise NotImplementedError

    def number(self, asin: str) -> int | None:
        raise NotImplementedError

    def price(self, number: int) -> float:
        """The drawn price of a product, which the reward compares; its page shows the range."""
        raise NotImplementedError

    def goals(self, kind: Kind) -> Goals:
        raise NotImplementedError

    def reward(self, number: int, goal: Goal, options: Mapping[str, str]) -> Reward:
        """What buying a product with these options earns somebody who has this goal."""
        asked = self.number(goal.asin)
        if asked is None:
            raise ValueError(f"goal: expected one of this catalogue, but it does not sell {goal.asin!r:.40}")
        return reward(self.product(number), self.nouns(number), goal, self.nouns(asked), self.price(number), options)


class MemoryCatalogue(Shop):
    """A catalogue that is small enough to be held in memory."""

    def __init__(self, products: Iterable[Product], label: str, seed: int = 0, nouns: Nouns | None = None) -> None:
        self._products = list(products)
        self._numbers = {product.asin: number for number, product in enumerate(self._products)}
        if len(self._numbers) < len(self._products):
            raise ValueError(f"products: {len(self._products) - len(self._numbers)} of them have an ASIN of another")
        self._draws = Draws(seed)
        for product in self._products:
            self._draws.add(product)
        self._prices: list[float] = self._draws.prices().tolist()
        self._nouns = nouns or RuleNouns()
        self._found: dict[int, tuple[str, ...]] = {}
        self._goals: dict[Kind, Goals] = {}
        self.label = label
        self.seed = seed
        self.nouns_label = self._nouns.label
        self.product = self._products.__getitem__
        self.nouns = self._nouns_of

    @cached_property
    def digest(self) -> str:  # type: ignore[override]  # computed when somebody asks
        digest = hashlib.sha256()
        for product in self._products:
            digest.update(encode(product) + b"\n")
        return digest.hexdigest()[:32]

    def __len__(self) -> int:
        return len(self._products)

    def number(self, asin: str) -> int | None:
        return self._numbers.get(asin)

    def price(self, number: int) -> float:
        return self._prices[number]

    def goals(self, kind: Kind) -> Goals:
        if kind not in self._goals:
            self._goals[kind] = Goals(self, kind, self._draws.goals(kind))
        return self._goals[kind]

    def _nouns_of(self, number: int) -> tuple[str, ...]:
        if number not in self._found:
            self._found[number] = next(self._nouns.find([self._products[number].name]))
        return self._found[number]


class StoredCatalogue(Shop):
    """A catalogue in a folder that `build_store` filled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.note = _read_note(folder)
        self._files = folder / self.note["files"]
        self._check_sizes()
        self.label = self.note["label"]
        self.digest = self.note["digest"]
        self.seed = self.note["seed"]
        self.nouns_label = self.note["nouns"]
        self._length: int = self.note["products"]
        self._records = self._map("products.bin")
        self._ends = self._array("ends")
        self._sums = self._array("sums")
        self._prices = self._array("prices")
        self._asins = self._array("asins")
        self._by_asin = self._array("by-asin")
        self._goals = {
            kind: Goals(self, kind, self._array(f"goals-{kind}"), self._array(f"goals-{kind}-cumulative"))
            for kind in KINDS
        }
        decode_once = lru_cache(maxsize=DECODED)(self._decode)
        self.product = lambda number: decode_once(number)[0]
        self.nouns = lambda number: decode_once(number)[1]
        self.number = lru_cache(maxsize=16 * DECODED)(self._number)  # type: ignore[method-assign]

    def __reduce__(self) -> tuple[type[StoredCatalogue], tuple[Path]]:
        return StoredCatalogue, (self.folder,)

    def __len__(self) -> int:
        return self._length

    def price(self, number: int) -> float:
        return float(self._prices[number])

    def goals(self, kind: Kind) -> Goals:
        return self._goals[kind]

    def _number(self, asin: str) -> int | None:
        sought = asin.encode("utf-8", "surrogatepass")
        if not sought or len(sought) > self._asins.itemsize:
            return None
        place = int(self._asins.searchsorted(np.bytes_(sought)))
        if place == self._length or self._asins[place] != sought:
            return None
        return int(self._by_asin[place])

    def _decode(self, number: int) -> tuple[Product, tuple[str, ...]]:
        if not 0 <= number < self._length:
            raise IndexError(f"product: expected a number from 0 to {self._length - 1}, got {number}")
        start = int(self._ends[number - 1]) if number else 0
        record = self._records[start : int(self._ends[number])]
        if zlib.crc32(record) != self._sums[number]:
            raise _damaged(self.folder, f"product {number} is not what was written")
        product, _, nouns = record.partition(b"\n")
        return decode(product), tuple(json.loads(nouns))

    def _array(self, name: str) -> npt.NDArray[Any]:
        try:
            mapped = np.load(self._files / f"{name}.npy", mmap_mode="r")
        except (OSError, ValueError) as error:
            raise _damaged(self.folder, f"{name}.npy cannot be read ({error})") from None
        return np.asarray(mapped)  # a plain view, which is quicker to index

    def _map(self, name: str) -> mmap.mmap:
        try:
            with (self._files / name).open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise _damaged(self.folder, f"{name} cannot be read ({error})") from None

    def _check_sizes(self) -> None:
        for name, size in self.note["sizes"].items():
            try:
                found = (self._files / name).stat().st_size
            except FileNotFoundError:
                found = None
            if found != size:
                came = "is missing" if found is None else f"has {found:,} bytes"
                raise _damaged(self.folder, f"{name} should have {size:,} bytes and {came}")


def open_store(folder: Path) -> StoredCatalogue:
    """Open the store in a folder; a builder that replaces it meanwhile does no harm."""
    while True:
        before = _note_bytes(folder)
        try:
            return StoredCatalogue(folder)
        except StoreError:
            if _note_bytes(folder) == before:
                raise


def build_store(
    folder: Path,
    products: Iterable[Product],
    label: str,
    *,
    seed: int = 0,
    nouns: Nouns | None = None,
    tally: Tally | None = None,
    origin: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> StoredCatalogue:
    """Write a catalogue into a folder and open it; whoever opens the folder meanwhile finds the one before.

    The files go into a new folder within, and the note that names them is replaced when they are complete. Of builders
    at the same time the last one stays. What is said of the origin is kept in the note.
    """
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{_DRAFT}{secrets.token_hex(6)}"
    draft.mkdir()
    try:
        note = _write_files(draft, products, seed, nouns or RuleNouns(), progress)
        note |= {"format": FORMAT, "label": label, "tally": _counts(tally), "origin": origin}
        files = draft.rename(folder / draft.name.replace(_DRAFT, _FILES))
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    before = _note_bytes(folder)
    write_atomically(folder / NOTE, json.dumps(note | {"files": files.name}, indent=1) + "\n")
    _clear_away(folder, before)
    return open_store(folder)


def _write_files(
    draft: Path, products: Iterable[Product], seed: int, nouns: Nouns, progress: Progress | None
) -> dict[str, Any]:
    draws = Draws(seed)
    digest = hashlib.sha256()
    ends, sums = array("q"), array("L")
    asins: list[bytes] = []
    with (draft / "products.bin").open("wb") as file:
        end = 0
        for batch in _batches(products):
            for product, found in zip(batch, nouns.find([product.name for product in batch]), strict=True):
                record = encode(product) + b"\n"
                digest.update(record)
                record += json.dumps(found, separators=(",", ":")).encode()
                end += file.write(record)
                ends.append(end)
                sums.append(zlib.crc32(record))
                asins.append(product.asin.encode("utf-8", "surrogatepass"))
                draws.add(product)
            if progress:
                progress(len(ends))
        file.flush()
        os.fsync(file.fileno())
    if not ends:
        raise StoreError("The catalogue has no products: check the files that it is built from.")
    names = np.array(asins, dtype=np.bytes_)
    by_asin = names.argsort(kind="stable")
    _save(draft, "ends", np.array(ends, dtype="<i8"))
    _save(draft, "sums", np.array(sums, dtype="<u4"))
    _save(draft, "prices", draws.prices())
    _save(draft, "asins", names[by_asin])
    _save(draft, "by-asin", by_asin.astype("<u4"))
    goals = {}
    for kind in KINDS:
        rows = draws.goals(kind)
        goals[kind] = len(rows)
        _save(draft, f"goals-{kind}", rows.astype(ROW, copy=False))
        _save(draft, f"goals-{kind}-cumulative", cumulative_weights(rows))
    return {
        "digest": digest.hexdigest()[:32],
        "seed": seed,
        "nouns": nouns.label,
        "products": len(ends),
        "goals": goals,
        "sizes": {file.name: file.stat().st_size for file in sorted(draft.iterdir())},
    }


def _batches(products: Iterable[Product]) -> Iterator[list[Product]]:
    rest = iter(products)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _save(draft: Path, name: str, values: npt.NDArray[Any]) -> None:
    with (draft / f"{name}.npy").open("wb") as file:
        np.save(file, values, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _counts(tally: Tally | None) -> dict[str, int]:
    return {"read": tally.read, "unnamed": tally.unnamed, "duplicates": tally.duplicates} if tally else {}


def _clear_away(folder: Path, note: bytes | None) -> None:
    """Remove the files that the replaced note names, and drafts that nobody has gone on with for a day.

    Any others may be of a builder that is about to name them.
    """
    replaced = _NAMED.search(note or b"")
    for other in _leftovers(folder):
        if (replaced and other.name == replaced[1].decode()) or _age(other) > _FORGOTTEN:
            shutil.rmtree(other, ignore_errors=True)


def clear_leftovers(folder: Path) -> None:
    """Remove all that builders have left in a store which were killed: for those who know that none is at work."""
    for other in _leftovers(folder):
        shutil.rmtree(other, ignore_errors=True)
    for draft in folder.glob(f".{NOTE}.*"):
        draft.unlink(missing_ok=True)


def _leftovers(folder: Path) -> list[Path]:
    """The folders of a store that its note does not name."""
    named = _NAMED.search(_note_bytes(folder) or b"")
    keep = named[1].decode() if named else ""
    return [other for kind in (_DRAFT, _FILES) for other in folder.glob(f"{kind}*") if other.name != keep]


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:  # another builder was quicker
        return 0.0


def _note_bytes(folder: Path) -> bytes | None:
    try:
        return (folder / NOTE).read_bytes()
    except FileNotFoundError:
        return None


def _read_note(folder: Path) -> dict[str, Any]:
    text = _note_bytes(folder)
    if text is None:
        raise MissingData(f"There is no WebShop catalogue in {folder}: build it with '{BUILD_COMMAND}'.")
    try:
        note = json.loads(text)
        version = note["format"]
    except (ValueError, TypeError, KeyError):
        raise _damaged(folder, f"{NOTE} cannot be read") from None
    if version != FORMAT:
        raise StoreError(
            f"The WebShop catalogue in {folder} has format {version}, this version of eapo-gym reads {FORMAT}: rebuild "
            f"it with '{BUILD_COMMAND}'."
        )
    missing = {"files", "sizes", "label", "digest", "seed", "nouns", "products", "goals"} - set(note)
    if missing:
        raise _damaged(folder, f"{NOTE} lacks {', '.join(sorted(missing))}")
    return dict(note)


def _damaged(folder: Path, what: str) -> StoreError:
    return StoreError(f"The WebShop catalogue in {folder} is damaged ({what}): rebuild it with '{BUILD_COMMAND}'.")


def encode(product: Product) -> bytes:
    """A product as one line."""
    fields = [
        product.asin,
        product.name,
        product.category,
        product.query,
        product.product_category,
        product.description,
        product.bullet_points,
        product.prices,
        product.price_tag,
        product.options,
        product.attributes,
        product.image,
        _fields(product.template) if product.template else None,
        [_fields(instruction) for instruction in product.human],
    ]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def decode(line: bytes) -> Product:
    """The product of a line that `encode` made."""
    *texts, bullets, prices, price_tag, options, attributes, image, template, human = json.loads(line)
    asin, name, category, query, product_category, description = texts
    return Product(
        asin=asin,
        name=name,
        category=category,
        query=query,
        product_category=product_category,
        description=description,
        bullet_points=tuple(bullets),
        prices=tuple(prices),
        price_tag=price_tag,
        options={name: tuple(values) for name, values in options.items()},
        attributes=tuple(attributes),
        image=image,
        template=_instruction(template) if template else None,
        human=tuple(map(_instruction, human)),
    )


def _fields(instruction: Instruction) -> list[str | tuple[str, ...]]:
    return [instruction.text, instruction.attributes, instruction.options]


def _instruction(fields: Sequence[Any]) -> Instruction:
    text, attributes, options = fields
    return Instruction(text, tuple(attributes), tuple(options))
