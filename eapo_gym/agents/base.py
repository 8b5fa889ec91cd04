"""The interface of an agent: from an observation to a response.

    class Mine(Agent):
        def act(self, observation):
            return Turn(explore="…", memory="…", action="look")   # or the text of a response, or a `Response`

All that an agent knows of an episode is in the observation: its own `explore` and `memory` of the step before come back
to it there. So it keeps nothing between calls, and one object serves a thousand episodes at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import gymnasium as gym
import numpy as np

from eapo_gym.agents.pictures import PackedImages
from eapo_gym.errors import ContractError, EapoError
from eapo_gym.protocol import render
from eapo_gym.schema import Observation, Turn


class AgentError(EapoError, RuntimeError):
    """An agent that could not answer: it raised, or gave something that is no response."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response, and what it cost. Agents without a model leave everything but `text` as it is."""

    text: str
    prompt_ids: Sequence[int] = ()
    ids: Sequence[int] = ()
    logprobs: Sequence[float] | None = None
    """Of the distribution that was sampled where the engine knows it, else of the model's own."""

    finish: str = ""
    calls: int = 0
    """Requests to the engine."""

    prompt_tokens: int = 0
    response_tokens: int = 0
    """Of all calls; `prompt_ids` and `ids` are those of the call that chose the action."""

    images: Sequence[np.ndarray] = ()
    """Those that the prompt of `prompt_ids` had, in their order."""


Answer = Response | Turn | str
"""What `act` may return."""


class Agent:
    """What plays. Subclasses define `act`, or `act_async` if they wait for something."""

    name: str = ""
    form: Literal["tags", "free"] = "tags"
    """"free" if the agent does not aim at the tag protocol, so that its format rate says nothing."""

    wants_history: bool = False
    """The run adds the steps before to the observation."""

    max_parallel: int | None = None
    """The most episodes that make sense at a time: one for a person at a terminal."""

    privileged: ClassVar[bool] = False
    """True if it looks into the environment (`act_in`): an oracle, and stamped as one."""

    quick: ClassVar[bool] = False
    """True if `act` takes less than a millisecond, and may run in an event loop."""

    def act(self, observation: Observation) -> Answer:
        """The response to an observation."""
        if type(self).act_async is Agent.act_async:
            raise ContractError(f"{type(self).__name__} has neither act nor act_async.")
        return asyncio.run(self.act_async(observation))

    async def act_async(self, observation: Observation) -> Answer:
        """As `act`, for many episodes in one event loop."""
        if self.quick:
            return self.act(observation)
        return await asyncio.to_thread(self.act, observation)

    def act_batch(self, observations: Sequence[Observation]) -> list[Answer]:
        """As `act`, for several observations at a time."""

        async def all_of_them() -> list[Answer]:
            return list(await asyncio.gather(*map(self.act_async, observations)))

        return asyncio.run(all_of_them())

    def act_in(self, env: gym.Env[Any, Any], observation: Observation) -> Answer:
        """As `act`, for agents that look into the environment (`privileged`)."""
        raise ContractError(f"{type(self).__name__} is privileged and has no act_in.")

    def stamp(self) -> dict[str, Any]:
        """What a result must say of the agent: its name, its options, its engine."""
        return {"agent": self.name or type(self).__name__}

    async def close(self) -> None:
        """Let go of what it holds (its engine is its owner's to close)."""


_MOST = 1 << 31
"""Of a counter, so that the sums of a run fit in a table's column."""

_LARGEST_SIDE = 16_383
"""Of a picture, in pixels: no larger one can be kept (WebP)."""


def as_response(answer: object, agent: str = "") -> Response:
    """What an agent returned, as a response whose fields are of the types that they are said to be."""
    if isinstance(answer, Response):
        return _checked(answer, agent or "The agent")
    if isinstance(answer, Turn):
        return Response(render(answer))
    if isinstance(answer, str):
        return Response(answer)
    raise AgentError(
        f"{agent or 'The agent'} returned {type(answer).__name__}: expected a response (str, Turn or Response)."
    )


def _checked(response: Response, agent: str) -> Response:
    def refused(name: str, expected: str, got: object) -> AgentError:
        said = f"{agent} returned a response whose {name} is not as expected: expected {expected}, got"
        return AgentError(f"{said} {type(got).__name__} ({got!r:.60}).")

    changes: dict[str, Any] = {}
    for name in ("text", "finish"):
        if not isinstance(text := getattr(response, name), str):
            raise refused(name, "a str", text)
    for name in ("calls", "prompt_tokens", "response_tokens"):
        count = getattr(response, name)
        if not isinstance(count, Integral) or not 0 <= int(count) < _MOST:
            raise refused(name, "a number of 0 or more (int)", count)
        changes[name] = int(count)
    for name in ("prompt_ids", "ids"):
        changes[name] = _numbers(getattr(response, name), int, Integral)
        if changes[name] is None:
            raise refused(name, "token ids (int)", getattr(response, name))
    if response.logprobs is not None:
        changes["logprobs"] = _numbers(response.logprobs, float, Real)
        if changes["logprobs"] is None:
            raise refused("logprobs", "numbers (float) or None", response.logprobs)
    if isinstance(response.images, PackedImages):
        return replace(response, **changes)
    if not isinstance(response.images, list | tuple) or not all(map(_is_picture, response.images)):
        raise refused("images", "a list of arrays of shape (h, w, 3) and type uint8", response.images)
    return replace(response, **changes)


def _numbers(values: object, kind: type[int] | type[float], wanted: type) -> tuple[Any, ...] | None:
    """The values as plain numbers, which is what can be written; None if they are not."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        return None
    # Of thousands of tokens there are one or two types, which are quicker to look at than the tokens.
    types = set(map(type, values))
    if not all(issubclass(each, wanted) for each in types):
        return None
    return tuple(values) if types <= {kind} else tuple(map(kind, values))


def _is_picture(image: object) -> bool:
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        return False
    return all(1 <= side <= _LARGEST_SIDE for side in image.shape[:2])
