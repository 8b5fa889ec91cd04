"""One prompt on its way through the batch: what it wants, and how far it is."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eapo_gym.engines.base import Finish, Sampling
from eapo_gym.engines.transformers.vision import Pictures


@dataclass(slots=True, eq=False)
class Request:
    """A response to sample, or (`sampling` is None) a target to score, which is the end of `tokens` then."""

    tokens: list[int]
    """All that the model reads: the prompt, and what was sampled for it."""

    prompt_length: int
    sampling: Sampling | None
    limit: int
    """How many tokens may be sampled, or are to be scored."""

    random: np.random.Generator
    pictures: Pictures | None = None
    adapter: str | None = None
    future: Future[Request] = field(default_factory=Future)

    logprobs: list[float] = field(default_factory=list)
    sampled_logprobs: list[float] = field(default_factory=list)
    finish: Finish = "length"
    trace: Any = None
    """What OverRIDE keeps of it."""

    # Where it is. A request that had to give up its slot starts again with all the tokens that it has.
    slot: int = -1
    owner: int = -1
    filled: int = 0
    """How many tokens the cache holds of it."""

    _uniform: float | None = None

    @property
    def pending(self) -> int:
        """How many tokens are still to be fed before its next token can be drawn, or its last one scored."""
        return len(self.tokens) - self.filled

    @property
    def wanted_from(self) -> int:
        """The first position whose logits it needs."""
        return len(self.tokens) - 1 if self.sampling is not None else self.prompt_length - 1

    @property
    def response(self) -> list[int]:
        return self.tokens[self.prompt_length :]

    def identity(self, start: int, stop: int) -> np.ndarray:
        """What the tokens are, for comparison: two images have the same ids and are not the same."""
        ids = np.array(self.tokens[start:stop], np.int64)
        if self.pictures is not None:
            for picture in self.pictures:
                first, last = max(picture.start, start), min(picture.stop, stop)
                if first < last:
                    ids[first - start : last - start] = picture.identity
        return ids

    def whole_pictures(self, position: int) -> int:
        """The position, or the start of the picture that it is in the middle of."""
        for picture in self.pictures or ():
            if picture.start < position < picture.stop:
                return picture.start
        return position

    def share(self, most: int) -> int:
        """How many of its pending tokens to feed at once: `most`, or a little more or less to keep a picture whole."""
        if self.pictures is None or most >= self.pending:
            return min(most, self.pending)
        stop = self.whole_pictures(self.filled + most)
        if stop == self.filled:
            stop = next(picture.stop for picture in self.pictures if picture.start == stop)
        return stop - self.filled

    def uniform(self) -> float:
        """The number that its next token is drawn with. It is spent when the token is there, not when it is asked for:
        a step that fails and is tried again draws the same token."""
        if self._uniform is None:
            self._uniform = self.random.random()
        return self._uniform

    def append(self, token: int, logprob: float, sampled_logprob: float) -> None:
        self.tokens.append(token)
        self.logprobs.append(logprob)
        self.sampled_logprobs.append(sampled_logprob)
        self._uniform = None
