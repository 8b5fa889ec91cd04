"""Pro Expense: what was spent and earned, by day and by category."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from itertools import groupby
from typing import Any

from eapo_gym.envs.androidworld.phone.app import OVER, App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.databases import Database, DatabaseError, Row, Rows, Value
from eapo_gym.envs.androidworld.phone.files import SDCARD, FileError
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, without_preferences
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    IMAGE,
    LINEAR,
    app_bar,
    bottom_bar,
    button,
    chip,
    column,
    date_dialog,
    dialog,
    divider,
    drawer,
    fab,
    floating,
    icon,
    icon_button,
    item,
    labelled,
    listing,
    menu,
    nothing_yet,
    page,
    radio,
    row,
    search_bar,
    sheet,
    snackbar,
    space,
    text,
)

PACKAGE = "com.arduia.expense"
DATABASE = f"/data/data/{PACKAGE}/databases/accounting.db"
TABLE = "expense"
EXPORT = f"{SDCARD}/Download/expenses.csv"
MAIN, ENTRY = ".ui.MainActivity", ".ui.entry.ExpenseEntryActivity"

EMPTY = Database(
    schema=(
        "CREATE TABLE `expense` (`expense_id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `name` TEXT, "
        "`amount` INTEGER NOT NULL, `category` INTEGER NOT NULL, `note` TEXT, `created_date` INTEGER NOT NULL, "
        "`modified_date` INTEGER NOT NULL)",
    ),
    tables={TABLE: ()},
    keys={TABLE: "expense_id"},
    version=1,
)


@dataclass(frozen=True)
class Category:
    name: str
    icon: str
    colour: str


CATEGORIES: Mapping[int, Category] = {
    1: Category("Others", "apps", "#607d8b"),
    2: Category("Income", "wallet", "#2e7d32"),
    3: Category("Food", "recipe", "#e65100"),
    4: Category("Housing", "home", "#6d4c41"),
    5: Category("Social", "people", "#8e24aa"),
    6: Category("Entertainment", "video", "#c2185b"),
    7: Category("Transportation", "car", "#1565c0"),
    8: Category("Clothes", "shirt", "#00838f"),
    9: Category("Health Care", "heart", "#c62828"),
    10: Category("Education", "book", "#4527a0"),
    11: Category("Donation", "gift", "#558b2f"),
}
"""By their numbers in the database."""

OTHERS, INCOME = 1, 2
CURRENCIES = ("$", "EUR ", "GBP ", "JPY ", "K ")
RECENT = 6
"""So many of the newest expenses are on the first screen."""

MOST_DIGITS = 9
"""Of an amount, before the point."""

# What things are called on different phones; the usual name comes first.
LOGS = ("Expense Logs", "All entries", "Transactions")
STATISTICS = ("Statistics", "Reports", "Charts")
ADD = ("Add expense", "New entry", "Record")
SEE_ALL = ("More logs", "See all", "Show more")
SAVE = ("Save", "Done", "Keep")
EDIT = ("Edit", "Change", "Modify")
DELETE = ("Delete", "Remove", "Erase")
NAME = ("Name", "What for", "Title")
AMOUNT = ("Amount", "How much", "Price")
NOTE = ("Note", "Remark", "Comment")

SORTS: Mapping[str, Callable[[Row], tuple[object, ...]]] = {
    "Newest first": lambda row: (-_number(row, "created_date"), -_number(row, "expense_id")),
    "Oldest first": lambda row: (_number(row, "created_date"), _number(row, "expense_id")),
    "Highest amount": lambda row: (-_number(row, "amount"), -_number(row, "created_date")),
    "Lowest amount": lambda row: (_number(row, "amount"), -_number(row, "created_date")),
    "By name": lambda row: (name_of(row).lower(), -_number(row, "created_date")),
}
NEWEST = "Newest first"
PERIODS = ("All time", "This month", "Last 7 days", "Today")


# What is in the database


def expenses(at: Scene) -> Rows:
    """All of them, in no order; none where the file is gone or is no database of this app."""
    try:
        return at.rows(DATABASE, TABLE)
    except (FileError, DatabaseError):
        return ()


def name_of(row: Row) -> str:
    return str(row.get("name") or category_of(row).name)


def note_of(row: Row) -> str:
    return str(row.get("note") or "")


def category_of(row: Row) -> Category:
    return CATEGORIES.get(_number(row, "category"), CATEGORIES[OTHERS])


def when(row: Row) -> datetime:
    """The moment of an expense, by the phone's clock."""
    return _moment(_number(row, "created_date"))


