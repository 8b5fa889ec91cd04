"""What is on a device's screen, once it has come to rest."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any

import numpy as np

from eapo_gym.envs.androidworld.device.connection import Connection
from eapo_gym.envs.androidworld.elements import Box, Element

BAR_SHARE = 0.055
"""How much of a screen's height its status bar may have, and its navigation bar."""

SYSTEM_UI = "com.android.systemui"

_STRIP = 256
"""Rows."""

_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_DUMP = "/sdcard/window_dump.xml"
_DUMPS = 3
"""How often `uiautomator` is asked, which gives up on a screen that moves."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds, by the device's clock."""

    quiet: float = 0.5
    """How long nothing may have changed."""

    moving: float = 1.5
    """How long the elements may not have changed where the picture never rests: a video, a clock with hands."""

    limit: float = 6.0
    """When to go on in any case, as the benchmark does."""

    poll: float = 0.1


@dataclass(frozen=True, slots=True)
class Look:
    """A screen as it was seen."""

    pixels: np.ndarray
    elements: list[Element]
    foreground: str
    """The component in front, as in com.android.settings/.Settings."""

    @property
    def size(self) -> tuple[int, int]:
        height, width = self.pixels.shape[:2]
        return width, height


class Screen:
    """Looks at one device."""

    def __init__(self, connection: Connection, patience: Patience | None = None) -> None:
        self.connection = connection
        self.patience = patience or Patience()
        self._elements: list[Element] = []
        self._forest: Any = None  # that they were made of
        self._body: np.ndarray | None = None

    def settled(self) -> Look:
        """The screen when picture and elements have been the same for a while, or after the longest wait."""
        pixels = self.settle()
        return Look(pixels, self._elements, self._foreground())

    def settle(self) -> np.ndarray:
        """Wait for that, and return its picture."""
        connection, patience = self.connection, self.patience
        began = picture_since = elements_since = connection.now()
        body, told = self._body, False
        while True:
            pixels = connection.pixels()
            forest = connection.forest()
            now = connection.now()
            below = _below_status_bar(pixels)
            if not _same_picture(body, below):
                body, picture_since = below, now
            if forest is not None:
                told = True
                if forest != self._forest:
                    self._forest, self._elements, elements_since = forest, elements_of_forest(forest), now
            rests = now - picture_since >= patience.quiet or now - elements_since >= patience.moving
            if (rests and now - elements_since >= patience.quiet) or now - began >= patience.limit:
                break
            connection.sleep(patience.poll)
        # A service that tells nothing has nothing new to tell, unless the picture is another one.
        if not told and not (self._elements and _same_picture(self._body, body)):
            self._elements, self._forest = self._dumped(), None
        self._body = body
        return pixels

    def _dumped(self) -> list[Element]:
        """What `uiautomator` says of the screen, which takes a device about two seconds."""
        for _ in range(_DUMPS):
            said = self.adb(f"rm -f {_DUMP}; uiautomator dump {_DUMP} > /dev/null; cat {_DUMP}")
            if "<hierarchy" in said:
                return elements_of_dump(said[said.index("<") :])
        return []

    def _foreground(self) -> str:
        from android_world.env import adb_utils

        for _ in range(_DUMPS):
            activity, _ = adb_utils.get_current_activity(self.connection.env.controller)
            if activity:
                return str(activity)
        return ""

    def adb(self, line: str) -> str:
        """What a line of our own says in the device's shell; nothing that an agent wrote may stand in it."""
        from android_world.env import adb_utils

        response = adb_utils.issue_generic_request(["shell", line], self.connection.env.controller, timeout_sec=30)
        return str(response.generic.output.decode("utf-8", "replace"))


def elements_of_forest(forest: Any) -> list[Element]:
    """Numbered by the benchmark's own code."""
    from android_world.env import representation_utils

    told = representation_utils.forest_to_ui_elements(forest, exclude_invisible_elements=True)
    return [_element(index, each) for index, each in enumerate(told)]


def elements_of_dump(xml: str) -> list[Element]:
    """Chosen and numbered as those of a forest are: what holds nothing else, says what it is, or scrolls."""
    root = ElementTree.fromstring(xml)
    told = [
        node
        for node in root.iter("node")
        if node.find("node") is None or node.get("content-desc") or node.get("scrollable") == "true"
    ]
    return [_dumped_element(index, node) for index, node in enumerate(told)]


def is_bar(element: Element, height: int) -> bool:
    """Whether it belongs to the status bar or the navigation bar."""
    _, top, _, bottom = element.bounds
    bar = BAR_SHARE * height
    return element.package == SYSTEM_UI and (bottom <= bar or top >= height - bar)


def _element(index: int, told: Any) -> Element:
    box = told.bbox_pixels
    text, hint = told.text or "", told.hint_text or ""
    return Element(
        index=index,
        bounds=(int(box.x_min), int(box.y_min), int(box.x_max), int(box.y_max)),
        kind=(told.class_name or "").rpartition(".")[2],
        package=told.package_name or "",
        text="" if told.is_editable and text == hint else text,  # an empty field says its hint
        desc=told.content_description or "",
        hint=hint,
        resource=told.resource_name or "",
        clickable=bool(told.is_clickable),
        long_clickable=bool(told.is_long_clickable),
        editable=bool(told.is_editable),
        scrollable=bool(told.is_scrollable),
        checkable=bool(told.is_checkable),
        checked=bool(told.is_checked),
        enabled=bool(told.is_enabled),
        focused=bool(told.is_focused),
        selected=bool(told.is_selected),
    )


def _dumped_element(index: int, node: ElementTree.Element) -> Element:
    def is_(name: str) -> bool:
        return node.get(name) == "true"

    kind = node.get("class", "").rpartition(".")[2]
    text, hint = node.get("text", ""), node.get("hint", "")
    return Element(
        index=index,
        bounds=_box(node.get("bounds", "")),
        kind=kind,
        package=node.get("package", ""),
        text="" if hint and text == hint else text,
        desc=node.get("content-desc", ""),
        hint=hint,
        resource=node.get("resource-id", ""),
        clickable=is_("clickable"),
        long_clickable=is_("long-clickable"),
        editable=kind.endswith("EditText"),
        scrollable=is_("scrollable"),
        checkable=is_("checkable"),
        checked=is_("checked"),
        enabled=is_("enabled"),
        focused=is_("focused"),
        selected=is_("selected"),
    )


def _box(text: str) -> Box:
    found = _BOUNDS.fullmatch(text)
    if found is None:
        return 0, 0, 0, 0
    left, top, right, bottom = map(int, found.groups())
    return left, top, right, bottom


def _below_status_bar(pixels: np.ndarray) -> np.ndarray:
    """A picture without its clock, for comparing: eight bytes at a time, where they lie side by side."""
    owner = pixels.base
    # android-env cuts the fourth channel off of an emulator's picture, without moving anything.
    whole = owner if isinstance(owner, np.ndarray) and owner.shape[:2] == pixels.shape[:2] else pixels
    height, *others = whole.shape
    if whole.flags.c_contiguous and whole.dtype == np.uint8 and int(np.prod(others)) % 8 == 0:
        whole = whole.reshape(height, -1).view(np.uint64)
    return whole[int(BAR_SHARE * height) :]


def _same_picture(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None or one.shape != other.shape:
        return False
    # A few rows at a time: two pictures that differ mostly do so early.
    strips = range(0, len(one), _STRIP)
    return one is other or all(np.array_equal(one[top : top + _STRIP], other[top : top + _STRIP]) for top in strips)
