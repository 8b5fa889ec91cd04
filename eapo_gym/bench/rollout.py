"""Play one episode: an agent in an environment of the explore schema, with all that came of it.

    episode = await play(env, agent, task=task, seed=0, env_id="eapo/ALFWorld-v0")

Everything that goes wrong is data: an episode always ends with an outcome, and what was played until then is kept. Only
what makes every further episode pointless (an engine that is gone, Ctrl-C) is raised.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import gymnasium as gym
import numpy as np

from eapo_gym.agents.base import Agent, Response, as_response
from eapo_gym.bench.hands import Hand
from eapo_gym.bench.records import Episode, Outcome, StepNote
from eapo_gym.engines.base import EngineError, EngineUnavailable, PromptTooLong, Unsupported
from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ContractError, HostingError
from eapo_gym.schema import Context, Exchange, Observation, Trajectory, Transition, Turn
from eapo_gym.wrappers import ExploreMemory, VisitationDepth

Result = TypeVar("Result")

Begin = Callable[["gym.Env[Any, Any]"], tuple[Obs, Info]]
"""Brings an environment to where an episode begins, and returns what is seen there."""

_OF_THE_EPISODE = ("split", "engine", "task_type", "rollback_mode")
"""What an environment says of an episode in `info`, and a record keeps."""

_LONGEST_ERROR = 2000


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that things may take, None for as long as they like, and steps."""

    agent: float | None = 600.0
    """One response."""

    step: float | None = 120.0
    """One step of the environment."""

    reset: float | None = 600.0
    """The beginning of an episode; devices may have to boot for it."""

    episode: float | None = None
    """A whole episode."""

    steps: int | None = None
    """The most steps, for environments without a `TimeLimit`."""

    idle: int | None = None
    """The most actions in a row that are invalid."""


class KeepsPictures(Protocol):
    """What keeps pictures and names them (`eapo_gym.bench.pictures.Pictures`)."""

    def save(self, picture: np.ndarray) -> str: ...


async def play(
    env: gym.Env[Any, Any],
    agent: Agent,
    *,
    task: str,
    seed: int,
    repeat: int = 0,
    env_id: str = "",
    limits: Limits | None = None,
    pictures: KeepsPictures | None = None,
    hand: Hand | None = None,
    on_step: Callable[[], None] | None = None,
    watch: Callable[[Episode], object] | None = None,
    begin: Begin | None = None,
    describes: bool = False,
) -> Episode:
    """Play one episode.

    The same seed, task and repeat give the environment and the agent the same seeds, whatever else is played.

    `watch` is given the episode before it begins, and may look at it while it grows.

    `begin` replaces the reset, for an episode that goes on from a branch, or that shares its seed with others.

    With `describes` the environment is asked to describe each state that the episode goes on from.

    `hand` is the thread in which the environment lives, if it has one. Where it is still busy afterwards, a call has
    timed out and is going on: such an environment must not be used again.
    """
    began = time.perf_counter()
    own = hand or Hand("environment")
    playing = _Playing(
        env, agent, task, seed, repeat, env_id, limits or Limits(), pictures, own, on_step, begin, describes
    )
    episode = playing.episode
    if watch is not None:
        watch(episode)
    try:
        await playing.run()
    except _Ended as end:
        episode.outcome, episode.error = end.outcome, end.error
    finally:
        playing.leave(own if hand is None else None)
    episode.trajectory.success = episode.success
    episode.seconds = time.perf_counter() - began
    return episode


def seed_of(seed: int, task: str, repeat: int, t: int) -> int:
    """The seed of one moment of one episode: the same in every process, and unlike its neighbours'."""
    text = f"{seed}\0{repeat}\0{t}\0{task}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1


def _reached(count: int, limit: int | None) -> bool:
    return limit is not None and count >= limit


class _Ended(Exception):
    """The episode is over, and not because the environment said so."""

    def __init__(self, outcome: Outcome, error: str) -> None:
        super().__init__(error)
        self.outcome: Outcome = outcome
        self.error = error[:_LONGEST_ERROR]


class _Seen(NamedTuple):
    """What there is to be seen at a moment."""

    obs: Obs
    info: Info
    offered: tuple[str, ...] | None
    screenshot: str | None
    marked: str | None


class _Stepped(NamedTuple):
    """What came of a step."""

    reward: float
    terminated: bool
    truncated: bool
    seen: _Seen
    description: str


