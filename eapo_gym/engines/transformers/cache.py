"""The key-value cache of a batch whose rows come and go.

Every request has a slot: a row of preallocated tensors [slots, heads, capacity, dim], one pair for each layer. Slots
have lengths of their own, so that a request joins or leaves without a change for the others. What a slot holds is kept
when its request has ended, and the next prompt that begins alike copies what both have in common: prompts of one
episode, and of one task, share all but their ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import Cache

NOBODY = -1
"""The owner of a slot that holds nothing of use."""

_ALIGNMENT = 64
"""Capacities are multiples of it. (Attention kernels on GPUs want masks whose rows are multiples of 8.)"""


@dataclass(frozen=True, slots=True)
class Feed:
    """Which slots a forward pass feeds, and where."""

    slots: Any
    """A slice, or an index tensor where the slots are not neighbours (which copies what attention reads)."""

    span: int
    """How many positions attention sees."""

    slot_of_token: Any
    position_of_token: Any
    real: Any = None
    """Which tokens of the batch, flattened, are not padding; None if all are."""


class SlotCache(Cache):
    """See the module. Its bookkeeping lives on the CPU, in NumPy; the tensors are made when the first keys arrive."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.slots = 0
        self.capacity = 0
        self._keys: dict[int, Any] = {}
        self._values: dict[int, Any] = {}
        self._feed: Feed | None = None
        self._identity = np.zeros((0, 0), np.int64)
        """What the tokens are that were fed: ids, and for image tokens something that tells images apart."""
        self.lengths = np.zeros(0, np.int64)
        self.owners = np.full(0, NOBODY, np.int64)
        self._used = np.zeros(0, np.int64)
        self._clock = 0

    # What the model calls.

    def update(self, key_states: Any, value_states: Any, layer_idx: int, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        feed = self._feed
        assert feed is not None, "the cache is used outside of a feed"
        keys, values = self._keys.get(layer_idx), self._values.get(layer_idx)
        if keys is None or values is None:
            keys, values = (self._new_layer(states) for states in (key_states, value_states))
            self._keys[layer_idx], self._values[layer_idx] = keys, values
        for layer, states in ((keys, key_states), (values, value_states)):
            tokens = states[:, :, 0] if states.shape[2] == 1 else states.transpose(1, 2).flatten(0, 1)
            if feed.real is not None:
                tokens = tokens[feed.real]
            layer[feed.slot_of_token, :, feed.position_of_token] = tokens
        return keys[feed.slots, :, : feed.span], values[feed.slots, :, : feed.span]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0  # positions and masks are always given, nothing is to be inferred from the cache

    def feed(self, feed: Feed | None) -> None:
        """Set what the next forward pass feeds."""
        self._feed = feed

    # Room.

    def reserve(self, slots: int, capacity: int) -> None:
        """Make it that large; whoever makes it smaller has moved what is needed to the front.

        If there is not enough memory for it, some layers have changed and others have not: then `drop` it.
        """
        if (slots, capacity) == (self.slots, self.capacity):
            return
        for layers in (self._keys, self._values):
            for index, layer in layers.items():
                layers[index] = _resized(layer, slots, capacity)
        identity = np.full((slots, capacity), -1, np.int64)
        kept, width = min(slots, self.slots), min(capacity, self.capacity)
        identity[:kept, :width] = self._identity[:kept, :width]
        self._identity = identity
        self.lengths = np.minimum(_resized_array(self.lengths, slots, 0), capacity)
        self.owners = _resized_array(self.owners, slots, NOBODY)
        self._used = _resized_array(self._used, slots, 0)
        self.slots, self.capacity = slots, capacity

    @staticmethod
    def rounded(capacity: int) -> int:
        return -(-capacity // _ALIGNMENT) * _ALIGNMENT

    def bytes_held(self) -> int:
        return sum(layer.nbytes for layers in (self._keys, self._values) for layer in layers.values())

    def drop(self) -> None:
        """Let go of all memory."""
        self._keys.clear()
        self._values.clear()
        self.slots = self.capacity = 0
        self._identity = np.zeros((0, 0), np.int64)
        self.lengths, self.owners, self._used = (
            _resized_array(array, 0, 0) for array in (self.lengths, self.owners, self._used)
        )

    # What the slots hold.

    def wrote(self, slot: int, start: int, identity: np.ndarray) -> None:
        """Note what was fed to a slot."""
        stop = start + len(identity)
        self._identity[slot, start:stop] = identity
        self.lengths[slot] = stop

    def touch(self, slot: int) -> None:
        self._clock += 1
        self._used[slot] = self._clock

    def take(self, slot: int, owner: int) -> None:
        """The slot is somebody else's now, and empty."""
        self.owners[slot] = owner
        self.lengths[slot] = 0
        self.touch(slot)

    def empty(self, slot: int) -> None:
        """What the slot holds is of no use (any more)."""
        self.owners[slot] = NOBODY
        self.lengths[slot] = 0

    def least_useful(self, slots: Sequence[int]) -> int:
        """Of these slots: one that holds nothing, or else the one that was used longest ago."""
        return min(slots, key=lambda slot: (self.owners[slot] != NOBODY, self._used[slot], slot))

    def longest_prefix(self, identity: np.ndarray, owner: int, limit: int) -> tuple[int, int]:
        """The slot of this owner that begins most like the prompt, and how many tokens both share (`limit` at most)."""
        width = min(limit, self.capacity)
        candidates = np.flatnonzero(self.owners == owner)
        if width <= 0 or not candidates.size:
            return NOBODY, 0
        width = min(width, int(self.lengths[candidates].max()))
        equal = self._identity[candidates, :width] == identity[:width]
        shared = np.where(equal.all(axis=1), width, equal.argmin(axis=1)) if width else np.zeros(len(candidates), int)
        shared = np.minimum(shared, self.lengths[candidates])
        best = int(shared.argmax())
        return int(candidates[best]), int(shared[best])

    def copy(self, source: int, target: int, length: int) -> None:
        """The first tokens of a slot for another one."""
        if source != target:
            for layers in (self._keys, self._values):
                for layer in layers.values():
                    layer[target, :, :length] = layer[source, :, :length]
            self._identity[target, :length] = self._identity[source, :length]
        self.lengths[target] = length

    def swap(self, one: int, other: int) -> None:
        """Exchange two slots with all that they hold."""
        length = int(max(self.lengths[one], self.lengths[other]))
        for layers in (self._keys, self._values):
            for layer in layers.values():
                kept = layer[one, :, :length].clone()
                layer[one, :, :length] = layer[other, :, :length]
                layer[other, :, :length] = kept
        for array in (self._identity, self.lengths, self.owners, self._used):
            array[[one, other]] = array[[other, one]]

    def _new_layer(self, states: Any) -> Any:
        # Zeros: what attention must not see is multiplied by 0, and stale memory may hold a NaN.
        return states.new_zeros(self.slots, states.shape[1], self.capacity, states.shape[3])


def _resized(layer: Any, slots: int, capacity: int) -> Any:
    new = layer.new_zeros(slots, layer.shape[1], capacity, layer.shape[3])
    kept, width = min(slots, layer.shape[0]), min(capacity, layer.shape[2])
    new[:kept, :, :width] = layer[:kept, :, :width]
    return new


def _resized_array(array: np.ndarray, size: int, fill: int) -> np.ndarray:
    new = np.full(size, fill, np.int64)
    new[: min(size, len(array))] = array[:size]
    return new


def neighbours(slots: Sequence[int], device: Any) -> Any:
    """The slots as a slice if they stand one after the other, else as an index."""
    first = slots[0]
    if all(slot == first + i for i, slot in enumerate(slots)):
        return slice(first, first + len(slots))
    return torch.tensor(slots, device=device)
