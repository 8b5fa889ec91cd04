"""What the tasks of the three office apps have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from eapo_gym.envs.osworld.own.base import DOCUMENTS, HOME, Params, Step, Template, opened, shown, step
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

SETTINGS = f"{HOME}/.config/libreoffice/4/user/registrymodifications.xcu"
WRITTEN: tuple[Step, ...] = (step("execute", command=["sleep", "2"]),)
"""The office apps write their settings a second after they were changed."""

KEEP = "/Use (?!ODF).*Format!?/"
"""What the office apps ask when a file is saved that is not in a format of their own."""


class OfficeTask(Template):
    """Begins with a file that is open; `params["file"]` is its name."""

    ending: ClassVar[str]

    def place(self, params: Params) -> str:
        return f"{DOCUMENTS}/{params['file']}.{self.ending}"

    @abstractmethod
    def content(self, params: Params) -> bytes:
        """The file."""

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {self.place(params): self.content(params)}

    def start(self, params: Params) -> Sequence[Step]:
        return [opened(self.place(params)), *shown(f"{params['file']}.{self.ending}")]


def save(hands: Seeing) -> Plan:
    """Save the file in the format that it has."""
    yield hands.press("ctrl", "s")
    yield from hands.if_there(KEEP, "push-button", waits=3)


def save_as(hands: Seeing, place: str) -> Plan:
    """Save the file under another name, in the format that the name's ending says."""
    yield hands.press("ctrl", "shift", "s")
    yield from hands.name_file(place)
    yield from hands.if_there(KEEP, "push-button", waits=3)


def options(hands: Seeing, group: str, page: str) -> Plan:
    """Open a page of the preferences: the groups are closed, all but the first, and pages have the same names."""
    yield hands.press("alt", "f12")
    yield from hands.until(group, "table-cell")
    yield hands.click(group, "table-cell", how="double_click")
    for _ in range(4):
        rows = [each.name for each in hands.all("/.+/", "table-cell")]
        if page in rows[rows.index(group) :]:
            break
        yield hands.wait()
    number = rows[: rows.index(group)].count(page)
    yield hands.click(page, "table-cell", number)
    yield hands.wait()
