"""The explorer's memory: short, natural, and read back as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.alfworld.experts.memory import Memory
from eapo_gym.envs.alfworld.experts.places import OPENABLE, PLACES, chance

TEXT = (
    "I am at desk 1, carrying nothing. Found: desklamp 1 on desk 1; mug 1-2 on desk 1; mug 4 in drawer 3. "
    "Open: drawer 1-3. Searched: desk 1; drawer 1-3. Not searched: drawer 4-6; shelf 1, 3. "
    "Last: take mug 1 from desk 1."
)

names = st.builds("{} {}".format, st.sampled_from(sorted(PLACES)), st.integers(1, 9999))
things = st.builds("{} {}".format, st.sampled_from(["mug", "desklamp", "cd"]), st.integers(1, 40))
places = st.sets(names, max_size=12)
memories = st.builds(
    Memory,
    at=names | st.just(""),
    carrying=things | st.just(""),
    treated=st.sampled_from(["", "clean", "heat", "cool"]),
    found=st.sets(st.tuples(things, names), max_size=8),
    opened=places,
    searched=places,
    unsearched=places,
    useless=places,
    last=st.sampled_from(["", "look", "go to desk 1", "take cd 2 from shelf 10"]),
)


@given(memories)
def test_reads_back_what_it_wrote(memory: Memory) -> None:
    assert Memory.read(str(memory)) == memory


def test_is_a_text_that_a_person_would_write() -> None:
    memory = Memory.read(TEXT)
    assert memory is not None
    assert str(memory) == TEXT
    assert memory.found == {
        ("mug 1", "desk 1"),
        ("mug 2", "desk 1"),
        ("desklamp 1", "desk 1"),
        ("mug 4", "drawer 3"),
    }
    assert memory.unsearched == {"drawer 4", "drawer 5", "drawer 6", "shelf 1", "shelf 3"}
    assert str(Memory(carrying="egg 1", treated="heat")) == "I am in the middle of the room, carrying egg 1 (hot)."


def test_a_large_kitchen_fits_into_few_words() -> None:
    left = {f"{kind} {i + 1}" for kind in ("cabinet", "drawer", "countertop", "stoveburner") for i in range(30)}
    assert len(str(Memory(unsearched=left))) < 150


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        TEXT + " And more.",
        TEXT[:-10],
        TEXT.replace("Found", "Seen"),
        TEXT.replace("drawer 1-3", "drawer x"),
    ],
)
def test_another_text_is_no_memory(text: str) -> None:
    assert Memory.read(text) is None


def test_a_forged_memory_cannot_blow_up() -> None:
    assert Memory.read("I am at desk 1, carrying nothing. Open: drawer 1-999999999999.") is None
    assert Memory.read(f"I am at desk 1, carrying nothing. Open: drawer 1{', 1-9999' * 100_000}.") is None


@given(st.text())
def test_reading_never_fails(text: str) -> None:
    Memory.read(text)


def test_likely_places() -> None:
    assert chance("pillow", "bed") > chance("pillow", "armchair") > chance("pillow", "fridge") > 0
    assert chance("no such thing", "bed") > 0
    assert PLACES >= OPENABLE
