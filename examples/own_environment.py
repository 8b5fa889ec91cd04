"""A whole environment of your own, and the check of its promises.

`eapo-gym new-env NAME` writes a fuller one to begin from, with a comment for every promise and a test.

    python examples/own_environment.py
"""

from typing import Any

import eapo_gym
from eapo_gym.errors import ActionError
from eapo_gym.schema import AnyText, observation_space

UNDONE_BY = {"up": "down", "down": "up", "take cat": "drop cat", "drop cat": "take cat"}
IN_ARMS = -1


class Stairs(eapo_gym.AgentEnv):
    """The cat sits on one of five floors, and belongs on the ground floor."""

    def __init__(self) -> None:
        self.observation_space = observation_space()
        self.action_space = AnyText(examples=tuple(UNDONE_BY))
        self.floor = self.cat = 0

    def tasks(self, split: str | None = None) -> list[str]:
        return [f"cat-on-{floor}" for floor in range(1, 5)]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.task = self.choose_task(options)
        return self.restore((self.task, 0, int(self.task[-1])))

    def step(self, action: str) -> tuple[Any, float, bool, bool, Any]:
        if action in self.valid_actions():
            self.floor += {"up": 1, "down": -1}.get(action, 0)
            self.cat = {"take cat": IN_ARMS, "drop cat": self.floor}.get(action, self.cat)
        obs, info = self.restore(self.snapshot())
        return obs, float(info["won"]), info["won"], False, info

    def valid_actions(self) -> list[str]:
        possible = (self.floor < 4, self.floor > 0, self.cat == self.floor, self.cat == IN_ARMS)
        return [command for command, can in zip(UNDONE_BY, possible, strict=True) if can]

    def parse_action(self, text: str) -> str:
        if text not in UNDONE_BY:
            raise ActionError(f"{text!r:.80} is no command: expected one of {', '.join(UNDONE_BY)}.", "up")
        return text

    def inverse(self, action: str) -> list[str]:
        return [UNDONE_BY[action]] if action in self.valid_actions() else []

    def fingerprint(self) -> str:
        return f"{self.task}, floor {self.floor}, cat {self.cat}"

    def snapshot(self) -> tuple[str, int, int]:
        return self.task, self.floor, self.cat

    def restore(self, snapshot: tuple[str, int, int]) -> tuple[Any, Any]:
        self.task, self.floor, self.cat = snapshot
        obs = {"goal": "Bring the cat to the ground floor.", "state": self.describe()}
        return obs, {"task": self.task, "source": self.source, "split": self.split, "won": self.cat == 0}

    def describe(self) -> str:
        cat = {IN_ARMS: " The cat is in your arms.", self.floor: " The cat is here."}.get(self.cat, "")
        return f"You are on floor {self.floor}.{cat}"


if __name__ == "__main__":
    print(eapo_gym.check_agent_env(Stairs()))
