"""The embedded phone in the hands of an agent: JSON actions in, elements and pictures out.

Actions are carried out as the benchmark's own code does it on a device, touch by touch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.adb import Adb
from eapo_gym.envs.androidworld.phone.app import App, PhoneError
from eapo_gym.envs.androidworld.phone.dump import is_clickable, resource_id
from eapo_gym.envs.androidworld.phone.phone import KEY_BACK, KEY_ENTER, KEY_HOME, Node, Phone
from eapo_gym.envs.androidworld.phone.windows import HEIGHT, WIDTH
from eapo_gym.errors import ActionError

SETTLED_SECONDS = 1.0
"""So much time passes between two actions."""

WAITED_SECONDS = 1.0
SWIPE_SECONDS = 0.5
DOUBLE_TAP_GAP = 0.1

OTHER_NAMES: Mapping[str, str] = {
    "google chrome": "chrome",
    "browser": "chrome",
    "system settings": "settings",
    "phone app": "phone",
    "dialer": "phone",
    "sms": "simple sms messenger",
    "sms messenger": "simple sms messenger",
    "messages": "simple sms messenger",
    "file manager": "files",
    "pro expense": "pro expense",
    "arduia pro expense": "pro expense",
    "expense": "pro expense",
    "broccoli app": "broccoli",
    "broccoli recipe app": "broccoli",
    "recipe app": "broccoli",
    "simple gallery": "simple gallery pro",
    "gallery": "simple gallery pro",
    "simple calendar": "simple calendar pro",
    "calendar": "simple calendar pro",
    "google camera": "camera",
}
"""What people call apps, beside what stands under their icons."""


class Hands:
    """Carries out actions on one phone."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self.adb = Adb(phone)

    def elements(self) -> list[Element]:
        """What is on the screen, as the benchmark lists it: what holds nothing else, says what it is, or scrolls."""
        told = [each for each in self.phone.nodes() if not each.has_children or each.view.desc or each.view.scroll]
        return [_element(index, node) for index, node in enumerate(told)]

    def pixels(self) -> np.ndarray:
        return np.asarray(self.phone.picture())

    def act(self, action: Action) -> None:
        """Do it; raises `ActionError` if it points at nothing."""
        self._act(action)
        self.phone.wait(SETTLED_SECONDS)

    def _act(self, action: Action) -> None:
        phone = self.phone
        place = self._place(action)
        kind = action.action_type
        if kind == "click" and place:
            phone.tap(*place)
        elif kind == "double_tap" and place:
            phone.tap(*place)
            phone.wait(DOUBLE_TAP_GAP)
            phone.tap(*place)
        elif kind == "long_press" and place:
            phone.hold(*place)
        elif kind == "input_text" and action.text:
            if place:
                phone.tap(*place)
            if action.clear_text:
                phone.select_all()
            phone.type(action.text)
            phone.key(KEY_ENTER)
        elif kind == "keyboard_enter":
            phone.key(KEY_ENTER)
        elif kind == "navigate_home":
            phone.key(KEY_HOME)
        elif kind == "navigate_back":
            phone.key(KEY_BACK)
        elif kind == "press_keyboard":
            self.adb.run(["shell", "input", "keyevent", re.sub(r"\W", "", action.keycode or "")])
        elif kind == "scroll":
            self._scroll(action)
        elif kind == "swipe":
            self._swipe(action.direction or "up")
        elif kind == "open_app":
            self._open(action.app_name or "")
        elif kind == "wait":
            phone.wait(WAITED_SECONDS)

    def _place(self, action: Action) -> tuple[int, int] | None:
        elements = self.elements() if action.index is not None else []
        if action.index is not None and action.index >= len(elements):
            raise ActionError(
                f"There is no element {action.index}: the screen has the elements 0 to {len(elements) - 1}.",
                '{"action_type": "click", "index": 0}',
            )
        place = action.place(elements)
        if place is not None and not (place[0] < WIDTH and place[1] < HEIGHT):
            raise ActionError(
                f"({place[0]}, {place[1]}) is off the screen: x goes up to {WIDTH - 1}, y up to {HEIGHT - 1}.",
                '{"action_type": "click", "x": 540, "y": 1200}',
            )
        return place

    def _scroll(self, action: Action) -> None:
        """To scroll down is to draw what is below up."""
        box = (0, 0, WIDTH, HEIGHT)
        if action.index is not None:
            box = self.elements()[action.index].bounds
        left, top, right, bottom = box
        x, y = (left + right) // 2, (top + bottom) // 2
        ends = {"down": (x, top), "up": (x, bottom), "right": (left, y), "left": (right, y)}
        self.phone.swipe(x, y, *ends[action.direction or "down"], SWIPE_SECONDS)

    def _swipe(self, direction: str) -> None:
        x, y = WIDTH // 2, HEIGHT // 2
        lines = {
            "down": (x, 0, x, HEIGHT),
            "up": (x, HEIGHT, x, 0),
            "left": (0, y, WIDTH, y),
            "right": (WIDTH, y, 0, y),
        }
        self.phone.swipe(*lines[direction], SWIPE_SECONDS)

    def _open(self, name: str) -> None:
        app = self._app(name)
        if app is None:
            names = ", ".join(sorted(app.label for app in self._apps()))
            raise ActionError(
                f"There is no app {name!r:.80} on this phone: expected one of {names}.",
                '{"action_type": "open_app", "app_name": "Settings"}',
            )
        try:
            self.phone.open(app.package)
        except PhoneError as problem:
            raise ActionError(str(problem), '{"action_type": "open_app", "app_name": "Settings"}') from problem

    def _app(self, name: str) -> App | None:
        wanted = " ".join(name.lower().split())
        wanted = OTHER_NAMES.get(wanted, wanted)
        named = {app.label.lower(): app for app in self._apps()}
        return named.get(wanted) or named.get(wanted.removesuffix(" app")) or self.phone.apps.get(name)

    def _apps(self) -> list[App]:
        return [app for app in self.phone.apps.values() if app.screens and app.label != "Pixel Launcher"]


def _element(index: int, node: Node) -> Element:
    view = node.view
    return Element(
        index=index,
        bounds=node.bounds,
        kind=view.kind.rpartition(".")[2],
        package=node.package,
        text=node.text,
        desc=view.desc,
        hint=view.hint,
        resource=resource_id(node),
        clickable=is_clickable(node),
        long_clickable=view.hold is not None,
        editable=bool(view.field),
        scrollable=bool(view.scroll),
        checkable=view.checked is not None,
        checked=bool(view.checked),
        enabled=view.enabled,
        focused=node.focused,
        selected=view.selected and not view.field,
    )
