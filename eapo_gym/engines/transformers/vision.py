"""What image-text models do with images: features in the place of embeddings, and positions along three axes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from eapo_gym.engines.base import Unsupported
from eapo_gym.engines.images import Seen

_AXES = 3
"""Time, height and width: the positions of Qwen's image tokens have one of each."""


@dataclass(slots=True, eq=False)
class Picture:
    """One image of a prompt, and where its tokens stand."""

    start: int
    stop: int
    identity: int
    """Negative, so that no id is the same; equal for equal images."""

    inputs: dict[str, Any]
    features: tuple[Any, ...] | None = None
    """What the model sees of it, once it was looked at: for the first layer, and (Qwen3-VL) for some more."""


@dataclass(slots=True, eq=False)
class Pictures:
    """The images of a prompt."""

    items: list[Picture] = field(default_factory=list)
    positions: Any = None
    """[3, tokens] where the model counts positions in images along three axes."""

    offset: int = 0
    """What to add to the position of a token after the prompt."""

    def __iter__(self) -> Iterator[Picture]:
        return iter(self.items)


class Vision:
    """The part of an image-text model that differs from a text model."""

    def __init__(self, model: Any) -> None:
        self._model = model.model
        kind = str(model.config.model_type)
        self.many_positions = hasattr(self._model, "get_rope_index")
        self.attends_both_ways = kind.startswith("gemma3")
        """Image tokens attend to all tokens of their own image."""

        if not (self.many_positions or self.attends_both_ways):
            raise Unsupported(f"Of image-text models, Qwen's VL and Gemma 3 are known: {kind} is neither.")

    def pictures(self, seen: Seen, images: Sequence[np.ndarray]) -> Pictures:
        """The images of a prompt that was read."""
        pixels = torch.from_numpy(np.ascontiguousarray(seen.arrays["pixel_values"]))
        if self.many_positions:
            grids = torch.from_numpy(np.asarray(seen.arrays["image_grid_thw"]))
            patches = [int(grid.prod()) for grid in grids]
            per_token = sum(patches) // sum(seen.is_image)
            counts = [count // per_token for count in patches]
            inputs = [
                {"pixel_values": part, "image_grid_thw": grid[None]}
                for part, grid in zip(pixels.split(patches), grids, strict=True)
            ]
        else:
            counts = [sum(seen.is_image) // len(images)] * len(images)
            inputs = [{"pixel_values": part[None]} for part in pixels]
        places = np.flatnonzero(seen.is_image)
        starts = places[np.cumsum([0, *counts[:-1]])].tolist()
        pictures = Pictures(
            [
                Picture(start, start + count, _identity(image), of_image)
                for start, count, image, of_image in zip(starts, counts, images, inputs, strict=True)
            ]
        )
        if self.many_positions:
            positions, offset = self._model.get_rope_index(
                input_ids=torch.tensor([seen.ids]),
                mm_token_type_ids=torch.tensor([seen.is_image], dtype=torch.int),
                image_grid_thw=grids,
            )
            pictures.positions = positions[-_AXES:, 0].numpy()
            pictures.offset = int(offset[0])
        return pictures

    def forward(self, ids: Any, places: Sequence[tuple[int, int, Picture]], **inputs: Any) -> Any:
        """The last hidden states, with features in the places (row, first column) where a picture begins.

        The language model is called itself: the whole model would look for pictures wherever an id is that of an image
        token, also where a model has sampled one.
        """
        self._look([picture for _, _, picture in places])
        at = torch.zeros(ids.shape, dtype=torch.bool, device=ids.device)
        for row, column, picture in places:
            at[row, column : column + picture.stop - picture.start] = True
        embedded = self._model.get_input_embeddings()(ids.masked_fill(at, 0))
        # In the order in which a mask walks a batch: by rows, then by columns.
        ordered = [picture for _, _, picture in sorted(places, key=lambda place: place[:2])]
        first, *deeper = (
            torch.cat([layer.to(embedded.dtype) for layer in layers])
            for layers in zip(*(picture.features or () for picture in ordered), strict=True)
        )
        embedded[at] = first
        if deeper:
            inputs |= {"visual_pos_masks": at, "deepstack_visual_embeds": deeper}
        return self._model.language_model(inputs_embeds=embedded, **inputs).last_hidden_state

    def _look(self, pictures: Sequence[Picture]) -> None:
        """Compute the features of pictures that nobody has looked at."""
        new = [picture for picture in pictures if picture.features is None]
        if not new:
            return
        weight = self._model.get_input_embeddings().weight
        inputs = {
            name: torch.cat([picture.inputs[name] for picture in new]).to(weight.device) for name in new[0].inputs
        }
        inputs["pixel_values"] = inputs["pixel_values"].to(weight.dtype)
        seen = self._model.get_image_features(**inputs)
        layers = [seen.pooler_output, *(getattr(seen, "deepstack_features", None) or ())]
        for i, picture in enumerate(new):
            picture.features = tuple(layer[i] for layer in layers)


def _identity(image: np.ndarray) -> int:
    digest = hashlib.blake2b(f"{image.shape}".encode() + np.ascontiguousarray(image).tobytes(), digest_size=7).digest()
    return -2 - int.from_bytes(digest, "big")
