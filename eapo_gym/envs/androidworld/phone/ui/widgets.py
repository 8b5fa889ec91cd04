"""What apps put on their screens, made of views: the parts that every app has in the same look.

Names of Android's classes and resource ids are those that its own widgets have, since agents know them.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from eapo_gym.envs.androidworld.phone.ui.view import Event, Flow, Look, Place, View

TEXT, IMAGE, BUTTON = "android.widget.TextView", "android.widget.ImageView", "android.widget.Button"
IMAGE_BUTTON, FIELD, SWITCH = "android.widget.ImageButton", "android.widget.EditText", "android.widget.Switch"
CHECKBOX, RADIO, SLIDER = "android.widget.CheckBox", "android.widget.RadioButton", "android.widget.SeekBar"
GROUP, LINEAR, LIST = (
    "android.view.ViewGroup",
    "android.widget.LinearLayout",
    "androidx.recyclerview.widget.RecyclerView",
)
FRAME, SCROLL = "android.widget.FrameLayout", "android.widget.ScrollView"

BAR_HEIGHT = 64
ROW_HEIGHT = 64
MENU_WIDTH = 220


def text(
    said: str,
    *,
    size: int = 16,
    color: str = "text",
    bold: bool = False,
    lines: int = 0,
    id: str = "",
    pad: tuple[int, int, int, int] = (0, 0, 0, 0),
    along: Place = "start",
    across: Place = "fill",
    grow: int = 0,
    tap: Event | None = None,
    hold: Event | None = None,
    fill: str = "",
    round: int = 0,
    mono: bool = False,
) -> View:
    """Words that are only there to be read."""
    look = Look(fill=fill, round=round, color=color, size=size, bold=bold, lines=lines, mono=mono)
    return View(
        kind=TEXT, text=said, id=id, pad=pad, along=along, across=across, grow=grow, tap=tap, hold=hold, look=look
    )


def icon(name: str, *, size: int = 24, color: str = "faint", width: int | None = None, desc: str = "") -> View:
    return View(
        kind=IMAGE,
        desc=desc,
        width=width or size,
        height=size,
        across="center",
        look=Look(icon=name, size=size, color=color),
    )


def icon_button(
    name: str,
    desc: str,
    tap: Event,
    *,
    id: str = "",
    color: str = "text",
    enabled: bool = True,
    hold: Event | None = None,
) -> View:
    """A button with a picture alone: what it does is in its description."""
    return View(
        kind=IMAGE_BUTTON,
        desc=desc,
        id=id,
        tap=tap,
        hold=hold,
        enabled=enabled,
        width=48,
        height=48,
        across="center",
        look=Look(icon=name, size=24, color=color),
    )


def button(
    said: str,
    tap: Event,
    *,
    id: str = "",
    style: str = "text",
    enabled: bool = True,
    grow: int = 0,
    across: Place = "center",
    hold: Event | None = None,
) -> View:
    """A button with words; style `filled`, `soft` or `text`."""
    look = {
        "filled": Look(fill="primary", round=20, color="on_primary", size=15, bold=True, lines=1),
        "soft": Look(fill="soft", round=20, color="on_soft", size=15, bold=True, lines=1),
        "text": Look(round=20, color="primary", size=15, bold=True, lines=1),
        "outlined": Look(border="faint", round=20, color="primary", size=15, bold=True, lines=1),
    }[style]
    return View(
        kind=BUTTON,
        text=said,
        id=id,
        tap=tap,
        hold=hold,
        enabled=enabled,
        height=40,
        pad=(16, 0, 16, 0),
        along="center",
        across=across,
        grow=grow,
        look=look,
    )


def field(
    name: str,
    written: str,
    *,
    hint: str = "",
    id: str = "",
    focused: bool = False,
    lines: int = 1,
    grow: int = 0,
    height: int | None = None,
    secret: bool = False,
    plain: bool = False,
    size: int = 16,
) -> View:
    """A text field. What is written is kept by the activity under `name`."""
    look = Look(fill="" if plain else "field", round=8, size=size, lines=lines if lines > 1 else 1)
    if lines != 1:
        look = replace(look, lines=0)
    return View(
        kind=FIELD,
        text=written,
        hint=hint,
        id=id,
        field=name,
        secret=secret,
        selected=focused,
        height=height or (56 if lines == 1 else None),
        grow=grow,
        pad=(4, 8, 4, 8) if plain else (12, 8, 12, 8),
        look=look,
    )


def row(
    *children: View,
    gap: int = 0,
    pad: tuple[int, int, int, int] = (0, 0, 0, 0),
    tap: Event | None = None,
    hold: Event | None = None,
    height: int | None = None,
    grow: int = 0,
    along: Place = "start",
    fill: str = "",
    round: int = 0,
    id: str = "",
    desc: str = "",
    selected: bool = False,
) -> View:
    return _box("row", LINEAR, children, gap, pad, tap, hold, height, grow, along, fill, round, id, desc, selected)


def column(
    *children: View,
    gap: int = 0,
    pad: tuple[int, int, int, int] = (0, 0, 0, 0),
    tap: Event | None = None,
    hold: Event | None = None,
    height: int | None = None,
    grow: int = 0,
    along: Place = "start",
    fill: str = "",
    round: int = 0,
    id: str = "",
    desc: str = "",
    selected: bool = False,
) -> View:
    return _box("column", LINEAR, children, gap, pad, tap, hold, height, grow, along, fill, round, id, desc, selected)


def _box(
    flow: Flow,
    kind: str,
    children: Sequence[View],
    gap: int,
    pad: tuple[int, int, int, int],
    tap: Event | None,
    hold: Event | None,
    height: int | None,
    grow: int,
    along: Place,
    fill: str,
    round: int,
    id: str,
    desc: str,
    selected: bool,
) -> View:
    return View(
        kind=kind,
        flow=flow,
        id=id,
        desc=desc,
        tap=tap,
        hold=hold,
        selected=selected,
        gap=gap,
        pad=pad,
        height=height,
        grow=grow,
        along=along,
        look=Look(fill=fill, round=round),
        children=tuple(children),
    )


def space(*, height: int | None = None, width: int | None = None, grow: int = 0) -> View:
    return View(height=height if height is not None else 0, width=width, grow=grow)


def divider() -> View:
    return View(height=1, look=Look(fill="line"))


def listing(
    children: Iterable[View],
    *,
    name: str = "list",
    id: str = "",
    grow: int = 1,
    gap: int = 0,
    pad: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> View:
    """A list that scrolls."""
    return View(kind=LIST, id=id, scroll=name, grow=grow, gap=gap, pad=pad, children=tuple(children))


def item(
    title: str,
    under: str = "",
    *,
    tap: Event | None = None,
    hold: Event | None = None,
    start: View | None = None,
    end: View | None = None,
    selected: bool = False,
    id: str = "title",
    under_id: str = "summary",
    bold: bool = False,
    enabled: bool = True,
) -> View:
    """A line of a list: a title, what there is to say below it, and something at either end."""
    words = [text(title, id=id, bold=bold, lines=1, color="text" if enabled else "line")]
    if under:
        words.append(text(under, size=14, color="faint", id=under_id, lines=2))
    inside = [column(*words, gap=2, grow=1)]
    if start is not None:
        inside.insert(0, start)
    if end is not None:
        inside.append(end)
    return View(
        kind=LINEAR,
        flow="row",
        tap=tap if enabled else None,
        hold=hold,
        selected=selected,
        enabled=enabled,
        gap=16,
        pad=(16, 10, 16, 10),
        height=None if under else 56,
        look=Look(fill="soft" if selected else ""),
        children=tuple(replace(each, across="center") if each.across == "fill" else each for each in inside),
    )


def switch(checked: bool, tap: Event | None = None, *, desc: str = "", id: str = "switch_widget") -> View:
    return View(
        kind=SWITCH,
        desc=desc,
        id=id,
        tap=tap,
        checked=checked,
        width=52,
        height=32,
        across="center",
        look=Look(drawing="switch"),
    )


def switch_item(title: str, checked: bool, tap: Event, *, under: str = "", start: View | None = None) -> View:
    """A line that is switched on and off by a touch anywhere on it."""
    return item(title, under, tap=tap, start=start, end=switch(checked))


def checkbox(checked: bool, tap: Event | None = None, *, said: str = "", desc: str = "", id: str = "") -> View:
    box = View(
        kind=CHECKBOX, desc=desc or said, id=id, tap=tap, checked=checked, width=40, height=40, across="center",
        look=Look(drawing="checkbox"),
    )  # fmt: skip
    return box if not said else row(box, text(said, across="center"), tap=tap, height=48, gap=4)


def radio(said: str, chosen: bool, tap: Event) -> View:
    mark = icon("radio_on" if chosen else "radio_off", color="primary" if chosen else "faint")
    words = View(kind=RADIO, text=said, tap=tap, checked=chosen, grow=1, look=Look(lines=1))
    return row(replace(mark, kind="android.view.View"), words, tap=tap, height=48, gap=16, pad=(8, 0, 8, 0))


def slider(name: str, value: float, *, desc: str, id: str = "slider", grow: int = 0) -> View:
    """A touch on it says where: the app gets (name, share of the width)."""
    return View(
        kind=SLIDER, desc=desc, id=id, slide=name, height=48, grow=grow, look=Look(drawing="slider", value=value)
    )


def chip(said: str, tap: Event, *, chosen: bool = False) -> View:
    look = Look(fill="soft" if chosen else "", border="" if chosen else "line", round=8, size=14, lines=1)
    return View(
        kind=BUTTON, text=said, tap=tap, selected=chosen, height=32, pad=(12, 0, 12, 0), along="center",
        across="center", look=look,
    )  # fmt: skip


def avatar(letter: str, color: str = "primary") -> View:
    """A coloured disc with a letter or two, as contacts have it."""
    return View(
        kind=IMAGE, width=40, height=40, across="center", along="center", look=Look(fill=color, round=20),
        children=(text(letter, color="on_primary", along="center", bold=True, grow=1),),
    )  # fmt: skip


def app_bar(
    title: str, *, up: Event | None = None, up_icon: str = "back", actions: Sequence[View] = (), fill: str = "page",
    under: str = "",
) -> View:  # fmt: skip
    """The line at the top of an app: where one is, the way back, and what can be done."""
    words = [text(title, size=20, lines=1, id="title")]
    if under:
        words.append(text(under, size=13, color="faint", lines=1))
    children = [column(*words, grow=1, along="center", pad=(0 if up else 16, 0, 0, 0))]
    if up is not None:
        desc = {"back": "Navigate up", "menu": "Open navigation drawer", "close": "Close"}[up_icon]
        children.insert(0, icon_button(up_icon, desc, up))
    return View(
        kind=GROUP, id="action_bar", flow="row", height=BAR_HEIGHT, pad=(4, 0, 4, 0), look=Look(fill=fill),
        children=(*children, *actions),
    )  # fmt: skip


def search_bar(query: str, hint: str, leave: Event) -> View:
    """In the place of the app bar: what is searched for is kept under "query"."""
    written = field("query", query, hint=hint, id="search_src_text", plain=True, grow=1)
    return row(
        icon_button("back", "Collapse", leave), replace(written, across="center"), height=BAR_HEIGHT, pad=(4, 0, 16, 0)
    )


def tabs(names: Sequence[str], chosen: str, event: str) -> View:
    """Under the app bar: several lists, of which one is shown."""

    def tab(name: str) -> View:
        on = name == chosen
        return View(
            kind=TEXT, text=name, tap=(event, name), selected=on, grow=1, along="center",
            look=Look(color="primary" if on else "faint", size=14, bold=on, lines=1, drawing="underline" if on else ""),
        )  # fmt: skip

    return row(*map(tab, names), height=48)


def bottom_bar(entries: Sequence[tuple[str, str]], chosen: str, event: str) -> View:
    """At the bottom of an app: (icon, name) of its parts."""

    def entry(picture: str, name: str) -> View:
        on = name == chosen
        return column(
            icon(picture, color="primary" if on else "faint"),
            replace(text(name, size=12, along="center", bold=on, color="primary" if on else "faint"), told=False),
            gap=2, grow=1, along="center", tap=(event, name), selected=on, desc=name,
        )  # fmt: skip

    return row(*(entry(*each) for each in entries), height=72, fill="bar")


def fab(picture: str, desc: str, tap: Event, *, said: str = "", id: str = "fab") -> View:
    """The round button that floats over a list."""
    parts = (icon(picture, color="on_soft"), text(said, color="on_soft", across="center", bold=True)) if said else ()
    look = Look(fill="soft", round=16, raised=True, icon="" if said else picture, size=24, color="on_soft")
    return View(
        kind=IMAGE_BUTTON, desc=desc, id=id, tap=tap, width=None if said else 56, height=56, across="end",
        flow="row", gap=8, pad=(16, 0, 16, 0) if said else (0, 0, 0, 0), look=look,
        children=parts,
    )  # fmt: skip


def floating(button: View) -> View:
    """The corner in which a `fab` floats."""
    return View(pad=(16, 16, 16, 24), flow="column", along="end", children=(button,))


def page(
    title: str,
    body: Sequence[View],
    *,
    up: Event | None = None,
    up_icon: str = "back",
    actions: Sequence[View] = (),
    above: Sequence[View] = (),
    below: Sequence[View] = (),
    fab: View | None = None,
    over: Sequence[View] = (),
    scrolls: bool = True,
    under: str = "",
) -> View:
    """A whole screen: a bar, a list that scrolls, and what floats over it or covers it."""
    inside = listing(body, name="page") if scrolls else column(*body, grow=1)
    frame = column(
        app_bar(title, up=up, up_icon=up_icon, actions=actions, under=under), *above, inside, *below, fill="page"
    )
    layers = [frame]
    if fab is not None:
        layers.append(replace(floating(fab), pad=(16, 16, 16, 24 + 72 * len(below))))
    return View(kind=FRAME, flow="stack", children=(*layers, *over))


def menu(entries: Sequence[tuple[str, Event]], close: Event, *, corner: Place = "end") -> View:
    """What opens behind the three dots: it lies over the screen, and a touch beside it closes it."""
    lines = [
        View(kind=LINEAR, tap=event, height=48, along="center", pad=(16, 0, 16, 0), children=(text(name, lines=1),))
        for name, event in entries
    ]
    panel = column(*lines, fill="dialog", round=6, pad=(0, 8, 0, 8))
    panel = replace(panel, width=MENU_WIDTH, across=corner, look=replace(panel.look, raised=True))
    return View(tap=close, desc="", pad=(8, 8, 8, 8), children=(panel,))


def dialog(
    title: str, body: Sequence[View], buttons: Sequence[View], *, dismiss: Event | None = None, said: str = ""
) -> View:
    """A question that covers the screen. A touch beside it dismisses it, if it can be dismissed."""
    words = [text(title, size=22, id="alertTitle", pad=(0, 0, 0, 12))] if title else []
    if said:
        words.append(text(said, size=15, color="faint", id="message", pad=(0, 0, 0, 12)))
    panel = column(
        *words,
        *body,
        row(*buttons, along="end", gap=4, pad=(0, 12, 0, 0)),
        fill="dialog",
        round=24,
        pad=(24, 24, 16, 16),
        id="parentPanel",
        # A touch on the dialog itself is not one beside it.
        tap=("nothing",),
    )
    panel = replace(panel, across="center", width=340)
    beside = dismiss or ("nothing",)
    return View(kind=FRAME, flow="stack", tap=beside, look=Look(fill="shade"), children=(panel,))


def drawer(entries: Sequence[tuple[str, str, Event]], close: Event, *, title: str = "", chosen: str = "") -> View:
    """What slides in from the left: (icon, name, event) of an app's parts."""
    lines = [
        item(name, tap=event, start=icon(picture), selected=name == chosen, id="design_menu_item_text")
        for picture, name, event in entries
    ]
    panel = column(text(title, size=20, bold=True, pad=(20, 28, 16, 16)), *lines, fill="dialog", tap=("nothing",))
    return View(flow="stack", tap=close, look=Look(fill="shade"), children=(replace(panel, width=300, across="fill"),))


