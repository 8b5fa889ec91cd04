"""Clock: alarms, the time here and elsewhere, timers, and a stopwatch.

All of it goes on while the app is closed: kept are the moments at which something began, never how far it has come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from eapo_gym.envs.androidworld.phone.app import OVER, App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.clock_cities import CITIES
from eapo_gym.envs.androidworld.phone.databases import Database, Row
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, set_preference, without_preferences
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    BUTTON,
    FRAME,
    IMAGE_BUTTON,
    TEXT,
    app_bar,
    bottom_bar,
    button,
    checkbox,
    column,
    dialog,
    divider,
    fab,
    field,
    floating,
    icon,
    icon_button,
    item,
    listing,
    menu,
    page,
    radio,
    row,
    snackbar,
    space,
    switch,
    switch_item,
    text,
)

PACKAGE = "com.google.android.deskclock"
_DATA = f"/data/user_de/0/{PACKAGE}"
ALARMS = f"{_DATA}/databases/alarms.db"
CLOCKS = f"{_DATA}/databases/clocks.db"

TABS = {"Alarm": "alarm", "Clock": "clock", "Timer": "timer", "Stopwatch": "stopwatch"}
RESET, RUNNING, PAUSED = 0, 1, 2
"""What the stopwatch or a timer does, as the app writes it down."""
ON, OFF = "true", "false"

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SNOOZE_LENGTHS = ("5 minutes", "10 minutes", "15 minutes", "20 minutes", "30 minutes")
SILENCE_AFTER = ("1 minute", "5 minutes", "10 minutes", "15 minutes", "20 minutes", "25 minutes", "Never")
_DIGITS = 6
_DAY_SECONDS = 86_400

_ALARM_TABLE = """CREATE TABLE alarm_templates (_id INTEGER PRIMARY KEY, hour INTEGER NOT NULL,
minutes INTEGER NOT NULL, daysofweek INTEGER NOT NULL, enabled INTEGER NOT NULL, vibrate INTEGER NOT NULL,
label TEXT NOT NULL, ringtone TEXT, delete_after_use INTEGER NOT NULL DEFAULT 0)"""
_TIMER_TABLE = """CREATE TABLE timers (_id INTEGER PRIMARY KEY, length INTEGER NOT NULL, total INTEGER NOT NULL,
state INTEGER NOT NULL, rest INTEGER NOT NULL, since INTEGER NOT NULL, label TEXT NOT NULL)"""
_LAP_TABLE = "CREATE TABLE laps (_id INTEGER PRIMARY KEY, at INTEGER NOT NULL)"
_CITY_TABLE = "CREATE TABLE selected_cities (_id INTEGER PRIMARY KEY, name TEXT NOT NULL)"


class DeskClock(Screen):
    """The four tabs."""

    name = "com.android.deskclock.DeskClock"

    def view(self, at: Scene) -> View:
        tab = _tab(at)
        names = at.taste.order("clock tabs", list(TABS))
        actions = [icon_button("more", "More options", ("menu",))]
        frame = column(
            app_bar(tab, actions=actions),
            _PARTS[tab](at),
            bottom_bar([(TABS[name], name) for name in names], tab, "tab"),
            fill="page",
        )
        return View(kind=FRAME, flow="stack", children=(frame, *_snackbar(at), *_over(at)))

    def on(self, turn: Turn, event: Event) -> None:
        if "undo" in turn.kept and event != ("undo",):
            # What was deleted can be brought back until something else is done.
            turn.drop("undo")
        match event:
            case ("tab", name):
                turn.drop(OVER)
                prefer(turn, PACKAGE, selected_tab=name)
            case ("menu",):
                turn.keep(**{OVER: ("menu",)})
            case ("close",):
                turn.drop(OVER)
            case ("settings",):
                turn.drop(OVER)
                turn.open(Settings.name)
            case ("screensaver",):
                turn.drop(OVER)
                turn.open(Screensaver.name)
            case ("cities",):
                turn.open(Cities.name)
            case ("remove_city", number):
                [city] = [each for each in turn.rows(CLOCKS, "selected_cities") if each["_id"] == number]
                turn.delete(CLOCKS, "selected_cities", lambda each: each["_id"] == number)
                turn.keep(undo=("selected_cities", dict(city), str(city["name"]) + " removed"))
            case ("undo",):
                table, values, _ = turn.kept["undo"]
                turn.insert(ALARMS if table == "alarm_templates" else CLOCKS, table, **values)
                turn.drop("undo")
            case (str() as name, *_) if name.startswith("alarm_"):
                _on_alarm(turn, event)
            case (str() as name, *_) if name.startswith("pick_"):
                _on_picker(turn, event)
            case (str() as name, *_) if name.startswith("timer_"):
                _on_timer(turn, event)
            case ("stopwatch", does):
                _on_stopwatch(turn, does)

    def back(self, turn: Turn) -> None:
        if OVER not in turn.kept and turn.get("adding") and turn.rows(CLOCKS, "timers"):
            turn.drop("adding", "digits")
        else:
            super().back(turn)

    def entered(self, turn: Turn, field: str) -> None:
        if field == "label":
            _on_alarm(turn, ("alarm_labelled",))
        elif field == "timer_label":
            _on_timer(turn, ("timer_labelled",))
        else:
            turn.focus("")


def _tab(at: Scene) -> str:
    tab = preference(at, PACKAGE, "selected_tab")
    return tab if tab in TABS else "Clock"


def _preferred_number(at: Scene, name: str) -> int:
    kept = preference(at, PACKAGE, name, "0")
    return int(kept) if kept.isdigit() else 0


def _snackbar(at: Scene) -> list[View]:
    """What was deleted, and the way to have it back."""
    if "undo" not in at.kept:
        return []
    bar = snackbar(at.kept["undo"][2], "Undo", ("undo",))
    return [View(flow="column", along="end", pad=(0, 0, 0, 72), children=(bar,))]


def _over(at: Scene) -> list[View]:
    """The menu or dialog that lies over the tabs."""
    match at.get(OVER):
        case ("menu",):
            names: list[tuple[str, Event]] = [
                (at.taste.choose("clock screen saver", "Screen saver", "Night clock", "Screensaver"), ("screensaver",)),
                ("Settings", ("settings",)),
            ]
            return [menu(at.taste.order("clock menu", names), ("close",))]
        case ("time", *_):
            return [_picker(at)]
        case ("label", _):
            return [_label_dialog(at, "label", ("alarm_labelled",), "Label")]
        case ("timer label", _):
            return [_label_dialog(at, "timer_label", ("timer_labelled",), "Timer name")]
    return []


def _label_dialog(at: Scene, name: str, done: Event, title: str) -> View:
    body = [field(name, str(at.get(name, "")), hint="Label", focused=at.activity.focus == name)]
    return dialog(title, body, [button("Cancel", ("close",)), button("OK", done)], dismiss=("close",))


# Alarms


def _alarms(at: Scene) -> View:
    rows = sorted(at.rows(ALARMS, "alarm_templates"), key=lambda each: (each["hour"], each["minutes"], each["_id"]))
    cards = [_alarm_card(at, each, is_open=at.get("open") == each["_id"]) for each in rows]
    empty = [] if cards else [text("No alarms", color="faint", along="center", pad=(0, 120, 0, 0))]
    under = column(listing([*cards, *empty, space(height=96)], name="alarms", gap=12, pad=(12, 8, 12, 0)), grow=1)
    return _with_fab(under, fab("add", "Add alarm", ("alarm_add",)))


def _alarm_card(at: Scene, alarm: Row, *, is_open: bool) -> View:
    number, days, on = alarm["_id"], _whole(alarm["daysofweek"]), bool(alarm["enabled"])
    label = str(alarm["label"])
    color = "text" if on else "faint"
    time = text(clock_time(_whole(alarm["hour"]), _whole(alarm["minutes"])), size=36, color=color,
                tap=("alarm_time", number), id="digital_clock", grow=1)  # fmt: skip
    arrow = icon_button(
        "up" if is_open else "down", "Collapse alarm" if is_open else "Expand alarm", ("alarm_open", number)
    )
    named = [text(label, size=14, color=color, lines=1, id="label")] if label and not is_open else []
    if is_open:
        words = label or "Add label"
        named = [item(words, tap=("alarm_label", number), start=icon("label"), id="edit_label")]
    said = text(_days_said(alarm, at.now), size=14, color=color, grow=1, across="center", id="days_of_week")
    inside = [
        *([] if is_open else named),
        row(time, arrow),
        row(said, switch(on, ("alarm_switch", number), desc="Alarm", id="onoff")),
    ]
    if is_open:
        first = 6 if preference(at, PACKAGE, "week_start") == "Sunday" else 0
        week = [(first + place) % 7 for place in range(7)]
        inside += [
            row(*(_day(number, day, bool(days & 1 << day)) for day in week), gap=6, pad=(0, 8, 0, 0), along="center"),
            *named,
            item(_ringtone(alarm), tap=("alarm_ringtone", number), start=icon("alarm"), id="choose_ringtone"),
            item("Vibrate", start=icon("sound"), end=checkbox(bool(alarm["vibrate"])), tap=("alarm_vibrate", number)),
            item("Delete", tap=("alarm_delete", number), start=icon("delete")),
        ]
    return column(*inside, fill="card", round=16, pad=(16, 12, 8, 12), gap=4, tap=("alarm_open", number))


def _day(number: object, day: int, on: bool) -> View:
    look = Look(fill="primary" if on else "", border="" if on else "line", round=18, size=14,
                color="on_primary" if on else "text")  # fmt: skip
    return View(
        kind="android.widget.CheckBox", text=DAYS[day][0], desc=DAYS[day], tap=("alarm_day", number, day), checked=on,
        width=36, height=36, along="center", across="center", look=look,
    )  # fmt: skip


def _days_said(alarm: Row, now: datetime) -> str:
    days = _whole(alarm["daysofweek"])
    if days == 0b1111111:
        return "Every day"
    if days:
        return ", ".join(name[:3] for place, name in enumerate(DAYS) if days & 1 << place)
    if not alarm["enabled"]:
        return "Not scheduled"
    later = (alarm["hour"], alarm["minutes"]) > (now.hour, now.minute)
    return "Today" if later else "Tomorrow"


_RINGTONES = ("Cesium", "Argon", "Helium", "Krypton", "Neptunium", "Oxygen", "Silent")


def _ringtone(alarm: Row) -> str:
    name = str(alarm["ringtone"] or _RINGTONES[0])
    return name if name == "Silent" else f"Ringtone {name}"


def _on_alarm(turn: Turn, event: Event) -> None:
    match event:
        case ("alarm_add",):
            _pick_time(turn, 0, turn.now.hour, turn.now.minute)
        case ("alarm_open", number):
            turn.keep(open=None if turn.get("open") == number else number)
        case ("alarm_time", number):
            alarm = _alarm(turn, number)
            _pick_time(turn, number, _whole(alarm["hour"]), _whole(alarm["minutes"]))
        case ("alarm_switch", number):
            _set_alarm(turn, number, enabled=0 if _alarm(turn, number)["enabled"] else 1)
            _say_when(turn, number)
        case ("alarm_day", number, day):
            _set_alarm(turn, number, daysofweek=_whole(_alarm(turn, number)["daysofweek"]) ^ 1 << day)
        case ("alarm_vibrate", number):
            _set_alarm(turn, number, vibrate=0 if _alarm(turn, number)["vibrate"] else 1)
        case ("alarm_ringtone", number):
            now = str(_alarm(turn, number)["ringtone"] or _RINGTONES[0])
            place = _RINGTONES.index(now) + 1 if now in _RINGTONES else 0
            _set_alarm(turn, number, ringtone=_RINGTONES[place % len(_RINGTONES)])
        case ("alarm_label", number):
            turn.keep(**{OVER: ("label", number), "label": str(_alarm(turn, number)["label"])})
            turn.focus("label")
        case ("alarm_labelled",):
            _set_alarm(turn, turn.kept[OVER][1], label=str(turn.get("label", "")).strip())
            turn.focus("")
            turn.drop(OVER, "label")
        case ("alarm_delete", number):
            alarm = _alarm(turn, number)
            turn.delete(ALARMS, "alarm_templates", lambda each: each["_id"] == number)
            turn.keep(undo=("alarm_templates", dict(alarm), "Alarm deleted"), open=None)


def _alarm(at: Scene, number: object) -> Row:
    return next(each for each in at.rows(ALARMS, "alarm_templates") if each["_id"] == number)


def _set_alarm(turn: Turn, number: object, **values: str | int) -> None:
    turn.update(ALARMS, "alarm_templates", lambda each: each["_id"] == number, **values)


def _say_when(turn: Turn, number: object) -> None:
    """How long it is until an alarm that was switched on."""
    alarm = _alarm(turn, number)
    if not alarm["enabled"]:
        return
    minutes = math.ceil((next_alarm(alarm, turn.state.now) - turn.state.now) / 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [_count(days, "day"), _count(hours, "hour"), _count(minutes, "minute")]
    said = ", ".join(part for part in parts if part) or "less than a minute"
    turn.toast(f"Alarm set for {said} from now.")


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}" if number else ""


def next_alarm(alarm: Row, after: float) -> float:
    """The first moment later than `after` at which the alarm rings."""
    days = _whole(alarm["daysofweek"]) or 0b1111111
    then = datetime.fromtimestamp(after, timezone.utc)
    day = then.replace(hour=_whole(alarm["hour"]), minute=_whole(alarm["minutes"]), second=0, microsecond=0)
    while day.timestamp() <= after or not days & 1 << day.weekday():
        day += timedelta(days=1)
    return day.timestamp()


def clock_time(hour: int, minute: int) -> str:
    return f"{(hour - 1) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


# The dialog that asks for a time of the day


def _pick_time(turn: Turn, number: object, hour: int, minute: int) -> None:
    turn.keep(**{OVER: ("time", number), "hour": hour, "minute": minute, "part": "hour", "typing": False})


def _picker(at: Scene) -> View:
    hour, minute, typing = at.kept["hour"], at.kept["minute"], bool(at.get("typing"))
    shown = (hour - 1) % 12 + 1
    part = at.get("part")
    halves = column(
        _half("AM", chosen=hour < 12), _half("PM", chosen=hour >= 12), gap=4, pad=(8, 0, 0, 0), along="center"
    )
    if typing:
        boxes = [
            _typed_number(at, "typed_hour", "Hour"),
            text(":", size=40, pad=(4, 0, 4, 0), across="center"),
            _typed_number(at, "typed_minute", "Minute"),
        ]
        below: list[View] = []
    else:
        boxes = [
            _number_box(f"{shown:02d}", ("pick_part", "hour"), f"{shown} o'clock", chosen=part == "hour"),
            text(":", size=40, pad=(4, 0, 4, 0), across="center"),
            _number_box(f"{minute:02d}", ("pick_part", "minute"), f"{minute} minutes", chosen=part == "minute"),
        ]
        numbers = [12, *range(1, 12)] if part == "hour" else list(range(0, 60, 5))
        below = [_dial(numbers, shown if part == "hour" else minute, part == "minute")]
    mode = icon_button(
        "clock" if typing else "edit",
        "Switch to clock mode for the time input." if typing else "Switch to text input mode for the time input.",
        ("pick_mode",),
    )
    buttons = [mode, space(grow=1), button("Cancel", ("close",)), button("OK", ("pick_done",))]
    return dialog(
        "", [text("Select time", size=14, color="faint"), row(*boxes, halves, pad=(0, 12, 0, 12)), *below], buttons,
        dismiss=("close",),
    )  # fmt: skip


def _number_box(said: str, tap: Event, desc: str, *, chosen: bool) -> View:
    look = Look(fill="soft" if chosen else "field", round=8, size=44, color="on_soft" if chosen else "text", lines=1)
    return View(kind=TEXT, text=said, desc=desc, tap=tap, selected=chosen, width=88, height=80, along="center",
                across="center", look=look)  # fmt: skip


def _typed_number(at: Scene, name: str, hint: str) -> View:
    written = field(name, str(at.get(name, "")), hint=hint, size=24, focused=at.activity.focus == name, height=72)
    return replace(written, width=88, across="center")


def _half(said: str, *, chosen: bool) -> View:
    look = Look(fill="soft" if chosen else "", border="line", round=8, size=15, color="on_soft" if chosen else "faint")
    return View(kind="android.widget.RadioButton", text=said, tap=("pick_half", said), checked=chosen, width=56,
                height=38, along="center", look=look)  # fmt: skip


_DIAL, _KNOB, _ROUND = 264, 44, 108


def _dial(numbers: Sequence[int], chosen: int, two_digits: bool) -> View:
    """The face of a clock, with a number to touch at every twelfth of it."""
    knobs = []
    for place, number in enumerate(numbers):
        angle = math.tau * place / len(numbers)
        x = round(_DIAL / 2 + _ROUND * math.sin(angle) - _KNOB / 2)
        y = round(_DIAL / 2 - _ROUND * math.cos(angle) - _KNOB / 2)
        on = number == chosen
        look = Look(fill="primary" if on else "", round=22, color="on_primary" if on else "text")
        knob = View(kind="android.view.View", text=f"{number:02d}" if two_digits else str(number), selected=on,
                    tap=("pick_number", number), width=_KNOB, height=_KNOB, across="start", along="center",
                    look=look)  # fmt: skip
        knobs.append(View(pad=(x, y, 0, 0), children=(knob,)))
    hub = View(width=8, height=8, across="center", look=Look(fill="primary", round=4))
    return View(flow="stack", width=_DIAL, height=_DIAL, across="center", look=Look(fill="field", round=132),
                children=(hub, *knobs))  # fmt: skip


def _on_picker(turn: Turn, event: Event) -> None:
    hour = turn.kept["hour"]
    match event:
        case ("pick_part", part):
            turn.keep(part=part)
        case ("pick_number", number) if turn.get("part") == "hour":
            turn.keep(hour=number % 12 + (12 if hour >= 12 else 0), part="minute")
        case ("pick_number", number):
            turn.keep(minute=number)
        case ("pick_half", half):
            turn.keep(hour=hour % 12 + (12 if half == "PM" else 0))
        case ("pick_mode",):
            if turn.get("typing"):
                _take_typed(turn)
                turn.focus("")
            else:
                shown = str((hour - 1) % 12 + 1)
                turn.keep(typing=True, typed_hour=shown, typed_minute=f"{turn.kept['minute']:02d}")
        case ("pick_done",):
            if not _take_typed(turn):
                turn.toast("Enter a valid time")
                return
            number, hour, minute = turn.kept[OVER][1], turn.kept["hour"], turn.kept["minute"]
            turn.focus("")
            turn.drop(OVER)
            if number:
                _set_alarm(turn, number, hour=hour, minutes=minute, enabled=1)
            else:
                number = turn.insert(
                    ALARMS, "alarm_templates", hour=hour, minutes=minute, daysofweek=0, enabled=1, vibrate=1, label=""
                )
            turn.keep(open=number)
            _say_when(turn, number)


def _take_typed(turn: Turn) -> bool:
    """What was typed becomes the time; False if it is none."""
    if not turn.get("typing"):
        return True
    typed_hour, typed_minute = str(turn.get("typed_hour")).strip(), str(turn.get("typed_minute")).strip()
    if not (_is_number(typed_hour, 1, 12) and _is_number(typed_minute, 0, 59)):
        return False
    half = 12 if turn.kept["hour"] >= 12 else 0
    turn.keep(hour=int(typed_hour) % 12 + half, minute=int(typed_minute), typing=False)
    return True


def _is_number(typed: str, low: int, high: int) -> bool:
    return typed.isascii() and typed.isdigit() and len(typed) <= 2 and low <= int(typed) <= high


# The time


def _clocks(at: Scene) -> View:
    now = at.now
    here = [
        text(_shown_time(at, now), size=64, along="center", pad=(0, 48, 0, 0), id="digital_clock"),
        text(f"{now:%a, %B} {now.day}", size=16, color="faint", along="center", id="date", pad=(0, 4, 0, 40)),
    ]
    cities = [_city(at, each) for each in at.rows(CLOCKS, "selected_cities")]
    body = listing([*here, *([divider()] if cities else []), *cities, space(height=96)], name="clocks")
    return _with_fab(column(body, grow=1), fab("globe", "Cities", ("cities",)))


def _shown_time(at: Scene, when: datetime) -> str:
    said = clock_time(when.hour, when.minute)
    if preference(at, PACKAGE, "seconds") == ON:
        head, _, half = said.partition(" ")
        said = f"{head}:{when.second:02d} {half}"
    return said


def _city(at: Scene, city: Row) -> View:
    name = str(city["name"])
    country, hours = CITIES.get(name, ("", 0.0))
    there = at.now + timedelta(hours=hours)
    day = {-1: "Yesterday, ", 0: "", 1: "Tomorrow, "}[(there.date() - at.now.date()).days]
    ahead = f"{abs(hours):g} hr {'ahead' if hours > 0 else 'behind'}" if hours else "Same time"
    time = text(clock_time(there.hour, there.minute), size=24, across="center", id="digital_clock")
    return item(name, f"{country} · {day}{ahead}", end=time, hold=("remove_city", city["_id"]), id="city_name")


class Cities(Screen):
    """All cities, with those checked whose time is shown."""

    name = "com.android.deskclock.worldclock.CitySelectionActivity"

    def view(self, at: Scene) -> View:
        wanted = str(at.get("search", "")).strip().lower()
        chosen = {str(each["name"]) for each in at.rows(CLOCKS, "selected_cities")}
        by_time = at.get("order") == "time"
        names = sorted(CITIES, key=lambda name: (CITIES[name][1] if by_time else 0, name))
        found = [name for name in names if wanted in name.lower() or wanted in CITIES[name][0].lower()]
        rows = [_city_line(at, name, name in chosen) for name in found]
        body = rows or [text("No cities found", color="faint", along="center", pad=(0, 48, 0, 0))]
        searching = field(
            "search", str(at.get("search", "")), hint="Search for a city", focused=bool(at.activity.focus)
        )
        over = [menu([("Sort by name" if by_time else "Sort by time", ("sort",))], ("close",))] if at.get(OVER) else []
        return page(
            "Cities", body, up=("up",), above=[column(searching, pad=(16, 0, 16, 8))], over=over,
            actions=[icon_button("more", "More options", ("menu",))],
        )  # fmt: skip

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("menu",):
                turn.keep(**{OVER: "menu"})
            case ("close",):
                turn.drop(OVER)
            case ("sort",):
                turn.drop(OVER)
                turn.keep(order="name" if turn.get("order") == "time" else "time")
            case ("city", name):
                if name in {each["name"] for each in turn.rows(CLOCKS, "selected_cities")}:
                    turn.delete(CLOCKS, "selected_cities", lambda each: each["name"] == name)
                else:
                    turn.insert(CLOCKS, "selected_cities", name=name)


def _city_line(at: Scene, name: str, chosen: bool) -> View:
    country, hours = CITIES[name]
    there = at.now + timedelta(hours=hours)
    time = text(clock_time(there.hour, there.minute), size=14, color="faint", across="center")
    return item(name, country, tap=("city", name), start=checkbox(chosen), end=time)


# Timers


def _timers(at: Scene) -> View:
    timers = at.rows(CLOCKS, "timers")
    if timers and not at.get("adding"):
        cards = [_timer_card(at, each) for each in timers]
        body = listing([*cards, space(height=96)], name="timers", gap=12, pad=(12, 8, 12, 0))
        return _with_fab(column(body, grow=1), fab("add", "Add timer", ("timer_add",)))
    return _timer_setup(at, others=bool(timers))


def _timer_setup(at: Scene, *, others: bool) -> View:
    hours, minutes, seconds = timer_parts(str(at.get("digits", "")))
    said = f"{hours:02d}h {minutes:02d}m {seconds:02d}s"
    time = View(
        kind=TEXT, text=said, desc=f"{hours} hours, {minutes} minutes, {seconds} seconds", id="timer_setup_time",
        along="center", look=Look(size=46, lines=1),
    )  # fmt: skip
    is_set = bool(hours or minutes or seconds)
    keys = [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"], ["00", "0", "backspace"]]
    pad = column(*(row(*map(_timer_key, line), gap=12, along="center") for line in keys), gap=12, grow=1)
    start = _round("play", "Start", ("timer_start",)) if is_set else space(width=72, height=72)
    cancel = icon_button("close", "Cancel", ("timer_cancel",)) if others else space(width=48)
    bottom = row(cancel, space(grow=1), start, space(grow=1), space(width=48), pad=(24, 8, 24, 16))
    return column(time, pad, bottom, grow=1, pad=(0, 40, 0, 0), gap=28)


def timer_parts(digits: str) -> tuple[int, int, int]:
    """Hours, minutes and seconds of the digits that were typed: the last two are the seconds."""
    digits = digits.rjust(_DIGITS, "0")
    return int(digits[:2]), int(digits[2:4]), int(digits[4:])


def _timer_key(key: str) -> View:
    desc = "Delete" if key == "backspace" else ""
    return View(
        kind=IMAGE_BUTTON if desc else BUTTON, text="" if desc else key, desc=desc, width=84, height=84,
        tap=("timer_key", key), hold=("timer_key", "clear") if desc else None, along="center", across="center",
        look=Look(fill="soft" if desc else "card", round=42, size=28, icon=key if desc else "", color="text"),
    )  # fmt: skip


def _timer_card(at: Scene, timer: Row) -> View:
    number, state, total = timer["_id"], timer["state"], _whole(timer["total"])
    rest = timer_rest(timer, at.state.now)
    label = str(timer["label"]) or _length_said(_whole(timer["length"]))
    share = min(max(rest / total, 0.0), 1.0) if total else 0.0
    over = rest <= 0 and state == RUNNING
    head = row(
        text(label, grow=1, across="center", lines=1, tap=("timer_label", number), id="timer_label"),
        icon_button("close", "Delete timer", ("timer_delete", number)),
    )
    time = text(_countdown(rest), size=48, along="center", color="danger" if over else "text", id="timer_time_text")
    bar = row(
        View(height=6, grow=max(round(share * 1000), 1), look=Look(fill="danger" if over else "primary", round=3)),
        View(height=6, grow=max(1000 - round(share * 1000), 1), look=Look(fill="line", round=3)),
    )
    side = button("+1:00", ("timer_more", number), style="outlined") if state == RUNNING else \
        button("Reset", ("timer_reset", number), style="outlined", enabled=rest != total)  # fmt: skip
    if over:
        main = button("Stop", ("timer_reset", number), style="filled")
    elif state == RUNNING:
        main = _pill("pause", "Pause", ("timer_pause", number))
    else:
        main = _pill("play", "Start", ("timer_resume", number))
    return column(
        head, time, bar, row(side, space(grow=1), main, pad=(0, 8, 0, 0)), fill="card", round=16, pad=(16, 8, 12, 16),
        gap=8,
    )  # fmt: skip


def timer_rest(timer: Row, now: float) -> int:
    """The milliseconds that a timer still has; below 0 once it is over."""
    rest = _whole(timer["rest"])
    return rest - (_ms(now) - _whole(timer["since"])) if timer["state"] == RUNNING else rest


def _countdown(milliseconds: int) -> str:
    seconds = math.ceil(milliseconds / 1000)
    minutes, seconds = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    said = f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"
    return f"-{said}" if milliseconds < 0 and (hours or minutes or seconds) else said


def _length_said(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if number]
    return f"{' '.join(parts)} timer"


def _on_timer(turn: Turn, event: Event) -> None:
    match event:
        case ("timer_key", "backspace"):
            turn.keep(digits=str(turn.get("digits", ""))[:-1])
        case ("timer_key", "clear"):
            turn.keep(digits="")
        case ("timer_key", key):
            digits = (str(turn.get("digits", "")) + key).lstrip("0")
            if len(digits) <= _DIGITS:
                turn.keep(digits=digits)
        case ("timer_add",):
            turn.keep(adding=True, digits="")
        case ("timer_cancel",):
            turn.drop("adding", "digits")
        case ("timer_start",):
            hours, minutes, seconds = timer_parts(str(turn.get("digits", "")))
            length = ((hours * 60 + minutes) * 60 + seconds) * 1000
            now = _ms(turn.state.now)
            turn.insert(CLOCKS, "timers", length=length, total=length, state=RUNNING, rest=length, since=now, label="")
            turn.drop("adding", "digits")
        case ("timer_label", number):
            label = str(_timer(turn, number)["label"])
            turn.keep(**{OVER: ("timer label", number), "timer_label": label})
            turn.focus("timer_label")
        case ("timer_labelled",):
            _set_timer(turn, turn.kept[OVER][1], label=str(turn.get("timer_label", "")).strip())
            turn.focus("")
            turn.drop(OVER, "timer_label")
        case ("timer_pause", number):
            rest = timer_rest(_timer(turn, number), turn.state.now)
            _set_timer(turn, number, state=PAUSED, rest=rest)
        case ("timer_resume", number):
            _set_timer(turn, number, state=RUNNING, since=_ms(turn.state.now))
        case ("timer_reset", number):
            length = _whole(_timer(turn, number)["length"])
            _set_timer(turn, number, state=RESET, rest=length, total=length)
        case ("timer_more", number):
            timer = _timer(turn, number)
            rest = max(timer_rest(timer, turn.state.now), 0) + 60_000
            total = max(_whole(timer["total"]), rest)
            _set_timer(turn, number, rest=rest, since=_ms(turn.state.now), total=total)
        case ("timer_delete", number):
            timer = _timer(turn, number)
            turn.delete(CLOCKS, "timers", lambda each: each["_id"] == number)
            turn.keep(undo=("timers", dict(timer), "Timer deleted"))


def _timer(at: Scene, number: object) -> Row:
    return next(each for each in at.rows(CLOCKS, "timers") if each["_id"] == number)


def _set_timer(turn: Turn, number: object, **values: str | int) -> None:
    turn.update(CLOCKS, "timers", lambda each: each["_id"] == number, **values)


# The stopwatch


def _stopwatch(at: Scene) -> View:
    state, elapsed = stopwatch(at)
    laps = [_whole(each["at"]) for each in at.rows(CLOCKS, "laps")]
    time = text(_stopwatch_time(elapsed), size=60, along="center", id="stopwatch_time_text", pad=(0, 56, 0, 24))
    listed = [space(grow=1)]
    if laps:
        listed = [divider(), listing(_lap_lines(laps, elapsed), name="laps", id="laps_list")]
    left: View = space(width=64)
    right: View = space(width=64)
    if state != RESET:
        left = _small_round("refresh", "Reset", ("stopwatch", "reset"))
    if state == RUNNING:
        right = _small_round("stopwatch", "Lap", ("stopwatch", "lap"))
    elif state == PAUSED:
        right = _small_round("share", "Share", ("stopwatch", "share"))
    left, right = at.taste.choose("stopwatch sides", (left, right), (right, left))
    middle = _round("pause", "Pause", ("stopwatch", "pause")) if state == RUNNING else \
        _round("play", "Start", ("stopwatch", "start"))  # fmt: skip
    buttons = row(left, space(grow=1), middle, space(grow=1), right, pad=(40, 12, 40, 20))
    return column(time, *listed, buttons, grow=1)


def stopwatch(at: Scene) -> tuple[int, int]:
    """What it does, and the milliseconds that it shows."""
    state, elapsed = _preferred_number(at, "sw_state"), _preferred_number(at, "sw_accum_time")
    if state == RUNNING:
        elapsed += max(_ms(at.state.now) - _preferred_number(at, "sw_start_time"), 0)
    return state, elapsed


def _stopwatch_time(milliseconds: int) -> str:
    minutes, rest = divmod(milliseconds // 10, 6_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 100:02d}.{rest % 100:02d}"
    return f"{hours}:{minutes:02d}:{seconds}" if hours else f"{minutes:02d}:{seconds}"


def _lap_lines(laps: Sequence[int], elapsed: int) -> list[View]:
    """The newest lap first: how long it took, and when it ended."""
    ends = [*laps, elapsed]
    lines = []
    for number in range(len(ends), 0, -1):
        end, begin = ends[number - 1], ends[number - 2] if number > 1 else 0
        lines.append(
            row(
                text(f"# {number}", color="faint", grow=1),
                text(_stopwatch_time(end - begin), grow=2, along="center"),
                text(_stopwatch_time(end), grow=2, along="end"),
                pad=(32, 10, 32, 10),
            )
        )
    return lines


def _on_stopwatch(turn: Turn, does: str) -> None:
    _, elapsed = stopwatch(turn)
    if does == "start":
        _write_stopwatch(turn, RUNNING, elapsed)
    elif does == "pause":
        _write_stopwatch(turn, PAUSED, elapsed)
    elif does == "reset":
        _write_stopwatch(turn, RESET, 0)
        turn.delete(CLOCKS, "laps", lambda each: True)
    elif does == "lap":
        turn.insert(CLOCKS, "laps", at=elapsed)
    else:
        turn.copy(f"My time is {_stopwatch_time(elapsed)}")
        turn.toast("Time copied")


def _write_stopwatch(turn: Turn, state: int, elapsed: int) -> None:
    since = _ms(turn.state.now) if state == RUNNING else 0
    prefer(turn, PACKAGE, sw_state=str(state), sw_accum_time=str(elapsed), sw_start_time=str(since))


# What tabs have in common


def _with_fab(under: View, button: View) -> View:
    return View(flow="stack", grow=1, children=(under, floating(button)))


def _round(picture: str, desc: str, tap: Event) -> View:
    return View(kind=IMAGE_BUTTON, desc=desc, id="fab", tap=tap, width=72, height=72, across="center",
                look=Look(fill="primary", round=36, icon=picture, size=32, color="on_primary"))  # fmt: skip


def _small_round(picture: str, desc: str, tap: Event) -> View:
    return View(kind=BUTTON, desc=desc, tap=tap, width=64, height=56, across="center",
                look=Look(fill="card", round=28, icon=picture, size=24, color="text"))  # fmt: skip


def _pill(picture: str, desc: str, tap: Event) -> View:
    return View(kind=BUTTON, desc=desc, id="play_pause", tap=tap, width=88, height=44, across="center",
                look=Look(fill="soft", round=22, icon=picture, size=24, color="on_soft"))  # fmt: skip


_PARTS = {"Alarm": _alarms, "Clock": _clocks, "Timer": _timers, "Stopwatch": _stopwatch}


class Settings(Screen):
    name = "com.android.deskclock.settings.SettingsActivity"

    def view(self, at: Scene) -> View:
        body = [
            text("Clock", size=14, color="primary", pad=(16, 12, 16, 0)),
            switch_item("Display time with seconds", preference(at, PACKAGE, "seconds") == ON, ("seconds",)),
            item("Change date & time", tap=("date",)),
            text("Alarms", size=14, color="primary", pad=(16, 12, 16, 0)),
            *(item(title, _answered(at, name), tap=("ask", name)) for name, (title, _, _) in _QUESTIONS.items()),
        ]
        return page("Settings", body, up=("up",), over=self._question(at))

    def _question(self, at: Scene) -> list[View]:
        asked = at.get(OVER)
        if asked is None:
            return []
        title, choices, _ = _QUESTIONS[asked]
        lines = [radio(choice, choice == _answered(at, asked), ("answer", choice)) for choice in choices]
        return [dialog(title, lines, [button("Cancel", ("close",))], dismiss=("close",))]

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("seconds",):
                on = preference(turn, PACKAGE, "seconds") == ON
                prefer(turn, PACKAGE, seconds=OFF if on else ON)
            case ("date",):
                turn.toast("The date is set by the network")
            case ("ask", name):
                turn.keep(**{OVER: name})
            case ("close",):
                turn.drop(OVER)
            case ("answer", choice):
                set_preference(turn, PACKAGE, turn.kept[OVER], choice)
                turn.drop(OVER)


_QUESTIONS: dict[str, tuple[str, Sequence[str], str]] = {
    "silence_after": ("Silence after", SILENCE_AFTER, "10 minutes"),
    "snooze": ("Snooze length", SNOOZE_LENGTHS, "10 minutes"),
    "week_start": ("Start week on", ("Monday", "Sunday"), "Monday"),
}
"""Title, choices and first choice of what the settings ask."""


def _answered(at: Scene, name: str) -> str:
    return preference(at, PACKAGE, name, _QUESTIONS[name][2])


class Screensaver(Screen):
    """The time alone, on black; a touch ends it."""

    name = "com.android.deskclock.Screensaver"

    def view(self, at: Scene) -> View:
        now = at.now
        return column(
            text(clock_time(now.hour, now.minute), size=60, color="#8a8a8a", along="center", id="digital_clock"),
            text(f"{now:%a, %B} {now.day}", color="#8a8a8a", along="center"),
            along="center", fill="#000000", tap=("up",), gap=8,
        )  # fmt: skip

    def on(self, turn: Turn, event: Event) -> None:
        turn.close()


class Ringing(Screen):
    """An alarm rings."""

    name = "com.android.deskclock.alarms.AlarmActivity"

    def view(self, at: Scene) -> View:
        number = at.extras.get("alarm")
        label = next((str(each["label"]) for each in at.rows(ALARMS, "alarm_templates") if each["_id"] == number), "")
        return column(
            icon("alarm", size=64, color="#ffffff"),
            text(clock_time(at.now.hour, at.now.minute), size=60, color="#ffffff", along="center", id="digital_clock"),
            text(label or "Alarm", size=20, color="#ffffff", along="center", lines=2, id="alarm_title"),
            space(height=64),
            button("Snooze", ("snooze",), style="soft", across="center", id="snooze"),
            button("Stop", ("stop",), style="filled", across="center", id="dismiss"),
            along="center", fill="#14264a", gap=16, pad=(32, 0, 32, 0),
        )  # fmt: skip

    def on(self, turn: Turn, event: Event) -> None:
        if event == ("snooze",):
            length = _answered(turn, "snooze")
            again = turn.state.now + 60 * int(length.partition(" ")[0])
            turn.remember(snoozed=(*turn.memory.get("snoozed", ()), (turn.extras.get("alarm"), again)))
            turn.toast(f"Snoozing for {length}")
            turn.close()
        elif event == ("stop",):
            turn.close()

    def back(self, turn: Turn) -> None:
        """An alarm is not ended by accident."""


class Clock(App):
    package = PACKAGE
    label = "Clock"
    icon = "clock"
    colour = "#3367d6"
    screens = (DeskClock, Cities, Settings, Screensaver, Ringing)

    def install(self, state: State) -> State:
        alarms = Database.make(_ALARM_TABLE)
        for hour, minute, days in ((8, 30, 0b0011111), (9, 0, 0b1100000)):
            alarms, _ = alarms.insert(
                "alarm_templates", hour=hour, minutes=minute, daysofweek=days, enabled=0, vibrate=1, label=""
            )
        files = state.files.write(ALARMS, alarms, state.now)
        files = files.write(CLOCKS, Database.make(_TIMER_TABLE, _LAP_TABLE, _CITY_TABLE), state.now)
        return without_preferences(replace(state, files=files), PACKAGE)

    def tick(self, turn: Turn, before: float) -> None:
        now = turn.state.now
        if CLOCKS not in turn.files or ALARMS not in turn.files:
            return
        for timer in turn.rows(CLOCKS, "timers"):
            if timer["state"] == RUNNING and timer_rest(timer, before) > 0 >= timer_rest(timer, now):
                turn.toast("Time's up")
        for alarm in turn.rows(ALARMS, "alarm_templates"):
            if alarm["enabled"] and next_alarm(alarm, before) <= now:
                if not alarm["daysofweek"]:
                    _set_alarm(turn, alarm["_id"], enabled=0)
                self._ring(turn, alarm["_id"])
        snoozed = turn.memory.get("snoozed", ())
        due = [number for number, when in snoozed if when <= now]
        if due:
            turn.remember(snoozed=tuple(each for each in snoozed if each[1] > now))
            self._ring(turn, due[0])

    def _ring(self, turn: Turn, alarm: object) -> None:
        if turn.state.front.name != Ringing.name:
            turn.start(Activity(PACKAGE, Ringing.name, {"alarm": alarm}))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _whole(value: object) -> int:
    """A number of a database or a file of preferences; 0 if somebody put something else there."""
    return value if isinstance(value, int) else 0
