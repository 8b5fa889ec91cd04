from __future__ import annotations

import json

import pytest

from eapo_gym.envs.osworld.actions import EXAMPLES, inverse, parse_action


def ways(text: str) -> list[str]:
    return inverse(parse_action(text))


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_way_back_is_an_action_in_the_same_language_and_written_as_we_write_it(text: str) -> None:
    parsed = parse_action(text)
    for way in inverse(parsed):
        back = parse_action(way)
        assert (back.language, back.command()) == (parsed.language, way)


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ('{"action_type": "scroll", "direction": "down", "index": 3}', ["scroll", "up", 3]),
        ('{"action_type": "input_text", "text": "a"}', ["hotkey", "ctrl+z"]),
        ('{"action_type": "hotkey", "keys": "alt+left"}', ["hotkey", "alt+right"]),
        ('{"action_type": "press_key", "key": "down"}', ["hotkey", "up"]),
        ('{"action_type": "navigate_home"}', ["hotkey", "win+d"]),
        ('{"action_type": "click", "index": 3}', ["hotkey", "esc"]),
        ('{"action_type": "open_app", "app_name": "Files"}', ["hotkey", "alt+f4"]),
        ('{"action_type": "drag", "index": 1, "to_x": 5, "to_y": 6}', ["drag", 5, 6, 1]),
    ],
)
def test_the_best_way_back(text: str, best: list[object]) -> None:
    assert list(json.loads(ways(text)[0]).values()) == best


def test_the_wheel_is_turned_back_in_every_language() -> None:
    assert ways("pyautogui.scroll(-1000)\npyautogui.scroll(-1000)\npyautogui.hscroll(2)") == [
        "pyautogui.hscroll(-2)\npyautogui.scroll(1000)\npyautogui.scroll(1000)"
    ]
    back = ways('{"action_type": "SCROLL", "dx": 1, "dy": -5}')
    assert [json.loads(way)["parameters"] for way in back] == [{"dx": -1, "dy": 5}]
    assert ways("pyautogui.scroll(0)") == []


def test_a_click_may_be_undone_by_itself() -> None:
    text = "pyautogui.click(5, 6)"
    assert text in ways(text)
    assert "pyautogui.hotkey('alt', 'left')" in ways(text)


@pytest.mark.parametrize("text", ["WAIT", "DONE", "FAIL", '{"action_type": "answer", "text": "42"}', "time.sleep(1)"])
def test_what_changes_nothing_has_no_way_back(text: str) -> None:
    assert ways(text) == []
