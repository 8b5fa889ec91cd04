"""The benchmark's own files, read into products as its own loader reads them, one after the other.

The full catalogue is one JSON list of 5 GB. It is read as a stream, so that a small machine can do it; what is wrong
with a file is said with the product where it was met.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import IO, Any, TypeAlias

from eapo_gym.envs.webshop.products import NO_PRICE, Instruction, Product
from eapo_gym.errors import EapoError, MissingData

DUMMY_ATTRIBUTES = ("DUMMY_ATTR",)
"""What the benchmark takes for the attributes of a product that none were found for."""

LONGEST_ASIN = 10

_CHUNK = 1 << 20
_LONGEST_ENTRY = 1 << 26
_PARTIAL = 16
"""The JSON decoder reports a text that ends too early at most so many characters before its end (`\\ud83d\\ude0…`)."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

Record: TypeAlias = Mapping[str, Any]


class CatalogueError(EapoError, ValueError):
    """A file of a catalogue that is broken, or not what it should be."""


@dataclass(frozen=True, slots=True)
class CatalogueFiles:
    """The three files of a catalogue."""

    products: Path
    attributes: Path
    human: Path | None = None
    """Instructions that humans wrote; without them there are only synthetic goals."""

    @classmethod
    def in_folder(cls, folder: Path, full: bool | None = None) -> CatalogueFiles:
        """The files that a folder holds, by the benchmark's names: `items_shuffle*.json` and so on.

        Of a folder that has those of more than one catalogue, the full one's or those of the one of 1,000 products.
        """
        which = {None: "*", False: "_1000", True: ""}[full]
        names = f"items_shuffle{which}.json", f"items_ins_v2{which}.json"
        products, attributes, human = (_only(folder, pattern) for pattern in (*names, "items_human_ins*.json"))
        if products is None or attributes is None:
            raise MissingData(
                f"Expected {' and '.join(names)} in {folder}, found "
                f"{'only one of them' if products or attributes else 'neither'}: name the folder that has the "
                "benchmark's files."
            )
        return cls(products, attributes, human)


@dataclass(slots=True)
class Tally:
    """What reading a catalogue came across."""

    read: int = 0
    kept: int = 0
    unnamed: int = 0
    """Left out, as in the benchmark: the ASIN is "nan", or longer than an ASIN is."""

    duplicates: int = 0
    """Left out, as in the benchmark: a product with this ASIN came before."""


def read_products(files: CatalogueFiles, most: int | None = None, tally: Tally | None = None) -> Iterator[Product]:
    """The products in the order of the file; `most` counts entries of the file, also those that are left out."""
    tally = tally or Tally()
    attributes = _Attributes(files.attributes)
    human = _human_instructions(files.human) if files.human else {}
    seen: set[str] = set()
    for entry in _Stream(files.products).entries():
        if tally.read == most:
            return
        tally.read += 1
        where = f"{files.products}: product {tally.read}"
        asin = _text(_get(entry, "asin", where), "asin", where)
        if asin == "nan" or len(asin) > LONGEST_ASIN:
            tally.unnamed += 1
        elif asin in seen:
            tally.duplicates += 1
        else:
            seen.add(asin)
            tally.kept += 1
            yield _product(asin, entry, attributes.of(asin), human.get(asin, ()), f"{where} ({asin})")


def _product(asin: str, entry: Record, found: Record, human: tuple[Instruction, ...], where: str) -> Product:
    bullets = _get(entry, "small_description", where)
    images = _get(entry, "images", where)
    prices = _prices(entry.get("pricing"), where)
    name, category, query, product_category, description = (
        _text(_get(entry, key, where), key, where)
        for key in ("name", "category", "query", "product_category", "full_description")
    )
    return Product(
        asin=asin,
        name=name,
        category=category,
        query=query.lower().strip(),
        product_category=product_category,
        description=description,
        bullet_points=_texts(bullets if isinstance(bullets, list) else [bullets], "small_description", where),
        prices=prices,
        price_tag=" to ".join(f"${price}" for price in prices or (NO_PRICE,)),
        options=_options(entry.get("customization_options"), where),
        attributes=_texts(found["attributes"], "attributes", where) if "attributes" in found else DUMMY_ATTRIBUTES,
        image=_text(images[0] if isinstance(images, list) and images else None, "images", where),
        template=_template(found, where),
        human=human,
    )


