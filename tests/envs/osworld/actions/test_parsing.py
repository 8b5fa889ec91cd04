from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.actions import EXAMPLES as ANDROID_EXAMPLES
from eapo_gym.envs.osworld.actions import EXAMPLES, Parsed, parse_action
from eapo_gym.envs.osworld.inputs import KeyDown, KeyUp, Move, MoveBy, Pause, Press, Release, Wheel, Write
from eapo_gym.errors import ActionError

SIZE = (1920, 1080)


@dataclass(frozen=True)
class Element:
    bounds: tuple[int, int, int, int]


ELEMENTS = [Element((100 * n, 0, 100 * n + 100, 40)) for n in range(20)]


def inputs(text: str) -> tuple[Any, ...]:
    return parse_action(text, SIZE).inputs(ELEMENTS, SIZE)


def js(action_type: str, **fields: Any) -> str:
    return json.dumps({"action_type": action_type, **fields})


def keys(*names: str) -> tuple[Any, ...]:
    return (*map(KeyDown, names), *map(KeyUp, reversed(names)))


CLICK = (Press("left"), Release("left"))


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_actions_whose_command_is_the_same_action(text: str) -> None:
    parsed = parse_action(text, SIZE)
    assert parse_action(parsed.command(), SIZE) == parsed
    parsed.inputs(ELEMENTS, SIZE)


