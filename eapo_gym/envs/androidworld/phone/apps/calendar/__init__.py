"""Simple Calendar Pro: events and tasks by month, week, day and year, with repetition and search."""

from __future__ import annotations

from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import App, Intent, Scene
from eapo_gym.envs.androidworld.phone.apps.calendar.data import EVENTS_DB, PACKAGE, new_database
from eapo_gym.envs.androidworld.phone.apps.calendar.event import EventScreen, TaskScreen
from eapo_gym.envs.androidworld.phone.apps.calendar.main import Main
from eapo_gym.envs.androidworld.phone.apps.calendar.others import About, Settings, Types
from eapo_gym.envs.androidworld.phone.databases import Value
from eapo_gym.envs.androidworld.phone.preferences import without_preferences
from eapo_gym.envs.androidworld.phone.state import Activity, State

_TOLD = {"title": "title", "description": "description", "eventLocation": "location"}
"""What another app may say of an event that is to be made, and where it goes."""


class Calendar(App):
    package = PACKAGE
    label = "Simple Calendar Pro"
    icon = "calendar"
    colour = "#e8710a"
    screens = (Main, EventScreen, TaskScreen, Settings, Types, About)
    permissions = ("READ_CALENDAR", "POST_NOTIFICATIONS")

    def install(self, state: State) -> State:
        state = without_preferences(state, PACKAGE)
        return replace(state, files=state.files.write(EVENTS_DB, new_database(), state.now))

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        if intent.action == "android.intent.action.INSERT" and intent.kind.startswith("vnd.android.cursor."):
            values: dict[str, Value] = {
                column: intent.extras[name] for name, column in _TOLD.items() if intent.extras.get(name)
            }
            for name, column in (("beginTime", "start_ts"), ("endTime", "end_ts")):
                said = str(intent.extras.get(name, ""))
                if said.isdecimal():
                    values[column] = int(said) // 1000
            if "start_ts" in values and "end_ts" not in values:
                values["end_ts"] = values["start_ts"]
            return Activity(PACKAGE, EventScreen.name, values)
        if intent.data.startswith("content://com.android.calendar/time"):
            return Activity(PACKAGE, Main.name)
        return None
