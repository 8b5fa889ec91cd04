"""Clipper: the clipboard, seen, set and told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps import clipper
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.tasks.finger import Finger


@pytest.fixture
def hands() -> Hands:
    hands = Hands(new_phone())
    hands.act(Finger.open("Clipper"))
    return hands


def ask(hands: Hands, *words: str) -> str:
    return hands.adb.run(["shell", "am", "broadcast", *words]).decode()


def test_a_broadcast_sets_and_tells_the_clipboard_while_the_app_is_in_front(hands: Hands) -> None:
    assert "result=-1" in ask(hands, "-a", "clipper.set", "-e", "text", "It\\'s\\ \\#1")
    assert hands.phone.state.clipboard == "It's #1"
    assert 'result=-1, data="It\'s #1"' in ask(hands, "-a", "clipper.get")
    hands.act(Finger.back())
    assert "result=0" in ask(hands, "-a", "clipper.get")
    assert "result=0" in ask(hands, "-a", "clipper.set", "-e", "text", "other")
    assert hands.phone.state.clipboard == "It's #1"


@pytest.mark.parametrize("said", ["plain", 'O\'Neil & "sons"; $HOME', "🎂 äöü", "two  blanks"])
def test_what_is_written_is_copied_and_remembered(hands: Hands, said: str) -> None:
    finger = Finger(hands.elements)
    hands.act(finger.write(said, into="Text to copy"))
    assert hands.phone.state.clipboard == said
    hands.act(finger.tap("Clear clipboard"))
    assert hands.phone.state.clipboard == ""
    assert finger.sees("The clipboard is empty")
    hands.act(finger.tap(" ".join(said.split())))
    assert hands.phone.state.clipboard == said
    hands.act(finger.tap("Forget all"))
    assert not finger.sees("Copied before")


def test_a_spoilt_history_is_no_history(hands: Hands) -> None:
    state = hands.phone.state
    for spoilt in (b"{", b'{"a": 1}', b"\xff\xfe"):
        hands.phone.state = replace(state, files=state.files.write(clipper.HISTORY, spoilt, state.now))
        assert not Finger(hands.elements).sees("Copied before")


def test_text_of_a_field_is_copied_and_pasted_with_the_finger(hands: Hands) -> None:
    finger = Finger(hands.elements)
    hands.act(Action("click", index=finger.fields("Text to copy")[0].index))
    hands.phone.type("by hand")
    hands.act(finger.hold("by hand"))
    hands.act(finger.tap("Select all"))
    hands.act(finger.tap("Copy", kind="Button", number=1))
    assert hands.phone.state.clipboard == "by hand"
