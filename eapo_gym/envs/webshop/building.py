"""From the benchmark's files to what environments open: the store of products and goals, and the search index."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from eapo_gym.envs.webshop.catalogue import CatalogueFiles, Tally, read_products
from eapo_gym.envs.webshop.nouns import find_nouns
from eapo_gym.envs.webshop.opening import INDEX, STORE, data_folder
from eapo_gym.envs.webshop.search.engine import ShopSearch
from eapo_gym.envs.webshop.store import StoredCatalogue, build_store, clear_leftovers, open_store
from eapo_gym.errors import EapoError

_LOCK = ".lock"
_INDEX_DRAFT = re.compile(rf"\.{INDEX}\.[0-9a-f]+")

Progress = Callable[[str, int], object]
"""Told what is made, and how many products are done."""


class BusyFolder(EapoError, RuntimeError):
    """A folder that another process fills."""


def build_official(
    files: CatalogueFiles,
    into: Path | None = None,
    *,
    most: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[StoredCatalogue, bool]:
    """Build the official catalogue from the benchmark's files, of the first `most` products of them.

    It goes into the folder that `source="official"` looks into, or another one. The seed draws prices and limits, which
    the benchmark leaves to chance. What was built before from the same files, in the same way, stays; the second value
    says whether something was built.
    """
    tell = progress or (lambda what, done: None)
    into = into or data_folder()
    nouns = find_nouns()
    origin = _origin(files, most)
    with claimed(into) as alone:
        if alone:
            _clear_drafts(into)
        there = _built(into, origin, seed, nouns.label)
        if there is not None:
            return there, False
        tally = Tally()
        label = f"official, {files.products.name}" + ("" if most is None else f", the first {most:,}")
        catalogue = build_store(
            into / STORE,
            read_products(files, most, tally),
            label,
            seed=seed,
            nouns=nouns,
            tally=tally,
            origin=origin,
            progress=partial(_told, tell, "products"),
        )
        ShopSearch.build(into / INDEX, catalogue, partial(_told, tell, "search index"))
    return catalogue, True


@contextmanager
def claimed(folder: Path) -> Iterator[bool]:
    """Work in a folder that no other process may fill meanwhile; whoever dies lets go of it. False if nobody can tell.

    Who reads in it need not ask: what is built takes its place when it is whole.
    """
    try:
        import fcntl
    except ImportError:  # not Unix: two processes in one folder are up to the user
        yield False
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyFolder(
                f"Another process is at work in {folder}: wait for it to end, or choose another folder with --into."
            ) from None
        yield True


def _origin(files: CatalogueFiles, most: int | None) -> dict[str, Any]:
    """What tells, without reading gigabytes, whether something was built from these files as they are now."""
    paths = [path.absolute() for path in (files.products, files.attributes, files.human) if path]
    return {"files": [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in paths], "most": most}


def _built(into: Path, origin: dict[str, Any], seed: int, nouns: str) -> StoredCatalogue | None:
    """What is there, if it is whole and was built in this way."""
    try:
        catalogue = open_store(into / STORE)
        ShopSearch.open(into / INDEX, catalogue)
    except EapoError:
        return None
    same = catalogue.note.get("origin") == origin and (catalogue.seed, catalogue.nouns_label) == (seed, nouns)
    return catalogue if same else None


def _told(tell: Progress, what: str, done: int) -> None:
    tell(what, done)


def _clear_drafts(into: Path) -> None:
    """Remove what builders have left that were killed. None is at work, since this one has the claim."""
    clear_leftovers(into / STORE)
    for other in into.iterdir():
        if _INDEX_DRAFT.fullmatch(other.name):
            shutil.rmtree(other, ignore_errors=True)
