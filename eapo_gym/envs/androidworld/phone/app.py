"""What an app is made of: screens that describe what they show, and say what a touch does.

    class Notes(Screen):
        name = ".MainActivity"

        def view(self, at: Scene) -> View:
            return page("Notes", [item(name, tap=("open", name)) for name in at.files.names(FOLDER)])

        def on(self, turn: Turn, event: Event) -> None:
            match event:
                case ("open", name):
                    turn.open(".EditActivity", name=name)

A view is made anew of the state whenever somebody looks; a touch makes a new state. Apps keep nothing themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, ClassVar, TypeVar

from eapo_gym.envs.androidworld.phone.databases import Database, DatabaseError, Keep, Row, Rows, Value
from eapo_gym.envs.androidworld.phone.files import FileError, Files
from eapo_gym.envs.androidworld.phone.state import LAUNCHER, Activity, Kept, State, Task, Toast
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.dice import Dice
from eapo_gym.errors import EapoError

TOAST_SECONDS = 4.0


class PhoneError(EapoError):
    """What cannot be done with the phone."""


OVER = "over"
"""Under this name an activity keeps which dialog, menu or drawer lies over it: the back button closes that first."""

T = TypeVar("T")


class LayoutDice(Dice):
    """Where things stand on the screens, and what menus are called, by the phone's seed."""

    __slots__ = ()

    version = 1


@dataclass(frozen=True)
class Taste:
    """What differs from phone to phone: a seed chooses among what designers might have chosen."""

    seed: int = 0
    """0 is the phone as people know it."""

    def choose(self, what: str, *choices: T) -> T:
        """One of the choices; the usual one comes first."""
        return choices[0] if self.seed == 0 else LayoutDice(self.seed, what).pick(choices)

    def order(self, what: str, items: list[T]) -> list[T]:
        """The items, in the usual order or in another."""
        return items if self.seed == 0 else LayoutDice(self.seed, what).shuffled(items)


class Scene:
    """The phone as an activity sees it; only to be read."""

    def __init__(self, state: State, activity: Activity, apps: Mapping[str, App], taste: Taste) -> None:
        self.state = state
        self.activity = activity
        self.apps = apps
        self.taste = taste

    @property
    def extras(self) -> Kept:
        """What the activity was opened with."""
        return self.activity.extras

    @property
    def kept(self) -> Kept:
        return self.activity.kept

    def get(self, name: str, default: Any = None) -> Any:
        """What the activity keeps under a name, else what it was opened with."""
        if name in self.activity.kept:
            return self.activity.kept[name]
        return self.activity.extras.get(name, default)

    @property
    def files(self) -> Files:
        return self.state.files

    def rows(self, path: str, table: str) -> Rows:
        return self.files.database(path)[table]

    def database(self, path: str) -> Database:
        return self.files.database(path)

    def setting(self, namespace: str, name: str, default: str = "") -> str:
        return self.state.setting(namespace, name, default)

    @property
    def memory(self) -> Kept:
        """What the app knows as long as it runs."""
        found = self.state.memory.get(self.activity.package, {})
        assert isinstance(found, Mapping)
        return found

    @property
    def now(self) -> datetime:
        """The phone's time; it stands in UTC, as the benchmark sets it."""
        return datetime.fromtimestamp(self.state.now, timezone.utc)


