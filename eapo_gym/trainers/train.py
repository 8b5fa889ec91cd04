"""A run of training: play, learn, evaluate, save, from the first step to the last; broken off, it goes on.

    result = train(TrainConfig.make(model="runs/sft/model", algorithm="eapo"), "runs/eapo")

The folder has `config.json` (what the run is), `metrics.jsonl` (a line for each step; step 0 is before any),
`checkpoints`, `evals` (runs of `eapo_gym.bench`, with their episodes) and in the end `model`, a plain Hugging Face
folder.
"""

from __future__ import annotations

import asyncio
import copy
import math
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.agents.model import ModelAgent
from eapo_gym.bench.evaluate import Evaluation, evaluate
from eapo_gym.bench.evaluate import Progress as Playing
from eapo_gym.bench.metrics import Metrics as Measured
from eapo_gym.bench.setting import describe_env, open_env, select_tasks
from eapo_gym.engines.base import Engine, Sampling
from eapo_gym.loggers import METRICS, open_loggers
from eapo_gym.trainers.batch import Batch, Floats, make_batch
from eapo_gym.trainers.checkpoint import Checkpoints, capture_rng, restore_rng
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.failures import (
    GO_ON,
    EngineDied,
    SuccessWatch,
    naming_memory,
    require_episodes,
    survive_engine,
)
from eapo_gym.trainers.learning import Learner, Metrics, roles_of
from eapo_gym.trainers.measures import of_process, of_rollouts
from eapo_gym.trainers.online import online_rewards
from eapo_gym.trainers.policy import Policy
from eapo_gym.trainers.processes import Processes
from eapo_gym.trainers.publish import export
from eapo_gym.trainers.records import CONFIG, keep_metrics_until, open_run, write_done
from eapo_gym.trainers.rollout import Collected, Collector
from eapo_gym.trainers.sft import STAMP_FILE, sft
from eapo_gym.trainers.sft import Progress as Tuning

CHECKPOINTS, EVALS, MODEL, SFT = "checkpoints", "evals", "model", "sft"

_ADD_UP = ("tokens/", "tokens_per_second/", "failures/", "train/episodes")
"""Metrics of which each of several processes has a part; of all others it has an estimate, and their mean is taken."""

_OF_ALL = ("failures/skipped_updates",)
"""Counts of what all processes do together."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    step: int
    """The one that is going on; 0 before the first."""

    steps: int
    doing: str
    """play, learn, evaluate, save or fine-tune."""

    playing: Playing | None = None
    metrics: Metrics | None = None
    """Of a step that has just ended."""

    notice: str = ""
    """Something that somebody should read."""

    tuning: Tuning | None = None
    """How far the fine-tuning before the first step has come."""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a run."""

    folder: Path
    model: Path
    metrics: Metrics
    """Of the last step."""


