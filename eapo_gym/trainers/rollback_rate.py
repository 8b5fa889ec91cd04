"""How often a model finds the way back: every pair is played again, the model is asked, its answer is carried out.

    rate = await measure_rollback(read_examples("data/held-out/rollback.jsonl"), engine)
    print(rate.returned)          # 93.1 % (90.4–95.1)

What counts is where the environment is afterwards, by its fingerprint, and not whether the answer reads as expected: of
two ways back either will do.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from eapo_gym.agents.loading import make_agent
from eapo_gym.agents.model import ModelAgent
from eapo_gym.bench.seat import Seat, TooLate
from eapo_gym.bench.setting import open_env
from eapo_gym.bench.statistics import Share
from eapo_gym.engines.base import Engine, EngineUnavailable, Prompt, PromptTooLong, Sampling, Unsupported
from eapo_gym.errors import EapoError
from eapo_gym.protocol import render
from eapo_gym.schema import Turn
from eapo_gym.trainers.examples import Example
from eapo_gym.wrappers import RollbackMode
from eapo_gym.wrappers.rollback import COMMAND

_RESET = 600.0
"""Seconds that playing up to a pair may take."""


class NotMeasured(EapoError, ValueError):
    """A measurement that would say nothing."""


@dataclass(slots=True)
class RollbackRate:
    """How often the state before was reached."""

    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    """By the kind of action that was to be undone: tried, returned, native, word, format_ok."""

    not_replayed: int = 0
    """Pairs that could not be played again, and so say nothing of the model."""

    too_long: int = 0
    """Pairs whose prompt does not fit into the model's window; they count as tried."""

    first_problem: str = ""

    @property
    def total(self) -> Counter[str]:
        return sum(self.kinds.values(), Counter[str]())

    @property
    def returned(self) -> Share:
        """The state before was reached, in whatever way."""
        return self.share("returned")

    @property
    def native(self) -> Share:
        """It was reached by an action of the environment's own, rather than by the word `rollback`."""
        return self.share("native")

    def share(self, of: str, kind: str | None = None) -> Share:
        """Of all that were tried, or of those of one kind."""
        counts = self.total if kind is None else self.kinds.get(kind, Counter[str]())
        return Share(counts[of], counts["tried"])

    def to_json(self) -> dict[str, Any]:
        """The numbers, with their intervals."""
        every: dict[str, Counter[str]] = {"all": self.total, **self.kinds}
        rows = {}
        for kind, counts in every.items():
            share = Share(counts["returned"], counts["tried"])
            rows[kind] = {**counts, "rate": share.rate if share.n else None, "interval": list(share.interval)}
        return {"kinds": rows, "not_replayed": self.not_replayed, "too_long": self.too_long}


