"""Code that wants more than to move hands: all of it is refused in words, and none of it is run."""

from __future__ import annotations

import sys
import threading
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.osworld.actions import parse_action
from eapo_gym.errors import ActionError

CLICK = "pyautogui.click(1, 2)"

WANTS_MORE = [
    "import os; os.system('id')",
    "import os, pyautogui; pyautogui.click(1, 2)",
    "import os.path; pyautogui.click(1, 2)",
    "import pyautogui.os as time; time.sleep(1)",
    "from os import system; system('id')",
    "from pyautogui import *; click(1, 2)",
    "__import__('os').system('id')",
    "os.system('id')",
    "subprocess.run(['id'])",
    "pyautogui.os.system('id')",
    "pyautogui.platformModule.os.system('id')",
    "pyautogui.__class__(1)",
    "pyautogui.__dict__['os'].system('id')",
    "pyautogui.__getattribute__('click')(1, 2)",
    "pyautogui.click.__globals__(1)",
    "pyautogui.click.__globals__['__builtins__']['eval']('1')",
    "getattr(pyautogui, 'click')(1, 2)",
    "eval('pyautogui.click(1, 2)')",
    "exec('import os')",
    "compile('1', '', 'eval')",
    "open('/etc/passwd').read()",
    "print('hello')",
    "pyautogui.click(*[1, 2])",
    "pyautogui.click(**{'x': 1, 'y': 2})",
    "pyautogui.click(eval('1'), 2)",
    "pyautogui.click(x := 1, 2)",
    "pyautogui.click((x := 1), 2)",
    "pyautogui.click([1, 2][0], 2)",
    "pyautogui.click({'x': 1}, 2)",
    "pyautogui.click({1, 2})",
    "pyautogui.click(1 if True else 2, 2)",
    "pyautogui.click(1 or 2, 2)",
    "pyautogui.click(not 1, 2)",
    "pyautogui.click(1 < 2, 2)",
    "pyautogui.click(~1, 2)",
    "pyautogui.click(1 << 2, 2)",
    "pyautogui.click(1j, 2)",
    "pyautogui.click(..., 2)",
    "pyautogui.click(1e999, 2)",
    "pyautogui.click(1e308 * 10, 2)",
    "pyautogui.click(1e999 - 1e999, 2)",
    "pyautogui.click(1 / 0, 2)",
    "pyautogui.click(9 ** 9 ** 9, 2)",
    "pyautogui.click(9 % 4, 2)",
    "pyautogui.click(" + "9" * 5_000 + ", 2)",
    "pyautogui.click(0x" + "f" * 5_000 + ", 2)",
    "pyautogui.click(999999999 * 999999999 * 999999999, 2)",
    "pyautogui.click(-1, 2)",
    "pyautogui.click(True, 2)",
    "pyautogui.click(lambda: 1, 2)",
    "(lambda: pyautogui.click(1, 2))()",
    "[pyautogui.click(x, 2) for x in range(10)]",
    "{pyautogui.click(1, 2)}",
    "pyautogui.write(x for x in 'abc')",
    "pyautogui.write([x for x in 'abc'])",
    "pyautogui.write(f'{1}')",
    'pyautogui.write(f\'{__import__("os").system("id")}\')',
    "pyautogui.write(f'hello')",
    "pyautogui.write(F'{(((1)))}')",
    "pyautogui.write(rf'{1}')",
    "pyautogui.write(b'abc')",
    "pyautogui.write('abc' * 1000000)",
    "pyautogui.write('a' + 'b')",
    "pyautogui.write('%s' % 'a')",
    "pyautogui.write('a'.upper())",
    "pyautogui.write(open('/etc/passwd').read())",
    "pyautogui.write('\\x1b')",
    "pyautogui.write('\\u0000')",
    "pyautogui.write('\\ud800')",
    "pyautogui.write('\\N{NO SUCH NAME}')",
    "pyautogui.write('unended",
    "pyautogui.write('''unended",
    "pyautogui.screenshot('/tmp/x.png')",
    "pyautogui.locateOnScreen('x.png')",
    "pyautogui.alert('hello')",
    "pyautogui.run('c')",
    "pyautogui.click(pyautogui.position())",
    "pyautogui.click(pyautogui.FAILSAFE, 2)",
    "pyautogui.click(time.PRIMARY, 2)",
    "pyautogui.FAILSAFE = False; pyautogui.click(1, 2)",
    "pyautogui.PAUSE = 0; pyautogui.click(1, 2)",
    "pyautogui.click(1, 2) and pyautogui.click(3, 4)",
    "pyautogui.click(1, 2), pyautogui.click(3, 4)",
    "pyautogui.click(1, 2).real()",
    "pyautogui.click(1, 2)()",
    "x = pyautogui.click(1, 2)",
    "x: int = 1; pyautogui.click(1, 2)",
    "x += pyautogui.click(1, 2)",
    "del pyautogui; pyautogui.click(1, 2)",
    "click(1, 2)",
    "time.time()",
    "time.__class__()",
    "await pyautogui.click(1, 2)",
    "yield pyautogui.click(1, 2)",
    "return pyautogui.click(1, 2)",
    "assert pyautogui.click(1, 2)",
    "raise pyautogui.click(1, 2)",
    "global pyautogui; pyautogui.click(1, 2)",
    "for x in range(3): pyautogui.click(1, 2)",
    "while True: pyautogui.click(1, 2)",
    "if True:\n    pyautogui.click(1, 2)",
    "with pyautogui.hold('shift'):\n    pyautogui.press('a')",
    "try: pyautogui.click(1, 2)\nexcept: pass",
    "def f(): pyautogui.click(1, 2)",
    "async def f(): pyautogui.click(1, 2)",
    "class pyautogui: click = print(1)",
    "@pyautogui.click(1, 2)\ndef f(): pass",
    "match pyautogui.click(1, 2):\n    case _: pass",
    "type x = pyautogui.click(1, 2)",
    "  pyautogui.click(1, 2)\n pyautogui.click(1, 2)",
    "'pyautogui.click(1, 2)'",
    "('hello')",
    "(" + CLICK,
    CLICK + ")",
    "pyautogui.click(1,, 2)",
    "pyautogui.click(x=1, x=2, y=3)",
    "pyautogui click(1, 2)",
    "pyautogui.click(1, 2) $",
    "pyautogui.click(1, 2) ?",
    "!id (1)",
    "%run (1)",
    "`id`(1)",
    # letters that only look right
    "ｐｙａｕｔｏｇｕｉ.click(1, 2)",
    "pyautogui.ｃｌｉｃｋ(1, 2)",
    "руautogui.click(1, 2)",
    "pyautogui.clıck(1, 2)",
    "pyautogui.__cl\u200bass__(1)",
    "pyautogui\u200b.click(1, 2)",
    "pyautogui.click（1, 2)",
    "pyautogui.click(١, ٢)",
    "pyautogui.click(1\u00a0, 2)",
    "\ufeffpyautogui.click(1, 2)",
    "# coding: utf-7\n+AHA-(1)",
    # control characters
    "pyautogui.click(1, 2)\x00",
    "\x00" + CLICK,
    "pyautogui.write('\x00')",
    "pyautogui.write('\x1b[2J')",
    "pyautogui.click(1,\x0c2)",
    "pyautogui.click(1, 2)\x7f",
    "pyautogui.click(1, 2)\rimport os\x08",
]

