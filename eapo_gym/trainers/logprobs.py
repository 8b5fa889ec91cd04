"""Log-probs of token sequences after prompts: rows, micro-batches under a token budget, and the forward pass.

    rows = [Row(prompt, (response,)), Row(prompt, (one, other))]
    module = LogProbs(model)
    for indices in microbatches(rows, 16384):
        values = module(module.collate([rows[i] for i in indices]))

A row with one target is read as an ordinary text. One with several becomes `[prompt, first, second, …]`, in which every
target goes on from the prompt by its positions and does not see the others: so the prompt is computed once. What all
the targets begin with is a part of the prompt in this, and is computed once too.

The output layer is what takes the memory: a vocabulary of 150,000 makes 600 kB of each token. It is applied to the
positions alone whose next token is asked for, and in chunks that the backward pass computes again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from eapo_gym.engines.base import Prompt, Unsupported
from eapo_gym.engines.images import ImageReader, Seen
from eapo_gym.engines.transformers.vision import Picture, Pictures, Vision
from eapo_gym.errors import EapoError

_TRUNK, _PADDING = 0, -1
"""What is no branch: the tokens that all targets of a row see, and those that are none."""

_CHUNK = 1 << 25
"""Logits that are there at a time: 128 MB in single precision."""


class BadRow(EapoError, ValueError):
    """A prompt with targets that no model could read."""


@dataclass(frozen=True, slots=True)
class Row:
    """A prompt, and the token sequences that continue it, each on its own."""

    prompt: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    images: Sequence[np.ndarray] = ()
    """In the order in which they stand in the prompt, whose ids have all the tokens that they take.

    They may be packed (`PackedImages`), and are looked at when the row goes through the model, and no longer.
    """

    @property
    def length(self) -> int:
        """Tokens of the prompt and its longest target: what must fit in the model's window."""
        return len(self.prompt) + max(map(len, self.targets), default=0)


@dataclass(slots=True)
class Collated:
    """Rows as a forward pass takes them, padded on the right."""

    ids: Any
    """[rows, columns]"""

    positions: Any
    """[rows, columns]; from the beginning of the text, however many targets stand before."""

    branch: Any
    """[rows, columns]: which target a token is of; None if all rows are ordinary texts."""

    source: Any
    """The places (row times columns plus column) whose next token is asked for."""

    label: Any
    """These next tokens."""

    spread: Any
    """For each token of all targets its place in `source`; None if those are the same."""

    row: Any
    target: Any
    """Of each token of all targets: which row and which target of it."""

    pictures: list[tuple[int, Pictures]] = field(default_factory=list)
    """The rows that have images."""

    temperature: float = 1.0
    """Of the distribution that the log-probs are of."""

    def to(self, device: Any) -> Collated:
        names = ("ids", "positions", "branch", "source", "label", "spread", "row", "target")
        tensors = {name: getattr(self, name) for name in names}
        moved: dict[str, Any] = {
            name: one if one is None else one.to(device, non_blocking=True) for name, one in tensors.items()
        }
        return replace(self, **moved)


