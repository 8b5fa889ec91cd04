"""Tasks in a terminal and in a text editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.base import DOCUMENTS, Params, Step, TaskDice, Template, launched
from eapo_gym.envs.osworld.own.checks import beside, check, includes, on_machine, output, rule, writes
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

LEVELS = ("INFO", "WARNING", "ERROR", "DEBUG")


class TerminalTask(Template):
    """Begins with a terminal in the home directory; there is a log in Documents, and a folder with scripts."""

    ready = ("/.*/", "")

    domain: ClassVar[str] = "os"
    apps: ClassVar[tuple[str, ...]] = ("os",)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        log = [
            f"2024-{dice.between(1, 12):02}-{dice.between(1, 28):02} {dice.pick(LEVELS)} "
            f"{dice.own(words.NOUNS)} {dice.between(100, 999)}"
            for _ in range(dice.between(30, 60))
        ]
        return {
            "log": log, "name": f"{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}",
            "folder": dice.own(words.FOLDERS), "scripts": [f"{noun}.sh" for noun in dice.some(words.NOUNS, 3)],
            "documents": DOCUMENTS,
        }  # fmt: skip

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        scripts = {
            f"{DOCUMENTS}/{params['folder']}/{name}": f"#!/bin/sh\necho {name}\n".encode() for name in params["scripts"]
        }
        return {f"{DOCUMENTS}/{params['name']}.log": "".join(f"{line}\n" for line in params["log"]).encode(), **scripts}

    def start(self, params: Params) -> Sequence[Step]:
        return launched("user@", "xterm", "-T", "user@desktop")


def command(hands: Seeing, text: str) -> Plan:
    yield hands.write(f"{text}\n")
    yield hands.wait()


class TerminalCount(TerminalTask):
    wordings = (
        "How many lines of {documents}/{name}.log have the level {level}? Write only that number into {target}.",
        "Count the lines with {level} in {documents}/{name}.log. The count, and nothing else, goes into {target}.",
        "Write the number of {level} lines of the log {documents}/{name}.log to {target}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"level": dice.pick(LEVELS), "target": f"{DOCUMENTS}/{dice.own(words.NOUNS)}.txt"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        count = sum(f" {params['level']} " in line for line in params["log"])
        return check(
            "exact_match", output("bash", "-c", f"tr -d ' \\n' < '{params['target']}'"), rule(expected=str(count))
        )

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from command(hands, f"grep -c ' {params['level']} ' Documents/{params['name']}.log > {params['target']}")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """All lines are counted."""
        yield from command(hands, f"wc -l < Documents/{params['name']}.log > {params['target']}")
        yield hands.done()


class TerminalExtract(TerminalTask):
    wordings = (
        "Write all lines of {documents}/{name}.log with the level {level} into {target}, sorted by their text.",
        "Take the {level} lines out of {documents}/{name}.log, sort them, and save them as {target}.",
        "{target} should hold the sorted {level} lines of the log {documents}/{name}.log.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"level": dice.pick(LEVELS), "target": f"{DOCUMENTS}/{dice.own(words.NOUNS)}.txt"}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        lines = sorted(line for line in params["log"] if f" {params['level']} " in line)
        return {"gold.txt": "".join(f"{line}\n" for line in lines).encode()}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("compare_text_file", on_machine(params["target"]), beside("gold.txt"))

    def solve(self, hands: Seeing, params: Params) -> Plan:
        source = f"Documents/{params['name']}.log"
        yield from command(hands, f"grep ' {params['level']} ' {source} | LC_ALL=C sort > {params['target']}")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Sorted, but all levels."""
        yield from command(hands, f"LC_ALL=C sort Documents/{params['name']}.log > {params['target']}")
        yield hands.done()


