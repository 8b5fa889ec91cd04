"""Windows, by what their manager tells of them (the EWMH hints)."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

from Xlib import X, display, error, protocol  # type: ignore[import-untyped]

from .wallpaper import paint

BACKGROUND = 0x2E3440
DOCK = "eapo-dock"
"""The class of the bar of programs, which is no program's window."""

DOCK_TITLE = "Dock"

_FROM_A_PAGER = 2
"""Who asks the manager, in its protocol: something that acts for the user, which is always obeyed."""


@dataclass(frozen=True)
class Window:
    id: int
    title: str
    wm_class: str
    box: tuple[int, int, int, int]
    active: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "class": self.wm_class,
            "box": list(self.box),
            "active": self.active,
        }


class Windows:
    """A connection to X that asks and tells the window manager. Safe to use from several threads."""

    def __init__(self) -> None:
        self._display = display.Display()
        self._root = self._display.screen().root
        self._lock = RLock()

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Windows]:
        windows = cls()
        try:
            yield windows
        finally:
            windows._display.close()

    def all(self) -> list[Window]:
        """The windows of programs, from the lowest to the one on top, as they are stacked."""
        return [window for window in self._every() if not window.wm_class.startswith(f"{DOCK}.")]

    def _every(self) -> list[Window]:
        with self._lock:
            active = self._active_id()
            found = [self._window(number, active) for number in self._numbers("_NET_CLIENT_LIST_STACKING")]
            return [window for window in found if window is not None]

    def active_title(self) -> str:
        with self._lock:
            active = self._active_id()
            window = self._window(active, active) if active else None
            return window.title if window else ""

    def hidden_titles(self) -> set[str]:
        """The titles of windows of which nothing is to be seen: another one covers them, or they are minimised."""
        with self._lock:
            stacked = self.all()
            seen = {window.title for window in stacked}
            hidden: set[str] = set()
            for place, window in enumerate(stacked):
                covered = any(_covers(above.box, window.box) for above in stacked[place + 1 :])
                if covered or self._is_minimised(window.id):
                    hidden.add(window.title)
                    continue
                seen.discard(window.title)
                hidden.discard(window.title)
            return hidden & seen

    def find(self, name: str, *, strict: bool, by_class: bool) -> Window | None:
        """The topmost window of that title or class: any part of it, in any case, unless it is to be strict."""
        for window in reversed(self.all()):
            text = window.wm_class if by_class else window.title
            if text == name if strict else name.lower() in text.lower():
                return window
        return None

    def activate(self, window: Window, seconds: float = 2.0) -> bool:
        """Bring it to the front; whether that was seen to happen."""
        self._tell(window.id, "_NET_ACTIVE_WINDOW", [_FROM_A_PAGER, X.CurrentTime, 0, 0, 0])
        return self._wait_until(lambda: self._active_id() == window.id, seconds)

    def close(self, window: Window, seconds: float = 2.0) -> bool:
        """Ask it to close; whether it did. A program may ask its user first, and then it does not."""
        self._tell(window.id, "_NET_CLOSE_WINDOW", [X.CurrentTime, _FROM_A_PAGER, 0, 0, 0])
        return self._wait_until(lambda: window.id not in self._numbers("_NET_CLIENT_LIST"), seconds)

    def wait_for_new(self, before: set[int], title: str, seconds: float) -> Window | None:
        """A window that was not there before, or whose title names the file."""
        found: list[Window] = []

        def has_come() -> bool:
            found[:] = [w for w in self.all() if w.id not in before or (title and title in w.title)]
            return bool(found)

        return found[-1] if self._wait_until(has_come, seconds) else None

    def wait_until_only(self, title: str, seconds: float) -> bool:
        """Until there is a window of that title and no other."""
        return self._wait_until(lambda: [window.title for window in self._every()] == [title], seconds)

    def wait_for_manager(self, seconds: float) -> bool:
        return self._wait_until(lambda: bool(self._numbers("_NET_SUPPORTING_WM_CHECK")), seconds)

    def paint_background(self) -> None:
        with self._lock:
            self._root.change_attributes(background_pixmap=X.NONE, background_pixel=BACKGROUND)
            self._root.clear_area()
            self._display.flush()

    def paint_picture(self, path: Path) -> None:
        with self._lock:
            paint(self._display, path)

    def _wait_until(self, condition: Any, seconds: float) -> bool:
        """Looks again whenever the root window's properties change, as the manager notes everything there."""
        deadline = time.monotonic() + seconds
        with Windows.opened() as watcher:
            watcher._root.change_attributes(event_mask=X.PropertyChangeMask)
            watcher._display.sync()
            while True:
                with self._lock:
                    if condition():
                        return True
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                # Titles change on the windows themselves: look now and then, too.
                select.select([watcher._display], [], [], min(left, 0.1))
                while watcher._display.pending_events():
                    watcher._display.next_event()

    def _is_minimised(self, number: int) -> bool:
        window = self._display.create_resource_object("window", number)
        try:
            found = window.get_full_property(self._display.intern_atom("_NET_WM_STATE"), X.AnyPropertyType)
        except error.BadWindow:
            return True
        return found is not None and self._display.intern_atom("_NET_WM_STATE_HIDDEN") in list(found.value)

    def _tell(self, window: int, message: str, data: list[int]) -> None:
        with self._lock:
            event = protocol.event.ClientMessage(
                window=self._display.create_resource_object("window", window),
                client_type=self._display.intern_atom(message),
                data=(32, data),
            )
            self._root.send_event(event, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            self._display.flush()

    def _active_id(self) -> int:
        numbers = self._numbers("_NET_ACTIVE_WINDOW")
        return numbers[0] if numbers else 0

    def _numbers(self, name: str) -> list[int]:
        found = self._root.get_full_property(self._display.intern_atom(name), X.AnyPropertyType)
        return [int(value) for value in found.value] if found is not None else []

    def _window(self, number: int, active: int) -> Window | None:
        """None for one that has closed since it was listed."""
        window = self._display.create_resource_object("window", number)
        try:
            geometry = window.get_geometry()
            place = self._root.translate_coords(window, 0, 0)
            names = window.get_wm_class() or ("", "")
            title = self._text(window, "_NET_WM_NAME") or self._text(window, "WM_NAME")
        except (error.BadWindow, error.BadDrawable):
            return None
        left, top = place.x, place.y
        box = (left, top, left + geometry.width, top + geometry.height)
        return Window(number, title, ".".join(names), box, number == active)

    def _text(self, window: Any, name: str) -> str:
        found = window.get_full_property(self._display.intern_atom(name), X.AnyPropertyType)
        if found is None:
            return ""
        value = found.value
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _covers(above: tuple[int, int, int, int], below: tuple[int, int, int, int]) -> bool:
    return above[0] <= below[0] and above[1] <= below[1] and above[2] >= below[2] and above[3] >= below[3]