class _Playing:
    """An episode that is being played."""

    def __init__(
        self,
        env: gym.Env[Any, Any],
        agent: Agent,
        task: str,
        seed: int,
        repeat: int,
        env_id: str,
        limits: Limits,
        pictures: KeepsPictures | None,
        hand: Hand,
        on_step: Callable[[], None] | None,
        begin: Begin | None,
        describes: bool,
    ) -> None:
        _check_stack(env)
        core: Any = env.unwrapped
        self.env, self.agent, self.limits, self.pictures, self.hand = env, agent, limits, pictures, hand
        self.task, self.seed, self.repeat, self.env_id = task, seed, repeat, env_id
        self.name = f"{task}#{repeat}"
        self.quick_env = bool(getattr(core, "quick", False)) and "screenshot" not in env.observation_space.spaces  # type: ignore[attr-defined]
        self.valid_actions: Callable[[], list[str] | None] = env.get_wrapper_attr("valid_actions")
        self.describe: Callable[[], str] | None = env.get_wrapper_attr("describe") if describes else None
        self.agent_hand: Hand | None = None
        self.on_step = on_step
        self.begin = begin or self._from_its_start
        self.deadline = None if limits.episode is None else time.monotonic() + limits.episode
        self.episode = Episode(agent.name or type(agent).__name__, Trajectory(task, str(core.source)), repeat=repeat)
        self.history: tuple[Exchange, ...] = ()

    async def run(self) -> None:
        trajectory = self.episode.trajectory
        seen: _Seen = await self._in_env("reset", self.limits.reset, self._reset)
        trajectory.info = {name: seen.info[name] for name in _OF_THE_EPISODE if name in seen.info}
        trajectory.info["seed"] = self.seed
        self.episode.goal = seen.obs["goal"]
        t = idle = 0
        while True:
            self._keep_last(seen)
            before = time.perf_counter()
            observation = self._observation(seen, t)
            response = await self._response(observation)
            between = time.perf_counter()
            stepped: _Stepped = await self._in_env("step", self.limits.step, self._step, response.text)
            after = time.perf_counter()
            try:
                idle = idle + 1 if _did_nothing(stepped.seen.info, seen) else 0
                at_limit = _reached(t + 1, self.limits.steps) or _reached(idle, self.limits.idle)
                truncated = stepped.truncated or (at_limit and not stepped.terminated)
                turn = self._record(t, seen, response, stepped, truncated, between - before, after - between)
            except Exception as error:  # for something in `info` that nobody has thought of
                raise _Ended("infrastructure", f"step: {_said(error)}") from error
            seen, t = stepped.seen, t + 1
            if self.on_step is not None:
                self.on_step()
            if stepped.terminated or truncated:
                self._keep_last(seen)
                won = bool(seen.info.get("won", False))
                self.episode.outcome = "solved" if won else "ended" if stepped.terminated else "steps"
                return
            if self.agent.wants_history:
                state = trajectory.transitions[-1].state
                self.history = (*self.history, Exchange(state, response.text, turn.action))

    def leave(self, own: Hand | None) -> None:
        """Threads that were started for this episode end when they can."""
        for hand in (own, self.agent_hand):
            if hand is not None:
                hand.leave()

    # The environment

    def _reset(self) -> _Seen:
        obs, info = self.begin(self.env)
        return self._look(obs, info, done=False)

    def _from_its_start(self, env: gym.Env[Any, Any]) -> tuple[Obs, Info]:
        return env.reset(seed=seed_of(self.seed, self.task, self.repeat, -1), options={"task": self.task})

    def _step(self, text: str) -> _Stepped:
        obs, reward, terminated, truncated, info = self.env.step(text)
        _check_stepped(info)
        done = bool(terminated or truncated)
        seen = self._look(obs, info, done)
        description = "" if done or self.describe is None else self.describe()
        return _Stepped(float(reward), bool(terminated), bool(truncated), seen, description)

    def _look(self, obs: Obs, info: Info, done: bool) -> _Seen:
        if "failure" in info:
            failure = info["failure"]
            said = f"{failure.get('cause')}: {failure.get('message')}" if isinstance(failure, dict) else str(failure)
            raise _Ended("infrastructure", said)
        # Nothing can be done at the end, and an environment may no longer want to be asked.
        offered = None if done else self.valid_actions()
        _check_seen(obs, info, offered)
        names = [self._keep_picture(obs.get(part)) for part in ("screenshot", "marked")]
        return _Seen(obs, info, None if offered is None else tuple(offered), names[0], names[1])

    def _keep_picture(self, picture: np.ndarray | None) -> str | None:
        return None if picture is None or self.pictures is None else self.pictures.save(picture)

    async def _in_env(self, what: str, limit: float | None, call: Callable[..., Any], *args: Any) -> Any:
        try:
            if self.quick_env:
                self._patience(None)
                return call(*args)
            return await self._timed(f"the environment's {what}", limit, functools.partial(self.hand.call, call, *args))
        except _Ended:
            raise
        except (Exception, SystemExit) as error:
            raise _Ended("infrastructure", f"{what}: {_said(error)}") from error

    # The agent

    def _observation(self, seen: _Seen, t: int) -> Observation:
        obs = seen.obs
        return Observation(
            goal=obs["goal"],
            state=obs["state"],
            explore=obs["explore"],
            memory=obs["memory"],
            screenshot=obs.get("screenshot"),
            marked=obs.get("marked"),
            elements=obs.get("elements"),
            valid_actions=seen.offered,
            history=self.history,
            context=Context(self.env_id, self.task, self.name, t, seed_of(self.seed, self.task, self.repeat, t)),
        )

    async def _response(self, observation: Observation) -> Response:
        try:
            return as_response(await self._answer(observation), self.episode.agent)
        except (_Ended, EngineUnavailable, Unsupported):
            raise  # over; or no later episode could do better
        except HostingError as error:
            raise _Ended("infrastructure", _said(error)) from error
        except EngineError as error:
            # A prompt is the agent's own doing, a server that gives no answer is not.
            raise _Ended("agent" if isinstance(error, PromptTooLong) else "infrastructure", _said(error)) from error
        except (Exception, SystemExit) as error:
            raise _Ended("agent", _said(error)) from error

    async def _answer(self, observation: Observation) -> Any:
        agent = self.agent
        if agent.privileged:
            look: Callable[[], Any] = functools.partial(agent.act_in, self.env, observation)
            if agent.quick and self.quick_env:
                self._patience(None)
                return look()
            return await self._timed("the agent", self.limits.agent, functools.partial(self.hand.call, look))
        if agent.quick:
            self._patience(None)
            return await agent.act_async(observation)
        if type(agent).act_async is Agent.act_async:
            # A thread of its own, since one that hangs must not take the place of another.
            self.agent_hand = self.agent_hand or Hand("agent")
            asked: Callable[[], Awaitable[Any]] = functools.partial(self.agent_hand.call, agent.act, observation)
        else:
            asked = functools.partial(agent.act_async, observation)
        return await self._timed("the agent", self.limits.agent, asked)

    # Time

    async def _timed(self, who: str, limit: float | None, work: Callable[[], Awaitable[Result]]) -> Result:
        patience, of_episode = self._patience(limit)
        task = asyncio.ensure_future(without_exit(work))
        try:
            # Unlike wait_for, this does not wait until what was cancelled has agreed to it.
            done, _ = await asyncio.wait([task], timeout=patience)
            if task.cancelled():
                raise RuntimeError(f"{who[:1].upper()}{who[1:]} cancelled itself.")
            if done:
                return task.result()
        finally:
            task.cancel()
        if of_episode:
            raise _Ended("timeout", f"The episode took longer than its {self.limits.episode:g} s, waiting for {who}.")
        raise _Ended("timeout", f"{who[:1].upper()}{who[1:]} took longer than its {limit:g} s.")

    def _patience(self, limit: float | None) -> tuple[float | None, bool]:
        """Seconds that are left, and whether it is the episode that has no more of them."""
        if self.deadline is None:
            return limit, False
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise _Ended("timeout", f"The episode took longer than its {self.limits.episode:g} s.")
        return (left, True) if limit is None or left < limit else (limit, False)

    # What is kept

    def _keep_last(self, seen: _Seen) -> None:
        """What is seen now, in case that nothing comes after it."""
        self.episode.last_elements = seen.obs.get("elements")
        self.episode.last_screenshot, self.episode.last_marked = seen.screenshot, seen.marked

    def _record(
        self,
        t: int,
        seen: _Seen,
        response: Response,
        stepped: _Stepped,
        truncated: bool,
        agent_seconds: float,
        env_seconds: float,
    ) -> Turn:
        obs, after, info = seen.obs, stepped.seen.obs, stepped.seen.info
        turn: Turn = info["turn"]
        rollback = info.get("rollback")
        transition = Transition(
            task=self.task,
            trajectory=self.name,
            t=t,
            goal=obs["goal"],
            state=obs["state"],
            fingerprint=seen.info["fingerprint"],
            depth=seen.info["visits"],
            explore_in=obs["explore"],
            memory_in=obs["memory"],
            explore=after["explore"],
            memory=after["memory"],
            action=turn.action,
            format_ok=turn.format_ok,
            reward=stepped.reward,
            terminated=stepped.terminated,
            truncated=truncated,
            next_state=after["state"],
            next_fingerprint=info["fingerprint"],
            rollback=rollback is not None,
            prompt_ids=response.prompt_ids,
            response_ids=response.ids,
            response_logprobs=() if response.logprobs is None else response.logprobs,
            images=response.images,
            next_description=stepped.description,
        )
        note = StepNote(
            response=response.text,
            think=turn.think,
            problems=turn.problems,
            offered=seen.offered,
            invalid=_did_nothing(info, seen),
            notice=info.get("notice", ""),
            rollback=rollback,
            reward_parts=_reward_parts(stepped.reward, turn, info),
            elements=obs.get("elements"),
            screenshot=seen.screenshot,
            marked=seen.marked,
            agent_seconds=agent_seconds,
            env_seconds=env_seconds,
            calls=response.calls,
            prompt_tokens=response.prompt_tokens or len(response.prompt_ids),
            response_tokens=response.response_tokens or len(response.ids),
            finish=response.finish,
        )
        self.episode.trajectory.transitions.append(transition)
        self.episode.notes.append(note)
        return turn


