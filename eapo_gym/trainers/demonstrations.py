"""Expert episodes as examples: what the expert saw, and the turn that it answered with, in tag form.

    done = await collect_demonstrations(Demonstrations(agent="explorer"), Walks(max_tasks=200), "data/experts")

Only episodes that solved their task are kept, unless asked otherwise. An expert that never errs visits none of the
states in which a learner will find itself. With `noise`, some of its actions are replaced by random ones in the
environment, while what is recorded stays the expert's own answer: so there are examples of finding one's way back, and
of finding that a note was wrong. With `doubt` it is the other way round: the expert explores where it knows enough, and
that is shown as well as done. Who learns from it knows how to explore, and has yet to find out when.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import gymnasium as gym

from eapo_gym.agents.base import Agent, Answer, Response, as_response
from eapo_gym.bench.hands import Hand
from eapo_gym.bench.records import Episode
from eapo_gym.bench.setting import without_secrets
from eapo_gym.engines.base import Engine, Sampling
from eapo_gym.envs.alfworld.experts import GoalError
from eapo_gym.envs.alfworld.experts.brief import brief_explore, brief_memory
from eapo_gym.protocol import render
from eapo_gym.schema import Observation, Turn
from eapo_gym.trainers.collecting import (
    Progress,
    Walker,
    Walks,
    Watcher,
    collect_walks,
    finish,
    read_finished,
    refuse_nothing,
    seen_at,
)
from eapo_gym.trainers.examples import Example, action_kind, without_thought
from eapo_gym.trainers.journal import CollectError, Walk
from eapo_gym.wrappers.rollback import COMMAND

DATA_FILE = "demonstrations.jsonl"
SUMMARY_FILE = "demonstrations.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrations:
    """Who shows, and what is kept of it."""

    agent: str = "explorer"
    """Any name or address that `make_agent` knows."""

    agent_options: Mapping[str, Any] = field(default_factory=dict)
    think: bool = True
    """Keep the think sections. Small models do better without them."""

    brief: bool = False
    """The notes of ALFWorld's explorer in few words, for models that are too small to write all of them."""

    only_solved: bool = True
    noise: float = 0.0
    """The share of turns that are replaced by a wrong one: an action that is possible, one that is not possible now, or
    a `mistake` that the agent itself can think of, with wrong notes."""

    doubt: float = 0.0
    """Of the turns in which the agent knows what to do, the share in which it explores all the same. Unlike `noise`
    this is shown: who learns from it knows how to explore and how to act, and has to find out when to do which."""

    def __post_init__(self) -> None:
        for name in ("noise", "doubt"):
            if not 0 <= getattr(self, name) < 1:
                raise CollectError(f"{name}: expected a share from 0 to below 1, got {getattr(self, name)}.")


@dataclass(frozen=True, slots=True)
class Collected:
    """What came of it."""

    path: Path
    examples: list[Example]
    summary: dict[str, Any]


