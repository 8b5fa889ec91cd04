"""How a plan finds its way among elements."""

from __future__ import annotations

import json

import pytest

from eapo_gym.envs.osworld.actions import parse_action
from eapo_gym.envs.osworld.elements import Element
from eapo_gym.envs.osworld.own.seeing import NotOnScreen, Seeing


def element(index: int, kind: str, name: str, bounds: tuple[int, int, int, int] = (0, 0, 10, 10)) -> Element:
    return Element(index, bounds, kind, "", name)


def test_clicks_what_has_the_name_and_the_kind() -> None:
    hands = Seeing(
        lambda: [element(0, "label", "OK"), element(1, "push-button", "OK "), element(2, "push-button", "No")]
    )
    assert json.loads(hands.click("OK", "push-button")) == {"action_type": "click", "index": 1}
    assert json.loads(hands.click("/O.|N./", "push-button", -1)) == {"action_type": "click", "index": 2}
    with pytest.raises(NotOnScreen, match=r"""Expected push-button 'Yes'.*label "OK\""""):
        hands.click("Yes", "push-button")


def test_waits_for_what_comes() -> None:
    screen = [element(0, "menu", "File")]
    hands = Seeing(lambda: screen)
    plan = hands.menu("File", "Save")
    assert json.loads(next(plan)) == {"action_type": "click", "index": 0}
    assert json.loads(next(plan)) == {"action_type": "wait"}
    screen.append(element(1, "menu-item", "Save"))
    assert json.loads(next(plan)) == {"action_type": "click", "index": 1}
    assert list(plan) == []


def test_gives_up_waiting() -> None:
    hands = Seeing(list)
    with pytest.raises(NotOnScreen):
        for _ in zip(hands.tap("Never"), range(100), strict=False):
            pass


def test_what_stands_beside_a_label() -> None:
    screen = [
        element(0, "entry", "above", (100, 0, 200, 20)),
        element(1, "entry", "left", (0, 30, 40, 50)),
        element(2, "label", "Rows:", (50, 30, 95, 50)),
        element(3, "entry", "far", (210, 30, 300, 50)),
        element(4, "entry", "near", (100, 30, 200, 50)),
    ]
    assert [json.loads(each) for each in Seeing(lambda: screen).tap_beside("Rows:", "entry")] == [
        {"action_type": "click", "index": 4}
    ]


def test_all_it_says_are_actions() -> None:
    said = [
        Seeing.write("a\n"), Seeing.press("ctrl", "shift", "s"), Seeing.press("tab", times=3), Seeing.wait(),
        Seeing.done(), Seeing.give_up(), Seeing.answer("7"),
    ]  # fmt: skip
    kinds = [parse_action(each).kind for each in said]
    assert kinds == ["inputs", "inputs", "inputs", "wait", "done", "fail", "answer"]
