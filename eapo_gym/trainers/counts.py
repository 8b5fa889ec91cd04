"""What the rollouts of a step have cost, and how they ended: counted once, wherever they were played."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from eapo_gym.bench.records import Episode, Outcome
from eapo_gym.trainers.batch import Attempt

_PROBLEMS = 20
"""Different problems that are kept word for word."""


@dataclass(slots=True)
class Counts:
    """What rollouts have cost, all of it: also what was begun again, cut off or thrown away."""

    outcomes: Counter[str] = field(default_factory=Counter)
    """Of all episodes."""

    ended: list[tuple[Outcome, str]] = field(default_factory=list)
    """How each episode ended, and its error."""

    env_steps: int = 0
    retries: int = 0
    """How often an episode was begun again."""

    attempts: int = 0
    """All of them, also those of groups that dynamic sampling throws away."""

    solved: int = 0
    """Attempts with success; without those that were dropped, and so are the episodes of the next three."""

    lengths: list[int] = field(default_factory=list)
    degrees: list[float] = field(default_factory=list)
    """Of exploration."""

    degrees_no_loops: list[float] = field(default_factory=list)

    dropped: int = 0
    """Attempts of which nothing is trained on."""

    steps: int = 0
    """Of the episodes as they ended, without those that were begun again; the next five are counted over these."""

    format_ok: int = 0
    invalid: int = 0
    rollbacks: int = 0
    rollbacks_held: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    env_seconds: float = 0.0
    """In environments, added up over episodes that were played at the same time."""

    agent_seconds: float = 0.0
    """In waiting for responses, added up likewise."""

    seconds: float = 0.0
    """By the clock."""

    problems: Counter[str] = field(default_factory=Counter)
    """What went wrong, in words, and how often; the first few of them."""

    @property
    def episodes(self) -> int:
        return sum(self.outcomes.values())

    def add(self, episode: Episode) -> None:
        """Count an episode that has ended."""
        self.outcomes[episode.outcome] += 1
        self.ended.append((episode.outcome, episode.error))
        self.retries += episode.trajectory.info.get("tries", 1) - 1
        self.steps += len(episode)
        self.format_ok += sum(step.format_ok for step in episode.trajectory.transitions)
        self.invalid += episode.invalid
        self.rollbacks += episode.rollbacks
        self.rollbacks_held += episode.rollbacks_held
        self.add_cost(episode)

    def add_attempt(self, attempt: Attempt | None) -> None:
        """Count an attempt; None for one of which nothing is trained on."""
        self.attempts += 1
        if attempt is None:
            self.dropped += 1
            return
        self.solved += attempt.success
        for episode in attempt.episodes:
            self.lengths.append(len(episode))
            self.degrees.append(episode.exploration_degree())
            self.degrees_no_loops.append(episode.exploration_degree(self_loops=False))

    def add_cost(self, episode: Episode) -> None:
        """Count what an episode took, and not what came of it."""
        self.prompt_tokens += sum(note.prompt_tokens for note in episode.notes)
        self.response_tokens += sum(note.response_tokens for note in episode.notes)
        self.env_seconds += sum(note.env_seconds for note in episode.notes)
        self.agent_seconds += sum(note.agent_seconds for note in episode.notes)
        if episode.error:
            self.problem(episode.error)

    def problem(self, said: str) -> None:
        if said in self.problems or len(self.problems) < _PROBLEMS:
            self.problems[said] += 1
