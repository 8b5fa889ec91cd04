"""An episode as the pages read it: one JSON object, whether it stands in a report or is being played.

    view
      agent, task, task_type, source, split, goal: str      seed, repeat: int | null
      outcome: "solved" | "ended" | "steps" | "timeout" | "agent" | "infrastructure" | "playing"
      error: str            what happened, where the outcome says that something did
      seconds: float        facts: {name: text}, more to be said of the episode
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
      reward: float         parts: {name: float}            finish: str
      calls, prompt_tokens, response_tokens: int            agent_seconds, env_seconds: float

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
        "agent": episode.agent,
        "task": episode.trajectory.task,
        "task_type": str(info.get("task_type") or ""),
        "source": episode.trajectory.source,
        "split": str(info.get("split") or ""),
        "seed": info.get("seed"),
        "repeat": episode.repeat,
        "goal": _goal(episode, now),
        "outcome": episode.outcome if now is None else "playing",
        "error": episode.error,
        "seconds": episode.seconds,
        "degree": visits.exploration_degree(),
        "degree_no_loops": visits.exploration_degree(self_loops=False),
        "facts": {name: _fact(value) for name, value in info.items() if name not in _OF_ITS_OWN and _is_fact(value)},
        "moments": moments,
    }


def pictures_of(episode: Episode) -> list[str]:
    """The names of the pictures of an episode, in the order in which a reader meets them."""
    seen = [name for note in episode.notes for name in (note.marked, note.screenshot)]
    return list(dict.fromkeys(name for name in (*seen, episode.last_marked, episode.last_screenshot) if name))


def _moments(episode: Episode) -> list[dict[str, Any]]:
    steps = episode.trajectory.transitions
    notes = [*episode.notes, *[StepNote()] * (len(steps) - len(episode.notes))]
    moments = [
        {
            "print": step.fingerprint,
            "state": step.state,
            "explore": step.explore_in,
            "memory": step.memory_in,
            "elements": note.elements,
            "screenshot": note.screenshot,
            "marked": note.marked,
            "offered": None if note.offered is None else list(note.offered),
            "did": _step(step, note),
        }
        for step, note in zip(steps, notes, strict=False)
    ]
    if steps:
        moments.append(
            {
                "print": steps[-1].next_fingerprint,
                "state": steps[-1].next_state,
                "explore": steps[-1].explore,
                "memory": steps[-1].memory,
                "elements": episode.last_elements,
                "screenshot": episode.last_screenshot,
                "marked": episode.last_marked,
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
        "screenshot": episode.last_screenshot,
        "marked": episode.last_marked,
        "offered": None if now.valid_actions is None else list(now.valid_actions),
        "did": None,
    }


def _step(step: Transition, note: StepNote) -> dict[str, Any]:
    return {
        "response": note.response,
        "think": note.think,
        "explore": step.explore,
        "memory": step.memory,
        "action": step.action,
        "format_ok": step.format_ok,
        "problems": list(note.problems),
        "invalid": note.invalid,
        "notice": note.notice,
        "rollback": _rollback(step, note),
        "reward": _finite(step.reward),
        "parts": {name: _finite(value) for name, value in note.reward_parts.items()},
        "terminated": step.terminated,
        "truncated": step.truncated,
        "agent_seconds": note.agent_seconds,
        "env_seconds": note.env_seconds,
        "calls": note.calls,
        "prompt_tokens": note.prompt_tokens,
        "response_tokens": note.response_tokens,
        "finish": note.finish,
    }


def _rollback(step: Transition, note: StepNote) -> dict[str, Any] | None:
    if note.rollback is None:
        return {"held": False, "action": None, "reason": None} if step.rollback else None
    action, reason = note.rollback.get("action"), note.rollback.get("reason")
    return {
        "held": bool(note.rollback.get("held")),
        "action": None if action is None else str(action),
        "reason": None if reason is None else str(reason),
    }


def _goal(episode: Episode, now: Observation | None) -> str:
    if now is not None:
        return now.goal
    steps = episode.trajectory.transitions
    return steps[0].goal if steps else ""


def _is_fact(value: object) -> bool:
    """Short things; what is long or nested is for the results file."""
    return isinstance(value, (str, int, float)) and value != "" and len(str(value)) <= 120


def _fact(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _finite(value: float) -> float | None:
    """JSON has neither NaN nor infinities."""
    return float(value) if math.isfinite(value) else None
