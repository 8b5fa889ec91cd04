"""Opening a shop: its products, its search, and what is to be bought in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import overload

from eapo_gym.envs.webshop.actions import SEARCH, click
from eapo_gym.envs.webshop.generator import VERSION, generate
from eapo_gym.envs.webshop.goals import KINDS, Kind
from eapo_gym.envs.webshop.nouns import Which, find_nouns
from eapo_gym.envs.webshop.products import Goal, Search
from eapo_gym.envs.webshop.reward import Reward
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.session import BACK_TO_SEARCH, BUY, Showroom
from eapo_gym.envs.webshop.store import NOTE, MemoryCatalogue, Shop, open_store
from eapo_gym.errors import UnknownName

SOURCES = ("embedded", "official")
EMBEDDED = 1_000
"""Products of the embedded catalogue."""

DATA_VARIABLE = "WEBSHOP_DATA"
DOWNLOAD = "eapo-gym data webshop"
"""Fetches the benchmark's files and builds them: the catalogue of 1,000 products, or with --full the whole one."""

STORE, INDEX = "store", "index"
"""Folders in it."""


class Tasks(Sequence[str]):
    """The ids of a split's goals. Each is made when somebody asks for it, since a full catalogue has millions."""

    def __init__(self, split: str, places: range) -> None:
        self.split = split
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(f"{self.split}/{place}" for place in self.places[at])
        return f"{self.split}/{self.places[at]}"

    def __contains__(self, task: object) -> bool:
        split, _, place = task.partition("/") if isinstance(task, str) else ("", "", "")
        return split == self.split and _PLACE.fullmatch(place) is not None and int(place) in self.places


_PLACE = re.compile("0|[1-9][0-9]{0,17}")


def _place(task: str) -> int:
    return int(task.rpartition("/")[2])


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
    def _tasks(self) -> Mapping[str, Tasks]:
        return {split: Tasks(split, places) for split, places in self._goals.splits.items()}

    def tasks(self, split: str) -> Tasks:
        """The ids of a split's goals."""
        if split not in self._tasks:
            raise UnknownName.of("split", split, self._tasks)
        return self._tasks[split]

    def select(self, split: str, goals: int | Sequence[str] | None) -> Sequence[str]:
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
        for task in goals:
            if task not in tasks:
                raise UnknownName.of(f"goal (split={split!r})", task, tasks)
        return tuple(dict.fromkeys(goals))

    def goal(self, task: str) -> Goal:
        """The goal of an id."""
        return self._goals.goal(_place(task))

    def digest(self, tasks: Sequence[str]) -> str:
        """Of what is asked for in some goals: of two shops with the same products."""
        return self._goals.digest(tasks.places if isinstance(tasks, Tasks) else [_place(task) for task in tasks])

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


def open_shop(
    source: str, *, kind: Kind = "synthetic", show_attributes: bool = False, nouns: Which | None = None
) -> OpenShop:
    """The shop of a source: "embedded" is made on the spot, "official" was built from the benchmark's files before.

    What finds the nouns of titles in the embedded one is "rules" unless told; see `find_nouns`.
    """
    if kind not in KINDS:
        raise UnknownName.of("kind of goals", kind, KINDS)
    if source == "embedded":
        return _embedded(kind, show_attributes, nouns or "rules")
    if source == "official":
        if nouns is not None:
            raise ValueError(f"nouns={nouns!r}: the official catalogue keeps the ones it was built with, leave it out.")
        folder = data_folder()
        return _official(folder, _built_at(folder), kind, show_attributes)
    raise UnknownName.of("source", source, SOURCES)


@lru_cache
def _embedded(kind: Kind, show_attributes: bool, nouns: Which) -> OpenShop:
    catalogue, search = _embedded_products(nouns)
    return OpenShop(catalogue, search, kind=kind, show_attributes=show_attributes)


@lru_cache
def _embedded_products(nouns: Which) -> tuple[MemoryCatalogue, ShopSearch]:
    label = f"embedded v{VERSION}, {EMBEDDED:,} products"
    catalogue = MemoryCatalogue(generate(EMBEDDED), label, nouns=find_nouns(nouns))
    return catalogue, ShopSearch.make(catalogue)


def _built_at(folder: Path) -> int:
    """Tells a catalogue that was built anew from the one before."""
    try:
        return (folder / STORE / NOTE).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@lru_cache
def _official(folder: Path, built_at: int, kind: Kind, show_attributes: bool) -> OpenShop:
    catalogue = open_store(folder / STORE)
    search = ShopSearch.open(folder / INDEX, catalogue)
    return OpenShop(catalogue, search, kind=kind, show_attributes=show_attributes)
