"""Rollouts: a step's tasks, each played several times by the policy, as trajectories to train on.

    collector = Collector(config, agent, engine)
    collected = await collector.collect(tasks, step=7)
    batch = make_batch(collected.groups)

Every attempt is a coroutine against one engine; at most `config.parallel` environments are open, and are used again in
later steps. What an attempt is like follows from the run's seed, the step, the task and the member alone.

What is trained on, and what is not: an episode that was cut off, by a time-out or a failure of the infrastructure, is
counted and dropped, since nobody knows what it would have earned; its group goes on with fewer members, and a group
without any is left out. An episode that ended because the agent could not go on (its prompt grew too long, say) has
failed by the policy's own doing, and is trained on.
"""

from __future__ import annotations

import asyncio
import copy
import time
import warnings
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import gymnasium as gym

from eapo_gym.agents.base import Response
from eapo_gym.agents.lamer import LaMerAgent
from eapo_gym.agents.model import ModelAgent
from eapo_gym.bench.evaluate import Progress
from eapo_gym.bench.records import OUTCOMES, Episode
from eapo_gym.bench.rollout import Limits, seed_of
from eapo_gym.bench.seat import Seat, play_in
from eapo_gym.bench.setting import open_env
from eapo_gym.engines.base import Engine, EngineError, EngineUnavailable, Unsupported
from eapo_gym.envs.base import Info, Obs
from eapo_gym.schema import Context, Exchange, Transition
from eapo_gym.trainers.batch import Attempt
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.counts import Counts
from eapo_gym.trainers.lockstep import LockStep, Order

Job = TypeVar("Job")

_TELL_EVERY = 0.1
"""Seconds between two reports of progress, but for those at the end of an attempt."""

CUT_OFF = ("timeout", "infrastructure")
"""Outcomes of episodes that nobody knows the end of."""

OnProgress = Callable[[Progress], None]


@dataclass(slots=True)
class Collected:
    """What came of a step's rollouts."""

    groups: list[tuple[str, list[Attempt]]] = field(default_factory=list)
    """Tasks in the order in which they were given, each with its attempts that can be trained on, at least one."""

    counts: Counts = field(default_factory=Counts)
    uninformative: int = 0
    """Groups that dynamic sampling has thrown away."""

    rounds: int = 1


class _Seed(NamedTuple):
    """What an attempt follows from."""

    step: int
    """Of the whole step of training."""

    task: str
    occurrence: int
    """How often the task was drawn before in this step."""

    member: int


@dataclass(slots=True)
class _Group:
    task: str
    attempts: list[Attempt | None]
    """By member; None where nothing can be trained on."""