def _prices(pricing: object, where: str) -> tuple[float, ...]:
    """None, one, or the first two of "$12.99 to $15.99"."""
    if not pricing:
        return ()
    if not isinstance(pricing, str):
        raise CatalogueError(f"{where}: expected a text such as '$12.99' as its pricing, got {pricing!r:.80}")
    try:
        prices = [float(Decimal(re.sub(r"[^\d.]", "", price))) for price in pricing.split("$")[1:]]
    except InvalidOperation:
        prices = []
    if not prices or not all(map(math.isfinite, prices)):
        raise CatalogueError(f"{where}: expected a text such as '$12.99' as its pricing, got {pricing!r:.80}")
    return tuple(prices[:2])


def _options(options: object, where: str) -> dict[str, tuple[str, ...]]:
    if not options:
        return {}
    if not isinstance(options, dict):
        raise CatalogueError(f"{where}: expected an object as its customization_options, got {options!r:.80}")
    values: dict[str, tuple[str, ...]] = {}
    for name, contents in options.items():
        if contents is None:
            continue
        if not isinstance(contents, list):
            raise CatalogueError(f"{where}: expected a list of values as its option {name!r:.80}, got {contents!r:.80}")
        values[name.lower()] = tuple(
            _text(_get(content, "value", f"{where}, option {name!r:.80}"), f"option {name!r:.80}", where)
            .strip()
            .replace("/", " | ")
            .lower()
            for content in contents
        )
    return values


def _template(found: Record, where: str) -> Instruction | None:
    text = found.get("instruction")
    if text is None:
        return None
    attributes = _texts(found.get("instruction_attributes"), "instruction_attributes", where)
    if not attributes:
        raise CatalogueError(f"{where}: its instruction {text!r:.80} names no attributes (instruction_attributes)")
    return Instruction(_text(text, "instruction", where), attributes)


def _human_instructions(path: Path) -> dict[str, tuple[Instruction, ...]]:
    instructions: dict[str, tuple[Instruction, ...]] = {}
    for asin, _, entries in _Stream(path).members():
        where = f"{path}: product {asin}"
        if not isinstance(entries, list):
            raise CatalogueError(f"{where}: expected a list of instructions, got {entries!r:.80}")
        instructions[asin] = tuple(_human_instruction(entry, where) for entry in entries)
    return instructions


def _human_instruction(entry: object, where: str) -> Instruction:
    attributes = _texts(_get(entry, "instruction_attributes", where), "instruction_attributes", where)
    if not attributes:
        return Instruction("", ())  # makes no goal, whatever else it has or lacks
    text = _text(_get(entry, "instruction", where), "instruction", where)
    return Instruction(
        text, attributes, _texts(_get(entry, "instruction_options", where), "instruction_options", where)
    )


class _Attributes:
    """What was found out about each product, as text: decoded, that of the full catalogue would take gigabytes."""

    def __init__(self, path: Path) -> None:
        self._texts = {asin: text.encode("utf-8", "surrogatepass") for asin, text, _ in _Stream(path).members()}

    def of(self, asin: str) -> Record:
        text = self._texts.get(asin)
        return {} if text is None else json.loads(text)


