from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.osworld.actions import parse_action, to_pyautogui
from eapo_gym.envs.osworld.actions.keys import KEYSYMS
from eapo_gym.envs.osworld.actions.writing import PRELUDE
from eapo_gym.envs.osworld.inputs import (
    BUTTONS,
    Input,
    KeyDown,
    KeyUp,
    Move,
    MoveBy,
    Pause,
    Press,
    Release,
    Wheel,
    Write,
)

SIZE = (1920, 1080)
SECONDS = st.floats(0, 2)
BUTTON = st.sampled_from(BUTTONS)
KEY = st.sampled_from(sorted(set(KEYSYMS) - {"<"}))
USUAL = "".join(chr(code) for code in range(32, 127) if chr(code) != "<") + "\n\t"

INPUTS = st.one_of(
    st.builds(Move, st.integers(0, 1919), st.integers(0, 1079), SECONDS),
    st.builds(MoveBy, st.integers(-500, 500), st.integers(-500, 500), SECONDS),
    st.builds(Press, BUTTON),
    st.builds(Release, BUTTON),
    st.builds(Wheel, st.integers(-9, 9), st.just(0)).filter(lambda wheel: bool(wheel.dx)),
    st.builds(Wheel, st.just(0), st.integers(-9, 9)).filter(lambda wheel: bool(wheel.dy)),
    st.builds(KeyDown, KEY),
    st.builds(KeyUp, KEY),
    st.builds(Write, st.text(alphabet=USUAL, min_size=1)),
    st.builds(Pause, SECONDS),
)


@given(st.lists(INPUTS, min_size=1, max_size=20))
def test_what_is_written_is_read_as_the_same_inputs(inputs: list[Input]) -> None:
    program = to_pyautogui(inputs)
    assert program.startswith(PRELUDE)
    assert parse_action(program.removeprefix(PRELUDE), SIZE).inputs([], SIZE) == tuple(inputs)


@given(st.lists(st.builds(Write, st.text()) | INPUTS, max_size=5))
def test_the_program_is_calls_with_literals_whatever_is_typed(inputs: list[Input]) -> None:
    program = to_pyautogui(inputs)
    assert program.isascii()
    written = [
        ast.literal_eval(statement.value.args[0])
        for statement in ast.parse(program).body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if ast.unparse(statement.value.func) in ("pyautogui.write", "type_text")
    ]
    assert written == [each.text for each in inputs if isinstance(each, Write)]


def test_a_wheel_that_turns_both_ways_is_two_calls() -> None:
    program = to_pyautogui([Wheel(2, -3)])
    assert program == PRELUDE + "pyautogui.hscroll(2)\npyautogui.scroll(-3)\n"


def test_less_than_is_pressed_as_shift_and_comma() -> None:
    program = to_pyautogui([KeyDown("<"), KeyUp("<")]).removeprefix(PRELUDE)
    assert parse_action(program, SIZE).inputs([], SIZE) == (
        KeyDown("shift"),
        KeyDown(","),
        KeyUp(","),
        KeyUp("shift"),
    )


FAKE_PYAUTOGUI = """
said = []
def write(text, _pause=True):
    said.append(text)
"""

FAKE_XLIB = {
    "__init__.py": "",
    "X.py": "KeyPress, KeyRelease = 2, 3",
    "ext/__init__.py": "",
    "ext/xtest.py": """
import pyautogui
def fake_input(display, kind, key):
    symbols = set(display.rows[key])
    assert len(symbols) == 1 and symbols != {0}, "the key has no meaning"
    if kind == 2:
        symbol = symbols.pop()
        pyautogui.said.append(chr(symbol if symbol < 256 else symbol - 0x1000000))
""",
    "display.py": """
import atexit
from types import SimpleNamespace
class Display:
    # Keys 8 and 11 are in use, 9, 10 and 12 are spare.
    def __init__(self):
        self.rows = {8: [97, 65], 9: [0, 0], 10: [0, 0], 11: [98, 66], 12: [0, 0]}
        self.before = {key: list(row) for key, row in self.rows.items()}
        self.display = SimpleNamespace(info=SimpleNamespace(min_keycode=8, max_keycode=12))
    def get_keyboard_mapping(self, first, count):
        return [list(self.rows[key]) for key in range(first, first + count)]
    def change_keyboard_mapping(self, key, rows):
        assert key in (9, 10, 12), "a key in use was changed"
        self.rows[key] = list(rows[0])
    def sync(self):
        pass
    def close(self):
        assert self.rows == self.before, "the keyboard was not put back"
""",
}


@pytest.mark.parametrize("text", ["Grüße", "a<b>", "你好, ж€😀 – so many: äöü", "</p>\n\t<p>é"])
def test_a_text_with_any_character_is_typed_and_the_keyboard_put_back(text: str, tmp_path: Path) -> None:
    """The program runs, beside a keyboard that has three spare keys."""
    (tmp_path / "pyautogui.py").write_text(FAKE_PYAUTOGUI)
    for name, source in FAKE_XLIB.items():
        path = tmp_path / "Xlib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    program = to_pyautogui([Write(text)]) + "print(ascii(''.join(pyautogui.said)))\n"
    program = program.replace("import time\n", "import time; time.sleep = lambda seconds: None\n", 1)
    ran: Any = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stderr, ran.stdout) == ("", ascii(text) + "\n")
