"""Simple SMS Messenger: conversations, what was written in them, and writing to somebody new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps import contacts_storage as people
from eapo_gym.envs.androidworld.phone.apps import messages_storage as storage
from eapo_gym.envs.androidworld.phone.apps.contacts import face, search_bar
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    BUTTON,
    FRAME,
    app_bar,
    button,
    column,
    dialog,
    fab,
    field,
    floating,
    icon,
    icon_button,
    item,
    listing,
    menu,
    page,
    row,
    space,
    switch_item,
    text,
)

PACKAGE = "com.simplemobiletools.smsmessenger"
MAIN = f"{PACKAGE}.activities.MainActivity"
NEW = f"{PACKAGE}.activities.NewConversationActivity"
THREAD = f"{PACKAGE}.activities.ThreadActivity"
ARCHIVED = f"{PACKAGE}.activities.ArchivedConversationsActivity"
SETTINGS = f"{PACKAGE}.activities.SettingsActivity"
BLOCKED = f"{PACKAGE}.activities.ManageBlockedNumbersActivity"

START_NAMES = ("Start conversation", "New conversation", "Compose")
"""What the round button does, from phone to phone."""

SEND = "SMS"
"""What stands on the button that sends."""

NUMBER_HINTS = ("Name or number", "Name or phone number", "To")
MESSAGE_HINTS = ("Type a message…", "Text message", "Write here")
MESSAGE = "message"
PART_LENGTH = 160
"""Letters that fit into one message of the network."""

END = 1_000_000
"""Further down than any list goes: conversations are read from their end."""


# Conversations


@dataclass(frozen=True)
class Conversation:
    """All that was exchanged with one number."""

    address: str
    latest: Row
    unread: int
    pinned: bool


def conversations(at: Scene, *, archived: bool = False) -> list[Conversation]:
    """Those that lie there or in the archive: pinned ones first, then the latest first."""
    latest: dict[str, Row] = {}
    unread: dict[str, int] = {}
    for row_ in storage.messages(at):
        key = people.number_key(str(row_["address"] or ""))
        latest.setdefault(key, row_)
        unread[key] = unread.get(key, 0) + (row_["type"] == storage.RECEIVED and not row_["read"])
    away = _archived(at)
    pinned = _pinned(at)
    found = [
        Conversation(str(row_["address"] or ""), row_, unread[key], key in pinned)
        for key, row_ in latest.items()
        if (row_["thread_id"] in away) == archived
    ]
    return sorted(found, key=lambda each: not each.pinned)


def _archived(at: Scene) -> set[object]:
    return {row_["_id"] for row_ in at.rows(storage.MESSAGES, "threads") if row_["archived"]}


def _pinned(at: Scene) -> set[str]:
    return set(filter(None, preference(at, PACKAGE, "pinned_conversations").split(";")))


def _pin(turn: Turn, keys: Iterable[str], *, on: bool) -> None:
    changed = _pinned(turn) | set(keys) if on else _pinned(turn) - set(keys)
    prefer(turn, PACKAGE, pinned_conversations=";".join(sorted(changed)))


def _archive(turn: Turn, addresses: Iterable[str], *, on: bool) -> None:
    threads = {row_["thread_id"] for address in addresses for row_ in storage.with_number(turn, address)}
    turn.update(storage.MESSAGES, "threads", lambda row_: row_["_id"] in threads, archived=int(on))


def _forget(turn: Turn, addresses: Iterable[str]) -> None:
    storage.remove(turn, [row_["_id"] for address in addresses for row_ in storage.with_number(turn, address)])


def thread(at: Scene, address: str, body: str = "") -> Activity:
    """The conversation with a number, shown from its end; with a message begun."""
    return Activity(PACKAGE, THREAD, {"address": address, "body": body}, scrolled={THREAD: END})


def _when(at: Scene, row_: Row) -> str:
    """The time of a message of today, the day of an older one."""
    then = datetime.fromtimestamp(storage.date(row_) / 1000, timezone.utc)
    if then.date() == at.now.date():
        return f"{then:%H:%M}"
    return f"{then:%b} {then.day}" if then.year == at.now.year else f"{then:%b} {then.day}, {then.year}"


def _line(at: Scene, each: Conversation, chosen: frozenset[str]) -> View:
    name = people.called(at, each.address)
    said = " ".join(str(each.latest["body"] or "").split())
    begin = {storage.DRAFT: "Draft: ", storage.FAILED: "Not sent: ", storage.SENT: "You: "}
    said = begin.get(int(str(each.latest["type"])), "") + said
    on = each.address in chosen
    bold = bool(each.unread)
    words = column(
        text(name, lines=1, bold=bold, id="conversation_address"),
        text(said, size=14, lines=1, bold=bold, color="text" if bold else "faint", id="conversation_body_short"),
        gap=2,
        grow=1,
        along="center",
    )
    pins = [icon("pin", size=18)] if each.pinned else []
    date = replace(text(_when(at, each.latest), size=13, color="faint", id="conversation_date"), across="center")
    return replace(
        row(
            icon("task", size=40, color="primary") if on else face(name),
            words,
            *pins,
            date,
            gap=16,
            pad=(16, 8, 16, 8),
            height=72,
            tap=("open", each.address),
            hold=("mark", each.address),
            selected=on,
        ),
        look=Look(fill="soft" if on else ""),
    )


def _nothing(said: str) -> View:
    return text(said, color="faint", along="center", pad=(24, 96, 24, 24), id="no_conversations_placeholder")


def _deletes(at: Scene, count: int, what: str) -> View:
    """The question before something is gone for good."""
    said = f"{count} {what}" + ("" if count == 1 else "s")
    buttons = [button("No", ("leave",)), button("Yes", ("delete",))]
    return dialog("", [], buttons, dismiss=("leave",), said=f"Delete {said}? This cannot be undone.")


class Conversations(Screen):
    """A list of conversations, of which some can be chosen to do something with them."""

    archive = False

    def view(self, at: Scene) -> View:
        chosen = _chosen(at)
        found = conversations(at, archived=self.archive)
        top = self._choosing_bar(at, chosen) if chosen else self._bar(at)
        lines = self._searched(at, found) if at.get("search") else [_line(at, each, chosen) for each in found]
        body = listing([*(lines or [_nothing(self._empty(at))]), space(height=96)], name=self.name)
        layers = [column(top, body, fill="page")]
        if not self.archive and not chosen:
            name = at.taste.choose("start conversation", *START_NAMES)
            layers.append(floating(fab("add", name, ("new",), id="conversations_fab")))
        return View(kind=FRAME, flow="stack", children=(*layers, *self._over(at, chosen)))

    def on(self, turn: Turn, event: Event) -> None:
        chosen = _chosen(turn)
        match event:
            case ("open", address) if chosen:
                self.on(turn, ("mark", address))
            case ("open", address):
                turn.focus("")
                storage.mark_read(turn, address)
                turn.start(thread(turn, address))
            case ("mark", address):
                turn.keep(chosen=chosen ^ {address})
            case ("new",):
                turn.focus("")
                turn.open(NEW)
            case ("go", name):
                turn.drop(OVER)
                turn.open(name)
            case ("up",):
                turn.close()
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("leave",):
                turn.drop(OVER)
            case ("clear", name):
                turn.keep(**{name: ""})
            case ("all",):
                turn.drop(OVER)
                turn.keep(chosen=frozenset(each.address for each in conversations(turn, archived=self.archive)))
            case ("none",):
                turn.drop("chosen", OVER)
            case (does,):
                _do(turn, does, chosen)
                turn.drop("chosen", OVER)

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif _chosen(turn):
            turn.drop("chosen")
        elif turn.get("search"):
            turn.focus("")
            turn.drop("search")
        else:
            turn.close()

    def _bar(self, at: Scene) -> View:
        if self.archive:
            return app_bar("Archived conversations", up=("up",))
        return search_bar(at, "Search", icon_button("more", "More options", ("over", "menu")))

    def _empty(self, at: Scene) -> str:
        if at.get("search"):
            return "Nothing found"
        return "No archived conversations" if self.archive else "No conversations yet"

    def _choosing_bar(self, at: Scene, chosen: frozenset[str]) -> View:
        actions = (
            icon_button("delete", "Delete", ("over", "delete")),
            icon_button("archive", "Unarchive" if self.archive else "Archive", ("archive",)),
            icon_button("more", "More options", ("over", "chosen")),
        )
        return app_bar(f"{len(chosen)} selected", up=("none",), up_icon="close", actions=actions, fill="soft")

    def _searched(self, at: Scene, found: Sequence[Conversation]) -> list[View]:
        """Conversations whose name fits, and messages in which it occurs."""
        wanted = str(at.get("search")).strip().lower()
        named = [each for each in found if wanted in people.called(at, each.address).lower() or wanted in each.address]
        said = [row_ for row_ in storage.messages(at) if wanted in str(row_["body"] or "").lower()]
        lines = [_line(at, each, frozenset()) for each in named]
        for row_ in said:
            address = str(row_["address"] or "")
            name = people.called(at, address)
            lines.append(
                item(
                    name,
                    str(row_["body"]),
                    tap=("open", address),
                    start=face(name),
                    end=text(_when(at, row_), size=13, color="faint"),
                    id="search_result_title",
                    under_id="search_result_snippet",
                )
            )
        return lines

    def _over(self, at: Scene, chosen: frozenset[str]) -> Iterable[View]:
        over = at.get(OVER)
        if over == "menu":
            entries: list[tuple[str, Event]] = [
                ("Archived conversations", ("go", ARCHIVED)),
                ("Blocked numbers", ("go", BLOCKED)),
                ("Settings", ("go", SETTINGS)),
            ]
            yield menu(at.taste.order("messages menu", entries), ("leave",))
        elif over == "chosen":
            keys = {people.number_key(each) for each in chosen}
            entries = [("Unpin conversation" if keys <= _pinned(at) else "Pin conversation", ("pin",))]
            entries += [("Mark as read", ("read",)), ("Mark as unread", ("unread",)), ("Block number", ("block",))]
            entries += [("Copy number", ("copy",))] if len(chosen) == 1 else []
            entries += [("Select all", ("all",))]
            yield menu(entries, ("leave",))
        elif over == "delete":
            yield _deletes(at, len(chosen), "conversation")


def _chosen(at: Scene) -> frozenset[str]:
    found = at.get("chosen", frozenset())
    assert isinstance(found, frozenset)
    return found


def _do(turn: Turn, does: str, chosen: Iterable[str]) -> None:
    """What the bar over chosen conversations offers."""
    keys = {people.number_key(each) for each in chosen}
    if does == "delete":
        _forget(turn, chosen)
    elif does == "archive":
        _archive(turn, chosen, on=turn.activity.name != ARCHIVED)
    elif does == "pin":
        _pin(turn, keys, on=not keys <= _pinned(turn))
    for address in chosen:
        if does in ("read", "unread"):
            storage.mark_read(turn, address, read=does == "read")
        elif does == "block":
            storage.block(turn, address)
            turn.toast("Number blocked")
        elif does == "copy":
            turn.copy(address)
            turn.toast("Copied")


class Main(Conversations):
    name = MAIN


class Archived(Conversations):
    name = ARCHIVED
    archive = True


# A conversation


class Thread(Screen):
    name = THREAD

    def view(self, at: Scene) -> View:
        address = _address(at)
        chosen = _chosen_messages(at)
        shown = [row_ for row_ in reversed(storage.with_number(at, address)) if row_["type"] != storage.DRAFT]
        top = _message_bar(chosen) if chosen else _thread_bar(at, address)
        body = listing(_bubbles(at, shown, chosen), name=self.name, id="thread_messages_list", pad=(12, 8, 12, 8))
        frame = column(top, body, _writing(at), fill="page")
        return View(kind=FRAME, flow="stack", children=(frame, *_over_thread(at, address, chosen)))

    def on(self, turn: Turn, event: Event) -> None:
        address = _address(turn)
        chosen = _chosen_messages(turn)
        match event:
            case ("up",):
                _up(turn)
            case ("send",):
                _send(turn)
            case ("attach",):
                turn.toast("This phone sends text only")
            case ("touch", number) if chosen:
                turn.keep(chosen=chosen ^ {number})
            case ("touch", number):
                _send_again(turn, number)
            case ("mark", number):
                turn.keep(chosen=chosen ^ {number})
            case ("none",):
                turn.drop("chosen", OVER)
            case ("over", name):
                turn.keep(**{OVER: name})
            case ("leave",):
                turn.drop(OVER)
            case ("delete",):
                storage.remove(turn, chosen or [row_["_id"] for row_ in storage.with_number(turn, address)])
                turn.drop("chosen", OVER)
                if not chosen:
                    _up(turn)
            case (does,):
                turn.drop(OVER)
                _do_in_thread(turn, does, address, chosen)

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif _chosen_messages(turn):
            turn.drop("chosen")
        else:
            self.left(turn)
            turn.close()

    def typed(self, turn: Turn, field: str) -> None:
        if _written(turn).endswith("\n") and preference(turn, PACKAGE, "send_on_enter") == "1":
            _send(turn)

    def left(self, turn: Turn) -> None:
        """What came in meanwhile was read; what was begun is kept."""
        address = _address(turn)
        storage.mark_read(turn, address)
        _keep_draft(turn, address)


def _address(at: Scene) -> str:
    """The number that the conversation is with."""
    return str(at.extras.get("address", ""))


def _chosen_messages(at: Scene) -> frozenset[int]:
    found = at.get("chosen", frozenset())
    assert isinstance(found, frozenset)
    return found


def _up(turn: Turn) -> None:
    """To the list of all conversations, wherever one came from."""
    Thread().left(turn)
    *_, front = turn.state.tasks
    if len(front.activities) > 1 or front.package != PACKAGE:
        turn.close()
    else:
        turn.focus("")
        turn.become(Activity(PACKAGE, MAIN))


def _written(at: Scene) -> str:
    """What stands in the field: what was typed, handed over by another app, or begun earlier."""
    given = str(at.extras.get("body", ""))
    return str(at.get(MESSAGE, given or _draft(at, _address(at))))


def _draft(at: Scene, address: str) -> str:
    drafts = [row_ for row_ in storage.with_number(at, address) if row_["type"] == storage.DRAFT]
    return str(drafts[0]["body"]) if drafts else ""


def _keep_draft(turn: Turn, address: str) -> None:
    written, before = _written(turn).strip(), _draft(turn, address)
    if written == before:
        return
    _drop_drafts(turn, address)
    if written:
        storage.put(turn, address, written, storage.DRAFT)


def _drop_drafts(turn: Turn, address: str) -> None:
    drafts = [row_["_id"] for row_ in storage.with_number(turn, address) if row_["type"] == storage.DRAFT]
    if drafts:
        storage.remove(turn, drafts)


def _send(turn: Turn) -> None:
    address, body = _address(turn), _written(turn).strip()
    if not body:
        return
    _drop_drafts(turn, address)
    storage.put(turn, address, body, _outcome(turn))
    _archive(turn, [address], on=False)
    turn.become(replace(turn.activity, scrolled={THREAD: END}, cursor=None, all_selected=False))
    turn.keep(**{MESSAGE: ""})


def _outcome(at: Scene) -> int:
    """Without a network nothing is sent."""
    return storage.FAILED if at.setting("global", "airplane_mode_on", "0") == "1" else storage.SENT


def _send_again(turn: Turn, number: int) -> None:
    """A touch on a message that was not sent tries once more."""
    found = turn.database(storage.MESSAGES).row("sms", number)
    if found is None or found["type"] != storage.FAILED:
        return
    if _outcome(turn) == storage.FAILED:
        turn.toast("Message could not be sent")
        return
    storage.remove(turn, [number])
    storage.put(turn, str(found["address"]), str(found["body"]), storage.SENT)


def _thread_bar(at: Scene, address: str) -> View:
    name = people.called(at, address)
    actions = [
        icon_button("call", "Dial number", ("call",)),
        icon_button("more", "More options", ("over", "menu")),
    ]
    return app_bar(name, under=address if name != address else "", up=("up",), actions=actions)


def _message_bar(chosen: frozenset[int]) -> View:
    actions = [
        icon_button("copy", "Copy to clipboard", ("copy messages",)),
        icon_button("delete", "Delete", ("over", "delete messages")),
        icon_button("more", "More options", ("over", "chosen")),
    ]
    return app_bar(f"{len(chosen)} selected", up=("none",), up_icon="close", actions=actions, fill="soft")


def _bubbles(at: Scene, shown: Sequence[Row], chosen: frozenset[int]) -> Iterable[View]:
    day = ""
    for row_ in shown:
        then = datetime.fromtimestamp(storage.date(row_) / 1000, timezone.utc)
        today = f"{then:%b} {then.day}, {then.year}"
        if today != day:
            yield text(f"{today} {then:%H:%M}", size=13, color="faint", along="center", pad=(0, 12, 0, 8))
        day = today
        yield _bubble(row_, chosen)


def _bubble(row_: Row, chosen: frozenset[int]) -> View:
    own = row_["type"] != storage.RECEIVED
    number = int(str(row_["_id"]))
    words = View(
        kind="android.widget.TextView", text=str(row_["body"] or ""), id="thread_message_body", tap=("touch", number),
        hold=("mark", number), selected=number in chosen, across="end" if own else "start", pad=(14, 9, 14, 9),
        look=Look(fill="primary" if own else "card", color="on_primary" if own else "text", round=18,
                  border="danger" if number in chosen else ""),
    )  # fmt: skip
    failed = [] if row_["type"] != storage.FAILED else [
        text("Not sent. Touch it to try again.", size=13, color="danger", across="end", pad=(0, 2, 4, 0)),
    ]  # fmt: skip
    side = (72, 3, 0, 3) if own else (0, 3, 72, 3)
    return column(words, *failed, pad=side)


def _writing(at: Scene) -> View:
    written = _written(at)
    hint = at.taste.choose("message hint", *MESSAGE_HINTS)
    counts = preference(at, PACKAGE, "show_character_counter") == "1"
    over = len(written) % PART_LENGTH
    counted = text(f"{PART_LENGTH - over}/{len(written) // PART_LENGTH + 1}", size=12, color="faint", across="center")
    ready = bool(written.strip())
    send = View(
        kind=BUTTON, text=SEND, desc="", id="thread_send_message", tap=("send",), enabled=ready, width=64, height=48,
        across="end", along="center", look=Look(color="primary", bold=True, size=14, lines=1),
        children=(),
    )  # fmt: skip
    lines = field(MESSAGE, written, hint=hint, id="thread_type_message", lines=4, grow=1)
    return row(
        icon_button("add", "Attachment", ("attach",)),
        replace(lines, height=None if written else 48, across="center"),
        *([counted] if counts else []),
        send,
        gap=4,
        pad=(4, 6, 4, 8),
        fill="bar",
    )


def _over_thread(at: Scene, address: str, chosen: frozenset[int]) -> Iterable[View]:
    over = at.get(OVER)
    if over == "menu":
        known = people.whose(at, address) is not None
        away = storage.is_blocked(at, address)
        thread_ids = {row_["thread_id"] for row_ in storage.with_number(at, address)}
        entries: list[tuple[str, Event]] = [("Delete", ("over", "delete"))]
        entries += [("Unarchive" if thread_ids & _archived(at) else "Archive", ("archive",))]
        entries += [("Unblock number" if away else "Block number", ("unblock",) if away else ("block",))]
        entries += [("Contact details", ("contact",)) if known else ("Add number to contact", ("add",))]
        entries += [("Copy number", ("copy",)), ("Mark as unread", ("unread",))]
        yield menu(at.taste.order("thread menu", entries), ("leave",))
    elif over == "chosen":
        entries = [("Share", ("share",)), ("Forward message", ("forward",))] if len(chosen) == 1 else []
        entries += [("Properties", ("over", "properties"))] if len(chosen) == 1 else []
        yield menu([*entries, ("Select all", ("all",))], ("leave",))
    elif over == "delete":
        yield _deletes(at, 1, "conversation")
    elif over == "delete messages":
        yield _deletes(at, len(chosen), "message")
    elif over == "properties":
        yield _properties(at, chosen)


def _properties(at: Scene, chosen: frozenset[int]) -> View:
    found = at.database(storage.MESSAGES).row("sms", next(iter(chosen), None))
    facts: Mapping[str, str] = {}
    if found is not None:
        then = datetime.fromtimestamp(storage.date(found) / 1000, timezone.utc)
        own = found["type"] != storage.RECEIVED
        facts = {
            "To" if own else "From": people.called(at, str(found["address"])),
            "Sent" if own else "Received": f"{then:%b} {then.day}, {then.year} {then:%H:%M}",
            "Length": f"{len(str(found['body']))} characters",
        }
    lines = [column(text(name, size=13, color="faint"), text(said), pad=(0, 6, 0, 6)) for name, said in facts.items()]
    return dialog("Message details", lines, [button("OK", ("leave",))], dismiss=("leave",))


def _do_in_thread(turn: Turn, does: str, address: str, chosen: frozenset[int]) -> None:
    """What the menus over a conversation offer."""
    said = "\n".join(str(row_["body"]) for row_ in reversed(storage.messages(turn)) if row_["_id"] in chosen)
    if does == "call":
        if not turn.ask(Intent("android.intent.action.CALL", f"tel:{address}")):
            turn.toast("No app can do this")
    elif does == "copy messages":
        turn.copy(said)
        turn.toast("Copied")
        turn.drop("chosen")
    elif does == "share":
        turn.drop("chosen")
        asked = Intent("android.intent.action.SEND", kind="text/plain", extras={"android.intent.extra.TEXT": said})
        turn.ask(asked)
    elif does == "forward":
        turn.drop("chosen")
        turn.open(NEW, body=said)
    elif does == "all":
        turn.keep(chosen=frozenset(int(str(row_["_id"])) for row_ in storage.with_number(turn, address)))
    elif does == "add":
        asked = Intent("android.intent.action.INSERT", kind="vnd.android.cursor.dir/contact", extras={"phone": address})
        turn.ask(asked)
    elif does == "contact":
        found = people.whose(turn, address)
        turn.ask(Intent("android.intent.action.VIEW", f"content://contacts/people/{found.id if found else ''}"))
    elif does == "unblock":
        storage.unblock(turn, address)
        turn.toast("Number unblocked")
    elif does == "archive":
        thread_ids = {row_["thread_id"] for row_ in storage.with_number(turn, address)}
        away = not thread_ids & _archived(turn)
        _archive(turn, [address], on=away)
        if away:
            _up(turn)
    elif does == "unread":
        _up(turn)
        storage.mark_read(turn, address, read=False)
    else:
        _do(turn, does, [address])


# Writing to somebody new


class NewConversation(Screen):
    name = NEW

    def view(self, at: Scene) -> View:
        hint = at.taste.choose("number hint", *NUMBER_HINTS)
        whom = field("to", str(at.get("to", "")), hint=hint, id="new_conversation_address", grow=1)
        confirm = icon_button("check", "OK", ("confirm",), id="new_conversation_confirm", color="primary")
        lines = [
            item(
                name,
                number,
                tap=("to", number),
                start=face(name),
                id="item_contact_name",
                under_id="item_number",
            )
            for name, number in self._offered(at)
        ]
        if not lines:
            said = "No contacts found" if at.get("to") else "No contact has a phone number"
            lines = [text(said, color="faint", along="center", pad=(24, 64, 24, 24))]
        return column(
            app_bar("New conversation", up=("up",)),
            row(whom, confirm, gap=4, pad=(16, 4, 8, 8)),
            listing(lines, name=self.name),
            fill="page",
        )

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("confirm",):
                self._confirm(turn, str(turn.get("to", "")).strip())
            case ("to", number):
                self._write_to(turn, number)

    def _offered(self, at: Scene) -> list[tuple[str, str]]:
        wanted = str(at.get("to", "")).strip().lower()
        digits = "".join(each for each in wanted if each.isdigit())
        numbers = [(each.name, phone) for each in people.contacts(at) for phone, _ in each.phones]
        return [
            (name, phone)
            for name, phone in numbers
            if wanted in name.lower() or (digits and digits in people.number_key(phone))
        ]

    def _confirm(self, turn: Turn, written: str) -> None:
        """A number is taken as it is; a name that is known stands for its number."""
        named = [phone for name, phone in self._offered(turn) if name.lower() == written.lower()]
        if any(each.isdigit() for each in written) and not any(each.isalpha() for each in written):
            self._write_to(turn, written)
        elif named:
            self._write_to(turn, named[0])
        elif written:
            turn.toast("This is no phone number")

    def _write_to(self, turn: Turn, number: str) -> None:
        storage.mark_read(turn, number)
        turn.become(thread(turn, number, str(turn.extras.get("body", ""))))
        turn.focus("", keyboard=False)


# What can be set


class Settings(Screen):
    name = SETTINGS

    def view(self, at: Scene) -> View:
        counts = preference(at, PACKAGE, "show_character_counter") == "1"
        enters = preference(at, PACKAGE, "send_on_enter") == "1"
        body = [
            text("General", size=14, color="primary", pad=(16, 12, 16, 0)),
            item("Manage blocked numbers", tap=("blocked",)),
            text("Outgoing messages", size=14, color="primary", pad=(16, 12, 16, 0)),
            switch_item("Count the letters of a message", counts, ("turn", "show_character_counter")),
            switch_item("Send with the Enter key", enters, ("turn", "send_on_enter")),
        ]
        return page("Settings", body, up=("up",))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("blocked",):
                turn.open(BLOCKED)
            case ("turn", name):
                on = preference(turn, PACKAGE, name) == "1"
                prefer(turn, PACKAGE, **{name: "0" if on else "1"})


class Blocked(Screen):
    name = BLOCKED

    def view(self, at: Scene) -> View:
        lines = [
            item(
                people.called(at, each),
                each,
                start=icon("block"),
                end=icon_button("delete", f"Unblock {each}", ("unblock", each)),
            )
            for each in storage.blocked(at)
        ]
        empty = text("Nobody is blocked.", color="faint", along="center", pad=(24, 64, 24, 24))
        over = []
        if OVER in at.kept:
            number = field("number", str(at.get("number", "")), hint="Number")
            buttons = [button("Cancel", ("leave",)), button("OK", ("block",))]
            over = [dialog("Block a number", [number], buttons, dismiss=("leave",))]
        add = icon_button("add", "Add a blocked number", ("over",))
        return page("Blocked numbers", lines or [empty], up=("up",), actions=[add], over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("over",):
                turn.keep(**{OVER: "add", "number": ""})
            case ("leave",):
                turn.focus("")
                turn.drop(OVER)
            case ("block",):
                number = str(turn.get("number", "")).strip()
                turn.focus("")
                turn.drop(OVER)
                if number:
                    storage.block(turn, number)
            case ("unblock", number):
                storage.unblock(turn, number)


class SmsMessenger(App):
    package = PACKAGE
    label = "Simple SMS Messenger"
    icon = "message"
    colour = "#e5632b"
    screens = (Main, NewConversation, Thread, Archived, Settings, Blocked)

    def install(self, state: State) -> State:
        return state.with_setting("secure", "sms_default_application", PACKAGE)

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        scheme, _, rest = intent.data.partition(":")
        action = intent.action.rpartition(".")[2]
        said = str(intent.extras.get("sms_body", intent.extras.get("android.intent.extra.TEXT", "")))
        if action in ("SENDTO", "VIEW") and scheme in ("sms", "smsto", "mms", "mmsto"):
            number = rest.lstrip("/").partition("?")[0]
            return thread(at, number, said) if number else Activity(PACKAGE, NEW, {"body": said})
        if action == "SEND" and (intent.kind or "text/plain").startswith("text/") and said:
            return Activity(PACKAGE, NEW, {"body": said})
        return None
