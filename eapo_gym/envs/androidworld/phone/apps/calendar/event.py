"""The calendar's form: an event or a task is made, looked at, changed, copied and deleted here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timezone
from typing import ClassVar

from eapo_gym.envs.androidworld.phone.app import OVER, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    ALL_DAY,
    BLUE,
    DAY,
    EMPTY_EVENT,
    EVENT,
    EVENTS_DB,
    LAST_DAY,
    LAST_WEEKDAY,
    MONTH,
    OFF,
    PACKAGE,
    SAME_DAY,
    SAME_WEEKDAY,
    TASK,
    WEEK,
    YEAR,
    Occurrence,
    clock,
    colour_of,
    complete,
    css,
    day_of,
    end_before,
    is_completed,
    midnight,
    moment,
    number,
    skip_occurrence,
    spoken_time,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import interval_label, label
from eapo_gym.envs.androidworld.phone.apps.calendar.main import WHICH, delete_dialog, delete_occurrence, share
from eapo_gym.envs.androidworld.phone.databases import Row, Value
from eapo_gym.envs.androidworld.phone.preferences import preference
from eapo_gym.envs.androidworld.phone.ui.time_dialog import HOUR_FIELD, MINUTE_FIELD, TimePicker
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
    divider,
    field,
    icon,
    icon_button,
    listing,
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
    "Of its type": 0, "Red": -1754827, "Pink": -2614432, "Purple": -8708190, "Blue": BLUE, "Teal": -16738680,
    "Green": -13070788, "Orange": -1086464, "Brown": -8825528, "Grey": -11243910,
}  # fmt: skip
INTERVALS: Mapping[str, int] = {"none": 0, "daily": DAY, "weekly": WEEK, "monthly": MONTH, "yearly": YEAR}
UNITS = {"days": DAY, "weeks": WEEK, "months": MONTH, "years": YEAR}
MOST_REPEATED = 999
GUEST, TIMES, EVERY = "guest", "times", "every"

Draft = Mapping[str, Value]


class EventScreen(Screen):
    name = ".activities.EventActivity"
    kind: ClassVar[int] = EVENT

    def view(self, at: Scene) -> View:
        draft = _draft(at, self.kind)
        saved = at.get("id") is not None
        actions = [icon_button("check", label(at, "save"), ("save",), id="save")]
        if saved:
            actions.append(icon_button("delete", label(at, "delete"), ("delete",), id="delete"))
            actions.append(icon_button("more", label(at, "more"), ("over", "menu")))
        what = "task" if self.kind == TASK else "event"
        bar = app_bar(f"Edit {what}" if saved else f"New {what}", up=("up",), actions=at.taste.order("form", actions))
        body = listing([*self._form(at, draft), space(height=48)], name="form")
        return View(kind=FRAME, flow="stack", children=(column(bar, body, fill="page"), *_over(at, draft)))

    def _form(self, at: Scene, draft: Draft) -> list[View]:
        parts = [_dates(at, draft, self.kind), _reminders(draft), _repetition(at, draft), _type(at, draft)]
        if self.kind == EVENT:
            parts.append(_guests(at, draft))
        lines = _words(at, draft, self.kind)
        if self.kind == TASK and at.get("id") is not None:
            lines.append(_ticked(at))
        for part in at.taste.order("form parts", parts):
            lines += [divider(), *part]
        return lines

    def on(self, turn: Turn, event: Event) -> None:
        draft = _draft(turn, self.kind)
        match event:
            case ("close",):
                turn.drop(OVER)
            case ("up",):
                self.back(turn)
            case ("discard",):
                turn.close()
            case ("save",):
                turn.drop(OVER)
                self._save(turn, draft)
            case ("update", which):
                turn.drop(OVER)
                _update(turn, draft, which)
            case ("delete",):
                turn.keep(over="delete", which="this")
            case ("which", which):
                turn.keep(which=which)
            case ("yes",):
                which = turn.get("which", "this")
                delete_occurrence(turn, turn.get("id"), turn.get("start"), which)
                turn.close()
            case ("share",):
                turn.drop(OVER)
                start, end = number(draft, "start_ts"), number(draft, "end_ts")
                said = [str(draft["title"]), spoken_time(turn, Occurrence(draft, start, end)), str(draft["location"])]
                share(turn, ", ".join(filter(None, [said[0], f"{moment(start):%Y-%m-%d}", *said[1:]])))
            case ("duplicate",):
                turn.close()
                turn.open(self.name, copied={**draft, "repetition_exceptions": "[]", "parent_id": 0})
            case ("ticked",):
                occurrence = _opened(turn)
                if occurrence is not None:
                    done = is_completed(turn, occurrence)
                    complete(turn, occurrence.id, occurrence.start, done=not done)
                    turn.close()
            case ("map",):
                turn.toast("No app can show that on a map")
            case ("over", what, *rest):
                turn.keep(over=what, part=rest[0] if rest else "")
                turn.focus("")
            case _:
                self._on_times(turn, draft, event)

    def _on_times(self, turn: Turn, draft: Draft, event: Event) -> None:
        match event:
            case ("all_day",):
                turn.keep(**_with_all_day(draft, not number(draft, "flags") & ALL_DAY))
            case ("ask_date", name):
                shown = _date_of(draft, name)
                turn.keep(over="date", part=name, picked=shown, page=shown)
                turn.focus("")
            case ("pick", day):
                turn.keep(picked=day)
            case ("page", day):
                turn.keep(page=day)
            case ("picked",):
                turn.drop(OVER)
                day = date.fromisoformat(turn.get("picked"))
                _set_time(turn, draft, turn.get("part"), day=day)
            case ("ask_time", name):
                when = moment(number(draft, name))
                turn.keep(over="time", part=name, picker=TimePicker(when.hour, when.minute))
                turn.drop(HOUR_FIELD, MINUTE_FIELD)
                turn.focus("")
            case ("time", "cancel"):
                turn.drop(OVER, HOUR_FIELD, MINUTE_FIELD)
                turn.focus("")
            case ("time", "ok"):
                picker = turn.get("picker").with_typed(turn.get(HOUR_FIELD, ""), turn.get(MINUTE_FIELD, ""))
                if picker is None:
                    turn.toast("That is no time of day")
                    return
                turn.drop(OVER, HOUR_FIELD, MINUTE_FIELD)
                turn.focus("")
                _set_time(turn, draft, turn.get("part"), hour=picker.hour, minute=picker.minute)
            case ("time", "typed"):
                turn.keep(picker=turn.get("picker").after(event))
                turn.focus(HOUR_FIELD if turn.get("picker").typed else "")
            case ("time", *_):
                turn.keep(picker=turn.get("picker").after(event))
            case ("reminder", place, minutes):
                turn.drop(OVER)
                turn.keep(**{f"reminder_{place}_minutes": minutes})
            case _:
                self._on_choices(turn, draft, event)

    def _on_choices(self, turn: Turn, draft: Draft, event: Event) -> None:
        match event:
            case ("interval", name):
                turn.drop(OVER)
                turn.keep(**_repeated(draft, INTERVALS[name]))
            case ("custom", unit):
                count = turn.get(EVERY, "").strip()
                if not (count.isdecimal() and 0 < int(count[:4]) <= MOST_REPEATED):
                    turn.toast(f"Expected a number from 1 to {MOST_REPEATED}")
                    return
                turn.drop(OVER, EVERY)
                turn.focus("")
                turn.keep(**_repeated(draft, int(count) * UNITS[unit]))
            case ("weekday", place):
                # A week without any day would never come.
                days = number(draft, "repeat_rule") ^ 1 << place
                turn.keep(repeat_rule=days or 1 << place)
            case ("rule", rule):
                turn.drop(OVER)
                turn.keep(repeat_rule=rule)
            case ("forever",):
                turn.drop(OVER)
                turn.keep(repeat_limit=0)
            case ("till",):
                day = _date_of(draft, "start_ts")
                turn.keep(over="date", part="repeat_limit", picked=day, page=day)
            case ("times",):
                count = turn.get(TIMES, "").strip()
                if not (count.isdecimal() and 0 < int(count[:4]) <= MOST_REPEATED):
                    turn.toast(f"Expected a number from 1 to {MOST_REPEATED}")
                    return
                turn.drop(OVER, TIMES)
                turn.focus("")
                turn.keep(repeat_limit=-int(count))
            case ("type", id):
                turn.drop(OVER)
                turn.keep(event_type=id)
            case ("color", color):
                turn.drop(OVER)
                turn.keep(color=color)
            case ("no_guest", place):
                guests = _guest_list(draft)
                turn.keep(attendees=json.dumps(guests[:place] + guests[place + 1 :]) if len(guests) > 1 else "")
            case ("add_guest",):
                self.entered(turn, GUEST)

    def entered(self, turn: Turn, field: str) -> None:
        if field == GUEST and turn.get(GUEST, "").strip():
            guests = _guest_list(_draft(turn, self.kind))
            email = turn.get(GUEST).strip()
            turn.keep(attendees=json.dumps([*guests, {"name": "", "email": email}]), **{GUEST: ""})
        else:
            turn.focus("")

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif _changed(turn, self.kind):
            turn.keep(over="unsaved")
        else:
            turn.close()

    def _save(self, turn: Turn, draft: Draft) -> None:
        if not str(draft["title"]).strip():
            turn.toast("A title is missing")
            return
        if number(draft, "end_ts") < number(draft, "start_ts"):
            turn.toast("The event cannot end before it starts")
            return
        base = _base(turn, self.kind)
        if turn.get("id") is None:
            turn.insert(EVENTS_DB, "events", **_to_save(turn, draft))
            turn.close()
        elif not _changed(turn, self.kind):
            turn.close()
        elif number(base, "repeat_interval"):
            turn.keep(over="update")
        else:
            _update(turn, draft, "all")


class TaskScreen(EventScreen):
    name = ".activities.TaskActivity"
    kind = TASK


# What is being written


def _opened(at: Scene) -> Occurrence | None:
    """The occurrence that was opened, as it is in the database."""
    found = at.database(EVENTS_DB).row("events", at.extras.get("id"))
    if found is None:
        return None
    start = at.extras.get("start", number(found, "start_ts"))
    return Occurrence(found, start, start + number(found, "end_ts") - number(found, "start_ts"))


def _base(at: Scene, kind: int) -> Draft:
    """What is there before anything is written."""
    if at.extras.get("copied"):
        return dict(at.extras["copied"])
    found = _opened(at)
    if found is not None:
        return {**found.row, "start_ts": found.start, "end_ts": found.end}
    day = date.fromisoformat(at.extras.get("day", at.now.date().isoformat()))
    start = midnight(day) + (at.now.hour + 1) % 24 * 3600
    length = 0 if kind == TASK else 60 * int(preference(at, PACKAGE, "duration", "0"))
    reminder = int(preference(at, PACKAGE, "reminder", str(OFF)))
    given = {name: at.extras[name] for name in EMPTY_EVENT if name in at.extras}
    first = {"start_ts": start, "end_ts": start + length, "type": kind, "reminder_1_minutes": reminder}
    return {**EMPTY_EVENT, **first, **given}


def _draft(at: Scene, kind: int) -> Draft:
    return {**_base(at, kind), **{name: at.kept[name] for name in EMPTY_EVENT if name in at.kept}}


def _changed(at: Scene, kind: int) -> bool:
    base, draft = _base(at, kind), _draft(at, kind)
    return any(_stripped(draft[name]) != _stripped(base[name]) for name in EMPTY_EVENT)


def _stripped(value: Value) -> Value:
    return value.strip() if isinstance(value, str) else value


def _to_save(at: Scene, draft: Draft) -> dict[str, Value]:
    values = {name: _stripped(draft[name]) for name in EMPTY_EVENT}
    return {**values, "last_updated": int(at.state.now * 1000)}


def _update(turn: Turn, draft: Draft, which: str) -> None:
    """Save what was changed; of a repeated event, one time, all from then on, or all."""
    id, start = turn.get("id"), turn.get("start")
    found = turn.database(EVENTS_DB).row("events", id)
    if found is None:
        turn.insert(EVENTS_DB, "events", **_to_save(turn, draft))
    elif which == "this":
        skip_occurrence(turn, id, start)
        alone = {"repeat_interval": 0, "repeat_rule": 0, "repeat_limit": 0, "repetition_exceptions": "[]"}
        turn.insert(EVENTS_DB, "events", **{**_to_save(turn, draft), **alone, "parent_id": id})
    elif which == "future":
        end_before(turn, id, start)
        turn.insert(EVENTS_DB, "events", **_to_save(turn, draft))
    else:
        # All of them move by as much as the one did that was changed.
        moved = number(draft, "start_ts") - start
        length = number(draft, "end_ts") - number(draft, "start_ts")
        first = number(found, "start_ts") + moved
        values = {**_to_save(turn, draft), "start_ts": first, "end_ts": first + length}
        turn.update(EVENTS_DB, "events", lambda row: row["id"] == id, **values)
    turn.close()


def _date_of(draft: Draft, name: str) -> str:
    return day_of(number(draft, name)).isoformat()


def _with_all_day(draft: Draft, all_day: bool) -> dict[str, Value]:
    flags = number(draft, "flags") & ~ALL_DAY | (ALL_DAY if all_day else 0)
    first, last = midnight(day_of(number(draft, "start_ts"))), midnight(day_of(number(draft, "end_ts")))
    if all_day:
        return {"flags": flags, "start_ts": first, "end_ts": last + DAY // 2}
    return {"flags": flags, "start_ts": first + DAY // 2, "end_ts": max(last, first) + DAY // 2}


def _set_time(
    turn: Turn, draft: Draft, name: str, *, day: date | None = None, hour: int = -1, minute: int = -1
) -> None:
    """Another day or time: the end follows the start, and what is repeated weekly the day of the week."""
    if name == "repeat_limit":
        assert day is not None
        turn.keep(repeat_limit=midnight(day) + DAY - 1)
        return
    before = moment(number(draft, name))
    day = day or before.date()
    after = datetime(
        day.year, day.month, day.day, before.hour if hour < 0 else hour, before.minute if minute < 0 else minute,
        tzinfo=timezone.utc,
    )  # fmt: skip
    time = int(after.timestamp())
    if name == "end_ts":
        turn.keep(end_ts=time)
        return
    moved = time - number(draft, "start_ts")
    turn.keep(start_ts=time, end_ts=number(draft, "end_ts") + moved)
    weekly = number(draft, "repeat_interval") and not number(draft, "repeat_interval") % WEEK
    if weekly and number(draft, "repeat_rule") == 1 << before.weekday():
        turn.keep(repeat_rule=1 << after.weekday())


def _repeated(draft: Draft, interval: int) -> dict[str, Value]:
    """With the rule that such a repetition begins with."""
    kind = _unit(interval)
    rule = 1 << moment(number(draft, "start_ts")).weekday() if kind == WEEK else 0
    if kind in (MONTH, YEAR):
        rule = SAME_DAY
    return {"repeat_interval": interval, "repeat_rule": rule, **({} if interval else {"repeat_limit": 0})}


def _unit(interval: int) -> int:
    """Of which of the units an interval is made; 0 if of none."""
    return next((unit for unit in (YEAR, MONTH, WEEK, DAY) if interval and interval % unit == 0), 0)


def _guest_list(draft: Draft) -> list[Mapping[str, str]]:
    try:
        found = json.loads(str(draft["attendees"] or "[]"))
    except ValueError:
        return []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


# The form


def _line(picture: str, said: str, tap: Event | None, *, id: str = "", desc: str = "", end: View | None = None) -> View:
    words = replace(text(said, grow=1, across="center", id=id, lines=2), desc=desc)
    parts = [icon(picture), words] + ([end] if end is not None else [])
    return row(*parts, gap=16, pad=(16, 14, 16, 14), tap=tap)


def _words(at: Scene, draft: Draft, kind: int) -> list[View]:
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


def _dates(at: Scene, draft: Draft, kind: int) -> list[View]:
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


def _reminders(draft: Draft) -> list[View]:
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
    unit = _unit(interval)
    named = next((name for name, seconds in UNITS.items() if seconds == unit), "seconds")
    return f"Every {interval // (unit or 1)} {named}"


def _repetition(at: Scene, draft: Draft) -> list[View]:
    interval = number(draft, "repeat_interval")
    lines = [
        _line("repeat", _interval_name(at, interval), ("over", "repetition"), id="event_repetition",
              desc=label(at, "repetition"))
    ]  # fmt: skip
    if not interval:
        return lines
    kind = _unit(interval)
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
    yearly = _unit(number(draft, "repeat_interval")) == YEAR
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


def _type(at: Scene, draft: Draft) -> list[View]:
    kind = at.database(EVENTS_DB).row("event_types", draft["event_type"])
    disc = View(width=28, height=28, across="center", look=Look(fill=colour_of(at, draft), round=14))
    own = number(draft, "color")
    color = next((name for name, value in COLOURS.items() if value == own), css(own))
    return [
        _line("label", str(kind["title"]) if kind is not None else "Regular event", ("over", "type"), id="event_type",
              desc="Event type", end=disc),
        _line("edit", color, ("over", "color"), id="event_color", desc="Event color"),
    ]  # fmt: skip


def _guests(at: Scene, draft: Draft) -> list[View]:
    lines = []
    for place, guest in enumerate(_guest_list(draft)):
        said = str(guest.get("email") or guest.get("name") or "")
        lines.append(_line("person", said, None, end=icon_button("close", f"Remove {said}", ("no_guest", place))))
    written = str(at.get(GUEST, ""))
    entry = field(GUEST, written, hint="Add attendee by email", plain=True, focused=at.activity.focus == GUEST, grow=1)
    add = [icon_button("add", "Add attendee", ("add_guest",))] if written else []
    lines.append(row(replace(icon("people"), across="center"), entry, *add, gap=12, pad=(16, 4, 8, 4)))
    return lines


def _ticked(at: Scene) -> View:
    found = _opened(at)
    done = found is not None and is_completed(at, found)
    said = "Mark incomplete" if done else "Mark completed"
    return row(button(said, ("ticked",), style="soft"), along="center", pad=(0, 0, 0, 12))


# What lies over the form


def _over(at: Scene, draft: Draft) -> Iterable[View]:
    over = at.get(OVER)
    if over == "menu":
        entries = [(label(at, "share"), ("share",)), ("Duplicate", ("duplicate",))]
        return [menu(at.taste.order("form menu", entries), ("close",))]
    if over == "delete":
        repeated = bool(number(_base(at, 0), "repeat_interval"))
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
        units = [button(unit.capitalize(), ("custom", unit), grow=1) for unit in UNITS]
        return dialog("Repeat every", [entry, space(height=8), row(*units)], cancel, dismiss=("close",))
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
    if days == 1 and _unit(number(draft, "repeat_interval")) == MONTH:
        rules.append(LAST_DAY)
    return rules


def _colour(at: Scene, draft: Draft, name: str, color: int) -> View:
    shown = colour_of(at, {**draft, "color": color})
    disc = View(width=24, height=24, across="center", look=Look(fill=shown, round=12))
    chosen = number(draft, "color") == color
    words = View(kind=TEXT, text=name, grow=1, across="center", selected=chosen, look=Look(bold=chosen, lines=1))
    return row(disc, words, gap=16, height=40, pad=(8, 0, 8, 0), tap=("color", color), selected=chosen)
