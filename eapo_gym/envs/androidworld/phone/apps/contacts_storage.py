"""Where the phone keeps contacts and calls: the system's provider, which Contacts, Phone and Messages share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from unicodedata import combining, normalize

from eapo_gym.envs.androidworld.phone.app import App, Scene, Turn
from eapo_gym.envs.androidworld.phone.databases import Database, Keep, Row, Rows, Value
from eapo_gym.envs.androidworld.phone.state import State

PACKAGE = "com.android.providers.contacts"
CONTACTS = f"/data/data/{PACKAGE}/databases/contacts2.db"
CALLS = f"/data/data/{PACKAGE}/databases/calllog.db"

INCOMING, OUTGOING, MISSED, REJECTED = 1, 2, 3, 5
"""Types of calls, as Android numbers them."""

PHONE_LABELS = {2: "Mobile", 3: "Work", 1: "Home", 12: "Main", 7: "Other"}
EMAIL_LABELS = {1: "Home", 2: "Work", 3: "Other"}
"""Android's numbers for what a phone number or an e-mail address is."""

CUSTOM = 0
_SAME_DIGITS = 10
"""Numbers are the same if their last digits are: the country may be left out."""

_NAME, _PHONE, _EMAIL, _COMPANY, _ADDRESS, _NOTE = range(1, 7)
_MIMETYPES = {
    _NAME: "vnd.android.cursor.item/name",
    _PHONE: "vnd.android.cursor.item/phone_v2",
    _EMAIL: "vnd.android.cursor.item/email_v2",
    _COMPANY: "vnd.android.cursor.item/organization",
    _ADDRESS: "vnd.android.cursor.item/postal-address_v2",
    _NOTE: "vnd.android.cursor.item/note",
}

_CONTACTS_SCHEMA = (
    "CREATE TABLE mimetypes (_id INTEGER PRIMARY KEY AUTOINCREMENT, mimetype TEXT NOT NULL)",
    "CREATE TABLE raw_contacts (_id INTEGER PRIMARY KEY AUTOINCREMENT, contact_id INTEGER, account_type TEXT, "
    "account_name TEXT, display_name TEXT, starred INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE data (_id INTEGER PRIMARY KEY AUTOINCREMENT, raw_contact_id INTEGER NOT NULL, "
    "mimetype_id INTEGER NOT NULL, is_primary INTEGER NOT NULL DEFAULT 0, data1 TEXT, data2 TEXT, data3 TEXT, "
    "data4 TEXT, data5 TEXT)",
)
_CALLS_SCHEMA = (
    "CREATE TABLE calls (_id INTEGER PRIMARY KEY AUTOINCREMENT, number TEXT, date INTEGER, duration INTEGER, "
    "type INTEGER, new INTEGER, name TEXT, is_read INTEGER)",
)

Labelled = tuple[tuple[str, str], ...]
"""Numbers or addresses, each with what it is, such as ("555-0100", "Home")."""


@dataclass(frozen=True)
class Contact:
    id: int = 0
    """0 is one that is not kept yet."""

    first: str = ""
    middle: str = ""
    last: str = ""
    company: str = ""
    phones: Labelled = ()
    emails: Labelled = ()
    address: str = ""
    notes: str = ""
    starred: bool = False

    @property
    def name(self) -> str:
        """What it is called: by its name, or else by whatever is known of it."""
        words = " ".join(each for each in (self.first, self.middle, self.last) if each)
        known = (words, self.company, *(value for value, _ in (*self.phones, *self.emails)), self.address, self.notes)
        return next((each for each in known if each), "")

    def text(self) -> str:
        """As a file of the kind that phones exchange."""
        lines = ["BEGIN:VCARD", "VERSION:2.1", f"N:{self.last};{self.first};{self.middle};;", f"FN:{self.name}"]
        lines += [f"TEL;{label.upper()}:{value}" for value, label in self.phones]
        lines += [f"EMAIL;{label.upper()}:{value}" for value, label in self.emails]
        lines += [f"ORG:{self.company}"] if self.company else []
        return "\n".join([*lines, "END:VCARD"]) + "\n"


def contacts(at: Scene) -> tuple[Contact, ...]:
    """All contacts that are not in the trash, by their names."""
    return _read(at.database(CONTACTS), 0)


def trash(at: Scene) -> tuple[Contact, ...]:
    return _read(at.database(CONTACTS), 1)


def contact(at: Scene, number: int) -> Contact | None:
    return next((each for each in contacts(at) if each.id == number), None)


