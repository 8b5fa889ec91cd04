"""The explorer's memory: short, natural, and read back as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.webshop.experts.memory import MOST_STEPS, SUB_PAGES, Memory, Seen
from eapo_gym.envs.webshop.experts.words import plain, words

TEXT = (
    "Step 9. Search 1. At B0UFPWSGEQ. Chosen: flavor name teriyaki. Seen: B0UFPWSGEQ $11.95, search 1, fits; "
    "B0PY0WHDPG $3.78 to $11.38, search 1, read features and description, lacks non gmo, no size 4 oz, no color red. "
    "To buy: B0UFPWSGEQ. Last: click[teriyaki]."
)

asins = st.from_regex(r"[A-Z0-9]{1,10}", fullmatch=True)
word_lists = st.text(max_size=60).map(words).map(tuple)
phrases = st.text(min_size=1, max_size=40).map(plain).filter(bool)
prices = st.sampled_from(["", "$100.0", "$8.98 to $11.99", "$5"])
seen = st.builds(
    Seen,
    asin=asins,
    price=prices,
    search=st.integers(0, 9),
    read=st.sampled_from([(), SUB_PAGES[:1], SUB_PAGES]),
    lacks=word_lists,
    no=st.lists(phrases, max_size=3).map(tuple),
)
memories = st.builds(
    Memory,
    step=st.integers(0, MOST_STEPS),
    search=st.integers(0, 9),
    at=asins | st.just(""),
    chosen=st.lists(phrases, max_size=3).map(tuple),
    seen=st.lists(seen, max_size=6),
    buy=asins | st.just(""),
    last=st.sampled_from(["", "click[buy now]", "search[two. To buy: X. Last: y]"]) | st.text(max_size=40),
)


@given(memories)
def test_reads_back_what_it_wrote(memory: Memory) -> None:
    assert Memory.read(str(memory)) == memory


def test_is_a_text_that_a_person_would_write() -> None:
    memory = Memory.read(TEXT)
    assert memory is not None
    assert str(memory) == TEXT
    assert memory.seen == [
        Seen("B0UFPWSGEQ", "$11.95"),
        Seen("B0PY0WHDPG", "$3.78 to $11.38", 1, SUB_PAGES, ("non", "gmo"), ("size 4 oz", "color red")),
    ]
    assert (memory.at, memory.chosen, memory.buy) == ("B0UFPWSGEQ", ("flavor name teriyaki",), "B0UFPWSGEQ")


@pytest.mark.parametrize(
    "text", ["", "none", f"{TEXT} And more", TEXT.replace("Seen", "Found"), TEXT.replace("Step 9", "Step nine")]
)
def test_another_text_is_no_memory(text: str) -> None:
    assert Memory.read(text) is None


@given(st.text())
def test_reading_never_fails(text: str) -> None:
    Memory.read(text)
    Memory.read(f"Step 1. Search 1. {text}")


def test_a_forged_memory_cannot_blow_up() -> None:
    assert Memory.read("Step 1. Search 1. Seen: " + "B0, search 1, fits; " * 100_000 + "!") is None
    assert Memory.read("Step 1. Search 1. Chosen: " + "a " * 20_000 + "!") is None
