"""What accessibility tells of the windows that are showing.

The programs are asked over D-Bus directly, many things at a time: a library that asks for one after the other needs a
second for what takes a twentieth of one here. What is not showing is not asked for what it is. A program that does not
answer costs the time that was given, and no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import gi  # type: ignore[import-not-found]

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # type: ignore[import-not-found]  # noqa: E402

from .bus import accessibility_bus  # noqa: E402
from .dbus import Link, talk  # noqa: E402
from .interfaces import (  # noqa: E402
    ACCESSIBLE,
    APPLICATION,
    COMPONENT,
    NOTHING,
    ON_SCREEN,
    PROPERTIES,
    ROOT,
    TABLE,
    TEXT,
    VALUE,
    Arguments,
    Reference,
)
from .nodes import Box, Node  # noqa: E402
from .office import is_second_menu_bar, misplaces, set_right, without_second_menus  # noqa: E402
from .tables import Table  # noqa: E402

MOST_CHILDREN = 1_000
"""Of one node. What has more is a table that is asked for its cells in sight, or is cut."""

MOST_NODES = 10_000
MOST_TEXT = 10_000

_ROLES = {int(getattr(Atspi.Role, name)): name.lower().replace("_", "-") for name in dir(Atspi.Role) if name.isupper()}
_STATES = {
    int(getattr(Atspi.StateType, name)): name.lower().replace("_", "-")
    for name in dir(Atspi.StateType)
    if name.isupper() and name not in ("INVALID", "LAST_DEFINED")
}
_SHOWING = 1 << int(Atspi.StateType.SHOWING)

_WITH_VALUE = {"dial", "level-bar", "progress-bar", "scroll-bar", "slider", "spin-button", "split-pane"}

_WITHOUT_TEXT = {
    "check-box",
    "check-menu-item",
    "frame",
    "icon",
    "label",
    "menu",
    "menu-item",
    "page-tab",
    "push-button",
    "radio-button",
    "radio-menu-item",
    "scroll-bar",
    "toggle-button",
    "tool-bar",
}
"""Roles whose text is their name, or nothing."""


@dataclass(frozen=True)
class Look:
    root: Node
    late: list[str]
    """The programs that did not answer in time."""


class Accessibility:
    """Looks at the windows of all programs. One look at a time."""

    def __init__(self, size: tuple[int, int], is_blank: Callable[[Box], bool] = lambda box: False) -> None:
        self._link = accessibility_bus()
        self._kinds: dict[Reference, tuple[str, frozenset[str]]] = {}
        self._names: dict[str, str] = {}
        self._size = size
        self._is_blank = is_blank
        self._lock = Lock()

    def look(self, seconds: float, hidden: Collection[str] = ()) -> Look:
        """All that is showing, as far as it was told in time; without the windows with a title of `hidden`."""
        with self._lock:
            if self._link.is_broken:
                self._link = accessibility_bus()
                self._kinds.clear()
            if len(self._kinds) > 100_000:
                self._kinds.clear()
            visit = _Visit(self._link, self._kinds, self._names, self._is_blank, frozenset(hidden))
            return visit.run(self._size, seconds)


class _Visit:
    """One look: every answer brings the next questions."""

    def __init__(
        self,
        link: Link,
        kinds: dict[Reference, tuple[str, frozenset[str]]],
        names: dict[str, str],
        is_blank: Callable[[Box], bool],
        hidden: frozenset[str],
    ) -> None:
        """`kinds` and `names` are kept from look to look: roles of what was seen before, and names of programs."""
        self._link = link
        self._kinds = kinds
        self._names = names
        self.is_blank = is_blank
        self._hidden = hidden
        self._waiting: dict[str, int] = {}
        self._crashing: set[str] = set()
        self._nodes = 0

    def run(self, size: tuple[int, int], seconds: float) -> Look:
        root = Node("desktop-frame", "main", box=(0, 0, *size))
        self.ask(ROOT, ACCESSIBLE, "GetChildren", NOTHING, lambda found: self._programs(root, found[0]))
        talk(lambda: (self._link,), time.monotonic() + seconds)
        self._link.waiting.clear()
        late = sorted(self._names.get(bus, bus) for bus, count in self._waiting.items() if count)
        root.children = [child for child in root.children if child.children]
        for program in root.children:
            if misplaces(program):
                without_second_menus(program)
                set_right(program)
        return Look(root, late)

    def _programs(self, root: Node, references: list[Reference]) -> None:
        for reference in references:
            program = Node("application", parent=root)
            root.children.append(program)
            self._program(program, reference)

    def _program(self, program: Node, reference: Reference) -> None:
        def with_toolkit(found: tuple[str]) -> None:
            if found[0] == "Qt":
                self._crashing.add(reference[0])
            self._ask_facts(reference, with_facts)

        def with_facts(facts: dict[str, Any]) -> None:
            program.name = self._names[reference[0]] = str(facts.get("Name", ""))
            self.ask(
                reference,
                ACCESSIBLE,
                "GetChildren",
                NOTHING,
                lambda found: self._children(program, found[0], windows=True),
            )

        self.ask(reference, PROPERTIES, "Get", ("ss", (APPLICATION, "ToolkitName")), with_toolkit)

    def _ask_facts(self, reference: Reference, then: Callable[[dict[str, Any]], None]) -> None:
        """Its name and how many children it has. Qt crashes when it is asked for all such facts at once."""
        if reference[0] not in self._crashing:
            self.ask(reference, PROPERTIES, "GetAll", ("s", (ACCESSIBLE,)), lambda found: then(found[0]))
            return
        facts: dict[str, Any] = {}

        def noted(name: str, found: tuple[Any]) -> None:
            facts[name] = found[0]
            if len(facts) == 2:
                then(facts)

        for name in ("Name", "ChildCount"):
            question = ("ss", (ACCESSIBLE, name))
            self.ask(reference, PROPERTIES, "Get", question, partial(noted, name))

    def _children(self, parent: Node, references: list[Reference], windows: bool = False) -> None:
        """The places of the children are kept in their order, as the answers come in any."""
        places: list[Node | None] = [None] * len(references)

        def placed(index: int, node: Node) -> None:
            node.parent = parent
            places[index] = node
            parent.children = [each for each in places if each is not None]

        for index, reference in enumerate(references):
            self._child(reference, partial(placed, index), windows)

    def _child(self, reference: Reference, place: Callable[[Node], None], window: bool) -> None:
        def with_states(found: tuple[list[int]]) -> None:
            low, high = [*found[0], 0, 0][:2]
            bits = low | high << 32
            if bits & _SHOWING and self._nodes < MOST_NODES:
                self._nodes += 1
                states = tuple(name for number, name in _STATES.items() if bits >> number & 1)
                self._describe(reference, states, place, window)

        self.ask(reference, ACCESSIBLE, "GetState", NOTHING, with_states)

    def _describe(
        self, reference: Reference, states: tuple[str, ...], place: Callable[[Node], None], window: bool
    ) -> None:
        node = Node("unknown", states=states)
        known = self._kinds.get(reference)
        kind: list[Any] = list(known) if known else [None, None]
        facts: list[dict[str, Any]] = []

        def is_complete() -> None:
            if facts and kind[0] is not None and kind[1] is not None:
                self._kinds[reference] = (kind[0], kind[1])
                node.role = kind[0]
                node.name = str(facts[0].get("Name", ""))
                node.description = str(facts[0].get("Description", ""))
                if not (window and node.name and node.name in self._hidden):
                    place(node)
                    self._ask_more(reference, node, kind[1], int(facts[0].get("ChildCount", 0)))

        def with_role(found: tuple[int]) -> None:
            kind[0] = _ROLES.get(found[0], "unknown")
            is_complete()

        def with_interfaces(found: tuple[list[str]]) -> None:
            kind[1] = frozenset(found[0])
            is_complete()

        def with_facts(found: dict[str, Any]) -> None:
            facts.append(found)
            is_complete()

        if known is None:
            self.ask(reference, ACCESSIBLE, "GetRole", NOTHING, with_role)
            self.ask(reference, ACCESSIBLE, "GetInterfaces", NOTHING, with_interfaces)
        self._ask_facts(reference, with_facts)

    def _ask_more(self, reference: Reference, node: Node, interfaces: frozenset[str], count: int) -> None:
        if is_second_menu_bar(node):
            return
        if node.description == node.name:
            node.description = ""
        if TEXT in interfaces and node.role not in _WITHOUT_TEXT:
            self.ask_text(node, reference)
        if VALUE in interfaces and node.role in _WITH_VALUE:
            self.ask(
                reference,
                PROPERTIES,
                "Get",
                ("ss", (VALUE, "CurrentValue")),
                lambda found: _set_value(node, found[0]),
            )
        if 0 <= count <= MOST_CHILDREN:
            self._ask_box(reference, node, interfaces)
            if count and node.role == "menu":
                self.ask(reference, ACCESSIBLE, "GetChildAtIndex", ("i", (0,)), self._menu(reference, node))
            elif count:
                self._ask_children(reference, node)
        elif TABLE in interfaces:
            self._ask_box(reference, node, interfaces, lambda: Table(self, reference, node).ask())
        else:
            self._ask_box(reference, node, interfaces)

    def ask_text(self, node: Node, reference: Reference) -> None:
        def with_text(found: tuple[str]) -> None:
            text = found[0].replace("\ufffc", "")[:MOST_TEXT]
            node.text = text if text != node.name else ""

        self.ask(reference, TEXT, "GetText", ("ii", (0, -1)), with_text)

    def _ask_box(
        self, reference: Reference, node: Node, interfaces: frozenset[str], then: Callable[[], None] | None = None
    ) -> None:
        def with_box(found: tuple[tuple[int, int, int, int]]) -> None:
            node.box = _box(found[0])
            if then is not None and node.box is not None:
                then()

        if COMPONENT in interfaces:
            self.ask(reference, COMPONENT, "GetExtents", ON_SCREEN, with_box)

    def _ask_children(self, reference: Reference, node: Node) -> None:
        self.ask(reference, ACCESSIBLE, "GetChildren", NOTHING, lambda found: self._children(node, found[0]))

    def _menu(self, reference: Reference, node: Node) -> Callable[[Any], None]:
        """The entries of a menu are showing when its first one is: a closed menu is asked for no other."""

        def with_states(found: tuple[list[int]]) -> None:
            if found[0][0] & _SHOWING:
                self._ask_children(reference, node)

        return lambda found: self.ask(found[0], ACCESSIBLE, "GetState", NOTHING, with_states)

    def ask(
        self,
        reference: Reference,
        interface: str,
        method: str,
        arguments: Arguments,
        then: Callable[[Any], None],
    ) -> None:
        """Ask, and do what follows when the answer has come. What is refused, as of what has gone, is not there."""
        bus, path = reference
        self._waiting[bus] = self._waiting.get(bus, 0) + 1

        def answered(found: Any) -> None:
            self._waiting[bus] -= 1
            if found is not None:
                then(found)

        self._link.ask(bus, path, interface, method, *arguments, answered)


def _box(extents: tuple[int, int, int, int]) -> Box | None:
    x, y, width, height = extents
    return (x, y, x + width, y + height) if width > 0 and height > 0 else None


def _set_value(node: Node, value: float) -> None:
    node.value = f"{value:g}" if isinstance(value, float) else str(value)
