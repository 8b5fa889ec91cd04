"""The slot cache against a model of it that keeps a list for each slot."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from eapo_gym.engines.transformers.cache import NOBODY, Feed, SlotCache, neighbours  # noqa: E402

LAYERS, HEADS, WIDTH = 2, 2, 3
SLOTS, CAPACITY = 4, 64


def states(tokens: list[list[int]], layer: int) -> torch.Tensor:
    """Keys that say which token they are of, in which layer and head."""
    ids = torch.tensor(tokens, dtype=torch.float32)[:, None, :, None]
    heads = torch.arange(HEADS).view(1, HEADS, 1, 1)
    return (ids * 10 + heads + 0.5 * layer).expand(-1, -1, -1, WIDTH)


def write(cache: SlotCache, slot: int, start: int, tokens: list[int]) -> None:
    positions = torch.arange(start, start + len(tokens))
    cache.feed(Feed(neighbours([slot], "cpu"), start + len(tokens), torch.full_like(positions, slot), positions))
    for layer in range(LAYERS):
        keys, values = cache.update(states([tokens], layer), -states([tokens], layer), layer)
        assert keys.shape == values.shape == (1, HEADS, start + len(tokens), WIDTH)
    cache.feed(None)
    cache.wrote(slot, start, np.array(tokens))


def held(cache: SlotCache, slot: int) -> None:
    """The tensors agree with what the bookkeeping says."""
    tokens = cache._identity[slot, : cache.lengths[slot]].tolist()
    if not tokens:
        return
    for layer in range(LAYERS):
        expected = states([tokens], layer)[0]
        assert torch.equal(cache._keys[layer][slot, :, : len(tokens)], expected)
        assert torch.equal(cache._values[layer][slot, :, : len(tokens)], -expected)


slots = st.integers(0, SLOTS - 1)
operations = st.one_of(
    st.tuples(st.just("write"), slots, st.lists(st.integers(0, 3), min_size=1, max_size=5)),
    st.tuples(st.just("swap"), slots, slots),
    st.tuples(st.just("copy"), slots, slots, st.integers(0, 8)),
    st.tuples(st.just("take"), slots, st.integers(0, 1)),
    st.tuples(st.just("empty"), slots),
    st.tuples(st.just("grow"), st.integers(1, 3)),
)


@settings(deadline=None, max_examples=80)
@given(st.lists(operations, max_size=25), st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 1))
def test_slots_hold_what_was_written_copied_and_swapped(work, asked, owner):
    cache = SlotCache()
    cache.reserve(SLOTS, CAPACITY)
    write(cache, 0, 0, [0])
    contents: list[list[int]] = [[0], *([] for _ in range(SLOTS - 1))]
    owners = [NOBODY] * SLOTS
    for name, *args in work:
        if name == "write":
            slot, tokens = args
            if len(contents[slot]) + len(tokens) <= CAPACITY:
                write(cache, slot, len(contents[slot]), tokens)
                contents[slot] = contents[slot] + tokens
        elif name == "swap":
            one, other = args
            cache.swap(one, other)
            contents[one], contents[other] = contents[other], contents[one]
            owners[one], owners[other] = owners[other], owners[one]
        elif name == "copy":
            source, target, length = args
            length = min(length, len(contents[source]))
            cache.copy(source, target, length)
            contents[target] = contents[source][:length]
        elif name == "take":
            cache.take(*args)
            contents[args[0]], owners[args[0]] = [], args[1]
        elif name == "empty":
            cache.empty(*args)
            contents[args[0]], owners[args[0]] = [], NOBODY
        else:
            cache.reserve(SLOTS, CAPACITY * args[0] if CAPACITY * args[0] > cache.capacity else cache.capacity)
        assert [cache._identity[slot, : cache.lengths[slot]].tolist() for slot in range(SLOTS)] == contents
        assert cache.owners.tolist() == owners
        for slot in range(SLOTS):
            held(cache, slot)
    source, shared = cache.longest_prefix(np.array(asked), owner, len(asked))
    common = [
        next((i for i, (a, b) in enumerate(zip(asked, tokens, strict=False)) if a != b), min(len(asked), len(tokens)))
        if owners[slot] == owner
        else 0
        for slot, tokens in enumerate(contents)
    ]
    assert shared == max(common)
    if shared:
        assert common[source] == shared


def test_padding_is_not_written():
    cache = SlotCache()
    cache.reserve(3, CAPACITY)
    slots_of = torch.tensor([0, 0, 0, 2])
    positions = torch.tensor([0, 1, 2, 0])
    real = torch.tensor([0, 1, 2, 3])
    cache.feed(Feed(neighbours([0, 2], "cpu"), 16, slots_of, positions, real))
    keys, _ = cache.update(states([[5, 6, 7], [8, 9, 9]], 0), states([[5, 6, 7], [8, 9, 9]], 0), 0)
    assert keys[0, 0, :4, 0].tolist() == [50, 60, 70, 0]
    assert keys[1, 0, :4, 0].tolist() == [80, 0, 0, 0]


def test_the_slot_that_was_used_longest_ago_is_given_up_first():
    cache = SlotCache()
    cache.reserve(3, CAPACITY)
    for slot in (2, 0, 1):
        cache.take(slot, 7)
    cache.touch(2)
    assert cache.least_useful(range(3)) == 0
    cache.empty(1)
    assert cache.least_useful(range(3)) == 1


def test_neighbours_are_read_in_place():
    assert neighbours([3, 4, 5], "cpu") == slice(3, 6)
    assert neighbours([3, 5], "cpu").tolist() == [3, 5]
