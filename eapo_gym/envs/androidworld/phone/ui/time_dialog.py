"""The question for a time of day: a dial, or two fields for whoever would rather type."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    button,
    column,
    dialog,
    field,
    icon_button,
    row,
    space,
    text,
)

HOUR_FIELD, MINUTE_FIELD = "picked_hour", "picked_minute"
"""Under these names an activity keeps what was typed."""

_DIAL, _MARK = 256, 40
_OUTER, _INNER = 104, 68


@dataclass(frozen=True)
class TimePicker:
    """A time that is being chosen. Its events are ("time", …); OK and Cancel are ("time", "ok") and ("time", "cancel").

    An activity keeps it, shows its `view`, and replaces it by what comes `after` an event.
    """

    hour: int
    minute: int
    part: Literal["hour", "minute"] = "hour"
    typed: bool = False

    def view(self, hour_field: str = "", minute_field: str = "", focus: str = "") -> View:
        """The dialog; the arguments are what the two fields hold, and which of them is written into."""
        if self.typed:
            body = _fields(hour_field, minute_field, focus)
        else:
            body = [self._header(), space(height=16), _dial(self.part, getattr(self, self.part))]
        desc = "Switch to clock mode for the time input." if self.typed else "Switch to text input mode."
        buttons = [
            icon_button("clock" if self.typed else "edit", desc, ("time", "typed"), color="faint"),
            space(grow=1),
            button("Cancel", ("time", "cancel")),
            button("OK", ("time", "ok")),
        ]
        return dialog("", [text("Select time", size=14, color="faint", pad=(0, 0, 0, 12)), *body], buttons,
                      dismiss=("time", "cancel"))  # fmt: skip

    def after(self, event: Event) -> TimePicker:
        match event:
            case ("time", "hour", int(hour)):
                return replace(self, hour=hour, part="minute")
            case ("time", "minute", int(minute)):
                return replace(self, minute=minute)
            case ("time", "part", ("hour" | "minute") as part):
                return replace(self, part=part)
            case ("time", "typed"):
                return replace(self, typed=not self.typed)
        return self

    def with_typed(self, hour_field: str, minute_field: str) -> TimePicker | None:
        """With what was typed, where something was; None if that is no time of day."""
        if not self.typed:
            return self
        hour, minute = hour_field.strip() or str(self.hour), minute_field.strip() or str(self.minute)
        if not (hour.isdecimal() and minute.isdecimal() and len(hour) <= 2 and len(minute) <= 2):
            return None
        if int(hour) > 23 or int(minute) > 59:
            return None
        return replace(self, hour=int(hour), minute=int(minute))

    def _header(self) -> View:
        def part(name: str, value: int) -> View:
            on = self.part == name
            look = Look(fill="soft" if on else "field", round=8, color="on_soft" if on else "text", size=40)
            return View(
                kind="android.widget.TextView", text=f"{value:02}", desc=f"Select {name}", tap=("time", "part", name),
                selected=on, width=92, height=72, along="center", look=look,
            )  # fmt: skip

        colon = text(":", size=40, across="center", along="center")
        return row(part("hour", self.hour), colon, part("minute", self.minute), gap=8, along="center")


def _fields(hour: str, minute: str, focus: str) -> list[View]:
    def one(name: str, label: str, written: str) -> View:
        entry = field(name, written, hint=label, focused=focus == name, size=28, height=64)
        return column(entry, text(label, size=12, color="faint"), grow=1, gap=4)

    colon = text(":", size=28, across="center")
    return [row(one(HOUR_FIELD, "Hour", hour), colon, one(MINUTE_FIELD, "Minute", minute), gap=8)]


def _dial(part: str, chosen: int) -> View:
    """The numbers in a circle; of the hours, those of the afternoon stand in an inner one."""
    numbers = [(value, _OUTER) for value in range(1, 13)] + [(value % 24, _INNER) for value in range(13, 25)]
    if part == "minute":
        numbers = [(value, _OUTER) for value in range(0, 60, 5)]
    face = View(
        width=_DIAL, height=_DIAL, across="center", flow="stack", look=Look(fill="field", round=_DIAL // 2),
        children=tuple(_number(part, value, radius, chosen) for value, radius in numbers),
    )  # fmt: skip
    return View(kind=FRAME, flow="column", children=(face,))


def _number(part: str, value: int, radius: int, chosen: int) -> View:
    angle = math.tau * value / (12 if part == "hour" else 60)
    middle = (_DIAL - _MARK) // 2
    left, top = middle + round(radius * math.sin(angle)), middle - round(radius * math.cos(angle))
    on = value == chosen
    color = "on_primary" if on else "text" if radius == _OUTER else "faint"
    mark = View(
        kind="android.widget.TextView", text=f"{value:02}" if part == "minute" or not value else str(value),
        desc=f"{value} {part}s", tap=("time", part, value), selected=on, width=_MARK, height=_MARK, across="start",
        along="center", look=Look(fill="primary" if on else "", round=_MARK // 2, color=color, size=15),
    )  # fmt: skip
    return View(flow="stack", pad=(left, top, 0, 0), children=(mark,))
