"""The phone: what fingers and keys do to its state, what it shows, and what it tells about what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from eapo_gym.envs.androidworld.phone.app import App, Intent, PhoneError, Scene, Screen, Taste, Turn
from eapo_gym.envs.androidworld.phone.keyboard import BACKSPACE, ENTER, LETTERS, SHIFT
from eapo_gym.envs.androidworld.phone.keyboard import PACKAGE as KEYBOARD
from eapo_gym.envs.androidworld.phone.state import Activity, State, Task
from eapo_gym.envs.androidworld.phone.ui.caret import caret, letter_at
from eapo_gym.envs.androidworld.phone.ui.layout import Box, Placed
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.windows import (
    EDIT_TEXT,
    HEIGHT,
    MOST_BRIGHT,
    PERMISSIONS,
    STATUS_BAR,
    SYSTEM,
    WIDTH,
    Window,
    asked_for,
    windows,
)

if TYPE_CHECKING:
    from PIL import Image

    from eapo_gym.envs.androidworld.phone.ui.draw import Theme

KEY_HOME, KEY_BACK, KEY_TAB, KEY_ENTER, KEY_DELETE, KEY_OVERVIEW = 3, 4, 61, 66, 67, 187
KEY_CUT, KEY_COPY, KEY_PASTE = 277, 278, 279
KEY_LEFT, KEY_RIGHT, KEY_MOVE_HOME, KEY_MOVE_END = 21, 22, 122, 123
_STEPS = (KEY_LEFT, KEY_RIGHT, KEY_MOVE_HOME, KEY_MOVE_END)

HELD_SECONDS = 0.5
"""A finger that rests so long holds."""

STILL = 24
"""A finger that moved by less, in pixels, did not move."""

TOUCH_SECONDS = 0.1

REVEAL_STEP = 160
"""So many pixels at a time a list moves to show a field."""

TILES: Mapping[str, tuple[str, str]] = {
    "Internet": ("global", "wifi_on"),
    "Bluetooth": ("global", "bluetooth_on"),
    "Flashlight": ("secure", "flashlight_enabled"),
    "Do Not Disturb": ("global", "zen_mode"),
    "Airplane mode": ("global", "airplane_mode_on"),
    "Auto-rotate": ("system", "accelerometer_rotation"),
}


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the screen, as the accessibility service tells it."""

    package: str
    view: View
    text: str
    bounds: Box
    depth: int
    focused: bool
    has_children: bool


