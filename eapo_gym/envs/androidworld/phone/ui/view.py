"""What a screen is made of: a tree of views, as an app describes it, before anything has a place.

All measures are in dp (1/160 inch); `layout` turns them into pixels. A view says what happens when it is touched: an
event, which is handed to the app that drew it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Event = tuple[Any, ...]
"""What a touch means to the app: a name, and what belongs to it, such as ("open", 3)."""

Flow = Literal["column", "row", "stack"]
Place = Literal["start", "center", "end", "fill"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a view is drawn. Colours are names of the theme."""

    fill: str = ""
    border: str = ""
    round: int = 0
    raised: bool = False
    """It throws a shadow."""

    color: str = "text"
    size: int = 16
    """Of the text; for an icon, its edge."""

    bold: bool = False
    mono: bool = False
    lines: int = 0
    """At most so many of text, the last one cut off with an ellipsis; 0: as many as it takes."""

    icon: str = ""
    drawing: str = ""
    """Something that cannot be made of the rest, such as a switch: the name of a painter."""

    value: float = 0.0
    """What the painter needs to know, such as how far a slider is."""

    pixels: bytes = field(default=b"", repr=False)
    """An image file, shown as large as fits."""


@dataclass(frozen=True, slots=True)
class View:
    """One rectangle on the screen, with others inside."""

    kind: str = "android.view.View"
    """The class that the accessibility tree tells."""

    text: str = ""
    desc: str = ""
    hint: str = ""
    id: str = ""
    """The resource id, without its package."""

    tap: Event | None = None
    hold: Event | None = None
    slide: str = ""
    """The name of the event of a touch that says where: it is handed on as (name, share of the width)."""

    draws: str = ""
    """One can draw on it: the name of the event of a finger that moves over it, which is handed on as
    (name, x0, y0, x1, y1), in shares of its width and height."""

    told: bool = True
    """The accessibility service tells of it; not of a label that only repeats what is around it."""

    checked: bool | None = None
    """None where it cannot be checked."""

    enabled: bool = True
    selected: bool = False
    field: str = ""
    """It can be written into: the name under which the activity keeps the text."""

    secret: bool = False
    scroll: str = ""
    """It scrolls: the name under which the activity keeps how far."""

    flow: Flow = "column"
    width: int | None = None
    height: int | None = None
    """Without one, a view is as large as what is inside, or as its parent's flow makes it."""

    grow: int = 0
    """Its part of the room that is left along the parent's flow."""

    across: Place = "fill"
    """Where it stands across the parent's flow; in a stack, in both directions."""

    along: Place = "start"
    """Where its children stand along its own flow, if they leave room."""

    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Left, top, right, bottom."""

    gap: int = 0
    look: Look = Look()
    children: tuple[View, ...] = ()
