"""Phone: favourites, the calls of the last days, a keypad, and the screen of a call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps import contacts_storage as people
from eapo_gym.envs.androidworld.phone.apps.contacts import face, search_bar
from eapo_gym.envs.androidworld.phone.apps.messages_storage import block, is_blocked
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.state import Activity, PhoneCall
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    bottom_bar,
    button,
    column,
    dialog,
    fab,
    floating,
    icon,
    icon_button,
    item,
    listing,
    menu,
    page,
    row,
    space,
    text,
)

PACKAGE = "com.google.android.dialer"
MAIN = "com.google.android.dialer.extensions.GoogleDialtactsActivity"
IN_CALL = "com.android.incallui.InCallActivity"
HISTORY = "com.android.dialer.calllog.CallLogActivity"

KEYS = (
    ("1", ""), ("2", "ABC"), ("3", "DEF"), ("4", "GHI"), ("5", "JKL"), ("6", "MNO"), ("7", "PQRS"), ("8", "TUV"),
    ("9", "WXYZ"), ("*", ""), ("0", "+"), ("#", ""),
)  # fmt: skip

PARTS = {"Favorites": "star", "Recents": "clock", "Contacts": "people"}
KEYPAD_NAMES = ("key pad", "Keypad", "Dial pad")

KEY_CALL, KEY_END_CALL = 5, 6
PICKED_UP_SECONDS = 4.0
"""So long it rings at the other end."""

ANSWERED_COLOUR, ENDED_COLOUR = "#1e8e3e", "#d93025"


class Dialtacts(Screen):
    name = MAIN

    def view(self, at: Scene) -> View:
        part = at.get("part", "Recents")
        if at.get("search"):
            body = _people(at)
        else:
            body = {"Favorites": _favorites, "Recents": _recents, "Contacts": _people}[part](at)
        parts = at.taste.order("dialer parts", list(PARTS))
        frame = column(
            search_bar(at, "Search contacts", icon_button("more", "More options", ("over", "menu"))),
            *_call_banner(at),
            listing(body, name=part),
            bottom_bar([(PARTS[name], name) for name in parts], part, "part"),
            fill="page",
        )
        name = at.taste.choose("keypad", *KEYPAD_NAMES)
        keypad = fab("apps", name, ("keypad",), id="dialpad_fab")
        layers = [frame, replace(floating(keypad), pad=(16, 16, 16, 96))]
        return View(kind=FRAME, flow="stack", children=(*layers, *self._over(at)))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("part", name):
                turn.focus("")
                turn.keep(part=name, search="")
            case ("keypad",):
                turn.focus("")
                turn.keep(**{OVER: "keypad"})
            case ("digit", digit):
                turn.keep(dialled=str(turn.get("dialled", "")) + digit)
            case ("erase",):
                turn.keep(dialled=str(turn.get("dialled", ""))[:-1])
            case ("erase all",):
                turn.keep(dialled="")
            case ("dial",):
                self._dial(turn)
            case ("add",):
                number = str(turn.get("dialled", ""))
                kind = "vnd.android.cursor.dir/contact"
                turn.ask(Intent("android.intent.action.INSERT", kind=kind, extras={"phone": number}))
            case ("return",):
                turn.open(IN_CALL)
            case ("history",):
                turn.drop(OVER)
                turn.open(HISTORY)
            case ("create",):
                turn.ask(Intent("android.intent.action.INSERT", kind="vnd.android.cursor.dir/contact"))
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("leave",):
                turn.drop(OVER)
            case ("clear", name):
                turn.keep(**{name: ""})
            case _:
                _on_call_line(turn, event)

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("search"):
            turn.focus("")
            turn.drop("search")
        else:
            turn.close()

    def _dial(self, turn: Turn) -> None:
        """Without a number, the one that was called last comes back."""
        number = str(turn.get("dialled", ""))
        if number:
            turn.drop(OVER, "dialled")
            place_call(turn, number)
            return
        last = next((call for call in people.calls(turn) if call["type"] == people.OUTGOING), None)
        if last is not None:
            turn.keep(dialled=str(last["number"]))

    def _over(self, at: Scene) -> Iterable[View]:
        over = at.get(OVER)
        if over == "keypad":
            yield _keypad(at)
        elif over == "menu":
            entries: list[tuple[str, Event]] = [("Call history", ("history",)), ("Create new contact", ("create",))]
            yield menu(at.taste.order("dialer menu", entries), ("leave",))


def _call_banner(at: Scene) -> Sequence[View]:
    """The way back to a call whose screen was left."""
    call = at.state.call
    if call is None:
        return []
    words = text(f"Return to call with {people.called(at, call.number)}", color="#ffffff", across="center", lines=1)
    banner = row(
        icon("call", color="#ffffff"), replace(words, grow=1), gap=16, height=48, pad=(20, 0, 16, 0),
        fill=ANSWERED_COLOUR, tap=("return",),
    )  # fmt: skip
    return [banner]


def _favorites(at: Scene) -> Sequence[View]:
    stars = [each for each in people.contacts(at) if each.starred and each.phones]
    return [_person(each) for each in stars] or [_nothing("star", "No one is on your favorites yet")]


def _people(at: Scene) -> Sequence[View]:
    wanted = str(at.get("search", "")).strip().lower()
    digits = "".join(each for each in wanted if each.isdigit())
    found = [each for each in people.contacts(at) if each.phones]
    if wanted:
        keys = {each.id: " ".join(people.number_key(phone) for phone, _ in each.phones) for each in found}
        found = [each for each in found if wanted in each.name.lower() or (digits and digits in keys[each.id])]
    lines = [_person(each) for each in found]
    if wanted and digits == wanted.lstrip("+"):
        lines.append(item(f"Call {wanted}", tap=("call", wanted), start=icon("call", color="primary")))
    return lines or [_nothing("people", "No results" if wanted else "No contacts yet")]


def _person(contact: people.Contact) -> View:
    phone, label = contact.phones[0]
    call = icon_button("call", f"Call {contact.name}", ("call", phone), color="primary")
    return item(contact.name, f"{label} {phone}", tap=("card", phone), start=face(contact.name), end=call)


def _recents(at: Scene) -> Sequence[View]:
    found = people.calls(at)
    if not found:
        return [_nothing("clock", "Your call log is empty")]
    body: list[View] = []
    day = ""
    for call in found:
        today = _day(at, _time(call))
        if today != day:
            body.append(text(today, size=14, color="faint", bold=True, pad=(20, 12, 16, 2)))
        day = today
        body.append(_call_line(at, call))
        if at.get("opened") == call["_id"]:
            body.append(_call_doors(call))
    return [*body, space(height=96)]


_KINDS = {
    people.INCOMING: ("Incoming", "download", "faint"),
    people.OUTGOING: ("Outgoing", "upload", "faint"),
    people.MISSED: ("Missed", "download", "danger"),
    people.REJECTED: ("Declined", "block", "danger"),
}


def _call_line(at: Scene, call: Row) -> View:
    number = str(call["number"])
    name = people.called(at, number)
    said, picture, color = _KINDS.get(int(str(call["type"])), _KINDS[people.INCOMING])
    missed = call["type"] == people.MISSED
    words = column(
        text(name, lines=1, bold=missed, color="danger" if missed else "text", id="call_log_primary"),
        row(
            icon(picture, size=14, color=color),
            text(f"{said}, {_time(call):%H:%M}", size=14, color="faint", across="center", id="call_log_secondary"),
            gap=6,
        ),
        gap=2,
        grow=1,
        along="center",
    )
    again = icon_button("call", f"Call {name}", ("call", number), color="primary")
    return row(
        face(name), words, again, gap=16, pad=(16, 8, 8, 8), height=72, tap=("opened", call["_id"]),
        hold=("copy", number),
    )  # fmt: skip


def _call_doors(call: Row) -> View:
    """What can be done with a call that was touched."""
    number = str(call["number"])
    doors = (
        ("person", "Contact", ("card", number)),
        ("message", "Message", ("write", number)),
        ("block", "Block", ("block", number)),
        ("delete", "Delete", ("forget", call["_id"])),
    )
    return row(*(_door(*each) for each in doors), pad=(16, 4, 16, 8), fill="bar")


def _door(picture: str, name: str, tap: Event) -> View:
    words = replace(text(name, size=12, along="center", color="faint"), told=False)
    return column(icon(picture, color="primary"), words, gap=4, grow=1, tap=tap, desc=name, pad=(0, 8, 0, 8))


def _on_call_line(turn: Turn, event: Event) -> None:
    """What the lines of the recent calls and of people lead to."""
    match event:
        case ("call", number):
            turn.focus("")
            place_call(turn, number)
        case ("opened", call):
            turn.keep(opened=None if turn.get("opened") == call else call)
        case ("card", number):
            found = people.whose(turn, number)
            if found is None:
                kind = "vnd.android.cursor.dir/contact"
                turn.ask(Intent("android.intent.action.INSERT", kind=kind, extras={"phone": number}))
            else:
                turn.ask(Intent("android.intent.action.VIEW", f"content://contacts/people/{found.id}"))
        case ("write", number):
            turn.ask(Intent("android.intent.action.SENDTO", f"sms:{number}"))
        case ("copy", number):
            turn.copy(number)
            turn.toast("Number copied")
        case ("block", number):
            block(turn, number)
            turn.toast(f"{number} is blocked")
        case ("forget", call):
            people.forget_calls(turn, lambda row_: row_["_id"] == call)
            turn.keep(opened=None)


def _nothing(picture: str, said: str) -> View:
    return column(
        icon(picture, size=64, color="line"),
        text(said, size=18, color="faint", along="center", id="empty_list_view_message"),
        gap=16,
        pad=(24, 96, 24, 24),
    )


def _time(call: Row) -> datetime:
    return datetime.fromtimestamp(int(str(call["date"] or 0)) / 1000, timezone.utc)


def _day(at: Scene, then: datetime) -> str:
    days = (at.now.date() - then.date()) // timedelta(days=1)
    return {0: "Today", 1: "Yesterday"}.get(days, f"{then:%b} {then.day}")


def _keypad(at: Scene) -> View:
    dialled = str(at.get("dialled", ""))
    known = people.whose(at, dialled) if dialled else None
    add = [button("Add to contacts", ("add",))] if dialled and known is None else []
    erase = [icon_button("backspace", "backspace", ("erase",), hold=("erase all",))] if dialled else []
    shown = View(
        kind="android.widget.EditText", text=dialled, id="digits", height=56, grow=1, along="center",
        look=Look(size=30, lines=1),
    )  # fmt: skip
    rows = [KEYS[first : first + 3] for first in range(0, len(KEYS), 3)]
    call = View(
        kind="android.widget.ImageButton", desc="dial", id="dialpad_floating_action_button", tap=("dial",), width=120,
        height=56, across="center", look=Look(fill=ANSWERED_COLOUR, round=28, icon="call", color="#ffffff", size=26),
    )  # fmt: skip
    panel = column(
        row(*(text(known.name, color="faint", along="center", grow=1) for known in [known] if known), *add,
            along="center", height=40),
        row(space(width=48 if dialled else 0), shown, *erase),
        *(row(*(_key(*key) for key in keys), height=72) for keys in rows),
        space(height=8),
        call,
        fill="dialog",
        round=24,
        pad=(24, 12, 24, 16),
        tap=("nothing",),
    )  # fmt: skip
    return View(along="end", tap=("leave",), children=(panel,))


def _key(digit: str, letters: str) -> View:
    return column(
        text(digit, size=28, along="center", id="dialpad_key_number"),
        replace(text(letters or " ", size=11, color="faint", along="center"), told=False),
        grow=1,
        along="center",
        tap=("digit", digit),
        hold=("digit", "+" if digit == "0" else digit),
        desc=f"{digit},{letters}" if letters else digit,
    )


# All calls


class History(Screen):
    name = HISTORY

    def view(self, at: Scene) -> View:
        found = [call for call in people.calls(at) if not at.get("missed") or call["type"] == people.MISSED]
        lines = [_call_line(at, call) for call in found]
        over = []
        if OVER in at.kept:
            buttons = [button("Cancel", ("leave",)), button("OK", ("forget all",))]
            over = [dialog("Clear call history?", [], buttons, dismiss=("leave",), said="All calls will be deleted.")]
        only = button("Show all" if at.get("missed") else "Show missed", ("missed",))
        return page(
            "Call history",
            lines or [_nothing("clock", "No calls")],
            up=("up",),
            actions=[only, icon_button("delete", "Clear call history", ("over",))],
            over=over,
        )

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("missed",):
                turn.keep(missed=not turn.get("missed"))
            case ("over",):
                turn.keep(**{OVER: "clear"})
            case ("leave",):
                turn.drop(OVER)
            case ("forget all",):
                turn.drop(OVER)
                people.forget_calls(turn, lambda row_: True)
            case _:
                _on_call_line(turn, event)


# A call


def place_call(turn: Turn, number: str) -> None:
    """Call somebody, and show the screen of the call."""
    if turn.state.call is not None:
        turn.toast("You are in a call already")
    elif not _has_network(turn):
        turn.toast("Turn off airplane mode to make a call")
    else:
        turn.state = replace(turn.state, call=PhoneCall(number, turn.state.now))
        turn.open(IN_CALL, package=PACKAGE)


def _has_network(at: Scene) -> bool:
    return at.setting("global", "airplane_mode_on", "0") != "1"


def end_call(turn: Turn) -> None:
    """Hang up, or do not answer at all; the call goes into the history."""
    call = turn.state.call
    if call is None:
        return
    picked_up = _picked_up(call, turn.state.now)
    seconds = int(turn.state.now - picked_up) if picked_up is not None else 0
    missed = call.incoming and call.answered is None
    kind = people.MISSED if missed else people.INCOMING if call.incoming else people.OUTGOING
    turn.state = replace(turn.state, call=None)
    people.note_call(turn, call.number, kind, seconds=seconds, began=call.began)
    if turn.state.front.name == IN_CALL:
        turn.activity = turn.state.front
        turn.close()


def _picked_up(call: PhoneCall, now: float) -> float | None:
    """When the talk began, if it has."""
    if call.incoming:
        return call.answered
    return call.began + PICKED_UP_SECONDS if now >= call.began + PICKED_UP_SECONDS else None


class InCall(Screen):
    name = IN_CALL

    def view(self, at: Scene) -> View:
        call = at.state.call
        if call is None:
            said = text("Call ended", size=22, along="center", id="contactgrid_status_text")
            return column(said, along="center", fill="page", tap=("end",))
        name = people.called(at, call.number)
        number = [text(call.number, color="faint", along="center", id="contactgrid_forwardNumber")]
        ringing = call.incoming and call.answered is None
        head = column(
            text(_status(call, at.state.now), color="faint", along="center", id="contactgrid_status_text"),
            text(name, size=32, along="center", id="contactgrid_contact_name"),
            *(number if name != call.number else []),
            gap=8,
            pad=(24, 64, 24, 24),
        )
        body = _answering() if ringing else _talking(at, call)
        return column(head, space(grow=1), *body, fill="page")

    def on(self, turn: Turn, event: Event) -> None:
        call = turn.state.call
        if call is None:
            turn.close()
            return
        match event:
            case ("end",):
                end_call(turn)
            case ("answer",):
                turn.state = replace(turn.state, call=replace(call, answered=turn.state.now))
            case ("decline",):
                turn.state = replace(turn.state, call=None)
                people.note_call(turn, call.number, people.REJECTED, began=call.began)
                turn.close()
            case ("hold",):
                turn.state = replace(turn.state, call=replace(call, held=not call.held))
            case ("mute",):
                turn.state = replace(turn.state, call=replace(call, muted=not call.muted))
            case ("speaker",):
                turn.state = replace(turn.state, call=replace(call, speaker=not call.speaker))
            case ("keypad",):
                turn.keep(keypad=not turn.get("keypad"))
            case ("digit", digit):
                turn.keep(tones=str(turn.get("tones", "")) + digit)
            case ("add",):
                turn.open(MAIN)


def _status(call: PhoneCall, now: float) -> str:
    picked_up = _picked_up(call, now)
    if picked_up is None:
        return "Incoming call" if call.incoming else "Calling…"
    if call.held:
        return "On hold"
    seconds = int(now - picked_up)
    return f"{seconds // 60:02}:{seconds % 60:02}"


def _answering() -> Sequence[View]:
    return [
        row(
            _round("call", "Decline", ("decline",), ENDED_COLOUR),
            _round("call", "Answer", ("answer",), ANSWERED_COLOUR),
            pad=(32, 0, 32, 72),
        )
    ]


def _talking(at: Scene, call: PhoneCall) -> Sequence[View]:
    if at.get("keypad"):
        rows = [KEYS[first : first + 3] for first in range(0, len(KEYS), 3)]
        tones = text(str(at.get("tones", "")), size=24, along="center", id="digits")
        above: list[View] = [tones, *(row(*(_key(*key) for key in keys), height=64) for keys in rows)]
        above.append(row(_toggle("close", "Hide keypad", ("keypad",), on=False)))
    else:
        buttons = [
            _toggle("mic", "Mute", ("mute",), on=call.muted),
            _toggle("apps", "Keypad", ("keypad",), on=False),
            _toggle("sound", "Speaker", ("speaker",), on=call.speaker),
            _toggle("add", "Add call", ("add",), on=False),
            _toggle("pause", "Hold", ("hold",), on=call.held),
            _toggle("video", "Video call", ("nothing",), on=False),
        ]
        buttons = at.taste.order("in call", buttons)
        above = [row(*buttons[:3]), row(*buttons[3:])]
    end = _round("close", "End call", ("end",), ENDED_COLOUR)
    return [column(*above, gap=16, pad=(24, 0, 24, 32)), row(end, pad=(0, 0, 0, 56))]


def _toggle(picture: str, name: str, tap: Event, *, on: bool) -> View:
    disc = View(
        width=64, height=64, across="center",
        look=Look(fill="primary" if on else "card", round=32, icon=picture, size=26,
                  color="on_primary" if on else "text"),
    )  # fmt: skip
    words = text(name, size=13, along="center", color="faint")
    return replace(column(disc, words, gap=6, grow=1, tap=tap), checked=on, desc=name)


def _round(picture: str, name: str, tap: Event, color: str) -> View:
    disc = View(
        width=72, height=72, across="center", look=Look(fill=color, round=36, icon=picture, size=30, color="#ffffff")
    )
    return column(disc, text(name, size=14, along="center"), gap=8, grow=1, tap=tap, desc=name)


def _number(intent: Intent) -> str:
    """The number of an address such as tel:555-0100."""
    return intent.data.partition(":")[2].replace("%2B", "+").replace("%20", " ")


class Dialer(App):
    package = PACKAGE
    label = "Phone"
    icon = "call"
    colour = "#1a73e8"
    screens = (Dialtacts, InCall, History)

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        action = intent.action.rpartition(".")[2]
        if action == "CALL" and intent.data.startswith("tel:") and (at.state.call is not None or _has_network(at)):
            return Activity(PACKAGE, IN_CALL)
        if action in ("CALL", "DIAL", "VIEW") and intent.data.startswith("tel:"):
            return Activity(PACKAGE, MAIN, {"dialled": _number(intent)}, kept={OVER: "keypad"})
        return Activity(PACKAGE, MAIN) if action == "DIAL" else None

    def asked(self, turn: Turn, intent: Intent) -> None:
        if turn.activity.name == IN_CALL and turn.state.call is None:
            turn.state = replace(turn.state, call=PhoneCall(_number(intent), turn.state.now))

    def rang(self, turn: Turn, caller: str) -> bool:
        if not caller:
            end_call(turn)
        elif turn.state.call is None and not is_blocked(turn, caller):
            turn.state = replace(turn.state, call=PhoneCall(caller, turn.state.now, incoming=True))
            turn.open(IN_CALL, package=PACKAGE)
        return True

    def pressed(self, turn: Turn, code: int) -> bool:
        call = turn.state.call
        if code == KEY_END_CALL:
            end_call(turn)
        elif code == KEY_CALL and call is not None and call.incoming and call.answered is None:
            turn.state = replace(turn.state, call=replace(call, answered=turn.state.now))
        return code in (KEY_CALL, KEY_END_CALL)