class TerminalPermissions(TerminalTask):
    wordings = (
        "Set the permissions of all .sh files in {documents}/{folder} to {mode} (octal).",
        "Every script (.sh) in {documents}/{folder} should have exactly the permissions {mode}. Change them.",
        "Change the mode of the shell scripts in {documents}/{folder} to {mode}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"mode": dice.pick(("700", "750", "755", "500", "711"))}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        modes = f"{params['mode']}\n" * len(params["scripts"])
        return writes(["bash", "-c", f"stat -c %a '{DOCUMENTS}/{params['folder']}'/*.sh"], modes)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from command(hands, f"chmod {params['mode']} Documents/{params['folder']}/*.sh")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from command(hands, f"chmod {params['mode']} Documents/{params['folder']}/{params['scripts'][0]}")
        yield hands.done()


class TerminalArchive(TerminalTask):
    wordings = (
        "Pack the folder {folder} in Documents into the archive {target} (tar, compressed with gzip).",
        "Make a .tar.gz of {documents}/{folder}: {target}. Its entries begin with {folder}/.",
        "I need the folder {folder} (in Documents) as a gzipped tar archive at {target}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"target": f"{DOCUMENTS}/{dice.own(words.NOUNS)}.tar.gz"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        names = [f"{params['folder']}/{name}\n" for name in params["scripts"]]
        listing = f"gzip -t '{params['target']}' && tar tzf '{params['target']}'"
        return includes(["bash", "-c", listing], names, ["home/user"])

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from command(hands, f"tar czf {params['target']} -C Documents {params['folder']}")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Without the z nothing is compressed, whatever the name says."""
        yield from command(hands, f"tar cf {params['target']} -C Documents {params['folder']}")
        yield hands.done()


class EditorTask(Template):
    """Begins with a text file that is open in the editor: a list, one thing in a line."""

    domain: ClassVar[str] = "os"
    apps: ClassVar[tuple[str, ...]] = ("os",)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        products = dice.some(words.PRODUCTS, dice.between(6, 10))
        lines = [f"{dice.between(1, 20)} x {product}" for product in products]
        return {"name": f"{dice.own(words.NOUNS)}_{dice.between(10, 99)}", "lines": lines, "documents": DOCUMENTS}

    def place(self, params: Params) -> str:
        return f"{DOCUMENTS}/{params['name']}.txt"

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {self.place(params): self.text(params["lines"])}

    def start(self, params: Params) -> Sequence[Step]:
        return launched("Mousepad", "mousepad", self.place(params))

    def wanted(self, params: Params) -> list[str]:
        """The lines as they are to be."""
        raise NotImplementedError

    @staticmethod
    def text(lines: Sequence[str]) -> bytes:
        return "".join(f"{line}\n" for line in lines).encode()

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.txt": self.text(self.wanted(params))}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("compare_text_file", on_machine(self.place(params)), beside("gold.txt"), {"ignore_blanks": True})


class EditorAddLine(EditorTask):
    wordings = (
        'Add the line "{new}" at the end of the list that is open in the editor, and save the file.',
        'The list lacks an entry: put "{new}" into a new last line and save.',
        'Append "{new}" as the last line of the open text, then save the file.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"new": f"{dice.between(21, 40)} x {dice.own(words.NOUNS)}"}

    def wanted(self, params: Params) -> list[str]:
        return [*params["lines"], params["new"]]

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "end")
        yield hands.write(f"{params['new']}\n")
        yield hands.press("ctrl", "s")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Into the first line, since the caret is there."""
        yield hands.write(f"{params['new']}\n")
        yield hands.press("ctrl", "s")
        yield hands.done()


class EditorReplace(EditorTask):
    wordings = (
        'Replace every " x " in the open text by " {sign} ", and save the file.',
        'The list should read like "3 {sign} Printer" instead of "3 x Printer". Change all lines and save.',
        "Between amount and thing stands an x; it should be {sign} everywhere. Replace it in the editor and save.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"sign": dice.pick(("times", "of", "*", "pieces:"))}

    def wanted(self, params: Params) -> list[str]:
        return [line.replace(" x ", f" {params['sign']} ", 1) for line in params["lines"]]

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "r")
        yield from hands.until("/Replace( All)?/", "push-button")
        yield from hands.refill(" x ")
        yield from hands.tap_beside("Replace with:", "entry")
        yield from hands.refill(f" {params['sign']} ")
        yield from hands.tap("/Replace all in:?/", "check-box")
        yield from hands.tap("/Replace( All)?/", "push-button")
        yield from hands.tap("Close", "push-button")
        yield hands.press("ctrl", "s")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The first line only, by hand."""
        yield hands.press("ctrl", "home")
        yield hands.press("shift", "end")
        yield hands.write(self.wanted(params)[0])
        yield hands.press("ctrl", "s")
        yield hands.done()


class EditorSaveCopy(EditorTask):
    wordings = (
        "Save the open text under a second name, {target}; the old file stays as it is.",
        "Make a copy of the open text with Save As: {target}.",
        "I want to have this list as {target}, too. Save it there.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {
            "target": f"{DOCUMENTS}/{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}.txt"
        }

    def wanted(self, params: Params) -> list[str]:
        return list(params["lines"])

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("compare_text_file", on_machine(params["target"]), beside("gold.txt"))

    def _save(self, hands: Seeing, place: str) -> Plan:
        yield hands.press("ctrl", "shift", "s")
        yield from hands.name_file(place)
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._save(hands, params["target"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._save(hands, params["target"].replace(".txt", ""))


class EditorDeleteLine(EditorTask):
    wordings = (
        'Delete the line "{old}" from the open list, leave no empty line there, and save the file.',
        'We have enough of one thing: take the line "{old}" out of the text and save it.',
        'Remove "{old}" from the list in the editor, with its line. Then save.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        number = dice.between(1, len(params["lines"]) - 2)
        return params | {"number": number, "old": params["lines"][number]}

    def wanted(self, params: Params) -> list[str]:
        return [line for number, line in enumerate(params["lines"]) if number != params["number"]]

    def _delete(self, hands: Seeing, number: int) -> Plan:
        yield hands.press("ctrl", "home")
        for _ in range(number):
            yield hands.press("down")
        yield hands.press("shift", "down")
        yield hands.press("delete")
        yield hands.press("ctrl", "s")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["number"] + 1)


TEMPLATES = (
    TerminalCount, TerminalExtract, TerminalPermissions, TerminalArchive, EditorAddLine, EditorReplace, EditorSaveCopy,
    EditorDeleteLine,
)  # fmt: skip
