"""The lines of the calendar's form, and the questions that lie over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from eapo_gym.envs.androidworld.phone.app import OVER, Scene
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    ALL_DAY,
    BLUE,
    DAY,
    EVENT,
    EVENTS_DB,
    LAST_DAY,
    LAST_WEEKDAY,
    MONTH,
    OFF,
    SAME_DAY,
    SAME_WEEKDAY,
    WEEK,
    YEAR,
    clock,
    colour_of,
    css,
    is_completed,
    moment,
    number,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.draft import (
    INTERVALS,
    Draft,
    base_of,
    guests_of,
    opened,
    unit_of,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import interval_label, label
from eapo_gym.envs.androidworld.phone.apps.calendar.main import WHICH, delete_dialog
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.ui.time_dialog import HOUR_FIELD, MINUTE_FIELD, TimePicker
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    TEXT,
    button,
    checkbox,
    column,
    date_dialog,
    dialog,
    field,
    icon,
    icon_button,
    menu,
    radio,
    row,
    space,
    switch,
    text,
)

REMINDERS = (OFF, 0, 5, 10, 15, 30, 60, 120, 1440, 10080)
"""Minutes before the event."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PLACES = ("first", "second", "third", "fourth", "fifth")
COLOURS = {
    "Default color": 0, "Red": -1754827, "Pink": -2614432, "Purple": -8708190, "Blue": BLUE, "Teal": -16738680,
    "Green": -13070788, "Orange": -1086464, "Brown": -8825528, "Grey": -11243910,
}  # fmt: skip
UNITS = {"days": DAY, "weeks": WEEK, "months": MONTH, "years": YEAR}
GUEST, TIMES, EVERY = "guest", "times", "every"
"""Under these names the form keeps what is typed beside the event itself."""


def _line(picture: str, said: str, tap: Event | None, *, id: str = "", desc: str = "", end: View | None = None) -> View:
    words = replace(text(said, grow=1, across="center", id=id, lines=2), desc=desc)
    parts = [icon(picture), words] + ([end] if end is not None else [])
    return row(*parts, gap=16, pad=(16, 14, 16, 14), tap=tap)


def text_lines(at: Scene, draft: Draft, kind: int) -> list[View]:
    def entry(name: str, lines: int = 1) -> View:
        focused = at.activity.focus == name
        return field(name, str(draft[name]), hint=label(at, name), lines=lines, id=f"event_{name}", focused=focused)

    names = [entry("title")]
    if kind == EVENT:
        place = entry("location")
        if draft["location"]:
            place = row(replace(place, grow=1), icon_button("globe", "Show on map", ("map",)), gap=4)
        names.append(place)
    names.append(entry("description", 3))
    return [column(*names, gap=8, pad=(16, 8, 16, 12))]


def date_lines(at: Scene, draft: Draft, kind: int) -> list[View]:
    all_day = bool(number(draft, "flags") & ALL_DAY)
    lines = [_line("clock", "All-day", ("all_day",), end=switch(all_day, id="event_all_day"))]
    lines.append(_when(at, draft, "start_ts", "start", all_day))
    if kind == EVENT:
        wrong = number(draft, "end_ts") < number(draft, "start_ts")
        lines.append(_when(at, draft, "end_ts", "end", all_day, color="danger" if wrong else "text"))
    return lines


def _when(at: Scene, draft: Draft, name: str, which: str, all_day: bool, *, color: str = "text") -> View:
    time = moment(number(draft, name))
    said = f"{time:%B} {time.day} {time.year} ({time:%a})"
    day = text(said, color=color, grow=1, id=f"event_{which}_date", tap=("ask_date", name), pad=(0, 12, 0, 12))
    parts = [replace(day, desc=f"{which.capitalize()} date")]
    if not all_day:
        hour = text(clock(at, number(draft, name)), color=color, id=f"event_{which}_time", tap=("ask_time", name),
                    pad=(16, 12, 0, 12))  # fmt: skip
        parts.append(replace(hour, desc=f"{which.capitalize()} time", along="end"))
    return row(*parts, pad=(56, 0, 16, 0))


def reminder_lines(draft: Draft) -> list[View]:
    """As many as were chosen, and one more."""
    lines = []
    for place in (1, 2, 3):
        minutes = number(draft, f"reminder_{place}_minutes")
        said = _before(minutes) if minutes != OFF else "No reminder" if place == 1 else "Add another reminder"
        lines.append(_line("alarm" if place == 1 else "add", said, ("over", "reminder", place),
                           id=f"event_reminder_{place}"))  # fmt: skip
        if minutes == OFF:
            break
    return lines


