"""Tasks about files and folders, in the file manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.base import DOCUMENTS, HOME, Params, Step, TaskDice, Template, launched
from eapo_gym.envs.osworld.own.checks import listed, writes
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

SETTINGS = f"{HOME}/.config/pcmanfm/default/pcmanfm.conf"
LISTS = b"[ui]\nview_mode=list\n"
"""The file manager is told to show lists: accessibility knows nothing of its icons."""


class FilesTask(Template):
    """Begins with the file manager in the folder Documents, in which are two folders and some text files."""

    domain: ClassVar[str] = "os"
    apps: ClassVar[tuple[str, ...]] = ("os",)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        first, second = dice.some(words.FOLDERS, 2)
        names = [f"{noun}_{dice.between(10, 99)}.txt" for noun in dice.some(words.NOUNS, 4)]
        return {"first": first, "second": second, "names": names, "text": dice.pick(words.SENTENCES)}

    def places(self, params: Params) -> list[str]:
        """The files below Documents."""
        return [
            *params["names"], f"{params['first']}/readme.txt", f"{params['second']}/readme.txt",
        ]  # fmt: skip

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        texts = {place: f"{params['text']}\nNumber {number}.\n" for number, place in enumerate(self.places(params))}
        files = {f"{DOCUMENTS}/{place}": text.encode() for place, text in texts.items()}
        return {**files, SETTINGS: LISTS}

    def start(self, params: Params) -> Sequence[Step]:
        return launched("Documents", "pcmanfm", DOCUMENTS)

    def wanted(self, params: Params) -> Sequence[str]:
        """The files that there are to be below Documents."""
        return self.places(params)

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return writes(listed(DOCUMENTS), "".join(f"./{place}\n" for place in sorted(self.wanted(params))))


def choose(hands: Seeing, name: str) -> Plan:
    """Select a file in the view."""
    yield from hands.tap(name, "/icon|list-item|table-cell|label/")


def name_it(hands: Seeing, name: str) -> Plan:
    """Answer the dialog that asks for a name."""
    yield from hands.until("OK", "push-button")
    yield from hands.refill(name)
    yield hands.press("enter")
    yield hands.wait()


def into_folder(hands: Seeing, folder: str) -> Plan:
    yield hands.press("ctrl", "l")
    yield hands.press("ctrl", "a")
    yield hands.write(f"{DOCUMENTS}/{folder}\n")
    yield hands.wait()


class FilesRename(FilesTask):
    wordings = (
        "Rename the file {old} in Documents to {new}.",
        "The file {old} should be called {new}. Change its name in the file manager.",
        "Give {old} (in the folder Documents) the new name {new}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        return params | {
            "old": params["names"][0],
            "new": f"{dice.own(words.CITIES).lower()}_{dice.between(100, 999)}.txt",
        }

    def wanted(self, params: Params) -> Sequence[str]:
        return [params["new"] if place == params["old"] else place for place in self.places(params)]

    def _rename(self, hands: Seeing, name: str, new: str) -> Plan:
        yield from choose(hands, name)
        yield hands.press("f2")
        yield from name_it(hands, new)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._rename(hands, params["old"], params["new"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._rename(hands, params["old"], params["new"].replace(".txt", ""))


class FilesNewFolder(FilesTask):
    wordings = (
        "Create an empty folder called {new} in Documents.",
        "Make a new folder {new} in the folder that is open.",
        "In Documents there should be a folder with the name {new}. Create it.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"new": f"{dice.own(words.CITIES)}{dice.between(100, 999)}"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        folders = sorted(("first", "second", "new"), key=lambda name: str(params[name]))
        command = f"cd '{DOCUMENTS}' && find . -mindepth 1 -type d | LC_ALL=C sort"
        return writes(["bash", "-c", command], "".join(f"./{params[name]}\n" for name in folders))

    def _create(self, hands: Seeing, name: str) -> Plan:
        yield hands.press("ctrl", "shift", "n")
        yield from name_it(hands, name)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["new"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["new"].lower())


class FilesMove(FilesTask):
    wordings = (
        "Move the file {old} into the folder {second}.",
        "{old} belongs into the folder {second} (both are in Documents). Put it there; no copy stays behind.",
        "Cut {old} out of Documents and paste it into its folder {second}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        return params | {"old": params["names"][1]}

    def wanted(self, params: Params) -> Sequence[str]:
        return [f"{params['second']}/{place}" if place == params["old"] else place for place in self.places(params)]

    def _move(self, hands: Seeing, name: str, folder: str, key: str) -> Plan:
        yield from choose(hands, name)
        yield hands.press("ctrl", key)
        yield from into_folder(hands, folder)
        yield hands.press("ctrl", "v")
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params["old"], params["second"], "x")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params["old"], params["second"], "c")


class FilesCopy(FilesMove):
    wordings = (
        "Put a copy of the file {old} into the folder {second}.",
        "Copy {old} into the folder {second}; the original stays in Documents.",
        "{old} is needed in the folder {second}, too. Copy it there.",
    )

    def wanted(self, params: Params) -> Sequence[str]:
        return [*self.places(params), f"{params['second']}/{params['old']}"]

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params["old"], params["second"], "c")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params["old"], params["first"], "c")


class FilesDelete(FilesTask):
    wordings = (
        "Delete the file {old} from Documents.",
        "{old} is not needed any more. Throw it away.",
        "Remove the file {old} that is in the folder Documents, and nothing else.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        return params | {"old": params["names"][2]}

    def wanted(self, params: Params) -> Sequence[str]:
        return [place for place in self.places(params) if place != params["old"]]

    def _delete(self, hands: Seeing, name: str) -> Plan:
        yield from choose(hands, name)
        yield hands.press("delete")
        yield from hands.if_there("Yes", "push-button", waits=3)
        yield hands.wait()
        yield from hands.if_there("Yes", "push-button", waits=1)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["old"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["names"][3])


class FilesUnhide(FilesTask):
    wordings = (
        "There is a hidden file in Documents. Rename it so that it is not hidden any more (only the dot goes).",
        "Make the hidden file in Documents visible for good: take away the dot at the beginning of its name.",
        "One file in the folder Documents is hidden. Find it, and rename it to the same name without the leading dot.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"hidden": f"{dice.own(words.CITIES).lower()}_{dice.between(100, 999)}.txt"}

    def places(self, params: Params) -> list[str]:
        return [*super().places(params), f".{params['hidden']}"]

    def wanted(self, params: Params) -> Sequence[str]:
        return [*super().places(params), params["hidden"]]

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "h")
        yield from choose(hands, f".{params['hidden']}")
        yield hands.press("f2")
        yield from name_it(hands, params["hidden"])
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Hidden files are shown, but this one is still hidden."""
        yield hands.press("ctrl", "h")
        yield hands.done()


TEMPLATES = (FilesRename, FilesNewFolder, FilesMove, FilesCopy, FilesDelete, FilesUnhide)
