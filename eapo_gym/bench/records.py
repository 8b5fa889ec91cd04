"""What is kept of an episode: its transitions, a note for each of them, and how it ended.

`Episode.to_json` and `Episode.from_json` lose nothing. What can be told from the neighbours is left out: a step's
`next_state` is the state of the step after it, its `memory_in` the memory of the step before, and so on. What is as it
usually is, an empty text or a False, is left out too, and the valid actions, most of which are the same at every step,
are numbers in a list of `commands`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from eapo_gym.schema import Trajectory, Transition

FORMAT = 1
"""Of the JSON; raised when old readers would misread it."""

Outcome = Literal["solved", "ended", "steps", "timeout", "agent", "infrastructure"]
"""How an episode ended: solved; ended by the environment or the agent unsolved; out of steps; out of time; the agent
raised; the infrastructure (environment, device, process) failed. Only the first is a success, all are counted."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

SavePicture = Callable[[np.ndarray], str]
"""Keeps a picture and names it."""

LoadPicture = Callable[[str], np.ndarray]


@dataclass(frozen=True, slots=True)
class StepNote:
    """What a reader of an episode wants to know about a step, and a trainer does not."""

    response: str = ""
    """What the agent wrote, as it wrote it."""

    think: str = ""
    problems: tuple[str, ...] = ()
    """What broke the form of the response."""

    offered: tuple[str, ...] | None = None
    """The valid actions before the step, where the environment lists them."""

    invalid: bool = False
    """The step did nothing: not possible here, or nothing to execute."""

    notice: str = ""
    rollback: Mapping[str, Any] | None = None
    """What the `Rollback` wrapper reported, if the step was one."""

    reward_parts: Mapping[str, float] = field(default_factory=dict)
    elements: str | None = None
    screenshot: str | None = None
    """The name of the picture in the run's folder `images`, of what was seen before the step."""

    marked: str | None = None
    agent_seconds: float = 0.0
    env_seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    finish: str = ""


@dataclass(slots=True)
class Episode:
    """One episode."""

    agent: str
    trajectory: Trajectory
    """Its `info` has what the environment said of the episode: split, engine, task_type, rollback_mode, seed, …"""

    notes: list[StepNote] = field(default_factory=list)
    outcome: Outcome = "ended"
    error: str = ""
    """What happened, for the outcomes timeout, agent and infrastructure."""

    repeat: int = 0
    """Which of the run's seeds this is."""

    goal: str = ""
    """Known from the reset on, also of an episode that came to no step."""

    last_elements: str | None = None
    last_screenshot: str | None = None
    last_marked: str | None = None
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.trajectory)

    @property
    def success(self) -> bool:
        return self.outcome == "solved"

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

    def to_json(self, save: SavePicture | None = None) -> dict[str, Any]:
        """All of it as plain data; `save` keeps the pictures that prompts had (`Transition.images`) and names them."""
        steps = self.trajectory.transitions
        if len(self.notes) > len(steps):
            raise ValueError(
                f"expected at most one note for each of the {len(steps)} steps, got {len(self.notes)} notes."
            )
        first = steps[0] if steps else None
        data = {
            "format": FORMAT,
            "task": self.trajectory.task,
            "repeat": self.repeat,
            "agent": self.agent,
            "source": self.trajectory.source,
            "outcome": self.outcome,
            "error": self.error,
            "success": self.trajectory.success,
            "seconds": _number(self.seconds),
            "info": json_ready(self.trajectory.info),
            "trajectory": first.trajectory if first else "",
            "goal": self.goal or (first.goal if first else ""),
        }
        commands: dict[str, int] = {}
        data["commands"] = []  # its place: what the steps name by number stands before them
        data["steps"] = written = []
        for t, step in enumerate(steps):
            usual = _usual_of_step(data, t, steps[t - 1] if t else None)
            if t + 1 < len(steps):
                usual["next_state"], usual["next_fingerprint"] = steps[t + 1].state, steps[t + 1].fingerprint
            usual["memory"] = step.memory_in
            entry = _unusual(step, _STEP_FIELDS, usual)
            entry |= {name: list(map(int, ids)) for name in _IDS if len(ids := getattr(step, name))}
            if len(step.response_logprobs):
                entry["response_logprobs"] = list(map(_number, step.response_logprobs))
            if len(step.images):
                if save is None:
                    raise ValueError("This episode has pictures: pass to_json a function that keeps and names them.")
                entry["images"] = [save(image) for image in step.images]
            if "reward" in entry:
                entry["reward"] = _number(step.reward)
            if t < len(self.notes):
                entry["note"] = note = _unusual(self.notes[t], _USUAL_NOTE, _USUAL_NOTE)
                if "offered" in note:
                    note["offered"] = [commands.setdefault(command, len(commands)) for command in note["offered"]]
                if "reward_parts" in note:
                    note["reward_parts"] = {name: _number(part) for name, part in self.notes[t].reward_parts.items()}
                if "rollback" in note:
                    note["rollback"] = json_ready(note["rollback"])
                for name in _SECONDS & note.keys():
                    note[name] = _number(note[name])
            written.append(entry)
        data["commands"] = list(commands)
        data["last"] = {name: value for name in _LAST if (value := getattr(self, f"last_{name}")) is not None}
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any], load: LoadPicture | None = None) -> Episode:
        """The episode that `to_json` wrote; without `load` the pictures that prompts had stay where they are."""
        if data.get("format") != FORMAT:
            raise ValueError(f"expected an episode in format {FORMAT}, got format {data.get('format')!r:.40}.")
        trajectory = Trajectory(data["task"], data["source"], [], data["success"], dict(data["info"]))
        episode = cls(data["agent"], trajectory, [], data["outcome"], data["error"], data["repeat"])
        episode.seconds, episode.goal = float(data["seconds"]), data["goal"]
        for name, value in data["last"].items():
            setattr(episode, f"last_{name}", value)
        entries, before = data["steps"], None
        for t, entry in enumerate(entries):
            values = {**_usual_of_step(data, t, before), **entry}
            note = values.pop("note", None)
            if t + 1 < len(entries):
                values.setdefault("next_state", entries[t + 1]["state"])
                values.setdefault("next_fingerprint", entries[t + 1]["fingerprint"])
            if "memory" not in values:
                values["memory"] = values["memory_in"]
            values["reward"] = float(values["reward"])
            for name in _IDS:
                values[name] = tuple(values.get(name, ()))
            values["response_logprobs"] = tuple(map(float, values.get("response_logprobs", ())))
            values["images"] = tuple(map(load, values.get("images", ()))) if load else ()
            before = Transition(**values)
            trajectory.transitions.append(before)
            if note is not None:
                episode.notes.append(_note(note, data["commands"]))
        return episode


