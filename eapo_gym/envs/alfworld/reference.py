"""The reference engine: ALFWorld as its own users run it, behind the same contract.

It is the measure for the native engine, not a thing to train on: a thousand times slower, and it leaks, cannot be
copied, and crashes with threads. So it lives in a process of its own (`hosted_reference`), replaced now and then.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.base import Info, Obs, SnapshotKind
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import MissingExtra, SnapshotError

PYTHON_VARIABLE = "EAPO_REFERENCE_PYTHON"
"""An interpreter that has eapo-gym[alfworld], for those who keep ALFWorld's pins out of their own environment."""


def hosted_reference(
    split: str | None = None,
    games: int | Sequence[str] | PathLike[str] | None = None,
    source: str | None = None,
    render_mode: str | None = None,
    task_types: Sequence[str] | None = None,
    difficulty: str | None = None,
    rooms: Sequence[str] | None = None,
    *,
    python: str | None = None,
    timeout: float = 120.0,
) -> HostedEnv:
    """The reference engine in a process of its own."""
    python = python or os.environ.get(PYTHON_VARIABLE) or None
    if python is None and not is_installed():
        raise MissingExtra.of("engine='textworld'", "alfworld")
    return HostedEnv(
        f"{__name__}:ReferenceALFWorldEnv",
        {
            "split": split,
            "games": os.fspath(games) if isinstance(games, PathLike) else games,
            "source": source,
            "render_mode": render_mode,
            "task_types": task_types,
            "difficulty": difficulty,
            "rooms": rooms,
        },
        python=python,
        timeout=timeout,
        recycle_episodes=50,
        recycle_bytes=2 << 30,
    )


def is_installed() -> bool:
    """Whether this interpreter has the packages of the reference engine."""
    return all(find_spec(package) is not None for package in ("alfworld", "textworld", "fast_downward"))


class ReferenceALFWorldEnv(ALFWorldEnv):
    """Plays through `textworld.gym` with ALFWorld's own wrappers; the native engine only reads states (fingerprints).

    A snapshot is the list of commands so far, and `restore` plays them again.
    """

    engine = "textworld"
    quick = False
    snapshot_kind: SnapshotKind = "replay"  # type: ignore[misc]

    def __init__(
        self,
        split: str | None = None,
        games: int | Sequence[str] | PathLike[str] | None = None,
        source: str | None = None,
        render_mode: str | None = None,
        task_types: Sequence[str] | None = None,
        difficulty: str | None = None,
        rooms: Sequence[str] | None = None,
    ) -> None:
        super().__init__(split, games, source, render_mode, task_types, difficulty, rooms)
        self._witness, self._textworld = _textworld_env()
        self._infos: dict[str, Any] = {}
        self._history: list[str] = []
        self._written = tempfile.TemporaryDirectory(prefix="eapo-gym-")

    def _begin(self) -> str:
        # What reset() of textworld.gym does, with a game of our choice.
        self._textworld._gamefiles_iterator = iter([str(self._file())])
        text, self._infos = self._textworld.reset()
        self._history = []
        self._read_state()
        return str(text)

    def _act(self, command: str) -> tuple[str, bool]:
        valid = command.strip() in self._infos["admissible_commands"]
        text, _, _, self._infos = self._textworld.step(command)
        self._history.append(command)
        self._read_state()
        return str(text), valid

    def _won(self) -> bool:
        return bool(self._infos["won"])

    def _commands(self) -> list[str]:
        return list(self._infos["admissible_commands"])

    def snapshot(self) -> tuple[str, tuple[str, ...]]:
        return self.task, tuple(self._history)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        try:
            task, history = snapshot
        except (TypeError, ValueError):
            raise SnapshotError(f"expected a task and its commands, got {snapshot!r:.80}") from None
        if task != self.task or self._history != list(history):
            self.reset(options={"task": task})
            for command in history:
                self._text, _ = self._act(command)
        info = self._info(valid=True)
        info["won"] = self._won()
        return self._observation(), info

    def close(self) -> None:
        self._written.cleanup()
        super().close()

    def _read_state(self) -> None:
        fluents = self.game.facts.fluents
        self.state = self.game.state_of(fact for fact in self._witness.facts() if fact[0] in fluents)

    def _file(self) -> Path:
        file = self.library.file(self.split, self.task)
        if file is None:
            from eapo_gym.envs.alfworld.generator import embedded_game

            file = embedded_game(self.task).write(self._written.name)
        return file


def _textworld_env() -> tuple[Any, Any]:
    import textworld
    import textworld.gym
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
    from textworld.gym.envs import TextworldGymEnv

    class Witness(textworld.core.Wrapper):  # type: ignore[misc]
        """Sees the facts behind the texts."""

        def reset(self, *args: Any, **kwargs: Any) -> Any:
            self.seen = super().reset(*args, **kwargs)
            return self.seen

        def step(self, command: str) -> Any:
            self.seen, score, done = super().step(command)
            return self.seen, score, done

        def facts(self) -> list[tuple[str, ...]]:
            return [(fact.name, *(argument.name for argument in fact.arguments)) for fact in self.seen["_facts"]]

    witness = Witness()
    env = TextworldGymEnv(
        gamefiles=[],
        request_infos=textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"]),
        asynchronous=False,
        wrappers=[AlfredDemangler(), AlfredInfos, witness],
    )
    return witness, env