@pytest.mark.parametrize("text", ANDROID_EXAMPLES)
def test_what_the_phone_understands_is_understood_here(text: str) -> None:
    parsed = parse_action(text)
    assert json.loads(parsed.command()) == json.loads(text)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            [
                js("click", index=3),
                js("click", x=350, y=20),
                js("click", x="350", y=20.7),
                js("CLICK", parameters={"x": 350, "y": 20}),
                js("CLICK", x=350, y=20, button="left", num_clicks=1),
                "pyautogui.click(350, 20)",
                "pyautogui.click(x=350, y=20)",
                "import pyautogui; pyautogui.click(y=20.0, x=300 + 50)",
                "```python\nimport pyautogui as gui\ngui.leftClick((350, 20))  # there\n```",
                '```json\n{"action_type": "click", "index": 3}\n```',
                "{action_type: click, index: 3}",
            ],
            (Move(350, 20), *CLICK),
        ),
        (
            [
                js("double_click", index=0),
                js("double_tap", index=0),
                js("DOUBLE_CLICK", x=50, y=20),
                js("CLICK", x=50, y=20, num_clicks=2),
                "pyautogui.doubleClick(50, 20)",
                "pyautogui.click(50, 20, 2)",
                "pyautogui.click(50, 20, clicks=2, button=pyautogui.PRIMARY)",
            ],
            (Move(50, 20), *CLICK, *CLICK),
        ),
        (
            [
                js("right_click", x=5, y=6),
                js("long_press", x=5, y=6),
                js("RIGHT_CLICK", x=5, y=6),
                "pyautogui.rightClick(5, 6)",
                "pyautogui.click(5, 6, button='right')",
            ],
            (Move(5, 6), Press("right"), Release("right")),
        ),
        (
            [
                js("hotkey", keys="Ctrl+S"),
                js("hotkey", keys=["ctrl", "s"]),
                js("press_key", key="control + s"),
                js("HOTKEY", keys=["ctrl", "s"]),
                "pyautogui.hotkey('ctrl', 's')",
                "pyautogui.hotkey(['ctrl', 's'])",
            ],
            keys("ctrl", "s"),
        ),
        (
            [
                js("keyboard_enter"),
                js("press_key", key="Enter"),
                js("press_keyboard", keycode="KEYCODE_ENTER"),
                js("PRESS", key="enter"),
                "pyautogui.press('enter')",
                "pyautogui.write(['enter'])",
            ],
            keys("enter"),
        ),
        (
            [
                js("input_text", text="a\nб"),
                js("TYPING", text="a\nб"),
                "pyautogui.write('a\\nб', interval=0.1)",
                "pyautogui.typewrite('''a\nб''')",
                "pyautogui.write(message='a' '\\nб')",
            ],
            (Write("a\nб"),),
        ),
        (
            [js("drag", index=0, to_x=9, to_y=8), "pyautogui.moveTo(50, 20); pyautogui.dragTo(9, 8)"],
            (Move(50, 20), Press("left"), Move(9, 8, 0.5), Release("left")),
        ),
        ([js("DRAG_TO", x=9, y=8), "pyautogui.dragTo(9, 8)"], (Press("left"), Move(9, 8, 0.5), Release("left"))),
        ([js("SCROLL", dx=0, dy=-3), "pyautogui.scroll(-3)"], (Wheel(0, -3),)),
        ([js("SCROLL", dx=4), "pyautogui.hscroll(4)"], (Wheel(4, 0),)),
        (
            [js("scroll", direction="down"), js("swipe", direction="up"), "pyautogui.scroll(-5, 960, 540)"],
            (Move(960, 540), Wheel(0, -5)),
        ),
        ([js("scroll", direction="left", index=1, clicks=2)], (Move(150, 20), Wheel(-2, 0))),
        ([js("navigate_back"), js("press_keyboard", keycode="KEYCODE_BACK"), js("press_key", key="esc")], keys("esc")),
        ([js("navigate_home"), js("hotkey", keys="super+d")], keys("win", "d")),
    ],
)
def test_the_same_action_in_every_language_moves_the_same_hands(texts: list[str], expected: tuple[Any, ...]) -> None:
    assert {text: inputs(text) for text in texts} == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            js("input_text", text="new", index=0, clear_text=True),
            (Move(50, 20), *CLICK, *keys("ctrl", "a"), Write("new")),
        ),
        (js("input_text", text="", clear_text="true"), (*keys("ctrl", "a"), *keys("delete"))),
        (js("press_key", key="down", times=2), keys("down") * 2),
        (js("hotkey", keys="ctrl++"), keys("ctrl", "+")),
        (js("press_key", key="+"), keys("+")),
        (js("press_key", key="S"), keys("S")),
        (js("KEY_DOWN", key="shift"), (KeyDown("shift"),)),
        (js("MOUSE_UP"), (Release("left"),)),
        (js("CLICK"), CLICK),
        ("pyautogui.move(-5, yOffset=3)", (MoveBy(-5, 3),)),
        ("pyautogui.moveRel(None, 7, duration=1)", (MoveBy(0, 7, 1.0),)),
        ("pyautogui.drag(10, 0, 0.2)", (Press("left"), MoveBy(10, 0, 0.2), Release("left"))),
        ("pyautogui.drag(0, 0)", ()),
        ("pyautogui.dragTo(1, 2, duration=1, button='middle', mouseDownUp=False)", (Move(1, 2, 1.0),)),
        ("pyautogui.click(1, 2, clicks=2, interval=0.3)", (Move(1, 2), *CLICK, Pause(0.3), *CLICK)),
        ("pyautogui.mouseDown(1, 2, 'right')", (Move(1, 2), Press("right"))),
        ("pyautogui.press(['a', 'B'], 2, 0.5)", (*keys("a"), *keys("B"), Pause(0.5), *keys("a"), *keys("B"))),
        ("import time; time.sleep(1); pyautogui.sleep(2)", (Pause(1.0), Pause(2.0))),
        (r"pyautogui.write('\d\\d\x41')", (Write(r"\d\dA"),)),
        (r"pyautogui.write(r'C:\new')", (Write(r"C:\new"),)),
        ("pyautogui.write('')", ()),
    ],
)
def test_what_hands_do(text: str, expected: tuple[Any, ...]) -> None:
    assert inputs(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("WAIT", "wait", ""),
        ("  DONE\n", "done", ""),
        ("```\nFAIL\n```", "fail", ""),
        (js("WAIT"), "wait", ""),
        (js("DONE", parameters={}), "done", ""),
        (js("wait"), "wait", ""),
        (js("status", goal_status="complete"), "done", ""),
        (js("status", goal_status="infeasible"), "fail", ""),
        (js("answer", text=42), "answer", "42"),
        (js("open_app", app_name="Files"), "open_app", "Files"),
    ],
)
def test_what_is_for_the_environment(text: str, kind: str, said: str) -> None:
    parsed = parse_action(text)
    assert (parsed.kind, parsed.said, parsed.inputs([], SIZE)) == (kind, said, ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "The action is empty"),
        ("Click on the button", "Expected a JSON action, pyautogui code, or one of WAIT, DONE and FAIL, got 'Click on"),
        ("done", "one of WAIT, DONE and FAIL, got 'done'"),
        (js("clik", index=1), "action_type: expected one of click, .* got 'clik'. Did you mean 'click'"),
        (js("click"), "click needs either index, or x and y"),
        (js("click", index=1, x=1, y=2), "click needs either index, or x and y"),
        (js("drag", index=1, to_x=3), "drag needs either to_index, or to_x and to_y"),
        (js("click", index=True), "index: expected a number"),
        (js("click", index=10**30), "got a number of more than 20 digits"),
        (js("press_key", key="entre"), "There is no key 'entre': did you mean 'enter'"),
        (js("press_key", key="é"), "There is no key 'é'"),
        (js("hotkey", keys=list("abcdefgh")), "Expected 1 to 6 keys at once, got 7"),
        (js("hotkey", keys={"a": 1}), "Expected keys such as 'ctrl\\+s', got {'a': 1}"),
        (js("press_keyboard", keycode="KEYCODE_ENTRE"), "did you mean 'KEYCODE_ENTER'"),
        (js("input_text", text="\x1b[A"), "The text holds '\\\\x1b', which no key writes"),
        (js("input_text", text="\ud800"), "The text holds '\\\\ud800'"),
        (js("input_text", text="x" * 10_001), "types 10001 characters: expected at most 10000"),
        (js("open_app", app_name=" "), "app_name: expected the name of an app"),
        (js("CLICK", index=3), "CLICK says button, x, y, num_clicks, and got 'index'"),
        (js("CLICK", x=3), "CLICK needs both x and y"),
        (js("CLICK", x=3, y=4, button="up"), "button: expected one of left, middle, right, got 'up'"),
        (js("CLICK", parameters=[1, 2]), "parameters: expected an object"),
        (js("SCROLL"), "SCROLL needs dx or dy"),
        (js("HOTKEY", keys="ctrl+s"), "keys: expected a list of keys"),
        ("pyautogui.hotkey('ctrl+s')", "There is no key 'ctrl\\+s'"),
        ("pyautogui.clik(1, 2)", "pyautogui.clik is no action: did you mean pyautogui.click"),
        ("pyautogui.click(1)", "pyautogui.click needs both x and y"),
        ("pyautogui.click('ok.png')", "x|both x and y"),
        ("pyautogui.click('ok.png', 2)", "x: expected a number, got 'ok.png'"),
        ("pyautogui.click(1, 2, tween=None, logScreenshot=True)", "logScreenshot has no meaning here"),
        ("pyautogui.click(1, 2, x=3)", "has no place for 'x'"),
        ("pyautogui.moveTo()", "moveTo needs x"),
        ("pyautogui.press('enter', presses=10**9)", "expected a literal value"),
        ("pyautogui.press('enter', presses=1000)", "presses: expected a number from 1 to 100"),
        ("pyautogui.scroll(-5000)", "clicks: expected a number from -1000 to 1000"),
        ("time.sleep(3600)", "seconds: expected 0 to 30 seconds"),
        ("\n".join(["time.sleep(30)"] * 3), "An action of 90 seconds: expected at most 60"),
        ("\n".join(["pyautogui.press('a', 100)"] * 20), "movements: expected at most 2000"),
        ("pyautogui.click(1, 2)\nDONE", "The code says 'DONE': expected calls alone"),
        ("import pyautogui", "Expected a JSON action, pyautogui code"),
        ("```\nDONE\n```\n```\nDONE\n```", "Expected one action, with one fence"),
        ("pyautogui.click(1920, 0)", r"\(1920, 0\) is off the screen: x goes up to 1919, y up to 1079"),
        (js("drag", index=0, to_x=5, to_y=1080), r"\(5, 1080\) is off the screen"),
    ],
)
def test_what_is_no_action_is_told_in_a_sentence_with_a_right_one(text: str, said: str) -> None:
    with pytest.raises(ActionError, match=said) as found:
        parse_action(text, SIZE)
    assert "\n" not in str(found.value)
    assert parse_action(str(found.value.example))


