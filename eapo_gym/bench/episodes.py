"""Play episodes, keep what happened, and sum it up.

    play(env, policy)                       one episode
    play_all(env, make_policy, tasks)       one episode for each task
    summarise("random", episodes)           the row of a table

The environment takes plain commands (`schema="native"`). A policy is called with the observation, which has the
`explore` and `memory` texts of its turn before, and the info; it returns a command, or a `Turn` with texts of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from eapo_gym.bench.statistics import Share, Spread
from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.errors import ContractError, HostingError
from eapo_gym.schema import Trajectory, Transition, Turn
from eapo_gym.visitation import VisitCounter

Policy = Callable[[Obs, Info], "str | Turn"]
"""What plays: from an observation and its info to a command, or to a whole turn with explore and memory."""

MakePolicy = Callable[[gym.Env[Any, Any], int], Policy]
"""Builds the policy of one episode from the environment and a seed."""


@dataclass(frozen=True, slots=True)
class StepNote:
    """What a reader of an episode wants to know about a step, and a trainer does not."""

    think: str = ""
    offered: tuple[str, ...] | None = None
    """The valid actions before the step, where the environment lists them."""

    invalid: bool = False
    rollback: dict[str, Any] | None = None
    """What the `Rollback` wrapper reported, if the step was one."""


@dataclass(slots=True)
class Episode:
    """One episode: its transitions, a note for each of them, and what is to be said of the whole."""

    agent: str
    trajectory: Trajectory
    notes: list[StepNote] = field(default_factory=list)
    seconds: float = 0.0
    failure: dict[str, Any] | None = None
    """The cause, if the infrastructure failed and not the agent."""

    def __len__(self) -> int:
        return len(self.trajectory)

    @property
    def success(self) -> bool:
        return self.trajectory.success

    @property
    def invalid(self) -> int:
        return sum(note.invalid for note in self.notes)

    @property
    def rollbacks(self) -> int:
        return sum(note.rollback is not None for note in self.notes)

    @property
    def rollbacks_held(self) -> int:
        return sum(bool(note.rollback and note.rollback.get("held")) for note in self.notes)

    def fingerprints(self) -> list[str]:
        """The states in the order in which they were visited, the last one included."""
        steps = self.trajectory.transitions
        return [step.fingerprint for step in steps] + [step.next_fingerprint for step in steps[-1:]]

    def to_dict(self) -> dict[str, Any]:
        """A line of a results file; the texts are left out."""
        return {
            "agent": self.agent,
            "task": self.trajectory.task,
            "source": self.trajectory.source,
            **self.trajectory.info,
            "success": self.success,
            "steps": len(self),
            "exploration_degree": self.trajectory.exploration_degree(),
            "exploration_degree_no_self_loops": self.trajectory.exploration_degree(self_loops=False),
            "invalid_actions": self.invalid,
            "rollbacks": self.rollbacks,
            "rollbacks_held": self.rollbacks_held,
            "seconds": self.seconds,
            "failure": self.failure,
        }


def play(
    env: gym.Env[Any, Any],
    policy: Policy,
    *,
    task: str | None = None,
    seed: int | None = None,
    agent: str = "",
    max_steps: int = 1000,
) -> Episode:
    """Play one episode; `max_steps` ends it where the environment has no limit of its own.

    A failure of the infrastructure (`info["failure"]`, a `HostingError`) ends the episode without success and is
    recorded, so that whoever counts episodes can count it.
    """
    core = env.unwrapped
    if not isinstance(core, AgentEnv):
        raise ContractError(f"Only an AgentEnv can be played, and {type(core).__name__} is none.")
    begin = time.perf_counter()
    episode = Episode(agent, Trajectory(task or "", core.source))
    try:
        _play(env, core, policy, episode, task, seed, max_steps)
    except HostingError as error:
        episode.failure = {"cause": "hosting", "message": str(error)}
    episode.seconds = time.perf_counter() - begin
    return episode


def _play(
    env: gym.Env[Any, Any],
    core: AgentEnv,
    policy: Policy,
    episode: Episode,
    task: str | None,
    seed: int | None,
    max_steps: int,
) -> None:
    obs, info = env.reset(seed=seed, options=None if task is None else {"task": task})
    trajectory = episode.trajectory
    trajectory.task = str(info.get("task", core.task))
    trajectory.info = {name: info[name] for name in ("split", "engine", "task_type", "rollback_mode") if name in info}
    trajectory.info["seed"] = seed
    name = f"{trajectory.task}#{episode.agent}"
    visits = VisitCounter()
    fingerprint = core.fingerprint()
    depth = visits.visit(fingerprint)
    explore = memory = ""
    for t in range(max_steps):
        offered = env.get_wrapper_attr("valid_actions")()
        answer = policy({**obs, "explore": explore, "memory": memory}, info)
        turn = Turn(action=answer, format_ok=True) if isinstance(answer, str) else answer
        if turn.action is None:
            raise ValueError("A policy that plays commands must name one in every turn, and this turn has none.")
        remembered = memory if turn.memory is None else turn.memory
        after, reward, terminated, truncated, info = env.step(turn.action)
        if "failure" in info:
            episode.failure = info["failure"]
            return
        next_fingerprint = core.fingerprint()
        rollback = info.get("rollback")
        trajectory.transitions.append(
            Transition(
                task=trajectory.task,
                trajectory=name,
                t=t,
                goal=obs["goal"],
                state=obs["state"],
                fingerprint=fingerprint,
                depth=depth,
                explore_in=explore,
                memory_in=memory,
                explore=turn.explore,
                memory=remembered,
                action=turn.action,
                format_ok=turn.format_ok,
                reward=float(reward),
                terminated=terminated,
                truncated=truncated,
                next_state=after["state"],
                next_fingerprint=next_fingerprint,
                rollback=rollback is not None,
            )
        )
        episode.notes.append(
            StepNote(
                turn.think,
                None if offered is None else tuple(offered),
                bool(info.get("invalid_action", False)),
                rollback,
            )
        )
        obs, explore, memory, fingerprint = after, turn.explore, remembered, next_fingerprint
        depth = visits.visit(fingerprint)
        if terminated or truncated:
            break
    trajectory.success = bool(info.get("won", False))


def play_all(
    env: gym.Env[Any, Any],
    make_policy: MakePolicy,
    tasks: Iterable[str],
    *,
    seed: int = 0,
    agent: str = "",
    max_steps: int = 1000,
    on_episode: Callable[[Episode], None] | None = None,
) -> list[Episode]:
    """One episode for each task. Game i has the seed `seed + i`, whoever plays it, so that agents can be compared."""
    episodes = []
    for i, task in enumerate(tasks):
        policy = make_policy(env, seed + i)
        episode = play(env, policy, task=task, seed=seed + i, agent=agent, max_steps=max_steps)
        episodes.append(episode)
        if on_episode is not None:
            on_episode(episode)
    return episodes


@dataclass(frozen=True, slots=True)
class Summary:
    """What a table says of an agent.

    Every episode is in the denominator of `success`, those that the infrastructure failed too; the other numbers are of
    the episodes that were played to their end.
    """

    agent: str
    success: Share
    failures: int
    steps: Spread
    steps_solved: Spread
    exploration_degree: Spread
    exploration_degree_no_self_loops: Spread
    invalid_rate: float
    rollbacks: Share
    """Rollbacks that reached the state before, out of all."""

    seconds: float

    def to_dict(self) -> dict[str, Any]:
        low, high = self.success.interval
        return {
            "agent": self.agent,
            "episodes": self.success.n,
            "successes": self.success.successes,
            "success": _number(self.success.rate),
            "success_low": low,
            "success_high": high,
            "failures": self.failures,
            "steps": _number(self.steps.mean),
            "steps_solved": _number(self.steps_solved.mean),
            "exploration_degree": _number(self.exploration_degree.mean),
            "exploration_degree_no_self_loops": _number(self.exploration_degree_no_self_loops.mean),
            "invalid_rate": _number(self.invalid_rate),
            "rollbacks": self.rollbacks.n,
            "rollbacks_held": self.rollbacks.successes,
            "seconds": self.seconds,
        }


def summarise(agent: str, episodes: Sequence[Episode]) -> Summary:
    """Sum up the episodes of one agent."""
    played = [episode for episode in episodes if episode.failure is None]
    steps = sum(len(episode) for episode in played)
    return Summary(
        agent=agent,
        success=Share(sum(episode.success for episode in episodes), len(episodes)),
        failures=len(episodes) - len(played),
        steps=Spread.of(len(episode) for episode in played),
        steps_solved=Spread.of(len(episode) for episode in played if episode.success),
        exploration_degree=Spread.of(episode.trajectory.exploration_degree() for episode in played),
        exploration_degree_no_self_loops=Spread.of(
            episode.trajectory.exploration_degree(self_loops=False) for episode in played
        ),
        invalid_rate=sum(episode.invalid for episode in played) / steps if steps else float("nan"),
        rollbacks=Share(sum(e.rollbacks_held for e in played), sum(e.rollbacks for e in played)),
        seconds=sum(episode.seconds for episode in episodes),
    )


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if value != value else value
