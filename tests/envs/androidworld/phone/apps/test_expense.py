"""Pro Expense: expenses that are written, found, changed, thrown away and brought back."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps.expense import (
    DATABASE,
    EXPORT,
    PACKAGE,
    TABLE,
    Expense,
    cents_of,
    money,
)
from eapo_gym.envs.androidworld.phone.apps.launcher import Launcher
from eapo_gym.envs.androidworld.phone.factory import BENCHMARK_TIME
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.finger import Finger

OCTOBER_12 = 1_697_104_800_000


class Player:
    """Somebody who has Pro Expense in front of them."""

    def __init__(self) -> None:
        self.phone = Phone([Launcher(), Expense()], now=BENCHMARK_TIME.timestamp())
        self.hands = Hands(self.phone)
        self.finger = Finger(self.hands.elements)
        self.hands.act(self.finger.open("Pro Expense"))

    def add(self, name: str, amount: int = 1_250, category: int = 3, note: str = "", when: int = OCTOBER_12) -> None:
        """An expense that was there before."""
        row: dict[str, Any] = {"name": name, "amount": amount, "category": category, "note": note}
        row |= {"created_date": when, "modified_date": when}
        self.phone.change(lambda turn: turn.insert(DATABASE, TABLE, **row))

    def tap(self, *names: str) -> None:
        for name in names:
            self.hands.act(self.finger.tap(name))

    def hold(self, name: str) -> None:
        self.hands.act(self.finger.hold(name))

    def write(self, text: str, into: str) -> None:
        self.hands.act(self.finger.write(text, into=into, clear=True))

    def back(self) -> None:
        self.hands.act(self.finger.back())

    def to(self, part: str) -> None:
        self.tap("Open navigation drawer", part)

    def sees(self, said: str) -> bool:
        return self.finger.sees(said)

    def rows(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self.phone.state.files.database(DATABASE)[TABLE]]

    def names(self) -> list[Any]:
        return [row["name"] for row in self.rows()]


@pytest.fixture
def player() -> Player:
    player = Player()
    player.add("Tea", 450)
    player.add("Train", 8_800, category=7, note="Return\nticket", when=OCTOBER_12 - 86_400_000)
    player.add("Wage", 250_000, category=2)
    return player


@pytest.mark.parametrize(
    ("written", "cents"),
    [
        ("12", 1_200),
        (" 12.5 ", 1_250),
        (".05", 5),
        ("7.", 700),
        ("$1,234.56", 123_456),
        ("0", 0),
        ("", None),
        (".", None),
        ("-3", None),
        ("12,50", None),
        ("1.234", None),
        ("1e3", None),
        ("١٢", None),
        ("9999999999", None),
        ("12; rm -rf /", None),
    ],
)
def test_an_amount_is_read_as_people_write_it(written: str, cents: int | None) -> None:
    assert cents_of(written) == cents


@pytest.mark.parametrize(("cents", "said"), [(0, "$0.00"), (5, "$0.05"), (-1_234_567, "-$12,345.67")])
def test_money_is_written_with_two_digits(cents: int, said: str) -> None:
    assert money(cents) == said


def test_an_expense_is_written_down() -> None:
    player = Player()
    assert player.sees("No expenses yet")
    player.tap("Add expense")
    player.write("Grüße & 'Küsse' 💐 \"; --", into="Name")
    player.write("12.5", into="Amount")
    player.tap("Health Care")
    player.write("for Oma", into="Note")
    player.tap("Save")
    [row] = player.rows()
    assert row.pop("created_date") == pytest.approx(BENCHMARK_TIME.timestamp() * 1000, abs=60_000)
    del row["modified_date"]
    assert row == {
        "expense_id": 1, "name": "Grüße & 'Küsse' 💐 \"; --", "amount": 1_250, "category": 9, "note": "for Oma",
    }  # fmt: skip
    assert player.sees("-$12.50"), "the first screen shows it"


def test_what_is_missing_is_said_and_nothing_is_saved(player: Player) -> None:
    before = player.rows()
    player.tap("Add expense", "Save")
    assert player.sees("Please enter a name")
    assert player.sees("Please enter an amount")
    player.write("Tea", into="Name")
    player.write("much", into="Amount")
    assert not player.sees("Please enter a name"), "it is gone with the next letter"
    player.tap("Save")
    assert player.sees("This is not an amount")
    player.back()
    assert player.rows() == before


def test_the_day_can_be_chosen_and_a_dialog_be_left() -> None:
    player = Player()
    player.tap("Add expense")
    player.write("Fair", into="Name")
    player.write("3", into="Amount")
    player.tap("Date", "Previous month", "30 September 2023", "Cancel")
    assert player.sees("Sun, Oct 15, 2023")
    player.tap("Date", "Previous month", "30 September 2023", "OK", "Save")
    player.to("Expense Logs")
    assert player.sees("Saturday, Sep 30, 2023")


def test_the_form_stays_for_the_next_one_if_it_is_locked() -> None:
    player = Player()
    player.tap("Add expense", "Stay here after saving")
    for name in ("One", "Two"):
        player.write(name, into="Name")
        player.write("1", into="Amount")
        player.tap("Save")
    assert player.names() == ["One", "Two"]
    assert player.sees("Expense entry")


def test_an_expense_is_changed_and_keeps_its_number_and_its_hour(player: Player) -> None:
    player.tap("Train", "Edit")
    player.write("Night train", into="Name")
    player.tap("Save")
    row = player.rows()[1]
    assert (row["expense_id"], row["name"], row["amount"]) == (2, "Night train", 8_800)
    assert row["created_date"] == OCTOBER_12 - 86_400_000, "the day was not changed"
    assert row["modified_date"] > row["created_date"]


def test_deleting_asks_first_and_can_be_undone(player: Player) -> None:
    before = player.rows()
    player.tap("Tea", "Delete", "Cancel")
    assert player.rows() == before
    player.tap("Tea", "Delete", "DELETE")
    assert player.names() == ["Train", "Wage"]
    player.tap("Undo")
    assert sorted(player.rows(), key=lambda row: row["expense_id"]) == before
    player.tap("Tea", "Delete", "DELETE", "Train")
    assert not player.sees("Undo"), "it is offered until something else is done"


def test_several_are_deleted_at_once(player: Player) -> None:
    player.to("Expense Logs")
    player.hold("Tea")
    assert player.sees("1 selected")
    player.tap("Wage", "Train", "Wage")
    assert player.sees("2 selected")
    player.back()
    assert not player.sees("2 selected")
    player.hold("Tea")
    player.tap("Select all", "Delete", "DELETE")
    assert player.rows() == []
    assert player.sees("3 expenses deleted")


def test_search_looks_at_names_notes_and_categories(player: Player) -> None:
    player.to("Expense Logs")
    player.tap("Search")
    for wanted, found in (("tick", "Train"), ("INCOME", "Wage"), ("tea", "Tea")):
        player.write(wanted, into="/.*/")
        assert [name for name in ("Tea", "Train", "Wage") if player.finger.find(name, kind="TextView")] == [found]
    player.write("nothing like that", into="/.*/")
    assert player.sees("Nothing found")
    player.back()
    assert player.sees("Tea")
    assert player.sees("Wage")


def test_the_list_is_sorted_and_filtered(player: Player) -> None:
    def order() -> list[str]:
        return [each.text for each in player.hands.elements() if each.text in ("Tea", "Train", "Wage")]

    player.to("Expense Logs")
    assert order() == ["Wage", "Tea", "Train"], "the newest comes first"
    player.tap("More options", "Lowest amount")
    assert order() == ["Tea", "Train", "Wage"]
    player.tap("Filter", "Transportation", "Apply")
    assert order() == ["Train"]
    player.tap("Show all")
    assert order() == ["Tea", "Train", "Wage"]


def test_back_leads_home_and_then_out(player: Player) -> None:
    player.to("Statistics")
    player.back()
    assert player.sees("Recent")
    player.back()
    assert player.phone.state.at_home


def test_statistics_are_of_one_month_and_without_income(player: Player) -> None:
    player.to("Statistics")
    assert player.sees("$92.50")
    player.tap("Previous month")
    assert player.sees("Nothing was spent in this month")


def test_the_currency_stays_when_the_app_is_stopped(player: Player) -> None:
    player.to("Settings")
    player.tap("Currency", "GBP")
    player.phone.stop(PACKAGE)
    player.hands.act(player.finger.open("Pro Expense"))
    assert player.sees("-GBP 4.50")


def test_the_export_is_a_table(player: Player) -> None:
    player.to("Settings")
    player.tap("Export")
    lines = player.phone.state.files.text(EXPORT).split("\r\n")
    assert lines[1:3] == [
        '2023-10-11 10:00,Train,Transportation,-88.00,"Return\nticket"',
        "2023-10-12 10:00,Tea,Food,-4.50,",
    ]


def test_a_file_that_is_pushed_is_what_the_app_shows(player: Player, tmp_path: Path) -> None:
    path = tmp_path / "accounting.db"
    path.write_bytes(player.phone.state.files.read(DATABASE))
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM expense WHERE name = 'Tea'")
        connection.execute(
            "INSERT INTO expense (name, amount, category, note, created_date, modified_date) "
            f"VALUES ('{'Very long ' * 30}', 1, 99, NULL, 99999999999999999, 0), (NULL, -5, 3, NULL, -1, 0)"
        )
    connection.close()
    files = player.phone.state.files.write(DATABASE, path.read_bytes(), 0.0)
    player.phone.state = replace(player.phone.state, files=files)
    assert player.sees("/(Very long ){30}/")
    assert player.sees("Food"), "what has no name is called like its category"
    assert not player.sees("Tea")
    player.tap("/(Very long ){30}/")
    assert player.sees("Others"), "a category that is not known"


@pytest.mark.parametrize("content", [None, b"", b"no database"])
def test_a_file_that_is_gone_or_broken_is_an_empty_list(player: Player, content: bytes | None) -> None:
    files = player.phone.state.files.remove(DATABASE, 0.0)
    player.phone.state = replace(player.phone.state, files=files)
    if content is not None:
        player.phone.state = replace(player.phone.state, files=files.write(DATABASE, content, 0.0))
    assert player.sees("No expenses yet")
    player.tap("Add expense")
    player.write("Tea", into="Name")
    player.write("1", into="Amount")
    player.tap("Save")
    assert player.names() == ["Tea"]


def test_a_long_list_is_scrolled_to_its_end(player: Player) -> None:
    for number in range(60):
        player.add(f"Entry {number}", when=OCTOBER_12 - 3_600_000 * number)
    player.to("Expense Logs")
    for _ in range(12):
        player.hands.act(Action("scroll", direction="down"))
    last = player.finger.find("Entry 59")
    button = player.finger.find("Add expense")
    assert last is not None
    assert button is not None
    assert last.bounds[3] < button.bounds[1], "the round button does not cover it"
