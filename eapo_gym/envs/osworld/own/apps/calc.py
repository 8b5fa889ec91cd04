"""Tasks about spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.apps.office import OfficeTask, save, save_as
from eapo_gym.envs.osworld.own.base import DOCUMENTS, Params, TaskDice
from eapo_gym.envs.osworld.own.checks import all_of, beside, check, on_machine
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.books import Rows, csv, workbook
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

Row = list[Any]


class CalcTask(OfficeTask):
    """Begins with a book whose first sheet is a list of goods: product, city, amount, price."""

    domain: ClassVar[str] = "libreoffice_calc"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice_calc",)
    ending: ClassVar[str] = "xlsx"
    heads: ClassVar[tuple[str, ...]] = ("Product", "City", "Amount", "Price")

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        cities = dice.some(words.CITIES, 4)
        goods = [
            [product, dice.pick(cities), dice.between(1, 90), dice.between(3, 400)]
            for product in dice.some(words.PRODUCTS, dice.between(6, 12))
        ]
        file = f"{dice.own(words.FOLDERS).lower()}_{dice.between(2015, 2024)}"
        sheet = dice.own(words.MONTHS)
        return {"file": file, "sheet": sheet, "goods": goods, "last": len(goods) + 1}

    def rows(self, params: Params) -> Rows:
        return [list(self.heads), *params["goods"]]

    def content(self, params: Params) -> bytes:
        return workbook({params["sheet"]: self.rows(params)})

    def compared(self, params: Params, *rules: Mapping[str, Any], gold: bool = True) -> dict[str, Any]:
        """The check that holds the book against rules, and against the expected one."""
        expected = beside("gold.xlsx") if gold else None
        return check("compare_table", on_machine(self.place(params)), expected, {"rules": list(rules)})


DATA = {"type": "sheet_data", "sheet_idx0": "RI0", "sheet_idx1": "EI0"}


def to_cell(hands: Seeing, cell: str) -> Plan:
    """Go to a cell, or select a range, by the box with its name."""
    yield hands.press("ctrl", "shift", "t")
    yield hands.write(f"{cell}\n")


def put(hands: Seeing, cell: str, text: str) -> Plan:
    yield from to_cell(hands, cell)
    yield hands.write(f"{text}\n")


class CalcTotal(CalcTask):
    wordings = (
        "Put the sum of all values of the column {head} into the cell {cell} of the spreadsheet, and save the file.",
        "I need the total of {head} in {cell}. Please compute it and save the spreadsheet in its present format.",
        "Add up everything under the heading {head}; the result belongs into the empty cell {cell}. Save when done.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        letter = dice.pick("CD")
        return params | {
            "letter": letter,
            "head": self.heads["ABCD".index(letter)],
            "cell": f"{letter}{params['last'] + 2}",
        }

    def total(self, params: Params) -> int:
        return sum(row["ABCD".index(params["letter"])] for row in params["goods"])

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        value = {"value": {"method": "approx:0.001", "ref": self.total(params)}}
        cell = {"type": "check_cell", "sheet_idx": 0, "coordinate": params["cell"], "props": value}
        return self.compared(params, cell, gold=False)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        letter = params["letter"]
        yield from put(hands, params["cell"], f"=SUM({letter}2:{letter}{params['last']})")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        letter = params["letter"]
        yield from put(hands, params["cell"], f"=SUM({letter}3:{letter}{params['last']})")
        yield from save(hands)
        yield hands.done()


class CalcAverage(CalcTask):
    wordings = (
        "What is the average {head}? Write it with a formula into the cell {cell} and save the spreadsheet.",
        "Compute the mean of the column {head} in the cell {cell}, then save the file.",
        "Into {cell}, please, the average of all numbers in the column {head}. Save the file afterwards.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        letter = dice.pick("CD")
        cell = f"F{dice.between(2, 6)}"
        return params | {"letter": letter, "head": self.heads["ABCD".index(letter)], "cell": cell}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        values = [row["ABCD".index(params["letter"])] for row in params["goods"]]
        value = {"value": {"method": "approx:0.01", "ref": sum(values) / len(values)}}
        cell = {"type": "check_cell", "sheet_idx": 0, "coordinate": params["cell"], "props": value}
        return self.compared(params, cell, gold=False)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        letter = params["letter"]
        yield from put(hands, params["cell"], f"=AVERAGE({letter}2:{letter}{params['last']})")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Everything is right, but nothing was saved."""
        letter = params["letter"]
        yield from put(hands, params["cell"], f"=AVERAGE({letter}2:{letter}{params['last']})")
        yield hands.done()


