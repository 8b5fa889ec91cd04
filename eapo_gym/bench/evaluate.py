"""Evaluate an agent: every task of a split, for every seed, many at a time.

    result = await evaluate(Evaluation(env="eapo/ALFWorld-v0", split="valid", agent="explorer"), "runs/explorer")
    print(result.metrics.success)

Each of `parallel` workers has an environment of its own and plays one episode after the other; none waits for another.
What an episode is like depends on its task and seed alone, so neither the number of workers nor their order shows in
the results, where the engine repeats itself. A run that was broken off goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import json
import math
import platform
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timezone
from os import PathLike
from pathlib import Path
from typing import Any

import gymnasium as gym

from eapo_gym.agents.base import Agent
from eapo_gym.atomic import write_atomically
from eapo_gym.bench.metrics import Metrics, summarise
from eapo_gym.bench.records import OUTCOMES, Episode
from eapo_gym.bench.rollout import Limits
from eapo_gym.bench.seat import Seat, play_in
from eapo_gym.bench.setting import describe_env, open_env, select_tasks, versions, without_secrets
from eapo_gym.bench.store import Key, Run, RunFolder, load_run, plain
from eapo_gym.bench.table import Row, row_of, write_csv, write_parquet
from eapo_gym.engines.base import Engine, Sampling
from eapo_gym.errors import ContractError, EapoError, MissingExtra
from eapo_gym.wrappers import RollbackMode

METRICS_FILE = "metrics.json"
CSV_FILE = "episodes.csv"
PARQUET_FILE = "episodes.parquet"

_TELL_EVERY = 0.1
"""Seconds between two reports of progress, but for those at the end of an episode."""


class NoModel(EapoError, ValueError):
    """An agent that needs a language model, and none was named."""


class NoRoom(EapoError, ValueError):
    """Responses that may be as long as all that the model takes."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What to evaluate, on what, and how."""

    env: str
    """A registered id, or "module:Class"."""

    agent: str = "eapo"
    """A name or address that `eapo_gym.agents.loading.make_agent` knows."""

    split: str | None = None
    source: str | None = None
    """None leaves split and source to the environment."""

    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    agent_options: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "transformers"
    model: str | None = None
    engine_options: Mapping[str, Any] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    seeds: tuple[int, ...] = (0,)
    """Every task is played once with each."""

    tasks: tuple[str, ...] | None = None
    """Only these."""

    max_tasks: int | None = None
    """So many, taken evenly from all."""

    max_steps: int | None = None
    """The step limit; None for the environment's own."""

    rollback: RollbackMode | None = "inverse"
    limits: Limits = field(default_factory=Limits)
    retries: int = 2
    """How often an episode is begun again after the infrastructure failed, before that counts as its outcome."""

    parallel: int = 8
    """How many episodes are played at a time. Of no influence on the results, and so no part of what a run is."""

    def __post_init__(self) -> None:
        rules = (
            (self.parallel >= 1, "parallel", "a positive number"),
            (self.retries >= 0, "retries", "0 or more"),
            (self.max_steps is None or self.max_steps >= 1, "max_steps", "a positive number"),
            (bool(self.seeds) and len(set(self.seeds)) == len(self.seeds), "seeds", "one or more, all different"),
        )
        for holds, name, expected in rules:
            if not holds:
                raise ValueError(f"{name}: expected {expected}, got {getattr(self, name)!r}.")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation has come."""

    planned: int
    done: int
    """Episodes, those of earlier sittings included."""

    successes: int
    outcomes: Mapping[str, int]
    steps: int
    """Played in this sitting, those of unfinished episodes included."""

    seconds: float
    """Of this sitting."""

    @property
    def success(self) -> float:
        """Of the finished episodes."""
        return self.successes / self.done if self.done else math.nan

    @property
    def steps_per_second(self) -> float:
        return self.steps / self.seconds if self.seconds > 0 else 0.0


@dataclass(slots=True)
class Result:
    """What came of an evaluation."""

    stamp: dict[str, Any]
    planned: list[Key]
    rows: list[Row]
    """An episode each, in the order of the plan."""

    metrics: Metrics
    folder: Path | None
    notices: list[str] = field(default_factory=list)
    """What could not be done and is no reason to fail."""

    episodes: list[Episode] = field(default_factory=list)
    """Only where there is no folder that has them."""

    def run(self) -> Run:
        """The run with its episodes."""
        if self.folder is not None:
            return load_run(self.folder)
        return Run(self.stamp, self.planned, self.episodes)


async def evaluate(
    config: Evaluation,
    out: str | PathLike[str] | None = None,
    *,
    agent: Agent | None = None,
    engine: Engine | None = None,
    make_env: Callable[[], gym.Env[Any, Any]] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    around: Callable[[int], AbstractAsyncContextManager[object]] | None = None,
) -> Result:
    """Play what is planned and not in the folder `out` yet; write the metrics and tables; return them.

    `agent`, `engine` and `make_env` replace what the configuration names, which is then only a description of them.
    They stay open; what is opened here is closed here.

    Each episode is played within a context of `around`, which is given its place in the plan.
    """
    first = Seat(make_env or (lambda: _open(config)), config.limits.reset)
    own_engine: Engine | None = None
    own_agent: Agent | None = None
    try:
        env = await first.env()
        tasks, described = await first.call("Looking over the environment", _look_over, env, config)
        if agent is None:
            agent, engine, own_engine = await _open_agent(config, env, engine)
            own_agent = agent
        stamp = make_stamp(config, described, agent, engine)
        planned = [(task, repeat) for repeat in range(len(config.seeds)) for task in tasks]
        folder = None if out is None else RunFolder.open(out, stamp, planned)
        try:
            evaluator = _Evaluator(config, agent, planned, folder, first, on_progress, around)
            await evaluator.run()
            result = evaluator.result(plain(stamp))
            if result.folder is not None:
                result.notices += write_summary(result.folder, result.rows, result.metrics)
        finally:
            if folder is not None:
                folder.close()
    finally:
        await first.close()
        if own_agent is not None:
            await own_agent.close()
        if own_engine is not None:
            await own_engine.close()
    return result


def make_stamp(config: Evaluation, described: Mapping[str, Any], agent: Agent, engine: Engine | None) -> dict[str, Any]:
    """What a result must say of itself."""
    options: dict[str, Any] = without_secrets(config)
    return {
        "config": options,
        "environment": dict(described),
        "agent": {
            **without_secrets(agent.stamp()),
            "name": agent.name or type(agent).__name__,
            "form": agent.form,
            "privileged": agent.privileged,
        },
        "engine": None if engine is None else without_secrets(engine.stamp()),
        "versions": versions(),
        "platform": platform.platform(),
        "begun": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def write_summary(folder: Path, rows: list[Row], metrics: Metrics) -> list[str]:
    """Write the metrics and the tables; returns what could not be written, and why."""
    write_atomically(folder / METRICS_FILE, json.dumps(metrics.to_json(), indent=1) + "\n")
    write_csv(rows, folder / CSV_FILE)
    try:
        write_parquet(rows, folder / PARQUET_FILE)
    except MissingExtra as error:
        return [str(error)]
    return []


class _Evaluator:
    """The workers, and what they have in common."""

    def __init__(
        self,
        config: Evaluation,
        agent: Agent,
        planned: list[Key],
        folder: RunFolder | None,
        first: Seat,
        on_progress: Callable[[Progress], None] | None,
        around: Callable[[int], AbstractAsyncContextManager[object]] | None,
    ) -> None:
        self.around = around or nullcontext
        self.config, self.agent, self.planned, self.folder = config, agent, planned, folder
        self.on_progress = on_progress
        self.rows: list[Row] = [] if folder is None else list(map(row_of, folder.take_finished()))
        self.episodes: list[Episode] = []
        order = {key: i for i, key in enumerate(planned)}
        self.waiting = deque((order[key], key) for key in (planned if folder is None else folder.missing))
        self.first = first
        self.outcomes = Counter(row.outcome for row in self.rows)
        self.steps = 0
        self.begun = self.told = time.perf_counter()

    async def run(self) -> None:
        most = self.config.parallel if self.agent.max_parallel is None else self.agent.max_parallel
        if not isinstance(most, int) or most < 1:
            raise ContractError(f"max_parallel of {self.agent.name}: expected a positive number or None, got {most!r}.")
        count = min(self.config.parallel, most, len(self.waiting))
        seats = [self.first, *(Seat(self.first.make, self.config.limits.reset) for _ in range(1, count))][:count]
        workers = [asyncio.ensure_future(self._work(seat)) for seat in seats]
        self._tell()
        try:
            await asyncio.gather(*workers)
        finally:
            # When one of them ends the run, the others stop where they are: their episodes are played again.
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def result(self, stamp: dict[str, Any]) -> Result:
        order = {key: i for i, key in enumerate(self.planned)}
        self.rows.sort(key=lambda row: order[row.key])
        self.episodes.sort(key=lambda episode: order[episode.trajectory.task, episode.repeat])
        metrics = summarise(self.rows, self.planned, form=self.agent.form)
        folder = None if self.folder is None else self.folder.folder
        return Result(stamp, self.planned, self.rows, metrics, folder, [], self.episodes)

    async def _work(self, seat: Seat) -> None:
        try:
            while self.waiting:
                place, key = self.waiting.popleft()
                async with self.around(place):
                    episode = await self._play(seat, *key)
                    self._keep(episode)
                    await asyncio.sleep(0)  # quick environments and agents give nobody else a turn
        finally:
            await seat.close()

    async def _play(self, seat: Seat, task: str, repeat: int) -> Episode:
        """One of the planned episodes."""
        return await play_in(
            seat,
            self.agent,
            task=task,
            seed=self.config.seeds[repeat],
            repeat=repeat,
            retries=self.config.retries,
            env_id=self.config.env,
            limits=self.config.limits,
            pictures=None if self.folder is None else self.folder.pictures,
            on_step=self._count,
        )

    def _keep(self, episode: Episode) -> None:
        row = row_of(episode)  # before anything is written: what has no row must not be in the folder
        if self.folder is None:
            self.episodes.append(episode)
        else:
            self.folder.append(episode)
        self.rows.append(row)
        self.outcomes[episode.outcome] += 1
        self._tell()

    def _count(self) -> None:
        self.steps += 1
        if self.on_progress is not None and time.perf_counter() - self.told >= _TELL_EVERY:
            self._tell()

    def _tell(self) -> None:
        if self.on_progress is None:
            return
        self.told = time.perf_counter()
        self.on_progress(
            Progress(
                planned=len(self.planned),
                done=len(self.rows),
                successes=self.outcomes["solved"],
                outcomes={name: self.outcomes[name] for name in OUTCOMES},
                steps=self.steps,
                seconds=self.told - self.begun,
            )
        )


def _open(config: Evaluation) -> gym.Env[Any, Any]:
    named = {"split": config.split, "source": config.source}
    kwargs = {**{name: value for name, value in named.items() if value is not None}, **config.env_kwargs}
    return open_env(config.env, kwargs, rollback=config.rollback, max_steps=config.max_steps)


def _look_over(env: gym.Env[Any, Any], config: Evaluation) -> tuple[list[str], dict[str, Any]]:
    core: Any = env.unwrapped
    return select_tasks(core.tasks(), config.tasks, config.max_tasks), describe_env(env, config.env)


async def _open_agent(
    config: Evaluation, env: gym.Env[Any, Any], engine: Engine | None
) -> tuple[Agent, Engine | None, Engine | None]:
    """The agent, its engine if it needs one, and that engine again if it was opened for it.

    Our own agents look at the environment itself, to say of its commands what is so (whether there is a rollback, for
    one); somebody else's are told its id.
    """
    from eapo_gym.agents.foreign import PREFIX as PYTHON
    from eapo_gym.agents.loading import make_agent, needs_engine

    opened: Engine | None = None
    foreign = config.agent.startswith(PYTHON)
    if not needs_engine(config.agent) and not (foreign and config.model is not None):
        engine = None
    elif engine is None:
        engine = opened = open_engine_of(config)
    try:
        if engine is not None and config.sampling.max_tokens >= engine.context:
            raise NoRoom(
                f"A response of {config.sampling.max_tokens:,} tokens leaves no room for a prompt in the "
                f"{engine.context:,} that {engine.model} takes: lower max_tokens (--max-tokens)."
            )
        agent = make_agent(
            config.agent,
            engine=engine,
            env=config.env if foreign else env,
            sampling=config.sampling,
            options=dict(config.agent_options),
        )
    except BaseException:
        if opened is not None:
            await opened.close()
        raise
    return agent, engine, opened


def open_engine_of(config: Evaluation, overrides: bool | None = None) -> Engine:
    """The engine that the configuration names; `overrides` if it will be asked for OverRIDE other than by `config`."""
    from eapo_gym.engines import open_engine

    if config.model is None:
        raise NoModel(f"The agent {config.agent!r} needs a model: name a folder or a hub's id (--model).")
    options = dict(config.engine_options)
    if config.engine == "vllm" and (overrides or config.sampling.override is not None):
        options.setdefault("override", True)  # it has to be told beforehand, since being ready for it costs speed
    return open_engine(config.engine, config.model, **options)