async def collect_demonstrations(
    what: Demonstrations,
    walks: Walks,
    out: str | Path,
    *,
    engine: Engine | None = None,
    sampling: Sampling | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Collected:
    """Let the agent play, and keep what it did; goes on with what was broken off in the folder `out`."""
    out = Path(out)
    walker = Walker(what.agent, what.agent_options, engine, sampling)

    def watch(agent: Agent, env: gym.Env[Any, Any], hand: Hand) -> Watcher:
        return _Showing(agent, env, hand, what)

    stamp = {"demonstrations": without_secrets(asdict(what))}
    played = await collect_walks(walks, walker, out, DATA_FILE, watch, stamp, on_progress=on_progress)
    if not (out / DATA_FILE).exists():
        refuse_nothing(out, played)
        finish(out, DATA_FILE, [each for walk in played for each in walk.examples], SUMMARY_FILE, _summary(played))
    return Collected(out / DATA_FILE, *read_finished(out, DATA_FILE, SUMMARY_FILE))


def _summary(walks: list[Walk]) -> dict[str, Any]:
    kinds = Counter(example.action_kind for walk in walks for example in walk.examples)
    return {
        "walks": len(walks),
        "outcomes": Counter(walk.outcome for walk in walks),
        "solved": sum(walk.outcome == "solved" for walk in walks),
        "steps": sum(walk.steps for walk in walks),
        "examples": sum(kinds.values()),
        "by_action": dict(kinds.most_common()),
        "left_out": dict(sum((Counter(walk.counts.get("left_out", {})) for walk in walks), Counter())),
    }


class _Showing(Watcher):
    """Notes what the expert saw and said; now and then something else is done than it said."""

    def __init__(self, agent: Agent, env: gym.Env[Any, Any], hand: Hand, what: Demonstrations) -> None:
        super().__init__(agent, env, hand)
        if what.doubt and not hasattr(agent, "doubt"):
            raise CollectError(
                f"doubt: expected an agent that can be in doubt, as the explorer can, and {self.name} cannot: leave it "
                "out, or take the explorer."
            )
        self._what = what
        self._said: list[tuple[Observation, Turn]] = []
        self._offered: dict[str, None] = {}
        """All that was possible at some time of the episode, in the order of its coming."""

    async def act_async(self, observation: Observation) -> Answer:
        response = as_response(await self.ask(observation), self.name)
        turn = await self.read(response.text)
        if doubtful := self._doubtful(observation, turn):
            turn, response = doubtful, Response(render(doubtful))
        self._said.append((observation, turn))
        self._offered |= dict.fromkeys(observation.valid_actions or ())
        return self._disturbed(observation, turn) or response

    def _doubtful(self, observation: Observation, turn: Turn) -> Turn | None:
        if random.Random(f"doubt {observation.context.seed}").random() >= self._what.doubt:
            return None
        doubtful: Turn | None = getattr(self.agent, "doubt")(observation, turn)  # noqa: B009  # few agents have it
        return doubtful

    def _disturbed(self, observation: Observation, turn: Turn) -> Response | None:
        chances = random.Random(f"noise {observation.context.seed}")
        if turn.action is None or chances.random() >= self._what.noise:
            return None
        kind = chances.choice(("possible", "impossible", "mistake"))
        if kind == "mistake" and (mistaken := self._mistaken(observation, turn)):
            return Response(render(mistaken))
        offered = observation.valid_actions or tuple(getattr(self.core.action_space, "examples", ()))
        gone = [action for action in self._offered if action not in offered]
        possible = gone if gone and kind == "impossible" else offered
        others = [action for action in possible if action not in (turn.action, COMMAND)]
        if not others:
            return None
        done = chances.choice(others)
        # Experts may note their last action, and would draw false conclusions from a note of what was not done.
        before, found, after = (turn.memory or "").rpartition(turn.action)
        memory = f"{before}{done}{after}" if found else turn.memory
        return Response(render(replace(turn, action=done, memory=memory)))

    def _mistaken(self, observation: Observation, turn: Turn) -> Turn | None:
        mistake = getattr(self.agent, "mistake", None)
        return mistake(observation, turn) if mistake else None

    def walk(self, episode: Episode, walk: Walk, where: Mapping[str, Any]) -> None:
        steps = episode.trajectory.transitions
        if self._what.only_solved and not episode.success:
            walk.counts["left_out"] = {"unsolved": len(steps)}
            return
        broken = 0
        for t, ((observation, turn), step) in enumerate(zip(self._said, steps, strict=False)):
            if not turn.format_ok or turn.action is None:
                broken += 1
                continue
            example = Example(
                kind="demonstration",
                **where,
                **seen_at(episode, t, observation),
                explore=observation.explore,
                memory=observation.memory,
                turn=turn,
                fingerprint=step.fingerprint,
                target=step.next_fingerprint if step.action == turn.action else "",
                action_kind=action_kind(turn.action),
            )
            if self._what.brief:
                example = _in_brief(example)
            walk.examples.append(example if self._what.think else without_thought(example))
        if broken:
            walk.counts["left_out"] = {"broken form": broken}


def _in_brief(example: Example) -> Example:
    turn = example.turn
    try:
        memory = None if turn.memory is None else brief_memory(example.goal, turn.memory)
        return replace(
            example,
            explore=brief_explore(example.goal, example.explore),
            memory=brief_memory(example.goal, example.memory),
            turn=replace(turn, explore=brief_explore(example.goal, turn.explore), memory=memory),
        )
    except GoalError as error:
        raise CollectError(
            "brief: expected an episode of ALFWorld, since the notes of its explorer alone can be said in few words: "
            f"leave it out. {error}"
        ) from error
