"""An episode as the pages read it: one JSON object, whether it stands in a report or is being played.

    view
      agent, task, task_type, source, split, goal: str      seed, repeat: int | null
      outcome: "solved" | "ended" | "steps" | "timeout" | "agent" | "infrastructure" | "playing"
      error: str            what happened, where the outcome says that something did
      seconds: float | null facts: {name: text}, more to be said of the episode
      degree, degree_no_loops: float                        the exploration degree, with and without self-loops
      moments: [moment]     what was seen before each step, and at the end: one more than there are steps

    moment
      print: str            the fingerprint: moments with the same one are visits to the same state
      depth: int            κ, the number of earlier visits
      state, explore, memory: str                           what the agent was shown
      elements: str | null  screenshot, marked: str | null  names of pictures
      offered: [str] | null the valid actions, where the environment lists them
      did: step | null      what the agent answered; null at the end

    step
      response, think, explore, memory: str                 action: str | null
      format_ok, invalid, terminated, truncated: bool       problems: [str]     notice: str
      rollback: {held: bool, action: str | null, reason: str | null} | null
      reward: float | null  parts: {name: float | null}     finish: str
      calls, prompt_tokens, response_tokens: int | null     agent_seconds, env_seconds: float | null

Numbers that are none, or not finite, are null: results of others and damaged ones may hold anything.

`viewer.js` shows such an object, and takes it again when it has grown. Every text is shown as text, whatever is in it.
"""

from __future__ import annotations

import math
from typing import Any

from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.schema import Observation, Transition
from eapo_gym.visitation import VisitCounter

_OF_ITS_OWN = ("split", "task_type", "seed")
"""What stands in a trajectory's `info` and has a place of its own in the view."""


def view_of(episode: Episode, now: Observation | None = None, fingerprint: str = "") -> dict[str, Any]:
    """The view of an episode.

    While it is being played, `now` is what the player sees, in the state `fingerprint`: it is the last moment of the
    view, the only one before the first step, and the outcome is "playing".
    """
    info = episode.trajectory.info
    moments = _moments(episode)
    if now is not None:
        moments[-1:] = [_present(episode, now, fingerprint)]
    visits = VisitCounter()
    for moment in moments:
        moment["depth"] = visits.visit(moment["print"])
    return {
        "agent": as_text(episode.agent),
        "task": as_text(episode.trajectory.task),
        "task_type": str(info.get("task_type") or ""),
        "source": as_text(episode.trajectory.source),
        "split": str(info.get("split") or ""),
        "seed": _whole(info.get("seed")),
        "repeat": episode.repeat,
        "goal": _goal(episode, now),
        "outcome": episode.outcome if now is None else "playing",
        "error": as_text(episode.error),
        "seconds": finite(episode.seconds),
        "degree": visits.exploration_degree(),
        "degree_no_loops": visits.exploration_degree(self_loops=False),
        "facts": {name: _fact(value) for name, value in info.items() if name not in _OF_ITS_OWN and _is_fact(value)},
        "moments": moments,
    }


def pictures_of(episode: Episode) -> list[str]:
    """The names of the pictures of an episode, in the order in which a reader meets them."""
    seen = [name for note in episode.notes for name in (note.marked, note.screenshot)]
    names = map(_name, (*seen, episode.last_marked, episode.last_screenshot))
    return list(dict.fromkeys(name for name in names if name))


def _moments(episode: Episode) -> list[dict[str, Any]]:
    steps = episode.trajectory.transitions
    notes = [*episode.notes, *[StepNote()] * (len(steps) - len(episode.notes))]
    moments = [
        {
            "print": as_text(step.fingerprint),
            "state": as_text(step.state),
            "explore": as_text(step.explore_in),
            "memory": as_text(step.memory_in),
            "elements": _name(note.elements),
            "screenshot": _name(note.screenshot),
            "marked": _name(note.marked),
            "offered": None if note.offered is None else list(map(as_text, note.offered)),
            "did": _step(step, note),
        }
        for step, note in zip(steps, notes, strict=False)
    ]
    if steps:
        moments.append(
            {
                "print": as_text(steps[-1].next_fingerprint),
                "state": as_text(steps[-1].next_state),
                "explore": as_text(steps[-1].explore),
                "memory": as_text(steps[-1].memory),
                "elements": _name(episode.last_elements),
                "screenshot": _name(episode.last_screenshot),
                "marked": _name(episode.last_marked),
                "offered": None,
                "did": None,
            }
        )
    return moments


def _present(episode: Episode, now: Observation, fingerprint: str) -> dict[str, Any]:
    return {
        "print": fingerprint,
        "state": now.state,
        "explore": now.explore,
        "memory": now.memory,
        "elements": now.elements,
        "screenshot": _name(episode.last_screenshot),
        "marked": _name(episode.last_marked),
        "offered": None if now.valid_actions is None else list(now.valid_actions),
        "did": None,
    }


def _step(step: Transition, note: StepNote) -> dict[str, Any]:
    return {
        "response": as_text(note.response),
        "think": as_text(note.think),
        "explore": as_text(step.explore),
        "memory": as_text(step.memory),
        "action": _name(step.action),
        "format_ok": step.format_ok,
        "problems": list(map(as_text, note.problems)),
        "invalid": note.invalid,
        "notice": as_text(note.notice),
        "rollback": _rollback(step, note),
        "reward": finite(step.reward),
        "parts": {name: finite(value) for name, value in note.reward_parts.items()},
        "terminated": step.terminated,
        "truncated": step.truncated,
        "agent_seconds": finite(note.agent_seconds),
        "env_seconds": finite(note.env_seconds),
        "calls": _whole(note.calls),
        "prompt_tokens": _whole(note.prompt_tokens),
        "response_tokens": _whole(note.response_tokens),
        "finish": as_text(note.finish),
    }


def _rollback(step: Transition, note: StepNote) -> dict[str, Any] | None:
    if note.rollback is None:
        return {"held": False, "action": None, "reason": None} if step.rollback else None
    action, reason = note.rollback.get("action"), note.rollback.get("reason")
    return {
        "held": bool(note.rollback.get("held")),
        "action": _name(action),
        "reason": _name(reason),
    }


def _goal(episode: Episode, now: Observation | None) -> str:
    if now is not None:
        return now.goal
    steps = episode.trajectory.transitions
    return as_text(steps[0].goal if steps else episode.goal)


def _is_fact(value: object) -> bool:
    """Short things; what is long or nested is for the results file."""
    return isinstance(value, (str, int, float)) and value != "" and len(str(value)) <= 120


def _fact(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_text(value: object) -> str:
    """Results of others, and damaged ones, may hold anything: it is shown as it is written."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def _name(value: object) -> str | None:
    """A text that may be missing."""
    return None if value is None else as_text(value)


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int) else None


def finite(value: object) -> float | None:
    """JSON has neither NaN nor infinities."""
    try:
        number = float(value) if isinstance(value, (int, float)) else math.nan
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return number if math.isfinite(number) else None
