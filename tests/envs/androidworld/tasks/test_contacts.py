"""When a contact counts as added, and a form as filled in."""

from __future__ import annotations

from functools import partial

import pytest

from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps.contacts_storage import Contact, save
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.contacts import ContactsAddContact, ContactsNewContactDraft
from eapo_gym.envs.androidworld.tasks.finger import Finger

WANTED = {"name": "Rosa Weber", "number": "+14155550123"}
DRAFT = {"first": "Rosa", "last": "Weber", "phone": "415-555-0123", "phone_label": "Work"}


@pytest.mark.parametrize(
    ("first", "last", "number", "judged"),
    [
        ("Rosa", "Weber", "+14155550123", 1),
        ("Rosa", "Weber", "+1 (415) 555-0123", 1),
        ("rosa", "Weber", "+14155550123", 0),
        ("Rosa", "Webber", "+14155550123", 0),
        ("Rosa", "Weber", "4155550123", 0),
        ("Weber", "Rosa", "+14155550123", 0),
        ("Rosa", "Weber", "", 0),
    ],
)
def test_a_contact_is_added_with_that_name_and_number(first: str, last: str, number: str, judged: int) -> None:
    phone = new_phone()
    task = ContactsAddContact()
    task.prepare(phone, WANTED)
    assert task.judge(phone, WANTED, "") == 0
    phones = ((number, "Mobile"),) if number else ()
    phone.change(partial(save, new=Contact(first=first, last=last, phones=phones)))
    assert task.judge(phone, WANTED, "") == judged


def test_a_contact_in_the_trash_is_none() -> None:
    hands, task = Hands(new_phone()), ContactsAddContact()
    for action in task.plan(Finger(hands.elements), WANTED):
        hands.act(action)
    assert task.judge(hands.phone, WANTED, "") == 1
    finger = Finger(hands.elements)
    for name in ("More options", "Delete"):
        hands.act(finger.tap(name))
    hands.act(finger.tap("Delete", kind="Button"))
    assert task.judge(hands.phone, WANTED, "") == 0


@pytest.mark.parametrize(
    ("written", "judged"),
    [
        ({}, 1),
        ({"first": "Roza"}, 0),
        ({"first": "rosa"}, 1),
        ({"last": "Wever"}, 0),
        ({"phone": "415 555 0123"}, 1),
        ({"phone": "415-555-0124"}, 0),
        ({"phone_label": "Home"}, 0),
    ],
)
def test_the_form_must_show_what_was_asked_for(written: dict[str, str], judged: int) -> None:
    hands, task = Hands(new_phone()), ContactsNewContactDraft()
    for action in task.plan(Finger(hands.elements), {**DRAFT, **written}):
        hands.act(action)
    assert task.judge(hands.phone, DRAFT, "") == judged


def test_a_form_that_was_saved_is_no_draft() -> None:
    hands, task = Hands(new_phone()), ContactsNewContactDraft()
    for action in task.plan(Finger(hands.elements), DRAFT):
        hands.act(action)
    hands.act(Finger(hands.elements).tap("Save"))
    assert task.judge(hands.phone, DRAFT, "") == 0


def test_names_and_numbers_are_drawn_from_many() -> None:
    drawn = [ContactsAddContact().draw(TaskDice("many", seed)) for seed in range(50)]
    assert len({each["name"] for each in drawn}) > 40
    assert len({each["number"] for each in drawn}) == 50
    assert all(len(each["number"]) == 12 and each["number"].startswith("+1") for each in drawn)