class CalcSort(CalcTask):
    wordings = (
        "Sort the rows of the table by {head}, {order}, keep the headings at the top, and save the file.",
        "The list should be ordered by the column {head} ({order}). Sort whole rows, then save.",
        "Please bring the table into the order of {head}, {order}, without tearing rows apart. Save the spreadsheet.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        amounts = dice.sample(range(1, 400), 2 * len(params["goods"]))
        for row in params["goods"]:
            row[2], row[3] = amounts.pop(), amounts.pop()
        letter = dice.pick("CD")
        order = dice.pick(("the largest first", "the smallest first"))
        return params | {"letter": letter, "head": self.heads["ABCD".index(letter)], "order": order}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        column = "ABCD".index(params["letter"])
        down = params["order"] == "the largest first"
        rows = sorted(params["goods"], key=lambda row: row[column], reverse=down)
        return {"gold.xlsx": workbook({params["sheet"]: [list(self.heads), *rows]})}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, DATA)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from to_cell(hands, f"{params['letter']}2")
        down = params["order"] == "the largest first"
        yield from hands.menu("Data", "Sort Descending" if down else "Sort Ascending")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from to_cell(hands, f"{params['letter']}2")
        down = params["order"] == "the largest first"
        yield from hands.menu("Data", "Sort Ascending" if down else "Sort Descending")
        yield from save(hands)
        yield hands.done()


class CalcFreeze(CalcTask):
    wordings = (
        "Freeze the first {rows} row(s) and the first {columns} column(s) so that they stay in sight, then save.",
        "When I scroll, the top {rows} row(s) and the {columns} column(s) at the left should stay in place. Save it.",
        "Fix the {rows} uppermost row(s) and {columns} leftmost column(s) against scrolling, and save the spreadsheet.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"rows": dice.between(1, 3), "columns": dice.between(1, 2)}

    def _corner(self, params: Params) -> str:
        return f"{'ABCD'[params['columns']]}{params['rows'] + 1}"

    def expected(self, params: Params) -> Mapping[str, bytes]:
        def freeze(book: Any) -> None:
            book.worksheets[0].freeze_panes = self._corner(params)

        return {"gold.xlsx": workbook({params["sheet"]: self.rows(params)}, freeze)}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, {"type": "freeze", "sheet_idx0": "RI0", "sheet_idx1": "EI0"}, DATA)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from to_cell(hands, self._corner(params))
        yield from hands.menu("View", "Freeze Rows and Columns")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Freezes from the cell that is last to stay, which is one too few."""
        yield from to_cell(hands, f"{'ABCD'[params['columns'] - 1]}{params['rows'] + 1}")
        yield from hands.menu("View", "Freeze Rows and Columns")
        yield from save(hands)
        yield hands.done()


class CalcRenameSheet(CalcTask):
    wordings = (
        'Rename the sheet "{sheet}" to "{new}" and save the file.',
        'The tab "{sheet}" has a wrong name: it should be "{new}". Correct that and save the spreadsheet.',
        'Give the sheet that is called "{sheet}" the name "{new}", and save.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"new": f"{dice.own(words.CITIES)} {dice.between(1, 99)}"}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.xlsx": workbook({params["new"]: self.rows(params)})}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, {"type": "sheet_name"}, DATA)

    def _rename(self, hands: Seeing, name: str) -> Plan:
        yield from hands.menu("Sheet", "Rename Sheet...")
        yield from hands.until("OK", "push-button")
        yield from hands.until_typing()
        yield from hands.refill(name)
        yield hands.press("enter")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._rename(hands, params["new"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._rename(hands, params["new"].split()[0])


class CalcNewSheet(CalcTask):
    wordings = (
        'Add an empty sheet called "{new}" behind the sheet "{sheet}", and save the file.',
        'The spreadsheet needs a second sheet, "{new}", after "{sheet}". Create it and save.',
        'Insert a new last sheet with the name "{new}" and save the spreadsheet.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"new": f"{dice.own(words.FOLDERS)} {dice.between(1, 99)}"}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.xlsx": workbook({params["sheet"]: self.rows(params), params["new"]: []})}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, {"type": "sheet_name"}, DATA)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from hands.menu("Sheet", "Insert Sheet at End...")
        yield from hands.until("OK", "push-button")
        yield from hands.until_typing()
        yield from hands.refill(params["new"])
        yield hands.press("enter")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The name that is offered is taken."""
        yield from hands.menu("Sheet", "Insert Sheet at End...")
        yield from hands.until("OK", "push-button")
        yield hands.press("enter")
        yield from save(hands)
        yield hands.done()


