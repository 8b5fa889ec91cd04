"""Episodes of all kinds, for property tests; nothing in them makes sense."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from eapo_gym.bench.records import OUTCOMES, Episode, StepNote
from eapo_gym.schema import Trajectory, Transition
from tests.hostile import hostile_text

# What is a pair of surrogates to Python is one character to JSON, so of the two kinds only one is drawn.
_any_text = st.text(st.characters(exclude_categories=(), max_codepoint=0xDBFF), max_size=12) | st.sampled_from(
    ["\0", "\ud800", "a\nb", "\u2028", '"}', "😀"]
)
texts = hostile_text.map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")) | _any_text
ids = st.lists(st.integers(0, 200_000), max_size=4).map(tuple)
floats = st.floats(allow_nan=False)
names = st.sampled_from(["a", "b/c", "d e"])

_notes: st.SearchStrategy[Any] = st.builds(
    StepNote,
    response=texts,
    think=texts,
    problems=st.lists(texts, max_size=2).map(tuple),
    offered=st.none() | st.lists(st.sampled_from(["look", "go", "go to \ud800", "x"]), max_size=4).map(tuple),
    invalid=st.booleans(),
    notice=texts,
    rollback=st.none() | st.just({"mode": "inverse", "action": None, "held": False, "target": "f", "reason": "x"}),
    reward_parts=st.dictionaries(names, floats, max_size=2),
    elements=st.none() | texts,
    screenshot=st.none() | names,
    agent_seconds=st.floats(0, 9),
    calls=st.integers(0, 3),
    prompt_tokens=st.integers(0, 9),
    finish=st.sampled_from(["", "stop"]),
)


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    """Some of whose steps follow from the step before, and some do not."""
    trajectory = Trajectory(draw(names), "embedded", success=draw(st.booleans()), info={"split": "x", "seed": 3})
    episode = Episode(
        "a", trajectory, outcome=draw(st.sampled_from(OUTCOMES)), error=draw(texts), repeat=draw(st.integers(0, 3))
    )
    episode.last_elements = draw(st.none() | texts)
    episode.goal = draw(st.just("goal") | texts.filter(bool))
    episode.seconds = draw(st.floats(0, 9))
    count = draw(st.integers(0, 4))
    before: Transition | None = None
    for t in range(count):
        follows = before is not None and draw(st.booleans())
        step = Transition(
            task=draw(st.just(trajectory.task) | names),
            trajectory=draw(names),
            t=draw(st.just(t) | st.integers(0, 9)),
            goal=draw(st.just("goal") | texts),
            state=before.next_state if follows and before else draw(texts),
            fingerprint=before.next_fingerprint if follows and before else draw(names),
            depth=draw(st.integers(0, 2)),
            explore_in=before.explore if follows and before else draw(texts),
            memory_in=before.memory if follows and before else draw(texts),
            explore=draw(texts),
            memory=draw(texts),
            action=draw(st.none() | texts),
            format_ok=draw(st.booleans()),
            reward=draw(floats),
            terminated=draw(st.booleans()),
            truncated=draw(st.booleans()),
            next_state=draw(texts),
            next_fingerprint=draw(names),
            rollback=draw(st.booleans()),
            prompt_ids=draw(ids),
            response_ids=draw(ids),
            response_logprobs=draw(st.lists(floats, max_size=3).map(tuple)),
        )
        trajectory.transitions.append(step)
        before = step
    episode.notes = [draw(_notes) for _ in range(draw(st.integers(0, count)))]
    return episode
