"""`eapo-gym play`: a person in the agent's place, with the same state, commands, rollback, and notes as memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from eapo_gym.cli.targets import find_spec, make_env
from eapo_gym.cli.terminal import console, plain
from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ActionError, EapoError
from eapo_gym.wrappers import Rollback, VisitationDepth

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_HELP = """\
  NUMBER or COMMAND   do it; !COMMAND sends it as it stands, possible or not
  rollback            take back the last change, where there is a way back
  valid               list the valid actions again
  memory              show your notes; memory TEXT adds a line, memory = TEXT replaces them, memory clear empties them
  hint                the next command of a shortest plan, where the environment has an oracle
  again, next         play this task again, or another one
  help, quit
The environment's own command of such a name is reached by its number, or as !help."""

_FEW_CHARACTERS = 28
"""The least width of a column of actions."""


def play(target: str, kwargs: dict[str, Any], *, rollback: str, task: str | None, seed: int | None) -> None:
    """Play `target` in the terminal, until the person quits or the input ends."""
    env = make_playable(target, kwargs, rollback)
    try:
        Session(env, console(), target).run(task, seed)
    finally:
        env.close()


def make_playable(target: str, kwargs: dict[str, Any], rollback: str) -> VisitationDepth:
    """The environment that takes commands, with rollback, and with its visits counted."""
    if ":" not in target and "schema" in find_spec(target).kwargs:
        env = make_env(target, {**kwargs, "schema": "native", "rollback": rollback})
    else:
        env = Rollback(make_env(target, kwargs), rollback)  # type: ignore[arg-type]
    return VisitationDepth(env)


