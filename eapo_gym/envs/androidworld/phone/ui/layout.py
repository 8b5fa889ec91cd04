"""Where everything stands: a tree of views becomes a tree of rectangles in pixels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from eapo_gym.envs.androidworld.phone.ui.text import drawable, line_height, lines_of, width_of
from eapo_gym.envs.androidworld.phone.ui.view import Place, View

DENSITY = 420
"""Dots per inch of the phone's screen."""

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""


_PIXELS = tuple(round(dp * DENSITY / 160) for dp in range(4096))


def px(dp: int) -> int:
    return _PIXELS[dp]


@dataclass(slots=True)
class Placed:
    """A view that has its place. What lies outside of `clip` is not seen and cannot be touched."""

    view: View
    box: Box
    clip: Box
    children: list[Placed] = field(default_factory=list)
    lines: tuple[str, ...] = ()
    most: int = 0
    """How far it can scroll, in pixels."""

    @property
    def seen(self) -> Box:
        """What can be seen of it; empty boxes have no area."""
        return _meet(self.box, self.clip)

    @property
    def is_seen(self) -> bool:
        left, top, right, bottom = self.seen
        return right > left and bottom > top

    def walk(self) -> Iterator[Placed]:
        """It and all that it holds, in the order in which they are drawn."""
        yield self
        for child in self.children:
            yield from child.walk()

    def at(self, x: int, y: int) -> Iterator[Placed]:
        """What is under a finger, the uppermost first."""
        left, top, right, bottom = self.seen
        if left <= x < right and top <= y < bottom:
            for child in reversed(self.children):
                yield from child.at(x, y)
            yield self


def lay_out(view: View, box: Box, scrolled: Mapping[str, int]) -> Placed:
    """Give the view this box, and everything in it a place; `scrolled` tells how far, in pixels."""
    return _Layout(scrolled).place(view, box, box)


