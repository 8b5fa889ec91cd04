"""From the text of a program to the calls that it makes with literal arguments. Nothing of it is ever run.

The text is looked at twice. The tokens are bounded first, in number, depth and kind, since a parser can be brought down
by what is deep enough. Then Python's own parser reads it, and every node of its tree is either one of the few that are
known here, or refused by name.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from eapo_gym.errors import ActionError

EXAMPLE = "pyautogui.click(960, 540)"

MOST_CHARACTERS = 1 << 16
MOST_STATEMENTS = 100
_MOST_TOKENS = 300
"""In one statement."""

_DEEPEST = 12
_LONGEST_NUMBER = 25
_LARGEST_NUMBER = 1e9

_MODULES = ("pyautogui", "time")
_CONSTANTS = {name.upper(): name for name in ("left", "middle", "right", "primary", "secondary")}

_REFUSED_WORDS = frozenset(keyword.kwlist) - {"import", "as", "True", "False", "None"}
_UNREADABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_PREFIX = re.compile(r"[A-Za-z]*")
_ESCAPE = re.compile(r"\\([^\n\\'\"abfnrtvxuUN0-7]|[4-7][0-7]{2})")
_SKIPPED = (tokenize.COMMENT, tokenize.NL)

Literal: TypeAlias = "int | float | str | bool | list[Literal] | None"


@dataclass(frozen=True, slots=True)
class Call:
    """One statement: a function of a module that is called with literals."""

    module: str
    function: str
    arguments: Sequence[Literal]
    named: Mapping[str, Literal]


def read_calls(source: str) -> list[Call]:
    """The calls of a program; raises `ActionError` that names what does not belong there."""
    if len(source) > MOST_CHARACTERS:
        _refuse(f"Code of {len(source)} characters: expected at most {MOST_CHARACTERS}")
    odd = _UNREADABLE.search(source)
    if odd is not None:
        _refuse(f"The code holds the character {odd[0]!a}: expected characters that can be seen")
    if "(" not in source:
        _refuse(f"Expected a JSON action, pyautogui code, or one of WAIT, DONE and FAIL, got {_shortened(source)}")
    bounded = _bounded(source)
    try:
        tree = ast.parse(bounded)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        _refuse(f"Expected a JSON action, or Python that calls pyautogui, got {_shortened(source)} ({what})")
    return list(_calls(tree))


# Tokens


def _bounded(source: str) -> str:
    """The same program, of which it is known that a parser can read it."""
    tokens: list[tuple[int, str]] = []
    statements, in_statement, depth = 1, 0, 0
    for kind, text in _tokens(source):
        if kind in _SKIPPED:
            continue
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}")) if kind == tokenize.OP else 0
        ends = kind == tokenize.NEWLINE or (kind == tokenize.OP and text == ";" and depth <= 0)
        statements, in_statement = (statements + 1, 0) if ends else (statements, in_statement + 1)
        if in_statement > _MOST_TOKENS or depth > _DEEPEST or statements > MOST_STATEMENTS + 1:
            _refuse(f"The code is too long or too deep: expected at most {MOST_STATEMENTS} simple calls")
        tokens.append((kind, _checked(kind, text)))
    return tokenize.untokenize(tokens)


def _tokens(source: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.ERRORTOKEN:
                raise SyntaxError
            yield token.type, token.string
    except (tokenize.TokenError, SyntaxError):
        _refuse(f"Expected a JSON action, or Python that calls pyautogui, got {_shortened(source)}")


def _checked(kind: int, text: str) -> str:
    if kind == tokenize.INDENT:
        _refuse("The code has an indented block: expected calls alone, one below the other")
    if kind == tokenize.NAME and text in _REFUSED_WORDS:
        _refuse(f"The code says {text!r}: expected calls with literal values alone")
    if kind == tokenize.NAME and not text.isascii():
        _refuse(f"The name {text[:40]!a} has letters that are not of Python's: expected names such as pyautogui")
    if kind == tokenize.NUMBER and len(text) > _LONGEST_NUMBER:
        _refuse(f"A number of {len(text)} digits: expected at most {_LONGEST_NUMBER}")
    name = tokenize.tok_name[kind]
    if kind == tokenize.STRING or name.endswith("STRING_START"):
        prefix = _PREFIX.match(text)
        letters = prefix[0].lower() if prefix else ""
        if set(letters) - set("ru"):
            _refuse(f"The code has the text {_shortened(text)}: expected a plain one such as 'hello'")
        # What is no escape stands for itself, as Python has it, but without its warning.
        return text if "r" in letters else _escapes_repaired(text)
    return text


def _escapes_repaired(text: str) -> str:
    r"""The same text, with the backslash of "\d" doubled."""
    pieces = text.split("\\\\")
    return "\\\\".join(_ESCAPE.sub(r"\\\\\1", piece) for piece in pieces)


# Nodes


def _calls(tree: ast.Module) -> Iterator[Call]:
    modules = {name: name for name in _MODULES}
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            modules |= _imported(statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield _call(statement.value, modules)
        else:
            _refuse(f"The code says {_piece(statement)}: expected calls alone (and WAIT, DONE and FAIL by themselves)")


def _imported(statement: ast.Import) -> dict[str, str]:
    for each in statement.names:
        if each.name not in _MODULES:
            _refuse(f"The code imports {each.name!r:.60}: expected {' and '.join(_MODULES)} alone")
    return {each.asname or each.name: each.name for each in statement.names}


def _call(call: ast.Call, modules: Mapping[str, str]) -> Call:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        _refuse(f"The code calls {_piece(function)}: expected a function of pyautogui, or time.sleep")
    module = modules.get(function.value.id)
    if module is None:
        _refuse(f"The code calls {_piece(function)}: expected a function of pyautogui, or time.sleep")
    named: dict[str, Literal] = {}
    for each in call.keywords:
        if each.arg is None:
            _refuse(f"The code says {_piece(call)}: expected arguments without stars")
        if each.arg in named:
            _refuse(f"The code says {each.arg!r:.60} twice: expected it once")
        named[each.arg] = _literal(each.value, modules)
    return Call(module, function.attr, [_literal(each, modules) for each in call.args], named)


def _literal(node: ast.expr, modules: Mapping[str, str]) -> Literal:
    """The value of a literal, or of a sum of numbers."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, (bool, str))):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(each, modules) for each in node.elts]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        is_button = modules.get(node.value.id) == "pyautogui" and node.attr in _CONSTANTS
        return _CONSTANTS[node.attr] if is_button else _refuse_value(node)
    return _number(node)


