"""`ALFWorldEnv`: household tasks in text, played by the native engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike
from typing import Any

from eapo_gym.envs.alfworld.commands import EXAMPLES, parse_command
from eapo_gym.envs.alfworld.data import Library, open_library, select
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.task_types import ROOMS, TASK_TYPES, check_names, room_of, task_type
from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.errors import ContractError, SnapshotError, UnknownName
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment of an episode. Plain data, so that it can be kept, sent to another process and restored there."""

    source: str
    split: str
    task: str
    facts: tuple[tuple[str, ...], ...]
    text: str


class ALFWorldEnv(AgentEnv):
    """ALFWorld's text games.

    Args:
        split: a split of the source; by default the first one (`train`, or `all` of a folder).
        games: play only these: a number (the first N; the embedded source makes as many as you like), a list of task
            ids, or a folder with game files of your own.
        source: "embedded" (generated games, always there), "official" (the benchmark's data), or "folder" (`games`).
        render_mode: "ansi" makes `render()` return the last text.
        task_types: only games of these kinds of task, such as ["pick_and_place_simple"]; of every split.
        rooms: only games in these kinds of rooms: "kitchen", "living room", "bedroom", "bathroom"; of every split.
        difficulty: of embedded games: "toy", "easy", "default", "hard", or "benchmark" (as hard as the official games).
    """

    engine = "native"
    quick = True

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
        a_folder = isinstance(games, PathLike | str)
        source = source or ("folder" if a_folder else "embedded")
        if a_folder != (source == "folder"):
            raise ValueError(
                f"source={source!r} and games={games!r:.80} do not go together: "
                "a folder of games is source='folder', and no other source has one."
            )
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownName.of("render_mode", render_mode, self.metadata["render_modes"])
        self.library: Library = open_library(source, games, difficulty)
        self.source = source
        self.split = self.library.splits()[0] if split is None else split
        self.task_types = check_names("task type", task_types, TASK_TYPES)
        self.rooms = check_names("kind of room", rooms, ROOMS)
        self._selected = self._wanted(select(self.library, self.split, games))
        if not self._selected:
            wanted = {"task_types": self.task_types, "rooms": self.rooms}
            said = ", ".join(f"{name}={list(names)}" for name, names in wanted.items() if names is not None)
            raise UnknownName(f"{said}: expected kinds that the games have, and none of them is of such a kind.")
        self.observation_space = observation_space()
        self.action_space = AnyText(MAX_TEXT, examples=EXAMPLES)
        self.render_mode = render_mode
        self._game: Game | None = None
        self.state = 0
        """The state of `game` (see game.py)."""
        self._text = ""
        self._marked: tuple[int, int] | None = None

    @property
    def game(self) -> Game:
        """The game that is being played."""
        if self._game is None:
            raise ContractError("No game is being played yet: call reset() first.")
        return self._game

    def tasks(self, split: str | None = None) -> list[str]:
        if split is None or split == self.split:
            return list(self._selected)
        return list(self._wanted(self.library.tasks(split)))

    def _wanted(self, tasks: tuple[str, ...]) -> tuple[str, ...]:
        types, rooms = self.task_types, self.rooms
        if types is not None:
            tasks = tuple(task for task in tasks if task_type(task) in types)
        if rooms is not None:
            tasks = tuple(task for task in tasks if room_of(task) in rooms)
        return tasks

    def catalogue(self) -> str:
        """By what is known of the games without reading them: of generated ones their digest, of files their size."""
        from eapo_gym.envs.alfworld.generator import VERSION
        from eapo_gym.envs.alfworld.generator.embedded import manifest

        digests = manifest().get(self.split, {}) if self.source == "embedded" else {}
        content = blake2b(digest_size=8)
        for task in self._selected:
            file = self.library.file(self.split, task)
            known = digests.get(task, "") if file is None else file.stat().st_size
            content.update(f"{task}\0{known}\n".encode("utf-8", "surrogateescape"))
        maker = f" of generator version {VERSION}" if self.source == "embedded" else ""
        return f"{len(self._selected)} games{maker}, {content.hexdigest()}"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        task = self.choose_task(options)
        self._game = self.library.load(self.split, task)
        self.task = task
        self._marked = None
        self._text = self._begin()
        return self._observation(), self._info(valid=True)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected a command (str) such as 'go to desk 1', got {type(action).__name__}")
        self._text, valid = self._act(action)
        won = self._won()
        info = self._info(valid)
        info["won"] = won
        return self._observation(), float(won), won, False, info

    # What an engine does

    def _begin(self) -> str:
        self.state = self.game.start()
        return self.game.intro

    def _act(self, command: str) -> tuple[str, bool]:
        self.state, text, valid = self.game.step(self.state, command)
        return text, valid

    def _won(self) -> bool:
        return self.game.won(self.state)

    def _commands(self) -> list[str]:
        return list(self.game.commands(self.state))

    # The contract

    def fingerprint(self) -> str:
        mark = self.game.mark(self.state, self._marked)
        self._marked = (self.state, mark)
        return f"{mark:032x}"

    def snapshot(self) -> Any:
        return _Moment(self.source, self.split, self.task, self.game, self.state, self._text)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        if not isinstance(snapshot, Snapshot | _Moment):
            raise SnapshotError(f"expected a snapshot of an ALFWorld environment, got {type(snapshot).__name__}")
        if (snapshot.source, snapshot.split) != (self.source, self.split):
            raise SnapshotError(
                f"This snapshot is of source={snapshot.source!r}, split={snapshot.split!r}, and this environment plays "
                f"source={self.source!r}, split={self.split!r}: restore it in one that plays the same."
            )
        if isinstance(snapshot, Snapshot):
            game = self.library.load(self.split, snapshot.task)
            state = game.state_of(snapshot.facts)
            snapshot = _Moment(self.source, self.split, snapshot.task, game, state, snapshot.text)
        if snapshot.game is not self._game:
            self._game, self._marked = snapshot.game, None
        self.task, self.state, self._text = snapshot.task, snapshot.state, snapshot.text
        info = self._info(valid=True)
        info["won"] = self._won()
        return self._observation(), info

    def valid_actions(self) -> list[str]:
        return self._commands()

    def parse_action(self, text: str) -> str:
        return parse_command(text)

    def inverse(self, action: str) -> list[str]:
        return self.game.inverses(self.state, action)

    def describe(self) -> str:
        """Where the agent is, what is there, and what it carries."""
        where, _, _ = self._said("look").partition(". ")
        here = [
            self._said(command)
            for command in self.game.commands(self.state)
            if command.startswith("examine ") and command.removeprefix("examine ") in where
        ]
        return " ".join([f"{where.rstrip('.')}.", *here, self._said("inventory")])

    def _said(self, command: str) -> str:
        return self.game.step(self.state, command)[1]

    def render(self) -> str | None:
        return self._text if self.render_mode == "ansi" else None

    def _observation(self) -> Obs:
        return {"goal": self.game.goal_text, "state": self._text}

    def _info(self, valid: bool) -> Info:
        return {
            "task": self.task,
            "source": self.source,
            "split": self.split,
            "engine": self.engine,
            "task_type": task_type(self.task),
            "won": False,
            "invalid_action": not valid,
            "admissible_commands": self._commands(),
        }


class _Moment:
    """A snapshot within this process: the game and a number. Elsewhere it arrives as a `Snapshot`, by its facts."""

    __slots__ = ("game", "source", "split", "state", "task", "text")

    def __init__(self, source: str, split: str, task: str, game: Game, state: int, text: str) -> None:
        self.source, self.split, self.task = source, split, task
        self.game, self.state, self.text = game, state, text

    def __reduce__(self) -> tuple[Any, ...]:
        facts = tuple(sorted(self.game.true_facts(self.state)))
        return Snapshot, (self.source, self.split, self.task, facts, self.text)
