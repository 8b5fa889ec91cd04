"""Formulas of conditional formatting, worked out without a spreadsheet: comparisons, arithmetic, common functions.

A formula is parsed to a tree of our own and nothing of it is run as code. One that is outside of what is known here
raises `FormulaError`; one that goes wrong, as a text minus one does, gives an `Error`, which is a value like any other.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from eapo_gym.errors import EapoError

LONGEST = 2000
DEEPEST = 60


class FormulaError(EapoError, ValueError):
    """A formula that is not understood."""


@dataclass(frozen=True, slots=True)
class Error:
    """What a spreadsheet shows where a formula goes wrong, such as `#VALUE!`."""

    name: str = "#VALUE!"


@dataclass(frozen=True, slots=True)
class Reference:
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Any, ...]


_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>"(?:[^"]|"")*")
      | (?P<reference>(?:'[^']+'!|[A-Za-z_][\w.]*!)?\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?)(?![\w(.])
      | (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_][\w.]*)
      | (?P<symbol><>|<=|>=|[-+*/^&=<>%(),;])
    )""",
    re.VERBOSE,
)
_BINDING = {"=": 1, "<>": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 6}
_SIGN = 7


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula."""

    tree: Any
    references: tuple[str, ...]
    """The cells and ranges that it speaks of, without dollar signs, in alphabetical order."""

    def __call__(self, *values: Any) -> Any:
        """What it gives where its references hold these, in the order of `references`."""
        if len(values) != len(self.references):
            raise FormulaError(f"Expected a value for each of {self.references}, got {len(values)}.")
        return _evaluate(self.tree, dict(zip(self.references, values, strict=True)))


def parse(text: str) -> Formula:
    """The formula in this text, without the sign of equality in front."""
    if len(text) > LONGEST:
        raise FormulaError(f"Expected a formula of at most {LONGEST} characters, it has {len(text)}.")
    parser = _Parser(text)
    tree = parser.expression(0, DEEPEST)
    if parser.peek() is not None:
        raise FormulaError(f"Expected the formula {text!r} to end, it goes on with {parser.peek()!r}.")
    return Formula(tree, tuple(sorted(parser.references)))


class _Parser:
    """Reads operators by how strongly they bind."""

    def __init__(self, text: str) -> None:
        self.references: set[str] = set()
        self._tokens: list[tuple[str, str]] = []
        self._place = 0
        place, text = 0, text.strip()
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                raise FormulaError(f"Expected a formula, cannot read {text[place : place + 20]!r} in {text!r}.")
            self._tokens.append((token.lastgroup or "", token[token.lastgroup or 0]))
            place = token.end()

    def peek(self) -> str | None:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else None

    def _next(self) -> tuple[str, str]:
        if self._place == len(self._tokens):
            raise FormulaError("Expected a formula, it ends too early.")
        self._place += 1
        return self._tokens[self._place - 1]

    def _skip(self, symbol: str) -> None:
        if self._next()[1] != symbol:
            raise FormulaError(f"Expected {symbol!r} in the formula.")

    def expression(self, weakest: int, depth: int) -> Any:
        if depth == 0:
            raise FormulaError(f"Expected a formula of at most {DEEPEST} levels.")
        left = self._operand(depth)
        while (symbol := self.peek()) is not None:
            if symbol == "%":
                self._place += 1
                left = Call("/", (left, 100))
            elif _BINDING.get(symbol, 0) > weakest:
                self._place += 1
                left = Call(symbol, (left, self.expression(_BINDING[symbol], depth - 1)))
            else:
                break
        return left

    def _operand(self, depth: int) -> Any:
        kind, token = self._next()
        if kind == "text":
            return token[1:-1].replace('""', '"')
        if kind == "number":
            return float(token) if set(token) & set(".eE") else int(token)
        if kind == "reference":
            self.references.add(token.replace("$", "").upper())
            return Reference(token.replace("$", "").upper())
        if kind == "name":
            return self._named(token.upper(), depth)
        if token in "+-":
            return Call("negative" if token == "-" else "positive", (self.expression(_SIGN, depth - 1),))
        if token == "(":
            inner = self.expression(0, depth - 1)
            self._skip(")")
            return inner
        raise FormulaError(f"Expected a value in the formula, got {token!r}.")

    def _named(self, name: str, depth: int) -> Any:
        if self.peek() != "(":
            if name in ("TRUE", "FALSE"):
                return name == "TRUE"
            raise FormulaError(f"Expected a formula without names, got {name!r}.")
        if name not in FUNCTIONS and name not in ("IF", "IFERROR"):
            raise FormulaError(f"Expected one of the functions that are known, got {name!r}.")
        self._skip("(")
        arguments = []
        while self.peek() != ")":
            arguments.append(self.expression(0, depth - 1))
            if self.peek() != ")" and self._next()[1] not in (",", ";"):
                raise FormulaError(f"Expected a comma between the arguments of {name}.")
        self._skip(")")
        return Call(name, tuple(arguments))


def _evaluate(tree: Any, cells: Mapping[str, Any]) -> Any:
    if isinstance(tree, Reference):
        return cells[tree.name]
    if not isinstance(tree, Call):
        return tree
    if tree.function == "IF":
        condition = _evaluate(tree.arguments[0], cells)
        if isinstance(condition, Error):
            return condition
        chosen = tree.arguments[1 if condition else 2 : 2 if condition else 3]
        return _evaluate(chosen[0], cells) if chosen else False
    arguments = [_evaluate(argument, cells) for argument in tree.arguments]
    if tree.function == "IFERROR":
        return arguments[1] if isinstance(arguments[0], Error) else arguments[0]
    wrong = next((argument for argument in arguments if isinstance(argument, Error)), None)
    if wrong is not None and tree.function not in ("ISERROR", "ISERR", "ISNUMBER", "ISTEXT", "ISBLANK"):
        return wrong
    try:
        return (OPERATORS.get(tree.function) or FUNCTIONS[tree.function])(*arguments)
    except ZeroDivisionError:
        return Error("#DIV/0!")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return Error()


def _number(value: Any) -> float:
    """The number of a value, as arithmetic takes it: nothing is zero, a text is what it spells."""
    if isinstance(value, list):
        raise TypeError("a range is not a number")
    return float(0 if value is None else value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _rank(value: Any) -> tuple[int, Any]:
    """Where a value stands among others: numbers before texts before truths; the case of letters does not matter."""
    if isinstance(value, bool):
        return 2, value
    return (1, value.lower()) if isinstance(value, str) else (0, 0 if value is None else value)


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda one, other: compare(_rank(one), _rank(other))


def _calculated(calculate: Callable[[float, float], float]) -> Callable[[Any, Any], float]:
    return lambda one, other: calculate(_number(one), _number(other))


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "=": _compared(operator.eq),
    "<>": _compared(operator.ne),
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
    "+": _calculated(operator.add),
    "-": _calculated(operator.sub),
    "*": _calculated(operator.mul),
    "/": _calculated(operator.truediv),
    "^": _calculated(math.pow),
    "&": lambda one, other: _text(one) + _text(other),
    "negative": lambda value: -_number(value),
    "positive": lambda value: value,
}


def _flat(values: Sequence[Any]) -> list[Any]:
    return [each for value in values for each in (value if isinstance(value, list) else [value])]


def _numbers(values: Sequence[Any]) -> list[float]:
    return [float(each) for each in _flat(values) if isinstance(each, int | float) and not isinstance(each, bool)]


def _truths(values: Sequence[Any]) -> list[bool]:
    return [bool(each) for each in _flat(values) if each is not None and not isinstance(each, str)]


def _count_if(cells: Any, criterion: Any) -> int:
    """How many cells meet a criterion, which is a value or a comparison in a text (`">5"`)."""
    wanted = re.fullmatch(r"(<>|<=|>=|=|<|>)(.*)", criterion) if isinstance(criterion, str) else None
    symbol, value = (wanted[1], wanted[2]) if wanted else ("=", criterion)
    with suppress(ValueError):
        value = float(value) if isinstance(value, str) else value
    same_kind = [cell for cell in _flat([cells]) if symbol == "<>" or isinstance(cell, str) == isinstance(value, str)]
    return sum(bool(OPERATORS[symbol](cell, value)) for cell in same_kind if cell is not None)


def _search(needle: Any, text: Any, start: Any = 1, *, case: bool) -> int:
    sought, searched = (_text(each) if case else _text(each).lower() for each in (needle, text))
    return 1 + searched.index(sought, int(start) - 1)


def _date(value: Any) -> datetime:
    return datetime(1899, 12, 30) + timedelta(days=_number(value))


def _weekday(value: Any, kind: Any = 1) -> int:
    monday = _date(value).weekday()
    return {1: (monday + 1) % 7 + 1, 2: monday + 1, 3: monday}[int(kind)]


def _rounded(value: Any, digits: Any = 0) -> float:
    scaled = abs(_number(value)) * 10 ** int(digits)
    return math.copysign(math.floor(scaled + 0.5) / 10 ** int(digits), _number(value))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "AND": lambda *values: all(_truths(values)),
    "OR": lambda *values: any(_truths(values)),
    "NOT": lambda value: not _number(value),
    "ISERROR": lambda value: isinstance(value, Error),
    "ISERR": lambda value: isinstance(value, Error) and value.name != "#N/A",
    "ISNUMBER": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "ISTEXT": lambda value: isinstance(value, str),
    "ISBLANK": lambda value: value is None,
    "SEARCH": lambda *given: _search(*given, case=False),
    "FIND": lambda *given: _search(*given, case=True),
    "LEN": lambda value: len(_text(value)),
    "LEFT": lambda value, count=1: _text(value)[: int(count)],
    "RIGHT": lambda value, count=1: _text(value)[-int(count) :] if int(count) else "",
    "MID": lambda value, start, count: _text(value)[int(start) - 1 : int(start) - 1 + int(count)],
    "UPPER": lambda value: _text(value).upper(),
    "LOWER": lambda value: _text(value).lower(),
    "TRIM": lambda value: " ".join(_text(value).split()),
    "EXACT": lambda one, other: _text(one) == _text(other),
    "VALUE": _number,
    "ABS": lambda value: abs(_number(value)),
    "INT": lambda value: math.floor(_number(value)),
    "MOD": lambda one, other: _number(one) % _number(other),
    "ROUND": _rounded,
    "SQRT": lambda value: math.sqrt(_number(value)),
    "SUM": lambda *values: math.fsum(_numbers(values)),
    "AVERAGE": lambda *values: math.fsum(_numbers(values)) / len(_numbers(values)),
    "MIN": lambda *values: min(_numbers(values), default=0.0),
    "MAX": lambda *values: max(_numbers(values), default=0.0),
    "COUNT": lambda *values: len(_numbers(values)),
    "COUNTA": lambda *values: sum(each is not None for each in _flat(values)),
    "COUNTIF": _count_if,
    "LARGE": lambda cells, place: sorted(_numbers([cells]), reverse=True)[int(place) - 1],
    "SMALL": lambda cells, place: sorted(_numbers([cells]))[int(place) - 1],
    "WEEKDAY": _weekday,
    "YEAR": lambda value: _date(value).year,
    "MONTH": lambda value: _date(value).month,
    "DAY": lambda value: _date(value).day,
}
