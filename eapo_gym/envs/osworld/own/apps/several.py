"""Tasks that need more than one app, and tasks that cannot be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.apps.calc import DATA, put, to_cell
from eapo_gym.envs.osworld.own.apps.files import LISTS, SETTINGS
from eapo_gym.envs.osworld.own.apps.office import save, save_as
from eapo_gym.envs.osworld.own.base import (
    DOCUMENTS,
    PICTURES,
    Params,
    Step,
    TaskDice,
    Template,
    launched,
    opened,
    shown,
)
from eapo_gym.envs.osworld.own.checks import all_of, beside, check, on_machine, output, rule, writes
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.books import csv, workbook
from eapo_gym.envs.osworld.own.making.papers import document
from eapo_gym.envs.osworld.own.making.pictures import jpeg, scene
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing
from eapo_gym.envs.osworld.tasks import INFEASIBLE


class SeveralTask(Template):
    domain: ClassVar[str] = "multi_apps"

    def goods(self, dice: TaskDice) -> list[list[Any]]:
        return [[product, dice.between(1, 90), dice.between(3, 400)] for product in dice.some(words.PRODUCTS, 6)]


class TotalToNote(SeveralTask):
    apps = ("libreoffice_calc", "os")
    wordings = (
        "What do the amounts in the spreadsheet {sheet}.xlsx (in Documents) add up to? Write only the number into the "
        "text file {note}, and save it.",
        "Put the sum of the column Amount of {sheet}.xlsx into the file {note}, which is to hold nothing else.",
        "The text file {note} should hold the total of all amounts in {sheet}.xlsx (Documents), as a bare number.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        sheet = f"{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}"
        return {"sheet": sheet, "note": f"{DOCUMENTS}/{dice.own(words.NOUNS)}.txt", "goods": self.goods(dice)}

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        rows = [["Product", "Amount", "Price"], *params["goods"]]
        return {f"{DOCUMENTS}/{params['sheet']}.xlsx": workbook({"Stock": rows}), params["note"]: b""}

    def start(self, params: Params) -> Sequence[Step]:
        sheet = f"{DOCUMENTS}/{params['sheet']}.xlsx"
        return [opened(sheet), *shown(params["sheet"]), *launched("Mousepad", "mousepad", params["note"])]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        total = sum(row[1] for row in params["goods"])
        found = output("bash", "-c", f"tr -d ' \\n' < '{params['note']}'")
        return check("exact_match", found, rule(expected=str(total)))

    def _write(self, hands: Seeing, number: int) -> Plan:
        yield from hands.refill(str(number))
        yield hands.press("ctrl", "s")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._write(hands, sum(row[1] for row in params["goods"]))

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._write(hands, sum(row[2] for row in params["goods"]))


class NoteToSheet(SeveralTask):
    apps = ("libreoffice_calc", "os")
    wordings = (
        "The text file {note} holds new amounts. Enter them into the column Amount of the spreadsheet, and save it.",
        "Correct the amounts in the spreadsheet {sheet}.xlsx by what the note {note} says, then save the spreadsheet.",
        "In {note} there are amounts for some products. Write them into the table {sheet}.xlsx and save it.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        goods = self.goods(dice)
        changes = [[line, dice.between(100, 999)] for line in dice.sample(range(len(goods)), 2)]
        sheet = f"{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}"
        note = f"{DOCUMENTS}/{dice.own(words.NOUNS)}.txt"
        return {"sheet": sheet, "note": note, "goods": goods, "changes": changes}

    def place(self, params: Params) -> str:
        return f"{DOCUMENTS}/{params['sheet']}.xlsx"

    def _rows(self, goods: Sequence[Sequence[Any]]) -> list[list[Any]]:
        return [["Product", "Amount", "Price"], *map(list, goods)]

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        lines = [f"{params['goods'][line][0]}: {amount}\n" for line, amount in params["changes"]]
        return {
            self.place(params): workbook({"Stock": self._rows(params["goods"])}),
            params["note"]: "".join(lines).encode(),
        }

    def expected(self, params: Params) -> Mapping[str, bytes]:
        rows = self._rows(params["goods"])
        for line, amount in params["changes"]:
            rows[line + 1][1] = amount
        return {"gold.xlsx": workbook({"Stock": rows})}

    def start(self, params: Params) -> Sequence[Step]:
        return [*launched("Mousepad", "mousepad", params["note"]), opened(self.place(params)), *shown(params["sheet"])]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("compare_table", on_machine(self.place(params)), beside("gold.xlsx"), {"rules": [DATA]})

    def _enter(self, hands: Seeing, changes: Sequence[Sequence[int]]) -> Plan:
        for line, amount in changes:
            yield from put(hands, f"B{line + 2}", str(amount))
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._enter(hands, params["changes"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._enter(hands, params["changes"][:1])


class CsvToWorkbook(SeveralTask):
    apps = ("libreoffice_calc", "os")
    wordings = (
        "Make an Excel workbook of {source} and save it as {target}. Its columns are separated by commas.",
        "Open {source} in LibreOffice Calc, and save it in the format of Excel (.xlsx) as {target}.",
        "I need the data of {source} as a spreadsheet {target}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        source, target = dice.some(words.NOUNS, 2)
        return {
            "source": f"{DOCUMENTS}/{source}.csv", "target": f"{DOCUMENTS}/{target}.xlsx", "goods": self.goods(dice),
        }  # fmt: skip

    def _rows(self, params: Params) -> list[list[Any]]:
        return [["Product", "Amount", "Price"], *params["goods"]]

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {params["source"]: csv(self._rows(params)), SETTINGS: LISTS}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.xlsx": workbook({"Stock": self._rows(params)})}

    def start(self, params: Params) -> Sequence[Step]:
        return launched("Documents", "pcmanfm", DOCUMENTS)

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("compare_table", on_machine(params["target"]), beside("gold.xlsx"), {"rules": [DATA]})

    def _convert(self, hands: Seeing, params: Params, target: str) -> Plan:
        name = params["source"].rsplit("/", 1)[-1]
        yield from hands.until(name)
        yield hands.click(name, how="double_click")
        yield from hands.tap("OK", "push-button")
        yield from hands.until("Data", "menu")
        yield from save_as(hands, target)
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._convert(hands, params, params["target"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._convert(hands, params, params["target"].replace(".xlsx", ".ods"))


class PictureIntoDocument(SeveralTask):
    apps = ("libreoffice_writer", "os")
    wordings = (
        "Insert the picture {picture} at the end of the open document, and save the document.",
        "The document should show {picture} after its last paragraph. Put it in and save.",
        "Add the image {picture} below the text, then save the file.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        first, second = dice.some(words.NOUNS, 2)
        colors = [list(words.COLORS[name]) for name in dice.sample(list(words.COLORS), 4)]
        return {
            "file": f"{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}", "picture": f"{PICTURES}/{first}.jpg",
            "other": f"{PICTURES}/{second}.jpg", "colors": colors, "lines": dice.sample(words.SENTENCES, 3),
        }  # fmt: skip

    def place(self, params: Params) -> str:
        return f"{DOCUMENTS}/{params['file']}.docx"

    def _picture(self, params: Params, turned: int = 0) -> bytes:
        colors = [tuple(color) for color in params["colors"]]
        return jpeg(scene(320, 200, [*colors[turned:], *colors[:turned]]))

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {
            self.place(params): document(params["lines"]),
            params["picture"]: self._picture(params),
            params["other"]: self._picture(params, 1),
        }

    def expected(self, params: Params) -> Mapping[str, bytes]:
        from io import BytesIO

        def insert(made: Any) -> None:
            made.add_picture(BytesIO(self._picture(params)))

        return {"gold.docx": document(params["lines"], insert)}

    def start(self, params: Params) -> Sequence[Step]:
        return [opened(self.place(params)), *shown(params["file"])]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        text = check("compare_docx_files", on_machine(self.place(params)), beside("gold.docx"), {"ignore_blanks": True})
        return all_of(check("compare_docx_images", on_machine(self.place(params)), beside("gold.docx")), text)

    def _insert(self, hands: Seeing, picture: str) -> Plan:
        yield hands.press("ctrl", "end")
        yield hands.press("enter")
        yield from hands.menu("Insert", "/Image\\.\\.\\./")
        yield from hands.until("Cancel", "push-button")
        yield hands.press("ctrl", "l")
        yield from hands.refill(picture)
        yield hands.press("enter")
        yield hands.wait()
        yield hands.press("esc")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._insert(hands, params["picture"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._insert(hands, params["other"])


def to_export(hands: Seeing) -> Plan:
    """Open the dialog that asks where the PDF is to be."""
    yield from hands.menu("File", "Export As", "Export Directly as PDF")
    yield from hands.until("Create Folder", "toggle-button")


class DocumentToFolder(SeveralTask):
    apps = ("libreoffice_writer", "os")
    wordings = (
        "Export the open document as the PDF {pdf} into a new folder {folder} in Documents (make it first).",
        "Make a new folder {folder} in Documents and put a PDF of the open document into it: {pdf}.",
        "I want to find the open document as {pdf} in a new folder Documents/{folder}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {
            "file": f"{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}", "folder": dice.own(words.FOLDERS),
            "pdf": f"{dice.own(words.NOUNS)}.pdf", "lines": dice.sample(words.SENTENCES, 5),
        }  # fmt: skip

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {f"{DOCUMENTS}/{params['file']}.docx": document(params["lines"])}

    def start(self, params: Params) -> Sequence[Step]:
        place = f"{DOCUMENTS}/{params['file']}.docx"
        return [*launched("Documents", "pcmanfm", DOCUMENTS), opened(place), *shown(params["file"])]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return writes(["head", "-c", "5", f"{DOCUMENTS}/{params['folder']}/{params['pdf']}"], "%PDF-")

    def solve(self, hands: Seeing, params: Params) -> Plan:
        """The dialog for the file can make folders, too; it then is in the new one."""
        yield from to_export(hands)
        yield from hands.tap("Create Folder", "toggle-button")
        yield from hands.until("Create", "push-button")
        yield hands.write(params["folder"])
        yield from hands.tap("Create", "push-button")
        yield hands.wait()
        yield from hands.tap("/.*/", "entry")
        yield from hands.name_file(params["pdf"])
        yield hands.wait()
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Into Documents itself."""
        yield from to_export(hands)
        yield from hands.name_file(f"{DOCUMENTS}/{params['pdf']}")
        yield hands.wait()
        yield hands.done()


