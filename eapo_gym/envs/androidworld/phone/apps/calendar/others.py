"""The calendar's other screens: its settings, the types of events, and what it is."""

from __future__ import annotations

from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import OVER, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.calendar.data import EVENTS_DB, FIRST_TYPE, PACKAGE, REGULAR, css, number
from eapo_gym.envs.androidworld.phone.apps.calendar.form import COLOURS
from eapo_gym.envs.androidworld.phone.apps.calendar.labels import VIEWS, label, view_label
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    button,
    dialog,
    field,
    icon_button,
    item,
    page,
    radio,
    row,
    space,
    switch_item,
    text,
)

CHOICES = {
    "week_starts": ("Start week on", {"Sunday": "Sunday", "Monday": "Monday"}),
    "duration": (
        "Default duration of events",
        {"0": "0 minutes", "15": "15 minutes", "30": "30 minutes", "45": "45 minutes", "60": "1 hour"},
    ),
    "reminder": (
        "Default reminder",
        {"-1": "No reminder", "0": "At start", "10": "10 minutes before", "30": "30 minutes before"},
    ),
}
TITLE = "type_title"


class Settings(Screen):
    name = ".activities.SettingsActivity"

    def view(self, at: Scene) -> View:
        day24 = at.setting("system", "time_12_24", "24") != "12"
        body = [
            _part("General"),
            item(label(at, "types"), tap=("types",)),
            switch_item("Use 24-hour time format", day24, ("hours",)),
            _choice_line(at, "week_starts"),
            switch_item("Highlight weekends", _is_on(at, "highlight_weekends", "0"), ("switch", "highlight_weekends")),
            _part("New events"),
            _choice_line(at, "duration"),
            _choice_line(at, "reminder"),
            _part("Lists"),
            switch_item("Dim past events", _is_on(at, "dim_past", "1"), ("switch", "dim_past")),
            item("View at start", view_label(at, preference(at, PACKAGE, "view", "month")), tap=("ask", "view")),
        ]
        return page(label(at, "settings"), body, up=("up",), over=_over(at))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("close",):
                turn.drop(OVER)
            case ("types",):
                turn.open(".activities.ManageEventTypesActivity")
            case ("hours",):
                day24 = turn.setting("system", "time_12_24", "24") != "12"
                turn.set("system", "time_12_24", "12" if day24 else "24")
            case ("switch", name):
                on = _is_on(turn, name, "1" if name == "dim_past" else "0")
                prefer(turn, PACKAGE, **{name: "0" if on else "1"})
            case ("ask", name):
                turn.keep(over=name)
            case ("choose", name, value):
                turn.drop(OVER)
                prefer(turn, PACKAGE, **{name: value})


def _over(at: Scene) -> list[View]:
    name = at.get(OVER)
    if name is None:
        return []
    if name == "view":
        title, choices = "View at start", {each: view_label(at, each) for each in VIEWS}
        now = preference(at, PACKAGE, "view", "month")
    else:
        title, choices = CHOICES[name]
        now = preference(at, PACKAGE, name, next(iter(choices)))
    lines = [radio(said, value == now, ("choose", name, value)) for value, said in choices.items()]
    return [dialog(title, lines, [button("Cancel", ("close",))], dismiss=("close",))]


def _choice_line(at: Scene, name: str) -> View:
    title, choices = CHOICES[name]
    value = preference(at, PACKAGE, name, next(iter(choices)))
    return item(title, choices.get(value, value), tap=("ask", name))


def _part(said: str) -> View:
    return text(said, size=14, color="primary", bold=True, pad=(16, 16, 16, 4))


def _is_on(at: Scene, name: str, default: str) -> bool:
    return preference(at, PACKAGE, name, default) == "1"


class Types(Screen):
    """Types of events: made, renamed, coloured and deleted here."""

    name = ".activities.ManageEventTypesActivity"

    def view(self, at: Scene) -> View:
        lines = []
        for kind in at.rows(EVENTS_DB, "event_types"):
            disc = View(width=24, height=24, look=Look(fill=css(number(kind, "color")), round=12))
            lines.append(item(str(kind["title"]), tap=("edit", kind["id"]), start=disc, id="event_type_title"))
        add = icon_button("add", "Add a new type", ("edit", 0))
        return page(label(at, "types"), lines, up=("up",), actions=[add], over=self._dialog(at))

    def _dialog(self, at: Scene) -> list[View]:
        if at.get(OVER) is None:
            return []
        id, color = at.get(OVER), at.get("color")
        discs = [
            View(desc=name, tap=("color", value), width=40, height=32, selected=value == color,
                 look=Look(fill=css(value), round=6, icon="check" if value == color else "", size=20, color="#ffffff"))
            for name, value in COLOURS.items() if value
        ]  # fmt: skip
        entry = field(TITLE, at.get(TITLE, ""), hint="Title", focused=at.activity.focus == TITLE)
        half = (len(discs) + 1) // 2
        body = [entry, space(height=12), row(*discs[:half], gap=8), space(height=8), row(*discs[half:], gap=8)]
        buttons = [button("Cancel", ("close",)), button("OK", ("ok",))]
        if id not in (0, REGULAR):
            buttons.insert(0, button(label(at, "delete"), ("delete",)))
        return [dialog("Edit type" if id else "Add a new type", body, buttons, dismiss=("close",))]

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("close",):
                self._leave(turn)
            case ("edit", id):
                kind = turn.database(EVENTS_DB).row("event_types", id) or FIRST_TYPE
                turn.keep(over=id, color=kind["color"], **{TITLE: kind["title"] if id else ""})
                turn.focus(TITLE)
            case ("color", color):
                turn.keep(color=color)
            case ("ok",):
                self._save(turn)
            case ("delete",):
                id = turn.get(OVER)
                # Its events stay, as events of the type that is always there.
                turn.update(EVENTS_DB, "events", lambda row: row["event_type"] == id, event_type=REGULAR)
                turn.delete(EVENTS_DB, "event_types", lambda row: row["id"] == id)
                self._leave(turn)

    def _save(self, turn: Turn) -> None:
        id, color, title = turn.get(OVER), turn.get("color"), str(turn.get(TITLE, "")).strip()
        others = [str(row["title"]).lower() for row in turn.rows(EVENTS_DB, "event_types") if row["id"] != id]
        if not title:
            turn.toast("A title is missing")
        elif title.lower() in others:
            turn.toast("There is a type of that title already")
        else:
            if id:
                turn.update(EVENTS_DB, "event_types", lambda row: row["id"] == id, title=title, color=color)
            else:
                turn.insert(EVENTS_DB, "event_types", **{**FIRST_TYPE, "title": title, "color": color})
            self._leave(turn)

    def _leave(self, turn: Turn) -> None:
        turn.drop(OVER, TITLE, "color")
        turn.focus("")

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            self._leave(turn)
        else:
            turn.close()


class About(Screen):
    name = ".activities.AboutActivity"

    def view(self, at: Scene) -> View:
        many = len(at.rows(EVENTS_DB, "events"))
        title = replace(text("Simple Calendar Pro", size=22, along="center"), pad=(16, 32, 16, 8))
        return page("About", [title, item("Version", "6.22.1"), item("Events on this phone", str(many))], up=("up",))

    def on(self, turn: Turn, event: Event) -> None:
        if event == ("up",):
            turn.close()