def _before(minutes: int) -> str:
    if minutes == OFF:
        return "No reminder"
    if minutes == 0:
        return "At start"
    for unit, length in (("week", 10080), ("day", 1440), ("hour", 60)):
        if minutes % length == 0:
            count = minutes // length
            return f"{count} {unit}{'s' if count > 1 else ''} before"
    return f"{minutes} minutes before"


def _interval_name(at: Scene, interval: int) -> str:
    for name, seconds in INTERVALS.items():
        if seconds == interval:
            return interval_label(at, name)
    unit = unit_of(interval)
    named = next((name for name, seconds in UNITS.items() if seconds == unit), "seconds")
    return f"Every {interval // (unit or 1)} {named}"


def repetition_lines(at: Scene, draft: Draft) -> list[View]:
    interval = number(draft, "repeat_interval")
    lines = [
        _line("repeat", _interval_name(at, interval), ("over", "repetition"), id="event_repetition",
              desc=label(at, "repetition"))
    ]  # fmt: skip
    if not interval:
        return lines
    kind = unit_of(interval)
    if kind == WEEK:
        lines.append(_under("Repeat on", _days_named(number(draft, "repeat_rule")), ("over", "weekdays")))
    elif kind in (MONTH, YEAR):
        lines.append(_under("Repeat", _rule_name(draft, number(draft, "repeat_rule")), ("over", "rule")))
    lines.append(_under("Repeat till", _limit_named(number(draft, "repeat_limit")), ("over", "limit")))
    return lines


def _under(name: str, said: str, tap: Event) -> View:
    value = replace(text(said, color="faint", along="end", lines=1), grow=2)
    return row(text(name, grow=1), value, gap=12, pad=(56, 12, 16, 12), tap=tap)


def _days_named(days: int) -> str:
    if days == 127:
        return "Every day"
    return ", ".join(name[:3] for place, name in enumerate(WEEKDAYS) if days & 1 << place)


def _rule_name(draft: Draft, rule: int) -> str:
    start = moment(number(draft, "start_ts"))
    yearly = unit_of(number(draft, "repeat_interval")) == YEAR
    of = f" of {start:%B}" if yearly else ""
    if rule == LAST_DAY:
        return "On the last day of the month"
    if rule == LAST_WEEKDAY:
        return f"On every last {start:%A}{of}"
    if rule == SAME_WEEKDAY:
        return f"On every {PLACES[(start.day - 1) // 7]} {start:%A}{of}"
    return f"On {start:%B} {start.day}" if yearly else f"On day {start.day}"


def _limit_named(limit: int) -> str:
    if limit == 0:
        return "Forever"
    return f"{-limit} times" if limit < 0 else f"{moment(limit):%B} {moment(limit).day} {moment(limit).year}"


def type_lines(at: Scene, draft: Draft) -> list[View]:
    kind = at.database(EVENTS_DB).row("event_types", draft["event_type"])
    disc = View(width=28, height=28, across="center", look=Look(fill=colour_of(at, draft), round=14))
    own = number(draft, "color")
    color = next((name for name, value in COLOURS.items() if value == own), css(own))
    return [
        _line("label", str(kind["title"]) if kind is not None else "Regular event", ("over", "type"), id="event_type",
              desc="Event type", end=disc),
        _line("edit", color, ("over", "color"), id="event_color", desc="Event color"),
    ]  # fmt: skip


def guest_lines(at: Scene, draft: Draft) -> list[View]:
    lines = []
    for place, guest in enumerate(guests_of(draft)):
        said = str(guest.get("email") or guest.get("name") or "")
        lines.append(_line("person", said, None, end=icon_button("close", f"Remove {said}", ("no_guest", place))))
    written = str(at.get(GUEST, ""))
    entry = field(GUEST, written, hint="Add attendee by email", plain=True, focused=at.activity.focus == GUEST, grow=1)
    add = [icon_button("add", "Add attendee", ("add_guest",))] if written else []
    lines.append(row(replace(icon("people"), across="center"), entry, *add, gap=12, pad=(16, 4, 8, 4)))
    return lines


def tick_line(at: Scene) -> View:
    found = opened(at)
    done = found is not None and is_completed(at, found)
    said = "Mark incomplete" if done else "Mark completed"
    return row(button(said, ("ticked",), style="soft"), along="center", pad=(0, 0, 0, 12))


# What lies over the form


