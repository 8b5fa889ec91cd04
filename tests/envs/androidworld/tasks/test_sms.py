"""When a message counts as sent, and the clipboard as set."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps import messages_storage as storage
from eapo_gym.envs.androidworld.phone.apps.sms_messenger import PACKAGE
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks import supported
from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.clipboard import SystemCopyToClipboard
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.envs.androidworld.tasks.sms import (
    ASKS_AGAIN,
    SimpleSmsReply,
    SimpleSmsReplyMostRecent,
    SimpleSmsResend,
    SimpleSmsSend,
)

WANTED = {"number": "+14155550123", "message": "The key is under the third flower pot."}


def send(phone: Phone, number: str, message: str, kind: int = storage.SENT) -> None:
    phone.change(partial(storage.put, address=number, body=message, kind=kind))


@pytest.mark.parametrize(
    ("number", "message", "kind", "judged"),
    [
        ("+14155550123", "The key is under the third flower pot.", storage.SENT, 1),
        ("+1 415-555-0123", "the key is under the 3rd flower pot", storage.SENT, 1),
        ("4155550123", "The key is under the third flower pot.", storage.SENT, 0),
        ("+14155550124", "The key is under the third flower pot.", storage.SENT, 0),
        ("+14155550123", "The key is under the pot.", storage.SENT, 0),
        ("+14155550123", "The key is under the third flower pot.", storage.FAILED, 0),
        ("+14155550123", "The key is under the third flower pot.", storage.DRAFT, 0),
        ("+14155550123", "The key is under the third flower pot.", storage.RECEIVED, 0),
    ],
)
def test_a_message_must_go_to_the_number(number: str, message: str, kind: int, judged: int) -> None:
    phone, task = new_phone(), SimpleSmsSend()
    task.prepare(phone, WANTED)
    phone.open(PACKAGE)
    assert task.judge(phone, WANTED, "") == 0
    send(phone, number, message, kind)
    assert task.judge(phone, WANTED, "") == judged


def test_it_must_be_new_and_the_messenger_open() -> None:
    phone, task = new_phone(), SimpleSmsSend()
    task.prepare(phone, WANTED)
    send(phone, number=WANTED["number"], message=WANTED["message"])
    assert task.judge(phone, WANTED, "") == 0, "the home screen is in front"
    phone.open(PACKAGE)
    assert task.judge(phone, WANTED, "") == 1
    phone.wait(301)
    assert task.judge(phone, WANTED, "") == 0


@pytest.mark.parametrize("seed", range(6))
def test_messages_come_in_before_one_answers(seed: int) -> None:
    for task in (SimpleSmsReply(), SimpleSmsReplyMostRecent()):
        phone = new_phone()
        params = task.draw(TaskDice(task.name(), seed))
        task.prepare(phone, params)
        rows = phone.change(lambda turn: storage.messages(turn))
        assert 1 <= len(rows) <= 6
        assert {row["type"] for row in rows} == {storage.RECEIVED}
        assert params["number"] in {row["address"] for row in rows}
        if isinstance(task, SimpleSmsReplyMostRecent):
            assert rows[0]["address"] == params["number"]
            assert params["message"] not in {row["body"] for row in rows}


def test_the_same_message_must_be_sent_once_more_and_only_once() -> None:
    task = SimpleSmsResend()
    params: dict[str, Any] = {"name": "Rosa Weber", **WANTED}
    phone = new_phone()
    task.prepare(phone, params)
    assert phone.state.at_home
    assert task.judge(phone, params, "") == 0
    assert phone.change(lambda turn: storage.messages(turn))[0]["body"] == ASKS_AGAIN
    begun = phone.state
    send(phone, params["number"], "Which message?")
    assert task.judge(phone, params, "") == 0
    phone.state = begun
    send(phone, params["number"], params["message"])
    assert task.judge(phone, params, "") == 1, "whatever is open"
    send(phone, params["number"], params["message"])
    assert task.judge(phone, params, "") == 0


def test_the_clipboard_must_hold_the_text() -> None:
    phone, task = new_phone(), SystemCopyToClipboard()
    params = {"clipboard_content": "Oliver's Bike Repair"}
    task.prepare(phone, params)
    for held, judged in (
        ("Oliver's Bike Repair", 1),
        ("olivers bike repair\n", 1),
        ('"Oliver\'s Bike Repair"', 1),
        ("Oliver's", 0),
        ("", 0),
    ):
        phone.state = replace(phone.state, clipboard=held)
        assert task.judge(phone, params, "") == judged


@pytest.mark.parametrize("name", ["SimpleSmsSendReceivedAddress", "SimpleSmsResend", "SimpleSmsSendClipboardContent"])
def test_the_number_alone_is_not_enough(name: str) -> None:
    task = supported()[name]
    hands = Hands(new_phone())
    params = task.draw(TaskDice(name, 1))
    task.prepare(hands.phone, params)
    wrong = {**params, "message": "Something else altogether"}
    for action in SimpleSmsSend().plan(Finger(hands.elements), wrong):
        hands.act(action)
    assert task.judge(hands.phone, params, "") == 0