class Collector:
    """Plays tasks with the policy; see the module.

    `agent` says how the policy is asked. With `config.deterministic` its requests go through a `LockStep` around
    `engine`. `make_env` replaces the environment that the configuration names. `stream` tells the processes of one run
    apart: two of them that are given the same task draw differently.
    """

    def __init__(
        self,
        config: TrainConfig,
        agent: ModelAgent,
        engine: Engine,
        *,
        make_env: Callable[[], gym.Env[Any, Any]] | None = None,
        stream: int = 0,
    ) -> None:
        _check(agent, engine)
        self.config, self.stream = config, stream
        self.limits = Limits(
            agent=config.response_timeout,
            step=config.step_timeout,
            episode=config.episode_timeout,
            idle=config.max_idle,
        )
        self.lockstep = LockStep(engine, patience=self._patience()) if is_deterministic(config, engine) else None
        self.engine: Engine = self.lockstep or engine
        self.agent = copy.copy(agent)
        self.agent.engine, self.agent.keeps_images = self.engine, True
        self._make_env = make_env or self._open_env
        self._seats: list[Seat] = []
        """Those that nobody plays at."""

    async def collect(self, tasks: Sequence[str], step: int, on_progress: OnProgress | None = None) -> Collected:
        """Play each task `config.group_size` times; the same task twice is two groups."""
        return await _Collecting(self, step, on_progress).play(tasks)

    async def collect_dynamic(
        self,
        draw: Callable[[int], Sequence[str]],
        step: int,
        informative: Callable[[Sequence[Attempt]], bool],
        on_progress: OnProgress | None = None,
    ) -> Collected:
        """Play `config.tasks_per_step` tasks and draw others for those that are not informative (DAPO).

        `draw` gives so many tasks. After `config.dynamic_rounds` rounds the step goes on with those that there are; if
        there are none at all, with the first ones that were drawn, since a step must have something to train on.
        """
        collecting = _Collecting(self, step, on_progress)
        result = Collected(rounds=0)
        others: list[tuple[str, list[Attempt]]] = []
        wanted = self.config.tasks_per_step
        while result.rounds < self.config.dynamic_rounds and len(result.groups) < wanted:
            played = await collecting.play(draw(wanted - len(result.groups)))
            for task, attempts in played.groups:
                (result.groups if informative(attempts) else others).append((task, attempts))
            result.rounds += 1
        result.counts = collecting.counts
        if not result.groups and others:
            result.groups, others = others[:wanted], others[wanted:]
            warnings.warn(
                f"Dynamic sampling found no task in {result.rounds} rounds whose trajectories earned different "
                "rewards: this step goes on with tasks that teach nothing. Take easier or harder tasks, or set "
                "dynamic_sampling=false.",
                stacklevel=2,
            )
        result.uninformative = len(others)
        return result

    async def each(
        self, jobs: Sequence[tuple[Order, Job]], work: Callable[[Seat, Job], Awaitable[None]], label: Order = ()
    ) -> None:
        """Do the work for every job, at most `config.parallel` at a time, each at a seat of its own.

        The first error ends all of it.
        """
        waiting = deque(jobs)

        async def worker(seat: Seat) -> None:
            while waiting:
                order, job = waiting.popleft()
                # From one job to the next without a pause: whoever waits for this one must see it go on.
                async with self._participant(order):
                    await work(seat, job)

        seats = [self._seat() for _ in range(min(self.config.parallel, len(waiting)))]
        workers: list[asyncio.Task[None]] = []
        try:
            # As long as this one is there no turn is taken: all are to have begun before the first.
            async with self._participant(label):
                workers += [asyncio.ensure_future(worker(seat)) for seat in seats]
                await asyncio.sleep(0)
            await asyncio.gather(*workers)
        finally:
            for each in workers:
                each.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            for seat in seats:
                if seat.hand.busy:
                    seat.give_up()
            self._seats += seats

    async def close(self) -> None:
        """Close the environments; agent and engine are their owner's."""
        seats, self._seats = self._seats, []
        await asyncio.gather(*(seat.close() for seat in seats))

    def _participant(self, order: Order) -> AbstractAsyncContextManager[object]:
        return nullcontext() if self.lockstep is None else self.lockstep.participant(order)

    def _seat(self) -> Seat:
        return self._seats.pop() if self._seats else Seat(self._make_env, self.limits.reset)

    def _open_env(self) -> gym.Env[Any, Any]:
        config = self.config
        return open_env(
            config.env,
            {"split": config.split, **config.env_kwargs},
            rollback=None if config.rollback == "none" else config.rollback,
            max_steps=config.max_steps,
        )

    def _patience(self) -> float:
        """Well below the time that a response may take, or one slow environment would cost all others theirs."""
        limit = self.limits.agent
        return 60.0 if limit is None else min(60.0, limit / 4)


def is_deterministic(config: TrainConfig, engine: Engine) -> bool:
    """Whether requests are to be answered by turns: as the configuration says, or on a CPU."""
    return config.deterministic if config.deterministic is not None else engine.stamp().get("device") == "cpu"


def _check(agent: ModelAgent, engine: Engine) -> None:
    if not (engine.capabilities.token_ids and engine.capabilities.logprobs):
        raise Unsupported(
            f"The engine {engine.kind} does not tell the ids that it samples and their log-probs, which training "
            "needs: take another engine (sampler)."
        )
    if agent.sampling.distorts:
        raise BadConfig(
            "Training samples from the model's own distribution: expected a Sampling without top_p, top_k, min_p and "
            "OverRIDE. They are for evaluation."
        )