class CalcReplace(CalcTask):
    wordings = (
        'Replace every "{old}" in the spreadsheet by "{new}" and save the file.',
        "The office in {old} has moved to {new}: change the city in all rows, then save.",
        'Wherever the table says "{old}" it must say "{new}". Correct all of them and save the spreadsheet.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        present = {row[1] for row in params["goods"]}
        old = sorted(present)[0]
        # It stands there more than once, so that replacing the first is not enough.
        params["goods"][0][1] = params["goods"][3][1] = params["goods"][5][1] = old
        return params | {
            "old": old,
            "new": dice.pick([city for city in dice.share(words.CITIES) if city not in present]),
        }

    def expected(self, params: Params) -> Mapping[str, bytes]:
        rows = [[params["new"] if cell == params["old"] else cell for cell in row] for row in self.rows(params)]
        return {"gold.xlsx": workbook({params["sheet"]: rows})}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, DATA)

    def _replace(self, hands: Seeing, params: Params, button: str) -> Plan:
        yield from to_cell(hands, "A1")
        yield hands.press("ctrl", "h")
        yield from hands.until("Replace All", "push-button")
        yield hands.write(params["old"])
        yield from hands.tap("Replace With", "entry")
        yield from hands.refill(params["new"])
        yield hands.click(button, "push-button")
        yield hands.wait()
        yield from hands.close_dialogs()
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._replace(hands, params, "Replace All")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from put(hands, "B2", params["new"])
        yield from save(hands)
        yield hands.done()


