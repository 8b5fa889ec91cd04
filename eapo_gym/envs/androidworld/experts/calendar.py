"""What is done in calendars: days are found, events entered, questions answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from eapo_gym.envs.androidworld.experts.dates import MONTHS, read_day, read_time
from eapo_gym.envs.androidworld.experts.forms import add_button, fill, save
from eapo_gym.envs.androidworld.experts.screen import Item, Screen
from eapo_gym.envs.androidworld.experts.visit import Decision, Visit
from eapo_gym.envs.androidworld.experts.words import brief, plain, says

_SPAN = re.compile(r"(?P<begin>\d\d:\d\d)(?: - (?P<end>\d\d:\d\d)(?: \(.*\))?)?")
_DAY = re.compile(r"(?P<month>[A-Z][a-z]+) (?P<day>\d{1,2}) \([A-Z][a-z]{2}\)")
_CELL = re.compile(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+)(?:, (?P<events>\d+) events?)?")
_FEW = 5
"""A button to add something that has several kinds of it opens out into so many others."""

_VIEWS = ("change view", "switch view", "view")
_REPEATS = {
    "daily": ("every day", "each day", "daily"),
    "weekly": ("every week", "each week", "weekly"),
    "monthly": ("every month", "each month", "monthly"),
    "yearly": ("every year", "each year", "yearly"),
}


@dataclass(frozen=True, slots=True)
class Event:
    title: str
    day: date | None
    begin: int
    end: int


def events(screen: Screen, year: int) -> list[Event]:
    """Those that are listed, with the days under which they stand."""
    found, day = [], None
    for item, above in zip(screen.items[1:], screen.items, strict=False):
        if heading := _DAY.fullmatch(item.text):
            day = _day(heading, year)
        elif span := _SPAN.fullmatch(item.text):
            begin = read_time(span["begin"]) or 0
            found.append(Event(above.text, day, begin, read_time(span["end"]) or 0 if span["end"] else begin))
    return found


def titles(screen: Screen) -> list[Item]:
    return [above for item, above in zip(screen.items[1:], screen.items, strict=False) if _SPAN.fullmatch(item.text)]


def _day(found: re.Match[str], year: int) -> date | None:
    try:
        return date(year, MONTHS.index(found["month"].lower()) + 1, int(found["day"]))
    except ValueError:
        return None


def _cells(screen: Screen, year: int) -> Iterator[tuple[date, int, Item]]:
    """The days of a month's page, and how many events each has."""
    for item in screen.items:
        found = _CELL.fullmatch(item.desc)
        day = _day(found, year) if found else None
        if found and day:
            yield day, int(found["events"] or 0), item


def _shown_day(screen: Screen, year: int) -> date | None:
    """The day whose page this is."""
    days = [day for item in screen.items if (found := _DAY.fullmatch(item.text)) and (day := _day(found, year))]
    return days[0] if len(days) == 1 and screen.find(("previous",)) else None


def _meant(visit: Visit, said: str) -> date | None:
    return None if visit.today is None else read_day(said, visit.today)


def go_to_day(visit: Visit, said: str) -> Decision | None:
    """Open the page of a day, unless it is open."""
    day = _meant(visit, said)
    return visit.back("I do not know which day that is.") if day is None else _open_day(visit, day)


def _open_day(visit: Visit, day: date) -> Decision | None:
    screen, name = visit.screen, f"{MONTHS[day.month - 1].title()} {day.day}"
    shown = _shown_day(screen, day.year)
    if shown == day:
        return None
    if shown is not None:
        turn = screen.find(("next" if shown < day else "previous",))
        if turn is not None and abs((day - shown).days) <= 2:
            return visit.tap(turn, f"This is {shown:%B} {shown.day}: I turn to {name}.")
        return visit.back(f"This is not {name}: I go back to the month.")
    cell = next((item for each, _, item in _cells(screen, day.year) if each == day), None)
    if cell is not None:
        return visit.tap(cell, f"I open {name}.", f"What is on {name}?")
    if any(True for _ in _cells(screen, day.year)):
        turn = screen.find(("next",))
        if turn is not None:
            return visit.tap(turn, f"{name} is in another month.")
    return visit.seek(f"the page of {name}", ("monthly view", "month", *_VIEWS))