def whose(at: Scene, phone: str) -> Contact | None:
    """The contact with that phone number."""
    return _by_number(at.database(CONTACTS)).get(number_key(phone))


def called(at: Scene, phone: str) -> str:
    """The name that belongs to a phone number; without one, the number itself."""
    found = whose(at, phone)
    return found.name if found else phone


def number_key(phone: str) -> str:
    """The same for all ways to write a number; who sends under a name is known by the name."""
    digits = re.sub(r"\D", "", phone)
    return digits[-_SAME_DIGITS:] or phone.strip().lower()


def sorted_as(name: str) -> str:
    """A letter with an accent stands where it stands without one."""
    return "".join(each for each in normalize("NFKD", name.lower()) if not combining(each))


def split_name(name: str) -> tuple[str, str, str]:
    """The first name, those between, and the last."""
    words = name.split()
    if len(words) < 2:
        return " ".join(words), "", ""
    return words[0], " ".join(words[1:-1]), words[-1]


def save(turn: Turn, new: Contact) -> int:
    """Keep a contact, in the place of the one with its number; the number that it has now."""
    if new.id:
        turn.update(CONTACTS, "raw_contacts", lambda row: row["_id"] == new.id, display_name=new.name)
        turn.delete(CONTACTS, "data", lambda row: row["raw_contact_id"] == new.id)
        number = new.id
    else:
        number = turn.insert(CONTACTS, "raw_contacts", display_name=new.name, starred=int(new.starred))
        turn.update(CONTACTS, "raw_contacts", lambda row: row["_id"] == number, contact_id=number)
    for mimetype, values in _data(new):
        turn.insert(CONTACTS, "data", raw_contact_id=number, mimetype_id=mimetype, **values)
    return number


def _data(new: Contact) -> Iterable[tuple[int, Mapping[str, Value]]]:
    """Everything that is known of a contact, each with its kind."""
    if new.first or new.middle or new.last:
        whole = " ".join(each for each in (new.first, new.middle, new.last) if each)
        yield _NAME, {"data1": whole, "data2": new.first, "data3": new.last, "data5": new.middle}
    for value, label in new.phones:
        yield _PHONE, _labelled(value, label, PHONE_LABELS)
    for value, label in new.emails:
        yield _EMAIL, _labelled(value, label, EMAIL_LABELS)
    for mimetype, text in ((_COMPANY, new.company), (_ADDRESS, new.address), (_NOTE, new.notes)):
        if text:
            yield mimetype, {"data1": text}


def _labelled(value: str, label: str, labels: Mapping[int, str]) -> Mapping[str, Value]:
    number = next((each for each, name in labels.items() if name == label), CUSTOM)
    return {"data1": value, "data2": str(number), "data3": label if number == CUSTOM else None}


def star(turn: Turn, number: int, *, on: bool) -> None:
    turn.update(CONTACTS, "raw_contacts", lambda row: row["_id"] == number, starred=int(on))


def throw_away(turn: Turn, numbers: Iterable[int], *, back: bool = False) -> None:
    """Into the trash, or back out of it."""
    chosen = set(numbers)
    turn.update(CONTACTS, "raw_contacts", lambda row: row["_id"] in chosen, deleted=int(not back))


def empty_trash(turn: Turn) -> None:
    gone = {row["_id"] for row in turn.rows(CONTACTS, "raw_contacts") if row["deleted"]}
    turn.delete(CONTACTS, "raw_contacts", lambda row: row["_id"] in gone)
    turn.delete(CONTACTS, "data", lambda row: row["raw_contact_id"] in gone)


@lru_cache(maxsize=128)
def _read(database: Database, deleted: int) -> tuple[Contact, ...]:
    """A database never changes, so that what was read of it once holds."""
    known: dict[object, list[Row]] = {}
    for row in database["data"]:
        known.setdefault(row["raw_contact_id"], []).append(row)
    found = [
        _contact(row, known.get(row["_id"], [])) for row in database["raw_contacts"] if (row["deleted"] or 0) == deleted
    ]
    return tuple(sorted(found, key=lambda each: (sorted_as(each.name), each.id)))


