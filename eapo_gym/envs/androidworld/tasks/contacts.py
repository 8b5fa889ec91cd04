"""Tasks about contacts: to add one, and to fill in the form for one."""

from __future__ import annotations

import re
from typing import Any

from eapo_gym.envs.androidworld.phone.apps import contacts_storage
from eapo_gym.envs.androidworld.phone.apps.contacts import CREATE_NAMES, PACKAGE, SAVE_NAMES
from eapo_gym.envs.androidworld.phone.phone import Node, Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.people import FAMILY_NAMES, GIVEN_NAMES, draw_name, draw_number
from eapo_gym.envs.androidworld.tasks.rows import are_alike


class ContactsAddContact(Task):
    template = "Create a new contact for {name}. Their number is {number}."
    complexity = 1.2
    difficulty = "easy"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"name": draw_name(dice), "number": draw_number(dice)}

    def prepare(self, phone: Phone, params: Params) -> None:
        phone.clear(contacts_storage.PACKAGE)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        rows = phone.change(lambda turn: contacts_storage.contacts(turn))
        found = {(each.name, _digits(number)) for each in rows for number, _ in each.phones}
        return float((params["name"], _digits(params["number"])) in found)

    def plan(self, finger: Finger, params: Params) -> Plan:
        first, _, last = params["name"].rpartition(" ")
        yield from _to_new_contact(finger)
        yield finger.write(first, into="First name")
        yield finger.write(last, into="Last name")
        yield finger.write(params["number"], into="Phone")
        yield finger.tap(any_of(SAVE_NAMES))
        yield finger.done()


class ContactsNewContactDraft(Task):
    template = (
        "Go to the new contact screen and enter the following details: First Name: {first}, Last Name: {last}, "
        "Phone: {phone}, Phone Label: {phone_label}. Do NOT hit save."
    )
    complexity = 1.2
    difficulty = "easy"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        parts = dice.between(100, 999), dice.between(100, 999), dice.between(1000, 9999)
        return {
            "first": dice.pick(GIVEN_NAMES),
            "last": dice.pick(FAMILY_NAMES),
            "phone": "-".join(map(str, parts)),
            "phone_label": dice.pick(("Home", "Work")),
        }

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        """What is asked for must be seen in the form."""
        nodes = [node for node in phone.nodes() if not node.has_children or node.view.desc or node.view.scroll]
        numbers = [node for node in nodes if _is_number(node, params["phone"])]
        done = (
            any(_is_name(node, "First name", params["first"]) for node in nodes)
            and any(_is_name(node, "Last name", params["last"]) for node in nodes)
            and any(_is_label(node, params["phone_label"], numbers) for node in nodes)
            and bool(numbers)
        )
        return float(done)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _to_new_contact(finger)
        yield finger.write(params["first"], into="First name")
        yield finger.write(params["last"], into="Last name")
        yield finger.write(params["phone"], into="Phone")
        if finger.sees("Space"):
            # The keyboard goes first; without it the whole form is on the screen.
            yield finger.back()
        yield finger.tap("Mobile Phone")
        yield finger.tap(params["phone_label"], kind="RadioButton")
        yield finger.done()


def _to_new_contact(finger: Finger) -> Plan:
    yield from finger.begin("Contacts")
    if finger.sees("Contacts"):
        yield finger.tap("Contacts")
    yield finger.tap(any_of(CREATE_NAMES))


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _is_name(node: Node, hint: str, name: str) -> bool:
    return node.view.hint == hint and bool(node.text) and are_alike(node.text, name)


def _is_number(node: Node, number: str) -> bool:
    return node.view.hint == "Phone" and bool(node.text) and _digits(node.text) == _digits(number)


def _is_label(node: Node, label: str, numbers: list[Node]) -> bool:
    """A label tells that it belongs to a phone number, or stands right below one."""
    if node.text != label:
        return False
    return node.view.desc == f"{label} Phone" or any(_is_below(node, number) for number in numbers)


def _is_below(node: Node, number: Node) -> bool:
    _, top, _, bottom = number.bounds
    return bottom <= node.bounds[1] <= bottom + (bottom - top)


TASKS = (ContactsAddContact, ContactsNewContactDraft)
