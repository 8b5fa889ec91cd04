"""Events as lines of lists: those of a day, those to come, and those that were searched for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby

from eapo_gym.envs.androidworld.phone.app import Scene
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    DAY,
    EVENTS_DB,
    PACKAGE,
    YEAR,
    Occurrence,
    between,
    colour_of,
    day_of,
    full_day,
    hidden_types,
    is_completed,
    midnight,
    number,
    occurrences,
    on_day,
    spoken_time,
)
from eapo_gym.envs.androidworld.phone.preferences import preference
from eapo_gym.envs.androidworld.phone.ui.view import Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import button, column, icon, listing, row, space, text

QUERY = "query"
"""Under this name the search keeps what was typed."""

LIST_DAYS = 31
"""So many days more the list of events shows at a time."""


def current_view(at: Scene) -> str:
    return "day" if at.get("opened") else preference(at, PACKAGE, "view", "month")


def shown_day(at: Scene) -> date:
    """The day, or some day of the week, month or year, that is shown."""
    day = at.get("day")
    return date.fromisoformat(day) if day else at.now.date()


def listed(at: Scene) -> list[Occurrence]:
    """The events that are on the screen or a scroll away, as lines of a list."""
    if at.get("searching"):
        return found(at)
    if current_view(at) == "list":
        return _upcoming(at)
    return on_day(at, shown_day(at))


def day_lines(at: Scene, day: date) -> list[View]:
    return _lines(at, on_day(at, day), day) or [nothing("No items found.")]


def upcoming_list(at: Scene) -> list[View]:
    low, _ = _window(at)
    lines = _sections(at, _upcoming(at), day_of(low)) or [nothing("No items found.")]
    earlier = row(button("Show earlier events", ("earlier",)), along="center", pad=(0, 4, 0, 0))
    later = row(button("Show later events", ("later",)), along="center", pad=(0, 8, 0, 8))
    return [listing([earlier, *lines, later, space(height=80)], name="page")]


def _upcoming(at: Scene) -> list[Occurrence]:
    return between(at, *_window(at))


def _window(at: Scene) -> tuple[int, int]:
    """What the list shows: from today on, or whichever day was gone to, and more at either end when asked."""
    begin = midnight(shown_day(at))
    earlier, later = at.get("earlier", 0), at.get("later", 0) + 1
    return begin - earlier * LIST_DAYS * DAY, begin + later * LIST_DAYS * DAY


def found_list(at: Scene) -> list[View]:
    return _sections(at, found(at)) or [nothing("No items found.")]


def found(at: Scene) -> list[Occurrence]:
    """Events with the words in them; of one that is repeated, the time to come, else the first."""
    words = at.get(QUERY, "").strip().lower()
    hidden = hidden_types(at)
    now = int(at.state.now)
    fitting = []
    for each in at.rows(EVENTS_DB, "events"):
        fits = any(words in str(each[name]).lower() for name in ("title", "location", "description"))
        if fits and number(each, "event_type") not in hidden:
            first = Occurrence(each, number(each, "start_ts"), number(each, "end_ts"))
            repeated = occurrences([each], now, now + 5 * YEAR) if number(each, "repeat_interval") else iter(())
            fitting.append(next(repeated, first))
    return sorted(fitting, key=lambda each: (each.start, each.id))


def nothing(said: str) -> View:
    return text(said, color="faint", along="center", pad=(24, 48, 24, 24), id="no_events_placeholder")


def _sections(at: Scene, events: Sequence[Occurrence], first: date | None = None) -> list[View]:
    """Lines of events under the names of their days."""
    today = at.now.date()

    def begins(each: Occurrence) -> date:
        day = day_of(each.start)
        return day if first is None else max(day, first)

    lines: list[View] = []
    for day, group in groupby(events, begins):
        said = f"Today, {full_day(at, day)}" if day == today else full_day(at, day)
        lines.append(_section(said))
        lines += _lines(at, list(group), day)
    return lines


@lru_cache(maxsize=1_024)
def _section(said: str) -> View:
    return text(said, size=14, bold=True, color="primary", pad=(16, 14, 16, 4), id="event_section_title")


def _lines(at: Scene, events: Sequence[Occurrence], day: date) -> list[View]:
    """The events as lines; what has passed is pale, if that is wanted."""
    dimmed_before = at.state.now if preference(at, PACKAGE, "dim_past", "1") == "1" else 0
    chosen = at.get("selected", ())
    lines = []
    for each in events:
        said = "  ".join(str(each.row[name]) for name in ("location", "description") if each.row[name])
        lines.append(
            _line(
                each.key,
                each.title,
                spoken_time(at, each, day),
                " ".join(said.split()),
                colour_of(at, each.row),
                dim=max(each.end, each.start) < dimmed_before,
                chosen=each.key in chosen,
                done=is_completed(at, each) if each.is_task else None,
            )
        )
    return lines


@lru_cache(maxsize=4_096)
def _line(
    key: tuple[int, int], title: str, time: str, said: str, colour: str, *, dim: bool, chosen: bool, done: bool | None
) -> View:
    """An event in a list: its colour, its title, when, what else is known of it, and of a task whether it is done."""
    words = [
        text(title, size=17, color="faint" if dim else "text", lines=2, id="event_item_title"),
        text(time, size=14, color="faint", lines=1, id="event_item_time"),
    ]
    if said:
        words.append(text(said, size=14, color="faint", lines=2, id="event_item_description"))
    inside = [View(width=5, look=Look(fill=colour, round=3)), column(*words, gap=2, grow=1)]
    if done is not None:
        desc = "Completed" if done else "Not completed"
        inside.append(icon("task", color="good" if done else "line", desc=desc))
    return row(
        *inside,
        gap=12,
        pad=(16, 10, 16, 10),
        tap=("event", *key),
        hold=("select", *key),
        fill="soft" if chosen else "",
        selected=chosen,
        id="event_item_holder",
    )
