"""Reads the text grammar of a game: how each action is spelled, and what the game says of it.

The format is TextWorld's: `action NAME { template :: "…"; feedback :: "…"; grammar :: <JSON in triple quotes>; }`. The
JSON maps a symbol to alternatives, of which the first whose condition holds is used. A text is made of literals,
`#symbol#`, `{expression | query}` (once for each answer of the query) and `[{expression | query}]` (the same, as a list
with commas). Nothing of it is evaluated as Python: an expression is `name.attribute`, a string, `+` or `or`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from eapo_gym.errors import GameFileError


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing of the game, with the name that commands and texts use."""

    id: str
    name: str
    type: str
    indefinite: str = "a"
    definite: str = "the"


Placeholder: TypeAlias = tuple[str, str]
"""A variable of a query and its type. The same name with another type is another variable."""


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom over variables and constants, or its negation."""

    predicate: str
    args: tuple[Placeholder | str, ...]
    positive: bool = True


Query: TypeAlias = tuple[Literal, ...]
"""A conjunction, answered by all assignments of its variables; different variables take different values."""


@dataclass(frozen=True, slots=True)
class Constant:
    text: str

    def __call__(self, entities: Mapping[str, Entity]) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Attribute:
    variable: str
    attribute: str

    def __call__(self, entities: Mapping[str, Entity]) -> str:
        return str(getattr(entities[self.variable], self.attribute))


@dataclass(frozen=True, slots=True)
class Sum:
    left: Expression
    right: Expression

    def __call__(self, entities: Mapping[str, Entity]) -> str:
        return self.left(entities) + self.right(entities)


@dataclass(frozen=True, slots=True)
class FirstOf:
    choices: tuple[Expression, ...]

    def __call__(self, entities: Mapping[str, Entity]) -> str:
        return next(filter(None, (choice(entities) for choice in self.choices)), "")


Expression: TypeAlias = "Constant | Attribute | Sum | FirstOf"


def variables(expression: Expression) -> set[str]:
    """The names of the variables that an expression mentions."""
    if isinstance(expression, Attribute):
        return {expression.variable}
    if isinstance(expression, Sum):
        return variables(expression.left) | variables(expression.right)
    if isinstance(expression, FirstOf):
        return set().union(*map(variables, expression.choices))
    return set()


@dataclass(frozen=True, slots=True)
class Symbol:
    """`#name#`: to be replaced by one of the symbol's alternatives."""

    name: str


@dataclass(frozen=True, slots=True)
class Each:
    """`{part | query}`: the part, once for each answer of the query."""

    part: Symbol | Expression
    query: Query
    listed: bool
    """Written in brackets: the parts are joined as a list in a sentence."""


Text: TypeAlias = "tuple[str | Symbol | Each, ...]"


@dataclass(frozen=True, slots=True)
class Alternative:
    condition: Query
    text: Text


@dataclass(frozen=True, slots=True)
class Spelling:
    """How an action is written as a command, and what the game answers."""

    template: Text
    feedback: Text


@dataclass(frozen=True, slots=True)
class TextGrammar:
    actions: dict[str, Spelling] = field(default_factory=dict)
    symbols: dict[str, tuple[Alternative, ...]] = field(default_factory=dict)

    def alternatives(self, symbol: str) -> tuple[Alternative, ...]:
        try:
            return self.symbols[symbol]
        except KeyError:
            raise GameFileError(f"Text grammar: the symbol #{symbol}# has no rule") from None

    def queries(self, text: Text) -> Iterator[Query]:
        """Every query that deriving `text` may ask."""
        seen: set[str] = set()
        waiting: list[Text] = [text]
        while waiting:
            for part in waiting.pop():
                if isinstance(part, Each):
                    yield part.query
                symbol = part.part if isinstance(part, Each) else part
                if isinstance(symbol, Symbol) and symbol.name not in seen:
                    seen.add(symbol.name)
                    for alternative in self.alternatives(symbol.name):
                        yield alternative.condition
                        waiting.append(alternative.text)


_BLOCK = re.compile(
    r"""\s*(?:
      \#[^\n]*
    | grammar \s* :: \s* \"\"\"(?P<rules>.*?)\"\"\" \s* ;
    | action \s+ (?P<action>[\w/-]+) \s* \{
    )""",
    re.VERBOSE | re.DOTALL,
)
_FIELD = re.compile(
    r"""\s*(?:
      \#[^\n]*
    | (?P<key>template|feedback) \s* :: \s* "(?P<text>[^"]*)" \s* ;
    | (?P<block>grammar|pddl) \s* :: \s* \"\"\"(?P<code>.*?)\"\"\" \s* ;
    | (?P<end>\})
    )""",
    re.VERBOSE | re.DOTALL,
)


def parse_grammar(text: str) -> TextGrammar:
    """Read a whole text grammar (the `grammar` field of a game file, a `.twl2` file)."""
    actions: dict[str, Spelling] = {}
    symbols: dict[str, tuple[Alternative, ...]] = {}
    position, end = 0, len(text.rstrip())
    while position < end:
        block = _BLOCK.match(text, position)
        if block is None:
            raise GameFileError(f"Text grammar: expected an action or a grammar block at {_excerpt(text, position)}")
        position = block.end()
        if block["rules"] is not None:
            symbols.update(_rules(block["rules"]))
        elif block["action"] is not None:
            position, fields = _action(text, position, block["action"])
            actions[block["action"].lower()] = Spelling(
                parse_text(fields.get("template", "")), parse_text(fields.get("feedback", ""))
            )
            symbols.update(_rules(fields.get("grammar", "{}")))
    return TextGrammar(actions, symbols)