def sheet(body: Sequence[View], close: Event) -> View:
    """What slides in from below."""
    panel = column(*body, fill="dialog", round=24, pad=(16, 20, 16, 20), tap=("nothing",))
    return View(flow="column", along="end", tap=close, look=Look(fill="shade"), children=(panel,))


def nothing_yet(picture: str, said: str, more: str = "") -> View:
    """What an empty list says of itself."""
    return column(
        replace(icon(picture, size=48, color="line"), height=64),
        text(said, color="faint", along="center"),
        *([text(more, size=14, color="faint", along="center")] if more else []),
        pad=(24, 64, 24, 24),
        gap=4,
    )


def snackbar(said: str, does: str = "", tap: Event | None = None) -> View:
    """What is said at the bottom of an app for a while, with one thing that can be done about it."""
    words = text(said, color="on_toast", size=15, lines=2, grow=1, across="center", id="snackbar_text")
    parts = [words]
    if tap is not None:
        action = View(
            kind=BUTTON, text=does, id="snackbar_action", tap=tap, height=48, pad=(12, 0, 12, 0), along="center",
            look=Look(color="soft", bold=True, size=15, lines=1),
        )  # fmt: skip
        parts.append(action)
    bar = row(*parts, height=52, pad=(16, 0, 4, 0), fill="toast", round=6)
    return column(bar, pad=(8, 0, 8, 8))


