"""Tasks about text messages: to write to somebody, to answer, to send something again or on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.app import Intent, Turn
from eapo_gym.envs.androidworld.phone.apps import clipper, contacts_storage, messages_storage
from eapo_gym.envs.androidworld.phone.apps.contacts_storage import Contact
from eapo_gym.envs.androidworld.phone.apps.sms_messenger import MESSAGE_HINTS, NUMBER_HINTS, PACKAGE, SEND, START_NAMES
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.phone import KEY_HOME, Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.people import draw_message, draw_name, draw_number
from eapo_gym.envs.androidworld.tasks.rows import are_alike

APP = "Simple SMS Messenger"
RECENT_MILLISECONDS = 5 * 60 * 1000
"""A message counts if it was sent no longer ago."""

ADDRESSES = (
    "14 Harbor Rd, Portland, ME, 04101",
    "2207 Juniper Ave, Boulder CO 80304",
    "58 W Canal St, Milwaukee, WI, 53233",
    "331 Fig Tree Ln, Fresno, CA, 93702",
    "9 Chapel Sq Concord, NH, 03301",
    "1720 S Lamar Blvd, Austin TX 78704",
    "406 Mill Pond Dr, Athens, GA, 30606",
    "75 Orchard Ct Boise, ID, 83702",
)
ASKS_AGAIN = "Something swallowed your last message here. Can you send it once more?"


class _Send(Task):
    """A message is to go to a number."""

    complexity = 1.2
    difficulty = "medium"
    apps: ClassVar[tuple[str, ...]] = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"number": draw_number(dice), "message": draw_message(dice)}

    def prepare(self, phone: Phone, params: Params) -> None:
        """No messages but those that came in before, each from a number."""
        phone.state = phone.state.with_setting("global", "airplane_mode_on", "0")
        phone.clear(messages_storage.PACKAGE)
        for sender, message in params.get("came_in", ()):
            _comes_in(phone, sender, message)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        """It was sent just now, and the messenger is still open."""
        now = int(phone.state.now) * 1000
        sent = any(
            _is_that(row, params["number"], params["message"]) and now - _date(row) <= RECENT_MILLISECONDS
            for row in _sent(phone)
        )
        return float(sent and phone.state.front.package == PACKAGE)


class SimpleSmsSend(_Send):
    template = "Send a text message using Simple SMS Messenger to {number} with message: {message}"

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _write_to_number(finger, params["number"])
        yield from _send(finger, params["message"])


class SimpleSmsReply(_Send):
    template = "Reply to {number} with message: {message} in Simple SMS Messenger"
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        came_in = [(draw_number(dice), draw_message(dice)) for _ in range(dice.between(1, 5))]
        place = next((place for place in range(len(came_in)) if dice.chance(0.5)), len(came_in))
        came_in.insert(place, (params["number"], draw_message(dice)))
        return {**params, "came_in": came_in}

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_conversation(finger, params["number"])
        yield from _send(finger, params["message"])


class SimpleSmsReplyMostRecent(_Send):
    template = "Reply to the most recent text message using Simple SMS Messenger with message: {message}"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        others = [(draw_number(dice), self._other(dice, params)) for _ in range(dice.between(0, 5))]
        return {**params, "came_in": [*others, (params["number"], self._other(dice, params))]}

    def _other(self, dice: TaskDice, params: Params) -> str:
        return draw_message(dice, but=params["message"])

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_conversation(finger, params["number"])
        yield from _send(finger, params["message"])


class SimpleSmsResend(_Send):
    template = "Resend the message I just sent to {name} in Simple SMS Messenger"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"name": draw_name(dice), **super().draw(dice)}

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        number = params["number"]
        _add_contact(phone, params["name"], number)
        _begin_conversation(phone, number)
        phone.change(partial(messages_storage.put, address=number, body=params["message"], kind=messages_storage.SENT))
        phone.wait(3.0)
        _comes_in(phone, number, ASKS_AGAIN)
        phone.key(KEY_HOME)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        """One message more was sent, and it is the same; whichever app is open."""
        sent = _sent(phone)
        return float(len(sent) == 2 and _is_that(sent[0], params["number"], params["message"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_conversation(finger, params["name"])
        yield finger.hold(params["message"])
        yield finger.tap("Copy to clipboard")
        yield from _paste_and_send(finger)


class SimpleSmsSendClipboardContent(_Send):
    template = "Send a message to {number} with the clipboard content in Simple SMS Messenger"
    difficulty = "easy"
    apps = (PACKAGE, clipper.PACKAGE)

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        phone.state = replace(phone.state, clipboard=params["message"])

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _write_to_number(finger, params["number"])
        yield from _paste_and_send(finger)


class SimpleSmsSendReceivedAddress(_Send):
    template = "Text the address of the event to {name1} that {name2} just sent me in Simple SMS Messenger"
    complexity = 1.8

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        name = draw_name(dice)
        other = draw_name(dice)
        while other == name:
            other = draw_name(dice)
        return {
            "name1": name,
            "number": draw_number(dice),
            "name2": other,
            "number2": draw_number(dice),
            "message": dice.pick(ADDRESSES),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        _add_contact(phone, params["name1"], params["number"])
        _add_contact(phone, params["name2"], params["number2"])
        _comes_in(phone, params["number2"], params["message"])

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _open_conversation(finger, params["name2"])
        yield finger.hold(params["message"])
        yield finger.tap("Copy to clipboard")
        yield finger.tap("Navigate up")
        yield finger.tap(any_of(START_NAMES))
        yield finger.write(params["name1"], into=any_of(NUMBER_HINTS))
        yield finger.tap(params["name1"], kind="TextView")
        yield from _paste_and_send(finger)


def _comes_in(phone: Phone, sender: str, message: str) -> None:
    """A message from the network."""
    phone.change(partial(messages_storage.put, address=sender, body=message, kind=messages_storage.RECEIVED))


def _add_contact(phone: Phone, name: str, number: str) -> None:
    first, middle, last = contacts_storage.split_name(name)
    new = Contact(first=first, middle=middle, last=last, phones=((number, "Mobile"),))
    phone.change(partial(contacts_storage.save, new=new))


def _begin_conversation(phone: Phone, number: str) -> None:
    phone.ask(Intent("android.intent.action.SENDTO", f"sms:{number}"))


def _sent(phone: Phone) -> list[Row]:
    """What was sent, the latest first."""

    def found(turn: Turn) -> list[Row]:
        return [row for row in messages_storage.messages(turn) if row["type"] == messages_storage.SENT]

    rows: list[Row] = phone.change(found)
    return rows


def _is_that(row: Row, number: str, message: str) -> bool:
    """A number may be written with blanks and dashes."""
    written = str(row["address"]).replace("-", "").replace(" ", "")
    return written == number and are_alike(row["body"], message)


def _date(row: Row) -> int:
    return messages_storage.date(row)


# How somebody does it


def _open_conversation(finger: Finger, name: str) -> Plan:
    yield from finger.begin(APP)
    yield from finger.scroll_to(name)
    yield finger.tap(name)


def _write_to_number(finger: Finger, number: str) -> Plan:
    yield from finger.begin(APP)
    yield finger.tap(any_of(START_NAMES))
    yield finger.write(number, into=any_of(NUMBER_HINTS))
    yield finger.tap("OK")


def _send(finger: Finger, message: str) -> Plan:
    yield finger.write(message, into=any_of(MESSAGE_HINTS))
    yield finger.tap(SEND)
    yield finger.done()


def _paste_and_send(finger: Finger) -> Plan:
    [message] = finger.fields(any_of(MESSAGE_HINTS))
    yield Action("long_press", index=message.index)
    yield finger.tap("Paste")
    yield finger.tap(SEND)
    yield finger.done()


TASKS = (
    SimpleSmsReply,
    SimpleSmsReplyMostRecent,
    SimpleSmsResend,
    SimpleSmsSend,
    SimpleSmsSendClipboardContent,
    SimpleSmsSendReceivedAddress,
)