def _action(text: str, position: int, name: str) -> tuple[int, dict[str, str]]:
    fields: dict[str, str] = {}
    while True:
        match = _FIELD.match(text, position)
        if match is None:
            raise GameFileError(f"Text grammar, action {name}: cannot read {_excerpt(text, position)}")
        position = match.end()
        if match["end"]:
            return position, fields
        if match["key"]:
            fields[match["key"]] = match["text"]
        elif match["block"]:
            fields[match["block"]] = match["code"]


def _rules(code: str) -> dict[str, tuple[Alternative, ...]]:
    kept = "\n".join(line for line in code.split("\n") if not line.lstrip().startswith("#"))
    try:
        rules = json.loads(kept)
        return {
            name: tuple(
                Alternative(parse_query(rule.get("condition", "")), parse_text(rule["rhs"])) for rule in choices
            )
            for name, choices in rules.items()
        }
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise GameFileError(f'Text grammar: expected JSON like {{"symbol": [{{"rhs": "…"}}]}}: {error}') from error


def _alternative(rule: dict[str, str]) -> Alternative:
    return Alternative(parse_query(rule.get("condition", "")), parse_text(rule["rhs"]))


_PART = re.compile(
    r"""
      \#(?P<symbol>[\w()/!<>\-\s,.]+)\#
    | \{(?P<single>[^{}]*)\}
    | \[\s*\{(?P<listed>[^{}]*)\}\s*\]
    | "(?P<quoted>[^;|"<>\[\]\#{}]*)"
    | (?P<literal>[^;|"<>\[\]\#{}]+)
    """,
    re.VERBOSE,
)
_LINE_START = re.compile(r"\s*")


def parse_text(text: str) -> Text:
    """Read a text with `#symbols#`, `{…}` and `[{…}]` in it."""
    parts: list[str | Symbol | Each] = []
    position = 0
    while position < len(text):
        if position == 0 or text[position - 1] == "\n":
            # TextWorld's own parser drops blank space where a line begins, and so must we to say the same.
            position = _LINE_START.match(text, position).end()  # type: ignore[union-attr]
            if position == len(text):
                break
        match = _PART.match(text, position)
        if match is None:
            # TextWorld's parser stops here without a word, and the official grammar has such a slip (a stray brace in a
            # rule that nothing uses): so does this one.
            break
        position = match.end()
        if match["literal"] is not None or match["quoted"] is not None:
            parts.append(match["literal"] or match["quoted"] or "")
        elif match["symbol"] is not None:
            parts.append(Symbol(match["symbol"]))
        elif match["single"] is not None:
            parts.append(_each(match["single"], listed=False))
        else:
            parts.append(_each(match["listed"], listed=True))
    return tuple(parts)


def _each(code: str, listed: bool) -> Each:
    expression, _, given = code.partition("|")
    expression = expression.strip()
    part: Symbol | Expression
    if expression.startswith("#") and expression.endswith("#"):
        part = Symbol(expression.strip("#"))
    else:
        part = parse_expression(expression)
    return Each(part, parse_query(given), listed)


_LITERAL = re.compile(r"\s*(?P<predicate>[\w@-]+)\s*\((?P<args>[^()]*)\)\s*(?:&|$)")


def parse_query(text: str) -> Query:
    """Read `predicate(variable:type, …) & …`; an empty text is the query that always holds."""
    literals: list[Literal] = []
    position = 0
    while position < len(text) and not text[position:].isspace():
        match = _LITERAL.match(text, position)
        if match is None:
            raise GameFileError(f"Text grammar: expected a query like 'opened(r:receptacle)', got {text!r:.80}")
        position = match.end()
        args = []
        for argument in filter(None, map(str.strip, match["args"].split(","))):
            name, _, type_ = argument.partition(":")
            args.append((name.strip(), type_.strip() or name.strip()))
        literals.append(Literal(match["predicate"], tuple(args)))
    return tuple(literals)


def parse_expression(text: str) -> Expression:
    """Read `r.name`, `'a string'`, `x + y`, `x or y`."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise GameFileError(f"Text grammar: cannot read the expression {text!r:.80}") from error
    return _expression(tree, text)


_ATTRIBUTES = ("id", "name", "type", "indefinite", "definite")


def _expression(node: ast.expr, text: str) -> Expression:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Constant(node.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _ATTRIBUTES:
        return Attribute(node.value.id, node.attr)
    if isinstance(node, ast.Name):  # {r} in a command template stands for the thing's name
        return Attribute(node.id, "name")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return Sum(_expression(node.left, text), _expression(node.right, text))
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return FirstOf(tuple(_expression(value, text) for value in node.values))
    raise GameFileError(f"Text grammar: the expression {text!r:.80} is not one of name.attribute, 'text', +, or")


def _excerpt(text: str, position: int) -> str:
    return repr(text[position : position + 60])
