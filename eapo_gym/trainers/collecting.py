"""Episodes that are played to make data from: many at a time, and kept one by one, so that a killed run goes on.

What an episode is like depends on its task and seed alone, so a run that was broken off and taken up again gives the
same file as one that was not, however many are played at a time.
"""

from __future__ import annotations

import asyncio
import json
import time
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import gymnasium as gym

from eapo_gym.agents.base import Agent, Answer
from eapo_gym.agents.foreign import PREFIX as PYTHON
from eapo_gym.agents.loading import make_agent, needs_engine
from eapo_gym.atomic import write_atomically
from eapo_gym.bench.hands import Hand
from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.rollout import Limits, play, seed_of
from eapo_gym.bench.seat import Seat, TooLate
from eapo_gym.bench.setting import describe_env, find_layer, open_env, select_tasks, without_secrets
from eapo_gym.bench.store import plain
from eapo_gym.engines.base import Engine, Sampling
from eapo_gym.envs.base import AgentEnv
from eapo_gym.errors import HostingError
from eapo_gym.protocol import parse
from eapo_gym.schema import Observation, Transition, Turn
from eapo_gym.trainers.examples import IMAGES_FOLDER, Example, read_examples, write_examples
from eapo_gym.trainers.journal import JOURNAL, STAMP_FILE, CollectError, Journal, Walk, check_same
from eapo_gym.wrappers import ExploreMemory, RollbackMode
from eapo_gym.wrappers.rollback import COMMAND

Answered = TypeVar("Answered")


@dataclass(frozen=True, slots=True, kw_only=True)
class Walks:
    """Which episodes are played."""

    env: str = "eapo/ALFWorld-v0"
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = "train"
    """None leaves it to the environment."""

    seeds: int = 1
    """How often every task is played."""

    seed: int = 0
    """The first of the seeds."""

    max_tasks: int | None = None
    """So many, taken evenly from the split; None for all."""

    max_steps: int = 50
    rollback: RollbackMode | None = "inverse"
    """Of the environment, as in RL: what is valid, and so the prompt, depends on it."""

    limits: Limits = field(default_factory=Limits)
    retries: int = 1
    parallel: int = 8
    """Of no influence on the data."""

    def __post_init__(self) -> None:
        for name, least in (("seeds", 1), ("max_steps", 1), ("retries", 0), ("parallel", 1)):
            if getattr(self, name) < least:
                raise CollectError(f"{name}: expected {least} or more, got {getattr(self, name)}.")

    def open(self) -> gym.Env[Any, Any]:
        """The environment, as in RL."""
        return open_env(self.env, self.kwargs, rollback=self.rollback, max_steps=self.max_steps)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments of the environment."""
        return {**({} if self.split is None else {"split": self.split}), **self.env_kwargs}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a collection has come."""

    planned: int
    done: int
    """Walks, those of earlier sittings included."""

    examples: int
    outcomes: Mapping[str, int]
    counts: Mapping[str, int]
    """The sums of what the walks have counted."""

    seconds: float
    """Of this sitting."""