def test_elements_are_looked_up_when_the_action_is_carried_out() -> None:
    parsed = parse_action(js("click", index=7))
    with pytest.raises(ActionError, match=r"There is no element 7: the screen has the elements 0 to 5\."):
        parsed.inputs(ELEMENTS[:6], SIZE)
    with pytest.raises(ActionError, match=r"There is no element 7: the screen has no elements\."):
        parsed.inputs([], SIZE)
    half_seen = [*ELEMENTS[:7], Element((1900, 1000, 2100, 1300))]
    assert parsed.inputs(half_seen, SIZE)[0] == Move(1910, 1040)
    with pytest.raises(ActionError, match="Element 7 is off the screen"):
        parsed.inputs([*ELEMENTS[:7], Element((1920, 0, 2000, 50))], SIZE)


# Anything at all

PLAIN = st.none() | st.booleans() | st.floats() | st.integers() | st.text()
NAMES = [
    "index",
    "x",
    "y",
    "to_index",
    "to_x",
    "to_y",
    "text",
    "keys",
    "key",
    "times",
    "clicks",
    "direction",
    "dx",
    "dy",
]
NAMES += ["keycode", "app_name", "goal_status", "clear_text", "button", "num_clicks", "parameters"]
KINDS = sorted({json.loads(each)["action_type"] for each in EXAMPLES if each.startswith("{")})
LIKELY = st.sampled_from(
    [0, 3, 2.5, "4", "ctrl+s", "enter", "+", "down", "complete", "left", ["ctrl", "+"], ["+", "a"]]
)