class CalcExportCsv(CalcTask):
    wordings = (
        "Save a copy of the sheet as comma separated values under {target}, with the usual settings.",
        "Export the open spreadsheet to the file {target} (CSV, separated by commas).",
        "I need the table as a CSV file: {target}. Leave the separators as they are proposed.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        name = f"{dice.own(words.NOUNS)}_{dice.between(10, 99)}"
        return super().draw(dice) | {"target": f"{DOCUMENTS}/{name}.csv"}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.csv": csv(self.rows(params))}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("compare_csv", on_machine(params["target"]), beside("gold.csv"))

    def _export(self, hands: Seeing, place: str) -> Plan:
        yield from save_as(hands, place)
        yield from hands.tap("OK", "push-button")
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._export(hands, params["target"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._export(hands, params["target"].replace(".csv", "_export.csv"))


class CalcDeleteRows(CalcTask):
    wordings = (
        "Delete the rows of all products from {city}, leave no empty rows behind, and save the file.",
        "We do not sell in {city} any more. Remove its rows from the table and save the spreadsheet.",
        "Take out every row whose city is {city}; the rows below move up. Then save.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        city = dice.pick([each for each in dice.share(words.CITIES) if all(row[1] != each for row in params["goods"])])
        for row in dice.sample(params["goods"], 2):
            row[1] = city
        return params | {"city": city}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        rows = [list(self.heads), *(row for row in params["goods"] if row[1] != params["city"])]
        return {"gold.xlsx": workbook({params["sheet"]: rows})}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, DATA)

    def _lines(self, params: Params) -> list[int]:
        return [line for line, row in enumerate(params["goods"], 2) if row[1] == params["city"]]

    def solve(self, hands: Seeing, params: Params) -> Plan:
        for line in reversed(self._lines(params)):
            yield from to_cell(hands, f"A{line}")
            yield from hands.menu("Sheet", "Delete Rows")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """One of them is overlooked."""
        yield from to_cell(hands, f"A{self._lines(params)[0]}")
        yield from hands.menu("Sheet", "Delete Rows")
        yield from save(hands)
        yield hands.done()


class CalcFillFormula(CalcTask):
    wordings = (
        'Add a column "Value" (E) with amount times price of every product, and save the file.',
        'In the column E, headed "Value", compute amount × price for each row. Save the spreadsheet.',
        'What is each product worth? Write amount multiplied by price into E under the heading "Value". Save it.',
    )

    def expected(self, params: Params) -> Mapping[str, bytes]:
        rows = [[*self.heads, "Value"], *([*row, row[2] * row[3]] for row in params["goods"])]
        return {"gold.xlsx": workbook({params["sheet"]: rows})}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.compared(params, DATA)

    def _fill(self, hands: Seeing, params: Params, formula: str) -> Plan:
        yield from put(hands, "E1", "Value")
        yield from put(hands, "E2", formula)
        yield from to_cell(hands, f"E2:E{params['last']}")
        yield hands.press("ctrl", "d")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._fill(hands, params, "=C2*D2")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """With dollars before the row, every row has the first one's value."""
        yield from self._fill(hands, params, "=C$2*D$2")


class CalcBoldHeadings(CalcTask):
    wordings = (
        "Make the headings in the first row bold, leave the rest as it is, and save the file.",
        "Row 1 holds the headings. Print them in bold, and only them; save the spreadsheet.",
        "The column titles should stand out: set them in bold type. Do not touch the data, and save.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        def bold(cell: str, method: str) -> Mapping[str, Any]:
            props = {"font_bold": {"method": method, "ref": True}}
            return {"type": "check_cell", "sheet_idx": 0, "coordinate": cell, "props": props}

        heads = [bold(f"{letter}1", "eq") for letter in "ABCD"]
        return self.compared(params, *heads, bold("A2", "ne"), bold(f"D{params['last']}", "ne"), gold=False)

    def _bold(self, hands: Seeing, cells: str) -> Plan:
        yield from to_cell(hands, cells)
        yield hands.press("ctrl", "b")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._bold(hands, "A1:D1")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._bold(hands, f"A1:D{params['last']}")


class CalcPercent(CalcTask):
    wordings = (
        "Show the numbers of the column Share as percentages with two decimals (12.34%), and save the file.",
        "Format the column Share (E) as percent with two digits after the point, then save the spreadsheet.",
        "The shares in E should read like 12.34% instead of 0.1234. Change how they are displayed and save.",
    )
    heads = ("Product", "City", "Amount", "Price", "Share")

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        for row in params["goods"]:
            row.append(dice.between(1, 9_999) / 10_000)
        return params

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.xlsx": self.content(params)}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        rules = [
            {"type": "check_cell", "sheet_idx": 0, "coordinate": f"E{line}",
             "props": {"number_format": {"method": "eq", "ref": "0.00%"}}}
            for line in range(2, params["last"] + 1)
        ]  # fmt: skip
        return all_of(self.compared(params, DATA), self.compared(params, *rules, gold=False))

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from to_cell(hands, f"E2:E{params['last']}")
        yield hands.press("ctrl", "shift", "5")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from to_cell(hands, "E2")
        yield hands.press("ctrl", "shift", "5")
        yield from save(hands)
        yield hands.done()


TEMPLATES = (
    CalcTotal, CalcAverage, CalcSort, CalcFreeze, CalcRenameSheet, CalcNewSheet, CalcReplace, CalcExportCsv,
    CalcDeleteRows, CalcFillFormula, CalcBoldHeadings, CalcPercent,
)  # fmt: skip
