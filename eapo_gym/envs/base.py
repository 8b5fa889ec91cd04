"""The contract of an environment: a `gymnasium.Env` that also knows who it is, can be saved, and can be undone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import Any, ClassVar, Literal

import gymnasium as gym

from eapo_gym.errors import UnknownName

Obs = dict[str, Any]
Info = dict[str, Any]
SnapshotKind = Literal["copy", "replay", "device"]


class AgentEnv(gym.Env[Obs, str], ABC):
    """One environment behind the explore / memory / rollback schema.

    The observation is a `spaces.Dict` with at least `goal` and `state` (text), the action is text: one command in the
    environment's own language. `info` of reset and step carries at least `task`, `source`, `split` and `won`. Where a
    step says `invalid_action` too, it must be right: True for what does nothing here, False for a valid action.

    `eapo_gym.check_agent_env` verifies every promise below.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    snapshot_kind: ClassVar[SnapshotKind] = "copy"
    """How `snapshot` works: a copy in memory, a replay of the episode's actions, or a snapshot of a device / VM."""

    quick: ClassVar[bool] = False
    """True if a call takes about a millisecond at most and never hangs: then it may be made within an event loop."""

    source: str = "embedded"
    """Where the tasks come from: "official" (the benchmark's own data) or "embedded" (generated, offline)."""

    split: str = ""
    task: str = ""
    """The id of the task that is being played; empty before the first reset."""

    @abstractmethod
    def tasks(self, split: str | None = None) -> list[str]:
        """Ids of the tasks of a split (default: of this environment's)."""

    def catalogue(self) -> str:
        """Which tasks these are: two environments with the same answer have the same ones, as far as can be told."""
        ids = "\n".join(self.tasks())
        return f"{len(self.tasks())} tasks, {blake2b(ids.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"

    @abstractmethod
    def fingerprint(self) -> str:
        """Identity of the environment's state: equal if and only if the environment itself is in the same state.

        The same in every process and run; nothing of the transcript (clock, step count, last feedback) belongs to it.
        """

    @abstractmethod
    def snapshot(self) -> Any:
        """The state, for `restore`. It stays valid while the environment goes on, and can be used many times."""

    @abstractmethod
    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        """Go back to a snapshot: fingerprint, valid actions, rewards and later transitions are as they were then."""

    @abstractmethod
    def describe(self) -> str:
        """A short text of the state: what a memory keeps when it stores the state."""

    @abstractmethod
    def valid_actions(self) -> list[str] | None:
        """Every action that does something here, or None where they cannot be listed."""

    @abstractmethod
    def parse_action(self, text: str) -> str:
        """The environment's command for `text`.

        Raises `ActionError`, which says what is wrong and shows a right one, if the text is no command of the language.
        A command that is well-formed but has no effect here is not an error.
        """

    def inverse(self, action: str) -> list[str]:
        """Native actions that would undo `action`, were it taken now; best first, none where there is no way back.

        Asked *before* the action is taken, since what undoes a move depends on where it started.
        """
        return []

    def oracle(self) -> str | None:
        """The next action of somebody who knows the environment, or None where there is nobody who does.

        It changes nothing, and is the same until the next step. Raises `ContractError` where they have lost the thread.
        """
        return None

    def live_page(self) -> dict[str, Any] | None:
        """What a person who plays in the browser sees of this state and clicks in, or None: they read its text.

        It looks and changes nothing. `eapo_gym.bench.live.views` says what a page is made of.
        """
        return None

    def choose_task(self, options: dict[str, Any] | None) -> str:
        """The task that `reset` was asked for, or one drawn with the environment's own generator."""
        if options is not None and not isinstance(options, dict):
            raise TypeError(f"options: expected a dict such as {{'task': …}}, got {type(options).__name__}")
        wanted = (options or {}).get("task")
        if wanted is None:
            tasks = self.tasks()
            return tasks[int(self.np_random.integers(len(tasks)))]
        if not isinstance(wanted, str):
            raise TypeError(f"options['task']: expected the id of a task (str), got {type(wanted).__name__}")
        tasks = self.tasks()
        if wanted not in tasks:
            raise UnknownName.of(f"task (source={self.source!r}, split={self.split!r})", wanted, tasks)
        return wanted