class Turn(Scene):
    """One thing that happens: what an app changes goes into a new state."""

    # The activity

    def keep(self, **values: Any) -> None:
        """Set what the activity keeps."""
        self.become(replace(self.activity, kept={**self.activity.kept, **values}))

    def drop(self, *names: str) -> None:
        self.become(replace(self.activity, kept={n: v for n, v in self.activity.kept.items() if n not in names}))

    def focus(self, field: str, *, keyboard: bool = True) -> None:
        """Write into this field from now on; "" for none."""
        self.become(replace(self.activity, focus=field, cursor=None, all_selected=False))
        self.state = replace(self.state, keyboard=keyboard and bool(field), keyboard_page="letters")

    def open(self, name: str, *, package: str | None = None, **extras: Any) -> None:
        """Open another activity above this one."""
        self.start(Activity(package or self.activity.package, name, extras))

    def start(self, activity: Activity) -> None:
        """Put an activity on top of the task in front, or begin a task with it."""
        if self.state.at_home or not self.state.tasks:
            tasks = (*self.state.tasks, Task((activity,)))
        else:
            *others, front = self.state.tasks
            tasks = (*others, Task((*front.activities, activity)))
        self.state = replace(self.state, tasks=tasks, at_home=False, shade=False, keyboard=False)
        self.activity = activity

    def close(self, **result: Any) -> None:
        """Close this activity; the one below gets the result among what it keeps."""
        *others, front = self.state.tasks
        below = front.activities[:-1]
        if not below:
            self.state = replace(self.state, tasks=tuple(others), at_home=True, home=LAUNCHER, keyboard=False)
            self.activity = LAUNCHER
            return
        under = below[-1]
        if result:
            under = replace(under, kept={**under.kept, **result})
        self.state = replace(self.state, tasks=(*others, Task((*below[:-1], under))), keyboard=False)
        self.activity = under

    def ask(self, intent: Intent) -> bool:
        """Open whatever can do that; False if nothing can."""
        for app in self.apps.values():
            if intent.package in ("", app.package):
                activity = app.activity_for(self, intent)
                if activity is not None:
                    self.start(activity)
                    app.asked(self, intent)
                    return True
        return False

    def launch(self, package: str) -> None:
        """Bring an app to the front, as its icon does: where it was left, else at its beginning."""
        waiting = [task for task in self.state.tasks if task.package == package]
        task = waiting[-1] if waiting else Task((Activity(package, self.apps[package].main),))
        others = tuple(each for each in self.state.tasks if each.package != package)
        self.state = replace(self.state, tasks=(*others, task), at_home=False, shade=False, keyboard=False)
        self.activity = task.top

    def home(self) -> None:
        self.state = replace(self.state, at_home=True, home=LAUNCHER, shade=False, keyboard=False)
        self.activity = LAUNCHER

    def end_all(self) -> None:
        """Close every app."""
        self.state = replace(self.state, tasks=(), memory={})
        self.home()

    # The phone

    def toast(self, text: str) -> None:
        """Say something at the bottom of the screen, for a few seconds."""
        self.state = replace(self.state, toast=Toast(text, self.state.now + TOAST_SECONDS))

    def write(self, path: str, content: bytes | str) -> None:
        data = content.encode() if isinstance(content, str) else content
        self.state = replace(self.state, files=self.files.write(path, data, self.state.now))

    def change_files(self, change: Callable[[Files, float], Files]) -> None:
        """For all else: `turn.change_files(lambda files, now: files.move(a, b, now))`."""
        self.state = replace(self.state, files=change(self.files, self.state.now))

    def insert(self, path: str, table: str, /, **values: Value) -> int:
        """Add a row to a table of the database at `path`; its number."""
        database, number = self.database(path).insert(table, **values)
        self._save(path, database)
        return number

    def update(self, path: str, table: str, where: Keep, /, **values: Value) -> None:
        self._save(path, self.database(path).update(table, where, **values))

    def delete(self, path: str, table: str, where: Keep) -> None:
        self._save(path, self.database(path).delete(table, where))

    def mend(self, path: str, empty: Database) -> None:
        """Make a database anew that is gone, is broken, or has not the tables that it should have."""
        try:
            is_whole = empty.tables.keys() <= self.database(path).tables.keys()
        except (FileError, DatabaseError):
            is_whole = False
        if not is_whole:
            self._save(path, empty)

    def set(self, namespace: str, name: str, value: str) -> None:
        """Change a setting of the phone."""
        self.state = self.state.with_setting(namespace, name, value)

    def copy(self, text: str) -> None:
        """Put text on the clipboard."""
        self.state = replace(self.state, clipboard=text)

    def remember(self, **values: Any) -> None:
        """What the app knows as long as it runs."""
        package = self.activity.package
        self.state = replace(self.state, memory={**self.state.memory, package: {**self.memory, **values}})

    def _save(self, path: str, database: Database) -> None:
        self.state = replace(self.state, files=self.files.write(path, database, self.state.now))

    def become(self, activity: Activity) -> None:
        """Put another activity in the place of this one."""
        self.state = self.state.with_front(activity)
        self.activity = activity


