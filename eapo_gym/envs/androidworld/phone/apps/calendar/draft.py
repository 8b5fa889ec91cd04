"""What is being written in the calendar's form, and how it goes into the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, timezone

from eapo_gym.envs.androidworld.phone.app import Scene, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    ALL_DAY,
    DAY,
    EMPTY_EVENT,
    EVENTS_DB,
    MONTH,
    OFF,
    PACKAGE,
    SAME_DAY,
    TASK,
    WEEK,
    YEAR,
    Occurrence,
    day_of,
    end_before,
    midnight,
    moment,
    number,
    skip_occurrence,
)
from eapo_gym.envs.androidworld.phone.databases import Value
from eapo_gym.envs.androidworld.phone.preferences import preference

INTERVALS: Mapping[str, int] = {"none": 0, "daily": DAY, "weekly": WEEK, "monthly": MONTH, "yearly": YEAR}
"""The repetitions that have a name."""

Draft = Mapping[str, Value]
"""The columns of an event, as they would be saved."""


def opened(at: Scene) -> Occurrence | None:
    """The occurrence that was opened, as it is in the database."""
    found = at.database(EVENTS_DB).row("events", at.extras.get("id"))
    if found is None:
        return None
    start = at.extras.get("start", number(found, "start_ts"))
    return Occurrence(found, start, start + number(found, "end_ts") - number(found, "start_ts"))


def base_of(at: Scene, kind: int) -> Draft:
    """What is there before anything is written."""
    if at.extras.get("copied"):
        return dict(at.extras["copied"])
    found = opened(at)
    if found is not None:
        return {**found.row, "start_ts": found.start, "end_ts": found.end}
    day = date.fromisoformat(at.extras.get("day", at.now.date().isoformat()))
    start = midnight(day) + (at.now.hour + 1) % 24 * 3600
    length = 0 if kind == TASK else 60 * int(preference(at, PACKAGE, "duration", "0"))
    reminder = int(preference(at, PACKAGE, "reminder", str(OFF)))
    given = {name: at.extras[name] for name in EMPTY_EVENT if name in at.extras}
    first = {"start_ts": start, "end_ts": start + length, "type": kind, "reminder_1_minutes": reminder}
    return {**EMPTY_EVENT, **first, **given}


def draft_of(at: Scene, kind: int) -> Draft:
    return {**base_of(at, kind), **{name: at.kept[name] for name in EMPTY_EVENT if name in at.kept}}


def is_changed(at: Scene, kind: int) -> bool:
    base, draft = base_of(at, kind), draft_of(at, kind)
    return any(_stripped(draft[name]) != _stripped(base[name]) for name in EMPTY_EVENT)


def _stripped(value: Value) -> Value:
    return value.strip() if isinstance(value, str) else value


def to_save(at: Scene, draft: Draft) -> dict[str, Value]:
    values = {name: _stripped(draft[name]) for name in EMPTY_EVENT}
    return {**values, "last_updated": int(at.state.now * 1000)}


def update(turn: Turn, draft: Draft, which: str) -> None:
    """Save what was changed; of a repeated event, one time, all from then on, or all."""
    id, start = turn.get("id"), turn.get("start")
    found = turn.database(EVENTS_DB).row("events", id)
    if found is None:
        turn.insert(EVENTS_DB, "events", **to_save(turn, draft))
    elif which == "this":
        skip_occurrence(turn, id, start)
        alone = {"repeat_interval": 0, "repeat_rule": 0, "repeat_limit": 0, "repetition_exceptions": "[]"}
        turn.insert(EVENTS_DB, "events", **{**to_save(turn, draft), **alone, "parent_id": id})
    elif which == "future":
        end_before(turn, id, start)
        turn.insert(EVENTS_DB, "events", **to_save(turn, draft))
    else:
        # All of them move by as much as the one did that was changed.
        moved = number(draft, "start_ts") - start
        length = number(draft, "end_ts") - number(draft, "start_ts")
        first = number(found, "start_ts") + moved
        values = {**to_save(turn, draft), "start_ts": first, "end_ts": first + length}
        turn.update(EVENTS_DB, "events", lambda row: row["id"] == id, **values)
    turn.close()


def date_of(draft: Draft, name: str) -> str:
    return day_of(number(draft, name)).isoformat()


def with_all_day(draft: Draft, all_day: bool) -> dict[str, Value]:
    flags = number(draft, "flags") & ~ALL_DAY | (ALL_DAY if all_day else 0)
    first, last = midnight(day_of(number(draft, "start_ts"))), midnight(day_of(number(draft, "end_ts")))
    if all_day:
        return {"flags": flags, "start_ts": first, "end_ts": last + DAY // 2}
    return {"flags": flags, "start_ts": first + DAY // 2, "end_ts": max(last, first) + DAY // 2}


def set_time(turn: Turn, draft: Draft, name: str, *, day: date | None = None, hour: int = -1, minute: int = -1) -> None:
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


def repeated(draft: Draft, interval: int) -> dict[str, Value]:
    """With the rule that such a repetition begins with."""
    kind = unit_of(interval)
    rule = 1 << moment(number(draft, "start_ts")).weekday() if kind == WEEK else 0
    if kind in (MONTH, YEAR):
        rule = SAME_DAY
    return {"repeat_interval": interval, "repeat_rule": rule, **({} if interval else {"repeat_limit": 0})}


def unit_of(interval: int) -> int:
    """Of which of the units an interval is made; 0 if of none."""
    return next((unit for unit in (YEAR, MONTH, WEEK, DAY) if interval and interval % unit == 0), 0)


def guests_of(draft: Draft) -> list[Mapping[str, str]]:
    try:
        found = json.loads(str(draft["attendees"] or "[]"))
    except ValueError:
        return []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
