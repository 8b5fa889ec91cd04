"""Does one engine say what another says? Walks that visit odd corners, transcripts of them, and their comparison.

A walk mixes the way to the goal, random commands (each verb as likely as the others, or it would be walking about and
little else) and junk. A transcript holds all that a player can notice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from random import Random
from typing import Any

from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.base import AgentEnv

JUNK = (
    "", "  ", "xyzzy", "look around", "LOOK", "go to nowhere 1", "go to  bed 1", "take", "take x from y",
    "open the fridge", "put mug 1 in/on desk 1", "move  to ", "examine", "help me", "inventory 1", "use desklamp 9",
    "é中\U0001f600", "look\n", " look ", " help\t", "go to desk 1 ", "<action>look</action>", "{}", "\x00",
)  # fmt: skip


@dataclass(slots=True)
class Step:
    """One command, and everything that came of it."""

    command: str
    state: str
    commands: list[str]
    reward: float
    won: bool
    fingerprint: str


@dataclass(slots=True)
class Transcript:
    """An episode as a player notices it; the first step is the reset, with an empty command."""

    task: str
    goal: str
    steps: list[Step] = field(default_factory=list)

    def to_json(self) -> str:
        """One line. Command lists, which repeat a lot, are kept as what was added and removed."""
        record = asdict(self)
        known: list[str] = []
        for step in record["steps"]:
            now = step["commands"]
            step["commands"] = [[c for c in now if c not in known], [c for c in known if c not in now]]
            known = now
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Transcript:
        record = json.loads(line)
        known: set[str] = set()
        for step in record["steps"]:
            added, removed = step["commands"]
            known = (known - set(removed)) | set(added)
            step["commands"] = sorted(known)
        return cls(record["task"], record["goal"], [Step(**step) for step in record["steps"]])


def walk(plan: Sequence[str], steps: int, rng: Random) -> Iterator[str | None]:
    """The commands of a mixed walk; None stands for a random one."""
    left = list(plan)
    for taken in range(steps + len(plan)):
        dice = rng.random()
        if left and (dice < 0.25 or taken >= steps):
            yield left.pop(0)
        elif taken >= steps:
            return
        elif dice < 0.4:
            yield rng.choice(JUNK)
        else:
            yield None


def random_command(commands: Sequence[str], rng: Random) -> str:
    """Any of the commands, each first word being as likely as the others."""
    by_verb: dict[str, list[str]] = {}
    for command in commands:
        by_verb.setdefault(command.split()[0], []).append(command)
    return rng.choice(by_verb[rng.choice(sorted(by_verb))])


def record(
    env: AgentEnv, task: str, plan: Sequence[str], steps: int, rng: Random, first: Sequence[str] = ()
) -> Transcript:
    """Play some commands as they are, then a mixed walk, until it is over or won."""
    observation, info = env.reset(options={"task": task})
    transcript = Transcript(task, observation["goal"])
    transcript.steps.append(_noted("", observation, 0.0, info, env))
    for command in chain(first, walk(plan, steps, rng)):
        taken = random_command(transcript.steps[-1].commands, rng) if command is None else command
        observation, reward, terminated, _, info = env.step(taken)
        transcript.steps.append(_noted(taken, observation, float(reward), info, env))
        if terminated:
            break
    return transcript


def replay(env: AgentEnv, transcript: Transcript) -> list[str]:
    """Play a transcript's commands again; returns what came out otherwise, one sentence each."""
    differences: list[str] = []
    observation, info = env.reset(options={"task": transcript.task})
    if observation["goal"] != transcript.goal:
        differences.append(f"{transcript.task}: the goal is {observation['goal']!r}, not {transcript.goal!r}")
    reward: Any = 0.0
    for number, noted in enumerate(transcript.steps):
        if number:
            observation, reward, _, _, info = env.step(noted.command)
        played = _noted(noted.command, observation, float(reward), info, env)
        for name in ("state", "commands", "reward", "won", "fingerprint"):
            expected, actual = getattr(noted, name), getattr(played, name)
            if expected != actual:
                differences.append(
                    f"{transcript.task}, step {number} ({noted.command!r}): {name} is {actual!r}, not {expected!r}"
                )
    return differences


def plan_of(env: ALFWorldEnv, task: str) -> list[str]:
    """A way to win: the walkthrough in the game's file, or the generator's plan."""
    file = env.library.file(env.split, task)
    if file is not None:
        return list(json.loads(file.read_bytes())["walkthrough"])
    from eapo_gym.envs.alfworld.generator import embedded_game

    return list(embedded_game(task).plan)


def _noted(command: str, observation: dict[str, Any], reward: float, info: dict[str, Any], env: AgentEnv) -> Step:
    commands = list(info["admissible_commands"])
    return Step(command, observation["state"], commands, reward, bool(info["won"]), env.fingerprint())