def labelled(
    name: str, label: str, written: str, *, focused: bool = False, lines: int = 1, id: str = "", problem: str = ""
) -> View:
    """A field whose name floats up, out of the way, once something is written; below it, what is wrong with that."""
    said = text(label if written or focused else "", size=12, color="primary" if focused else "faint", lines=1)
    written_into = field(name, written, hint=label, id=id, focused=focused, lines=lines)
    if lines > 1:
        # As high as its lines at first, and higher as more is written.
        written_into = View(flow="stack", children=(space(height=24 + 20 * lines), written_into))
    parts = [replace(said, height=18, pad=(12, 0, 0, 0)), written_into]
    if problem:
        parts.append(text(problem, size=13, color="danger", id="textinput_error", pad=(12, 2, 0, 0)))
    return column(*parts)


WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def date_dialog(chosen: date, shown: date, *, tap: str, turn: str, done: Event, dismiss: Event) -> View:
    """A month whose days can be touched: (tap, ISO date) chooses one, (turn, ISO date) shows the month of a date."""
    weeks = calendar.Calendar().monthdatescalendar(shown.year, shown.month)
    before = shown.replace(day=1) - timedelta(days=1)
    after = shown.replace(day=28) + timedelta(days=4)
    head = row(
        text(f"{shown:%B %Y}", bold=True, grow=1, across="center", id="month"),
        icon_button("back", "Previous month", (turn, before.isoformat())),
        icon_button("chevron", "Next month", (turn, after.isoformat())),
        pad=(8, 0, 0, 0),
    )
    names = row(*(text(name[:1], size=13, color="faint", along="center", grow=1) for name in WEEKDAYS), height=24)
    rows = [row(*(_day(day, shown, chosen, tap) for day in week), height=40) for week in weeks]
    buttons = [button("Cancel", dismiss), button("OK", done)]
    return dialog(f"{chosen:%a, %b} {chosen.day}, {chosen.year}", [head, names, *rows], buttons, dismiss=dismiss)


def _day(day: date, shown: date, chosen: date, tap: str) -> View:
    if day.month != shown.month:
        return space(grow=1)
    on = day == chosen
    look = Look(fill="primary" if on else "", round=20, color="on_primary" if on else "text", size=14)
    return View(
        kind=TEXT, text=str(day.day), desc=f"{day.day} {day:%B %Y}", tap=(tap, day.isoformat()), selected=on, grow=1,
        along="center", look=look,
    )  # fmt: skip