class _Layout:
    """One pass over a tree. What was measured once is kept, since every parent asks again."""

    def __init__(self, scrolled: Mapping[str, int]) -> None:
        self._scrolled = scrolled
        self._widths: dict[tuple[int, int], int] = {}
        self._heights: dict[tuple[int, int], int] = {}

    def place(self, view: View, box: Box, clip: Box) -> Placed:
        placed = Placed(view, box, clip)
        if not placed.is_seen:
            # The rest of a long list: nobody looks at it before it is scrolled here.
            return placed
        left, top, right, bottom = _within(view, box)
        if written := _written(view):
            placed.lines = lines_of(written, px(view.look.size), max(right - left, 1), view.look.lines)
        if not view.children:
            return placed
        if view.flow == "stack":
            boxes = [self._stand(child, (left, top, right, bottom)) for child in view.children]
        elif view.flow == "row":
            boxes = self._row(view, left, top, right, bottom)
        else:
            boxes = self._column(view, left, top, right, bottom)
            if view.scroll:
                placed.most = max(0, boxes[-1][3] - bottom)
                offset = min(self._scrolled.get(view.scroll, 0), placed.most)
                boxes = [(x0, y0 - offset, x1, y1 - offset) for x0, y0, x1, y1 in boxes]
        inside = _meet(box, clip)
        placed.children = [self.place(child, own, inside) for child, own in zip(view.children, boxes, strict=True)]
        return placed

    def _column(self, view: View, left: int, top: int, right: int, bottom: int) -> list[Box]:
        width, gap = right - left, px(view.gap)
        heights = [self._height(child, self._own_width(child, width)) for child in view.children]
        room = bottom - top - gap * (len(heights) - 1)
        if not view.scroll or sum(heights) <= room:
            # In a list that is longer than the screen, nothing has to share the room.
            heights = _shared(view.children, heights, room)
        y = top + _lead(view, room, heights)
        boxes = []
        for child, height in zip(view.children, heights, strict=True):
            x0, x1 = _across(child.across, child.width, left, right, self._own_width(child, width))
            boxes.append((x0, y, x1, y + height))
            y += height + gap
        return boxes

    def _row(self, view: View, left: int, top: int, right: int, bottom: int) -> list[Box]:
        gap = px(view.gap)
        widths = self._row_widths(view, right - left)
        x = left + _lead(view, right - left - gap * (len(widths) - 1), widths)
        boxes = []
        for child, width in zip(view.children, widths, strict=True):
            y0, y1 = _across(child.across, child.height, top, bottom, self._height(child, width))
            boxes.append((x, y0, x + width, y1))
            x += width + gap
        return boxes

    def _row_widths(self, view: View, width: int) -> list[int]:
        room = width - px(view.gap) * (len(view.children) - 1)
        widths: list[int] = []
        for child in view.children:
            # Who is not to grow takes what it needs, but never more than is left.
            widths.append(0 if child.grow else min(self._natural_width(child, room), max(room - sum(widths), 0)))
        return _shared(view.children, widths, room)

    def _stand(self, child: View, box: Box) -> Box:
        """In a stack everyone has the whole box, or its own size in a corner or the middle of it."""
        left, top, right, bottom = box
        x0, x1 = _across(child.across, child.width, left, right, self._own_width(child, right - left))
        y0, y1 = _across(child.across, child.height, top, bottom, self._height(child, x1 - x0))
        return x0, y0, x1, y1

    def _own_width(self, child: View, room: int) -> int:
        if child.across == "fill" and child.width is None:
            return room
        return min(self._natural_width(child, room), room)

    def _natural_width(self, view: View, room: int) -> int:
        """As wide as what is inside wants to be."""
        if view.width is not None:
            return px(view.width)
        found = self._widths.get((id(view), room))
        if found is None:
            found = self._widths[id(view), room] = self._measured_width(view, room)
        return found

    def _measured_width(self, view: View, room: int) -> int:
        inner = room - px(view.pad[0]) - px(view.pad[2])
        within = 0
        if written := _written(view):
            within = max(width_of(drawable(line), px(view.look.size)) for line in written.split("\n"))
        elif view.look.icon:
            within = px(view.look.size)
        if view.children:
            widths = [self._natural_width(child, inner) for child in view.children]
            gaps = px(view.gap) * (len(widths) - 1)
            within = max(within, sum(widths) + gaps if view.flow == "row" else max(widths))
        return min(within + room - inner, room)

    def _height(self, view: View, width: int) -> int:
        """As high as what is inside takes, at that width."""
        if view.height is not None:
            return px(view.height)
        found = self._heights.get((id(view), width))
        if found is None:
            found = self._heights[id(view), width] = self._measured_height(view, width)
        return found

    def _measured_height(self, view: View, width: int) -> int:
        left, top, right, bottom = map(px, view.pad)
        inner = max(width - left - right, 1)
        within = 0
        if written := _written(view):
            lines = lines_of(written, px(view.look.size), inner, view.look.lines)
            within = len(lines) * line_height(px(view.look.size))
        elif view.look.icon:
            within = px(view.look.size)
        if view.children and view.flow == "row":
            widths = self._row_widths(view, inner)
            heights = [self._height(child, own) for child, own in zip(view.children, widths, strict=True)]
            within = max(within, *heights)
        elif view.children and not view.scroll:
            heights = [self._height(child, self._own_width(child, inner)) for child in view.children]
            gaps = px(view.gap) * (len(heights) - 1)
            within = max(within, max(heights) if view.flow == "stack" else sum(heights) + gaps)
        return within + top + bottom


def _shared(children: Sequence[View], sizes: list[int], room: int) -> list[int]:
    """The sizes, with the room that is left shared among those that grow."""
    parts = sum([child.grow for child in children])
    if not parts:
        return sizes
    left = max(room - sum(size for child, size in zip(children, sizes, strict=True) if not child.grow), 0)
    shared = []
    for child, size in zip(children, sizes, strict=True):
        own = left * child.grow // parts if child.grow else size
        shared.append(own)
        if child.grow:
            left, parts = left - own, parts - child.grow
    return shared


def _lead(view: View, room: int, sizes: Sequence[int]) -> int:
    """What is left free before the first child; `room` is without the gaps."""
    rest = max(room - sum(sizes), 0)
    return {"center": rest // 2, "end": rest}.get(view.along, 0)


def _across(place: Place, fixed: int | None, low: int, high: int, size: int) -> tuple[int, int]:
    """From where to where, across the flow; what has a size of its own does not fill."""
    if place == "fill" and fixed is None:
        return low, high
    size = min(size, high - low)
    start = {"center": low + (high - low - size) // 2, "end": high - size}.get(place, low)
    return start, start + size


def _written(view: View) -> str:
    """What is to be read on it: an empty field shows its hint."""
    if view.secret and view.text:
        return "•" * len(view.text)
    return view.text or view.hint


def _within(view: View, box: Box) -> Box:
    if view.pad == (0, 0, 0, 0):
        return box
    left, top, right, bottom = box
    return left + px(view.pad[0]), top + px(view.pad[1]), right - px(view.pad[2]), bottom - px(view.pad[3])


def _meet(one: Box, other: Box) -> Box:
    left, top = max(one[0], other[0]), max(one[1], other[1])
    return left, top, max(left, min(one[2], other[2])), max(top, min(one[3], other[3]))
