"""What flows between environment, agent and trainer: observations, turns, transitions, trajectories.

The Gymnasium spaces they live in stand here too, since text needs a space of its own: `gymnasium.spaces.Text` wants a
finite alphabet and walks every character of every observation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.vector.utils import shared_memory as gym_shared_memory

from eapo_gym.visitation import exploration_degree

MAX_TEXT = 1 << 20
"""Longest text that an observation or an action may have, in characters."""


class AnyText(spaces.Text):
    """Any `str` up to `max_length` characters, the empty one included.

    `examples` are texts that make sense where the space is used (commands, say): `sample()` draws from them, so that a
    random agent and Gymnasium's own checks act rather than babble.
    """

    def __init__(
        self,
        max_length: int = MAX_TEXT,
        *,
        examples: Sequence[str] = (),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.min_length = 0
        self.max_length = int(max_length)
        self.examples = tuple(examples)
        if self.max_length < 1:
            raise ValueError(f"max_length: expected a positive number, got {max_length}")
        for example in self.examples:
            if not self.contains(example):
                raise ValueError(f"examples: expected str of at most {max_length} characters, got {example!r:.80}")
        # Past Text.__init__ on purpose: it builds tables over a finite alphabet.
        spaces.Space.__init__(self, dtype=str, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            raise ValueError("AnyText.sample takes no mask: there is no alphabet to mask")
        if self.examples:
            return self.examples[int(self.np_random.integers(len(self.examples)))]
        length = int(self.np_random.integers(0, min(32, self.max_length) + 1))
        # Code points below the surrogates: all of them can be encoded.
        return "".join(map(chr, self.np_random.integers(0x20, 0xD800, size=length)))

    @property
    def characters(self) -> str:
        # Gymnasium's empty batches repeat the first of them `min_length` times, which is never.
        return " "

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText) and (self.max_length, self.examples) == (other.max_length, other.examples)

    def __hash__(self) -> int:
        return hash((self.max_length, self.examples))


@gym_shared_memory.create_shared_memory.register(AnyText)
def _refuse_shared_memory(space: AnyText, n: int = 1, ctx: ModuleType | None = None) -> Any:
    # Gymnasium's shared buffers hand back garbage for text, silently; so nobody gets one.
    raise CustomSpaceError(
        "Text cannot live in shared memory: pass vector_kwargs={'shared_memory': False} to gym.make_vec, "
        "or use eapo_gym.make_vec, which does so."
    )


def observation_space(
    *, max_text: int = MAX_TEXT, screenshot: tuple[int, int] | None = None, elements: bool = False
) -> spaces.Dict:
    """The space of what an environment shows: `goal` and `state`, on a screen `screenshot` and `elements` too."""
    parts: dict[str, spaces.Space[Any]] = {"goal": AnyText(max_text), "state": AnyText(max_text)}
    if screenshot is not None:
        height, width = screenshot
        parts["screenshot"] = spaces.Box(0, 255, (height, width, 3), np.uint8)
    if elements:
        parts["elements"] = AnyText(max_text)
    return spaces.Dict(parts)


@dataclass(frozen=True, slots=True)
class Context:
    """Where an observation comes from: what an agent may want to know that is no part of what it sees."""

    env: str = ""
    """The id of the environment; prompts differ between environments."""

    task: str = ""
    episode: str = ""
    """Names the episode among all of a run."""

    t: int = 0
    seed: int = 0
    """Drawn from the run's seed, the task, the episode and t: an agent that draws with it can be repeated."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier step of the episode, for agents that are shown their history."""

    state: str
    response: str
    action: str | None


@dataclass(frozen=True, slots=True)
class Observation:
    """s̃_t = [g; s_t; e_{t-1}; m_{t-1}], as an agent reads it.

    The fields after `elements` are not the environment's: a run adds them for agents that use them.
    """

    goal: str
    state: str
    explore: str = ""
    memory: str = ""
    screenshot: np.ndarray | None = None
    marked: np.ndarray | None = None
    elements: str | None = None
    valid_actions: tuple[str, ...] | None = None
    """What can be done here, where the environment lists it."""

    history: tuple[Exchange, ...] = ()
    """The steps before, for agents with `wants_history`; empty for all others."""

    context: Context = Context()

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any], **more: Any) -> Observation:
        """From the `Dict` observation of an environment, wrapped or not; `more` are fields that it does not have."""
        return cls(**{name: raw[name] for name in cls.__dataclass_fields__ if name in raw}, **more)


@dataclass(frozen=True, slots=True)
class Turn:
    """One parsed response. `action` is None where nothing executable was found; `problems` says what broke the form."""

    think: str = ""
    explore: str = ""
    memory: str | None = None
    action: str | None = None
    format_ok: bool = False
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class Transition:
    """The unit of training: one response, what it was an answer to, and what came of it.

    Token ids are those that the engine was fed and sampled. They are never made again from the text.
    """

    task: str
    trajectory: str
    t: int
    goal: str
    state: str
    fingerprint: str
    depth: int
    explore_in: str
    memory_in: str
    explore: str
    memory: str
    action: str | None
    format_ok: bool
    reward: float
    terminated: bool
    truncated: bool
    next_state: str
    next_fingerprint: str
    rollback: bool = False
    prompt_ids: Sequence[int] = ()
    response_ids: Sequence[int] = ()
    response_logprobs: Sequence[float] = ()
    images: Sequence[np.ndarray] = ()
    next_description: str = ""
    """The environment's short description of the next state, where it was asked for one."""

    elements: str | None = None
    """What was shown besides the state, where a trainer has to show it again; in a record it stands in the note."""


@dataclass(slots=True)
class Trajectory:
    """One episode, and where it came from."""

    task: str
    source: str
    transitions: list[Transition] = field(default_factory=list)
    success: bool = False
    info: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.transitions)

    def exploration_degree(self, self_loops: bool = True) -> float:
        """Share of the distinct states that the episode visited more than once."""
        if not self.transitions:
            return 0.0
        states = [step.fingerprint for step in self.transitions] + [self.transitions[-1].next_fingerprint]
        return exploration_degree(states, self_loops)