class Screen(ABC):
    """An activity's class: what it shows, and what happens when it is touched."""

    name: ClassVar[str]
    """As the accessibility tree and `dumpsys` have it, such as ".MainActivity"."""

    @abstractmethod
    def view(self, at: Scene) -> View:
        """What is between the status bar and the navigation bar."""

    @abstractmethod
    def on(self, turn: Turn, event: Event) -> None:
        """Something of `view` was touched."""

    def back(self, turn: Turn) -> None:
        """The back button: closes what lies over the screen, else the screen."""
        if OVER in turn.kept:
            turn.drop(OVER)
        else:
            turn.close()

    def left(self, turn: Turn) -> None:  # noqa: B027 - most screens keep nothing that could be lost
        """Another app or the home screen comes in front of it."""

    def typed(self, turn: Turn, field: str) -> None:  # noqa: B027 - most screens do not care
        """What is in a field has changed."""

    def entered(self, turn: Turn, field: str) -> None:
        """The enter key, in a field of one line."""
        turn.focus("")


@dataclass(frozen=True)
class Intent:
    """What one app, or `am`, asks of whichever app can do it."""

    action: str = ""
    data: str = ""
    kind: str = ""
    """The type of the data, such as "text/plain"."""

    package: str = ""
    extras: Kept = field(default_factory=dict)


class App:
    """An app that is installed."""

    package: ClassVar[str]
    label: ClassVar[str]
    """As the launcher and `open_app` call it."""

    icon: ClassVar[str]
    colour: ClassVar[str]
    """Of its icon."""

    screens: ClassVar[tuple[type[Screen], ...]]
    """The first one is where it begins; what only keeps data for others has none, and no icon."""

    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names under which screens can be started, such as one that only leads on to the first screen."""

    permissions: ClassVar[tuple[str, ...]] = ()
    """What it asks for when it is opened for the first time."""

    @property
    def main(self) -> str:
        return self.screens[0].name if self.screens else ""

    def install(self, state: State) -> State:
        """The phone with the app's files, databases and settings, as they are at first."""
        return state

    def tick(self, turn: Turn, before: float) -> None:
        """Time has passed: the phone's clock was at `before`."""

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        """The activity that does what the intent asks, if the app has one."""
        return None

    def asked(self, turn: Turn, intent: Intent) -> None:
        """The activity for the intent has been opened; what it does beside that, such as to dial."""

    def received(self, turn: Turn, intent: Intent) -> str | None:
        """A broadcast has come; its answer, or None if the app does not listen to it."""
        return None

    def query(self, at: Scene, uri: str) -> Rows | None:
        """The rows of a content provider's address, or None if it is another app's."""
        return None

    def insert(self, turn: Turn, uri: str, values: Row) -> bool:
        """Add a row to what is at an address; False if it is another app's."""
        return False

    def delete(self, turn: Turn, uri: str, where: Keep) -> bool:
        """Delete rows of what is at an address; False if it is another app's."""
        return False

    def heard(self, turn: Turn, sender: str, message: str) -> bool:
        """A text message has come from the network; False if the app does not take them."""
        return False

    def rang(self, turn: Turn, caller: str) -> bool:
        """The network brings a call, or with "" ends one; False if the app does not take calls."""
        return False

    def pressed(self, turn: Turn, code: int) -> bool:
        """A key that no field and no screen takes, such as the one that ends a call; False if it is not the app's."""
        return False

    def screen(self, name: str) -> Screen:
        """The screen of that name; the package's own may be left out of it, as Android does."""
        name = self.aliases.get(name, name)
        for each in self.screens:
            if self._whole(each.name) == self._whole(name):
                return each()
        raise PhoneError(f"{self.package}: expected one of {[each.name for each in self.screens]}, got {name!r}.")

    def has_screen(self, name: str) -> bool:
        return name in self.aliases or self._whole(name) in {self._whole(each.name) for each in self.screens}

    def _whole(self, name: str) -> str:
        return self.package + name if name.startswith(".") else name


__all__ = ["App", "Row", "Scene", "Screen", "Taste", "Turn"]