def is_told_or_read_again(text: str) -> Parsed | None:
    try:
        parsed = parse_action(text)
    except ActionError:
        return None
    assert parse_action(parsed.command()) == parsed
    return parsed


@given(
    st.sampled_from(KINDS) | PLAIN,
    st.dictionaries(
        st.sampled_from(NAMES) | st.text(max_size=3),
        LIKELY | st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=5),
        max_size=4,
    ),
)
def test_any_object_is_an_action_or_refused(kind: Any, fields: dict[str, Any]) -> None:
    is_told_or_read_again(json.dumps({"action_type": kind, **fields}))


@given(st.text() | st.text(alphabet="pyautogui.click()[]{}'\"\\\n ,=;:-+*0123xyf#`"))
def test_any_text_is_an_action_or_refused(text: str) -> None:
    is_told_or_read_again(text)


@given(
    st.sampled_from(["click", "moveTo", "write", "press", "hotkey", "scroll", "dragTo", "drag", "keyDown", "sleep"]),
    st.lists(LIKELY | PLAIN | st.lists(st.text(max_size=2), max_size=3), max_size=4),
    st.dictionaries(st.sampled_from(["x", "y", "clicks", "interval", "duration", "button", "presses"]), LIKELY | PLAIN),
)
def test_any_call_is_an_action_or_refused(name: str, given: list[Any], named: dict[str, Any]) -> None:
    said = [repr(each) for each in given] + [f"{each}={value!r}" for each, value in named.items()]
    is_told_or_read_again(f"pyautogui.{name}({', '.join(said)})")


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])))
def test_a_text_is_typed_as_it_is_in_every_language(text: str) -> None:
    expected = (Write(text),) if text else ()
    for written in (js("input_text", text=text), js("TYPING", text=text), f"pyautogui.write({text!r})"):
        parsed = is_told_or_read_again(written)
        assert parsed is not None
        assert parsed.inputs([], SIZE) == expected
