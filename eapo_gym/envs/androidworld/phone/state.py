"""All that the phone is at a moment. It is immutable, so that a snapshot is the state itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eapo_gym.envs.androidworld.phone.files import Files

Kept = Mapping[str, Any]
"""What an activity keeps: what was typed, how far a list was scrolled, which dialog is open."""

NAMESPACES = ("global", "secure", "system")


@dataclass(frozen=True)
class Activity:
    """One screen of an app that was opened."""

    package: str
    name: str
    extras: Kept = field(default_factory=dict)
    """What it was opened with."""

    kept: Kept = field(default_factory=dict)
    focus: str = ""
    """The field that is written into."""

    cursor: int | None = None
    """Before which letter of it the next one goes; None: behind the last one."""

    all_selected: bool = False
    """The text of the field is marked: what is typed next replaces it."""

    edit_menu: bool = False
    """Cut, copy and paste float over the field."""

    scrolled: Mapping[str, int] = field(default_factory=dict)
    """How far each of its lists was scrolled, in pixels."""

    @property
    def component(self) -> str:
        return f"{self.package}/{self.name}"


LAUNCHER = Activity("com.google.android.apps.nexuslauncher", ".NexusLauncherActivity")


@dataclass(frozen=True)
class Task:
    """The activities of an app that lie on each other, the visible one last."""

    activities: tuple[Activity, ...]

    @property
    def top(self) -> Activity:
        return self.activities[-1]

    @property
    def package(self) -> str:
        return self.activities[0].package


@dataclass(frozen=True)
class Toast:
    text: str
    until: float


@dataclass(frozen=True)
class PhoneCall:
    """Somebody is on the line."""

    number: str
    began: float
    incoming: bool = False
    answered: float | None = None
    """When somebody picked up."""

    held: bool = False
    muted: bool = False
    speaker: bool = False

    @property
    def android_state(self) -> int:
        """As `dumpsys telephony.registry` has it: 1 rings, 2 is off the hook."""
        return 1 if self.incoming and self.answered is None else 2


@dataclass(frozen=True)
class State:
    now: float
    """By the phone's clock, in seconds since 1970."""

    files: Files = field(default_factory=Files)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: {name: {} for name in NAMESPACES})
    tasks: tuple[Task, ...] = ()
    """The one in front comes last; behind it are those that were used before."""

    at_home: bool = True
    """The launcher covers the tasks."""

    home: Activity = LAUNCHER

    shade: bool = False
    """The shade with the quick settings is pulled down."""

    keyboard: bool = False
    keyboard_page: str = "letters"
    clipboard: str = ""
    toast: Toast | None = None
    call: PhoneCall | None = None
    granted: frozenset[tuple[str, str]] = frozenset()
    """Packages and the permissions they were given."""

    disabled: frozenset[str] = frozenset()
    """Packages that cannot be opened."""

    memory: Kept = field(default_factory=dict)
    """What an app knows while it runs and loses when it is stopped, by package."""

    def setting(self, namespace: str, name: str, default: str = "") -> str:
        return self.settings[namespace].get(name, default)

    def with_setting(self, namespace: str, name: str, value: str) -> State:
        changed = {**self.settings[namespace], name: value}
        return replace(self, settings={**self.settings, namespace: changed})

    @property
    def front(self) -> Activity:
        """The activity that one sees: the launcher, if no other."""
        return self.home if self.at_home or not self.tasks else self.tasks[-1].top

    def with_front(self, activity: Activity) -> State:
        """With another one in the place of the one that one sees."""
        if self.at_home or not self.tasks:
            return replace(self, home=activity)
        *others, task = self.tasks
        return replace(self, tasks=(*others, Task((*task.activities[:-1], activity))))
