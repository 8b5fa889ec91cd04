"""What an agent does to a device: the benchmark's JSON actions, by the benchmark's own code.

Its pauses are left out: between two parts of an action the screen is waited for, and after it too.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.device.screen import Look, Screen
from eapo_gym.errors import ActionError

WAITED_SECONDS = 1.0

_CLICK = '{"action_type": "click", "index": 0}'
_OPEN = '{"action_type": "open_app", "app_name": "Settings"}'
_PRESS = '{"action_type": "press_keyboard", "keycode": "KEYCODE_DEL"}'

_PLAIN = re.compile(r"[\w%+\-=:,./@]", re.ASCII)
"""What no shell reads as anything but itself."""

_PACKAGE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
_KEYCODE = re.compile(r"KEYCODE_[A-Z0-9_]{1,40}")

_SELECT_ALL = ("113", "29")  # Ctrl and A
_DELETE = "67"


class Touch:
    """Carries out actions on one device."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    def act(self, action: Action, look: Look) -> None:
        """Do it on a screen as it was seen; raises `ActionError` if it points at nothing there."""
        place = _place(action, look)
        kind = action.action_type
        if kind == "wait":
            self.screen.connection.sleep(WAITED_SECONDS)
        elif kind == "press_keyboard":
            self._press(action.keycode or "")
        elif kind == "open_app":
            self._open(action.app_name or "")
        elif kind == "input_text":
            self._write(action, place)
        elif place is not None:
            self._do(kind, look, x=place[0], y=place[1])
        else:
            self._do(kind, look, index=action.index, direction=action.direction)

    def _do(self, kind: str, look: Look, **said: Any) -> None:
        from android_world.env import actuation, json_action

        action = json_action.JSONAction(action_type=kind, **said)
        env = self._env
        size = env.logical_screen_size if kind in ("scroll", "swipe") else look.size
        actuation.execute_adb_action(action, _for_the_benchmark(look), size, env.controller)

    def _press(self, keycode: str) -> None:
        from android_world.env import adb_utils

        if not _KEYCODE.fullmatch(keycode):
            raise ActionError(f"keycode: expected a name such as KEYCODE_DEL, got {keycode!r:.60}.", _PRESS)
        adb_utils.press_keyboard_generic(keycode, self._env.controller)

    def _open(self, name: str) -> None:
        from android_world.env import adb_utils

        controller = self._env.controller
        known = name in adb_utils._DEFAULT_URIS or adb_utils.get_adb_activity(name) is not None
        # The benchmark's code takes any other name for that of a package, and hands it to the device's shell.
        if not known and not (_PACKAGE.fullmatch(name) and name in adb_utils.get_all_package_names(controller)):
            names = ", ".join(sorted(adb_utils.get_all_apps(controller)))
            raise ActionError(f"There is no app {name!r:.80} on this device: expected one of {names}.", _OPEN)
        adb_utils.launch_app(name, controller)

    def _write(self, action: Action, place: tuple[int, int] | None) -> None:
        from android_env.proto import adb_pb2
        from android_world.env import adb_utils

        controller = self._env.controller
        if not action.text:
            return
        if place is not None:
            adb_utils.tap_screen(*place, controller)
            self.screen.settle()
        if action.clear_text:
            combined = ["shell", "input", "keycombination", *_SELECT_ALL, "&&", "input", "keyevent", _DELETE]
            adb_utils.issue_generic_request(combined, controller)
            self.screen.settle()
        for word in typed_words(action.text):
            if word == "\n":
                adb_utils.press_enter_button(controller)
            else:
                text = adb_pb2.AdbRequest.InputText(text=word)
                controller.execute_adb_call(adb_pb2.AdbRequest(input_text=text, timeout_sec=10))
        adb_utils.press_enter_button(controller)

    @property
    def _env(self) -> Any:
        return self.screen.connection.env


def typed_words(text: str) -> list[str]:
    """A text as the benchmark types it, piece by piece: words, `%s` for a space, new lines.

    The device knows only plain Latin letters: others lose their marks, or go. That comes first, since it makes signs
    that mean something to a shell from others that do not. Then everything that may mean something is escaped.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    plain = "".join(sign for sign in plain if sign.isprintable() or sign in "\n\t")
    pieces = [piece for piece in re.split(r"([ \n])", plain) if piece]
    return ["%s" if piece == " " else piece if piece == "\n" else _escaped(piece) for piece in pieces]


def _escaped(word: str) -> str:
    return "".join(sign if _PLAIN.match(sign) else f"\\{sign}" for sign in word)


def _place(action: Action, look: Look) -> tuple[int, int] | None:
    """Where on the screen it points; that of `scroll` is the benchmark's to find."""
    if action.index is not None and action.index >= len(look.elements):
        raise ActionError(
            f"There is no element {action.index}: the screen has the elements 0 to {len(look.elements) - 1}.", _CLICK
        )
    place = action.place(look.elements)
    if place is None or action.action_type == "scroll":
        return None
    width, height = look.size
    if action.index is None and not (place[0] < width and place[1] < height):
        raise ActionError(
            f"({place[0]}, {place[1]}) is off the screen: x goes up to {width - 1}, y up to {height - 1}.",
            '{"action_type": "click", "x": 540, "y": 1200}',
        )
    return place


def _for_the_benchmark(look: Look) -> list[Any]:
    from android_world.env.representation_utils import BoundingBox, UIElement

    boxes = [each.bounds for each in look.elements]
    return [UIElement(bbox_pixels=BoundingBox(left, right, top, bottom)) for left, top, right, bottom in boxes]
