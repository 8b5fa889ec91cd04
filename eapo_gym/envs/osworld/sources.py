"""Where tasks come from: our own, which are drawn, or the benchmark's files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from eapo_gym.envs.osworld.download import FileCache
from eapo_gym.envs.osworld.elements import Element
from eapo_gym.envs.osworld.judging.registry import known_getters, known_metrics
from eapo_gym.envs.osworld.official import FILES, OfficialTasks, data_folder
from eapo_gym.envs.osworld.own import make_task, own_tasks, template_of
from eapo_gym.envs.osworld.own.catalog import made, templates
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing
from eapo_gym.envs.osworld.preparing import PreparationError
from eapo_gym.envs.osworld.tasks import DesktopTask
from eapo_gym.errors import UnknownName

SOURCES = ("embedded", "official")

MadePlan = Callable[[str, Callable[[], Sequence[Element]]], Plan]


class TaskSource(Protocol):
    """Tasks, by their ids."""

    plan: MadePlan | None
    """How a task is done, by somebody who knows; None where nobody has said it."""

    def chosen(self, split: str, tasks: Sequence[str] | None, domains: Sequence[str] | None) -> list[str]:
        """The ids of a split, or those among them that are asked for."""

    def task(self, task_id: str) -> DesktopTask:
        """One of them."""

    def fetch(self, address: str) -> Path:
        """The file behind an address that a task names."""


class OwnTasks:
    """Our own tasks; their files are made when they are needed, and kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_folder()
        self.plan: MadePlan | None = _plan_of_own

    def chosen(self, split: str, tasks: Sequence[str] | None, domains: Sequence[str] | None) -> list[str]:
        ids = list(own_tasks(split))
        if tasks is not None:
            names = {task_id.split("/")[1] for task_id in ids}
            for name in tasks:
                if name not in names and name not in ids:
                    raise UnknownName.of("task or template of our own desktop tasks", name, [*sorted(names), *ids])
            ids = [each for each in ids if each in tasks or each.split("/")[1] in tasks]
        return [each for each in ids if not domains or templates()[each.split("/")[1]].domain in domains]

    def task(self, task_id: str) -> DesktopTask:
        return make_task(task_id, self._folder)

    def fetch(self, address: str) -> Path:
        raise PreparationError(f"Our own tasks fetch nothing from the network, and {address!r:.200} was asked for.")


class BenchmarkTasks:
    """The benchmark's tasks, as `eapo-gym data osworld` brings them."""

    plan: MadePlan | None = None

    def __init__(self) -> None:
        self._tasks = OfficialTasks(metrics=known_metrics(), getters=known_getters())
        self._files = FileCache(data_folder() / FILES)

    def chosen(self, split: str, tasks: Sequence[str] | None, domains: Sequence[str] | None) -> list[str]:
        ids = list(self._tasks.split(split))
        for name in tasks or ():
            if name not in self._tasks.ids:
                raise UnknownName.of("task", name, self._tasks.ids)
        return [
            each
            for each in ids
            if (tasks is None or each in tasks) and (not domains or each.partition("/")[0] in domains)
        ]

    def task(self, task_id: str) -> DesktopTask:
        return self._tasks.task(task_id)

    def fetch(self, address: str) -> Path:
        return self._files.path(address)


def task_source(source: str) -> TaskSource:
    return OwnTasks() if source == "embedded" else BenchmarkTasks()


def _plan_of_own(task_id: str, see: Callable[[], Sequence[Element]]) -> Plan:
    return template_of(task_id).play("solve", Seeing(see), made(task_id).params)


__all__ = ["SOURCES", "BenchmarkTasks", "OwnTasks", "TaskSource", "task_source"]
