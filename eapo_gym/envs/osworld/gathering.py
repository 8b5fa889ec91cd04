"""What of one window's tree counts as an element, and in which order it is read.

Toolkits say much that nobody sees: wrappers, labels beside the button that says the same, menus behind menus, places
outside of what scrolls. And some say a place that is wrong; those are put right first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eapo_gym.envs.osworld.tree import Box, Node
from eapo_gym.envs.osworld.windows import is_shown

_CHECKABLE = frozenset(
    (
        *("check-box", "check-menu-item", "radio-button", "radio-menu-item", "switch", "toggle-button"),
        *("toggle-switch",),
    )
)
_CONTROLS = _CHECKABLE | frozenset(
    (
        *("push-button", "push-button-menu", "button", "link", "icon", "page-tab", "terminal", "combo-box", "entry"),
        *("password-text", "spin-button", "slider", "dial", "date-editor", "text", "menu", "menu-item"),
        *("tear-off-menu-item", "list-item", "tree-item", "table-cell", "table-row", "table-column-header"),
        *("table-row-header", "column-header", "row-header", "color-chooser", "canvas", "image"),
    )
)
_TEXTS = frozenset(
    (
        *("label", "static", "heading", "paragraph", "caption", "tool-tip", "alert", "notification", "status"),
        *("comment", "block-quote", "progress-bar", "level-bar", "section", "footnote", "description-term"),
        *("description-value",),
    )
)
_LEAVES_WITH_A_NAME = frozenset(("icon", "image", "canvas", "menu", "page-tab", "table-row"))
"""Controls that are nothing to point to unless they are called something."""

_HOLDERS = frozenset(("combo-box", "menu", "page-tab", "entry", "text", "terminal", "canvas"))
"""Controls that hold others, rather than being described by what is in them."""

_CLIPPING = frozenset(
    (
        *("viewport", "scroll-pane", "menu-bar", "status-bar", "list", "list-box", "tree", "tree-table", "table"),
        *("document-web", "document-text", "document-spreadsheet", "document-presentation", "document-frame"),
        *("terminal",),
    )
)
_NEVER = frozenset(("separator", "tool-bar", "menu-bar", "filler", "root-pane", "scroll-bar", "split-pane"))
_BARS = frozenset(("tool-bar", "status-bar"))
_WRAPPERS = frozenset(("panel", "filler", "root-pane"))
_NUMBERS = frozenset(("slider", "progress-bar", "level-bar", "dial"))

EDITORS = frozenset(("entry", "password-text", "spin-button", "terminal", "table-cell"))
"""Kinds that hold what somebody types."""

_LABEL_REACH = 8
"""So many times as large as a control may a named container be for its name to be that of the control."""


@dataclass(frozen=True, slots=True)
class Found:
    """A node that is an element, with the part of it that shows."""

    node: Node
    box: Box
    kind: str
    text: str
    name: str
    is_control: bool
    in_sheet: bool = False
    in_bar: bool = False
    """In a tool bar or a status bar, which follow what is done elsewhere, and follow late."""

    layer: int = 0
    """How many open menus it is in."""

    @property
    def checkable(self) -> bool:
        return self.kind in _CHECKABLE

    @property
    def says(self) -> str:
        return self.text or self.name


@dataclass(frozen=True, slots=True)
class _Place:
    """What holds for all below a node."""

    clip: Box
    screen: Box
    shift: tuple[int, int] = (0, 0)
    label: str = ""
    label_area: int = 0
    in_sheet: bool = False
    in_bar: bool = False
    layer: int = 0


def gather(window: Node, screen: Box) -> list[Found]:
    """The elements of a window in reading order."""
    found = [each for part in _gather(window, None, _Place(screen, screen)) for each in part]
    return _without_repetitions(_without_covered(found))


def _gather(node: Node, parent: Node | None, place: _Place) -> list[list[Found]]:
    """In parts: each stays together when they are put in order with those of the nodes beside."""
    if not is_shown(node):
        return []
    place = replace(place, shift=_shift(node, parent, place.shift))
    whole = _moved(node.box, place.shift)
    box = _common(whole, place.clip) if whole is not None else None
    if box is None and (node.role == "menu-bar" or (whole is not None and _area(whole))):
        return []
    here = _own(node, box, place)
    below = _below(node, whole, here, place)
    inner = _in_reading_order([part for child in node.children for part in _gather(child, node, below)])
    if here is None:
        if not inner and box is not None and "focusable" in node.states and node.role not in _NEVER:
            name = node.name or place.label
            return [[Found(node, box, node.role, node.text, name, True, in_bar=place.in_bar, layer=place.layer)]]
        return [inner]
    if not here.is_control or here.node.role not in _HOLDERS:
        here, inner = _put_together(here, inner)
    if not here.says and (not here.is_control or here.kind in _LEAVES_WITH_A_NAME):
        return [inner]
    # The tabs of a dialog are read before what is in one of them.
    return [[here], inner] if here.kind == "page-tab" else [[here, *inner]]


def _own(node: Node, box: Box | None, place: _Place) -> Found | None:
    """The node as an element, if it is of a kind that can be one."""
    is_control = node.role in _CONTROLS
    if box is None or not (is_control or node.role in _TEXTS):
        return None
    kind = "entry" if node.role == "text" and "editable" in node.states else node.role
    text = node.text or (node.value if node.role in _NUMBERS else "")
    name = node.name
    if is_control and not name and place.label and place.label_area <= _LABEL_REACH * _area(box):
        name = place.label
    if not name and not text:
        name = node.description
    in_sheet = place.in_sheet and node.role == "table-cell"
    return Found(node, box, kind, text, name, is_control, in_sheet, place.in_bar, place.layer)


def _below(node: Node, whole: Box | None, here: Found | None, place: _Place) -> _Place:
    if node.role == "document-spreadsheet":
        place = replace(place, in_sheet=True)
    elif node.role in _BARS:
        place = replace(place, in_bar=True)
    if node.role == "menu":
        # Its items are a window of their own, wherever the menu's title is clipped.
        place = replace(place, clip=place.screen, layer=place.layer + 1)
    elif node.role in _CLIPPING and whole is not None:
        place = replace(place, clip=_common(whole, place.clip) or (0, 0, 0, 0))
    if node.name and whole is not None and (here is None or here.is_control):
        place = replace(place, label=node.name, label_area=_area(whole))
    return place


def _put_together(here: Found, inner: list[Found]) -> tuple[Found, list[Found]]:
    """A control with the texts that are in it, or a text with its parts: nothing is said twice."""
    texts = [each for each in inner if not each.is_control]
    if not here.says and here.is_control:
        here = replace(here, name=" ".join(each.says for each in texts if each.says))
    inner = [each for each in inner if each.is_control or each.says not in here.says]
    if not here.is_control and any(each.is_control and each.says == here.says for each in inner):
        # A heading that is a link as a whole: the link is enough.
        here = replace(here, text="", name="")
    return here, inner


def _shift(node: Node, parent: Node | None, shift: tuple[int, int]) -> tuple[int, int]:
    """How far a node is from where it says it is.

    LibreOffice's own controls stand in GTK's, GTK's again in those, and each forgets at times how high the menu bar
    above the other is. A wrapper that fills another is where that one is, so there the mistake shows.
    """
    if parent is None or node.box is None or parent.box is None:
        return shift
    if not {node.role, parent.role} <= _WRAPPERS or not _same_size(node.box, parent.box):
        return shift
    return parent.box[0] + shift[0] - node.box[0], parent.box[1] + shift[1] - node.box[1]


def _same_size(one: Box, other: Box) -> bool:
    """Up to a border."""
    wider = (one[2] - one[0]) - (other[2] - other[0])
    higher = (one[3] - one[1]) - (other[3] - other[1])
    return abs(wider) <= 2 and abs(higher) <= 2


def _without_covered(found: Sequence[Found]) -> list[Found]:
    """Without what lies under an open menu."""
    menus: dict[int, Box] = {}
    for each in found:
        if each.layer:
            menus[each.layer] = _around(menus.get(each.layer), each.box)
    return [each for each in found if not any(_under(each, layer, box) for layer, box in menus.items())]


def _under(found: Found, layer: int, menu: Box) -> bool:
    left, top, right, bottom = found.box
    x, y = (left + right) // 2, (top + bottom) // 2
    return layer > found.layer and menu[0] <= x < menu[2] and menu[1] <= y < menu[3]


def _without_repetitions(found: Sequence[Found]) -> list[Found]:
    """Without what another says at the same place: a text on a button, or the same node told twice."""
    kept: list[Found] = []
    seen: set[tuple[str, str, Box]] = set()
    spoken: dict[str, list[Box]] = {}
    for each in found:
        if each.is_control and each.says:
            spoken.setdefault(each.says, []).append(each.box)
    for each in found:
        mark = (each.kind, each.says, each.box)
        if mark in seen:
            continue
        if not each.is_control and any(_common(each.box, box) == each.box for box in spoken.get(each.says, ())):
            continue
        seen.add(mark)
        kept.append(each)
    return kept


def _in_reading_order(parts: Sequence[list[Found]]) -> list[Found]:
    """From top to bottom, and within a row from left to right; what belongs together stays so."""
    placed = [(_around_all(part), part) for part in parts if part]
    if len(placed) < 2:
        return placed[0][1] if placed else []
    placed.sort(key=lambda each: (each[0][1], each[0][0]))
    return [found for row in _rows(placed) for _, part in sorted(row, key=lambda each: each[0][0]) for found in part]


def _rows(placed: list[tuple[Box, list[Found]]]) -> Iterator[list[tuple[Box, list[Found]]]]:
    row = [placed[0]]
    for each in placed[1:]:
        (_, top, _, bottom), (_, other_top, _, other_bottom) = row[0][0], each[0]
        shared = min(bottom, other_bottom) - max(top, other_top)
        if 2 * shared > min(bottom - top, other_bottom - other_top):
            row.append(each)
        else:
            yield row
            row = [each]
    yield row


def _around_all(found: Sequence[Found]) -> Box:
    around: Box | None = None
    for each in found:
        around = _around(around, each.box)
    assert around is not None
    return around


def _around(one: Box | None, other: Box) -> Box:
    if one is None:
        return other
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _common(one: Box, other: Box) -> Box | None:
    left, top, right, bottom = (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )
    return (left, top, right, bottom) if left < right and top < bottom else None


def _moved(box: Box | None, shift: tuple[int, int]) -> Box | None:
    if box is None:
        return None
    dx, dy = shift
    return box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])
