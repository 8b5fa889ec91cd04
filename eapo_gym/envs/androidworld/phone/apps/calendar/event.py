"""The calendar's form: an event or a task is made, looked at, changed, copied and deleted here."""

from __future__ import annotations

import json
from datetime import date
from typing import ClassVar
from urllib.parse import quote

from eapo_gym.envs.androidworld.phone.app import OVER, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import (
    ALL_DAY,
    EVENT,
    EVENTS_DB,
    TASK,
    Occurrence,
    complete,
    is_completed,
    moment,
    number,
    spoken_time,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.draft import (
    INTERVALS,
    Draft,
    base_of,
    date_of,
    draft_of,
    guests_of,
    is_changed,
    opened,
    repeated,
    set_time,
    to_save,
    update,
    with_all_day,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.form import (
    EVERY,
    GUEST,
    TIMES,
    UNITS,
    date_lines,
    guest_lines,
    over_form,
    reminder_lines,
    repetition_lines,
    text_lines,
    tick_line,
    type_lines,
)
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import label
from eapo_gym.envs.androidworld.phone.apps.calendar.main import delete_occurrence, share
from eapo_gym.envs.androidworld.phone.apps.chooser import VIEW
from eapo_gym.envs.androidworld.phone.ui.time_dialog import HOUR_FIELD, MINUTE_FIELD, TimePicker
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    app_bar,
    column,
    divider,
    icon_button,
    listing,
    space,
)

MOST_REPEATED = 999


class EventScreen(Screen):
    name = ".activities.EventActivity"
    kind: ClassVar[int] = EVENT

    def view(self, at: Scene) -> View:
        draft = draft_of(at, self.kind)
        saved = at.get("id") is not None
        actions = [icon_button("check", label(at, "save"), ("save",), id="save")]
        if saved:
            actions.append(icon_button("delete", label(at, "delete"), ("delete",), id="delete"))
            actions.append(icon_button("more", label(at, "more"), ("over", "menu")))
        what = "task" if self.kind == TASK else "event"
        bar = app_bar(f"Edit {what}" if saved else f"New {what}", up=("up",), actions=at.taste.order("form", actions))
        body = listing([*self._form(at, draft), space(height=48)], name="form")
        return View(kind=FRAME, flow="stack", children=(column(bar, body, fill="page"), *over_form(at, draft)))

    def _form(self, at: Scene, draft: Draft) -> list[View]:
        parts = [
            date_lines(at, draft, self.kind),
            reminder_lines(draft),
            repetition_lines(at, draft),
            type_lines(at, draft),
        ]
        if self.kind == EVENT:
            parts.append(guest_lines(at, draft))
        lines = text_lines(at, draft, self.kind)
        if self.kind == TASK and at.get("id") is not None:
            lines.append(tick_line(at))
        for part in at.taste.order("form parts", parts):
            lines += [divider(), *part]
        return lines

    def on(self, turn: Turn, event: Event) -> None:
        draft = draft_of(turn, self.kind)
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
                update(turn, draft, which)
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
                each = Occurrence(draft, number(draft, "start_ts"), number(draft, "end_ts"))
                when = f"{moment(each.start):%Y-%m-%d}, {spoken_time(turn, each)}"
                share(turn, ", ".join(filter(None, [each.title, when, str(draft["location"])])))
            case ("duplicate",):
                turn.close()
                turn.open(self.name, copied={**draft, "repetition_exceptions": "[]", "parent_id": 0})
            case ("ticked",):
                occurrence = opened(turn)
                if occurrence is not None:
                    done = is_completed(turn, occurrence)
                    complete(turn, occurrence.id, occurrence.start, done=not done)
                    turn.close()
            case ("map",):
                if not turn.ask(Intent(VIEW, f"geo:0,0?q={quote(str(draft['location']))}")):
                    turn.toast("No app can show that on a map")
            case ("over", what, *rest):
                turn.keep(over=what, part=rest[0] if rest else "")
                turn.focus("")
            case _:
                self._on_times(turn, draft, event)

    def _on_times(self, turn: Turn, draft: Draft, event: Event) -> None:
        match event:
            case ("all_day",):
                turn.keep(**with_all_day(draft, not number(draft, "flags") & ALL_DAY))
            case ("ask_date", name):
                shown = date_of(draft, name)
                turn.keep(over="date", part=name, picked=shown, page=shown)
                turn.focus("")
            case ("pick", day):
                turn.keep(picked=day)
            case ("page", day):
                turn.keep(page=day)
            case ("picked",):
                turn.drop(OVER)
                day = date.fromisoformat(turn.get("picked"))
                set_time(turn, draft, turn.get("part"), day=day)
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
                set_time(turn, draft, turn.get("part"), hour=picker.hour, minute=picker.minute)
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
                turn.keep(**repeated(draft, INTERVALS[name]))
            case ("custom", unit):
                if count := _typed_number(turn, EVERY):
                    turn.keep(**repeated(draft, count * UNITS[unit]))
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
                day = date_of(draft, "start_ts")
                turn.keep(over="date", part="repeat_limit", picked=day, page=day)
            case ("times",):
                if count := _typed_number(turn, TIMES):
                    turn.keep(repeat_limit=-count)
            case ("type", id):
                turn.drop(OVER)
                turn.keep(event_type=id)
            case ("color", color):
                turn.drop(OVER)
                turn.keep(color=color)
            case ("no_guest", place):
                guests = guests_of(draft)
                turn.keep(attendees=json.dumps(guests[:place] + guests[place + 1 :]) if len(guests) > 1 else "")
            case ("add_guest",):
                self.entered(turn, GUEST)

    def entered(self, turn: Turn, field: str) -> None:
        if field == GUEST and turn.get(GUEST, "").strip():
            guests = guests_of(draft_of(turn, self.kind))
            email = turn.get(GUEST).strip()
            turn.keep(attendees=json.dumps([*guests, {"name": "", "email": email}]), **{GUEST: ""})
        else:
            turn.focus("")

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif is_changed(turn, self.kind):
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
        if turn.get("id") is None:
            turn.insert(EVENTS_DB, "events", **to_save(turn, draft))
            turn.close()
        elif not is_changed(turn, self.kind):
            turn.close()
        elif number(base_of(turn, self.kind), "repeat_interval"):
            turn.keep(over="update")
        else:
            update(turn, draft, "all")


def _typed_number(turn: Turn, field: str) -> int:
    """What was typed in a question, which is then closed; 0 if that is no number that fits, and the question stays."""
    written = str(turn.get(field, "")).strip()
    if not (written.isdecimal() and len(written) <= len(str(MOST_REPEATED)) and int(written)):
        turn.toast(f"Expected a number from 1 to {MOST_REPEATED}")
        return 0
    turn.drop(OVER, field)
    turn.focus("")
    return int(written)


class TaskScreen(EventScreen):
    name = ".activities.TaskActivity"
    kind = TASK
