"""Forward passes over rows of the slot cache: inputs, masks, positions, and the logits that somebody needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from eapo_gym.engines.base import Unsupported
from eapo_gym.engines.transformers.cache import Feed, SlotCache, neighbours
from eapo_gym.engines.transformers.request import Request
from eapo_gym.engines.transformers.vision import Picture, Vision

_SPAN = 16
"""Attention spans are multiples of it, since kernels on GPUs want aligned masks."""


class Runner:
    """A model and its cache. For one thread."""

    def __init__(self, model: Any, vision: Vision | None) -> None:
        self.model = model
        self.vision = vision
        self.cache = SlotCache()
        self.device = model.device
        self.dtype = model.dtype
        self._windows = _windows(model)
        self._refuse_other_attention()

    @property
    def bytes_per_token(self) -> int:
        """What a token takes in the cache."""
        text = self.model.config.get_text_config()
        heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
        size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
        return int(2 * text.num_hidden_layers * heads * size * self.dtype.itemsize)

    def feed(self, rows: Sequence[Request], counts: Sequence[int]) -> Any:
        """Feed so many pending tokens of each row; the logits of the wanted positions, row after row, as float32.

        Nothing of it counts until `confirm`: a pass that failed can be made again.
        """
        width = max(counts)
        filled = np.array([row.filled for row in rows])
        amounts = np.array(counts)
        columns = np.arange(width)
        ids = np.zeros((len(rows), width), np.int64)
        for i, (row, count) in enumerate(zip(rows, counts, strict=True)):
            ids[i, :count] = row.tokens[row.filled : row.filled + count]
        positions = filled[:, None] + columns
        span = min(self.cache.capacity, -(-int((filled + amounts).max()) // _SPAN) * _SPAN)
        self.cache.feed(self._feed(rows, positions, amounts, span))
        places = self._places(rows, counts)
        on_device = torch.from_numpy(positions).to(self.device)
        inputs = {
            "attention_mask": self._masks(on_device, span, rows, places),
            "position_ids": self._position_ids(rows, positions, on_device),
            "past_key_values": self.cache,
            "use_cache": True,
        }
        select = None if width == 1 else self._selection(rows, counts)
        try:
            logits = self._forward(torch.from_numpy(ids).to(self.device), places, select, inputs)
        finally:
            self.cache.feed(None)
        return logits.float()

    def confirm(self, rows: Sequence[Request], counts: Sequence[int]) -> None:
        """Note that what was fed is in the cache."""
        for row, count in zip(rows, counts, strict=True):
            self.cache.wrote(row.slot, row.filled, row.identity(row.filled, row.filled + count))
            row.filled += count

    def _forward(self, ids: Any, places: list[tuple[int, int, Picture]], select: Any, inputs: dict[str, Any]) -> Any:
        head = self.model.get_output_embeddings()
        if places:
            assert self.vision is not None
            hidden = self.vision.forward(ids, places, **inputs)
            return head(hidden[select] if select else hidden[:, 0])
        if select is None:
            return self.model(input_ids=ids, **inputs).logits[:, 0]
        # The output layer is given the wanted positions alone, and whatever the model does to logits comes after it.
        hook = head.register_forward_pre_hook(lambda _, given: (given[0][select][None],))
        try:
            return self.model(input_ids=ids, **inputs).logits[0]
        finally:
            hook.remove()

    def _feed(self, rows: Sequence[Request], positions: np.ndarray, counts: np.ndarray, span: int) -> Feed:
        slots = [row.slot for row in rows]
        width = positions.shape[1]
        slot_of_token, real = np.repeat(slots, width), None
        if width > 1 and (counts < width).any():
            is_real = (np.arange(width) < counts[:, None]).ravel()
            slot_of_token, positions = slot_of_token[is_real], positions.ravel()[is_real]
            real = torch.from_numpy(np.flatnonzero(is_real)).to(self.device)
        return Feed(
            neighbours(slots, self.device),
            span,
            torch.from_numpy(slot_of_token).to(self.device),
            torch.from_numpy(positions.ravel()).to(self.device),
            real,
        )

    def _masks(self, positions: Any, span: int, rows: Sequence[Request], places: list[tuple[int, int, Picture]]) -> Any:
        """What each token may attend to, as a bias of 0 or -inf; a mask for each kind of layer if there are several."""
        keys = torch.arange(span, device=self.device)
        queries = positions[:, None, :, None]
        allowed = keys <= queries
        if self.vision is not None and self.vision.attends_both_ways:
            for i, column, picture in places:
                stop = column + picture.stop - picture.start
                allowed[i, 0, column:stop, picture.start : picture.stop] = True
        masks = {}
        for kind, window in self._windows.items():
            visible = allowed if window is None else allowed & (keys > queries - window)
            masks[kind] = torch.zeros(visible.shape, dtype=self.dtype, device=self.device).masked_fill_(
                ~visible, -torch.inf
            )
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def _position_ids(self, rows: Sequence[Request], positions: np.ndarray, on_device: Any) -> Any:
        if self.vision is None or not self.vision.many_positions:
            return on_device
        if not any(row.pictures for row in rows):
            return on_device[None].expand(3, -1, -1)
        along = np.repeat(positions[None], 3, axis=0)
        for i, row in enumerate(rows):
            if row.pictures is not None:
                given = row.pictures.positions[:, row.filled : row.filled + positions.shape[1]]
                along[:, i] += row.pictures.offset
                along[:, i, : given.shape[1]] = given
        return torch.from_numpy(along).to(self.device)

    def _places(self, rows: Sequence[Request], counts: Sequence[int]) -> list[tuple[int, int, Picture]]:
        """Where pictures begin in this pass: row, column, picture."""
        return [
            (i, picture.start - row.filled, picture)
            for i, (row, count) in enumerate(zip(rows, counts, strict=True))
            if row.pictures is not None
            for picture in row.pictures
            if row.filled <= picture.start < row.filled + count
        ]

    def _selection(self, rows: Sequence[Request], counts: Sequence[int]) -> tuple[Any, Any]:
        """Rows and columns of the wanted positions."""
        at: list[tuple[int, int]] = []
        for i, (row, count) in enumerate(zip(rows, counts, strict=True)):
            at += [(i, column) for column in range(max(0, row.wanted_from - row.filled), count)]
        index = torch.tensor(at, dtype=torch.long, device=self.device).view(-1, 2)
        return index[:, 0], index[:, 1]

    def _refuse_other_attention(self) -> None:
        implementation = self.model.config._attn_implementation
        if implementation not in ("sdpa", "eager"):
            raise Unsupported(
                f"The model was loaded with attention {implementation!r}, which takes no masks of ours: load it with "
                "attn_implementation='sdpa'."
            )


def _windows(model: Any) -> dict[str, int | None]:
    """How far back each kind of the model's layers sees; None is to the beginning."""
    text = model.config.get_text_config()
    window = getattr(text, "sliding_window", None)
    kinds = getattr(text, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    known: dict[str, Callable[[], int | None]] = {"full_attention": lambda: None, "sliding_attention": lambda: window}
    unknown = sorted(set(kinds) - set(known))
    if unknown or getattr(model, "_is_stateful", False):
        raise Unsupported(
            f"{type(model).__name__} keeps more than keys and values ({', '.join(unknown) or 'a state'}): expected a "
            "model whose layers have full or sliding-window attention."
        )
    return {kind: known[kind]() for kind in dict.fromkeys(kinds)}