def microbatches(rows: Sequence[Row], tokens: int) -> list[list[int]]:
    """The rows in groups of about the same length, each of at most so many tokens, padding included; longest first.

    A row that is longer than that is a group of its own.
    """
    widths = [_Layout.of(row).width for row in rows]
    groups: list[list[int]] = []
    most = 0
    for i in sorted(range(len(rows)), key=lambda i: (-widths[i], i)):
        if not groups or len(groups[-1]) >= most:
            groups.append([])
            most = max(1, tokens // widths[i])
        groups[-1].append(i)
    return groups


class LogProbs(nn.Module):
    """A causal language model or an image-text model as what maps rows to log-probs.

    All of it happens in `forward`, so that what wraps modules for several processes can wrap this one.
    """

    def __init__(self, model: Any, images: Callable[[], ImageReader] | None = None) -> None:
        """`model` is one of transformers, with adapters in it or not; `images` opens what reads those of rows."""
        super().__init__()
        self.model = model
        self._images = images
        self._vision = Vision(model) if hasattr(model.config, "vision_config") else None
        text = model.config.get_text_config()
        self._windows = _windows(text)
        self._vocabulary = int(text.vocab_size)
        self._soft_cap: float | None = getattr(text, "final_logit_softcapping", None)

    def collate(self, rows: Sequence[Row]) -> Collated:
        """Rows as tensors, on the CPU."""
        layouts = [_Layout.of(row) for row in rows]
        columns = max(layout.width for layout in layouts)
        ids = np.zeros((len(rows), columns), np.int64)
        positions = np.zeros_like(ids)
        branch = np.full_like(ids, _PADDING)
        source: list[np.ndarray] = []
        label: list[np.ndarray] = []
        spread: list[np.ndarray] = []
        asked = 0
        for i, (row, layout) in enumerate(zip(rows, layouts, strict=True)):
            layout.write(row, ids[i], positions[i], branch[i])
            places, labels, parts = layout.ask(row)
            source.append(places + i * columns)
            label.append(labels)
            spread += [part + asked for part in parts]
            asked += len(places)
        lengths = [len(target) for row in rows for target in row.targets]
        flat = np.concatenate([np.zeros(0, np.int64), *spread])
        return Collated(
            torch.from_numpy(ids),
            torch.from_numpy(positions),
            torch.from_numpy(branch) if any(layout.branches > 1 for layout in layouts) else None,
            torch.from_numpy(np.concatenate(source)),
            torch.from_numpy(np.concatenate(label)),
            torch.from_numpy(flat) if any(layout.repeats for layout in layouts) else None,
            torch.from_numpy(np.repeat([i for i, row in enumerate(rows) for _ in row.targets], lengths)),
            torch.from_numpy(np.repeat([j for row in rows for j, _ in enumerate(row.targets)], lengths)),
            [(i, self._read(row)) for i, row in enumerate(rows) if len(row.images)],
        )

    def forward(self, batch: Collated) -> Any:
        """Log-probs, as float32, of all tokens of the targets: row after row, target after target."""
        hidden = self._hidden(batch)
        asked = hidden.reshape(-1, hidden.shape[-1]).index_select(0, batch.source)
        values = self._read_off(asked, batch.label, batch.temperature)
        return values if batch.spread is None else values.index_select(0, batch.spread)

    # The body

    def _hidden(self, batch: Collated) -> Any:
        inputs: dict[str, Any] = {"use_cache": False}
        both_ways = self._vision is not None and self._vision.attends_both_ways and bool(batch.pictures)
        if batch.branch is not None or both_ways:
            inputs["attention_mask"] = self._masks(batch)
        # Otherwise: padding stands on the right, where no token of a causal model sees it.
        if batch.branch is not None or batch.pictures:
            inputs["position_ids"] = self._position_ids(batch)
        if batch.pictures:
            assert self._vision is not None
            places = [(i, picture.start, picture) for i, pictures in batch.pictures for picture in _unseen(pictures)]
            return self._vision.forward(batch.ids, places, **inputs)
        return self.model.get_decoder()(input_ids=batch.ids, **inputs).last_hidden_state

    def _masks(self, batch: Collated) -> Any:
        """What each token may attend to; a mask for each kind of layer if there are several."""
        columns = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        allowed = (columns <= columns[:, None])[None, None]
        if batch.branch is not None:
            keys, queries = batch.branch[:, None, None, :], batch.branch[:, None, :, None]
            allowed = allowed & ((keys == queries) | (keys == _TRUNK))
        if self._vision is not None and self._vision.attends_both_ways:
            allowed = allowed.repeat(len(batch.ids) // len(allowed), 1, 1, 1)
            for i, pictures in batch.pictures:
                for picture in pictures:
                    inside = slice(picture.start, picture.stop)
                    allowed[i, 0, inside, inside] = True
        masks = {}
        for kind, window in self._windows.items():
            if kind not in _KNOWN_LAYERS:
                raise Unsupported(
                    f"{type(self.model).__name__} has layers of the kind {kind!r}: expected full or sliding-window "
                    "attention where a prompt has several targets or images. Give each target a row of its own."
                )
            masks[kind] = allowed
            if window is not None:
                masks[kind] = allowed & (batch.positions[:, None, None, :] > batch.positions[:, None, :, None] - window)
        shape = (len(batch.ids), 1, len(columns), len(columns))
        masks = {kind: mask.expand(shape) for kind, mask in masks.items()}
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def _position_ids(self, batch: Collated) -> Any:
        if self._vision is None or not self._vision.many_positions:
            return batch.positions
        along = batch.positions.expand(3, -1, -1).clone()
        for i, pictures in batch.pictures:
            given = pictures.positions
            along[:, i] += pictures.offset
            along[:, i, : given.shape[1]] = torch.from_numpy(given).to(along.device)
        return along

    def _read(self, row: Row) -> Pictures:
        if self._images is None or self._vision is None:
            raise Unsupported(f"{type(self.model).__name__} sees no images: expected rows of text alone.")
        reader = self._images()
        token, images = self.model.config.image_token_id, tuple(row.images)
        placeholders = (reader.chat.image_id or 0,) * len(images)
        arrays = reader.read(Prompt(placeholders, images)).arrays
        seen = Seen(row.prompt, tuple(id_ == token for id_ in row.prompt), arrays)
        return self._vision.pictures(seen, images)

    # The output layer

    def _read_off(self, hidden: Any, labels: Any, temperature: float) -> Any:
        size = max(1, _CHUNK // self._vocabulary)
        if len(hidden) <= size:
            return self._chunk(hidden, labels, temperature)
        chunks = zip(hidden.split(size), labels.split(size), strict=True)
        if not torch.is_grad_enabled():
            return torch.cat([self._chunk(*chunk, temperature) for chunk in chunks])
        return torch.cat(
            [
                checkpoint(self._chunk, *chunk, temperature, use_reentrant=False, preserve_rng_state=False)
                for chunk in chunks
            ]
        )

    def _chunk(self, hidden: Any, labels: Any, temperature: float) -> Any:
        logits = self.model.get_output_embeddings()(hidden).float()
        if self._soft_cap is not None:
            logits = torch.tanh(logits / self._soft_cap) * self._soft_cap
        if temperature != 1:
            logits = logits / temperature
        return -nn.functional.cross_entropy(logits, labels, reduction="none")


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the tokens of a row stand. The last token of a target is not fed: nobody asks what comes after it."""

    shared: int
    """Tokens that all targets begin with; they stand with the prompt."""

    trunk: int
    """Columns of the prompt and of what is shared."""

    fed: tuple[int, ...]
    """Columns of each target beyond that."""

    repeats: bool
    """Some of the shared tokens are asked for more than once."""

    @classmethod
    def of(cls, row: Row) -> _Layout:
        if not row.prompt:
            raise BadRow("A prompt without tokens: expected one at least, after which a target can stand.")
        targets = row.targets
        if len(targets) == 1:
            return cls(len(targets[0]), len(row.prompt) + max(0, len(targets[0]) - 1), (0,), False)
        shared = _common_beginning(targets)
        fed = tuple(max(0, len(target) - shared - 1) for target in targets)
        # The last of the shared tokens is fed if a target goes on after it.
        goes_on = any(len(target) > shared for target in targets)
        trunk = len(row.prompt) + shared - (shared > 0 and not goes_on)
        return cls(shared, trunk, fed, shared > 0 and len(targets) > 1)

    @property
    def width(self) -> int:
        return self.trunk + sum(self.fed)

    @property
    def branches(self) -> int:
        return sum(map(bool, self.fed))

    def write(self, row: Row, ids: np.ndarray, positions: np.ndarray, branch: np.ndarray) -> None:
        """Fill the columns of a row."""
        beginning = row.targets[0][: self.shared] if row.targets else ()
        ids[: self.trunk] = (row.prompt + beginning)[: self.trunk]
        positions[: self.trunk] = np.arange(self.trunk)
        branch[: self.trunk] = _TRUNK
        start = self.trunk
        for j, count in enumerate(self.fed):
            if not count:
                continue
            own = slice(start, start + count)
            ids[own] = row.targets[j][self.shared : self.shared + count]
            positions[own] = np.arange(self.trunk, self.trunk + count)
            branch[own] = 1 + j
            start += count

    def ask(self, row: Row) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Columns whose next token is asked for, those tokens, and for each target which of them are its own."""
        last = len(row.prompt) - 1 + self.shared
        columns = [np.arange(len(row.prompt) - 1, last)]
        labels = list(row.targets[0][: self.shared]) if row.targets else []
        parts = []
        start = self.trunk
        for target, count in zip(row.targets, self.fed, strict=True):
            own = len(target) - self.shared
            parts.append(np.concatenate([np.arange(self.shared), len(labels) + np.arange(own)]))
            if own:
                columns.append(np.concatenate([[last], np.arange(start, start + count)]))
                labels += target[self.shared :]
            start += count
        return np.concatenate(columns), np.array(labels, np.int64), parts


def _common_beginning(targets: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all of them begin with."""
    if not targets:
        return 0
    # Of all sequences, the least and the greatest differ first.
    least, greatest = min(targets), max(targets)
    for i, (one, other) in enumerate(zip(least, greatest, strict=False)):
        if one != other:
            return i
    return min(len(least), len(greatest))


def _unseen(pictures: Pictures) -> list[Picture]:
    """The pictures without what was seen of them before: other weights may look now."""
    return [Picture(one.start, one.stop, one.identity, one.inputs) for one in pictures]


_KNOWN_LAYERS = ("full_attention", "sliding_attention")


def _windows(text: Any) -> dict[str, int | None]:
    """How far back each kind of a model's layers sees; None is to the beginning."""
    window = getattr(text, "sliding_window", None)
    kinds = getattr(text, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    return {kind: window if kind == "sliding_attention" else None for kind in dict.fromkeys(kinds)}
