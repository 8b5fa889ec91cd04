"""What the explorer writes down, it reads back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.experts.memory import MOST_TRIED, Memory
from eapo_gym.envs.androidworld.experts.words import brief

NAMES = st.text(min_size=1, max_size=60).map(brief).filter(bool)
SCREENS = st.lists(NAMES, min_size=1, max_size=2).map(", ".join)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    last = draw(st.one_of(st.just(""), NAMES))
    return Memory(
        turn=draw(st.integers(0, 999)),
        part=draw(st.integers(1, 999)),
        today=draw(st.sampled_from(["", "Sun, Oct 15", "Mon, Jan 1"])),
        known=draw(st.lists(NAMES, max_size=4, unique=True)),
        tried=draw(st.lists(st.tuples(SCREENS, NAMES), max_size=4, unique=True)),
        read=draw(st.text(max_size=60)),
        last=last,
        at=draw(SCREENS) if last else "",
        again=draw(st.integers(0, 999)),
    )


@given(memories())
def test_round_trip(memory: Memory) -> None:
    assert Memory.parse(str(memory)) == memory


@given(st.text())
def test_any_other_text_is_no_memory(text: str) -> None:
    assert Memory.parse(text) is None or str(Memory.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Turn 1.",
        "Turn 1. Part 1. Tried: settings.",
        'Turn 1. Part 1. Read: "half.',
        "turn 1. part 1.",
        'Turn 1. Part 1. Read: "a" "b".',
        "Turn 1. Part 1. Known: wrote title",
        "x" * 30_000,
    ],
)
def test_what_is_broken_is_no_memory(text: str) -> None:
    assert Memory.parse(text) is None


def test_it_forgets_the_oldest_and_counts_what_is_done_again() -> None:
    memory = Memory()
    for n in range(MOST_TRIED + 5):
        memory.take_down("settings", f"tap {n}")
    assert len(memory.tried) == MOST_TRIED
    assert memory.tried[0] == ("settings", "tap 5")
    assert memory.again == 0
    memory.take_down("settings", memory.last)
    memory.take_down("settings", memory.last)
    assert memory.again == 2
    assert len(memory.tried) == MOST_TRIED
