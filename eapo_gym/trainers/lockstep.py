"""`LockStep`: an engine that answers many episodes by turns, so that the same seeds give the same numbers to the bit.

    engine = LockStep(engine)
    async with engine.participant((0, 3)):
        await play(env, agent_of(engine), …)

What a model computes for one row of a batch depends, in its last bits, on the other rows; and which requests meet in a
batch depends on how long environments take. Here requests wait until every participant has one (or has left), and are
then given to the engine at once, in the order of the participants. So the batches of two runs are the same.

It costs the waiting: a turn takes as long as its longest response, and as the slowest environment. On a CPU, where
models are small and environments quick, that is little; on a GPU it is not worth it. Time-outs of responses and
episodes include the waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar

import numpy as np

from eapo_gym.engines.base import Completion, Engine, EngineError, Message, Prompt, Sampling

Order = tuple[int, ...]
"""The place of a participant within a turn; all participants of a time have different ones."""

_PATIENCE = 60.0


class LockStep(Engine):
    """See the module. Requests from outside of any participant go to the engine as they come.

    Args:
        engine: what answers; closing this closes it.
        patience: seconds that the others wait for a participant whose environment is slow or hangs. Then turns are
            taken without it until it asks again, since one episode must not hold up all others. `turns_without` in
            `stats` says how often that was so; the run is then no longer the one that the seed would give.
    """

    kind: ClassVar[str] = "lockstep"

    def __init__(self, engine: Engine, *, patience: float = _PATIENCE) -> None:
        self.engine = engine
        self.patience = patience
        self.model, self.capabilities, self.context = engine.model, engine.capabilities, engine.context
        self._participants: set[Participant] = set()
        self._late: set[Participant] = set()
        """Those who were waited for in vain, and have not asked since."""

        self._waiting: list[_Request] = []
        self._asked: list[_Request] = []
        self._turn: asyncio.Task[None] | None = None
        self._look_soon = False
        self._timer: asyncio.TimerHandle | None = None
        self._turns = self._turns_without = 0

    def participant(self, order: Order) -> Participant:
        """A context: all that is asked within it, in tasks that it begins too, is asked by turns."""
        return Participant(self, order)

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        who = _present.get()
        if who is None or who not in self._participants:
            return await self.engine.generate(prompts, sampling)
        request = _Request(who, prompts, sampling, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self._late.discard(who)
        self._changed()
        try:
            return await request.answer
        except asyncio.CancelledError:
            self._forget(request)
            raise

    def _forget(self, request: _Request) -> None:
        """Nobody waits for it any more."""
        if request in self._waiting:
            self._waiting.remove(request)
        elif self._turn is not None and all(asked.answer.done() for asked in self._asked):
            self._turn.cancel()

    # Turns

    def enter(self, participant: Participant) -> None:
        if any(other.order == participant.order for other in self._participants):
            raise ValueError(f"There is a participant with order {participant.order} already: expected another order.")
        if not self._participants:
            self._begin()
        self._participants.add(participant)

    def leave(self, participant: Participant) -> None:
        self._participants.discard(participant)
        self._late.discard(participant)
        self._changed()

    def _begin(self) -> None:
        """An event loop that was ended in the middle may have left something behind."""
        self._look_soon = False
        self._stop_timer()

    def _changed(self) -> None:
        """Look whether it is time for a turn, once all that happens at this very moment has happened.

        A worker that leaves with one episode and enters with the next does so at one moment.
        """
        if not self._look_soon:
            self._look_soon = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        self._look_soon = False
        if self._turn is not None or not self._waiting:
            return
        if len(self._waiting) + len(self._late) >= len(self._participants) and not self._busy():
            self._take_turn()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.patience, self._lose_patience)

    def _busy(self) -> set[Participant]:
        """Those who are waited for."""
        return self._participants - self._late - {request.who for request in self._waiting}

    def _lose_patience(self) -> None:
        self._timer = None
        if self._turn is None and self._waiting:
            self._late |= self._busy()
            self._turns_without += 1
            self._take_turn()

    def _take_turn(self) -> None:
        self._stop_timer()
        self._asked, self._waiting = sorted(self._waiting, key=lambda request: request.who.order), []
        self._turns += 1
        self._turn = asyncio.ensure_future(self._answer(self._asked))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _answer(self, requests: list[_Request]) -> None:
        try:
            answers = await self.engine.generate_all([(request.prompts, request.sampling) for request in requests])
            for request, answer in zip(requests, answers, strict=True):
                if request.answer.done():  # nobody waits for it any more
                    continue
                if isinstance(answer, EngineError):
                    request.answer.set_exception(answer)
                else:
                    request.answer.set_result(answer)
        except Exception as error:  # whoever asked is told
            for request in requests:
                if not request.answer.done():
                    request.answer.set_exception(error)
        finally:
            for request in requests:  # the event loop ends in the middle of a turn
                request.answer.cancel()
            self._turn, self._asked = None, []
            self._changed()

    # All else is the engine's own

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        return self.engine.prompt(messages, prefill=prefill)

    def encode(self, text: str) -> list[int]:
        return self.engine.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self.engine.decode(ids)

    def image_tokens(self, image: np.ndarray) -> int | None:
        return self.engine.image_tokens(image)

    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        return await self.engine.score(prompts, targets, adapter=adapter)

    async def update_weights(self, weights: Iterable[tuple[str, Any]]) -> None:
        await self.engine.update_weights(weights)

    async def load_adapter(self, name: str, folder: str) -> None:
        await self.engine.load_adapter(name, folder)

    def forget_prefixes(self) -> None:
        """Nothing that was asked before may show in the numbers: neither other weights nor another batch."""
        forget = getattr(self.engine, "forget_prefixes", None)
        if forget is not None:
            forget()

    def stats(self) -> Mapping[str, float]:
        return {**self.engine.stats(), "turns": self._turns, "turns_without": self._turns_without}

    def stamp(self) -> dict[str, Any]:
        return self.engine.stamp()

    async def close(self) -> None:
        await self.engine.close()


class Participant:
    """One of those who are asked by turns, while it is entered."""

    def __init__(self, lockstep: LockStep, order: Order) -> None:
        self.order = order
        self._lockstep = lockstep
        self._token: Token[Participant | None] | None = None

    async def __aenter__(self) -> Participant:
        self._lockstep.enter(self)
        self._token = _present.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        _present.reset(self._token)
        self._lockstep.leave(self)


_present: ContextVar[Participant | None] = ContextVar("participant", default=None)
"""Who asks, in this task and in those that it begins."""


@dataclass(slots=True, eq=False)
class _Request:
    who: Participant
    prompts: Sequence[Prompt]
    sampling: Sampling
    answer: asyncio.Future[list[Completion]]
