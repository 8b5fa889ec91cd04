"""What is asked for in a shop: the goals of the benchmark, in its order, with its weights and its price limits.

The benchmark draws prices and price limits from Python's global generator, which it does not seed before; so its goals
differ from run to run. Here the same draws come from a generator of their own that starts from a seed (0 unless told),
so that goals are the same wherever they are made. The shuffle with seed 233 is the benchmark's.

A full catalogue has millions of goals, so a goal is kept as four numbers and written out when somebody asks for it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from eapo_gym.envs.webshop.products import NO_PRICE, Goal, Product
from eapo_gym.errors import UnknownName

Kind = Literal["synthetic", "human"]
KINDS: tuple[Kind, ...] = get_args(Kind)

SHUFFLE_SEED = 233
LIMITS = tuple(10.0 * step for step in range(1, 100))
"""The price limits that are named: the higher of two that are drawn from the next four above the price."""

NO_LIMIT = 1_000_000.0

TESTS, EVALUATIONS = 500, 1000
"""Of the shuffled goals the first are for tests, the next for evaluations while training, the rest to train on."""

ROW = np.dtype([("product", "<u4"), ("variant", "<u4"), ("price_upper", "<f8"), ("weight", "<f8")])
"""A goal: its product's number, which combination of options or which human's instruction, limit, weight."""

Rows = npt.NDArray[Any]


class Shelf(Protocol):
    """What goals are written out from."""

    def product(self, number: int) -> Product: ...


def splits(goals: int) -> dict[str, range]:
    """Which goals are for what: 500 tests, 1,000 evaluations, the rest to train on, never one in two of them.

    Of 1,500 goals or fewer, for which that leaves none to train on, a quarter are tests and half are evaluations.
    """
    tests, evaluations = (TESTS, EVALUATIONS) if goals > TESTS + EVALUATIONS else (goals // 4, goals // 2)
    return {
        "test": range(tests),
        "eval": range(tests, tests + evaluations),
        "train": range(tests + evaluations, goals),
    }


class Draws:
    """Prices and goals of a catalogue, drawn as the benchmark draws them: it is shown every product, in order."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)
        self._prices = array("d")
        self._wanted: dict[Kind, _Wanted] = {kind: _Wanted() for kind in KINDS}

    def add(self, product: Product) -> None:
        number = len(self._prices)
        low, *more = product.prices or (NO_PRICE,)
        self._prices.append(self._random.uniform(low, more[0]) if more else low)
        if product.template is not None:
            combinations = math.prod(map(len, product.options.values()))
            self._wanted["synthetic"].add(number, product.template.attributes, 0, combinations)
        for index, instruction in enumerate(product.human):
            if instruction.attributes:
                self._wanted["human"].add(number, instruction.attributes, index, 1)

    def prices(self) -> npt.NDArray[np.float64]:
        return np.array(self._prices, dtype="<f8")

    def goals(self, kind: Kind) -> Rows:
        """All goals of a kind, shuffled. Each kind is drawn as if it were the only one."""
        wanted = self._wanted[kind]
        random = Random()
        random.setstate(self._random.getstate())
        limits = [_limit(self._prices[number], random) for number in wanted.products]
        weights = wanted.weights() if kind == "synthetic" else [1.0] * len(limits)
        counts = np.array(wanted.counts, dtype=np.int64)
        firsts = np.array(wanted.firsts, dtype=np.int64)
        rows = np.empty(int(counts.sum()), ROW)
        rows["product"] = np.repeat(np.array(wanted.products, dtype=np.uint32), counts)
        rows["variant"] = np.arange(len(rows)) - np.repeat(counts.cumsum() - counts - firsts, counts)
        rows["price_upper"] = np.repeat(np.array(limits), counts)
        rows["weight"] = np.repeat(np.array(weights), counts)
        order = array("l", range(len(rows)))
        Random(SHUFFLE_SEED).shuffle(order)
        return rows[np.array(order, dtype=np.int64)]


