"""Tasks about Pro Expense: expenses to be added and to be deleted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.apps.expense import (
    ADD,
    AMOUNT,
    CATEGORIES,
    DATABASE,
    DELETE,
    LOGS,
    NAME,
    NOTE,
    PACKAGE,
    SAVE,
    TABLE,
    money,
)
from eapo_gym.envs.androidworld.phone.apps.gallery import PACKAGE as GALLERY
from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK
from eapo_gym.envs.androidworld.phone.apps.markor.storage import PACKAGE as MARKOR
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen, any_of
from eapo_gym.envs.androidworld.tasks.papers import clear_files, clear_folder, put_picture, put_text, text_picture
from eapo_gym.envs.androidworld.tasks.rows import AdditionTask, DeletionTask, OneOfTwoTask, RowTask, as_text, different

APP = "pro expense"
FORMS = ("csv", "text_block")
NOTE_FILE, PICTURE = "my_expenses.txt", "expenses.jpg"
DCIM = f"{SDCARD}/DCIM"
PAGE_WIDTH = 60
"""Letters in a line of a picture."""

FIRST_DAY, DAYS = datetime(2023, 10, 1, tzinfo=timezone.utc), 15
"""Expenses are of the days up to the one on which the tasks begin."""

LEAST, MOST = 1_000, 50_000
"""Of an amount, in cents."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "Others": ("Postage", "Key Copies", "Dog Grooming", "Batteries", "Storage Unit", "Notary", "Printer Ink"),
    "Income": ("Monthly Wage", "Overtime Pay", "Tax Refund", "Sold Bicycle", "Tutoring Income", "Stock Payout", "Tips"),
    "Food": ("Farmers Market", "Lunch Box", "Pizza Night", "Tea and Cake", "Butcher", "Ice Cream", "Canteen Card"),
    "Housing": ("Electricity Bill", "Water Bill", "New Curtains", "Plumber Visit", "Garden Tools", "Window Cleaning"),
    "Social": ("Office Party", "Flowers for Mum", "Choir Fees", "Farewell Present", "Picnic", "Class Reunion"),
    "Entertainment": ("Opera Evening", "Board Game", "Film Rental", "Zoo Visit", "Escape Room", "Vinyl Records"),
    "Transportation": ("Train Ticket", "Bus Pass", "Fuel", "Tyre Change", "Ferry Crossing", "Toll Road", "Car Wash"),
    "Clothes": ("Winter Coat", "Rain Boots", "Wool Scarf", "Work Shirts", "Swimwear", "Hat and Gloves", "Dry Cleaner"),
    "Health Care": ("Dentist Bill", "Eye Test", "Vitamins", "Flu Vaccine", "Physiotherapy", "Hearing Aid Batteries"),
    "Education": ("Language Course", "Exam Fee", "Piano Lessons", "Reference Books", "Coding Camp", "Museum Workshop"),
    "Donation": ("Food Bank", "Animal Shelter", "Tree Planting", "Lifeboat Fund", "Village Hall", "Hospice Appeal"),
}
"""What expenses of a category may be called."""

NOTES = (
    "Split with Sam",
    "Cash only",
    "Every month",
    "Keep the receipt",
    "For the holidays",
    "Long overdue",
    "Ask for a refund",
)


Given = Mapping[str, Any]
"""An expense as the parameters have it: column to value."""


class _Expenses(RowTask):
    apps: ClassVar[tuple[str, ...]] = (PACKAGE,)
    database, table, key = DATABASE, TABLE, "expense_id"


