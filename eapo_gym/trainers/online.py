"""The exploratory reward by real rollouts, in the place of the reward model (algorithm `eapo-online`).

    explore = await online_rewards(batch, collector, config, collected=collected)

For the action of step t, with V(x) the mean discounted return of `online_rollouts` episodes that the policy plays
from x:

    R1 = r_t + γ·V(s_{t+1})                                          go on from where the action led
    R2 = r_t + γ·r_back + γ²·V(s_t with memory [m_{t-1}, s_{t+1}])   go back, and know what was there
    R  = max(R1, R2)

R2 counts where the environment's own inverse of the action really led back (by fingerprint); with `online_restore`,
the state is restored elsewhere, as only a simulation can. γ is `gamma_explore`. A branch saves the whole stack of
wrappers: visits, explore and memory, and the steps that the episode has taken, so that rollouts end where the episode
would have.

What it costs: up to 2 · online_rollouts episodes for every transition, hundreds of times as much as the rollouts
themselves. An episode from a branch is no longer than what its limit leaves, and is broken off where γ^k < 0.01: what
comes later could change the value by no more than 1 % of a success. Transitions that end their episode need none.
Each transition replays its episode up to t, in an environment of its own, so that all of them can be played at the same
time; a replay is a moment for environments that live in this process, and minutes for a device or a virtual machine,
whose snapshots take seconds besides: for those take the reward model.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np

from eapo_gym.agents.lamer import LaMerAgent
from eapo_gym.agents.model import ModelAgent
from eapo_gym.bench.evaluate import Progress
from eapo_gym.bench.records import Episode
from eapo_gym.bench.rollout import Limits, seed_of
from eapo_gym.bench.seat import Seat, play_in
from eapo_gym.envs.branching import Branch, branch, resume
from eapo_gym.errors import EapoError
from eapo_gym.protocol import render
from eapo_gym.schema import Trajectory, Turn
from eapo_gym.trainers.batch import Attempt, Batch, Floats
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.lockstep import Order
from eapo_gym.trainers.rollout import CUT_OFF, Collected, Collector, OnProgress

_NEGLIGIBLE = 0.01
"""Rewards that are discounted by more than this are not waited for."""


class NotRepeatable(EapoError, RuntimeError):
    """An episode that went another way when it was played again."""


@dataclass(slots=True, eq=False)
class _Moment:
    """A transition that is to be valued."""

    index: int
    """Its place in the batch."""

    attempt: Attempt
    episode: int
    t: int

    @property
    def trajectory(self) -> Trajectory:
        return self.attempt.episodes[self.episode]


@dataclass(frozen=True, slots=True)
class _Branches:
    """Where the rollouts of a moment begin."""

    onward: Branch | None
    """After the action; None if the episode was over."""

    back: Branch | None = None
    """After the way back; None if there was none, or if the episode was over with it."""

    back_reward: float = 0.0
    came_back: bool = False


async def online_rewards(
    batch: Batch,
    collector: Collector,
    config: TrainConfig,
    *,
    collected: Collected | None = None,
    on_progress: OnProgress | None = None,
) -> Floats:
    """The exploratory reward of each transition of a batch that `collector` has collected; see the module.

    What the rollouts cost is added to the counts of `collected`. Reflections explore nothing, and get 0. A transition
    whose rollouts fail keeps its own reward, and a warning says how many there are.
    """
    if collector.agent.wants_history:
        raise BadConfig(
            "Online rewards begin in the middle of an episode and have no history to show: expected an agent without "
            "with_history, or another explore_reward."
        )
    valuing = _Valuing(batch, collector, config, collected or Collected(), on_progress)
    await valuing.run()
    return valuing.rewards


class _Valuing:
    def __init__(
        self,
        batch: Batch,
        collector: Collector,
        config: TrainConfig,
        collected: Collected,
        on_progress: OnProgress | None,
    ) -> None:
        self.batch, self.collector, self.config = batch, collector, config
        self.counts, self.on_progress = collected.counts, on_progress
        self.gamma = config.gamma_explore
        self.limits = _limits(collector.limits, config)
        self.rewards: Floats = np.zeros(len(batch))
        self.failed: Counter[str] = Counter()
        self._responses: dict[int, list[str]] = {}
        self._planned = self._done = 0
        self._steps = 0
        self._began = time.perf_counter()

    async def run(self) -> None:
        batch = self.batch
        jobs: list[tuple[Order, _Moment]] = []
        for i, step in enumerate(batch.transitions):
            if batch.reflection[i]:
                continue
            self.rewards[i] = step.reward
            attempt = batch.attempts[batch.trajectory[i]]
            jobs.append(((i,), _Moment(i, attempt, int(batch.episode[i]), step.t)))
        # The longest first, so that none of them is left at the end when the others have finished.
        jobs.sort(key=lambda job: job[1].t)
        self._planned = len(jobs)
        if self.collector.lockstep is not None:
            self.collector.lockstep.forget_prefixes()
        try:
            await self.collector.each(jobs, self._value)
        finally:
            self.counts.seconds += time.perf_counter() - self._began
        for said in self.failed:
            self.counts.problem(said)
        if self.failed:
            (said, _), *_ = self.failed.most_common(1)
            warnings.warn(
                f"{self.failed.total()} of {len(jobs)} transitions have no online reward but their own, since their "
                f"rollouts failed: {said}",
                stacklevel=3,
            )

    async def _value(self, seat: Seat, moment: _Moment) -> None:
        """One transition: replay, branch, play from the branches."""
        step = moment.trajectory.transitions[moment.t]
        if not (step.terminated or step.truncated):
            try:
                env = await seat.env()
                branches = await seat.call("Playing an episode again", self._prepare, env, moment)
            except Exception as error:  # an environment may do anything; it costs this transition alone
                self.failed[f"{type(error).__name__}: {error}"] += 1
                seat.give_up()
            else:
                await self._play(seat, moment, branches)
        self._done += 1
        self._tell()

    async def _play(self, seat: Seat, moment: _Moment, branches: _Branches) -> None:
        reward, gamma, hand = self.rewards[moment.index], self.gamma, seat.hand
        onward = await self._mean_return(seat, moment, branches.onward, 0)
        if onward is None:
            self.failed["No rollout came to an end."] += 1
            return
        values = [reward + gamma * onward]
        if branches.came_back and seat.hand is hand:  # else it is another environment, and the branch is not of it
            back = await self._mean_return(seat, moment, branches.back, 1)
            if back is not None:
                values.append(reward + gamma * branches.back_reward + gamma**2 * back)
        self.rewards[moment.index] = max(values)

    async def _mean_return(self, seat: Seat, moment: _Moment, start: Branch | None, arm: int) -> float | None:
        """V: the mean discounted return of rollouts from a branch; None if all of them were cut off."""
        if start is None:
            return 0.0
        returns: list[float] = []
        trajectory, hand = moment.trajectory, seat.hand
        name = trajectory.transitions[moment.t].trajectory
        for k in range(self.config.online_rollouts):
            if seat.hand is not hand:
                break
            episode = await play_in(
                seat,
                self._agent(moment),
                task=trajectory.task,
                seed=seed_of(trajectory.info["seed"], f"online {name}", 2 * k + arm, moment.t),
                env_id=self.config.env,
                limits=self.limits,
                on_step=self._count,
                begin=lambda env: resume(env, start),
            )
            self.counts.add_cost(episode)
            if episode.outcome not in CUT_OFF:
                returns.append(_discounted(episode, self.gamma))
        return sum(returns) / len(returns) if returns else None

    def _agent(self, moment: _Moment) -> ModelAgent:
        """The agent as it was in this episode."""
        agent = self.collector.agent
        if not moment.episode:
            return agent
        written = [self._text(reflection.response_ids) for reflection in moment.attempt.reflections[: moment.episode]]
        playing = LaMerAgent(agent)
        for text in written:
            playing = playing.after(text)
        return playing

    # In the environment's thread

    def _prepare(self, env: gym.Env[Any, Any], moment: _Moment) -> _Branches:
        """Play the episode again up to the transition, and save where its rollouts begin."""
        trajectory = moment.trajectory
        steps = trajectory.transitions[: moment.t + 1]
        responses = self._responses_of(trajectory)
        env.reset(seed=trajectory.info["env_seed"], options={"task": trajectory.task})
        for step, response in zip(steps[:-1], responses, strict=False):
            self._same(step.next_fingerprint, env.step(response))
        step, response = steps[-1], responses[moment.t]
        ways = [] if step.action is None else env.get_wrapper_attr("inverse")(response)
        before = env.get_wrapper_attr("snapshot")() if self.config.online_restore else None
        self._same(step.next_fingerprint, env.step(response))
        onward = branch(env)
        if step.next_fingerprint == step.fingerprint:
            return _Branches(onward)  # it never left
        memory = "\n".join(filter(None, (step.memory_in, env.get_wrapper_attr("describe")())))
        if ways:
            answer = render(Turn(memory=memory, action=ways[0]))
            _, reward, terminated, truncated, info = env.step(answer)
            if info["fingerprint"] == step.fingerprint:
                over = terminated or truncated
                return _Branches(onward, None if over else branch(env), float(reward), came_back=True)
            resume(env, onward)
        if before is None:
            return _Branches(onward)
        # A response without a command: it costs a step, and the memory is written.
        _, _, terminated, truncated, _ = env.step(render(Turn(memory=memory)))
        env.get_wrapper_attr("restore")(before)
        return _Branches(onward, None if terminated or truncated else branch(env), came_back=True)

    def _same(self, expected: str, stepped: tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]) -> None:
        found = stepped[-1]["fingerprint"]
        if found != expected:
            raise NotRepeatable(
                "An episode that was played again with the same seed and responses came to another state: online "
                "rewards need an environment that repeats itself."
            )

    def _responses_of(self, trajectory: Trajectory) -> list[str]:
        """What the policy wrote, by its ids, as the engine told it to the environment."""
        key = id(trajectory)
        if key not in self._responses:
            self._responses[key] = [self._text(step.response_ids) for step in trajectory.transitions]
        return self._responses[key]

    def _text(self, ids: Sequence[int]) -> str:
        return self.collector.engine.decode(ids)

    # Progress

    def _count(self) -> None:
        self._steps += 1
        self.counts.env_steps += 1

    def _tell(self) -> None:
        if self.on_progress is not None:
            seconds = time.perf_counter() - self._began
            self.on_progress(Progress(self._planned, self._done, 0, {}, self._steps, seconds))


def _discounted(episode: Episode, gamma: float) -> float:
    return sum(gamma**k * step.reward for k, step in enumerate(episode.trajectory.transitions))


def _limits(limits: Limits, config: TrainConfig) -> Limits:
    """Those of rollouts, with the most steps that matter."""
    gamma = config.gamma_explore
    horizon = 1 if gamma == 0 else None if gamma == 1 else math.ceil(math.log(_NEGLIGIBLE) / math.log(gamma))
    return replace(limits, steps=horizon)