TOO_DEEP = [
    "(" * 50_000,
    "pyautogui.click(" + "(" * 60 + "1" + ")" * 60 + ", 2)",
    "pyautogui.click(" + "[" * 30_000 + "]" * 30_000 + ")",
    "pyautogui.click(" + "-" * 60_000 + "1, 2)",
    "pyautogui.click(" + "1+" * 30_000 + "1, 2)",
    "pyautogui.click(" + "not " * 10_000 + "1, 2)",
    "pyautogui.click(" + "2**" * 20_000 + "2, 2)",
    "pyautogui" + ".click" * 10_000 + "(1)",
    "pyautogui.click" + "()" * 30_000,
    "pyautogui.click" + "[0]" * 20_000 + "(1)",
    "pyautogui.click(" + "lambda:" * 9_000 + "1, 2)",
    "pyautogui.click(" + "1 if 1 else " * 5_000 + "1, 2)",
    "a=" * 30_000 + CLICK,
    "pyautogui.click(1, 2) if 1 else " * 2_000 + CLICK,
    "pyautogui.write(f'" + "{" * 30_000 + "1" + "}" * 30_000 + "')",
    "pyautogui.write(f'{" + "-" * 30_000 + "1}')",
    "pyautogui.write(" + "'a' " * 15_000 + ")",
    "if 1: pyautogui.click(1)\n" + "elif 1: pyautogui.click(1)\n" * 2_000,
    "\n".join("\t" * n + "if 1:" for n in range(300)) + CLICK,
    f"{CLICK}\n" * 101,
    f"{CLICK};" * 101,
    ";" * 60_000 + CLICK,
    "# (\n" * 15_000 + "(",
    "'" * 60_000 + "(",
    "{" * 60_000 + "(",
    '{"action_type": ' + "[" * 60_000,
    '{"action_type": ' + "[" * 30_000 + "]" * 30_000 + "}",
    '{"action_type": "click", "index": ' + "9" * 6_000 + "}",
    "```" * 20_000,
    "x" * 10_000_000 + "(",
    f"{CLICK}\n" * 450_000,
    "\ud800(" + CLICK,
]


