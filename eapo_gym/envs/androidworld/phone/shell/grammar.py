"""The language of the phone's shell, as much of it as testing tools write.

    list      pipeline, and others behind `&&`, `||`, `;` or a new line
    pipeline  command, and others behind `|`
    command   words with redirections, or `if list; then list; else list; fi`

Nothing here runs anything: `Shell` does, and only on the phone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from eapo_gym.errors import EapoError

_OPERATORS = ("&&", "||", ">>", "2>&1", "2>", "|", ";", "\n", ">", "<", "&")
_RESERVED = ("then", "else", "fi")
_ESCAPED_IN_QUOTES = '"\\$`'
_DEEPEST = 40


class SyntaxProblem(EapoError):
    """A line that the phone's shell does not understand."""


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    pattern: re.Pattern[str] | None = None
    """What it stands for if it has `*` or `?` outside of quotes."""

    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    words: tuple[Word, ...]
    target: str | None = None
    """The file that takes what it says."""

    appends: bool = False
    silent: bool = False
    """What it says of errors is thrown away."""


@dataclass(frozen=True, slots=True)
class Choice:
    condition: Script
    then: Script
    otherwise: Script


Pipeline = tuple["Command | Choice", ...]


@dataclass(frozen=True, slots=True)
class Script:
    """Pipelines, each with when it runs: always (";"), after a success ("&&"), or after a failure ("||")."""

    steps: tuple[tuple[str, Pipeline], ...]


def parse(line: str) -> Script:
    reader = _Reader(_tokens(line))
    script = reader.script(())
    if not reader.done:
        raise SyntaxProblem(f"syntax error: unexpected {reader.peek()!r}")
    return script


class _Reader:
    def __init__(self, tokens: Sequence[str | Word]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._tokens)

    def peek(self) -> str:
        """The next operator or word."""
        if self.done:
            return ""
        token = self._tokens[self._at]
        return token if isinstance(token, str) else token.text

    def script(self, ends: Sequence[str]) -> Script:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SyntaxProblem("syntax error: nested too deeply")
        steps: list[tuple[str, Pipeline]] = []
        when = ";"
        while not self.done:
            if self._operator(";", "\n", "&"):
                when = ";"
            elif self._is_reserved(ends):
                break
            else:
                steps.append((when, self._pipeline()))
                when = self._operator("&&", "||") or ";"
        self._depth -= 1
        return Script(tuple(steps))

    def _pipeline(self) -> Pipeline:
        commands = [self._command()]
        while self._operator("|"):
            commands.append(self._command())
        return tuple(commands)

    def _command(self) -> Command | Choice:
        if self._is_reserved(("if",)):
            self._at += 1
            return self._choice()
        words: list[Word] = []
        target, appends, silent = None, False, False
        while not self.done:
            if self._operator(">", ">>"):
                appends = self._tokens[self._at - 1] == ">>"
                target = self._word().text
            elif self._operator("2>&1"):
                silent = False
            elif self._operator("2>"):
                silent = self._word().text == "/dev/null"
            elif isinstance(self._tokens[self._at], Word):
                words.append(self._word())
            else:
                break
        if not words:
            raise SyntaxProblem(f"syntax error: unexpected {self.peek()!r}")
        return Command(tuple(words), target, appends, silent)

    def _choice(self) -> Choice:
        condition = self.script(("then",))
        self._expect("then")
        then = self.script(("else", "fi"))
        otherwise = Script(())
        if self._is_reserved(("else",)):
            self._at += 1
            otherwise = self.script(("fi",))
        self._expect("fi")
        return Choice(condition, then, otherwise)

    def _operator(self, *wanted: str) -> str:
        if not self.done and isinstance(self._tokens[self._at], str) and self._tokens[self._at] in wanted:
            self._at += 1
            return str(self._tokens[self._at - 1])
        return ""

    def _is_reserved(self, wanted: Sequence[str]) -> bool:
        if self.done:
            return False
        token = self._tokens[self._at]
        return isinstance(token, Word) and not token.quoted and token.text in wanted

    def _expect(self, name: str) -> None:
        if not self._is_reserved((name,)):
            raise SyntaxProblem(f"syntax error: expected {name!r}, got {self.peek()!r}")
        self._at += 1

    def _word(self) -> Word:
        token = None if self.done else self._tokens[self._at]
        if not isinstance(token, Word):
            raise SyntaxProblem(f"syntax error: unexpected {self.peek()!r}")
        self._at += 1
        return token


def _tokens(line: str) -> list[str | Word]:
    found: list[str | Word] = []
    at = 0
    while at < len(line):
        if line[at] in " \t\r":
            at += 1
            continue
        if line[at] == "#":
            at = (line + "\n").index("\n", at)
            continue
        operator = next((each for each in _OPERATORS if line.startswith(each, at)), None)
        if operator is not None:
            found.append(operator)
            at += len(operator)
            continue
        word, at = _read_word(line, at)
        found.append(word)
    return found


def _read_word(line: str, at: int) -> tuple[Word, int]:
    """A word up to a blank or an operator; in quotes neither counts."""
    text: list[str] = []
    pattern: list[str] = []
    quoted = is_pattern = False
    while at < len(line) and line[at] not in " \t\r\n;|&<>":
        letter = line[at]
        if letter == "'":
            end = line.find("'", at + 1)
            if end < 0:
                raise SyntaxProblem("syntax error: no closing quote")
            piece, at, quoted = line[at + 1 : end], end + 1, True
        elif letter == '"':
            piece, at = _double_quoted(line, at + 1)
            quoted = True
        elif letter == "\\":
            piece, at, quoted = line[at + 1 : at + 2], at + 2, True
        else:
            at += 1
            text.append(letter)
            is_pattern = is_pattern or letter in "*?"
            pattern.append({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)))
            continue
        text.append(piece)
        pattern.append(re.escape(piece))
    compiled = re.compile("".join(pattern), re.DOTALL) if is_pattern else None
    return Word("".join(text), compiled, quoted), at


def _double_quoted(line: str, at: int) -> tuple[str, int]:
    text: list[str] = []
    while at < len(line):
        if line[at] == '"':
            return "".join(text), at + 1
        if line[at] == "\\" and line[at + 1 : at + 2] in _ESCAPED_IN_QUOTES:
            at += 1
        text.append(line[at : at + 1])
        at += 1
    raise SyntaxProblem("syntax error: no closing quote")