def _check_stack(env: gym.Env[Any, Any]) -> None:
    found, layer = set(), env
    while isinstance(layer, gym.Wrapper):
        found.add(type(layer))
        layer = layer.env
    for kind in (ExploreMemory, VisitationDepth):
        if not any(issubclass(layer_kind, kind) for layer_kind in found):
            raise ContractError(
                f"An episode is played in the explore schema, and this environment has no {kind.__name__}: "
                "make it with schema='explore', or wrap it with eapo_gym.wrappers.apply_schema."
            )


def _check_seen(obs: Obs, info: Info, offered: object) -> None:
    """What an environment says may be anything; this is what a record and an agent need of it."""
    for name in ("goal", "state", "explore", "memory"):
        if not isinstance(text := obs.get(name), str):
            raise ContractError(f"expected {name} in the observation to be a str, got {type(text).__name__}.")
    elements = obs.get("elements")
    if elements is not None and not isinstance(elements, str):
        raise ContractError(f"expected elements in the observation to be a str, got {type(elements).__name__}.")
    if not isinstance(fingerprint := info.get("fingerprint"), str):
        raise ContractError(f"expected the fingerprint to be a str, got {type(fingerprint).__name__}.")
    if offered is not None and (
        not isinstance(offered, list | tuple) or not all(isinstance(action, str) for action in offered)
    ):
        raise ContractError(f"expected valid_actions to be a list of str, got {offered!r:.100}.")