def train(
    config: TrainConfig,
    out: str | Path,
    *,
    make_env: Callable[[], Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Result:
    """Train, or go on with the run that is in the folder; with several processes each of them calls it.

    `make_env` replaces the environment that the configuration names, which is then only a description of it.
    """
    if not config.model:
        raise BadConfig("model: expected a folder or a hub's id to train, got none: add model=… to the arguments.")
    processes = Processes(config)
    try:
        return _Run(config, Path(out), processes, make_env, on_progress).run()
    finally:
        processes.close()


class _Tasks:
    """The order in which tasks are drawn: all of them, shuffled, and again in another order."""

    def __init__(self, names: Sequence[str], seed: int, processes: Processes) -> None:
        self.names, self.seed, self.processes = list(names), seed, processes
        self.drawn = 0
        """By this process."""

    def draw(self, count: int) -> list[str]:
        """The next ones for this process; each task comes once before any comes again."""
        found = []
        for _ in range(count):
            place = self.drawn * self.processes.count + self.processes.rank
            round_, within = divmod(place, len(self.names))
            order = np.random.default_rng((self.seed, round_)).permutation(len(self.names))
            found.append(self.names[order[within]])
            self.drawn += 1
        return found

    def take_up(self, drawn: Sequence[int]) -> None:
        """Go on after what each process had drawn; other processes than then go on after all of it."""
        count = self.processes.count
        self.drawn = drawn[self.processes.rank] if len(drawn) == count else -(-sum(drawn) // count)


@dataclass(frozen=True, slots=True)
class _Played:
    """What a step has to learn from."""

    collected: Collected
    batch: Batch
    explore: Floats | None
    """The exploratory rewards, where they come from rollouts."""

    metrics: Metrics


class _Run:
    def __init__(
        self,
        config: TrainConfig,
        out: Path,
        processes: Processes,
        make_env: Callable[[], Any] | None,
        on_progress: OnProgress | None,
    ) -> None:
        self.config, self.out, self.processes = config, out, processes
        self.tell: OnProgress = on_progress if on_progress is not None and processes.is_first else lambda _: None
        self.make_env, self.is_described_only = make_env or self._open_env, make_env is not None
        env = self.make_env()
        core: Any = env.unwrapped
        self.env_facts = describe_env(env, config.env)
        names = select_tasks(core.tasks(), None, config.max_tasks)
        self.tasks = _Tasks(names, config.seed, processes)
        self.env = env  # agents look at it once, to say of its commands what is so
        self.env_steps = 0
        self.metrics: Metrics = {}
        """Of the last step that is done."""

        self.seconds_of_save: float | None = None
        """Of the checkpoint after it, if there is one; the next step logs them."""

        self.watch = SuccessWatch()
        self.opened: list[Engine | Collector] = []
        # Each process has its own share of a step.
        self.own = replace(config, tasks_per_step=config.tasks_per_step // processes.count)

    def _open_env(self) -> Any:
        config = self.config
        rollback = None if config.rollback == "none" else config.rollback
        return open_env(
            config.env, {"split": config.split, **config.env_kwargs}, rollback=rollback, max_steps=config.max_steps
        )

    # The run, from top to bottom

    def run(self) -> Result:
        config, out = self.config, self.out
        with ExitStack() as open_things:
            done = open_run(config, out, self.env_facts, writes=self.processes.is_first, held=open_things)
            if done is not None:
                return Result(out, out / MODEL, done)
            if self.processes.is_first:
                open_things.callback(_forget_if_nothing_was_done, out)
            # Before there is an event loop, and not in a thread: so Ctrl-C ends it at once.
            model = self._fine_tuned()
            self.policy = Policy.load(config, model, roles=roles_of(config), accelerator=self.processes.accelerator)
            self.checkpoints = Checkpoints(out / CHECKPOINTS, config.keep_last)
            asyncio.run(self._train(open_things))
        return Result(out, out / MODEL, self.metrics)

    async def _train(self, open_things: ExitStack) -> None:
        config, out = self.config, self.out
        try:
            self._open_engine()
            self.learner = Learner(config, self.policy, self.agent, self.processes)
            begun = await self._take_up()
            if self.processes.is_first:
                keep_metrics_until(out, begun)
                self.loggers = open_things.enter_context(
                    open_loggers(config.loggers, out, run_name=out.name, config=config.to_json())
                )
            if begun is None:
                self.metrics = await self._before()
            step = begun or 0
            while not self._is_over(step):
                step += 1
                await self._step(step)
            if self.processes.is_first:
                for left in out.glob(f".*{MODEL}.*"):  # by a process that was killed in the middle of an export
                    shutil.rmtree(left)
            export(self.policy, out / MODEL, run=out)
            if self.processes.is_first:
                write_done(out, self.metrics)
        finally:
            await self._close_engine()
            self.env.close()

    def _is_over(self, step: int) -> bool:
        """Whether this step was the last."""
        budget = self.config.env_steps
        return step >= self.config.steps or (budget is not None and self.env_steps >= budget)

    async def _before(self) -> Metrics:
        """What there is to be known before the first step."""
        metrics: Metrics = {"env_steps": 0.0}
        if self.config.eval_every:
            metrics |= await self._surviving(0, lambda: self._evaluate(0))
        self._log(metrics, 0)
        return metrics

    async def _step(self, step: int) -> None:
        config = self.config
        begin = time.perf_counter()
        drawn = self.tasks.drawn

        async def play() -> _Played:
            self.tasks.drawn = drawn  # once more from the beginning, if the engine died
            return await self._play(step)

        self.tell(Progress(step, config.steps, "play"))
        played: _Played = await self._surviving(step, play)
        self._require(played.collected, step)

        self.tell(Progress(step, config.steps, "learn"))
        async with self.policy.paused(self.engine):
            learned = self.learner.learn(played.batch, step, played.explore)
        between = time.perf_counter()
        await self._surviving(step, lambda: self.policy.sync(self.engine))
        learned["time/sync"] = time.perf_counter() - between
        metrics = self._over_processes({**played.metrics, **learned}, played.collected)
        for warning in self.learner.warnings:
            self.tell(Progress(step, config.steps, "learn", notice=warning))
        self.learner.warnings.clear()
        last = self._is_over(step)
        evaluated = bool(config.eval_every) and (last or step % config.eval_every == 0)
        if evaluated:
            between = time.perf_counter()
            metrics |= await self._surviving(step, lambda: self._evaluate(step))
            metrics["time/eval"] = time.perf_counter() - between
        metrics["time/step"] = time.perf_counter() - begin
        if self.seconds_of_save is not None:
            metrics["time/save"], self.seconds_of_save = self.seconds_of_save, None
        self._log(metrics, step)
        self.metrics = metrics
        # After the log: what is logged and not saved is cut off when the run is taken up, and played again.
        if last or evaluated or step % config.save_every == 0:
            self.tell(Progress(step, config.steps, "save"))
            self._save(step, metrics.get("eval/success"))

    # Parts of a step

    async def _play(self, step: int) -> _Played:
        config, own = self.config, self.own
        begin = time.perf_counter()

        def tell(playing: Playing) -> None:
            self.tell(Progress(step, config.steps, "play", playing))

        if config.dynamic_sampling:
            collected = await self.collector.collect_dynamic(self.tasks.draw, step, self.learner.informative, tell)
        else:
            collected = await self.collector.collect(self.tasks.draw(own.tasks_per_step), step, tell)
        batch = make_batch(collected.groups)
        between = time.perf_counter()
        metrics = {**of_rollouts(collected, batch, between - begin), "time/rollout": between - begin}
        explore = None
        if config.explore_reward == "online":
            explore = await online_rewards(batch, self.collector, config, collected=collected)
            metrics["time/online"] = time.perf_counter() - between
        return _Played(collected, batch, explore, metrics)

    def _require(self, collected: Collected, step: int) -> None:
        """Something to learn from, in one of the processes at least."""
        trained = self.processes.sums([sum(len(attempts) for _, attempts in collected.groups)])
        if trained == [0.0]:
            require_episodes(collected.counts.ended, step)
        [solved] = self.processes.sums([collected.counts.outcomes["solved"]])
        self.watch.note(int(solved), step, aloud=self.processes.is_first)

    def _over_processes(self, metrics: Metrics, collected: Collected) -> Metrics:
        """Means over the processes; what is counted is added up."""
        every = self.processes.gather(metrics)
        found: Metrics = {}
        for name in dict.fromkeys(name for each in every for name in each):
            values = [each[name] for each in every if name in each]
            if name.startswith(_ADD_UP) and name not in _OF_ALL:
                found[name] = float(sum(values))
            else:
                known = [value for value in values if not math.isnan(value)]
                found[name] = float(np.mean(known)) if known else math.nan
        [steps] = self.processes.sums([collected.counts.env_steps])
        self.env_steps += int(steps)
        return {"env_steps": float(self.env_steps), **found, **of_process()}

    async def _evaluate(self, step: int) -> Metrics:
        """How the policy does on tasks that it is not trained on; the first process plays all of them."""
        found: Metrics = {}
        if self.processes.is_first:
            self.tell(Progress(step, self.config.steps, "evaluate"))
            found = of_evaluation(await self._measure(step))
        self.processes.wait()
        return found

    async def _measure(self, step: int) -> Measured:
        config = self.config
        agent = copy.copy(self.collector.agent)
        agent.keeps_images = False
        temperature = config.temperature if config.eval_temperature is None else config.eval_temperature
        agent.sampling = replace(agent.sampling, temperature=temperature)
        evaluation = Evaluation(
            env=config.env,
            agent=config.agent,
            split=config.eval_split,
            env_kwargs=config.env_kwargs,
            agent_options=config.agent_options,
            model=config.model,
            sampling=agent.sampling,
            max_tasks=config.eval_tasks,
            max_steps=config.max_steps,
            rollback=None if config.rollback == "none" else config.rollback,
            limits=replace(self.collector.limits, idle=None),  # that is for what is trained on
            retries=config.retries,
            parallel=config.parallel,
            seeds=(config.seed,),
        )

        def tell(playing: Playing) -> None:
            self.tell(Progress(step, config.steps, "evaluate", playing))

        folder = self.out / EVALS / f"step-{step:06d}"
        lockstep = self.collector.lockstep
        if lockstep is not None:
            lockstep.forget_prefixes()
            # Episodes that are answered together are played together, or their last bits would be others: one that was
            # broken off begins again.
            shutil.rmtree(folder, ignore_errors=True)
        result = await evaluate(
            evaluation,
            folder,
            agent=agent,
            engine=self.engine,
            make_env=self.make_env if self.is_described_only else None,
            on_progress=tell,
            around=None if lockstep is None else lambda number: lockstep.participant((number,)),
        )
        return result.metrics

    def _save(self, step: int, score: float | None) -> None:
        begin = time.perf_counter()
        state = {
            "policy": self.policy.state(),
            "learner": self.learner.state(),
            "drawn": self.processes.gather(self.tasks.drawn),
            "env_steps": self.env_steps,
            "metrics": self.metrics,
            "without_success": self.watch.without,
            "rng": capture_rng(),
        }
        if self.processes.is_first:
            self.loggers.sync()
            self.checkpoints.save(step, state, score=score)
        self.processes.wait()
        self.seconds_of_save = time.perf_counter() - begin

    async def _take_up(self) -> int | None:
        """The step that the last checkpoint is of; None for a new run."""
        found = self.checkpoints.latest()
        if found is None:
            return None
        state = self.checkpoints.load(found)
        self.policy.load_state(state["policy"])
        self.learner.load_state(state["learner"])
        await self.policy.sync(self.engine)
        self.tasks.take_up(state["drawn"])
        self.env_steps, self.watch.without = state["env_steps"], state["without_success"]
        self.metrics = state.get("metrics", {})  # earlier versions did not save them
        restore_rng(state["rng"])
        self.processes.wait()
        if self.processes.is_first:
            self.checkpoints.rewind(found.step)
        return found.step

    def _log(self, metrics: Metrics, step: int) -> None:
        if self.processes.is_first:
            # What was not measured is left out, and what is not finite shows in other numbers.
            self.loggers.log({name: value for name, value in metrics.items() if not math.isnan(value)}, step)
        self.tell(Progress(step, self.config.steps, "log", metrics=metrics))

    # The model and what samples from it

    def _fine_tuned(self) -> str:
        """The model that RL begins with: fine-tuned first, if there is data for that."""
        config = self.config
        if not config.sft_data:
            return config.model

        def tell(tuning: Tuning | None = None) -> None:
            self.tell(Progress(0, config.steps, "fine-tune", tuning=tuning))

        tell()
        accelerator = self.processes.accelerator
        result = sft(config, config.sft_data, self.out / SFT, accelerator=accelerator, on_progress=tell)
        return str(result.model)

    def _open_engine(self) -> None:
        from eapo_gym.agents.loading import make_agent

        config = self.config
        self.engine = self.policy.open_engine()
        self.opened.append(self.engine)
        sampling = Sampling(max_tokens=config.max_tokens, temperature=config.temperature, adapter=self.policy.adapter)
        agent = make_agent(
            config.agent, engine=self.engine, env=self.env, sampling=sampling, options=dict(config.agent_options)
        )
        if not isinstance(agent, ModelAgent):
            raise BadConfig(f"agent: expected one that asks a model, got {config.agent!r}.")
        self.agent = agent
        self.collector = Collector(self.own, agent, self.engine, make_env=self.make_env, stream=self.processes.rank)
        self.opened.append(self.collector)

    async def _close_engine(self) -> None:
        while self.opened:
            await self.opened.pop().close()

    async def _surviving(self, step: int, work: Callable[[], Any]) -> Any:
        """The work, begun again with a new engine should the engine die."""

        async def reopen() -> None:
            if self.policy.is_sharded:
                raise EngineDied(
                    f"The engine of process {self.processes.rank} died in step {step}; another one needs weights of "
                    f"which each process has a part, and the others are not there to give theirs. {GO_ON}"
                )
            await self._close_engine()
            self._open_engine()
            self.learner.asks_as(self.agent)

        with naming_memory(self.config, "rollout"):
            return await survive_engine(work, reopen, step)


def _forget_if_nothing_was_done(folder: Path) -> None:
    """A run that could not begin, for a wrong setting say, must not be in the way of one with the right setting."""
    metrics = folder / METRICS
    if metrics.exists() and metrics.stat().st_size > 0:
        return
    if not any(any(folder.glob(part)) for part in (f"{CHECKPOINTS}/*", f"{EVALS}/*", f"{SFT}/{STAMP_FILE}")):
        metrics.unlink(missing_ok=True)
        (folder / CONFIG).unlink()


def of_evaluation(measured: Measured) -> Metrics:
    """The numbers of an evaluation that a run's log has."""
    low, high = measured.success.interval
    return {
        "eval/success": measured.success.rate,
        "eval/low": low,
        "eval/high": high,
        "eval/steps": measured.steps.mean,
        "eval/degree": measured.exploration_degree.mean,
        "eval/degree_no_loops": measured.exploration_degree_no_self_loops.mean,
        "eval/format_rate": math.nan if measured.format_rate is None else measured.format_rate,
        "eval/invalid_rate": measured.invalid_rate,
    }
