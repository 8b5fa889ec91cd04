"""The phone's shell: runs a line on the phone, and nowhere else."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eapo_gym.envs.androidworld.phone.databases import DatabaseError
from eapo_gym.envs.androidworld.phone.files import FileError, resolve
from eapo_gym.envs.androidworld.phone.shell.grammar import Choice, Command, Pipeline, Script, SyntaxProblem, Word, parse

if TYPE_CHECKING:
    from eapo_gym.envs.androidworld.phone.phone import Phone

NOT_FOUND = 127


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answers."""

    out: bytes = b""
    status: int = 0
    error: bytes = b""

    @classmethod
    def text(cls, out: str) -> Said:
        return cls(out.encode())

    @classmethod
    def problem(cls, error: str, status: int = 1) -> Said:
        return cls(b"", status, (error + "\n").encode())


@dataclass(frozen=True, slots=True)
class Call:
    """One command with its words, what comes in through a pipe, and the phone that it runs on."""

    phone: Phone
    args: tuple[str, ...]
    given: bytes = b""

    def flags(self, *valued: str) -> tuple[dict[str, str], list[str]]:
        """Options and the rest; those of `valued` take the next word."""
        options: dict[str, str] = {}
        rest: list[str] = []
        words = list(self.args)
        while words:
            word = words.pop(0)
            if word in valued:
                options[word] = words.pop(0) if words else ""
            elif word.startswith("-") and len(word) > 1 and not word.lstrip("-").isdigit():
                options[word] = ""
            else:
                rest.append(word)
        return options, rest


Action = Callable[[Call], Said]


class Shell:
    def __init__(self, phone: Phone, commands: Mapping[str, Action]) -> None:
        self.phone = phone
        self._commands = commands

    def run(self, line: str) -> Said:
        """What the line says; its errors are within."""
        try:
            return self._script(parse(line), b"")
        except SyntaxProblem as problem:
            return Said.problem(f"/system/bin/sh: {problem}", 2)

    def _script(self, script: Script, given: bytes) -> Said:
        out, error, status = b"", b"", 0
        for when, pipeline in script.steps:
            if (when == "&&" and status) or (when == "||" and not status):
                continue
            said = self._pipeline(pipeline, given)
            out, error, status = out + said.out, error + said.error, said.status
        return Said(out, status, error)

    def _pipeline(self, pipeline: Pipeline, given: bytes) -> Said:
        said, error = Said(given), b""
        for part in pipeline:
            said = self._choice(part, said.out) if isinstance(part, Choice) else self._command(part, said.out)
            error += said.error
        return replace(said, error=error)

    def _choice(self, choice: Choice, given: bytes) -> Said:
        condition = self._script(choice.condition, given)
        said = self._script(choice.otherwise if condition.status else choice.then, given)
        return replace(said, out=condition.out + said.out, error=condition.error + said.error)

    def _command(self, command: Command, given: bytes) -> Said:
        name, *args = [text for word in command.words for text in self._expanded(word)]
        action = self._commands.get(name)
        if action is None:
            said = Said.problem(f"/system/bin/sh: {name}: inaccessible or not found", NOT_FOUND)
        else:
            try:
                said = action(Call(self.phone, tuple(args), given))
            except (FileError, DatabaseError) as problem:
                said = Said.problem(f"{name}: {problem}")
        if command.silent:
            said = replace(said, error=b"")
        if command.target is not None:
            said = self._written(command.target, said, appends=command.appends)
        return said

    def _expanded(self, word: Word) -> Sequence[str]:
        """A word with `*` stands for all files that fit it; if there are none, for itself."""
        if word.pattern is None:
            return [word.text]
        folder = posixpath.dirname(word.text)
        if any(sign in folder for sign in "*?") or not self.phone.state.files.is_folder(folder or "/"):
            return [word.text]
        paths = [posixpath.join(folder, name) for name in self.phone.state.files.names(folder or "/")]
        hidden = posixpath.basename(word.text).startswith(".")
        fitting = [path for path in paths if hidden or not posixpath.basename(path).startswith(".")]
        return [path for path in fitting if word.pattern.fullmatch(path)] or [word.text]

    def _written(self, target: str, said: Said, *, appends: bool) -> Said:
        if resolve(target) == "/dev/null":
            return replace(said, out=b"")
        state = self.phone.state
        try:
            before = state.files.read(target) if appends and target in state.files else b""
            self.phone.state = replace(state, files=state.files.write(target, before + said.out, state.now))
        except FileError as problem:
            return Said.problem(f"/system/bin/sh: can't create {problem}")
        return replace(said, out=b"")