_IDS = ("prompt_ids", "response_ids")
_SECONDS = {"agent_seconds", "env_seconds"}
_LAST = ("elements", "screenshot", "marked")
_SEQUENCES = (*_IDS, "response_logprobs", "images")
_STEP_FIELDS = [item.name for item in fields(Transition) if item.name not in (*_SEQUENCES, "elements")]
_USUAL_STEP: dict[str, Any] = {
    "depth": 0,
    "explore": "",
    "format_ok": True,
    "reward": 0.0,
    "terminated": False,
    "truncated": False,
    "rollback": False,
}
_USUAL_NOTE: dict[str, Any] = {name: getattr(StepNote(), name) for name in (item.name for item in fields(StepNote))}
_MISSING = object()


def _usual_of_step(head: Mapping[str, Any], t: int, before: Transition | None) -> dict[str, Any]:
    """What a step has of its episode and of the step before, unless it says otherwise."""
    return {
        **_USUAL_STEP,
        "task": head["task"],
        "trajectory": head["trajectory"],
        "goal": head["goal"],
        "t": t,
        "explore_in": before.explore if before else "",
        "memory_in": before.memory if before else "",
    }


def _unusual(record: object, names: Iterable[str], usual: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(record, name)) != usual.get(name, _MISSING)}


def _note(entry: Mapping[str, Any], commands: list[str]) -> StepNote:
    values = dict(entry)
    if "problems" in values:
        values["problems"] = tuple(values["problems"])
    if "offered" in values:
        values["offered"] = tuple(map(commands.__getitem__, values["offered"]))
    if "reward_parts" in values:
        values["reward_parts"] = {name: float(part) for name, part in values["reward_parts"].items()}
    for name in _SECONDS & values.keys():
        values[name] = float(values[name])
    return StepNote(**values)


_DEEPEST = 20
"""Of what is nested in each other: below, and in what holds itself, there is only text."""


def json_ready(value: Any, depth: int = 0) -> Any:
    """Anything, as data that JSON can have: what is no such data is its text, and so are infinities and NaN."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _number(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {str(name): json_ready(item, depth + 1) for name, item in value.items()}
        if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray):
            return [json_ready(item, depth + 1) for item in value]
    return str(value)


def _number(value: float) -> float | str:
    """JSON has no infinities and no NaN: they are written as texts, which `float` reads."""
    number = float(value)
    return number if math.isfinite(number) else str(number)