@lru_cache(maxsize=4_096)
def _moment(milliseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return datetime(1970, 1, 1, tzinfo=timezone.utc)


def money(cents: int, currency: str = CURRENCIES[0]) -> str:
    whole, part = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{currency}{whole:,}.{part:02}"


def cents_of(written: str) -> int | None:
    """The amount that was written, if it is one: 12, 12.5, $1,234.50."""
    found = re.fullmatch(r"(?:[$€£¥]\s*)?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.([0-9]{0,2}))?", written.strip())
    if found is None:
        return None
    whole, part = found[1].replace(",", ""), found[2] or ""
    if not whole + part or len(whole) > MOST_DIGITS:
        return None
    return int(whole or "0") * 100 + int(part.ljust(2, "0"))


def _signed(row: Row, currency: str) -> str:
    amount = money(abs(_number(row, "amount")), currency)
    return f"+{amount}" if _number(row, "category") == INCOME else f"-{amount}"


def _number(row: Row, column: str) -> int:
    value = row.get(column)
    return int(value) if isinstance(value, (int, float)) else 0


def _by_id(at: Scene, number: int) -> Row | None:
    return next((row for row in expenses(at) if row["expense_id"] == number), None)


def _currency(at: Scene) -> str:
    return preference(at, PACKAGE, "currency", CURRENCIES[0])


def _add(turn: Turn, row: Row) -> None:
    turn.mend(DATABASE, EMPTY)
    turn.insert(DATABASE, TABLE, **row)


# The first screen, with its parts


class Main(Screen):
    """Home, the list of all expenses, the statistics and the settings: the app changes between them in one activity."""

    name = MAIN

    def view(self, at: Scene) -> View:
        part = _part(at)
        bar, body, above = _PARTS[part](at)
        below = [snackbar(_deleted(at.get("undo")), "Undo", ("undo",))] if at.get("undo") else []
        if _by_tabs(at):
            tabs = [(picture, title) for _, picture, title in _places(at)]
            below.append(bottom_bar(tabs, _title(at, part), "place"))
        frame = column(bar, *above, listing(body, name=part, pad=(0, 0, 0, 80)), *below, fill="page")
        layers = [frame]
        if part in ("home", "logs") and not at.get("chosen") and not at.get("undo"):
            add = fab("add", at.taste.choose("expense add", *ADD), ("add",))
            layers.append(replace(floating(add), pad=(16, 16, 16, 24 + (72 if _by_tabs(at) else 0))))
        over = _over(at)
        return View(kind=FRAME, flow="stack", children=(*layers, *([over] if over is not None else [])))

    def on(self, turn: Turn, event: Event) -> None:
        if turn.get("undo") and event != ("undo",):
            turn.drop("undo")
        _touched(turn, event)

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("chosen"):
            turn.drop("chosen")
        elif turn.get("searching"):
            turn.drop("searching", "query")
        elif _part(turn) != "home":
            _go(turn, "home")
        else:
            turn.close()


def _touched(turn: Turn, event: Event) -> None:
    match event:
        case ("part", part):
            _go(turn, part)
        case ("place", title):
            _go(turn, next(part for part, _, named in _places(turn) if named == title))
        case ("over", what):
            turn.keep(**{OVER: what})
        case ("close",):
            turn.drop(OVER)
        case ("add",):
            turn.open(ENTRY)
        case ("edit", number):
            row = _by_id(turn, number)
            turn.drop(OVER)
            if row is not None:
                turn.start(Activity(PACKAGE, ENTRY, _written(row)))
        case ("item", number) if turn.get("chosen"):
            _choose(turn, number)
        case ("item", number):
            turn.keep(**{OVER: ("detail", number)})
        case ("hold", number):
            _choose(turn, number)
        case ("choose all",):
            turn.keep(chosen=tuple(row["expense_id"] for row in _listed(turn)))
        case ("choose none",):
            turn.drop("chosen")
        case ("ask", numbers):
            turn.keep(**{OVER: ("ask", numbers)})
        case ("delete", numbers):
            gone = tuple(row for row in expenses(turn) if row["expense_id"] in numbers)
            turn.delete(DATABASE, TABLE, lambda row: row["expense_id"] in numbers)
            turn.drop(OVER, "chosen")
            turn.keep(undo=gone)
        case ("undo",):
            for row in turn.get("undo", ()):
                _add(turn, row)
            turn.drop("undo")
        case ("search",):
            turn.drop(OVER)
            turn.keep(searching=True, query="")
            turn.focus("query")
        case ("leave search",):
            turn.drop("searching", "query")
            turn.focus("")
        case ("sort", how):
            turn.keep(sort=how)
            turn.drop(OVER)
        case ("category", number):
            turn.keep(category=0 if turn.get("category") == number else number)
        case ("period", name):
            turn.keep(period=name)
        case ("all again",):
            turn.drop("category", "period", OVER)
        case ("month", first):
            turn.keep(month=first)
        case ("currency", currency):
            prefer(turn, PACKAGE, currency=currency)
            turn.drop(OVER)
        case ("export",):
            _export(turn)


def _go(turn: Turn, part: str) -> None:
    turn.drop(OVER, "chosen", "searching", "query")
    turn.focus("")
    turn.keep(part=part)


def _choose(turn: Turn, number: int) -> None:
    """Mark an expense among others, or unmark it."""
    chosen = turn.get("chosen", ())
    turn.keep(chosen=tuple(each for each in chosen if each != number) if number in chosen else (*chosen, number))


def _part(at: Scene) -> str:
    return str(at.get("part", "home"))


def _places(at: Scene) -> list[tuple[str, str, str]]:
    """Part, icon and title of where one can go."""
    places = [
        ("home", "home", "Home"),
        ("logs", "list", at.taste.choose("expense logs", *LOGS)),
        ("statistics", "chart", at.taste.choose("expense statistics", *STATISTICS)),
        ("settings", "settings", "Settings"),
    ]
    return [places[0], *at.taste.order("expense places", places[1:])]


def _title(at: Scene, part: str) -> str:
    return next(title for each, _, title in _places(at) if each == part)


def _by_tabs(at: Scene) -> bool:
    """Some phones have the places at the bottom, the usual one in a drawer."""
    return at.taste.choose("expense ways", "drawer", "tabs") == "tabs"


def _bar(at: Scene, title: str, actions: Sequence[View] = ()) -> View:
    if _by_tabs(at):
        return app_bar(title, actions=actions)
    return app_bar(title, up=("over", "drawer"), up_icon="menu", actions=actions)


Part = tuple[View, Sequence[View], Sequence[View]]
"""The bar, what scrolls below it, and what stands between the two."""


def _home(at: Scene) -> Part:
    rows = sorted(expenses(at), key=SORTS[NEWEST])
    more = button(at.taste.choose("expense more", *SEE_ALL), ("part", "logs"))
    head = row(text("Recent", bold=True, grow=1, across="center"), more, height=48, pad=(16, 0, 8, 0))
    cards = at.taste.order("expense cards", [_month_card(at, rows), _week_card(at, rows)])
    recent = [_line(at, each, day=True) for each in rows[:RECENT]] or [_no_expenses()]
    return _bar(at, "Pro Expense"), [*cards, head, *recent], []


def _month_card(at: Scene, rows: Iterable[Row]) -> View:
    """What came in and went out this month."""
    currency = _currency(at)
    month = [each for each in rows if (when(each).year, when(each).month) == (at.now.year, at.now.month)]
    came = sum(_number(each, "amount") for each in month if _number(each, "category") == INCOME)
    went = sum(_number(each, "amount") for each in month) - came

    def sum_of(label: str, amount: int, color: str) -> View:
        return column(
            text(label, size=13, color="faint"),
            text(money(amount, currency), size=18, bold=True, color=color, lines=1),
            gap=2,
            grow=1,
        )

    inside = column(
        text(f"{at.now:%B %Y}", size=14, color="faint"),
        row(sum_of("Income", came, "good"), sum_of("Outcome", went, "danger"), sum_of("Left", came - went, "text")),
        gap=8,
        fill="card",
        round=16,
        pad=(16, 12, 16, 14),
    )
    return column(inside, pad=(16, 8, 16, 4))


def _week_card(at: Scene, rows: Iterable[Row]) -> View:
    """What was spent on each of the last seven days, as bars."""
    days = [at.now.date() - timedelta(days=back) for back in range(6, -1, -1)]
    spent = dict.fromkeys(days, 0)
    for each in rows:
        day = when(each).date()
        if day in spent and _number(each, "category") != INCOME:
            spent[day] += _number(each, "amount")
    highest = max(*spent.values(), 1)
    bars = [
        column(
            space(grow=1),
            View(
                height=2 + 70 * amount // highest,
                width=22,
                across="center",
                look=Look(fill="primary" if day == days[-1] else "#8fb3e8", round=4),
            ),
            text(f"{day:%a}", size=12, color="faint", along="center", pad=(0, 4, 0, 0)),
            grow=1,
        )
        for day, amount in spent.items()
    ]
    inside = column(
        text("Last 7 days", size=14, color="faint"), row(*bars, height=96),
        gap=4, fill="card", round=16, pad=(16, 12, 16, 10),
    )  # fmt: skip
    return column(inside, pad=(16, 4, 16, 4))


def _logs(at: Scene) -> Part:
    rows = _listed(at)
    body: list[View] = []
    grouped = at.get("sort", NEWEST) in ("Newest first", "Oldest first")
    for day, of_day in groupby(rows, key=lambda row: when(row).date()) if grouped else [(None, iter(rows))]:
        if day is not None:
            body.append(text(_day_name(at.now.date(), day), size=13, color="primary", bold=True, pad=(16, 12, 16, 4)))
        body += [_line(at, each, day=not grouped) for each in of_day]
    if not rows:
        body = [nothing_yet("search", "Nothing found") if expenses(at) else _no_expenses()]
    return _logs_bar(at), body, _limits(at)


def _listed(at: Scene) -> list[Row]:
    """What the list of all expenses shows: as searched, filtered and sorted."""
    wanted = str(at.get("query", "")).strip().lower()
    category = at.get("category", 0)
    first = _first_day(at)
    found = [
        each
        for each in expenses(at)
        if wanted in f"{name_of(each)}\n{note_of(each)}\n{category_of(each).name}".lower()
        and (not category or _number(each, "category") == category)
        and (first is None or when(each).date() >= first)
    ]
    return sorted(found, key=SORTS[at.get("sort", NEWEST)])


def _first_day(at: Scene) -> date | None:
    today = at.now.date()
    days = {"This month": today.replace(day=1), "Last 7 days": today - timedelta(days=6), "Today": today}
    return days.get(at.get("period", ""))


def _logs_bar(at: Scene) -> View:
    chosen = at.get("chosen", ())
    if chosen:
        actions = [
            icon_button("select", "Select all", ("choose all",)),
            icon_button("delete", at.taste.choose("expense delete", *DELETE), ("ask", chosen)),
        ]
        return app_bar(f"{len(chosen)} selected", up=("choose none",), up_icon="close", actions=actions, fill="soft")
    if at.get("searching"):
        return search_bar(at.get("query", ""), "Search expenses", ("leave search",))
    actions = [
        icon_button("search", "Search", ("search",)),
        icon_button("filter", "Filter", ("over", "filter")),
        icon_button("more", "More options", ("over", "menu")),
    ]
    return _bar(at, _title(at, "logs"), actions)


def _limits(at: Scene) -> list[View]:
    """What the list is limited to, if it is."""
    names = []
    if at.get("category", 0):
        names.append(CATEGORIES[at.get("category")].name)
    if at.get("period", PERIODS[0]) != PERIODS[0]:
        names.append(at.get("period"))
    if not names:
        return []
    said = text(f"Only {', '.join(names)}", size=14, color="on_soft", grow=1, across="center")
    return [row(said, button("Show all", ("all again",)), height=44, pad=(16, 0, 4, 0), fill="soft")]


def _line(at: Scene, each: Row, *, day: bool) -> View:
    """An expense in a list; with the day where no headline says it."""
    return _drawn(tuple(each.items()), _currency(at), day, each["expense_id"] in at.get("chosen", ()))


@lru_cache(maxsize=4_096)
def _drawn(values: tuple[tuple[str, Value], ...], currency: str, day: bool, on: bool) -> View:
    """The list is drawn at every step, and most of its lines stay as they were."""
    each = dict(values)
    category, number = category_of(each), each["expense_id"]
    disc = View(
        kind=IMAGE, width=40, height=40, across="center",
        look=Look(fill=category.colour, round=20, icon="check" if on else category.icon, size=22, color="#ffffff"),
    )  # fmt: skip
    moment = when(each)
    words = column(
        text(name_of(each), lines=1, id="tv_name"),
        text(
            " - ".join(filter(None, (category.name, note_of(each).replace("\n", " ")))),
            size=13,
            color="faint",
            lines=1,
            id="tv_category",
        ),
        gap=2,
        grow=1,
        along="center",
    )
    came = _number(each, "category") == INCOME
    amount = column(
        text(_signed(each, currency), bold=True, color="good" if came else "danger", along="end", id="tv_amount"),
        text(_short_day(moment) if day else f"{moment:%H:%M}", size=13, color="faint", along="end", id="tv_date"),
        gap=2,
        along="center",
    )
    return View(
        kind=LINEAR, flow="row", height=64, gap=16, pad=(16, 8, 16, 8), tap=("item", number), hold=("hold", number),
        selected=on, look=Look(fill="soft" if on else ""), children=(disc, words, amount),
    )  # fmt: skip


def _short_day(moment: datetime) -> str:
    return f"{moment:%b} {moment.day}, {moment.year}"


@lru_cache(maxsize=256)
def _day_name(today: date, day: date) -> str:
    said = f"{day:%A, %b} {day.day}, {day.year}"
    days_ago = (today - day).days
    return {0: f"Today, {day:%b} {day.day}", 1: f"Yesterday, {day:%b} {day.day}"}.get(days_ago, said)


def _statistics(at: Scene) -> Part:
    """What each category took of a month."""
    first = date.fromisoformat(at.get("month", f"{at.now:%Y-%m}-01"))
    before = (first - timedelta(days=1)).replace(day=1)
    after = (first + timedelta(days=31)).replace(day=1)
    month = row(
        icon_button("back", "Previous month", ("month", before.isoformat())),
        text(f"{first:%B %Y}", bold=True, along="center", across="center", grow=1, id="month"),
        icon_button("chevron", "Next month", ("month", after.isoformat())),
        height=56,
        pad=(8, 0, 8, 0),
    )
    sums: dict[int, int] = {}
    for each in expenses(at):
        if when(each).date().replace(day=1) == first and _number(each, "category") != INCOME:
            number = _number(each, "category")
            sums[number] = sums.get(number, 0) + _number(each, "amount")
    total = sum(sums.values())
    if total <= 0:
        return _bar(at, _title(at, "statistics")), [nothing_yet("chart", "Nothing was spent in this month")], [month]
    currency = _currency(at)
    body = [
        column(
            text("Total outcome", size=13, color="faint"),
            text(money(total, currency), size=24, bold=True),
            pad=(16, 8, 16, 12),
        )
    ]
    for number, amount in sorted(sums.items(), key=lambda pair: (-pair[1], pair[0])):
        category = CATEGORIES.get(number, CATEGORIES[OTHERS])
        share = max(amount, 0) / total
        body.append(
            column(
                row(
                    text(category.name, grow=1),
                    text(f"{money(amount, currency)}   {share:.0%}", color="faint", size=15),
                ),
                View(
                    height=8, width=max(4, round(share * 370)), across="start", look=Look(fill=category.colour, round=4)
                ),
                gap=6,
                pad=(16, 8, 16, 8),
            )
        )
    return _bar(at, _title(at, "statistics")), body, [month]


def _settings(at: Scene) -> Part:
    body = [
        item("Currency", _currency(at).strip(), tap=("over", "currency"), start=icon("wallet")),
        item("Export", "Write all expenses to a file in Download", tap=("export",), start=icon("download")),
        item("Delete all expenses", f"{len(expenses(at))} entries", tap=("over", "all"), start=icon("delete")),
        divider(),
        item("About", "Pro Expense, for this phone", start=icon("info")),
    ]
    return _bar(at, "Settings"), body, []


_PARTS: Mapping[str, Callable[[Scene], Part]] = {
    "home": _home,
    "logs": _logs,
    "statistics": _statistics,
    "settings": _settings,
}


def _no_expenses() -> View:
    return nothing_yet("wallet", "No expenses yet", "Add one with +")


# What lies over the first screen


def _over(at: Scene) -> View | None:
    match at.get(OVER):
        case "drawer":
            entries = [(picture, title, ("part", part)) for part, picture, title in _places(at)]
            return drawer(entries, ("close",), title="Pro Expense", chosen=_title(at, _part(at)))
        case "menu":
            return menu([(how, ("sort", how)) for how in SORTS], ("close",))
        case "filter":
            return _filter(at)
        case ("detail", number):
            found = _by_id(at, number)
            return None if found is None else _detail(at, found)
        case ("ask", numbers):
            return _question(at, f"Delete {_count(len(numbers))}?", numbers)
        case "all":
            everything = tuple(row["expense_id"] for row in expenses(at))
            return _question(at, "Delete all expenses?", everything)
        case "currency":
            choices = [radio(each.strip(), each == _currency(at), ("currency", each)) for each in CURRENCIES]
            return dialog("Currency", choices, [button("Cancel", ("close",))], dismiss=("close",))
    return None


def _filter(at: Scene) -> View:
    chosen = at.get("category", 0)
    numbers = list(CATEGORIES)
    categories = [
        row(*(chip(CATEGORIES[number].name, ("category", number), chosen=number == chosen) for number in line), gap=8)
        for line in (numbers[:4], numbers[4:7], numbers[7:10], numbers[10:])
    ]
    period = at.get("period", PERIODS[0])
    periods = row(*(chip(name, ("period", name), chosen=name == period) for name in PERIODS), gap=6)
    buttons = row(button("Show all", ("all again",)), button("Apply", ("close",), style="filled"), along="end", gap=8)
    return sheet(
        [
            column(
                text("Category", bold=True), *categories, text("Time", bold=True), periods, buttons, gap=12
            )
        ],
        ("close",),
    )  # fmt: skip


def _detail(at: Scene, each: Row) -> View:
    """All about one expense, and what can be done with it."""
    number, moment = each["expense_id"], when(each)

    def fact(label: str, value: str, id: str, color: str = "text") -> View:
        name = replace(text(label, size=14, color="faint", across="center"), width=90)
        return row(name, text(value, id=id, grow=1, color=color, across="center"), gap=8)

    facts = [
        fact("Amount", _signed(each, _currency(at)), "tv_amount", "good" if each["category"] == INCOME else "danger"),
        fact("Category", category_of(each).name, "tv_category"),
        fact("Date", f"{_short_day(moment)} {moment:%H:%M}", "tv_date"),
        fact("Note", note_of(each) or "-", "tv_note"),
    ]
    buttons = [
        button(at.taste.choose("expense edit", *EDIT), ("edit", number), style="soft", grow=1),
        button(at.taste.choose("expense delete", *DELETE), ("ask", (number,)), style="outlined", grow=1),
    ]
    title = row(
        text(name_of(each), size=20, bold=True, grow=1, across="center", id="tv_name", lines=3),
        icon_button("close", "Close", ("close",)),
    )
    actions = row(*at.taste.order("expense actions", buttons), gap=12, pad=(0, 8, 0, 0))
    return sheet([column(title, *facts, actions, gap=10)], ("close",))


def _question(at: Scene, asked: str, numbers: tuple[Any, ...]) -> View:
    return dialog(
        "",
        [],
        [
            button("Cancel", ("close",)),
            button(at.taste.choose("expense delete", *DELETE).upper(), ("delete", numbers), id="button1"),
        ],
        dismiss=("close",),
        said=asked,
    )


def _count(number: int) -> str:
    return "this expense" if number == 1 else f"{number} expenses"


def _deleted(gone: Sequence[Row]) -> str:
    return f"{name_of(gone[0])} deleted" if len(gone) == 1 else f"{len(gone)} expenses deleted"


def _export(turn: Turn) -> None:
    """All expenses as a table that other programs read."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(["Date", "Name", "Category", "Amount", "Note"])
    for each in sorted(expenses(turn), key=SORTS["Oldest first"]):
        sign = "" if _number(each, "category") == INCOME else "-"
        amount = sign + money(abs(_number(each, "amount")), "").replace(",", "")
        table.writerow([f"{when(each):%Y-%m-%d %H:%M}", name_of(each), category_of(each).name, amount, note_of(each)])
    turn.write(EXPORT, written.getvalue())
    turn.toast("Saved as Download/expenses.csv")


# Adding and changing an expense


class Entry(Screen):
    """A form. What was written is kept until it is saved or left."""

    name = ENTRY

    def view(self, at: Scene) -> View:
        title = "Update expense" if at.get("expense_id") else "Expense entry"
        save = at.taste.choose("expense save", *SAVE)
        in_bar = at.taste.choose("expense save place", "below", "bar") == "bar"
        lock = icon_button(
            "lock", "Stay here after saving", ("lock",), color="primary" if at.get("locked") else "faint"
        )
        actions = [] if at.get("expense_id") else [lock]
        actions += [button(save, ("save",))] if in_bar else []
        below = [] if in_bar else [_padded(button(save, ("save",), style="filled", across="fill", id="btn_save"))]
        over = [] if at.get(OVER) != "date" else [_date_dialog(at)]
        body = [column(*_form(at), gap=8, pad=(16, 4, 16, 16))]
        return page(title, body, up=("up",), actions=actions, below=below, over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("category", number):
                turn.keep(category=number)
            case ("date",):
                turn.focus("")
                turn.keep(**{OVER: "date"}, picked=_day(turn).isoformat(), shown=_day(turn).isoformat())
            case ("pick", day):
                turn.keep(picked=day, shown=day)
            case ("turn to", day):
                turn.keep(shown=day)
            case ("set date",):
                turn.keep(day=turn.get("picked"))
                turn.drop(OVER, "picked", "shown")
            case ("dismiss",):
                turn.drop(OVER, "picked", "shown")
            case ("lock",):
                turn.keep(locked=not turn.get("locked"))
                turn.toast("Closes after saving" if not turn.get("locked") else "Stays open after saving")
            case ("save",):
                _save(turn)

    def typed(self, turn: Turn, field: str) -> None:
        turn.drop("wrong")


def _form(at: Scene) -> list[View]:
    wrong = at.get("wrong", {})
    focus = at.activity.focus

    def written(name: str, choices: tuple[str, ...], *, lines: int = 1) -> View:
        label = at.taste.choose(f"expense {name}", *choices)
        return labelled(
            name, label, at.get(name, ""), focused=focus == name, lines=lines, problem=wrong.get(name, ""),
            id=f"edt_{name}",
        )  # fmt: skip

    parts = [
        written("name", NAME),
        written("amount", AMOUNT),
        _categories(at),
        written("note", NOTE, lines=3),
    ]
    day = _day(at)
    said = f"{day:%a, %b} {day.day}, {day.year}"
    change = icon("calendar", color="primary")
    parts.append(item("Date", said, tap=("date",), start=change, id="tv_date_label", under_id="tv_date"))
    return at.taste.order("expense form", parts)


def _categories(at: Scene) -> View:
    chosen = at.get("category", OTHERS)

    def cell(number: int) -> View:
        category, on = CATEGORIES[number], number == chosen
        disc = View(
            kind=IMAGE, width=26, height=26, across="center",
            look=Look(fill=category.colour, round=13, icon=category.icon, size=16, color="#ffffff"),
        )  # fmt: skip
        name = text(category.name, size=12, across="center", grow=1, lines=1, bold=on)
        return row(
            disc, name, gap=4, pad=(5, 6, 1, 6), grow=1, tap=("category", number), selected=on, round=10,
            fill="soft" if on else "card", height=46,
        )  # fmt: skip

    numbers = list(CATEGORIES)
    lines = []
    for first in range(0, len(numbers), 3):
        cells = [cell(number) for number in numbers[first : first + 3]]
        lines.append(row(*cells, *(space(grow=1) for _ in range(3 - len(cells))), gap=6))
    return column(text("Category", size=12, color="faint", pad=(12, 4, 0, 0)), *lines, gap=6)


def _date_dialog(at: Scene) -> View:
    picked, shown = (date.fromisoformat(at.get(name)) for name in ("picked", "shown"))
    return date_dialog(picked, shown, tap="pick", turn="turn to", done=("set date",), dismiss=("dismiss",))


def _day(at: Scene) -> date:
    """The day that is to be saved."""
    return date.fromisoformat(at.get("day", at.now.date().isoformat()))


def _written(row: Row) -> dict[str, Any]:
    """An expense as the form has it."""
    return {
        "expense_id": row["expense_id"],
        "name": str(row.get("name") or ""),
        "amount": money(abs(_number(row, "amount")), "").replace(",", ""),
        "category": _number(row, "category"),
        "note": note_of(row),
        "day": when(row).date().isoformat(),
    }


def _save(turn: Turn) -> None:
    """Save what is written, or say what is wrong with it."""
    name, cents = turn.get("name", "").strip(), cents_of(turn.get("amount", ""))
    wrong = {}
    if not name:
        wrong["name"] = "Please enter a name"
    if not turn.get("amount", "").strip():
        wrong["amount"] = "Please enter an amount"
    elif cents is None:
        wrong["amount"] = "This is not an amount"
    if wrong:
        turn.keep(wrong=wrong)
        return
    number, day = turn.get("expense_id"), _day(turn)
    values = {"name": name, "amount": cents, "category": turn.get("category", OTHERS),
              "note": turn.get("note", "").strip(), "modified_date": round(turn.state.now * 1000)}  # fmt: skip
    before = _by_id(turn, number) if number else None
    if before is not None:
        if when(before).date() != day:
            values["created_date"] = _milliseconds(datetime.combine(day, when(before).timetz()))
        turn.update(DATABASE, TABLE, lambda row: row["expense_id"] == number, **values)
    else:
        values["created_date"] = _milliseconds(datetime.combine(day, turn.now.timetz()))
        _add(turn, values)
    turn.toast("Expense saved" if before is None else "Expense updated")
    if turn.get("locked"):
        turn.drop("name", "amount", "note")
        turn.focus("")
    else:
        turn.close()


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _padded(view: View) -> View:
    return column(view, pad=(16, 8, 16, 12), height=64)


class Expense(App):
    package = PACKAGE
    label = "Pro Expense"
    icon = "wallet"
    colour = "#1f5fb8"
    screens = (Main, Entry)

    def install(self, state: State) -> State:
        state = without_preferences(state, PACKAGE)
        return replace(state, files=state.files.write(DATABASE, EMPTY, state.now))
