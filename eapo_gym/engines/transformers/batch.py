"""Continuous batching: one thread owns the model, requests join and leave its batch between two steps.

Each round of the thread runs what others asked to be run between steps, lets requests join, feeds a piece of the
prompts that are not in the cache yet, and then samples one token for every response under way.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

import torch

from eapo_gym.engines.base import EngineError, EngineUnavailable, Finish
from eapo_gym.engines.override import OverrideHeads
from eapo_gym.engines.transformers.adapters import Adapters
from eapo_gym.engines.transformers.cache import NOBODY
from eapo_gym.engines.transformers.reading import read
from eapo_gym.engines.transformers.request import Request
from eapo_gym.engines.transformers.runner import Runner

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_PATIENCE = 4
"""So many steps a request may wait for others to join with it: prompts fed together cost less."""

_WORTH_WAITING = 32
"""A prompt waits for another one that is being fed if it can then copy so many tokens more."""

_LEAST_PIECE = 64
"""Prompts are not fed in smaller pieces than this, however little memory there is."""


class Batcher:
    """The thread, its queue and its batch."""

    def __init__(
        self,
        runner: Runner,
        adapters: Adapters,
        *,
        max_batch: int,
        max_tokens: int,
        piece: int,
        ends: frozenset[int],
        stops_at: Callable[[Request], bool],
        inference: bool,
    ) -> None:
        self._runner = runner
        self._cache = runner.cache
        self._adapters = adapters
        self._max_batch = max_batch
        self._max_tokens = max_tokens
        self._piece = piece
        self._ends = ends
        self._stops_at = stops_at
        self._no_grad = torch.inference_mode if inference else torch.no_grad

        self._wake = threading.Condition()
        self._incoming: deque[Request] = deque()
        self._calls: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._closing = threading.Event()
        self._reason = "The engine was closed."

        # From here on for the thread alone.
        self._waiting: deque[Request] = deque()
        self._rows: list[Request] = []
        self._owners: dict[tuple[Any, ...], int] = {}
        self._era = 0
        self._most_rows = max_batch
        self._patience = 0
        self.heads = OverrideHeads()
        self._counts: Counter[str] = Counter()

        self._thread = threading.Thread(target=self._run, name="eapo-gym-transformers", daemon=True)
        self._thread.start()

    # For other threads.

    def submit(self, requests: Iterable[Request]) -> None:
        with self._wake:
            self.refuse_if_closed()
            self._incoming.extend(requests)
            self._wake.notify()

    def call(self, function: Callable[[], _Result]) -> Future[_Result]:
        """Run a function in the thread between two steps."""
        future: Future[_Result] = Future()
        with self._wake:
            self.refuse_if_closed()
            self._calls.append((function, future))
            self._wake.notify()
        return future

    def hold(self) -> tuple[Future[None], Callable[[], None]]:
        """Stop between two steps: a future that is done when the thread has stopped, and what lets it go on."""
        reached: Future[None] = Future()
        released = threading.Event()

        def stop() -> None:
            if reached.set_running_or_notify_cancel():
                reached.set_result(None)
                while not (released.wait(0.05) or self._closing.is_set()):
                    pass

        def ended(call: Future[None]) -> None:
            if (error := call.exception()) is not None:  # the engine was closed before it came to that
                _settle(reached, error=error)

        self.call(stop).add_done_callback(ended)
        return reached, released.set

    def forget(self) -> None:
        """What the cache holds is of no use for requests to come."""
        self._era += 1
        with contextlib.suppress(EngineUnavailable):  # closed: there is nothing to sweep
            self.call(self._sweep)

    def stats(self) -> Mapping[str, float]:
        counts = self._counts.copy()
        steps = counts["decode_steps"]
        mean = counts["decode_rows"] / steps if steps else 0.0
        return {**counts, "mean_batch": mean, "batch_fill": mean / self._max_batch}

    def close(self) -> None:
        with self._wake:
            self._closing.set()
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def refuse_if_closed(self) -> None:
        """Raise if the engine was closed, or has ended by itself."""
        if self._closing.is_set():
            raise EngineUnavailable(self._reason)

    # The thread.

    def _run(self) -> None:
        try:
            with self._no_grad():
                while self._next_round():
                    for step in (self._admit, self._feed_prompts, self._sample):
                        self._try(step)
        except BaseException as error:
            self._reason = f"The engine stopped at an error of its own: {type(error).__name__}: {error}"
            _log.exception("The engine stopped.")
        finally:
            self._end()

    def _end(self) -> None:
        with self._wake:
            self._closing.set()
            requests = [*self._incoming, *self._waiting, *self._rows]
            calls = list(self._calls)
            self._incoming.clear()
            self._calls.clear()
        self._waiting.clear()
        self._rows.clear()
        for future in [*(request.future for request in requests), *(future for _, future in calls)]:
            _settle(future, error=EngineUnavailable(self._reason))
        self._cache.drop()

    def _next_round(self) -> bool:
        """Wait for something to do, run what was asked for; False if the engine is being closed."""
        while True:
            with self._wake:
                while not (self._closing.is_set() or self._calls or self._incoming or self._waiting or self._rows):
                    self._most_rows = self._max_batch
                    self._wake.wait()
                if self._closing.is_set():
                    return False
                calls = list(self._calls)
                self._calls.clear()
                self._waiting.extend(self._incoming)
                self._counts["requests"] += len(self._incoming)
                self._incoming.clear()
            for i, (function, future) in enumerate(calls):
                if self._closing.is_set():
                    self._calls.extend(calls[i:])
                    break
                self._run_call(function, future)
            self._leave([row for row in self._rows if row.future.cancelled()])
            if any(request.future.cancelled() for request in self._waiting):
                self._waiting = deque(request for request in self._waiting if not request.future.cancelled())
            if self._waiting or self._rows:
                return not self._closing.is_set()

    @staticmethod
    def _run_call(function: Callable[[], Any], future: Future[Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            # Not in inference mode: what is loaded here may be trained later.
            with torch.inference_mode(False):
                future.set_result(function())
        except Exception as error:  # whoever asked for it is told
            future.set_exception(error)

    # Joining.

    def _admit(self) -> None:
        """Give slots to waiting requests, in their order as far as there is room."""
        could_join = min(len(self._waiting), self._most_rows - len(self._rows))
        if could_join <= 0:
            return
        self._patience += 1
        if could_join < len(self._rows) // 8 and self._patience < _PATIENCE:
            return
        self._patience = 0
        self._shrink(could_join)
        passed: list[Request] = []
        try:
            while self._waiting and len(self._rows) < self._most_rows and len(passed) <= 2 * self._most_rows:
                request = self._waiting.popleft()
                passed.append(request)
                if not self._could_ever_fit(request):
                    passed.pop()
                    continue
                if not self._has_room(request):
                    break
                if self._join(request):
                    passed.pop()
        finally:
            self._waiting.extendleft(reversed(passed))

    def _join(self, request: Request) -> bool:
        """Find a slot for a request and copy what others have in common with it; False if it is better to wait."""
        self._make_room(len(self._rows) + 1, len(request.tokens) + 1)
        owner = self._owner(request.adapter)
        identity = request.identity(0, len(request.tokens))
        source, shared = self._cache.longest_prefix(identity, owner, request.wanted_from)
        shared = request.whole_pictures(shared)
        for row in self._rows:
            if row.pending > 1 and row.owner == owner:
                common = _common_prefix(row.tokens, request.tokens, request.wanted_from)
                if common >= shared + _WORTH_WAITING:
                    return False
        taken = {row.slot for row in self._rows}
        slot = self._cache.least_useful([slot for slot in range(self._cache.slots) if slot not in taken])
        if shared:
            self._cache.touch(source)
            self._cache.copy(source, slot, shared)
        self._cache.take(slot, owner)
        self._cache.lengths[slot] = shared
        request.slot, request.owner, request.filled = slot, owner, shared
        sampling = request.sampling
        if sampling is not None and sampling.override is not None and request.trace is None:
            # The version too: an adapter that was loaded again samples otherwise.
            weights = (request.adapter, self._adapters.version(request.adapter))
            request.trace = self.heads.begin(sampling.override, weights)
        self._rows.append(request)
        self._counts["prompt_tokens"] += request.prompt_length if not request.response else 0
        self._counts["reused_tokens"] += shared
        return True

    def _owner(self, adapter: str | None) -> int:
        """Who may use what a slot holds: keys and values depend on the weights that made them."""
        key = (self._era, adapter, self._adapters.version(adapter))
        return self._owners.setdefault(key, len(self._owners))

    # Room.

    def _has_room(self, request: Request) -> bool:
        capacity = max(self._cache.capacity, self._cache.rounded(len(request.tokens) + 1))
        return not self._rows or (len(self._rows) + 1) * capacity <= self._max_tokens

    def _could_ever_fit(self, request: Request) -> bool:
        """Whether a request may join when it is alone; if not, it fails."""
        if len(request.tokens) + 1 <= self._max_tokens:
            return True
        _settle(request.future, error=self._too_large(request))
        return False

    def _too_large(self, request: Request) -> EngineError:
        return EngineError(
            f"A request of {len(request.tokens)} tokens does not fit in the cache, which has memory for "
            f"{self._max_tokens}: lower the engine's context or Sampling's max_tokens, or raise max_tokens_in_cache."
        )

    def _shrink(self, joining: int) -> None:
        """Take back the length of the cache if it keeps requests out and half of it would do: one long prompt made it
        so. What ended requests left behind is cut; as long as all have room it is of more use than a small cache."""
        cache = self._cache
        if (len(self._rows) + joining) * cache.capacity <= self._max_tokens:
            return
        longest = max(len(request.tokens) for request in (*self._rows, *self._waiting))
        needed = cache.rounded(longest + 1)
        if needed <= cache.capacity // 2:
            cache.reserve(cache.slots, needed)

    def _make_room(self, rows: int, length: int) -> None:
        """Let the cache have room for so many rows of this length; rows that joined last give way if they must."""
        cache = self._cache
        capacity = cache.capacity
        if length > capacity:
            capacity = cache.rounded(max(length, capacity + capacity // 2))
            if rows * capacity > self._max_tokens:
                capacity = cache.rounded(length)
        affordable = max(1, self._max_tokens // capacity)
        slots = cache.slots
        in_use = {row.slot for row in self._rows}
        useless = [slot for slot in range(slots) if slot not in in_use and cache.owners[slot] == NOBODY]
        if rows > slots or (rows > len(self._rows) and not useless):
            # A quarter more than can be in use at a time, for what ended requests leave behind.
            spare = -(-self._max_batch // 4) if self._most_rows == self._max_batch else 0
            slots = min(max(rows, 2 * slots, 8), max(rows, self._most_rows + spare))
        slots = max(1, min(slots, affordable))
        if slots < len(self._rows):
            self._give_way(self._rows[slots:])
        if slots < cache.slots:
            self._move_to_front(self._rows, slots)
        cache.reserve(slots, capacity)

    def _give_way(self, rows: Sequence[Request]) -> None:
        """Rows that must wait for a slot again, in front of all others. What they have is not lost."""
        for row in rows:
            self._rows.remove(row)
            row.slot, row.filled = -1, 0
            if row.sampling is None:
                row.logprobs.clear()  # its target is fed again as well
        self._waiting.extendleft(reversed(rows))
        self._counts["gave_way"] += len(rows)

    def _move_to_front(self, rows: Sequence[Request], slots: int) -> None:
        """Let these rows stand in the first slots, so that attention reads the cache in place."""
        outside = [row for row in rows if row.slot >= slots]
        if not outside:
            return
        at = {row.slot: row for row in self._rows}
        mine = {row.slot for row in rows}
        holes = iter([slot for slot in range(slots) if slot not in mine])
        for row in outside:
            slot = next(holes)
            other = at.get(slot)
            self._cache.swap(row.slot, slot)
            if other is not None:
                other.slot = row.slot
            row.slot = slot

    # Feeding and sampling.

    def _feed_prompts(self) -> None:
        """Feed one piece of the prompt that joined first, along with others of about the same length."""
        rows = [row for row in self._rows if row.pending > 1]
        if not rows:
            return
        width = rows[0].share(self._piece)
        chosen: list[Request] = []
        for row in rows:
            share = row.share(width)
            alike = width // 4 <= share <= width and row.adapter == rows[0].adapter
            if alike and (len(chosen) + 1) * width <= max(self._piece, width):
                chosen.append(row)
        self._counts["prompt_steps"] += 1
        chosen.sort(key=lambda row: row.slot)
        self._pass(chosen, [row.share(width) for row in chosen])

    def _sample(self) -> None:
        """One token for every response under way; rows with different adapters take turns."""
        rows = [row for row in self._rows if row.pending == 1]
        if not rows:
            return
        needed = max(len(row.tokens) for row in rows)
        if needed > self._max_tokens:
            for row in [row for row in rows if len(row.tokens) > self._max_tokens]:
                self._fail([row], self._too_large(row))
            return
        if needed > self._cache.capacity:
            self._make_room(len(self._rows), needed)
            rows = [row for row in rows if row.slot >= 0]
        self._move_to_front(rows, len(rows))
        for adapter in dict.fromkeys(row.adapter for row in rows):
            group = sorted((row for row in rows if row.adapter == adapter and row.slot >= 0), key=lambda row: row.slot)
            if group:
                self._counts["decode_steps"] += 1
                self._counts["decode_rows"] += len(group)
                self._pass(group, [1] * len(group))

    def _pass(self, rows: list[Request], counts: list[int]) -> None:
        """One forward pass, and what follows from it. What goes wrong is the fault of these rows alone."""
        try:
            with self._adapters.using(rows[0].adapter):
                logits = self._runner.feed(rows, counts)
            self._read(rows, counts, logits)
        except Exception as error:
            if not _out_of_memory(error):
                self._fail(rows, error)
                return
            problem = f"{type(error).__name__}: {error}"
        else:
            return
        # Outside of the handler: until it ends, the traceback keeps the tensors of the failed pass.
        self._retreat(rows, counts, problem)

    def _retreat(self, rows: list[Request], counts: list[int], problem: str) -> None:
        """There was not enough memory for a pass: go on with half of it, as long as there are halves."""
        self._note_out_of_memory()
        if max(counts) > 1 and self._piece > _LEAST_PIECE:
            self._piece = max(_LEAST_PIECE, self._piece // 2)
        elif len(self._rows) == 1 and self._cache.slots == 1:
            self._fail(rows, _no_memory(problem))
            return
        keep = self._most_rows = max(1, len(self._rows) // 2)
        self._give_way(self._rows[keep:])
        self._move_to_front(self._rows, keep)
        self._cache.reserve(keep, self._cache.capacity)

    def _try(self, step: Callable[[], None]) -> None:
        """Make a step; if there is not enough memory for its changes to the cache, begin again with less."""
        try:
            step()
            return
        except Exception as error:
            if not _out_of_memory(error):
                raise
            problem = f"{type(error).__name__}: {error}"
        # A change may have been made to some layers and not to others, so that nothing in the cache is of use. All
        # that the rows need to be fed again is in themselves.
        alone = len(self._rows) <= 1 and self._cache.capacity == 0
        self._most_rows = max(1, len(self._rows) // 2)
        self._give_way(list(self._rows))
        self._cache.drop()
        self._note_out_of_memory()
        if alone and self._waiting:
            _settle(self._waiting.popleft().future, error=_no_memory(problem))

    def _note_out_of_memory(self) -> None:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self._counts["out_of_memory"] += 1

    def _read(self, rows: list[Request], counts: list[int], logits: Any) -> None:
        """Take the next tokens and the scores of targets from the logits of a pass."""
        drawn, scored = read(rows, counts, logits, self.heads)
        # Nothing above has changed a row, so that all of it can be done again; from here on it has happened.
        self._runner.confirm(rows, counts)
        finished: list[Request] = []
        for row, logprobs in scored:
            row.logprobs += logprobs
            if len(row.logprobs) == row.limit:
                finished.append(row)
        broken: list[Request] = []
        undrawn: list[Request] = []
        for row, token, own, sampled in drawn:
            if not own > -torch.inf:
                broken.append(row)
                continue
            if not math.isfinite(sampled):
                undrawn.append(row)
                continue
            row.append(token, own, sampled)
            finish = self._finish(row)
            if finish is not None:
                row.finish = finish
                finished.append(row)
        self._counts["response_tokens"] += len(drawn)
        for row in list(finished):
            error = self._learn(row)
            if error is not None:
                finished.remove(row)
                self._fail([row], error)
        self._leave(finished)
        for row in finished:
            _settle(row.future, row)
        if broken:
            self._fail(broken, EngineError("The model's logits are not numbers: its weights are broken."))
        if undrawn:
            problem = "No token could be drawn from logits reweighted so much: lower Override's strength."
            self._fail(undrawn, EngineError(problem))

    def _learn(self, row: Request) -> EngineError | None:
        """Tune the head of a response that has ended; what goes wrong is an error of this response alone."""
        if row.trace is None:
            return None
        try:
            self.heads.learn(row.trace, row.response)
        except Exception as error:
            failure = EngineError(f"OverRIDE could not learn from a response: {type(error).__name__}: {error}")
            failure.__cause__ = error
            return failure
        return None

    def _finish(self, row: Request) -> Finish | None:
        if row.tokens[-1] in self._ends or self._stops_at(row):
            return "stop"
        return "length" if len(row.tokens) - row.prompt_length >= row.limit else None

    # Leaving.

    def _leave(self, rows: Sequence[Request]) -> None:
        """These rows are done. Their slots keep what they hold until somebody else needs them."""
        for row in rows:
            if row.owner != self._owner(row.adapter):
                self._cache.empty(row.slot)  # other weights have come since
        if rows:
            gone = set(map(id, rows))
            self._rows = [row for row in self._rows if id(row) not in gone]

    def _sweep(self) -> None:
        """Empty the slots that nobody may use any more, and if nobody uses any, let go of the memory."""
        if not self._rows:
            self._cache.drop()
        in_use = {row.slot for row in self._rows}
        for slot in range(self._cache.slots):
            if slot not in in_use:
                self._cache.empty(slot)

    def _fail(self, rows: Sequence[Request], error: Exception) -> None:
        for row in rows:
            self._cache.empty(row.slot)
        self._leave(rows)
        for row in rows:
            failure = EngineError(f"The model failed: {type(error).__name__}: {error}")
            failure.__cause__ = error
            _settle(row.future, error=error if isinstance(error, EngineError) else failure)


def _settle(future: Future[Any], result: Any = None, error: BaseException | None = None) -> None:
    """Tell whoever waits, if anybody still does."""
    with contextlib.suppress(InvalidStateError):
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)


def _common_prefix(one: Sequence[int], other: Sequence[int], limit: int) -> int:
    limit = min(limit, len(one), len(other))
    if one[:limit] == other[:limit]:
        return limit
    low, high = 0, limit  # one[:low] is common, one[:high] is not
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _no_memory(problem: str) -> EngineError:
    return EngineError(
        f"There is not enough memory for a single request ({problem}): lower the engine's context or Sampling's "
        "max_tokens."
    )


def _out_of_memory(error: Exception) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )
