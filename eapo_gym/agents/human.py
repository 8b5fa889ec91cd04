"""A person at the terminal in the agent's place: the same observation, the same notes, the same response."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from eapo_gym.agents.base import Agent, AgentError
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.schema import Observation, Turn

_HELP = """\
  NUMBER or COMMAND   do it; !COMMAND sends a command that is also one of these words
  memory              show your notes; memory TEXT adds a line, memory = TEXT replaces them, memory clear empties them
  explore TEXT        say what you want to find out; it is shown to you with the next observation
  valid               list the valid actions again
  help, quit"""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What could steer a terminal, or cannot be written to one."""


class PersonLeft(AgentError, EngineUnavailable):
    """Nobody is there to answer any more: the run stops, and can be taken up again."""


class HumanAgent(Agent):
    """Asks a person, one episode at a time. The notes that the person keeps are the memory of the observation.

    Args:
        ask: reads a line, given a prompt; `input` by default.
        show: shows a text; `print` by default.
    """

    name = "human"
    max_parallel = 1

    def __init__(self, *, ask: Callable[[str], str] = input, show: Callable[[str], object] = print) -> None:
        self._ask = ask
        self._show = show
        self._at_the_terminal = threading.Lock()

    def act(self, observation: Observation) -> Turn:
        with self._at_the_terminal:
            return _Dialogue(observation, self._ask, lambda text: self._show(_CONTROL.sub("\ufffd", text))).turn()


class _Dialogue:
    """One step: what was said so far, until a command is among it."""

    def __init__(self, observation: Observation, ask: Callable[[str], str], show: Callable[[str], object]) -> None:
        self.observation = observation
        self.ask, self.show = ask, show
        self.valid = observation.valid_actions or ()
        self.explore, self.memory = "", observation.memory

    def turn(self) -> Turn:
        self._present()
        while True:
            command = self._answer(self._read())
            if command:
                return Turn(explore=self.explore, memory=self.memory, action=command, format_ok=True)

    def _read(self) -> str:
        try:
            line = self.ask("> ").strip()
        except EOFError as error:
            raise PersonLeft("The input has ended: nobody is there to answer.") from error
        if line in ("quit", "exit"):
            raise PersonLeft("The person has quit.")
        return line

    def _answer(self, line: str) -> str | None:
        """What to send to the environment, if the line says so."""
        word, _, rest = line.partition(" ")
        if line == "help":
            self.show(_HELP)
        elif line == "valid":
            self._list_valid()
        elif word == "memory":
            self._note(rest.strip())
        elif word == "explore" and rest:
            self.explore = rest.strip()
        elif line.isdecimal() and self.valid:
            if 1 <= int(line) <= len(self.valid):
                return self.valid[int(line) - 1]
            self.show(f"There is no action {line}: expected a number from 1 to {len(self.valid)}.")
        else:
            return line.removeprefix("!").strip()
        return None

    def _note(self, text: str) -> None:
        if text == "clear":
            self.memory = ""
        elif text.startswith("="):
            self.memory = text[1:].strip()
        elif text:
            self.memory = f"{self.memory}\n{text}" if self.memory else text
        self.show(self.memory or "(no notes)")

    def _present(self) -> None:
        seen = self.observation
        self.show(f"\n{seen.context.task}  step {seen.context.t + 1}\nGoal: {seen.goal}\n\n{seen.state}")
        for title, text in (("Elements", seen.elements), ("Explore", seen.explore), ("Notes", seen.memory)):
            if text:
                self.show(f"{title}: {text}")
        self._list_valid()

    def _list_valid(self) -> None:
        numbered = (f"{number:>4}  {' '.join(action.split())}" for number, action in enumerate(self.valid, 1))
        self.show("\n".join(numbered) or "This environment does not list its actions; help says what else to write.")