class _Stream:
    """A JSON list of objects, or an object of objects or lists, of which a window is in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = ""
        self._at = 0
        self._ended = False
        self._entry = "its start"

    def entries(self) -> Iterator[Record]:
        """The objects of a list."""
        with self._path.open(encoding="utf-8-sig") as file:
            last = ""
            for count, _ in enumerate(self._separated(file, "[", "]", "a JSON list of products"), 1):
                self._entry = f"product {count}{last}"
                entry, _ = self._value(file, "{")
                last = f" (the one after {entry['asin']!r:.40})" if "asin" in entry else ""
                yield entry

    def members(self) -> Iterator[tuple[str, str, Any]]:
        """The keys of an object, their values as text, and the values."""
        with self._path.open(encoding="utf-8-sig") as file:
            last = ""
            for _ in self._separated(file, "{", "}", "a JSON object with products' ASINs as its keys"):
                self._entry = f"the key{last}"
                key, _ = self._value(file, '"')
                last = f" after {key!r:.40}"
                self._entry = f"product {key!r:.40}"
                if self._next(file) != ":":
                    raise self._broken("expected a ':'")
                self._at += 1
                value, text = self._value(file, "{[")
                yield key, text, value

    def _separated(self, file: IO[str], opening: str, closing: str, kind: str) -> Iterator[None]:
        """Stop at every entry; who reads on has moved behind it."""
        if self._next(file) != opening:
            raise CatalogueError(f"{self._path}: expected {kind}, it starts with {self._text[self._at :][:20]!r}")
        self._at += 1
        if self._next(file) != closing:
            yield
            while (sign := self._next(file)) == ",":
                self._at += 1
                yield
            if sign != closing:
                raise self._broken(f"expected ',' or {closing!r} behind it")
        self._at += 1
        if self._next(file):
            raise self._broken(f"expected nothing behind the last {closing!r}")

    def _next(self, file: IO[str]) -> str:
        """The next character that is not blank, "" at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._more(file)

    def _value(self, file: IO[str], openings: str) -> tuple[Any, str]:
        opening = self._next(file)
        if not opening:
            raise self._broken("the file ends there, it is truncated")
        if opening not in openings:
            raise self._broken(f"expected {' or '.join(map(repr, openings))}")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:  # noqa: PERF203  # hardly ever more than one round
                raise self._broken("it is nested too deeply") from None
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated string")
                if self._ended and (unfinished or error.pos >= len(self._text.rstrip())):
                    raise self._broken("the file ends there, it is truncated") from None
                if self._ended or not (unfinished or error.pos >= len(self._text) - _PARTIAL):
                    raise self._broken(error.msg, error.pos) from None
                if len(self._text) - self._at > _LONGEST_ENTRY:
                    raise self._broken("no end of it is in sight") from None
                self._more(file)
            except ValueError as error:
                raise self._broken(str(error)) from None
            else:
                text = self._text[self._at : end]
                self._at = end
                return value, text

    def _more(self, file: IO[str]) -> None:
        rest = self._text[self._at :]
        try:
            chunk = file.read(max(_CHUNK, len(rest)))
        except UnicodeDecodeError as error:
            raise self._broken(f"it is not UTF-8 soon after that ({error.reason})") from None
        self._ended = not chunk
        self._text = rest + chunk
        self._at = 0

    def _broken(self, what: str, at: int | None = None) -> CatalogueError:
        at = self._at if at is None else at
        near = f", near {self._text[max(at - 20, 0) : at + 20]!r}" if self._text else ""
        return CatalogueError(f"{self._path} is broken at {self._entry}: {what}{near}. Fetch the file again.")


def _get(entry: object, key: str, where: str) -> Any:
    if not isinstance(entry, dict):
        raise CatalogueError(f"{where}: expected an object with the key {key!r}, got {entry!r:.80}")
    if key not in entry:
        raise CatalogueError(f"{where}: the key {key!r} is missing, it has {', '.join(sorted(entry))[:300]}")
    return entry[key]


def _text(value: object, key: str, where: str) -> str:
    """A text, empty for what exports of tables leave where a cell is empty: nothing at all, or "not a number"."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        raise CatalogueError(f"{where}: expected a text as its {key}, got {value!r:.80}")
    return value


def _texts(values: object, key: str, where: str) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise CatalogueError(f"{where}: expected a list of texts as its {key}, got {values!r:.80}")
    return tuple(_text(value, key, where) for value in values)


def _only(folder: Path, pattern: str) -> Path | None:
    found = sorted(folder.glob(pattern))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise CatalogueError(
            f"Expected one {pattern} in {folder}, found {names}: say which one is meant with --small or --full, or "
            "move the others away."
        )
    return found[0] if found else None
