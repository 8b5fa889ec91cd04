"""Where one episode after the other is played: an environment and its thread, both replaced when they break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import gymnasium as gym

from eapo_gym.agents.base import Agent
from eapo_gym.bench.hands import Hand
from eapo_gym.bench.records import Episode, Outcome
from eapo_gym.bench.rollout import Begin, KeepsPictures, Limits, play, without_exit
from eapo_gym.errors import EapoError
from eapo_gym.schema import Trajectory

Answer = TypeVar("Answer")

_CLOSING = 10.0
"""Seconds that an environment has to close itself at the end."""


class TooLate(EapoError, RuntimeError):
    """Something that is done before an episode begins, and takes longer than it may."""


class Seat:
    """Where a worker plays: an environment and the thread that it lives in, both replaced when they break."""

    def __init__(self, make: Callable[[], gym.Env[Any, Any]], limit: float | None) -> None:
        self.make, self._limit = make, limit
        self._made: list[gym.Env[Any, Any]] = []
        """The environment; filled by the thread, so that one that is made too late is closed all the same."""

        self.hand = Hand("environment")

    async def env(self) -> gym.Env[Any, Any]:
        if not self._made:
            made = self._made
            await self.call("Making the environment", lambda: made.append(self.make()))
        return self._made[0]

    async def call(self, what: str, function: Callable[..., Answer], *args: Any) -> Answer:
        """What the function returns, called in the thread and given as long as the beginning of an episode may take."""
        calling = asyncio.ensure_future(without_exit(lambda: self.hand.call(function, *args)))
        try:
            done, _ = await asyncio.wait([calling], timeout=self._limit)
            if done:
                return calling.result()
        finally:
            calling.cancel()
        raise TooLate(f"{what} took longer than its {self._limit:g} s (limits.reset).")

    def give_up(self) -> None:
        """Leave the environment to close itself, if it can, and go on with another one."""
        if self.hand.busy:
            _abort(self._made)
        self.hand.leave(partial(_close, self._made))
        self._made, self.hand = [], Hand("environment")

    async def close(self) -> None:
        made, self._made = self._made, []
        if made or self.hand.busy:
            closing = asyncio.ensure_future(without_exit(lambda: self.hand.call(_close, made)))
            done, _ = await asyncio.wait([closing], timeout=_CLOSING if made else 0)
            if not done:
                _abort(made)
            elif not closing.cancelled():
                closing.exception()  # a result is none the worse for an environment that does not close
            closing.cancel()
        self.hand.leave()


async def play_in(
    seat: Seat,
    agent: Agent,
    *,
    task: str,
    seed: int,
    repeat: int = 0,
    retries: int = 0,
    env_id: str = "",
    limits: Limits | None = None,
    pictures: KeepsPictures | None = None,
    on_step: Callable[[], None] | None = None,
    begin: Begin | None = None,
    describes: bool = False,
) -> Episode:
    """Play an episode (`play`), begun again where the infrastructure has failed it.

    `info["tries"]` of its trajectory says how often it was begun. A seat whose environment failed has another one
    afterwards.
    """
    tries = 0
    while True:
        tries += 1
        try:
            env = await seat.env()
        except TooLate as error:
            episode = _unplayed(agent, task, seed, repeat, "timeout", str(error))
        except Exception as error:
            said = f"The environment could not be made: {type(error).__name__}: {error}"
            episode = _unplayed(agent, task, seed, repeat, "infrastructure", said)
        else:
            episode = await play(
                env,
                agent,
                task=task,
                seed=seed,
                repeat=repeat,
                env_id=env_id,
                limits=limits,
                pictures=pictures,
                hand=seat.hand,
                on_step=on_step,
                begin=begin,
                describes=describes,
            )
        failed = episode.outcome == "infrastructure"
        if failed or seat.hand.busy:
            seat.give_up()
        if not failed or tries > retries:
            episode.trajectory.info["tries"] = tries
            return episode


def _unplayed(agent: Agent, task: str, seed: int, repeat: int, outcome: Outcome, error: str) -> Episode:
    name = agent.name or type(agent).__name__
    episode = Episode(name, Trajectory(task, ""), outcome=outcome, error=error, repeat=repeat)
    episode.trajectory.info["seed"] = seed
    return episode


def _close(made: list[gym.Env[Any, Any]]) -> None:
    for env in made:
        env.close()


def _abort(made: list[gym.Env[Any, Any]]) -> None:
    """What would go on with a call for long is told to stop, where it can be."""
    for env in made:
        abort = getattr(env.unwrapped, "abort", None)
        if callable(abort):
            with suppress(Exception):
                abort()