def over_form(at: Scene, draft: Draft) -> Iterable[View]:
    over = at.get(OVER)
    if over == "menu":
        entries = [(label(at, "share"), ("share",)), ("Duplicate", ("duplicate",))]
        return [menu(at.taste.order("form menu", entries), ("close",))]
    if over == "delete":
        repeated = bool(number(base_of(at, 0), "repeat_interval"))
        return [delete_dialog(at, "Delete the event? It cannot be brought back.", repeated)]
    if over == "unsaved":
        buttons = [button("Discard", ("discard",)), button(label(at, "save"), ("save",))]
        return [dialog("", [], buttons, dismiss=("close",), said="Your changes are not saved yet.")]
    if over == "update":
        choices = [button(name, ("update", which), across="fill") for which, name in WHICH]
        return [dialog("Change", choices, [button("Cancel", ("close",))], dismiss=("close",))]
    if over == "date":
        picked, page = date.fromisoformat(at.get("picked")), date.fromisoformat(at.get("page"))
        return [date_dialog(picked, page, tap="pick", turn="page", done=("picked",), dismiss=("close",))]
    if over == "time":
        picker: TimePicker = at.get("picker")
        return [picker.view(at.get(HOUR_FIELD, ""), at.get(MINUTE_FIELD, ""), at.activity.focus)]
    if over is None:
        return []
    return [_choice(at, draft, over)]


def _choice(at: Scene, draft: Draft, over: str) -> View:
    """A question with a list of answers."""
    cancel = [button("Cancel", ("close",))]
    if over == "reminder":
        place = at.get("part")
        now = number(draft, f"reminder_{place}_minutes")
        choices = [radio(_before(minutes), minutes == now, ("reminder", place, minutes)) for minutes in REMINDERS]
        return dialog("Reminder", choices, cancel, dismiss=("close",))
    if over == "repetition":
        now = number(draft, "repeat_interval")
        choices = [radio(interval_label(at, name), seconds == now, ("interval", name))
                   for name, seconds in INTERVALS.items()]  # fmt: skip
        custom = now not in INTERVALS.values()
        choices.append(radio(interval_label(at, "custom"), custom, ("over", "custom")))
        return dialog(label(at, "repetition"), choices, cancel, dismiss=("close",))
    if over == "custom":
        entry = field(EVERY, at.get(EVERY, ""), hint="Number", focused=at.activity.focus == EVERY)
        units = [button(unit.capitalize(), ("custom", unit), style="soft", grow=1) for unit in UNITS]
        body = [entry, space(height=12), row(*units[:2], gap=8), space(height=8), row(*units[2:], gap=8)]
        return dialog("Repeat every", body, cancel, dismiss=("close",))
    if over == "weekdays":
        days = number(draft, "repeat_rule")
        boxes = [checkbox(bool(days & 1 << place), ("weekday", place), said=name)
                 for place, name in enumerate(WEEKDAYS)]  # fmt: skip
        return dialog("Repeat on", boxes, [button("OK", ("close",))], dismiss=("close",))
    if over == "rule":
        rules = _rules(draft)
        now = number(draft, "repeat_rule")
        return dialog("Repeat", [radio(_rule_name(draft, rule), rule == now, ("rule", rule)) for rule in rules],
                      cancel, dismiss=("close",))  # fmt: skip
    if over == "limit":
        entry = field(TIMES, at.get(TIMES, ""), hint="Number of times", focused=at.activity.focus == TIMES)
        now = number(draft, "repeat_limit")
        body = [
            radio("Forever", now == 0, ("forever",)),
            radio("Till a date", now > 0, ("till",)),
            text("A number of times", size=14, color="faint", pad=(8, 12, 0, 4)),
            row(replace(entry, grow=1), button("Set", ("times",)), gap=8),
        ]
        return dialog("Repeat till", body, cancel, dismiss=("close",))
    if over == "type":
        kinds: Sequence[Row] = at.rows(EVENTS_DB, "event_types")
        choices = [radio(str(kind["title"]), kind["id"] == draft["event_type"], ("type", kind["id"])) for kind in kinds]
        return dialog("Event type", choices, cancel, dismiss=("close",))
    colours = [_colour(at, draft, name, color) for name, color in COLOURS.items()]
    return dialog("Event color", colours, cancel, dismiss=("close",))


def _rules(draft: Draft) -> list[int]:
    """Of the ways to come again in a month, those that the first day allows."""
    start = moment(number(draft, "start_ts"))
    rules = [SAME_DAY, SAME_WEEKDAY]
    days = (date(start.year + start.month // 12, start.month % 12 + 1, 1) - start.date()).days
    if days <= 7:
        rules.append(LAST_WEEKDAY)
    if days == 1 and unit_of(number(draft, "repeat_interval")) == MONTH:
        rules.append(LAST_DAY)
    return rules


def _colour(at: Scene, draft: Draft, name: str, color: int) -> View:
    shown = colour_of(at, {**draft, "color": color})
    disc = View(width=24, height=24, across="center", look=Look(fill=shown, round=12))
    chosen = number(draft, "color") == color
    words = View(kind=TEXT, text=name, grow=1, across="center", selected=chosen, look=Look(bold=chosen, lines=1))
    return row(disc, words, gap=16, height=40, pad=(8, 0, 8, 0), tap=("color", color), selected=chosen)
