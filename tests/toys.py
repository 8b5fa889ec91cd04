"""A small, complete `AgentEnv` for tests: a corridor of rooms, a key, a door, and a lamp that never goes off again."""

from __future__ import annotations

from typing import Any

from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.errors import ActionError
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space

COMMANDS = ("left", "right", "take key", "drop key", "light lamp", "unlock door", "look")


class Corridor(AgentEnv):
    """Find the key in one of the rooms, carry it to the last room, unlock the door."""

    def __init__(self, rooms: int = 4, split: str = "train", render_mode: str | None = None) -> None:
        self.rooms = rooms
        self.split = split
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = AnyText(MAX_TEXT, examples=COMMANDS)
        self._at, self._key, self._holding, self._lamp, self._won, self._text = 0, 0, False, False, False, ""

    def tasks(self, split: str | None = None) -> list[str]:
        return [f"{split or self.split}/key-in-{room}" for room in range(self.rooms)]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        self.task = self.choose_task(options)
        self._at, self._key = 0, int(self.task.rsplit("-", 1)[1])
        self._holding = self._lamp = self._won = False
        self._text = self.describe()
        return self._obs(), self._info()

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected a command (str), got {type(action).__name__}")
        if action in self.valid_actions():
            self._apply(action)
            self._text = self.describe()
        else:
            self._text = "Nothing happens."
        return self._obs(), float(self._won), self._won, False, self._info()

    def _apply(self, action: str) -> None:
        if action == "left":
            self._at -= 1
        elif action == "right":
            self._at += 1
        elif action == "take key":
            self._holding = True
        elif action == "drop key":
            self._holding, self._key = False, self._at
        elif action == "light lamp":
            self._lamp = True
        elif action == "unlock door":
            self._won = True

    def valid_actions(self) -> list[str]:
        actions = ["look"]
        if self._at > 0:
            actions.append("left")
        if self._at < self.rooms - 1:
            actions.append("right")
        if self._holding:
            actions.append("drop key")
            if self._at == self.rooms - 1:
                actions.append("unlock door")
        elif self._key == self._at:
            actions.append("take key")
        if not self._lamp:
            actions.append("light lamp")
        return sorted(actions)

    def inverse(self, action: str) -> list[str]:
        pairs = {"left": "right", "right": "left", "take key": "drop key", "drop key": "take key"}
        return [pairs[action]] if action in pairs and action in self.valid_actions() else []

    def fingerprint(self) -> str:
        key = "hand" if self._holding else self._key
        return f"{self.task}|{self._at}|{key}|{self._lamp}|{self._won}"

    def snapshot(self) -> Any:
        return self.task, self._at, self._key, self._holding, self._lamp, self._won, self._text

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self.task, self._at, self._key, self._holding, self._lamp, self._won, self._text = snapshot
        return self._obs(), self._info()

    def describe(self) -> str:
        things = ["a lamp that is on" if self._lamp else "a lamp that is off"]
        if not self._holding and self._key == self._at:
            things.append("a key")
        hand = " You hold the key." if self._holding else ""
        return f"You are in room {self._at}. You see {' and '.join(things)}.{hand}"

    def parse_action(self, text: str) -> str:
        command = text.strip()
        if command not in COMMANDS:
            raise ActionError(f"{command!r:.80} is no command here: expected one like 'take key'.", "take key")
        return command

    def render(self) -> str | None:
        return self._text if self.render_mode == "ansi" else None

    def _obs(self) -> Obs:
        return {"goal": "Unlock the door.", "state": self._text}

    def _info(self) -> Info:
        return {"task": self.task, "source": self.source, "split": self.split, "won": self._won}
