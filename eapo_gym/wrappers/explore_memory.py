"""`ExploreMemory`: the action is the model's whole response, and what it explored and remembers comes back to it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ActionError
from eapo_gym.protocol import parse, render
from eapo_gym.schema import MAX_TEXT, AnyText, Turn
from eapo_gym.wrappers.base import AnsweringWrapper, StepResult


class ExploreMemory(AnsweringWrapper, gym.utils.RecordConstructorArgs):
    """Reads a response, executes the action in it, and threads `explore` and `memory` into the next observation.

    Memory is never lost: a response without a memory section leaves it as it was. A response without anything to
    execute does not reach the environment, but it is a step with reward 0, and its explore and memory count.
    `info["turn"]` has the response as it was read, with all that is wrong with its form.
    """

    place = 2
    place_reason = "because Rollback takes commands, and they have to be read from the response first"

    def __init__(self, env: gym.Env[Any, Any], max_text: int = MAX_TEXT) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, max_text=max_text)
        AnsweringWrapper.__init__(self, env)
        self.max_text = max_text
        self.observation_space = spaces.Dict(
            {**self.shown.spaces, "explore": AnyText(max_text), "memory": AnyText(max_text)}
        )
        commands = getattr(env.action_space, "examples", ())
        self.action_space = AnyText(MAX_TEXT, examples=[_example(command) for command in commands])
        self._explore = self._memory = ""

    def parse_action(self, text: str) -> str:
        """The command in a response; a bare command is a response too, in its leanest form."""
        turn = parse(text, self.inner.parse_action)
        if turn.action is None:
            raise ActionError(turn.problems[-1])
        return turn.action

    def inverse(self, action: str) -> list[str]:
        command = parse(action, self.inner.parse_action).action
        return [] if command is None else self.inner.inverse(command)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        obs, info = self.env.reset(seed=seed, options=options)
        self._explore = self._memory = ""
        return self.show(obs, info)

    def show(self, obs: Obs, info: Info) -> tuple[Obs, Info]:
        obs, info = super().show(obs, info)
        return self._with_text(obs), info

    def branch_state(self) -> Any:
        return super().branch_state(), self._explore, self._memory

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        notice, self._explore, self._memory = state
        obs, info = super().resume_state(notice, obs, info)
        return self._with_text(obs), info

    def step(self, action: str) -> StepResult:
        if not isinstance(action, str):
            raise TypeError(f"expected a response (str), got {type(action).__name__}")
        turn = parse(action, self.inner.parse_action)
        self._explore = self._fit(turn.explore)
        if turn.memory is not None:
            self._memory = self._fit(turn.memory)
        if turn.action is None:
            obs, reward, terminated, truncated, info = self.answer(f"Nothing was executed: {turn.problems[-1]}")
            obs = self._with_text(obs)
        else:
            obs, given, terminated, truncated, info = self.env.step(turn.action)
            obs, info = self.show(obs, info)
            reward = float(given)
        info["turn"], info["format_ok"], info["action"] = turn, turn.format_ok, turn.action
        return obs, reward, terminated, truncated, info

    def _with_text(self, obs: Obs) -> Obs:
        return {**obs, "explore": self._explore, "memory": self._memory}

    def _fit(self, text: str) -> str:
        """What the observation has room for; the agent is told in it that there was more."""
        if len(text) <= self.max_text:
            return text
        note = f" … (cut here: {len(text)} characters, and only {self.max_text} fit)"
        return (text[: max(0, self.max_text - len(note))] + note)[: self.max_text]


def _example(command: str) -> str:
    return render(Turn(explore=f"See what comes of: {command}", memory=f"Last command: {command}", action=command))