async def measure_rollback(
    examples: Sequence[Example],
    engine: Engine,
    *,
    agent: str = "eapo",
    agent_options: Mapping[str, Any] | None = None,
    adapter: str | None = None,
    rollback: RollbackMode | None = "inverse",
    max_tokens: int = 1024,
    parallel: int = 32,
    on_progress: Callable[[int, int, Share], None] | None = None,
) -> RollbackRate:
    """Ask the model about every rollback example, greedily, and try what it answers.

    `rollback` is the environment's, as in RL: with one, the word of that name is a way back too.
    """
    pairs = [example for example in examples if example.kind == "rollback"]
    if not pairs:
        raise NotMeasured(
            "There are no rollback pairs to measure on: name a file that eapo-gym rollback collect wrote."
        )
    room = max(1, min(max_tokens, engine.context // 2))
    sampling = Sampling(max_tokens=room, temperature=0.0, adapter=adapter, logprobs=False)
    measuring = _Measuring(engine, sampling, agent, dict(agent_options or {}), rollback)
    # One kind of environment after the other, each with workers of its own.
    groups: dict[str, list[Example]] = {}
    for pair in pairs:
        groups.setdefault(f"{pair.env}\0{json.dumps(pair.env_kwargs, sort_keys=True)}", []).append(pair)
    for group in groups.values():
        await measuring.run(group, parallel, len(pairs), on_progress)
    rate = measuring.rate
    if not rate.total["tried"]:
        raise NotMeasured(
            f"None of {rate.not_replayed} pairs could be played again: {rate.first_problem} Were they collected with "
            "another environment, or another version of it?"
        )
    return rate


class _Measuring:
    """Pairs that are being tried."""

    def __init__(
        self, engine: Engine, sampling: Sampling, agent: str, options: dict[str, Any], rollback: RollbackMode | None
    ) -> None:
        self.engine, self.sampling, self.agent, self.options, self.rollback = engine, sampling, agent, options, rollback
        self.rate = RollbackRate()

    async def run(
        self,
        pairs: Sequence[Example],
        parallel: int,
        planned: int,
        on_progress: Callable[[int, int, Share], None] | None,
    ) -> None:
        waiting = iter(pairs)

        def make() -> gym.Env[Any, Any]:
            # The limit of steps is no concern here: one more than it took to get there must be possible.
            return open_env(pairs[0].env, pairs[0].env_kwargs, rollback=self.rollback, max_steps=1 << 30)

        async def work(seat: Seat) -> None:
            try:
                agent = await self._agent(seat)
                for pair in waiting:
                    await self._measure(pair, agent, seat)
                    if on_progress is not None:
                        done = self.rate.total["tried"] + self.rate.not_replayed
                        on_progress(done, planned, self.rate.returned)
            finally:
                await seat.close()

        workers = [asyncio.ensure_future(work(Seat(make, _RESET))) for _ in range(min(parallel, len(pairs)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _agent(self, seat: Seat) -> ModelAgent:
        env = await seat.env()
        agent = make_agent(self.agent, engine=self.engine, env=env, sampling=self.sampling, options=self.options)
        if not isinstance(agent, ModelAgent):
            raise NotMeasured(f"agent: expected one that asks a language model, such as eapo; got {self.agent!r}.")
        return agent

    async def _measure(self, pair: Example, agent: ModelAgent, seat: Seat) -> None:
        try:
            prompt: Prompt | None = agent.prompt(pair.observation())
        except PromptTooLong:
            prompt = None
        text = "" if prompt is None else (await self.engine.generate([prompt], self.sampling))[0].text
        try:
            env = await seat.env()
            outcome = await seat.call("Playing a pair again", _try, env, pair, text)
        except (EngineUnavailable, Unsupported):
            raise
        except Exception as error:  # of the environment, which may raise anything
            self._not_replayed(f"{type(error).__name__}: {error}")
            if isinstance(error, TooLate) or seat.hand.busy:
                seat.give_up()
            return
        if outcome is None:
            self._not_replayed(f"{pair.task} came to another state.")
            return
        self.rate.too_long += prompt is None
        self.rate.kinds.setdefault(pair.action_kind, Counter()).update(["tried", *outcome])

    def _not_replayed(self, problem: str) -> None:
        self.rate.not_replayed += 1
        self.rate.first_problem = self.rate.first_problem or problem


def _try(env: gym.Env[Any, Any], pair: Example, text: str) -> list[str] | None:
    """What is to be said of a response in the state of the pair; None if that state could not be reached."""
    _, info = env.reset(seed=pair.seed, options={"task": pair.task})
    for action in pair.actions:
        _, _, terminated, _, info = env.step(render(Turn(memory="", action=action)))
        if terminated:
            return None
    if info["fingerprint"] != pair.fingerprint:
        return None
    info = env.step(text)[-1]
    said = ["format_ok"] if info["format_ok"] else []
    if info["action"] == COMMAND:
        said.append("word")
    if info["fingerprint"] == pair.target:
        said += ["returned"] if info["action"] == COMMAND else ["returned", "native"]
    return said