class _Delete(_Expenses, DeletionTask):
    template = f"Delete the following expenses from {APP}: {{expenses}}."

    targets: ClassVar[int] = 3
    noise: ClassVar[int] = 0

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        rows: dict[str, Given] = {}
        while len(rows) < self.targets + self.noise:
            row = _expense(dice)
            rows.setdefault(row["name"], row)
        drawn = list(rows.values())
        return {"targets": drawn[: self.targets], "noise": drawn[self.targets :]}

    def goal(self, params: Params) -> str:
        return self.template.format(expenses=", ".join(row["name"] for row in params["targets"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_logs(finger)
        yield from _delete(finger, params["targets"])
        yield finger.done()


class ExpenseDeleteSingle(_Delete):
    complexity = 1
    difficulty = "easy"
    targets = 1


class ExpenseDeleteMultiple(_Delete):
    complexity = 2
    difficulty = "easy"


class ExpenseDeleteMultiple2(_Delete):
    complexity = 3.4
    difficulty = "hard"
    noise = 50


class _DeleteDuplicates(_Expenses, OneOfTwoTask):
    template = (
        f"Delete all but one of any expenses in {APP} that are exact duplicates, ensuring at least one instance of each"
        " unique expense remains."
    )
    difficulty = "medium"

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_logs(finger)
        yield from _delete(finger, params["targets"][:1])
        yield finger.done()


class ExpenseDeleteDuplicates(_DeleteDuplicates):
    complexity = 1.2

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        target, *noise = different(6, lambda: _expense(dice))
        return {"targets": [target, target], "noise": noise}


class ExpenseDeleteDuplicates2(_DeleteDuplicates):
    complexity = 1.8

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        """Some of the others differ from the two in the amount and the date alone."""
        target, *noise = different(38, lambda: _expense(dice))
        more = different(3, lambda: dice.between(50, 999))
        variations = [
            {**target, "amount": target["amount"] + each, "created_date": _moment(dice), "modified_date": _moment(dice)}
            for each in more
        ]
        return {"targets": [target, target], "noise": [*noise, *variations]}


class _Add(_Expenses, AdditionTask):
    template = f"Add the following expenses into the {APP}:\n{{expenses}}"
    exact = ("amount", "category")
    alike = ("name", "note")
    kept: ClassVar[tuple[str, ...]] = ("text_representation_type",)

    targets: ClassVar[int] = 3
    noise: ClassVar[int] = 10

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        targets = different(self.targets, lambda: _expense(dice))
        names = {row["name"] for row in targets}
        noise: list[dict[str, Any]] = []
        while len(noise) < self.noise:
            row = _expense(dice)
            if row["name"] not in names and row not in noise:
                noise.append(row)
        return {"targets": targets, "noise": noise, "text_representation_type": dice.pick(FORMS)}

    def goal(self, params: Params) -> str:
        return self.template.format(expenses=listed(params["targets"], params["text_representation_type"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Pro Expense")
        for row in params["targets"]:
            yield from _add(finger, row)
        yield finger.done()


class ExpenseAddSingle(_Add):
    complexity = 1.2
    difficulty = "easy"
    targets = 1


class ExpenseAddMultiple(_Add):
    complexity = 6
    difficulty = "medium"


class ExpenseAddMultipleFromMarkor(_Add):
    template = f"Go through the transactions in {NOTE_FILE} in Markor. Log the reimbursable transactions in the {APP}."
    complexity = 6
    difficulty = "hard"
    apps = (PACKAGE, MARKOR)
    targets = 2
    noise = 100

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        marked = [{**row, "note": f"{row['note']}. Reimbursable."} for row in params["targets"]]
        # By their dates, which puts those that are asked for among the others.
        rows = sorted([*marked, *params["noise"]], key=lambda row: (row["created_date"], row["name"], row["amount"]))
        clear_folder(phone, NOTEBOOK)
        put_text(phone, f"{NOTEBOOK}/{NOTE_FILE}", listed(rows, "csv"))

    def goal(self, params: Params) -> str:
        return self.template

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Markor")
        yield finger.tap(NOTE_FILE)
        yield from super().plan(finger, params)


class ExpenseAddMultipleFromGallery(_Add):
    template = f"Add the expenses from {PICTURE} in Simple Gallery Pro to {APP}."
    complexity = 6
    difficulty = "hard"
    apps = (PACKAGE, GALLERY)

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        clear_files(phone, SDCARD)
        put_picture(phone, f"{DCIM}/{PICTURE}", text_picture(listed(params["targets"], "text_block", PAGE_WIDTH)))
        others = text_picture(listed(params["noise"], "text_block", PAGE_WIDTH))
        for number in range(10):
            put_picture(phone, f"{DCIM}/old_expenses_{number}.jpg", others)

    def goal(self, params: Params) -> str:
        return self.template

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Simple Gallery Pro")
        yield finger.tap("DCIM")
        yield from finger.scroll_to(PICTURE)
        yield finger.tap(PICTURE)
        yield from super().plan(finger, params)


def listed(rows: Iterable[Given], form: str, width: int = 0) -> str:
    """Expenses as goals and files list them."""
    return as_text("Expense", [_told(row) for row in rows], form, width)


def _told(row: Given) -> dict[str, Any]:
    return {
        "name": row["name"],
        "amount_dollars": f"${row['amount'] / 100}",
        "category_name": CATEGORIES[row["category"]].name,
        "note": row["note"],
    }


def _expense(dice: TaskDice) -> dict[str, Any]:
    category = dice.pick(list(CATEGORIES))
    moment = _moment(dice)
    return {
        "name": dice.pick(NAMES[CATEGORIES[category].name]),
        "amount": dice.between(LEAST, MOST),
        "category": category,
        "note": dice.pick(NOTES),
        "created_date": moment,
        "modified_date": moment,
    }


def _moment(dice: TaskDice) -> int:
    """An hour of the days before, in milliseconds."""
    moment = FIRST_DAY + timedelta(days=dice.below(DAYS), hours=dice.below(24))
    return round(moment.timestamp() * 1000)


# How it is done


def _add(finger: Finger, row: Given) -> Plan:
    yield finger.tap(any_of(ADD))
    yield finger.write(row["name"], into=any_of(NAME))
    yield finger.write(f"{row['amount'] / 100:.2f}", into=any_of(AMOUNT))
    yield finger.tap(CATEGORIES[row["category"]].name, kind="TextView")
    yield finger.write(row["note"], into=any_of(NOTE))
    yield finger.tap(any_of(SAVE))


def _to_logs(finger: Finger) -> Plan:
    yield finger.open("Pro Expense")
    if finger.sees("Open navigation drawer"):
        yield finger.tap("Open navigation drawer")
    yield finger.tap(any_of(LOGS))


def _delete(finger: Finger, rows: Iterable[Given]) -> Plan:
    """Delete them one after the other, from the list of all expenses."""
    for row in rows:
        if _line(finger, row) is None:
            yield from _search(finger, row["name"])
        for _ in range(5):
            if _line(finger, row) is not None:
                break
            yield finger.scroll("down")
        found = _line(finger, row)
        if found is None:
            raise NotOnScreen(f"Expected the expense {row['name']!r} in the list.")
        yield Action("click", index=found.index)
        yield finger.tap(any_of(DELETE))
        yield finger.tap(any_of(name.upper() for name in DELETE))


def _search(finger: Finger, name: str) -> Plan:
    if not finger.fields():
        yield finger.tap("Search")
    yield finger.write(name, clear=True)


def _line(finger: Finger, row: Given) -> Element | None:
    """The line of the list that shows this name, and its amount near by."""
    amount = re.compile(rf"[-+]\D*{re.escape(money(row['amount'], ''))}")
    elements = finger.look()
    for place, each in enumerate(elements):
        near = elements[place : place + 4]
        if each.text == row["name"] and not each.editable and any(amount.fullmatch(other.text) for other in near):
            return each
    return None


TASKS = (
    ExpenseAddMultiple,
    ExpenseAddMultipleFromGallery,
    ExpenseAddMultipleFromMarkor,
    ExpenseAddSingle,
    ExpenseDeleteDuplicates,
    ExpenseDeleteDuplicates2,
    ExpenseDeleteMultiple,
    ExpenseDeleteMultiple2,
    ExpenseDeleteSingle,
)