# An event is entered


def event(visit: Visit) -> Decision | None:
    if visit.knows("saved"):
        return None
    if (way := visit.enter()) is not None:
        return way
    part, screen = visit.part, visit.screen
    day, begin = _meant(visit, part.day), 60 * int(part.time)
    if day is None:
        return visit.back("I do not know which day that is.")
    if screen.find(("select time",)):
        return _set_time(visit, begin + part.minutes if visit.knows("setting the end") else begin)
    if (choice := screen.find(_REPEATS.get(part.repeat, ()), kind="RadioButton")) is not None:
        visit.note("repeats")
        return visit.tap(choice, f"It should recur {part.repeat}.")
    if not screen.fields and not any(plain(item.desc) == "start time" for item in screen.items):
        if len(screen.items) <= _FEW and (item := screen.best(("event", "appointment"))) is not None:
            return visit.tap(item, "It is an event that I add.")
        return _open_day(visit, day) or add_button(visit, "event")
    if (way := fill(visit, part.fields)) is not None:
        return way
    for which, minutes in (("start", begin), ("end", begin + part.minutes)):
        field = next((item for item in screen.items if plain(item.desc) == f"{which} time"), None)
        shown = f"{minutes // 60 % 24:02}:{minutes % 60:02}"
        if field is None:
            if visit.screen.keyboard:
                return visit.hide_keyboard()
            if (further := visit.scroll("down", f"the time of the {which}")) is not None:
                return further
        elif field.text != shown:
            if which == "end":
                visit.note("setting the end")
            return visit.tap(field, f"It should {which} at {shown}, and not at {field.text}.")
    if part.repeat and not visit.knows("repeats"):
        item = next((each for each in screen.items if plain(each.desc) in ("repetition", "repeat", "recurrence")), None)
        item = item or screen.find(("no repetition", "does not repeat", "once"))
        if item is not None:
            return visit.tap(item, f"It should recur {part.repeat}.")
        return visit.scroll("down", "whether it recurs") or visit.back("It cannot recur here.")
    return save(visit)


def _set_time(visit: Visit, minutes: int) -> Decision:
    screen, hour, minute = visit.screen, minutes // 60 % 24, minutes % 60
    digits = {plain(item.desc): item for item in screen.items}
    shown_hour, shown_minute = digits.get("select hour"), digits.get("select minute")
    if shown_hour is not None and read_time(f"{shown_hour.text}:00") != 60 * hour:
        face = digits.get(f"{hour} hours")
        return visit.tap(face or shown_hour, f"The hour should be {hour}.")
    if shown_minute is not None and read_time(f"0:{shown_minute.text}") != minute:
        face = digits.get(f"{minute} minutes")
        return visit.tap(face or shown_minute, f"The minutes should be {minute:02}.")
    return visit.press(("ok", "set", "done"), "The time is right.") or visit.back("The time is right.")


# Questions


def ask(visit: Visit) -> Decision | None:
    if visit.knows("answered"):
        return None
    if (way := visit.enter()) is not None:
        return way
    if visit.today is None:
        return visit.back("I do not know what day it is.")
    asked = {
        "events": _on_day,
        "first": _on_day,
        "next": _next,
        "week": _week,
        "meeting": _meeting,
        "location": _location,
    }
    return asked[visit.part.what](visit)


def _tell(visit: Visit, answer: str) -> Decision:
    visit.note("answered")
    return visit.answer(answer, "This is what was asked for.")


