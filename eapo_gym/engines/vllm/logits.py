"""OverRIDE as a logits processor, in vLLM's worker process: the heads live there, beside the model.

vLLM tells a processor which requests join and leave its batch. A request that leaves has ended, or was preempted; then
it comes back later, and its head has learnt from its first part already.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from eapo_gym.engines.base import Override
from eapo_gym.engines.override import OverrideHeads, Trace

_NAME = "eapo_override"


def extra_args(override: Override | None, adapter: int = 0) -> dict[str, Any] | None:
    """What a request carries to its processor; `adapter` is the number of its adapter, 0 the model itself."""
    return None if override is None else {_NAME: {"override": asdict(override), "adapter": adapter}}


class OverrideProcessor(LogitsProcessor):
    """Reweights the rows of requests that ask for it."""

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        self._heads = OverrideHeads()
        self._requests: dict[int, tuple[Trace, list[int]]] = {}
        """By row: the trace, and vLLM's own list of the tokens that were sampled, which grows."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Any override that was made as an `Override` is right."""

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._end(row)
        for row, params, _, sampled in batch_update.added:
            self._end(row)
            asked = (params.extra_args or {}).get(_NAME)
            if asked is not None:
                self._requests[row] = self._heads.begin(Override(**asked["override"]), asked["adapter"]), sampled
        for source, target, direction in batch_update.moved:
            moved, met = self._requests.pop(source, None), self._requests.pop(target, None)
            if moved is not None:
                self._requests[target] = moved
            if met is not None and direction == MoveDirectionality.SWAP:
                self._requests[source] = met

    def apply(self, logits: Any) -> Any:
        if not self._requests:
            return logits
        traces: list[Trace | None] = [None] * len(logits)
        positions = [0] * len(logits)
        for row, (trace, sampled) in self._requests.items():
            if row < len(logits):
                traces[row], positions[row] = trace, len(sampled)
        return self._heads.reweight(logits, traces, positions)

    def _end(self, row: int) -> None:
        trace, sampled = self._requests.pop(row, (None, None))
        if trace is not None and sampled is not None:
            # With asynchronous scheduling the last of them may be unknown still: they stand as -1.
            known = sampled.index(-1) if -1 in sampled else len(sampled)
            self._heads.learn(trace, sampled[:known])