class _Wanted:
    """Who asks for which products; in arrays, since a full catalogue is shown."""

    def __init__(self) -> None:
        self.products = array("L")
        self.firsts = array("L")
        self.counts = array("L")
        self._attributes = array("L")
        self._ends = array("L")
        self._ids: dict[str, int] = {}

    def add(self, number: int, attributes: Sequence[str], first: int, count: int) -> None:
        self.products.append(number)
        self.firsts.append(first)
        self.counts.append(count)
        self._attributes.extend(self._ids.setdefault(attribute, len(self._ids)) for attribute in attributes)
        self._ends.append(len(self._attributes))

    def weights(self) -> list[float]:
        """The rarer its attributes are among all goals, the more a goal weighs."""
        counts = [0] * len(self._ids)
        for ids, goals in zip(self._each(), self.counts, strict=True):
            for attribute in ids:
                counts[attribute] += goals
        weights = []
        for ids, goals in zip(self._each(), self.counts, strict=True):
            total = 0.0
            if goals:
                for attribute in ids:  # one by one: newer Pythons' sum() rounds otherwise, and so would not be the same
                    total += 1.0 / counts[attribute]
            weights.append(total / len(ids))
        return weights

    def _each(self) -> Iterator[array[int]]:
        start = 0
        for end in self._ends:
            yield self._attributes[start:end]
            start = end


def _limit(price: float, random: Random) -> float:
    limits = [limit for limit in LIMITS if limit > price][:4]
    return max(random.sample(limits, 2)) if len(limits) >= 2 else NO_LIMIT


class Goals:
    """The goals of one kind, by their place after the shuffle."""

    def __init__(self, shelf: Shelf, kind: Kind, rows: Rows, cumulative: npt.NDArray[np.float64] | None = None) -> None:
        self.kind = kind
        self.splits = splits(len(rows))
        self._shelf = shelf
        self._rows = rows
        self._cumulative = cumulative_weights(rows) if cumulative is None else cumulative
        self.goal = lru_cache(maxsize=4096)(self._goal)
        """Goal by number."""

    def __len__(self) -> int:
        return len(self._rows)

    def split(self, name: str) -> range:
        """The numbers of a split's goals."""
        if name not in self.splits:
            raise UnknownName.of("split", name, self.splits)
        return self.splits[name]

    def product(self, number: int) -> int:
        """The number of the product that a goal was made from."""
        return int(self._rows["product"][number])

    def digest(self, numbers: Sequence[int]) -> str:
        """Of which products, options, limits and weights some goals have; with the products' that says it all."""
        rows = self._rows[numbers.start : numbers.stop] if isinstance(numbers, range) else self._rows[list(numbers)]
        return blake2b(self.kind.encode() + rows.tobytes(), digest_size=8).hexdigest()

    def draw(self, random: Random, among: range | None = None) -> int:
        """A goal by weight, drawn from these as the benchmark draws from all.

        The benchmark takes the goal after the one that it hits, and the last one for itself: the first is never drawn
        unless it is alone.
        """
        among = range(len(self)) if among is None else among
        if not among:
            raise ValueError(f"goals: there are none to draw from, the catalogue has {len(self)} {self.kind} ones")
        edges = self._cumulative[among.start : among.stop + 1]
        start = float(edges[0])
        hit = int(edges.searchsorted(start + random.uniform(0, float(edges[-1]) - start), "right"))
        return among.start + min(hit, len(among) - 1)

    def _goal(self, number: int) -> Goal:
        if not 0 <= number < len(self):
            raise IndexError(f"goal: expected a number from 0 to {len(self) - 1}, got {number}")
        product_number, variant, limit, weight = self._rows[number].tolist()
        product = self._shelf.product(product_number)
        price_text = f", and price lower than {limit:.2f} dollars" if limit != NO_LIMIT else ""
        options: Mapping[str, str] | tuple[str, ...]
        if self.kind == "human":
            instruction = product.human[variant]
            options = instruction.options
            text = instruction.text.strip(".") + price_text
        else:
            assert product.template is not None
            instruction = product.template
            options = combination(product.options, variant)
            named = ", and ".join(f"{name}: {value}" for name, value in options.items())
            text = instruction.text + (f" with {named}" if named else "") + price_text
        return Goal(
            asin=product.asin,
            text=text,
            attributes=instruction.attributes,
            options=options,
            price_upper=limit,
            weight=weight,
            name=product.name,
            category=product.category,
            query=product.query,
            product_category=product.product_category,
        )


def combination(options: Mapping[str, Sequence[str]], number: int) -> dict[str, str]:
    """One of all combinations of options, by name in alphabetical order; the last one's values change fastest."""
    chosen: dict[str, str] = {}
    for name in sorted(options, reverse=True):
        number, place = divmod(number, len(options[name]))
        chosen[name] = options[name][place]
    return dict(reversed(chosen.items()))


def cumulative_weights(rows: Rows) -> npt.NDArray[np.float64]:
    """0 and the sums of the first one, two, … weights."""
    return np.concatenate([np.zeros(1), np.cumsum(rows["weight"])])