def _contact(raw: Row, rows: list[Row]) -> Contact:
    found = Contact(id=int(str(raw["_id"])), starred=bool(raw["starred"]))
    for row in rows:
        kind, text = row["mimetype_id"], str(row["data1"] or "")
        if kind == _NAME:
            first, last, middle = (str(row[name] or "") for name in ("data2", "data3", "data5"))
            found = replace(found, first=first, last=last, middle=middle)
        elif kind == _PHONE:
            found = replace(found, phones=(*found.phones, (text, _label(row, PHONE_LABELS))))
        elif kind == _EMAIL:
            found = replace(found, emails=(*found.emails, (text, _label(row, EMAIL_LABELS))))
        elif kind == _COMPANY:
            found = replace(found, company=text)
        elif kind == _ADDRESS:
            found = replace(found, address=text)
        elif kind == _NOTE:
            found = replace(found, notes=text)
    return found


def _label(row: Row, labels: Mapping[int, str]) -> str:
    number = int(str(row["data2"] or CUSTOM))
    return labels.get(number) or str(row["data3"] or "Other")


@lru_cache(maxsize=128)
def _by_number(database: Database) -> Mapping[str, Contact]:
    return {number_key(phone): each for each in reversed(_read(database, 0)) for phone, _ in each.phones}


# Calls


def calls(at: Scene) -> Rows:
    """All calls, the latest first."""
    rows = at.rows(CALLS, "calls")
    return tuple(sorted(rows, key=lambda row: (int(str(row["date"] or 0)), int(str(row["_id"]))), reverse=True))


def note_call(turn: Turn, number: str, kind: int, *, seconds: int = 0, began: float | None = None) -> None:
    """Write a call into the history."""
    when = turn.state.now if began is None else began
    found = whose(turn, number)
    turn.insert(
        CALLS,
        "calls",
        number=number,
        date=int(when * 1000),
        duration=seconds,
        type=kind,
        name=found.name if found else None,
        new=int(kind == MISSED),
        is_read=int(kind != MISSED),
    )


def forget_calls(turn: Turn, where: Keep) -> None:
    turn.delete(CALLS, "calls", where)


class ContactsStorage(App):
    package = PACKAGE
    label = "Contacts Storage"
    icon = "people"
    colour = "#5f6368"
    screens = ()

    def install(self, state: State) -> State:
        people, log = _empty()
        files = state.files.write(CONTACTS, people, state.now).write(CALLS, log, state.now)
        return replace(state, files=files)

    def query(self, at: Scene, uri: str) -> Rows | None:
        table = _TABLES.get(_table(uri))
        if table == "phones":
            return tuple(_phone_rows(at))
        if table == "people":
            return tuple(_people_rows(at))
        if table == "calls":
            return calls(at)
        return None if table is None else at.rows(CONTACTS, table)

    def insert(self, turn: Turn, uri: str, values: Row) -> bool:
        if _TABLES.get(_table(uri)) != "calls":
            return False
        known = {name: value for name, value in values.items() if name in ("number", "date", "duration", "type")}
        turn.insert(CALLS, "calls", **known)
        return True

    def delete(self, turn: Turn, uri: str, where: Keep) -> bool:
        table = _TABLES.get(_table(uri))
        if table == "calls":
            forget_calls(turn, where)
        elif table in ("people", "raw_contacts"):
            throw_away(turn, [int(str(row["_id"])) for row in _people_rows(turn) if where(row)])
        return table in ("calls", "people", "raw_contacts")


_TABLES = {
    "contacts/phones": "phones",
    "contacts/people": "people",
    "com.android.contacts/contacts": "people",
    "com.android.contacts/data/phones": "phones",
    "com.android.contacts/data": "data",
    "com.android.contacts/raw_contacts": "raw_contacts",
    "call_log/calls": "calls",
}
"""What there is at the addresses of the contacts and of the calls."""


def _table(uri: str) -> str:
    return uri.removeprefix("content://").strip("/")


def _phone_rows(at: Scene) -> Iterable[Row]:
    for each in contacts(at):
        for phone, label in each.phones:
            yield {
                "_id": each.id,
                "person": each.id,
                "display_name": each.name,
                "name": each.name,
                "number": phone,
                "data1": phone,
                "number_key": "".join(reversed(re.sub(r"\D", "", phone))),
                "label": label,
                "isprimary": 0,
            }


def _people_rows(at: Scene) -> Iterable[Row]:
    for each in contacts(at):
        yield {
            "_id": each.id,
            "display_name": each.name,
            "starred": int(each.starred),
            "has_phone_number": int(bool(each.phones)),
        }


@lru_cache(maxsize=1)
def _empty() -> tuple[Database, Database]:
    people = Database.make(*_CONTACTS_SCHEMA)
    for number, mimetype in _MIMETYPES.items():
        people, _ = people.insert("mimetypes", _id=number, mimetype=mimetype)
    return people, Database.make(*_CALLS_SCHEMA)