class Phone:
    """A phone with some apps. `state` is all that changes, and can be put back at any time."""

    def __init__(
        self, apps: Sequence[App], *, now: float, taste: Taste | None = None, state: State | None = None
    ) -> None:
        self.apps: Mapping[str, App] = {app.package: app for app in apps}
        self.taste = taste or Taste()
        if state is None:
            state = State(now)
            for app in apps:
                state = app.install(state)
        self.state = state
        self._seen: tuple[State, tuple[Window, ...]] | None = None

    # What it shows

    @property
    def windows(self) -> tuple[Window, ...]:
        """The layers of the screen, the lowest first."""
        if self._seen is None or self._seen[0] is not self.state:
            self._seen = self.state, windows(self.state, self.apps, self.taste)
        return self._seen[1]

    def picture(self) -> Image.Image:
        """The screen, as a picture."""
        from eapo_gym.envs.androidworld.phone.ui.draw import draw

        theme: Theme = "dark" if self.state.setting("secure", "ui_night_mode") == "2" else "light"
        return draw([window.placed for window in self.windows], (WIDTH, HEIGHT), theme)

    def nodes(self) -> list[Node]:
        """What the accessibility service tells; what only serves the layout is left out."""
        focus = self.state.front.focus
        return [
            node
            for window in self._told_windows()
            for node in _nodes(window.placed, window.package, focus if window.package != SYSTEM else "", 0)
        ]

    def _told_windows(self) -> Iterator[Window]:
        """A question of the system hides what is under it from whoever cannot see."""
        covered = any(window.package == PERMISSIONS for window in self.windows)
        for window in self.windows:
            if not covered or window.package in (PERMISSIONS, SYSTEM):
                yield window

    # What is done to it

    def wait(self, seconds: float) -> None:
        before = self.state.now
        self.state = replace(self.state, now=before + seconds)
        for app in self.apps.values():
            if type(app).tick is not App.tick:
                turn = self._turn(Activity(app.package, app.main))
                app.tick(turn, before)
                self.state = turn.state

    def tap(self, x: int, y: int) -> None:
        touched = self._under(x, y, _takes_tap)
        self.wait(TOUCH_SECONDS)
        if touched is not None:
            window, placed = touched
            self._touch(window, placed, placed.view.tap, x, y)

    def hold(self, x: int, y: int) -> None:
        """Touch it for a while; what knows nothing of that takes it for a touch."""
        touched = self._under(x, y, _takes_hold) or self._under(x, y, _takes_tap)
        self.wait(HELD_SECONDS)
        if touched is not None:
            window, placed = touched
            self._touch(window, placed, placed.view.hold or placed.view.tap, x, y)
            if placed.view.field and self.state.front.focus == placed.view.field:
                self.state = self.state.with_front(replace(self.state.front, edit_menu=True))

    def swipe(self, x0: int, y0: int, x1: int, y1: int, seconds: float = 0.5) -> None:
        """Draw a finger over the screen: lists move with it."""
        if abs(x1 - x0) < STILL and abs(y1 - y0) < STILL:
            (self.hold if seconds >= HELD_SECONDS else self.tap)(x0, y0)
            return
        self.wait(seconds)
        if y0 < STATUS_BAR and y1 - y0 > STILL:
            self.state = replace(self.state, shade=True, keyboard=False)
        elif self.state.shade and y0 - y1 > STILL:
            self.state = replace(self.state, shade=False)
        else:
            # The benchmark's swipes begin at the very edge of the screen, and even one pixel beside it.
            self._drag(min(max(x0, 0), WIDTH - 1), min(max(y0, 0), HEIGHT - 1), x1, y1)

    def type(self, letters: str) -> None:
        """Write into the field that has the focus."""
        for part in letters.split("\n") if self._one_line() else [letters]:
            self._write(part)

    def key(self, code: int) -> None:
        """Press a key, by Android's number."""
        self.wait(TOUCH_SECONDS)
        front = self.state.front
        if code == KEY_BACK:
            self._back()
        elif code == KEY_HOME:
            self._system("home")
        elif code == KEY_OVERVIEW:
            self._system("recent_apps")
        elif code == KEY_ENTER and front.focus:
            self._enter()
        elif code == KEY_DELETE and front.focus:
            self._erase()
        elif code == KEY_TAB:
            self._next_field()
        elif code in _STEPS and front.focus:
            self._move_cursor(code)
        elif code in (KEY_CUT, KEY_COPY, KEY_PASTE) and front.focus:
            self._edit({KEY_CUT: "cut", KEY_COPY: "copy", KEY_PASTE: "paste"}[code])
        else:
            self._press(code)

    def select_all(self) -> None:
        """Mark all text of the field, as Ctrl and A do."""
        if self.state.front.focus:
            self._edit("select all")

    def open(self, package: str) -> None:
        """Bring an app to the front, as its icon does."""
        openable = [name for name, app in self.apps.items() if app.screens and name not in self.state.disabled]
        if package not in openable:
            raise PhoneError(f"{package}: no such app; expected one of {', '.join(sorted(openable))}.")
        self._leave()
        turn = self._turn()
        turn.launch(package)
        self.state = turn.state

    def start(self, package: str, name: str) -> None:
        """Open an activity by its name, in the task of its app."""
        if package not in self.apps or not self.apps[package].has_screen(name):
            raise PhoneError(f"Activity class {{{package}/{name}}} does not exist.")
        app = self.apps[package]
        self.open(package)
        screen = app.screen(name)
        if app.screen(self.state.front.name).name == screen.name:
            return
        if screen.name == app.main:
            # What begins the task is there already, under what was opened after it.
            *others, task = self.state.tasks
            self.state = replace(self.state, tasks=(*others, Task(task.activities[:1])), keyboard=False)
        else:
            self.change(lambda turn: turn.start(Activity(package, screen.name)))

    def ask(self, intent: Intent) -> bool:
        """Open whatever can do what the intent says, in a task of its own; False if nothing can."""
        for app in self.apps.values():
            scene = Scene(self.state, Activity(app.package, app.main), self.apps, self.taste)
            activity = app.activity_for(scene, intent) if intent.package in ("", app.package) else None
            if activity is not None:
                self._leave()
                others = tuple(task for task in self.state.tasks if task.package != app.package)
                tasks = (*others, Task((activity,)))
                self.state = replace(self.state, tasks=tasks, at_home=False, shade=False, keyboard=False)
                self.change(partial(app.asked, intent=intent))
                return True
        return False

    def change(self, change: Callable[[Turn], Any], package: str | None = None) -> Any:
        """Let something happen to the phone that no finger does; it is told for an app, or for the one in front."""
        activity = None if package is None else Activity(package, self.apps[package].main)
        turn = self._turn(activity)
        answer = change(turn)
        self.state = turn.state
        return answer

    def clear(self, package: str) -> None:
        """Stop an app, and put what belongs to it back to what it was at first."""
        self.stop(package)
        self.state = self.apps[package].install(self.state)

    def stop(self, package: str) -> None:
        """End an app: its screens are closed, and what it had only in its memory is gone."""
        kept = tuple(task for task in self.state.tasks if task.package != package)
        was_in_front = self.state.front.package == package
        memory = {name: known for name, known in self.state.memory.items() if name != package}
        self.state = replace(self.state, tasks=kept, memory=memory)
        if was_in_front:
            self._system("home")

    # Touches

    def _under(self, x: int, y: int, takes: Callable[[View], bool]) -> tuple[Window, Placed] | None:
        """What a finger touches there: the uppermost thing that takes this touch, in the uppermost window."""
        for window in self._touched_windows():
            left, top, right, bottom = window.placed.box
            if left <= x < right and top <= y < bottom:
                found = next((each for each in window.placed.at(x, y) if takes(each.view)), None)
                return None if found is None or not found.view.enabled else (window, found)
        return None

    def _touched_windows(self) -> Iterator[Window]:
        """The windows in the order in which a finger meets them."""
        return (window for window in reversed(self.windows) if not window.lets_through)

    def _touch(self, window: Window, placed: Placed, event: Event | None, x: int, y: int) -> None:
        view = placed.view
        if view.slide:
            left, _, right, _ = placed.box
            event = ("slide", view.slide, min(max((x - left) / max(right - left, 1), 0.0), 1.0))
        if event:
            self._happen(window, event)
        elif view.field:
            letter = letter_at(placed, x, y)
            self._focus(view.field, letter if letter < len(view.text) else None)

    def _happen(self, window: Window, event: Event) -> None:
        """An event of the app goes to its screen; the system answers its own."""
        name, *rest = event
        if name == "nothing":
            return
        if window.package == KEYBOARD and name == "key":
            self._keyed(rest[0])
        elif window.package == KEYBOARD:
            self.state = replace(self.state, keyboard_page=rest[0])
        elif name == EDIT_TEXT:
            self._edit(rest[0])
        elif window.package == PERMISSIONS:
            self._answer(rest[0], granted=name == "grant")
        elif window.package != SYSTEM:
            self._on(event)
        elif name == "system":
            self._system(rest[0])
        elif name == "tile":
            self._toggle(*TILES[rest[0]])
        elif name == "slide":
            bright = max(1, round(rest[1] * MOST_BRIGHT))
            self.state = self.state.with_setting("system", "screen_brightness", str(bright))

    def _on(self, event: Event) -> None:
        """Tell the screen in front; a touch elsewhere leaves the field's menu."""
        if event[0] == "slide":
            event = event[1:]
        turn = self._turn()
        if turn.activity.edit_menu or turn.activity.all_selected:
            turn.become(replace(turn.activity, edit_menu=False, all_selected=False))
        self._screen().on(turn, event)
        self.state = turn.state

    def _system(self, what: str) -> None:
        if what == "back":
            self._back()
        elif what == "close_shade":
            self.state = replace(self.state, shade=False)
        else:
            self._leave()
            turn = self._turn()
            turn.home()
            if what == "recent_apps":
                turn.keep(over="recents")
            self.state = turn.state

    def _leave(self) -> None:
        """Tell the screen in front that it will not be seen any more."""
        turn = self._turn()
        self._screen().left(turn)
        self.state = turn.state

    def _back(self) -> None:
        state = self.state
        if state.shade:
            self.state = replace(state, shade=False)
        elif state.front.edit_menu:
            self.state = state.with_front(replace(state.front, edit_menu=False, all_selected=False))
        elif state.keyboard:
            self.state = replace(state, keyboard=False)
        elif (wanted := asked_for(state, self.apps[state.front.package])) is not None:
            self._answer(wanted, granted=False)
        else:
            turn = self._turn()
            self._screen().back(turn)
            self.state = turn.state

    def _answer(self, permission: str, *, granted: bool) -> None:
        package = self.state.front.package
        if granted:
            self.state = replace(self.state, granted=self.state.granted | {(package, permission)})
        else:
            self._system("home")

    def _toggle(self, namespace: str, name: str) -> None:
        on = self.state.setting(namespace, name, "0") != "0"
        self.state = self.state.with_setting(namespace, name, "0" if on else "1")

    def _drag(self, x0: int, y0: int, x1: int, y1: int) -> None:
        for window in self._touched_windows():
            for placed in window.placed.at(x0, y0):
                if placed.view.slide:
                    self._touch(window, placed, None, x1, y1)
                    return
                if placed.view.draws:
                    shares = (*_shares(placed.box, x0, y0), *_shares(placed.box, x1, y1))
                    self._happen(window, (placed.view.draws, *shares))
                    return
                if placed.view.scroll and abs(y1 - y0) >= abs(x1 - x0):
                    self._scroll(placed, y0 - y1)
                    return
            left, top, right, bottom = window.placed.box
            if left <= x0 < right and top <= y0 < bottom:
                direction = "up" if y1 < y0 else "down"
                if abs(x1 - x0) > abs(y1 - y0):
                    direction = "left" if x1 < x0 else "right"
                if window.package == self.state.front.package:
                    self._on(("swipe", direction))
                return

    def _scroll(self, placed: Placed, by: int) -> None:
        front = self.state.front
        name = placed.view.scroll
        now = min(front.scrolled.get(name, 0), placed.most)
        self.state = self.state.with_front(
            replace(front, scrolled={**front.scrolled, name: min(max(now + by, 0), placed.most)})
        )

    def _press(self, code: int) -> None:
        """A key that the system has no use for goes to whichever app wants it."""
        for app in self.apps.values():
            if self.change(partial(app.pressed, code=code), app.package):
                return

    # Writing

    def _focus(self, field: str, cursor: int | None = None) -> None:
        self._stay()
        front = replace(self.state.front, focus=field, cursor=cursor, all_selected=False, edit_menu=False)
        self.state = replace(self.state.with_front(front), keyboard=True, keyboard_page=LETTERS)
        self._reveal()
        self._show_cursor()

    def _stay(self) -> None:
        """Lists begin where they are shown now: a keyboard makes room to scroll as far as was scrolled before."""
        front = self.state.front
        most = {each.view.scroll: each.most for each in self.windows[0].placed.walk() if each.view.scroll}
        scrolled = {name: min(by, most.get(name, by)) for name, by in front.scrolled.items()}
        self.state = self.state.with_front(replace(front, scrolled=scrolled))

    def _reveal(self) -> None:
        """Scroll on until the field that is written into comes out from under the keyboard."""
        while self.state.front.focus:
            placed = self.windows[0].placed
            field = next((each for each in placed.walk() if each.view.field == self.state.front.focus), None)
            lists = [each for each in placed.walk() if each.view.scroll and each.most]
            if not lists or (field is not None and not _sticks_out(field, lists[0])):
                return
            before = self.state.front.scrolled
            self._scroll(lists[0], REVEAL_STEP)
            if self.state.front.scrolled == before:
                return

    def _show_cursor(self) -> None:
        """Scroll the list that the field is in so far that one sees where the next letter goes."""
        front = self.state.front
        for moving in self.windows[0].placed.walk():
            field = next((each for each in moving.walk() if each.view.field == front.focus), None)
            if moving.view.scroll and field is not None and field.is_seen:
                end = len(field.view.text)
                _, top, _, bottom = caret(field, end if front.cursor is None else min(front.cursor, end))
                by = max(bottom - moving.seen[3], 0) or min(top - moving.seen[1], 0)
                if by:
                    self._scroll(moving, by)

    def _field(self) -> View | None:
        """The field that has the focus, as it is shown."""
        focus = self.state.front.focus
        return next((each.view for each in self._fields() if each.view.field == focus), None) if focus else None

    def _fields(self) -> list[Placed]:
        return [each for each in self.windows[0].placed.walk() if each.view.field]

    def _one_line(self) -> bool:
        field = self._field()
        return field is not None and field.look.lines == 1

    def _keyed(self, key: str) -> None:
        if key == BACKSPACE:
            self._erase()
        elif key == ENTER:
            self._enter()
        else:
            self._write(key)
            if self.state.keyboard_page == SHIFT:
                self.state = replace(self.state, keyboard_page=LETTERS)

    def _write(self, letters: str) -> None:
        field = self._field()
        if field is None or not letters:
            return
        front = self.state.front
        cursor = len(field.text) if front.cursor is None else min(front.cursor, len(field.text))
        if front.all_selected:
            self._becomes(letters, None)
        else:
            after = None if front.cursor is None else cursor + len(letters)
            self._becomes(field.text[:cursor] + letters + field.text[cursor:], after)

    def _erase(self) -> None:
        field = self._field()
        if field is None:
            return
        front = self.state.front
        if front.all_selected:
            self._becomes("", None)
        else:
            cursor = len(field.text) if front.cursor is None else min(front.cursor, len(field.text))
            before = field.text[: max(cursor - 1, 0)]
            self._becomes(before + field.text[cursor:], None if front.cursor is None else len(before))

    def _enter(self) -> None:
        field = self._field()
        if field is None:
            return
        if field.look.lines != 1:
            self._write("\n")
            return
        turn = self._turn()
        self._screen().entered(turn, field.field)
        self.state = turn.state
        self._reveal()

    def _becomes(self, written: str, cursor: int | None) -> None:
        """The field has another text."""
        turn = self._turn()
        name = turn.activity.focus
        turn.become(replace(turn.activity, cursor=cursor, all_selected=False, edit_menu=False))
        turn.keep(**{name: written})
        self._screen().typed(turn, name)
        self.state = turn.state
        self._show_cursor()

    def _edit(self, what: str) -> None:
        field = self._field()
        if field is None:
            return
        front = self.state.front
        if what == "select all":
            self.state = self.state.with_front(replace(front, all_selected=True, edit_menu=True))
            return
        if what in ("cut", "copy"):
            self.state = replace(self.state, clipboard=field.text)
        if what == "cut":
            self._becomes("", None)
        elif what == "paste":
            self._write(self.state.clipboard)
        self.state = self.state.with_front(replace(self.state.front, edit_menu=False, all_selected=False))

    def _move_cursor(self, code: int) -> None:
        """By a letter, or to an end of the line that it is in."""
        field = self._field()
        if field is None:
            return
        front, text = self.state.front, field.text
        at = len(text) if front.cursor is None else min(front.cursor, len(text))
        if code == KEY_MOVE_HOME:
            at = text.rfind("\n", 0, at) + 1
        elif code == KEY_MOVE_END:
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        else:
            at = min(max(at + (1 if code == KEY_RIGHT else -1), 0), len(text))
        cursor = at if at < len(text) else None
        self.state = self.state.with_front(replace(front, cursor=cursor, all_selected=False, edit_menu=False))

    def _next_field(self) -> None:
        names = [each.view.field for each in self._fields()]
        if names:
            focus = self.state.front.focus
            self._focus(names[(names.index(focus) + 1) % len(names)] if focus in names else names[0])

    def _screen(self) -> Screen:
        return self.apps[self.state.front.package].screen(self.state.front.name)

    def _turn(self, activity: Activity | None = None) -> Turn:
        return Turn(self.state, activity or self.state.front, self.apps, self.taste)