class Watcher(Agent):
    """Plays one episode as another agent does, and makes examples of what it sees."""

    def __init__(self, agent: Agent, env: gym.Env[Any, Any], hand: Hand) -> None:
        self.agent, self.env, self._hand = agent, env, hand
        self.core: AgentEnv = env.unwrapped  # type: ignore[assignment]  # open_env has made sure of it
        self.name = agent.name or type(agent).__name__
        self.wants_history = agent.wants_history
        layer = find_layer(env, ExploreMemory)
        assert layer is not None  # open_env has put one there
        self._parse_action = layer.inner.parse_action
        screens = "screenshot" in env.observation_space.spaces  # type: ignore[attr-defined]
        self._quick = self.core.quick and not screens

    @abstractmethod
    async def act_async(self, observation: Observation) -> Answer:
        """As the agent does."""

    @abstractmethod
    def walk(self, episode: Episode, walk: Walk, where: Mapping[str, Any]) -> None:
        """Put the examples into `walk`; `where` are the fields that all of them have in common."""

    async def ask(self, observation: Observation) -> Answer:
        """What the agent answers."""
        if self.agent.privileged:
            return await self._call(self.agent.act_in, self.env, observation)
        return await self.agent.act_async(observation)

    async def read(self, text: str) -> Turn:
        """A response, as the environment will read it."""
        return await self.look(parse, text, self._parse_action)

    async def look(self, function: Callable[..., Answered], *args: Any) -> Answered:
        """Call what looks into the environment, in the thread that it lives in; what it raises is the environment's."""
        try:
            return await self._call(function, *args)
        except (HostingError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise HostingError(f"{type(error).__name__}: {error}") from error

    async def _call(self, function: Callable[..., Answered], *args: Any) -> Answered:
        return function(*args) if self._quick else await self._hand.call(function, *args)


MakeWatcher = Callable[[Agent, gym.Env[Any, Any], Hand], Watcher]


@dataclass(frozen=True, slots=True)
class Walker:
    """Who walks."""

    agent: str
    """Any name or address that `make_agent` knows."""

    options: Mapping[str, Any] = field(default_factory=dict)
    engine: Engine | None = None
    sampling: Sampling | None = None

    def __post_init__(self) -> None:
        if needs_engine(self.agent) and self.engine is None:
            raise CollectError(f"The agent {self.agent!r} needs a model: name a folder or a hub's id (--model).")

    def open(self, env: gym.Env[Any, Any], env_id: str) -> Agent:
        """The agent. Our own look at the environment itself, somebody else's are told its id."""
        about = env_id if self.agent.startswith(PYTHON) else env
        return make_agent(self.agent, engine=self.engine, env=about, sampling=self.sampling, options=self.options)


async def collect_walks(
    walks: Walks,
    walker: Walker,
    out: Path,
    data_file: str,
    watch: MakeWatcher,
    stamp: Mapping[str, Any],
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Walk]:
    """Play what is planned and not in the folder yet; returns all walks in the order of the plan.

    `stamp` says what the data are besides the walks: a folder with data of another kind is refused. Where the data
    themselves are there already there is nothing to play, and no walks.
    """
    seat = Seat(walks.open, walks.limits.reset)
    agent: Agent | None = None
    try:
        env = await seat.env()
        core: Any = env.unwrapped
        tasks = select_tasks(await seat.call("Looking over the tasks", core.tasks), None, walks.max_tasks)
        agent = walker.open(env, walks.env)
        described = await seat.call("Looking over the environment", describe_env, env, walks.env)
        # How many are played at a time, and how long they may take, is no part of what the data are.
        asked = {name: value for name, value in without_secrets(walks).items() if name not in ("parallel", "limits")}
        whole: dict[str, Any] = plain(
            {"walks": asked, **stamp, "walker": without_secrets(agent.stamp()), "environment": described}
        )
        check_same(out, whole)
        if (out / data_file).exists():
            return []
        planned = [(task, repeat) for repeat in range(walks.seeds) for task in tasks]
        with Journal(out, whole) as journal:
            at_a_time = replace(walks, parallel=min(walks.parallel, agent.max_parallel or walks.parallel))
            await _Pool(at_a_time, out, planned, journal, seat, partial(watch, agent), on_progress).run()
            order = {key: i for i, key in enumerate(planned)}
            return sorted(journal.walks, key=lambda walk: order[walk.task, walk.repeat])
    finally:
        await seat.close()
        if agent is not None:
            await agent.close()


def finish(
    out: Path, data_file: str, examples: Sequence[Example], summary_file: str, summary: Mapping[str, Any]
) -> None:
    """Write what came of the walks; the data last, since with them the folder is complete."""
    write_atomically(out / summary_file, json.dumps(plain(summary), indent=1) + "\n")
    write_examples(examples, out / data_file)
    (out / JOURNAL).unlink(missing_ok=True)


def read_finished(out: Path, data_file: str, summary_file: str) -> tuple[list[Example], dict[str, Any]]:
    """What `finish` wrote."""
    path = out / data_file
    examples = read_examples(path) if path.stat().st_size else []
    return examples, json.loads((out / summary_file).read_text(encoding="utf-8"))


class _Pool:
    """Workers with an environment each, that play one walk after the other."""

    def __init__(
        self,
        walks: Walks,
        out: Path,
        planned: Sequence[tuple[str, int]],
        journal: Journal,
        first: Seat,
        watch: Callable[[gym.Env[Any, Any], Hand], Watcher],
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.walks, self.journal, self.first, self.watch, self.on_progress = walks, journal, first, watch, on_progress
        self.pictures = Pictures(out / IMAGES_FOLDER)
        done = {(walk.task, walk.repeat) for walk in journal.walks}
        self.planned, self.waiting = len(planned), deque(key for key in planned if key not in done)
        self.begun = time.perf_counter()
        self.examples, self.outcomes, self.counts = 0, Counter[str](), Counter[str]()
        for walk in journal.walks:
            self._count(walk)

    async def run(self) -> None:
        count = min(self.walks.parallel, len(self.waiting))
        seats = [self.first, *(Seat(self.walks.open, self.walks.limits.reset) for _ in range(1, count))][:count]
        workers = [asyncio.ensure_future(self._work(seat)) for seat in seats]
        self._tell()
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, seat: Seat) -> None:
        try:
            while self.waiting:
                task, repeat = self.waiting.popleft()
                walk = await self._play(seat, task, repeat)
                self.journal.append(walk)
                self._count(walk)
                self._tell()
                await asyncio.sleep(0)  # what is quick gives nobody else a turn
        finally:
            await seat.close()

    async def _play(self, seat: Seat, task: str, repeat: int) -> Walk:
        """A walk, begun again where the infrastructure has failed it."""
        tries = 0
        while True:
            tries += 1
            walk = await self._try(seat, task, repeat)
            failed = walk.outcome == "infrastructure"
            if failed or seat.hand.busy:
                seat.give_up()
            if not failed or tries > self.walks.retries:
                return walk

    async def _try(self, seat: Seat, task: str, repeat: int) -> Walk:
        try:
            env = await seat.env()
        except TooLate as error:
            return Walk(task, repeat, "timeout", str(error))
        except Exception as error:
            return Walk(task, repeat, "infrastructure", f"The environment could not be made: {error}")
        watcher = self.watch(env, seat.hand)
        seed = self.walks.seed + repeat
        episode = await play(
            env,
            watcher,
            task=task,
            seed=seed,
            repeat=repeat,
            env_id=self.walks.env,
            limits=self.walks.limits,
            pictures=self.pictures,
            hand=seat.hand,
        )
        walk = Walk(task, repeat, episode.outcome, episode.error, len(episode))
        where = {
            "env": self.walks.env,
            "env_kwargs": plain(without_secrets(self.walks.kwargs)),
            "source": episode.trajectory.source,
            "split": str(watcher.core.split),
            "task": task,
            "seed": seed_of(seed, task, repeat, -1),
            "walker": watcher.name,
            "folder": self.pictures.folder,
        }
        watcher.walk(episode, walk, where)
        return walk

    def _count(self, walk: Walk) -> None:
        self.examples += len(walk.examples)
        self.outcomes[walk.outcome] += 1
        for counts in walk.counts.values():
            self.counts.update(counts)

    def _tell(self) -> None:
        if self.on_progress is not None:
            done, seconds = len(self.journal.walks), time.perf_counter() - self.begun
            self.on_progress(Progress(self.planned, done, self.examples, self.outcomes, self.counts, seconds))


def seen_at(episode: Episode, t: int, observation: Observation) -> dict[str, Any]:
    """The fields of an example that say what was seen at step t, and how to get there."""
    note = episode.notes[t] if t < len(episode.notes) else None
    return {
        "goal": observation.goal,
        "state": observation.state,
        "elements": observation.elements,
        "valid_actions": observation.valid_actions,
        "screenshot": note.screenshot if note else episode.last_screenshot,
        "marked": note.marked if note else episode.last_marked,
        "actions": tuple(filter(None, map(_executed, episode.trajectory.transitions[:t], episode.notes[:t]))),
    }


def _executed(step: Transition, note: StepNote) -> str | None:
    """The environment's own action of a step; None if there was none, so that there is nothing to do again."""
    if note.rollback is None:
        return step.action
    action = note.rollback["action"]
    # A rollback by restore is no action of the environment's, and has only its word.
    return COMMAND if action is None and note.rollback["held"] else action


def refuse_nothing(out: Path, walks: Sequence[Walk]) -> None:
    """Where no walk came to anything nothing is kept, so that the same command tries again once it is mended."""
    failed = [walk for walk in walks if walk.outcome in ("infrastructure", "agent", "timeout")]
    if not walks or len(failed) < len(walks):
        return
    for name in (JOURNAL, STAMP_FILE):
        (out / name).unlink(missing_ok=True)
    raise CollectError(f"Every walk failed; the first one, {failed[0].task}: {' '.join(failed[0].error.split())[:300]}")