class Session:
    """A person, a terminal, and an environment."""

    def __init__(self, env: VisitationDepth, out: Console, name: str) -> None:
        self.env = env
        self.out = out
        self.name = name
        self.notes: list[str] = []
        self.valid: list[str] = []
        self.info: Info = {}
        self.steps = 0
        self.over = False
        self._words: dict[str, Callable[[], None]] = {
            "help": lambda: self.out.print(_HELP, markup=False),
            "valid": self._show_valid,
            "hint": self._hint,
            "again": lambda: self._begin(self.env.task),
            "next": lambda: self._begin(None),
        }

    def run(self, task: str | None, seed: int | None) -> None:
        self._begin(task, seed)
        self.out.print("\n[dim]A number or a command; help says more.[/]")
        while True:
            line = self._read()
            if line is None or line in ("quit", "exit"):
                break
            self._answer(line)
        self._show_end()

    def _read(self) -> str | None:
        """A line from the person, None at the end of the input."""
        prompt = "solved> " if self.over and self.info.get("won") else "over> " if self.over else "> "
        if sys.stdin.isatty():
            _use_line_editing()
        try:
            line = input(prompt)
        except (EOFError, KeyboardInterrupt):
            self.out.print()
            return None
        if not sys.stdin.isatty():
            self.out.print(plain(line))
        return line.strip()

    def _answer(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if not line:
            return
        if line in self._words:
            self._words[line]()
        elif word == "memory":
            self._memory(rest.strip())
        elif self.over:
            self.out.print("The episode is over: again, next or quit.")
        elif line.startswith("!"):
            self._step(line[1:].strip())
        elif line.isdecimal():
            self._choose(int(line))
        else:
            self._command(line)

    # What a person can do

    def _begin(self, task: str | None, seed: int | None = None) -> None:
        obs, self.info = self.env.reset(seed=seed, options=None if task is None else {"task": task})
        self.steps, self.over, self.notes = 0, False, []
        self.out.print()
        self.out.rule(plain(f"{self.name}   {self.env.source}/{self.env.split}   {self.env.task}"), align="left")
        self.out.print("\n[bold]Goal:[/]", plain(obs["goal"]))
        self._show(obs)

    def _choose(self, number: int) -> None:
        if 1 <= number <= len(self.valid):
            self._step(self.valid[number - 1])
        else:
            self.out.print(f"There is no action {number}: expected a number from 1 to {len(self.valid)}.")

    def _command(self, text: str) -> None:
        try:
            command = self.env.parse_action(text)
        except ActionError as error:
            self.out.print(plain(error))
            self._suggest(text)
            return
        if self.valid and command not in self.valid and command != "rollback" and self._suggest(command):
            self.out.print(plain(f"(!{command} sends it as it stands.)", style="dim"))
            return
        self._step(command)

    def _suggest(self, text: str) -> bool:
        close = get_close_matches(text, self.valid, n=1, cutoff=0.75)
        if close:
            self.out.print(plain(f"Did you mean {close[0]!r}? That is number {self.valid.index(close[0]) + 1}."))
        return bool(close)

    def _step(self, command: str) -> None:
        obs, reward, terminated, truncated, self.info = self.env.step(command)
        self.steps += 1
        self.over = terminated or truncated
        self._show(obs)
        if "failure" in self.info:
            self.out.print(plain(f"The environment failed: {self.info['failure'].get('message')}", style="bold red"))
        if reward:
            self.out.print(f"reward {reward:g}")
        if self.info.get("won"):
            self.out.print(f"[bold green]Solved with step {self.steps}.[/]")
        elif self.over:
            self.out.print("[bold]The episode is over.[/] " + ("The steps are used up." if truncated else ""))

    def _memory(self, rest: str) -> None:
        if rest == "clear":
            self.notes = []
        elif rest.startswith("="):
            self.notes = [rest[1:].strip()]
        elif rest:
            self.notes.append(rest)
        self.out.print(plain("\n".join(f"  | {note}" for note in self.notes) or "  (no notes)", style="yellow"))

    def _hint(self) -> None:
        self.out.print(plain(hint(self.env)))

    # What a person sees

    def _show(self, obs: Obs) -> None:
        self.valid = list(self.env.valid_actions() or [])
        self.out.print()
        self.out.print(plain(obs["state"]))
        if obs.get("elements"):
            self.out.print(plain(obs["elements"]))
        self.out.print(plain(self._status(), style="dim"))
        if not self.info.get("won"):
            self._show_valid()

    def _status(self) -> str:
        limit = self.env.spec.max_episode_steps if self.env.spec is not None else None
        parts = [
            f"step {self.steps}" + (f" of {limit}" if limit else ""),
            f"κ {self.info['visits']}",
            f"exploration degree {self.info['exploration_degree']:.2f}",
        ]
        if self.info.get("invalid_action"):
            parts.append("not possible here")
        rollback = self.info.get("rollback")
        if rollback is not None:
            parts.append("rollback held" if rollback["held"] else f"rollback did not hold: {rollback['reason']}")
        return " · ".join(parts)

    def _show_valid(self) -> None:
        if not self.valid:
            self.out.print("[dim]This environment does not list its actions.[/]")
            return
        self.out.print(_in_columns(self.valid, self.out.width))

    def _show_end(self) -> None:
        outcome = "solved" if self.info.get("won") else "not solved"
        self.out.print(
            plain(
                f"{outcome}, {self.steps} steps, exploration degree {self.info['exploration_degree']:.2f} "
                f"({self.info['exploration_degree_no_self_loops']:.2f} without self-loops)"
            )
        )


def _in_columns(actions: list[str], width: int) -> Table:
    """Numbered actions, downwards and then to the right."""
    from rich.table import Table
    from rich.text import Text

    longest = max(_FEW_CHARACTERS, *(len(action) + 6 for action in actions))
    columns = max(1, width // longest)
    rows = -(-len(actions) // columns)
    table = Table.grid(padding=(0, 2, 0, 0))
    numbered = [
        Text.assemble((f"{i:>3} ", "cyan"), plain(" ".join(action.split()))) for i, action in enumerate(actions, 1)
    ]
    for row in range(rows):
        table.add_row(*numbered[row::rows])
    return table


def hint(env: gym.Env[Any, Any]) -> str:
    """The first command of a shortest plan, or why there is none."""
    from eapo_gym.envs.alfworld.env import ALFWorldEnv
    from eapo_gym.envs.alfworld.experts import plan

    core = env.unwrapped
    if not isinstance(core, ALFWorldEnv):
        return "No oracle knows this environment."
    try:
        commands = plan(core.game, core.state)
    except EapoError as error:
        return str(error)
    return f"{commands[0]}   ({len(commands)} to go)" if commands else "The task is done."


def _use_line_editing() -> None:
    """History and editing for `input`, on systems that have them."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
