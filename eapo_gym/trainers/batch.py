"""The transitions of one step of training, as columns: what rewards, groups and advantages are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eapo_gym.schema import Trajectory, Transition

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A trajectory of a task as it is trained on: one episode, or several in sequence with reflections in between.

    A reflection is a transition of its own, whose action is None and whose fingerprint names the episode before it.
    """

    episodes: tuple[Trajectory, ...]
    reflections: tuple[Transition, ...] = ()
    """One after each episode but the last."""

    def transitions(self) -> list[Transition]:
        """In the order in which they were written."""
        found: list[Transition] = []
        for i, episode in enumerate(self.episodes):
            found += episode.transitions
            if i < len(self.reflections):
                found.append(self.reflections[i])
        return found

    @property
    def success(self) -> bool:
        """The task was solved, by the last episode: there is none after a success."""
        return bool(self.episodes) and self.episodes[-1].success


@dataclass(slots=True)
class Batch:
    """One entry of each column belongs to one transition."""

    transitions: list[Transition]
    task: Ints
    """Whose group of trajectories it is in; the same task drawn twice is two."""

    trajectory: Ints
    """Which attempt it is of, counted over the whole batch."""

    episode: Ints
    """Which episode within the attempt."""

    t: Ints
    """Which step of its episode; a reflection has the length of the episode before it."""

    length: Ints
    """Actions of its episode."""

    state: Ints
    """The fingerprint, as a number."""

    depth: Ints
    success: Bools
    """Its episode succeeded."""

    format_ok: Bools
    reflection: Bools
    response_tokens: Ints
    attempts: list[Attempt] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    """The names of the tasks, by their number."""

    def __len__(self) -> int:
        return len(self.transitions)


def make_batch(groups: Sequence[tuple[str, Sequence[Attempt]]]) -> Batch:
    """The columns of `[(task, its attempts), …]`; what was not sampled by the policy (no ids) is left out."""
    rows: list[tuple[Transition, int, int, int, int, bool, bool]] = []
    attempts: list[Attempt] = []
    for task, (_, members) in enumerate(groups):
        for attempt in members:
            number = len(attempts)
            attempts.append(attempt)
            for i, episode in enumerate(attempt.episodes):
                count = len(episode.transitions)
                own = [(step, False) for step in episode.transitions]
                if i < len(attempt.reflections):
                    own.append((attempt.reflections[i], True))
                rows += [
                    (step, task, number, i, count, episode.success, reflects)
                    for step, reflects in own
                    if len(step.response_ids)
                ]
    transitions = [row[0] for row in rows]
    numbers: dict[str, int] = {}
    return Batch(
        transitions,
        task=np.array([row[1] for row in rows], np.int64),
        trajectory=np.array([row[2] for row in rows], np.int64),
        episode=np.array([row[3] for row in rows], np.int64),
        t=np.array([row[4] if row[6] else row[0].t for row in rows], np.int64),
        length=np.array([row[4] for row in rows], np.int64),
        state=np.array([numbers.setdefault(step.fingerprint, len(numbers)) for step in transitions], np.int64),
        depth=np.array([step.depth for step in transitions], np.int64),
        success=np.array([row[5] for row in rows], np.bool_),
        format_ok=np.array([step.format_ok for step in transitions], np.bool_),
        reflection=np.array([row[6] for row in rows], np.bool_),
        response_tokens=np.array([len(step.response_ids) for step in transitions], np.int64),
        attempts=attempts,
        tasks=[task for task, _ in groups],
    )
