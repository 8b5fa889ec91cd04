"""The benchmark's own tasks: where their files are, which there are, and which split holds which.

`eapo-gym data osworld` brings them. A split is one of these:

* "all" and "small", as the benchmark lists them (test_all.json, test_small.json);
* a domain, by the name of its folder ("libreoffice_calc"), or by the one that tables of results use ("calc"): the ten
  columns by which success rates of OSWorld are reported, in the paper on EAPO as well, are its ten folders;
* "feasible" and "infeasible": what can be done, and what cannot, where the agent is right if it says so;
* "without_accounts": all but those that use somebody's account at Google Drive, as most results are reported;
* "offline": what can be done without an account, without a file from the network, and without a website.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.reading import read_task
from eapo_gym.envs.osworld.requirements import Requirements, requirements
from eapo_gym.envs.osworld.tasks import DesktopTask, TaskFileError
from eapo_gym.errors import MissingData, UnknownName

DATA_VARIABLE = "EAPO_OSWORLD_DATA"
DOWNLOAD = "eapo-gym data osworld"
"""Fetches the benchmark's files, or takes those that somebody has."""

FOLDER = "evaluation_examples"
"""The benchmark's folder for them, which is also the name of the folder here."""

FILES = "files"
"""The folder, beside it, for what tasks fetch: see `FileCache`."""

ALL, SMALL = "test_all.json", "test_small.json"

DOMAINS: Mapping[str, int] = {
    "chrome": 46,
    "gimp": 26,
    "libreoffice_calc": 47,
    "libreoffice_impress": 47,
    "libreoffice_writer": 23,
    "multi_apps": 101,
    "os": 24,
    "thunderbird": 15,
    "vlc": 17,
    "vs_code": 23,
}
"""The ten domains, and how many tasks the benchmark has of each: 369 in all."""

SHORT_NAMES: Mapping[str, str] = {
    "calc": "libreoffice_calc",
    "impress": "libreoffice_impress",
    "writer": "libreoffice_writer",
}
"""What tables of results call a domain, where that is another name; the other seven have their own."""

_CHOICES: Mapping[str, Callable[[Requirements], bool]] = {
    "feasible": lambda needs: not needs.infeasible,
    "infeasible": lambda needs: needs.infeasible,
    "without_accounts": lambda needs: not needs.accounts,
    "offline": lambda needs: not needs.infeasible and not needs.network,
}

SPLITS = ("all", "small", *_CHOICES, *DOMAINS, *SHORT_NAMES)


def data_folder() -> Path:
    """Where the benchmark's files are: `$EAPO_OSWORLD_DATA`, else `~/.cache/osworld`."""
    return Path(os.environ.get(DATA_VARIABLE) or "~/.cache/osworld").expanduser()


class OfficialTasks:
    """The tasks of a folder with the benchmark's files; an id is "DOMAIN/ID", as in "gimp/7a4deb26-…".

    Args:
        folder: holds test_all.json, and examples/DOMAIN/ID.json for each task that it lists; by default the one that
            `eapo-gym data osworld` fills.
        metrics: the names of metrics that there are; tasks with others are refused when they are read.
        getters: the same of the getters.

    Raises:
        MissingData: there are no such files.
        TaskFileError: its lists are not as they should be.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        metrics: Collection[str] | None = None,
        getters: Collection[str] | None = None,
    ) -> None:
        self.folder = folder or data_folder() / FOLDER
        self._metrics, self._getters = metrics, getters
        self._read: dict[str, DesktopTask] = {}
        if not (self.folder / ALL).is_file():
            raise MissingData(
                f"OSWorld's tasks are not in {self.folder} (expected {ALL} there): run '{DOWNLOAD}', or let "
                f"{DATA_VARIABLE} name the folder that holds {FOLDER}."
            )
        self.ids = _listed(self.folder / ALL)
        self._places = frozenset(self.ids)

    def split(self, name: str) -> tuple[str, ...]:
        """The ids of a split, in the benchmark's order."""
        if name == "all":
            return self.ids
        if name == "small":
            return self._small
        if name in _CHOICES:
            return tuple(task for task in self.ids if _CHOICES[name](self.requirements(task)))
        domain = SHORT_NAMES.get(name, name)
        found = tuple(task for task in self.ids if task.partition("/")[0] == domain)
        if not found:
            raise UnknownName.of("split", name, SPLITS)
        return found

    @cached_property
    def _small(self) -> tuple[str, ...]:
        if not (self.folder / SMALL).is_file():
            raise MissingData(f"The split 'small' needs {self.folder / SMALL}, which is not there: run '{DOWNLOAD}'.")
        small = _listed(self.folder / SMALL)
        if unknown := [task for task in small if task not in self._places]:
            raise TaskFileError(f"{self.folder / SMALL} lists {unknown[0]!r}, which is not in {ALL}.")
        return small

    def task(self, task: str) -> DesktopTask:
        """A task by its id; raises `TaskFileError` where its file is not as it should be."""
        if task not in self._places:
            raise UnknownName.of("task", task, self.ids)
        if task not in self._read:
            domain, _, key = task.partition("/")
            path = self.folder / "examples" / domain / f"{key}.json"
            self._read[task] = read_task(path, domain=domain, metrics=self._metrics, getters=self._getters)
        return self._read[task]

    def requirements(self, task: str) -> Requirements:
        """What a task needs besides a desktop."""
        return requirements(self.task(task))


def _listed(path: Path) -> tuple[str, ...]:
    """The ids of one of the benchmark's lists: an object with the keys of each domain."""
    try:
        listed: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise TaskFileError(f"{path} is not JSON ({error}): run '{DOWNLOAD}'.") from None
    if not isinstance(listed, dict) or not all(
        isinstance(keys, list) and all(isinstance(key, str) for key in keys) for keys in listed.values()
    ):
        raise TaskFileError(f"{path}: expected an object with a list of ids for each domain: run '{DOWNLOAD}'.")
    ids = [f"{domain}/{key}" for domain, keys in listed.items() for key in keys]
    for name in ids:
        if name.count("/") != 1 or ".." in name or "\\" in name or "\0" in name:
            raise TaskFileError(f"{path} lists {name!r:.120}, which is no task's id: expected DOMAIN/ID.")
    return tuple(dict.fromkeys(ids))
