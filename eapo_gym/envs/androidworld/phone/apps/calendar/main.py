"""The calendar's first screen: a month, a week, a day, a year or a list, and the search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from eapo_gym.envs.androidworld.phone.app import OVER, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    EVENT,
    EVENTS_DB,
    PACKAGE,
    TASK,
    delete_events,
    end_before,
    hidden_types,
    number,
    skip_occurrence,
    spoken_time,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import VIEWS, label, view_label
from eapo_gym.envs.androidworld.phone.apps.calendar.lists import (
    QUERY,
    current_view,
    found_list,
    listed,
    nothing,
    shown_day,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.views import HOUR_HEIGHT, body, stepped
from eapo_gym.envs.androidworld.phone.apps.chooser import to_send_text
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference
from eapo_gym.envs.androidworld.phone.ui.layout import px
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    app_bar,
    button,
    checkbox,
    column,
    date_dialog,
    dialog,
    fab,
    field,
    floating,
    icon,
    icon_button,
    listing,
    menu,
    radio,
    row,
    text,
)

LEAST_LETTERS = 2
WEEK_BEGINS_AT = 7
"""The hour that the week shows first."""

WHICH = (
    ("this", "The selected occurrence only"),
    ("future", "This and all later occurrences"),
    ("all", "All occurrences"),
)


class Main(Screen):
    name = ".activities.MainActivity"

    def view(self, at: Scene) -> View:
        if at.get("searching"):
            frame = _search(at)
        else:
            bar = _selection_bar(at) if at.get("selected") else _top_bar(at)
            frame = column(bar, *body(at, current_view(at)), fill="page")
        add = fab("add", label(at, "new"), ("fab",), id="calendar_fab")
        layers = [frame] if at.get("searching") else [frame, floating(add)]
        return View(kind=FRAME, flow="stack", children=(*layers, *_over(at)))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("close",):
                turn.drop(OVER)
            case ("over", what):
                turn.keep(over=what, picked=shown_day(turn).isoformat(), page=shown_day(turn).isoformat())
            case ("search",):
                turn.keep(searching=True, query="")
                turn.focus(QUERY)
            case ("clear",):
                turn.keep(query="")
                turn.focus(QUERY)
            case ("up",):
                self.back(turn)
            case ("today",):
                turn.drop("selected")
                turn.keep(day=turn.now.date().isoformat())
                turn.drop("earlier", "later")
            case ("view", name):
                turn.drop(OVER, "opened", "earlier", "later", "selected")
                _show(turn, name)
            case ("step", way):
                turn.drop("selected")
                turn.keep(day=stepped(current_view(turn), shown_day(turn), way).isoformat())
            case ("swipe", ("left" | "right") as way) if self._turns(turn):
                self.on(turn, ("step", 1 if way == "left" else -1))
            case ("day", day):
                turn.drop("selected")
                turn.keep(day=day, **({} if current_view(turn) == "month_day" else {"opened": True}))
            case ("month", day):
                turn.keep(day=day)
                _show(turn, "month")
            case ("pick", day):
                turn.keep(picked=day)
            case ("page", day):
                turn.keep(page=day)
            case ("go",):
                turn.drop("selected")
                turn.keep(day=turn.get("picked"))
                turn.drop(OVER)
            case ("earlier" | "later",):
                turn.keep(**{event[0]: turn.get(event[0], 0) + 1})
            case ("fab",):
                turn.keep(over="fab")
            case ("new", kind, *rest):
                turn.drop(OVER)
                day = rest[0] if rest else shown_day(turn).isoformat()
                turn.open(".activities.TaskActivity" if kind == TASK else ".activities.EventActivity", day=day)
            case ("open", screen):
                turn.drop(OVER)
                turn.open(f".activities.{screen}")
            case ("type", id):
                hidden = hidden_types(turn) ^ {id}
                prefer(turn, PACKAGE, hidden_types=",".join(map(str, sorted(hidden))))
            case _:
                self._touch_event(turn, event)

    def _turns(self, at: Scene) -> bool:
        """A finger that is drawn aside shows what comes next."""
        return OVER not in at.kept and not at.get("searching") and current_view(at) != "list"

    def _touch_event(self, turn: Turn, event: Event) -> None:
        selected: tuple[tuple[int, int], ...] = turn.get("selected", ())
        match event:
            case ("event", id, start) if not selected:
                row = turn.database(EVENTS_DB).row("events", id)
                task = row is not None and row["type"] == TASK
                turn.open(".activities.TaskActivity" if task else ".activities.EventActivity", id=id, start=start)
            case ("event" | "select", id, start):
                key = (id, start)
                chosen = tuple(each for each in selected if each != key) if key in selected else (*selected, key)
                turn.keep(selected=chosen)
            case ("select_all",):
                turn.keep(selected=tuple(each.key for each in listed(turn)))
            case ("unselect",):
                turn.drop("selected", OVER)
            case ("share",):
                said = "\n".join(f"{each.title}, {spoken_time(turn, each)}" for each in listed(turn)
                                 if each.key in selected)  # fmt: skip
                turn.drop("selected", OVER)
                share(turn, said)
            case ("delete",):
                turn.keep(over="delete", which="this")
            case ("which", which):
                turn.keep(which=which)
            case ("yes",):
                which = turn.get("which", "this")
                turn.drop("selected", OVER, "which")
                for id, start in selected:
                    delete_occurrence(turn, id, start, which)

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("selected"):
            turn.drop("selected")
        elif turn.get("searching"):
            turn.drop("searching", QUERY)
            turn.focus("")
        elif turn.get("opened"):
            turn.drop("opened")
        else:
            turn.close()

    def entered(self, turn: Turn, field: str) -> None:
        # The search shows what it finds while one types; enter only puts the keyboard away.
        turn.focus(field, keyboard=False)


def delete_occurrence(turn: Turn, id: int, start: int, which: str) -> None:
    """Delete an event; of one that is repeated, what was asked for."""
    row = turn.database(EVENTS_DB).row("events", id)
    if row is None:
        return
    if which == "all" or not number(row, "repeat_interval"):
        delete_events(turn, [id])
    elif which == "future":
        end_before(turn, id, start)
    else:
        skip_occurrence(turn, id, start)


def share(turn: Turn, said: str) -> None:
    if not turn.ask(to_send_text(said)):
        turn.toast("No app can take that")


def _show(turn: Turn, view: str) -> None:
    prefer(turn, PACKAGE, view=view)
    scrolled = {**turn.activity.scrolled, "week": px(WEEK_BEGINS_AT * HOUR_HEIGHT), "page": 0}
    turn.become(replace(turn.activity, scrolled=scrolled))


# The bar


def _top_bar(at: Scene) -> View:
    actions = [
        ("calendar", "today", ("today",)),
        ("list", "views", ("over", "views")),
        ("more", "more", ("over", "menu")),
    ]
    buttons = [icon_button(picture, label(at, name), does) for picture, name, does in at.taste.order("bar", actions)]
    if at.get("opened"):
        return app_bar("Daily view", up=("up",), actions=buttons)
    hint = text(label(at, "search"), color="faint", id="top_toolbar_search", grow=1, across="center", lines=1)
    pill = row(icon("search"), hint, *buttons, tap=("search",), gap=12, pad=(16, 0, 0, 0), fill="card", round=26,
               height=52)  # fmt: skip
    return column(pill, pad=(10, 6, 10, 6), height=64)


def _selection_bar(at: Scene) -> View:
    chosen, there = at.get("selected"), listed(at)
    actions = [
        ("share", "share", ("share",)),
        ("select", "select all", ("select_all",)),
        ("delete", "delete", ("delete",)),
    ]
    buttons = [icon_button(picture, label(at, name), does) for picture, name, does in at.taste.order("select", actions)]
    title = f"{len(chosen)} / {max(len(there), len(chosen))}"
    return app_bar(title, up=("unselect",), up_icon="close", actions=buttons, fill="soft")


# What lies over it


def _over(at: Scene) -> Iterable[View]:
    over = at.get(OVER)
    if over == "views":
        chosen = preference(at, PACKAGE, "view", "month")
        names = at.taste.order("views", list(VIEWS))
        entries = [radio(view_label(at, name), name == chosen, ("view", name)) for name in names]
        return [dialog("", entries, [], dismiss=("close",))]
    if over == "menu":
        lines: list[tuple[str, Event]] = [
            (label(at, "filter"), ("over", "filter")),
            ("Go to date", ("over", "goto")),
            (label(at, "types"), ("open", "ManageEventTypesActivity")),
            (label(at, "settings"), ("open", "SettingsActivity")),
            ("About", ("open", "AboutActivity")),
        ]
        return [menu(at.taste.order("menu", lines), ("close",))]
    if over == "goto":
        return [
            date_dialog(
                date.fromisoformat(at.get("picked")),
                date.fromisoformat(at.get("page")),
                tap="pick",
                turn="page",
                done=("go",),
                dismiss=("close",),
            )
        ]
    if over == "filter":
        hidden = hidden_types(at)
        boxes = [
            checkbox(row["id"] not in hidden, ("type", row["id"]), said=str(row["title"]))
            for row in at.rows(EVENTS_DB, "event_types")
        ]
        return [dialog("Show events of these types", boxes, [button("OK", ("close",))], dismiss=("close",))]
    if over == "fab":
        return [_choices(at)]
    if over == "delete":
        return [_delete_question(at)]
    return []


def _choices(at: Scene) -> View:
    """The two small buttons that come out of the large one."""

    def choice(picture: str, name: str, does: Event) -> View:
        words = text(name, size=15, fill="dialog", round=8, pad=(12, 8, 12, 8), across="center", tap=does)
        disc = View(kind="android.widget.ImageButton", desc=name, tap=does, width=44, height=44, across="center",
                    look=Look(fill="soft", round=22, icon=picture, size=22, color="on_soft"))  # fmt: skip
        return row(replace(words, told=False), disc, gap=12, pad=(0, 0, 6, 0), along="end")

    choices = [
        choice("task", label(at, "task"), ("new", TASK)),
        choice("calendar", label(at, "event"), ("new", EVENT)),
    ]
    close = fab("close", "Close", ("close",))
    return column(*at.taste.order("new", choices), close, gap=16, pad=(16, 16, 16, 24), along="end",
                  tap=("close",), fill="shade")  # fmt: skip


def _delete_question(at: Scene) -> View:
    selected = at.get("selected", ())
    many = f"the {len(selected)} selected events" if len(selected) > 1 else "the selected event"
    rows = [at.database(EVENTS_DB).row("events", id) for id, _ in selected]
    repeated = any(row is not None and number(row, "repeat_interval") for row in rows)
    return delete_dialog(at, f"Delete {many}? It cannot be brought back.", repeated)


def delete_dialog(at: Scene, said: str, repeated: bool) -> View:
    """The question before events are deleted; of those that are repeated, how much of them."""
    which = at.get("which", "this")
    choices = [radio(name, key == which, ("which", key)) for key, name in WHICH] if repeated else []
    buttons = [button(label(at, "no"), ("close",)), button(label(at, "yes"), ("yes",))]
    return dialog("", choices, buttons, dismiss=("close",), said=said)


# The search


def _search(at: Scene) -> View:
    query = at.get(QUERY, "")
    clear = [icon_button("close", "Clear", ("clear",))] if query else []
    entry = field(QUERY, query, hint=label(at, "search"), focused=True, grow=1, plain=True, id="search_src_text")
    bar = row(icon_button("back", "Navigate up", ("up",)), replace(entry, across="center"), *clear, height=64,
              pad=(4, 0, 4, 0), fill="bar")  # fmt: skip
    if at.get("selected"):
        bar = _selection_bar(at)
    if len(query.strip()) < LEAST_LETTERS:
        lines = [nothing(f"Type at least {LEAST_LETTERS} letters to start the search.")]
    else:
        lines = found_list(at)
    return column(bar, listing(lines, name="found"), fill="page")
