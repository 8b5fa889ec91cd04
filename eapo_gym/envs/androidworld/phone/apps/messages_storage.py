"""Where the phone keeps text messages: the system's provider, which the messenger shows and the network fills."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from eapo_gym.envs.androidworld.phone.app import App, Scene, Turn
from eapo_gym.envs.androidworld.phone.apps.contacts_storage import number_key
from eapo_gym.envs.androidworld.phone.databases import Database, Keep, Row, Rows
from eapo_gym.envs.androidworld.phone.state import State

PACKAGE = "com.android.providers.telephony"
MESSAGES = f"/data/data/{PACKAGE}/databases/mmssms.db"
BLOCKED = "/data/data/com.android.providers.blockednumber/databases/blockednumbers.db"

RECEIVED, SENT, DRAFT, FAILED = 1, 2, 3, 5
"""Types of messages, as Android numbers them."""

_SCHEMA = (
    "CREATE TABLE sms (_id INTEGER PRIMARY KEY, thread_id INTEGER, address TEXT, person INTEGER, date INTEGER, "
    "date_sent INTEGER DEFAULT 0, protocol INTEGER, read INTEGER DEFAULT 0, status INTEGER DEFAULT -1, type INTEGER, "
    "reply_path_present INTEGER, subject TEXT, body TEXT, service_center TEXT, locked INTEGER DEFAULT 0, "
    "sub_id INTEGER DEFAULT -1, error_code INTEGER DEFAULT 0, creator TEXT, seen INTEGER DEFAULT 0)",
    "CREATE TABLE threads (_id INTEGER PRIMARY KEY AUTOINCREMENT, date INTEGER DEFAULT 0, "
    "message_count INTEGER DEFAULT 0, recipient_ids TEXT, snippet TEXT, read INTEGER DEFAULT 1, "
    "archived INTEGER DEFAULT 0, type INTEGER DEFAULT 0, error INTEGER DEFAULT 0)",
    "CREATE TABLE canonical_addresses (_id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT)",
)
_BLOCKED_SCHEMA = (
    "CREATE TABLE blocked (_id INTEGER PRIMARY KEY AUTOINCREMENT, original_number TEXT, e164_number TEXT)",
)


def messages(at: Scene) -> Rows:
    """All messages, the latest first."""
    return _sorted(at.database(MESSAGES))


@lru_cache(maxsize=128)
def _sorted(database: Database) -> Rows:
    return tuple(sorted(database["sms"], key=lambda row: (date(row), int(str(row["_id"]))), reverse=True))


def date(row: Row) -> int:
    """In thousandths of a second since 1970."""
    return int(str(row["date"] or 0))


def with_number(at: Scene, address: str) -> Rows:
    """What was written to and by a number, the latest first."""
    key = number_key(address)
    return tuple(row for row in messages(at) if number_key(str(row["address"] or "")) == key)


def put(turn: Turn, address: str, body: str, kind: int) -> int:
    """Keep a message, in the thread of its number."""
    now = int(turn.state.now * 1000)
    thread = _thread(turn, address)
    own = kind != RECEIVED
    number = turn.insert(
        MESSAGES, "sms", thread_id=thread, address=address, body=body, type=kind, date=now,
        date_sent=0 if own else now, read=int(own), seen=int(own), protocol=None if own else 0, sub_id=1,
    )  # fmt: skip
    count = sum(row["thread_id"] == thread for row in turn.rows(MESSAGES, "sms"))
    turn.update(
        MESSAGES, "threads", lambda row: row["_id"] == thread,
        date=now, snippet=body, message_count=count, read=int(own), archived=0,
    )  # fmt: skip
    return number


def _thread(turn: Turn, address: str) -> int:
    """The thread of a number; a new one, if there is none."""
    key = number_key(address)
    known = turn.rows(MESSAGES, "canonical_addresses")
    recipient = next((row["_id"] for row in known if number_key(str(row["address"])) == key), None)
    if recipient is None:
        recipient = turn.insert(MESSAGES, "canonical_addresses", address=address)
    for row in turn.rows(MESSAGES, "threads"):
        if row["recipient_ids"] == str(recipient):
            return int(str(row["_id"]))
    return turn.insert(MESSAGES, "threads", recipient_ids=str(recipient))


def mark_read(turn: Turn, address: str, *, read: bool = True) -> None:
    key = number_key(address)
    found = [row for row in messages(turn) if number_key(str(row["address"] or "")) == key and row["type"] == RECEIVED]
    if not read:
        found = found[:1]
    changed = {row["_id"] for row in found if bool(row["read"]) != read}
    if changed:
        turn.update(MESSAGES, "sms", lambda row: row["_id"] in changed, read=int(read), seen=1)


def remove(turn: Turn, numbers: Iterable[object]) -> None:
    """Delete messages by their numbers; a thread without messages goes with them."""
    gone = set(numbers)
    turn.delete(MESSAGES, "sms", lambda row: row["_id"] in gone)
    left = {row["thread_id"] for row in turn.rows(MESSAGES, "sms")}
    turn.delete(MESSAGES, "threads", lambda row: row["_id"] not in left)


def blocked(at: Scene) -> tuple[str, ...]:
    return tuple(str(row["original_number"]) for row in at.rows(BLOCKED, "blocked"))


def is_blocked(at: Scene, address: str) -> bool:
    return number_key(address) in {number_key(each) for each in blocked(at)}


def block(turn: Turn, address: str) -> None:
    if not is_blocked(turn, address):
        turn.insert(BLOCKED, "blocked", original_number=address, e164_number=address)


def unblock(turn: Turn, address: str) -> None:
    key = number_key(address)
    turn.delete(BLOCKED, "blocked", lambda row: number_key(str(row["original_number"])) == key)


class MessagesStorage(App):
    package = PACKAGE
    label = "Phone and Messaging Storage"
    icon = "message"
    colour = "#5f6368"
    screens = ()

    def install(self, state: State) -> State:
        texts, numbers = _empty()
        files = state.files.write(MESSAGES, texts, state.now).write(BLOCKED, numbers, state.now)
        return replace(state, files=files)

    def heard(self, turn: Turn, sender: str, message: str) -> bool:
        if not is_blocked(turn, sender):
            put(turn, sender, message, RECEIVED)
        return True

    def query(self, at: Scene, uri: str) -> Rows | None:
        kinds = _kinds(uri)
        return None if kinds is None else tuple(row for row in messages(at) if row["type"] in kinds)

    def insert(self, turn: Turn, uri: str, values: Row) -> bool:
        kinds = _kinds(uri)
        if kinds is None:
            return False
        given = values.get("type")
        kind = given if isinstance(given, int) else kinds[0]
        number = put(turn, str(values.get("address", "")), str(values.get("body", "")), kind)
        told = {name: value for name, value in values.items() if name in ("date", "date_sent", "read", "seen")}
        turn.update(MESSAGES, "sms", lambda row: row["_id"] == number, **told)
        return True

    def delete(self, turn: Turn, uri: str, where: Keep) -> bool:
        kinds = _kinds(uri)
        if kinds is None:
            return False
        remove(turn, [row["_id"] for row in messages(turn) if row["type"] in kinds and where(row)])
        return True


def _kinds(uri: str) -> tuple[int, ...] | None:
    """The types of messages at an address."""
    boxes = {
        "sms": (RECEIVED, SENT, DRAFT, FAILED),
        "sms/inbox": (RECEIVED,),
        "sms/sent": (SENT,),
        "sms/draft": (DRAFT,),
        "sms/failed": (FAILED,),
    }
    return boxes.get(uri.removeprefix("content://").strip("/"))


@lru_cache(maxsize=1)
def _empty() -> tuple[Database, Database]:
    return Database.make(*_SCHEMA), Database.make(*_BLOCKED_SCHEMA)
