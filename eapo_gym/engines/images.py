"""From images to what an image-text model is fed: pixels, and as many tokens as an image takes.

    seen = ImageReader("Qwen/Qwen3-VL-2B-Instruct").read(prompt)
    seen.ids, seen.is_image, seen.arrays

The pixels are made by the model's own image processor, on its Pillow backend where torchvision is not installed. The
processors of transformers that put text and images together are not used: they take texts, and prompts are ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.engines.base import EngineError, Prompt, Unsupported
from eapo_gym.engines.chat import Chat
from eapo_gym.engines.hub import load
from eapo_gym.errors import MissingExtra


@dataclass(frozen=True, slots=True)
class Seen:
    """A prompt as the model takes it."""

    ids: tuple[int, ...]
    """With all the tokens that the images take."""

    is_image: tuple[bool, ...]
    """Whether the id stands for a part of an image: `mm_token_type_ids` (Qwen) or `token_type_ids` (Gemma)."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Arguments of the model; those of several prompts are put together along the first axis."""


class ImageReader:
    """Reads the images of prompts for a model of Qwen's VL family or Gemma 3: a folder, or a hub's id."""

    def __init__(self, model: str | Path, chat: Chat | None = None) -> None:
        self.chat = chat or Chat(model)
        if self.chat.image_id is None:
            raise Unsupported(f"{model} sees no images: expected an image-text model such as Qwen3-VL or Gemma 3.")
        try:
            import PIL  # noqa: F401
            from transformers import AutoConfig, AutoImageProcessor
        except ImportError as error:
            raise MissingExtra.of("Reading images", "transformers") from error
        self.processor: Any = load(AutoImageProcessor.from_pretrained, model, "image processor")
        config: Any = load(AutoConfig.from_pretrained, model, "configuration")
        self._token = config.image_token_id
        if hasattr(self.processor, "merge_size"):
            self._frame: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
            self._fixed = None
        elif hasattr(config, "mm_tokens_per_image"):
            gap = tuple(self.chat.encode("\n\n"))
            self._frame = (*gap, config.boi_token_id), (config.eoi_token_id, *gap)
            self._fixed = int(config.mm_tokens_per_image)
        else:
            raise Unsupported(
                f"{model} is a {config.model_type}: of image-text models, Qwen's VL and Gemma 3 are known."
            )
        self._breaks = self._line_breaks() if self._fixed else {}

    def read(self, prompt: Prompt) -> Seen:
        """The prompt with its images read."""
        places = [place for place, id_ in enumerate(prompt.ids) if id_ == self.chat.image_id]
        if len(places) != len(prompt.images):
            raise EngineError(f"A prompt has {len(places)} places for images: expected {len(prompt.images)}, one each.")
        if not places:
            return Seen(prompt.ids, (False,) * len(prompt.ids))
        arrays = self._pixels(prompt.images)
        before, after = self._frame
        ids: list[int] = []
        end = 0
        for place, takes in zip(places, self._takes(arrays), strict=True):
            ids += [*prompt.ids[end:place], *before, *[self._token] * takes, *after]
            end = place + 1
        ids = self._join_line_breaks([*ids, *prompt.ids[end:]])
        return Seen(tuple(ids), tuple(id_ == self._token for id_ in ids), arrays)

    def tokens(self, image: np.ndarray) -> int:
        """How many tokens an image takes at most, with those that frame it; its pixels are not looked at."""
        before, after = self._frame
        if self._fixed is not None:
            return len(before) + self._fixed + len(after)
        try:
            patches = self.processor.get_number_of_image_patches(*image.shape[:2])
        except ValueError as error:  # too narrow, say
            raise EngineError(f"The image processor refuses an image: {error}.") from error
        return int(patches) // int(self.processor.merge_size) ** 2

    def _pixels(self, images: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
        for image in images:
            if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
                raise EngineError(
                    f"An image is {image.dtype} of shape {image.shape}: expected uint8 of (height, width, 3)."
                )
        try:
            made = self.processor(images=list(images), return_tensors="np", input_data_format="channels_last")
        except ValueError as error:  # too narrow, say
            raise EngineError(f"The image processor refuses an image: {error}.") from error
        return {name: np.asarray(made[name]) for name in ("pixel_values", "image_grid_thw") if name in made}

    def _takes(self, arrays: Mapping[str, np.ndarray]) -> list[int]:
        """How many tokens each image takes."""
        if self._fixed:
            return [self._fixed] * len(arrays["pixel_values"])
        return [int(grid.prod()) // self.processor.merge_size**2 for grid in arrays["image_grid_thw"]]

    def _line_breaks(self) -> dict[int, int]:
        """How many line breaks a token stands for, for those that are nothing else."""
        vocabulary = self.chat.tokenizer.get_vocab()
        return {vocabulary["\n" * count]: count for count in range(1, 32) if "\n" * count in vocabulary}

    def _join_line_breaks(self, ids: list[int]) -> list[int]:
        """Gemma's images stand between line breaks, and a run of line breaks is written with the fewest tokens."""
        if not self._breaks:
            return ids
        joined: list[int] = []
        for is_break, run in groupby(ids, self._breaks.__contains__):
            members = list(run)
            if is_break and len(members) > 1:
                members = self.chat.encode("\n" * sum(self._breaks[id_] for id_ in members))
            joined += members
        return joined