def _check_stepped(info: Info) -> None:
    rollback, notice = info.get("rollback"), info.get("notice", "")
    if rollback is not None and not (isinstance(rollback, Mapping) and {"held", "action"} <= rollback.keys()):
        raise ContractError(f"expected rollback in info as the wrapper Rollback writes it, got {rollback!r:.100}.")
    if not isinstance(notice, str):
        raise ContractError(f"expected notice in info to be a str, got {type(notice).__name__}.")
    for name in ("won", "invalid_action"):
        bool(info.get(name, False))  # an array, for one, is neither true nor false
    if "task_reward" in info:
        float(info["task_reward"])


async def without_exit(work: Callable[[], Awaitable[Result]]) -> Result:
    """A `SystemExit` that ends a task of asyncio ends its event loop too, and every other episode with it."""
    try:
        return await work()
    except SystemExit as error:
        raise RuntimeError(_said(error)) from error


def _did_nothing(info: Info, seen: _Seen) -> bool:
    if info["turn"].action is None or info.get("invalid_action", False):
        return True
    rollback = info.get("rollback")
    # A rollback that was declined never reached the environment, which so could not call it invalid.
    declined = rollback is not None and not rollback["held"] and rollback["action"] is None
    return declined and bool(info["fingerprint"] == seen.info["fingerprint"])


def _reward_parts(reward: float, turn: Turn, info: Info) -> dict[str, float]:
    """The reward by where it came from; `format` is 0 or 1, whatever weight it has in the reward."""
    return {"task": float(info.get("task_reward", reward)), "format": float(turn.format_ok)}


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
