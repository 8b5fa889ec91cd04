"""A person somewhere else, as an agent: each observation waits until somebody has answered it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from eapo_gym.agents.base import Agent, Answer
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.schema import Observation, Turn


class PersonGone(EngineUnavailable):
    """The person goes on with something else: this episode ends here."""


class Person(Agent):
    """Answers with the turns that `answer` is given; `ask` is told what there is to be answered.

    Both ends are in the event loop of the game; who is not gets there with `call_soon_threadsafe`.
    """

    name = "human"

    def __init__(self, ask: Callable[[Observation], None]) -> None:
        self._ask = ask
        self._awaited: asyncio.Future[Turn] | None = None

    async def act_async(self, observation: Observation) -> Answer:
        self._awaited = asyncio.get_running_loop().create_future()
        try:
            self._ask(observation)
            return await self._awaited
        finally:
            self._awaited = None

    def answer(self, turn: Turn) -> None:
        """What the person does."""
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(turn)

    def leave(self) -> None:
        """The person answers no more."""
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(PersonGone("The person has left this episode."))