def _sticks_out(placed: Placed, scrolling: Placed) -> bool:
    """It reaches below the list, though there is room for all of it."""
    (_, top, _, bottom), (_, highest, _, lowest) = placed.box, scrolling.seen
    return bottom > lowest and bottom - top <= lowest - highest


def _shares(box: Box, x: int, y: int) -> tuple[float, float]:
    """Where a point is, in shares of the width and height."""
    left, top, right, bottom = box
    return (x - left) / max(right - left, 1), (y - top) / max(bottom - top, 1)


def _takes_tap(view: View) -> bool:
    return bool(view.tap or view.field or view.slide)


def _takes_hold(view: View) -> bool:
    return bool(view.hold or view.field)


def _uncovered(placed: Placed) -> Sequence[Placed]:
    """What a view holds, without what lies under a dialog, menu or drawer that takes all touches."""
    for place in range(len(placed.children) - 1, 0, -1):
        child = placed.children[place]
        if placed.view.flow == "stack" and child.box == placed.children[0].box and child.view.tap:
            return placed.children[place:]
    return placed.children


def _nodes(placed: Placed, package: str, focus: str, depth: int) -> Iterator[Node]:
    """The nodes of a window: a view that says nothing and does nothing gives its children to its parent."""
    if not placed.is_seen:
        return
    view = placed.view
    tells = view.told and bool(
        view.text or view.desc or view.field or view.id or view.scroll or view.slide or view.draws
        or view.checked is not None or (view.tap and view.tap[0] != "nothing") or view.hold or depth == 0
    )  # fmt: skip
    below = [node for child in _uncovered(placed) for node in _nodes(child, package, focus, depth + tells)]
    if tells:
        said = "•" * len(view.text) if view.secret else view.text
        focused = bool(view.field) and view.field == focus
        yield Node(package, view, said, placed.seen, depth, focused, bool(below))
    yield from below
