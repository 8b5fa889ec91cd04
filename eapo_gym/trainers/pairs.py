r"""An exploration and a memory, (e, m), as token ids: what the reward model reads, and gives a probability to.

    <explore> … </explore>
    <memory> … </memory>

These are the very tokens that the policy sampled wherever that can be, so that its probabilities and the reward model's
are of the same thing. A pair that nobody sampled as it stands (of a response whose form was broken, say, so that the
memory of the step before went on) is written and encoded, and cut out in the same places.

**The second pair** of a transition is (e, [m, s']): the memory with one more entry, which is the environment's
description of the state after the step (what it showed, where the episode ended with it), on one line and no longer
than `MAX_ENTRY` characters. It has the tokens of the first one up to the end of m, so that the two differ in nothing
but the entry.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from eapo_gym.engines.base import EngineError
from eapo_gym.engines.chat import Chat
from eapo_gym.escaping import encode as safe
from eapo_gym.protocol import parse, render_section
from eapo_gym.schema import Transition

MAX_ENTRY = 400
"""Characters of the state that becomes an entry: a page of a shop would drown the memory that it is added to."""

_OPENING, _CLOSING = "<explore>", "</memory>"
_AFTER = "\n<action>"
"""What follows in a response. Tokens may reach over the end of a tag, and do so here as they do there."""

_KNOWN = 1 << 14
"""Texts whose ids are kept: the same states come back again and again."""


def memory_entry(state: str) -> str:
    """A state as one entry of a memory: a single line of bounded length."""
    line = " ".join(state[: 4 * MAX_ENTRY].split())
    return line if len(line) <= MAX_ENTRY else line[: MAX_ENTRY - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Pair:
    """One (e, m)."""

    ids: tuple[int, ...]
    memory: str
    close: int
    """The token in which the memory's closing tag begins."""

    split: tuple[str, str]
    """What stands in the tokens from there on: before the tag begins, and from the tag on."""

    logprobs: NDArray[np.float32] | None = None
    """Of the tokens when they were sampled; None where these were not."""


class PairWriter:
    """Writes pairs in the tokens of one model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._pieces: dict[int, str] = {}
        self._encode = lru_cache(_KNOWN)(lambda text: tuple(chat.encode(text)))

    def sampled(self, transition: Transition) -> Pair | None:
        """The pair that the response holds, in its own tokens; None if it does not hold it in the form."""
        ids = transition.response_ids
        found = self._find(ids)
        if found is None:
            return None
        start, close, stop, split = found
        own = tuple(ids[start:stop])
        # What the episode went on with decides: an environment may have cut a memory that was too long for it.
        turn = parse(self._chat.decode(own))
        if (turn.explore, turn.memory) != (transition.explore, transition.memory):
            return None
        known = len(transition.response_logprobs) == len(ids)
        logprobs = np.asarray(transition.response_logprobs[start:stop], np.float32) if known else None
        return Pair(own, transition.memory, close - start, split, logprobs)

    def written(self, explore: str, memory: str) -> Pair:
        """The pair as a well-formed response would hold it."""
        ids = self._encode(f"{render_section('explore', explore)}\n{render_section('memory', memory)}{_AFTER}")
        found = self._find(ids)
        if found is None:
            raise EngineError(
                "The tokenizer does not give back the tags <explore> and </memory> that it encoded: expected one that "
                "round-trips ordinary text; use another model."
            )
        start, close, stop, split = found
        return Pair(ids[start:stop], memory, close - start, split)

    def with_entry(self, pair: Pair, state: str) -> tuple[int, ...]:
        """The ids of (e, [m, s']): the same ones up to the end of m, one more entry, and the closing tag."""
        joint = "\n" if pair.memory.strip() else " "
        entry = joint + safe(memory_entry(state))
        before, after = pair.split
        if before.strip():  # the token of the closing tag holds some of the memory, too: both are written anew
            return pair.ids[: pair.close] + self._encode(f"{before.rstrip()}{entry} {after}")
        end = pair.close
        while self._piece(pair.ids[end - 1]).isspace():
            end -= 1
        return pair.ids[:end] + self._encode(entry) + pair.ids[end:]

    def _find(self, ids: Sequence[int]) -> tuple[int, int, int, tuple[str, str]] | None:
        """The tokens where the pair begins, where its closing tag begins, and where it stops; and that tag's text.

        The texts of single tokens are put together for this: letters that span tokens and blanks may get lost on the
        way, but no tag is made of those.
        """
        pieces = [self._piece(id_) for id_ in ids]
        text = "".join(pieces)
        opening = text.find(_OPENING)
        closing = text.find(_CLOSING, opening)
        if opening < 0 or closing < 0:
            return None
        ends = list(accumulate(map(len, pieces)))
        start, close = bisect_right(ends, opening), bisect_right(ends, closing)
        stop = bisect_right(ends, closing + len(_CLOSING) - 1) + 1
        begins = ends[close] - len(pieces[close])
        return start, close, stop, (text[begins:closing], text[closing : ends[stop - 1]])

    def _piece(self, id_: int) -> str:
        piece = self._pieces.get(id_)
        if piece is None:
            piece = self._pieces[id_] = self._chat.decode((id_,))
        return piece
