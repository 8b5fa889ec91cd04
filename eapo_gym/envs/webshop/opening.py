"""Opening a shop: its products, its search, and what is to be bought in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from eapo_gym.envs.webshop.actions import SEARCH, click
from eapo_gym.envs.webshop.generator import VERSION, generate
from eapo_gym.envs.webshop.goals import KINDS, Kind
from eapo_gym.envs.webshop.products import Goal, Search
from eapo_gym.envs.webshop.reward import Reward
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.session import BACK_TO_SEARCH, BUY, Showroom
from eapo_gym.envs.webshop.store import MemoryCatalogue, Shop, open_store
from eapo_gym.errors import UnknownName

SOURCES = ("embedded", "official")
EMBEDDED = 1_000
"""Products of the embedded catalogue."""

DATA_VARIABLE = "WEBSHOP_DATA"
STORE, INDEX = "store", "index"
"""Folders in it."""


class OpenShop:
    """A shop that sessions can be played in. Environments of a process share it.

    The id of a goal is its split and its place after the benchmark's shuffle, as in "test/17"; that place is also what
    the original takes as the number of a session.

    Args:
        shop: the products, with their prices, their goals and the reward.
        search: finds them.
        kind: whose goals are played: "synthetic" (from templates) or "human".
        show_attributes: whether a product's page leads to its attributes; the benchmark hides them.
    """

    def __init__(self, shop: Shop, search: Search, *, kind: Kind = "synthetic", show_attributes: bool = False) -> None:
        self.shop = shop
        self.kind = kind
        self.room = Showroom(shop, search, show_attributes=show_attributes)
        self._goals = shop.goals(kind)

    @cached_property
    def _tasks(self) -> Mapping[str, tuple[str, ...]]:
        return {split: tuple(f"{split}/{place}" for place in places) for split, places in self._goals.splits.items()}

    def tasks(self, split: str) -> tuple[str, ...]:
        """The ids of a split's goals, one tuple for all who ask."""
        if split not in self._tasks:
            raise UnknownName.of("split", split, self._tasks)
        return self._tasks[split]

    def select(self, split: str, goals: int | Sequence[str] | None) -> tuple[str, ...]:
        """Ids of a split's goals: all, the first so many, or those that are named."""
        tasks = self.tasks(split)
        if not tasks:
            counts = ", ".join(f"{name}: {len(each)}" for name, each in self._tasks.items())
            raise UnknownName(f"split={split!r}: it has no {self.kind} goals here ({counts}), choose another one.")
        if goals is None:
            return tasks
        if isinstance(goals, int):
            if not 1 <= goals <= len(tasks):
                raise ValueError(f"goals: expected a number from 1 to {len(tasks):,}, got {goals}")
            return tasks[:goals]
        if not goals or isinstance(goals, str):
            raise ValueError(f"goals: expected a number or a list of ids such as [{tasks[0]!r}], got {goals!r:.80}")
        known = set(tasks)
        for task in goals:
            if task not in known:
                raise UnknownName.of(f"goal (split={split!r})", task, tasks)
        return tuple(dict.fromkeys(goals))

    def goal(self, task: str) -> Goal:
        """The goal of an id."""
        return self._goals.goal(int(task.rpartition("/")[2]))

    def reward(self, task: str, number: int, options: Mapping[str, str]) -> Reward:
        """What it is worth, for a goal, to buy the product of a number with these options."""
        return self.shop.reward(number, self.goal(task), options)

    def examples(self) -> tuple[str, ...]:
        """Commands that make sense in this shop: searches for its first few kinds of product, and two buttons."""
        kinds = (self.shop.product(number).query.lower() for number in range(min(50, len(self.shop))))
        searches = [f"{SEARCH}[{kind}]" for kind in list(dict.fromkeys(filter(None, kinds)))[:6]]
        return (*searches, click(BACK_TO_SEARCH), click(BUY))


def data_folder() -> Path:
    """Where the benchmark's catalogue is built: `$WEBSHOP_DATA`, else `~/.cache/webshop`."""
    return Path(os.environ.get(DATA_VARIABLE) or "~/.cache/webshop").expanduser()


def open_shop(source: str, *, kind: Kind = "synthetic", show_attributes: bool = False) -> OpenShop:
    """The shop of a source: "embedded" is made on the spot, "official" was built from the benchmark's files before."""
    if kind not in KINDS:
        raise UnknownName.of("kind of goals", kind, KINDS)
    if source == "embedded":
        return _embedded(kind, show_attributes)
    if source == "official":
        return _official(data_folder(), kind, show_attributes)
    raise UnknownName.of("source", source, SOURCES)


@lru_cache
def _embedded(kind: Kind, show_attributes: bool) -> OpenShop:
    catalogue, search = _embedded_products()
    return OpenShop(catalogue, search, kind=kind, show_attributes=show_attributes)


@lru_cache
def _embedded_products() -> tuple[MemoryCatalogue, ShopSearch]:
    catalogue = MemoryCatalogue(generate(EMBEDDED), f"embedded v{VERSION}, {EMBEDDED:,} products")
    return catalogue, ShopSearch.make(catalogue)


@lru_cache
def _official(folder: Path, kind: Kind, show_attributes: bool) -> OpenShop:
    catalogue = open_store(folder / STORE)
    search = ShopSearch.open(folder / INDEX, catalogue)
    return OpenShop(catalogue, search, kind=kind, show_attributes=show_attributes)