class _Collecting:
    """The rollouts of one step, in one or several rounds."""

    def __init__(self, collector: Collector, step: int, on_progress: OnProgress | None) -> None:
        self.collector, self.config = collector, collector.config
        self.seed = seed_of(collector.config.seed, "rollouts", step, collector.stream)
        self.counts = Counts()
        self.on_progress = on_progress
        self._drawn: Counter[str] = Counter()
        self._planned = self._done = self._solved = 0
        self._began = time.perf_counter()
        self._told = 0.0

    async def play(self, tasks: Sequence[str]) -> Collected:
        """Play the tasks; what they cost is added to the counts of the step."""
        size = self.config.group_size
        groups = [_Group(task, [None] * size) for task in tasks]
        jobs: list[tuple[Order, tuple[_Group, _Seed]]] = []
        for i, group in enumerate(groups):
            occurrence = self._drawn[group.task]
            self._drawn[group.task] += 1
            # Task by task, so that those who share a goal, and so much of their prompts, are asked together.
            jobs += [((i, j), (group, _Seed(self.seed, group.task, occurrence, j))) for j in range(size)]
        self._planned += len(jobs)
        self._tell()
        if self.collector.lockstep is not None:
            self.collector.lockstep.forget_prefixes()
        began = time.perf_counter()
        try:
            await self.collector.each(jobs, self._attempt)
        finally:
            self.counts.seconds += time.perf_counter() - began
        found = [(group.task, [attempt for attempt in group.attempts if attempt is not None]) for group in groups]
        return Collected([(task, attempts) for task, attempts in found if attempts], self.counts)

    async def _attempt(self, seat: Seat, job: tuple[_Group, _Seed]) -> None:
        group, seed = job
        attempt = await (self._one_episode if self.config.episodes_per_trajectory == 1 else self._episodes)(seat, seed)
        self.counts.add_attempt(attempt)
        group.attempts[seed.member] = attempt
        self._done += 1
        self._solved += attempt is not None and attempt.success
        self._tell()

    async def _one_episode(self, seat: Seat, seed: _Seed) -> Attempt | None:
        episode = await self._play(seat, self.collector.agent, seed, 0)
        return Attempt((episode.trajectory,)) if _can_be_trained_on(episode) else None

    async def _episodes(self, seat: Seat, seed: _Seed) -> Attempt | None:
        """Episodes in sequence, up to the first success, with a reflection after each that failed (LaMer)."""
        agent = LaMerAgent(self.collector.agent)
        episodes: list[Episode] = []
        reflections: list[Transition] = []
        most = self.config.episodes_per_trajectory
        while len(episodes) < most:
            episode = await self._play(seat, agent, seed, len(episodes))
            if not _can_be_trained_on(episode):
                break
            episodes.append(episode)
            if episode.success or len(episodes) == most:
                break
            response = await self._reflect(agent, episode)
            if response is None:
                break
            reflections.append(_reflection(episode, response, len(episodes)))
            agent = agent.after(response.text)
        if not episodes:
            return None
        # A reflection that no episode came after has earned nothing, and nobody knows what it would have.
        return Attempt(tuple(episode.trajectory for episode in episodes), tuple(reflections[: len(episodes) - 1]))

    async def _play(self, seat: Seat, agent: ModelAgent, seed: _Seed, number: int) -> Episode:
        config, collector = self.config, self.collector
        # All members of a group begin in the same state, and so do an attempt's episodes.
        env_seed = seed_of(seed.step, seed.task, seed.occurrence, -1)

        def begin(env: gym.Env[Any, Any]) -> tuple[Obs, Info]:
            return env.reset(seed=env_seed, options={"task": seed.task})

        attempt = seed.occurrence * config.group_size + seed.member
        episode = await play_in(
            seat,
            agent,
            task=seed.task,
            seed=seed.step,
            repeat=attempt * config.episodes_per_trajectory + number,
            retries=config.retries,
            env_id=config.env,
            limits=collector.limits,
            on_step=self._count,
            begin=begin,
            describes=config.explore_reward == "q_phi",
        )
        episode.trajectory.info |= {"env_seed": env_seed, "outcome": episode.outcome}
        for step, note in zip(episode.trajectory.transitions, episode.notes, strict=False):
            step.elements = note.elements
        self.counts.add(episode)
        return episode

    async def _reflect(self, agent: LaMerAgent, episode: Episode) -> Response | None:
        """None where there is no answer; then the attempt ends with the episode."""
        steps = zip(episode.trajectory.transitions, episode.notes, strict=True)
        history = [Exchange(step.state, note.response, step.action) for step, note in steps]
        name = episode.trajectory.transitions[0].trajectory
        seed = seed_of(self.seed, episode.trajectory.task, episode.repeat, len(episode))
        context = Context(self.config.env, episode.trajectory.task, name, len(episode), seed)
        try:
            limit = self.collector.limits.agent
            response = await asyncio.wait_for(agent.reflect(episode.goal, history, context), limit)
        except (EngineUnavailable, Unsupported):
            raise  # no later one could do better
        except EngineError as error:
            self.counts.problem(f"reflection: {error}")
            return None
        except asyncio.TimeoutError:
            self.counts.problem(f"A reflection took longer than its {limit:g} s.")
            return None
        self.counts.prompt_tokens += response.prompt_tokens
        self.counts.response_tokens += response.response_tokens
        return response

    # Progress

    def _count(self) -> None:
        self.counts.env_steps += 1
        if self.on_progress is not None and time.perf_counter() - self._told >= _TELL_EVERY:
            self._tell()

    def _tell(self) -> None:
        if self.on_progress is None:
            return
        self._told = time.perf_counter()
        outcomes = {str(name): self.counts.outcomes[name] for name in OUTCOMES}
        seconds = self._told - self._began
        self.on_progress(Progress(self._planned, self._done, self._solved, outcomes, self.counts.env_steps, seconds))


def _can_be_trained_on(episode: Episode) -> bool:
    return episode.outcome not in CUT_OFF and len(episode) > 0


def _reflection(episode: Episode, response: Response, number: int) -> Transition:
    """A reflection as a transition: those that attempts of one task wrote after as many episodes are comparable."""
    last = episode.trajectory.transitions[-1]
    return Transition(
        task=last.task,
        trajectory=last.trajectory,
        t=len(episode),
        goal=last.goal,
        state="",
        fingerprint=f"after episode {number}",
        depth=0,
        explore_in="",
        memory_in="",
        explore="",
        memory="",
        action=None,
        format_ok=bool(response.text.strip()),
        reward=0.0,
        terminated=False,
        truncated=False,
        next_state="",
        next_fingerprint="",
        prompt_ids=response.prompt_ids,
        response_ids=response.ids,
        response_logprobs=response.logprobs or (),
        images=response.images,
    )