def _number(node: ast.expr) -> int | float:
    value: int | float
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        assert isinstance(node.value, (int, float))
        value = node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        operand = _number(node.operand)
        value = -operand if isinstance(node.op, ast.USub) else operand
    elif isinstance(node, ast.BinOp):
        value = _calculated(node)
    else:
        _refuse_value(node)
    if not abs(value) <= _LARGEST_NUMBER:
        _refuse(f"The number {_piece(node)} is too large: expected one of a screen's size")
    return value


def _calculated(node: ast.BinOp) -> int | float:
    left, right = _number(node.left), _number(node.right)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, (ast.Div, ast.FloorDiv)) and right:
        return left / right if isinstance(node.op, ast.Div) else left // right
    return _refuse_value(node)


# Words


def _refuse_value(node: ast.expr) -> NoReturn:
    _refuse(f"The code says {_piece(node)}: expected a literal value, such as 960, 0.5, 'text' or ['ctrl', 's']")


def _refuse(sentence: str) -> NoReturn:
    raise ActionError(f"{sentence}; write it like {EXAMPLE}.", EXAMPLE) from None


def _piece(node: ast.AST) -> str:
    return _shortened(ast.unparse(node))


def _shortened(text: str) -> str:
    text = " ".join(text[:200].split())
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
