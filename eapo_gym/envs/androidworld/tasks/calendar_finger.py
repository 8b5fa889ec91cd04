"""How somebody who knows the calendar finds their way in it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import LABELS, VIEWS
from eapo_gym.envs.androidworld.tasks.calendar_events import APP, TODAY
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen, any_of
from eapo_gym.envs.androidworld.tasks.retrieval import day_meant


@dataclass(frozen=True)
class Line:
    """An event in a list, as it is to be read on the screen."""

    element: Element
    title: str
    said: str
    day: date | None
    """Under which day it stands, where the list has several."""

    @property
    def start(self) -> time:
        return time.fromisoformat(self.said[:5]) if self.said[:2].isdecimal() else time()

    @property
    def end(self) -> time:
        after = self.said.rpartition(" - ")[2]
        return time.fromisoformat(after[:5]) if after[:2].isdecimal() else time.max

    @property
    def began_before(self) -> bool:
        """It began on an earlier day than the one that is shown."""
        return "(" in self.said.partition(" - ")[0]

    def is_at(self, start: time) -> bool:
        return not self.began_before and self.start == start

    def begins_from(self, least: time) -> bool:
        return not self.began_before and self.start >= least

    def is_on(self, now: time) -> bool:
        """It takes place at that time."""
        ends_later = " - " in self.said and "(" in self.said.rpartition(" - ")[2]
        return (self.began_before or self.start <= now) and (ends_later or now < self.end or self.is_at(now))


def seen_lines(finger: Finger, day: date | None = None) -> list[Line]:
    """The events on the screen; those above the first name of a day are of `day`."""
    lines = []
    title: Element | None = None
    for each in finger.look():
        part = each.resource.rpartition("/")[2]
        if part == "event_section_title":
            day = _section_day(each.text)
        elif part == "event_item_title":
            title = each
        elif part == "event_item_time" and title is not None:
            lines.append(Line(title, title.text, each.text, day))
            title = None
    return lines


def _section_day(said: str) -> date:
    """Of "Today, October 15 (Sun)" or "January 3 2024 (Wed)"."""
    words = said.removeprefix("Today, ").partition(" (")[0]
    return day_meant(words, TODAY) if words[-4:].isdecimal() else day_meant(f"{words} {TODAY.year}", TODAY)


_SCREEN_FULL = 1_900
"""A list that reaches so far down may go on below."""


def read(finger: Finger, until: Callable[[Line], bool] = lambda line: False) -> Generator[Action, None, list[Line]]:
    """All lines of a list, read from its top to its end or to the first line that is enough."""
    found: list[Line] = []
    day: date | None = None
    while True:
        lines = seen_lines(finger, day)
        new = [line for line in lines if all(not _same(line, each) for each in found)]
        found += new
        if not new or any(map(until, new)) or lines[-1].element.bounds[3] < _SCREEN_FULL:
            return found
        day = lines[-1].day
        yield finger.scroll("down")


def _same(one: Line, other: Line) -> bool:
    return (one.title, one.said, one.day) == (other.title, other.said, other.day)


def scrolled_to(finger: Finger, fits: Callable[[Line], bool]) -> Generator[Action, None, Line]:
    for _ in range(10):
        for line in seen_lines(finger):
            if fits(line):
                return line
        yield finger.scroll("down")
    raise NotOnScreen(f"Expected another event among {[line.title for line in seen_lines(finger)]}.")


def hold(line: Line) -> Action:
    return Action("long_press", index=line.element.index)


def answer(finger: Finger, lines: Sequence[Line]) -> Action:
    return finger.answer(", ".join(line.title for line in lines))


def to_view(finger: Finger, name: str) -> Iterator[Action]:
    yield finger.tap(any_of(LABELS["views"]))
    yield finger.tap(any_of(VIEWS[name]), kind="RadioButton")


def to_day(finger: Finger, day: date) -> Iterator[Action]:
    """Open a day, by the grid of its month."""
    cell = f"/{day.day} {day:%B}(, .*)?/"
    yield from finger.begin(APP)
    if not finger.sees(cell):
        yield from to_view(finger, "month")
        yield finger.tap(any_of(LABELS["today"]))
    for _ in range(12):
        if finger.sees(cell):
            break
        yield finger.tap("Next" if day > TODAY else "Previous")
    yield finger.tap(cell)


def set_time(finger: Finger, name: str, wanted: datetime) -> Iterator[Action]:
    yield from finger.scroll_to(name)
    yield finger.tap(name)
    yield finger.tap(f"{wanted.hour} hours")
    yield finger.tap(f"{wanted.minute} minutes")
    yield finger.tap("OK")


def delete_selected(finger: Finger) -> Iterator[Action]:
    yield finger.tap(any_of(LABELS["delete"]))
    yield finger.tap(any_of(LABELS["yes"]), kind="Button", number=0)
    yield finger.done()


def search(finger: Finger, words: str) -> Iterator[Action]:
    yield from finger.begin(APP)
    yield finger.tap(any_of(LABELS["search"]))
    yield finger.write(words)