@pytest.mark.parametrize("text", WANTS_MORE)
def test_code_that_wants_more_is_refused_in_one_sentence(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ActionError) as found:
            parse_action(text)
    sentence = str(found.value)
    assert "\n" not in sentence
    assert sentence.isprintable()
    assert len(sentence) < 500
    assert parse_action(str(found.value.example))


@pytest.mark.parametrize("text", TOO_DEEP, ids=lambda text: f"{text[:20]!r} {len(text)}")
def test_what_is_too_deep_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(ActionError) as found:
        parse_action(text)
    assert len(str(found.value)) < 500


def test_a_small_stack_is_enough() -> None:
    """Threads may have less of it than the main program; a parser that runs out of it takes the process along."""
    seen: list[type[BaseException] | None] = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: seen.extend(map(_raised, TOO_DEEP)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert seen == [ActionError] * len(TOO_DEEP)


def _raised(text: str) -> type[BaseException] | None:
    try:
        parse_action(text)
    except BaseException as error:
        return type(error)
    return None


def test_the_pieces_that_are_refused_are_named() -> None:
    for text, piece in [
        ("import os; pyautogui.click(1, 2)", "imports 'os'"),
        ("getattr(pyautogui, 'click')(1, 2)", "getattr"),
        ("pyautogui.click(1, y)", "'y'"),
        ("for x in range(3): pyautogui.click(1, 2)", "'for'"),
        ("pyautogui.write(f'{1}')", "the text \"f'"),
        ("pyautogui.PAUSE = 0; pyautogui.click(1, 2)", "pyautogui.PAUSE = 0"),
    ]:
        with pytest.raises(ActionError) as found:
            parse_action(text)
        assert piece in str(found.value)


def test_warnings_of_the_parser_are_not_shown() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_action(r"pyautogui.write('\d \. \( \\d \777 \8')")


def test_nothing_is_imported() -> None:
    parse_action(f"import pyautogui, time\n{CLICK}")
    assert "pyautogui" not in sys.modules


def test_empty_lines_are_not_counted() -> None:
    assert parse_action("\\\n" * 30_000 + CLICK) == parse_action("\n" * 30_000 + CLICK) == parse_action(CLICK)


PIECES = ["pyautogui", "time", ".", "click", "write", "__class__", "os", "system", "(", ")", "[", "]", "{", "}", ","]
PIECES += [";", "\n", "    ", "=", ":=", "*", "**", "-", "+", "lambda", ":", "for", "in", "if", "else", "not", "import"]
PIECES += [
    "'a'",
    "f'{x}'",
    "b'a'",
    "1",
    "1e9",
    "0x",
    "'",
    '"',
    "\\",
    "#",
    "None",
    "pyautogui.click(1, 2)",
    " ",
    "é",
    "`",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_mixture_of_pieces_is_an_action_or_refused(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        parsed = parse_action(text)
    except ActionError:
        return
    assert parse_action(parsed.command()) == parsed