def _on_day(visit: Visit) -> Decision:
    part = visit.part
    day = _meant(visit, part.day)
    if day is None:
        return visit.back("I do not know which day that is.")
    if (way := _open_day(visit, day)) is not None:
        return way
    listed = events(visit.screen, day.year)
    begin, end = read_time(part.time) if part.time else None, read_time(part.until) if part.until else None
    if part.what == "first":
        later = [each for each in listed if begin is None or each.begin >= begin]
        return _tell(visit, min(later, key=lambda each: each.begin).title if later else "None")
    if begin is not None and end is not None:
        listed = [each for each in listed if begin <= each.begin <= end]
    elif begin is not None:
        listed = [each for each in listed if each.begin <= begin < max(each.end, each.begin + 1)]
    return _tell(visit, ", ".join(each.title for each in listed) or "None")


def _next(visit: Visit) -> Decision:
    today = visit.today
    assert today is not None
    now = read_time(visit.screen.clock) or 0
    shown = _shown_day(visit.screen, today.year)
    if shown is not None:
        listed = [each for each in events(visit.screen, today.year) if shown > today or each.begin > now]
        if listed:
            return _tell(visit, min(listed, key=lambda each: each.begin).title)
        visit.note(f"nothing on {shown.month} {shown.day}")
        return visit.back("There is nothing more on this day: I go back.", "On which day is there something?")
    for day, count, _ in sorted(_cells(visit.screen, today.year), key=lambda cell: cell[0]):
        if day >= today and count and not visit.knows(f"nothing on {day.month} {day.day}"):
            return _open_day(visit, day) or visit.back("I am there.")
    return visit.seek("the page of the month", ("monthly view", *_VIEWS))


def _week(visit: Visit) -> Decision:
    """In a list of all events, from the coming Monday on."""
    today = visit.today
    assert today is not None
    monday = today + timedelta(days=7 - today.weekday())
    listed = events(visit.screen, today.year)
    if not listed or _shown_day(visit.screen, today.year) is not None:
        return visit.seek("a list of the events", ("simple event list", "event list", "agenda", "list", *_VIEWS))
    week = [each for each in listed if each.day is not None and monday <= each.day < monday + timedelta(days=7)]
    known = [title for title in visit.notes.read.split(", ") if title]
    titles_of_week = [*known, *(each.title for each in week if each.title not in known)]
    if any(each.day is not None and each.day >= monday + timedelta(days=7) for each in listed):
        return _tell(visit, ", ".join(titles_of_week))
    visit.notes.read = ", ".join(titles_of_week)
    return visit.scroll("down", "the rest of the week") or _tell(visit, visit.notes.read)


def _search(visit: Visit, name: str) -> Decision | None:
    """Search for a name, unless what is listed is what was found."""
    if visit.screen.fields:
        if visit.screen.fields[0].text.strip() == name:
            return None
        return visit.write(name, visit.screen.fields[0], f"I search for {name}.")
    return visit.seek("a search", ("search", "search events", "find"))


def _meeting(visit: Visit) -> Decision:
    name, today = visit.part.names[0], visit.today
    assert today is not None
    if (way := _search(visit, name)) is not None:
        return way
    now = (today, read_time(visit.screen.clock) or 0)
    found = [
        (each.day, each.begin)
        for each in events(visit.screen, today.year)
        if each.day is not None and says(each.title, name) and (each.day, each.begin) > now
    ]
    if not found:
        return visit.scroll("down", f"a meeting with {name}") or _tell(visit, "None")
    day, begin = min(found)
    return _tell(visit, f"{day:%B} {day.day} {day.year} {begin // 60:02}:{begin % 60:02}")


def _location(visit: Visit) -> Decision:
    name, screen = visit.part.names[0], visit.screen
    for item in screen.items:
        if item.kind != "EditText" and plain(item.desc) == "show on map":
            above = screen.items[screen.items.index(item) - 1]
            return _tell(visit, above.text.strip())
    if (way := _search(visit, name)) is not None:
        return way
    found = next((item for item in titles(screen) if brief(item.text) == brief(name)), None)
    if found is None:
        return visit.scroll("down", name) or _tell(visit, "None")
    return visit.tap(found, f"Here is {name}.", f"Where is {name}?")
