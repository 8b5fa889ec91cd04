"""The calendar's first screen: a month, a week, a day, a year or a list, and the search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby

from eapo_gym.envs.androidworld.phone.app import OVER, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    DAY,
    EVENT,
    EVENTS_DB,
    PACKAGE,
    TASK,
    YEAR,
    Occurrence,
    between,
    clock,
    colour_of,
    day_of,
    delete_events,
    end_before,
    hidden_types,
    is_completed,
    long_day,
    midnight,
    number,
    occurrences,
    on_day,
    skip_occurrence,
    spoken_time,
    week_start,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import VIEWS, label, view_label
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference
from eapo_gym.envs.androidworld.phone.ui.layout import px
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    TEXT,
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
    space,
    text,
)

NARROW = tuple("MTWTFSS")
QUERY = "query"
LEAST_LETTERS = 2
HOUR_HEIGHT = 52
WEEK_BEGINS_AT = 7
"""The hour that the week shows first."""

LIST_DAYS = 90
"""So many days more the list of events shows at a time."""

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
            frame = column(bar, *_BODIES[current_view(at)](at), fill="page")
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
                turn.keep(day=turn.now.date().isoformat())
                turn.drop("earlier", "later")
            case ("view", name):
                turn.drop(OVER, "opened", "earlier", "later")
                _show(turn, name)
            case ("step", way):
                turn.keep(day=_stepped(current_view(turn), shown_day(turn), way).isoformat())
            case ("swipe", ("left" | "right") as way) if current_view(turn) != "list" and not turn.get("searching"):
                self.on(turn, ("step", 1 if way == "left" else -1))
            case ("day", day):
                turn.keep(day=day, **({} if current_view(turn) == "month_day" else {"opened": True}))
            case ("month", day):
                turn.keep(day=day)
                _show(turn, "month")
            case ("pick", day):
                turn.keep(picked=day)
            case ("page", day):
                turn.keep(page=day)
            case ("go",):
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
                turn.keep(selected=tuple(each.key for each in _listed(turn)))
            case ("unselect",):
                turn.drop("selected", OVER)
            case ("share",):
                said = "\n".join(f"{each.title}, {spoken_time(turn, each)}" for each in _listed(turn)
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


def current_view(at: Scene) -> str:
    return "day" if at.get("opened") else preference(at, PACKAGE, "view", "month")


def shown_day(at: Scene) -> date:
    """The day, or some day of the week, month or year, that is shown."""
    day = at.get("day")
    return date.fromisoformat(day) if day else at.now.date()


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
    extras = {"text": said, "android.intent.extra.TEXT": said}
    if not turn.ask(Intent("android.intent.action.SEND", kind="text/plain", extras=extras)):
        turn.toast("No app can take that")


def _show(turn: Turn, view: str) -> None:
    prefer(turn, PACKAGE, view=view)
    scrolled = {**turn.activity.scrolled, "week": px(WEEK_BEGINS_AT * HOUR_HEIGHT), "page": 0}
    turn.become(replace(turn.activity, scrolled=scrolled))


def _stepped(view: str, day: date, way: int) -> date:
    try:
        if view in ("day", "week"):
            return day + timedelta(days=way * (7 if view == "week" else 1))
        if view == "year":
            return day.replace(year=day.year + way, day=1)
        months = day.year * 12 + day.month - 1 + way
        return date(months // 12, months % 12 + 1, 1)
    except (ValueError, OverflowError):
        # Beyond the first or the last day of all calendars.
        return day


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
               height=52, desc="")  # fmt: skip
    return column(pill, pad=(10, 6, 10, 6), height=64)


def _selection_bar(at: Scene) -> View:
    chosen, listed = at.get("selected"), _listed(at)
    actions = [
        ("share", "share", ("share",)),
        ("select", "select all", ("select_all",)),
        ("delete", "delete", ("delete",)),
    ]
    buttons = [icon_button(picture, label(at, name), does) for picture, name, does in at.taste.order("select", actions)]
    title = f"{len(chosen)} / {max(len(listed), len(chosen))}"
    return app_bar(title, up=("unselect",), up_icon="close", actions=buttons, fill="soft")


def _heading(title: str) -> View:
    """What is shown, and the ways to what comes before and after; a touch asks where to go."""
    name = text(title, size=20, along="center", across="center", grow=1, tap=("over", "goto"), id="top_value", lines=1)
    return row(
        icon_button("chevron_left", "Previous", ("step", -1), id="top_left_arrow"),
        name,
        icon_button("chevron", "Next", ("step", 1), id="top_right_arrow"),
        pad=(4, 0, 4, 0),
        height=52,
    )


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


# Lists of events


def _listed(at: Scene) -> list[Occurrence]:
    """The events that are on the screen or a scroll away, as lines of a list."""
    if at.get("searching"):
        return _found(at)
    if current_view(at) == "list":
        return _upcoming(at)
    return on_day(at, shown_day(at))


def event_line(at: Scene, each: Occurrence, day: date | None = None) -> View:
    """An event in a list: its colour, its title, when, and what else is known of it."""
    dim = max(each.end, each.start) < at.state.now and preference(at, PACKAGE, "dim_past", "1") == "1"
    color = "faint" if dim else "text"
    words = [
        text(each.title, size=17, color=color, lines=2, id="event_item_title"),
        text(spoken_time(at, each, day), size=14, color="faint", lines=1, id="event_item_time"),
    ]
    said = "  ".join(str(each.row[name]) for name in ("location", "description") if each.row[name])
    if said:
        words.append(text(" ".join(said.split()), size=14, color="faint", lines=2, id="event_item_description"))
    start = View(width=5, look=Look(fill=colour_of(at, each.row), round=3))
    inside = [start, column(*words, gap=2, grow=1)]
    if each.is_task:
        inside.append(icon("task", color="good" if is_completed(at, each) else "line"))
    chosen = each.key in at.get("selected", ())
    return row(
        *inside,
        gap=12,
        pad=(16, 10, 16, 10),
        tap=("event", each.id, each.start),
        hold=("select", each.id, each.start),
        fill="soft" if chosen else "",
        selected=chosen,
        id="event_item_holder",
    )


def _sections(at: Scene, events: Sequence[Occurrence], first: date | None = None) -> list[View]:
    """Lines of events under the names of their days."""
    lines = []
    today = at.now.date()

    def begins(each: Occurrence) -> date:
        day = day_of(each.start)
        return day if first is None else max(day, first)

    for day, group in groupby(events, begins):
        said = long_day(day) if day.year == today.year else f"{day:%B} {day.day} {day.year} ({day:%a})"
        said = f"Today, {said}" if day == today else said
        lines.append(text(said, size=14, bold=True, color="primary", pad=(16, 14, 16, 4), id="event_section_title"))
        lines += [event_line(at, each, day) for each in group]
    return lines


def _nothing(said: str) -> View:
    return text(said, color="faint", along="center", pad=(24, 48, 24, 24), id="no_events_placeholder")


def _day_lines(at: Scene, day: date) -> list[View]:
    lines = [event_line(at, each, day) for each in on_day(at, day)]
    return lines or [_nothing("No items found.")]


# The views


def _day(at: Scene) -> list[View]:
    day = shown_day(at)
    title = long_day(day) if day.year == at.now.year else f"{day:%B} {day.day} {day.year} ({day:%a})"
    return [_heading(title), listing([*_day_lines(at, day), space(height=88)], name=f"day {day}")]


def _upcoming(at: Scene) -> list[Occurrence]:
    low, high = _window(at)
    return between(at, low, high)


def _window(at: Scene) -> tuple[int, int]:
    """What the list shows: from today on, or whichever day was gone to, and more at either end when asked."""
    begin = midnight(shown_day(at)) - at.get("earlier", 0) * LIST_DAYS * DAY
    return begin, midnight(shown_day(at)) + (at.get("later", 0) + 1) * LIST_DAYS * DAY


def _list(at: Scene) -> list[View]:
    events = _upcoming(at)
    low, _ = _window(at)
    lines = _sections(at, events, day_of(low)) or [_nothing("No items found.")]
    earlier = row(button("Show earlier events", ("earlier",)), along="center", pad=(0, 4, 0, 0))
    later = row(button("Show later events", ("later",)), along="center", pad=(0, 8, 0, 8))
    return [listing([earlier, *lines, later, space(height=80)], name="page")]


def _weekdays(at: Scene) -> View:
    first = week_start(at, at.now.date()).weekday()
    names = [NARROW[(first + place) % 7] for place in range(7)]
    letters = [text(name, size=13, color="faint", along="center", grow=1) for name in names]
    return row(*(replace(each, told=False) for each in letters), height=24)


def _weeks(at: Scene, month: date) -> list[list[date]]:
    """Six weeks, which hold every month."""
    first = week_start(at, month.replace(day=1))
    return [[first + timedelta(days=7 * week + day) for day in range(7)] for week in range(6)]


def _by_day(at: Scene, days: Sequence[date]) -> dict[date, list[Occurrence]]:
    """What takes place on each of these days."""
    found: dict[date, list[Occurrence]] = {day: [] for day in days}
    for each in between(at, midnight(days[0]), midnight(days[-1]) + DAY):
        first, last = day_of(each.start), day_of(max(each.end - 1, each.start))
        for after in range((last - first).days + 1):
            day = first + timedelta(days=after)
            if day in found:
                found[day].append(each)
    return found


def _month_title(at: Scene) -> str:
    day = shown_day(at)
    return f"{day:%B}" if day.year == at.now.year else f"{day:%B} {day.year}"


def _month(at: Scene) -> list[View]:
    weeks = _weeks(at, shown_day(at))
    found = _by_day(at, [day for week in weeks for day in week])
    rows = [row(*(_cell(at, day, found[day]) for day in week), grow=1) for week in weeks]
    return [_heading(_month_title(at)), _weekdays(at), *rows]


MOST_STRIPS = 4


def _cell(at: Scene, day: date, events: Sequence[Occurrence]) -> View:
    """A day of the month with as many of its events as fit."""
    parts = [_day_number(at, day)]
    shown = events if len(events) <= MOST_STRIPS else events[: MOST_STRIPS - 1]
    for each in shown:
        look = Look(fill=colour_of(at, each.row), round=3, color="#ffffff", size=10, lines=1)
        parts.append(View(kind=TEXT, text=each.title, told=False, height=17, pad=(3, 0, 2, 0), look=look))
    if len(events) > len(shown):
        more = Look(color="faint", size=11, lines=1)
        parts.append(View(text=f"+{len(events) - len(shown)}", told=False, along="center", look=more))
    return _day_view(day, len(events), parts)


def _day_view(day: date, events: int, parts: Sequence[View], *, chosen: bool = False) -> View:
    told = f"{day.day} {day:%B}" + (f", {events} event{'s' if events > 1 else ''}" if events else "")
    return View(
        desc=told, tap=("day", day.isoformat()), hold=("new", EVENT, day.isoformat()), grow=1, gap=2, pad=(1, 2, 1, 0),
        selected=chosen, children=tuple(parts), look=Look(fill="card" if chosen else "", round=8),
    )  # fmt: skip


def _day_number(at: Scene, day: date) -> View:
    is_today, in_month = day == at.now.date(), day.month == shown_day(at).month
    color = "on_primary" if is_today else "text" if in_month else "line"
    weekend = preference(at, PACKAGE, "highlight_weekends", "0") == "1" and day.weekday() >= 5
    look = Look(fill="primary" if is_today else "", round=12, size=14, color="danger" if weekend else color, lines=1)
    return View(
        kind=TEXT, text=str(day.day), told=False, width=26, height=24, across="center", along="center", look=look
    )


def _month_day(at: Scene) -> list[View]:
    chosen = shown_day(at)
    weeks = _weeks(at, chosen)
    found = _by_day(at, [day for week in weeks for day in week])

    def cell(day: date) -> View:
        dots = [View(width=6, height=6, look=Look(fill=colour_of(at, each.row), round=3)) for each in found[day][:4]]
        line = row(*dots, gap=2, along="center", height=8)
        return _day_view(day, len(found[day]), [_day_number(at, day), line], chosen=day == chosen)

    rows = [row(*map(cell, week), height=42) for week in weeks]
    name = text(long_day(chosen), bold=True, size=15, pad=(16, 10, 16, 4), id="month_day_selected_day_label")
    return [
        _heading(_month_title(at)),
        _weekdays(at),
        *rows,
        name,
        listing([*_day_lines(at, chosen), space(height=88)], name=f"day {chosen}"),
    ]


def _week(at: Scene) -> list[View]:
    first = week_start(at, shown_day(at))
    days = [first + timedelta(days=place) for place in range(7)]
    last = days[-1]
    until = f"{last.day}" if last.month == first.month else f"{last:%b} {last.day}"
    year = "" if first.year == at.now.year else f" {first.year}"
    found = _by_day(at, days)
    names = row(space(width=40), *(_weekday(at, day) for day in days), height=48)
    whole = [[each for each in found[day] if each.all_day] for day in days]
    parts = [_heading(f"{first:%b} {first.day} - {until}{year}"), names]
    if any(whole):
        lines = [column(*(_block(at, each, 20) for each in events[:3]), gap=1, grow=1) for events in whole]
        parts.append(row(space(width=40), *lines, gap=1, pad=(0, 0, 4, 4)))
    hours = column(*(_hour(at, hour) for hour in range(24)))
    columns = row(
        replace(hours, width=40),
        *(_day_column(at, day, [each for each in found[day] if not each.all_day]) for day in days),
        height=24 * HOUR_HEIGHT,
        pad=(0, 0, 4, 0),
    )
    return [*parts, listing([columns, space(height=88)], name="week")]


def _weekday(at: Scene, day: date) -> View:
    color = "primary" if day == at.now.date() else "text"
    words = [
        replace(text(f"{day:%a}", size=12, along="center", color=color), told=False),
        replace(text(str(day.day), size=16, along="center", color=color, bold=color == "primary"), told=False),
    ]
    return column(*words, grow=1, tap=("day", day.isoformat()), desc=f"{day:%A}, {day.day} {day:%B}", along="center")


def _hour(at: Scene, hour: int) -> View:
    said = clock(at, hour * 3600)
    look = Look(size=11, color="faint", lines=1)
    return View(kind=TEXT, text=said, told=False, height=HOUR_HEIGHT, pad=(4, 0, 0, HOUR_HEIGHT - 18), look=look)


def _day_column(at: Scene, day: date, events: Sequence[Occurrence]) -> View:
    """A day as a column of the week: events that meet stand beside each other."""
    lines = column(*(column(View(height=1, look=Look(fill="line")), height=HOUR_HEIGHT) for _ in range(24)))
    blocks = []
    for each, lane, lanes in _lanes(events):
        top, bottom = max(each.start - midnight(day), 0), min(each.end - midnight(day), DAY)
        height = max(round((bottom - top) / 3600 * HOUR_HEIGHT), 18)
        block = _block(at, each, height)
        beside = [space(grow=1) for _ in range(lanes - 1)]
        blocks.append(
            column(
                row(*beside[:lane], replace(block, grow=1), *beside[lane:], gap=1),
                pad=(1, round(top / 3600 * HOUR_HEIGHT), 1, 0),
            )
        )
    return View(flow="stack", grow=1, children=(lines, *blocks))


def _block(at: Scene, each: Occurrence, height: int) -> View:
    look = Look(fill=colour_of(at, each.row), round=4, color="#ffffff", size=10, lines=max(height // 15, 1))
    return View(
        kind=TEXT, text=each.title, desc=f"{each.title}, {spoken_time(at, each)}", height=height, pad=(2, 0, 1, 0),
        tap=("event", each.id, each.start), hold=("select", each.id, each.start), look=look,
    )  # fmt: skip


def _lanes(events: Sequence[Occurrence]) -> list[tuple[Occurrence, int, int]]:
    """Every event with its lane, and how many lanes those take that meet each other."""
    placed: list[tuple[Occurrence, int, int]] = []
    group: list[tuple[Occurrence, int]] = []
    ends: list[int] = []

    def close() -> None:
        placed.extend((each, lane, len(ends)) for each, lane in group)
        group.clear()
        ends.clear()

    for each in events:
        if ends and each.start >= max(ends):
            close()
        lane = next((place for place, end in enumerate(ends) if end <= each.start), len(ends))
        ends[lane : lane + 1] = [max(each.end, each.start + 1200)]
        group.append((each, lane))
    close()
    return placed


def _year(at: Scene) -> list[View]:
    year = shown_day(at).year
    months = [date(year, month, 1) for month in range(1, 13)]
    busy = {day_of(each.start) for each in between(at, midnight(months[0]), midnight(date(year, 12, 31)) + DAY)}
    rows = [row(*(_small_month(at, month, busy) for month in months[at_ : at_ + 3]), grow=1, gap=8, pad=(8, 0, 8, 4))
            for at_ in range(0, 12, 3)]  # fmt: skip
    return [_heading(str(year)), *rows]


def _small_month(at: Scene, month: date, busy: set[date]) -> View:
    title = replace(text(f"{month:%B}", size=13, bold=True, along="center"), told=False)
    lines = []
    for week in _weeks(at, month):
        days = []
        for day in week:
            inside, today = day.month == month.month, day == at.now.date()
            color = "on_primary" if today else "danger" if day in busy else "text"
            look = Look(size=9, color=color, fill="primary" if today and inside else "", round=7, lines=1)
            days.append(View(text=str(day.day) if inside else "", told=False, grow=1, along="center", look=look))
        lines.append(row(*days, grow=1))
    return column(title, *lines, grow=1, tap=("month", month.isoformat()), desc=f"{month:%B}", gap=1)


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
        body = [_nothing(f"Type at least {LEAST_LETTERS} letters to start the search.")]
    else:
        body = _sections(at, _found(at)) or [_nothing("No items found.")]
    return column(bar, listing(body, name="found"), fill="page")


def _found(at: Scene) -> list[Occurrence]:
    """Events with the words in them; of one that is repeated, the time to come, else the first."""
    words = at.get(QUERY, "").strip().lower()
    hidden = hidden_types(at)
    now = int(at.state.now)
    found = []
    for each in at.rows(EVENTS_DB, "events"):
        fits = any(words in str(each[name]).lower() for name in ("title", "location", "description"))
        if fits and number(each, "event_type") not in hidden:
            first = Occurrence(each, number(each, "start_ts"), number(each, "end_ts"))
            repeated = occurrences([each], now, now + 5 * YEAR) if number(each, "repeat_interval") else iter(())
            found.append(next(repeated, first))
    return sorted(found, key=lambda each: (each.start, each.id))


_BODIES: dict[str, Callable[[Scene], list[View]]] = {
    "day": _day,
    "week": _week,
    "month": _month,
    "month_day": _month_day,
    "year": _year,
    "list": _list,
}