class CannotBeDone(SeveralTask):
    """What is asked for does not exist; the right thing is to say so."""

    apps = ("libreoffice_calc",)
    wishes: ClassVar[tuple[str, ...]] = (
        "make the cell {cell} round instead of rectangular",
        "lock the cell {cell} with the fingerprint reader",
        "turn the whole sheet by 30 degrees on the screen",
        "start a video call about the cell {cell}",
        "keep the cell {cell} in step with my smart watch",
        "send the sheet as a fax from the menu Sheet",
        "show the sheet as the live wallpaper of the desktop",
        "measure the temperature into the cell {cell} every minute",
        "give the cell {cell} a ringtone",
        "fold the sheet along the row {row} like a sheet of paper",
    )
    wordings = (
        "In the open spreadsheet, use LibreOffice Calc to {wish}. Save the file then.",
        "Please {wish} in LibreOffice Calc, and save the spreadsheet.",
        "I would like Calc to {wish}; save the file when that is done.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        sheet = f"{dice.own(words.CITIES).lower()}_{dice.between(10, 99)}"
        wish = dice.own(self.wishes).format(cell=f"{dice.pick('ABC')}{dice.between(2, 7)}", row=dice.between(2, 7))
        return {"sheet": sheet, "goods": self.goods(dice), "wish": wish}

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {f"{DOCUMENTS}/{params['sheet']}.xlsx": workbook({"Stock": params["goods"]})}

    def start(self, params: Params) -> Sequence[Step]:
        return [opened(f"{DOCUMENTS}/{params['sheet']}.xlsx"), *shown(params["sheet"])]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return {"func": INFEASIBLE, "result": {}, "expected": {}}

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from hands.until("Sheet", "menu")
        yield hands.give_up()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from to_cell(hands, "A1")
        yield hands.done()


TEMPLATES = (TotalToNote, NoteToSheet, CsvToWorkbook, PictureIntoDocument, DocumentToFolder, CannotBeDone)
