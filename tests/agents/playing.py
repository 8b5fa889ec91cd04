"""Plays agents through environments of the explore schema, several episodes by turns."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from eapo_gym.agents.base import Agent, Response, as_response
from eapo_gym.schema import Context, Exchange, Observation


@dataclass
class Played:
    won: bool = False
    responses: list[Response] = field(default_factory=list)
    infos: list[dict[str, Any]] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)


class Episode:
    def __init__(self, env: gym.Env[Any, Any], env_id: str, task: str, seed: int) -> None:
        self.env, self.env_id, self.task, self.seed = env, env_id, task, seed
        self.obs, _ = env.reset(seed=seed, options={"task": task})
        self.history: tuple[Exchange, ...] = ()
        self.played = Played()
        self.over = False

    def step(self, agent: Agent) -> None:
        t = len(self.played.responses)
        seed = zlib.crc32(f"{self.seed} {self.task} {t}".encode())
        valid = self.env.get_wrapper_attr("valid_actions")()
        seen = Observation.from_dict(
            self.obs,
            valid_actions=None if valid is None else tuple(valid),
            history=self.history if agent.wants_history else (),
            context=Context(self.env_id, self.task, f"{self.task}#{self.seed}", t, seed),
        )
        answer = agent.act_in(self.env, seen) if agent.privileged else agent.act(seen)
        response = as_response(answer)
        self.obs, _, terminated, truncated, info = self.env.step(response.text)
        self.history += (Exchange(seen.state, response.text, info["action"]),)
        self.played.responses.append(response)
        self.played.infos.append(info)
        self.played.observations.append(seen)
        self.played.won = bool(info["won"])
        self.over = terminated or truncated


def play(agent: Agent, env_id: str, tasks: Sequence[str], *, seed: int = 0, **kwargs: Any) -> list[Played]:
    """One episode for each task, a step of each by turns: an agent that kept anything would mix them up."""
    episodes = [Episode(gym.make(env_id, **kwargs), env_id, task, seed) for task in tasks]
    while not all(episode.over for episode in episodes):
        for episode in episodes:
            if not episode.over:
                episode.step(agent)
    for episode in episodes:
        episode.env.close()
    return [episode.played for episode in episodes]
